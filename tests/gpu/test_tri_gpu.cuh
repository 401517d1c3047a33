/* Problems made by hand and their references, for test_tri_gpu.cu. */
#pragma once

#include "tri_bits.cuh"

#include <algorithm>
#include <math.h>
#include <string.h>
#include <vector>

typedef struct tri_case {
  int function, output, type;
  int64_t n, d;
  int map, block;
  int64_t k = 0;     /* neighbours; 0: by n */
  int64_t close = 0; /* the first so many points of TRI_RAW are almost at one place */
  int block_rows = 0, cdp_cutoff = 0;
} tri_case;

/* Numbers in [0, 1) from a counter (splitmix64). */
static double random_at(uint64_t counter) {
  uint64_t z = (counter + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static const double test_box[3] = {1.0, 0.75, 1.25};

/* Coordinates of point i as the family would prepare them. Even functions use coarse numbers, which
 * makes equal distances; every 11th point repeats another. */
template <class R> static std::vector<double> prepared_point(const tri_case &c, int64_t i) {
  std::vector<double> x((size_t)c.d);
  const tri_prepare how = tri_abouts[c.function].prepare;
  const int64_t source = i % 11 == 10 && c.function != TRI_GRAVITY ? i - 7 : i;
  double mean = 0, norm = 0;
  for (int64_t k = 0; k < c.d; k++) {
    const double u = random_at((uint64_t)(source * 1000 + k));
    x[(size_t)k] =
        c.function == TRI_MANHATTAN || c.function == TRI_EUCLIDEAN ? floor(16 * u) / 16 : u;
    if (i < c.close) x[(size_t)k] = 0.5 + 1e-5 * u;
    if (how == TRI_FIXED || how == TRI_TRUTHS) x[(size_t)k] = floor(2 * u);
    if (how == TRI_WRAPPED) x[(size_t)k] = u * test_box[k] * 0.999;
    if (how == TRI_SPHERE || how == TRI_UNIT_NORM) x[(size_t)k] = u - 0.5;
    mean += x[(size_t)k] / (double)c.d;
  }
  if (how == TRI_STANDARDISED)
    for (double &v : x) v -= c.d > 1 ? mean : 0;
  if (how == TRI_STANDARDISED || how == TRI_UNIT_NORM || how == TRI_SPHERE) {
    for (double v : x) norm += v * v;
    for (double &v : x) v /= sqrt(norm);
  }
  return x;
}

/* A problem with its fields, as a backend sees it. */
template <class R> struct tri_problem_data {
  tri_params p = {};
  tsl_problem problem = {};
  std::vector<R> points, extras;
  std::vector<uint64_t> counts, words;
  std::vector<int32_t> order;

  explicit tri_problem_data(const tri_case &c) {
    p.function = c.function;
    p.output = c.output;
    p.type = c.type;
    p.map = c.map;
    p.block = c.block;
    p.block_rows = c.block_rows;
    p.cdp_cutoff = c.cdp_cutoff;
    p.n = c.n;
    p.n_pad = (c.n + TRI_PAD - 1) / TRI_PAD * TRI_PAD;
    p.d = c.function == TRI_GRAVITY ? 3 : c.d;
    p.d_read = c.d;
    p.k = c.n <= 1 ? 0 : c.n <= 257 ? c.n - 1 : c.d == 3 ? 300 : 10;
    if (c.k > 0) p.k = c.k;
    p.bins = c.d == 2 ? 20000 : c.d == 4 ? 65536 : 200;
    p.threshold = c.function == TRI_MANHATTAN ? 0.5 : 0.3;
    p.range_lo = tri_abouts[c.function].extra == TRI_RADIUS ? -0.2 : 0;
    p.range_hi = 0.6;
    for (int k = 0; k < 3; k++) p.box[k] = test_box[k];
    p.scale = 6371.0;
    fill(c);
    bind();
  }

  void fill(const tri_case &c) {
    points.assign((size_t)(p.d * p.n_pad), (R)0);
    for (int64_t i = 0; i < p.n; i++) {
      const std::vector<double> x = prepared_point<R>(c, i);
      for (int64_t k = 0; k < c.d; k++) points[(size_t)(k * p.n_pad + i)] = (R)x[(size_t)k];
    }
    if (tri_abouts[c.function].extra == TRI_RADIUS) {
      extras.assign((size_t)p.n_pad, (R)0);
      for (int64_t i = 0; i < p.n; i++)
        extras[(size_t)i] = (R)(0.05 * random_at((uint64_t)i + 999999));
    }
    if (tri_abouts[c.function].extra == TRI_TOTAL) {
      extras.assign((size_t)p.n_pad, (R)0);
      for (int64_t i = 0; i < p.n; i++)
        for (int64_t k = 0; k < p.d; k++) extras[(size_t)i] += points[(size_t)(k * p.n_pad + i)];
    }
    if (tri_of_bits(&p)) pack();
    if (tri_abouts[c.function].sum >= TRI_TERMS)
      p.scale = tri_abouts[c.function].sum == TRI_POWERS    ? 3
                : tri_abouts[c.function].sum == TRI_SIMILAR ? -1
                                                            : (double)p.d;
    if (tri_abouts[c.function].prepare == TRI_SPHERE) p.threshold = 2000, p.range_hi = 12000;
    counts.assign((size_t)p.bins, 0);
  }

  /* The points' bits; the numbers stay for references. */
  void pack() {
    words.assign((size_t)(tri_words_of(&p) * p.n_pad), 0);
    for (int64_t k = 0; k < p.d; k++)
      for (int64_t i = 0; i < p.n; i++)
        words[(size_t)(k / 64 * p.n_pad + i)] |= (uint64_t)(points[(size_t)(k * p.n_pad + i)] != 0)
                                                 << k % 64;
  }

  void bind() {
    tsl_field *f = problem.fields;
    memset(f, 0, sizeof problem.fields);
    problem.params = &p;
    problem.params_bytes = sizeof p;
    problem.n_fields = TRI_OUT + 1;
    f[TRI_POINTS].rank = 2;
    f[TRI_POINTS].shape[0] = p.d;
    f[TRI_POINTS].shape[1] = p.n_pad;
    f[TRI_POINTS].shape[2] = f[TRI_EXTRAS].shape[1] = f[TRI_EXTRAS].shape[2] = 1;
    f[TRI_POINTS].data = points.data();
    f[TRI_EXTRAS].rank = 1;
    f[TRI_EXTRAS].shape[0] = (int64_t)extras.size();
    f[TRI_EXTRAS].data = extras.data();
    f[TRI_POINTS].type = f[TRI_EXTRAS].type = p.type;
    f[TRI_WORDS].data = words.data();
    f[TRI_OUT].data = counts.data();
  }

  /* Points in the order that a search for near pairs wants. */
  tsl_err sort() {
    tsl_err err = TSL_OK;
    const std::vector<R> x = points, e = extras;
    order.assign((size_t)p.n, 0);
    TSL_TRY(tri_near_sort(&problem, order.data()));
    for (int64_t i = 0; i < p.n; i++) {
      const int64_t from = order[(size_t)i];
      for (int64_t k = 0; k < p.d; k++)
        points[(size_t)(k * p.n_pad + i)] = x[(size_t)(k * p.n_pad + from)];
      if (!extras.empty()) extras[(size_t)i] = e[(size_t)from];
    }
    problem.fields[TRI_ORDER].data = order.data();
    problem.fields[TRI_ORDER].shape[0] = p.n;
    p.near = 1;
  done:
    return err;
  }

  void gravity(bool equal, double softening) {
    p.softening = softening;
    p.constant = 2.5;
    p.mass = equal ? 0.125 : 0;
    extras.assign((size_t)p.n_pad, (R)0);
    for (int64_t i = 0; i < p.n; i++)
      extras[(size_t)i] = (R)(equal ? 0.125 : 0.1 + random_at((uint64_t)i + 77777));
    bind();
  }

  /* Acceleration 0..2 and potential 3 of point i in fp64, and the sums of the terms' sizes. */
  void ref_gravity(int64_t i, double sum[4], double size[4]) const {
    for (int c = 0; c < 4; c++) sum[c] = 0, size[c] = 0;
    for (int64_t j = 0; j < p.n; j++) {
      double r[3], r2 = p.softening * p.softening, term;
      if (j == i) continue;
      for (int k = 0; k < 3; k++) {
        r[k] =
            (double)points[(size_t)(k * p.n_pad + j)] - (double)points[(size_t)(k * p.n_pad + i)];
        r2 += r[k] * r[k];
      }
      for (int c = 0; c < 4; c++) {
        term = p.constant * (double)extras[(size_t)j] *
               (c < 3 ? r[c] / (r2 * sqrt(r2)) : -1 / sqrt(r2));
        sum[c] += term;
        size[c] += fabs(term);
      }
    }
  }
};

/* Value of a pair by the formulas of tri_pairs.h. */
template <int F, class R>
static R ref_value(const tri_params &p, const R *x, const R *extra, int64_t i, int64_t j) {
  R acc = (R)0;
  for (int64_t k = 0; k < p.d; k++)
    acc = tri_fn<F, R>::step(acc, x[k * p.n_pad + i], x[k * p.n_pad + j],
                             tri_row_of<F>::powers ? (R)p.scale
                             : k < 3               ? (R)p.box[k]
                                                   : (R)0);
  return tri_fn<F, R>::finish(acc, extra != NULL ? extra[i] : (R)0, extra != NULL ? extra[j] : (R)0,
                              (R)p.scale);
}

/* Of truths, counted one by one. */
template <class R>
static R ref_truths(const tri_params &p, const R *x, const R *extra, int64_t i, int64_t j) {
  int both = 0;
  for (int64_t k = 0; k < p.d; k++) both += x[k * p.n_pad + i] != 0 && x[k * p.n_pad + j] != 0;
  return tri_bits_value(p.function, (R)both, extra[i], extra[j], (R)p.scale);
}

/* All values [n][n]; the diagonal exactly 0, or -2 r for spheres. */
template <class R> static std::vector<R> ref_matrix(const tri_case &c) {
  const tri_problem_data<R> data(c);
  const R *x = data.points.data(), *extra = data.extras.empty() ? NULL : data.extras.data();
  std::vector<R> all((size_t)(c.n * c.n));
  for (int64_t i = 0; i < c.n; i++)
    for (int64_t j = 0; j < c.n; j++) {
      R v = (R)0;
      switch (c.function) {
#define X(NAME, ...)                                      \
  case TRI_##NAME:                                        \
    v = ref_value<TRI_##NAME, R>(data.p, x, extra, i, j); \
    break;
        TRI_STEP_LIST(X)
#undef X
      default:
        v = ref_truths<R>(data.p, x, extra, i, j);
        break;
      }
      all[(size_t)(i * c.n + j)] = i != j || tri_abouts[c.function].extra == TRI_RADIUS ? v : (R)0;
    }
  return all;
}

static inline int ref_bin(float v, const tri_params *p) {
  return tri_bin_f32(v, (float)p->range_lo, (float)p->range_hi,
                     (float)(p->bins / (p->range_hi - p->range_lo)), p->bins);
}
static inline int ref_bin(double v, const tri_params *p) {
  return tri_bin_f64(v, p->range_lo, p->range_hi, p->bins / (p->range_hi - p->range_lo), p->bins);
}
