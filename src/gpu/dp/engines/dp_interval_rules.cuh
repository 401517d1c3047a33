/**
 * @file dp_interval_rules.cuh
 * What interval problems are made of: tiles in memory, and how values are put together.
 */
#pragma once

#include "dp_gpu.cuh"
#include "dp_ptx.cuh"

enum {
  DP_TILE = DP_INTERVAL_TILE,
  DP_TILE_CELLS = DP_TILE * DP_TILE,
  DP_SLICE = 16,              /**< columns of (I, K) and rows of (K, J) in shared memory */
  DP_CLOSE_ROW = DP_TILE + 2, /**< row length of tiles in shared memory while closing */
};

/** A launch; T is the type of values. */
template <class T> struct dp_interval_args {
  T *tiles;         /**< tile (I, J) at dp_tile_at, [64][64] */
  uint32_t *ready;  /**< by tile */
  const int2 *list; /**< [count] tiles to compute, every tile after those it needs */
  uint32_t *ticket;
  int count;
  const T *dims;          /**< chain: by post, padded with zeros */
  const T *high, *low;    /**< tree: weight of (a, b) is high[b] - low[a] */
  const T *base;          /**< tree: by post, or NULL: zero */
  const uint8_t *letters; /**< Nussinov: by post, 32 from n on */
  uint32_t pairs[33];
  int loop;
};

static __host__ __device__ __forceinline__ int64_t dp_tile_number(int64_t i, int64_t j) {
  return j * (j + 1) / 2 + i;
}
template <class T>
static __host__ __device__ __forceinline__ T *dp_tile_at(T *tiles, int64_t i, int64_t j) {
  return tiles + dp_tile_number(i, j) * DP_TILE_CELLS;
}
/** X[a][b]. */
template <class T>
static __host__ __device__ __forceinline__ T *dp_cell_at(T *tiles, int64_t a, int64_t b) {
  return dp_tile_at(tiles, a / DP_TILE, b / DP_TILE) + a % DP_TILE * DP_TILE + b % DP_TILE;
}

/* What the problems are made of. ROWS, COLUMNS: of a tile that a thread has. */

/** a d[k] d[b], in doubles one rounding where nothing rounds. */
static __device__ __forceinline__ double dp_chain_sum(double x, double y, double ak, double b) {
  return fma(ak, b, x + y);
}
static __device__ __forceinline__ int64_t dp_chain_sum(int64_t x, int64_t y, int64_t ak,
                                                       int64_t b) {
  return x + y + ak * b;
}

/** Above every value. */
template <class T> static __device__ __forceinline__ T dp_far(void);
template <> __device__ __forceinline__ double dp_far<double>(void) {
  return 1e300;
}
template <> __device__ __forceinline__ int64_t dp_far<int64_t>(void) {
  return INT64_MAX;
}

template <class V> struct dp_chain {
  typedef V T;
  static const int ROWS = 8, COLUMNS = 4;
  static const bool TERM = true;
  static __device__ __forceinline__ T worst(void) {
    return dp_far<T>();
  }
  static __device__ __forceinline__ T step(T best, T x, T y, T ak, T b) {
    const T sum = dp_chain_sum(x, y, ak, b);
    return sum < best ? sum : best;
  }
  static __device__ __forceinline__ T base(const dp_interval_args<T> &, int) {
    return 0;
  }
  static __device__ __forceinline__ T finish(const dp_interval_args<T> &, int, int, T best, T) {
    return best;
  }
};

template <class V> struct dp_tree {
  typedef V T;
  static const int ROWS = 8, COLUMNS = 4;
  static const bool TERM = false;
  static __device__ __forceinline__ T worst(void) {
    return dp_far<T>();
  }
  static __device__ __forceinline__ T step(T best, T x, T y, T, T) {
    const T sum = x + y;
    return sum < best ? sum : best;
  }
  static __device__ __forceinline__ T base(const dp_interval_args<T> &g, int a) {
    return g.base[a];
  }
  static __device__ __forceinline__ T finish(const dp_interval_args<T> &g, int a, int b, T best,
                                             T) {
    return best + (g.high[b] - g.low[a]);
  }
};

struct dp_nussinov {
  typedef int32_t T;
  static const int ROWS = 8, COLUMNS = 8;
  static const bool TERM = false;
  static __device__ __forceinline__ T worst(void) {
    return -(1 << 29);
  }
  static __device__ __forceinline__ T step(T best, T x, T y, T, T) {
    return __viaddmax_s32(x, y, best);
  }
  static __device__ __forceinline__ T base(const dp_interval_args<T> &, int) {
    return 0;
  }
  static __device__ __forceinline__ bool pairs(const dp_interval_args<T> &g, int a, int b) {
    return b - 1 - a > g.loop && (g.pairs[g.letters[a]] >> (g.letters[b - 1] & 31) & 1) != 0 &&
           g.letters[b - 1] < 32;
  }
  /** inner: X[a+1][b-1] */
  static __device__ __forceinline__ T finish(const dp_interval_args<T> &g, int a, int b, T best,
                                             T inner) {
    return pairs(g, a, b) && inner + 1 > best ? inner + 1 : best;
  }
};
