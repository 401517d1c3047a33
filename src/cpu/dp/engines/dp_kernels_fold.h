/* Rows of tiles of a folding of one SIMD level; see dp_fold_row in dp_kernels.h. No guard. Included
 * after dp_kernels_join.h with int32_t, whose rows it joins. */

#define FOLD_LANES ((int)(VECTOR_BYTES / sizeof(int32_t)))
#define FOLD_WIDE (DP_SIDE / FOLD_LANES < 4 ? DP_SIDE / FOLD_LANES : 4) /* vectors of a block */

/** best = min(best, inner + cost): the pair inside has n1 letters before it and n2 behind. */
VECTOR_INLINE void fold_look(v_i32 best[FOLD_WIDE], const int32_t *window, int n1, int n2,
                             int32_t cost) {
  const int32_t *inner = window + (1 + n1) * DP_FOLD_LD - 1 - n2;
  const v_i32 more = all_i32(cost);
  VECTOR_UNROLL for (int k = 0; k < FOLD_WIDE; k++) best[k] =
      min_i32(best[k], load_i32(inner + k * FOLD_LANES) + more);
}

VECTOR_INLINE void fold_take(v_i32 all[FOLD_WIDE], v_i32 best[FOLD_WIDE], const int32_t *outer) {
  VECTOR_UNROLL for (int k = 0; k < FOLD_WIDE; k++) {
    all[k] = min_i32(all[k], best[k] + load_i32(outer + k * FOLD_LANES));
    best[k] = all_i32(RNA_NONE);
  }
}

/** Loops of one kind after the other, columns q on. */
VECTOR_INLINE void fold_interior(const dp_fold_row *t, int q, v_i32 all[FOLD_WIDE]) {
  const dp_fold_costs *c = t->costs;
  const int32_t *w = t->window[DP_FOLD_GENERIC] + q;
  v_i32 best[FOLD_WIDE];
  VECTOR_UNROLL for (int k = 0; k < FOLD_WIDE; k++) best[k] = all_i32(RNA_NONE);
  for (int n1 = 2; n1 <= RNA_LOOP - 2; n1++)
    for (int n2 = n1 < 4 ? 6 - n1 : 2; n2 <= RNA_LOOP - n1; n2++)
      fold_look(best, w, n1, n2, c->generic[n1][n2]);
  fold_take(all, best, t->outer[DP_FOLD_GENERIC] + q);
  w = t->window[DP_FOLD_ONE] + q;
  for (int n = 3; n < RNA_LOOP; n++) {
    fold_look(best, w, 1, n, c->one[n]);
    fold_look(best, w, n, 1, c->one[n]);
  }
  fold_take(all, best, t->outer[DP_FOLD_ONE] + q);
  w = t->window[DP_FOLD_TWO_THREE] + q;
  fold_look(best, w, 2, 3, c->two_three);
  fold_look(best, w, 3, 2, c->two_three);
  fold_take(all, best, t->outer[DP_FOLD_TWO_THREE] + q);
  w = t->window[DP_FOLD_BULGE] + q;
  for (int n = 2; n <= RNA_LOOP; n++) {
    fold_look(best, w, 0, n, c->bulge[n]);
    fold_look(best, w, n, 0, c->bulge[n]);
  }
  fold_take(all, best, t->outer[DP_FOLD_BULGE] + q);
}

static void fold_row(const dp_fold_row *t) {
  int32_t near[DP_FOLD_NEAR][DP_SIDE];
  for (int x = 0; x < DP_FOLD_NEAR; x++)
    for (int q = 0; q < DP_SIDE; q++) near[x][q] = t->near[x][t->key[q]];
  for (int q = 0; q < DP_SIDE; q += FOLD_WIDE * FOLD_LANES) {
    v_i32 all[FOLD_WIDE];
    VECTOR_UNROLL for (int k = 0; k < FOLD_WIDE; k++) {
      const int at = q + k * FOLD_LANES;
      const v_i32 hairpin = load_i32(t->sizes + at) + load_i32(t->hairpin + at);
      all[k] = min_i32(hairpin, load_i32(t->closing + at) - load_i32(t->split + at));
      all[k] = min_i32(all[k], load_i32(t->v + at));
    }
    fold_interior(t, q, all);
    for (int x = 0; x < DP_FOLD_NEAR; x++) {
      const int n1 = dp_fold_near[x][0], n2 = dp_fold_near[x][1];
      const int32_t *w = t->window[DP_FOLD_PLAIN] + q + (1 + n1) * DP_FOLD_LD - 1 - n2;
      VECTOR_UNROLL for (int k = 0; k < FOLD_WIDE; k++) all[k] =
          min_i32(all[k], load_i32(w + k * FOLD_LANES) + load_i32(near[x] + q + k * FOLD_LANES));
    }
    VECTOR_UNROLL for (int k = 0; k < FOLD_WIDE; k++)
        store_i32(t->v + q + k * FOLD_LANES,
                  choose_i32(all[k] < all_i32(RNA_HIGH), all[k], all_i32(RNA_NONE)));
  }
}

static void fold_add(const int32_t *v, const int32_t *more, int n, int32_t *to) {
  for (int k = 0; k < n; k++) to[k] = v[k] + more[k];
}

static void fold_least(const int32_t *v, const int32_t *more, int32_t also, int32_t *best) {
  for (int k = 0; k < DP_SIDE; k++) {
    const int32_t sum = v[k] + more[k] + also;
    best[k] = sum < best[k] ? sum : best[k];
  }
}

static void fold_join(const dp_fold_join *t) {
  int32_t *row = t->c + t->row * DP_SIDE;
  int32_t before = t->before;
  for (int k = t->row + 1; k < t->rows && t->ii != NULL; k++)
    join_row_i32(row, t->ii[t->row * DP_SIDE + k], t->c + k * DP_SIDE, false, 0, NULL, 0);
  for (int q = t->first; q < t->columns; q++) {
    int32_t best = row[q];
    t->split[q] = best;
    if (-t->stem[q] > best) best = -t->stem[q];
    if (t->below[q] - t->base > best) best = t->below[q] - t->base;
    if (before - t->base > best) best = before - t->base;
    row[q] = before = best;
    join_row_i32(row, best, t->jj + q * DP_SIDE, false, 0, NULL, q / FOLD_LANES);
  }
}

#undef FOLD_LANES
#undef FOLD_WIDE
