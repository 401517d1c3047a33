/**
 * @file tri_letter_kernels.h
 * Pairs of sequences, the kernels of one SIMD level: patterns side by side, a lane each, against
 * one text, whose letter all lanes read. Lanes are whole lines of 64 bytes whatever the level.
 */
#include "cpu_vectors.h"
#include "tri_cpu_letters.h"
#include "tri_edit.h"

/* ---- edit distance: 8 patterns, in words of 64 letters */

TRI_EDIT_STEP(v_u64, step, 64)

/** Vectors from `lane` on through the text; constant words when inlined keep the state in
 *  registers. */
VECTOR_INLINE void edit_columns(const tri_edit_patterns *p, const int64_t words, int lane,
                                const uint8_t *text, int64_t n, v_u64 *up, v_u64 *down) {
  const uint64_t *const equal = p->equal + lane;
  for (int64_t w = 0; w < words; w++) up[w] = ~all_u64(0), down[w] = all_u64(0);
  for (int64_t t = 0; t < n; t++) {
    const uint64_t *const letter = equal + text[t] * p->words * TRI_EDIT_LANES;
    v_u64 more = all_u64(1), less = all_u64(0);
    VECTOR_UNROLL for (int64_t w = 0; w < words; w++)
        tri_edit_step(load_u64(letter + w * TRI_EDIT_LANES), &up[w], &down[w], &more, &less);
  }
}

/** The last column to memory. */
VECTOR_INLINE void edit_keep(const v_u64 *up, const v_u64 *down, int64_t words, int lane,
                             uint64_t *state) {
  for (int64_t w = 0; w < words; w++) {
    store_u64(state + 2 * w * TRI_EDIT_LANES + lane, up[w]);
    store_u64(state + (2 * w + 1) * TRI_EDIT_LANES + lane, down[w]);
  }
}

/** The state in memory, of patterns of many words. */
static void edit_many(const tri_edit_patterns *p, int lane, const uint8_t *text, int64_t n) {
  v_u64 *const up = (v_u64 *)p->room, *const down = up + p->words;
  edit_columns(p, p->words, lane, text, n, up, down);
  edit_keep(up, down, p->words, lane, p->state);
}

/* Cases of few words, whose loops are written out; the file defines FEW(W) for its own call. */
#define FEW_WORDS FEW(1) FEW(2) FEW(3) FEW(4) FEW(5) FEW(6) FEW(7) FEW(8)
#define FEW(W)                                   \
  case W:                                        \
    edit_columns(p, W, lane, text, n, up, down); \
    edit_keep(up, down, W, lane, p->state);      \
    break;

static void edit_last_column(const tri_edit_patterns *p, const uint8_t *text, int64_t n) {
  for (int lane = 0; lane < TRI_EDIT_LANES; lane += N_u64) {
    v_u64 up[8], down[8];
    switch (p->words) {
      FEW_WORDS
    default:
      edit_many(p, lane, text, n);
      break;
    }
  }
}
#undef FEW

/* The distance of a text of n letters that ends here: the last column's top cell is its length, and
 * the bits of its differences lead down to the pattern's end. */
static int64_t edit_distance(const tri_edit_patterns *p, int lane, int64_t n) {
  int64_t distance = n;
  for (int64_t w = 0, left = p->lengths[lane]; left > 0; w++, left -= 64) {
    const uint64_t mask = left >= 64 ? UINT64_MAX : (UINT64_C(1) << left) - 1;
    const uint64_t *const bits = p->state + 2 * w * TRI_EDIT_LANES + lane;
    distance += __builtin_popcountll(bits[0] & mask);
    distance -= __builtin_popcountll(bits[TRI_EDIT_LANES] & mask);
  }
  return distance;
}

/* Patterns of different lengths go together. */
static void edit(const tri_edit_patterns *p, const uint8_t *text, int64_t n, int64_t *out) {
  edit_last_column(p, text, n);
  for (int lane = 0; lane < TRI_EDIT_LANES; lane++) out[lane] = edit_distance(p, lane, n);
}

/* ---- alignment scores: 64 patterns of 8 bits, 32 of 16 or 16 of 32; some letters of the text at a
 * time, so that a pattern's column is read and written once for all of them */

enum { ROWS = VECTOR_BYTES == 64 ? 4 : 2 };
_Static_assert((int)ROWS <= (int)TRI_PAIR_ROWS, "values are looked at before they leave a width");

/* a + b; of 8 bits held within them. */
VECTOR_INLINE v_i8 add_i8(v_i8 a, v_i8 b) {
#ifdef __SSE4_2__
  return (v_i8)VECTOR_MM(adds_epi8)((m_int)a, (m_int)b);
#else
  const v_i8 sum = a + b, end = all_i8(INT8_MAX) ^ (a < 0);
  return choose_i8((~(a ^ b) & (a ^ sum)) < 0, end, sum);
#endif
}
VECTOR_INLINE v_i16 add_i16(v_i16 a, v_i16 b) {
  return a + b;
}
VECTOR_INLINE v_i32 add_i32(v_i32 a, v_i32 b) {
  return a + b;
}

/* A text's letter: of 8 bits its scores with all letters, from which the patterns' letters pick;
 * else its line of the profile, which would not stay in the caches with twice as many patterns. */
typedef struct row_i8 {
  v_i8 low, high; /* scores with letters 0-15 and 16-31, in each 16 bytes */
} row_i8;
VECTOR_INLINE row_i8 row_of_i8(const tri_align_patterns *p, int64_t letter, int lane) {
  int8_t both[2][VECTOR_BYTES];
  (void)lane;
  for (int k = 0; k < VECTOR_BYTES; k += 16) {
    memcpy(both[0] + k, p->table + 32 * letter, 16);
    memcpy(both[1] + k, p->table + 32 * letter + 16, 16);
  }
  return (row_i8){load_i8(both[0]), load_i8(both[1])};
}
/* The patterns' letters at k. */
VECTOR_INLINE v_i8 letters_i8(const tri_align_patterns *p, int64_t at, int lane) {
  return load_i8(p->letters + at + lane);
}
VECTOR_INLINE v_i8 score_i8(const row_i8 *row, v_i8 letters, int64_t at) {
  (void)at;
#if VECTOR_BYTES == 64
  const __m512i of = (__m512i)letters;
  return (v_i8)_mm512_mask_shuffle_epi8(_mm512_shuffle_epi8((__m512i)row->low, of),
                                        _mm512_test_epi8_mask(of, _mm512_set1_epi8(16)),
                                        (__m512i)row->high, of);
#elif defined __SSE4_2__ /* an index with its highest bit set gives 0 */
  return (v_i8)VECTOR_MM(shuffle_epi8)((m_int)row->low, (m_int)(letters + all_i8(112))) |
         (v_i8)VECTOR_MM(shuffle_epi8)((m_int)row->high, (m_int)(letters - all_i8(16)));
#else
  v_i8 score;
  for (int p = 0; p < (int)N_i8; p++)
    score[p] = letters[p] < 16 ? row->low[letters[p]] : row->high[letters[p] - 16];
  return score;
#endif
}

#define PROFILE(T, name)                                                                          \
  typedef struct row_##name {                                                                     \
    const T *line;                                                                                \
  } row_##name;                                                                                   \
  VECTOR_INLINE row_##name row_of_##name(const tri_align_patterns *p, int64_t letter, int lane) { \
    return (row_##name){(const T *)p->profile + letter * p->m * (64 / (int)sizeof(T)) + lane};    \
  }                                                                                               \
  VECTOR_INLINE v_##name letters_##name(const tri_align_patterns *p, int64_t at, int lane) {      \
    (void)p, (void)at, (void)lane;                                                                \
    return (v_##name){0};                                                                         \
  }                                                                                               \
  VECTOR_INLINE v_##name score_##name(const row_##name *row, v_##name letters, int64_t at) {      \
    (void)letters;                                                                                \
    return load_##name(row->line + at);                                                           \
  }
PROFILE(int16_t, i16)
PROFILE(int32_t, i32)
#undef PROFILE

#define ALIGN(T, name)                                                                            \
  /** Letters [t, t + rows) of the text against all of the pattern. */                            \
  VECTOR_INLINE void align_rows_##name(const tri_align_patterns *p, const int rows,               \
                                       const tri_function of, int lane, const uint8_t *text,      \
                                       int64_t t, v_##name *best) {                               \
    enum { LANES = 64 / sizeof(T) };                                                              \
    const v_##name gap = all_##name((T)(p->open + p->extend)), extend = all_##name((T)p->extend); \
    const v_##name zero = all_##name((T)p->zero);                                                 \
    v_##name corner[ROWS], above[ROWS], f[ROWS];                                                  \
    row_##name row[ROWS];                                                                         \
    T *const g = (T *)p->g + lane, *const e = (T *)p->e + lane;                                   \
    for (int r = 0; r < rows; r++) {                                                              \
      row[r] = row_of_##name(p, text[t + r], lane);                                               \
      corner[r] = all_##name((T)tri_align_edge(p, of, t + r)) - gap;                              \
      above[r] = all_##name((T)tri_align_edge(p, of, t + r + 1)) - gap;                           \
      f[r] = all_##name((T)p->minus);                                                             \
    }                                                                                             \
    for (int64_t at = 0; at < p->m * LANES; at += LANES) {                                        \
      v_##name left = load_##name(g + at), along = load_##name(e + at);                           \
      const v_##name letters = letters_##name(p, at, lane);                                       \
      VECTOR_UNROLL for (int r = 0; r < rows; r++) {                                              \
        v_##name h = add_##name(corner[r], score_##name(&row[r], letters, at));                   \
        along = max_##name(along - extend, left);                                                 \
        f[r] = max_##name(f[r] - extend, above[r]);                                               \
        h = max_##name(max_##name(h, along), f[r]);                                               \
        if (of == TRI_LOCAL) h = max_##name(h, zero);                                             \
        if (of != TRI_GLOBAL) *best = max_##name(*best, h);                                       \
        corner[r] = left;                                                                         \
        left = above[r] = h - gap;                                                                \
      }                                                                                           \
      store_##name(g + at, left);                                                                 \
      store_##name(e + at, along);                                                                \
    }                                                                                             \
  }                                                                                               \
  VECTOR_INLINE void align_lanes_##name(const tri_align_patterns *p, const tri_function of,       \
                                        int lane, const uint8_t *text, int64_t n, T *best) {      \
    enum { LANES = 64 / sizeof(T) };                                                              \
    v_##name most = all_##name((T)p->zero);                                                       \
    int64_t t = 0;                                                                                \
    for (int64_t k = 0; k < p->m; k++) {                                                          \
      const T edge = (T)(tri_align_edge(p, of, k + 1) - p->open - p->extend);                     \
      store_##name((T *)p->g + k * LANES + lane, all_##name(edge));                               \
      store_##name((T *)p->e + k * LANES + lane, all_##name((T)p->minus));                        \
    }                                                                                             \
    for (; t + ROWS <= n; t += ROWS) align_rows_##name(p, ROWS, of, lane, text, t, &most);        \
    for (; t < n; t++) align_rows_##name(p, 1, of, lane, text, t, &most);                         \
    store_##name(best + lane, most);                                                              \
  }                                                                                               \
  static void align_##name(const tri_align_patterns *p, const uint8_t *text, int64_t n,           \
                           tri_function function, int64_t *out) {                                 \
    enum { LANES = 64 / sizeof(T) };                                                              \
    T best[LANES];                                                                                \
    for (int lane = 0; lane < LANES; lane += N_##name)                                            \
      if (function == TRI_LOCAL)                                                                  \
        align_lanes_##name(p, TRI_LOCAL, lane, text, n, best);                                    \
      else if (function == TRI_EXTENSION)                                                         \
        align_lanes_##name(p, TRI_EXTENSION, lane, text, n, best);                                \
      else                                                                                        \
        align_lanes_##name(p, TRI_GLOBAL, lane, text, n, best);                                   \
    for (int lane = 0; lane < LANES; lane++) {                                                    \
      const int64_t end = p->lengths[lane] - 1;                                                   \
      out[lane] = (function != TRI_GLOBAL || end < 0                                              \
                       ? best[lane]                                                               \
                       : ((const T *)p->g)[end * LANES + lane] + p->open + p->extend) -           \
                  p->zero;                                                                        \
    }                                                                                             \
  }
ALIGN(int8_t, i8)
ALIGN(int16_t, i16)
ALIGN(int32_t, i32)
#undef ALIGN

#include "tri_extension_kernels.h"
#include "tri_pair_kernels.h"

const tri_letter_kernels TSL_SIMD_TABLE = {
    .level = TSL_SIMD_LEVEL,
    .edit = edit,
    .align = {align_i8, align_i16, align_i32},
    .edit_pairs = edit_pairs,
    .align_pairs = {align_pairs_i8, align_pairs_i16, align_pairs_i32},
    .trace_pairs = {trace_pairs_i8, trace_pairs_i16, trace_pairs_i32},
    .extension = extension};
