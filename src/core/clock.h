/**
 * @file clock.h
 * The clock of everything that is measured or limited.
 */
#pragma once

#include "error.h"

TSL_C_BEGIN

/** Seconds of the monotonic clock of this host; any thread. */
double tsl_now(void);

/** tsl_now() at the first call, which main makes before all else: when the program began. */
double tsl_program_start(void);

TSL_C_END
