/**
 * @file tri_paired_order.cuh
 * The order of pairs of sequences in a list, made on the card: pairs are counted by bins of like
 * lengths, bins with long ones first, and put behind each other bin by bin. Pairs that go by warps
 * (tri_warp.cuh) have the first bins, by the sizes of their tables. Which pair of a bin comes first
 * is not determined, and no value depends on it.
 */
#ifndef TSL_GPU_TRI_PAIRED_ORDER_CUH
#define TSL_GPU_TRI_PAIRED_ORDER_CUH

#include "tri_couples.cuh"

enum {
  TRI_ORDER_LARGE = 64,     /**< bins of large tables, by powers of two of their cells */
  TRI_ORDER_PATTERNS = 129, /**< bins of the rest: letters that a tile's lanes hold, in sixteens; */
  TRI_ORDER_TEXTS = 129,    /**< in each of these, letters of texts in sixteens */
  TRI_ORDER_BINS = TRI_ORDER_LARGE + TRI_ORDER_PATTERNS * TRI_ORDER_TEXTS,
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
  return m > TRI_ALIGN_SHORT || n > TRI_ALIGN_SHORT || !tri_couple_fits(&p) ||
         !tri_is_narrow(m, n, &p);
}

static __device__ __forceinline__ int tri_order_bin(const tri_letters_args &s, int row) {
  const int m = tri_paired_find(s, s.p.first + row).n, n = tri_paired_find(s, row).n;
  const bool scored = s.p.function != TRI_EDIT;
  if (scored && tri_order_large(s.p, m, n)) return min(__clzll((long long)m * n), TRI_ORDER_LARGE - 1);
  const int tile = TRI_COUPLE_LANES * tri_couple_each(m);
  const int padded = scored ? (m + tile - 1) / tile * tile / 16 : (m + 31) / 32;
  const int pattern = min(padded, TRI_ORDER_PATTERNS - 1), text = min((n + 15) / 16, TRI_ORDER_TEXTS - 1);
  return TRI_ORDER_LARGE + (TRI_ORDER_PATTERNS - 1 - pattern) * TRI_ORDER_TEXTS +
         TRI_ORDER_TEXTS - 1 - text;
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

#endif
