/**
 * @file xc_gpu_fit_slopes.cuh
 * Derivatives of the fitted Coulomb energy on a card: what its files share. xc_gpu_fit_slopes.cu
 * makes lists and tasks; kernels are compiled by xc_gpu_fit_slopes_low.cu and _high.cu.
 *
 *   dE = sum_P c_P sum_mn D_mn d(P|mn) - 1/2 sum_PQ c_P c_Q d(P|Q)
 *
 * Densities go into the Hermite functions of a pair of primitives before the integrals, and c_P
 * into the polynomial of a fitting shell, so no integral is ever made: what a pair of primitives
 * and a fitting shell have with each other is
 *
 *   sum_tuv h_tuv W_tuv,  W: Taylor's coefficients of sum_m c_m S_lm(R) G_0(R) (xc_triple.h)
 *
 * Where the centre P of the product moves it changes by the coefficients one degree higher, and by
 * translational invariance that is minus what the fitting shell gets; where A moves and P stays, h
 * changes (xc_triple_turned). So A gets alpha / p of the first and all of the second, and B the
 * rest. A fitting shell Q is a pair with a function that is 1 everywhere.
 *
 * A thread has a part of a fitting shell, a block a range of pairs, whose h are the same for all
 * its threads.
 *
 * Source: C. A. White, M. Head-Gordon, J. Chem. Phys. 104 (1996) 2620 (density in Hermite
 * functions); Helgaker, Jorgensen, Olsen, Molecular Electronic-Structure Theory, 9.5.
 */
#pragma once

#include "gpu.cuh"
#include "xc_gpu_lists.h"

enum {
  XC_SLOPE_THREADS = 64, /**< parts of a block */
  XC_SLOPE_SETS = 4,     /**< of h: as it is, and when A moves along x, y and z */
  XC_SLOPE_BLOCKS = 8192 /**< of a launch */
};

/** A pair of primitives: exponent and centre of the product, alpha / p. */
typedef struct xc_slope_two {
  double p, at[3], share;
} xc_slope_two;

/** A pair of shells. Parts of fitting shells up to number `order` leave it out. */
typedef struct xc_slope_bra {
  int32_t first, n; /**< its pairs of primitives */
  int32_t a, b;     /**< atoms */
  int32_t order;
} xc_slope_bra;

/** A part r^2j S_l of a fitting shell, times its coefficients, in monomials. */
typedef struct xc_slope_part {
  double at[3], q[XC_CARTESIANS(XC_MAX_L)];
  int32_t first, n; /**< primitives */
  int32_t l, j, atom;
  int32_t order; /**< number of the fitting shell */
} xc_slope_part;

/** What a kernel is given: pairs of one degree and the parts of one l. */
typedef struct xc_slope_task {
  const xc_slope_bra *bras;   /**< [n_bras] */
  const xc_slope_two *twos;   /**< from number `first` on */
  const double *h;            /**< [.][XC_SLOPE_SETS][Hermite functions] likewise */
  const xc_slope_part *parts; /**< [n_parts] */
  const xc_triple_primitive *primitives;
  const double *boys;
  double *sums; /**< [copies][n_sums] */
  int32_t copies, n_sums;
  int32_t first, n_bras, n_parts;
} xc_slope_task;

typedef tsl_err (*xc_slope_run)(const xc_slope_task *task, cudaStream_t stream);

enum { XC_SLOPE_LOW = 5 }; /**< degrees of pairs that the low file has: up to two d shells */
extern const xc_slope_run xc_slope_low[XC_SLOPE_LOW][XC_MAX_L + 1];
extern const xc_slope_run xc_slope_high[XC_TRIPLE_L + 1 - XC_SLOPE_LOW][XC_MAX_L + 1];

/** E_tuv^ab t! u! v! / p; set > 0: when A moves along axis set - 1 and the centre stays. */
static __device__ __forceinline__ double
xc_slope_element(const xc_triple_tables *tables, const xc_triple_pair *q, const xc_polynomial *a,
                 const xc_polynomial *b, int h, int set, double alpha, double pa) {
  const int8_t *d = tables->hermite[h];
  double sum = 0;
  for (int m = 0; m < a->n; m++)
    for (int n = 0; n < b->n; n++) {
      const int8_t *i = a->power[m], *j = b->power[n];
      double part = a->c[m] * b->c[n];
      if (d[0] > i[0] + j[0] || d[1] > i[1] + j[1] || d[2] > i[2] + j[2]) continue;
      for (int x = 0; x < 3; x++)
        part *= x == set - 1 ? xc_triple_turned(&q->e[x], i[x], j[x], d[x], alpha, pa)
                             : q->e[x].of[i[x]][j[x]][d[x]];
      sum += part;
    }
  return q->factor * tables->factor[h] * sum;
}

/** What one pair of primitives and one part have. @param[out] on_p, turned  added to */
template <int L, int LP>
static __device__ __forceinline__ void
xc_slope_meet(const xc_slope_task &k, const xc_slope_part &part, const xc_slope_two &two,
              const double *h, double on_p[3], double turned[3]) {
  constexpr int T = L + 1, H = (L + 1) * (L + 2) * (L + 3) / 6, TOP = T < LP ? T : LP;
  constexpr int ALL = (T + 1) * (T + 2) * (T + 3) / 6;
  double g[T + 1] = {}, taylor[ALL], d[(TOP + 1) * (TOP + 2) * (TOP + 3) / 6];
  const double r[3] = {two.at[0] - part.at[0], two.at[1] - part.at[1], two.at[2] - part.at[2]};
  for (int i = part.first; i < part.first + part.n; i++)
    xc_triple_radial(T, LP, part.j, two.p, k.primitives[i], r[0] * r[0] + r[1] * r[1] + r[2] * r[2],
                     k.boys, g);
  xc_triple_taylor(T, r, g, taylor);
  xc_triple_shift(LP, TOP, part.q, r, d);
#pragma unroll
  for (int t = 0; t <= T; t++)
#pragma unroll
    for (int u = 0; u <= T - t; u++)
#pragma unroll
      for (int v = 0; v <= T - t - u; v++) {
        const double w = xc_triple_convolve(TOP, t, u, v, d, taylor);
        if (t > 0) on_p[0] = fma(t * w, h[xc_hermite_at(t - 1, u, v)], on_p[0]);
        if (u > 0) on_p[1] = fma(u * w, h[xc_hermite_at(t, u - 1, v)], on_p[1]);
        if (v > 0) on_p[2] = fma(v * w, h[xc_hermite_at(t, u, v - 1)], on_p[2]);
        if (t + u + v <= L) {
#pragma unroll
          for (int x = 0; x < 3; x++)
            turned[x] = fma(w, h[(1 + x) * H + xc_hermite_at(t, u, v)], turned[x]);
        }
      }
}

/** The sum over a warp, in all its lanes. */
static __device__ __forceinline__ double xc_slope_sum(double v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  return v;
}

/** Block (parts, range of pairs). */
template <int L, int LP>
static __global__ void __launch_bounds__(XC_SLOPE_THREADS) xc_slope_kernel(const xc_slope_task k) {
  constexpr int SET = XC_SLOPE_SETS * ((L + 1) * (L + 2) * (L + 3) / 6);
  const int at = (int)(blockIdx.x * XC_SLOPE_THREADS + threadIdx.x), lane = threadIdx.x % 32;
  const int each = (k.n_bras + (int)gridDim.y - 1) / (int)gridDim.y;
  const int lo = (int)blockIdx.y * each, hi = min(k.n_bras, lo + each);
  const bool inside = at < k.n_parts;
  const xc_slope_part part = k.parts[inside ? at : 0];
  double *const sums =
      k.sums + (int64_t)((blockIdx.y * gridDim.x + blockIdx.x) % (unsigned)k.copies) * k.n_sums;
  double on_part[3] = {};
  for (int bra = lo; bra < hi; bra++) {
    const xc_slope_bra b = k.bras[bra];
    const bool mine = inside && part.order > b.order;
    double on_a[3] = {}, on_both[3] = {};
    if (!__any_sync(~0u, mine)) continue;
    for (int two = b.first - k.first; mine && two < b.first - k.first + b.n; two++) {
      const xc_slope_two q = k.twos[two];
      double on_p[3] = {}, turned[3] = {};
      xc_slope_meet<L, LP>(k, part, q, k.h + (int64_t)two * SET, on_p, turned);
#pragma unroll
      for (int x = 0; x < 3; x++)
        on_a[x] += fma(q.share, on_p[x], turned[x]), on_both[x] += on_p[x];
    }
#pragma unroll
    for (int x = 0; x < 3; x++) {
      on_part[x] -= on_both[x];
      const double a = xc_slope_sum(on_a[x]), both = xc_slope_sum(on_both[x]);
      if (lane == x) atomicAdd(&sums[3 * b.a + x], a);
      if (lane == 3 + x) atomicAdd(&sums[3 * b.b + x], both - a);
    }
  }
#pragma unroll
  for (int x = 0; x < 3; x++)
    if (inside) atomicAdd(&sums[3 * part.atom + x], on_part[x]);
}

template <int L, int LP>
static tsl_err xc_fit_slope_launch(const xc_slope_task *task, cudaStream_t stream) {
  tsl_err err = TSL_OK;
  const int64_t tiles = tsl_ceil_div(task->n_parts, XC_SLOPE_THREADS);
  const int64_t most = tsl_ceil_div(XC_SLOPE_BLOCKS, tiles > 0 ? tiles : 1);
  const dim3 grid((unsigned)tiles, (unsigned)(task->n_bras < most ? task->n_bras : most));
  TSL_LAUNCH((xc_slope_kernel<L, LP>), grid, XC_SLOPE_THREADS, 0, stream, *task);
done:
  return err;
}

#define XC_SLOPE_DEGREE(L)                                                           \
  {                                                                                  \
    xc_fit_slope_launch<L, 0>, xc_fit_slope_launch<L, 1>, xc_fit_slope_launch<L, 2>, \
        xc_fit_slope_launch<L, 3>, xc_fit_slope_launch<L, 4>                         \
  }
