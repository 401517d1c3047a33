/**
 * @file dp_engine.cuh
 * Any recurrence of cells above, to the left and above-left, by strips of warps.
 *
 * Compiled with the engines and, as text, at run time (NVRTC: dp_ptx.cuh and this file are headers
 * in memory, dp_engine_text.h). No header is included but dp_ptx.cuh.
 *
 * A CELL says what is computed:
 *
 *   struct CELL {
 *     typedef ... T;                    type of values: int, short, long long, float, double; or
 *                                       a struct made from 0, with dp_engine_shift, _read and
 *                                       _best of its own, that converts to _best's value
 *     typedef ... DATA;                 plain data of a launch: pointers and numbers
 *     static const bool BEST = ...;     the goal is over all cells
 *     static const bool WAYS = ...;     way() says where a value comes from, 0..3
 *     __device__ CELL(const DATA &);    once in each thread
 *     __device__ T operator()(T up, T left, T diagonal, long long p, long long q, int &bad) const;
 *     __device__ bool ahead(T v, T best) const;                          BEST: v is better
 *     __device__ bool before(long long p, long long q, long long p2, long long q2) const;
 *                                                                        BEST: ties
 *     __device__ int way(T up, T left, T diagonal, T v, long long p, long long q) const;  WAYS
 *   };
 *
 * p and q are rows and columns of the table, as in args.p0 and q0. bad is or'ed together; a launch
 * with a bad cell has no result. A warp owns a strip of 32 NC columns, lane l one row behind lane
 * l - 1; the last column goes from strip to strip as in dp_affine.cuh.
 *
 * At run time:  extern "C" __global__ void wave(dp_engine_args<CELL> a) { dp_engine_run<CELL,
 * 8>(a); } with blocks of 32, 64 or 128 threads and no dynamic shared memory.
 */
#pragma once

#include "dp_ptx.cuh"

enum { DP_ENGINE_CHUNK = 32, DP_ENGINE_WARPS = 4 };

/** The best cell of a strip; p < 0: none yet. */
template <class T> struct dp_engine_best {
  T value;
  long long p, q;
};

/** A launch: rows p0 .. p0 + rows - 1, columns q0 .. q0 + columns - 1. All device memory. */
template <class CELL> struct dp_engine_args {
  typedef typename CELL::T T;
  typename CELL::DATA data;
  const T *above;     /**< [columns] row p0 - 1 */
  T *below;           /**< [columns] last row; not above */
  T *edge;            /**< [rows + 1] in: column q0 - 1 from row p0 - 1 on; out: from entry 1 on the
                           last column */
  T *table;           /**< NULL, or where cell (p0, q0) goes */
  long long stride;   /**< of table's rows */
  unsigned *ways;     /**< NULL, or [strips][steps][32]: 2 bits for each column of a lane */
  unsigned *ticket;   /**< zero */
  unsigned *finished; /**< [strips] zero */
  dp_engine_best<T> *best; /**< BEST: [strips], continued */
  int *bad;                /**< or'ed to */
  long long p0, q0;
  int rows, columns, strips;
};

/** Steps of a strip, whole chunks. */
static __host__ __device__ __forceinline__ long long dp_engine_steps(long long rows) {
  return ((rows + DP_ENGINE_CHUNK - 1) / DP_ENGINE_CHUNK + 1) * DP_ENGINE_CHUNK;
}

/** A lane at work. */
template <class CELL, int NC> struct dp_engine_lane {
  typedef typename CELL::T T;
  T v[NC];        /**< row above */
  T corner, last; /**< above-left of the first column; last column of the row just done */
  dp_engine_best<T> best;
  unsigned ways;
  typedef decltype(dp_engine_best<T>::value) GOAL;

  __device__ __forceinline__ void consider(const CELL &cell, GOAL value, long long p, long long q) {
    if (best.p < 0 || cell.ahead(value, best.value) ||
        (value == best.value && cell.before(p, q, best.p, best.q))) {
      best.value = value;
      best.p = p;
      best.q = q;
    }
  }

  /** One row; COUNT columns of it exist. */
  template <bool WHOLE>
  __device__ __forceinline__ void row(const CELL &cell, T left, long long p, long long q, int count,
                                      int &bad) {
    T diagonal = corner;
    corner = left;
    ways = 0;
#pragma unroll
    for (int k = 0; k < NC; k++)
      if (WHOLE || k < count) {
        const T up = v[k], value = cell(up, left, diagonal, p, q + k, bad);
        if constexpr (CELL::WAYS)
          ways |= (unsigned)cell.way(up, left, diagonal, value, p, q + k) << (2 * k);
        if constexpr (CELL::BEST) consider(cell, value, p, q + k);
        diagonal = up;
        left = value;
        v[k] = value;
      }
    last = left;
  }
};

/** A value of the lane before. */
template <class T> static __device__ __forceinline__ T dp_engine_shift(T v) {
  return __shfl_up_sync(DP_ALL_LANES, v, 1);
}
template <> __device__ __forceinline__ short dp_engine_shift<short>(short v) {
  return (short)__shfl_up_sync(DP_ALL_LANES, (int)v, 1);
}

/** Reads of what other multiprocessors have written, past the first cache. */
template <class T> static __device__ __forceinline__ T dp_engine_read(const T *place) {
  return __ldcg(place);
}

template <class CELL, int NC> struct dp_engine_strip {
  typedef typename CELL::T T;
  const dp_engine_args<CELL> &a;
  T *in, *out; /**< [32] shared */
  int strip, lane, first, exit, count;
  unsigned known;

  __device__ __forceinline__ void take(int chunk) {
    const int row = chunk * DP_ENGINE_CHUNK + lane;
    if (strip > 0 && known < (unsigned)chunk + 1) {
      unsigned seen = 0;
      if (lane == 0) do
          seen = dp_load_acquire(&a.finished[strip - 1]);
        while (seen < (unsigned)chunk + 1);
      known = __shfl_sync(DP_ALL_LANES, seen, 0);
    }
    __syncwarp(); /* lane 0 has read the chunk before */
    if (row < a.rows) in[lane] = dp_engine_read(&a.edge[row + 1]);
    __syncwarp();
  }

  /** The last strip writes its rows at once, when they are done. */
  __device__ __forceinline__ void give(int chunk) {
    const int row = chunk * DP_ENGINE_CHUNK + lane;
    __syncwarp();
    if (row < a.rows) a.edge[row + 1] = out[lane];
    dp_post_counter(&a.finished[strip], (unsigned)chunk + 1, lane);
  }

  __device__ __forceinline__ void keep(const dp_engine_lane<CELL, NC> &l, int row, int step) {
    if (a.table != 0)
      for (int k = 0; k < NC; k++)
        if (k < count) a.table[row * a.stride + first + k] = l.v[k];
    if constexpr (CELL::WAYS)
      if (a.ways != 0) a.ways[(strip * dp_engine_steps(a.rows) + step) * DP_WARP + lane] = l.ways;
  }

  __device__ __forceinline__ void load(dp_engine_lane<CELL, NC> &l) {
#pragma unroll
    for (int k = 0; k < NC; k++) l.v[k] = k < count ? a.above[first + k] : (T)0;
    l.corner = first == 0 ? a.edge[0] : count > 0 ? a.above[first - 1] : (T)0;
    l.last = 0;
    l.ways = 0;
    if constexpr (CELL::BEST) l.best = a.best[strip];
  }

  __device__ __forceinline__ void store(const dp_engine_lane<CELL, NC> &l) {
#pragma unroll
    for (int k = 0; k < NC; k++)
      if (k < count) a.below[first + k] = l.v[k];
  }

  /** The best of all lanes. */
  __device__ __forceinline__ void settle(const CELL &cell, dp_engine_lane<CELL, NC> &l) {
    for (int d = 16; d > 0; d /= 2) {
      const typename dp_engine_lane<CELL, NC>::GOAL value =
          __shfl_xor_sync(DP_ALL_LANES, l.best.value, d);
      const long long p = __shfl_xor_sync(DP_ALL_LANES, l.best.p, d);
      const long long q = __shfl_xor_sync(DP_ALL_LANES, l.best.q, d);
      if (p >= 0) l.consider(cell, value, p, q);
    }
    if (lane == 0) a.best[strip] = l.best;
  }

  template <bool WHOLE> __device__ __forceinline__ void run(const CELL &cell) {
    const int chunks = (int)(dp_engine_steps(a.rows) / DP_ENGINE_CHUNK);
    dp_engine_lane<CELL, NC> l;
    int bad = 0;
    load(l);
    for (int chunk = 0; chunk < chunks; chunk++) {
      if (chunk * DP_ENGINE_CHUNK < a.rows) take(chunk);
      for (int s = 0; s < DP_ENGINE_CHUNK; s++) {
        const int step = chunk * DP_ENGINE_CHUNK + s, row = step - lane;
        T left = dp_engine_shift(l.last);
        if (lane == 0) left = in[s];
        if (row >= 0 && row < a.rows && (WHOLE || count > 0)) {
          l.template row<WHOLE>(cell, left, a.p0 + row, a.q0 + first, count, bad);
          keep(l, row, step);
          if (WHOLE && lane == exit) out[row % DP_ENGINE_CHUNK] = l.last;
          if (!WHOLE && lane == exit) a.edge[row + 1] = l.last;
        }
        if (WHOLE && s == DP_ENGINE_CHUNK - 2 && chunk > 0) give(chunk - 1);
      }
    }
    store(l);
    if (bad != 0) atomicOr(a.bad, bad);
    if constexpr (CELL::BEST) settle(cell, l);
  }
};

/** What the warps of a launch do. */
template <class CELL, int NC>
static __device__ __forceinline__ void dp_engine_run(const dp_engine_args<CELL> &a) {
  typedef typename CELL::T T;
  __shared__ T edges[DP_ENGINE_WARPS][2][DP_ENGINE_CHUNK];
  const int lane = threadIdx.x % DP_WARP, warp = threadIdx.x / DP_WARP;
  const CELL cell(a.data);
  for (;;) {
    const int strip = (int)dp_next_ticket(a.ticket, lane);
    if (strip >= a.strips) return;
    const int before = strip * DP_WARP * NC, first = before + lane * NC;
    const int columns = a.columns - before, more = a.columns - first;
    const bool whole = columns >= DP_WARP * NC;
    dp_engine_strip<CELL, NC> s = {a,
                                   edges[warp][0],
                                   edges[warp][1],
                                   strip,
                                   lane,
                                   first,
                                   whole ? DP_WARP - 1 : (columns - 1) / NC,
                                   more < 0    ? 0
                                   : more > NC ? NC
                                               : more,
                                   0};
    if (whole)
      s.template run<true>(cell);
    else
      s.template run<false>(cell);
    __syncwarp();
  }
}
