/* unit.xc.basis: texts of basis sets, normalisation, radii, values and gradients of functions. */
#include "xc_basis.h"
#include "xc_functions.h"
#include "xc_near.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifndef TSL_BASIS_FOLDER
#error "TSL_BASIS_FOLDER: inputs/xc/basis"
#endif

static tsl_err parse(const char *text, xc_set *set) {
  return xc_set_parse("b", text, (int64_t)strlen(text), set);
}

static void refused(const char *text, const char *why) {
  xc_set set;
  assert_int_equal(parse(text, &set), TSL_ERR_INPUT);
  if (strstr(tsl_err_message(), why) == NULL)
    fail_msg("'%s' does not say '%s'", tsl_err_message(), why);
  assert_null(set.shells);
}

/* ------------------------------------------------------------------ texts */

static void nwchem(void **state) {
  xc_set set;
  (void)state;
  assert_int_equal(parse("# c\nBASIS \"ao basis\" SPHERICAL PRINT\n#x\nO SP # y\n 1.0D+01 0.5 0.6\n"
                         "\t\n 2 .25 1e-1\nO d\n 0.8 1\nh s\n 3 1 0\n 2 0 1\n 1 .5 .5\nEND\n",
                         &set),
                   TSL_OK);
  assert_int_equal(set.n, 5);
  assert_int_equal(set.kind, XC_KIND_SPHERICAL);
  assert_int_equal(set.shells[0].l, 0);
  assert_int_equal(set.shells[1].l, 1);
  assert_int_equal(set.shells[1].n, 2);
  near(set.shells[0].exponent[0], 10, 0);
  near(set.shells[1].coefficient[1], 0.1, 0);
  assert_int_equal(set.shells[2].l, 2);
  assert_int_equal(set.shells[3].n, 2); /* zeros of a general contraction are left out */
  near(set.shells[4].exponent[0], 2, 0);
  assert_int_equal(set.shells[4].z, 1);
  xc_set_clear(&set);
  assert_int_equal(parse("basis\nH S\n1\nend", &set), TSL_OK); /* one primitive, coefficient 1 */
  assert_int_equal(set.kind, XC_KIND_CARTESIAN);
  near(set.shells[0].coefficient[0], 1, 0);
  xc_set_clear(&set);
}

static void gaussian(void **state) {
  xc_set set;
  (void)state;
  assert_int_equal(parse("! c\n\n****\nO     0\nSP   2   1.00\n 1.0D+01 0.5 0.6\n 2 1 1\n"
                         "D 1 2.0\n 0.8 1.0\n****\n-H 0\nS 1\n 1 1\n****\n",
                         &set),
                   TSL_OK);
  assert_int_equal(set.n, 4);
  assert_int_equal(set.kind, XC_KIND_AUTO);
  near(set.shells[2].exponent[0], 3.2, 1e-15); /* scaled by 2^2 */
  assert_int_equal(set.shells[3].z, 1);
  xc_set_clear(&set);
  assert_int_equal(parse("cartesian\n****\nH 0\nS 1 1.0\n1 1\n****", &set), TSL_OK);
  assert_int_equal(set.kind, XC_KIND_CARTESIAN);
  xc_set_clear(&set);
}

static void lio(void **state) {
  static const char text[] =
      "gaussian\n 8 3 2\n 2 1\n 0 2\n 5 .1\n 4 .2\n .8 1\n 8 2 2\n 1 1\n 0 1\n"
      "9 1\n7 1\ngaussian\n1 1 1\n1\n0\n3 1\n1 1 1\n1\n0\n2 1\nendbasis\n";
  xc_set orbital, fitting;
  (void)state;
  assert_true(xc_set_is_lio(text, sizeof text - 1));
  assert_false(xc_set_is_lio("BASIS\nEND", 9));
  assert_int_equal(xc_set_parse_lio("b", text, sizeof text - 1, &orbital, &fitting), TSL_OK);
  assert_int_equal(orbital.n, 3);
  assert_int_equal(orbital.shells[1].l, 2);
  assert_int_equal(orbital.kind, XC_KIND_CARTESIAN);
  assert_int_equal(fitting.n, 3);
  near(fitting.shells[1].exponent[0], 7, 0);
  xc_set_clear(&orbital), xc_set_clear(&fitting);
  for (int64_t cut = 0; cut < (int64_t)sizeof text - 3; cut++) { /* every beginning is refused */
    assert_int_equal(xc_set_parse_lio("b", text, cut, &orbital, &fitting), TSL_ERR_INPUT);
    assert_null(orbital.shells);
  }
}

/* What LIO's own files have: words beyond the record, exponents of zero, unknown elements,
 * one block an element. */
static void lio_as_lio_reads(void **state) {
  static const char text[] =
      "# library\ngaussian\n 8 4 2 note\n 3 1  1 1\n 0\n 2 7\n 5 .1 .3\n 4 .2\n 0.0 0.0\n .8 1 1\n"
      "gaussian\n99 1 1\n1\n0\n3 1\ngaussian\n 9 1 1\n 1\n 5\n 3 1\nendbasis\n";
  static const char mixed[] =
      "gaussian\n8 1 1\n1\n0\n3 1\n8 1 1\n1\n0\n3 1\ngaussian\n1 1 1\n1\n0\n3 1\nendbasis\n";
  static const char nothing[] = "gaussian\n8 2 1\n2\n0\n0 1\n0 1\nendbasis\n";
  xc_set orbital, fitting;
  (void)state;
  assert_int_equal(xc_set_parse_lio("b", text, sizeof text - 1, &orbital, &fitting), TSL_OK);
  assert_int_equal(orbital.n, 2);
  assert_int_equal(orbital.shells[0].n, 2);
  near(orbital.shells[0].coefficient[1], .2, 0);
  assert_int_equal(orbital.shells[1].l, 2);
  near(orbital.shells[1].exponent[0], .8, 0);
  assert_int_equal(fitting.n, 0);
  assert_non_null(
      strstr(orbital.warning, "surplus words on 5 lines passed over (first on line 3)"));
  assert_non_null(strstr(orbital.warning, "1 primitives of exponent 0 left out (first on line 9)"));
  assert_non_null(strstr(orbital.warning, "2 elements left out (first Z = 99"));
  xc_set_clear(&orbital), xc_set_clear(&fitting);
  assert_int_equal(xc_set_parse_lio("b", mixed, sizeof mixed - 1, &orbital, &fitting),
                   TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "some have fitting functions"));
  assert_int_equal(xc_set_parse_lio("b", nothing, sizeof nothing - 1, &orbital, &fitting),
                   TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "exponents are all zero"));
}

static void refusals(void **state) {
  (void)state;
  refused("", "no shell found");
  refused("BASIS\nEND\n", "no shell found");
  refused("BASIS\nH S\n1 1\n", "no END");
  refused("BASIS\nH S\nEND\n", "no primitives");
  refused("BASIS\nH S\nO S\n1 1\nEND\n", "no primitives");
  refused("BASIS\nH S\n1 0 1\n2 0 1\nEND", "column 1 of the shell above");
  refused("BASIS\nH H\n1 1\nEND\n", "b:2: shell 'H' has angular momentum 5");
  refused("BASIS\nH Q\n1 1\nEND\n", "b:2: 'Q' is no shell");
  refused("BASIS\nH SPDFGS\n1 1\nEND\n", "'SPDFGS' is no shell");
  refused("BASIS\nZz S\n1 1\nEND\n", "unknown element 'Zz'");
  refused("BASIS\nH S\n1 x\nEND\n", "b:3: word 2: 'x' is not a number");
  refused("BASIS\nH S\nnan 1\nEND\n", "b:3");
  refused("BASIS\nH S\n-1 1\nEND\n", "exponent -1");
  refused("BASIS\nH SP\n1 1\nEND\n", "2 words where an exponent and 2");
  refused("BASIS\nH S\n1 1\n2 1 2\nEND\n", "b:4: 2 coefficients; as above 1");
  refused("BASIS\nH S\n1 1\nEND\nECP\n", "no END after ECP");
  refused("BASIS\nH S\n1 1\nEND\nBASIS\n", "one block");
  refused("H 0\nS 1 1.0\n1 1\n", "no '****' after element H");
  refused("H 0\nS 2 1.0\n1 1\n****\n", "b:4: 1 words");
  refused("H 0\nS 99 1.0\n1 1\n****\n", "1..24");
  refused("H 0\nS 1 0\n1 1\n****\n", "scale factor 0");
  refused("H 0\nI 1 1.0\n1 1\n****\n", "angular momentum 6");
  refused("H 0\nS 1\n1 1\n****\nH 0\nS 1\n1 1\n****\n", "a second time");
  refused("RB-ECP 3\n", "element 0");
}

static void shipped(void **state) {
  static const struct {
    const char *name;
    int last, missing; /* highest element; one that it lacks, or 0 */
    xc_kind kind;
  } sets[] = {{"STO-3G", 54, 0, XC_KIND_SPHERICAL},
              {"6-31g*", 36, 26, XC_KIND_CARTESIAN},
              {"DEF2-svp", 86, 0, XC_KIND_SPHERICAL},
              {"def2-TZVP", 86, 0, XC_KIND_SPHERICAL},
              {"DZVP", 54, 0, XC_KIND_SPHERICAL},
              {"DZVP-fit", 54, 0, XC_KIND_SPHERICAL},
              {"def2-universal-jfit", 57, 58, XC_KIND_SPHERICAL}};
  (void)state;
  for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
    xc_set set;
    xc_basis basis;
    if (xc_set_read(sets[k].name, TSL_BASIS_FOLDER, &set) != TSL_OK)
      fail_msg("%s", tsl_err_message());
    assert_int_equal(set.kind, sets[k].kind);
    for (int z = 1; z <= sets[k].last; z++) {
      xc_atom atom = {.z = z};
      const xc_molecule molecule = {.atoms = &atom, .n_atoms = 1};
      if (sets[k].kind == XC_KIND_CARTESIAN && z >= 21 && z <= 30) continue;
      if (xc_basis_create(&set, XC_KIND_AUTO, &molecule, &basis) != TSL_OK)
        fail_msg("%s", tsl_err_message());
      assert_true(basis.n > 0);
      xc_basis_clear(&basis);
    }
    if (sets[k].missing != 0) {
      xc_atom atoms[2] = {{.z = 1}, {.z = sets[k].missing}};
      const xc_molecule molecule = {.atoms = atoms, .n_atoms = 2};
      assert_int_equal(xc_basis_create(&set, XC_KIND_AUTO, &molecule, &basis), TSL_ERR_INPUT);
      assert_non_null(strstr(tsl_err_message(), "has no functions for"));
      assert_non_null(strstr(tsl_err_message(), "(atom 2)"));
      assert_null(basis.shells);
    }
    xc_set_clear(&set);
  }
}

static void names(void **state) {
  xc_set set;
  (void)state;
  assert_int_equal(xc_set_read("def2-SVPP", TSL_BASIS_FOLDER, &set), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "did you mean 'def2-SVP'?"));
  assert_int_equal(xc_set_read("no such set at all", TSL_BASIS_FOLDER, &set), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "STO-3G"));
  assert_int_equal(xc_set_read("./nothing.nw", TSL_BASIS_FOLDER, &set), TSL_ERR_INPUT);
  assert_int_equal(xc_set_read("STO-3G", "/no/such/folder", &set), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "/no/such/folder"));
}

/* -------------------------------------------------------------- functions */

static const xc_shell contracted = {
    .n = 3, .exponent = {1.3, 0.5, 0.21}, .coefficient = {0.4, -0.2, 0.7}};

static xc_shell shell_of(int l, int spherical) {
  xc_shell shell = contracted;
  shell.l = l, shell.spherical = spherical;
  assert_int_equal(xc_shell_normalise(&shell), TSL_OK);
  return shell;
}

/** Values at a point from the shell's centre, l and spherical not constant. */
static void values_at(const xc_shell *s, const double at[3], double *value, double *dx, double *dy,
                      double *dz) {
  double f = 0, g = 0;
  xc_radial_f64(s->n, s->exponent, s->coefficient, at[0] * at[0] + at[1] * at[1] + at[2] * at[2],
                &f, &g);
  xc_functions_f64(s->l, s->spherical, at[0], at[1], at[2], f, g, value, dx, dy, dz);
}

/** The trapezoidal rule is exact to rounding for Gaussians: overlap of the functions of a shell. */
static void overlap_of(const xc_shell *s, double overlap[15][15]) {
  const double h = 0.25, reach = 11;
  const int n = xc_shell_size(s), m = (int)(reach / h);
  double v[15], dx[15], dy[15], dz[15];
  memset(overlap, 0, 15 * sizeof *overlap);
  for (int i = -m; i <= m; i++)
    for (int j = -m; j <= m; j++)
      for (int k = -m; k <= m; k++) {
        const double at[3] = {i * h, j * h, k * h};
        values_at(s, at, v, dx, dy, dz);
        for (int a = 0; a < n; a++)
          for (int b = 0; b <= a; b++) overlap[a][b] += v[a] * v[b] * h * h * h;
      }
}

static void norms(void **state) {
  double overlap[15][15];
  (void)state;
  for (int l = 0; l <= XC_MAX_L; l++) {
    const xc_shell s = shell_of(l, 1), c = shell_of(l, 0);
    overlap_of(&s, overlap);
    for (int a = 0; a < 2 * l + 1; a++)
      for (int b = 0; b <= a; b++) near(overlap[a][b], a == b, 1e-9);
    overlap_of(&c, overlap);
    near(overlap[0][0], 1, 1e-9);
    const int last = xc_shell_size(&c) - 1;
    near(overlap[last][last], 1, 1e-9);
    if (l == 2) near(overlap[1][1], 1.0 / 3, 1e-9);
  }
}

/** The order m = -l..l and the signs: rotation by phi about z mixes m and -m alone. */
static void harmonics(void **state) {
  const double at[3] = {0.3, -0.7, 0.4}, phi = 0.6;
  const double turned[3] = {at[0] * cos(phi) - at[1] * sin(phi),
                            at[0] * sin(phi) + at[1] * cos(phi), at[2]};
  double v[15], w[15], d[15];
  (void)state;
  for (int l = 1; l <= XC_MAX_L; l++) {
    xc_functions_f64(l, 1, at[0], at[1], at[2], 1, 0, v, d, d, d);
    xc_functions_f64(l, 1, turned[0], turned[1], turned[2], 1, 0, w, d, d, d);
    for (int m = 1; m <= l; m++) {
      near(w[l + m], cos(m * phi) * v[l + m] - sin(m * phi) * v[l - m], 1e-14);
      near(w[l - m], sin(m * phi) * v[l + m] + cos(m * phi) * v[l - m], 1e-14);
    }
    near(w[l], v[l], 1e-14);
    xc_functions_f64(l, 1, 0, 0, 1, 1, 0, v, d, d, d);
    for (int m = -l; m <= l; m++) near(v[l + m], m == 0, 1e-15);
  }
}

static void gradients(void **state) {
  static const double places[][3] = {{0.3, -0.7, 0.4}, {-1.2, 0.1, 0.9}, {0, 0, 0}, {2, 3, -1}};
  const double h = 1e-4;
  (void)state;
  for (int l = 0; l <= XC_MAX_L; l++)
    for (int spherical = 0; spherical < 2; spherical++)
      for (size_t p = 0; p < 4; p++) {
        const xc_shell s = shell_of(l, spherical);
        double d[3][15], v[15], far[15], near[15], u[15];
        values_at(&s, places[p], v, d[0], d[1], d[2]);
        for (int k = 0; k < 3; k++) {
          double at[3];
          memcpy(at, places[p], sizeof at);
          at[k] = places[p][k] + h;
          values_at(&s, at, far, u, u, u);
          at[k] = places[p][k] - h;
          values_at(&s, at, near, u, u, u);
          for (int i = 0; i < xc_shell_size(&s); i++)
            near(d[k][i], (far[i] - near[i]) / (2 * h), 2e-7);
        }
        double f = 0, g = 0;
        const double *q = places[p];
        xc_radial_f64(s.n, s.exponent, s.coefficient, q[0] * q[0] + q[1] * q[1] + q[2] * q[2], &f,
                      &g);
        xc_function_values_f64(l, spherical, q[0], q[1], q[2], f, u);
        for (int i = 0; i < xc_shell_size(&s); i++) near(u[i], v[i], 0);
      }
}

/** Second derivatives against differences of gradients, of fourth order; the gradients beside them
 *  are the same bits. */
static void seconds(void **state) {
  static const double places[][3] = {{0.3, -0.7, 0.4}, {-1.2, 0.1, 0.9}, {0, 0, 0}, {2, 3, -1}};
  static const int pairs[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
  static const double steps[4] = {1, -1, 2, -2}, weights[4] = {8, -8, -1, 1};
  const double h = 1e-3;
  (void)state;
  for (int l = 0; l <= XC_MAX_L; l++)
    for (int spherical = 0; spherical < 2; spherical++)
      for (size_t p = 0; p < 4; p++) {
        const xc_shell s = shell_of(l, spherical);
        const double *q = places[p];
        double d[9][XC_MAX_FUNCTIONS], v[15], first[3][15], change[3][3][15] = {{{0}}}, f, g, c;
        xc_radial_second_f64(s.n, s.exponent, s.coefficient,
                             q[0] * q[0] + q[1] * q[1] + q[2] * q[2], &f, &g, &c);
        xc_function_seconds_f64(l, spherical, q[0], q[1], q[2], f, g, c, d);
        values_at(&s, q, v, first[0], first[1], first[2]);
        for (int k = 0; k < 3; k++)
          for (int i = 0; i < xc_shell_size(&s); i++) near(d[k][i], first[k][i], 0);
        for (int k = 0; k < 3; k++)
          for (int side = 0; side < 4; side++) {
            double at[3];
            memcpy(at, q, sizeof at);
            at[k] += steps[side] * h;
            values_at(&s, at, v, first[0], first[1], first[2]);
            for (int m = 0; m < 3; m++)
              for (int i = 0; i < xc_shell_size(&s); i++)
                change[k][m][i] += weights[side] / (12 * h) * first[m][i];
          }
        for (int k = 0; k < 6; k++)
          for (int i = 0; i < xc_shell_size(&s); i++) {
            near(d[3 + k][i], change[pairs[k][0]][pairs[k][1]][i], 2e-10);
            near(d[3 + k][i], change[pairs[k][1]][pairs[k][0]][i], 2e-10);
          }
      }
}

static void single(void **state) {
  (void)state;
  for (int l = 0; l <= XC_MAX_L; l++)
    for (int spherical = 0; spherical < 2; spherical++) {
      const xc_shell s = shell_of(l, spherical);
      const double at[3] = {0.9, -0.4, 0.7};
      double v[15], dx[15], dy[15], dz[15];
      float a[3] = {1.3f, 0.5f, 0.21f}, c[3], f, g, w[15], ex[15], ey[15], ez[15];
      for (int k = 0; k < 3; k++) c[k] = (float)s.coefficient[k];
      values_at(&s, at, v, dx, dy, dz);
      xc_radial_f32(3, a, c, 0.9f * 0.9f + 0.4f * 0.4f + 0.7f * 0.7f, &f, &g);
      xc_functions_f32(l, spherical, 0.9f, -0.4f, 0.7f, f, g, w, ex, ey, ez);
      for (int i = 0; i < xc_shell_size(&s); i++) {
        near(w[i], v[i], 1e-6);
        near(ex[i], dx[i], 3e-6);
        near(ez[i], dz[i], 3e-6);
      }
    }
}

static void exponentials(void **state) {
  double worst = 0;
  float worst_f = 0;
  (void)state;
  for (double x = 0; x > -699.9; x -= 0.00731) {
    worst = fmax(worst, fabs(xc_exp_f64(x) / exp(x) - 1));
    if (x > -84.9) worst_f = fmaxf(worst_f, fabsf(xc_exp_f32((float)x) / expf((float)x) - 1));
  }
  if (worst > 3e-16 || worst_f > 2e-7f) fail_msg("errors %g and %g", worst, (double)worst_f);
  near(xc_exp_f64(0), 1, 0);
  near(xc_exp_f64(-701), 0, 0);
  near(xc_exp_f64(-1e300), 0, 0);
  near(xc_exp_f64(-INFINITY), 0, 0);
}

static void radii(void **state) {
  xc_set set;
  xc_basis basis;
  xc_atom atoms[] = {{.z = 1}, {.z = 8}, {.z = 26}};
  const xc_molecule molecule = {.atoms = atoms, .n_atoms = 3};
  (void)state;
  assert_int_equal(xc_set_read("def2-TZVP", TSL_BASIS_FOLDER, &set), TSL_OK);
  for (int kind = XC_KIND_SPHERICAL; kind <= XC_KIND_CARTESIAN; kind++) {
    assert_int_equal(xc_basis_create(&set, kind, &molecule, &basis), TSL_OK);
    for (int64_t k = 0; k < basis.n_shells; k++) {
      const xc_shell *s = &basis.shells[k];
      double inside = 0, outside = 0, v[15], d[15];
      for (int step = 0; step < 400; step++) { /* along many directions, x, y and z among them */
        const double u = step < 3 ? 0 : step * 0.61803, t = step < 3 ? 0 : acos(1 - step / 200.0);
        const double way[3] = {step == 0 ? 1 : sin(t) * cos(u), step == 1 ? 1 : sin(t) * sin(u),
                               step == 2  ? 1
                               : step < 2 ? 0
                                          : cos(t)};
        for (int side = 0; side < 2; side++) {
          const double r = s->radius * (side == 0 ? 0.98 : 1 + 0.002 * (step % 50));
          const double at[3] = {r * way[0], r * way[1], r * way[2]};
          values_at(s, at, v, d, d, d);
          for (int i = 0; i < xc_shell_size(s); i++)
            *(side == 0 ? &inside : &outside) = fmax(side == 0 ? inside : outside, fabs(v[i]));
        }
      }
      assert_true(outside <= 1.000001e-10);
      assert_true(inside > 1e-10);
    }
    xc_basis_clear(&basis);
  }
  xc_set_clear(&set);
}

static void cancelling(void **state) {
  xc_shell s = {.n = 2, .exponent = {1, 1}, .coefficient = {1, -1}};
  (void)state;
  assert_int_equal(xc_shell_normalise(&s), TSL_ERR_INPUT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nwchem),     cmocka_unit_test(gaussian),
      cmocka_unit_test(lio),        cmocka_unit_test(lio_as_lio_reads),
      cmocka_unit_test(refusals),   cmocka_unit_test(shipped),
      cmocka_unit_test(names),      cmocka_unit_test(norms),
      cmocka_unit_test(harmonics),  cmocka_unit_test(gradients),
      cmocka_unit_test(seconds),    cmocka_unit_test(single),
      cmocka_unit_test(radii),      cmocka_unit_test(exponentials),
      cmocka_unit_test(cancelling),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
