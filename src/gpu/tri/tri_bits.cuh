/**
 * @file tri_bits.cuh
 * Strips of values of rows of bits (tri_bits.h) on a card, computed like a product of matrices:
 * words of the tile's rows and columns in shared memory, PART x PART pairs in the registers of a
 * thread, which counts the bits that are 1 in both.
 */
#pragma once

#include "tri_bits.h"
#include "tri_fn.cuh"

enum {
  TRI_BITS_SIDE = 16, /**< threads along rows and along columns of a tile */
  TRI_BITS_PART = 8,  /**< rows and columns of a thread */
  TRI_BITS_TILE = TRI_BITS_SIDE * TRI_BITS_PART,
  TRI_BITS_DEPTH = 8, /**< words of 64 bits in shared memory at once */
  TRI_BITS_THREADS = TRI_BITS_SIDE * TRI_BITS_SIDE
};

/** What the kernel sees: rows [a, b) with columns [c0, c1), places, into out[row][column]. */
template <class R> struct tri_bits_strip {
  const uint64_t *words; /**< field TRI_WORDS */
  const R *ones;         /**< [n_pad] */
  int64_t n_pad;
  int n_words, function, a, b, c0, c1;
  R scale; /**< dimensions */
  R *out;
};

/** A tile's words in shared memory. */
struct tri_bits_tile {
  alignas(16) uint64_t rows[TRI_BITS_DEPTH][TRI_BITS_TILE];
  alignas(16) uint64_t columns[TRI_BITS_DEPTH][TRI_BITS_TILE];
};

/** The functions' values of how many are 1 in both, and in each. */
static __host__ __device__ __forceinline__ float tri_bits_value(int function, float both, float ei,
                                                                float ej, float scale) {
  switch (function) {
#define X(NAME, name, ...) \
  case TRI_##NAME:         \
    return tri_finish_##name##_f32(both, ei, ej, scale);
    TRI_TRUTH_LIST(X)
#undef X
  default:
    return 0;
  }
}
static __host__ __device__ __forceinline__ double
tri_bits_value(int function, double both, double ei, double ej, double scale) {
  switch (function) {
#define X(NAME, name, ...) \
  case TRI_##NAME:         \
    return tri_finish_##name##_f64(both, ei, ej, scale);
    TRI_TRUTH_LIST(X)
#undef X
  default:
    return 0;
  }
}

/** Number c of a thread's columns within the tile: two words of 16 bytes, threads side by side. */
static __device__ __forceinline__ int tri_bits_column(int tx, int c) {
  return c / 2 * TRI_BITS_SIDE * 2 + tx * 2 + c % 2;
}

/** Words [k, k + n) of the tile's rows from i on and columns from j on; beyond n_pad those of
 *  another point. */
template <class R>
static __device__ __forceinline__ void
tri_bits_load(const tri_bits_strip<R> &s, tri_bits_tile &tile, int k, int n, int i, int j) {
  const int last = (int)s.n_pad - 1;
  for (int e = (int)threadIdx.x; e < n * TRI_BITS_TILE; e += TRI_BITS_THREADS) {
    const int w = e / TRI_BITS_TILE, at = e % TRI_BITS_TILE;
    const uint64_t *const x = s.words + (int64_t)(k + w) * s.n_pad;
    tile.rows[w][at] = __ldg((const unsigned long long *)x + min(i + at, last));
    tile.columns[w][at] = __ldg((const unsigned long long *)x + min(j + at, last));
  }
}

/** Count the bits of word w of the tile. */
static __device__ __forceinline__ void tri_bits_step(const tri_bits_tile &tile, int w, int tx,
                                                     int ty,
                                                     int (&both)[TRI_BITS_PART][TRI_BITS_PART]) {
  alignas(16) uint64_t row[TRI_BITS_PART], column[TRI_BITS_PART];
#pragma unroll
  for (int g = 0; g < TRI_BITS_PART; g += 2) {
    *(int4 *)&row[g] = *(const int4 *)&tile.rows[w][ty * TRI_BITS_PART + g];
    *(int4 *)&column[g] = *(const int4 *)&tile.columns[w][tri_bits_column(tx, g)];
  }
#pragma unroll
  for (int r = 0; r < TRI_BITS_PART; r++)
#pragma unroll
    for (int c = 0; c < TRI_BITS_PART; c++) {
      const uint64_t bits = row[r] & column[c];
      both[r][c] += __popc((unsigned)bits) + __popc((unsigned)(bits >> 32));
    }
}

template <class R>
static __global__ void __launch_bounds__(TRI_BITS_THREADS, 2) tri_bits_kernel(tri_bits_strip<R> s) {
  __shared__ tri_bits_tile tile;
  const int tx = (int)threadIdx.x % TRI_BITS_SIDE, ty = (int)threadIdx.x / TRI_BITS_SIDE;
  const int i0 = s.a + (int)blockIdx.y * TRI_BITS_TILE;
  const int j0 = s.c0 + (int)blockIdx.x * TRI_BITS_TILE;
  int both[TRI_BITS_PART][TRI_BITS_PART] = {};
  for (int k = 0; k < s.n_words; k += TRI_BITS_DEPTH) {
    const int n = min(s.n_words - k, (int)TRI_BITS_DEPTH);
    __syncthreads();
    tri_bits_load(s, tile, k, n, i0, j0);
    __syncthreads();
#pragma unroll 2
    for (int w = 0; w < n; w++) tri_bits_step(tile, w, tx, ty, both);
  }
#pragma unroll
  for (int r = 0; r < TRI_BITS_PART; r++) {
    const int i = i0 + ty * TRI_BITS_PART + r;
    if (i >= s.b) return;
    R *const to = s.out + (int64_t)(i - s.a) * (s.c1 - s.c0) - s.c0;
#pragma unroll
    for (int c = 0; c < TRI_BITS_PART; c++) {
      const int j = j0 + tri_bits_column(tx, c);
      if (j < s.c1)
        to[j] = tri_bits_value(s.function, (R)both[r][c], __ldg(s.ones + i), __ldg(s.ones + j),
                               s.scale);
    }
  }
}

template <class R>
static tsl_err tri_bits_launch(const tri_gpu *w, int64_t a, int64_t b, int64_t c0, int64_t c1,
                               R *out) {
  tsl_err err = TSL_OK;
  tri_bits_strip<R> s = {};
  s.words = (const uint64_t *)w->words.data;
  s.ones = (const R *)w->extras.data;
  s.n_pad = w->p.n_pad;
  s.n_words = (int)tri_words_of(&w->p);
  s.function = w->p.function;
  s.a = (int)a, s.b = (int)b, s.c0 = (int)c0, s.c1 = (int)c1;
  s.scale = (R)w->p.scale;
  s.out = out;
  const dim3 grid((unsigned)tsl_ceil_div(c1 - c0, TRI_BITS_TILE),
                  (unsigned)tsl_ceil_div(b - a, TRI_BITS_TILE));
  TSL_LAUNCH(tri_bits_kernel<R>, grid, TRI_BITS_THREADS, 0, w->stream, s);
done:
  return err;
}
