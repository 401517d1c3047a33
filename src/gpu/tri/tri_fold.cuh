/**
 * @file tri_fold.cuh
 * A few numbers of each row: its degree, its farthest point, and what rows report in the phases of
 * tri_graph.h. Included once for each type.
 *
 * A warp owns a row. A lane keeps what it has seen, and lanes agree at the end, so that the result
 * depends on no order. Near pairs are in tri_near.cuh.
 */
#pragma once

#include "tri_graph.h"
#include "tri_tiles.cuh"

typedef enum tri_fold_kind {
  TRI_FOLD_DEGREE,
  TRI_FOLD_FARTHEST,
  TRI_FOLD_LINK,
  TRI_FOLD_NEAREST
} tri_fold_kind;

/** What is wanted of rows, and where it goes. */
template <class R> struct tri_fold {
  int kind; /**< tri_fold_kind */
  int a, b; /**< rows of a launch; out[0] is row `first`; places, but with near pairs */
  int first;
  R cut; /**< largest value that matters; FARTHEST: infinite */
  /* LINK and NEAREST, else NULL: */
  const int *component;        /**< [n] */
  const unsigned char *active; /**< [n] */
  const R *bound;              /**< [n] NEAREST: cut of each row */
  const int *uniform;          /**< [boxes.ld] near: components of nodes */
  long long *numbers;          /**< [rows] DEGREE, FARTHEST */
  int *links;                  /**< [rows][2] LINK, NEAREST */
  R *values;                   /**< [rows] or NULL */
};

/** What a lane has seen of a row. */
template <class R> struct tri_seen {
  R value, cut;
  int j;      /**< point of the value; INT32_MAX none */
  int lo, hi; /**< components */
  int own;    /**< of the row */
  int count;
};

template <class R>
static __device__ __forceinline__ tri_seen<R> tri_fold_start(const tri_fold<R> &o, int row) {
  tri_seen<R> s;
  s.value = o.kind == TRI_FOLD_FARTHEST ? -(R)HUGE_VAL : (R)HUGE_VAL;
  s.cut = o.kind == TRI_FOLD_NEAREST ? o.bound[row] : o.cut;
  s.j = INT32_MAX;
  s.own = o.component != NULL ? o.component[row] : (int)TRI_MIXED;
  s.lo = s.own >= 0 ? s.own : INT32_MAX;
  s.hi = s.own >= 0 ? s.own : -1;
  s.count = 0;
  return s;
}

template <class R>
static __device__ __forceinline__ bool tri_fold_wanted(const tri_fold<R> &o, int row) {
  return o.active == NULL || o.active[row] != 0;
}

/** A value within the cut, of point j at a place; self: the row's point. */
template <class R>
static __device__ __forceinline__ void tri_fold_take(const tri_fold<R> &o, tri_seen<R> &s, R v,
                                                     int j, int place, int self) {
  int c = 0;
  if (j == self) return;
  if (o.component != NULL) c = __ldg(o.component + place);
  switch (o.kind) {
  case TRI_FOLD_DEGREE:
    s.count++;
    break;
  case TRI_FOLD_FARTHEST:
    if (v > s.value || (v == s.value && j < s.j)) s.value = v, s.j = j;
    break;
  case TRI_FOLD_LINK:
    if (c >= 0) s.lo = min(s.lo, c), s.hi = max(s.hi, c);
    break;
  case TRI_FOLD_NEAREST:
    if (c != s.own && (v < s.value || (v == s.value && j < s.j))) s.value = v, s.j = j;
    break;
  }
}

/** NEAREST: what one lane has found cuts what the others look at; all lanes together. */
template <class R>
static __device__ __forceinline__ void tri_fold_cut(const tri_fold<R> &o, tri_seen<R> &s) {
  if (o.kind != TRI_FOLD_NEAREST || !__any_sync(~0u, s.value < s.cut)) return;
  R least = s.value;
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    const R other = __shfl_xor_sync(~0u, least, step);
    least = other < least ? other : least;
  }
  s.cut = least < s.cut ? least : s.cut;
}

/** Lanes agree and the row is written; all lanes together. */
template <class R>
static __device__ __forceinline__ void tri_fold_put(const tri_fold<R> &o, tri_seen<R> s, int row) {
  const int64_t at = row - o.first;
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    const R v = __shfl_xor_sync(~0u, s.value, step);
    const int j = __shfl_xor_sync(~0u, s.j, step);
    const bool before = o.kind == TRI_FOLD_FARTHEST ? v > s.value : v < s.value;
    if (before || (v == s.value && j < s.j)) s.value = v, s.j = j;
    s.lo = min(s.lo, __shfl_xor_sync(~0u, s.lo, step));
    s.hi = max(s.hi, __shfl_xor_sync(~0u, s.hi, step));
    s.count += __shfl_xor_sync(~0u, s.count, step);
  }
  if (threadIdx.x % 32 != 0) return;
  if (o.numbers != NULL) o.numbers[at] = o.kind == TRI_FOLD_DEGREE ? s.count : s.j;
  if (o.links != NULL) {
    const bool link = o.kind == TRI_FOLD_LINK;
    o.links[2 * at] = link ? s.lo : s.j == INT32_MAX ? -1 : s.j;
    o.links[2 * at + 1] = link ? s.hi : 0;
  }
  if (o.values != NULL) o.values[at] = o.kind == TRI_FOLD_LINK ? (R)0 : s.value;
}

enum { TRI_FOLD_WARPS = 8 };

template <class S>
static __global__ void __launch_bounds__(TRI_FOLD_WARPS * 32)
    tri_fold_kernel(tri_args<typename S::real> args, tri_fold<typename S::real> o) {
  using R = typename S::real;
  constexpr int C = S::C;
  __shared__ tri_rows<R, TRI_FOLD_WARPS> rows;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int i = o.a + (int)blockIdx.x * TRI_FOLD_WARPS + warp;
  if (i >= o.b) return;
  tri_seen<R> seen = tri_fold_start(o, i);
  if (lane == 0) tri_rows_put<S>(args, rows, warp, i);
  __syncwarp();
  for (int j0 = 0; j0 < args.n && tri_fold_wanted(o, i); j0 += 32 * C) {
    const int j = j0 + lane * C;
    S source;
    R v[1][C];
    source.columns(args, j);
    source.values(args, rows, warp, warp + 1, v);
#pragma unroll
    for (int c = 0; c < C; c++)
      if (v[0][c] <= seen.cut && j + c < args.n) tri_fold_take(o, seen, v[0][c], j + c, j + c, i);
  }
  tri_fold_put(o, seen, i);
}

TRI_ENTRY(fold, tri_fold<R>)

template <class R>
tsl_err tri_fold_rows(const tri_gpu *w, const tri_args<R> *args, int64_t a, int64_t b,
                      const tri_fold<R> *target) {
  return tri_warp_rows<tri_fold_entry>(w, args, a, b, TRI_FOLD_WARPS, 0, *target);
}
