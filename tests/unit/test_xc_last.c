/* unit.xc.last: the first density of a served geometry, where those of the last are known: of one
 * orbital that turns as an atom moves. */
#include "xc_last.h"
#include "xc_matrix.h"
#include "xc_near.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { N = 2 };

/* Two functions, not orthogonal, which do not move. */
static const double overlap[N * N] = {1, 0.3, 0.3, 1};

/* Helium at (x, y), in two shells. */
static void place(double x, double y, xc_atom *atom, xc_molecule *m) {
  *atom = (xc_atom){.z = 2, .at = {x, y, 0}};
  *m = (xc_molecule){.atoms = atom, .n_atoms = 1, .multiplicity = 1, .alpha = 1, .beta = 1};
}

static void field(const xc_molecule *m, xc_scf *scf) {
  const double none[N * N] = {0};
  xc_scf_options options;
  xc_scf_standard(&options);
  options.restricted = 1;
  assert_int_equal(xc_scf_create(m, N, overlap, none, none, &options, scf), TSL_OK);
}

/* D = S^-1/2 D' S^-1/2 of the orbital (cos a, sin a). */
static void turn(double a, double *density) {
  const double c = cos(a), s = sin(a), turned[N * N] = {c * c, c * s, c * s, s * s};
  double inverse[N * N], work[N * N];
  assert_int_equal(xc_matrix_power(N, overlap, -0.5, 1e-7, inverse), TSL_OK);
  assert_int_equal(xc_matrix_project(N, N, turned, inverse, work, density), TSL_OK);
}

/* The angle goes with the place, not quite straight. */
static double angle(double x, double y) {
  return 0.3 + 0.5 * x - 0.2 * y + 0.1 * x * x;
}

static xc_shell shells[2] = {{.n = 1, .exponent = {1}, .coefficient = {1}},
                             {.n = 1, .first = 1, .exponent = {3}, .coefficient = {1}}};
static const xc_basis basis = {.shells = shells, .n_shells = 2, .n = N};

static void keep(double x, double y, xc_last *last) {
  xc_atom atom;
  xc_molecule m;
  xc_scf scf;
  place(x, y, &atom, &m);
  field(&m, &scf);
  turn(angle(x, y), scf.density[0]);
  assert_int_equal(xc_last_keep(last, &m, &basis, &scf), TSL_OK);
  xc_scf_clear(&scf);
}

/* Largest error of the density that a field at (x, y) begins with; -1: it does not begin. */
static double error_at(double x, double y, const xc_last *last) {
  xc_atom atom;
  xc_molecule m;
  xc_scf scf;
  double truth[N * N], worst = 0;
  bool begun = false;
  place(x, y, &atom, &m);
  field(&m, &scf);
  assert_int_equal(xc_last_begin(last, &m, &basis, &scf, &begun), TSL_OK);
  turn(angle(x, y), truth);
  for (int k = 0; k < N * N; k++) worst = fmax(worst, fabs(scf.density[0][k] - truth[k]));
  xc_scf_clear(&scf);
  return begun ? worst : -1;
}

static void mixes(void **state) {
  xc_last last = {.n = 0};
  (void)state;
  assert_true(error_at(0, 0, &last) < 0);
  keep(0, 0, &last);
  const double moved = error_at(0.04, 0.02, &last); /* as it was */
  assert_true(moved > 5e-3 && moved < 5e-2);
  keep(0.02, 0.01, &last);
  assert_true(error_at(0.04, 0.02, &last) < 0.1 * moved); /* on a line */
  keep(0.01, 0.03, &last);
  assert_true(error_at(0.04, 0.02, &last) < 0.1 * moved); /* in a plane */
  assert_true(error_at(0.01, 0.03, &last) < 1e-6);        /* where one was */
  for (int k = 0; k < 10; k++) keep(0.01 * k, 0.005 * k * k, &last);
  assert_int_equal(last.n, XC_LAST_MOST);
  assert_true(error_at(0.1, 0.5, &last) < 1e-3);
  xc_last_clear(&last);
}

/* Other atoms, shells or places too far away are no beginning. */
static void others(void **state) {
  xc_last last = {.n = 0};
  (void)state;
  keep(0, 0, &last);
  keep(0.01, 0, &last);
  assert_true(error_at(0.01 + 0.49 / XC_BOHR, 0, &last) >= 0);
  assert_true(error_at(0.01 + 0.51 / XC_BOHR, 0, &last) < 0);
  shells[1].exponent[0] = 4;
  assert_true(error_at(0, 0, &last) < 0);
  keep(0, 0, &last);
  assert_int_equal(last.n, 1); /* what was kept of the other basis is gone */
  assert_true(error_at(0, 0, &last) < 1e-6);
  last.molecule.atoms[0].z = 1;
  assert_true(error_at(0, 0, &last) < 0);
  xc_last_clear(&last);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mixes),
      cmocka_unit_test(others),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
