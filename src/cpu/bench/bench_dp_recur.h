/**
 * @file bench_dp_recur.h
 * A deck's own recurrence as `tesela bench dp-cpu` measures it.
 */
#pragma once

#include "error.h"

#include <stdint.h>

/** Sequences; borrowed. */
typedef struct dp_bench_letters {
  const uint8_t *a, *b; /**< [n] */
  int64_t n;
  const uint8_t *c; /**< [n_c]; NULL: two sequences only */
  int64_t n_c;
} dp_bench_letters;

/**
 * The longest common subsequence of two or three sequences written as a deck writes it, i32 values,
 * pattern NOSE, compiled by the host compiler and computed in one piece by one thread.
 * @param[in]  repeats  runs, of which the best counts; a warm run comes first
 * @param[out] seconds  of a run
 * @param[out] length   what it found
 * @return what lang_object_open returns, where there is no compiler for instance
 */
tsl_err dp_bench_recurrence(const dp_bench_letters *letters, int repeats, double *seconds,
                            int64_t *length);
