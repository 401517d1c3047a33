/**
 * @file bench_dp_recur.h
 * A deck's own recurrence as `tesela bench dp-cpu` measures it.
 */
#ifndef TSL_CPU_BENCH_DP_RECUR_H
#define TSL_CPU_BENCH_DP_RECUR_H

#include "error.h"

#include <stdint.h>

/**
 * The longest common subsequence written as a deck writes it, i32 values, pattern NOSE, compiled by
 * the host compiler and computed in one piece by one thread.
 * @param[in]  a, b     [n] letters
 * @param[in]  repeats  runs, of which the best counts; a warm run comes first
 * @param[out] seconds  of a run
 * @param[out] length   what it found
 * @return what lang_object_open returns, where there is no compiler for instance
 */
tsl_err dp_bench_recurrence(const uint8_t *a, const uint8_t *b, int64_t n, int repeats,
                            double *seconds, int64_t *length);

#endif
