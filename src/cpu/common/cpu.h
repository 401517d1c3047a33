/**
 * @file cpu.h
 * What the files of src/cpu share: the SIMD level, the backends and the benches.
 */
#pragma once

#include "contract.h"
#include "test_delay.h"

/** Highest SIMD level of this processor: 2, 3, 4 for x86-64-v2..v4, 0 for any other processor. */
int tsl_cpu_level(void);

/**
 * The level to use: the processor's, or the lower one named by the environment TSL_SIMD=2|3|4.
 * @param[out] level  0 on processors other than x86-64
 * @return TSL_ERR_USAGE when TSL_SIMD is no level or above what the processor has;
 *         TSL_ERR_DEVICE on an x86 processor below x86-64-v2
 */
tsl_err tsl_cpu_level_use(int *level);

/** Bytes of one third-level cache, 32 MiB where hwloc does not tell. */
int64_t tsl_cpu_cache_bytes(void);

/** Seconds of a monotonic clock. Test knob: with the environment TSL_TEST_CLOCK=processor those
 *  that the calling thread has computed, which others on the machine do not disturb; TSL_TEST_SLOW
 *  then multiplies and does not sleep. For ranks of one thread. */
double tsl_cpu_seconds(void);

/** Sleep after units that began at start together, as TSL_TEST_SLOW asks (test_delay.h) of so many;
 *  returns the seconds since start after them. */
double tsl_cpu_unit_seconds(double start, double factor, int64_t units);

/** Test knob: with TSL_TEST_CLOCK=work a unit takes a nanosecond for each floating-point operation,
 *  times 0.75 to 1.25 by its number, times factor (test_delay.h), whatever the machine does: for
 * tests of
 *  balance. Without it nothing is done. */
void tsl_cpu_virtual_seconds(const tsl_unit *unit, double factor, tsl_part *part);
