/**
 * @file tri_align.cuh
 * Scores of alignments on a card, for tri_letters.cu. A thread has a column, the text, and a block
 * one row or two of like lengths, the patterns: TILE letters of them at a time, whose column of the
 * table is in registers and goes through the text; two tables share registers, 16 bits each, where
 * they fit (tri_is_narrow). What leaves the tile below waits in memory for the next one. A profile
 * in shared memory has the tile's scores with each letter, both rows' in a word, so that lanes with
 * different letters read different banks.
 *
 * Gotoh 1982, J. Mol. Biol. 162:705, as sockets have it (tri_cpu_letters.h): kept is G = H - open -
 * extend. All of it is raised by open + extend, and GLOBAL by 2^14 more, so that no half of a
 * register is below 0 and a subtraction borrows nothing from the other half.
 */
#pragma once

#include "tri_letters.cuh"

enum {
  TRI_ALIGN_TILE = 32,
  TRI_ALIGN_SHORT = 2048,             /**< letters of texts whose launches fill the card */
  TRI_ALIGN_ROW = TRI_ALIGN_TILE + 1, /**< of the profile, in words: odd */
  TRI_ALIGN_RAISED = 1 << 14          /**< GLOBAL of 16 bits */
};

/** Two tables, 16 bits of a register each, not negative. */
struct tri_align_two {
  typedef uint32_t V;
  static const int PAIRS = 2, RAISED = TRI_ALIGN_RAISED;

  static __device__ __forceinline__ V all(int x) {
    return (uint32_t)x * 0x10001u;
  }
  static __device__ __forceinline__ V scores(const int (&s)[2]) {
    return ((uint32_t)s[1] << 16) | ((uint32_t)s[0] & 0xffffu);
  }
  static __device__ __forceinline__ V add_max(V a, V b, V c) {
    return __viaddmax_s16x2(a, b, c);
  }
  static __device__ __forceinline__ V max_3(V a, V b, V c) {
    return __vimax3_s16x2(a, b, c);
  }
  static __device__ __forceinline__ V negative(int x) {
    return ((uint32_t)-x & 0xffffu) * 0x10001u;
  }
  /** Halves do not borrow from each other. */
  static __device__ __forceinline__ V add(V a, V b) {
    return __viaddmax_s16x2(a, b, 0x80008000u);
  }
  static __device__ __forceinline__ int value(V v, int pair) {
    return pair == 0 ? (int)(v & 0xffffu) : (int)(v >> 16);
  }
};

/** One table of 32 bits. */
struct tri_align_one {
  typedef int32_t V;
  static const int PAIRS = 1, RAISED = 0;

  static __device__ __forceinline__ V all(int x) {
    return x;
  }
  static __device__ __forceinline__ V scores(const int (&s)[1]) {
    return s[0];
  }
  static __device__ __forceinline__ V add_max(V a, V b, V c) {
    return __viaddmax_s32(a, b, c);
  }
  static __device__ __forceinline__ V max_3(V a, V b, V c) {
    return __vimax3_s32(a, b, c);
  }
  static __device__ __forceinline__ V negative(int x) {
    return -x;
  }
  static __device__ __forceinline__ V add(V a, V b) {
    return a + b;
  }
  static __device__ __forceinline__ int value(V v, int) {
    return v;
  }
};

/** The rows of a block. */
template <class P> struct tri_align_rows_of {
  int row[P::PAIRS];     /**< -1: none */
  int letters[P::PAIRS]; /**< of each; none: 0 */
  int longest;           /**< of both, also where the kernel takes one of them */
};

/** A thread's text. */
typedef struct tri_align_text {
  const uint32_t *words; /**< 32 lanes apart */
  int column;            /**< -1: none, or not of the strip */
  int n;                 /**< letters */
  int n_words; /**< of its group, filled up by a letter worth nothing; 0: not to be done */
} tri_align_text;

/** A tile of the patterns: letters [first, first + TILE). */
template <class P, int TILE = TRI_ALIGN_TILE> struct tri_align_tile {
  typename P::V g[TILE], along[TILE]; /**< G; gaps in the pattern */
  typename P::V corner, best;
  int result[P::PAIRS]; /**< GLOBAL */
};

/** G at the table's edge, k letters from its corner. */
template <class P, bool LOCAL>
static __device__ __forceinline__ typename P::V tri_align_edge(const tri_params &p, int k) {
  return P::all(LOCAL ? 0 : P::RAISED - (k == 0 ? 0 : p.open + k * p.extend));
}

/** Scores of the tile's letters with each of the alphabet, and with none; all threads. */
template <class P>
static __device__ __forceinline__ void tri_align_profile(const tri_letters_args &s,
                                                         const tri_align_rows_of<P> &rows,
                                                         int first, typename P::V *profile) {
  const int codes = s.n_codes, gap = s.p.open + s.p.extend, least = min(s.p.least, 0);
  for (int e = (int)threadIdx.x; e < (codes + 1) * TRI_ALIGN_TILE; e += TRI_LETTERS_THREADS) {
    const int c = e / TRI_ALIGN_TILE, k = e % TRI_ALIGN_TILE;
    int score[P::PAIRS];
#pragma unroll
    for (int pair = 0; pair < P::PAIRS; pair++) {
      const bool there = c < codes && first + k < rows.letters[pair];
      score[pair] = gap + least;
      if (there)
        score[pair] =
            gap + s.scores[(int)s.codes[s.starts[rows.row[pair]] + first + k] * codes + c];
    }
    profile[c * TRI_ALIGN_ROW + k] = P::scores(score);
  }
}

/** A letter of the text, with scores[k] of letter k of the tile: above and f come from the tile
 *  above and go to the one below. As open is not negative, a gap downwards need not come from a
 *  cell that ends one itself: f goes from cell to cell in one instruction, beside all else. */
template <class P, bool LOCAL, int TILE, class S>
static __device__ __forceinline__ void tri_align_step(const tri_params &p, const S &scores,
                                                      tri_align_tile<P, TILE> &tile,
                                                      typename P::V &above, typename P::V &f) {
  typedef typename P::V V;
  const V less_extend = P::negative(p.extend), less_gap = P::negative(p.open + p.extend);
  const V entered = above;
  V corner = tile.corner, from = above;
#pragma unroll
  for (int k = 0; k < TILE; k++) {
    const V left = tile.g[k];
    tile.along[k] = P::add_max(tile.along[k], less_extend, left);
    f = P::add_max(f, less_extend, from);
    const V pair = P::add_max(corner, scores[k], tile.along[k]);
    from = LOCAL ? P::add_max(pair, less_gap, P::all(0)) : P::add(pair, less_gap);
    tile.g[k] = P::add_max(f, less_gap, from);
    corner = left;
    if (LOCAL && k % 2 == 1) tile.best = P::max_3(tile.best, tile.g[k - 1], tile.g[k]);
  }
  above = tile.g[TILE - 1];
  tile.corner = entered;
}

/** GLOBAL: the text of a table ends here, and its pattern `last` letters behind the first one. */
template <class P, int TILE>
static __device__ __forceinline__ void tri_align_end(int pair, int last,
                                                     tri_align_tile<P, TILE> &tile) {
#pragma unroll
  for (int k = 0; k < TILE; k++)
    if (k == last) tile.result[pair] = P::value(tile.g[k], pair) - P::RAISED;
}

/** Before the first letter of the text. */
template <class P, bool LOCAL, int TILE>
static __device__ __forceinline__ void tri_align_begin(const tri_params &p, int first,
                                                       tri_align_tile<P, TILE> &tile) {
  tile.corner = tri_align_edge<P, LOCAL>(p, first);
#pragma unroll
  for (int k = 0; k < TILE; k++) {
    tile.g[k] = tri_align_edge<P, LOCAL>(p, first + k + 1);
    tile.along[k] = tile.g[k]; /* a gap opened there: no less than one that goes on */
  }
}

/** All pairs: a block's rows with a thread's text, whose scores are in the block's profile. */
template <class P> struct tri_align_of_block {
  const tri_align_rows_of<P> &rows;
  const tri_align_text &text;
  const typename P::V *profile;
  uint32_t next, four;

  __device__ __forceinline__ int n_words() const {
    return text.n_words;
  }
  __device__ __forceinline__ int longest() const {
    return rows.longest;
  }
  __device__ __forceinline__ int letters(int pair) const {
    return rows.letters[pair];
  }
  __device__ __forceinline__ int ends(int) const {
    return text.n;
  }
  __device__ __forceinline__ void begin() {
    next = text.n_words > 0 ? __ldg(text.words) : 0;
  }
  __device__ __forceinline__ void take(int w) {
    four = next;
    if (w + 1 < text.n_words) next = __ldg(text.words + (int64_t)(w + 1) * TRI_LETTERS_GROUP);
  }
  __device__ __forceinline__ const typename P::V *scores(int q) const {
    return profile + (int)(four >> 8 * q & 255) * TRI_ALIGN_ROW;
  }
};

/** The tile through the text; S: whose pairs these are. */
template <class P, bool LOCAL, class S>
static __device__ __forceinline__ void tri_align_through(const tri_params &p, S &source, int first,
                                                         typename P::V *waiting,
                                                         tri_align_tile<P> &tile) {
  typedef typename P::V V;
  const bool more = first + TRI_ALIGN_TILE < source.longest();
  source.begin();
  tri_align_begin<P, LOCAL>(p, first, tile);
  for (int w = 0; w < source.n_words(); w++) {
    source.take(w);
    for (int q = 0; q < TRI_LETTERS_PACKED; q++) {
      const int t = w * TRI_LETTERS_PACKED + q;
      V above = tri_align_edge<P, LOCAL>(p, t + 1), f = above;
      if (first > 0) above = waiting[0], f = waiting[TRI_LETTERS_THREADS];
      tri_align_step<P, LOCAL>(p, source.scores(q), tile, above, f);
      if (more) waiting[0] = above, waiting[TRI_LETTERS_THREADS] = f;
#pragma unroll
      for (int pair = 0; pair < P::PAIRS; pair++)
        if (!LOCAL && t + 1 == source.ends(pair))
          tri_align_end<P>(pair, source.letters(pair) - 1 - first, tile);
      waiting += 2 * TRI_LETTERS_THREADS;
    }
  }
}

/** Rows number `at` of the strip's, longest first, and the next where two go together. */
template <class P, class R>
static __device__ __forceinline__ void tri_align_find_rows(const tri_letters_args &s,
                                                           const tri_letters_strip_of<R> &o, int at,
                                                           tri_align_rows_of<P> &rows) {
  const int row = s.rows[at / 2 * 2]; /* of two the longer one */
  rows.longest = (int)(s.starts[row + 1] - s.starts[row]);
#pragma unroll
  for (int pair = 0; pair < P::PAIRS; pair++) {
    rows.row[pair] = at + pair < o.b - o.a ? s.rows[at + pair] : -1;
    rows.letters[pair] =
        rows.row[pair] < 0 ? 0 : (int)(s.starts[rows.row[pair] + 1] - s.starts[rows.row[pair]]);
  }
}

/** Which tables a launch takes: those whose text's group has from `from` to `to` letters. */
typedef struct tri_align_range {
  int from, to;
} tri_align_range;

template <class P, class R>
static __device__ __forceinline__ tri_align_text
tri_align_find_text(const tri_letters_args &s, const tri_letters_strip_of<R> &o,
                    const tri_align_range &range, int longest_row, int group) {
  tri_align_text text = {};
  text.column = tri_letters_column_of(s, o, group);
  const bool any = __any_sync(0xffffffffu, text.column >= 0);
  if (!any) return text;
  text.n_words = (int)(s.first[group + 1] - s.first[group]);
  text.words = s.texts + s.first[group] * 32 + threadIdx.x % 32;
  if (text.column >= 0) text.n = (int)(s.starts[text.column + 1] - s.starts[text.column]);
  const int n = text.n_words * TRI_LETTERS_PACKED;
  const bool narrow = tri_is_narrow(longest_row, n, &s.p);
  if (n < range.from || n > range.to || narrow != (P::PAIRS == 2)) text.n_words = 0;
  return text;
}

/** Blocks take rows and groups of columns from a common counter, long ones first. */
template <class P, bool LOCAL, class R>
static __global__ void __launch_bounds__(TRI_LETTERS_THREADS, 4)
    tri_align_kernel(tri_letters_args s, tri_letters_strip_of<R> o, tri_align_range range,
                     unsigned *counter) {
  typedef typename P::V V;
  __shared__ V profile[(TRI_LETTERS_SCORED + 1) * TRI_ALIGN_ROW];
  __shared__ unsigned taken;
  const int warps = TRI_LETTERS_THREADS / 32, sign = s.p.similar ? -1 : 1;
  const unsigned across = (unsigned)((o.g1 - o.g0 + warps - 1) / warps);
  const unsigned items = across * (unsigned)((o.b - o.a + P::PAIRS - 1) / P::PAIRS);
  V *const waiting =
      (V *)s.below + (int64_t)blockIdx.x * range.to * 2 * TRI_LETTERS_THREADS + threadIdx.x;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) taken = atomicAdd(counter, 1u);
    __syncthreads();
    const unsigned item = taken;
    if (item >= items) return;
    const int group = o.g0 + (int)(across - 1 - item % across) * warps + (int)threadIdx.x / 32;
    tri_align_rows_of<P> rows;
    tri_align_tile<P> tile;
    tri_align_find_rows<P>(s, o, (int)(item / across) * P::PAIRS, rows);
    const tri_align_text text = tri_align_find_text<P>(s, o, range, rows.longest, group);
    if (__syncthreads_or(text.n_words) == 0) continue;
    tile.best = P::all(0);
#pragma unroll
    for (int pair = 0; pair < P::PAIRS; pair++) tile.result[pair] = 0;
    for (int first = 0; first < rows.longest; first += TRI_ALIGN_TILE) {
      __syncthreads();
      tri_align_profile<P>(s, rows, first, profile);
      __syncthreads();
      tri_align_of_block<P> source = {rows, text, profile, 0, 0};
      tri_align_through<P, LOCAL>(s.p, source, first, waiting, tile);
    }
    if (text.n_words == 0 || text.column < 0) continue;
#pragma unroll
    for (int pair = 0; pair < P::PAIRS; pair++) {
      const int score = LOCAL ? P::value(tile.best, pair) : tile.result[pair];
      if (rows.row[pair] >= 0)
        o.out[(int64_t)(rows.row[pair] - o.a) * (o.c1 - o.c0) + text.column - o.c0] =
            (R)(sign * score);
    }
  }
}
