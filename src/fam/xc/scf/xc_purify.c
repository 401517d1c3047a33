/* Bounds of the spectrum on the host, which has the matrix; the rest where the region is. */
#include "xc_purify.h"

#include "xc_matrix.h"

#include "parallel.h"

#include <math.h>

/* Products that are usual for molecules, whose gap is about a thousandth of hi - lo, and those of
 * the new densities; steps after which there is no gap, or one below some 1e-9 of hi - lo. */
enum { USUAL = 56, MOST = 128 };

bool xc_purify_pays(int64_t n) {
  const xc_matrix_region products = {.order = n, .products = USUAL, .sums = USUAL};
  const xc_matrix_region eigen = {.order = n, .eigen = 1};
  return xc_matrix_seconds(&products) < xc_matrix_seconds(&eigen);
}

/* -------------------------------------------------------------------- bounds */

typedef struct bounds {
  int64_t n;
  const double *a;
  double lo[TSL_PARALLEL_MOST], hi[TSL_PARALLEL_MOST]; /* of the rows of a slot */
} bounds;

/* Discs of rows; of a row that is not finite, the whole plane. */
static tsl_err disc_rows(void *context, int slot, int64_t first, int64_t end) {
  bounds *b = context;
  for (int64_t i = first; i < end; i++) {
    const double *row = b->a + i * b->n;
    double radius = 0;
    for (int64_t j = 0; j < i; j++) radius += fabs(row[j]);
    for (int64_t j = i + 1; j < b->n; j++) radius += fabs(row[j]);
    const bool finite = isfinite(row[i]) && isfinite(radius);
    b->lo[slot] = fmin(b->lo[slot], finite ? row[i] - radius : -INFINITY);
    b->hi[slot] = fmax(b->hi[slot], finite ? row[i] + radius : INFINITY);
  }
  return TSL_OK;
}

/* Around all discs; wider by a hundredth, so that no eigenvalue stays at an end. */
static void bound(int64_t n, const double *a, double *lo, double *hi) {
  enum { RANGE = 1 << 16 };
  bounds b = {.n = n, .a = a};
  for (int s = 0; s < TSL_PARALLEL_MOST; s++) b.lo[s] = INFINITY, b.hi[s] = -INFINITY;
  (void)tsl_parallel(n, 1 + RANGE / n, disc_rows, &b);
  *lo = INFINITY, *hi = -INFINITY;
  for (int s = 0; s < TSL_PARALLEL_MOST; s++) *lo = fmin(*lo, b.lo[s]), *hi = fmax(*hi, b.hi[s]);
  const double more = *hi > *lo ? 0.01 * (*hi - *lo) : 1 + fabs(*hi);
  *lo -= more, *hi += more;
}

/* ---------------------------------------------------------------------- steps */

/* X_0; @return whether it is finite */
static bool begin(int64_t n, const double *fock, double *x, double *trace) {
  double lo = 0, hi = 0;
  bound(n, fock, &lo, &hi);
  const double width = hi - lo, factor = -1 / width;
  if (!isfinite(width)) return false;
  xc_matrix_combine(n * n, 1, &factor, &fock, x);
  *trace = 0;
  for (int64_t i = 0; i < n * (n + 1) - 1; i += n + 1) *trace += x[i] = (hi - fock[i]) / width;
  return true;
}

/* b = a^2 or 2 a - a^2. The product of the transpose makes it symmetric again. */
static tsl_err step(int64_t n, bool expand, const double *a, double *b) {
  tsl_err err = TSL_OK;
  TSL_TRY(xc_matrix_outer(n, n, 1, a, 0, b));
  if (expand) TSL_TRY(xc_matrix_mix(n * n, 2, a, -1, b));
done:
  return err;
}

/* The last two steps, from a to out by way of the other one of both. */
static tsl_err end(int64_t n, double *a, double *b, double *out) {
  tsl_err err = TSL_OK;
  TSL_TRY(step(n, false, a, b));
  TSL_TRY(xc_matrix_outer(n, n, 1, b, 0, a));
  TSL_TRY(out == a ? xc_matrix_mix(n * n, 2, b, -1, a) : xc_matrix_mix(n * n, -1, a, 2, b));
done:
  return err;
}

tsl_err xc_purify(int64_t n, int64_t filled, const double *fock, double *work, double *out,
                  bool *found) {
  tsl_err err = TSL_OK;
  static const double near = 1e-9; /* its square is below the rounding, that of traces as well */
  const double electrons = (double)filled;
  double *a = out, *b = work, trace = 0, square = 0;
  *found = n == 0;
  if (n == 0 || !begin(n, fock, a, &trace)) goto done;
  for (int k = 0; k < MOST && !*found; k++) {
    TSL_TRY(xc_matrix_inner(n * n, a, a, &square));
    *found = trace - square < near;
    if (*found) break;
    const bool expand = fabs(square - electrons) >= fabs(2 * trace - square - electrons);
    double *last = a;
    TSL_TRY(step(n, expand, a, b));
    a = b, b = last;
    trace = expand ? 2 * trace - square : square;
  }
  *found = *found && fabs(trace - electrons) < 0.5;
  if (*found) TSL_TRY(end(n, a, b, out));
done:
  return err;
}
