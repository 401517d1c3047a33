/**
 * @file xc_gpu_quartet_slopes.cuh
 * Derivatives of the Coulomb and exact-exchange energies from quartets on a card
 * (xc_fock_gradient.h): what xc_gpu_quartet_slopes_low.cu and _high.cu share. Lists and tasks are
 * those of xc_gpu_quartets.cu.
 *
 * The densities that a quartet's integrals are multiplied by, G_ijkl, are made first; each thread
 * of a group has those of a pair (i, j) of functions of the first pair and all (k, l) of the
 * second, or a part of the k. Of a root, G and the integrals along two axes are summed by powers
 * along the third, and those sums meet the derivatives along it: with respect to A and C by
 * integrals of one power more and one less, to B by moving a power from A to B, and to D by
 * translational invariance. So no derivative of an integral is ever made.
 *
 * Source: M. Dupuis, H. F. King, J. Chem. Phys. 68 (1978) 3998; J. Rys, M. Dupuis, H. F. King, J.
 * Comput. Chem. 4 (1983) 154.
 */
#pragma once

#include "xc_gpu_quartets.cuh"

enum {
  XC_SLOPE_ALONE = 9, /**< most integrals of a quartet that one thread computes in registers */
  XC_SLOPE_MOST = 36  /**< most elements of G of a thread of a group */
};

/** The kernel of derivatives for two classes of pairs; NULL as for xc_quartet_low. */
xc_quartet_run xc_quartet_slopes_low(int first, int second);
xc_quartet_run xc_quartet_slopes_high(int first, int second);

/** Parts of n functions k, as few as leave a thread with at most XC_SLOPE_MOST elements. */
static constexpr int xc_slope_parts(int n, int elements) {
  int parts = 1;
  while (n % parts != 0 || elements / parts > XC_SLOPE_MOST) parts++;
  return parts;
}

/** Sizes of a class of quartets, those along an axis with a power more at A and C. */
template <int LA, int LB, int LC, int LD> struct xc_slope_shape {
  static constexpr int NA = XC_CARTESIANS(LA), NB = XC_CARTESIANS(LB);
  static constexpr int NC = XC_CARTESIANS(LC), ND = XC_CARTESIANS(LD);
  static constexpr int NIJ = NA * NB, NKL = NC * ND;
  static constexpr int I = (LA + 2) * (LB + 1), K = (LC + 2) * (LD + 1);
  static constexpr int ROOTS = (LA + LB + LC + LD + 1) / 2 + 1;
  static constexpr bool ALONE = NIJ * NKL <= XC_SLOPE_ALONE;
  static constexpr int PARTS = xc_slope_parts(NC, NKL);
  static constexpr int EACH = NKL / PARTS, ROWS = NC / PARTS; /* elements and k of a thread */
  static constexpr int GROUP = ALONE ? 1 : NIJ * PARTS;
  static constexpr int STRIDE = I * K | 1;
  static constexpr int INTEGRALS = 3 * ROOTS * STRIDE, SUMS = 9 * GROUP;
  static constexpr int REGION = (INTEGRALS > SUMS ? INTEGRALS : SUMS) | 1;
  static constexpr int BY_THREADS = XC_QUARTET_THREADS / GROUP,
                       MOST = XC_QUARTET_SHARED / 8 / REGION;
  /* a warp of lone threads is a team, or a block of groups */
  static constexpr bool IN_WARP = ALONE;
  static constexpr int GROUPS =
      ALONE ? 32 : xc_quartet_within(BY_THREADS < MOST ? BY_THREADS : MOST, 1, BY_THREADS + 1);
  static constexpr int TEAM = GROUP * GROUPS, TEAMS = ALONE ? XC_QUARTET_THREADS / 32 : 1;
  static constexpr int BLOCK = TEAM * TEAMS, SHARED = ALONE ? 0 : GROUPS * REGION * 8;
};

/* ---------------------------------------------------------------- densities */

/** G of functions i, j and k of [first, first + ROWS), times how often it occurs.
 *  @param[out] g  [ROWS][ND] */
template <class S>
static __device__ __forceinline__ void xc_slope_density(const xc_quartet_task &k,
                                                        const xc_quartet &q, int i, int j,
                                                        int first, double *g) {
  const int a = q.bra.at_a + i, b = q.bra.at_b + j, c = q.ket.at_a + first, d = q.ket.at_b;
  const int n = k.n;
  const double of_j = k.total != NULL ? 4 * q.times * __ldg(k.total + a * n + b) : 0;
#pragma unroll
  for (int e = 0; e < S::ROWS; e++)
#pragma unroll
    for (int f = 0; f < S::ND; f++)
      g[e * S::ND + f] = k.total != NULL ? of_j * __ldg(k.total + (c + e) * n + d + f) : 0;
#pragma unroll 1
  for (int s = 0; s < 2; s++) {
    const double *const density = k.spin[s], of_k = -2 * q.times * k.weight;
    if (density == NULL) continue;
#pragma unroll
    for (int e = 0; e < S::ROWS; e++) {
      const double ac = of_k * __ldg(density + a * n + c + e);
      const double bc = of_k * __ldg(density + b * n + c + e);
#pragma unroll
      for (int f = 0; f < S::ND; f++)
        g[e * S::ND + f] +=
            ac * __ldg(density + b * n + d + f) + bc * __ldg(density + a * n + d + f);
    }
  }
}

/* ---------------------------------------------------------------- integrals */

/** What turns integrals along an axis into derivatives: twice the exponents at A, B and C. */
typedef struct xc_slope_exponents {
  double a, b, c;
} xc_slope_exponents;

/** A pair of primitives of a quartet: exponents. */
static __device__ __forceinline__ xc_slope_exponents xc_slope_load(const xc_quartet_task &k,
                                                                   int bra, int ket) {
  const double alpha = 2 * __ldg(k.alpha + bra);
  return {alpha, 2 * k.twos[bra].p - alpha, 2 * __ldg(k.alpha + ket)};
}

/**
 * Add what the sums w of an axis have, by powers (k, l) along it.
 * @param[in] g   integrals of powers (i, j) along the axis, [LC + 2][LD + 1]; those of other i and
 *                j are at steps of (LB + 1) K and K
 * @param[in] h   those of k <= LC in registers
 * @param[in,out] sums  of A, B and C
 */
template <class S, int LB, int LC, int LD>
static __device__ __forceinline__ void
xc_slope_turn(const double *g, int i, int j, const xc_slope_exponents &two, double ab,
              const double (*h)[LD + 1], const double (*w)[LD + 1], double sums[3]) {
  constexpr int K = S::K;
  const double *const up = g + (LB + 1) * K, *const down = i > 0 ? g - (LB + 1) * K : g;
  const double *const left = j > 0 ? g - K : g;
#pragma unroll
  for (int k = 0; k <= LC; k++)
#pragma unroll
    for (int l = 0; l <= LD; l++) {
      const int at = k * (LD + 1) + l;
      const double more = up[at], next = k < LC ? h[k < LC ? k + 1 : 0][l] : g[at + LD + 1];
      const double of_a = fma(two.a, more, -i * down[at]);
      const double of_b = fma(two.b, fma(ab, h[k][l], more), -j * left[at]);
      const double of_c = two.c * next - (k > 0 ? k * h[k > 0 ? k - 1 : 0][l] : 0);
      sums[0] = fma(w[k][l], of_a, sums[0]);
      sums[1] = fma(w[k][l], of_b, sums[1]);
      sums[2] = fma(w[k][l], of_c, sums[2]);
    }
}

/**
 * Add what one root has for a pair (i, j) and all (k, l) of the ket.
 * @param[in] g      integrals [axis][I][K] of the root, axes `stride` apart
 * @param[in] power  of i and j along the axes
 * @param     sums   [axis][A, B, C]
 */
template <int LA, int LB, int LC, int LD>
static __device__ __forceinline__ void
xc_slope_add(const double *g, int stride, const int power[3][2], const xc_slope_exponents &two,
             const double ab[3], const double *density, double sums[3][3]) {
  using S = xc_slope_shape<LA, LB, LC, LD>;
  double h[3][LC + 1][LD + 1];
  const double *own[3];
#pragma unroll
  for (int x = 0; x < 3; x++) {
    own[x] = g + x * stride + (power[x][0] * (LB + 1) + power[x][1]) * S::K;
#pragma unroll
    for (int e = 0; e < (LC + 1) * (LD + 1); e++) h[x][e / (LD + 1)][e % (LD + 1)] = own[x][e];
  }
#pragma unroll
  for (int x = 0; x < 3; x++) {
    constexpr int next[4] = {1, 2, 0, 1};
    const int y = next[x], z = next[x + 1];
    double w[LC + 1][LD + 1] = {};
#pragma unroll
    for (int k = 0; k < S::NC; k++)
#pragma unroll
      for (int l = 0; l < S::ND; l++) {
        const double both = h[y][xc_quartet_power(LC, k, y)][xc_quartet_power(LD, l, y)] *
                            h[z][xc_quartet_power(LC, k, z)][xc_quartet_power(LD, l, z)];
        double &to = w[xc_quartet_power(LC, k, x)][xc_quartet_power(LD, l, x)];
        to = fma(density[k * S::ND + l], both, to);
      }
    xc_slope_turn<S, LB, LC, LD>(own[x], power[x][0], power[x][1], two, ab[x], h[x], w, sums[x]);
  }
}

/** Likewise for some functions k, one after another: each has one power along an axis. */
template <int LA, int LB, int LC, int LD>
static __device__ __forceinline__ void
xc_slope_add_some(const double *g, int stride, const int power[3][2], int first,
                  const xc_slope_exponents &two, const double ab[3], const double *density,
                  double sums[3][3]) {
  using S = xc_slope_shape<LA, LB, LC, LD>;
#pragma unroll
  for (int e = 0; e < S::ROWS; e++) {
    double w[3][LD + 1] = {}, h[3][LD + 1];
    const double *own[3];
    int of_k[3];
#pragma unroll
    for (int x = 0; x < 3; x++) {
      of_k[x] = xc_quartet_power(LC, first + e, x);
      own[x] = g + x * stride + (power[x][0] * (LB + 1) + power[x][1]) * S::K + of_k[x] * (LD + 1);
#pragma unroll
      for (int l = 0; l <= LD; l++) h[x][l] = own[x][l];
    }
#pragma unroll
    for (int l = 0; l < S::ND; l++) {
      const double x = h[0][xc_quartet_power(LD, l, 0)], y = h[1][xc_quartet_power(LD, l, 1)];
      const double z = h[2][xc_quartet_power(LD, l, 2)], d = density[e * S::ND + l];
      w[0][xc_quartet_power(LD, l, 0)] += d * y * z;
      w[1][xc_quartet_power(LD, l, 1)] += d * x * z;
      w[2][xc_quartet_power(LD, l, 2)] += d * x * y;
    }
#pragma unroll
    for (int x = 0; x < 3; x++) {
      const double *const up = own[x] + (LB + 1) * S::K, *const next = own[x] + LD + 1;
      const double *const down = power[x][0] > 0 ? own[x] - (LB + 1) * S::K : own[x];
      const double *const left = power[x][1] > 0 ? own[x] - S::K : own[x];
      const double *const before = of_k[x] > 0 ? own[x] - (LD + 1) : own[x];
#pragma unroll
      for (int l = 0; l <= LD; l++) {
        sums[x][0] = fma(w[x][l], fma(two.a, up[l], -power[x][0] * down[l]), sums[x][0]);
        sums[x][1] = fma(w[x][l], fma(two.b, fma(ab[x], h[x][l], up[l]), -power[x][1] * left[l]),
                         sums[x][1]);
        sums[x][2] = fma(w[x][l], fma(two.c, next[l], -of_k[x] * before[l]), sums[x][2]);
      }
    }
  }
}

/* --------------------------------------------------------------------- sums */

/** What a thread has of A, B and C over quartets that follow one another, until one of the atoms
 *  is another. N of the nine numbers are its. */
template <int N> struct xc_slope_kept {
  double of[N];
  int atoms[3]; /**< atoms[0] < 0: nothing is kept */
};

/** Add them to the gradient; thread `me` has numbers me, me + GROUP, ... of [A, B, C][axis]. */
template <int N, int GROUP>
static __device__ __forceinline__ void xc_slope_flush(double *gradient, int me,
                                                      xc_slope_kept<N> *kept) {
#pragma unroll
  for (int e = 0; e < N; e++) {
    const int o = me + e * GROUP, centre = o / 3;
    const int atom = centre == 0 ? kept->atoms[0] : centre == 1 ? kept->atoms[1] : kept->atoms[2];
    if (o < 9 && atom >= 0) atomicAdd(&gradient[3 * atom + o % 3], kept->of[e]);
    kept->of[e] = 0;
  }
}

/** Begin with the atoms of a quartet. */
template <int N, int GROUP>
static __device__ __forceinline__ void xc_slope_take(const xc_quartet &q, double *gradient, int me,
                                                     xc_slope_kept<N> *kept) {
  const int a = q.bra.atom_a, b = q.bra.atom_b, c = q.ket.atom_a;
  if (kept->atoms[0] == a && kept->atoms[1] == b && kept->atoms[2] == c) return;
  xc_slope_flush<N, GROUP>(gradient, me, kept);
  kept->atoms[0] = a, kept->atoms[1] = b, kept->atoms[2] = c;
}

/** A block's copy of the gradient. */
static __device__ __forceinline__ double *xc_slope_copy(const xc_quartet_task &k) {
  return k.gradient + (int64_t)(blockIdx.x % (unsigned)k.copies) * k.n_gradient;
}

/* ------------------------------------------------------------------ kernels */

/** All of a quartet by one thread. @param[out] sums  [axis][A, B, C] */
template <int LA, int LB, int LC, int LD>
static __device__ __forceinline__ void xc_slope_alone(const xc_quartet_task &k, const xc_quartet &q,
                                                      double sums[3][3]) {
  using S = xc_slope_shape<LA, LB, LC, LD>;
  double density[S::NIJ][S::NKL];
#pragma unroll
  for (int ij = 0; ij < S::NIJ; ij++)
    xc_slope_density<S>(k, q, ij / S::NB, ij % S::NB, 0, density[ij]);
  xc_quartet_primitives pair = {0, 0};
  for (int p = 0; p < q.bra.n * q.ket.n; p++, xc_quartet_step_on(q, &pair)) {
    const int i = q.bra.first + pair.bra, j = q.ket.first + pair.ket;
    const xc_quartet_two bra = k.twos[i], ket = k.twos[j];
    const xc_slope_exponents two = xc_slope_load(k, i, j);
    xc_quartet_core core;
    xc_quartet_meet(&bra, &ket, k.spread, &core);
#pragma unroll 1
    for (int r = 0; r < S::ROOTS; r++) {
      double g[3 * S::I * S::K], y, w;
      xc_rys(k.rys + XC_RYS_FIRST(S::ROOTS), S::ROOTS, r, core.t, &y, &w);
#pragma unroll
      for (int x = 0; x < 3; x++)
        xc_quartet_item<LA + 1, LB, LC + 1, LD>(q, bra, ket, core, y, w, x, g + x * S::I * S::K);
#pragma unroll
      for (int ij = 0; ij < S::NIJ; ij++) {
        int power[3][2];
#pragma unroll
        for (int x = 0; x < 3; x++) {
          power[x][0] = xc_quartet_power(LA, ij / S::NB, x);
          power[x][1] = xc_quartet_power(LB, ij % S::NB, x);
        }
        xc_slope_add<LA, LB, LC, LD>(g, S::I * S::K, power, two, q.bra.ab, density[ij], sums);
      }
    }
  }
}

template <int LA, int LB, int LC, int LD>
static __global__ void __launch_bounds__(XC_QUARTET_THREADS)
    xc_slope_alone_kernel(const xc_quartet_task k) {
  using S = xc_slope_shape<LA, LB, LC, LD>;
  double *const gradient = xc_slope_copy(k);
  xc_slope_kept<9> kept = {};
  unsigned lo, hi;
  kept.atoms[0] = kept.atoms[1] = kept.atoms[2] = -1;
  while (xc_quartet_take<S>(k, (int)threadIdx.x % 32, &lo, &hi) > 0)
    for (unsigned at = lo; at < hi; at++) {
      const xc_quartet q = xc_quartet_load(k, at);
      double sums[3][3] = {};
      xc_slope_take<9, 1>(q, gradient, 0, &kept);
      xc_slope_alone<LA, LB, LC, LD>(k, q, sums);
#pragma unroll
      for (int x = 0; x < 3; x++) {
#pragma unroll
        for (int centre = 0; centre < 3; centre++) kept.of[3 * centre + x] += sums[x][centre];
        atomicAdd(&gradient[3 * q.ket.atom_b + x], -sums[x][0] - sums[x][1] - sums[x][2]);
      }
    }
  xc_slope_flush<9, 1>(gradient, 0, &kept);
}

/** What a thread of a group has from all roots of a pair of primitives. */
template <int LA, int LB, int LC, int LD>
static __device__ __forceinline__ void xc_slope_roots(const xc_quartet_task &k, const xc_quartet &q,
                                                      xc_quartet_primitives at, const double *g,
                                                      const int power[3][2], int first,
                                                      const double *density, double sums[3][3]) {
  using S = xc_slope_shape<LA, LB, LC, LD>;
  const xc_slope_exponents two = xc_slope_load(k, q.bra.first + at.bra, q.ket.first + at.ket);
#pragma unroll 1
  for (int r = 0; r < S::ROOTS; r++, g += S::STRIDE) {
    if constexpr (S::PARTS == 1)
      xc_slope_add<LA, LB, LC, LD>(g, S::ROOTS * S::STRIDE, power, two, q.bra.ab, density, sums);
    else
      xc_slope_add_some<LA, LB, LC, LD>(g, S::ROOTS * S::STRIDE, power, first, two, q.bra.ab,
                                        density, sums);
  }
}

/** The group's sums of a quartet, [thread][A, B, C][axis], to what its threads keep; D at once. */
template <class S, int N>
static __device__ __forceinline__ void xc_slope_give(const xc_quartet &q, int me, const double *own,
                                                     double *gradient, xc_slope_kept<N> *kept) {
#pragma unroll
  for (int e = 0; e < N; e++) {
    const int o = me + e * S::GROUP;
    double sum = 0;
    for (int t = 0; o < 9 && t < S::GROUP; t++) sum += own[t * 9 + o];
    if (o < 9) atomicAdd(&gradient[3 * q.ket.atom_b + o % 3], -sum);
    kept->of[e] += sum;
  }
}

template <int LA, int LB, int LC, int LD>
static __global__ void __launch_bounds__(xc_slope_shape<LA, LB, LC, LD>::BLOCK)
    xc_slope_group_kernel(const xc_quartet_task k) {
  using S = xc_slope_shape<LA, LB, LC, LD>;
  constexpr int N = (9 + S::GROUP - 1) / S::GROUP;
  extern __shared__ double xc_slope_memory[];
  const int me = threadIdx.x % S::GROUP, group = threadIdx.x / S::GROUP;
  const int ij = me / S::PARTS, first = me % S::PARTS * S::ROWS;
  double *own = xc_slope_memory + group * S::REGION, *const gradient = xc_slope_copy(k);
  xc_slope_kept<N> kept = {};
  int power[3][2];
  unsigned lo, hi, turns;
#pragma unroll
  for (int x = 0; x < 3; x++) {
    power[x][0] = xc_quartet_power(LA, ij / S::NB, x);
    power[x][1] = xc_quartet_power(LB, ij % S::NB, x);
  }
  kept.atoms[0] = kept.atoms[1] = kept.atoms[2] = -1;
  while ((turns = xc_quartet_take<S>(k, group, &lo, &hi)) > 0)
    for (; turns > 0; turns--, lo++) {
      const bool mine = lo < hi;
      const xc_quartet q = xc_quartet_load(k, mine ? lo : 0);
      const int pairs = mine ? q.bra.n * q.ket.n : 0;
      xc_quartet_primitives pair = {0, 0};
      double density[S::EACH], sums[3][3] = {};
      xc_slope_density<S>(k, q, ij / S::NB, ij % S::NB, first, density);
      for (int p = 0; xc_quartet_any<S>(p < pairs); p++, xc_quartet_step_on(q, &pair)) {
        if (p < pairs) xc_quartet_share<S, LA + 1, LB, LC + 1, LD>(k, q, pair, me, own);
        xc_quartet_sync<S>();
        if (p < pairs) xc_slope_roots<LA, LB, LC, LD>(k, q, pair, own, power, first, density, sums);
      }
      if (mine) xc_slope_take<N, S::GROUP>(q, gradient, me, &kept);
#pragma unroll
      for (int o = 0; o < 9; o++) own[me * 9 + o] = sums[o % 3][o / 3];
      xc_quartet_sync<S>();
      if (mine) xc_slope_give<S, N>(q, me, own, gradient, &kept);
      xc_quartet_sync<S>();
    }
  xc_slope_flush<N, S::GROUP>(gradient, me, &kept);
}

/** The kernel of derivatives. */
template <int LA, int LB, int LC, int LD> struct xc_slope_launch {
  static tsl_err run(const xc_quartet_task *task, cudaStream_t stream) {
    using S = xc_slope_shape<LA, LB, LC, LD>;
    if constexpr (S::ALONE)
      return xc_quartet_start<S>(task, xc_slope_alone_kernel<LA, LB, LC, LD>, S::SHARED, stream);
    else
      return xc_quartet_start<S>(task, xc_slope_group_kernel<LA, LB, LC, LD>, S::SHARED, stream);
  }
};
