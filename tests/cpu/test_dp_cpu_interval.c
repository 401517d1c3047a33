/**
 * @file test_dp_cpu_interval.c
 * Matrix chains, search trees and Nussinov's pairs against plain O(n^3) loops: all values, as a
 * whole and by boxes that several workers compute and exchange. Known answers.
 */
#include "test_dp_cpu.h"

#include <math.h>

/** A problem, and X as a plain loop finds it, [N][N], in long double, which holds all types. */
typedef struct plain {
  dp_cpu_interval_input in;
  long double *x;
} plain;

static long double number(const plain *p, const void *list, int64_t k) {
  return p->in.type == TSL_F64 ? ((const double *)list)[k]
                               : (long double)((const int64_t *)list)[k];
}

/** A sum as the type rounds it. */
static long double sum(const plain *p, long double a, long double b) {
  return p->in.type == TSL_F64 ? (long double)((double)a + (double)b) : a + b;
}

static long double with_split(const plain *p, int64_t a, int64_t k, int64_t b) {
  const int64_t n = p->in.posts, *d = p->in.dims;
  const long double x = sum(p, p->x[a * n + k], p->x[k * n + b]);
  if (p->in.problem == DP_MATRIX_CHAIN) return x + (long double)d[a] * d[k] * d[b];
  if (p->in.problem == DP_NUSSINOV) return x;
  return sum(p, x, sum(p, number(p, p->in.high, b), -number(p, p->in.low, a)));
}

static void solve_cell(plain *p, int64_t a, int64_t b) {
  const int64_t n = p->in.posts;
  long double best = 0;
  if (b == a + 1) {
    p->x[a * n + b] = p->in.problem == DP_SEARCH_TREE ? number(p, p->in.gaps, a) : 0;
    return;
  }
  for (int64_t k = a + 1; k < b; k++) {
    const long double x = with_split(p, a, k, b);
    const bool better = p->in.problem == DP_NUSSINOV ? x > best : x < best;
    if (k == a + 1 || better) best = x;
  }
  if (p->in.problem == DP_NUSSINOV && b - 1 - a > p->in.span &&
      (p->in.pairs[p->in.letters[a]] >> p->in.letters[b - 1] & 1)) {
    const long double x = (a + 1 < b - 1 ? p->x[(a + 1) * n + b - 1] : 0) + 1;
    if (x > best) best = x;
  }
  p->x[a * n + b] = best;
}

static void solve(plain *p) {
  const int64_t n = p->in.posts;
  p->x = alloc(n * n, sizeof *p->x);
  for (int64_t d = 1; d < n; d++)
    for (int64_t a = 0; a + d < n; a++) solve_cell(p, a, a + d);
}

static long double value_of(const plain *p, const void *values, int64_t k) {
  if (p->in.type == TSL_I32) return ((const int32_t *)values)[k];
  return number(p, values, k);
}

/** All values of a worker in a box. */
static void check_values(const plain *p, const dp_cpu_interval *w, const dp_box *box,
                         const char *what) {
  const int64_t columns = box->hi[1] - box->lo[1], n = p->in.posts;
  void *values = alloc((box->hi[0] - box->lo[0]) * columns, 8);
  bool same = true;
  dp_cpu_interval_get(w, box, values);
  for (int64_t a = box->lo[0]; a < box->hi[0]; a++)
    for (int64_t b = box->lo[1]; b < box->hi[1]; b++)
      same &= value_of(p, values, (a - box->lo[0]) * columns + b - box->lo[1]) ==
              (a < b ? p->x[a * n + b] : 0);
  CHECK(same, "problem %d, %lld posts: %s", (int)p->in.problem, (long long)n, what);
  tsl_free(values);
}

/** Workers own boxes in turn; what one has computed all others take in. */
static void check_boxes(const dp_cpu *cpu, const plain *p) {
  enum { WORKERS = 3, MOST = 12 };
  dp_cpu_interval *w[WORKERS];
  int64_t at[MOST + 1] = {0}, n = 0;
  for (int k = 0; k < WORKERS; k++) must(dp_cpu_interval_open(cpu, &p->in, &w[k]));
  while (at[n] < p->in.posts) {
    const int64_t next = at[n] + 64 * (n == MOST - 1 ? 1000 : 1 + random_below(3));
    at[++n] = next < p->in.posts ? next : p->in.posts;
  }
  for (int64_t d = 0; d < n; d++) {
    dp_box mine[WORKERS][MOST];
    int64_t count[WORKERS] = {0};
    for (int64_t i = 0; i + d < n; i++) {
      const dp_box box = {{at[i], at[i + d]}, {at[i + 1], at[i + d + 1]}};
      mine[i % WORKERS][count[i % WORKERS]++] = box;
    }
    for (int k = 0; k < WORKERS; k++) dp_cpu_interval_boxes(w[k], mine[k], count[k]);
    for (int k = 0; k < WORKERS; k++)
      for (int64_t b = 0; b < count[k]; b++) {
        const dp_box *box = &mine[k][b];
        void *values = alloc((box->hi[0] - box->lo[0]) * (box->hi[1] - box->lo[1]), 8);
        dp_cpu_interval_get(w[k], box, values);
        for (int other = 0; other < WORKERS; other++)
          if (other != k) dp_cpu_interval_put(w[other], box, values);
        tsl_free(values);
      }
  }
  const dp_box all = {{0, 0}, {p->in.posts, p->in.posts}};
  for (int k = 0; k < WORKERS; k++) {
    check_values(p, w[k], &all, "by boxes");
    dp_cpu_interval_close(&w[k]);
  }
}

/** As a calibration does: the same boxes again, far ones before near ones, whatever is in them. */
static void try_boxes(dp_cpu_interval *w, int64_t posts) {
  const int64_t half = posts / 128 * 64;
  const dp_box boxes[] = {
      {{0, half}, {half, posts}}, {{half, half}, {posts, posts}}, {{0, 0}, {half, half}}};
  for (int run = 0; run < 2; run++) {
    const double wrong[4] = {-1e6, -1e6, -1e6, -1e6};
    const dp_box corner = {{0, 1}, {1, 2}};
    if (posts > 1) dp_cpu_interval_put(w, &corner, wrong);
    for (int k = 0; k < 3; k++)
      if (boxes[k].hi[0] > boxes[k].lo[0] && boxes[k].hi[1] > boxes[k].lo[1])
        dp_cpu_interval_boxes(w, &boxes[k], 1);
  }
}

static void check(const dp_cpu *cpu, plain *p) {
  dp_cpu_interval *w = NULL;
  const dp_box all = {{0, 0}, {p->in.posts, p->in.posts}};
  solve(p);
  must(dp_cpu_interval_open(cpu, &p->in, &w));
  dp_cpu_interval_all(w);
  check_values(p, w, &all, "whole");
  try_boxes(w, p->in.posts);
  dp_cpu_interval_begin(w);
  dp_cpu_interval_all(w);
  check_values(p, w, &all, "after trials");
  dp_cpu_interval_close(&w);
  check_boxes(cpu, p);
  tsl_free(p->x);
}

/* ------------------------------------------------------------------ problems */

static void test_chain(const dp_cpu *cpu, int64_t n, int64_t range) {
  int64_t *d = alloc(n + 1, sizeof *d);
  plain p = {.in = {.problem = DP_MATRIX_CHAIN, .type = TSL_I64, .posts = n + 1, .dims = d}};
  for (int64_t k = 0; k <= n; k++) d[k] = random_below(range);
  check(cpu, &p);
  tsl_free(d);
}

/** Sums of keys and gaps as dp.h says: weight of (a, b) is high[b] - low[a]. */
static void test_tree(const dp_cpu *cpu, tsl_type type, int64_t n, int64_t range) {
  void *gaps = alloc(n + 1, 8), *high = alloc(n + 2, 8), *low = alloc(n + 2, 8);
  plain p = {.in = {.problem = DP_SEARCH_TREE,
                    .type = type,
                    .posts = n + 2,
                    .gaps = gaps,
                    .high = high,
                    .low = low}};
  double sum_real = 0;
  int64_t sum_whole = 0;
  for (int64_t post = 1; post <= n + 1; post++) {
    const int64_t gap = random_below(range), key = post <= n ? random_below(range) : 0;
    if (type == TSL_F64) {
      ((double *)gaps)[post - 1] = (double)gap / 7;
      ((double *)high)[post] = sum_real += (double)gap / 7;
      ((double *)low)[post] = sum_real += (double)key / 7;
    } else {
      ((int64_t *)gaps)[post - 1] = gap;
      ((int64_t *)high)[post] = sum_whole += gap;
      ((int64_t *)low)[post] = sum_whole += key;
    }
  }
  check(cpu, &p);
  tsl_free(gaps);
  tsl_free(high);
  tsl_free(low);
}

static void test_nussinov(const dp_cpu *cpu, int64_t n, int span, bool wobble) {
  uint8_t *letters = random_letters(n, 5);
  plain p = {.in = {.problem = DP_NUSSINOV,
                    .type = TSL_I32,
                    .posts = n + 1,
                    .letters = letters,
                    .span = span,
                    .pairs = {8, 4, 2, 1}}}; /* A C G U */
  if (wobble) p.in.pairs[2] |= 8, p.in.pairs[3] |= 4;
  check(cpu, &p);
  tsl_free(letters);
}

static double goal(const dp_cpu *cpu, const dp_cpu_interval_input *in) {
  dp_cpu_interval *w = NULL;
  const dp_box all = {{0, 0}, {in->posts, in->posts}};
  void *values = alloc(in->posts * in->posts, 8);
  must(dp_cpu_interval_open(cpu, in, &w));
  dp_cpu_interval_all(w);
  dp_cpu_interval_get(w, &all, values);
  dp_cpu_interval_close(&w);
  const int64_t at = in->posts - 1;
  const double x = in->type == TSL_F64   ? ((double *)values)[at]
                   : in->type == TSL_I32 ? ((int32_t *)values)[at]
                                         : (double)((int64_t *)values)[at];
  tsl_free(values);
  return x;
}

static void test_known(const dp_cpu *cpu) {
  const int64_t d[] = {30, 35, 15, 5, 10, 20, 25};
  int64_t equal[301];
  const double gaps[] = {.05, .10, .05, .05, .05, .10}, keys[] = {.15, .10, .05, .10, .20};
  double high[7] = {0}, low[7] = {0};
  uint8_t letters[100];
  dp_cpu_interval_input chain = {
      .problem = DP_MATRIX_CHAIN, .type = TSL_I64, .posts = 7, .dims = d};
  CHECK(goal(cpu, &chain) == 15125, "chain of six matrices: %g", goal(cpu, &chain));
  for (int k = 0; k <= 300; k++) equal[k] = 12;
  chain.dims = equal, chain.posts = 301;
  CHECK(goal(cpu, &chain) == 299.0 * 12 * 12 * 12, "300 equal matrices: %g", goal(cpu, &chain));
  for (int post = 1; post <= 6; post++) {
    high[post] = low[post - 1] + gaps[post - 1];
    low[post] = high[post] + (post <= 5 ? keys[post - 1] : 0);
  }
  const dp_cpu_interval_input tree = {.problem = DP_SEARCH_TREE,
                                      .type = TSL_F64,
                                      .posts = 7,
                                      .gaps = gaps,
                                      .high = high,
                                      .low = low};
  CHECK(fabs(goal(cpu, &tree) - 2.75) < 1e-12, "search tree of five keys: %g", goal(cpu, &tree));
  for (int k = 0; k < 100; k++) letters[k] = k < 40 ? 2 : k < 60 ? 0 : 1; /* G A C */
  const dp_cpu_interval_input rna = {.problem = DP_NUSSINOV,
                                     .type = TSL_I32,
                                     .posts = 101,
                                     .letters = letters,
                                     .pairs = {8, 4, 2, 1}};
  CHECK(goal(cpu, &rna) == 40, "hairpin of 40 pairs: %g", goal(cpu, &rna));
}

static void test_errors(const dp_cpu *cpu) {
  int64_t d[3] = {1, -1, 1};
  dp_cpu_interval *w = NULL;
  dp_cpu_interval_input in = {.problem = DP_MATRIX_CHAIN, .type = TSL_I64, .posts = 3, .dims = d};
  CHECK(dp_cpu_interval_open(cpu, &in, &w) == TSL_ERR_INPUT, "a negative dimension");
  d[1] = INT64_C(1) << 40;
  CHECK(dp_cpu_interval_open(cpu, &in, &w) == TSL_ERR_NUMERIC, "costs of 120 bits");
  CHECK(w == NULL, "an interval problem in spite of an error");
}

static void test(const dp_cpu *cpu) {
  static const int64_t sizes[] = {0, 1, 2, 3, 61, 63, 64, 65, 130, 257, 331};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    const int64_t n = sizes[k];
    test_chain(cpu, n, 100);
    test_chain(cpu, n, 150000); /* beyond 2^53: int64 */
    test_tree(cpu, TSL_F64, n, 1000);
    test_tree(cpu, TSL_I64, n, 5);
    test_tree(cpu, TSL_I64, n, INT64_C(1) << 43);
    test_nussinov(cpu, n, (int)(k % 5), k % 2 == 0);
  }
  test_known(cpu);
  test_errors(cpu);
}

int main(void) {
  return run_levels("cpu.dp.interval", test);
}
