/** @file bench_dp_storage.c  The same loops over tables whose cells lie in one order or another:
 * the cell of a lane (its place in a stage) and a stage is at lane * across + stage * along. */
#include "bench_dp_storage.h"

#include "cpu.h"
#include "memory.h"

#include <math.h>

typedef struct strides {
  int64_t across, along; /* cells from a lane to the next, from a stage to the next */
} strides;

/** A table being filled. */
typedef struct filling {
  int64_t n;
  strides s;
  void *table;      /* int32_t, of intervals int64_t; zeros */
  const int32_t *w; /* [n + 1] */
} filling;

static int32_t larger(int32_t a, int32_t b) {
  return a > b ? a : b;
}

/* Lanes are rows, stages columns. */
static int64_t fill_columns(const filling *f) {
  const int64_t n = f->n, x = f->s.across, y = f->s.along;
  for (int64_t j = 1; j < n; j++) {
    int32_t *restrict to = (int32_t *)f->table + j * y;
    const int32_t *restrict from = (int32_t *)f->table + (j - 1) * y;
    for (int64_t i = 1; i < n; i++)
      to[i * x] = larger(from[i * x], from[(i - 1) * x] + f->w[i] - 500);
  }
  return ((int32_t *)f->table)[(n - 1) * x + (n - 1) * y];
}

/* Lanes are rows, stages i + j. */
static int64_t fill_diagonals(const filling *f) {
  const int64_t n = f->n, x = f->s.across, y = f->s.along;
  for (int64_t d = 2; d <= 2 * n - 2; d++) {
    const int64_t first = d >= n ? d - n + 1 : 1, last = d - 1 < n - 1 ? d - 1 : n - 1;
    int32_t *restrict to = (int32_t *)f->table + d * y;
    const int32_t *restrict one = (int32_t *)f->table + (d - 1) * y;
    const int32_t *restrict two = (int32_t *)f->table + (d - 2) * y;
    for (int64_t i = first; i <= last; i++) {
      const int32_t gap = larger(one[i * x], one[(i - 1) * x]);
      to[i * x] = (f->w[i] & 3) == (f->w[n - 1 - d + i] & 3) ? two[(i - 1) * x] + 1 : gap;
    }
  }
  return ((int32_t *)f->table)[(n - 1) * x + (2 * n - 2) * y];
}

/* Lanes are rows, stages j - i; split s of interval (i, j): (i, i + s) and (i + s + 1, j). */
static int64_t fill_intervals(const filling *f) {
  const int64_t n = f->n, x = f->s.across, y = f->s.along;
  for (int64_t d = 1; d < n; d++) {
    int64_t *restrict to = (int64_t *)f->table + d * y;
    for (int64_t i = 0; i < n - d; i++) to[i * x] = INT64_MAX;
    for (int64_t s = 0; s < d; s++) {
      const int64_t *restrict left = (int64_t *)f->table + s * y;
      const int64_t *restrict right = (int64_t *)f->table + (d - s - 1) * y + (s + 1) * x;
      for (int64_t i = 0; i < n - d; i++) {
        const int64_t w = (int64_t)f->w[i] * f->w[i + s + 1] * f->w[i + d + 1];
        const int64_t cost = left[i * x] + right[i * x] + w;
        to[i * x] = cost < to[i * x] ? cost : to[i * x];
      }
    }
  }
  return ((int64_t *)f->table)[(n - 1) * y];
}

/** Where cells lie, for tables of n x n. */
static strides strides_of(dp_storage_order order, int64_t n, bool by_rows) {
  if (!by_rows) return (strides){1, n};
  if (order == DP_STORED_COLUMNS) return (strides){n, 1};
  return (strides){order == DP_STORED_DIAGONALS ? n - 1 : n + 1, 1}; /* i n + d - i, i n + i + d */
}

dp_storage_case dp_storage_case_of(dp_storage_order order, bool quick) {
  static const char *const what[DP_N_STORED] = {"filled by columns", "filled by anti-diagonals",
                                                "intervals by their length"};
  const int64_t n = order == DP_STORED_INTERVALS ? (quick ? 400 : 1000) : (quick ? 1500 : 4000);
  const double x = (double)n;
  return (dp_storage_case){what[order], n, order == DP_STORED_INTERVALS ? x * x * x / 6 : x * x};
}

tsl_err dp_storage_run(dp_storage_order order, const dp_storage_case *about, bool by_rows,
                       int repeats, double *seconds, int64_t *goal) {
  static int64_t (*const fill[DP_N_STORED])(const filling *) = {fill_columns, fill_diagonals,
                                                                fill_intervals};
  tsl_err err = TSL_OK;
  const int64_t n = about->n, stages = order == DP_STORED_DIAGONALS && !by_rows ? 2 * n : n;
  const size_t bytes = order == DP_STORED_INTERVALS ? sizeof(int64_t) : sizeof(int32_t);
  filling f = {.n = n, .s = strides_of(order, n, by_rows)};
  int32_t *w = NULL;
  TSL_TRY(tsl_alloc(n + 1, sizeof *w, "weights", (void **)&w));
  TSL_TRY(tsl_alloc(stages * n, bytes, "table", &f.table));
  for (int64_t k = 0; k <= n; k++) w[k] = 1 + (int32_t)(k * 7919 % 1000);
  f.w = w;
  *seconds = INFINITY;
  for (int k = 0; k <= repeats; k++) {
    const double start = tsl_cpu_seconds();
    *goal = fill[order](&f);
    const double took = tsl_cpu_seconds() - start;
    if (k > 0 && took < *seconds) *seconds = took;
  }
done:
  TSL_FREE_ALL(w, f.table);
  return err;
}
