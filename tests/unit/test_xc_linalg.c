/* unit.xc.linalg: large matrices go to the table of the device that is open, and to no other. The
 * table here computes on copies of its own, as a card does: what is not fetched is missed. */
#include "xc_fixture.h"

#include "linalg.h"

#include <cblas.h>
#include <lapacke.h>
#include <pthread.h>

/* --------------------------------------------------------------- a fake device */

enum { COPIES = 64 };

static struct {
  bool declines, fails; /* to enter; in products */
  int warmed, entered, left, products, eigens, factors, fetches, solved, closed;
  bool inside;
  struct {
    const double *host;
    double *data;
    int64_t n;
    bool held;
  } copy[COPIES];
} fake;

static int find(const double *host) {
  for (int k = 0; k < COPIES; k++)
    if (fake.copy[k].host == host) return k;
  return -1;
}

static double *on_device(const double *host, int64_t n, bool filled) {
  int k = find(host);
  if (k >= 0 && fake.copy[k].n >= n) return fake.copy[k].data;
  assert_true(k < 0);
  k = find(NULL);
  assert_true(k >= 0);
  fake.copy[k].host = host, fake.copy[k].n = n;
  fake.copy[k].data = room(n, 1);
  if (filled) memcpy(fake.copy[k].data, host, (size_t)n * sizeof *host);
  return fake.copy[k].data;
}

static void fake_drop(const double *host) {
  const int k = find(host);
  if (k < 0) return;
  tsl_free(fake.copy[k].data);
  memset(&fake.copy[k], 0, sizeof fake.copy[k]);
}

static void fake_warm(int64_t order) {
  assert_true(order > 0);
  fake.warmed++;
}

static tsl_err fake_enter(const tsl_linalg_region *region, bool *taken) {
  assert_false(fake.inside);
  assert_true(region->order > 0 && region->host_seconds > 0 && region->moved > 0);
  *taken = !fake.declines;
  fake.entered += *taken;
  fake.inside = *taken;
  return TSL_OK;
}

static tsl_err fake_product(const tsl_linalg_product *p) {
  tsl_err err = TSL_OK;
  assert_true(fake.inside);
  fake.products++;
  if (fake.fails) TSL_FAIL(TSL_ERR_DEVICE, "the device is gone");
  const double *a = on_device(p->a, p->m * p->k, true), *b = on_device(p->b, p->k * p->n, true);
  double *c = on_device(p->c, p->m * p->n, p->keep != 0);
  cblas_dgemm(CblasRowMajor, p->a_turned ? CblasTrans : CblasNoTrans,
              p->b_turned ? CblasTrans : CblasNoTrans, (int)p->m, (int)p->n, (int)p->k, p->factor,
              a, (int)(p->a_turned ? p->m : p->k), b, (int)(p->b_turned ? p->k : p->n), p->keep, c,
              (int)p->n);
done:
  return err;
}

static tsl_err fake_eigen(int64_t n, const double *a, double *values, double *vectors) {
  assert_true(fake.inside);
  fake.eigens++;
  const double *from = on_device(a, n * n, true);
  double *to = on_device(vectors, n * n, false);
  if (to != from) memcpy(to, from, (size_t)(n * n) * sizeof *to);
  assert_int_equal(LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', (int)n, to, (int)n, values), 0);
  return TSL_OK;
}

static tsl_err fake_factor(int64_t n, double *a, int64_t *row) {
  assert_true(fake.inside);
  fake.factors++;
  *row = LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', (int)n, on_device(a, n * n, true), (int)n);
  return TSL_OK;
}

static tsl_err fake_invert(int64_t n, double *l) {
  double *on = on_device(l, n * n, true);
  assert_true(fake.inside);
  fake.factors++;
  assert_int_equal(LAPACKE_dtrtri(LAPACK_COL_MAJOR, 'L', 'N', (int)n, on, (int)n), 0);
  for (int64_t k = 1; k < n; k++) memset(on + k * n, 0, (size_t)k * sizeof *on);
  return TSL_OK;
}

static tsl_err fake_fetch(double *a) {
  const int k = find(a);
  assert_true(fake.inside && k >= 0);
  fake.fetches++;
  memcpy(a, fake.copy[k].data, (size_t)fake.copy[k].n * sizeof *a);
  return TSL_OK;
}

static void fake_leave(void) {
  assert_true(fake.inside);
  fake.left++;
  fake.inside = false;
  for (int k = 0; k < COPIES; k++)
    if (!fake.copy[k].held) fake_drop(fake.copy[k].host);
}

static tsl_err fake_hold(int64_t n, const double *a) {
  assert_false(fake.inside);
  (void)on_device(a, n, true);
  fake.copy[find(a)].held = true;
  return TSL_OK;
}

static tsl_err fake_solve(int64_t n, const double *factor, double *b, bool *taken) {
  const int k = find(factor), m = (int)n;
  *taken = k >= 0 && fake.copy[k].held;
  if (!*taken) return TSL_OK;
  fake.solved++;
  cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, m, fake.copy[k].data, m, b, 1);
  cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, m, fake.copy[k].data, m, b, 1);
  return TSL_OK;
}

static void fake_close(void) {
  fake.closed++;
  for (int k = 0; k < COPIES; k++) fake_drop(fake.copy[k].host);
}

static const tsl_linalg table = {.warm = fake_warm,
                                 .enter = fake_enter,
                                 .product = fake_product,
                                 .eigen = fake_eigen,
                                 .factor = fake_factor,
                                 .invert = fake_invert,
                                 .fetch = fake_fetch,
                                 .leave = fake_leave,
                                 .hold = fake_hold,
                                 .drop = fake_drop,
                                 .solve = fake_solve,
                                 .close = fake_close};

/* No copy but of what is held, and that is nothing here. */
static void open_fake(void) {
  memset(&fake, 0, sizeof fake);
  tsl_linalg_open(&table);
  xc_matrix_use(1, true, 1);
}

static void close_fake(void) {
  assert_int_equal(fake.entered, fake.left);
  for (int k = 0; k < COPIES; k++) assert_null(fake.copy[k].host);
  tsl_linalg_close();
  assert_int_equal(fake.closed, 1);
}

/* ---------------------------------------------------------------- operations */

static double *numbers(int64_t rows, int64_t columns, double phase) {
  double *a = room(rows, columns);
  for (int64_t k = 0; k < rows * columns; k++) a[k] = sin(1.3 * (double)k + phase);
  return a;
}

static void same(int64_t n, const double *a, const double *b) {
  for (int64_t k = 0; k < n; k++) assert_true(fabs(a[k] - b[k]) <= 1e-12 * (1 + fabs(b[k])));
}

/** op(a) op(b) of all turns, beside plain sums. */
static void products(void **state) {
  enum { M = 5, N = 7, K = 3 };
  (void)state;
  double *a = numbers(M, K, 0), *b = numbers(K, N, 1), *c = room(M, N), *truth = room(M, N);
  open_fake();
  for (int turns = 0; turns < 4; turns++) {
    const bool ta = turns & 1, tb = turns & 2;
    for (int i = 0; i < M; i++)
      for (int j = 0; j < N; j++) {
        truth[i * N + j] = 0;
        for (int k = 0; k < K; k++)
          truth[i * N + j] +=
              2 * (ta ? a[k * M + i] : a[i * K + k]) * (tb ? b[j * K + k] : b[k * N + j]);
      }
    good(xc_matrix_product(M, N, K, 2, a, ta, b, tb, c));
    same(M * N, c, truth);
  }
  assert_int_equal(fake.products, 4);
  assert_int_equal(fake.fetches, 4);
  good(xc_matrix_product(0, N, K, 1, a, false, b, false, c));
  assert_int_equal(fake.products, 4);
  close_fake();
  tsl_free(a), tsl_free(b), tsl_free(c), tsl_free(truth);
}

/** keep out + factor rows^T rows; keep 0 does not read. */
static void outer(void **state) {
  enum { N = 6, K = 4 };
  (void)state;
  double *rows = numbers(K, N, 0), *mine = numbers(N, N, 2), *truth = numbers(N, N, 2);
  good(xc_matrix_outer(N, K, 0.5, rows, 0.25, truth));
  open_fake();
  good(xc_matrix_outer(N, K, 0.5, rows, 0.25, mine));
  same(N * N, mine, truth);
  for (int k = 0; k < N * N; k++) mine[k] = NAN;
  good(xc_matrix_outer(N, K, 0.5, rows, 0, mine));
  for (int k = 0; k < N * N; k++) assert_true(isfinite(mine[k]));
  assert_int_equal(fake.products, 2);
  close_fake();
  tsl_free(rows), tsl_free(mine), tsl_free(truth);
}

/** Of a matrix with a degenerate pair; both ways beside the host's. */
static void eigens(void **state) {
  enum { N = 9 };
  (void)state;
  double *a = numbers(N, N, 0), *mine = room(N, N), *vectors = room(N, N), v[N], w[N];
  xc_matrix_symmetrise(N, 0.5, a);
  for (int i = 0; i < N; i++) a[(N - 1) * N + i] = a[i * N + N - 1] = 0;
  for (int i = 0; i < N; i++) a[(N - 2) * N + i] = a[i * N + N - 2] = 0;
  a[(N - 1) * (N + 1)] = a[(N - 2) * (N + 1)] = 0.5;
  xc_matrix_copy(N * N, a, mine);
  good(xc_matrix_eigen(N, mine, v));
  open_fake();
  xc_matrix_copy(N * N, a, mine);
  good(xc_matrix_eigen(N, mine, w));
  same(N, w, v);
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++) {
      double sum = -w[k] * mine[k * N + i];
      for (int j = 0; j < N; j++) sum += a[i * N + j] * mine[k * N + j];
      assert_true(fabs(sum) < 1e-12);
    }
  xc_matrix_copy(N * N, mine, vectors);
  memset(vectors, 0, N * N * sizeof *vectors);
  good(xc_matrix_eigen_lowest(N, 3, a, w, vectors));
  same(N, w, v);
  same(3 * N, vectors, mine);
  assert_int_equal(fake.eigens, 2);
  close_fake();
  tsl_free(a), tsl_free(mine), tsl_free(vectors);
}

/** In a region nothing comes back but what is fetched; what is held is there again. */
static void regions(void **state) {
  enum { N = 4 };
  const xc_matrix_region region = {.order = N, .matrices = 4, .moved = 3, .products = 2};
  (void)state;
  double *a = numbers(N, N, 0), *b = numbers(N, N, 1), *work = room(N, N), *out = room(N, N);
  double *truth = room(N, N);
  good(xc_matrix_project(N, N, a, b, work, truth));
  memset(work, 0, N * N * sizeof *work);
  open_fake();
  good(xc_matrix_hold(N, N, b));
  memset(b, 0, N * N * sizeof *b); /* never done; shows whose copy is used */
  good(xc_matrix_enter(&region));
  good(xc_matrix_project(N, N, a, b, work, out));
  assert_true(out[0] == 0);
  good(xc_matrix_fetch(out));
  xc_matrix_leave();
  xc_matrix_leave();
  same(N * N, out, truth);
  for (int k = 0; k < N * N; k++) assert_true(work[k] == 0);
  assert_int_equal(fake.entered, 1);
  assert_int_equal(fake.fetches, 1);
  xc_matrix_drop(b);
  xc_matrix_drop(b), xc_matrix_drop(NULL);
  close_fake();
  tsl_free(a), tsl_free(b), tsl_free(work), tsl_free(out), tsl_free(truth);
}

static void solutions(void **state) {
  enum { N = 5 };
  (void)state;
  double *a = numbers(N, N, 0), b[N] = {1, 2, 3, 4, 5}, c[N] = {1, 2, 3, 4, 5};
  xc_matrix_symmetrise(N, 0.5, a);
  for (int i = 0; i < N; i++) a[i * (N + 1)] += N;
  good(xc_matrix_factor(N, "a test", a));
  good(xc_matrix_solve(N, a, b));
  open_fake();
  good(xc_matrix_solve(N, a, c));
  assert_int_equal(fake.solved, 0);
  good(xc_matrix_hold(N, N, a));
  for (int i = 0; i < N; i++) c[i] = i + 1;
  good(xc_matrix_solve(N, a, c));
  assert_int_equal(fake.solved, 1);
  same(N, c, b);
  xc_matrix_drop(a);
  close_fake();
  tsl_free(a);
}

/** The device factors and inverts as the host does, and says the same of what has no factor. */
static void factors(void **state) {
  enum { N = 6 };
  (void)state;
  double *a = numbers(N, N, 3), *truth = room(N, N);
  xc_matrix_symmetrise(N, 0.5, a);
  for (int i = 0; i < N; i++) a[i * (N + 1)] += N;
  memcpy(truth, a, sizeof *a * N * N);
  good(xc_matrix_inverse_factor(N, "a test", truth));
  open_fake();
  good(xc_matrix_inverse_factor(N, "a test", a));
  same(N * N, a, truth);
  assert_int_equal(fake.fetches, 1);
  a[3 * (N + 1)] = -1;
  assert_int_equal(xc_matrix_factor(N, "a test", a), TSL_ERR_NUMERIC);
  assert_non_null(strstr(tsl_err_message(), "at row 4 of 6"));
  assert_int_equal(fake.factors, 3);
  close_fake();
  tsl_free(a), tsl_free(truth);
}

/* ---------------------------------------------------------- who uses the table */

static void *look(void *out) {
  *(const tsl_linalg **)out = tsl_linalg_used();
  return NULL;
}

/** A device that declines, a caller that may not, another thread, no table: the host. */
static void host_alone(void **state) {
  enum { N = 4 };
  const xc_matrix_region region = {.order = N, .matrices = 3, .moved = 3, .products = 1};
  const tsl_linalg *seen = &table;
  pthread_t thread;
  (void)state;
  double *a = numbers(N, N, 0), *c = room(N, N), *truth = room(N, N);
  good(xc_matrix_product(N, N, N, 1, a, false, a, true, truth));
  open_fake();
  assert_int_equal(fake.warmed, 1);
  assert_int_equal(pthread_create(&thread, NULL, look, &seen), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_null(seen);
  fake.declines = true;
  good(xc_matrix_enter(&region));
  fake.declines = false; /* the region is the host's as a whole */
  good(xc_matrix_product(N, N, N, 1, a, false, a, true, c));
  good(xc_matrix_fetch(c));
  xc_matrix_leave();
  same(N * N, c, truth);
  xc_matrix_use(1, false, 1);
  good(xc_matrix_product(N, N, N, 1, a, false, a, true, c));
  assert_int_equal(fake.entered + fake.products, 0);
  assert_int_equal(fake.warmed, 1);
  xc_matrix_use(1, true, 1);
  close_fake();
  good(xc_matrix_product(N, N, N, 1, a, false, a, true, c));
  assert_int_equal(fake.products, 0);
  tsl_free(a), tsl_free(c), tsl_free(truth);
}

/** A device's error comes back, and the region is left. */
static void errors(void **state) {
  double a[4] = {1, 2, 3, 4}, c[4];
  (void)state;
  open_fake();
  fake.fails = true;
  assert_int_equal(xc_matrix_product(2, 2, 2, 1, a, false, a, false, c), TSL_ERR_DEVICE);
  assert_string_equal(tsl_err_message(), "the device is gone");
  fake.fails = false;
  good(xc_matrix_product(2, 2, 2, 1, a, false, a, false, c));
  close_fake();
}

/* ------------------------------------------------------------------ whole fields */

static double energy_of(const char *xyz, int multiplicity, const xc_scf_options *options) {
  field f;
  xc_scf scf;
  field_create(xyz, multiplicity, "6-31G*", NULL, XC_KIND_AUTO, NULL, 0, &f);
  field_solve(&f, options, false, &scf);
  assert_int_equal(scf.state, XC_SCF_CONVERGED);
  const double energy = scf.energies.total;
  printf("%d steps: ", (int)scf.iteration);
  xc_scf_clear(&scf);
  field_clear(&f);
  return energy;
}

/* The same energy, and no product of the step elsewhere: 3 + 3 of each spin and step. */
static void compare(const char *xyz, int multiplicity, const xc_scf_options *options) {
  const double host = energy_of(xyz, multiplicity, options);
  open_fake();
  const double mine = energy_of(xyz, multiplicity, options);
  printf("%.12f hartree, off by %.1e; %d regions, %d products, %d diagonalisations\n", mine,
         mine - host, fake.entered, fake.products, fake.eigens);
  assert_true(fabs(mine - host) < 1e-9);
  assert_true(fake.eigens > 5 && fake.products > 30);
  close_fake();
}

static void fields(void **state) {
  static const char water[] = "3\n\nO 0 0 0.1174\nH 0.757 0 -0.4696\nH -0.757 0 -0.4696\n";
  static const char oxygen[] = "2\n\nO 0 0 0\nO 0 0 1.2\n";
  xc_scf_options options;
  (void)state;
  xc_scf_standard(&options);
  options.energy_limit = 1e-10, options.commutator_limit = 1e-7;
  compare(water, 1, &options);
  options.restricted = 0;
  compare(oxygen, 3, &options);
  options.damping = 0.3, options.level_shift = 0.2, options.damping_until = 1e-4;
  compare(oxygen, 3, &options);
  options.damping = 0, options.level_shift = 0;
  options.smearing = XC_SMEARING_FERMI, options.width = 0.05;
  compare(oxygen, 3, &options);
}

static double largest_of(int64_t n, const double *a) {
  return fabs(a[cblas_idamax((int)n, a, 1)]);
}

/* As many roots as the rank, by rising pivots; they add up to the matrix, however it is scaled. */
static void roots(void **state) {
  enum { N = 61, R = 17 };
  (void)state;
  for (int k = 0; k < 3; k++) {
    const double scale = k == 0 ? 1 : k == 1 ? 1e-20 : 1e20;
    double *factor = room(R, N), *a = room(N, N), *rows = room(N, N), *sum = room(N, N);
    int64_t rank = 0;
    for (int64_t i = 0; i < R * N; i++) factor[i] = sin((double)(i * i));
    good(xc_matrix_outer(N, R, scale, factor, 0, a));
    good(xc_matrix_roots(N, "a test", a, rows, &rank));
    assert_int_equal(rank, R);
    good(xc_matrix_outer(N, rank, 1, rows, 0, sum));
    for (int64_t i = 0; i < N * N; i++) assert_true(fabs(sum[i] - a[i]) < 1e-12 * scale);
    for (int64_t i = 1; i < rank; i++)
      assert_true(largest_of(N, rows + (i - 1) * N) <= largest_of(N, rows + i * N));
    TSL_FREE_ALL(factor, a, rows, sum);
  }
}

/* Of a matrix of zeros there are none; what has no roots is refused. */
static void roots_refused(void **state) {
  enum { N = 40 };
  double *a = room(N, N), *rows = room(N, N);
  int64_t rank = -1;
  (void)state;
  good(xc_matrix_roots(N, "a test", a, rows, &rank));
  assert_int_equal(rank, 0);
  a[N + 3] = a[3 * N + 1] = 1; /* eigenvalues 1 and -1, zeros on the diagonal */
  assert_int_equal(xc_matrix_roots(N, "a test", a, rows, &rank), TSL_ERR_NUMERIC);
  a[N + 3] = a[3 * N + 1] = 0, a[0] = 1, a[5 * (N + 1)] = -1e-9;
  assert_int_equal(xc_matrix_roots(N, "a test", a, rows, &rank), TSL_ERR_NUMERIC);
  a[5 * (N + 1)] = NAN;
  assert_int_equal(xc_matrix_roots(N, "a test", a, rows, &rank), TSL_ERR_NUMERIC);
  TSL_FREE_ALL(a, rows);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products),   cmocka_unit_test(outer),         cmocka_unit_test(eigens),
      cmocka_unit_test(regions),    cmocka_unit_test(solutions),     cmocka_unit_test(factors),
      cmocka_unit_test(host_alone), cmocka_unit_test(errors),        cmocka_unit_test(fields),
      cmocka_unit_test(roots),      cmocka_unit_test(roots_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
