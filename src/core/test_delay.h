/**
 * @file test_delay.h
 * Test knob TSL_TEST_SLOW: units that last longer than they have to, for tests of load balance on
 * equal machines and of what happens in the middle of a run.
 *
 * F (F >= 1) makes each unit of this process last F times as long, by sleeping after it; "+S" makes
 * it last S seconds at least; "rank:F,rank:+S" names ranks of the launcher (launcher.h). Where the
 * machine wakes a sleeper late, the next units are the shorter for it. Backends of sockets do it
 * themselves, where dp and xc take units that they compute together for one;
 * src/mpi/machine/test_delay_card.c does it for the others, and for the turns of a traceback.
 */
#pragma once

#include "error.h"

#include <stdint.h>

TSL_C_BEGIN

/**
 * @param[out] factor  1 when unset or when this rank is not named
 * @return TSL_ERR_USAGE when the text is of no such form
 */
tsl_err tsl_test_delay_factor(double *factor);

/** Sleep after units that have taken `used` seconds together; the seconds that they last longer. */
double tsl_test_delay_sleep(double used, double factor, int64_t units);

TSL_C_END
