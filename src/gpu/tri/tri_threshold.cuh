/**
 * @file tri_threshold.cuh
 * Pairs with value <= threshold, compacted. Included once for each type.
 * A warp takes room for its hits with one atomic; records beyond the capacity are counted only.
 */
#pragma once

#include "tri_tiles.cuh"

enum { TRI_THRESHOLD_ROWS = 64 };

/** Where records go: key = i n + j, n: columns. */
template <class R> struct tri_records {
  unsigned long long *keys, *count;
  R *values;
  unsigned long long capacity;
  R threshold;
  bool full; /**< csr: all j != i, not j > i alone */
};

/** Append the warp's hits; called by all lanes. */
template <class R>
static __device__ __forceinline__ void tri_append(const tri_records<R> &records, bool hit,
                                                  unsigned long long key, R value) {
  const unsigned hits = __ballot_sync(~0u, hit);
  const int lane = threadIdx.x % 32, leader = __ffs((int)hits) - 1;
  unsigned long long at = 0;
  if (hits == 0) return;
  if (lane == leader) at = atomicAdd(records.count, (unsigned long long)__popc(hits));
  at = __shfl_sync(~0u, at, leader) + (unsigned)__popc(hits & ((1u << lane) - 1));
  if (!hit || at >= records.capacity) return;
  records.keys[at] = key;
  records.values[at] = value;
}

template <class S>
static __global__ void __launch_bounds__(TRI_THREADS)
    tri_threshold_kernel(tri_args<typename S::real> args, tri_tiles tiles,
                         tri_records<typename S::real> records) {
  using R = typename S::real;
  constexpr int W = TRI_THREADS * S::C;
  __shared__ tri_rows<R, TRI_THRESHOLD_ROWS> rows;
  const tri_tile tile = tri_tile_at(tiles, blockIdx.x);
  const int j = tile.q * W + (int)threadIdx.x * S::C, count = tile.i1 - tile.i0;
  for (int p = threadIdx.x; p < count; p += TRI_THREADS)
    tri_rows_put<S>(args, rows, p, tile.i0 + p);
  __syncthreads();
  S source;
  source.columns(args, j);
  for (int p = 0; p < count; p += S::G) {
    R v[S::G][S::C];
    source.values(args, rows, p, count, v);
#pragma unroll
    for (int g = 0; g < S::G; g++) {
      const int i = tile.i0 + p + g;
      bool any = false;
#pragma unroll
      for (int c = 0; c < S::C; c++) any |= v[g][c] <= records.threshold;
      if (p + g >= count || !__any_sync(~0u, any)) continue;
#pragma unroll
      for (int c = 0; c < S::C; c++)
        tri_append(records,
                   v[g][c] <= records.threshold &&
                       (records.full ? j + c != i : j + c > (i | args.apart)) && j + c < args.n,
                   (unsigned long long)(i - args.first) * (unsigned)args.n + (unsigned)(j + c),
                   v[g][c]);
    }
  }
}

TRI_ENTRY(threshold, tri_tiles, tri_records<R>)

template <class R>
tsl_err tri_threshold_rows(const tri_gpu *w, const tri_args<R> *args, int64_t a, int64_t b,
                           const tri_records<R> *records) {
  tsl_err err = TSL_OK;
  const int shape = records->full || w->p.two ? TRI_RECTANGLE : TRI_UPPER;
  const tri_tiles tiles = tri_tiles_make(shape, a, b, args->n, TRI_THREADS * tri_width<R>::value,
                                         TRI_THRESHOLD_ROWS, 8 * w->processors);
  typename tri_threshold_entry<tri_matrix<R>>::pointer kernel = NULL;
  TSL_TRY((tri_pick_or_matrix<tri_threshold_entry, R, 32 / (int)sizeof(R)>(w, args, &kernel)));
  if (tiles.count > INT32_MAX)
    TSL_FAIL(TSL_ERR_DEVICE_MEMORY, "rows %lld..%lld make too many tiles at once", (long long)a,
             (long long)b);
  TSL_LAUNCH(kernel, dim3((unsigned)tiles.count), TRI_THREADS, 0, w->stream, *args, tiles,
             *records);
done:
  return err;
}
