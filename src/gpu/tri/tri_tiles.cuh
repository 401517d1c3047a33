/**
 * @file tri_tiles.cuh
 * Tiles of a triangle: `rows` rows x 256 threads x C columns, enumerated without a wasted block.
 *
 * Columns are cut at multiples of the tile width W. Row tiles are at multiples of `rows`, a power
 * of two that divides W, so all rows of a tile lie in one super-row of W rows: super-row S of the
 * lower triangle has the column tiles 0..S, that of the upper triangle S..m-1. Tiles are numbered
 * super-row after super-row, and the number leads back by the lower-triangular map
 * (Navarro & Hitschfeld 2013) with an integer correction.
 */
#pragma once

#include "tri_fn.cuh"
#include "tri_maps.cuh"

enum { TRI_THREADS = 256, TRI_ROWS_MAX = 128 };

typedef enum tri_shape { TRI_LOWER, TRI_UPPER, TRI_RECTANGLE } tri_shape;

/** The tiles of rows [a, b) of a triangle. */
typedef struct tri_tiles {
  int shape;     /**< tri_shape */
  int rows;      /**< rows of a tile */
  int per_super; /**< row tiles of a super-row */
  int supers;    /**< column tiles of the whole width */
  int a, b;
  int64_t first; /**< number of the first tile */
  int64_t count;
} tri_tiles;

typedef struct tri_tile {
  int i0, i1; /**< rows, cut to [a, b) */
  int q;      /**< column tile */
  bool last;  /**< last column tile of its rows */
} tri_tile;

static inline int64_t tri_tiles_before(const tri_tiles *t, int64_t row_tile) {
  const int64_t s = row_tile / t->per_super;
  return t->per_super * (s * (s + 1) / 2) + row_tile % t->per_super * (s + 1);
}

/** Tiles of rows [a, b) of width columns; rows per tile chosen so that the card has enough of them.
 */
static inline tri_tiles tri_tiles_make(int shape, int64_t a, int64_t b, int64_t columns, int width,
                                       int most_rows, int wanted) {
  tri_tiles t = {};
  t.shape = shape;
  t.a = (int)a;
  t.b = (int)b;
  t.supers = (int)tsl_ceil_div(columns, width);
  for (t.rows = most_rows; t.rows >= 4; t.rows /= 2) {
    const int64_t top = a / t.rows, end = tsl_ceil_div(b, t.rows);
    t.per_super = width / t.rows;
    const int64_t all = (int64_t)t.supers * t.per_super;
    t.first = shape == TRI_LOWER   ? tri_tiles_before(&t, top)
              : shape == TRI_UPPER ? tri_tiles_before(&t, all - end)
                                   : top * t.supers;
    t.count = (shape == TRI_LOWER   ? tri_tiles_before(&t, end)
               : shape == TRI_UPPER ? tri_tiles_before(&t, all - top)
                                    : end * t.supers) -
              t.first;
    if (t.count >= wanted || t.rows == 4) break;
  }
  if (a >= b || columns <= 0) t.count = 0;
  return t;
}

/** Tile of a number in [0, count). */
static __host__ __device__ __forceinline__ tri_tile tri_tile_at(const tri_tiles &t,
                                                                int64_t number) {
  tri_tile tile;
  int64_t row_tile;
  if (t.shape == TRI_RECTANGLE) {
    row_tile = (t.first + number) / t.supers;
    tile.q = (int)((t.first + number) % t.supers);
    tile.last = tile.q == t.supers - 1;
  } else {
    const int64_t w = t.first + (t.shape == TRI_UPPER ? t.count - 1 - number : number);
    const int64_t s = tri_ltm_row(w / t.per_super);
    const unsigned rest = (unsigned)(w - t.per_super * (s * (s + 1) / 2));
    const unsigned row = rest / (unsigned)(s + 1), column = rest % (unsigned)(s + 1);
    row_tile = s * t.per_super + row;
    tile.q = (int)column;
    tile.last = column == s;
    if (t.shape == TRI_UPPER) {
      row_tile = (int64_t)t.supers * t.per_super - 1 - row_tile;
      tile.q = t.supers - 1 - tile.q;
      tile.last = column == 0;
    }
  }
  const int64_t i0 = row_tile * t.rows, i1 = i0 + t.rows;
  tile.i0 = (int)(i0 > t.a ? i0 : t.a);
  tile.i1 = (int)(i1 < t.b ? i1 : t.b);
  return tile;
}

/** Put row i of the points at place p of the tile's rows, as far as source S reads it there. */
template <class S, class R, int N>
static __device__ __forceinline__ void tri_rows_put(const tri_args<R> &args, tri_rows<R, N> &rows,
                                                    int p, int i) {
  rows.index[p] = i;
#pragma unroll
  for (int k = 0; k < S::D; k++) rows.x[p].v[k] = __ldg(args.x + k * args.n_pad + i);
  if (S::radius) rows.extra[p] = __ldg(args.extra + i);
}

/** Put a tile's rows and their number, after all threads of the block have read those before. */
template <class S, class R, int N>
static __device__ __forceinline__ void tri_rows_fill(const tri_args<R> &args, const tri_tile &tile,
                                                     tri_rows<R, N> &rows) {
  __syncthreads();
  for (int p = threadIdx.x; p < tile.i1 - tile.i0; p += TRI_THREADS)
    tri_rows_put<S>(args, rows, p, tile.i0 + p);
  if (threadIdx.x == 0) rows.count = tile.i1 - tile.i0;
  __syncthreads();
}

/** Dimensions for which kernels are compiled; TRI_DN: any number. */
enum { TRI_D2 = 1, TRI_D3 = 2, TRI_DN = 4 };

/** Functions that pay for kernels of their own for two and three dimensions. */
template <int F> struct tri_low {
  typedef tri_row_of<F> row;
  static constexpr bool value = row::sphere || (row::squares && !row::product && !row::radius);
};

/** tri_NAME_entry<source>::kernel(): tri_NAME_kernel, of tri_args<R> and the parameters named; R is
 *  the source's type. */
#define TRI_ENTRY(name, ...)                           \
  template <class S> struct tri_##name##_entry {       \
    using R = typename S::real;                        \
    typedef void (*pointer)(tri_args<R>, __VA_ARGS__); \
    static pointer kernel() {                          \
      return tri_##name##_kernel<S>;                   \
    }                                                  \
  };

/** Kernel of a function and dimension, T<source>::kernel(); NULL if DIMS has none. */
template <template <class> class T, class R, int F, int G, int DIMS>
static typename T<tri_matrix<R>>::pointer tri_pick_d(int64_t d) {
  if constexpr (tri_low<F>::value && (DIMS & TRI_D3) != 0)
    if (d == 3) return T<tri_direct<F, R, 3, G>>::kernel();
  if constexpr (tri_low<F>::value && !tri_row_of<F>::sphere && (DIMS & TRI_D2) != 0)
    if (d == 2) return T<tri_direct<F, R, 2, G>>::kernel();
  if constexpr (!tri_row_of<F>::sphere && (DIMS & TRI_DN) != 0)
    return T<tri_direct<F, R, 0, G>>::kernel();
  else
    return NULL;
}

/** As above for the function too. */
template <template <class> class T, class R, int G, int DIMS>
static typename T<tri_matrix<R>>::pointer tri_pick(int function, int64_t d) {
  switch (function) {
#define X(NAME, ...) \
  case TRI_##NAME:   \
    return tri_pick_d<T, R, tri_same<TRI_##NAME>::value, G, DIMS>(d);
    TRI_DIRECT_LIST(X)
#undef X
  default:
    return NULL;
  }
}

/** As above for a worker; a strip of inner products overrules the formula. */
template <template <class> class T, class R, int G>
static tsl_err tri_pick_or_matrix(const tri_gpu *w, const tri_args<R> *args,
                                  typename T<tri_matrix<R>>::pointer *kernel) {
  tsl_err err = TSL_OK;
  *kernel = args->strip != NULL ? T<tri_matrix<R>>::kernel()
                                : tri_pick<T, R, G, TRI_D3 | TRI_DN>(w->p.function, w->p.d);
  if (*kernel == NULL) TSL_FAIL(TSL_ERR_INTERNAL, "no kernel for function %d", w->p.function);
done:
  return err;
}

/** Launch E's kernel of rows [a, b), a warp for each, with so many warps and bytes of shared memory
 *  for a block. @param[in] o  its target, with a and b to be set */
template <template <class> class E, class R, class O>
static tsl_err tri_warp_rows(const tri_gpu *w, const tri_args<R> *args, int64_t a, int64_t b,
                             int warps, int shared, O o) {
  tsl_err err = TSL_OK;
  typename E<tri_matrix<R>>::pointer kernel = NULL;
  TSL_TRY((tri_pick_or_matrix<E, R, 1>(w, args, &kernel)));
  o.a = (int)a;
  o.b = (int)b;
  if (shared > 45056)
    TSL_CUDA_TRY(cudaFuncSetAttribute((const void *)kernel,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  TSL_LAUNCH(kernel, dim3((unsigned)tsl_ceil_div(b - a, warps)), (unsigned)(32 * warps),
             (size_t)shared, w->stream, *args, o);
done:
  return err;
}

/** As many blocks of a kernel as the card holds at once, with so many bytes of dynamic shared
 *  memory; `most` at most. */
template <class K>
static tsl_err tri_resident_blocks(const tri_gpu *w, K kernel, int threads, int shared,
                                   int64_t most, unsigned *blocks) {
  tsl_err err = TSL_OK;
  int resident = 0;
  if (kernel == NULL) TSL_FAIL(TSL_ERR_INTERNAL, "no kernel for function %d", w->p.function);
  if (shared > 40960)
    TSL_CUDA_TRY(cudaFuncSetAttribute((const void *)kernel,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  TSL_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, (const void *)kernel,
                                                             threads, (size_t)shared));
  *blocks = (unsigned)(most < (int64_t)resident * w->processors ? most : resident * w->processors);
done:
  return err;
}
