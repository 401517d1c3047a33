/**
 * @file tri_couples.cuh
 * Scores of pairs of sequences of a list on a card. Two pairs of like lengths share registers, 16
 * bits each (tri_align_two), and eight lanes of a warp have such a couple: neighbouring letters of
 * the patterns, up to 16 for each lane, whose column of the table is in registers. The texts go
 * through the lanes, each a letter behind the lane before, from which it has what comes from above.
 * Patterns longer than the lanes hold take several tiles of equal size; what leaves a tile below
 * waits in memory for the next.
 *
 * A profile in shared memory has the scores of a tile's letters with each of the alphabet, a byte
 * each: a lane reads those of its letters with one of a text by one load of 16 bytes, and lanes of
 * a couple read different banks whatever their texts' letters are.
 */
#pragma once

#include "tri_paired.cuh"

enum {
  TRI_COUPLE_LANES = 8,
  TRI_COUPLE_MOST = 16,                      /**< letters of a lane */
  TRI_COUPLE_GROUPS = 32 / TRI_COUPLE_LANES, /**< of a warp */
  TRI_COUPLE_ITEM = 2 * TRI_COUPLE_GROUPS,   /**< pairs of a warp */
  TRI_COUPLE_HALF = 32 * TRI_COUPLE_MOST,    /**< bytes of a letter's scores with a warp's pairs */
  TRI_COUPLE_ROW = 2 * TRI_COUPLE_HALF,      /**< of both pairs of each couple */
  TRI_COUPLE_LETTERS = TRI_COUPLE_LANES * TRI_COUPLE_MOST, /**< of a tile at most */
  TRI_SCORES_WORDS = TRI_LETTERS_SCORED / 4 + 1            /**< of a letter's scores as bytes */
};

/** Letters of a lane in each tile for a pattern of n letters: even, at least 4. */
TSL_FN int tri_couple_each(int n) {
  const int tiles = (n + TRI_COUPLE_LETTERS - 1) / TRI_COUPLE_LETTERS;
  const int each = n > 0 ? (n + TRI_COUPLE_LANES * tiles - 1) / (TRI_COUPLE_LANES * tiles) : 0;
  return each <= 4 ? 4 : (each + 1) / 2 * 2;
}

/** Bytes of shared memory of a warp. */
TSL_FN int tri_couple_shared(int codes) {
  return (codes + 1) * TRI_COUPLE_ROW + TRI_SCORES_WORDS * (codes + 1) * 4;
}

/** Does a score fit its byte? */
TSL_FN bool tri_couple_fits(const tri_params *p) {
  const int gap = p->open + p->extend;
  return gap + p->most <= INT8_MAX && gap + p->least >= INT8_MIN && gap <= INT8_MAX;
}

/** A lane's couple. */
typedef struct tri_couple {
  int row[2]; /**< -1: none */
  tri_paired_sequence pattern[2], text[2];
  int n;            /**< letters of the longer text */
  const char *base; /**< shared: the lane's place in the profile */
  uint2 *edges;     /**< what leaves a tile below, for each letter of the text */
} tri_couple;

static __device__ __forceinline__ int tri_couple_lane(void) {
  return (int)threadIdx.x % TRI_COUPLE_LANES;
}

/** The couple of this lane, of pairs from number `at` of the list on. */
static __device__ __forceinline__ void
tri_couple_find(const tri_letters_args &s, const tri_paired_list &list, int64_t at, tri_couple &c) {
#pragma unroll
  for (int pair = 0; pair < 2; pair++) {
    c.row[pair] = at + pair < list.n ? list.rows[at + pair] : -1;
    c.pattern[pair].start = c.text[pair].start = c.pattern[pair].n = c.text[pair].n = 0;
    if (c.row[pair] < 0) continue;
    c.pattern[pair] = tri_paired_find(s, s.p.first + c.row[pair]);
    c.text[pair] = tri_paired_find(s, c.row[pair]);
  }
  c.n = max(c.text[0].n, c.text[1].n);
}

/** Scores of each letter of a pattern with those of a text, bytes, raised as tri_align_profile has
 *  them: [codes + 1][WORDS]; all threads. */
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

/** The lane's part of the profile: its letters from `first` on of both patterns. */
template <int K>
static __device__ __forceinline__ void tri_couple_profile(const tri_letters_args &s,
                                                          const tri_couple &c, int first,
                                                          const uint32_t *table) {
  enum { WORDS = (K + 3) / 4 };
  for (int pair = 0; pair < 2; pair++) {
    const tri_paired_sequence pattern = pair == 0 ? c.pattern[0] : c.pattern[1];
    uint32_t four[WORDS], *to = (uint32_t *)(c.base + pair * TRI_COUPLE_HALF);
#pragma unroll
    for (int k = 0; k < WORDS; k++) four[k] = tri_paired_four(s, pattern, first + 4 * k);
    for (int code = 0; code <= s.n_codes; code += 4) {
#pragma unroll
      for (int k = 0; k < WORDS; k++) {
        uint32_t in[4], out[4];
#pragma unroll
        for (int q = 0; q < 4; q++)
          in[q] = table[(four[k] >> 8 * q & 255) * TRI_SCORES_WORDS + code / 4];
        tri_couple_turn(in, out);
#pragma unroll
        for (int q = 0; q < 4; q++)
          if (code + q <= s.n_codes) to[(code + q) * (TRI_COUPLE_ROW / 4) + k] = out[q];
      }
    }
  }
}

/** Scores of a lane's letters with one of each text. */
struct tri_couple_scores {
  uint4 a, b;

  __device__ __forceinline__ tri_couple_scores(const char *base, uint32_t letters)
      : a(*(const uint4 *)(base + (letters & 0xffffu))),
        b(*(const uint4 *)(base + TRI_COUPLE_HALF + (letters >> 16))) {
  }
  static __device__ __forceinline__ uint32_t word(const uint4 &v, int k) {
    return k == 0 ? v.x : k == 1 ? v.y : k == 2 ? v.z : v.w;
  }
  /** Byte k of both, with their signs: 8 more in a place of the selector repeats the sign. */
  __device__ __forceinline__ uint32_t operator[](int k) const {
    const uint32_t q = (uint32_t)k % 4;
    const uint32_t selector = q | (q | 8) << 4 | (4 + q) << 8 | ((4 + q) | 8) << 12;
    uint32_t both;
    asm("prmt.b32 %0, %1, %2, %3;"
        : "=r"(both)
        : "r"(word(a, k / 4)), "r"(word(b, k / 4)), "r"(selector));
    return both;
  }
};

/** Letter t of both texts, as distances in the profile. */
static __device__ __forceinline__ uint32_t tri_couple_letters(const tri_letters_args &s,
                                                              const tri_couple &c, int t) {
  uint32_t letter[2];
#pragma unroll
  for (int pair = 0; pair < 2; pair++)
    letter[pair] = t < c.text[pair].n ? (uint32_t)__ldg(s.codes + c.text[pair].start + t)
                                      : (uint32_t)s.n_codes;
  return letter[0] * TRI_COUPLE_ROW | letter[1] * TRI_COUPLE_ROW << 16;
}

/** What comes to a tile from above letter t. */
template <bool LOCAL>
static __device__ __forceinline__ uint2 tri_couple_above(const tri_letters_args &s,
                                                         const tri_couple &c, int first, int t) {
  const uint32_t edge = tri_align_edge<tri_align_two, LOCAL>(s.p, t + 1);
  return first > 0 && t < c.n ? c.edges[t] : make_uint2(edge, edge);
}

/** The lane's letters from `first` + K lane on, through the texts; `steps` of the whole warp. */
template <int K, bool LOCAL>
static __device__ __forceinline__ void
tri_couple_tile(const tri_letters_args &s, const tri_couple &c, int first, bool more, int steps,
                tri_align_tile<tri_align_two, K> &tile) {
  const int lane = tri_couple_lane(), mine = first + lane * K;
  uint32_t letters = 0, above = 0, f = 0, coming = tri_couple_letters(s, c, lane);
  uint2 next = tri_couple_above<LOCAL>(s, c, first, 0);
  tri_align_begin<tri_align_two, LOCAL>(s.p, mine, tile);
  for (int step = 0; step < steps; step++) {
    const int t = step - lane, q = step % TRI_COUPLE_LANES;
    if (lane == q) letters = coming;
    if (q == TRI_COUPLE_LANES - 1) coming = tri_couple_letters(s, c, step + 1 + lane);
    const uint32_t both =
        __shfl_sync(0xffffffffu, letters, t & (TRI_COUPLE_LANES - 1), TRI_COUPLE_LANES);
    above = __shfl_up_sync(0xffffffffu, above, 1, TRI_COUPLE_LANES);
    f = __shfl_up_sync(0xffffffffu, f, 1, TRI_COUPLE_LANES);
    if (lane == 0) {
      above = next.x, f = next.y;
      next = tri_couple_above<LOCAL>(s, c, first, step + 1);
    }
    if ((unsigned)t >= (unsigned)c.n) continue;
    const tri_couple_scores scores(c.base, both);
    tri_align_step<tri_align_two, LOCAL>(s.p, scores, tile, above, f);
    if (more && lane == TRI_COUPLE_LANES - 1) c.edges[t] = make_uint2(above, f);
#pragma unroll
    for (int pair = 0; pair < 2; pair++)
      if (!LOCAL && t + 1 == c.text[pair].n)
        tri_align_end<tri_align_two>(pair, c.pattern[pair].n - 1 - mine, tile);
  }
  __syncwarp();
}

/** All tiles of patterns of up to `longest` letters and texts of up to n. @return of lane 0 the
 *  scores of its couple */
template <int K, bool LOCAL>
static __device__ __forceinline__ int2 tri_couple_run(const tri_letters_args &s,
                                                      const tri_couple &c, int longest, int n,
                                                      const uint32_t *table) {
  const int wide = K * TRI_COUPLE_LANES;
  tri_align_tile<tri_align_two, K> tile;
  tile.best = 0;
#pragma unroll
  for (int pair = 0; pair < 2; pair++) {
    const bool empty = c.pattern[pair].n == 0 || c.text[pair].n == 0;
    tile.result[pair] =
        empty ? tri_paired_empty(s.p, c.pattern[pair].n, c.text[pair].n) : INT32_MIN;
  }
  for (int first = 0; first < longest && n > 0; first += wide) {
    tri_couple_profile<K>(s, c, first + tri_couple_lane() * K, table);
    tri_couple_tile<K, LOCAL>(s, c, first, first + wide < longest, n + TRI_COUPLE_LANES - 1, tile);
  }
  for (int d = TRI_COUPLE_LANES / 2; d > 0; d /= 2) {
    tile.best = __vmaxs2(tile.best, __shfl_xor_sync(0xffffffffu, tile.best, d));
#pragma unroll
    for (int pair = 0; pair < 2; pair++)
      tile.result[pair] =
          max(tile.result[pair], __shfl_xor_sync(0xffffffffu, tile.result[pair], d));
  }
  if (!LOCAL) return make_int2(tile.result[0], tile.result[1]);
  return make_int2(tri_align_two::value(tile.best, 0), tri_align_two::value(tile.best, 1));
}

/** Of a warp's couples. */
static __device__ __forceinline__ int tri_couple_most(int x) {
  for (int d = TRI_COUPLE_LANES; d < 32; d *= 2) x = max(x, __shfl_xor_sync(0xffffffffu, x, d));
  return x;
}

template <bool LOCAL>
static __device__ __forceinline__ int2 tri_couple_scores_of(const tri_letters_args &s,
                                                            const tri_couple &c,
                                                            const uint32_t *table) {
  const int longest = tri_couple_most(max(c.pattern[0].n, c.pattern[1].n));
  const int n = tri_couple_most(c.n);
  switch (tri_couple_each(longest)) {
  case 4:
    return tri_couple_run<4, LOCAL>(s, c, longest, n, table);
  case 6:
    return tri_couple_run<6, LOCAL>(s, c, longest, n, table);
  case 8:
    return tri_couple_run<8, LOCAL>(s, c, longest, n, table);
  case 10:
    return tri_couple_run<10, LOCAL>(s, c, longest, n, table);
  case 12:
    return tri_couple_run<12, LOCAL>(s, c, longest, n, table);
  case 14:
    return tri_couple_run<14, LOCAL>(s, c, longest, n, table);
  default:
    return tri_couple_run<TRI_COUPLE_MOST, LOCAL>(s, c, longest, n, table);
  }
}

/** Blocks of a warp take eight pairs of the list at a time from a common counter. */
template <bool LOCAL>
static __global__ void __launch_bounds__(32)
    tri_couples_kernel(tri_letters_args s, tri_paired_list list, unsigned *counter) {
  extern __shared__ uint4 profile[];
  uint32_t *const table = (uint32_t *)((char *)profile + (s.n_codes + 1) * TRI_COUPLE_ROW);
  const int group = (int)threadIdx.x / TRI_COUPLE_LANES, sign = s.p.similar ? -1 : 1;
  tri_couple c;
  c.base = (const char *)(profile + threadIdx.x);
  c.edges = (uint2 *)s.below + ((int64_t)blockIdx.x * TRI_COUPLE_GROUPS + group) * list.most;
  tri_couple_table(s, table);
  __syncwarp();
  for (;;) {
    const unsigned item =
        __shfl_sync(0xffffffffu, threadIdx.x == 0 ? atomicAdd(counter, 1u) : 0u, 0);
    const int64_t at = *list.n_large + (int64_t)item * TRI_COUPLE_ITEM;
    if (at >= list.n) return;
    tri_couple_find(s, list, at + 2 * group, c);
    const int2 scores = tri_couple_scores_of<LOCAL>(s, c, table);
    if (tri_couple_lane() != 0) continue;
    if (c.row[0] >= 0) tri_paired_put(list, c.row[0], sign * scores.x);
    if (c.row[1] >= 0) tri_paired_put(list, c.row[1], sign * scores.y);
  }
}
