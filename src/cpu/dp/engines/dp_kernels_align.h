/* Align strips of one SIMD level and one width; no guard: the includer sets E (the type of a
 * value), V, T(name), and DP_NARROW to 1 where f is cut at 0 by one instruction. Recurrence: Gotoh
 * 1982, with E' = max(E, H - open), so that both E and H of the next column rest on E' - extend. */

#define LANES ((int)(VECTOR_BYTES / sizeof(E)))

/** A strip in registers; e: of the last column computed, minus extend. */
typedef struct T(align_lanes) {
  V h[DP_COLUMNS], f[DP_COLUMNS], e, over, best;
} T(align_lanes);

typedef struct T(align_frame) {
  V lane, first, open, extend_e, extend_f, match, mismatch, floor;
} T(align_frame);

/** Bytes as values. */
VECTOR_INLINE V T(load_bytes)(const uint8_t *p) {
  typedef uint8_t bytes __attribute__((vector_size(VECTOR_BYTES / sizeof(E))));
  bytes b;
  memcpy(&b, p, sizeof b);
  return __builtin_convertvector(b, V);
}

static T(align_frame) T(align_frame_of)(const dp_align_strip *s) {
  T(align_frame)
  f = {.open = T(all)((E)s->open),
       .extend_e = T(all)((E)s->extend_e),
       .extend_f = T(all)((E)s->extend_f),
       .match = T(all)((E)s->match),
       .mismatch = T(all)((E)s->mismatch),
       .floor = T(all)((E)s->floor)};
  for (int p = 0; p < LANES; p++) f.lane[p] = (E)p;
  f.first = (V)(f.lane == T(all)((E)(s->lanes - 1)));
  return f;
}

/** All ones in the lanes whose row exists in the step at which lane 0 has row `row`. */
VECTOR_INLINE V T(align_live)(const dp_align_strip *s, const T(align_frame) * f, int64_t row) {
  const int64_t low = row < 0 ? -row : 0;
  const int64_t high = s->rows - row < LANES ? s->rows - row : LANES;
  return (V)((f->lane >= T(all)((E)low)) & (f->lane < T(all)((E)high)));
}

#if !DP_NARROW
/** The first cell of this step whose H is target. */
static __attribute__((noinline)) void T(align_found)(dp_align_strip *s, const V *h, int columns,
                                                     int64_t row) {
  for (int r = 0; r < columns; r++)
    for (int p = 0; p < s->lanes; p++) {
      const int64_t i = row + p, j = (int64_t)(s->lanes - 1 - p) * columns + r;
      if (h[r][p] != (E)s->target || i < 0 || i >= s->rows) continue;
      if (i > s->row || (i == s->row && j >= s->column)) continue;
      s->row = i;
      s->column = j;
    }
}
#endif

/** Lanes with bit `bit` in their number come from a, the others from b. */
VECTOR_INLINE V T(align_by_bit)(const T(align_frame) * f, int bit, V a, V b) {
  return T(choose)((V)((f->lane & T(all)((E)bit)) != T(all)(0)), a, b);
}

/** Lane p < 4 of vector k comes from row k + p, lane p + 4 is as lane p. */
VECTOR_INLINE void T(align_shear_rows)(const dp_align_strip *s, const T(align_frame) * f,
                                       const E *profile, int columns, int n, int64_t row, E *list) {
  V x = T(all)(0), y[2] = {x, x};
  for (int k = -3; k < n; k++) {
    const int letter = row + k + 3 < s->rows + LANES ? s->a[row + k + 3] : 0;
    const V next = T(load)(profile + (int64_t)letter * columns * LANES);
    const V later = T(align_by_bit)(f, 1, next, x); /* rows k + 2 and k + 3 */
    if (k >= 0) T(store)(list + k * LANES, T(align_by_bit)(f, 2, later, y[0]));
    x = next;
    y[0] = y[1];
    y[1] = later;
  }
}

/** The same for the lanes' bits `bit` and 2 `bit`; n vectors, of which later ones are read. */
VECTOR_INLINE void T(align_shear_2)(const T(align_frame) * f, int bit, int n, E *list) {
  for (int k = 0; k < n; k++) {
    const E *at = list + k * LANES;
    const V a = T(align_by_bit)(f, bit, T(load)(at + bit * LANES), T(load)(at));
    const V b =
        T(align_by_bit)(f, bit, T(load)(at + 3 * bit * LANES), T(load)(at + 2 * bit * LANES));
    T(store)(list + k * LANES, T(align_by_bit)(f, 2 * bit, b, a));
  }
}

/**
 * Scores of DP_STEPS steps from the one at which lane 0 has row `row`: [columns][DP_STEPS + 64]
 * vectors. Vector k is made of row k's scores in lane 0, row k + 1's in lane 1 and so on, in
 * log2(N) exchanges with later vectors.
 */
static void T(align_scores)(const dp_align_strip *s, const T(align_frame) * f, int columns,
                            int64_t row) {
  for (int r = 0; r < columns; r++) {
    E *list = (E *)s->scores + (int64_t)r * (DP_STEPS + 64) * LANES;
    const E *profile = (const E *)s->profile + r * LANES;
    int bit = 4;
    T(align_shear_rows)(s, f, profile, columns, DP_STEPS + LANES - 4, row, list);
    for (; 2 * bit < LANES; bit *= 4) T(align_shear_2)(f, bit, DP_STEPS + LANES - 4 * bit, list);
    for (int k = 0; bit < LANES && k < DP_STEPS; k++) {
      E *const at = list + k * LANES;
      T(store)(at, T(align_by_bit)(f, bit, T(load)(at + bit * LANES), T(load)(at)));
    }
  }
}

/** One step; masked: lanes whose row does not exist keep their state. scores: of this step. */
VECTOR_INLINE void T(align_step)(dp_align_strip *s, const T(align_frame) * f, T(align_lanes) * l,
                                 const int columns, const dp_align_kind kind, const E *scores,
                                 const bool masked, int64_t row) {
  const bool linear = kind == DP_ALIGN_LINEAR;
  const bool local = kind == DP_ALIGN_LOCAL || kind == DP_ALIGN_LOCATE;
  const V left = T(load)((const E *)s->left_h + row);
  const V h_left = T(choose)(f->first, left, T(down)(l->h[columns - 1], left));
  V over = l->over, live = T(all)(0), e, a = live;
  if (linear) {
    e = h_left - f->extend_e;
  } else {
    const V left_e = T(load)((const E *)s->left_e + row);
    e = T(choose)(f->first, left_e, T(down)(l->e, left_e));
  }
  l->over = h_left;
  if (masked) live = T(align_live)(s, f, row);
  if (scores == NULL) a = T(load_bytes)(s->a + row);
  VECTOR_UNROLL for (int r = 0; r < columns; r++) {
    const V old = l->h[r];
    const V score = scores != NULL ? T(load)(scores + (int64_t)r * (DP_STEPS + 64) * LANES)
                                   : T(choose_equal)(a, T(load)((const E *)s->b + r * LANES),
                                                     f->match, f->mismatch);
    const V up = linear ? old - f->extend_f : l->f[r];
    const V g = T(max)(over + score, up);
    const V h = T(max)(g, e);
    over = old;
    l->h[r] = masked ? T(choose)(live, h, old) : h;
    if (linear) {
      e = h - f->extend_e;
      continue;
    }
    e = T(max)(e, g - f->open) - f->extend_e;
    const V longer = T(max)(up, h - f->open);
#if DP_NARROW
    const V next = T(clip)(longer, f->extend_f);
#else
    const V next = T(max)(longer - f->extend_f, f->floor);
#endif
    l->f[r] = masked ? T(choose)(live, next, up) : next;
    if (local) l->best = T(max)(l->best, masked ? T(choose)(live, h, l->best) : h);
  }
  l->e = e;
#if !DP_NARROW
  if (kind == DP_ALIGN_LOCATE) {
    V any = T(all)(0);
    for (int r = 0; r < columns; r++) any |= (V)(l->h[r] == T(all)((E)s->target));
    if (any_equal_i32(any, T(all)(-1))) T(align_found)(s, l->h, columns, row);
  }
#endif
  if (row >= 0) {
    ((E *)s->right_h)[row] = l->h[columns - 1][0];
    if (!linear) ((E *)s->right_e)[row] = e[0];
  }
}

/** Steps with lane 0 in rows [row, end). */
VECTOR_INLINE void T(align_run)(dp_align_strip *s, const T(align_frame) * f, T(align_lanes) * l,
                                const int columns, const dp_align_kind kind, const bool matrix,
                                const bool masked, int64_t row, int64_t end) {
  const int64_t begin = 1 - s->lanes;
  for (; row < end; row++) {
    const int64_t step = row - begin;
    const E *scores = NULL;
    if (matrix) {
      if (step % DP_STEPS == 0) T(align_scores)(s, f, columns, row);
      scores = (const E *)s->scores + step % DP_STEPS * LANES;
    }
    T(align_step)(s, f, l, columns, kind, scores, masked, row);
  }
}

VECTOR_INLINE void T(align_all)(dp_align_strip *s, const int columns, const dp_align_kind kind,
                                const bool matrix) {
  const T(align_frame) f = T(align_frame_of)(s);
  const int64_t begin = 1 - s->lanes;
  const int64_t full = s->rows + begin > 0 ? s->rows + begin : 0;
  T(align_lanes) l = {.e = T(all)(0), .best = T(all)(0)};
  l.over = T(load)((const E *)s->left_h + begin - 1);
  VECTOR_UNROLL for (int r = 0; r < columns; r++) {
    l.h[r] = T(load)((E *)s->h + r * LANES);
    l.f[r] = kind == DP_ALIGN_LINEAR ? T(all)(0) : T(load)((E *)s->f + r * LANES);
  }
  for (int64_t row = begin, end; row < s->rows; row = end) {
    const bool all_lanes = row >= 0 && row < full;
    end = row < 0 ? 0 : all_lanes ? full : s->rows;
    if (all_lanes)
      T(align_run)(s, &f, &l, columns, kind, matrix, false, row, end);
    else
      T(align_run)(s, &f, &l, columns, kind, matrix, true, row, end);
  }
  VECTOR_UNROLL for (int r = 0; r < columns; r++) {
    T(store)((E *)s->h + r * LANES, l.h[r]);
    if (kind != DP_ALIGN_LINEAR) T(store)((E *)s->f + r * LANES, l.f[r]);
  }
  if (kind == DP_ALIGN_LOCAL || kind == DP_ALIGN_LOCATE) T(store)(s->best, l.best);
}

#define DP_ALIGN_CASE(name, kind)                   \
  static void T(align_##name)(dp_align_strip * s) { \
    if (s->wide && s->profile != NULL)              \
      T(align_all)(s, DP_COLUMNS, kind, true);      \
    else if (s->wide)                               \
      T(align_all)(s, DP_COLUMNS, kind, false);     \
    else if (s->profile != NULL)                    \
      T(align_all)(s, 1, kind, true);               \
    else                                            \
      T(align_all)(s, 1, kind, false);              \
  }
DP_ALIGN_CASE(local, DP_ALIGN_LOCAL)
DP_ALIGN_CASE(global, DP_ALIGN_GLOBAL)
DP_ALIGN_CASE(linear, DP_ALIGN_LINEAR)
#if !DP_NARROW
DP_ALIGN_CASE(locate, DP_ALIGN_LOCATE)
#endif
#undef DP_ALIGN_CASE

static void T(align)(dp_align_kind kind, dp_align_strip *s) {
  switch (kind) {
  case DP_ALIGN_GLOBAL:
    T(align_global)(s);
    break;
  case DP_ALIGN_LINEAR:
    T(align_linear)(s);
    break;
#if !DP_NARROW
  case DP_ALIGN_LOCATE:
    T(align_locate)(s);
    break;
#endif
  default:
    T(align_local)(s);
  }
}

static void T(narrow)(const int32_t *from, int64_t n, int32_t shift, bool clip, void *out) {
  E *to = out;
  const int32_t least = clip ? 0 : INT32_MIN;
  for (int64_t k = 0; k < n; k++) {
    const int32_t value = from[k] - shift;
    to[k] = (E)(value > least ? value : least);
  }
}

static void T(widen)(const void *from, int64_t n, int32_t shift, int32_t *out) {
  for (int64_t k = 0; k < n; k++) out[k] = ((const E *)from)[k] + shift;
}

#undef LANES
