/**
 * @file tri_traceback.cuh
 * Alignments of kept pairs on a card (fam/tri/tri_traceback.h). A warp has a pair. Its lanes have
 * neighbouring columns of the table, `each` of them, and walk down the rows, each a row behind the
 * lane before, from which the values at its left come by shuffles; a strip of 32 x each columns
 * after the other, with the last column of one in memory for the next. Eight directions are a word,
 * and the words of a step lie side by side.
 *
 * Then the warp goes back: its lanes hold the words of 32 rows of eight columns and their letters,
 * so that most steps read no memory. Values are those of tri_traceback_kernels.h (Gotoh 1982, J.
 * Mol. Biol. 162:705): up and along are what gaps downwards and along the row come from.
 */
#ifndef TSL_GPU_TRI_TRACEBACK_CUH
#define TSL_GPU_TRI_TRACEBACK_CUH

#include "tri_letters.cuh"
#include "tri_traceback.h"

enum {
  TRI_TRACE_LD = TRI_LETTERS_SCORED + 1,              /**< of the table of scores: odd */
  TRI_TRACE_CELLS = 32 / TRI_DIRECTION_BITS,          /**< directions of a word */
  TRI_TRACE_LETTERS = TRI_WARP_MOST / 4,              /**< words of a lane's letters */
  TRI_TRACE_LAST = 31,                                /**< lane */
  TRI_TRACE_ALL = (int)(1u << TRI_DIRECTION_BITS) - 1 /**< of a direction's bits */
};

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

/** A warp's pair at work. */
typedef struct tri_trace_table {
  const uint8_t *a, *b; /**< letters of the row's sequence and of the column's */
  int n, m;
  tri_warp_table shape;
  uint32_t *directions;
  int2 *edges;
  const int *scores; /**< shared, [LD][LD] of a's letter with b's; EDIT: unused */
  int open, extend;
  bool local;
} tri_trace_table;

/** Value, row and column from 1. */
typedef struct tri_trace_best {
  int value, i, j;
} tri_trace_best;

static __device__ __forceinline__ int tri_trace_edge(const tri_trace_table &t, int k) {
  return t.local || k == 0 ? 0 : -(t.open + k * t.extend);
}

/** Where the words of a step are. */
static __device__ __forceinline__ uint32_t *tri_trace_words(const tri_trace_table &t, int strip,
                                                            int step) {
  return t.directions + ((int64_t)strip * (t.n + 31) + step) * t.shape.words * 32;
}

/* ---- the table */

/** A lane's columns of a strip. */
struct tri_trace_lane {
  int h[TRI_WARP_MOST], up[TRI_WARP_MOST]; /**< of the row above */
  uint32_t letters[TRI_TRACE_LETTERS];
  int first, columns; /**< letter of the first; how many */
  int corner;         /**< h above and left of the first */
  int last, along;    /**< behind the last column of the row just done */

  __device__ __forceinline__ void begin(const tri_trace_table &t, int strip, int lane) {
    first = (strip * 32 + lane) * t.shape.each;
    columns = max(0, min(t.m - first, t.shape.each));
#pragma unroll
    for (int w = 0; w < TRI_TRACE_LETTERS; w++) letters[w] = 0;
#pragma unroll
    for (int k = 0; k < TRI_WARP_MOST; k++) {
      h[k] = tri_trace_edge(t, first + k + 1), up[k] = h[k] - t.open;
      if (k < columns) letters[k / 4] |= (uint32_t)__ldg(t.b + first + k) << 8 * (k % 4);
    }
    corner = tri_trace_edge(t, first);
    last = along = 0;
  }

  /** A row. SCORED: not of EDIT; left, from: value and `along` of the column before.
   *  @return the best cell's value, and its k */
  template <bool SCORED, bool LOCAL>
  __device__ __forceinline__ int row(const tri_trace_table &t, int letter, int left, int from,
                                     uint32_t (&words)[TRI_WARP_MOST / TRI_TRACE_CELLS],
                                     int *place) {
    const int *const scores = t.scores + letter * TRI_TRACE_LD;
    int diagonal = corner, best = 0;
    corner = left;
    words[0] = words[1] = 0;
#pragma unroll
    for (int k = 0; k < TRI_WARP_MOST; k++) {
      if (k >= columns) break;
      const int other = (int)(letters[k / 4] >> 8 * (k % 4) & 255);
      const int pair = diagonal + (SCORED ? scores[other] : -(int)(other != letter));
      const int gap_up = up[k] - t.extend, gap_left = from - t.extend;
      const int value = max(max(pair, LOCAL ? 0 : pair), max(gap_up, gap_left));
      uint32_t direction = value == gap_left ? TRI_DIRECTION_LEFT : TRI_DIRECTION_UP;
      if (value == pair) direction = TRI_DIRECTION_PAIR;
      if (LOCAL && value == 0) direction = TRI_DIRECTION_END;
      if (left - t.open >= from) direction |= TRI_DIRECTION_LEFT_OPENED;
      if (h[k] - t.open >= up[k]) direction |= TRI_DIRECTION_UP_OPENED;
      words[k / TRI_TRACE_CELLS] |= direction << TRI_DIRECTION_BITS * (k % TRI_TRACE_CELLS);
      diagonal = h[k];
      h[k] = left = value;
      up[k] = max(gap_up, value - t.open);
      from = max(gap_left, value - t.open);
      if (value > best) best = value, *place = k;
    }
    last = left, along = from;
    return best;
  }
};

/** A strip from the first row to the last. */
template <bool SCORED, bool LOCAL>
static __device__ __forceinline__ void tri_trace_strip(const tri_trace_table &t, int strip,
                                                       int lane, tri_trace_best *best) {
  const bool more = strip + 1 < t.shape.strips;
  tri_trace_lane l;
  l.begin(t, strip, lane);
  int letter = lane == 0 && t.n > 0 ? (int)__ldg(t.a) : 0;
  for (int step = 0; step < t.n + 31; step++) {
    const int i = step - lane, next = i + 1;
    int left = __shfl_up_sync(0xffffffffu, l.last, 1);
    int from = __shfl_up_sync(0xffffffffu, l.along, 1);
    const bool there = i >= 0 && i < t.n;
    const int now = letter;
    if (next >= 0 && next < t.n) letter = (int)__ldg(t.a + next);
    if (lane == 0 && there) {
      const int2 edge = strip > 0 ? t.edges[i] : make_int2(tri_trace_edge(t, i + 1), 0);
      left = edge.x, from = strip > 0 ? edge.y : edge.x - t.open;
    }
    if (there && l.columns > 0) {
      uint32_t words[TRI_WARP_MOST / TRI_TRACE_CELLS], *const to = tri_trace_words(t, strip, step);
      int place = 0;
      const int value = l.row<SCORED, LOCAL>(t, now, left, from, words, &place);
      const int j = l.first + place + 1;
      to[lane] = words[0];
      if (t.shape.words > 1) to[32 + lane] = words[1];
      if (value > best->value || (value == best->value && i + 1 < best->i))
        best->value = value, best->i = i + 1, best->j = j;
      if (lane == TRI_TRACE_LAST && more) t.edges[i] = make_int2(l.last, l.along);
    }
  }
  __syncwarp();
}

/** Of all lanes; of equally good cells that of the smallest row, then column. */
static __device__ __forceinline__ tri_trace_best tri_trace_best_of(tri_trace_best best) {
  for (int d = 16; d > 0; d /= 2) {
    const int value = __shfl_xor_sync(0xffffffffu, best.value, d);
    const int i = __shfl_xor_sync(0xffffffffu, best.i, d);
    const int j = __shfl_xor_sync(0xffffffffu, best.j, d);
    const bool before = i < best.i || (i == best.i && j < best.j);
    if (value > best.value || (value == best.value && before))
      best.value = value, best.i = i, best.j = j;
  }
  return best;
}

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

/** A word of each of 32 rows, of which lane l has number top - l. */
struct tri_trace_window {
  uint32_t word;
  int a, b;       /**< letters: of a lane's row; of column `begin` + lane */
  int top, begin; /**< row and column of the word of lane 0 */

  __device__ __forceinline__ void look(const tri_trace_table &t, int i, int j, int lane) {
    const int wide = 32 * t.shape.each, strip = j / wide, in = j % wide;
    const int owner = in / t.shape.each, part = in % t.shape.each / TRI_TRACE_CELLS;
    const int row = i - lane;
    top = i;
    begin = strip * wide + owner * t.shape.each + part * TRI_TRACE_CELLS;
    word = row < 0 ? 0 : tri_trace_words(t, strip, row + owner)[part * 32 + owner];
    a = row < 0 ? 0 : (int)__ldg(t.a + row);
    b = begin + lane < t.m ? (int)__ldg(t.b + begin + lane) : 0;
  }
};

/** From a cell, rows and columns from 1, to where the alignment begins. */
static __device__ __forceinline__ void tri_trace_back(const tri_trace_table &t, int lane, int *i,
                                                      int *j, tri_trace_walk *walk) {
  uint32_t state = TRI_DIRECTION_PAIR;
  tri_trace_window w = {};
  bool ended = false;
  while (*i > 0 && *j > 0 && !ended) {
    w.look(t, *i - 1, *j - 1, lane);
    while (*i > 0 && *j > w.begin && *i - 1 > w.top - 32) {
      const int at = w.top - (*i - 1), column = *j - 1 - w.begin;
      const uint32_t word = __shfl_sync(0xffffffffu, w.word, at);
      const uint32_t direction = word >> TRI_DIRECTION_BITS * column & TRI_TRACE_ALL;
      const int a = __shfl_sync(0xffffffffu, w.a, at), b = __shfl_sync(0xffffffffu, w.b, column);
      const uint32_t how = direction & TRI_DIRECTION_MASK;
      ended = state == TRI_DIRECTION_PAIR && how == TRI_DIRECTION_END;
      if (ended) break;
      if (state == TRI_DIRECTION_PAIR) state = how;
      const uint32_t opened =
          state == TRI_DIRECTION_LEFT ? TRI_DIRECTION_LEFT_OPENED : TRI_DIRECTION_UP_OPENED;
      walk->add(lane,
                state == TRI_DIRECTION_LEFT ? TRI_BAM_D
                : state == TRI_DIRECTION_UP ? TRI_BAM_I
                : a == b                    ? TRI_BAM_SAME
                                            : TRI_BAM_OTHER,
                1);
      *i -= state != TRI_DIRECTION_LEFT;
      *j -= state != TRI_DIRECTION_UP;
      if (state != TRI_DIRECTION_PAIR && (direction & opened) != 0) state = TRI_DIRECTION_PAIR;
    }
  }
  if (t.local) return;
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

template <bool SCORED, bool LOCAL>
static __device__ __forceinline__ void tri_trace_one(const tri_trace_list &list,
                                                     const tri_trace_table &t, uint32_t *walked,
                                                     int lane, tri_trace_span *span) {
  tri_trace_best best = {0, INT32_MAX, INT32_MAX};
  tri_trace_walk walk = {walked, 0, 0, 0};
  for (int strip = 0; strip < t.shape.strips; strip++)
    tri_trace_strip<SCORED, LOCAL>(t, strip, lane, &best);
  int i = t.n, j = t.m;
  if (LOCAL) {
    best = tri_trace_best_of(best);
    i = best.value > 0 ? best.i : 0, j = best.value > 0 ? best.j : 0;
  }
  const int end[2] = {i, j};
  tri_trace_back(t, lane, &i, &j, &walk);
  walk.flush(lane);
  if (lane == 0)
    span->span[0] = i, span->span[1] = end[0], span->span[2] = j, span->span[3] = end[1];
  tri_trace_hand_over(list, walk, lane, span);
}

/** Warps take pairs from a common counter. EDIT is GLOBAL with scores of 0 and -1. */
template <bool SCORED, bool LOCAL>
static __global__ void __launch_bounds__(TRI_LETTERS_THREADS)
    tri_trace_kernel(tri_letters_args s, tri_trace_list list) {
  __shared__ int scores[TRI_TRACE_LD * TRI_TRACE_LD];
  const int lane = (int)threadIdx.x % 32;
  const int64_t warp = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  for (int e = (int)threadIdx.x; SCORED && e < s.n_codes * s.n_codes; e += (int)blockDim.x)
    scores[e / s.n_codes * TRI_TRACE_LD + e % s.n_codes] = s.scores[e];
  __syncthreads();
  for (;;) {
    const unsigned k = __shfl_sync(0xffffffffu, lane == 0 ? atomicAdd(list.counter, 1u) : 0u, 0);
    if (k >= (unsigned)list.n) return;
    const tri_trace_pair pair = list.pairs[k];
    tri_trace_table t = {};
    t.a = s.codes + s.starts[pair.row], t.b = s.codes + s.starts[pair.column];
    t.n = (int)(s.starts[pair.row + 1] - s.starts[pair.row]);
    t.m = (int)(s.starts[pair.column + 1] - s.starts[pair.column]);
    t.shape = tri_warp_table_of(t.m);
    t.directions = list.directions + warp * list.directions_ld;
    t.edges = list.edges + warp * list.edges_ld;
    t.scores = scores;
    t.open = SCORED ? s.p.open : 0, t.extend = SCORED ? s.p.extend : 1;
    t.local = LOCAL;
    tri_trace_one<SCORED, LOCAL>(list, t, list.walked + warp * list.walked_ld, lane,
                                 list.spans + k);
  }
}

#endif
