/**
 * @file tri_couples.cuh
 * Scores of pairs of sequences on a card. Two pairs of like lengths, a couple, share registers, 16
 * bits each (tri_align.cuh), and some lanes of a warp have it: neighbouring letters of the
 * patterns, whose column of the table is in registers. The texts go through the lanes, each a
 * letter behind the lane before, from which it has what comes from above. Patterns longer than the
 * lanes hold take several tiles of equal size; what leaves a tile below waits in memory for the
 * next. Where a sequence has more than TRI_COUPLE_SHORT letters a whole warp has the couple, so
 * that no lane is at work when all others have ended.
 *
 * A profile in shared memory has the scores of a tile's letters with each of the alphabet, a byte
 * each: a lane reads those of its letters with one of a text by one load, and lanes of a couple
 * read different banks whatever their texts' letters are. Pairs of a list have patterns of their
 * own, those of rows and columns one pattern for a warp: the less memory a warp needs, the more
 * warps hide what each waits for.
 *
 * What 16 bits did not hold is no number then, and a warp computes it again in 32 (tri_warp.cuh):
 * LOCAL and EXTENSION by the value itself, as few pairs that could leave 16 bits do.
 */
#pragma once

#include "tri_align.cuh"
#include "tri_paired.cuh"
#include "tri_warp.cuh"

enum {
  TRI_COUPLE_SHORT = 2048,                      /**< letters of sequences that part of a warp has */
  TRI_COUPLE_WARPS = 16,                        /**< of a processor, for which registers are left */
  TRI_SCORES_WORDS = TRI_LETTERS_SCORED / 4 + 1 /**< of a letter's scores as bytes */
};

/** Lanes of a couple, short or a whole warp's, and what they hold; LIST: of a list. */
template <bool LIST, bool WHOLE> struct tri_couple_shape {
  enum {
    LANES = WHOLE  ? 32
            : LIST ? 16
                   : 8,
    MOST = LIST ? 8 : 16,                 /**< letters of a lane */
    GROUPS = 32 / LANES,                  /**< couples of a warp */
    ITEM = 2 * GROUPS,                    /**< its pairs */
    HALF = LIST ? 32 * MOST : 0,          /**< bytes from one pair's scores to the other's */
    ROW = LIST ? 2 * HALF : LANES * MOST, /**< of a letter's scores */
    STEP = WHOLE ? 4 : 2                  /**< letters of a lane are a multiple of it */
  };
};

/** Pairs of a launch: a list, or each of some rows with each of some columns. */
typedef struct tri_pairs {
  const int *rows;    /**< [n_rows] of a list, row k with column k; else places, long ones first */
  const int *columns; /**< [n_columns] places likewise; NULL: a list */
  int n_rows, n_columns;
  const int *n_long;           /**< on the card: so many of a list come first and are long */
  int long_rows, long_columns; /**< of those that are no list */
  int lo, first, ld; /**< out[row - lo][column - first], rows of ld; list: out[row - lo] */
  int most, longest; /**< letters of the longest text of eight lanes, of all */
  bool wide;         /**< out is double, else float */
  void *out;
} tri_pairs;

/** Is the couple a whole warp's? */
static __device__ __forceinline__ bool tri_couple_long(int m, int n) {
  return m > TRI_COUPLE_SHORT || n > TRI_COUPLE_SHORT;
}

/** Letters of a lane in each tile for a pattern of n letters. */
template <class SHAPE> TSL_FN int tri_couple_each(int n) {
  const int most = SHAPE::LANES * SHAPE::MOST, step = SHAPE::STEP;
  const int lanes = SHAPE::LANES * ((n + most - 1) / most);
  return n > 0 ? ((n + lanes - 1) / lanes + step - 1) / step * step : step;
}

/** Bytes of shared memory of a warp; whole: some of its couples are a warp's. */
template <bool LIST> TSL_FN int tri_couple_shared(int codes, bool whole) {
  const int row =
      whole ? (int)tri_couple_shape<LIST, true>::ROW : (int)tri_couple_shape<LIST, false>::ROW;
  return (codes + 1) * row + (codes + 4) / 4 * 4 * TRI_SCORES_WORDS * 4; /* lines of 16 bytes */
}

/** Does a score fit its byte? */
TSL_FN bool tri_couple_fits(const tri_params *p) {
  const int gap = p->open + p->extend;
  return gap + p->most <= INT8_MAX && gap + p->least >= INT8_MIN && gap <= INT8_MAX;
}

/** What stands for a value of 0. */
template <tri_function OF> TSL_FN int tri_couple_zero(void) {
  return OF == TRI_LOCAL ? 0 : TRI_ALIGN_RAISED;
}

/** LOCAL, EXTENSION: largest value of a table of which no cell can have been above 16 bits. */
template <tri_function OF> TSL_FN int tri_couple_largest(const tri_params *p) {
  return INT16_MAX - tri_couple_zero<OF>() - (p->most > 0 ? p->most : 0) - p->open - p->extend;
}

/** EXTENSION: can no cell of such patterns and texts be below them, none beyond ends either? */
template <class SHAPE> TSL_FN bool tri_couple_deep(const tri_params *p, int longest, int n) {
  return tri_values_fit(longest + SHAPE::LANES * SHAPE::MOST, n, 0, p,
                        TRI_ALIGN_RAISED - (INT16_MIN + 1));
}

/** What a warp takes: pairs [at, end) of a list, or of one of `rows` with these columns. */
typedef struct tri_couple_item {
  bool whole; /**< a couple for all of its lanes */
  int row, at, end;
} tri_couple_item;

/** Item `item` of a list. @return false: there are no more */
static __device__ __forceinline__ bool tri_couple_of_list(const tri_pairs &pairs, unsigned item,
                                                          tri_couple_item &it) {
  enum { ITEM = tri_couple_shape<true, false>::ITEM };
  const int n_long = *pairs.n_long;
  const unsigned first = (unsigned)(n_long + 1) / 2;
  it.whole = item < first;
  it.row = 0;
  it.end = it.whole ? n_long : pairs.n_rows;
  const int64_t at = it.whole ? 2 * (int64_t)item : n_long + (int64_t)(item - first) * ITEM;
  it.at = (int)min(at, (int64_t)it.end);
  return at < it.end;
}

/** Of rows and columns: long rows with all columns, others with long ones, and with others. */
static __device__ __forceinline__ bool tri_couple_of_rows(const tri_pairs &pairs, unsigned item,
                                                          tri_couple_item &it) {
  enum { ITEM = tri_couple_shape<false, false>::ITEM };
  const int others_across = pairs.n_columns - pairs.long_columns;
  const unsigned across[3] = {(unsigned)(pairs.n_columns + 1) / 2,
                              (unsigned)(pairs.long_columns + 1) / 2,
                              (unsigned)(others_across + ITEM - 1) / ITEM};
  const unsigned others = (unsigned)(pairs.n_rows - pairs.long_rows);
  const unsigned rows[3] = {(unsigned)pairs.long_rows, others, others};
#pragma unroll
  for (int part = 0; part < 3; part++) {
    const unsigned n = rows[part] * across[part];
    if (item < n) {
      it.whole = part < 2;
      it.row = (part == 0 ? 0 : pairs.long_rows) + (int)(item / across[part]);
      it.at = (part == 2 ? pairs.long_columns : 0) +
              (int)(item % across[part]) * (part == 2 ? ITEM : 2);
      it.end = part == 1 ? pairs.long_columns : pairs.n_columns;
      return true;
    }
    item -= n;
  }
  return false;
}

/** A lane's couple. */
typedef struct tri_couple {
  int row[2], column[2]; /**< places; row -1: none */
  tri_paired_sequence pattern[2], text[2];
  int n;            /**< letters of the longer text */
  int group;        /**< which of the warp's */
  const char *base; /**< shared: the lane's place in the profile */
  uint2 *edges;     /**< what leaves a tile below, for each letter of the text */
} tri_couple;

template <class SHAPE> static __device__ __forceinline__ int tri_couple_lane(void) {
  return (int)threadIdx.x % SHAPE::LANES;
}

static __device__ __forceinline__ int64_t tri_pairs_place(const tri_pairs &pairs, int row,
                                                          int column) {
  if (pairs.columns == NULL) return column - pairs.lo;
  return (int64_t)(row - pairs.lo) * pairs.ld + column - pairs.first;
}

/** A value, or none that 16 bits hold. */
static __device__ __forceinline__ void tri_pairs_put(const tri_pairs &pairs, int row, int column,
                                                     int value, bool known) {
  const int64_t at = tri_pairs_place(pairs, row, column);
  if (pairs.wide)
    ((double *)pairs.out)[at] = known ? (double)value : (double)NAN;
  else
    ((float *)pairs.out)[at] = known ? (float)value : NAN;
}

/** The couple of this lane: pairs k and k + 1 of the item. Tables of GLOBAL that 16 bits do not
 *  hold are left out. */
template <bool LIST, tri_function OF>
static __device__ __forceinline__ void
tri_couple_find(const tri_letters_args &s, const tri_pairs &pairs, const tri_couple_item &it, int k,
                bool first, tri_couple &c) {
#pragma unroll
  for (int pair = 0; pair < 2; pair++) {
    const int at = it.at + k + pair;
    c.row[pair] = c.column[pair] = -1;
    c.pattern[pair].start = c.text[pair].start = c.pattern[pair].n = c.text[pair].n = 0;
    if (!LIST) c.pattern[pair] = tri_paired_find(s, pairs.rows[it.row]); /* also of no text */
    if (at >= it.end) continue;
    const int column = LIST ? pairs.rows[at] : pairs.columns[at];
    const int row = LIST ? (int)s.p.first + column : pairs.rows[it.row];
    const tri_paired_sequence pattern = tri_paired_find(s, row), text = tri_paired_find(s, column);
    if (OF == TRI_GLOBAL && !tri_is_narrow(pattern.n, text.n, &s.p)) {
      if (first) tri_pairs_put(pairs, row, column, 0, false);
      continue;
    }
    c.row[pair] = row, c.column[pair] = column;
    c.pattern[pair] = pattern, c.text[pair] = text;
  }
  c.n = max(c.text[0].n, c.text[1].n);
}

/** Scores of each letter of a pattern with those of a text, bytes, raised by open + extend; beyond
 *  an end no score is above 0: nothing better comes from there. [codes + 1][WORDS]; all threads. */
static __device__ __forceinline__ void tri_couple_table(const tri_letters_args &s,
                                                        uint32_t *table) {
  const int codes = s.n_codes, gap = s.p.open + s.p.extend, least = min(s.p.least, 0);
  for (int e = (int)threadIdx.x; e < (codes + 1) * TRI_SCORES_WORDS; e += 32) {
    const int a = e / TRI_SCORES_WORDS, b = e % TRI_SCORES_WORDS * 4;
    uint32_t word = 0;
    for (int k = 0; k < 4; k++) {
      const int score = a < codes && b + k < codes ? s.scores[a * codes + b + k] : least;
      word |= (uint32_t)(uint8_t)(gap + score) << 8 * k;
    }
    table[e] = word;
  }
}

/** Bytes k of four words into word k. */
static __device__ __forceinline__ void tri_couple_turn(const uint32_t (&in)[4],
                                                       uint32_t (&out)[4]) {
  const uint32_t a = __byte_perm(in[0], in[1], 0x5140), b = __byte_perm(in[2], in[3], 0x5140);
  const uint32_t c = __byte_perm(in[0], in[1], 0x7362), d = __byte_perm(in[2], in[3], 0x7362);
  out[0] = __byte_perm(a, b, 0x5410), out[1] = __byte_perm(a, b, 0x7632);
  out[2] = __byte_perm(c, d, 0x5410), out[3] = __byte_perm(c, d, 0x7632);
}

/** The lane's part of the profile: its letters from `first` on of the patterns; of one that all
 *  couples of a warp have each makes a part. */
template <bool LIST, class SHAPE, int K>
static __device__ __forceinline__ void tri_couple_profile(const tri_letters_args &s,
                                                          const tri_couple &c, int first,
                                                          const uint32_t *table) {
  enum { WORDS = (K + 3) / 4, PATTERNS = LIST ? 2 : 1, PARTS = LIST ? 1 : SHAPE::GROUPS };
  for (int pair = 0; pair < PATTERNS; pair++) {
    const tri_paired_sequence pattern = pair == 0 ? c.pattern[0] : c.pattern[1];
    uint32_t four[WORDS], *to = (uint32_t *)(c.base + pair * SHAPE::HALF);
#pragma unroll
    for (int k = 0; k < WORDS; k++) four[k] = tri_paired_four(s, pattern, first + 4 * k);
    for (int code = 4 * (c.group % PARTS); code <= s.n_codes; code += 4 * PARTS) {
#pragma unroll
      for (int k = 0; k < WORDS; k++) {
        uint32_t in[4], out[4];
#pragma unroll
        for (int q = 0; q < 4; q++)
          in[q] = table[(four[k] >> 8 * q & 255) * TRI_SCORES_WORDS + code / 4];
        tri_couple_turn(in, out);
#pragma unroll
        for (int q = 0; q < 4; q++)
          if (code + q <= s.n_codes) to[(code + q) * (SHAPE::ROW / 4) + k] = out[q];
      }
    }
  }
  __syncwarp();
}

/** Bytes of a lane's letters. */
template <int MOST> struct tri_couple_bytes;
template <> struct tri_couple_bytes<8> {
  uint2 v;
  __device__ __forceinline__ uint32_t word(int k) const {
    return k == 0 ? v.x : v.y;
  }
};
template <> struct tri_couple_bytes<16> {
  uint4 v;
  __device__ __forceinline__ uint32_t word(int k) const {
    return k == 0 ? v.x : k == 1 ? v.y : k == 2 ? v.z : v.w;
  }
};

/** Scores of a lane's letters with one of each text. */
template <class SHAPE> struct tri_couple_scores {
  typedef tri_couple_bytes<SHAPE::MOST> bytes;
  bytes a, b;

  __device__ __forceinline__ tri_couple_scores(const char *base, uint32_t letters)
      : a(*(const bytes *)(base + (letters & 0xffffu))),
        b(*(const bytes *)(base + SHAPE::HALF + (letters >> 16))) {
  }
  /** Byte k of both, with their signs: 8 more in a place of the selector repeats the sign. */
  __device__ __forceinline__ uint32_t operator[](int k) const {
    const uint32_t q = (uint32_t)k % 4;
    const uint32_t selector = q | (q | 8) << 4 | (4 + q) << 8 | ((4 + q) | 8) << 12;
    uint32_t both;
    asm("prmt.b32 %0, %1, %2, %3;"
        : "=r"(both)
        : "r"(a.word(k / 4)), "r"(b.word(k / 4)), "r"(selector));
    return both;
  }
};

/** Letter t of both texts, as distances in the profile. */
template <class SHAPE>
static __device__ __forceinline__ uint32_t tri_couple_letters(const tri_letters_args &s,
                                                              const tri_couple &c, int t) {
  uint32_t letter[2];
#pragma unroll
  for (int pair = 0; pair < 2; pair++)
    letter[pair] = t < c.text[pair].n ? (uint32_t)__ldg(s.codes + c.text[pair].start + t)
                                      : (uint32_t)s.n_codes;
  return letter[0] * SHAPE::ROW | letter[1] * SHAPE::ROW << 16;
}

/** What comes to the table's first row from above letter t. */
template <tri_function OF>
static __device__ __forceinline__ uint2 tri_couple_above(const tri_letters_args &s, int t) {
  const uint32_t edge = tri_align_edge<OF>(s.p, t + 1);
  return make_uint2(edge, edge);
}

/** The lane's letters from `first` + K lane on, through the texts; `steps` of the whole warp. */
template <class SHAPE, int K, tri_function OF>
static __device__ __forceinline__ void tri_couple_tile(const tri_letters_args &s,
                                                       const tri_couple &c, int first, bool more,
                                                       int steps, tri_align_tile<K> &tile) {
  enum { LANES = SHAPE::LANES };
  const int lane = tri_couple_lane<SHAPE>(), mine = first + lane * K;
  const bool loads = first > 0 && lane == 0, stores = more && lane == LANES - 1;
  uint32_t letters = 0, above = 0, f = 0, coming = tri_couple_letters<SHAPE>(s, c, lane);
  uint2 next = tri_couple_above<OF>(s, 0);
  if (loads && c.n > 0) next = c.edges[0];
  tri_align_begin<OF>(s.p, mine, tile);
#pragma unroll 2
  for (int step = 0; step < steps; step++) {
    const int t = step - lane, q = step % LANES;
    if (lane == q) letters = coming;
    if (q == LANES - 1) coming = tri_couple_letters<SHAPE>(s, c, step + 1 + lane);
    const uint32_t both = __shfl_sync(0xffffffffu, letters, t & (LANES - 1), LANES);
    above = __shfl_up_sync(0xffffffffu, above, 1, LANES);
    f = __shfl_up_sync(0xffffffffu, f, 1, LANES);
    above = lane == 0 ? next.x : above, f = lane == 0 ? next.y : f;
    if (OF != TRI_LOCAL && first == 0) next = tri_couple_above<OF>(s, step + 1);
    if (loads && step + 1 < c.n) next = c.edges[step + 1];
    if ((unsigned)t < (unsigned)c.n) {
      const tri_couple_scores<SHAPE> scores(c.base, both);
      tri_align_step<OF>(s.p, scores, tile, above, f);
#pragma unroll
      for (int pair = 0; pair < 2; pair++)
        if (OF == TRI_GLOBAL && t + 1 == c.text[pair].n)
          tri_align_end(pair, c.pattern[pair].n - 1 - mine, tile);
    }
    if (stores && (unsigned)t < (unsigned)c.n) c.edges[t] = make_uint2(above, f);
  }
  __syncwarp();
}

/** All tiles of patterns of up to `longest` letters and texts of up to n. @return of lane 0 the
 *  scores of its couple */
template <bool LIST, class SHAPE, int K, tri_function OF>
static __device__ __forceinline__ int2 tri_couple_run(const tri_letters_args &s,
                                                      const tri_couple &c, int longest, int n,
                                                      const uint32_t *table) {
  const int wide = K * SHAPE::LANES, lane = tri_couple_lane<SHAPE>();
  tri_align_tile<K> tile;
  tile.best = tri_two_all(tri_couple_zero<OF>());
#pragma unroll
  for (int pair = 0; pair < 2; pair++) {
    const bool empty = c.pattern[pair].n == 0 || c.text[pair].n == 0;
    tile.result[pair] =
        empty ? tri_paired_empty(s.p, c.pattern[pair].n, c.text[pair].n) : INT32_MIN;
  }
  for (int first = 0; first < longest && n > 0; first += wide) {
    const bool more = first + wide < longest;
    tri_couple_profile<LIST, SHAPE, K>(s, c, first + lane * K, table);
    tri_couple_tile<SHAPE, K, OF>(s, c, first, more, n + SHAPE::LANES - 1, tile);
  }
  for (int d = SHAPE::LANES / 2; d > 0; d /= 2) {
    tile.best = __vmaxs2(tile.best, __shfl_xor_sync(0xffffffffu, tile.best, d));
#pragma unroll
    for (int pair = 0; pair < 2; pair++)
      tile.result[pair] =
          max(tile.result[pair], __shfl_xor_sync(0xffffffffu, tile.result[pair], d));
  }
  if (OF == TRI_GLOBAL) return make_int2(tile.result[0], tile.result[1]);
  return make_int2(tri_two_value(tile.best, 0) - tri_couple_zero<OF>(),
                   tri_two_value(tile.best, 1) - tri_couple_zero<OF>());
}

/** Of a warp's couples. */
template <class SHAPE> static __device__ __forceinline__ int tri_couple_most(int x) {
  for (int d = SHAPE::LANES; d < 32; d *= 2) x = max(x, __shfl_xor_sync(0xffffffffu, x, d));
  return x;
}

/** By `each` letters of a lane, K or more. */
template <bool LIST, class SHAPE, int K, tri_function OF> struct tri_couple_pick {
  static __device__ __forceinline__ int2 scores(const tri_letters_args &s, const tri_couple &c,
                                                int longest, int n, const uint32_t *table) {
    if (tri_couple_each<SHAPE>(longest) <= K)
      return tri_couple_run<LIST, SHAPE, K, OF>(s, c, longest, n, table);
    return tri_couple_pick<LIST, SHAPE, K + SHAPE::STEP, OF>::scores(s, c, longest, n, table);
  }
};
template <class SHAPE, tri_function OF> struct tri_couple_pick<true, SHAPE, 8, OF> {
  static __device__ __forceinline__ int2 scores(const tri_letters_args &s, const tri_couple &c,
                                                int longest, int n, const uint32_t *table) {
    return tri_couple_run<true, SHAPE, 8, OF>(s, c, longest, n, table);
  }
};
template <class SHAPE, tri_function OF> struct tri_couple_pick<false, SHAPE, 16, OF> {
  static __device__ __forceinline__ int2 scores(const tri_letters_args &s, const tri_couple &c,
                                                int longest, int n, const uint32_t *table) {
    return tri_couple_run<false, SHAPE, 16, OF>(s, c, longest, n, table);
  }
};

/** The couples of an item; edges: the warp's. */
template <bool LIST, bool WHOLE, tri_function OF>
static __device__ __forceinline__ void
tri_couple_do(const tri_letters_args &s, const tri_pairs &pairs, const tri_couple_item &it,
              char *profile, const uint32_t *table, uint2 *edges) {
  typedef tri_couple_shape<LIST, WHOLE> shape;
  const int lane = tri_couple_lane<shape>(), sign = s.p.similar ? -1 : 1;
  tri_couple c;
  c.group = (int)threadIdx.x / shape::LANES;
  c.base = profile + (LIST ? (int)threadIdx.x : lane) * shape::MOST;
  c.edges = edges + (int64_t)c.group * pairs.most;
  tri_couple_find<LIST, OF>(s, pairs, it, 2 * c.group, lane == 0, c);
  const int longest = tri_couple_most<shape>(max(c.pattern[0].n, c.pattern[1].n));
  const int n = tri_couple_most<shape>(c.n);
  const bool deep = OF != TRI_EXTENSION || tri_couple_deep<shape>(&s.p, longest, n);
  const int2 scores =
      tri_couple_pick<LIST, shape, shape::STEP, OF>::scores(s, c, longest, deep ? n : 0, table);
#pragma unroll
  for (int pair = 0; pair < 2; pair++) {
    const int value = pair == 0 ? scores.x : scores.y;
    if (lane == 0 && c.row[pair] >= 0)
      tri_pairs_put(pairs, c.row[pair], c.column[pair], sign * value,
                    OF == TRI_GLOBAL || (deep && value <= tri_couple_largest<OF>(&s.p)));
  }
}

/** Letters of texts for which a warp has memory. */
TSL_FN int64_t tri_couple_edges(const tri_pairs *pairs) {
  const int64_t groups = (int64_t)tri_couple_shape<false, false>::GROUPS * pairs->most;
  return groups > pairs->longest ? groups : pairs->longest;
}

/** Blocks of a warp take items from a common counter, those of long sequences first. */
template <bool LIST, tri_function OF>
static __global__ void __launch_bounds__(32, TRI_COUPLE_WARPS)
    tri_couples_kernel(tri_letters_args s, tri_pairs pairs, unsigned *counter) {
  extern __shared__ uint4 memory[];
  uint32_t *const table = (uint32_t *)memory;
  char *const profile = (char *)(table + (s.n_codes + 4) / 4 * 4 * TRI_SCORES_WORDS);
  uint2 *const edges = (uint2 *)s.below + blockIdx.x * tri_couple_edges(&pairs);
  tri_couple_item it;
  tri_couple_table(s, table);
  __syncwarp();
  for (;;) {
    const unsigned item =
        __shfl_sync(0xffffffffu, threadIdx.x == 0 ? atomicAdd(counter, 1u) : 0u, 0);
    const bool any =
        LIST ? tri_couple_of_list(pairs, item, it) : tri_couple_of_rows(pairs, item, it);
    if (!any) return;
    if (it.whole)
      tri_couple_do<LIST, true, OF>(s, pairs, it, profile, table, edges);
    else
      tri_couple_do<LIST, false, OF>(s, pairs, it, profile, table, edges);
  }
}

/** Value number k is to be computed in 32 bits. */
static __device__ __forceinline__ bool tri_pairs_unknown(const tri_pairs &pairs, int64_t k) {
  return pairs.wide ? isnan(((const double *)pairs.out)[k]) : isnan(((const float *)pairs.out)[k]);
}

/** The n values that are no numbers: a warp has a pair, and looks for it among 32 values that it
 *  takes from a common counter. */
template <tri_function OF>
static __global__ void __launch_bounds__(TRI_LETTERS_THREADS)
    tri_pairs_again(tri_letters_args s, tri_pairs pairs, int64_t n, unsigned *counter) {
  __shared__ int scores[TRI_SCORES_LD * TRI_SCORES_LD];
  const int lane = (int)threadIdx.x % 32, sign = s.p.similar ? -1 : 1;
  const int64_t warp = ((int64_t)blockIdx.x * TRI_LETTERS_THREADS + threadIdx.x) / 32;
  tri_warp_scores(s, scores);
  __syncthreads();
  for (;;) {
    const unsigned taken = __shfl_sync(0xffffffffu, lane == 0 ? atomicAdd(counter, 1u) : 0u, 0);
    const int64_t first = (int64_t)taken * 32, k = first + lane;
    if (first >= n) return;
    unsigned left = __ballot_sync(0xffffffffu, k < n && tri_pairs_unknown(pairs, k));
    for (; left != 0; left &= left - 1) {
      const int64_t at = first + __ffs((int)left) - 1;
      const bool list = pairs.columns == NULL;
      const int column = (int)(list ? pairs.lo + at : pairs.first + at % pairs.ld);
      const int row = (int)(list ? s.p.first + column : pairs.lo + at / pairs.ld);
      tri_warp_pair t = tri_warp_pair_of<OF>(s, row, column);
      tri_warp_best best;
      t.scores = scores;
      t.edges = (int2 *)s.below + warp * pairs.longest;
      const int value = tri_warp_table_run<OF, false>(t, lane, &best);
      if (lane == 0) tri_pairs_put(pairs, row, column, sign * value, true);
    }
  }
}
