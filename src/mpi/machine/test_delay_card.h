/**
 * @file test_delay_card.h
 * The test knob TSL_TEST_SLOW (test_delay.h) where the backend does not know it: on cards.
 *
 * On the compute thread, after the device has computed; batches do not overlap then (batch.h).
 */
#pragma once

#include "executor.h"

/**
 * Sleep as if the units had taken longer; nothing on sockets, whose backends do it.
 * @param[in]     units  as so many units do they count for "+S"
 * @param[in,out] parts  [n] what was slept is added to their seconds
 */
tsl_err tsl_test_delay(const tsl_executor *executor, int64_t units, tsl_part *parts, int64_t n);

/** Sleep after a turn of a walk that began at start (tsl_now), on any device. */
tsl_err tsl_test_delay_turn(double start);
