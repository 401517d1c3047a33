/* Kernels of triples_kernels.h for one type; included once for float and once for double. No guard:
 * the includer sets R and T(name); the end unsets them. */

enum {
  T(VECTOR) = VECTOR_BYTES / sizeof(R), /* columns worked on together */
  T(LD) = TILE + 64 / sizeof(R)         /* rows of a tile begin in other sets of a cache */
};

/** Sides of a tile's points with the third points of a tile, [third][point]. */
typedef struct T(sides) {
  R square[TILE][T(LD)], cube[TILE][T(LD)], fifth[TILE][T(LD)];
} T(sides);

typedef struct T(scratch) {
  T(sides) rows, columns; /* with third points */
  T(sides) pairs;         /* [row][column] */
  double sums[TILE][TILE];
} T(scratch);

/** Sides of point k with the TILE points from j on. */
TSL_FN void T(sides_of)(const triples_view *v, int64_t k, int64_t j, R *restrict square,
                        R *restrict cube, R *restrict fifth) {
  const R *const x = v->x, *const y = x + v->ld, *const z = y + v->ld;
  const R box[3] = {(R)v->box[0], (R)v->box[1], (R)v->box[2]}, cutoff2 = (R)v->cutoff2;
  const R xk = x[k], yk = y[k], zk = z[k];
  SIMD for (int c = 0; c < TILE; c++) {
    const R dx = T(triples_difference)(xk, x[j + c], box[0]);
    const R dy = T(triples_difference)(yk, y[j + c], box[1]);
    const R dz = T(triples_difference)(zk, z[j + c], box[2]);
    const T(triples_side) s = T(triples_side_of)(T(triples_square)(dx, dy, dz), cutoff2);
    square[c] = s.square, cube[c] = s.cube, fifth[c] = s.fifth;
  }
}

/** Sides of the points from j on with the n third points from k on. */
static void T(sides_fill)(const triples_view *v, int64_t k, int64_t n, int64_t j, T(sides) * s) {
  for (int64_t m = 0; m < n; m++) T(sides_of)(v, k + m, j, s->square[m], s->cube[m], s->fifth[m]);
}

/** Add the terms of n third points to the sums of ROWS rows and VECTOR columns. */
TSL_FN void T(terms)(T(scratch) * s, int64_t n, const int row, const int column) {
  R wz[ROWS][T(VECTOR)], q[ROWS][T(VECTOR)];
  T(triples_pair) pair[ROWS][T(VECTOR)];
  UNROLL for (int r = 0; r < ROWS; r++) SIMD for (int c = 0; c < T(VECTOR); c++) {
    pair[r][c] = T(triples_pair_of)(s->pairs.square[row + r][column + c]);
    wz[r][c] = (R)0, q[r][c] = (R)0;
  }
  for (int64_t k = 0; k < n; k++) {
    UNROLL for (int r = 0; r < ROWS; r++) {
      const T(triples_side)
          ik = {s->rows.square[k][row + r], s->rows.cube[k][row + r], s->rows.fifth[k][row + r]};
      SIMD for (int c = 0; c < T(VECTOR); c++) {
        const T(triples_side)
            jk = {s->columns.square[k][column + c], s->columns.cube[k][column + c],
                  s->columns.fifth[k][column + c]};
        T(triples_term)(pair[r][c], ik, jk, &wz[r][c], &q[r][c]);
      }
    }
  }
  for (int r = 0; r < ROWS; r++)
    SIMD for (int c = 0; c < T(VECTOR); c++) s->sums[row + r][column + c] +=
        (double)T(triples_sum)(pair[r][c], wz[r][c], q[r][c]);
}

static void T(slopes)(const triples_view *v, int64_t i, int64_t j, void *scratch_, double *slopes,
                      int64_t ld) {
  T(scratch) *const s = scratch_;
  memset(s->sums, 0, sizeof s->sums);
  T(sides_fill)(v, i, TILE, j, &s->pairs);
  for (int64_t k = 0; k < v->n; k += TILE) {
    const int64_t n = v->n - k < TILE ? v->n - k : TILE;
    T(sides_fill)(v, k, n, i, &s->rows);
    T(sides_fill)(v, k, n, j, &s->columns);
    for (int row = 0; row < TILE; row += ROWS)
      for (int column = 0; column < TILE; column += T(VECTOR)) T(terms)(s, n, row, column);
  }
  for (int r = 0; r < TILE; r++)
    for (int c = 0; c < TILE; c++) {
      const bool is = j + c > i + r && j + c < v->n;
      slopes[r * ld + c] = is ? triples_slope((double)s->pairs.square[r][c],
                                              (double)s->pairs.fifth[r][c], s->sums[r][c])
                              : 0;
    }
}

static void T(columns)(const triples_view *v, int64_t i, int64_t rows, int64_t j,
                       const double *slopes, int64_t ld, double *sums) {
  const R *const x = v->x;
  double sum[3][TILE];
  memset(sum, 0, sizeof sum);
  for (int64_t r = 0; r < rows; r++)
    for (int k = 0; k < 3; k++) {
      const R xi = x[k * v->ld + i + r], box = (R)v->box[k];
      SIMD for (int c = 0; c < TILE; c++) {
        const R d = T(triples_difference)(x[k * v->ld + j + c], xi, box);
        sum[k][c] += 2 * slopes[r * ld + c] * (double)d;
      }
    }
  for (int c = 0; c < TILE && j + c < v->n; c++) {
    for (int k = 0; k < 3; k++) sums[c * TRIPLES_SUMS + k] = sum[k][c];
    sums[c * TRIPLES_SUMS + 3] = 0;
  }
}

static void T(row)(const triples_view *v, int64_t i, int64_t j, const double *slopes,
                   double *sums) {
  const R *const x = v->x, *const y = x + v->ld, *const z = y + v->ld;
  const R box[3] = {(R)v->box[0], (R)v->box[1], (R)v->box[2]};
  double sum[TRIPLES_SUMS][TRIPLES_LANES];
  memset(sum, 0, sizeof sum);
  for (; j < v->ld; j += TRIPLES_LANES, slopes += TRIPLES_LANES)
    SIMD for (int c = 0; c < TRIPLES_LANES; c++) {
      const R dx = T(triples_difference)(x[i], x[j + c], box[0]);
      const R dy = T(triples_difference)(y[i], y[j + c], box[1]);
      const R dz = T(triples_difference)(z[i], z[j + c], box[2]);
      const double slope = slopes[c];
      sum[0][c] += 2 * slope * (double)dx;
      sum[1][c] += 2 * slope * (double)dy;
      sum[2][c] += 2 * slope * (double)dz;
      sum[3][c] += slope * (double)T(triples_square)(dx, dy, dz);
    }
  for (int s = 0; s < TRIPLES_SUMS; s++) {
    double all = 0;
    for (int c = 0; c < TRIPLES_LANES; c++) all += sum[s][c];
    sums[s] += s < 3 ? all : -2.0 / 9.0 * all;
  }
}

/* -------------------------------------------------------------- triangles */

/** Bins of the sides of a point with n <= TILE others. x: [3][ld] of these. */
TSL_FN void T(bins_of)(const triples_view *v, const R point[3], const R *x, int64_t ld, int64_t n,
                       int32_t *restrict bins) {
  const R box[3] = {(R)v->box[0], (R)v->box[1], (R)v->box[2]};
  const R lo = (R)v->lo, hi = (R)v->hi, inverse_width = (R)v->inverse_width;
  SIMD for (int64_t c = 0; c < n; c++) {
    const R dx = T(triples_difference)(point[0], x[c], box[0]);
    const R dy = T(triples_difference)(point[1], x[ld + c], box[1]);
    const R dz = T(triples_difference)(point[2], x[2 * ld + c], box[2]);
    bins[c] = T(triples_bin)(T(triples_square)(dx, dy, dz), lo, hi, inverse_width, v->bins);
  }
}

static void T(neighbours)(const triples_view *v, int64_t i, int64_t begin, int64_t end,
                          triples_list *list) {
  const R *const x = v->x;
  const R point[3] = {x[i], x[v->ld + i], x[2 * v->ld + i]};
  R *const to = list->x;
  int32_t bins[TILE];
  for (int64_t j = begin; j < end; j += TILE) {
    const int64_t n = end - j < TILE ? end - j : TILE;
    T(bins_of)(v, point, x + j, v->ld, n, bins);
    for (int64_t c = 0; c < n; c++) {
      if (bins[c] < 0) continue;
      for (int k = 0; k < 3; k++) to[k * list->room + list->n] = x[k * v->ld + j + c];
      list->bin[list->n++] = bins[c];
    }
  }
}

static void T(triangles)(const triples_view *v, const triples_list *list, uint64_t *counts) {
  const R *const x = list->x;
  int32_t places[TILE];
  for (int64_t j = 1; j < list->n; j++) {
    const R point[3] = {x[j], x[list->room + j], x[2 * list->room + j]};
    const int bin = list->bin[j], bins = v->bins;
    for (int64_t k = 0; k < j; k += TILE) {
      const int64_t n = j - k < TILE ? j - k : TILE;
      T(bins_of)(v, point, x + k, list->room, n, places);
      SIMD for (int64_t c = 0; c < n; c++) places[c] =
          triples_place(bin, list->bin[k + c], places[c], bins);
      for (int64_t c = 0; c < n; c++) counts[places[c]]++;
    }
  }
}

#undef R
#undef T
