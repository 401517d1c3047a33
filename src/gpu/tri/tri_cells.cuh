/**
 * @file tri_cells.cuh
 * Histogram of classes, weights, listed edges or two axes (tri_has_cells): of all pairs and of near
 * ones. Included once for each type.
 *
 * A block counts into one copy of the cells in shared memory where that holds them, else into those
 * in device memory. Sums of weights are 128-bit integers in two halves: whoever makes the lower one
 * overflow adds 1 to the higher one, so that the order of additions does not matter.
 */
#pragma once

#include "tri_near.cuh"

template <class R> struct tri_axis;
template <> struct tri_axis<float> { typedef tri_axis_f32 type; };
template <> struct tri_axis<double> { typedef tri_axis_f64 type; };

static __device__ __forceinline__ int tri_axis_bin(const tri_axis_f32 &axis, float v) {
  return tri_axis_bin_f32(&axis, v);
}
static __device__ __forceinline__ int tri_axis_bin(const tri_axis_f64 &axis, double v) {
  return tri_axis_bin_f64(&axis, v);
}
static __device__ __forceinline__ float tri_apart(const tri_args<float> &args, bool wrapped,
                                                  bool along, int i, int j) {
  return tri_apart_f32(args.x, args.n_pad, args.d, args.box, wrapped, along, i, j);
}
static __device__ __forceinline__ double tri_apart(const tri_args<double> &args, bool wrapped,
                                                   bool along, int i, int j) {
  return tri_apart_f64(args.x, args.n_pad, args.d, args.box, wrapped, along, i, j);
}

/** Cells and what decides which one a pair is in. */
template <class R> struct tri_cells {
  typename tri_axis<R>::type first, second;
  R reach; /**< values above it are in no cell */
  int axes, wrapped, n_classes;
  const int *classes, *slots; /**< or NULL */
  const int *weights;         /**< or NULL */
  long long bias;
  int each, all;                           /**< cells of a histogram, and of all */
  bool shared;                             /**< all are in shared memory */
  unsigned long long *counts, *low, *high; /**< [all] */
};

/** A block's cells: low halves, then counts. */
struct tri_cells_shared {
  unsigned long long *low;
  unsigned *counts;
};

template <class R>
static __device__ __forceinline__ tri_cells_shared tri_cells_share(const tri_cells<R> &cells,
                                                                   void *memory) {
  tri_cells_shared s;
  s.low = (unsigned long long *)memory;
  s.counts = (unsigned *)(s.low + (cells.weights != NULL ? cells.all : 0));
  return s;
}

/** Cell within a histogram, or -1. */
template <class R>
static __device__ int tri_cell_of(const tri_args<R> &args, const tri_cells<R> &cells, int i, int j,
                                  R value) {
  if (cells.axes == TRI_AXES_VALUE) return tri_axis_bin(cells.first, value);
  const bool mu = cells.axes == TRI_AXES_S_MU;
  const R along = tri_apart(args, cells.wrapped, true, i, j);
  const R part = value > (R)0 ? along / value : (R)0;
  const int a = tri_axis_bin(cells.first, mu ? value : tri_apart(args, cells.wrapped, false, i, j));
  const int b = tri_axis_bin(cells.second, mu ? part : along);
  return a < 0 || b < 0 ? -1 : a * cells.second.bins + b;
}

/** Count the pair of places i and j. */
template <class R>
static __device__ void tri_cells_count(const tri_args<R> &args, const tri_cells<R> &cells,
                                       const tri_cells_shared &shared, int i, int j, R value) {
  int at = 0;
  if (cells.classes != NULL) {
    const int64_t row = (int64_t)__ldg(cells.classes + i) * cells.n_classes;
    at = __ldg(cells.slots + row + __ldg(cells.classes + j));
    if (at < 0) return;
  }
  const int cell = tri_cell_of(args, cells, i, j, value);
  if (cell < 0) return;
  at = at * cells.each + cell;
  if (cells.shared)
    atomicAdd(shared.counts + at, 1u);
  else
    atomicAdd(cells.counts + at, 1ull);
  if (cells.weights == NULL) return;
  const unsigned long long product =
      (unsigned long long)((long long)__ldg(cells.weights + i) * __ldg(cells.weights + j) +
                           cells.bias);
  const unsigned long long old =
      atomicAdd(cells.shared ? shared.low + at : cells.low + at, product);
  if (old + product < product) atomicAdd(cells.high + at, 1ull);
}

/** Move the block's cells [from, from + step, ...) to device memory, while others may count. */
template <class R>
static __device__ void tri_cells_empty(const tri_cells<R> &cells, const tri_cells_shared &shared,
                                       int from, int step) {
  for (int at = from; at < cells.all && cells.shared; at += step) {
    const unsigned count = atomicExch(shared.counts + at, 0u);
    if (count != 0) atomicAdd(cells.counts + at, (unsigned long long)count);
    if (cells.weights == NULL) continue;
    const unsigned long long low = atomicExch(shared.low + at, 0ull);
    const unsigned long long old = low != 0 ? atomicAdd(cells.low + at, low) : 0ull;
    if (old + low < low) atomicAdd(cells.high + at, 1ull);
  }
}

/** All threads of the block, before the first pair. */
template <class R>
static __device__ void tri_cells_clear(const tri_cells<R> &cells, const tri_cells_shared &shared) {
  for (int at = threadIdx.x; at < cells.all && cells.shared; at += TRI_THREADS) {
    shared.counts[at] = 0;
    if (cells.weights != NULL) shared.low[at] = 0;
  }
  __syncthreads();
}

/* -------------------------------------------------------------- all pairs */

template <class S, class R, int N>
static __device__ __forceinline__ void
tri_cells_tile(const S &source, const tri_args<R> &args, const tri_cells<R> &cells,
               const tri_rows<R, N> &rows, int j, const tri_cells_shared &shared) {
  for (int p = 0; p < rows.count; p += S::G) {
    R v[S::G][S::C];
    source.values(args, rows, p, rows.count, v);
#pragma unroll
    for (int g = 0; g < S::G; g++) {
      if (S::G > 1 && p + g >= rows.count) break;
      const int i = rows.index[p + g];
#pragma unroll
      for (int c = 0; c < S::C; c++)
        if (v[g][c] <= cells.reach && j + c > (i | args.apart) && j + c < args.n)
          tri_cells_count(args, cells, shared, i, j + c, v[g][c]);
    }
  }
}

template <class S>
static __global__ void __launch_bounds__(TRI_THREADS)
    tri_cells_kernel(tri_args<typename S::real> args, tri_tiles tiles,
                     tri_cells<typename S::real> cells) {
  using R = typename S::real;
  constexpr int W = TRI_THREADS * S::C;
  __shared__ tri_rows<R, TRI_HISTOGRAM_ROWS> rows;
  extern __shared__ unsigned long long cells_memory[];
  const tri_cells_shared shared = tri_cells_share(cells, cells_memory);
  int since = 0;
  tri_cells_clear(cells, shared);
  for (int64_t number = blockIdx.x; number < tiles.count; number += gridDim.x) {
    const tri_tile tile = tri_tile_at(tiles, number);
    const int j = tile.q * W + (int)threadIdx.x * S::C;
    tri_rows_fill<S>(args, tile, rows);
    S source;
    source.columns(args, j);
    tri_cells_tile(source, args, cells, rows, j, shared);
    if (++since == TRI_FLUSH_TILES) {
      tri_cells_empty(cells, shared, threadIdx.x, TRI_THREADS);
      since = 0;
    }
  }
  __syncthreads();
  tri_cells_empty(cells, shared, threadIdx.x, TRI_THREADS);
}

/* ------------------------------------------------------------- near pairs */

template <class S> struct tri_cells_visitor {
  using R = typename S::real;
  const tri_args<R> &args;
  const tri_cells<R> &cells;
  const tri_seeker<S> &row;
  const tri_cells_shared &shared;
  unsigned &since;

  __device__ __forceinline__ R cut() const {
    return cells.reach;
  }
  __device__ __forceinline__ bool wants(int64_t) const {
    return true;
  }
  __device__ __forceinline__ void tiles(int first, unsigned mask, R) {
    const int lane = threadIdx.x % 32;
    since += (unsigned)__popc(mask);
    for (; mask != 0; mask &= mask - 1) {
      const int j = (first + __ffs((int)mask) - 1) * TRI_TILE + lane;
      const R v = row.value(args, j);
      if (v <= cells.reach && j > (row.place | args.apart) && j < args.n)
        tri_cells_count(args, cells, shared, row.place, j, v);
    }
    __syncwarp();
    if (since < TRI_NEAR_FLUSH) return;
    tri_cells_empty(cells, shared, lane, 32);
    since = 0;
  }
};

template <class S>
static __global__ void __launch_bounds__(TRI_THREADS)
    tri_near_cells_kernel(tri_args<typename S::real> args, tri_boxes<typename S::real> boxes,
                          tri_near_rows rows, tri_cells<typename S::real> cells) {
  extern __shared__ unsigned long long cells_memory[];
  const tri_cells_shared shared = tri_cells_share(cells, cells_memory);
  unsigned since = 0;
  tri_cells_clear(cells, shared);
  tri_near_each(rows, [&](int place) {
    tri_seeker<S> row;
    row.take(args, place);
    tri_cells_visitor<S> visit = {args, cells, row, shared, since};
    tri_go_down(args, boxes, row, place / TRI_TILE & ~args.apart, visit);
  });
  __syncthreads();
  tri_cells_empty(cells, shared, threadIdx.x, TRI_THREADS);
}

/* --------------------------------------------------------------- launches */

TRI_ENTRY(cells, tri_tiles, tri_cells<R>)
TRI_ENTRY(near_cells, tri_boxes<R>, tri_near_rows, tri_cells<R>)

/** Bytes of shared memory that all cells take. */
static inline int64_t tri_cells_bytes(const tri_params *p) {
  return tri_cells_of(p) * (p->weighted ? 12 : 4);
}

template <class R> static tri_cells<R> tri_cells_make(const tri_gpu *w) {
  enum { MOST = 49152 }; /* more would leave room for few blocks */
  const tri_params *p = &w->p;
  const R *edges = (const R *)w->marks[TRI_EDGES - TRI_CLASSES].data;
  tri_cells<R> cells = {};
  cells.first.lo = (R)p->range_lo;
  cells.first.hi = (R)p->range_hi;
  cells.first.inv_width = (R)(p->bins / (p->range_hi - p->range_lo));
  cells.first.edges = p->listed ? edges : NULL;
  cells.first.bins = p->bins;
  cells.second.edges = edges + (p->listed ? p->bins + 1 : 0);
  cells.second.bins = p->bins_2;
  cells.reach = (R)tri_near_cut(p);
  cells.axes = p->axes;
  cells.wrapped = p->function == TRI_EUCLIDEAN_PERIODIC;
  cells.n_classes = p->classes;
  if (p->classes > 0) {
    cells.classes = (const int *)w->marks[TRI_CLASSES - TRI_CLASSES].data;
    cells.slots = (const int *)w->marks[TRI_SLOTS - TRI_CLASSES].data;
  }
  if (p->weighted) cells.weights = (const int *)w->marks[TRI_WEIGHTS - TRI_CLASSES].data;
  cells.bias = p->bias;
  cells.each = (int)tri_cells_each(p);
  cells.all = (int)tri_cells_of(p);
  cells.shared = tri_cells_bytes(p) <= MOST && tri_cells_bytes(p) + 8192 <= w->shared_limit;
  cells.counts = (unsigned long long *)w->counts.data;
  cells.low = (unsigned long long *)w->sums.data;
  cells.high = cells.low + cells.all;
  return cells;
}

template <class R>
tsl_err tri_cells_rows(const tri_gpu *w, const tri_args<R> *args, int64_t a, int64_t b) {
  const tri_cells<R> cells = tri_cells_make<R>(w);
  return tri_count_rows<tri_cells_entry, R>(w, args, a, b,
                                            cells.shared ? (int)tri_cells_bytes(&w->p) : 0, cells);
}

template <class R>
tsl_err tri_near_cells(const tri_gpu *w, const tri_boxes<R> *boxes, const tri_near_rows *rows) {
  const tri_cells<R> cells = tri_cells_make<R>(w);
  return tri_near_launch<tri_near_cells_entry>(
      w, boxes, rows, TRI_THREADS, cells.shared ? (int)tri_cells_bytes(&w->p) : 0, cells);
}
