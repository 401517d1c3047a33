/* Max-plus convolution and min-plus product of a row of one SIMD level and one type; no guard: the
 * includer sets E, V, I and ALL (integers as wide as E, and all lanes of one), T(name) and DP_WHOLE
 * (1: integers, with U the unsigned type). Values are compared in the order of k, and only a better
 * one replaces another, as in a plain loop; so the k of a value is the smallest that attains it. */

#define LANES ((int)(VECTOR_BYTES / sizeof(E)))

/** The k of LANES columns, in memory. */
typedef int32_t T(places) __attribute__((vector_size(VECTOR_BYTES / sizeof(E) * sizeof(int32_t))));

VECTOR_INLINE void T(put_places)(int32_t *to, I at) {
  const T(places) some = __builtin_convertvector(at, T(places));
  memcpy(to, &some, sizeof some);
}

VECTOR_INLINE I T(get_places)(const int32_t *from) {
  T(places) some;
  memcpy(&some, from, sizeof some);
  return __builtin_convertvector(some, I);
}

/** Lanes of k where x is better, of at elsewhere. */
VECTOR_INLINE I T(better_place)(I x, int64_t k, I at) {
  return (ALL(k) & x) | (at & ~x);
}

/** Amounts k in [first, c] of column c, after those before; at: NULL, or the amount so far. */
VECTOR_INLINE E T(allot_rest)(const E *from, const E *r, int64_t c, int64_t first, E best,
                              int32_t *at) {
  for (int64_t k = first; k <= c; k++) {
    const E value = from[c - k] + r[k];
    if (!(value > best)) continue;
    best = value;
    if (at != NULL) *at = (int32_t)k;
  }
  return best;
}

/** n vectors of columns from c on. */
VECTOR_INLINE void T(allot_block)(const E *from, const E *r, int64_t c, const int n, E *to,
                                  int32_t *at) {
  V best[8];
  I place[8];
  VECTOR_UNROLL for (int q = 0; q < n; q++) best[q] = T(load)(from + c + q * LANES) + T(all)(r[0]);
  VECTOR_UNROLL for (int q = 0; q < n; q++) place[q] = ALL(0);
  for (int64_t k = 1; k <= c; k++) {
    const V add = T(all)(r[k]);
    VECTOR_UNROLL for (int q = 0; q < n; q++) {
      const V sum = T(load)(from + c - k + q * LANES) + add;
      if (at != NULL) place[q] = T(better_place)((I)(sum > best[q]), k, place[q]);
      best[q] = T(max)(sum, best[q]);
    }
  }
  VECTOR_UNROLL for (int q = 0; q < n; q++) T(store)(to + q * LANES, best[q]);
  if (at != NULL) {
    VECTOR_UNROLL for (int q = 0; q < n; q++) T(put_places)(at + q * LANES, place[q]);
  }
  for (int x = 1; x < n * LANES; x++)
    to[x] = T(allot_rest)(from, r, c + x, c + 1, to[x], at != NULL ? at + x : NULL);
}

VECTOR_INLINE void T(allot_all)(const E *from, const E *r, int64_t lo, int64_t hi, const int n,
                                E *to, int32_t *at) {
  int64_t c = lo;
  for (; c + n * LANES <= hi; c += n * LANES)
    T(allot_block)(from, r, c, n, to + c - lo, at != NULL ? at + c - lo : NULL);
  for (; c + LANES <= hi; c += LANES)
    T(allot_block)(from, r, c, 1, to + c - lo, at != NULL ? at + c - lo : NULL);
  for (; c < hi; c++) {
    if (at != NULL) at[c - lo] = 0;
    to[c - lo] = T(allot_rest)(from, r, c, 1, from[c] + r[0], at != NULL ? at + c - lo : NULL);
  }
}

static void T(allot)(const void *from, const void *returns, int64_t lo, int64_t hi, void *to,
                     int32_t *at) {
  if (at == NULL)
    T(allot_all)(from, returns, lo, hi, 8, to, NULL);
  else
    T(allot_all)(from, returns, lo, hi, 4, to, at);
}

/** Did a sum of x and y in any lane leave the type? */
#if DP_WHOLE
#define STAGE_LOST(lost, x, y, sum) lost |= ((x) ^ (sum)) & ((y) ^ (sum))
#define STAGE_SUM(x, y) (E)((U)(x) + (U)(y))
#else
#define STAGE_LOST(lost, x, y, sum) (void)lost
#define STAGE_SUM(x, y) ((x) + (y))
#endif

/** Rows before..before+n-1 of costs into to; first: to is written, not read. */
VECTOR_INLINE void T(stage_rows)(const E *from, const E *costs, int64_t ld, int64_t columns,
                                 int64_t before, const int n, const bool first, E *to, int32_t *at,
                                 V *lost) {
  V mine = *lost;
  E rest = 0;
  int64_t s = 0;
  for (; s + LANES <= columns; s += LANES) {
    V best = first ? T(all)(0) : T(load)(to + s);
    I place = first || at == NULL ? ALL(0) : T(get_places)(at + s);
    VECTOR_UNROLL for (int k = 0; k < n; k++) {
      const V x = T(all)(from[before + k]), y = T(load)(costs + (before + k) * ld + s), sum = x + y;
      STAGE_LOST(mine, x, y, sum);
      if (at != NULL && !(first && k == 0))
        place = T(better_place)((I)(sum < best), before + k, place);
      best = first && k == 0 ? sum : T(min)(sum, best);
    }
    T(store)(to + s, best);
    if (at != NULL) T(put_places)(at + s, place);
  }
  for (; s < columns; s++)
    for (int64_t k = before; k < before + n; k++) {
      const E y = costs[k * ld + s], sum = STAGE_SUM(from[k], y);
      STAGE_LOST(rest, from[k], y, sum);
      if (!(first && k == before) && !(sum < to[s])) continue;
      to[s] = sum;
      if (at != NULL) at[s] = (int32_t)k;
    }
  mine[0] = DP_WHOLE && rest < 0 ? rest : mine[0];
  *lost = mine;
}

VECTOR_INLINE V T(stage_all)(const E *from, const E *costs, int64_t m, int64_t ld, int64_t n, E *to,
                             int32_t *at) {
  V lost = T(all)(0);
  int64_t k = 1;
  T(stage_rows)(from, costs, ld, n, 0, 1, true, to, at, &lost);
  for (; k + 4 <= m; k += 4) T(stage_rows)(from, costs, ld, n, k, 4, false, to, at, &lost);
  for (; k < m; k++) T(stage_rows)(from, costs, ld, n, k, 1, false, to, at, &lost);
  return lost;
}

static bool T(stage)(const void *from, const void *costs, int64_t m, int64_t ld, int64_t n,
                     void *to, int32_t *at) {
  bool good = true;
  if (m < 1) return true;
  const V lost = at == NULL ? T(stage_all)(from, costs, m, ld, n, to, NULL)
                            : T(stage_all)(from, costs, m, ld, n, to, at);
  for (int p = 0; p < LANES; p++) good &= !DP_WHOLE || lost[p] >= 0;
  return good;
}

#undef STAGE_LOST
#undef STAGE_SUM
#undef LANES
