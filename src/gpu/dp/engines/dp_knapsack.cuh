/**
 * @file dp_knapsack.cuh
 * Rows of knapsacks: several items in one pass over the capacities.
 *
 *   M[i][c] = max(M[i-1][c], M[i-1][c - w_i] + v_i)
 *
 * A block holds a piece of the row in shared memory and, to its left, as many capacities as the
 * weights of the pass's items add up to; what it computes of these serves the piece alone. A lane
 * keeps its own capacities in registers, so that a cell is one load and one store. Items too heavy
 * for that go over the row in global memory, one pass each. An item that may be taken any number of
 * times is a list of items of 1, 2, 4, ... copies.
 */
#pragma once

#include "dp_gpu.cuh"
#include "dp_ptx.cuh"

enum {
  DP_KNAP_THREADS = 512,
  DP_KNAP_ITEMS = 16, /**< most items of a pass */
};

/** Capacities of a lane and of a block, and the largest sum of weights of a pass. */
template <class T> struct dp_knap_size {
  static const int LANE = 64 / (int)sizeof(T);
  static const int BLOCK = LANE * DP_KNAP_THREADS;
  static const int HALO = BLOCK / 4;
};

/** A pass. Places count the row from its leftmost capacity, halo of the band included. */
template <class T> struct dp_knap_args {
  const T *in;
  T *out;
  int64_t start, end; /**< places to compute; start is a multiple of 32 */
  int64_t lowest;     /**< first place that exists */
  int64_t band;       /**< place of the band's first capacity, a multiple of 32 */
  uint32_t *bits;     /**< [items][bits_stride] or NULL */
  int64_t bits_stride;
  int items, halo;        /**< halo: sum of weights rounded up to 32 */
  bool merge;             /**< several items of the pass may be one of the table: or bits */
  int row[DP_KNAP_ITEMS]; /**< of bits */
  int weight[DP_KNAP_ITEMS];
  T value[DP_KNAP_ITEMS];
};

template <class T>
static __device__ __forceinline__ void dp_knap_give(const dp_knap_args<T> &a, int item,
                                                    int64_t place, uint32_t word) {
  uint32_t *bits = a.bits + a.row[item] * a.bits_stride + (place - a.band) / 32;
  *bits = a.merge ? *bits | word : word;
}

template <class T>
static __global__ void __launch_bounds__(DP_KNAP_THREADS)
    dp_knap_kernel(const __grid_constant__ dp_knap_args<T> a) {
  typedef dp_knap_size<T> S;
  T *now = (T *)dp_shared(), *then = now + S::BLOCK;
  const int lane = threadIdx.x % DP_WARP, warp = threadIdx.x / DP_WARP;
  const int base = warp * DP_WARP * S::LANE;
  const int64_t piece = a.start + (int64_t)blockIdx.x * (S::BLOCK - a.halo) - a.halo;
  const int lowest = a.lowest > piece ? (int)(a.lowest - piece) : 0;
  T mine[S::LANE];
#pragma unroll
  for (int q = 0; q < S::LANE; q++) {
    const int at = base + q * DP_WARP + lane;
    const int64_t place = piece + at;
    mine[q] = place >= 0 && place < a.end ? a.in[place] : (T)0;
    now[at] = mine[q];
  }
  __syncthreads();
  int after = a.halo;
  for (int i = 0; i < a.items; i++) after -= a.weight[i]; /* rounding */
  for (int i = 0; i < a.items; i++) {
    const int w = a.weight[i], needed = after + w; /* capacities right of this are of use */
    const T v = a.value[i];
    uint32_t word = 0;
    after = needed;
    if (base + DP_WARP * S::LANE > needed) {
#pragma unroll
      for (int q = 0; q < S::LANE; q++) {
        const int at = base + q * DP_WARP + lane, from = at - w;
        const bool taken = from >= lowest && now[from] + v > mine[q];
        if (taken) mine[q] = now[from] + v;
        then[at] = mine[q];
        const uint32_t ballot = __ballot_sync(DP_ALL_LANES, taken);
        if (lane == q) word = ballot;
      }
      const int first = base + lane * DP_WARP;
      const int64_t place = piece + first;
      if (a.bits != NULL && lane < S::LANE && first >= a.halo && place >= a.band && place < a.end)
        dp_knap_give(a, i, place, word);
    }
    T *const swap = now;
    now = then;
    then = swap;
    __syncthreads();
  }
#pragma unroll
  for (int q = 0; q < S::LANE; q++) {
    const int at = base + q * DP_WARP + lane;
    const int64_t place = piece + at;
    if (at >= a.halo && place < a.end) a.out[place] = mine[q];
  }
}

/** One heavy item. */
template <class T>
static __global__ void dp_knap_row_kernel(const __grid_constant__ dp_knap_args<T> a,
                                          int64_t weight) {
  const int64_t place = a.start + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  bool taken = false;
  if (place < a.end) {
    T value = a.in[place];
    if (place - weight >= a.lowest) {
      const T other = a.in[place - weight] + a.value[0];
      taken = other > value;
      if (taken) value = other;
    }
    a.out[place] = value;
  }
  const uint32_t ballot = __ballot_sync(DP_ALL_LANES, taken);
  if (a.bits != NULL && threadIdx.x % DP_WARP == 0 && place >= a.band && place < a.end)
    dp_knap_give(a, 0, place, ballot);
}

/** Largest value that any capacity can have, or -1 beyond 62 bits. */
int64_t dp_knap_most(bool unbounded, int64_t n, const int64_t *w, const int64_t *v,
                     int64_t capacity);

/** Items as passes see them: weight, value, row of bits. */
typedef struct dp_knap_list {
  int64_t *weight, *value, *row; /**< [n] */
  int64_t n;
} dp_knap_list;

/** Items lo..hi-1 that fit the capacity, in order; unbounded: 1, 2, 4, ... copies of each. */
tsl_err dp_knap_list_make(bool unbounded, const int64_t *weights, const int64_t *values, int64_t lo,
                          int64_t hi, int64_t capacity, dp_knap_list *list);
void dp_knap_list_clear(dp_knap_list *list);

/** Items of the pass from item k on: their number, at most `most` heavy, their weights in *sum.
 *  0: item k is too heavy and has a pass of its own. */
int dp_knap_pass(const dp_knap_list *list, int64_t k, int64_t most, int64_t *sum);

/** A pass of these items; the rest of args is given. */
template <class T>
tsl_err dp_knap_launch(dp_card *card, dp_knap_args<T> a, const dp_knap_list *list, int64_t k,
                       int items) {
  typedef dp_knap_size<T> S;
  tsl_err err = TSL_OK;
  const size_t shared = 2 * S::BLOCK * sizeof(T);
  int64_t sum = 0;
  unsigned unused = 0;
  TSL_TRY(dp_card_blocks(card, (const void *)dp_knap_kernel<T>, DP_KNAP_THREADS / 32, shared, 1,
                         &unused)); /* allows its size */
  a.items = items;
  a.row[0] = (int)list->row[k];
  a.value[0] = (T)list->value[k];
  for (int i = 0; i < items; i++) {
    a.row[i] = (int)list->row[k + i];
    a.weight[i] = (int)list->weight[k + i];
    a.value[i] = (T)list->value[k + i];
    sum += list->weight[k + i];
  }
  a.halo = (int)(32 * tsl_ceil_div(sum, 32));
  if (items > 0)
    TSL_LAUNCH((dp_knap_kernel<T>),
               dim3((unsigned)tsl_ceil_div(a.end - a.start, S::BLOCK - a.halo)), DP_KNAP_THREADS,
               shared, card->stream, a);
  else
    TSL_LAUNCH((dp_knap_row_kernel<T>), dim3((unsigned)tsl_ceil_div(a.end - a.start, 256)), 256, 0,
               card->stream, a, list->weight[k]);
done:
  return err;
}

/** The band. */
struct dp_knapsack {
  dp_card *card;        /**< not owned */
  bool unbounded, wide; /**< wide: int64 inside, else int32 */
  int64_t n, first, count;
  int64_t *weights, *values; /**< [n], host, owned */
  int64_t room;              /**< places left of the band that the rows hold, a multiple of 32 */
  int now;                   /**< row[now] is the last row */
  tsl_gpu_buffer row[2], bits, box, items;
  int64_t kept_lo, kept_hi;
};
