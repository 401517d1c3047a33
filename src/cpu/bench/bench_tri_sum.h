/**
 * @file bench_tri_sum.h
 * A Gaussian kernel sum of uniform points, d = 3, fp32: by an equation of a deck and by hand.
 */
#pragma once

#include "error.h"

#include <stdint.h>

/** Best seconds of each. */
typedef struct bench_tri_sums {
  double deck, hand;
} bench_tri_sums;

/** @return TSL_ERR_INPUT where there is no compiler; TSL_ERR_INTERNAL when the sums differ */
tsl_err bench_tri_sum(int64_t n, int threads, bench_tri_sums *out);
