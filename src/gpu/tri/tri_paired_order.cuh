/**
 * @file tri_paired_order.cuh
 * The order of pairs of sequences in a list, made on the card: pairs are counted by bins of like
 * lengths, bins with long ones first, and put behind each other bin by bin. Pairs that go by warps
 * (tri_warp.cuh) have the first bins, by the sizes of their tables. Which pair of a bin comes first
 * is not determined, and no value depends on it.
 */
#pragma once

#include "tri_couples.cuh"

enum {
  TRI_ORDER_LARGE = 64, /**< bins of large tables, by powers of two of their cells */
  TRI_ORDER_EVEN = 128, /**< classes of lengths of the same width; behind them */
  TRI_ORDER_PARTS = 16, /**< classes of each power of two, */
  TRI_ORDER_POWERS = 14,
  TRI_ORDER_CLASSES = TRI_ORDER_EVEN + TRI_ORDER_POWERS * TRI_ORDER_PARTS,
  TRI_ORDER_BINS = TRI_ORDER_LARGE + TRI_ORDER_CLASSES * TRI_ORDER_CLASSES,
  TRI_ORDER_THREADS = 1024
};

/** What is kept of a list beside its rows; begun with zeros. */
typedef struct tri_order {
  int bins[TRI_ORDER_BINS]; /**< pairs; then where those of a bin are put */
  int n_large;
  unsigned counters[2]; /**< of items that warps have taken: large, others */
} tri_order;

/** Does a pair of m x n letters go by a warp, with 32 bits? */
static __device__ __forceinline__ bool tri_order_large(const tri_params &p, int m, int n) {
  return p.function == TRI_EXTENSION || m > TRI_ALIGN_SHORT || n > TRI_ALIGN_SHORT ||
         !tri_couple_fits(&p) || !tri_is_narrow(m, n, &p);
}

/** The class of a length in units of 16 letters, or more; long ones first. */
static __device__ __forceinline__ int tri_order_class(int units) {
  const int power = 31 - __clz(max(units, 1)), at = power - 7;                /* 2^7: EVEN */
  const int part = at < 0 ? 0 : units >> (power - 4) & (TRI_ORDER_PARTS - 1); /* 2^4: PARTS */
  const int number = at < 0 ? units : TRI_ORDER_EVEN + at * TRI_ORDER_PARTS + part;
  return TRI_ORDER_CLASSES - 1 - min(number, TRI_ORDER_CLASSES - 1);
}

/** Patterns of scores that take as many letters of lanes, of EDIT as many words, are alike. */
static __device__ __forceinline__ int tri_order_bin(const tri_letters_args &s, int row) {
  const int m = tri_paired_find(s, s.p.first + row).n, n = tri_paired_find(s, row).n;
  const bool scored = s.p.function != TRI_EDIT;
  const int tile = TRI_COUPLE_LANES * tri_couple_each(m);
  const int pattern = scored ? (m + tile - 1) / tile * tile / 16 : (m + 31) / 32;
  if (scored && tri_order_large(s.p, m, n))
    return min(__clzll((long long)m * n), TRI_ORDER_LARGE - 1);
  return TRI_ORDER_LARGE + tri_order_class(pattern) * TRI_ORDER_CLASSES +
         tri_order_class((n + 15) / 16);
}

/** Rows [a, b): of each bin, how many. */
static __global__ void tri_order_count(tri_letters_args s, int a, int b, tri_order *order) {
  const int row = a + (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (row < b) atomicAdd(&order->bins[tri_order_bin(s, row)], 1);
}

/** Where each bin begins; a block. */
static __global__ void __launch_bounds__(TRI_ORDER_THREADS) tri_order_sum(tri_order *order) {
  enum { EACH = (TRI_ORDER_BINS + TRI_ORDER_THREADS - 1) / TRI_ORDER_THREADS };
  __shared__ int sums[TRI_ORDER_THREADS];
  const int me = (int)threadIdx.x, first = me * EACH, end = min(first + EACH, (int)TRI_ORDER_BINS);
  int sum = 0;
  for (int k = first; k < end; k++) sum += order->bins[k];
  sums[me] = sum;
  __syncthreads();
  for (int d = 1; d < TRI_ORDER_THREADS; d *= 2) {
    const int more = me >= d ? sums[me - d] : 0;
    __syncthreads();
    sums[me] += more;
    __syncthreads();
  }
  sum = sums[me] - sum;
  for (int k = first; k < end; k++) {
    const int n = order->bins[k];
    if (k == TRI_ORDER_LARGE) order->n_large = sum;
    order->bins[k] = sum;
    sum += n;
  }
}

/** The list. */
static __global__ void tri_order_put(tri_letters_args s, int a, int b, tri_order *order,
                                     int *rows) {
  const int row = a + (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (row < b) rows[atomicAdd(&order->bins[tri_order_bin(s, row)], 1)] = row;
}
