/**
 * @file tri_near.cuh
 * Near pairs on a card (src/fam/tri/tri_near.h): a warp takes a row down the tree, a lane for each
 * of a node's boxes, then a lane for each point of a tile. Included once for each type.
 */
#pragma once

#include "tri_fold.cuh"
#include "tri_histogram.cuh"
#include "tri_threshold.cuh"
#include "tri_topk.cuh"

static_assert((int)TRI_TILE == 32 && (int)TRI_FAN == 32, "a lane for each");

enum { TRI_ROWS_AT_ONCE = 4 /**< that a warp takes from the counter */ };

/** A row, with its coordinates in registers where their number is known. */
template <class S> struct tri_seeker {
  using R = typename S::real;
  static constexpr int F = S::function, D = S::D;
  typedef tri_row_of<F> row;
  R x[D > 0 ? D : 1], extra;
  int place;

  __device__ __forceinline__ void take(const tri_args<R> &args, int at) {
    place = at;
    extra = row::radius ? __ldg(args.extra + at) : (R)0;
#pragma unroll
    for (int k = 0; k < D; k++) x[k] = __ldg(args.x + k * args.n_pad + at);
  }

  __device__ __forceinline__ R coordinate(const tri_args<R> &args, int k) const {
    if constexpr (D > 0)
      return x[k];
    else
      return __ldg(args.x + k * args.n_pad + place);
  }

  __device__ __forceinline__ R value(const tri_args<R> &args, int j) const {
    const int d = D > 0 ? D : args.d;
    R acc = tri_zero<F, R>();
#pragma unroll
    for (int k = 0; k < d; k++)
      acc = tri_fn<F, R>::step(acc, coordinate(args, k), __ldg(args.x + k * args.n_pad + j),
                               tri_period(args, k));
    return tri_fn<F, R>::finish(acc, extra, row::radius ? __ldg(args.extra + j) : (R)0, args.scale);
  }

  /** Of box b: not above any value in it. */
  __device__ __forceinline__ R bound(const tri_args<R> &args, const tri_boxes<R> &boxes,
                                     int64_t b) const {
    const int d = D > 0 ? D : args.d;
    R acc = (R)0;
#pragma unroll
    for (int k = 0; k < d; k++) {
      const R a = coordinate(args, k);
      const R lo = __ldg(boxes.lo + k * boxes.ld + b), hi = __ldg(boxes.hi + k * boxes.ld + b);
      const R gap =
          row::wrapped ? tri_gap_wrapped(a, lo, hi, tri_period(args, k)) : tri_gap(a, lo, hi);
      acc = tri_fn<F, R>::step(acc, gap, (R)0, (R)HUGE_VAL);
    }
    acc = tri_fn<F, R>::finish(acc, extra, row::radius ? __ldg(boxes.extra + b) : (R)0, args.scale);
    return row::sphere ? tri_bound_of_sphere(acc) : acc;
  }
};

/**
 * Take a row down the tree, leaving out nodes that end before the tile `own`. Calls visit.cut(),
 * visit.wants(node of the boxes' arrays), and visit.tiles(first, mask, bound): the tiles first +
 * bit of the mask; bound: of this lane's.
 * All lanes of the warp together.
 */
template <class S, class V>
static __device__ __forceinline__ void tri_go_down(const tri_args<typename S::real> &args,
                                                   const tri_boxes<typename S::real> &boxes,
                                                   const tri_seeker<S> &row, int own, V &visit) {
  using R = typename S::real;
  const int lane = threadIdx.x % 32, levels = boxes.levels;
  unsigned left = 0; /* lane l: nodes of level l that are still to come, from its `from` on */
  int from = 0, first = 0, level = levels - 1;
  for (;;) {
    const int m = first + lane;
    R bound = (R)HUGE_VAL;
    bool near = m < boxes.nodes[level] && m >= own >> 5 * level;
    if (near) {
      bound = row.bound(args, boxes, boxes.first[level] + m);
      near = bound <= visit.cut() && visit.wants(boxes.first[level] + m);
    }
    unsigned mask = __ballot_sync(~0u, near);
    if (level == 0)
      visit.tiles(first, mask, bound);
    else if (lane == level)
      left = mask, from = first;
    if (level == 0) level = 1;
    for (mask = 0; level < levels; level++)
      if ((mask = __shfl_sync(~0u, left, level)) != 0) break;
    if (mask == 0) return;
    first = (__shfl_sync(~0u, from, level) + __ffs((int)mask) - 1) * TRI_FAN;
    if (lane == level) left &= left - 1;
    level--;
  }
}

/** A tile near the row, by the nearest box of each level; all lanes of the warp together. */
template <class S>
static __device__ int tri_nearest_tile(const tri_args<typename S::real> &args,
                                       const tri_boxes<typename S::real> &boxes,
                                       const tri_seeker<S> &row) {
  using R = typename S::real;
  int begin = 0;
  for (int level = boxes.levels - 1; level >= 0; level--) {
    int best = begin + (int)threadIdx.x % 32;
    R least = (R)HUGE_VAL;
    if (best < boxes.nodes[level]) least = row.bound(args, boxes, boxes.first[level] + best);
    for (int step = 16; step > 0; step /= 2) {
      const R bound = __shfl_xor_sync(~0u, least, step);
      const int m = __shfl_xor_sync(~0u, best, step);
      if (bound < least || (bound == least && m < best)) least = bound, best = m;
    }
    begin = level > 0 ? best * TRI_FAN : best;
  }
  return begin;
}

/** The rows of a launch, given out to warps in order. */
typedef struct tri_near_rows {
  const int *places; /**< [count]; NULL: first, first + 1, ... */
  int first, count;
  unsigned long long *next; /**< the next row to be given out */
} tri_near_rows;

/** Call f(place) for rows until none is left; all lanes together. */
template <class F>
static __device__ __forceinline__ void tri_near_each(const tri_near_rows &rows, F f) {
  const int lane = threadIdx.x % 32;
  for (;;) {
    unsigned long long at = 0;
    if (lane == 0) at = atomicAdd(rows.next, (unsigned long long)TRI_ROWS_AT_ONCE);
    at = __shfl_sync(~0u, at, 0);
    if (at >= (unsigned long long)rows.count) return;
    for (int r = 0; r < TRI_ROWS_AT_ONCE && at + r < (unsigned long long)rows.count; r++)
      f(rows.places == NULL ? rows.first + (int)at + r : __ldg(rows.places + at + r));
  }
}

/* -------------------------------------------------------------- histogram */

/** Tiles after which a warp empties its copy: 8 warps x 2^23 x 32 pairs < 2^32. */
enum { TRI_NEAR_FLUSH = 1 << 23 };

/** Move a copy's counts to the 64-bit ones, while others may count; all lanes together. */
template <class R> static __device__ void tri_near_empty(const tri_bins<R> &bins, unsigned *mine) {
  for (int b = threadIdx.x % 32; b < bins.n && bins.copies > 0; b += 32) {
    const unsigned count = atomicExch(mine + b, 0u);
    if (count != 0) atomicAdd(bins.counts + b, (unsigned long long)count);
  }
}

template <class S> struct tri_near_counter {
  using R = typename S::real;
  const tri_args<R> &args;
  const tri_bins<R> &bins;
  const tri_seeker<S> &row;
  unsigned *mine;
  unsigned &since;

  __device__ __forceinline__ R cut() const {
    return bins.hi;
  }
  __device__ __forceinline__ bool wants(int64_t) const {
    return true;
  }
  __device__ __forceinline__ void count(R value, int j) const {
    const int bin = tri_bin(value, bins);
    if (bin < 0 || j <= (row.place | args.apart) || j >= args.n) return;
    if (bins.copies > 0)
      atomicAdd(mine + bin, 1u);
    else
      atomicAdd(bins.counts + bin, 1ull);
  }
  __device__ __forceinline__ void tiles(int first, unsigned mask, R) {
    const int lane = threadIdx.x % 32;
    since += (unsigned)__popc(mask);
    while (mask != 0) { /* two tiles at a time, so that one does not wait for the other */
      const int a = (first + __ffs((int)mask) - 1) * TRI_TILE + lane;
      mask &= mask - 1;
      const int b = mask != 0 ? (first + __ffs((int)mask) - 1) * TRI_TILE + lane : a;
      mask &= mask - 1;
      const R v = row.value(args, a), u = row.value(args, b);
      count(v, a);
      if (b != a) count(u, b);
    }
    if (since < TRI_NEAR_FLUSH) return;
    tri_near_empty(bins, mine);
    since = 0;
  }
};

template <class S>
static __global__ void __launch_bounds__(TRI_THREADS)
    tri_near_histogram_kernel(tri_args<typename S::real> args, tri_boxes<typename S::real> boxes,
                              tri_near_rows rows, tri_bins<typename S::real> bins) {
  extern __shared__ unsigned shared[];
  unsigned *const mine =
      shared + (bins.copies > 0 ? (int)threadIdx.x / 32 % bins.copies * bins.n : 0);
  unsigned since = 0;
  for (int b = threadIdx.x; b < bins.copies * bins.n; b += TRI_THREADS) shared[b] = 0;
  __syncthreads();
  tri_near_each(rows, [&](int place) {
    tri_seeker<S> row;
    row.take(args, place);
    tri_near_counter<S> visit = {args, bins, row, mine, since};
    tri_go_down(args, boxes, row, place / TRI_TILE & ~args.apart, visit);
  });
  tri_flush(bins, shared);
}

/* -------------------------------------------------------------- threshold */

template <class S> struct tri_near_collector {
  using R = typename S::real;
  const tri_args<R> &args;
  const tri_boxes<R> &boxes;
  const tri_records<R> &records;
  const tri_seeker<S> &row;
  int i;

  __device__ __forceinline__ R cut() const {
    return records.threshold;
  }
  __device__ __forceinline__ bool wants(int64_t) const {
    return true;
  }
  __device__ __forceinline__ void tiles(int first, unsigned mask, R) const {
    const int own = i | args.apart;
    for (; mask != 0; mask &= mask - 1) {
      const int at = (first + __ffs((int)mask) - 1) * TRI_TILE + (int)threadIdx.x % 32;
      const R v = row.value(args, at);
      const int j = v <= records.threshold && at < args.n ? __ldg(boxes.order + at) : -1;
      tri_append(records, records.full ? j >= 0 && j != own : j > own,
                 (unsigned long long)i * (unsigned)args.n + (unsigned)j, v);
    }
  }
};

template <class S>
static __global__ void __launch_bounds__(TRI_THREADS)
    tri_near_threshold_kernel(tri_args<typename S::real> args, tri_boxes<typename S::real> boxes,
                              tri_near_rows rows, tri_records<typename S::real> records) {
  tri_near_each(rows, [&](int place) {
    tri_seeker<S> row;
    row.take(args, place);
    tri_near_collector<S> visit = {args, boxes, records, row, __ldg(boxes.order + place)};
    tri_go_down(args, boxes, row, 0, visit);
  });
}

/* ------------------------------------------------------------------- topk */

template <class S> struct tri_near_chooser {
  using R = typename S::real;
  const tri_args<R> &args;
  const tri_boxes<R> &boxes;
  const tri_nearest<R> &o;
  const tri_seeker<S> &row;
  tri_heap<R> &heap;
  int i, seeded, seeds_end; /**< these tiles have been looked at */

  __device__ __forceinline__ R cut() const {
    return heap.bound;
  }
  __device__ __forceinline__ bool wants(int64_t) const {
    return true;
  }
  __device__ __forceinline__ void tile(int tile) const {
    const int at = tile * TRI_TILE + (int)threadIdx.x % 32;
    const R v = row.value(args, at);
    const int j = v <= heap.bound && at < args.n ? __ldg(boxes.order + at) : -1;
    const bool hit = j >= 0 && j != (i | args.apart) && tri_before(v, j, heap.bound, heap.bound_j);
    if (heap.held + __popc(__ballot_sync(~0u, hit)) > o.room)
      tri_settle(heap, o.k, o.room, (R)HUGE_VAL);
    tri_put(heap, hit, v, j);
    __syncwarp();
  }
  __device__ __forceinline__ void tiles(int first, unsigned mask, R bound) const {
    for (; mask != 0; mask &= mask - 1) {
      const int bit = __ffs((int)mask) - 1, m = first + bit;
      const R of_tile = __shfl_sync(~0u, bound, bit);
      if (of_tile <= heap.bound && (m < seeded || m >= seeds_end)) tile(m);
    }
  }
};

template <class S>
static __global__ void __launch_bounds__(TRI_TOPK_WARPS * 32)
    tri_near_topk_kernel(tri_args<typename S::real> args, tri_boxes<typename S::real> boxes,
                         tri_near_rows rows, tri_nearest<typename S::real> o, int seeds,
                         bool places) {
  using R = typename S::real;
  extern __shared__ double shared_[];
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
  tri_heap<R> heap;
  heap.value = (R *)shared_ + warp * o.room;
  heap.j = (int *)((R *)shared_ + warps * o.room) + warp * o.room;
  tri_near_each(rows, [&](int place) {
    tri_seeker<S> row;
    const int i = __ldg(boxes.order + place);
    row.take(args, place);
    const int own = args.apart == 0 ? place / TRI_TILE : tri_nearest_tile(args, boxes, row);
    const int begin = (int)tri_near_seed(boxes.nodes[0], seeds, own);
    const int end = begin + seeds < boxes.nodes[0] ? begin + seeds : boxes.nodes[0];
    heap.held = 0;
    heap.bound = o.cut;
    heap.bound_j = INT32_MAX;
    tri_near_chooser<S> visit = {args, boxes, o, row, heap, i, begin, end};
    for (int t = begin; t < end; t++) visit.tile(t);
    tri_settle(heap, o.k, o.room, (R)HUGE_VAL);
    tri_go_down(args, boxes, row, 0, visit);
    tri_settle(heap, o.k, o.room, (R)HUGE_VAL);
    tri_put_row(o, heap, places ? place : i);
    __syncwarp();
  });
}

/* ------------------------------------------------------------------- fold */

template <class S> struct tri_near_folder {
  using R = typename S::real;
  const tri_args<R> &args;
  const tri_boxes<R> &boxes;
  const tri_fold<R> &o;
  const tri_seeker<S> &row;
  tri_seen<R> &seen;
  int i;

  __device__ __forceinline__ R cut() const {
    return seen.cut;
  }
  __device__ __forceinline__ bool wants(int64_t node) const {
    return o.uniform == NULL || !tri_graph_skips(seen.own, __ldg(o.uniform + node));
  }
  __device__ __forceinline__ void tiles(int first, unsigned mask, R bound) const {
    for (; mask != 0; mask &= mask - 1) {
      const int bit = __ffs((int)mask) - 1, at = (first + bit) * TRI_TILE + (int)threadIdx.x % 32;
      if (__shfl_sync(~0u, bound, bit) > seen.cut) continue;
      const R v = row.value(args, at);
      if (v <= seen.cut && at < args.n)
        tri_fold_take(o, seen, v, __ldg(boxes.order + at), at, i | args.apart);
      tri_fold_cut(o, seen);
    }
  }
};

template <class S>
static __global__ void __launch_bounds__(TRI_THREADS)
    tri_near_fold_kernel(tri_args<typename S::real> args, tri_boxes<typename S::real> boxes,
                         tri_near_rows rows, tri_fold<typename S::real> o, bool places) {
  using R = typename S::real;
  tri_near_each(rows, [&](int place) {
    const int i = __ldg(boxes.order + place), out = places ? place : i;
    tri_seeker<S> row;
    tri_seen<R> seen = tri_fold_start(o, out);
    tri_near_folder<S> visit = {args, boxes, o, row, seen, i};
    row.take(args, place);
    if (tri_fold_wanted(o, out)) {
      if (o.kind == TRI_FOLD_NEAREST) visit.tiles(place / TRI_TILE, 1u, -(R)HUGE_VAL); /* a cut */
      tri_go_down(args, boxes, row, 0, visit);
    }
    tri_fold_put(o, seen, out);
  });
}

/* --------------------------------------------------------------- launches */

TRI_ENTRY(near_histogram, tri_boxes<R>, tri_near_rows, tri_bins<R>)
TRI_ENTRY(near_threshold, tri_boxes<R>, tri_near_rows, tri_records<R>)
TRI_ENTRY(near_topk, tri_boxes<R>, tri_near_rows, tri_nearest<R>, int, bool)
TRI_ENTRY(near_fold, tri_boxes<R>, tri_near_rows, tri_fold<R>, bool)

/** Launch a kernel of near rows: as many blocks as the card holds at once, or as there are rows
 *  for. */
template <template <class> class E, class R, class... O>
static tsl_err tri_near_launch(const tri_gpu *w, const tri_boxes<R> *boxes,
                               const tri_near_rows *rows, int threads, int shared, const O &...o) {
  tsl_err err = TSL_OK;
  const tri_args<R> args = tri_args_of<R>(w);
  const auto kernel = tri_pick<E, R, 1, TRI_D3 | TRI_DN>(w->p.function, w->p.d);
  unsigned blocks = 0;
  TSL_TRY(tri_resident_blocks(w, kernel, threads, shared,
                              tsl_ceil_div(rows->count, TRI_ROWS_AT_ONCE * (threads / 32)),
                              &blocks));
  TSL_LAUNCH(kernel, dim3(blocks, 1), (unsigned)threads, (size_t)shared, w->stream, args, *boxes,
             *rows, o...);
done:
  return err;
}

template <class R>
tsl_err tri_near_histogram(const tri_gpu *w, const tri_boxes<R> *boxes, const tri_near_rows *rows) {
  const tri_bins<R> bins = tri_bins_of<R>(w);
  return tri_near_launch<tri_near_histogram_entry>(
      w, boxes, rows, TRI_THREADS, bins.copies * bins.n * (int)sizeof(unsigned), bins);
}

template <class R>
tsl_err tri_near_threshold(const tri_gpu *w, const tri_boxes<R> *boxes, const tri_near_rows *rows,
                           const tri_records<R> *records) {
  return tri_near_launch<tri_near_threshold_entry>(w, boxes, rows, TRI_THREADS, 0, *records);
}

template <class R>
tsl_err tri_near_topk(const tri_gpu *w, const tri_boxes<R> *boxes, const tri_near_rows *rows,
                      const tri_nearest<R> *target) {
  tri_nearest<R> o = *target;
  int each = 0, warps = 0;
  for (o.room = 64; o.room < o.k + 32; o.room *= 2) {
  }
  each = o.room * (int)(sizeof(R) + sizeof(int));
  warps = 45056 / each;
  warps = warps < 1 ? 1 : warps > TRI_TOPK_WARPS ? TRI_TOPK_WARPS : warps;
  return tri_near_launch<tri_near_topk_entry>(w, boxes, rows, 32 * warps, warps * each, o,
                                              (int)tri_near_seeds(&w->p),
                                              tri_rows_are_places(&w->p));
}

template <class R>
tsl_err tri_near_fold(const tri_gpu *w, const tri_boxes<R> *boxes, const tri_near_rows *rows,
                      const tri_fold<R> *target) {
  return tri_near_launch<tri_near_fold_entry>(w, boxes, rows, TRI_THREADS, 0, *target,
                                              tri_rows_are_places(&w->p));
}
