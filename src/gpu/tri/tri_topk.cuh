/**
 * @file tri_topk.cuh
 * The k nearest of each row by (value, j). Included once for each type.
 *
 * A warp owns a row. It keeps a buffer of `room` candidates in shared memory, of which the first k
 * are the best so far; a value enters only if it is before the k-th best. A full buffer is sorted
 * by a bitonic network, and the k-th becomes the new bound. Columns come in ascending order, and
 * equal values are ordered by j, so ties are exact.
 */
#pragma once

#include "tri_tiles.cuh"

enum { TRI_TOPK_WARPS = 8 };

/** Sizes and targets. */
template <class R> struct tri_nearest {
  int a, b; /**< rows; out[0] is row `first`; places, but with near pairs */
  int first;
  int k;
  int room;              /**< of a warp's buffer, a power of two >= k + 32 C */
  R cut;                 /**< values beyond it are not wanted */
  long long *neighbours; /**< [rows][k] */
  R *values;             /**< [rows][k] */
};

/** A warp's candidates in shared memory. */
template <class R> struct tri_heap {
  R *value;
  int *j;
  int held;
  R bound; /**< k-th best so far */
  int bound_j;
};

template <class R> static __device__ __forceinline__ bool tri_before(R v, int j, R w, int jw) {
  return v < w || (v == w && j < jw);
}

/** Sort the first `size` (power of two) entries by (value, j), all lanes of the warp together. */
template <class R> static __device__ void tri_bitonic(R *value, int *index, int size) {
  const int lane = threadIdx.x % 32;
  for (int block = 2; block <= size; block *= 2)
    for (int step = block / 2; step > 0; step /= 2) {
      for (int t = lane; t < size / 2; t += 32) {
        const int low = 2 * t - (t & (step - 1)), high = low + step;
        const bool ascending = (low & block) == 0;
        const R u = value[low], v = value[high];
        const int ju = index[low], jv = index[high];
        if (tri_before(v, jv, u, ju) == ascending) {
          value[low] = v, value[high] = u;
          index[low] = jv, index[high] = ju;
        }
      }
      __syncwarp();
    }
}

/** Sort what is held, with places up to k filled by infinity. */
template <class R>
static __device__ void tri_sort(const tri_heap<R> &heap, int k, int room, R infinity) {
  const int lane = threadIdx.x % 32;
  int size = 64;
  while (size < heap.held || size < k) size *= 2;
  for (int t = heap.held + lane; t < size && t < room; t += 32) {
    heap.value[t] = infinity;
    heap.j[t] = INT32_MAX;
  }
  __syncwarp();
  tri_bitonic(heap.value, heap.j, size);
}

/** Sort what is held, keep k, set the bound. */
template <class R>
static __device__ void tri_settle(tri_heap<R> &heap, int k, int room, R infinity) {
  tri_sort(heap, k, room, infinity);
  if (heap.held >= k) {
    heap.held = k;
    heap.bound = heap.value[k - 1];
    heap.bound_j = heap.j[k - 1];
  }
  __syncwarp();
}

/** Hold the hits of a warp, for which there is room; all lanes together. */
template <class R>
static __device__ __forceinline__ void tri_put(tri_heap<R> &heap, bool hit, R value, int j) {
  const unsigned hits = __ballot_sync(~0u, hit);
  const int at = heap.held + __popc(hits & ((1u << threadIdx.x % 32) - 1));
  if (hit) {
    heap.value[at] = value;
    heap.j[at] = j;
  }
  heap.held += __popc(hits);
}

/** The k nearest to their row of the output. */
template <class R>
static __device__ void tri_put_row(const tri_nearest<R> &o, const tri_heap<R> &heap, int i) {
  for (int t = (int)threadIdx.x % 32; t < o.k; t += 32) {
    const int64_t place = (int64_t)(i - o.first) * o.k + t;
    o.neighbours[place] = heap.j[t];
    o.values[place] = heap.value[t];
  }
}

template <class S>
static __global__ void __launch_bounds__(TRI_TOPK_WARPS * 32)
    tri_topk_kernel(tri_args<typename S::real> args, tri_nearest<typename S::real> o) {
  using R = typename S::real;
  constexpr int C = S::C;
  __shared__ tri_rows<R, TRI_TOPK_WARPS> rows;
  extern __shared__ double shared_[];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const int i = o.a + (int)blockIdx.x * warps + warp;
  const R infinity = (R)HUGE_VAL;
  tri_heap<R> heap;
  if (i >= o.b) return;
  heap.value = (R *)shared_ + warp * o.room;
  heap.j = (int *)((R *)shared_ + warps * o.room) + warp * o.room;
  heap.held = 0;
  heap.bound = o.cut;
  heap.bound_j = INT32_MAX;
  if (lane == 0) tri_rows_put<S>(args, rows, warp, i);
  __syncwarp();
  for (int j0 = 0; j0 < args.n; j0 += 32 * C) {
    const int j = j0 + lane * C;
    S source;
    R v[1][C];
    bool any = false;
    source.columns(args, j);
    source.values(args, rows, warp, warp + 1, v);
#pragma unroll
    for (int c = 0; c < C; c++) any |= v[0][c] <= heap.bound;
    if (!__any_sync(~0u, any)) continue;
    if (heap.held + 32 * C > o.room) tri_settle(heap, o.k, o.room, infinity);
#pragma unroll
    for (int c = 0; c < C; c++) {
      const bool hit =
          j + c < args.n && j + c != i && tri_before(v[0][c], j + c, heap.bound, heap.bound_j);
      tri_put(heap, hit, v[0][c], j + c);
    }
    __syncwarp();
  }
  tri_settle(heap, o.k, o.room, infinity);
  tri_put_row(o, heap, i);
}

TRI_ENTRY(topk, tri_nearest<R>)

template <class R>
tsl_err tri_topk_rows(const tri_gpu *w, const tri_args<R> *args, int64_t a, int64_t b,
                      const tri_nearest<R> *target) {
  const int each = target->room * (int)(sizeof(R) + sizeof(int)), most = 45056 / each;
  const int warps = most < 1 ? 1 : most > TRI_TOPK_WARPS ? TRI_TOPK_WARPS : most;
  return tri_warp_rows<tri_topk_entry>(w, args, a, b, warps, warps * each, *target);
}
