/* Loops of a socket around an equation of three points: text that stands after the family's
 * (triples_equation.h), for the host compiler. No guard, no header. */

/** Sum of lanes, in this order on every device. */
LANG_FN R triples_fold(R lane[TRIPLES_LANES]) {
  for (int h = TRIPLES_LANES / 2; h > 0; h /= 2)
    for (int l = 0; l < h; l++) lane[l] = lane[l] + lane[l + h];
  return lane[0];
}

/** A pair, and its third points [0, n) of a chunk: x and q from there on, their sides with i. */
struct triples_chunk {
  struct triples_point i, j;
  struct triples_side ij;
  const R *x, *q, *r2, *r;
};

/** Value of third point k, or its slope. */
LANG_FN R triples_at(const struct triples_chunk *p, const struct triples_constants c, const i64 ld,
                     const i64 k, const int slope) {
  const struct triples_point third = triples_read(p->x, p->q, ld, k);
  const struct triples_side ki = {p->r2[k], p->r[k]};
  const struct triples_side jk = triples_side_of(p->j, third, c);
#ifdef TRIPLES_SLOPES
  if (slope) return triples_slope(p->ij, jk, ki, p->i, p->j, third, c);
#endif
  (void)slope;
  return triples_value(p->ij, jk, ki, p->i, p->j, third, c);
}

/** Sum over the third points [0, n); skip: one that does not count, -1 none; of slopes j neither,
 *  which is the one numbered own, if any. */
LANG_FN double triples_sum(const struct triples_chunk p, const struct triples_constants c,
                           const i64 ld, const i64 n, const i64 skip, const i64 own,
                           const int slope) {
  R lane[TRIPLES_LANES] = {0};
  i64 k = 0;
  for (; k + TRIPLES_LANES <= n; k += TRIPLES_LANES) {
#pragma GCC ivdep
    for (int l = 0; l < TRIPLES_LANES; l++) {
      const R v = triples_at(&p, c, ld, k + l, slope);
      lane[l] = (skip >= 0 && k + l == skip) || (slope && k + l == own) ? lane[l] : lane[l] + v;
    }
  }
  for (int l = 0; k + l < n; l++)
    if (k + l != skip && !(slope && k + l == own))
      lane[l] = lane[l] + triples_at(&p, c, ld, k + l, slope);
  return (double)triples_fold(lane);
}

/** Sides of point i with the points [0, n) of x. */
LANG_FN void triples_sides(const struct triples_point i, const struct triples_constants c,
                           const R *x, const R *q, const i64 ld, const i64 n, R *r2, R *r) {
#pragma GCC ivdep
  for (i64 k = 0; k < n; k++) {
    const struct triples_side s = triples_side_of(i, triples_read(x, q, ld, k), c);
    r2[k] = s.r2, r[k] = s.r;
  }
}

/** Sums of the pairs (i, j) of the columns [first, end) into sums[j]: values over the third points
 *  k < j, or slopes over all. */
LANG_FN void triples_of_columns(const struct triples_equation_args *args, i64 i, i64 first, i64 end,
                                double *sums, const int slope) {
  const struct triples_constants c = triples_numbers(args);
  const R *const x = (const R *)args->x, *const q = (const R *)args->q;
  const i64 ld = args->ld, thirds = slope ? args->n : end - 1;
  const struct triples_point a = triples_read(x, q, ld, i);
  R r2[TRIPLES_CHUNK], r[TRIPLES_CHUNK];
  for (i64 j = first; j < end; j++) sums[j] = 0;
  for (i64 k = 0; k < thirds; k += TRIPLES_CHUNK) {
    const i64 all = args->n - k < TRIPLES_CHUNK ? args->n - k : TRIPLES_CHUNK;
    const i64 skip = TRIPLES_ALL && i >= k && i < k + TRIPLES_CHUNK ? i - k : -1;
    triples_sides(a, c, x + k, q + k, ld, all, r2, r);
    for (i64 j = slope || first > k ? first : k + 1; j < end; j++) {
      const i64 n = slope || j - k >= all ? all : j - k;
      const struct triples_point b = triples_read(x, q, ld, j);
      const struct triples_chunk p = {a, b, triples_side_of(a, b, c), x + k, q + k, r2, r};
      if (j == i || (TRIPLES_CUTS && !(p.ij.r2 <= c.cutoff2))) continue;
      sums[j] += skip < 0 ? triples_sum(p, c, ld, n, -1, j - k, slope)
                          : triples_sum(p, c, ld, n, skip, j - k, slope);
    }
  }
}

void tsl_triples_pairs(const struct triples_equation_args *args, i64 i, i64 first, i64 end,
                       double *sums) {
  triples_of_columns(args, i, first, end, sums, 0);
}

#ifdef TRIPLES_SLOPES
void tsl_triples_slopes(const struct triples_equation_args *args, i64 i, i64 first, i64 end,
                        double *sums) {
  triples_of_columns(args, i, first, end, sums, 1);
}
#endif
