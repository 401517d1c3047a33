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

#define FEW(W)                                   \
  case W:                                        \
    edit_columns(p, W, lane, text, n, up, down); \
    edit_keep(up, down, W, lane, p->state);      \
    break;

static void edit_last_column(const tri_edit_patterns *p, const uint8_t *text, int64_t n) {
  for (int lane = 0; lane < TRI_EDIT_LANES; lane += N_u64) {
    v_u64 up[8], down[8];
    switch (p->words) {
      FEW(1)
      FEW(2)
      FEW(3)
      FEW(4)
      FEW(5)
      FEW(6)
      FEW(7)
      FEW(8)
    default:
      edit_many(p, lane, text, n);
      break;
    }
  }
}
#undef FEW

/* The last column's top cell is the text's length, and the bits of its differences lead down to
 * each pattern's end: so patterns of different lengths go together. */
static void edit(const tri_edit_patterns *p, const uint8_t *text, int64_t n, int64_t *out) {
  edit_last_column(p, text, n);
  for (int lane = 0; lane < TRI_EDIT_LANES; lane++) {
    int64_t distance = n;
    for (int64_t w = 0, left = p->lengths[lane]; left > 0; w++, left -= 64) {
      const uint64_t mask = left >= 64 ? UINT64_MAX : (UINT64_C(1) << left) - 1;
      const uint64_t *const bits = p->state + 2 * w * TRI_EDIT_LANES + lane;
      distance += __builtin_popcountll(bits[0] & mask);
      distance -= __builtin_popcountll(bits[TRI_EDIT_LANES] & mask);
    }
    out[lane] = distance;
  }
}

/* ---- alignment scores: 32 patterns of 16 bits, or 16 of 32 bits; some letters of the text at a
 * time, so that a pattern's column is read and written once for all of them */

enum { ROWS = VECTOR_BYTES == 64 ? 4 : 2 };
#define MINUS(T) (sizeof(T) == 2 ? TRI_NARROW_MINUS : INT32_MIN / 2)

#define ALIGN(T, name)                                                                             \
  /** Letters [t, t + rows) of the text against all of the pattern. */                             \
  VECTOR_INLINE void align_rows_##name(const tri_align_patterns *p, const int rows,                \
                                       const bool local, int lane, const uint8_t *text, int64_t t, \
                                       v_##name *best) {                                           \
    enum { LANES = 64 / sizeof(T) };                                                               \
    const v_##name gap = all_##name((T)(p->open + p->extend)), extend = all_##name((T)p->extend);  \
    v_##name corner[ROWS], above[ROWS], f[ROWS];                                                   \
    const T *score[ROWS];                                                                          \
    T *const g = (T *)p->g + lane, *const e = (T *)p->e + lane;                                    \
    for (int r = 0; r < rows; r++) {                                                               \
      score[r] = (const T *)p->profile + text[t + r] * p->m * LANES + lane;                        \
      corner[r] = all_##name((T)tri_align_edge(p, local, t + r)) - gap;                            \
      above[r] = all_##name((T)tri_align_edge(p, local, t + r + 1)) - gap;                         \
      f[r] = all_##name((T)MINUS(T));                                                              \
    }                                                                                              \
    for (int64_t k = 0; k < p->m; k++) {                                                           \
      v_##name left = load_##name(g + k * LANES), along = load_##name(e + k * LANES);              \
      VECTOR_UNROLL for (int r = 0; r < rows; r++) {                                               \
        v_##name h = corner[r] + load_##name(score[r] + k * LANES);                                \
        along = max_##name(along - extend, left);                                                  \
        f[r] = max_##name(f[r] - extend, above[r]);                                                \
        h = max_##name(max_##name(h, along), f[r]);                                                \
        if (local) h = max_##name(h, all_##name(0)), *best = max_##name(*best, h);                 \
        corner[r] = left;                                                                          \
        left = above[r] = h - gap;                                                                 \
      }                                                                                            \
      store_##name(g + k * LANES, left);                                                           \
      store_##name(e + k * LANES, along);                                                          \
    }                                                                                              \
  }                                                                                                \
  VECTOR_INLINE void align_lanes_##name(const tri_align_patterns *p, const bool local, int lane,   \
                                        const uint8_t *text, int64_t n, T *best) {                 \
    enum { LANES = 64 / sizeof(T) };                                                               \
    v_##name most = all_##name(0);                                                                 \
    int64_t t = 0;                                                                                 \
    for (int64_t k = 0; k < p->m; k++) {                                                           \
      const T edge = (T)(tri_align_edge(p, local, k + 1) - p->open - p->extend);                   \
      store_##name((T *)p->g + k * LANES + lane, all_##name(edge));                                \
      store_##name((T *)p->e + k * LANES + lane, all_##name((T)MINUS(T)));                         \
    }                                                                                              \
    for (; t + ROWS <= n; t += ROWS) align_rows_##name(p, ROWS, local, lane, text, t, &most);      \
    for (; t < n; t++) align_rows_##name(p, 1, local, lane, text, t, &most);                       \
    store_##name(best + lane, most);                                                               \
  }                                                                                                \
  static void align_##name(const tri_align_patterns *p, const uint8_t *text, int64_t n,            \
                           bool local, int64_t *out) {                                             \
    enum { LANES = 64 / sizeof(T) };                                                               \
    T best[LANES];                                                                                 \
    for (int lane = 0; lane < LANES; lane += N_##name)                                             \
      if (local)                                                                                   \
        align_lanes_##name(p, true, lane, text, n, best);                                          \
      else                                                                                         \
        align_lanes_##name(p, false, lane, text, n, best);                                         \
    for (int lane = 0; lane < LANES; lane++) {                                                     \
      const int64_t end = p->lengths[lane] - 1;                                                    \
      out[lane] = local || end < 0 ? best[lane]                                                    \
                                   : ((const T *)p->g)[end * LANES + lane] + p->open + p->extend;  \
    }                                                                                              \
  }
ALIGN(int16_t, i16)
ALIGN(int32_t, i32)
#undef ALIGN
#undef MINUS

const tri_letter_kernels TSL_SIMD_TABLE = {
    .level = TSL_SIMD_LEVEL, .edit = edit, .align = {align_i16, align_i32}};
