/* unit.xc.davidson: the lowest eigenvalue beside LAPACK's, of matrices of many kinds. */
#include "xc_davidson.h"
#include "xc_matrix.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static double number(uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) * 0x1p-53 - 0.5;
}

/** A diagonal that rises from low, and coupling; in blocks that know nothing of each other, as of
 *  orbitals of several symmetries. */
static double *matrix_of(int n, double low, double coupling, int blocks, uint64_t seed) {
  double *a = calloc((size_t)(n * n), sizeof *a);
  assert_non_null(a);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++)
      if (i % blocks == j % blocks) a[i * n + j] = a[j * n + i] = coupling * number(&seed);
    a[i * n + i] = low + 3.0 * i / n + 0.1 * number(&seed);
  }
  return a;
}

static void multiply(int n, const double *a, const double *x, double *y) {
  for (int i = 0; i < n; i++) {
    y[i] = 0;
    for (int j = 0; j < n; j++) y[i] += a[i * n + j] * x[j];
  }
}

/** @return products */
static int lowest(int n, double *a, double residual, double near) {
  double *diagonal = calloc((size_t)n, sizeof *a), *image = calloc((size_t)n, sizeof *a);
  double *values = calloc((size_t)n, sizeof *a);
  assert_true(diagonal != NULL && image != NULL && values != NULL);
  xc_davidson d;
  bool done = false;
  for (int i = 0; i < n; i++) diagonal[i] = a[i * (n + 1)];
  assert_int_equal(xc_davidson_begin(n, diagonal, &d), TSL_OK);
  while (!done) {
    multiply(n, a, xc_davidson_asks(&d), image);
    assert_int_equal(xc_davidson_step(&d, image, residual, &done), TSL_OK);
    assert_true(d.products < 500);
  }
  double length = 0;
  multiply(n, a, d.best, image);
  for (int i = 0; i < n; i++) length += pow(image[i] - d.lowest * d.best[i], 2);
  assert_true(fabs(sqrt(length) - d.residual) < 1e-9);
  assert_true(d.residual <= residual);
  assert_int_equal(xc_matrix_eigen(n, a, values), TSL_OK);
  if (!(fabs(d.lowest - values[0]) < near)) fail_msg("%.9f, not %.9f", d.lowest, values[0]);
  const int products = d.products;
  xc_davidson_clear(&d);
  free(diagonal), free(image), free(values), free(a);
  return products;
}

static void spectra(void **state) {
  (void)state;
  xc_matrix_use(1, false, 0);
  for (uint64_t seed = 1; seed <= 5; seed++) {
    const int few = lowest(300, matrix_of(300, -0.2, 0.02, 1, seed), 1e-6, 1e-9);
    assert_true(few < 100); /* of 300: the diagonal helps */
    (void)lowest(300, matrix_of(300, 0.05, 0.1, 1, seed), 1e-6, 1e-9);
    (void)lowest(240, matrix_of(240, 0.3, 0.05, 8, seed), 1e-6, 1e-9);
  }
}

/** Hardly more room than size, one element, and one that is lower than its diagonal says. */
static void small(void **state) {
  (void)state;
  xc_matrix_use(1, false, 0);
  for (int n = 1; n <= XC_DAVIDSON_ROOM + 2; n++)
    (void)lowest(n, matrix_of(n, 0, 1, 1, 7), 1e-9, 1e-9);
  double *a = matrix_of(4, 1, 0, 1, 3);
  a[2 * 4 + 3] = a[3 * 4 + 2] = 5;
  (void)lowest(4, a, 1e-9, 1e-9);
}

/** The lowest is of a symmetry that the lowest diagonal is not of. */
static void hidden(void **state) {
  (void)state;
  xc_matrix_use(1, false, 0);
  const int n = 120;
  double *a = matrix_of(n, 0.5, 0, 1, 9);
  for (int i = 1; i < n; i += 2)
    for (int j = 1; j < n; j += 2)
      if (i != j) a[i * n + j] = -0.1;
  (void)lowest(n, a, 1e-6, 1e-9);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(spectra), cmocka_unit_test(small),
                                     cmocka_unit_test(hidden)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
