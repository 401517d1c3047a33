/**
 * @file xc_gpu_triple_slopes.cuh
 * Derivatives of (P|ab) on a card times weights that have no pattern, as those of fitted exchange:
 * what xc_gpu_triple_slopes_low.cu and _high.cu share. xc_gpu_triple_slopes.cu makes weights, lists
 * and tasks.
 *
 *   sum_P sum_ab weights_P,ab d(P|ab)
 *
 * A thread has a function of a part of a fitting shell, a block a range of pairs. The weights of a
 * pair go into its Hermite functions, as the densities of xc_gpu_fit_slopes.cuh do, but for each
 * thread anew; what follows is told there. Pairs with more than N functions are done N of them at a
 * time.
 */
#pragma once

#include "xc_gpu_fit_slopes.cuh"
#include "xc_gpu_triples.cuh"

enum { XC_SLOPE_WRITTEN = 320 }; /**< elements of E up to which loops are written out */

/** What a kernel is given: pairs of one class, and parts of one l with their rows of weights. */
typedef struct xc_triple_slope_task {
  const xc_triple_bra *bras; /**< [n_bras] */
  const xc_shell *shells;    /**< of the orbitals, for their atoms */
  const xc_slope_two *twos;  /**< from number `first` on */
  const double *e;           /**< [.][chunks][XC_SLOPE_SETS][Hermite functions][stride] likewise */
  const xc_triple_part *parts; /**< [n_parts] */
  const xc_triple_primitive *primitives;
  const double *boys;
  double *sums; /**< [copies][n_sums] */
  int64_t n_packed;
  int32_t copies, n_sums;
  int32_t first, n_bras, n_parts;
  int32_t size, chunks; /**< functions of a pair, in chunks of N */
} xc_triple_slope_task;

/** Kernels of one class of pairs, as xc_triple_class. */
typedef struct xc_triple_slope_class {
  int32_t L, N;
  tsl_err (*run[XC_MAX_L + 1])(const xc_triple_slope_task *task, cudaStream_t stream);
} xc_triple_slope_class;

extern const xc_triple_slope_class xc_triple_slope_low[XC_TRIPLE_LOW];
extern const xc_triple_slope_class xc_triple_slope_high[XC_TRIPLE_HIGH];

/** Taylor's coefficients of S_lm(R) G_0(R) to degree L + 1 for one pair of primitives. */
template <int L, int LP>
static __device__ __forceinline__ void xc_triple_slope_series(const xc_triple_slope_task &k,
                                                              const xc_triple_part &part, int m,
                                                              const xc_slope_two &two, double *v) {
  constexpr int T = L + 1, TOP = T < LP ? T : LP;
  double g[T + 1] = {}, taylor[(T + 1) * (T + 2) * (T + 3) / 6];
  double d[(TOP + 1) * (TOP + 2) * (TOP + 3) / 6];
  const double r[3] = {two.at[0] - part.at[0], two.at[1] - part.at[1], two.at[2] - part.at[2]};
  for (int i = part.first; i < part.first + part.n; i++)
    xc_triple_radial(T, LP, part.j, two.p, k.primitives[i], r[0] * r[0] + r[1] * r[1] + r[2] * r[2],
                     k.boys, g);
  xc_triple_taylor(T, r, g, taylor);
  xc_triple_harmonic(LP, m, TOP, r, d);
  xc_triple_product(T, TOP, d, taylor, v);
}

/** sum_f e[f] weight[f], e aligned. */
template <int N>
static __device__ __forceinline__ double xc_triple_slope_dot(const double *e,
                                                             const double weight[N]) {
  double sum = 0;
  if (N == 1) return e[0] * weight[0];
#pragma unroll
  for (int f = 0; f < N; f += 2) {
    const double2 two = ((const double2 *)e)[f / 2];
    sum = fma(two.x, weight[f], sum);
    if (f + 1 < N) sum = fma(two.y, weight[f + 1], sum);
  }
  return sum;
}

/** What one pair of primitives and one function of a part have. @param[in] e  [sets][H][stride]
 *  @param[out] on_p, turned  added to */
template <int L, int N>
static __device__ __forceinline__ void xc_triple_slope_meet(const double *e, const double weight[N],
                                                            const double *v, double on_p[3],
                                                            double turned[3]) {
  constexpr int H = (L + 1) * (L + 2) * (L + 3) / 6, S = xc_triple_stride(N);
  constexpr int TURNS = H * N <= XC_SLOPE_WRITTEN ? L + 1 : 1;
#pragma unroll TURNS
  for (int t = 0; t <= L; t++)
#pragma unroll TURNS
    for (int u = 0; u <= L - t; u++)
#pragma unroll TURNS
      for (int w = 0; w <= L - t - u; w++) {
        constexpr int SET = H * S;
        const int h = xc_hermite_at(t, u, w);
        const double *const at = e + h * S;
        const double here = xc_triple_slope_dot<N>(at, weight);
        on_p[0] = fma((t + 1) * here, v[xc_hermite_at(t + 1, u, w)], on_p[0]);
        on_p[1] = fma((u + 1) * here, v[xc_hermite_at(t, u + 1, w)], on_p[1]);
        on_p[2] = fma((w + 1) * here, v[xc_hermite_at(t, u, w + 1)], on_p[2]);
#pragma unroll
        for (int x = 0; x < 3; x++)
          turned[x] = fma(xc_triple_slope_dot<N>(at + (1 + x) * SET, weight), v[h], turned[x]);
      }
}

/** Block (parts, function m of them, range of pairs). */
template <int L, int N, int LP>
static __global__ void __launch_bounds__(XC_SLOPE_THREADS)
    xc_triple_slope_kernel(const xc_triple_slope_task k) {
  constexpr int H = (L + 1) * (L + 2) * (L + 3) / 6, T = L + 1;
  constexpr int E = XC_SLOPE_SETS * H * xc_triple_stride(N);
  const int at = (int)(blockIdx.x * XC_SLOPE_THREADS + threadIdx.x), lane = threadIdx.x % 32;
  const int m = (int)blockIdx.y, each = (k.n_bras + (int)gridDim.z - 1) / (int)gridDim.z;
  const int lo = (int)blockIdx.z * each, hi = min(k.n_bras, lo + each);
  const bool inside = at < k.n_parts;
  const xc_triple_part part = k.parts[inside ? at : 0];
  const double *const row = part.row + m * k.n_packed;
  double *const sums =
      k.sums + (int64_t)((blockIdx.z * gridDim.x + blockIdx.x) % (unsigned)k.copies) * k.n_sums;
  double on_part[3] = {};
  for (int bra = lo; bra < hi; bra++) {
    const xc_triple_bra b = k.bras[bra];
    double on_a[3] = {}, on_both[3] = {};
    for (int chunk = 0; chunk < k.chunks && inside; chunk++) {
      double weight[N];
#pragma unroll
      for (int f = 0; f < N; f++)
        weight[f] = chunk * N + f < k.size ? row[b.packed + chunk * N + f] : 0;
      for (int two = b.first - k.first; two < b.first - k.first + b.n; two++) {
        const xc_slope_two q = k.twos[two];
        double v[(T + 1) * (T + 2) * (T + 3) / 6], on_p[3] = {}, turned[3] = {};
        xc_triple_slope_series<L, LP>(k, part, m, q, v);
        xc_triple_slope_meet<L, N>(k.e + ((int64_t)two * k.chunks + chunk) * E, weight, v, on_p,
                                   turned);
#pragma unroll
        for (int x = 0; x < 3; x++)
          on_a[x] += fma(q.share, on_p[x], turned[x]), on_both[x] += on_p[x];
      }
    }
    const int a = k.shells[b.a].atom, c = k.shells[b.b].atom;
#pragma unroll
    for (int x = 0; x < 3; x++) {
      on_part[x] -= on_both[x];
      const double of_a = xc_slope_sum(on_a[x]), both = xc_slope_sum(on_both[x]);
      if (lane == x) atomicAdd(&sums[3 * a + x], of_a);
      if (lane == 3 + x) atomicAdd(&sums[3 * c + x], both - of_a);
    }
  }
#pragma unroll
  for (int x = 0; x < 3; x++)
    if (inside) atomicAdd(&sums[3 * part.atom + x], on_part[x]);
}

template <int L, int N, int LP>
static tsl_err xc_triple_slope_launch(const xc_triple_slope_task *task, cudaStream_t stream) {
  tsl_err err = TSL_OK;
  const int64_t tiles = tsl_ceil_div(task->n_parts, XC_SLOPE_THREADS) * (2 * LP + 1);
  const int64_t most = tsl_ceil_div(XC_SLOPE_BLOCKS, tiles > 0 ? tiles : 1);
  const dim3 grid((unsigned)tsl_ceil_div(task->n_parts, XC_SLOPE_THREADS), 2 * LP + 1,
                  (unsigned)(task->n_bras < most ? task->n_bras : most));
  TSL_LAUNCH((xc_triple_slope_kernel<L, N, LP>), grid, XC_SLOPE_THREADS, 0, stream, *task);
done:
  return err;
}

#define XC_TRIPLE_SLOPE_CLASS(L, N)                                         \
  {                                                                         \
    L, N, {                                                                 \
      xc_triple_slope_launch<L, N, 0>, xc_triple_slope_launch<L, N, 1>,     \
          xc_triple_slope_launch<L, N, 2>, xc_triple_slope_launch<L, N, 3>, \
          xc_triple_slope_launch<L, N, 4>                                   \
    }                                                                       \
  }
