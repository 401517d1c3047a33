/* Loops of a socket around an equation: text that stands after the family's (tri_equation.h), for
 * the host compiler. No guard, no header. */

/** Values of rows [i, i + rows) x columns [j, j + n) into out[row][column], row stride out_ld. */
void tsl_tri_fill(const struct tri_equation_args *args, i64 i, int rows, i64 j, i64 n, void *out,
                  i64 out_ld) {
  const struct tri_constants c = tri_numbers(args);
  const R *const x = (const R *)args->x + j, *const q = (const R *)args->q + j;
  const i64 ld = args->ld;
  for (int r = 0; r < rows; r++) {
    const struct tri_point a = tri_read((const R *)args->x, (const R *)args->q, ld, i + r);
    R *const to = (R *)out + r * out_ld;
#pragma GCC ivdep
    for (i64 k = 0; k < n; k++) to[k] = tri_value(a, tri_read(x, q, ld, k), c);
  }
}

/** Sum of lanes, in this order on every device. */
LANG_FN R tri_fold(R lane[TRI_LANES]) {
  for (int h = TRI_LANES / 2; h > 0; h /= 2)
    for (int l = 0; l < h; l++) lane[l] = lane[l] + lane[l + h];
  return lane[0];
}

/** Terms of a row with columns [0, n) of x, times w, added to sums[TRI_TERMS]; skip: a column that
 *  does not count, -1 none. */
LANG_FN void tri_chunk(const struct tri_point a, const struct tri_constants c, const R *x,
                       const R *q, const R *w, const i64 ld, const i64 n, const i64 skip,
                       double *sums) {
  R lane[TRI_TERMS][TRI_LANES] = {{0}};
  i64 k = 0;
#define TRI_ADD(m) \
  lane[m][l] = LANG_FMA(skip >= 0 && k + l == skip ? (R)0 : t.t##m, w[k + l], lane[m][l]);
  for (; k + TRI_LANES <= n; k += TRI_LANES) {
#pragma GCC ivdep
    for (int l = 0; l < TRI_LANES; l++) {
      const struct tri_terms t = tri_all(a, tri_read(x + k, q + k, ld, l), c);
      TRI_EACH(TRI_ADD)
    }
  }
  for (int l = 0; k + l < n; l++) {
    const struct tri_terms t = tri_all(a, tri_read(x + k, q + k, ld, l), c);
    TRI_EACH(TRI_ADD)
  }
  for (int m = 0; m < TRI_TERMS; m++) sums[m] += (double)tri_fold(lane[m]);
}

/** Add to sums[rows][TRI_TERMS] those of rows [i, i + rows) and columns [j, j + n), j a multiple of
 *  TRI_CHUNK; vector [ld]. */
void tsl_tri_sum(const struct tri_equation_args *args, const void *vector, i64 i, int rows, i64 j,
                 i64 n, double *sums) {
  const struct tri_constants c = tri_numbers(args);
  const R *const x = (const R *)args->x, *const q = (const R *)args->q;
  const R *const w = (const R *)vector;
  const i64 ld = args->ld;
  for (int r = 0; r < rows; r++) {
    const struct tri_point a = tri_read(x, q, ld, i + r);
    double *const to = sums + r * TRI_TERMS;
    for (i64 k = j; k < j + n; k += TRI_CHUNK) {
      const i64 m = j + n - k < TRI_CHUNK ? j + n - k : TRI_CHUNK;
      const i64 own = i + r - k;
      if (TRI_KEEPS || own < 0 || own >= m)
        tri_chunk(a, c, x + k, q + k, w + k, ld, m, -1, to);
      else
        tri_chunk(a, c, x + k, q + k, w + k, ld, m, own, to);
    }
  }
}
