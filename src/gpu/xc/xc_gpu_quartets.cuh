/**
 * @file xc_gpu_quartets.cuh
 * J and K from (ab|cd) on a card: what its files share. xc_gpu_quartets.cu makes lists and tasks;
 * kernels are compiled by xc_gpu_quartets_low.cu for shells to d, by _high.cu for f. Shells beyond
 * XC_QUARTET_L are the host's.
 *
 * Quartets that the bounds leave are listed by pairs of classes. One with few integrals is a
 * thread's, all of it in registers. Of a larger one each thread of a group has a pair (i, j) of
 * functions of the first pair and all (k, l) of the second, which has more, or half of them where
 * all would not fit its registers; the group shares the integrals along the axes of a primitive
 * quartet in shared memory: an item of that work is a root and an axis.
 *
 * Densities and sums are of monomials, [n][n]: D' = T^T D T and J = T J' T^T, where row i of T is
 * function i. Sums are added by atomics: their last bits depend on the order.
 */
#pragma once

#include <utility>

#include "gpu.cuh"
#include "xc_gpu_quartet_lists.h"

enum {
  XC_QUARTET_ALONE = 27,        /**< most integrals of a quartet that one thread computes */
  XC_QUARTET_MOST = 60,         /**< most integrals of a thread of a group */
  XC_QUARTET_THREADS = 128,     /**< of a block, as far as groups fill it */
  XC_QUARTET_RESIDENT = 4,      /**< blocks of lone threads an SM holds: they wait for loads */
  XC_QUARTET_SHARED = 48 << 10, /**< bytes of a block's groups, if one does not need more */
  XC_QUARTET_BLOCKS = 4096      /**< of a launch */
};

/** What a kernel is given. */
typedef struct xc_quartet_task {
  const xc_quartet_pair *pairs;
  const xc_quartet_two *twos;
  const int2 *list; /**< [*count] pairs: of the first class, of the second */
  const unsigned *count;
  const double *rys;     /**< xc_rys_tables */
  const double *total;   /**< density of J; NULL: no J */
  const double *spin[2]; /**< densities of K; NULL: none */
  double *coulomb, *exchange[2];
  double spread;       /**< 1 / omega^2 of erf(omega r) / r; 0: 1 / r */
  double weight;       /**< of K; of derivatives times the spins that a density stands for */
  const double *alpha; /**< [twos] exponents at A, of derivatives; this and what follows */
  double *gradient;    /**< [copies][n_gradient] */
  int n_gradient, copies;
  int64_t most; /**< that *count can be */
  int n;        /**< monomials */
} xc_quartet_task;

typedef tsl_err (*xc_quartet_run)(const xc_quartet_task *task, cudaStream_t stream);

/** The kernel for two classes of pairs; NULL: it has the classes in the other order. */
xc_quartet_run xc_quartet_low(int first, int second);
/** Likewise, one of them with an f shell. */
xc_quartet_run xc_quartet_high(int first, int second);

/** Sizes of a class of quartets. */
template <int LA, int LB, int LC, int LD> struct xc_quartet_shape {
  static constexpr int NA = XC_CARTESIANS(LA), NB = XC_CARTESIANS(LB);
  static constexpr int NC = XC_CARTESIANS(LC), ND = XC_CARTESIANS(LD);
  static constexpr int NIJ = NA * NB, NKL = NC * ND;
  static constexpr int I = (LA + 1) * (LB + 1), K = (LC + 1) * (LD + 1); /* along an axis */
  static constexpr int ROOTS = (LA + LB + LC + LD) / 2 + 1;
  static constexpr bool ALONE = NIJ * NKL <= XC_QUARTET_ALONE;
  static constexpr int PARTS = NKL > XC_QUARTET_MOST ? 2 : 1; /* of the functions k */
  static constexpr int EACH = NKL / PARTS;                    /* integrals of a thread */
  static constexpr int GROUP = ALONE ? 1 : NIJ * PARTS;
  static constexpr int REGION = 3 * ROOTS * I * K > NIJ *NKL ? 3 * ROOTS *I *K : NIJ *NKL;
  static constexpr int BY_THREADS = XC_QUARTET_THREADS / GROUP > 0 ? XC_QUARTET_THREADS / GROUP : 1;
  static constexpr int BY_SHARED =
      XC_QUARTET_SHARED / 8 / REGION > 0 ? XC_QUARTET_SHARED / 8 / REGION : 1;
  static constexpr int GROUPS = ALONE || BY_THREADS < BY_SHARED ? BY_THREADS : BY_SHARED;
  static constexpr int BLOCK = GROUP * GROUPS;
  static constexpr int SHARED = ALONE ? 0 : GROUPS * REGION * 8;
};

/** A quartet as a thread or group sees it. */
typedef struct xc_quartet {
  xc_quartet_pair bra, ket;
  double times; /**< how often its integrals occur by symmetry */
} xc_quartet;

static __device__ __forceinline__ xc_quartet xc_quartet_load(const xc_quartet_task &k, int64_t at) {
  const int2 both = k.list[at];
  xc_quartet q = {k.pairs[both.x], k.pairs[both.y], 1};
  q.times = (q.bra.same ? 0.5 : 1) * (q.ket.same ? 0.5 : 1) * (both.x == both.y ? 0.5 : 1);
  return q;
}

/* ---------------------------------------------------------------- integrals */

/** Element x of three, which stay in registers. */
static __device__ __forceinline__ double xc_quartet_pick(const double v[3], int x) {
  return x == 0 ? v[0] : x == 1 ? v[1] : v[2];
}

/** Integrals along axis x for a root y of weight w, [I][K]. */
template <int LA, int LB, int LC, int LD>
static __device__ __forceinline__ void
xc_quartet_item(const xc_quartet &q, const xc_quartet_two &bra, const xc_quartet_two &ket,
                const xc_quartet_core &core, double y, double w, int x, double *out) {
  const double p = xc_quartet_pick(bra.at, x), k = xc_quartet_pick(ket.at, x);
  const xc_quartet_step step = xc_quartet_root(&core, y, p - xc_quartet_pick(q.bra.at, x),
                                               k - xc_quartet_pick(q.ket.at, x), p - k);
  xc_quartet_axis(LA, LB, LC, LD, &step, x == 2 ? w * core.scale : 1, xc_quartet_pick(q.bra.ab, x),
                  xc_quartet_pick(q.ket.ab, x), out);
}

/** Place of functions (m, n) of degrees l, k along an axis. */
template <int L, int K>
static __device__ __forceinline__ int xc_quartet_along(int m, int n, int x) {
  return xc_quartet_power(L, m, x) * (K + 1) + xc_quartet_power(K, n, x);
}

/** Add to all integrals of a quartet what one root has. */
template <int LA, int LB, int LC, int LD>
static __device__ __forceinline__ void xc_quartet_add_all(const double *g, double *v) {
  using S = xc_quartet_shape<LA, LB, LC, LD>;
#pragma unroll
  for (int ij = 0; ij < S::NIJ; ij++)
#pragma unroll
    for (int kl = 0; kl < S::NKL; kl++) {
      double part = 1;
#pragma unroll
      for (int x = 0; x < 3; x++)
        part *= g[x * S::I * S::K + xc_quartet_along<LA, LB>(ij / S::NB, ij % S::NB, x) * S::K +
                  xc_quartet_along<LC, LD>(kl / S::ND, kl % S::ND, x)];
      v[ij * S::NKL + kl] += part;
    }
}

/** All integrals of a quartet in a thread's registers. @param[out] v  [NIJ][NKL] */
template <int LA, int LB, int LC, int LD>
static __device__ __forceinline__ void xc_quartet_alone(const xc_quartet_task &k,
                                                        const xc_quartet &q, double *v) {
  using S = xc_quartet_shape<LA, LB, LC, LD>;
#pragma unroll
  for (int e = 0; e < S::NIJ * S::NKL; e++) v[e] = 0;
  for (int i = 0; i < q.bra.n; i++) {
    const xc_quartet_two bra = k.twos[q.bra.first + i];
    for (int j = 0; j < q.ket.n; j++) {
      const xc_quartet_two ket = k.twos[q.ket.first + j];
      xc_quartet_core core;
      xc_quartet_meet(&bra, &ket, k.spread, &core);
#pragma unroll 1
      for (int r = 0; r < S::ROOTS; r++) {
        double g[3 * S::I * S::K], y, w;
        xc_rys(k.rys, S::ROOTS, r, core.t, &y, &w);
#pragma unroll
        for (int x = 0; x < 3; x++)
          xc_quartet_item<LA, LB, LC, LD>(q, bra, ket, core, y, w, x, g + x * S::I * S::K);
        xc_quartet_add_all<LA, LB, LC, LD>(g, v);
      }
    }
  }
}

/** One item of a group: root item / 3, axis item % 3, of degrees LA to LD. S: the group's shape.
 *  @param[out] g  [axis][root][I][K] */
template <class S, int LA, int LB, int LC, int LD>
static __device__ __forceinline__ void
xc_quartet_share(const xc_quartet_task &k, const xc_quartet &q, int pair, int item, double *g) {
  const xc_quartet_two bra = k.twos[q.bra.first + pair / q.ket.n];
  const xc_quartet_two ket = k.twos[q.ket.first + pair % q.ket.n];
  const int r = item / 3, x = item % 3;
  xc_quartet_core core;
  double y, w;
  xc_quartet_meet(&bra, &ket, k.spread, &core);
  xc_rys(k.rys, S::ROOTS, r, core.t, &y, &w);
  xc_quartet_item<LA, LB, LC, LD>(q, bra, ket, core, y, w, x, g + (x * S::ROOTS + r) * S::I * S::K);
}

/** Add to a thread's integrals what all roots have.
 *  @param[in] along  place of its (i, j) on an axis
 *  @param[in] first  of its functions k
 *  @param     v      [NC / PARTS][ND] */
template <int LA, int LB, int LC, int LD>
static __device__ __forceinline__ void xc_quartet_add(const double *g, const int along[3],
                                                      int first, double *v) {
  using S = xc_quartet_shape<LA, LB, LC, LD>;
#pragma unroll 1
  for (int r = 0; r < S::ROOTS; r++) {
#pragma unroll
    for (int k = 0; k < S::NC / S::PARTS; k++) {
      double h[3][LD + 1];
#pragma unroll
      for (int x = 0; x < 3; x++)
#pragma unroll
        for (int e = 0; e <= LD; e++)
          h[x][e] = g[((x * S::ROOTS + r) * S::I + along[x]) * S::K +
                      xc_quartet_power(LC, first + k, x) * (LD + 1) + e];
#pragma unroll
      for (int l = 0; l < S::ND; l++)
        v[k * S::ND + l] = fma(h[0][xc_quartet_power(LD, l, 0)] * h[1][xc_quartet_power(LD, l, 1)],
                               h[2][xc_quartet_power(LD, l, 2)], v[k * S::ND + l]);
    }
  }
}

/* --------------------------------------------------------------------- sums */

/** sum_st v[s ss + t st] d[s][t], d a block of a matrix of n columns. */
template <int NS, int NT>
static __device__ __forceinline__ double xc_quartet_contract(const double *v, int ss, int st,
                                                             const double *d, int n) {
  double sum = 0;
#pragma unroll
  for (int s = 0; s < NS; s++)
#pragma unroll
    for (int t = 0; t < NT; t++) sum = fma(v[s * ss + t * st], __ldg(d + s * n + t), sum);
  return sum;
}

/** Sums of a thread over quartets that follow one another with the same shells a, b, c. */
template <class S, int SPINS> struct xc_quartet_sums {
  static constexpr int AB = (S::NIJ + S::GROUP - 1) / S::GROUP;
  static constexpr int AC = (S::NA * S::NC + S::GROUP - 1) / S::GROUP;
  static constexpr int BC = (S::NB * S::NC + S::GROUP - 1) / S::GROUP;
  double ab[AB], ac[SPINS][AC], bc[SPINS][BC];
  int a, b, c; /**< where the shells begin; a < 0: nothing is summed */
};

/** Thread `me` of the group adds its part of J. @param[in] v  [NIJ][NKL] */
template <class S, int SPINS>
static __device__ __forceinline__ void
xc_quartet_coulomb(const xc_quartet_task &k, const xc_quartet &q, int me, const double *v,
                   xc_quartet_sums<S, SPINS> *sums) {
  const int a = q.bra.at_a, b = q.bra.at_b, c = q.ket.at_a, d = q.ket.at_b, n = k.n;
#pragma unroll
  for (int e = 0, o = me; e < sums->AB; e++, o += S::GROUP)
    if (o < S::NIJ)
      sums->ab[e] += q.times * xc_quartet_contract<S::NC, S::ND>(v + o * S::NKL, S::ND, 1,
                                                                 k.total + c * n + d, n);
#pragma unroll
  for (int o = me; o < S::NKL; o += S::GROUP)
    atomicAdd(k.coulomb + (c + o / S::ND) * n + d + o % S::ND,
              q.times * xc_quartet_contract<S::NA, S::NB>(v + o, S::NB * S::NKL, S::NKL,
                                                          k.total + a * n + b, n));
}

/** Likewise of K of a spin: pairs (a, c), (a, d), (b, c), (b, d). */
template <class S, int SPINS>
static __device__ __forceinline__ void
xc_quartet_exchange(const xc_quartet_task &task, const xc_quartet &q, int me, const double *v,
                    int spin, xc_quartet_sums<S, SPINS> *sums) {
  const double *const density = task.spin[spin], times = q.times * task.weight;
  double *const to = task.exchange[spin];
  const int n = task.n;
  const int a = q.bra.at_a, b = q.bra.at_b, c = q.ket.at_a, d = q.ket.at_b;
  constexpr int AB = S::NB * S::NKL;
#pragma unroll
  for (int e = 0, o = me; e < sums->AC; e++, o += S::GROUP)
    if (o < S::NA * S::NC)
      sums->ac[spin][e] +=
          times * xc_quartet_contract<S::NB, S::ND>(v + o / S::NC * AB + o % S::NC * S::ND, S::NKL,
                                                    1, density + b * n + d, n);
#pragma unroll
  for (int e = 0, o = me; e < sums->BC; e++, o += S::GROUP)
    if (o < S::NB * S::NC)
      sums->bc[spin][e] +=
          times * xc_quartet_contract<S::NA, S::ND>(v + o / S::NC * S::NKL + o % S::NC * S::ND, AB,
                                                    1, density + a * n + d, n);
#pragma unroll
  for (int o = me; o < S::NA * S::ND; o += S::GROUP)
    atomicAdd(to + (a + o / S::ND) * n + d + o % S::ND,
              times * xc_quartet_contract<S::NB, S::NC>(v + o / S::ND * AB + o % S::ND, S::NKL,
                                                        S::ND, density + b * n + c, n));
#pragma unroll
  for (int o = me; o < S::NB * S::ND; o += S::GROUP)
    atomicAdd(to + (b + o / S::ND) * n + d + o % S::ND,
              times * xc_quartet_contract<S::NA, S::NC>(v + o / S::ND * S::NKL + o % S::ND, AB,
                                                        S::ND, density + a * n + c, n));
}

/** Add a thread's sums to the matrices and begin with zeros. */
template <class S, int SPINS>
static __device__ __forceinline__ void xc_quartet_flush(const xc_quartet_task &k, int me,
                                                        xc_quartet_sums<S, SPINS> *sums) {
#pragma unroll
  for (int e = 0, o = me; e < sums->AB; e++, o += S::GROUP) {
    if (sums->a >= 0 && k.total != NULL && o < S::NIJ)
      atomicAdd(k.coulomb + (sums->a + o / S::NB) * k.n + sums->b + o % S::NB, sums->ab[e]);
    sums->ab[e] = 0;
  }
#pragma unroll
  for (int s = 0; s < SPINS; s++) {
    const bool asked = sums->a >= 0 && k.spin[s] != NULL;
#pragma unroll
    for (int e = 0, o = me; e < sums->AC; e++, o += S::GROUP) {
      if (asked && o < S::NA * S::NC)
        atomicAdd(k.exchange[s] + (sums->a + o / S::NC) * k.n + sums->c + o % S::NC,
                  sums->ac[s][e]);
      sums->ac[s][e] = 0;
    }
#pragma unroll
    for (int e = 0, o = me; e < sums->BC; e++, o += S::GROUP) {
      if (asked && o < S::NB * S::NC)
        atomicAdd(k.exchange[s] + (sums->b + o / S::NC) * k.n + sums->c + o % S::NC,
                  sums->bc[s][e]);
      sums->bc[s][e] = 0;
    }
  }
}

/** What a quartet adds, after the sums of other shells are given away. */
template <class S, int SPINS>
static __device__ __forceinline__ void
xc_quartet_digest(const xc_quartet_task &k, const xc_quartet &q, int me, const double *v,
                  xc_quartet_sums<S, SPINS> *sums) {
  if (sums->a != q.bra.at_a || sums->b != q.bra.at_b || sums->c != q.ket.at_a) {
    xc_quartet_flush<S, SPINS>(k, me, sums);
    sums->a = q.bra.at_a, sums->b = q.bra.at_b, sums->c = q.ket.at_a;
  }
  if (k.total != NULL) xc_quartet_coulomb<S, SPINS>(k, q, me, v, sums);
#pragma unroll
  for (int s = 0; s < SPINS; s++)
    if (k.spin[s] != NULL) xc_quartet_exchange<S, SPINS>(k, q, me, v, s, sums);
}

/* ------------------------------------------------------------------ kernels */

/** Quartets of a group of a launch: a range of the list, so that most that follow one another have
 *  the same shells a, b and c, and groups that run at the same time seldom add to the same
 *  elements. @return its length in the list, the same for all but the last groups */
template <class S>
static __device__ __forceinline__ int64_t xc_quartet_range(const xc_quartet_task &k, int group,
                                                           int64_t *lo, int64_t *hi) {
  const int64_t n = *k.count, groups = (int64_t)gridDim.x * S::GROUPS;
  const int64_t each = (n + groups - 1) / groups;
  *lo = min(n, ((int64_t)blockIdx.x * S::GROUPS + group) * each);
  *hi = min(n, *lo + each);
  return each;
}

template <int LA, int LB, int LC, int LD, int SPINS>
static __global__ void __launch_bounds__(XC_QUARTET_THREADS, XC_QUARTET_RESIDENT)
    xc_quartet_alone_kernel(const xc_quartet_task k) {
  using S = xc_quartet_shape<LA, LB, LC, LD>;
  xc_quartet_sums<S, SPINS> sums = {};
  int64_t lo, hi;
  (void)xc_quartet_range<S>(k, (int)threadIdx.x, &lo, &hi);
  sums.a = -1;
  for (int64_t at = lo; at < hi; at++) {
    double v[S::NIJ * S::NKL];
    const xc_quartet q = xc_quartet_load(k, at);
    xc_quartet_alone<LA, LB, LC, LD>(k, q, v);
    xc_quartet_digest<S, SPINS>(k, q, 0, v, &sums);
  }
  xc_quartet_flush<S, SPINS>(k, 0, &sums);
}

template <int LA, int LB, int LC, int LD, int SPINS>
static __global__ void __launch_bounds__(xc_quartet_shape<LA, LB, LC, LD>::BLOCK)
    xc_quartet_group_kernel(const xc_quartet_task k) {
  using S = xc_quartet_shape<LA, LB, LC, LD>;
  extern __shared__ double xc_quartet_memory[];
  const int me = threadIdx.x % S::GROUP, group = threadIdx.x / S::GROUP;
  const int ij = me / S::PARTS, first = me % S::PARTS * (S::NC / S::PARTS);
  double *own = xc_quartet_memory + group * S::REGION;
  xc_quartet_sums<S, SPINS> sums = {};
  int along[3];
  int64_t lo, hi;
#pragma unroll
  for (int x = 0; x < 3; x++) along[x] = xc_quartet_along<LA, LB>(ij / S::NB, ij % S::NB, x);
  const int64_t each = xc_quartet_range<S>(k, group, &lo, &hi);
  sums.a = -1;
  for (int64_t step = 0; step < each; step++) { /* the same turns for all threads */
    const bool mine = lo + step < hi;
    const xc_quartet q = xc_quartet_load(k, mine ? lo + step : 0);
    const int pairs = mine ? q.bra.n * q.ket.n : 0;
    double v[S::EACH] = {};
    for (int pair = 0; __syncthreads_or(pair < pairs); pair++) {
      for (int item = me; pair < pairs && item < 3 * S::ROOTS; item += S::GROUP)
        xc_quartet_share<S, LA, LB, LC, LD>(k, q, pair, item, own);
      __syncthreads();
      if (pair < pairs) xc_quartet_add<LA, LB, LC, LD>(own, along, first, v);
    }
#pragma unroll
    for (int e = 0; e < S::EACH; e++) own[me * S::EACH + e] = v[e];
    __syncthreads();
    if (mine) xc_quartet_digest<S, SPINS>(k, q, me, own, &sums);
    __syncthreads();
  }
  xc_quartet_flush<S, SPINS>(k, me, &sums);
}

template <int LA, int LB, int LC, int LD, int SPINS>
static tsl_err xc_quartet_launch(const xc_quartet_task *task, cudaStream_t stream) {
  tsl_err err = TSL_OK;
  using S = xc_quartet_shape<LA, LB, LC, LD>;
  const int64_t full = tsl_ceil_div(task->most, S::GROUPS), most = XC_QUARTET_BLOCKS;
  const unsigned blocks = (unsigned)(full < most ? full : most);
  if constexpr (S::ALONE) {
    TSL_LAUNCH((xc_quartet_alone_kernel<LA, LB, LC, LD, SPINS>), blocks, S::BLOCK, 0, stream,
               *task);
  } else {
    TSL_CUDA_TRY(cudaFuncSetAttribute(xc_quartet_group_kernel<LA, LB, LC, LD, SPINS>,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize, S::SHARED));
    TSL_LAUNCH((xc_quartet_group_kernel<LA, LB, LC, LD, SPINS>), blocks, S::BLOCK, S::SHARED,
               stream, *task);
  }
done:
  return err;
}

/** The kernels of J and K for one spin or two. */
template <int LA, int LB, int LC, int LD> struct xc_quartet_spins {
  static tsl_err run(const xc_quartet_task *task, cudaStream_t stream) {
    return task->spin[1] != NULL ? xc_quartet_launch<LA, LB, LC, LD, 2>(task, stream)
                                 : xc_quartet_launch<LA, LB, LC, LD, 1>(task, stream);
  }
};

/* -------------------------------------------------------------------- tables */

/** LAUNCH of the classes la (la + 1) / 2 + lb numbered AT, if the pair with fewer functions is
 *  first and HIGH says whether there is an f shell; else NULL. */
template <template <int, int, int, int> class LAUNCH, bool HIGH, int AT>
static xc_quartet_run xc_quartet_entry() {
  constexpr int FIRST = AT / XC_QUARTET_CLASSES, SECOND = AT % XC_QUARTET_CLASSES;
  constexpr int LA = FIRST < 1 ? 0 : FIRST < 3 ? 1 : FIRST < 6 ? 2 : 3;
  constexpr int LC = SECOND < 1 ? 0 : SECOND < 3 ? 1 : SECOND < 6 ? 2 : 3;
  constexpr int LB = FIRST - LA * (LA + 1) / 2, LD = SECOND - LC * (LC + 1) / 2;
  constexpr int NIJ = XC_CARTESIANS(LA) * XC_CARTESIANS(LB);
  constexpr int NKL = XC_CARTESIANS(LC) * XC_CARTESIANS(LD);
  constexpr bool IS_HIGH = FIRST >= XC_QUARTET_LOW || SECOND >= XC_QUARTET_LOW;
  if constexpr (IS_HIGH == HIGH && (NIJ < NKL || FIRST == SECOND))
    return LAUNCH<LA, LB, LC, LD>::run;
  else
    return NULL;
}

template <template <int, int, int, int> class LAUNCH, bool HIGH, int... AT>
static xc_quartet_run xc_quartet_find(int first, int second, std::integer_sequence<int, AT...>) {
  static const xc_quartet_run all[] = {xc_quartet_entry<LAUNCH, HIGH, AT>()...};
  return all[first * XC_QUARTET_CLASSES + second];
}

/** The entry of two classes. */
template <template <int, int, int, int> class LAUNCH, bool HIGH>
static xc_quartet_run xc_quartet_find(int first, int second) {
  enum { ALL = XC_QUARTET_CLASSES * XC_QUARTET_CLASSES };
  return xc_quartet_find<LAUNCH, HIGH>(first, second, std::make_integer_sequence<int, ALL>());
}
