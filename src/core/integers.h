/**
 * @file integers.h
 * The smaller and the larger of two integers, their order, and quotients rounded up. Host only.
 */
#pragma once

#include <stdint.h>

static inline int64_t tsl_min(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static inline int64_t tsl_max(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/** For qsort of int64_t: the smallest first. */
static inline int tsl_ascending(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/** a / b rounded up, for b > 0; no sum that could overflow. */
static inline int64_t tsl_divide_up(int64_t a, int64_t b) {
  return a / b + (a % b > 0);
}
