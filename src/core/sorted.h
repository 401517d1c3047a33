/**
 * @file sorted.h
 * Places in rows that are sorted by a number of theirs.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/**
 * The last row whose number is at most k, 0 where none is.
 * @param[in] number  the first row's
 * @param[in] n       rows, 1 or more
 * @param[in] bytes   from row to row
 */
static inline int64_t tsl_last_at_most(const int64_t *number, int64_t n, size_t bytes, int64_t k) {
  int64_t lo = 0, hi = n - 1;
  while (lo < hi) {
    const int64_t middle = lo + (hi - lo + 1) / 2;
    if (*(const int64_t *)((const char *)number + (size_t)middle * bytes) <= k)
      lo = middle;
    else
      hi = middle - 1;
  }
  return lo;
}
