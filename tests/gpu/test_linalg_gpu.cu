/* gpu.linalg.*: the card's table of dense algebra beside the host's OpenBLAS and LAPACK.
 *   test_linalg_gpu products  all turns, shapes and chains within a region
 *   test_linalg_gpu eigen     values, residuals, orthogonality; degenerate spectra, NaN
 *   test_linalg_gpu factors   Cholesky's factors and their inverses; matrices that have none
 *   test_linalg_gpu held      copies that stay, and equations solved with them
 *   test_linalg_gpu memory    no room: the host is to do it
 *   test_linalg_gpu times     host beside card, which one is chosen, and what the card was expected
 * Exit status 77: no card. */
#include "gpu.cuh"
#include "gpu_linalg.cuh"
#include "named_tests.h"

extern "C" {
#include "clock.h"
#include "xc_matrix.h"
}

#include "linalg.h"
#include "parallel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vector>

typedef std::vector<double> matrix;

static const tsl_linalg *table;
static tsl_device card;
static const int64_t sizes[] = {1, 2, 33, 257, 1123};

#define CHECK(condition, ...)                                 \
  do {                                                        \
    if (!(condition)) TSL_FAIL(TSL_ERR_NUMERIC, __VA_ARGS__); \
  } while (0)

static matrix numbers(int64_t rows, int64_t columns, unsigned seed) {
  matrix a((size_t)(rows * columns));
  uint64_t state = 88172645463325252ULL + 2654435761ULL * seed;
  for (double &x : a) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    x = (double)(state >> 11) / 9007199254740992.0 - 0.5;
  }
  return a;
}

static matrix symmetric(int64_t n, unsigned seed) {
  matrix a = numbers(n, n, seed);
  xc_matrix_symmetrise(n, 0.5, a.data());
  return a;
}

static double worst(const matrix &a, const matrix &b) {
  double most = 0;
  for (size_t k = 0; k < a.size(); k++)
    if (!(fabs(a[k] - b[k]) <= most)) most = fabs(a[k] - b[k]); /* NaN stays */
  return most;
}

/* The host's threads and nothing else, or the table. */
static void use_host(void) {
  xc_matrix_use(tsl_parallel_slots(), false, 1);
}

/* A region that the card has to take. */
static tsl_err enter(int64_t order, int matrices, int eigen) {
  tsl_err err = TSL_OK;
  tsl_linalg_region region = {};
  bool taken = false;
  region.order = order, region.matrices = matrices, region.eigen = eigen * order;
  region.host_seconds = INFINITY;
  TSL_TRY(table->enter(&region, &taken));
  if (!taken) TSL_FAIL(TSL_ERR_INTERNAL, "the card has not taken a region");
done:
  return err;
}

/* ------------------------------------------------------------------- products */

static tsl_err one_product(int64_t m, int64_t n, int64_t k, bool ta, bool tb, double keep) {
  tsl_err err = TSL_OK;
  matrix a = numbers(m, k, 1), b = numbers(k, n, 2), mine = numbers(m, n, 3), truth = mine;
  const matrix before = mine;
  const tsl_linalg_product p = {m, n, k, 1.5, keep, a.data(), b.data(), ta, tb, mine.data()};
  double off = 0;
  TSL_TRY(enter(m > n ? (m > k ? m : k) : (n > k ? n : k), 3, 0));
  TSL_TRY(table->product(&p));
  TSL_TRY(table->fetch(mine.data()));
  table->leave();
  TSL_TRY(xc_matrix_product(m, n, k, 1.5, a.data(), ta, b.data(), tb, truth.data()));
  for (size_t i = 0; i < truth.size(); i++) truth[i] += keep * before[i];
  off = worst(mine, truth);
  CHECK(off <= 1e-12 * (1 + sqrt((double)k)), "product %lld x %lld x %lld (%d %d): off by %.2e",
        (long long)m, (long long)n, (long long)k, ta, tb, off);
done:
  return err;
}

/* b a b^T, and that times c, without moves between. */
static tsl_err one_chain(int64_t n) {
  tsl_err err = TSL_OK;
  matrix a = symmetric(n, 1), b = numbers(n, n, 2), c = symmetric(n, 3), work((size_t)(n * n));
  matrix mine = work, last = work, truth = work, end = work;
  const tsl_linalg_product list[] = {
      {n, n, n, 1, 0, b.data(), a.data(), false, false, work.data()},
      {n, n, n, 1, 0, work.data(), b.data(), false, true, mine.data()},
      {n, n, n, 1, 0, mine.data(), c.data(), false, false, last.data()}};
  TSL_TRY(enter(n, 6, 0));
  for (const tsl_linalg_product &p : list) TSL_TRY(table->product(&p));
  TSL_TRY(table->fetch(mine.data()));
  TSL_TRY(table->fetch(last.data()));
  table->leave();
  TSL_TRY(xc_matrix_project(n, n, a.data(), b.data(), work.data(), truth.data()));
  TSL_TRY(xc_matrix_product(n, n, n, 1, truth.data(), false, c.data(), false, end.data()));
  CHECK(worst(mine, truth) <= 1e-12 * (double)n && worst(last, end) <= 1e-12 * (double)n * sqrt(n),
        "chain of order %lld: off by %.2e, %.2e", (long long)n, worst(mine, truth),
        worst(last, end));
done:
  return err;
}

static tsl_err test_products(void) {
  tsl_err err = TSL_OK;
  for (int64_t n : sizes) {
    for (int turns = 0; turns < 4; turns++)
      TSL_TRY(one_product(n, n / 2 + 1, n / 3 + 1, turns & 1, turns & 2, turns == 1 ? 0.25 : 0));
    TSL_TRY(one_product(n, n, n, true, false, 0.5));
    TSL_TRY(one_product(n, n, 0, true, false, 0.5));
    TSL_TRY(one_chain(n));
    printf("order %4lld: products as the host's\n", (long long)n);
  }
done:
  return err;
}

/* ---------------------------------------------------------------- diagonalisation */

/* Largest element of A v - lambda v, and of V V^T - 1. */
static tsl_err errors_of(int64_t n, const matrix &a, const matrix &values, const matrix &vectors,
                         double *residual, double *overlap) {
  tsl_err err = TSL_OK;
  matrix turned((size_t)(n * n)), unit((size_t)(n * n));
  *residual = *overlap = 0;
  TSL_TRY(xc_matrix_product(n, n, n, 1, vectors.data(), false, a.data(), false, turned.data()));
  TSL_TRY(xc_matrix_product(n, n, n, 1, vectors.data(), false, vectors.data(), true, unit.data()));
  for (int64_t k = 0; k < n; k++)
    for (int64_t i = 0; i < n; i++) {
      const size_t at = (size_t)(k * n + i);
      *residual = fmax(*residual, fabs(turned[at] - values[(size_t)k] * vectors[at]));
      *overlap = fmax(*overlap, fabs(unit[at] - (k == i)));
    }
done:
  return err;
}

static tsl_err one_eigen(const char *what, int64_t n, const matrix &a, bool in_place) {
  tsl_err err = TSL_OK;
  matrix mine = a, other((size_t)(n * n)), values((size_t)n), truth = a, host((size_t)n);
  double *vectors = in_place ? mine.data() : other.data();
  double residual = 0, overlap = 0, off = 0, scale = 0;
  TSL_TRY(enter(n, 2, 1));
  TSL_TRY(table->eigen(n, mine.data(), values.data(), vectors));
  TSL_TRY(table->fetch(vectors));
  table->leave();
  TSL_TRY(xc_matrix_eigen(n, truth.data(), host.data()));
  scale = fmax(fabs(host[0]), fabs(host[(size_t)n - 1]));
  off = worst(values, host) / scale;
  TSL_TRY(errors_of(n, a, values, in_place ? mine : other, &residual, &overlap));
  printf("%-10s order %4lld: values %.1e, residual %.1e, orthogonality %.1e\n", what, (long long)n,
         off, residual / scale, overlap);
  CHECK(off <= 1e-11 && residual <= 1e-11 * scale && overlap <= 1e-11 && (in_place || mine == a),
        "%s of order %lld: wrong", what, (long long)n);
done:
  return err;
}

static tsl_err not_a_number(int64_t n) {
  tsl_err err = TSL_OK;
  matrix a = symmetric(n, 5), values((size_t)n);
  tsl_err answer = TSL_OK;
  a[(size_t)(n * n / 2)] = NAN;
  TSL_TRY(enter(n, 2, 1));
  answer = table->eigen(n, a.data(), values.data(), a.data());
  table->leave();
  CHECK(answer == TSL_ERR_NUMERIC, "a matrix of order %lld with NaN: %d", (long long)n, answer);
done:
  return err;
}

/* Eigenvalues 0 and 1 alone: a density in an orthonormal basis. */
static tsl_err degenerate(int64_t n) {
  tsl_err err = TSL_OK;
  matrix a = symmetric(n, 4), values((size_t)n), density((size_t)(n * n));
  TSL_TRY(xc_matrix_eigen(n, a.data(), values.data()));
  TSL_TRY(xc_matrix_outer(n, n / 3 + 1, 1, a.data(), 0, density.data()));
  TSL_TRY(one_eigen("density", n, density, false));
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) density[(size_t)(i * n + j)] = i == j;
  TSL_TRY(one_eigen("unit", n, density, true));
done:
  return err;
}

static tsl_err test_eigen(void) {
  tsl_err err = TSL_OK;
  for (int64_t n : sizes) {
    TSL_TRY(one_eigen("random", n, symmetric(n, 3), true));
    TSL_TRY(one_eigen("random", n, symmetric(n, 3), false));
    TSL_TRY(degenerate(n));
    TSL_TRY(not_a_number(n));
  }
done:
  return err;
}

/* --------------------------------------------------------------------- factors */

static tsl_err on_card(int64_t n, bool inverse, matrix *a, int64_t *row) {
  tsl_err err = TSL_OK;
  tsl_linalg_region region = {};
  bool taken = false;
  region.order = n, region.matrices = 1, region.factor = n, region.host_seconds = INFINITY;
  region.inverse = inverse ? n : 0;
  TSL_TRY(table->enter(&region, &taken));
  CHECK(taken, "the card has not taken a factor");
  TSL_TRY(table->factor(n, a->data(), row));
  if (inverse) TSL_TRY(table->invert(n, a->data()));
  TSL_TRY(table->fetch(a->data()));
  table->leave();
done:
  return err;
}

/* What stands beside the factor is that of the matrix on both. */
static tsl_err one_factor(int64_t n) {
  tsl_err err = TSL_OK;
  matrix a = symmetric(n, 6);
  double off[2] = {0, 0};
  for (int64_t i = 0; i < n; i++) a[(size_t)(i * (n + 1))] += 0.6 * sqrt((double)n);
  for (int inverse = 0; inverse < 2; inverse++) {
    matrix mine = a, truth = a;
    int64_t row = -1;
    TSL_TRY(on_card(n, inverse == 1, &mine, &row));
    CHECK(row == 0, "no factor of order %lld: row %lld", (long long)n, (long long)row);
    TSL_TRY(
        (inverse == 1 ? xc_matrix_inverse_factor : xc_matrix_factor)(n, "a test", truth.data()));
    off[inverse] = worst(mine, truth);
  }
  printf("factor of order %4lld: %.1e, its inverse %.1e\n", (long long)n, off[0], off[1]);
  CHECK(off[0] <= 1e-10 && off[1] <= 1e-10, "factors of order %lld: wrong", (long long)n);
done:
  return err;
}

static tsl_err no_factor(int64_t n) {
  tsl_err err = TSL_OK;
  matrix a((size_t)(n * n));
  int64_t row = 0;
  for (int64_t i = 0; i < n; i++) a[(size_t)(i * (n + 1))] = i == n / 2 ? -1 : 2;
  TSL_TRY(on_card(n, false, &a, &row));
  CHECK(row == n / 2 + 1, "order %lld: not positive at row %lld", (long long)n, (long long)row);
done:
  return err;
}

static tsl_err test_factors(void) {
  tsl_err err = TSL_OK;
  for (int64_t n : sizes) {
    TSL_TRY(one_factor(n));
    TSL_TRY(no_factor(n));
  }
done:
  return err;
}

/* ----------------------------------------------------------------- held, memory */

static tsl_err held_copy(void) {
  enum { N = 300 };
  tsl_err err = TSL_OK;
  matrix a = numbers(N, N, 1), b = numbers(N, N, 2), mine(N * N), truth(N * N);
  const tsl_linalg_product p = {N, N, N, 1, 0, a.data(), b.data(), false, false, mine.data()};
  TSL_TRY(xc_matrix_product(N, N, N, 1, a.data(), false, b.data(), false, truth.data()));
  TSL_TRY(table->hold(N * N, b.data()));
  memset(b.data(), 0, sizeof(double) * N * N); /* never done; shows whose copy is used */
  for (int region = 0; region < 3; region++) {
    if (region == 2) table->drop(b.data());
    TSL_TRY(enter(N, 2, 0));
    TSL_TRY(table->product(&p));
    TSL_TRY(table->fetch(mine.data()));
    table->leave();
    CHECK(region == 2 ? mine[7] == 0 : worst(mine, truth) < 1e-12, "region %d: wrong copy", region);
  }
done:
  return err;
}

static tsl_err one_solution(int64_t n) {
  tsl_err err = TSL_OK;
  matrix a = symmetric(n, 1), b = numbers(n, 1, 2), c = b;
  bool taken = false;
  for (int64_t i = 0; i < n; i++) a[(size_t)(i * (n + 1))] += (double)n;
  TSL_TRY(xc_matrix_factor(n, "a test", a.data()));
  TSL_TRY(xc_matrix_solve(n, a.data(), b.data()));
  TSL_TRY(table->solve(n, a.data(), c.data(), &taken));
  CHECK(!taken, "a factor that is not held was used");
  TSL_TRY(table->hold(n * n, a.data()));
  TSL_TRY(table->solve(n, a.data(), c.data(), &taken));
  printf("%lld equations: %s\n", (long long)n, taken ? "on the card" : "left to the host");
  CHECK(taken == (n >= 1024), "%lld equations: who solves them?", (long long)n);
  if (taken) CHECK(worst(b, c) <= 1e-12, "%lld equations: off by %.2e", (long long)n, worst(b, c));
  table->drop(a.data());
done:
  return err;
}

static tsl_err test_held(void) {
  tsl_err err = TSL_OK;
  table->warm(1000); /* before that nothing is held */
  TSL_TRY(held_copy());
  TSL_TRY(one_solution(257));
  TSL_TRY(one_solution(1123));
  TSL_TRY(one_solution(3000));
done:
  return err;
}

static tsl_err test_memory(void) {
  tsl_err err = TSL_OK;
  tsl_linalg_region region = {};
  bool taken = true;
  tsl_device small = card;
  small.memory_limit = (int64_t)256 << 20;
  table = tsl_gpu_linalg(&small);
  region.order = 4000, region.matrices = 3, region.host_seconds = INFINITY;
  TSL_TRY(table->enter(&region, &taken));
  CHECK(!taken && tsl_gpu_linalg_lacks_memory(), "a region without memory was taken");
  TSL_TRY(one_chain(257));
  TSL_TRY(one_eigen("afterwards", 257, symmetric(257, 3), true));
done:
  return err;
}

/* ------------------------------------------------------------------------ times */

/* The step's two regions, with a fifth of the orbitals filled. */
typedef struct step {
  int64_t n;
  matrix fock, half, density, work, small, error, values, vectors, orbitals, out;
} step;

static tsl_err commutator(step *s) {
  tsl_err err = TSL_OK;
  const xc_matrix_region region = {s->n, 6, 4, 3, 0};
  TSL_TRY(xc_matrix_enter(&region));
  TSL_TRY(xc_matrix_project(s->n, s->n, s->fock.data(), s->half.data(), s->work.data(),
                            s->small.data()));
  TSL_TRY(xc_matrix_product(s->n, s->n, s->n, 1, s->small.data(), false, s->density.data(), false,
                            s->error.data()));
  TSL_TRY(xc_matrix_fetch(s->small.data()));
  TSL_TRY(xc_matrix_fetch(s->error.data()));
done:
  xc_matrix_leave();
  return err;
}

static tsl_err new_density(step *s) {
  tsl_err err = TSL_OK;
  const int64_t n = s->n, k = n / 5;
  const xc_matrix_region region = {n, 6, 3, 0.6, 1};
  double *vectors = s->vectors.data(), *orbitals = s->orbitals.data();
  TSL_TRY(xc_matrix_enter(&region));
  TSL_TRY(xc_matrix_eigen_lowest(n, k, s->small.data(), s->values.data(), vectors));
  TSL_TRY(xc_matrix_outer(n, k, 1, vectors, 0, s->density.data()));
  TSL_TRY(xc_matrix_product(k, n, n, 1, vectors, false, s->half.data(), false, orbitals));
  TSL_TRY(xc_matrix_outer(n, k, 1, orbitals, 0, s->out.data()));
  TSL_TRY(xc_matrix_fetch(s->density.data()));
  TSL_TRY(xc_matrix_fetch(s->out.data()));
  TSL_TRY(xc_matrix_fetch(orbitals));
done:
  xc_matrix_leave();
  return err;
}

static tsl_err one_product_alone(step *s) {
  return xc_matrix_product(s->n, s->n, s->n, 1, s->fock.data(), false, s->half.data(), false,
                           s->work.data());
}

static tsl_err one_eigen_alone(step *s) {
  memcpy(s->vectors.data(), s->fock.data(), s->fock.size() * sizeof(double));
  return xc_matrix_eigen(s->n, s->vectors.data(), s->values.data());
}

/* The shortest of some, after one that is not counted. */
static tsl_err time_of(tsl_err (*run)(step *), step *s, double *seconds) {
  tsl_err err = TSL_OK;
  *seconds = INFINITY;
  for (int k = 0; k < 6; k++) {
    const double begin = tsl_now();
    TSL_TRY(run(s));
    if (k > 0) *seconds = fmin(*seconds, tsl_now() - begin);
  }
done:
  return err;
}

/* Takes all regions, to see what they cost where they would not be chosen. */
static tsl_err forced_enter(const tsl_linalg_region *region, bool *taken) {
  tsl_linalg_region all = *region;
  all.host_seconds = INFINITY;
  return table->enter(&all, taken);
}

static void no_close(void) {
}

/* By the table as it is, or forced. */
static tsl_err time_on_card(tsl_err (*run)(step *), step *s, bool forced, double *seconds) {
  tsl_err err = TSL_OK;
  tsl_linalg mine = *table;
  mine.close = no_close;
  if (forced) mine.enter = forced_enter;
  tsl_linalg_open(&mine);
  xc_matrix_use(tsl_parallel_slots(), true, s->n);
  TSL_TRY(xc_matrix_hold(s->n, s->n, s->half.data()));
  TSL_TRY(time_of(run, s, seconds));
done:
  xc_matrix_drop(s->half.data());
  tsl_linalg_close();
  return err;
}

static tsl_err one_time(const char *what, tsl_err (*run)(step *), step *s) {
  tsl_err err = TSL_OK;
  double host = 0, chosen = 0, forced = 0;
  use_host();
  TSL_TRY(time_of(run, s, &host));
  TSL_TRY(time_on_card(run, s, true, &forced));
  TSL_TRY(time_on_card(run, s, false, &chosen));
  printf("order %4lld, %-22s host %8.2f ms, card %8.2f ms, as chosen %8.2f ms\n", (long long)s->n,
         what, host * 1e3, forced * 1e3, chosen * 1e3);
  (void)fflush(stdout);
done:
  return err;
}

static tsl_err test_times(void) {
  tsl_err err = TSL_OK;
  static const int64_t orders[] = {128, 256, 384, 500, 840, 1123, 2000};
  const double begin = tsl_now();
  TSL_TRY(enter(256, 3, 1));
  table->leave();
  printf("handles and first kernels: %.0f ms; %d threads of the host\n", (tsl_now() - begin) * 1e3,
         tsl_parallel_slots());
  for (int64_t n : orders) {
    const size_t nn = (size_t)(n * n);
    step s = {n,          symmetric(n, 1), numbers(n, n, 2), symmetric(n, 3), matrix(nn),
              matrix(nn), matrix(nn),      matrix(n),        symmetric(n, 4), matrix(nn),
              matrix(nn)};
    s.small = s.fock;
    TSL_TRY(one_time("one product", one_product_alone, &s));
    TSL_TRY(one_time("one diagonalisation", one_eigen_alone, &s));
    TSL_TRY(one_time("commutator", commutator, &s));
    TSL_TRY(one_time("density", new_density, &s));
  }
done:
  return err;
}

/* ------------------------------------------------------------------------- main */

static tsl_err open_card(void) {
  tsl_err err = TSL_OK;
  size_t n_free = 0, n_total = 0;
  cudaDeviceProp properties;
  TSL_CUDA_TRY(cudaGetDeviceProperties(&properties, 0));
  TSL_CUDA_TRY(cudaMemGetInfo(&n_free, &n_total));
  card.kind = TSL_GPU;
  card.processors = properties.multiProcessorCount;
  card.memory_limit = (int64_t)n_free;
  (void)snprintf(card.id, sizeof card.id, "of a test");
  (void)snprintf(card.name, sizeof card.name, "%.79s", properties.name);
  printf("%s\n", card.name);
  TSL_TRY(tsl_parallel_open((int)sysconf(_SC_NPROCESSORS_ONLN)));
  table = tsl_gpu_linalg(&card);
  use_host();
done:
  return err;
}

int main(int argc, char **argv) {
  static const named_test tests[] = {{"products", test_products}, {"eigen", test_eigen},
                                     {"factors", test_factors},   {"held", test_held},
                                     {"memory", test_memory},     {"times", test_times}};
  int n = 0, status = 0;
  if (cudaGetDeviceCount(&n) != cudaSuccess || n == 0) return printf("no card\n"), 77;
  const tsl_err err = open_card();
  if (err != TSL_OK) {
    fprintf(stderr, "%s\n%s", tsl_err_message(), tsl_err_places());
    return tsl_err_status(err);
  }
  status = run_named(tests, (int)(sizeof tests / sizeof *tests), argc, argv);
  table->close();
  tsl_parallel_close();
  return status;
}
