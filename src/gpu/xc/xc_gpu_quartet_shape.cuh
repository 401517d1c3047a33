/**
 * @file xc_gpu_quartet_shape.cuh
 * How the quartets of a class are shared among threads: what a kernel is given, sizes of groups,
 * teams and blocks, and what a team takes of a list.
 *
 * Neighbours in a list have most often the same bra, as many pairs of primitives, and kets and
 * densities that lie side by side: so threads of a warp have neighbouring quartets, a few each,
 * most of which share the shells a, b and c, whose sums stay in registers. How few is a matter of
 * measurement: 4; with 16 a warp's loads lie too far apart, with 1 sums are given away too often.
 */
#pragma once

#include "gpu.cuh"
#include "xc_gpu_quartet_lists.h"

enum {
  XC_QUARTET_ALONE = 81,        /**< most integrals of a quartet that one thread computes */
  XC_QUARTET_FEW = 27,          /**< so few need 128 registers, */
  XC_QUARTET_SOME = 36,         /**< and these 168 */
  XC_QUARTET_MOST = 60,         /**< most integrals of a thread of a group */
  XC_QUARTET_THREADS = 128,     /**< of a block of groups, at most where they are in warps */
  XC_QUARTET_SHARED = 48 << 10, /**< bytes of a block's groups, if one does not need more */
  XC_QUARTET_ROUNDS = 4         /**< quartets of a group that a team takes at a time, at most */
};

/** What a kernel is given. */
typedef struct xc_quartet_task {
  const xc_quartet_pair *pairs;
  const xc_quartet_two *twos;
  const int2 *list;        /**< [counts[0]] pairs: of the first class, of the second */
  unsigned *counts;        /**< listed; taken by teams */
  const xc_rys_point *rys; /**< xc_rys_tables */
  const double *total;     /**< density of J; NULL: no J */
  const double *spin[2];   /**< densities of K; NULL: none */
  double *coulomb, *exchange[2];
  double spread;       /**< 1 / omega^2 of erf(omega r) / r; 0: 1 / r */
  double weight;       /**< of K; of derivatives times the spins that a density stands for */
  const double *alpha; /**< [twos] exponents at A, of derivatives; this and what follows */
  double *gradient;    /**< [copies][n_gradient] */
  int n_gradient, copies;
  int64_t most;           /**< that counts[0] can be */
  int n;                  /**< monomials */
  int processors, shared; /**< of the card: how many; bytes that a block may ask for */
} xc_quartet_task;

/** Functions j and k that a thread of a group has beside all l. */
typedef struct xc_quartet_tile {
  int j, k;
} xc_quartet_tile;

/** As many as its registers hold. */
static constexpr xc_quartet_tile xc_quartet_tile_of(int nb, int nc, int nd) {
  xc_quartet_tile best = {1, 1};
  for (int j = 1; j <= nb; j++)
    for (int k = 1; k <= nc; k++)
      if (nb % j == 0 && nc % k == 0 && j * k * nd <= XC_QUARTET_MOST && j * k > best.j * best.k)
        best = {j, k};
  return best;
}

static constexpr int xc_quartet_within(int n, int lo, int hi) {
  return n < lo ? lo : n > hi ? hi : n;
}

/** Sizes of a class of quartets. A group has a quartet, a team some groups, a block some teams. */
template <int LA, int LB, int LC, int LD> struct xc_quartet_shape {
  static constexpr int NA = XC_CARTESIANS(LA), NB = XC_CARTESIANS(LB);
  static constexpr int NC = XC_CARTESIANS(LC), ND = XC_CARTESIANS(LD);
  static constexpr int NIJ = NA * NB, NKL = NC * ND;
  static constexpr int I = (LA + 1) * (LB + 1), K = (LC + 1) * (LD + 1); /* along an axis */
  static constexpr int ROOTS = (LA + LB + LC + LD) / 2 + 1;
  static constexpr bool ALONE = NIJ * NKL <= XC_QUARTET_ALONE;
  static constexpr xc_quartet_tile TILE = xc_quartet_tile_of(NB, NC, ND);
  static constexpr int EACH = ALONE ? NIJ * NKL : TILE.j * TILE.k * ND; /* integrals of a thread */
  static constexpr int OF_J = NB / TILE.j, OF_K = NC / TILE.k;          /* tiles of an i */
  static constexpr int GROUP = ALONE ? 1 : NA * OF_J * OF_K;
  static constexpr bool IN_WARP = GROUP <= 32;
  static constexpr int GROUPS = IN_WARP ? 32 / GROUP : 1, TEAM = IN_WARP ? 32 : GROUP;
  static constexpr int STRIDE = I * K | 1; /* odd, as are regions: for the banks */
  static constexpr int REGION =
      (3 * ROOTS * STRIDE > NIJ * NKL ? 3 * ROOTS * STRIDE : NIJ * NKL) | 1;
  static constexpr int BYTES = GROUPS * REGION * 8; /* of a team */
  static constexpr int TABLE = XC_RYS_SIZE(ROOTS) * 16;
  /* threads of a processor, by the registers that they need; lone ones are a block: of one table,
   * as the more shared memory it takes, the less is left to the first cache */
  static constexpr int LONE = EACH > XC_QUARTET_FEW ? 256 : 512;
  static constexpr int HELD = EACH > XC_QUARTET_SOME ? 256 : ALONE ? LONE : 384;
  static constexpr int TEAMS = ALONE ? HELD / 32
                                     : xc_quartet_within(XC_QUARTET_SHARED / BYTES, 1,
                                                         IN_WARP ? XC_QUARTET_THREADS / 32 : 1);
  static constexpr int BLOCK = TEAM * TEAMS, SHARED = ALONE ? TABLE : TEAMS * BYTES;
  static constexpr int RESIDENT = HELD / BLOCK > 0 ? HELD / BLOCK : 1;
};

/* --------------------------------------------------------------------- teams */

/** Threads of a team meet; what they wrote is seen. */
template <class S> static __device__ __forceinline__ void xc_quartet_sync() {
  if (S::IN_WARP)
    __syncwarp();
  else
    __syncthreads();
}

/** Is it so of any thread of the team? */
template <class S> static __device__ __forceinline__ bool xc_quartet_any(bool so) {
  return S::IN_WARP ? __any_sync(~0u, so) : __syncthreads_or(so);
}

/** Quartets [*lo, *hi) of the list for a group of a team: neighbouring ones, of which most have the
 *  same shells a, b and c, and fewer where there are few.
 *  @return how many the team's groups have at most; 0: none has any more */
template <class S>
static __device__ __forceinline__ unsigned xc_quartet_take(const xc_quartet_task &k, int group,
                                                           unsigned *lo, unsigned *hi) {
  const unsigned n = k.counts[0], all = gridDim.x * S::TEAMS * S::GROUPS;
  const unsigned each = min((unsigned)XC_QUARTET_ROUNDS, n / all / 4 + 1);
  unsigned first = 0;
  if (S::IN_WARP) {
    if (threadIdx.x % 32 == 0) first = atomicAdd(k.counts + 1, each * S::GROUPS);
    first = __shfl_sync(~0u, first, 0);
  } else {
    __shared__ unsigned taken;
    __syncthreads();
    if (threadIdx.x == 0) taken = atomicAdd(k.counts + 1, each * S::GROUPS);
    __syncthreads();
    first = taken;
  }
  *lo = min(n, first + group * each), *hi = min(n, *lo + each);
  return first < n ? each : 0;
}
