/* unit.xc.ecp: effective core potentials: what is read, cores, matrices beside sums over points of
 * space, gradients beside differences. Cases (../cpu/cases.h) are arguments and coordinates. */
#include "../cpu/cases.h"
#include "xc_basis.h"
#include "xc_ecp_integrals.h"
#include "xc_ecp_local.h"
#include "xc_ecp_project.h"
#include "xc_gauss.h"
#include "xc_guess.h"
#include "xc_harmonics.h"
#include "xc_matrix.h"

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

/* ------------------------------------------------------------------ reading */

static const char nwchem[] = "ECP\n"
                             "Rb nelec 28\n"
                             "Rb ul\n"
                             "2 3.8 -12.3\n"
                             "1 1.5 0\n"
                             "Rb S\n"
                             "2 5.0 89.5\n"
                             "0 2.0 0.5\n"
                             "Rb P\n"
                             "2 4.2 58.5\n"
                             "I nelec 46\n"
                             "I ul\n"
                             "2 1.0 0.0\n"
                             "I S\n"
                             "2 1.5 2.5D0\n"
                             "END\n";
static const char gaussian[] = "Rb 0\n"
                               "S 1 1.0\n"
                               "0.5 1.0\n"
                               "****\n"
                               "Rb 0\n"
                               "RB-ECP 2 28\n"
                               "d potential\n"
                               "2\n"
                               "2 3.8 -12.3\n"
                               "1 1.5 0\n"
                               "s-d potential\n"
                               "2\n"
                               "2 5.0 89.5\n"
                               "0 2.0 0.5\n"
                               "p-d potential\n"
                               "1\n"
                               "2 4.2 58.5\n"
                               "I 0\n"
                               "I-ECP 1 46\n"
                               "p\n"
                               "1\n"
                               "2 1.0 0.0\n"
                               "s-p\n"
                               "1\n"
                               "2 1.5 2.5D0\n";

static void check_set(const xc_set *set) {
  static const xc_ecp_term terms[] = {
      {2, 2, 3.8, -12.3}, {0, 2, 5.0, 89.5}, {0, 0, 2.0, 0.5}, {1, 2, 4.2, 58.5}};
  assert_int_equal(set->ecps.n, 2);
  const xc_ecp *rb = xc_ecp_of(&set->ecps, 37), *iodine = xc_ecp_of(&set->ecps, 53);
  assert_non_null(rb);
  assert_non_null(iodine);
  assert_null(xc_ecp_of(&set->ecps, 1));
  assert_int_equal(rb->core, 28);
  assert_int_equal(rb->l, 2);
  assert_int_equal(rb->n, 4); /* terms of coefficient 0 are none */
  for (int k = 0; k < 4; k++) {
    assert_int_equal(rb->terms[k].l, terms[k].l);
    assert_int_equal(rb->terms[k].power, terms[k].power);
    assert_true(rb->terms[k].exponent == terms[k].exponent);
    assert_true(rb->terms[k].coefficient == terms[k].coefficient);
  }
  assert_int_equal(iodine->core, 46);
  assert_int_equal(iodine->l, 1);
  assert_int_equal(iodine->n, 1);
}

static void formats(void **state) {
  (void)state;
  xc_set set;
  good(xc_set_parse("a.nw", nwchem, (int64_t)sizeof nwchem - 1, &set));
  assert_int_equal(set.n, 0);
  check_set(&set);
  xc_set_clear(&set);
  good(xc_set_parse("a.gbs", gaussian, (int64_t)sizeof gaussian - 1, &set));
  assert_int_equal(set.n, 1);
  check_set(&set);
  xc_set_clear(&set);
}

static void refused(const char *text, const char *line, const char *why) {
  xc_set set;
  assert_int_equal(xc_set_parse("bad", text, (int64_t)strlen(text), &set), TSL_ERR_INPUT);
  if (strstr(tsl_err_message(), line) == NULL || strstr(tsl_err_message(), why) == NULL)
    fail_msg("'%s' is not about %s and '%s'", tsl_err_message(), line, why);
}

static void bad_text(void **state) {
  (void)state;
  refused("ECP\nRb nelec 28\nRb ul\n2 1 1\n", "bad", "no END");
  refused("ECP\nRb ul\n2 1 1\nEND\n", "bad:2", "nelec");
  refused("ECP\nRb nelec 29\nEND\n", "bad:2", "closed shells");
  refused("ECP\nNe nelec 10\nEND\n", "bad:2", "closed shells");
  refused("ECP\nRb nelec 28\nRb ul\n2 1\nEND\n", "bad:4", "2 words");
  refused("ECP\nRb nelec 28\nRb ul\n3 1 1\nEND\n", "bad:4", "power");
  refused("ECP\nRb nelec 28\nRb ul\n2 -1 1\nEND\n", "bad:4", "exponent");
  refused("ECP\nRb nelec 28\nRb H\n2 1 1\nEND\n", "bad:3", "S, P, D, F, G");
  refused("ECP\nRb nelec 28\nI S\n2 1 1\nEND\n", "bad:3", "element before");
  refused("ECP\nRb nelec 28\nRb nelec 28\nEND\n", "bad:3", "second time");
  refused("ECP\nRb nelec 28\n2 1 1\nEND\n", "bad:3", "expected");
  refused("Rb 0\nRB-ECP 6 28\n", "bad:2", "0..5");
  refused("Rb 0\nRB-ECP 1 28\np\n1\n2 1 1\n", "bad", "ends within the potential of Rb");
  refused("Rb 0\nRB-ECP 1 28\np\n0\n", "bad:4", "number of rows");
}

/* -------------------------------------------------------------------- cores */

static void cores(void **state) {
  (void)state;
  double e[4];
  static const double gold[4] = {8, 18, 20, 14}; /* 1s to 4f */
  assert_true(xc_ecp_core(60, e));
  assert_memory_equal(e, gold, sizeof e);
  for (int n = 1, known = 0; n <= 80; n++)
    if (xc_ecp_core(n, e)) {
      assert_true(e[0] + e[1] + e[2] + e[3] == n);
      known++;
      assert_true(known <= 10);
    }
  assert_false(xc_ecp_core(30, e));
  xc_guess_occupation(19, 28, e); /* silver: 4s2 4p6 5s2 4d9 */
  static const double silver[4] = {4, 6, 9, 0}, lead[4] = {2, 2, 0, 0}, hafnium[4] = {4, 6, 2, 0};
  assert_memory_equal(e, silver, sizeof e);
  xc_guess_occupation(4, 78, e);
  assert_memory_equal(e, lead, sizeof e);
  xc_guess_occupation(12, 60, e);
  assert_memory_equal(e, hafnium, sizeof e);
}

static void places(void **state) {
  (void)state;
  xc_ecp iodine = {.z = 53, .core = 28};
  const xc_ecps ecps = {&iodine, 1};
  xc_atom atoms[3] = {{.z = 53}, {.z = 53, .ghost = 1}, {.z = 1}};
  xc_molecule m = {.atoms = atoms, .n_atoms = 3};
  good(xc_ecps_place("it", &ecps, &m));
  assert_int_equal(m.alpha, 13);
  assert_int_equal(m.beta, 13);
  assert_int_equal(xc_nuclear(&atoms[0]), 25);
  assert_int_equal(xc_nuclear(&atoms[1]), 0);
  assert_int_equal(xc_nuclear(&atoms[2]), 1);
  m.charge = 26; /* none is left */
  assert_int_equal(xc_ecps_place("it", &ecps, &m), TSL_ERR_INPUT);
}

/* ---------------------------------------------------------------- integrals */

static void functions(void **state) {
  (void)state;
  enum { N = 20000, TOP = 9 };
  static const double ts[] = {0, 1e-3, 0.7, 12, 29.9, 30.1, 59.9, 60.1, 200, 1e4};
  for (size_t i = 0; i < sizeof ts / sizeof *ts; i++) {
    if (!case_is_mine((int64_t)i)) continue;
    const long double t = ts[i];
    double d[TOP + 1], b[XC_PROJECT_K];
    xc_ecp_dawson(TOP, ts[i], d);
    xc_ecp_bessel(TOP, ts[i], b);
    for (int n = 0; n <= TOP; n++) {
      /* by Simpson's rule: exp(-t) i_n(t) = 1/2 int exp(t (x - 1)) P_n(x) dx */
      long double dawson = 0, bessel = 0;
      for (int k = 0; k <= N; k++) {
        const long double w = (k == 0 || k == N ? 1 : k % 2 == 1 ? 4 : 2) / (3.0L * N);
        /* u = 1 - y^4: dense where both are */
        const long double y = (long double)k / N, step = 4 * y * y * y;
        const long double v = y * y * y * y * (2 - y * y * y * y); /* 1 - u^2 */
        dawson += w * step * powl(v, n) * expl(-t * v);
        const long double x = 1 - 2 * y * y * y * y;
        long double below = 1, value = n == 0 ? 1 : x;
        for (int l = 1; l < n; l++) {
          const long double next = ((2 * l + 1) * x * value - l * below) / (l + 1);
          below = value, value = next;
        }
        bessel += w * step * value * expl(t * (x - 1));
      }
      if (!(fabsl(d[n] - dawson) <= 1e-11L * dawson))
        fail_msg("D_%d(%g) = %.15g, sum %.15Lg", n, ts[i], d[n], dawson);
      if (!(fabsl(b[n] - bessel) <= 1e-11L * fabsl(bessel) + 1e-11L))
        fail_msg("order %d at %g: %.15g, sum %.15Lg", n, ts[i], b[n], bessel);
    }
  }
}

/* Two potentials of all kinds of terms. */
static void make_potentials(xc_ecp *ecps) {
  xc_ecp all = {.z = 79, .core = 60, .l = 5};
  for (int l = 0; l <= 5; l++)
    for (int power = 0; power <= 2; power++)
      all.terms[all.n++] = (xc_ecp_term){l, power, xc_uniform(0.4, 3), xc_uniform(-2, 3)};
  xc_ecp local = {.z = 53, .core = 28, .l = 0, .n = 1, .terms = {{0, 2, 0.9, 4}}};
  ecps[0] = all, ecps[1] = local;
}

typedef struct rig {
  xc_ecp list[2];
  xc_ecps ecps;
  xc_atom atoms[40];
  xc_molecule molecule;
  xc_basis basis;
} rig;

/* Every shell is an atom of its own; the first two atoms have the potentials as well. */
static void open_rig(int spherical, int each, double hi, rig *r) {
  static const double at[2][3] = {{0, 0, 0}, {0.4, -1.6, 0.9}};
  *r = (rig){.ecps = {r->list, 2}};
  make_potentials(r->list);
  xc_random_basis(XC_MAX_L, each, spherical, 0.15, hi, &r->basis);
  for (int c = 0; c < 2; c++) {
    r->atoms[c] = (xc_atom){.z = r->list[c].z, .core = r->list[c].core};
    memcpy(r->atoms[c].at, at[c], sizeof at[c]);
  }
  for (int64_t k = 0; k < r->basis.n_shells; k++) {
    xc_shell *shell = &r->basis.shells[k];
    shell->atom = (int32_t)k + 2, shell->radius = 30;
    r->atoms[k + 2] = (xc_atom){.z = 1};
    memcpy(r->atoms[k + 2].at, shell->at, sizeof shell->at);
  }
  r->molecule = (xc_molecule){.atoms = r->atoms, .n_atoms = r->basis.n_shells + 2};
}

static double power(double x, int n) {
  double product = 1;
  for (int k = 0; k < n; k++) product *= x;
  return product;
}

static double function_at(const xc_shell *s, int a, int b, int c, const double at[3]) {
  double d[3], sum = 0;
  for (int x = 0; x < 3; x++) d[x] = at[x] - s->at[x];
  for (int p = 0; p < s->n; p++)
    sum += s->coefficient[p] * exp(-s->exponent[p] * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
  return sum * power(d[0], a) * power(d[1], b) * power(d[2], c);
}

/* All functions, Cartesian, at a point. */
static void values_at(const xc_basis *basis, const double at[3], double *out) {
  for (int64_t k = 0; k < basis->n_shells; k++) {
    const xc_shell *s = &basis->shells[k];
    for (int b = 0; b <= s->l; b++)
      for (int c = 0; b + c <= s->l; c++)
        out[s->first + xc_cartesian_at(b, c)] = function_at(s, s->l - b - c, b, c, at);
  }
}

enum { RADII = 120, THETAS = 40, PHIS = 80, LM = 25, MOST = 80 };

static double potential_at(const xc_ecp *ecp, int l, double r) {
  double sum = 0;
  for (int k = 0; k < ecp->n; k++)
    if (ecp->terms[k].l == l)
      sum += ecp->terms[k].coefficient * pow(r, ecp->terms[k].power - 2) *
             exp(-ecp->terms[k].exponent * r * r);
  return sum;
}

/* One radius: local[i][j] of both functions, and projections of each. */
static void add_sphere(const rig *r, const xc_atom *atom, const xc_ecp *ecp, double radius,
                       double weight, const long double *z, const long double *w, double *matrix) {
  static xc_harmonics harmonics;
  static double projected[LM][MOST];
  const int64_t n = r->basis.n;
  const double local = weight * potential_at(ecp, ecp->l, radius);
  xc_harmonics_fill(&harmonics);
  memset(projected, 0, sizeof projected);
  for (int i = 0; i < THETAS * PHIS; i++) {
    const double c = (double)(2 * z[i / PHIS] - 1), s = sqrt(1 - c * c);
    const double phi = 2 * M_PI * (i % PHIS) / PHIS;
    const double u[3] = {s * cos(phi), s * sin(phi), c};
    const double part = 4 * M_PI * (double)w[i / PHIS] / PHIS;
    double at[3], value[MOST];
    for (int x = 0; x < 3; x++) at[x] = atom->at[x] + radius * u[x];
    values_at(&r->basis, at, value);
    for (int64_t p = 0; p < n; p++)
      for (int64_t q = 0; q < n; q++) matrix[p * n + q] += local * part * value[p] * value[q];
    for (int l = 0, lm = 0; l < ecp->l; l++)
      for (int m = -l; m <= l; m++, lm++) {
        double y = 0;
        for (int b = 0; b <= l; b++)
          for (int k = 0; b + k <= l; k++)
            y += harmonics.of[l][m + l][xc_cartesian_at(b, k)] * power(u[0], l - b - k) *
                 power(u[1], b) * power(u[2], k);
        y *= sqrt((2 * l + 1) / (4 * M_PI)) * part;
        for (int64_t p = 0; p < n; p++) projected[lm][p] += y * value[p];
      }
  }
  for (int l = 0, lm = 0; l < ecp->l; l++)
    for (int m = -l; m <= l; m++, lm++)
      for (int64_t p = 0; p < n; p++)
        for (int64_t q = 0; q < n; q++)
          matrix[p * n + q] +=
              weight * potential_at(ecp, l, radius) * projected[lm][p] * projected[lm][q];
}

/* Soft functions, which a fixed rule over the sphere holds. */
static void matrices(void **state) {
  (void)state;
  rig r;
  long double x[RADII], wx[RADII], z[THETAS], wz[THETAS];
  open_rig(0, 1, 0.6, &r);
  const int64_t n = r.basis.n;
  assert_true(n <= MOST);
  double *found = calloc((size_t)(2 * n * n), sizeof *found), *truth = found + n * n, largest = 0;
  assert_non_null(found);
  good(xc_ecp_add(&r.molecule, &r.ecps, &r.basis, found));
  xc_gauss_legendre(RADII, x, wx);
  xc_gauss_legendre(THETAS, z, wz);
  for (int c = 0; c < 2; c++)
    for (int k = 0; k < RADII; k++) {
      const double t = (double)x[k], radius = 8.5 * t * t;
      add_sphere(&r, &r.atoms[c], &r.list[c], radius, 17 * t * (double)wx[k] * radius * radius, z,
                 wz, truth);
    }
  for (int64_t k = 0; k < n * n; k++) largest = fmax(largest, fabs(truth[k]));
  for (int64_t k = 0; k < n * n; k++)
    if (!(fabs(found[k] - truth[k]) <= 1e-10 * largest))
      fail_msg("element %d, %d: %.15g, sum over points %.15g", (int)(k / n), (int)(k % n), found[k],
               truth[k]);
  assert_true(largest > 0.1);
  free(found), free(r.basis.shells);
}

static double energy_of(const rig *r, const double *weights) {
  const int64_t nn = r->basis.n * r->basis.n;
  double *matrix = calloc((size_t)nn, sizeof *matrix);
  assert_non_null(matrix);
  good(xc_ecp_add(&r->molecule, &r->ecps, &r->basis, matrix));
  const double sum = xc_matrix_dot(nn, weights, matrix);
  free(matrix);
  return sum;
}

static void gradients(void **state) {
  (void)state;
  static const double step = 4e-3;
  static const int steps[6] = {-3, -2, -1, 1, 2, 3};
  int64_t number = 0;
  for (int spherical = 0; spherical < 2; spherical++) {
    rig r;
    double found[40][3] = {{0}}, e[6], sum[3] = {0};
    open_rig(spherical, 1, 20, &r);
    const int64_t n = r.basis.n, atoms = r.molecule.n_atoms;
    r.basis.shells[0].atom = 0; /* one moves with a potential */
    memset(r.basis.shells[0].at, 0, sizeof r.basis.shells[0].at);
    double *weights = calloc((size_t)(n * n), sizeof *weights), largest = 0;
    assert_non_null(weights);
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j <= i; j++) weights[i * n + j] = weights[j * n + i] = xc_uniform(-1, 1);
    good(xc_ecp_gradient(&r.molecule, &r.ecps, &r.basis, weights, found));
    for (int64_t a = 0; a < atoms; a++)
      for (int x = 0; x < 3; x++) largest = fmax(largest, fabs(found[a][x])), sum[x] += found[a][x];
    for (int64_t a = 0; a < atoms; a++)
      for (int x = 0; x < 3; x++) {
        if (!case_is_mine(number++)) continue;
        const double at = r.atoms[a].at[x];
        for (int s = 0; s < 6; s++) {
          r.atoms[a].at[x] = at + steps[s] * step;
          for (int64_t k = 0; k < r.basis.n_shells; k++)
            if (r.basis.shells[k].atom == a) r.basis.shells[k].at[x] = r.atoms[a].at[x];
          e[s] = energy_of(&r, weights);
        }
        r.atoms[a].at[x] = at;
        for (int64_t k = 0; k < r.basis.n_shells; k++)
          if (r.basis.shells[k].atom == a) r.basis.shells[k].at[x] = at;
        const double slope = (45 * (e[3] - e[2]) - 9 * (e[4] - e[1]) + (e[5] - e[0])) / (60 * step);
        if (!(fabs(slope - found[a][x]) <= 1e-9 * largest))
          fail_msg("atom %d, axis %d: %.12g, differences %.12g", (int)a, x, found[a][x], slope);
      }
    assert_true(largest > 0.1);
    for (int x = 0; x < 3; x++) assert_true(fabs(sum[x]) <= 1e-12 * largest);
    free(weights), free(r.basis.shells);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(formats),   cmocka_unit_test(bad_text),  cmocka_unit_test(cores),
      cmocka_unit_test(places),    cmocka_unit_test(functions), cmocka_unit_test(matrices),
      cmocka_unit_test(gradients),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
