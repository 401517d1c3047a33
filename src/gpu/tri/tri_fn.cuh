/**
 * @file tri_fn.cuh
 * Pair functions as types, and the two sources of pair values.
 *
 * A source gives a thread the values of G rows with its C = 16 / sizeof(R) neighbouring columns:
 *   tri_direct<F, R, D, G>  the formula of tri_pairs.h; D = 0 loops over args.d dimensions
 *   tri_matrix<R>           1 - inner product, from a strip made by cuBLAS
 * D: coordinates of a row that it reads from shared memory, radius: whether it reads the extra
 * there.
 */
#pragma once

#include "roots.cuh"
#include "tri_gpu.cuh"

#define TRI_SQRT_F32 tsl_sqrt_f32
#include "tri_pairs.h"

/** A pair function: its formulas and the columns of its row that kernels depend on. */
template <int F, class R> struct tri_fn;

#define TRI_FN_TYPE(NAME, name, type, suffix)                                                    \
  template <> struct tri_fn<TRI_##NAME, type> {                                                  \
    static __host__ __device__ __forceinline__ type step(type acc, type a, type b, type box) {   \
      return tri_step_##name##_##suffix(acc, a, b, box);                                         \
    }                                                                                            \
    static __host__ __device__ __forceinline__ type finish(type acc, type ei, type ej, type s) { \
      return tri_finish_##name##_##suffix(acc, ei, ej, s);                                       \
    }                                                                                            \
  };
#define X(NAME, name, ...)            \
  TRI_FN_TYPE(NAME, name, float, f32) \
  TRI_FN_TYPE(NAME, name, double, f64)
TRI_STEP_LIST(X)
#undef X

/**
 * Columns of a function's row: sphere: always three dimensions; wrapped: coordinates have periods;
 * extras: it uses the extra numbers, radius: those of overlap;
 * powers: steps take the scale; affine: euclidean of points moved and stretched;
 * roots: finish begins with the root of the sum, so that one range check serves a thread's columns;
 * squares: the sum may start from -0, which gives the same bits and makes the first addition free;
 * product: cosine of prepared points.
 */
template <int F> struct tri_row_of;

#define X(NAME, name, how, extra, sum, ...)                                  \
  template <> struct tri_row_of<TRI_##NAME> {                                \
    static constexpr bool sphere = how == TRI_SPHERE;                        \
    static constexpr bool wrapped = how == TRI_WRAPPED;                      \
    static constexpr bool radius = extra == TRI_RADIUS;                      \
    static constexpr bool extras = extra != TRI_NO_EXTRA;                    \
    static constexpr bool powers = sum == TRI_POWERS;                        \
    static constexpr bool affine = how == TRI_SCALED || how == TRI_WHITENED; \
    static constexpr bool roots = sum == TRI_ROOT;                           \
    static constexpr bool squares = sum != TRI_LENGTHS && sum < TRI_TERMS;   \
    static constexpr bool product = sum == TRI_PRODUCT;                      \
  };
TRI_STEP_LIST(X)
#undef X

/** Start of a sum. */
template <int F, class R> static __device__ __forceinline__ R tri_zero(void) {
  return tri_row_of<F>::squares ? -(R)0 : (R)0;
}

/** The function whose kernels a function shares, of prepared points. */
template <int F> struct tri_same {
  typedef tri_row_of<F> row;
  static constexpr int value = row::product  ? (int)TRI_COSINE
                               : row::affine ? (int)TRI_EUCLIDEAN
                                             : F;
};

/** Columns of a thread: 16 bytes of values. */
template <class R> struct tri_width { static constexpr int value = 16 / (int)sizeof(R); };

/** Read 16 aligned bytes that no kernel writes meanwhile. */
static __device__ __forceinline__ void tri_get_all(const float *from, float (&v)[4]) {
  const float4 packed = __ldg((const float4 *)from);
  v[0] = packed.x, v[1] = packed.y, v[2] = packed.z, v[3] = packed.w;
}
static __device__ __forceinline__ void tri_get_all(const double *from, double (&v)[2]) {
  const double2 packed = __ldg((const double2 *)from);
  v[0] = packed.x, v[1] = packed.y;
}

/** One point in shared memory, read by all threads at once. */
template <class R> struct alignas(16) tri_point { R v[4]; };

/** Rows of a tile in shared memory, in the order in which they are computed. */
template <class R, int N> struct tri_rows {
  tri_point<R> x[N]; /**< first four dimensions */
  R extra[N];
  int64_t base[N]; /**< of the output row: element (i, j) is at base + j */
  int index[N];    /**< i */
  int count;
};

template <int F, class R>
static __device__ __forceinline__ void tri_finish(R (&v)[tri_width<R>::value], R ei, const R *ej,
                                                  R scale) {
  constexpr int C = tri_width<R>::value;
  if constexpr (tri_row_of<F>::roots && sizeof(R) == 4) {
    unsigned most = 0;
#pragma unroll
    for (int c = 0; c < C; c++) most = max(most, __float_as_uint(v[c]) - TSL_SQRT_FIRST);
    if (most <= TSL_SQRT_SPAN) {
#pragma unroll
      for (int c = 0; c < C; c++) {
        __builtin_assume(__float_as_uint(v[c]) - TSL_SQRT_FIRST <= TSL_SQRT_SPAN);
        v[c] = tri_fn<F, R>::finish(v[c], ei, ej[c], scale);
      }
      return;
    }
  }
#pragma unroll
  for (int c = 0; c < C; c++) v[c] = tri_fn<F, R>::finish(v[c], ei, ej[c], scale);
}

/** Period of dimension k; selected, not indexed, so that it stays out of local memory. */
template <class R> static __device__ __forceinline__ R tri_period(const tri_args<R> &args, int k) {
  return k == 0 ? args.box[0] : k == 1 ? args.box[1] : args.box[2];
}

/** Bounds of tri_pairs_body.h for a coordinate a and what is in [lo, hi]. */
static __device__ __forceinline__ float tri_gap(float a, float lo, float hi) {
  return tri_gap_f32(a, a, lo, hi);
}
static __device__ __forceinline__ double tri_gap(double a, double lo, double hi) {
  return tri_gap_f64(a, a, lo, hi);
}
static __device__ __forceinline__ float tri_gap_wrapped(float a, float lo, float hi, float box) {
  return tri_gap_periodic_f32(a, a, lo, hi, box);
}
static __device__ __forceinline__ double tri_gap_wrapped(double a, double lo, double hi,
                                                         double box) {
  return tri_gap_periodic_f64(a, a, lo, hi, box);
}
static __device__ __forceinline__ float tri_bound_of_sphere(float bound) {
  return tri_bound_of_sphere_f32(bound);
}
static __device__ __forceinline__ double tri_bound_of_sphere(double bound) {
  return tri_bound_of_sphere_f64(bound);
}

/** Value of a point with itself: exactly 0, and for spheres the overlap with itself. */
template <int F, class R>
static __device__ __forceinline__ R tri_diagonal(const tri_args<R> &args, R ei) {
  return tri_row_of<F>::radius ? tri_fn<F, R>::finish((R)0, ei, ei, args.scale) : (R)0;
}

/** Values by the formula, D dimensions known at compile time: columns stay in registers. */
template <int F, class R, int D_, int G_> struct tri_direct {
  using real = R;
  static constexpr int C = tri_width<R>::value;
  static constexpr int function = F, D = D_, G = 1;
  static constexpr bool radius = tri_row_of<F>::radius;
  R x[D][C], e[C];

  static __device__ __forceinline__ R diagonal(const tri_args<R> &args, R ei) {
    return tri_diagonal<F, R>(args, ei);
  }

  /** Take columns j .. j+C-1; out of range ones are replaced by existing ones. */
  __device__ __forceinline__ void columns(const tri_args<R> &args, int j) {
    const bool whole = j >= 0 && j % C == 0 && j < args.n_pad;
#pragma unroll
    for (int k = 0; k < D; k++) {
      const R *const row = args.x + k * args.n_pad;
      if (whole) tri_get_all(row + j, x[k]);
#pragma unroll
      for (int c = 0; c < C && !whole; c++)
        x[k][c] = __ldg(row + min(max(j + c, 0), (int)args.n_pad - 1));
    }
#pragma unroll
    for (int c = 0; c < C; c++)
      e[c] = tri_row_of<F>::radius ? __ldg(args.extra + min(max(j + c, 0), (int)args.n_pad - 1))
                                   : (R)0;
  }

  /** Values of row p of the tile with the columns. */
  template <int N>
  __device__ __forceinline__ void values(const tri_args<R> &args, const tri_rows<R, N> &rows, int p,
                                         int, R (&v)[1][C]) const {
    const tri_point<R> a = rows.x[p];
    const R ei = tri_row_of<F>::radius ? rows.extra[p] : (R)0;
#pragma unroll
    for (int c = 0; c < C; c++) {
      v[0][c] = tri_zero<F, R>();
#pragma unroll
      for (int k = 0; k < D; k++)
        v[0][c] = tri_fn<F, R>::step(v[0][c], a.v[k], x[k][c], tri_period(args, k));
    }
    tri_finish<F, R>(v[0], ei, e, args.scale);
  }
};

/** Values by the formula, any number of dimensions: G rows x C columns of sums in registers. */
template <int F, class R, int G_> struct tri_direct<F, R, 0, G_> {
  using real = R;
  static constexpr int C = tri_width<R>::value;
  static constexpr int function = F, D = 0, G = G_;
  static constexpr bool radius = tri_row_of<F>::radius;
  int place[C];
  R e[C];

  static __device__ __forceinline__ R diagonal(const tri_args<R> &args, R ei) {
    return tri_diagonal<F, R>(args, ei);
  }

  __device__ __forceinline__ void columns(const tri_args<R> &args, int j) {
#pragma unroll
    for (int c = 0; c < C; c++) {
      place[c] = min(max(j + c, 0), (int)args.n_pad - 1);
      e[c] = tri_row_of<F>::radius ? __ldg(args.extra + place[c]) : (R)0;
    }
  }

  template <int N>
  __device__ __forceinline__ void values(const tri_args<R> &args, const tri_rows<R, N> &rows, int p,
                                         int end, R (&v)[G][C]) const {
    int i[G];
#pragma unroll
    for (int g = 0; g < G; g++) {
      i[g] = rows.index[min(p + g, end - 1)];
#pragma unroll
      for (int c = 0; c < C; c++) v[g][c] = tri_zero<F, R>();
    }
    const R *x = args.x;
#pragma unroll 2
    for (int k = 0; k < args.d; k++, x += args.n_pad) {
      const R box = tri_period(args, k);
      R b[C];
#pragma unroll
      for (int c = 0; c < C; c++) b[c] = __ldg(x + place[c]);
#pragma unroll
      for (int g = 0; g < G; g++) {
        const R a = __ldg(x + i[g]);
#pragma unroll
        for (int c = 0; c < C; c++) v[g][c] = tri_fn<F, R>::step(v[g][c], a, b[c], box);
      }
    }
#pragma unroll
    for (int g = 0; g < G; g++)
      tri_finish<F, R>(v[g], tri_row_of<F>::radius ? __ldg(args.extra + i[g]) : (R)0, e,
                       args.scale);
  }
};

/** What a step of dimension k takes besides the coordinates. */
template <int F, class R>
static __device__ __forceinline__ R tri_of_step(const tri_args<R> &args, int k) {
  return tri_row_of<F>::powers ? args.scale : tri_period(args, k);
}

/** Value of one pair. */
template <int F, class R>
static __device__ __forceinline__ R tri_value(const tri_args<R> &args, int i, int j) {
  const R *x = args.x;
  R acc = tri_zero<F, R>();
  switch (args.d) {
  case 3:
    acc = tri_fn<F, R>::step(acc, __ldg(x + i), __ldg(x + j), tri_of_step<F, R>(args, 0));
    x += args.n_pad;
    acc = tri_fn<F, R>::step(acc, __ldg(x + i), __ldg(x + j), tri_of_step<F, R>(args, 1));
    x += args.n_pad;
    acc = tri_fn<F, R>::step(acc, __ldg(x + i), __ldg(x + j), tri_of_step<F, R>(args, 2));
    break;
  case 2:
    acc = tri_fn<F, R>::step(acc, __ldg(x + i), __ldg(x + j), tri_of_step<F, R>(args, 0));
    x += args.n_pad;
    acc = tri_fn<F, R>::step(acc, __ldg(x + i), __ldg(x + j), tri_of_step<F, R>(args, 1));
    break;
  default:
    for (int k = 0; k < args.d; k++, x += args.n_pad)
      acc = tri_fn<F, R>::step(acc, __ldg(x + i), __ldg(x + j), tri_of_step<F, R>(args, k));
  }
  const bool extras = tri_row_of<F>::extras;
  return tri_fn<F, R>::finish(acc, extras ? __ldg(args.extra + i) : (R)0,
                              extras ? __ldg(args.extra + j) : (R)0, args.scale);
}

/** Values 1 - r from a strip of inner products r; the few that are their rounding, from the points.
 *  Or the strip's values, when they are given. */
template <class R> struct tri_matrix {
  using real = R;
  static constexpr int C = tri_width<R>::value;
  static constexpr int D = 0, G = 1;
  static constexpr bool radius = false;
  int64_t place[C];
  R noise;

  static __device__ __forceinline__ R diagonal(const tri_args<R> &, R) {
    return (R)0;
  }

  __device__ __forceinline__ void columns(const tri_args<R> &args, int j) {
#pragma unroll
    for (int c = 0; c < C; c++)
      place[c] = min(max((int64_t)j + c - args.strip_col, (int64_t)0), args.strip_ld - 1);
    noise = args.given ? -(R)INFINITY : noise_of((R)args.d);
  }

  template <int N>
  __device__ __forceinline__ void values(const tri_args<R> &args, const tri_rows<R, N> &rows, int p,
                                         int, R (&v)[1][C]) const {
    const R *row = args.strip + (int64_t)(rows.index[p] - args.strip_row) * args.strip_ld;
#pragma unroll
    for (int c = 0; c < C; c++) v[0][c] = __ldcs(row + place[c]); /* all are under way at once */
#pragma unroll
    for (int c = 0; c < C; c++) {
      if (!args.given) v[0][c] = value_of(v[0][c]);
      if (v[0][c] < noise)
        v[0][c] = of_points(args, rows.index[p], (int)(place[c] + args.strip_col));
    }
  }

  /** The value of one place. */
  static __device__ __forceinline__ R value(const tri_args<R> &args, int i, int j) {
    const R v = args.strip[(int64_t)(i - args.strip_row) * args.strip_ld + j - args.strip_col];
    const R r = args.given ? v : value_of(v);
    return !args.given && r < noise_of((R)args.d) ? of_points(args, i, j) : r;
  }

  /* Warps with a place on the diagonal, or clamped to it, would wait for all its dimensions. */
  static __device__ __forceinline__ R of_points(const tri_args<R> &args, int i, int j) {
    return i == j ? (R)0 : tri_value<TRI_COSINE, R>(args, i, j);
  }

  static __device__ __forceinline__ float value_of(float r) {
    return tri_product_cosine_f32(r);
  }
  static __device__ __forceinline__ double value_of(double r) {
    return tri_product_cosine_f64(r);
  }
  static __device__ __forceinline__ float noise_of(float d) {
    return tri_product_noise_f32(d);
  }
  static __device__ __forceinline__ double noise_of(double d) {
    return tri_product_noise_f64(d);
  }
};
