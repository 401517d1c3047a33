/* Strips of dynamic time warping of one SIMD level and one type; no guard: the includer sets E (the
 * type of a value), V, I (its mask), ALL (one integer in all lanes of I) and T(name). Each cell is
 * d + min of three, as a plain loop does it: the same bits. */

#define LANES ((int)(VECTOR_BYTES / sizeof(E)))

typedef struct T(dtw_lanes) {
  V h[DP_COLUMNS], b[DP_COLUMNS], over;
} T(dtw_lanes);

VECTOR_INLINE V T(dtw_distance)(V x, V y, const bool square) {
  const V d = x - y;
  return square ? d * d : T(max)(d, y - x);
}

VECTOR_INLINE void T(dtw_step)(const dp_dtw_strip *s, T(dtw_lanes) * l, const I lane, const I first,
                               const int columns, const bool square, const bool masked,
                               int64_t row) {
  E *const edge = (E *)s->edge + row;
  const V x = T(load)((const E *)s->a + row), left = T(load)(edge);
  V h = T(choose)(first, left, T(down)(l->h[columns - 1], left)), over = l->over;
  I live = first;
  l->over = h;
  if (masked) live = (I)((lane >= ALL((int)-row)) & (lane < ALL((int)(s->rows - row))));
  VECTOR_UNROLL for (int r = 0; r < columns; r++) {
    const V old = l->h[r];
    h = T(dtw_distance)(x, l->b[r], square) + T(min)(T(min)(over, old), h);
    over = old;
    l->h[r] = masked ? T(choose)(live, h, old) : h;
  }
  if (row >= 0) *edge = h[0];
}

VECTOR_INLINE void T(dtw_all)(const dp_dtw_strip *s, const int columns, const bool square) {
  const int64_t begin = 1 - s->lanes, full = s->rows + begin > 0 ? s->rows + begin : 0;
  T(dtw_lanes) l = {.over = T(all)(*(const E *)s->corner)};
  I lane, first;
  for (int p = 0; p < LANES; p++) {
    lane[p] = p;
    first[p] = p == s->lanes - 1 ? -1 : 0;
  }
  VECTOR_UNROLL for (int r = 0; r < columns; r++) {
    l.h[r] = T(load)((E *)s->h + r * LANES);
    l.b[r] = T(load)((const E *)s->b + r * LANES);
  }
  int64_t row = begin;
  for (; row < 0; row++) T(dtw_step)(s, &l, lane, first, columns, square, true, row);
  for (; row < full; row++) T(dtw_step)(s, &l, lane, first, columns, square, false, row);
  for (; row < s->rows; row++) T(dtw_step)(s, &l, lane, first, columns, square, true, row);
  VECTOR_UNROLL for (int r = 0; r < columns; r++) T(store)((E *)s->h + r * LANES, l.h[r]);
}

static void T(dtw)(const dp_dtw_strip *s) {
  if (s->wide && s->square)
    T(dtw_all)(s, DP_COLUMNS, true);
  else if (s->wide)
    T(dtw_all)(s, DP_COLUMNS, false);
  else if (s->square)
    T(dtw_all)(s, 1, true);
  else
    T(dtw_all)(s, 1, false);
}

#undef LANES
