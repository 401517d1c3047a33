/**
 * @file tri_align.cuh
 * Scores of alignments on a card, for tri_letters.cu. A block has one row, the pattern, TILE
 * letters of it at a time: a thread keeps their column of the table in registers and takes it
 * through its text, or the texts of two columns in halves of 16 bits where their tables fit
 * (tri_is_narrow). What leaves the tile below waits in memory for the next one. A profile in shared
 * memory has the tile's scores with each letter; rows of it are apart by an odd number of 8 bytes,
 * so that lanes with different letters mostly read different banks.
 *
 * Gotoh 1982, J. Mol. Biol. 162:705, on G = H - open - extend as sockets have it
 * (tri_cpu_letters.h).
 */
#ifndef TSL_GPU_TRI_ALIGN_CUH
#define TSL_GPU_TRI_ALIGN_CUH

#include "tri_letters.cuh"

enum { TRI_ALIGN_TILE = 32, TRI_ALIGN_ROW = TRI_ALIGN_TILE + 4 /**< of the profile */ };

/** Two tables, 16 bits of a register each. */
struct tri_align_two {
  typedef uint32_t V;
  typedef int16_t S;
  static const int PAIRS = 2, MINUS = TRI_NARROW_MINUS;

  static __device__ __forceinline__ V all(int x) {
    return ((uint32_t)x & 0xffffu) * 0x10001u;
  }
  static __device__ __forceinline__ V add_max(V a, V b, V c) {
    return __viaddmax_s16x2(a, b, c);
  }
  template <bool LOCAL> static __device__ __forceinline__ V larger(V a, V b) {
    return LOCAL ? __vimax_s16x2_relu(a, b) : __vmaxs2(a, b);
  }
  static __device__ __forceinline__ int value(V v, int pair) {
    return pair == 0 ? (int)(int16_t)(v & 0xffffu) : (int32_t)v >> 16;
  }
  /** Scores of letters k..k+3 of the tile with a letter of each text. */
  static __device__ __forceinline__ void scores(const S *const (&row)[2], int k, V (&s)[4]) {
    const uint2 a = *(const uint2 *)(row[0] + k), b = *(const uint2 *)(row[1] + k);
    s[0] = __byte_perm(a.x, b.x, 0x5410), s[1] = __byte_perm(a.x, b.x, 0x7632);
    s[2] = __byte_perm(a.y, b.y, 0x5410), s[3] = __byte_perm(a.y, b.y, 0x7632);
  }
};

/** One table of 32 bits. */
struct tri_align_one {
  typedef int32_t V;
  typedef int32_t S;
  static const int PAIRS = 1, MINUS = INT32_MIN / 2;

  static __device__ __forceinline__ V all(int x) {
    return x;
  }
  static __device__ __forceinline__ V add_max(V a, V b, V c) {
    return __viaddmax_s32(a, b, c);
  }
  template <bool LOCAL> static __device__ __forceinline__ V larger(V a, V b) {
    return LOCAL ? __vimax_s32_relu(a, b) : max(a, b);
  }
  static __device__ __forceinline__ int value(V v, int) {
    return v;
  }
  static __device__ __forceinline__ void scores(const S *const (&row)[1], int k, V (&s)[4]) {
    const int4 four = *(const int4 *)(row[0] + k);
    s[0] = four.x, s[1] = four.y, s[2] = four.z, s[3] = four.w;
  }
};

/** A thread's texts. */
template <class P> struct tri_align_texts {
  const uint32_t *words[P::PAIRS]; /**< 32 lanes apart */
  int column[P::PAIRS];            /**< -1: none, or not of the strip */
  int n[P::PAIRS];                 /**< letters */
  int own[P::PAIRS];               /**< words of the group; after them come none of its letters */
  int n_words;                     /**< of the warp's longest group */
  uint32_t none;                   /**< four letters that are worth nothing */
};

/** A tile of the pattern: letters [first, first + TILE). */
template <class P> struct tri_align_tile {
  typename P::V g[TRI_ALIGN_TILE], along[TRI_ALIGN_TILE]; /**< G; gaps in the pattern */
  typename P::V corner, best;
  int result[P::PAIRS]; /**< GLOBAL */
};

/** H at the table's edge, k letters from its corner. */
template <bool LOCAL>
static __device__ __forceinline__ int tri_align_edge(const tri_params &p, int k) {
  return LOCAL || k == 0 ? 0 : -(p.open + k * p.extend);
}

/** Scores of the tile's letters with each of the alphabet, and with none; all threads. */
template <class P>
static __device__ __forceinline__ void tri_align_profile(const tri_letters_args &s, int row,
                                                         int pattern, int first,
                                                         typename P::S *profile) {
  const int codes = s.n_codes, gap = s.p.open + s.p.extend, least = min(s.p.least, 0);
  const uint8_t *const letters = s.codes + s.starts[row];
  for (int e = (int)threadIdx.x; e < (codes + 1) * TRI_ALIGN_TILE; e += TRI_LETTERS_THREADS) {
    const int c = e / TRI_ALIGN_TILE, k = e % TRI_ALIGN_TILE, at = first + k;
    const bool there = c < codes && at < pattern;
    const int score = there ? s.scores[(int)letters[at] * codes + c] : least;
    profile[c * TRI_ALIGN_ROW + k] = (typename P::S)(score + gap);
  }
}

/** Before the first letter of the texts. */
template <class P, bool LOCAL>
static __device__ __forceinline__ void tri_align_begin(const tri_params &p, int first,
                                                       tri_align_tile<P> &tile) {
  const int gap = p.open + p.extend;
  tile.corner = P::all(tri_align_edge<LOCAL>(p, first) - gap);
#pragma unroll
  for (int k = 0; k < TRI_ALIGN_TILE; k++) {
    tile.g[k] = P::all(tri_align_edge<LOCAL>(p, first + k + 1) - gap);
    tile.along[k] = P::all(P::MINUS);
  }
}

/** A letter of each text: above and f come from the tile above and go to the one below. */
template <class P, bool LOCAL>
static __device__ __forceinline__ void
tri_align_step(const tri_params &p, const typename P::S *const (&row)[P::PAIRS],
               tri_align_tile<P> &tile, typename P::V &above, typename P::V &f) {
  typedef typename P::V V;
  const V less_extend = P::all(-p.extend), less_gap = P::all(-p.open - p.extend);
  const V minus = P::all(P::MINUS), entered = above;
  V corner = tile.corner;
#pragma unroll
  for (int k = 0; k < TRI_ALIGN_TILE; k += 4) {
    V s[4];
    P::scores(row, k, s);
#pragma unroll
    for (int q = 0; q < 4; q++) {
      const V left = tile.g[k + q];
      tile.along[k + q] = P::add_max(tile.along[k + q], less_extend, left);
      f = P::add_max(f, less_extend, above);
      const V h = P::template larger<LOCAL>(P::add_max(corner, s[q], tile.along[k + q]), f);
      if (LOCAL) tile.best = P::template larger<false>(tile.best, h);
      corner = left;
      above = tile.g[k + q] = P::add_max(h, less_gap, minus);
    }
  }
  tile.corner = entered;
}

/** GLOBAL: a text of these ends here, and the pattern with letter `last` of the tile. */
template <class P>
static __device__ __forceinline__ void tri_align_end(const tri_params &p, int last, int t,
                                                     const tri_align_texts<P> &texts,
                                                     tri_align_tile<P> &tile) {
  typename P::V g = tile.g[0];
#pragma unroll
  for (int k = 1; k < TRI_ALIGN_TILE; k++)
    if (k == last) g = tile.g[k];
#pragma unroll
  for (int pair = 0; pair < P::PAIRS; pair++)
    if (t + 1 == texts.n[pair]) tile.result[pair] = P::value(g, pair) + p.open + p.extend;
}

/** The tile through the texts; last: the pattern's last letter if it is in this tile, else -1. */
template <class P, bool LOCAL>
static __device__ __forceinline__ void
tri_align_through(const tri_params &p, const typename P::S *profile, int first, int last,
                  const tri_align_texts<P> &texts, typename P::V *below, tri_align_tile<P> &tile) {
  typedef typename P::V V;
  const int gap = p.open + p.extend;
  tri_align_begin<P, LOCAL>(p, first, tile);
  for (int w = 0; w < texts.n_words; w++) {
    uint32_t four[P::PAIRS];
#pragma unroll
    for (int pair = 0; pair < P::PAIRS; pair++)
      four[pair] = w < texts.own[pair] ? __ldg(texts.words[pair] + (int64_t)w * TRI_LETTERS_GROUP)
                                       : texts.none;
    for (int q = 0; q < TRI_LETTERS_PACKED; q++) {
      const int t = w * TRI_LETTERS_PACKED + q;
      V *const waiting = below + (int64_t)t * 2 * TRI_LETTERS_THREADS;
      V above = P::all(tri_align_edge<LOCAL>(p, t + 1) - gap), f = P::all(P::MINUS);
      const typename P::S *row[P::PAIRS];
      if (first > 0) above = waiting[0], f = waiting[TRI_LETTERS_THREADS];
#pragma unroll
      for (int pair = 0; pair < P::PAIRS; pair++) {
        row[pair] = profile + (int)(four[pair] & 255) * TRI_ALIGN_ROW;
        four[pair] >>= 8;
      }
      tri_align_step<P, LOCAL>(p, row, tile, above, f);
      if (last < 0) waiting[0] = above, waiting[TRI_LETTERS_THREADS] = f;
      if (!LOCAL && last >= 0) tri_align_end<P>(p, last, t, texts, tile);
    }
  }
}

/** The texts of a warp: PAIRS groups from `group` on. @return letters of the longest, padded */
template <class P, class R>
static __device__ __forceinline__ int tri_align_texts_of(const tri_letters_args &s,
                                                         const tri_letters_strip_of<R> &o,
                                                         int group, tri_align_texts<P> &texts) {
  const int lane = (int)threadIdx.x % 32;
  bool any = false;
  texts.n_words = 0;
  texts.none = (uint32_t)s.n_codes * 0x01010101u;
#pragma unroll
  for (int pair = 0; pair < P::PAIRS; pair++) {
    const int g = min(group + pair, o.g1 - 1);
    texts.column[pair] = group + pair < o.g1 ? tri_letters_column_of(s, o, g) : -1;
    const int column = max(texts.column[pair], 0);
    texts.n[pair] = (int)(s.starts[column + 1] - s.starts[column]);
    texts.words[pair] = s.texts + s.first[g] * 32 + lane;
    texts.own[pair] = (int)(s.first[g + 1] - s.first[g]);
    texts.n_words = max(texts.n_words, texts.own[pair]);
    any = any || texts.column[pair] >= 0;
  }
  if (!__any_sync(0xffffffffu, any)) texts.n_words = 0;
  return texts.n_words * TRI_LETTERS_PACKED;
}

/** Which items a launch takes: those whose longest text has from `from` to `to` letters. */
typedef struct tri_align_range {
  int from, to;
} tri_align_range;

/** Blocks take row after row and groups of columns. */
template <class P, bool LOCAL, class R>
static __global__ void __launch_bounds__(TRI_LETTERS_THREADS, 4)
    tri_align_kernel(tri_letters_args s, tri_letters_strip_of<R> o, tri_align_range range) {
  __shared__ alignas(16) typename P::S profile[(TRI_LETTERS_SCORED + 1) * TRI_ALIGN_ROW];
  typedef typename P::V V;
  const int warps = TRI_LETTERS_THREADS / 32, each = warps * P::PAIRS;
  const int across = (o.g1 - o.g0 + each - 1) / each, sign = s.p.similar ? -1 : 1;
  V *const below =
      (V *)s.below + (int64_t)blockIdx.x * range.to * 2 * TRI_LETTERS_THREADS + threadIdx.x;
  for (int64_t item = blockIdx.x; item < (int64_t)across * (o.b - o.a); item += gridDim.x) {
    const int row = o.a + (int)(item / across);
    const int pattern = (int)(s.starts[row + 1] - s.starts[row]);
    const int group = o.g0 + (int)(item % across) * each + (int)threadIdx.x / 32 * P::PAIRS;
    tri_align_texts<P> texts;
    tri_align_tile<P> tile;
    const int n = tri_align_texts_of<P>(s, o, group, texts);
    const bool narrow = tri_is_narrow(pattern, n, &s.p);
    if (n < range.from || n > range.to || narrow != (P::PAIRS == 2)) texts.n_words = 0;
    if (__syncthreads_or(texts.n_words) == 0) continue;
    tile.best = P::all(0);
#pragma unroll
    for (int pair = 0; pair < P::PAIRS; pair++) tile.result[pair] = 0;
    for (int first = 0; first < pattern; first += TRI_ALIGN_TILE) {
      const int last = pattern - 1 - first < TRI_ALIGN_TILE ? pattern - 1 - first : -1;
      __syncthreads();
      tri_align_profile<P>(s, row, pattern, first, profile);
      __syncthreads();
      tri_align_through<P, LOCAL>(s.p, profile, first, last, texts, below, tile);
    }
    if (texts.n_words == 0) continue;
#pragma unroll
    for (int pair = 0; pair < P::PAIRS; pair++)
      if (texts.column[pair] >= 0)
        o.out[(int64_t)(row - o.a) * (o.c1 - o.c0) + texts.column[pair] - o.c0] =
            (R)(sign * (LOCAL ? P::value(tile.best, pair) : tile.result[pair]));
  }
}

#endif
