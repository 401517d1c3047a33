/**
 * @file xc_gpu_quartets.cuh
 * J and K from (ab|cd) on a card: what its files share. xc_gpu_quartets.cu makes lists and tasks;
 * kernels are compiled by xc_gpu_quartets_low.cu for shells to d, by _high.cu for f. Shells beyond
 * XC_QUARTET_L are the host's.
 *
 * Quartets that the bounds leave are listed by pairs of classes, those of one bra behind one
 * another. Teams of threads take neighbouring ones, so that most threads of a warp have the same
 * bra, as many pairs of primitives, and kets and densities that lie side by side. A quartet with
 * few integrals is a thread's, all of it in registers, with the quadrature's table in shared
 * memory. Of a larger one each thread of a group has a function i, some j, some k and all l, as
 * many integrals as its registers hold; the group shares the integrals along the axes of a
 * primitive quartet in shared memory, of which a root is a thread's to make.
 *
 * Densities and sums are of monomials, [n][n]: D' = T^T D T and J = T J' T^T, where row i of T is
 * function i. Sums are added by atomics: their last bits depend on the order.
 */
#pragma once

#include <algorithm>
#include <utility>

#include "xc_gpu_quartet_shape.cuh"

typedef tsl_err (*xc_quartet_run)(const xc_quartet_task *task, cudaStream_t stream);

/** The kernel for two classes of pairs; NULL: it has the classes in the other order. */
xc_quartet_run xc_quartet_low(int first, int second);
/** Likewise, one of them with an f shell. */
xc_quartet_run xc_quartet_high(int first, int second);

/** A quartet as a thread or group sees it. */
typedef struct xc_quartet {
  xc_quartet_pair bra, ket;
  double times; /**< how often its integrals occur by symmetry */
} xc_quartet;

static __device__ __forceinline__ xc_quartet xc_quartet_load(const xc_quartet_task &k,
                                                             unsigned at) {
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
                                                        const xc_quartet &q,
                                                        const xc_rys_point *table, double *v) {
  using S = xc_quartet_shape<LA, LB, LC, LD>;
#pragma unroll
  for (int e = 0; e < S::NIJ * S::NKL; e++) v[e] = 0;
  for (int j = 0; j < q.ket.n; j++) {
    const xc_quartet_two ket = k.twos[q.ket.first + j];
    for (int i = 0; i < q.bra.n; i++) {
      const xc_quartet_two bra = k.twos[q.bra.first + i];
      xc_quartet_core core;
      xc_quartet_meet(&bra, &ket, k.spread, &core);
#pragma unroll 1
      for (int r = 0; r < S::ROOTS; r++) {
        double g[3 * S::I * S::K], y, w;
        xc_rys(table, S::ROOTS, r, core.t, &y, &w);
#pragma unroll
        for (int x = 0; x < 3; x++)
          xc_quartet_item<LA, LB, LC, LD>(q, bra, ket, core, y, w, x, g + x * S::I * S::K);
        xc_quartet_add_all<LA, LB, LC, LD>(g, v);
      }
    }
  }
}

/** A pair of primitives of a quartet: of its bra, of its ket. */
typedef struct xc_quartet_primitives {
  int bra, ket;
} xc_quartet_primitives;

static __device__ __forceinline__ void xc_quartet_step_on(const xc_quartet &q,
                                                          xc_quartet_primitives *at) {
  if (++at->bra < q.bra.n) return;
  at->bra = 0, at->ket++;
}

/** Thread `me` of a group makes its roots of a primitive quartet, of degrees LA to LD. S: the
 *  group's shape. @param[out] g  [axis][root][STRIDE] */
template <class S, int LA, int LB, int LC, int LD>
static __device__ __forceinline__ void
xc_quartet_share(const xc_quartet_task &k, const xc_quartet &q, xc_quartet_primitives at, int me,
                 double *g) {
  const xc_quartet_two bra = k.twos[q.bra.first + at.bra], ket = k.twos[q.ket.first + at.ket];
  xc_quartet_core core;
  xc_quartet_meet(&bra, &ket, k.spread, &core);
  for (int r = me; r < S::ROOTS; r += S::GROUP) {
    double y, w;
    xc_rys(k.rys + XC_RYS_FIRST(S::ROOTS), S::ROOTS, r, core.t, &y, &w);
#pragma unroll
    for (int x = 0; x < 3; x++)
      xc_quartet_item<LA, LB, LC, LD>(q, bra, ket, core, y, w, x,
                                      g + (x * S::ROOTS + r) * S::STRIDE);
  }
}

/** What a thread of a group has of a quartet: i, and where its j and k begin. */
typedef struct xc_quartet_part {
  int i, j, k;
  int along[3]; /**< place of i on the axes */
} xc_quartet_part;

template <class S, int LA, int LB>
static __device__ __forceinline__ xc_quartet_part xc_quartet_part_of(int me) {
  xc_quartet_part its = {me / (S::OF_J * S::OF_K), 0, 0, {}};
  if (S::OF_J > 1) its.j = me / S::OF_K % S::OF_J * S::TILE.j;
  if (S::OF_K > 1) its.k = me % S::OF_K * S::TILE.k;
#pragma unroll
  for (int x = 0; x < 3; x++) its.along[x] = xc_quartet_power(LA, its.i, x) * (LB + 1) * S::K;
  return its;
}

/** Add to a thread's integrals what all roots have. @param v  [TILE.j][TILE.k][ND] */
template <int LA, int LB, int LC, int LD>
static __device__ __forceinline__ void xc_quartet_add(const double *g, const xc_quartet_part &its,
                                                      double *v) {
  using S = xc_quartet_shape<LA, LB, LC, LD>;
  const int first_j = S::OF_J > 1 ? its.j : 0, first_k = S::OF_K > 1 ? its.k : 0;
#pragma unroll 1
  for (int r = 0; r < S::ROOTS; r++) {
#pragma unroll
    for (int e = 0; e < S::TILE.j * S::TILE.k; e++) {
      const int j = first_j + e / S::TILE.k, k = first_k + e % S::TILE.k;
      double h[3][LD + 1];
#pragma unroll
      for (int x = 0; x < 3; x++)
#pragma unroll
        for (int l = 0; l <= LD; l++)
          h[x][l] =
              g[(x * S::ROOTS + r) * S::STRIDE + its.along[x] + xc_quartet_power(LB, j, x) * S::K +
                xc_quartet_power(LC, k, x) * (LD + 1) + l];
#pragma unroll
      for (int l = 0; l < S::ND; l++)
        v[e * S::ND + l] = fma(h[0][xc_quartet_power(LD, l, 0)] * h[1][xc_quartet_power(LD, l, 1)],
                               h[2][xc_quartet_power(LD, l, 2)], v[e * S::ND + l]);
    }
  }
}

/** A thread's integrals into those of its group, [NIJ][NKL]. */
template <class S>
static __device__ __forceinline__ void xc_quartet_gather(const double *v,
                                                         const xc_quartet_part &its, double *own) {
#pragma unroll
  for (int e = 0; e < S::TILE.j * S::TILE.k; e++) {
    const int j = its.j + e / S::TILE.k, k = its.k + e % S::TILE.k;
#pragma unroll
    for (int l = 0; l < S::ND; l++)
      own[(its.i * S::NB + j) * S::NKL + k * S::ND + l] = v[e * S::ND + l];
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

/** The table of a class, in shared memory where the block has that. */
template <class S>
static __device__ __forceinline__ const xc_rys_point *xc_quartet_table(const xc_quartet_task &k,
                                                                       xc_rys_point *shared) {
  const xc_rys_point *const table = k.rys + XC_RYS_FIRST(S::ROOTS);
  if (k.shared < S::SHARED) return table;
  for (int e = (int)threadIdx.x; e < XC_RYS_SIZE(S::ROOTS); e += S::BLOCK) shared[e] = table[e];
  __syncthreads();
  return shared;
}

template <int LA, int LB, int LC, int LD, int SPINS>
static __global__ void __launch_bounds__(xc_quartet_shape<LA, LB, LC, LD>::BLOCK,
                                         xc_quartet_shape<LA, LB, LC, LD>::RESIDENT)
    xc_quartet_alone_kernel(const xc_quartet_task k) {
  using S = xc_quartet_shape<LA, LB, LC, LD>;
  extern __shared__ xc_rys_point xc_quartet_points[];
  const xc_rys_point *const table = xc_quartet_table<S>(k, xc_quartet_points);
  xc_quartet_sums<S, SPINS> sums = {};
  unsigned lo, hi;
  sums.a = -1;
  while (xc_quartet_take<S>(k, (int)threadIdx.x % 32, &lo, &hi) > 0)
    for (unsigned at = lo; at < hi; at++) {
      double v[S::EACH];
      const xc_quartet q = xc_quartet_load(k, at);
      xc_quartet_alone<LA, LB, LC, LD>(k, q, table, v);
      xc_quartet_digest<S, SPINS>(k, q, 0, v, &sums);
    }
  xc_quartet_flush<S, SPINS>(k, 0, &sums);
}

template <int LA, int LB, int LC, int LD, int SPINS>
static __global__ void __launch_bounds__(xc_quartet_shape<LA, LB, LC, LD>::BLOCK,
                                         xc_quartet_shape<LA, LB, LC, LD>::RESIDENT)
    xc_quartet_group_kernel(const xc_quartet_task k) {
  using S = xc_quartet_shape<LA, LB, LC, LD>;
  extern __shared__ double xc_quartet_memory[];
  const int thread = threadIdx.x % S::TEAM, group = thread / S::GROUP, me = thread % S::GROUP;
  const bool whole = group < S::GROUPS; /* a warp may have threads left over */
  const xc_quartet_part its = xc_quartet_part_of<S, LA, LB>(me);
  double *own =
      xc_quartet_memory + (threadIdx.x / S::TEAM * S::GROUPS + (whole ? group : 0)) * S::REGION;
  xc_quartet_sums<S, SPINS> sums = {};
  unsigned lo, hi, turns;
  sums.a = -1;
  while ((turns = xc_quartet_take<S>(k, group, &lo, &hi)) > 0)
    for (; turns > 0; turns--, lo++) {
      const bool mine = whole && lo < hi;
      const xc_quartet q = xc_quartet_load(k, mine ? lo : 0);
      const int pairs = mine ? q.bra.n * q.ket.n : 0;
      xc_quartet_primitives pair = {0, 0};
      double v[S::EACH] = {};
      for (int p = 0; xc_quartet_any<S>(p < pairs); p++, xc_quartet_step_on(q, &pair)) {
        if (p < pairs) xc_quartet_share<S, LA, LB, LC, LD>(k, q, pair, me, own);
        xc_quartet_sync<S>();
        if (p < pairs) xc_quartet_add<LA, LB, LC, LD>(own, its, v);
        xc_quartet_sync<S>();
      }
      if (mine) xc_quartet_gather<S>(v, its, own);
      xc_quartet_sync<S>();
      if (mine) xc_quartet_digest<S, SPINS>(k, q, me, own, &sums);
      xc_quartet_sync<S>();
    }
  if (whole) xc_quartet_flush<S, SPINS>(k, me, &sums);
}

/** Launch a kernel with so many bytes of shared memory, in as many blocks as the card holds at once
 *  or as have quartets. */
template <class S>
static tsl_err xc_quartet_start(const xc_quartet_task *task,
                                void (*kernel)(const xc_quartet_task task), int shared,
                                cudaStream_t stream) {
  tsl_err err = TSL_OK;
  int resident = 0;
  const int64_t full = tsl_ceil_div(task->most, S::GROUPS * S::TEAMS);
  TSL_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  TSL_CUDA_TRY(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, S::BLOCK, (size_t)shared));
  resident = std::max(resident, 1) * task->processors;
  TSL_LAUNCH(kernel, (unsigned)std::min<int64_t>(full, resident), S::BLOCK, shared, stream, *task);
done:
  return err;
}

template <int LA, int LB, int LC, int LD, int SPINS>
static tsl_err xc_quartet_launch(const xc_quartet_task *task, cudaStream_t stream) {
  using S = xc_quartet_shape<LA, LB, LC, LD>;
  const int shared = S::ALONE && S::SHARED > task->shared ? 0 : S::SHARED;
  if constexpr (S::ALONE)
    return xc_quartet_start<S>(task, xc_quartet_alone_kernel<LA, LB, LC, LD, SPINS>, shared,
                               stream);
  else
    return xc_quartet_start<S>(task, xc_quartet_group_kernel<LA, LB, LC, LD, SPINS>, shared,
                               stream);
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
