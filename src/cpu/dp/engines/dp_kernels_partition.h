/* Sums over structures of one SIMD level; see dp_partition_row in dp_kernels.h. No guard. Products
 * and sums are rounded one by one, in one order, so that all levels have the same bits. */

#define PART_LANES ((int)(VECTOR_BYTES / sizeof(double)))
#define PART_WIDE (DP_SIDE / PART_LANES < 8 ? DP_SIDE / PART_LANES : 8) /* vectors of a block */

/** sum += other * weight: the other pair has n1 letters before it and n2 behind. */
VECTOR_INLINE void part_look(v_f64 sum[PART_WIDE], const double *window, int64_t step, int n1,
                             int n2, double weight) {
  const double *other = window + step * ((1 + n1) * DP_FOLD_LD - 1 - n2);
  const v_f64 times = all_f64(weight);
  VECTOR_UNROLL for (int k = 0; k < PART_WIDE; k++) sum[k] +=
      load_f64(other + k * PART_LANES) * times;
}

VECTOR_INLINE void part_take(v_f64 all[PART_WIDE], v_f64 sum[PART_WIDE], const double *own) {
  VECTOR_UNROLL for (int k = 0; k < PART_WIDE; k++) {
    all[k] += sum[k] * load_f64(own + k * PART_LANES);
    sum[k] = all_f64(0);
  }
}

/** Loops of one kind after the other, columns q on. */
VECTOR_INLINE void part_interior(const dp_partition_row *t, int q, v_f64 all[PART_WIDE]) {
  const rna_weights_costs *c = t->costs;
  const int64_t step = t->step;
  const double *w = t->window[DP_FOLD_GENERIC] + q;
  v_f64 sum[PART_WIDE];
  VECTOR_UNROLL for (int k = 0; k < PART_WIDE; k++) sum[k] = all_f64(0);
  for (int n1 = 2; n1 <= RNA_LOOP - 2; n1++)
    for (int n2 = n1 < 4 ? 6 - n1 : 2; n2 <= RNA_LOOP - n1; n2++)
      part_look(sum, w, step, n1, n2, c->generic[n1][n2]);
  part_take(all, sum, t->own[DP_FOLD_GENERIC] + q);
  w = t->window[DP_FOLD_ONE] + q;
  for (int n = 3; n < RNA_LOOP; n++) {
    part_look(sum, w, step, 1, n, c->one[n]);
    part_look(sum, w, step, n, 1, c->one[n]);
  }
  part_take(all, sum, t->own[DP_FOLD_ONE] + q);
  w = t->window[DP_FOLD_TWO_THREE] + q;
  part_look(sum, w, step, 2, 3, c->two_three);
  part_look(sum, w, step, 3, 2, c->two_three);
  part_take(all, sum, t->own[DP_FOLD_TWO_THREE] + q);
  w = t->window[DP_FOLD_BULGE] + q;
  for (int n = 2; n <= RNA_LOOP; n++) {
    part_look(sum, w, step, 0, n, c->bulge[n]);
    part_look(sum, w, step, n, 0, c->bulge[n]);
  }
  part_take(all, sum, t->own[DP_FOLD_BULGE] + q);
}

static void partition_row(const dp_partition_row *t) {
  for (int x = 0; x < DP_FOLD_NEAR; x++) {
    const double *other =
        t->window[DP_FOLD_PLAIN] +
        t->step * ((1 + dp_fold_near[x][0]) * DP_FOLD_LD - 1 - dp_fold_near[x][1]);
    for (int q = 0; q < DP_SIDE; q++) t->sum[q] += other[q] * t->near[x][t->key[x][q]];
  }
  for (int q = 0; q < DP_SIDE; q += PART_WIDE * PART_LANES) {
    v_f64 all[PART_WIDE];
    VECTOR_UNROLL for (int k = 0; k < PART_WIDE; k++) all[k] =
        load_f64(t->sum + q + k * PART_LANES);
    part_interior(t, q, all);
    VECTOR_UNROLL for (int k = 0; k < PART_WIDE; k++)
        store_f64(t->sum + q + k * PART_LANES, all[k]);
  }
}

static void partition_meet(const double *a, const double *b, double *c, double scale) {
  enum { ROWS = 4, WIDE = 2 };
  for (int r = 0; r < DP_SIDE; r += ROWS)
    for (int q = 0; q < DP_SIDE; q += WIDE * PART_LANES) {
      v_f64 sum[ROWS][WIDE];
      VECTOR_UNROLL for (int x = 0; x < ROWS; x++) VECTOR_UNROLL for (int k = 0; k < WIDE; k++)
          sum[x][k] = all_f64(0);
      for (int m = 0; m < DP_SIDE; m++) {
        const double *row = b + m * DP_SIDE + q;
        VECTOR_UNROLL for (int x = 0; x < ROWS; x++) {
          const v_f64 left = all_f64(a[(r + x) * DP_SIDE + m]);
          VECTOR_UNROLL for (int k = 0; k < WIDE; k++) sum[x][k] +=
              left * load_f64(row + k * PART_LANES);
        }
      }
      VECTOR_UNROLL for (int x = 0; x < ROWS; x++) VECTOR_UNROLL for (int k = 0; k < WIDE; k++) {
        double *to = c + (r + x) * DP_SIDE + q + k * PART_LANES;
        store_f64(to, load_f64(to) + sum[x][k] * all_f64(scale));
      }
    }
}

static void partition_add(const double *from, double scale, double *to) {
  for (int k = 0; k < DP_SIDE; k++) to[k] += from[k] * scale;
}

static void partition_times(const double *v, const double *w, double scale, int n, double *to) {
  for (int k = 0; k < n; k++) to[k] = v[k] * w[k] * scale;
}

#undef PART_LANES
#undef PART_WIDE
