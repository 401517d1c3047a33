/**
 * @file tri_narrow.cuh
 * Condensed and square output of few values: what the default map does while the time of one value
 * counts more than the rate of many. Included once for each type.
 *
 * A warp owns 32 C neighbouring columns of one row, a thread C of them, placed so that it stores
 * 16 aligned bytes. No shared memory, no map: blocks beyond the triangle end at once.
 */
#pragma once

#include "tri_store.cuh"

enum {
  TRI_NARROW_CELLS = 1 << 23, /**< rows times columns up to which it is used */
  TRI_NARROW_D = 8            /**< dimensions up to which it is used */
};

/** Rows [a, b) of the output, columns from `left` on. */
typedef struct tri_box {
  int a, b, left;
} tri_box;

template <class S>
static __global__ void __launch_bounds__(TRI_THREADS)
    tri_narrow_kernel(tri_args<typename S::real> args, tri_layout o, tri_box box,
                      typename S::real *out) {
  using R = typename S::real;
  constexpr int C = S::C, WARPS = TRI_THREADS / 32;
  const int lane = threadIdx.x % 32, i = box.a + (int)(blockIdx.y * WARPS + threadIdx.x / 32);
  if (i >= box.b) return;
  R *const row = out + tri_layout_base(o, i);
  const int shift = (int)((size_t)(row + box.left) / sizeof(R)) & (C - 1);
  const int j = box.left + ((int)blockIdx.x * 32 + lane) * C - shift;
  if (j + C <= tri_layout_begin(o, i) || j >= tri_layout_end(o, i)) return;
  tri_rows<R, 1> rows;
  S source;
  R v[1][C];
  tri_rows_put<S>(args, rows, 0, i);
  source.columns(args, j);
  source.values(args, rows, 0, 1, v);
  tri_put_edge<S>(o, args, row, i, j, S::radius ? rows.extra[0] : (R)0, v[0]);
}

TRI_ENTRY(narrow, tri_layout, tri_box, R *)
