/**
 * @file tri_filter.cuh
 * The k nearest in many dimensions, by filter and refinement (Seidl and Kriegel, Optimal multi-step
 * k-nearest neighbor search, SIGMOD 1998): a product of matrices in single precision bounds squared
 * distances, and only pairs that may be among the nearest are computed by the formula. The result
 * is that of all pairs to the last bit.
 *
 * With points y less their mean and lengths r, |y_j|^2 - 2 y_i y_j is the squared distance less
 * |y_i|^2 up to e_ij = share (r_i + r_j)^2 + least: inner products of d terms, the rounding of y
 * and r, that of the formula and of its root, each a few units of 2^-24 and d of them at most.
 */
#pragma once

#include "tri_topk.cuh"

#include <float.h>

/** Of one strip. */
struct tri_filter {
  const float *strip; /**< -2 y_i y_j of rows [row, ..) */
  int64_t ld;         /**< of a row, a multiple of 4 */
  int row;
  const float *lengths; /**< r, [n_pad] */
  float share, least;
  int room;     /**< of a warp's candidates, a power of two */
  int *crowded; /**< counts rows with more candidates than that */
};

static __device__ __forceinline__ float tri_filter_error(const tri_filter &f, float ri, float rj) {
  return fmaf(f.share * (ri + rj), ri + rj, f.least);
}

/** Lower bounds of a thread's four columns from j on; infinite beyond the end and for the row. */
static __device__ __forceinline__ void tri_filter_bounds(const tri_filter &f, const float *strip,
                                                         int n, int i, float ri, int j,
                                                         float (&low)[4]) {
  float s[4] = {}, r[4] = {};
  if (j < n) {
    const float4 packed = __ldcs((const float4 *)(strip + j));
    s[0] = packed.x, s[1] = packed.y, s[2] = packed.z, s[3] = packed.w;
    tri_get_all(f.lengths + j, r);
  }
#pragma unroll
  for (int c = 0; c < 4; c++)
    low[c] = j + c < n && j + c != i ? fmaf(r[c], r[c], s[c]) - tri_filter_error(f, ri, r[c])
                                     : HUGE_VALF;
}

/** Drop what cannot be among the k nearest: beyond the largest upper bound of the k first. */
static __device__ void tri_filter_settle(const tri_filter &f, tri_heap<float> &heap, int k,
                                         float ri) {
  const int lane = threadIdx.x % 32;
  float most = 0;
  int kept = 0;
  tri_sort(heap, k, f.room, HUGE_VALF);
  if (heap.held < k) return;
  for (int t = lane; t < k; t += 32)
    most = fmaxf(most, tri_filter_error(f, ri, __ldg(f.lengths + heap.j[t])));
  for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, step));
  heap.bound = __fadd_ru(heap.value[k - 1], __fmul_ru(2, most));
  for (int t = lane; t - lane < heap.held; t += 32)
    kept += __popc(__ballot_sync(~0u, t < heap.held && heap.value[t] <= heap.bound));
  heap.held = kept;
  __syncwarp();
}

/** The candidates of row i. @return false  there are too many */
static __device__ bool tri_filter_row(const tri_filter &f, tri_heap<float> &heap, int n, int i,
                                      int k) {
  constexpr int AHEAD = 4; /* loads under way */
  const int lane = threadIdx.x % 32;
  const float ri = __ldg(f.lengths + i), *const strip = f.strip + (int64_t)(i - f.row) * f.ld;
  heap.held = 0;
  heap.bound = FLT_MAX;
  for (int j0 = 4 * lane; j0 - 4 * lane < n; j0 += 128 * AHEAD) {
    float low[AHEAD][4], least = HUGE_VALF;
#pragma unroll
    for (int u = 0; u < AHEAD; u++) tri_filter_bounds(f, strip, n, i, ri, j0 + 128 * u, low[u]);
#pragma unroll
    for (int u = 0; u < AHEAD; u++)
#pragma unroll
      for (int c = 0; c < 4; c++) least = fminf(least, low[u][c]);
    if (!__any_sync(~0u, least <= heap.bound)) continue;
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
      if (heap.held + 128 > f.room) tri_filter_settle(f, heap, k, ri);
      if (heap.held + 128 > f.room) return false;
#pragma unroll
      for (int c = 0; c < 4; c++)
        tri_put(heap, low[u][c] <= heap.bound, low[u][c], j0 + 128 * u + c);
    }
    __syncwarp();
  }
  tri_filter_settle(f, heap, k, ri);
  return true;
}

/** Values of the candidates by the formula, the k nearest of them to the row's place. */
template <int F, class R>
static __device__ void tri_filter_refine(const tri_args<R> &args, const tri_nearest<R> &o, int room,
                                         int i, tri_heap<R> &heap) {
  const int lane = threadIdx.x % 32;
  for (int t = lane; t < heap.held; t += 32) {
    const R v = tri_value<F, R>(args, i, heap.j[t]);
    heap.value[t] = v <= o.cut ? v : (R)HUGE_VAL;
    if (!(v <= o.cut)) heap.j[t] = INT32_MAX;
  }
  __syncwarp();
  tri_settle(heap, o.k, room, (R)HUGE_VAL);
  tri_put_row(o, heap, i);
}

template <int F, class R>
static __global__ void __launch_bounds__(TRI_TOPK_WARPS * 32)
    tri_filter_kernel(tri_args<R> args, tri_nearest<R> o, tri_filter f) {
  extern __shared__ double shared_[];
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const int i = o.a + (int)blockIdx.x * warps + warp;
  tri_heap<R> heap;
  tri_heap<float> bounds;
  if (i >= o.b) return;
  heap.value = (R *)shared_ + warp * f.room; /* bounds are gone before values come */
  heap.j = (int *)((R *)shared_ + warps * f.room) + warp * f.room;
  bounds.value = (float *)heap.value;
  bounds.j = heap.j;
  if (tri_filter_row(f, bounds, args.n, i, o.k)) {
    heap.held = bounds.held;
    tri_filter_refine<F, R>(args, o, f.room, i, heap);
  } else if (threadIdx.x % 32 == 0) {
    atomicAdd(f.crowded, 1);
  }
}
