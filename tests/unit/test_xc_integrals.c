/* unit.xc.integrals: one- and two-electron integrals against PySCF and against definitions. */
#include "xc_basis.h"
#include "xc_harmonics.h"
#include "xc_integrals.h"
#include "xc_near.h"
#include "xc_one.h"

#include "xc_reference.h"

#include "xc_functions.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static xc_atom mixed_atoms[] = {{.z = 8, .at = {0.1, -0.2, 0.3}},
                                {.z = 1, .at = {1.1, 0.4, -0.6}},
                                {.z = 6, .at = {-0.9, 0.8, 1.3}}};
static const xc_molecule mixed = {.atoms = mixed_atoms, .n_atoms = 3};
static const xc_charge clouds[] = {{{3.0, 0.5, -1.0}, -0.7}, {{-0.4, 2.0, 0.2}, 0.4},
                                   {{40.0, -3.0, 9.0}, 1.5}, {{0.1, -0.2, 0.3}, 8},
                                   {{1.1, 0.4, -0.6}, 1},    {{-0.9, 0.8, 1.3}, 6}};

static xc_basis basis_of(int kind) {
  xc_set set;
  xc_basis basis;
  assert_int_equal(xc_set_parse("mixed", xc_mixed_basis, (int64_t)strlen(xc_mixed_basis), &set),
                   TSL_OK);
  assert_int_equal(xc_basis_create(&set, kind, &mixed, &basis), TSL_OK);
  xc_set_clear(&set);
  return basis;
}

static double *square(int64_t n) {
  double *matrix = calloc((size_t)(n * n), sizeof *matrix);
  assert_non_null(matrix);
  return matrix;
}

static double digest(const double *matrix, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) {
      near(matrix[i * n + j], matrix[j * n + i], 0);
      sum += cos(0.37 * (double)i + 0.71 * (double)j) * matrix[i * n + j];
    }
  return sum;
}

static void one_electron(void **state) {
  static const double spherical[] = {XC_REF_OVERLAP_SPHERICAL,    XC_REF_KINETIC_SPHERICAL,
                                     XC_REF_ATTRACTION_SPHERICAL, XC_REF_DIPOLE_X_SPHERICAL,
                                     XC_REF_DIPOLE_Y_SPHERICAL,   XC_REF_DIPOLE_Z_SPHERICAL};
  static const double cartesian[] = {XC_REF_OVERLAP_CARTESIAN,    XC_REF_KINETIC_CARTESIAN,
                                     XC_REF_ATTRACTION_CARTESIAN, XC_REF_DIPOLE_X_CARTESIAN,
                                     XC_REF_DIPOLE_Y_CARTESIAN,   XC_REF_DIPOLE_Z_CARTESIAN};
  static const double origin[3];
  (void)state;
  for (int kind = XC_KIND_SPHERICAL; kind <= XC_KIND_CARTESIAN; kind++) {
    const double *truth = kind == XC_KIND_SPHERICAL ? spherical : cartesian;
    xc_basis basis = basis_of(kind);
    double *m[6];
    for (int k = 0; k < 6; k++) m[k] = square(basis.n);
    for (int64_t lo = 0; lo < basis.n_shells; lo += 2) { /* in batches */
      const int64_t hi = lo + 2 < basis.n_shells ? lo + 2 : basis.n_shells;
      xc_overlap_kinetic(&basis, lo, hi, m[0], m[1]);
      xc_attraction(&basis, clouds, 6, lo, hi, m[2]);
      xc_dipole(&basis, origin, lo, hi, m + 3);
    }
    for (int k = 0; k < 6; k++) near(digest(m[k], basis.n), truth[k], 2e-11);
    for (int64_t i = 0; kind == XC_KIND_SPHERICAL && i < basis.n; i++)
      near(m[0][i * basis.n + i], 1, 1e-13);
    for (int k = 0; k < 6; k++) free(m[k]);
    xc_basis_clear(&basis);
  }
}

/** The recurrences of the harmonics against the polynomials written out in xc_functions.h. */
static void harmonics(void **state) {
  static const double at[3] = {0.3, -0.7, 0.45};
  xc_harmonics h;
  double v[15], c[15], d[15];
  (void)state;
  xc_harmonics_fill(&h);
  for (int l = 0; l <= XC_MAX_L; l++) {
    xc_functions_f64(l, 1, at[0], at[1], at[2], 1, 0, v, d, d, d);
    xc_functions_f64(l, 0, at[0], at[1], at[2], 1, 0, c, d, d, d);
    for (int m = 0; m < 2 * l + 1; m++) {
      double sum = 0;
      for (int k = 0; k < XC_CARTESIANS(l); k++) sum += h.of[l][m][k] * c[k];
      near(sum, v[m], 1e-15);
    }
  }
}

/** Boys functions against Gauss-Legendre quadrature of exp(-t u^2) u^2n over 0..1 by panels. */
static void boys(void **state) {
  static const double x[5] = {0, 0.5384693101056831, -0.5384693101056831, 0.9061798459386640,
                              -0.9061798459386640};
  static const double w[5] = {0.5688888888888889, 0.4786286704993665, 0.4786286704993665,
                              0.2369268850561891, 0.2369268850561891};
  (void)state;
  for (double t = 0; t < 90; t += 0.137) {
    double f[9], sum[9] = {0};
    enum { PANELS = 400 };
    for (int p = 0; p < PANELS; p++)
      for (int k = 0; k < 5; k++) {
        const double u = (p + 0.5 + 0.5 * x[k]) / PANELS;
        for (int n = 0; n < 9; n++) sum[n] += w[k] * 0.5 / PANELS * exp(-t * u * u) * pow(u, 2 * n);
      }
    xc_boys(8, t, f);
    for (int n = 0; n < 9; n++)
      if (fabs(f[n] / sum[n] - 1) > 2e-13)
        fail_msg("F_%d(%g) = %.16g, not %.16g", n, t, f[n], sum[n]);
  }
}

/* ------------------------------------------------------------ two electrons */

typedef struct rig {
  xc_basis basis;
  xc_integrals *integrals;
  xc_engine *engine[3];
} rig;

static rig rig_of(int kind) {
  rig r = {.basis = basis_of(kind)};
  if (xc_integrals_create(&r.basis, &r.basis, &r.integrals) != TSL_OK)
    fail_msg("%s", tsl_err_message());
  for (int k = 0; k < 3; k++)
    assert_int_equal(xc_engine_create(r.integrals, (xc_repulsion)k, 0, 1e-16, &r.engine[k]),
                     TSL_OK);
  return r;
}

static void release(rig *r) {
  for (int k = 0; k < 3; k++) xc_engine_destroy(&r->engine[k]);
  xc_integrals_destroy(&r->integrals);
  xc_basis_clear(&r->basis);
}

static double weight(int64_t i, int64_t j, int64_t k, int64_t l) {
  return cos(0.37 * (double)i + 0.71 * (double)j + 1.13 * (double)k + 1.61 * (double)l);
}

/** Sum over one block; quartets count for all orders of their functions (when distinct shells). */
static double quartet_sum(const rig *r, int64_t a, int64_t b, int64_t c, int64_t d) {
  const xc_shell *s = r->basis.shells;
  const double *v = xc_engine_quartet(r->engine[0], a, b, c, d);
  const int n[4] = {xc_shell_size(&s[a]), xc_shell_size(&s[b]), xc_shell_size(&s[c]),
                    xc_shell_size(&s[d])};
  double sum = 0;
  if (v == NULL) return 0;
  for (int i = 0; i < n[0]; i++)
    for (int j = 0; j < n[1]; j++)
      for (int k = 0; k < n[2]; k++)
        for (int l = 0; l < n[3]; l++) {
          const int64_t p = s[a].first + i, q = s[b].first + j, t = s[c].first + k,
                        u = s[d].first + l;
          double all = weight(p, q, t, u);
          if (a != b) all += weight(q, p, t, u);
          if (c != d) all += weight(p, q, u, t);
          if (a != b && c != d) all += weight(q, p, u, t);
          sum += all * *v++;
        }
  return sum;
}

static void quartets(void **state) {
  (void)state;
  for (int kind = XC_KIND_SPHERICAL; kind <= XC_KIND_CARTESIAN; kind++) {
    rig r = rig_of(kind);
    double sum = 0;
    for (int64_t a = 0; a < r.basis.n_shells; a++)
      for (int64_t b = 0; b <= a; b++)
        for (int64_t c = 0; c < r.basis.n_shells; c++)
          for (int64_t d = 0; d <= c; d++) sum += quartet_sum(&r, a, b, c, d);
    near(sum, kind == XC_KIND_SPHERICAL ? XC_REF_QUARTETS_SPHERICAL : XC_REF_QUARTETS_CARTESIAN,
         1e-9);
    release(&r);
  }
}

static void fitting(void **state) {
  (void)state;
  for (int kind = XC_KIND_SPHERICAL; kind <= XC_KIND_CARTESIAN; kind++) {
    rig r = rig_of(kind);
    const xc_shell *s = r.basis.shells;
    double three = 0, two = 0;
    for (int64_t p = 0; p < r.basis.n_shells; p++)
      for (int64_t m = 0; m < r.basis.n_shells; m++) {
        const double *v = xc_engine_double(r.engine[2], p, m);
        for (int i = 0; v != NULL && i < xc_shell_size(&s[p]); i++)
          for (int j = 0; j < xc_shell_size(&s[m]); j++)
            two += weight(s[p].first + i, s[m].first + j, 0, 0) * *v++;
        for (int64_t n = 0; n <= m; n++) {
          v = xc_engine_triple(r.engine[1], p, m, n);
          for (int i = 0; v != NULL && i < xc_shell_size(&s[p]); i++)
            for (int j = 0; j < xc_shell_size(&s[m]); j++)
              for (int k = 0; k < xc_shell_size(&s[n]); k++, v++) {
                three += weight(s[p].first + i, s[m].first + j, s[n].first + k, 0) * *v;
                if (m != n) three += weight(s[p].first + i, s[n].first + k, s[m].first + j, 0) * *v;
              }
        }
      }
    near(three, kind == XC_KIND_SPHERICAL ? XC_REF_TRIPLES_SPHERICAL : XC_REF_TRIPLES_CARTESIAN,
         1e-10);
    near(two, kind == XC_KIND_SPHERICAL ? XC_REF_DOUBLES_SPHERICAL : XC_REF_DOUBLES_CARTESIAN,
         1e-10);
    release(&r);
  }
}

/** A g and an f shell so far apart that s functions would hardly overlap: (zzzz zzz|zzzz zzz) and
 *  its derivative by the first centre's z, beside sums of Hermite integrals in 34 digits. */
static void far_apart(void **state) {
  static xc_shell shells[] = {{.l = 3,
                               .n = 2,
                               .at = {2.5, 3.1, -2.2},
                               .exponent = {0.52662398060878679, 0.2},
                               .coefficient = {0.23435686589181823, 0.017222738575763522}},
                              {.l = 4,
                               .n = 4,
                               .at = {4, -3, 6},
                               .exponent = {0.41283316167096046, 0.32045540092677743, 0.2, 0.2},
                               .coefficient = {0.01192719347392196, 0.0074645748113955817,
                                               0.0038464696699183031, 0.0063894558781700268},
                               .first = 10}};
  static const xc_basis basis = {.shells = shells, .n_shells = 2, .n = 25};
  enum { LAST = 15 * 10 * 15 * 10 - 1 };
  const double *blocks[9], *values;
  xc_integrals *integrals = NULL;
  xc_engine *engine[2] = {NULL, NULL};
  (void)state;
  assert_int_equal(xc_integrals_create(&basis, NULL, &integrals), TSL_OK);
  assert_int_equal(xc_engine_create(integrals, XC_QUARTETS, 0, 1e-16, &engine[0]), TSL_OK);
  assert_int_equal(xc_engine_create(integrals, XC_QUARTET_GRADIENTS, 0, 1e-16, &engine[1]), TSL_OK);
  values = xc_engine_quartet(engine[0], 1, 0, 1, 0);
  assert_non_null(values);
  near(values[LAST], 2 * 6.4493814652068941814e-07, 1e-16);
  assert_true(xc_engine_quartet_gradient(engine[1], 1, 0, 1, 0, blocks));
  near(blocks[2][LAST], -1.0219850869794661e-06, 1e-16);
  for (int k = 0; k < 2; k++) xc_engine_destroy(&engine[k]);
  xc_integrals_destroy(&integrals);
}

/* ----------------------------------------------------------- threads, limits */

typedef struct shared {
  const xc_integrals *integrals;
  int64_t n;
  double sum;
} shared;

static void *thread_sum(void *argument) {
  shared *s = argument;
  xc_engine *engine = NULL;
  if (xc_engine_create(s->integrals, XC_QUARTETS, 0, 1e-16, &engine) != TSL_OK) return NULL;
  for (int64_t a = 0; a < s->n; a++)
    for (int64_t c = 0; c < s->n; c++) {
      const double *v = xc_engine_quartet(engine, a, a, c, c);
      if (v != NULL) s->sum += v[0] * (double)(a + 3 * c + 1);
    }
  xc_engine_destroy(&engine);
  return NULL;
}

static void threads(void **state) {
  rig r = rig_of(XC_KIND_SPHERICAL);
  pthread_t thread[4];
  shared part[4];
  (void)state;
  for (int k = 0; k < 4; k++) {
    part[k] = (shared){r.integrals, r.basis.n_shells, 0};
    assert_int_equal(pthread_create(&thread[k], NULL, thread_sum, &part[k]), 0);
  }
  for (int k = 0; k < 4; k++) (void)pthread_join(thread[k], NULL);
  for (int k = 0; k < 4; k++) near(part[k].sum, part[0].sum, 0);
  assert_true(part[0].sum > 0);
  release(&r);
}

static void limits(void **state) {
  xc_shell shell = {.l = 5, .n = 1, .exponent = {1}, .coefficient = {1}};
  const xc_basis basis = {.shells = &shell, .n_shells = 1, .n = 11};
  xc_integrals *integrals = NULL;
  (void)state;
  assert_int_equal(xc_integrals_create(&basis, NULL, &integrals), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "l = 5"));
  shell.l = 0, shell.n = 25;
  assert_int_equal(xc_integrals_create(&basis, NULL, &integrals), TSL_ERR_INPUT);
  shell.n = 0;
  assert_int_equal(xc_integrals_create(&basis, NULL, &integrals), TSL_ERR_INPUT);
  assert_null(integrals);
}

/** Many charges: the sum over thousands equals the sum of parts; prints what a charge costs. */
static void many_charges(void **state) {
  enum { N = 3001 };
  static xc_charge list[N];
  xc_basis basis = basis_of(XC_KIND_SPHERICAL);
  double *whole = square(basis.n), *part = square(basis.n), *sum = square(basis.n);
  struct timespec from, to;
  (void)state;
  for (int k = 0; k < N; k++)
    list[k] = (xc_charge){{10 * cos(k), 12 * sin(2.3 * k), 9 * cos(0.7 * k)}, k % 2 ? 0.8 : -0.4};
  (void)clock_gettime(CLOCK_MONOTONIC, &from);
  xc_attraction(&basis, list, N, 0, basis.n_shells, whole);
  (void)clock_gettime(CLOCK_MONOTONIC, &to);
  for (int k = 0; k < N; k += 1000) {
    xc_attraction(&basis, list + k, k + 1000 < N ? 1000 : N - k, 0, basis.n_shells, part);
    for (int64_t i = 0; i < basis.n * basis.n; i++) sum[i] += part[i];
  }
  for (int64_t i = 0; i < basis.n * basis.n; i++) near(sum[i], whole[i], 1e-11);
  print_message("%lld functions, %d charges: %.1f ms\n", (long long)basis.n, N,
                1e3 * (double)(to.tv_sec - from.tv_sec) +
                    1e-6 * (double)(to.tv_nsec - from.tv_nsec));
  free(whole), free(part), free(sum);
  xc_basis_clear(&basis);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_electron), cmocka_unit_test(harmonics),    cmocka_unit_test(boys),
      cmocka_unit_test(quartets),     cmocka_unit_test(fitting),      cmocka_unit_test(threads),
      cmocka_unit_test(limits),       cmocka_unit_test(many_charges), cmocka_unit_test(far_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
