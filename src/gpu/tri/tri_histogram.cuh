/**
 * @file tri_histogram.cuh
 * Histogram of all pairs: persistent blocks, counts in shared memory. Included once for each type.
 *
 * A block counts into copies of the histogram in shared memory (a warp or a few warps for each
 * copy), uint32, and adds them to the uint64 counts before they can overflow. When shared memory
 * does not hold one copy, the counts in device memory are incremented directly.
 */
#pragma once

#include "tri_tiles.cuh"

enum {
  TRI_HISTOGRAM_ROWS = 128,
  TRI_FLUSH_TILES = 8192, /**< 8192 tiles x 128 rows x 1024 columns = 2^30 pairs < 2^32 */
  TRI_COPY_BYTES = 24576  /**< shared memory for copies; more copies cost occupancy */
};

/** Edges and place of a histogram. */
template <class R> struct tri_bins {
  R lo, hi, inv_width;
  int n;
  int copies; /**< in shared memory, 0: count in device memory */
  unsigned long long *counts;
};

static __device__ __forceinline__ int tri_bin(float v, const tri_bins<float> &b) {
  return tri_bin_f32(v, b.lo, b.hi, b.inv_width, b.n);
}
static __device__ __forceinline__ int tri_bin(double v, const tri_bins<double> &b) {
  return tri_bin_f64(v, b.lo, b.hi, b.inv_width, b.n);
}

/** Count rows [0, count) of the tile with the thread's columns j.. */
template <class S, bool EDGE, class R, int N>
static __device__ __forceinline__ void
tri_count(const S &source, const tri_args<R> &args, const tri_bins<R> &bins,
          const tri_rows<R, N> &rows, int j, unsigned *mine) {
#pragma unroll 2
  for (int p = 0; p < rows.count; p += S::G) {
    R v[S::G][S::C];
    source.values(args, rows, p, rows.count, v);
#pragma unroll
    for (int g = 0; g < S::G; g++) {
      if (S::G > 1 && p + g >= rows.count) break;
#pragma unroll
      for (int c = 0; c < S::C; c++) {
        const int bin = tri_bin(v[g][c], bins);
        if (bin < 0 || (EDGE && (j + c <= (rows.index[p + g] | args.apart) || j + c >= args.n)))
          continue;
        if (bins.copies > 0)
          atomicAdd(mine + bin, 1u);
        else
          atomicAdd(bins.counts + bin, 1ull);
      }
    }
  }
}

/** Add the copies to the counts and clear them. Called by all threads. */
template <class R> static __device__ void tri_flush(const tri_bins<R> &bins, unsigned *shared) {
  __syncthreads();
  if (bins.copies > 0)
    for (int b = threadIdx.x; b < bins.n; b += TRI_THREADS) {
      unsigned long long sum = 0;
      for (int k = 0; k < bins.copies; k++) {
        sum += shared[k * bins.n + b];
        shared[k * bins.n + b] = 0;
      }
      if (sum != 0) atomicAdd(bins.counts + b, sum);
    }
  __syncthreads();
}

template <class S>
static __global__ void __launch_bounds__(TRI_THREADS)
    tri_histogram_kernel(tri_args<typename S::real> args, tri_tiles tiles,
                         tri_bins<typename S::real> bins) {
  using R = typename S::real;
  constexpr int W = TRI_THREADS * S::C;
  __shared__ tri_rows<R, TRI_HISTOGRAM_ROWS> rows;
  extern __shared__ unsigned shared[];
  unsigned *const mine =
      shared + (bins.copies > 0 ? (int)threadIdx.x / 32 % bins.copies * bins.n : 0);
  int since = 0;
  for (int b = threadIdx.x; b < bins.copies * bins.n; b += TRI_THREADS) shared[b] = 0;
  for (int64_t number = blockIdx.x; number < tiles.count; number += gridDim.x) {
    const tri_tile tile = tri_tile_at(tiles, number);
    const int j = tile.q * W + (int)threadIdx.x * S::C;
    tri_rows_fill<S>(args, tile, rows);
    S source;
    source.columns(args, j);
    if (tile.q * W >= (tile.i1 & ~args.apart) && (tile.q + 1) * W <= args.n)
      tri_count<S, false>(source, args, bins, rows, j, mine);
    else
      tri_count<S, true>(source, args, bins, rows, j, mine);
    if (++since == TRI_FLUSH_TILES) {
      tri_flush(bins, shared);
      since = 0;
    }
  }
  tri_flush(bins, shared);
}

TRI_ENTRY(histogram, tri_tiles, tri_bins<R>)

/** Copies of the histogram in shared memory: up to one for each warp within TRI_COPY_BYTES, at
 *  least one if the card's blocks can hold it. */
static inline int tri_histogram_copies(int bins, int shared_limit) {
  const int bytes = bins * (int)sizeof(unsigned), fixed = 8192;
  const int some = TRI_COPY_BYTES / bytes;
  if (some >= 1) return some < TRI_THREADS / 32 ? some : TRI_THREADS / 32;
  return bytes + fixed <= shared_limit ? 1 : 0;
}

template <class R> static tri_bins<R> tri_bins_of(const tri_gpu *w) {
  tri_bins<R> bins = {};
  bins.lo = (R)w->p.range_lo;
  bins.hi = (R)w->p.range_hi;
  bins.inv_width = (R)(w->p.bins / (w->p.range_hi - w->p.range_lo));
  bins.n = w->p.bins;
  bins.copies = tri_histogram_copies(bins.n, w->shared_limit);
  bins.counts = (unsigned long long *)w->counts.data;
  return bins;
}

/** Launch a kernel that counts pairs of rows [a, b), places, into a target, tile after tile. */
template <template <class> class E, class R, class T>
static tsl_err tri_count_rows(const tri_gpu *w, const tri_args<R> *args, int64_t a, int64_t b,
                              int shared, const T &target) {
  tsl_err err = TSL_OK;
  unsigned blocks = 0;
  const tri_tiles tiles =
      tri_tiles_make(w->p.two ? TRI_RECTANGLE : TRI_UPPER, a, b, args->n,
                     TRI_THREADS * tri_width<R>::value, TRI_HISTOGRAM_ROWS, 16 * w->processors);
  typename E<tri_matrix<R>>::pointer kernel = NULL;
  TSL_TRY((tri_pick_or_matrix<E, R, 32 / (int)sizeof(R)>(w, args, &kernel)));
  TSL_TRY(tri_resident_blocks(w, kernel, TRI_THREADS, shared, tiles.count, &blocks));
  TSL_LAUNCH(kernel, blocks, TRI_THREADS, (size_t)shared, w->stream, *args, tiles, target);
done:
  return err;
}

template <class R>
tsl_err tri_histogram_rows(const tri_gpu *w, const tri_args<R> *args, int64_t a, int64_t b) {
  const tri_bins<R> bins = tri_bins_of<R>(w);
  return tri_count_rows<tri_histogram_entry, R>(w, args, a, b,
                                                bins.copies * bins.n * (int)sizeof(unsigned), bins);
}
