/* Align strips in 8 bits at one SIMD level, whatever the scores have grown to; after the 8-bit
 * dp_kernels_align.h. Every lane has a base of its own, from which its few columns are not far
 * away; it moves along every s->move rows. How far is far: dp_cpu_align.c, choose_move. Lists by
 * row and by lane hold int32 here; values are those of the other align strips. */

#define MOVING_LANES ((int)VECTOR_BYTES)
enum { MOVING_MOST = 32 /* rows between two moves */ };

typedef struct moving_lanes {
  v_i8 h[DP_COLUMNS], f[DP_COLUMNS], e, over, best, floor;
  v_i8 delta;                 /* base of the lane to the left minus base */
  int32_t base[VECTOR_BYTES]; /* value 0 */
  int32_t most[VECTOR_BYTES]; /* largest H so far, LOCAL; at least 0 */
  int8_t left_h[MOVING_MOST], left_e[MOVING_MOST], right_h[MOVING_MOST], right_e[MOVING_MOST];
} moving_lanes;

/* Once for each column of a strip: inlined, they were a third of the code. */
static __attribute__((noinline)) v_i8 moving_load(const int32_t *from, const int32_t *base) {
  int8_t out[VECTOR_BYTES];
  for (int p = 0; p < MOVING_LANES; p++) out[p] = (int8_t)(from[p] - base[p]);
  return load_i8(out);
}

static __attribute__((noinline)) void moving_store(v_i8 v, const int32_t *base, int32_t *to) {
  int8_t in[VECTOR_BYTES];
  store_i8(in, v);
  for (int p = 0; p < MOVING_LANES; p++) to[p] = in[p] + base[p];
}

/** What follows from the bases. */
VECTOR_INLINE void moving_settle(const dp_align_strip *s, moving_lanes *l) {
  int8_t delta[VECTOR_BYTES], floor[VECTOR_BYTES];
  for (int p = 0; p < MOVING_LANES - 1; p++) delta[p] = (int8_t)(l->base[p + 1] - l->base[p]);
  delta[MOVING_LANES - 1] = 0;
  for (int p = 0; p < MOVING_LANES; p++) {
    const int32_t above = s->floor - l->base[p];
    floor[p] = (int8_t)(above > INT8_MIN ? above : INT8_MIN);
  }
  l->delta = load_i8(delta);
  l->floor = load_i8(floor);
}

/** Move every lane's base so that its first column lies where the strip wants it. */
VECTOR_INLINE void moving_move(const dp_align_strip *s, const int columns, const dp_align_kind kind,
                               moving_lanes *l) {
  const v_i8 shift = l->h[0] - all_i8((int8_t)(INT8_MIN + s->below));
  int8_t at[VECTOR_BYTES], best[VECTOR_BYTES];
  if (kind == DP_ALIGN_LOCAL) {
    store_i8(best, l->best);
    for (int p = 0; p < MOVING_LANES; p++) {
      const int32_t most = best[p] + l->base[p];
      l->most[p] = most > l->most[p] ? most : l->most[p];
    }
    l->best = all_i8(INT8_MIN);
  }
  store_i8(at, l->h[0]);
  for (int p = 0; p < MOVING_LANES; p++) l->base[p] += at[p] - (INT8_MIN + s->below);
  VECTOR_UNROLL for (int r = 0; r < columns; r++) {
    l->h[r] -= shift;
    if (kind != DP_ALIGN_LINEAR) l->f[r] -= shift;
  }
  l->e -= shift;
  l->over -= shift;
  moving_settle(s, l);
}

/** Step k of those between two moves: lane 0 in row `row`; masked: lanes whose row does not exist
 *  keep their state. */
VECTOR_INLINE void moving_step(const dp_align_strip *s, const align_frame_i8 *f, moving_lanes *l,
                               const int columns, const dp_align_kind kind, const int8_t *scores,
                               const bool masked, int64_t row, int k) {
  const bool linear = kind == DP_ALIGN_LINEAR, local = kind == DP_ALIGN_LOCAL;
  const v_i8 left = all_i8(l->left_h[k]), zero = all_i8(0);
  const v_i8 h_left = choose_i8(f->first, left, down_i8(l->h[columns - 1], zero) + l->delta);
  v_i8 over = l->over, live = zero, e, a = zero;
  if (linear)
    e = h_left - f->extend_e;
  else
    e = choose_i8(f->first, all_i8(l->left_e[k]), down_i8(l->e, zero) + l->delta);
  l->over = h_left;
  if (masked) live = align_live_i8(s, f, row);
  if (scores == NULL) a = load_bytes_i8(s->a + row);
  VECTOR_UNROLL for (int r = 0; r < columns; r++) {
    const v_i8 old = l->h[r];
    const v_i8 score = scores != NULL
                           ? load_i8(scores + (int64_t)r * (DP_STEPS + 64) * MOVING_LANES)
                           : choose_equal_i8(a, load_i8((const int8_t *)s->b + r * MOVING_LANES),
                                             f->match, f->mismatch);
    const v_i8 up = linear ? old - f->extend_f : l->f[r];
    const v_i8 g = max_i8(over + score, up);
    const v_i8 h = max_i8(g, e);
    over = old;
    l->h[r] = masked ? choose_i8(live, h, old) : h;
    if (linear) {
      e = h - f->extend_e;
      continue;
    }
    e = max_i8(e, g - f->open) - f->extend_e;
    const v_i8 longer = max_i8(up, h - f->open) - f->extend_f;
    const v_i8 next = local ? max_i8(longer, l->floor) : longer;
    l->f[r] = masked ? choose_i8(live, next, up) : next;
    if (local) l->best = max_i8(l->best, masked ? choose_i8(live, h, l->best) : h);
  }
  l->e = e;
  l->right_h[k] = l->h[columns - 1][0];
  if (!linear) l->right_e[k] = e[0];
}

/** The steps between two moves, from the left edge to the right one. */
VECTOR_INLINE void moving_rows(dp_align_strip *s, const align_frame_i8 *f, moving_lanes *l,
                               const int columns, const dp_align_kind kind, const bool matrix,
                               const bool masked, int64_t row, int n) {
  const int32_t first = l->base[s->lanes - 1], last = l->base[0];
  const int32_t *left_h = (const int32_t *)s->left_h + row + s->lanes - 1;
  const int32_t *left_e = (const int32_t *)s->left_e + row + s->lanes - 1;
  const int64_t step = row - (1 - s->lanes);
  for (int k = 0; k < n; k++) l->left_h[k] = (int8_t)(left_h[k] - first);
  for (int k = 0; k < n && kind != DP_ALIGN_LINEAR; k++) l->left_e[k] = (int8_t)(left_e[k] - first);
  if (matrix && step % DP_STEPS == 0) align_scores_i8(s, f, columns, row);
  for (int k = 0; k < n; k++) {
    const int8_t *scores =
        matrix ? (const int8_t *)s->scores + (step + k) % DP_STEPS * MOVING_LANES : NULL;
    moving_step(s, f, l, columns, kind, scores, masked, row + k, k);
  }
  for (int k = row < 0 ? (int)(row + n < 0 ? n : -row) : 0; k < n; k++) {
    ((int32_t *)s->right_h)[row + k] = l->right_h[k] + last;
    if (kind != DP_ALIGN_LINEAR) ((int32_t *)s->right_e)[row + k] = l->right_e[k] + last;
  }
}

VECTOR_INLINE void moving_open(const dp_align_strip *s, const int columns, const dp_align_kind kind,
                               moving_lanes *l) {
  const int32_t *h = s->h, *f = s->f;
  int32_t
      base[VECTOR_BYTES]; /* no function is given a pointer to *l, whose vectors are registers */
  for (int p = 0; p < MOVING_LANES; p++) {
    l->base[p] = base[p] = h[p] - (INT8_MIN + s->below);
    l->most[p] = 0;
  }
  VECTOR_UNROLL for (int r = 0; r < columns; r++) {
    l->h[r] = moving_load(h + r * MOVING_LANES, base);
    l->f[r] = kind == DP_ALIGN_LINEAR ? all_i8(0) : moving_load(f + r * MOVING_LANES, base);
  }
  l->e = all_i8(0);
  l->best = all_i8(INT8_MIN);
  l->over = all_i8((int8_t)(((const int32_t *)s->left_h)[-1] - l->base[s->lanes - 1]));
  moving_settle(s, l);
}

VECTOR_INLINE void moving_all(dp_align_strip *s, const int columns, const dp_align_kind kind,
                              const bool matrix) {
  const align_frame_i8 f = align_frame_of_i8(s);
  const int64_t full = s->rows + 1 - s->lanes;
  int32_t base[VECTOR_BYTES];
  moving_lanes l;
  moving_open(s, columns, kind, &l);
  for (int64_t row = 1 - s->lanes; row < s->rows; row += s->move) {
    const int n = s->rows - row < s->move ? (int)(s->rows - row) : s->move;
    if (row < 0 || row + n > full)
      moving_rows(s, &f, &l, columns, kind, matrix, true, row, n);
    else
      moving_rows(s, &f, &l, columns, kind, matrix, false, row, n);
    moving_move(s, columns, kind, &l);
  }
  memcpy(base, l.base, sizeof base);
  VECTOR_UNROLL for (int r = 0; r < columns; r++) {
    moving_store(l.h[r], base, (int32_t *)s->h + r * MOVING_LANES);
    if (kind != DP_ALIGN_LINEAR) moving_store(l.f[r], base, (int32_t *)s->f + r * MOVING_LANES);
  }
  if (kind == DP_ALIGN_LOCAL) memcpy(s->best, l.most, sizeof l.most);
}

#define DP_MOVING_CASE(name, kind)               \
  static void moving_##name(dp_align_strip *s) { \
    if (s->wide && s->profile != NULL)           \
      moving_all(s, DP_COLUMNS, kind, true);     \
    else if (s->wide)                            \
      moving_all(s, DP_COLUMNS, kind, false);    \
    else if (s->profile != NULL)                 \
      moving_all(s, 1, kind, true);              \
    else                                         \
      moving_all(s, 1, kind, false);             \
  }
DP_MOVING_CASE(local, DP_ALIGN_LOCAL)
DP_MOVING_CASE(global, DP_ALIGN_GLOBAL)
DP_MOVING_CASE(linear, DP_ALIGN_LINEAR)
#undef DP_MOVING_CASE

static void align_moving(dp_align_kind kind, dp_align_strip *s) {
  if (kind == DP_ALIGN_GLOBAL)
    moving_global(s);
  else if (kind == DP_ALIGN_LINEAR)
    moving_linear(s);
  else
    moving_local(s);
}

#undef MOVING_LANES
