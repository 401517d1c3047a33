/* unit.xc.purify: projectors by purification beside LAPACK's eigenvectors, for given spectra in
 * random bases; and semidefinite matrices as products of few rows. */
#include "random.h"
#include "xc_fixture.h"

#include "xc_purify.h"

#include <lapacke.h>

static uint64_t seed = 17;

/* V^T diag(values) V of random orthonormal rows V. */
static double *matrix_of(int64_t n, const double *values) {
  double *vectors = room(n, n), *scaled = room(n, n), *a = room(n, n), *unused = room(n, 1);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j <= i; j++)
      vectors[i * n + j] = vectors[j * n + i] = random_unit(&seed) - 0.5;
  assert_int_equal(LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', (int)n, vectors, (int)n, unused), 0);
  for (int64_t k = 0; k < n; k++)
    for (int64_t i = 0; i < n; i++) scaled[k * n + i] = values[k] * vectors[k * n + i];
  good(xc_matrix_product(n, n, n, 1, vectors, true, scaled, false, a));
  xc_matrix_symmetrise(n, 0.5, a);
  tsl_free(vectors), tsl_free(scaled), tsl_free(unused);
  return a;
}

/* Eigenvectors of the lowest eigenvalues, by LAPACK alone. */
static double *projector_of(int64_t n, int64_t filled, const double *a) {
  double *vectors = room(n, n), *values = room(n, 1), *p = room(n, n);
  memcpy(vectors, a, (size_t)(n * n) * sizeof *a);
  assert_int_equal(LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', (int)n, vectors, (int)n, values), 0);
  for (int64_t k = 0; k < filled; k++)
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < n; j++) p[i * n + j] += vectors[k * n + i] * vectors[k * n + j];
  tsl_free(vectors), tsl_free(values);
  return p;
}

static double distance(int64_t n, const double *a, const double *b) {
  double most = 0;
  for (int64_t k = 0; k < n; k++)
    if (!(fabs(a[k] - b[k]) <= most)) most = fabs(a[k] - b[k]);
  return most;
}

/* P^2 = P = P^T, and its trace. */
static void is_projector(int64_t n, int64_t filled, const double *p) {
  double *square = room(n, n), trace = 0;
  good(xc_matrix_product(n, n, n, 1, p, false, p, false, square));
  assert_true(distance(n * n, square, p) < 1e-13);
  for (int64_t i = 0; i < n; i++) {
    trace += p[i * (n + 1)];
    for (int64_t j = 0; j < i; j++) assert_true(fabs(p[i * n + j] - p[j * n + i]) < 1e-14);
  }
  assert_true(fabs(trace - (double)filled) < 1e-12 * (double)(n + 1));
  tsl_free(square);
}

/* Beside LAPACK, within what rounding does over a gap to numbers as large as the discs, which are
 * about the root of n times as large as the spectrum. */
static void compare(int64_t n, int64_t filled, const double *values, double gap) {
  double size = 0;
  for (int64_t k = 0; k < n; k++) size = fmax(size, fabs(values[k]));
  double *a = matrix_of(n, values), *work = room(n, n), *mine = room(n, n);
  double *truth = projector_of(n, filled, a);
  bool found = false;
  good(xc_purify(n, filled, a, work, mine, &found));
  if (!found) fail_msg("order %d, %d filled, gap %g: not found", (int)n, (int)filled, gap);
  is_projector(n, filled, mine);
  const double off = distance(n * n, mine, truth),
               limit = 4e-15 * sqrt((double)n) * (1 + size / gap);
  if (!(off <= limit))
    fail_msg("order %d, %d filled, gap %g: off by %g, at most %g", (int)n, (int)filled, gap, off,
             limit);
  tsl_free(a), tsl_free(work), tsl_free(mine), tsl_free(truth);
}

/* Levels in [-1, 0] and [gap, 1 + gap], times factor, then moved; those next to the gap are at its
 * edges. Of each side groups of as many as `alike` are degenerate. */
static void levels(int64_t n, int64_t filled, double gap, int alike, double factor, double move,
                   double *values) {
  for (int64_t k = 0; k < n; k++) {
    const double x = random_unit(&seed);
    values[k] = k < filled ? -x : gap + x;
    if (k == filled - 1) values[k] = 0;
    if (k == filled) values[k] = gap;
    const int64_t of_side = k < filled ? k : k - filled;
    if (alike > 1 && of_side % alike != 0) values[k] = values[k - 1];
  }
  for (int64_t k = 0; k < n; k++) values[k] = factor * values[k] + move;
}

static const int64_t orders[] = {1, 2, 3, 8, 33, 100, 300};
enum { N_ORDERS = sizeof orders / sizeof *orders };

/* Of small orders all fillings, of others some. */
static int64_t next_filling(int64_t n, int64_t filled) {
  if (n <= 8 || filled == 0 || filled >= n - 1) return filled + 1;
  const int64_t next = filled + 1 + (n - 2) / 3;
  return next < n - 1 ? next : n - 1;
}

static void gaps(void **state) {
  static const double list[] = {1e-1, 1e-3, 1e-6};
  double values[300];
  (void)state;
  for (int o = 0; o < N_ORDERS; o++)
    for (int64_t filled = 0; filled <= orders[o]; filled = next_filling(orders[o], filled))
      for (int g = 0; g < 3; g++) {
        levels(orders[o], filled, list[g], 1, 1, 0, values);
        compare(orders[o], filled, values, list[g]);
      }
}

static void degenerate(void **state) {
  double values[100];
  (void)state;
  for (int64_t filled = 3; filled < 100; filled += 31)
    for (int alike = 2; alike < 40; alike *= 4) {
      levels(100, filled, 0.01, alike, 1, 0, values);
      compare(100, filled, values, 0.01);
    }
  for (int k = 0; k < 100; k++) values[k] = k < 40 ? -1 : 1; /* two levels, all orbitals alike */
  compare(100, 40, values, 2);
  for (int k = 0; k < 100; k++) values[k] = -3; /* one, all or none filled */
  compare(100, 0, values, 1);
  compare(100, 100, values, 1);
}

/* Negative, far from zero, huge and tiny. */
static void spectra(void **state) {
  static const double factor[] = {1, 1, 1e150, 1e-150, 30}, move[] = {-50, 1e4, 0, 0, -20};
  double values[33];
  (void)state;
  for (int k = 0; k < 5; k++) {
    levels(33, 12, 0.1, 1, factor[k], move[k], values);
    compare(33, 12, values, 0.1 * factor[k]);
  }
}

static void not_found(int64_t n, int64_t filled, const double *a) {
  double *work = room(n, n), *mine = room(n, n);
  bool found = true;
  good(xc_purify(n, filled, a, work, mine, &found));
  assert_false(found);
  tsl_free(work), tsl_free(mine);
}

/* The highest filled and the lowest empty level are one; or there is none but one. */
static void no_gap(void **state) {
  double values[300], one[4] = {2, 0, 0, 2};
  (void)state;
  for (int o = 1; o < N_ORDERS; o++) {
    const int64_t n = orders[o];
    levels(n, n / 2, 0, 1, 1, 0, values);
    double *a = room(n, n); /* diagonal: no rounding parts the two */
    for (int64_t k = 0; k < n; k++) a[k * (n + 1)] = values[k];
    not_found(n, n / 2, a);
    tsl_free(a);
  }
  not_found(2, 1, one);
}

static void not_finite(void **state) {
  static const double bad[] = {NAN, INFINITY, -INFINITY};
  double values[8];
  (void)state;
  for (int b = 0; b < 3; b++)
    for (int at = 0; at < 64; at += 9 + b) {
      levels(8, 3, 0.1, 1, 1, 0, values);
      double *a = matrix_of(8, values);
      a[at] = a[at % 8 * 8 + at / 8] = bad[b];
      not_found(8, 3, a);
      tsl_free(a);
    }
}

/* ------------------------------------------------------------ semidefinite matrices */

/* a = rows^T rows, of as many rows as eigenvalues above 0. */
static void rank_of(int64_t n, int64_t positive, double largest) {
  double values[100], *left = NULL;
  int64_t rank = -1;
  for (int64_t k = 0; k < n; k++)
    values[k] = k < positive ? largest * (0.1 + random_unit(&seed)) : 0;
  double *a = matrix_of(n, values), *rows = room(n, n);
  left = room(n, n);
  memcpy(rows, a, (size_t)(n * n) * sizeof *a);
  memcpy(left, a, (size_t)(n * n) * sizeof *a);
  good(xc_matrix_factor_pivoted(n, 1e-13, rows, &rank));
  assert_int_equal(rank, positive);
  for (int64_t k = 0; k < rank; k++)
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < n; j++) left[i * n + j] -= rows[k * n + i] * rows[k * n + j];
  for (int64_t k = 0; k < n * n; k++) assert_true(fabs(left[k]) <= 1e-13 * largest);
  tsl_free(a), tsl_free(rows), tsl_free(left);
}

static void halves(void **state) {
  double mixed[4] = {0, 1, 1, 0}, nan[4] = {1, NAN, NAN, 1};
  int64_t rank = -1;
  (void)state;
  for (int64_t n = 1; n <= 100; n += 33)
    for (int64_t positive = 0; positive <= n; positive += 1 + n / 5) {
      rank_of(n, positive, 1);
      rank_of(n, positive, 1e-40);
    }
  good(xc_matrix_factor_pivoted(2, 1e-13, mixed, &rank));
  assert_int_equal(rank, 0); /* what is left shows that this is not semidefinite */
  assert_int_equal(xc_matrix_factor_pivoted(2, 1e-13, nan, &rank), TSL_ERR_NUMERIC);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gaps),   cmocka_unit_test(degenerate), cmocka_unit_test(spectra),
      cmocka_unit_test(no_gap), cmocka_unit_test(not_finite), cmocka_unit_test(halves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
