/* Max-plus convolution and min-plus product of a row of one SIMD level and one type; no guard: the
 * includer sets E, V, T(name) and DP_WHOLE (1: integers, with U the unsigned type). Values are
 * compared in the order of k, and only a better one replaces another, as in a plain loop. */

#define LANES ((int)(DP_BYTES / sizeof(E)))

/** Amounts k in [first, c] of column c, after those before. */
static E T(allot_rest)(const E *from, const E *r, int64_t c, int64_t first, E best) {
  for (int64_t k = first; k <= c; k++) {
    const E value = from[c - k] + r[k];
    if (value > best) best = value;
  }
  return best;
}

/** n vectors of columns from c on. */
DP_INLINE void T(allot_block)(const E *from, const E *r, int64_t c, const int n, E *to) {
  V best[8];
  DP_UNROLL for (int q = 0; q < n; q++) best[q] = T(load)(from + c + q * LANES) + T(all)(r[0]);
  for (int64_t k = 1; k <= c; k++) {
    const V add = T(all)(r[k]);
    DP_UNROLL for (int q = 0; q < n; q++) best[q] =
        T(max)(T(load)(from + c - k + q * LANES) + add, best[q]);
  }
  DP_UNROLL for (int q = 0; q < n; q++) T(store)(to + q * LANES, best[q]);
  for (int x = 1; x < n * LANES; x++) to[x] = T(allot_rest)(from, r, c + x, c + 1, to[x]);
}

static void T(allot)(const void *from_, const void *returns, int64_t lo, int64_t hi, void *to_) {
  const E *from = from_, *r = returns;
  E *to = to_;
  int64_t c = lo;
  for (; c + 8 * LANES <= hi; c += 8 * LANES) T(allot_block)(from, r, c, 8, to + c - lo);
  for (; c + LANES <= hi; c += LANES) T(allot_block)(from, r, c, 1, to + c - lo);
  for (; c < hi; c++) to[c - lo] = T(allot_rest)(from, r, c, 1, from[c] + r[0]);
}

/** Did a sum of x and y in any lane leave the type? */
#if DP_WHOLE
#define STAGE_LOST(lost, x, y, sum) lost |= ((x) ^ (sum)) & ((y) ^ (sum))
#define STAGE_SUM(x, y) (E)((U)(x) + (U)(y))
#else
#define STAGE_LOST(lost, x, y, sum) (void)lost
#define STAGE_SUM(x, y) ((x) + (y))
#endif

/** Rows k..k+n-1 of costs into to; first: to is written, not read. */
DP_INLINE void T(stage_rows)(const E *from, const E *costs, int64_t ld, int64_t columns,
                             const int n, const bool first, E *to, V *lost) {
  V mine = *lost;
  E rest = 0;
  int64_t s = 0;
  for (; s + LANES <= columns; s += LANES) {
    V best = first ? T(all)(0) : T(load)(to + s);
    DP_UNROLL for (int k = 0; k < n; k++) {
      const V x = T(all)(from[k]), y = T(load)(costs + k * ld + s), sum = x + y;
      STAGE_LOST(mine, x, y, sum);
      best = first && k == 0 ? sum : T(min)(sum, best);
    }
    T(store)(to + s, best);
  }
  for (; s < columns; s++)
    for (int k = 0; k < n; k++) {
      const E y = costs[k * ld + s], sum = STAGE_SUM(from[k], y);
      STAGE_LOST(rest, from[k], y, sum);
      if ((first && k == 0) || sum < to[s]) to[s] = sum;
    }
  mine[0] = DP_WHOLE && rest < 0 ? rest : mine[0];
  *lost = mine;
}

static bool T(stage)(const void *from_, const void *costs_, int64_t m, int64_t ld, int64_t n,
                     void *to) {
  const E *from = from_, *costs = costs_;
  V lost = T(all)(0);
  bool good = true;
  int64_t k = 1;
  if (m < 1) return true;
  T(stage_rows)(from, costs, ld, n, 1, true, to, &lost);
  for (; k + 4 <= m; k += 4) T(stage_rows)(from + k, costs + k * ld, ld, n, 4, false, to, &lost);
  for (; k < m; k++) T(stage_rows)(from + k, costs + k * ld, ld, n, 1, false, to, &lost);
  for (int p = 0; p < LANES; p++) good &= !DP_WHOLE || lost[p] >= 0;
  return good;
}

#undef STAGE_LOST
#undef STAGE_SUM
#undef LANES
