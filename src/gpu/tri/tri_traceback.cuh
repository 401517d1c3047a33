/**
 * @file tri_traceback.cuh
 * Alignments of kept pairs on a card (fam/tri/tri_traceback.h): a warp fills a pair's table and
 * keeps the directions (tri_warp.cuh), and goes back: its lanes hold the words of 32 rows of eight
 * columns and their letters, so that most steps read no memory.
 */
#pragma once

#include "tri_warp.cuh"

/** A pair, by places. */
typedef struct tri_trace_pair {
  int row, column;
} tri_trace_pair;

/** An alignment. */
typedef struct tri_trace_span {
  long long span[TRI_SPAN]; /**< of the field "spans" */
  long long first;          /**< of its operations, from their beginning */
} tri_trace_span;

/** A launch. */
typedef struct tri_trace_list {
  const tri_trace_pair *pairs; /**< [n] */
  tri_trace_span *spans;       /**< [n] */
  int n;
  unsigned *counter; /**< of pairs that warps have taken */
  uint32_t *directions;
  int2 *edges;      /**< h and along behind a strip's last column, row by row */
  uint32_t *walked; /**< operations from the end */
  int64_t directions_ld, edges_ld, walked_ld; /**< of a warp's each */
  uint32_t *operations;
  unsigned long long *n_operations; /**< so far; there is room for all */
} tri_trace_list;

/* ---- the way back */

/** Operations from the end; all lanes have the same. */
struct tri_trace_walk {
  uint32_t *to;
  int count, letters;
  uint32_t operation;

  __device__ __forceinline__ void flush(int lane) {
    if (letters == 0) return;
    if (lane == 0) to[count] = (uint32_t)letters << 4 | operation;
    count++;
    letters = 0;
  }
  __device__ __forceinline__ void add(int lane, uint32_t what, int n) {
    if (n == 0) return;
    if (what != operation) flush(lane);
    operation = what;
    letters += n;
  }
};

/** A word of each of 32 rows, of which lane l has number top - l; rows and columns from 0. */
struct tri_trace_window {
  const tri_warp_pair &t;
  uint32_t word;
  int a, b;       /**< letters: of a lane's row; of column `begin` + lane */
  int top, begin; /**< row and column of the word of lane 0 */

  /** Of what is before cell (i, j). */
  __device__ __forceinline__ void look(int i, int j, int lane) {
    const int wide = 32 * t.shape.each, strip = j / wide, in = j % wide;
    const int owner = in / t.shape.each, part = in % t.shape.each / TRI_WARP_CELLS;
    const int row = i - lane;
    top = i;
    begin = strip * wide + owner * t.shape.each + part * TRI_WARP_CELLS;
    word = row < 0 ? 0 : tri_warp_words(t, strip, row + owner)[part * 32 + owner];
    a = row < 0 ? 0 : (int)__ldg(t.a + row);
    b = begin + lane < t.m ? (int)__ldg(t.b + begin + lane) : 0;
  }
  __device__ __forceinline__ bool has(int i, int j) const {
    return j >= begin && i > top - 32;
  }
  /** Its direction, and are its letters the same? All lanes. */
  __device__ __forceinline__ uint32_t at(int i, int j, bool *same) const {
    const uint32_t from = __shfl_sync(0xffffffffu, word, top - i);
    *same = __shfl_sync(0xffffffffu, a, top - i) == __shfl_sync(0xffffffffu, b, j - begin);
    return from >> TRI_DIRECTION_BITS * (j - begin) & ((1u << TRI_DIRECTION_BITS) - 1);
  }
};

/** From a cell, rows and columns from 1, to where the alignment begins. W: directions */
template <class W>
static __device__ __forceinline__ void tri_trace_back(W &w, bool local, int lane, int *i, int *j,
                                                      tri_trace_walk *walk) {
  uint32_t state = TRI_DIRECTION_PAIR;
  bool ended = false;
  while (*i > 0 && *j > 0 && !ended) {
    w.look(*i - 1, *j - 1, lane);
    while (*i > 0 && *j > 0 && w.has(*i - 1, *j - 1)) {
      bool same;
      const uint32_t direction = w.at(*i - 1, *j - 1, &same), how = direction & TRI_DIRECTION_MASK;
      ended = state == TRI_DIRECTION_PAIR && how == TRI_DIRECTION_END;
      if (ended) break;
      if (state == TRI_DIRECTION_PAIR) state = how;
      const uint32_t opened =
          state == TRI_DIRECTION_LEFT ? TRI_DIRECTION_LEFT_OPENED : TRI_DIRECTION_UP_OPENED;
      walk->add(lane,
                state == TRI_DIRECTION_LEFT ? TRI_BAM_D
                : state == TRI_DIRECTION_UP ? TRI_BAM_I
                : same                      ? TRI_BAM_SAME
                                            : TRI_BAM_OTHER,
                1);
      *i -= state != TRI_DIRECTION_LEFT;
      *j -= state != TRI_DIRECTION_UP;
      if (state != TRI_DIRECTION_PAIR && (direction & opened) != 0) state = TRI_DIRECTION_PAIR;
    }
  }
  if (local) return;
  walk->add(lane, TRI_BAM_I, *i);
  walk->add(lane, TRI_BAM_D, *j);
  *i = *j = 0;
}

/** Operations in their order, after those of other pairs. */
static __device__ __forceinline__ void tri_trace_hand_over(const tri_trace_list &list,
                                                           const tri_trace_walk &walk, int lane,
                                                           tri_trace_span *span) {
  unsigned long long first = 0;
  if (lane == 0) first = atomicAdd(list.n_operations, (unsigned long long)walk.count);
  first = __shfl_sync(0xffffffffu, first, 0);
  __syncwarp();
  for (int k = lane; k < walk.count; k += 32)
    list.operations[first + (unsigned)k] = walk.to[walk.count - 1 - k];
  if (lane == 0) span->first = (long long)first, span->span[4] = walk.count;
  __syncwarp();
}

/** The alignment that ends in a cell. */
template <class W>
static __device__ __forceinline__ void tri_trace_from(const tri_trace_list &list, W &window,
                                                      bool local, int lane, int i, int j,
                                                      tri_trace_walk *walk, tri_trace_span *span) {
  const int end[2] = {i, j};
  tri_trace_back(window, local, lane, &i, &j, walk);
  walk->flush(lane);
  if (lane == 0)
    span->span[0] = i, span->span[1] = end[0], span->span[2] = j, span->span[3] = end[1];
  tri_trace_hand_over(list, *walk, lane, span);
}

template <tri_function OF>
static __device__ __forceinline__ void tri_trace_one(const tri_trace_list &list,
                                                     const tri_warp_pair &t, uint32_t *walked,
                                                     int lane, tri_trace_span *span) {
  tri_warp_best best;
  tri_trace_walk walk = {walked, 0, 0, 0};
  tri_trace_window window = {t, 0, 0, 0, 0, 0};
  (void)tri_warp_table_run<OF, true>(t, lane, &best);
  constexpr bool LOCAL = OF == TRI_LOCAL;
  int i = LOCAL && best.value == 0 ? 0 : LOCAL ? best.i : t.n;
  int j = LOCAL && best.value == 0 ? 0 : LOCAL ? best.j : t.m;
  tri_trace_from(list, window, LOCAL, lane, i, j, &walk, span);
}

/** Warps take pairs from a common counter. */
template <tri_function OF>
static __global__ void __launch_bounds__(TRI_LETTERS_THREADS)
    tri_trace_kernel(tri_letters_args s, tri_trace_list list) {
  __shared__ int scores[TRI_SCORES_LD * TRI_SCORES_LD];
  const int lane = (int)threadIdx.x % 32;
  const int64_t warp = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (OF != TRI_EDIT) tri_warp_scores(s, scores);
  __syncthreads();
  for (;;) {
    const unsigned k = __shfl_sync(0xffffffffu, lane == 0 ? atomicAdd(list.counter, 1u) : 0u, 0);
    if (k >= (unsigned)list.n) return;
    tri_warp_pair t = tri_warp_pair_of<OF>(s, list.pairs[k].row, list.pairs[k].column);
    t.scores = scores;
    t.directions = list.directions + warp * list.directions_ld;
    t.edges = list.edges + warp * list.edges_ld;
    tri_trace_one<OF>(list, t, list.walked + warp * list.walked_ld, lane, list.spans + k);
  }
}
