/**
 * @file tri_warp.cuh
 * The table of a pair of sequences by a warp, for pairs whose table is too large for a thread, and
 * for alignments. The lanes have neighbouring columns, `each` of them, and walk down the rows, each
 * a row behind the lane before, from which the values at its left come by shuffles; a strip of 32 x
 * each columns after the other, with the last column of one in memory for the next.
 *
 * With directions (TRI_DIRECTION of tri_traceback.h) eight of them are a word, and the words of a
 * step lie side by side. Values are those of tri_pair_kernels.h (Gotoh 1982, J. Mol. Biol.
 * 162:705): up and along are what gaps downwards and along the row come from.
 */
#pragma once

#include "tri_letters.cuh"
#include "tri_traceback.h"

enum {
  TRI_WARP_CELLS = 32 / TRI_DIRECTION_BITS, /**< directions of a word */
  TRI_WARP_LETTERS = TRI_WARP_MOST / 4,     /**< words of a lane's letters */
  TRI_WARP_LAST = 31                        /**< lane */
};

/** A warp's pair at work. */
typedef struct tri_warp_pair {
  const uint8_t *a, *b; /**< letters of the row's sequence and of the column's */
  int n, m;
  tri_warp_table shape;
  uint32_t *directions; /**< kept, or not used */
  int2 *edges;          /**< [n] h and along behind a strip's last column */
  const int *scores;    /**< shared, [LD][LD] of a's letter with b's; EDIT: unused */
  int open, extend;
  bool local;
} tri_warp_pair;

/** Value, row and column from 1. */
typedef struct tri_warp_best {
  int value, i, j;
} tri_warp_best;

static __device__ __forceinline__ int tri_warp_edge(const tri_warp_pair &t, int k) {
  return t.local || k == 0 ? 0 : -(t.open + k * t.extend);
}

/** Where the words of a step are. */
static __device__ __forceinline__ uint32_t *tri_warp_words(const tri_warp_pair &t, int strip,
                                                           int step) {
  return t.directions + ((int64_t)strip * (t.n + 31) + step) * t.shape.words * 32;
}

/** Scores into shared memory [LD][LD]; all threads. */
static __device__ __forceinline__ void tri_warp_scores(const tri_letters_args &s, int *scores) {
  for (int e = (int)threadIdx.x; e < s.n_codes * s.n_codes; e += (int)blockDim.x)
    scores[e / s.n_codes * TRI_SCORES_LD + e % s.n_codes] = s.scores[e];
}

/** Of places of a row's sequence and of a column's. EDIT is GLOBAL with scores of 0 and -1. */
template <tri_function OF>
static __device__ __forceinline__ tri_warp_pair tri_warp_pair_of(const tri_letters_args &s,
                                                                 int64_t row, int64_t column) {
  tri_warp_pair t = {};
  t.a = s.codes + s.starts[row], t.b = s.codes + s.starts[column];
  t.n = (int)(s.starts[row + 1] - s.starts[row]);
  t.m = (int)(s.starts[column + 1] - s.starts[column]);
  t.shape = tri_warp_table_of(t.m);
  t.open = OF == TRI_EDIT ? 0 : s.p.open, t.extend = OF == TRI_EDIT ? 1 : s.p.extend;
  t.local = OF == TRI_LOCAL;
  return t;
}

static __device__ __forceinline__ void
tri_warp_keep(const tri_warp_pair &t, uint32_t *to,
              const uint32_t (&words)[TRI_WARP_MOST / TRI_WARP_CELLS]) {
  to[0] = words[0];
  if (t.shape.words > 1) to[32] = words[1];
}

/** A lane's columns of a strip. */
struct tri_warp_lane {
  int h[TRI_WARP_MOST], up[TRI_WARP_MOST]; /**< of the row above */
  uint32_t letters[TRI_WARP_LETTERS];
  int first, columns; /**< letter of the first; how many */
  int corner;         /**< h above and left of the first */
  int last, along;    /**< behind the last column of the row just done */

  __device__ __forceinline__ void begin(const tri_warp_pair &t, int strip, int lane) {
    first = (strip * 32 + lane) * t.shape.each;
    columns = max(0, min(t.m - first, t.shape.each));
#pragma unroll
    for (int w = 0; w < TRI_WARP_LETTERS; w++) letters[w] = 0;
#pragma unroll
    for (int k = 0; k < TRI_WARP_MOST; k++) {
      h[k] = tri_warp_edge(t, first + k + 1), up[k] = h[k] - t.open;
      if (k < columns) letters[k / 4] |= (uint32_t)__ldg(t.b + first + k) << 8 * (k % 4);
    }
    corner = tri_warp_edge(t, first);
    last = along = 0;
  }

  /** Of the cell of column k, in its place of a word. */
  template <tri_function OF>
  __device__ __forceinline__ uint32_t direction_of(const tri_warp_pair &t, int k, int value,
                                                   int pair, int left, int from) const {
    uint32_t direction = value == from - t.extend ? TRI_DIRECTION_LEFT : TRI_DIRECTION_UP;
    if (value == pair) direction = TRI_DIRECTION_PAIR;
    if (OF == TRI_LOCAL && value == 0) direction = TRI_DIRECTION_END;
    if (left - t.open >= from) direction |= TRI_DIRECTION_LEFT_OPENED;
    if (h[k] - t.open >= up[k]) direction |= TRI_DIRECTION_UP_OPENED;
    return direction << TRI_DIRECTION_BITS * (k % TRI_WARP_CELLS);
  }

  /** A row. KEEP: with directions; left, from: value and `along` of the column before. @return the
   *  best cell's value, and its k */
  template <tri_function OF, bool KEEP>
  __device__ __forceinline__ int row(const tri_warp_pair &t, int letter, int left, int from,
                                     uint32_t (&words)[TRI_WARP_MOST / TRI_WARP_CELLS],
                                     int *place) {
    const int *const scores = t.scores + letter * TRI_SCORES_LD;
    int diagonal = corner, best = 0;
    corner = left;
    words[0] = words[1] = 0;
#pragma unroll
    for (int k = 0; k < TRI_WARP_MOST; k++) {
      if (k >= columns) break;
      const int other = (int)(letters[k / 4] >> 8 * (k % 4) & 255);
      const int pair = diagonal + (OF == TRI_EDIT ? -(int)(other != letter) : scores[other]);
      const int gap_up = up[k] - t.extend, gap_left = from - t.extend;
      const int value = max(max(pair, OF == TRI_LOCAL ? 0 : pair), max(gap_up, gap_left));
      if (KEEP) words[k / TRI_WARP_CELLS] |= direction_of<OF>(t, k, value, pair, left, from);
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

/** A strip from the first row to the last. @return the lane's value behind it: GLOBAL, of the lane
 *  with the table's last column, that of the table */
template <tri_function OF, bool KEEP>
static __device__ __forceinline__ int tri_warp_strip(const tri_warp_pair &t, int strip, int lane,
                                                     tri_warp_best *best) {
  const bool more = strip + 1 < t.shape.strips;
  tri_warp_lane l;
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
      const int2 edge = strip > 0 ? t.edges[i] : make_int2(tri_warp_edge(t, i + 1), 0);
      left = edge.x, from = strip > 0 ? edge.y : edge.x - t.open;
    }
    if (there && l.columns > 0) {
      uint32_t words[TRI_WARP_MOST / TRI_WARP_CELLS];
      int place = 0;
      const int value = l.row<OF, KEEP>(t, now, left, from, words, &place);
      const int j = l.first + place + 1;
      if (KEEP) tri_warp_keep(t, tri_warp_words(t, strip, step) + lane, words);
      if (value > best->value || (value == best->value && i + 1 < best->i))
        best->value = value, best->i = i + 1, best->j = j;
      if (lane == TRI_WARP_LAST && more) t.edges[i] = make_int2(l.last, l.along);
    }
  }
  __syncwarp();
  return l.last;
}

/** Of all lanes; of equally good cells that of the smallest row, then column. */
static __device__ __forceinline__ tri_warp_best tri_warp_best_of(tri_warp_best best) {
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

/** All strips. LOCAL and EXTENSION, of which no cell is dropped: with the best cell. @return the
 *  table's value */
template <tri_function OF, bool KEEP>
static __device__ __forceinline__ int tri_warp_table_run(const tri_warp_pair &t, int lane,
                                                         tri_warp_best *best) {
  const int owner = t.m > 0 ? (t.m - 1) % (32 * t.shape.each) / t.shape.each : 0;
  int last = t.n == 0 || t.m == 0 ? tri_warp_edge(t, t.n + t.m) : 0;
  *best = {0, INT32_MAX, INT32_MAX};
  for (int strip = 0; strip < t.shape.strips; strip++) {
    const int behind = tri_warp_strip<OF, KEEP>(t, strip, lane, best);
    if (t.n > 0) last = __shfl_sync(0xffffffffu, behind, owner);
  }
  if (OF == TRI_LOCAL || OF == TRI_EXTENSION) *best = tri_warp_best_of(*best);
  return OF == TRI_LOCAL || OF == TRI_EXTENSION ? best->value : last;
}
