/**
 * @file tri_paired_order.cuh
 * The order of pairs of sequences in a list, made on the card: pairs are counted by bins of like
 * lengths, bins with long ones first, and put behind each other bin by bin. Pairs with a sequence
 * of more than TRI_COUPLE_SHORT letters come first, in bins whose width grows with the lengths.
 * Which pair of a bin comes first is not determined, and no value depends on it.
 */
#pragma once

#include "tri_couples.cuh"
#include "warp.cuh"

enum {
  TRI_ORDER_UNIT = 16,                                    /**< letters of the least difference */
  TRI_ORDER_EVEN = TRI_COUPLE_SHORT / TRI_ORDER_UNIT + 1, /**< classes of lengths of short pairs */
  TRI_ORDER_PARTS = 16, /**< of long ones: classes of each power of two, */
  TRI_ORDER_POWERS = 12,
  TRI_ORDER_LONG = TRI_ORDER_POWERS * TRI_ORDER_PARTS,
  TRI_ORDER_FIRST = TRI_ORDER_LONG * TRI_ORDER_LONG, /**< bin of short pairs */
  TRI_ORDER_BINS = TRI_ORDER_FIRST + TRI_ORDER_EVEN * TRI_ORDER_EVEN,
  TRI_ORDER_THREADS = 512
};

/** What is kept of a list beside its rows; begun with zeros. */
typedef struct tri_order {
  int bins[TRI_ORDER_BINS]; /**< pairs; then where those of a bin are put */
  int n_long;
  unsigned counters[2]; /**< of items that warps have taken */
} tri_order;

/** The class of a length in units of 16 letters; long ones first. */
static __device__ __forceinline__ int tri_order_even(int units) {
  return TRI_ORDER_EVEN - 1 - units;
}
static __device__ __forceinline__ int tri_order_long(int units) {
  const int power = 31 - __clz(max(units, 1)), of = 4; /* 2^4: PARTS */
  const int number = power < of ? units
                                : TRI_ORDER_PARTS * (power - of + 1) +
                                      (units >> (power - of) & (TRI_ORDER_PARTS - 1));
  return TRI_ORDER_LONG - 1 - min(number, TRI_ORDER_LONG - 1);
}

/** Letters that lanes take for a pattern of m: what is alike for them. */
static __device__ __forceinline__ int tri_order_pattern(const tri_params &p, int m, bool whole) {
  if (p.function == TRI_EDIT) return (m + 31) / 32 * 32;
  typedef tri_couple_shape<true, true> all;
  typedef tri_couple_shape<true, false> part;
  const int tile =
      whole ? all::LANES * tri_couple_each<all>(m) : part::LANES * tri_couple_each<part>(m);
  return (m + tile - 1) / tile * tile;
}

static __device__ __forceinline__ int tri_order_bin(const tri_letters_args &s, int row) {
  const int m = tri_paired_find(s, s.p.first + row).n, n = tri_paired_find(s, row).n;
  const bool whole = tri_couple_long(m, n);
  const int pattern = tri_order_pattern(s.p, m, whole) / TRI_ORDER_UNIT;
  const int text = (n + TRI_ORDER_UNIT - 1) / TRI_ORDER_UNIT;
  if (whole) return tri_order_long(pattern) * TRI_ORDER_LONG + tri_order_long(text);
  return TRI_ORDER_FIRST + tri_order_even(pattern) * TRI_ORDER_EVEN + tri_order_even(text);
}

/** Rows [a, b): of each bin, how many. */
static __global__ void tri_order_count(tri_letters_args s, int a, int b, tri_order *order) {
  const int row = a + (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (row < b) atomicAdd(&order->bins[tri_order_bin(s, row)], 1);
}

/** Sum of the lanes up to the own one. */
static __device__ __forceinline__ int tri_order_up_to(int n, int lane) {
  for (int d = 1; d < 32; d *= 2) {
    const int more = __shfl_up_sync(0xffffffffu, n, d);
    if (lane >= d) n += more;
  }
  return n;
}

/** Where each bin begins; a block, whose warps have neighbouring bins each. */
static __global__ void __launch_bounds__(TRI_ORDER_THREADS) tri_order_sum(tri_order *order) {
  enum { WARPS = TRI_ORDER_THREADS / 32, EACH = (TRI_ORDER_BINS / 32 / WARPS + 1) * 32 };
  __shared__ int sums[WARPS];
  const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
  const int first = min(warp * EACH, (int)TRI_ORDER_BINS);
  const int end = min(first + EACH, (int)TRI_ORDER_BINS);
  int before = 0, sum = 0;
  for (int k = first + lane; k < end; k += 32) sum += order->bins[k];
  sum = tsl_warp_sum(sum);
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  before = tsl_warp_sum(lane < warp ? sums[lane] : 0);
  for (int k = first; k < end; k += 32) {
    const int at = k + lane, n = at < end ? order->bins[at] : 0;
    const int up_to = before + tri_order_up_to(n, lane);
    if (at == TRI_ORDER_FIRST) order->n_long = up_to - n;
    if (at < end) order->bins[at] = up_to - n;
    before = __shfl_sync(0xffffffffu, up_to, 31);
  }
}

/** The list. */
static __global__ void tri_order_put(tri_letters_args s, int a, int b, tri_order *order,
                                     int *rows) {
  const int row = a + (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (row < b) rows[atomicAdd(&order->bins[tri_order_bin(s, row)], 1)] = row;
}
