/**
 * @file dp_cells.cuh
 * Cells of the ready recurrences, for dp_engine.cuh.
 */
#pragma once

#include "dp_engine.cuh"

/** Where a value comes from: the diagonal where it attains it, else the left, else above. */
enum { DP_WAY_PAIR, DP_WAY_LEFT, DP_WAY_UP };

/** Weighted edit distance; letters of rows and columns from place (1, 1) on. */
struct dp_edit_cell {
  typedef int32_t T;
  typedef struct DATA {
    const uint8_t *a, *b; /**< letters of p and q are a[p - 1], b[q - 1] */
    int32_t insert, remove, replace;
  } DATA;
  static const bool BEST = false, WAYS = true;
  DATA d;

  __device__ __forceinline__ dp_edit_cell(const DATA &data) : d(data) {
  }
  __device__ __forceinline__ T change(long long p, long long q) const {
    return d.a[p - 1] == d.b[q - 1] ? 0 : d.replace;
  }
  __device__ __forceinline__ T operator()(T up, T left, T diagonal, long long p, long long q,
                                          int &) const {
    const T pair = diagonal + change(p, q), down = up + d.remove, right = left + d.insert;
    const T least = down < right ? down : right;
    return pair < least ? pair : least;
  }
  __device__ __forceinline__ int way(T, T left, T diagonal, T v, long long p, long long q) const {
    return v == diagonal + change(p, q) ? DP_WAY_PAIR
           : v == left + d.insert       ? DP_WAY_LEFT
                                        : DP_WAY_UP;
  }
};

/** Dynamic time warping; no boundary rows: outside of the table all is infinite, save the corner.
 */
template <class R> struct dp_dtw_cell {
  typedef R T;
  typedef struct DATA {
    const R *a, *b; /**< values of p and q are a[p - 1], b[q - 1] */
    int32_t square;
  } DATA;
  static const bool BEST = false, WAYS = true;
  DATA d;

  __device__ __forceinline__ dp_dtw_cell(const DATA &data) : d(data) {
  }
  __device__ __forceinline__ T distance(long long p, long long q) const {
    const T x = d.a[p - 1] - d.b[q - 1];
    return d.square ? x * x : x < 0 ? -x : x;
  }
  __device__ __forceinline__ T operator()(T up, T left, T diagonal, long long p, long long q,
                                          int &) const {
    const T other = left < up ? left : up;
    return distance(p, q) + (other < diagonal ? other : diagonal);
  }
  __device__ __forceinline__ int way(T, T left, T diagonal, T v, long long p, long long q) const {
    const T x = distance(p, q);
    return v == x + diagonal ? DP_WAY_PAIR : v == x + left ? DP_WAY_LEFT : DP_WAY_UP;
  }
};

/** Longest common subsequence by its definition, to measure the engine with. */
struct dp_lcs_cell {
  typedef int32_t T;
  typedef struct DATA {
    const uint8_t *a, *b;
  } DATA;
  static const bool BEST = false, WAYS = false;
  DATA d;

  __device__ __forceinline__ dp_lcs_cell(const DATA &data) : d(data) {
  }
  __device__ __forceinline__ T operator()(T up, T left, T diagonal, long long p, long long q,
                                          int &) const {
    const T most = up > left ? up : left;
    return d.a[p - 1] == d.b[q - 1] ? diagonal + 1 : most;
  }
};
