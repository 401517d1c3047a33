/**
 * @file integers.h
 * The smaller and the larger of two integers, and quotients rounded up. Host only.
 */
#ifndef TSL_CORE_INTEGERS_H
#define TSL_CORE_INTEGERS_H

#include <stdint.h>

static inline int64_t tsl_min(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static inline int64_t tsl_max(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/** a / b rounded up, for b > 0; no sum that could overflow. */
static inline int64_t tsl_divide_up(int64_t a, int64_t b) {
  return a / b + (a % b > 0);
}

#endif
