/* Tiles of interval tables of one SIMD level and one type; no guard: the includer sets E, V,
 * T(name), DP_BEST (max or min of two vectors, in favour of the second on a tie) and DP_CHAIN (1:
 * terms d[a] d[k] d[b] are possible). Tiles are [DP_SIDE][DP_SIDE]; see dp_join in dp_kernels.h. */

#define LANES ((int)(VECTOR_BYTES / sizeof(E)))
#define VECTORS (DP_SIDE / LANES) /* of a row of a tile */
#if VECTOR_BYTES == 64
#define WIDE (VECTORS < 4 ? VECTORS : 4) /* vectors and rows of a block in registers */
#define HIGH (16 / WIDE)
#else
#define WIDE (VECTORS < 2 ? VECTORS : 2)
#define HIGH (8 / WIDE)
#endif

/** HIGH rows by WIDE vectors of c = best(c, a + b + term), over all k of a tile. */
VECTOR_INLINE void T(meet_block)(const E *a, const E *b, E *c, const bool chain, const E *da,
                                 const E *dk, const E *db) {
  V best[HIGH][WIDE];
  VECTOR_UNROLL for (int r = 0; r < HIGH; r++) VECTOR_UNROLL for (int q = 0; q < WIDE; q++)
      best[r][q] = T(load)(c + r * DP_SIDE + q * LANES);
  for (int k = 0; k < DP_SIDE; k++) {
    V right[WIDE];
    VECTOR_UNROLL for (int q = 0; q < WIDE; q++) right[q] = T(load)(b + k * DP_SIDE + q * LANES);
    VECTOR_UNROLL for (int r = 0; r < HIGH; r++) {
      const V left = T(all)(a[r * DP_SIDE + k]), scale = T(all)(chain ? da[r] * dk[k] : 0);
      VECTOR_UNROLL for (int q = 0; q < WIDE; q++) {
        V sum = left + right[q];
        if (chain) sum = T(add_term)(scale, T(load)(db + q * LANES), sum);
        best[r][q] = DP_BEST(sum, best[r][q]);
      }
    }
  }
  VECTOR_UNROLL for (int r = 0; r < HIGH; r++) {
    VECTOR_UNROLL for (int q = 0; q < WIDE; q++) T(store)(c + r * DP_SIDE + q * LANES, best[r][q]);
  }
}

static void T(meet_plain)(const E *a, const E *b, E *c) {
  for (int q = 0; q < VECTORS; q += WIDE) /* half of b stays in the first-level cache */
    for (int r = 0; r < DP_STRIPE; r += HIGH) {
      E *const block = c + r * DP_SIDE + q * LANES;
      T(meet_block)(a + r * DP_SIDE, b + q * LANES, block, false, NULL, NULL, NULL);
    }
}

#if DP_CHAIN
static void T(meet_chain)(const E *a, const E *b, E *c, const E *da, const E *dk, const E *db) {
  for (int q = 0; q < VECTORS; q += WIDE) /* half of b stays in the first-level cache */
    for (int r = 0; r < DP_STRIPE; r += HIGH) {
      E *const block = c + r * DP_SIDE + q * LANES;
      T(meet_block)(a + r * DP_SIDE, b + q * LANES, block, true, da + r, dk, db + q * LANES);
    }
}
#endif

static void T(meet)(const void *a, const void *b, void *c, const void *da, const void *dk,
                    const void *db) {
#if DP_CHAIN
  if (da != NULL) {
    T(meet_chain)(a, b, c, da, dk, db);
    return;
  }
#endif
  (void)da, (void)dk, (void)db;
  T(meet_plain)(a, b, c);
}

/** row = best(row, left + right + scale * db) from vector q on. */
VECTOR_INLINE void T(join_row)(E *row, E left, const E *right, const bool chain, E scale,
                               const E *db, int q) {
  for (q *= LANES; q < DP_SIDE; q += LANES) {
    V sum = T(all)(left) + T(load)(right + q);
    if (chain) sum = T(add_term)(T(all)(scale), T(load)(db + q), sum);
    T(store)(row + q, DP_BEST(sum, T(load)(row + q)));
  }
}

/** Row r of a tile, all rows below being done. */
VECTOR_INLINE void T(join_one)(const dp_join *t, const int r, const bool chain) {
  const E *ii = t->ii, *jj = t->jj, *da = t->da, *db = t->db, *high = t->high, *low = t->low;
  E *const row = (E *)t->c + r * DP_SIDE;
  const int64_t next = t->row + r + 1 - t->column; /* the column of X[a][a + 1] */
  if (ii != NULL)
    for (int k = r + 1; k < t->rows; k++) T(join_row)
  (row, ii[r * DP_SIDE + k], (E *)t->c + k * DP_SIDE, chain, chain ? da[r] * da[k] : 0, db, 0);
  if (t->pairs != NULL) {
    const E *below = r + 1 < DP_SIDE ? row + DP_SIDE : (const E *)t->below;
    for (int q = 0; q < t->columns; q++) {
      if (!(t->pairs[r] >> q & 1)) continue;
      const E inside = (E)(q > 0 ? below[q - 1] + 1 : ((const E *)t->left)[r] + 1);
      if (inside > row[q]) row[q] = inside;
    }
  }
  for (int q = next > 0 ? (int)next : 0; q < t->columns; q++) {
    if (q == next)
      row[q] = t->base != NULL ? ((const E *)t->base)[r] : 0;
    else if (high != NULL)
      row[q] = (E)(row[q] + (E)(high[q] - low[r]));
    T(join_row)(row, row[q], jj + q * DP_SIDE, chain, chain ? da[r] * db[q] : 0, db, q / LANES);
  }
}

static void T(join)(const dp_join *t) {
#if DP_CHAIN
  for (int r = t->rows - 1; r >= 0 && t->da != NULL; r--) T(join_one)(t, r, true);
  if (t->da != NULL) return;
#endif
  for (int r = t->rows - 1; r >= 0; r--) T(join_one)(t, r, false);
}

#undef LANES
#undef VECTORS
#undef WIDE
#undef HIGH
