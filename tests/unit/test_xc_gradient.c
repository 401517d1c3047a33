/* unit.xc.gradient: derivatives of integrals against central differences of the integrals, for
 * random shells s to g, spherical and Cartesian; places repeat, so that centres coincide. A case
 * (../cpu/cases.h) is one coordinate of one of them. */
#include "../cpu/cases.h"
#include "xc_coulomb_gradient.h"
#include "xc_fit_gradient.h"
#include "xc_fock_gradient.h"
#include "xc_matrix.h"
#include "xc_one.h"
#include "xc_one_gradient.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "xc_random_shells.h"

#define good(call)                                           \
  do {                                                       \
    if ((call) != TSL_OK) fail_msg("%s", tsl_err_message()); \
  } while (0)

enum { N_CHARGES = 11, MOST = 32 };

/* A basis whose every shell is an atom of its own, charges, and weights. */
typedef struct rig {
  xc_basis basis, fitting;
  xc_charge charges[N_CHARGES];
  double *weights[4]; /* [n][n] symmetric */
  double *rows;       /* [fitting][n (n + 1) / 2 at most] */
  double *metric;     /* [fitting][fitting] symmetric */
} rig;

static double *symmetric(int64_t n) {
  double *matrix = calloc((size_t)(n * n), sizeof *matrix);
  assert_non_null(matrix);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j <= i; j++) matrix[i * n + j] = matrix[j * n + i] = xc_uniform(-1, 1);
  return matrix;
}

static double *ones(int64_t n) {
  double *matrix = malloc((size_t)(n * n) * sizeof *matrix);
  assert_non_null(matrix);
  for (int64_t k = 0; k < n * n; k++) matrix[k] = 1;
  return matrix;
}

/* Shells of each rig are its own, whichever cases were before. */
static void open_rig(int most_l, int each, int spherical, rig *r) {
  static uint64_t n_rigs = 0;
  xc_seed = 20260 + n_rigs++;
  xc_random_basis(most_l, each, spherical, 0.2, 5, &r->basis);
  xc_random_basis(most_l, 1, spherical, 0.2, 5, &r->fitting);
  for (int64_t k = 0; k < r->basis.n_shells; k++) r->basis.shells[k].atom = (int32_t)k;
  for (int64_t k = 0; k < r->fitting.n_shells; k++)
    r->fitting.shells[k].atom = (int32_t)(r->basis.n_shells + k);
  for (int c = 0; c < N_CHARGES; c++) {
    r->charges[c].q = xc_uniform(-2, 2);
    for (int x = 0; x < 3; x++) r->charges[c].at[x] = xc_uniform(-3, 3);
  }
  memcpy(r->charges[0].at, r->basis.shells[0].at, sizeof r->charges[0].at);
  for (int k = 0; k < 4; k++) r->weights[k] = symmetric(r->basis.n);
  r->rows = calloc((size_t)(r->fitting.n * r->basis.n * r->basis.n), sizeof *r->rows);
  assert_non_null(r->rows);
  for (int64_t k = 0; k < r->fitting.n * r->basis.n * r->basis.n; k++)
    r->rows[k] = xc_uniform(-1, 1);
  r->metric = symmetric(r->fitting.n);
}

static void close_rig(rig *r) {
  free(r->basis.shells), free(r->fitting.shells), free(r->rows), free(r->metric);
  for (int k = 0; k < 4; k++) free(r->weights[k]);
}

/* Where something is, whose derivative is looked at. */
typedef struct place {
  double *at;
  int atom;
} place;

static int places_of(rig *r, place *list) {
  int n = 0;
  for (int64_t k = 0; k < r->basis.n_shells; k++) list[n] = (place){r->basis.shells[k].at, n}, n++;
  for (int64_t k = 0; k < r->fitting.n_shells; k++)
    list[n] = (place){r->fitting.shells[k].at, n}, n++;
  for (int c = 0; c < N_CHARGES; c++) list[n] = (place){r->charges[c].at, n}, n++;
  assert_true(n <= MOST);
  return n;
}

/* Central differences of the sixth order of an energy against its gradient, place by place. Which
 * coordinates are this run's changes nothing else: energies take no random numbers. */
static void compare(const char *what, rig *r, double (*energy)(const rig *), double (*gradient)[3],
                    double tolerance) {
  static int64_t number = 0;
  static const double step = 4e-3;
  place list[MOST];
  const int n = places_of(r, list);
  double largest = 0;
  for (int k = 0; k < n; k++)
    for (int x = 0; x < 3; x++) largest = fmax(largest, fabs(gradient[k][x]));
  assert_true(largest > 0.01);
  for (int k = 0; k < n; k++)
    for (int x = 0; x < 3; x++) {
      if (!case_is_mine(number++)) continue;
      const double at = list[k].at[x];
      double e[6];
      static const int steps[6] = {-3, -2, -1, 1, 2, 3};
      for (int s = 0; s < 6; s++) list[k].at[x] = at + steps[s] * step, e[s] = energy(r);
      list[k].at[x] = at;
      const double found = (45 * (e[3] - e[2]) - 9 * (e[4] - e[1]) + (e[5] - e[0])) / (60 * step);
      if (!(fabs(found - gradient[list[k].atom][x]) <= tolerance * largest))
        fail_msg("%s: place %d, axis %d: %.12g, differences %.12g", what, k, x,
                 gradient[list[k].atom][x], found);
    }
}

/* ------------------------------------------------------------- one electron */

static double dot(const rig *r, const double *a, const double *b) {
  return xc_matrix_dot(r->basis.n * r->basis.n, a, b);
}

static double overlap_kinetic(const rig *r) {
  const int64_t n = r->basis.n;
  double *s = calloc((size_t)(2 * n * n), sizeof *s);
  assert_non_null(s);
  xc_overlap_kinetic(&r->basis, 0, r->basis.n_shells, s, s + n * n);
  const double sum = dot(r, r->weights[0], s) + dot(r, r->weights[1], s + n * n);
  free(s);
  return sum;
}

static double attraction(const rig *r) {
  double *a = calloc((size_t)(r->basis.n * r->basis.n), sizeof *a);
  assert_non_null(a);
  xc_attraction(&r->basis, r->charges, N_CHARGES, 0, r->basis.n_shells, a);
  const double sum = dot(r, r->weights[0], a);
  free(a);
  return sum;
}

static void one_electron(void **state) {
  (void)state;
  for (int spherical = 0; spherical < 2; spherical++) {
    rig r;
    double gradient[MOST][3] = {{0}};
    open_rig(XC_MAX_L, 2, spherical, &r);
    const int64_t shells = r.basis.n_shells;
    xc_overlap_kinetic_gradient(&r.basis, 0, 3, r.weights[0], r.weights[1], gradient);
    xc_overlap_kinetic_gradient(&r.basis, 3, shells, r.weights[0], r.weights[1], gradient);
    compare("overlap and kinetic energy", &r, overlap_kinetic, gradient, 1e-9);
    memset(gradient, 0, sizeof gradient);
    double(*on_charges)[3] = gradient + shells + r.fitting.n_shells;
    xc_attraction_gradient(&r.basis, r.charges, N_CHARGES, 0, 3, r.weights[0], gradient,
                           on_charges);
    xc_attraction_gradient(&r.basis, r.charges, N_CHARGES, 3, shells, r.weights[0], gradient,
                           on_charges);
    compare("attraction", &r, attraction, gradient, 1e-9);
    close_rig(&r);
  }
}

/* Nuclei: one array for functions and charges, whose rows add up to nothing. */
static void nuclei(void **state) {
  rig r;
  double gradient[MOST][3] = {{0}}, apart[2][MOST][3] = {{{0}}};
  (void)state;
  open_rig(2, 2, 1, &r);
  const int64_t n = r.basis.n_shells;
  xc_attraction_gradient(&r.basis, r.charges, N_CHARGES, 0, n, r.weights[0], gradient, gradient);
  xc_attraction_gradient(&r.basis, r.charges, N_CHARGES, 0, n, r.weights[0], apart[0], apart[1]);
  for (int x = 0; x < 3; x++) {
    double sum = 0;
    for (int k = 0; k < MOST; k++) {
      assert_true(fabs(gradient[k][x] - apart[0][k][x] - apart[1][k][x]) < 1e-10);
      sum += gradient[k][x];
    }
    assert_true(fabs(sum) < 1e-9);
  }
  close_rig(&r);
}

/* ------------------------------------------------------------ two electrons */

static const double share = 0.3;

static xc_integrals *integrals_of(const rig *r) {
  xc_integrals *integrals = NULL;
  good(xc_integrals_create(&r->basis, &r->fitting, &integrals));
  return integrals;
}

static xc_engine *engine_of(const xc_integrals *integrals, xc_repulsion kind) {
  xc_engine *engine = NULL;
  good(xc_engine_create(integrals, kind, 0, 1e-18, &engine));
  return engine;
}

/* All pairs of shells, bounds 1, in order. */
static xc_pairs pairs_of(const rig *r) {
  xc_pairs pairs;
  double *bounds = ones(r->basis.n_shells);
  good(xc_pairs_create(&r->basis, bounds, 0.5, &pairs));
  free(bounds);
  return pairs;
}

/* J of the sum of two spins' densities (n_spin 0), or K of both or, restricted, of one. */
static double repulsion_of(const rig *r, int n_spin) {
  const int64_t n = r->basis.n;
  xc_integrals *integrals = integrals_of(r);
  xc_engine *quartets = engine_of(integrals, XC_QUARTETS);
  xc_pairs pairs = pairs_of(r);
  double *m = calloc((size_t)(3 * n * n), sizeof *m), *largest = ones(r->basis.n_shells);
  assert_non_null(m);
  const xc_fock fock = {
      .basis = &r->basis,
      .pairs = &pairs,
      .largest = largest,
      .most = 1,
      .total = n_spin == 0 ? r->weights[0] : NULL,
      .spin = {n_spin > 0 ? r->weights[1] : NULL, n_spin == 2 ? r->weights[2] : NULL},
      .coulomb = m,
      .exchange = {m + n * n, m + 2 * n * n}};
  xc_fock_batch(quartets, &fock, 0, pairs.n);
  xc_fock_finish(&fock);
  double sum = 0.5 * dot(r, r->weights[0], m);
  for (int s = 0; s < n_spin; s++)
    sum -= 0.5 * share * (n_spin == 1 ? 2 : 1) * dot(r, r->weights[1 + s], m + (1 + s) * n * n);
  free(m), free(largest);
  xc_pairs_clear(&pairs);
  xc_engine_destroy(&quartets);
  xc_integrals_destroy(&integrals);
  return sum;
}

static double coulomb_energy(const rig *r) {
  return repulsion_of(r, 0);
}

static double repulsion_1(const rig *r) {
  return repulsion_of(r, 1);
}

static double repulsion_2(const rig *r) {
  return repulsion_of(r, 2);
}

/* Forces of all pairs of shells, which have met in two threads, or alone. */
static void coulomb_of(const rig *r, const xc_pairs *pairs, double threshold, bool alone,
                       double (*gradient)[3]) {
  xc_distributions *all = NULL;
  good(xc_distributions_create(&r->basis, pairs, r->weights[0], threshold, 0, &all));
  for (int thread = 0; thread < 2; thread++) {
    double *sums = calloc((size_t)xc_distributions_sums(all), sizeof *sums);
    assert_non_null(sums);
    for (int64_t p = thread; p < pairs->n; p += 2) xc_coulomb_meet(all, p, alone, sums);
    xc_coulomb_forces(all, 0, pairs->n / 2, sums, gradient);
    xc_coulomb_forces(all, pairs->n / 2, pairs->n, sums, gradient);
    free(sums);
  }
  xc_distributions_destroy(&all);
}

/* Screened, each pair of distributions is off by less than the threshold; all of them here. */
static void coulomb(void **state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    rig r;
    double gradient[3][MOST][3] = {{{0}}};
    open_rig(k < 2 ? XC_MAX_L : 1, k < 2 ? 1 : 3, k % 2, &r);
    xc_pairs pairs = pairs_of(&r);
    coulomb_of(&r, &pairs, 0, false, gradient[0]);
    compare("Coulomb", &r, coulomb_energy, gradient[0], 1e-9);
    coulomb_of(&r, &pairs, 0, true, gradient[1]);
    coulomb_of(&r, &pairs, 1e-9, false, gradient[2]);
    for (int a = 0; a < MOST; a++)
      for (int x = 0; x < 3; x++) {
        assert_true(fabs(gradient[1][a][x] - gradient[0][a][x]) < 1e-10);
        assert_true(fabs(gradient[2][a][x] - gradient[0][a][x]) < 1e-7);
      }
    xc_pairs_clear(&pairs);
    close_rig(&r);
  }
}

static void quartets(void **state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    const int spherical = k % 2, n_spin = 1 + k / 2;
    rig r;
    double gradient[MOST][3] = {{0}};
    open_rig(3, 1, spherical, &r);
    xc_integrals *integrals = integrals_of(&r);
    xc_engine *engine = engine_of(integrals, XC_QUARTET_GRADIENTS);
    xc_pairs pairs = pairs_of(&r);
    double *largest = ones(r.basis.n_shells);
    const xc_fock fock = {.basis = &r.basis,
                          .pairs = &pairs,
                          .largest = largest,
                          .spin = {r.weights[1], n_spin == 2 ? r.weights[2] : NULL}};
    xc_fock_gradient(engine, &fock, share, 0, 4, gradient);
    xc_fock_gradient(engine, &fock, share, 4, pairs.n, gradient);
    compare("quartets", &r, n_spin == 1 ? repulsion_1 : repulsion_2, gradient, 1e-9);
    free(largest);
    xc_pairs_clear(&pairs);
    xc_engine_destroy(&engine);
    xc_integrals_destroy(&integrals);
    close_rig(&r);
  }
}

static double fitted(const rig *r) {
  xc_integrals *integrals = integrals_of(r);
  xc_engine *triples = engine_of(integrals, XC_TRIPLES);
  xc_engine *doubles = engine_of(integrals, XC_DOUBLES);
  xc_pairs pairs = pairs_of(r);
  const int64_t n = r->fitting.n, m = pairs.n_packed;
  double *rows = calloc((size_t)(n * m), sizeof *rows), *metric = ones(n);
  assert_non_null(rows);
  for (int64_t s = 0; s < r->fitting.n_shells; s++)
    xc_fit_triples(triples, &r->basis, &r->fitting, &pairs, s, 0, pairs.n,
                   rows + r->fitting.shells[s].first * pairs.n_packed);
  xc_fit_metric(doubles, &r->fitting, 0, r->fitting.n_shells, metric);
  for (int64_t i = 0; i < n; i++)
    for (int64_t k = 0; k < i; k++) metric[i * n + k] = metric[k * n + i];
  const double sum = xc_matrix_dot(n * m, rows, r->rows) + xc_matrix_dot(n * n, metric, r->metric);
  free(rows), free(metric);
  xc_pairs_clear(&pairs);
  xc_engine_destroy(&triples), xc_engine_destroy(&doubles);
  xc_integrals_destroy(&integrals);
  return sum;
}

static void triples_and_doubles(void **state) {
  (void)state;
  for (int spherical = 0; spherical < 2; spherical++) {
    rig r;
    double gradient[MOST][3] = {{0}};
    open_rig(XC_MAX_L, 1, spherical, &r);
    xc_integrals *integrals = integrals_of(&r);
    xc_engine *triples = engine_of(integrals, XC_TRIPLE_GRADIENTS);
    xc_engine *doubles = engine_of(integrals, XC_DOUBLE_GRADIENTS);
    xc_pairs pairs = pairs_of(&r);
    double *twice = calloc((size_t)(r.fitting.n * r.fitting.n), sizeof *twice);
    assert_non_null(twice);
    for (int64_t k = 0; k < r.fitting.n * r.fitting.n; k++) twice[k] = 2 * r.metric[k];
    for (int64_t p = 0; p < r.fitting.n_shells; p++) {
      const int64_t first = r.fitting.shells[p].first;
      xc_fit_gradient(triples, &r.basis, &r.fitting, &pairs, p, r.rows + first * pairs.n_packed, 1,
                      0, 0, 2, gradient);
      xc_fit_gradient(triples, &r.basis, &r.fitting, &pairs, p, r.rows + first * pairs.n_packed, 1,
                      0, 1, 2, gradient);
      xc_fit_metric_gradient(doubles, &r.fitting, p, twice + first * r.fitting.n, gradient);
    }
    compare("triples and doubles", &r, fitted, gradient, 1e-9);
    free(twice);
    xc_pairs_clear(&pairs);
    xc_engine_destroy(&triples), xc_engine_destroy(&doubles);
    xc_integrals_destroy(&integrals);
    close_rig(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_electron),
      cmocka_unit_test(nuclei),
      cmocka_unit_test(coulomb),
      cmocka_unit_test(quartets),
      cmocka_unit_test(triples_and_doubles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
