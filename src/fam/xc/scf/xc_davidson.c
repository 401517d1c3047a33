/* Davidson's method, its products made elsewhere. */
#include "xc_davidson.h"

#include "xc_matrix.h"

#include "memory.h"

#include <math.h>
#include <string.h>

tsl_err xc_davidson_begin(int64_t size, const double *diagonal, xc_davidson *d) {
  tsl_err err = TSL_OK;
  static const double soft = 0.1;
  uint64_t seed = 1;
  double lowest = diagonal[0], length = 0;
  *d = (xc_davidson){.size = size};
  TSL_TRY(xc_matrix_create(size, 1, "diagonal", &d->diagonal));
  TSL_TRY(xc_matrix_create(XC_DAVIDSON_ROOM, size, "vectors", &d->vectors));
  TSL_TRY(xc_matrix_create(XC_DAVIDSON_ROOM, size, "images of vectors", &d->images));
  TSL_TRY(xc_matrix_create(size, 1, "vectors", &d->best));
  TSL_TRY(xc_matrix_create(size, 1, "vectors", &d->work));
  memcpy(d->diagonal, diagonal, (size_t)size * sizeof *diagonal);
  for (int64_t k = 0; k < size; k++) lowest = fmin(lowest, diagonal[k]);
  for (int64_t k = 0; k < size; k++) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    d->vectors[k] = ((double)(seed >> 11) * 0x1p-53 - 0.5) / (diagonal[k] - lowest + soft);
    length += d->vectors[k] * d->vectors[k];
  }
  for (int64_t k = 0; k < size; k++) d->vectors[k] /= sqrt(length);
done:
  if (err != TSL_OK) xc_davidson_clear(d);
  return err;
}

void xc_davidson_clear(xc_davidson *d) {
  TSL_FREE_ALL(d->diagonal, d->vectors, d->images, d->best, d->work);
  memset(d, 0, sizeof *d);
}

/* out = sum_k c_k rows_k. */
static void span(const xc_davidson *d, const double *rows, const double *c, double *out) {
  memset(out, 0, (size_t)d->size * sizeof *out);
  for (int32_t k = 0; k < d->n; k++) xc_matrix_add(d->size, c[k], rows + k * d->size, out);
}

/* The matrix of the newest image; rounding, or an image that is not exact, is shared. */
static void project(xc_davidson *d, const double *image) {
  const int32_t new = d->n++;
  memcpy(d->images + new * d->size, image, (size_t)d->size * sizeof *image);
  for (int32_t k = 0; k <= new; k++) {
    const double one = xc_matrix_dot(d->size, d->vectors + k * d->size, image);
    const double other =
        xc_matrix_dot(d->size, d->vectors + new * d->size, d->images + k * d->size);
    d->matrix[k][new] = d->matrix[new][k] = 0.5 * (one + other);
  }
}

/* No room: the lowest vectors of what is spanned go on alone, and their images. */
static void collapse(xc_davidson *d, const double *small, const double *values) {
  enum { KEPT = XC_DAVIDSON_ROOM / 3 };
  const int32_t n = d->n;
  double *const both[2] = {d->vectors, d->images};
  double column[XC_DAVIDSON_ROOM];
  for (int which = 0; which < 2; which++)
    for (int64_t k = 0; k < d->size; k++) {
      double *rows = both[which] + k;
      for (int32_t i = 0; i < n; i++) column[i] = rows[i * d->size];
      for (int32_t v = 0; v < KEPT; v++) {
        double sum = 0;
        for (int32_t i = 0; i < n; i++) sum += small[v * n + i] * column[i];
        rows[v * d->size] = sum;
      }
    }
  memset(d->matrix, 0, sizeof d->matrix);
  for (int32_t v = 0; v < KEPT; v++) d->matrix[v][v] = values[v];
  d->n = KEPT;
}

/* Lowest eigenvalue and its vector of what is spanned; work becomes the image of the vector. */
static tsl_err solve(xc_davidson *d) {
  tsl_err err = TSL_OK;
  double small[XC_DAVIDSON_ROOM * XC_DAVIDSON_ROOM], values[XC_DAVIDSON_ROOM];
  for (int32_t i = 0; i < d->n; i++)
    for (int32_t j = 0; j < d->n; j++) small[i * d->n + j] = d->matrix[i][j];
  TSL_TRY(xc_matrix_eigen(d->n, small, values));
  d->lowest = values[0];
  span(d, d->vectors, small, d->best);
  span(d, d->images, small, d->work);
  if (d->n == XC_DAVIDSON_ROOM && d->n < d->size) collapse(d, small, values);
done:
  return err;
}

/* The residual over the diagonal, orthonormal to the others. @return false: nothing is left */
static bool ask_next(xc_davidson *d) {
  static const double least = 1e-2, nothing = 1e-10;
  double *next = d->vectors + d->n * d->size;
  for (int64_t k = 0; k < d->size; k++) {
    const double gap = d->diagonal[k] - d->lowest;
    next[k] = d->work[k] / (fabs(gap) > least ? gap : copysign(least, gap));
  }
  double length = sqrt(xc_matrix_dot(d->size, next, next));
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t k = 0; k < d->size && length > 0; k++) next[k] /= length;
    for (int32_t k = 0; k < d->n; k++) {
      const double *v = d->vectors + k * d->size;
      xc_matrix_add(d->size, -xc_matrix_dot(d->size, v, next), v, next);
    }
    length = sqrt(xc_matrix_dot(d->size, next, next));
    if (!(length > nothing)) return false;
  }
  for (int64_t k = 0; k < d->size; k++) next[k] /= length;
  return true;
}

tsl_err xc_davidson_step(xc_davidson *d, const double *image, double residual, bool *done) {
  tsl_err err = TSL_OK;
  d->products++;
  project(d, image);
  TSL_TRY(solve(d));
  xc_matrix_add(d->size, -d->lowest, d->best, d->work);
  d->residual = sqrt(xc_matrix_dot(d->size, d->work, d->work));
  *done = !(d->residual > residual) || d->n >= d->size || !ask_next(d);
done:
  return err;
}
