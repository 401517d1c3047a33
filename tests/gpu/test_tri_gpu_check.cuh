/* Outputs of the card against references, for test_tri_gpu.cu. Differences are printed and counted.
 */
#pragma once

#include "test_tri_gpu.cuh"

#include <stdio.h>
#include <stdlib.h>

static long n_checks, n_failures;

static const tsl_backend *backend;
static tsl_device device;

/* What is tested now, for messages. */
static void report(const tri_case *c, int cut, const char *what, int64_t place, double got,
                   double wanted) {
  if (n_failures++ > 40) return;
  printf("FAIL function %d output %d type %d n %lld d %lld map %d block %d x %d cut %d: %s at "
         "%lld: %.17g, "
         "not %.17g\n",
         c->function, c->output, c->type, (long long)c->n, (long long)c->d, c->map, c->block,
         c->block_rows, cut, what, (long long)place, got, wanted);
}

static double tolerance(const tri_case *c) {
  const bool product =
      tri_abouts[c->function].sum == TRI_PRODUCT && c->d >= 16 && c->map == TRI_MAP_AUTO;
  return !product ? 0 : c->type == TSL_F64 ? 1e-13 : 4e-6;
}

/* Equal bits, or within the tolerance of a product. */
template <class R> static bool same(R got, R wanted, double tol) {
  return memcmp(&got, &wanted, sizeof got) == 0 ||
         (tol > 0 && fabs((double)got - (double)wanted) <= tol);
}

template <class R>
static void check_matrix(const tri_case *c, int cut, const std::vector<R> &ref,
                         const std::vector<tsl_unit> &units, const std::vector<char> &out) {
  const R *got = (const R *)out.data();
  const int64_t n = c->n;
  int64_t at = 0;
  for (const tsl_unit &u : units)
    for (int64_t i = u.lo[0]; i < u.hi[0]; i++) {
      const int64_t lo = c->output == TRI_SQUARE ? 0 : i + 1;
      const int64_t hi = c->output == TRI_SQUARE ? u.hi[0] : n;
      for (int64_t j = lo; j < hi; j++, at++) {
        const R wanted = c->output == TRI_SQUARE && j > i ? (R)0 : ref[(size_t)(i * n + j)];
        if (!same(got[at], wanted, tolerance(c)))
          report(c, cut, "value", i * n + j, (double)got[at], (double)wanted);
      }
    }
  if (at * (int64_t)sizeof(R) != (int64_t)out.size()) report(c, cut, "size", at, 0, 0);
}

template <class R>
static void check_threshold(const tri_case *c, int cut, const tri_params *p,
                            const std::vector<R> &ref, const std::vector<char> out[2]) {
  const int64_t *pairs = (const int64_t *)out[0].data();
  const R *values = (const R *)out[1].data();
  const int64_t count = (int64_t)out[0].size() / 16;
  const double tol = tolerance(c);
  int64_t at = 0;
  for (int64_t i = 0; i < c->n; i++)
    for (int64_t j = i + 1; j < c->n; j++) {
      const R v = ref[(size_t)(i * c->n + j)];
      const bool there = at < count && pairs[2 * at] == i && pairs[2 * at + 1] == j;
      const bool wanted = v <= (R)p->threshold;
      if (there != wanted && !(tol > 0 && fabs((double)v - p->threshold) <= tol))
        report(c, cut, "record", i * c->n + j, there, wanted);
      if (there && !same(values[at], v, tol))
        report(c, cut, "record value", at, (double)values[at], (double)v);
      at += there;
    }
  if (at != count) report(c, cut, "records", at, (double)count, (double)at);
}

template <class R>
static void check_topk(const tri_case *c, int cut, const tri_params *p, const std::vector<R> &ref,
                       const std::vector<char> out[2]) {
  const int64_t *got_j = (const int64_t *)out[0].data();
  const R *got = (const R *)out[1].data();
  const int64_t n = c->n, k = p->k;
  std::vector<int64_t> order;
  for (int64_t i = 0; i < n; i++) {
    const R *row = &ref[(size_t)(i * n)];
    order.clear();
    for (int64_t j = 0; j < n; j++)
      if (j != i) order.push_back(j);
    std::sort(order.begin(), order.end(), [row](int64_t a, int64_t b) {
      return row[a] < row[b] || (row[a] == row[b] && a < b);
    });
    for (int64_t t = 0; t < k; t++) {
      const int64_t at = i * k + t;
      if (!same(got[at], row[order[(size_t)t]], tolerance(c)))
        report(c, cut, "neighbour value", at, (double)got[at], (double)row[order[(size_t)t]]);
      if (tolerance(c) == 0 && got_j[at] != order[(size_t)t])
        report(c, cut, "neighbour", at, (double)got_j[at], (double)order[(size_t)t]);
    }
  }
}

template <class R>
static void check_histogram(const tri_case *c, int cut, const tri_params *p,
                            const std::vector<R> &ref, const uint64_t *counts) {
  std::vector<int64_t> wanted((size_t)p->bins, 0);
  const double width = (p->range_hi - p->range_lo) / p->bins;
  int64_t near = 0, apart = 0;
  for (int64_t i = 0; i < c->n; i++)
    for (int64_t j = i + 1; j < c->n; j++) {
      const R v = ref[(size_t)(i * c->n + j)];
      const int bin = ref_bin(v, p);
      const double place = ((double)v - p->range_lo) / width;
      if (bin >= 0) wanted[(size_t)bin]++;
      near += fabs(place - round(place)) * width <= tolerance(c);
    }
  for (int b = 0; b < p->bins; b++) {
    apart += llabs((int64_t)counts[b] - wanted[(size_t)b]);
    if (tolerance(c) == 0 && (int64_t)counts[b] != wanted[(size_t)b])
      report(c, cut, "count", b, (double)counts[b], (double)wanted[(size_t)b]);
  }
  if (apart > 2 * near) report(c, cut, "counts", 0, (double)apart, (double)near);
}
