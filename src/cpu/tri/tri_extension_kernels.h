/**
 * @file tri_extension_kernels.h
 * An antidiagonal of an extension, whose cells need none of each other; part of
 * tri_letter_kernels.h.
 */

/* Cells of rows [lo, hi]; those below the cut are dropped. @return the largest value */
VECTOR_INLINE int32_t extension_cells(const tri_extension *x, int64_t k, int64_t lo, int64_t hi,
                                      int32_t cut, const bool traced,
                                      uint8_t *restrict directions) {
  const int32_t gap = x->open + x->extend, extend = x->extend, minus = TRI_EXTENSION_MINUS;
  const uint8_t *restrict a = x->a + lo, *restrict b = x->b + (x->m - k + lo);
  const int32_t *restrict left = x->h[1] + lo, *restrict up = x->h[1] + lo - 1;
  const int32_t *restrict corner = x->h[2] + lo - 1, *restrict scores = x->scores;
  const int32_t *restrict along = x->e[1] + lo, *restrict down = x->f[1] + lo - 1;
  int32_t *restrict h = x->h[0] + lo, *restrict e = x->e[0] + lo, *restrict f = x->f[0] + lo;
  int32_t most = minus;
  _Pragma("omp simd reduction(max : most)") for (int64_t c = 0; c <= hi - lo; c++) {
    const tri_extension_from from = {corner[c] + scores[a[c] * TRI_LETTER_CODES + b[c]],
                                     left[c] - gap, along[c] - extend, up[c] - gap,
                                     down[c] - extend};
    const tri_extension_cell cell = tri_extension_cell_of(from);
    const bool kept = cell.h >= cut;
    if (traced) directions[c] = (uint8_t)tri_extension_direction_of(from, cell);
    h[c] = kept ? cell.h : minus;
    e[c] = kept ? cell.e : minus;
    f[c] = kept ? cell.f : minus;
    most = most > cell.h ? most : cell.h;
  }
  return most;
}

static int32_t extension(const tri_extension *x, int64_t k, int64_t lo, int64_t hi, int32_t cut,
                         uint8_t *directions) {
  const int32_t most = directions == NULL ? extension_cells(x, k, lo, hi, cut, false, NULL)
                                          : extension_cells(x, k, lo, hi, cut, true, directions);
  for (int64_t c = lo - 1; c <= hi + 1; c += hi - lo + 2)
    x->h[0][c] = x->e[0][c] = x->f[0][c] = TRI_EXTENSION_MINUS;
  return most;
}
