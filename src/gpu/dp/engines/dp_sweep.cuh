/**
 * @file dp_sweep.cuh
 * Rows of binomial coefficients, allotments and stages.
 */
#pragma once

#include "dp_gpu.cuh"
#include "dp_ptx.cuh"

enum {
  DP_BINOMIAL_THREADS = 256,
  DP_BINOMIAL_LANE = 8,   /**< columns of a thread */
  DP_BINOMIAL_ROWS = 512, /**< rows of a pass, and columns computed twice */
  DP_ALLOT_THREADS = 128,
  DP_ALLOT_LANE = 4,      /**< columns of a thread */
  DP_ALLOT_AMOUNTS = 128, /**< amounts in shared memory */
  DP_STAGE_STATES = 32,   /**< states of a block */
  DP_STAGE_PARTS = 8,     /**< parts of the states before */
};

/** Rows lo + 1 .. lo + rows of C(i, j). Places count from the leftmost column known. */
typedef struct dp_binomial_args {
  const int64_t *in;
  int64_t *out;
  int64_t start, end, lowest; /**< places to compute, first place that exists */
  int64_t column;             /**< column of place 0; may be negative */
  int64_t row, rows;          /**< table row of `in`; rows to add */
  int64_t n, k;
  uint64_t modulus; /**< 0: exact */
  int *bad;
} dp_binomial_args;

static __device__ __forceinline__ int64_t dp_add_binomial(const dp_binomial_args &a, int64_t x,
                                                          int64_t y, bool counts) {
  const uint64_t sum = (uint64_t)x + (uint64_t)y;
  if (a.modulus != 0) return (int64_t)(sum >= a.modulus ? sum - a.modulus : sum);
  if (sum > (uint64_t)INT64_MAX) {
    if (counts) *a.bad = 1;
    return 0;
  }
  return (int64_t)sum;
}

/* A piece of the row in shared memory, with as many columns to its left as there are rows. */
static __global__ void __launch_bounds__(DP_BINOMIAL_THREADS)
    dp_binomial_kernel(const __grid_constant__ dp_binomial_args a) {
  enum { BLOCK = DP_BINOMIAL_THREADS * DP_BINOMIAL_LANE };
  __shared__ int64_t line[2][BLOCK];
  const int rows = (int)a.rows;
  const int64_t piece = a.start + (int64_t)blockIdx.x * (BLOCK - rows) - rows;
  int64_t mine[DP_BINOMIAL_LANE];
#pragma unroll
  for (int q = 0; q < DP_BINOMIAL_LANE; q++) {
    const int at = q * DP_BINOMIAL_THREADS + (int)threadIdx.x;
    const int64_t place = piece + at;
    mine[q] = place >= a.lowest && place < a.end ? a.in[place] : 0;
    line[0][at] = mine[q];
  }
  __syncthreads();
  for (int r = 0; r < rows; r++) {
#pragma unroll
    for (int q = 0; q < DP_BINOMIAL_LANE; q++) {
      const int at = q * DP_BINOMIAL_THREADS + (int)threadIdx.x;
      const int64_t place = piece + at, j = a.column + place, i = a.row + r + 1;
      if (at > r && place < a.end) {
        const bool counts = place >= a.start && j <= a.k && a.k - j <= a.n - i;
        mine[q] = dp_add_binomial(a, mine[q], line[r % 2][at - 1], counts);
      }
      line[(r + 1) % 2][at] = mine[q];
    }
    __syncthreads();
  }
#pragma unroll
  for (int q = 0; q < DP_BINOMIAL_LANE; q++) {
    const int at = q * DP_BINOMIAL_THREADS + (int)threadIdx.x;
    if (at >= rows && piece + at < a.end) a.out[piece + at] = mine[q];
  }
}

/* ----------------------------------------------------------------------------- allotment */

/* out[j] = max over x <= j of in[j - x] + returns[x], j = first .. first + count - 1. */
template <class T>
static __global__ void __launch_bounds__(DP_ALLOT_THREADS)
    dp_allot_kernel(const T *in, const T *returns, int64_t first, int64_t count, T *out) {
  enum { BLOCK = DP_ALLOT_THREADS * DP_ALLOT_LANE, WINDOW = BLOCK + DP_ALLOT_AMOUNTS };
  __shared__ T window[WINDOW], amounts[DP_ALLOT_AMOUNTS];
  const int t = (int)threadIdx.x;
  const int64_t j0 = first + (int64_t)blockIdx.x * BLOCK, end = first + count;
  const int64_t last = j0 + BLOCK < end ? j0 + BLOCK - 1 : end - 1;
  T best[DP_ALLOT_LANE];
#pragma unroll
  for (int q = 0; q < DP_ALLOT_LANE; q++) {
    const int64_t j = j0 + q * DP_ALLOT_THREADS + t;
    best[q] = j < end ? in[j] + returns[0] : (T)0;
  }
  for (int64_t x0 = 0; x0 <= last; x0 += DP_ALLOT_AMOUNTS) {
    const int64_t left = j0 - x0 - (DP_ALLOT_AMOUNTS - 1);
    __syncthreads();
    amounts[t] = x0 + t <= last ? returns[x0 + t] : (T)0;
    for (int w = t; w < WINDOW; w += DP_ALLOT_THREADS) {
      const int64_t j = left + w;
      window[w] = j >= 0 && j < end ? in[j] : (T)0;
    }
    __syncthreads();
    for (int x = 0; x < DP_ALLOT_AMOUNTS; x++) {
      const T r = amounts[x];
#pragma unroll
      for (int q = 0; q < DP_ALLOT_LANE; q++) {
        const int at = q * DP_ALLOT_THREADS + t + DP_ALLOT_AMOUNTS - 1 - x;
        const T v = window[at] + r;
        if (left + at >= 0 && v > best[q]) best[q] = v;
      }
    }
  }
#pragma unroll
  for (int q = 0; q < DP_ALLOT_LANE; q++) {
    const int64_t j = j0 + q * DP_ALLOT_THREADS + t;
    if (j < end) out[j - first] = best[q];
  }
}
