/**
 * @file tri_pair_kernels.h
 * Pairs of sequences, the kernels of one SIMD level: a pair in each lane, with a pattern and a text
 * of its own. Part of tri_letter_kernels.h, whose tables and steps these are.
 *
 * Lanes read different letters of texts, so that no line of scores is common to them. Scores are
 * looked up where neighbouring letters lie together, 16 of a pattern with a letter of its text, and
 * then turned: 16 lanes x 16 letters at a time.
 */

/* ---- edit distance */

/* Letters [t, end) of the texts: their words of a pattern are gathered. */
VECTOR_INLINE void edit_pair_columns(const tri_edit_patterns *p, const int64_t words, int lane,
                                     const uint8_t *const *texts, const int64_t *ends, int64_t t,
                                     int64_t end, v_u64 *up, v_u64 *down) {
  for (; t < end; t++) {
    const uint64_t *letter[N_u64];
    v_u64 more = all_u64(1), less = all_u64(0);
    for (int l = 0; l < (int)N_u64; l++) {
      const int64_t code = t < ends[lane + l] ? texts[lane + l][t] : 0;
      letter[l] = p->equal + code * p->words * TRI_EDIT_LANES + lane + l;
    }
    VECTOR_UNROLL for (int64_t w = 0; w < words; w++) {
      v_u64 equal = all_u64(0);
      for (int l = 0; l < (int)N_u64; l++) equal[l] = letter[l][w * TRI_EDIT_LANES];
      tri_edit_step(equal, &up[w], &down[w], &more, &less);
    }
  }
}

/* The end of the text that ends next behind t; 0: none does. */
static int64_t next_end(const int64_t *ends, int lanes, int64_t t) {
  int64_t next = 0;
  for (int l = 0; l < lanes; l++)
    if (ends[l] > t && (next == 0 || ends[l] < next)) next = ends[l];
  return next;
}

VECTOR_INLINE void edit_pair_lanes(const tri_edit_patterns *p, const int64_t words, int lane,
                                   const uint8_t *const *texts, const int64_t *ends, v_u64 *up,
                                   v_u64 *down, int64_t *out) {
  for (int64_t w = 0; w < words; w++) up[w] = ~all_u64(0), down[w] = all_u64(0);
  for (int64_t t = 0, end; (end = next_end(ends + lane, N_u64, t)) > 0; t = end) {
    edit_pair_columns(p, words, lane, texts, ends, t, end, up, down);
    edit_keep(up, down, words, lane, p->state);
    for (int l = lane; l < lane + (int)N_u64; l++)
      if (ends[l] == end) out[l] = edit_distance(p, l, end);
  }
}

#define FEW(W)                                               \
  case W:                                                    \
    edit_pair_lanes(p, W, lane, texts, ends, up, down, out); \
    break;

static void edit_pairs(const tri_edit_patterns *p, const uint8_t *const *texts, const int64_t *ends,
                       int64_t *out) {
  v_u64 *const room = (v_u64 *)p->room;
  for (int lane = 0; lane < TRI_EDIT_LANES; lane += N_u64) {
    v_u64 up[8], down[8];
    switch (p->words) {
      FEW_WORDS
    default:
      edit_pair_lanes(p, p->words, lane, texts, ends, room, room + p->words, out);
      break;
    }
  }
}
#undef FEW

/* ---- alignment scores */

enum {
  PAIR_BLOCK = 16,                               /* letters that are turned together */
  PAIR_BLOCKS = 2,                               /* whose scores are kept at a time */
  PAIR_COLUMNS = PAIR_BLOCKS * PAIR_BLOCK,       /* likewise */
  PAIR_QUARTERS = TRI_LETTER_LANES / PAIR_BLOCK, /* of 16 lanes */
  PAIR_TILE = PAIR_COLUMNS * TRI_LETTER_LANES    /* scores of a row of a tile */
};

/* Scores of some letters of the texts with all letters, and with some of the patterns. */
typedef struct pair_rows {
  int8_t low[ROWS][TRI_LETTER_LANES * PAIR_BLOCK], high[ROWS][TRI_LETTER_LANES * PAIR_BLOCK];
  int8_t tile[ROWS][PAIR_TILE];
  int32_t wide[ROWS][PAIR_TILE];
} __attribute__((aligned(64))) pair_rows;

static int64_t pair_letter(const tri_letter_pairs *p, int lane, int64_t t) {
  return t < p->ends[lane] ? p->texts[lane][t] : p->codes;
}

static void pair_rows_begin(const tri_letter_pairs *p, int64_t t, int rows, pair_rows *s) {
  for (int r = 0; r < rows; r++)
    for (int lane = 0; lane < TRI_LETTER_LANES; lane++) {
      const int8_t *const from = p->table + pair_letter(p, lane, t + r) * TRI_LETTER_CODES;
      const int at = (lane % PAIR_BLOCK * PAIR_QUARTERS + lane / PAIR_BLOCK) * PAIR_BLOCK;
      memcpy(s->low[r] + at, from, 16);
      memcpy(s->high[r] + at, from + 16, 16);
    }
}

#ifdef __SSE4_2__
/* Of 16 vectors, byte k of each 16 of vector l to byte l of each 16 of vector k. */
VECTOR_INLINE void turn(m_int *v) {
  for (int step = 0; step < 4; step++) {
    m_int next[PAIR_BLOCK];
    VECTOR_UNROLL for (int k = 0; k < PAIR_BLOCK / 2; k++) {
      next[2 * k] = VECTOR_MM(unpacklo_epi8)(v[k], v[k + PAIR_BLOCK / 2]);
      next[2 * k + 1] = VECTOR_MM(unpackhi_epi8)(v[k], v[k + PAIR_BLOCK / 2]);
    }
    VECTOR_UNROLL for (int k = 0; k < PAIR_BLOCK; k++) v[k] = next[k];
  }
}

VECTOR_INLINE void pair_block(const uint8_t *letters, const int8_t *low, const int8_t *high,
                              const bool few, int8_t *tile) {
  for (int part = 0; part < TRI_LETTER_LANES; part += VECTOR_BYTES) {
    m_int v[PAIR_BLOCK];
    VECTOR_UNROLL for (int l = 0; l < PAIR_BLOCK; l++) {
      const int at = l * TRI_LETTER_LANES + part;
      const v_i8 of = load_i8(letters + at);
      if (few) {
        v[l] = VECTOR_MM(shuffle_epi8)((m_int)load_i8(low + at), (m_int)of);
      } else {
        const row_i8 row = {load_i8(low + at), load_i8(high + at)};
        v[l] = (m_int)score_i8(&row, of, 0);
      }
    }
    turn(v);
    for (int k = 0; k < PAIR_BLOCK; k++) store_i8(tile + k * TRI_LETTER_LANES + part, (v_i8)v[k]);
  }
}
#else
VECTOR_INLINE void pair_block(const uint8_t *letters, const int8_t *low, const int8_t *high,
                              const bool few, int8_t *tile) {
  (void)few;
  for (int at = 0; at < TRI_LETTER_LANES * PAIR_BLOCK; at++) {
    const int k = at % PAIR_BLOCK, slot = at / PAIR_BLOCK, x = letters[at];
    const int lane = slot / PAIR_QUARTERS + slot % PAIR_QUARTERS * PAIR_BLOCK;
    tile[k * TRI_LETTER_LANES + lane] =
        x < 16 ? low[slot * PAIR_BLOCK + x] : high[slot * PAIR_BLOCK + x - 16];
  }
}
#endif

/* Scores that leave 8 bits, one by one. */
static void pair_tile_wide(const tri_letter_pairs *p, int64_t t, int rows, int64_t block,
                           int64_t end, pair_rows *s) {
  for (int r = 0; r < rows; r++)
    for (int lane = 0; lane < p->lanes; lane++) {
      const int32_t *const row = p->scores + pair_letter(p, lane, t + r) * (p->codes + 1);
      const int slot = (lane % PAIR_BLOCK * PAIR_QUARTERS + lane / PAIR_BLOCK) * PAIR_BLOCK;
      for (int64_t b = block; b < end; b++)
        for (int k = 0; k < PAIR_BLOCK; k++)
          s->wide[r][((b - block) * PAIR_BLOCK + k) * TRI_LETTER_LANES + lane] =
              row[p->letters[b * PAIR_BLOCK * TRI_LETTER_LANES + slot + k]];
    }
}

/* Blocks [block, end) of the patterns with letters [t, t + rows) of the texts. */
static void pair_tile(const tri_letter_pairs *p, int64_t t, int rows, int64_t block, int64_t end,
                      pair_rows *s) {
  if (p->table == NULL) {
    pair_tile_wide(p, t, rows, block, end, s);
    return;
  }
  for (int64_t b = block; b < end; b++) {
    const uint8_t *const letters = p->letters + b * PAIR_BLOCK * TRI_LETTER_LANES;
    for (int r = 0; r < rows; r++) {
      int8_t *const tile = s->tile[r] + (b - block) * PAIR_BLOCK * TRI_LETTER_LANES;
      if (p->codes < 16)
        pair_block(letters, s->low[r], s->high[r], true, tile);
      else
        pair_block(letters, s->low[r], s->high[r], false, tile);
    }
  }
}

VECTOR_INLINE v_i8 pair_score_i8(const pair_rows *s, int r, int64_t at, const bool wide) {
  (void)wide;
  return load_i8(s->tile[r] + at);
}
VECTOR_INLINE v_i16 pair_score_i16(const pair_rows *s, int r, int64_t at, const bool wide) {
  (void)wide;
  return wider_i16(s->tile[r] + at);
}
VECTOR_INLINE v_i32 pair_score_i32(const pair_rows *s, int r, int64_t at, const bool wide) {
  if (wide) return load_i32(s->wide[r] + at);
  return wider_i32(s->tile[r] + at);
}

/* Bits of the n lanes from `lane` on to where their plane has them; vectors of fewer lanes than a
 * byte has bits come one after another. */
VECTOR_INLINE void pair_put_bits(uint8_t *to, int lane, const int n, uint64_t bits) {
  if (n < 8)
    *to = (uint8_t)(lane % 8 == 0 ? bits : *to | bits << lane % 8);
  else
    memcpy(to, &bits, n / 8);
}

#define ALIGN_PAIRS(T, name)                                                                       \
  /* Lanes of a vector between blocks of letters. */                                               \
  typedef struct pair_state_##name {                                                               \
    v_##name corner[ROWS], above[ROWS], f[ROWS], top[ROWS], best;                                  \
  } pair_state_##name;                                                                             \
  VECTOR_INLINE void pair_trace_##name(const bool local, int lane, uint8_t *to, v_##name h,        \
                                       v_##name pair, v_##name f, v_##name above, v_##name along,  \
                                       v_##name left, v_##name *top) {                             \
    enum { N = (int)N_##name, PLANE = sizeof(uint64_t) };                                          \
    pair_put_bits(to + PLANE * TRI_PLANE_PAIR, lane, N, equal_bits_##name(h, pair));               \
    pair_put_bits(to + PLANE * TRI_PLANE_LEFT, lane, N, equal_bits_##name(h, f));                  \
    pair_put_bits(to + PLANE * TRI_PLANE_LEFT_OPENED, lane, N, equal_bits_##name(f, above));       \
    pair_put_bits(to + PLANE * TRI_PLANE_UP_OPENED, lane, N, equal_bits_##name(along, left));      \
    if (!local) return;                                                                            \
    pair_put_bits(to + PLANE * TRI_PLANE_TOP, lane, N, greater_bits_##name(h, *top));              \
    *top = max_##name(*top, h);                                                                    \
  }                                                                                                \
  VECTOR_INLINE void pair_columns_##name(const tri_letter_pairs *p, const int rows,                \
                                         const tri_function of, const bool wide,                   \
                                         const bool traced, int lane, int64_t t, int64_t k,        \
                                         int64_t end, const pair_rows *s, pair_state_##name *at) { \
    const v_##name gap = all_##name((T)(p->open + p->extend)), extend = all_##name((T)p->extend);  \
    const v_##name zero = all_##name((T)p->zero);                                                  \
    v_##name corner[ROWS], above[ROWS], f[ROWS], top[ROWS], best = at->best;                       \
    for (int r = 0; r < rows; r++)                                                                 \
      corner[r] = at->corner[r], above[r] = at->above[r], f[r] = at->f[r], top[r] = at->top[r];    \
    T *g = (T *)p->g + k * TRI_LETTER_LANES + lane, *e = (T *)p->e + k * TRI_LETTER_LANES + lane;  \
    uint8_t *to[ROWS];                                                                             \
    for (int r = 0; r < rows && traced; r++)                                                       \
      to[r] = (uint8_t *)(p->directions + ((t + r) * p->m + k) * tri_planes(of == TRI_LOCAL)) +    \
              lane / 8;                                                                            \
    for (int64_t c = 0; c < (end - k) * TRI_LETTER_LANES; c += TRI_LETTER_LANES) {                 \
      v_##name left = load_##name(g + c), along = load_##name(e + c);                              \
      VECTOR_UNROLL for (int r = 0; r < rows; r++) {                                               \
        const v_##name pair = add_##name(corner[r], pair_score_##name(s, r, c + lane, wide));      \
        along = max_##name(along - extend, left);                                                  \
        f[r] = max_##name(f[r] - extend, above[r]);                                                \
        v_##name h = max_##name(max_##name(pair, along), f[r]);                                    \
        if (of == TRI_LOCAL) h = max_##name(h, zero);                                              \
        if (of != TRI_GLOBAL && !traced) best = max_##name(best, h);                               \
        if (traced) {                                                                              \
          pair_trace_##name(of == TRI_LOCAL, lane, to[r], h, pair, f[r], above[r], along, left,    \
                            &top[r]);                                                              \
          to[r] += tri_planes(of == TRI_LOCAL) * (int)sizeof(uint64_t);                            \
        }                                                                                          \
        corner[r] = left;                                                                          \
        left = above[r] = h - gap;                                                                 \
      }                                                                                            \
      store_##name(g + c, left);                                                                   \
      store_##name(e + c, along);                                                                  \
    }                                                                                              \
    for (int r = 0; r < rows; r++)                                                                 \
      at->corner[r] = corner[r], at->above[r] = above[r], at->f[r] = f[r], at->top[r] = top[r];    \
    at->best = best;                                                                               \
  }                                                                                                \
  /* The best cells so far, and the first row that has each. @return is one above the limit? */    \
  VECTOR_INLINE bool pair_best_##name(const tri_letter_pairs *p, const int rows, int64_t t,        \
                                      pair_state_##name *state) {                                  \
    uint64_t above = 0;                                                                            \
    for (int v = 0; v * (int)N_##name < p->lanes; v++) {                                           \
      for (int r = 0; r < rows; r++) {                                                             \
        uint64_t better = greater_bits_##name(state[v].top[r], state[v].best);                     \
        for (; better != 0; better &= better - 1)                                                  \
          p->rows[v * (int)N_##name + __builtin_ctzll(better)] = t + r;                            \
        state[v].best = max_##name(state[v].best, state[v].top[r]);                                \
      }                                                                                            \
      above |= greater_bits_##name(state[v].best, all_##name((T)p->limit));                        \
    }                                                                                              \
    return above != 0;                                                                             \
  }                                                                                                \
  /* Letters [t, t + rows) of the texts with all of the patterns. @return as pair_best_ */         \
  VECTOR_INLINE bool pair_strip_##name(const tri_letter_pairs *p, const int rows,                  \
                                       const tri_function of, const bool wide, const bool traced,  \
                                       int64_t t, pair_rows *s, pair_state_##name *state) {        \
    const int64_t blocks = (p->m + PAIR_BLOCK - 1) / PAIR_BLOCK;                                   \
    const T gap = (T)(p->open + p->extend);                                                        \
    for (int v = 0; v * (int)N_##name < p->lanes; v++)                                             \
      for (int r = 0; r < rows; r++) {                                                             \
        state[v].corner[r] = all_##name((T)((T)pair_edge(p, of, t + r) - gap));                    \
        state[v].above[r] = all_##name((T)((T)pair_edge(p, of, t + r + 1) - gap));                 \
        state[v].f[r] = all_##name((T)p->minus);                                                   \
        state[v].top[r] = all_##name((T)p->zero);                                                  \
      }                                                                                            \
    if (!wide) pair_rows_begin(p, t, rows, s);                                                     \
    for (int64_t b = 0; b < blocks; b += PAIR_BLOCKS) {                                            \
      const int64_t last = b + PAIR_BLOCKS < blocks ? b + PAIR_BLOCKS : blocks;                    \
      const int64_t end = last * PAIR_BLOCK < p->m ? last * PAIR_BLOCK : p->m;                     \
      pair_tile(p, t, rows, b, last, s);                                                           \
      for (int v = 0; v * (int)N_##name < p->lanes; v++)                                           \
        pair_columns_##name(p, rows, of, wide, traced, v *(int)N_##name, t, b *PAIR_BLOCK, end, s, \
                            &state[v]);                                                            \
    }                                                                                              \
    return of == TRI_LOCAL && traced && pair_best_##name(p, rows, t, state);                       \
  }                                                                                                \
  VECTOR_INLINE int64_t pair_lanes_##name(const tri_letter_pairs *p, const tri_function of,        \
                                          const bool wide, const bool traced, int64_t row,         \
                                          int64_t *out) {                                          \
    enum { VECTORS = TRI_LETTER_LANES / (int)N_##name };                                           \
    pair_state_##name state[VECTORS];                                                              \
    pair_rows s;                                                                                   \
    const T gap = (T)(p->open + p->extend);                                                        \
    int64_t t = row;                                                                               \
    bool full = false;                                                                             \
    for (int64_t k = 0; k < p->m && row == 0; k++)                                                 \
      for (int lane = 0; lane < p->lanes; lane += N_##name) {                                      \
        const T edge = (T)((T)pair_edge(p, of, k + 1) - gap);                                      \
        store_##name((T *)p->g + k * TRI_LETTER_LANES + lane, all_##name(edge));                   \
        store_##name((T *)p->e + k * TRI_LETTER_LANES + lane, all_##name((T)p->minus));            \
      }                                                                                            \
    for (int v = 0; v < VECTORS; v++) state[v].best = all_##name((T)p->zero);                      \
    for (int lane = 0; lane < p->lanes && row > 0; lane++)                                         \
      state[lane / (int)N_##name].best[lane % (int)N_##name] = (T)(out[lane] + p->zero);           \
    for (int64_t end; !full && (end = pair_stop(p, of, t)) > 0;) {                                 \
      for (; t + ROWS <= end && !full; t += ROWS)                                                  \
        full = pair_strip_##name(p, ROWS, of, wide, traced, t, &s, state);                         \
      for (; t < end && !full; t++)                                                                \
        full = pair_strip_##name(p, 1, of, wide, traced, t, &s, state);                            \
      for (int lane = 0; lane < p->lanes && of == TRI_GLOBAL; lane++)                              \
        if (p->ends[lane] == end)                                                                  \
          out[lane] = ((const T *)p->g)[(p->lengths[lane] - 1) * TRI_LETTER_LANES + lane] + gap;   \
    }                                                                                              \
    for (int lane = 0; lane < p->lanes && of != TRI_GLOBAL; lane++)                                \
      out[lane] = state[lane / (int)N_##name].best[lane % (int)N_##name] - p->zero;                \
    return t;                                                                                      \
  }                                                                                                \
  static void align_pairs_##name(const tri_letter_pairs *p, tri_function function, int64_t *out) { \
    const bool wide = p->table == NULL;                                                            \
    if (function == TRI_LOCAL)                                                                     \
      (void)pair_lanes_##name(p, TRI_LOCAL, wide, false, 0, out);                                  \
    else if (function == TRI_EXTENSION)                                                            \
      (void)pair_lanes_##name(p, TRI_EXTENSION, wide, false, 0, out);                              \
    else                                                                                           \
      (void)pair_lanes_##name(p, TRI_GLOBAL, wide, false, 0, out);                                 \
  }                                                                                                \
  static int64_t trace_pairs_##name(const tri_letter_pairs *p, bool local, int64_t row,            \
                                    int64_t *out) {                                                \
    const bool wide = p->table == NULL;                                                            \
    return local ? pair_lanes_##name(p, TRI_LOCAL, wide, true, row, out)                           \
                 : pair_lanes_##name(p, TRI_GLOBAL, wide, true, row, out);                         \
  }

/* Up to where the texts are read without a look at lanes; 0: they are at their end. */
static inline int64_t pair_stop(const tri_letter_pairs *p, tri_function of, int64_t t) {
  if (of != TRI_GLOBAL) return t < p->n ? p->n : 0;
  return next_end(p->ends, p->lanes, t);
}

/* H at the table's edge, k letters from its corner. */
static inline int64_t pair_edge(const tri_letter_pairs *p, tri_function of, int64_t k) {
  return of == TRI_LOCAL || k == 0 ? p->zero : -(p->open + k * p->extend);
}

ALIGN_PAIRS(int8_t, i8)
ALIGN_PAIRS(int16_t, i16)
ALIGN_PAIRS(int32_t, i32)
#undef ALIGN_PAIRS
