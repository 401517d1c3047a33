/**
 * @file xc_gpu_triples.cuh
 * (P|ab) on a card: what its files share. xc_gpu_triples.cu makes lists and tasks; kernels are
 * compiled by xc_gpu_triples_low.cu and xc_gpu_triples_high.cu for pairs of low and high degree.
 *
 * A thread has a pair of shells and a fitting shell, or one function of it where all would not fit
 * its registers; a block has one pair, so expansion coefficients are the same for all its threads
 * and loops over primitives have the same turns. Blocks of pairs with more than N functions take
 * N of them each.
 */
#pragma once

#include <limits.h>

#include "gpu.cuh"
#include "xc_gpu_lists.h"

enum {
  XC_TRIPLE_THREADS = 64, /**< parts of fitting shells of a block */
  XC_TRIPLE_SUMS = 30     /**< a thread adds up at most, where it has all functions of P */
};

/** Exponent and centre of a pair of primitives. */
typedef struct __align__(16) xc_triple_centre {
  double p, at[3];
}
xc_triple_centre;

/** What a kernel is given: a class of pairs, or a range of it, and the parts of one l. */
typedef struct xc_triple_task {
  const xc_triple_bra *bras;       /**< [n_bras] */
  const xc_triple_centre *centres; /**< from the first primitive pair of the range on */
  const double *e;                 /**< [.][chunks][Hermite functions][stride] likewise */
  const xc_triple_part *parts;     /**< [n_parts] */
  const xc_triple_primitive *primitives;
  const double *boys;
  int64_t n_packed;
  int32_t first; /**< number of the first primitive pair */
  int32_t n_bras, n_parts;
  int32_t size, chunks; /**< functions of a pair, in chunks of N */
} xc_triple_task;

/** Kernels of one class of pairs: degree, functions of a chunk. */
typedef struct xc_triple_class {
  int32_t L, N;
  tsl_err (*run[XC_MAX_L + 1])(const xc_triple_task *task, cudaStream_t stream); /**< by l of P */
} xc_triple_class;

enum { XC_TRIPLE_LOW = 7, XC_TRIPLE_HIGH = 4 };
extern const xc_triple_class xc_triple_low[XC_TRIPLE_LOW], xc_triple_high[XC_TRIPLE_HIGH];

/** Chunks of a class that pairs of `size` functions take. */
template <class C> static inline int xc_triple_chunks(const C *c, int size) {
  return (size + c->N - 1) / c->N;
}

/** Of classes of integrals or of derivatives the one that takes least for a group: functions with
 *  those that fill up, and something for each chunk.
 *  @param[in] low, high  [XC_TRIPLE_LOW], [XC_TRIPLE_HIGH] */
template <class C>
static const C *xc_triple_class_of(const C *low, const C *high, const xc_triple_group *g) {
  enum { OF_CHUNK = 4 };
  const C *best = NULL;
  int least = INT_MAX;
  for (int k = 0; k < XC_TRIPLE_LOW + XC_TRIPLE_HIGH; k++) {
    const C *c = k < XC_TRIPLE_LOW ? &low[k] : &high[k - XC_TRIPLE_LOW];
    const int cost = xc_triple_chunks(c, g->size) * (c->N + OF_CHUNK);
    if (c->L != g->L || cost >= least) continue;
    least = cost, best = c;
  }
  return best;
}

/** A pair of primitives of shells a and b, set up by a warp. */
static __device__ __forceinline__ void xc_triple_begin(const xc_shell *a, const xc_shell *b,
                                                       const xc_triple_two &two, int lane,
                                                       xc_triple_pair *q) {
  if (lane == 0) xc_triple_set(a, b, two.i, two.j, q);
  __syncwarp();
  if (lane < 3) xc_triple_expand(a, b, two.i, two.j, lane, q);
  __syncwarp();
}

/** Lists of a worker, and what a fill needs beside them. */
struct xc_triples {
  xc_triple_lists lists;
  tsl_gpu_buffer bras, twos, tables, expansion, parts, primitives, joins;
  tsl_gpu_timer timer;
};

/** Doubles from one Hermite function's coefficients to the next: pairs of them are aligned. */
static __host__ __device__ __forceinline__ constexpr int xc_triple_stride(int N) {
  return N == 1 ? 1 : (N + 1) / 2 * 2;
}

/** sum[k] += e[k] v, e of N functions, aligned. */
template <int N>
static __device__ __forceinline__ void xc_triple_add(const double *e, double v, double sum[N]) {
  if (N == 1) {
    sum[0] = fma(e[0], v, sum[0]);
    return;
  }
  const double2 *two = (const double2 *)e;
#pragma unroll
  for (int k = 0; k < N; k += 2) {
    const double2 f = two[k / 2];
    sum[k] = fma(f.x, v, sum[k]);
    if (k + 1 < N) sum[k + 1] = fma(f.y, v, sum[k + 1]);
  }
}

/** Block: parts fastest, then the function of P, the chunk, the pair. */
template <int L, int N, int LP>
static __global__ void __launch_bounds__(XC_TRIPLE_THREADS)
    xc_triple_kernel(const xc_triple_task k) {
  constexpr int H = (L + 1) * (L + 2) * (L + 3) / 6, TOP = L < LP ? L : LP, ALL = 2 * LP + 1;
  constexpr int M = ALL * N <= XC_TRIPLE_SUMS ? ALL : 1, UNROLL = H * N <= 128 ? H : 1;
  const unsigned tiles = (unsigned)(k.n_parts + XC_TRIPLE_THREADS - 1) / XC_TRIPLE_THREADS;
  const unsigned groups = blockIdx.x / tiles, chunks = groups / (ALL / M);
  const int part = (int)(blockIdx.x % tiles * XC_TRIPLE_THREADS + threadIdx.x);
  const int group = (int)(groups % (ALL / M)), chunk = (int)(chunks % (unsigned)k.chunks);
  const xc_triple_bra bra = k.bras[chunks / (unsigned)k.chunks];
  if (part >= k.n_parts) return;
  const xc_triple_part shell = k.parts[part];
  double sum[M][N] = {};
  for (int two = bra.first - k.first; two < bra.first - k.first + bra.n; two++) {
    const xc_triple_centre q = k.centres[two];
    const double *e = k.e + ((int64_t)two * k.chunks + chunk) * (H * xc_triple_stride(N));
    double g[L + 1] = {}, taylor[H], d[(TOP + 1) * (TOP + 2) * (TOP + 3) / 6], v[H];
    const double r[3] = {q.at[0] - shell.at[0], q.at[1] - shell.at[1], q.at[2] - shell.at[2]};
    for (int i = shell.first; i < shell.first + shell.n; i++)
      xc_triple_radial(L, LP, shell.j, q.p, k.primitives[i],
                       r[0] * r[0] + r[1] * r[1] + r[2] * r[2], k.boys, g);
    xc_triple_taylor(L, r, g, taylor);
#pragma unroll
    for (int m = 0; m < M; m++) {
      xc_triple_harmonic(LP, M == 1 ? group : m, TOP, r, d);
      xc_triple_product(L, TOP, d, taylor, v);
#pragma unroll UNROLL
      for (int h = 0; h < H; h++) xc_triple_add<N>(e + h * xc_triple_stride(N), v[h], sum[m]);
    }
  }
  double *to = shell.row + (M == 1 ? group : 0) * k.n_packed + bra.packed + chunk * N;
#pragma unroll
  for (int m = 0; m < M; m++)
#pragma unroll
    for (int f = 0; f < N; f++)
      if (chunk * N + f < k.size) to[m * k.n_packed + f] = sum[m][f];
}

template <int L, int N, int LP>
static tsl_err xc_triple_run(const xc_triple_task *task, cudaStream_t stream) {
  tsl_err err = TSL_OK;
  constexpr int ALL = 2 * LP + 1, GROUPS = ALL * N <= XC_TRIPLE_SUMS ? 1 : ALL;
  const int64_t blocks = tsl_ceil_div(task->n_parts, XC_TRIPLE_THREADS) * GROUPS * task->chunks *
                         (int64_t)task->n_bras;
  TSL_LAUNCH((xc_triple_kernel<L, N, LP>), (unsigned)blocks, XC_TRIPLE_THREADS, 0, stream, *task);
done:
  return err;
}

#define XC_TRIPLE_CLASS(L, N)                                                 \
  {                                                                           \
    L, N, {                                                                   \
      xc_triple_run<L, N, 0>, xc_triple_run<L, N, 1>, xc_triple_run<L, N, 2>, \
          xc_triple_run<L, N, 3>, xc_triple_run<L, N, 4>                      \
    }                                                                         \
  }
