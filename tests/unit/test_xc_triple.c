/* unit.xc.triple: three-centre integrals of xc_triple.h, which cards compute, against libint2's. A
 * case (../cpu/cases.h) is a triple of shells. */
#include "../cpu/cases.h"
#include "xc_basis.h"
#include "xc_integrals.h"
#include "xc_one.h"
#include "xc_triple.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "xc_random_shells.h"

enum { MOST = XC_CARTESIANS(XC_MAX_L), BLOCK = MOST * MOST * MOST };

/* ------------------------------------------------------------------- own */

/* V of a part r^2j S_lm, m = 0..2l, of P and a pair. */
static void part_of(const xc_shell *p, int j, const xc_triple_pair *q, int L,
                    double v[][XC_TRIPLE_H]) {
  const int l = p->l - 2 * j, top = l < L ? l : L;
  double g[XC_TRIPLE_L + 1] = {0}, taylor[XC_TRIPLE_H], d[XC_TRIPLE_H], r[3];
  for (int x = 0; x < 3; x++) r[x] = q->at[x] - p->at[x];
  for (int k = 0; k < p->n; k++)
    xc_triple_radial(L, l, j, q->p, xc_triple_weight(p->exponent[k], p->coefficient[k], j),
                     r[0] * r[0] + r[1] * r[1] + r[2] * r[2], xc_triple_tables_get()->boys[0], g);
  xc_triple_taylor(L, r, g, taylor);
  for (int m = 0; m <= 2 * l; m++) {
    xc_triple_harmonic(l, m, top, r, d);
    xc_triple_product(L, top, d, taylor, v[m]);
  }
}

/* V of the functions of P. */
static void functions_of(const xc_shell *p, const xc_triple_pair *q, int L,
                         double v[][XC_TRIPLE_H]) {
  static double parts[MOST][XC_TRIPLE_H];
  const int n = xc_shell_size(p), count = xc_hermite_count(L);
  int first = 0;
  if (p->spherical || p->l == 0) {
    part_of(p, 0, q, L, v);
    return;
  }
  for (int j = 0; 2 * j <= p->l; first += 2 * (p->l - 2 * j) + 1, j++)
    part_of(p, j, q, L, parts + first);
  for (int i = 0; i < n; i++)
    for (int h = 0; h < count; h++) {
      v[i][h] = 0;
      for (int k = 0; k < n; k++)
        v[i][h] += xc_triple_tables_get()->parts[p->l][i][k] * parts[k][h];
    }
}

static void own_triple(const xc_shell *p, const xc_shell *a, const xc_shell *b, double *out) {
  static double v[MOST][XC_TRIPLE_H];
  const xc_triple_tables *tables = xc_triple_tables_get();
  const int L = a->l + b->l, np = xc_shell_size(p), na = xc_shell_size(a), nb = xc_shell_size(b);
  memset(out, 0, (size_t)(np * na * nb) * sizeof *out);
  for (int k = 0; k < a->n * b->n; k++) {
    xc_triple_pair q;
    xc_triple_set(a, b, k / b->n, k % b->n, &q);
    for (int x = 0; x < 3; x++) xc_triple_expand(a, b, k / b->n, k % b->n, x, &q);
    functions_of(p, &q, L, v);
    for (int ab = 0; ab < na * nb; ab++)
      for (int h = 0; h < xc_hermite_count(L); h++) {
        const double e = xc_triple_element(tables, &q, &tables->of[a->spherical][a->l][ab / nb],
                                           &tables->of[b->spherical][b->l][ab % nb], h);
        for (int i = 0; i < np; i++) out[i * na * nb + ab] += e * v[i][h];
      }
  }
}

/* ---------------------------------------------------------------- comparing */

/* Error of the triples that are cases of this run; the largest integral of all in *largest. */
static double compare(const xc_basis *orbital, const xc_basis *fitting, double *largest) {
  static int64_t number = 0;
  static double own[BLOCK];
  xc_integrals *integrals = NULL;
  xc_engine *engine = NULL;
  double worst = 0;
  *largest = 0;
  assert_int_equal(xc_integrals_create(orbital, fitting, &integrals), TSL_OK);
  assert_int_equal(xc_engine_create(integrals, XC_TRIPLES, 0, 1e-18, &engine), TSL_OK);
  for (int64_t p = 0; p < fitting->n_shells; p++)
    for (int64_t a = 0; a < orbital->n_shells; a++)
      for (int64_t b = 0; b <= a; b++) {
        const xc_shell *s[3] = {&fitting->shells[p], &orbital->shells[a], &orbital->shells[b]};
        const double *v = xc_engine_triple(engine, p, a, b);
        const int n = xc_shell_size(s[0]) * xc_shell_size(s[1]) * xc_shell_size(s[2]);
        for (int k = 0; k < n && v != NULL; k++) *largest = fmax(*largest, fabs(v[k]));
        if (!case_is_mine(number++)) continue;
        own_triple(s[0], s[1], s[2], own);
        for (int k = 0; k < n; k++) {
          const double off = fabs(own[k] - (v != NULL ? v[k] : 0));
          if (!(off <= worst)) worst = off; /* NaN stays */
        }
      }
  xc_engine_destroy(&engine);
  xc_integrals_destroy(&integrals);
  return worst;
}

static void one_range(const char *what, int most_l, int each, int spherical, double lo, double hi,
                      double limit) {
  xc_basis orbital, fitting;
  double largest = 0;
  xc_random_basis(most_l, each, spherical, lo, hi, &orbital);
  xc_random_basis(XC_MAX_L, each, spherical, lo, hi, &fitting);
  const double worst = compare(&orbital, &fitting, &largest);
  print_message("%s, %s: largest %.2g, off by %.1e\n", what, spherical ? "spherical" : "Cartesian",
                largest, worst);
  if (!(worst < limit) || largest < 1e-3) fail_msg("%s: off by %.3g", what, worst);
  free(orbital.shells), free(fitting.shells);
}

static void random_shells(void **state) {
  (void)state;
  for (int spherical = 1; spherical >= 0; spherical--) {
    one_range("middle", 3, 3, spherical, 0.1, 20, 1e-12);
    one_range("to g", 4, 2, spherical, 0.2, 5, 1e-12);
    one_range("tight", 3, 2, spherical, 10, 1e5, 1e-12);
    one_range("all", 3, 5, spherical, 0.02, 1e5, 1e-12);
  }
}

/* The first element, (xxx|xx) with an s of P, beside the same sum in 50 digits; libint2's, too,
 * which with its standard screening of primitives is off by 2e-11. In contractions of f functions
 * whose exponents differ by 1e4 libint2 is off by 1e-12 with any. */
static void digits(void **state) {
  static double own[BLOCK];
  static xc_shell p = {
      .n = 3,
      .at = {0, 0, 0.001},
      .exponent = {0.9060864074396775, 0.42485166168300925, 0.02},
      .coefficient = {0.1624338770987426, 0.23325013118079235, 0.01369331767071501}};
  static xc_shell orbital[] = {
      {.l = 3,
       .n = 3,
       .at = {0, 0, 0.001},
       .exponent = {0.31014683960539302, 0.055702787124309573, 1.8115725845790851},
       .coefficient = {0.038485678663933195, 0.0015590270907864913, 2.4262017869964985}},
      {.l = 2,
       .n = 2,
       .at = {14, -9, 20},
       .exponent = {0.027098175025723991, 0.18768166454558893},
       .coefficient = {0.00096910576385065433, 0.076734121465565214},
       .first = 10}};
  static const xc_basis pair = {.shells = orbital, .n_shells = 2, .n = 16};
  const xc_basis fitting = {.shells = &p, .n_shells = 1, .n = 1};
  const double truth = 4.3498621997363184e-05, *v;
  xc_integrals *integrals = NULL;
  xc_engine *engine = NULL;
  (void)state;
  own_triple(&p, &orbital[0], &orbital[1], own);
  assert_true(fabs(own[0] - truth) < 1e-18);
  assert_int_equal(xc_integrals_create(&pair, &fitting, &integrals), TSL_OK);
  assert_int_equal(xc_engine_create(integrals, XC_TRIPLES, 0, 1e-16, &engine), TSL_OK);
  v = xc_engine_triple(engine, 0, 1, 0);
  assert_non_null(v);
  assert_true(fabs(v[0] - truth) < 1e-16);
  xc_engine_destroy(&engine);
  xc_integrals_destroy(&integrals);
}

/* The Boys functions of cards are those of sockets, which unit.xc.integrals holds to quadrature. */
static void boys(void **state) {
  double f[XC_BOYS_L + 1], lanes[XC_HERMITE_L + 1];
  (void)state;
  for (double t = 0; t < 90; t += 0.0137)
    for (int first = 0; first < 3; first++) {
      const double decay =
          xc_boys_functions(xc_triple_tables_get()->boys[0], first, XC_BOYS_L, t, f);
      xc_boys(XC_HERMITE_L, t, lanes);
      for (int n = first; n <= XC_HERMITE_L; n++)
        if (!(fabs(f[n - first] / lanes[n] - 1) < 3e-15))
          fail_msg("F_%d(%g) = %.17g, not %.17g", n, t, f[n - first], lanes[n]);
      if (!(fabs(decay - exp(-t)) <= 4e-16 * exp(-t) + 1e-27)) fail_msg("exp(-%g) = %g", t, decay);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(boys), cmocka_unit_test(digits),
                                     cmocka_unit_test(random_shells)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
