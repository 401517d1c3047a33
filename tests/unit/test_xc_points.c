/* Densities, orbitals and potentials at points beside their definitions, and Hirshfeld's partition
 * beside one that places the guess's matrices. */
#include "xc_fixture.h"
#include "xc_functions.h"
#include "xc_hirshfeld.h"
#include "xc_lattice.h"
#include "xc_potential.h"
#include "xc_random_shells.h"
#include "xc_values.h"

enum { POINTS = 77 };

typedef struct cloud_of_points {
  double at[3][POINTS];
  xc_places places;
} cloud_of_points;

static void scatter(double side, cloud_of_points *c) {
  for (int k = 0; k < 3; k++)
    for (int p = 0; p < POINTS; p++) c->at[k][p] = xc_uniform(-side, side);
  c->places = (xc_places){c->at[0], c->at[1], c->at[2], POINTS};
}

/** A symmetric matrix. */
static double *random_matrix(int64_t n) {
  double *m = room(n, n);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j <= i; j++) m[i * n + j] = m[j * n + i] = xc_uniform(-1, 1);
  return m;
}

/** Values of all functions at a point, one by one. */
static void plain_functions(const xc_basis *basis, const double at[3], double *phi) {
  for (int64_t s = 0; s < basis->n_shells; s++) {
    const xc_shell *shell = &basis->shells[s];
    const double x = at[0] - shell->at[0], y = at[1] - shell->at[1], z = at[2] - shell->at[2];
    double f = 0;
    for (int k = 0; k < shell->n; k++)
      f += shell->coefficient[k] * exp(-shell->exponent[k] * (x * x + y * y + z * z));
    xc_function_values_f64(shell->l, shell->spherical, x, y, z, f, phi + shell->first);
  }
}

static double plain_density(const xc_basis *basis, const double *d, const double at[3]) {
  double *phi = room(basis->n + XC_MAX_FUNCTIONS, 1), sum = 0;
  plain_functions(basis, at, phi);
  for (int64_t i = 0; i < basis->n; i++)
    for (int64_t j = 0; j < basis->n; j++) sum += d[i * basis->n + j] * phi[i] * phi[j];
  tsl_free(phi);
  return sum;
}

/** Densities and orbitals of random shells to g, for numbers of functions of all remainders. */
static void values(void **state) {
  (void)state;
  for (int spherical = 0; spherical < 2; spherical++)
    for (int most = 0; most <= 4; most++) {
      xc_basis basis;
      cloud_of_points c;
      xc_values v = {.phi = NULL};
      double rho[XC_PLACES], psi[XC_PLACES];
      xc_random_basis(most, 2, spherical, 0.1, 10, &basis);
      scatter(3, &c);
      int32_t *list = calloc((size_t)basis.n_shells, sizeof *list);
      for (int64_t s = 0; s < basis.n_shells; s++) list[s] = (int32_t)s;
      double *d = random_matrix(basis.n), *phi = room(basis.n + XC_MAX_FUNCTIONS, 1);
      good(xc_values_fill(&basis, list, basis.n_shells, &c.places, &v));
      xc_values_density(&v, d, rho);
      xc_values_orbital(&v, d, psi);
      for (int p = 0; p < POINTS; p++) {
        const double at[3] = {c.at[0][p], c.at[1][p], c.at[2][p]};
        double sum = 0;
        plain_functions(&basis, at, phi);
        for (int64_t i = 0; i < basis.n; i++) sum += d[i] * phi[i];
        assert_true(fabs(psi[p] - sum) < 1e-12 * (1 + fabs(sum)));
        const double truth = plain_density(&basis, d, at);
        assert_true(fabs(rho[p] - truth) < 1e-11 * (1 + fabs(truth)));
      }
      assert_true(rho[POINTS] == 0 && psi[XC_PLACES - 1] == 0);
      xc_values_clear(&v);
      tsl_free(d), tsl_free(phi), free(list), free(basis.shells);
    }
}

/** The potential is that of a unit charge at the point, by the attraction matrix of it. */
static void potential(void **state) {
  (void)state;
  for (int spherical = 0; spherical < 2; spherical++) {
    xc_basis basis;
    cloud_of_points c;
    xc_charge outside = {{5, -6, 7}, -0.3};
    xc_atom atom = {.z = 9, .at = {0.9, -0.4, 1.3}};
    const xc_charge all[2] = {{{atom.at[0], atom.at[1], atom.at[2]}, atom.z}, outside};
    xc_potential *v = NULL;
    double found[POINTS];
    xc_random_basis(4, 2, spherical, 0.1, 30, &basis);
    scatter(6, &c);
    c.at[0][3] = 90, c.at[1][4] = -1e4; /* far away */
    double *d = random_matrix(basis.n), *one = room(basis.n, basis.n);
    good(xc_potential_create(all, 2, &basis, &v));
    for (int64_t k = 0; k < basis.n_shells; k++) good(xc_potential_shell(v, d, k));
    xc_potential_at(v, &c.places, found);
    for (int p = 0; p < POINTS; p++) {
      const xc_charge probe = {{c.at[0][p], c.at[1][p], c.at[2][p]}, 1};
      xc_attraction(&basis, &probe, 1, 0, basis.n_shells, one);
      double truth = xc_matrix_dot(basis.n * basis.n, d, one), scale = 0, r[2] = {0, 0};
      for (int64_t k = 0; k < basis.n * basis.n; k++) scale += fabs(d[k] * one[k]);
      for (int k = 0; k < 3; k++) {
        r[0] += pow(probe.at[k] - atom.at[k], 2), r[1] += pow(probe.at[k] - outside.at[k], 2);
      }
      truth += 9 / sqrt(r[0]) - 0.3 / sqrt(r[1]);
      assert_true(fabs(found[p] - truth) < 1e-11 * (1 + scale));
    }
    xc_potential_destroy(&v);
    assert_null(v);
    tsl_free(d), tsl_free(one), free(basis.shells);
  }
}

/* ---------------------------------------------------------------- Hirshfeld */

static const char glycol[] = "6\n\nC 0.1 0 0\nO 1.3 0.5 0\nH -0.4 0.9 0.3\nN -0.8 -1.1 0.2\n"
                             "H -0.3 -1.9 -0.3\nF 2.0 -0.9 1.6\n";

/** Charges by the definition: the free atoms are blocks of the guess's matrix. */
static void plain_charges(const field *f, const xc_grid *grid, const double *guess,
                          const double *total, double *charges) {
  const xc_basis *basis = &f->orbital;
  const int64_t n = basis->n, n_atoms = f->molecule.n_atoms;
  double *phi = room(n + XC_MAX_FUNCTIONS, 1), *share = room(n_atoms, 1);
  int64_t *owner = calloc((size_t)n, sizeof *owner);
  for (int64_t s = 0; s < basis->n_shells; s++)
    for (int i = 0; i < xc_shell_size(&basis->shells[s]); i++)
      owner[basis->shells[s].first + i] = basis->shells[s].atom;
  for (int64_t a = 0; a < n_atoms; a++) charges[a] = f->molecule.atoms[a].z;
  for (int64_t p = 0; p < grid->n; p++) {
    double rho = 0, sum = 0;
    plain_functions(basis, (const double[3]){grid->x[p], grid->y[p], grid->z[p]}, phi);
    for (int64_t a = 0; a < n_atoms; a++) share[a] = 0;
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < n; j++) {
        rho += total[i * n + j] * phi[i] * phi[j];
        if (owner[i] == owner[j]) share[owner[i]] += guess[i * n + j] * phi[i] * phi[j];
      }
    for (int64_t a = 0; a < n_atoms; a++) sum += share[a];
    for (int64_t a = 0; a < n_atoms && sum > 0; a++)
      charges[a] -= grid->w[p] * rho * share[a] / sum;
  }
  tsl_free(phi), tsl_free(share), free(owner);
}

/** Charges by the shares of each group. */
static void charges_of(const field *f, const xc_groups *groups, const xc_grid *grid,
                       const double *total, double *charges) {
  xc_free_atoms atoms;
  xc_sharing scratch = {.share = NULL};
  double *part = room(groups->n_shells, 1);
  good(xc_free_atoms_create(f->molecule.atoms, f->molecule.n_atoms, &f->orbital, &atoms));
  for (int32_t z = 1; z <= XC_MAX_Z; z++) good(xc_free_atoms_solve(&atoms, z));
  for (int64_t k = groups->n - 1; k >= 0; k--) {
    const xc_group *g = &groups->list[k];
    const double *const point[4] = {grid->x + g->first, grid->y + g->first, grid->z + g->first,
                                    grid->w + g->first};
    good(xc_hirshfeld_group(&atoms, g, groups->shells + g->shells, point, total, &scratch,
                            part + g->shells));
  }
  xc_hirshfeld_charges(&f->molecule, &f->orbital, groups, part, charges);
  xc_sharing_clear(&scratch);
  xc_free_atoms_clear(&atoms);
  tsl_free(part);
}

/** Of a density that is none of the guess's, spherical and Cartesian. */
static void partition(void **state) {
  (void)state;
  for (int kind = XC_KIND_SPHERICAL; kind <= XC_KIND_CARTESIAN; kind++) {
    field f;
    xc_grid_rule rule;
    xc_grid grid;
    xc_groups groups;
    const xc_groups_rule cut = xc_groups_standard();
    int64_t unsettled = 0;
    double found[6], truth[6], electrons = 0;
    field_create(glycol, 0, "def2-SVP", NULL, (xc_kind)kind, NULL, 0, &f);
    good(xc_grid_preset("lio0", &rule));
    good(xc_grid_make(&rule, f.molecule.atoms, f.molecule.n_atoms, &grid));
    good(xc_groups_make(&cut, &f.orbital, &grid, &groups));
    good(xc_guess_atoms(&f.molecule, &f.orbital, NULL, (double *const[2]){f.work}, &unsettled));
    const int64_t n = f.orbital.n;
    double *total = room(n, n);
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < n; j++)
        total[i * n + j] = f.work[i * n + j] + 0.1 * f.overlap[i * n + j];
    charges_of(&f, &groups, &grid, total, found);
    plain_charges(&f, &grid, f.work, total, truth);
    for (int a = 0; a < 6; a++)
      if (!(fabs(found[a] - truth[a]) < 1e-9))
        fail_msg("atom %d: %.12f, not %.12f", a, found[a], truth[a]);
    charges_of(&f, &groups, &grid, f.work, found);
    for (int a = 0; a < 6; a++) electrons += found[a];
    assert_true(fabs(electrons) < 0.05); /* of a coarse grid; the free atoms are neutral */
    tsl_free(total);
    xc_groups_clear(&groups), xc_grid_clear(&grid), field_clear(&f);
  }
}

/* ------------------------------------------------------------------ lattice */

/** All blocks of all slabs together write each number of a cube once, where the format has it. */
static void lattice_text(void **state) {
  (void)state;
  static const int64_t sizes[][4] = {{1, 1, 1, 1}, {17, 9, 13, 3}, {20, 3, 6, 8}, {9, 16, 25, 16}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const int64_t *n = sizes[i];
    xc_lattice l = {
        .n = 2, .points = {n[0], n[1], n[2]}, .planes = n[3], .origin = {-1, 2, 0.5}, .step = 0.25};
    char *text = calloc((size_t)(l.n * xc_lattice_bytes(&l)), 1);
    for (int64_t slab = 0; slab < xc_lattice_slabs(&l); slab++) {
      memset(text, 0, (size_t)(l.n * xc_lattice_bytes(&l)));
      for (int64_t k = xc_lattice_blocks(&l) - 1; k >= 0; k--) {
        double values[XC_PLACES];
        xc_block b;
        xc_lattice_block(&l, slab, k, &b);
        for (int64_t p = 0; p < b.points.n; p++)
          values[p] = 1e4 * b.at[0][p] + 1e2 * b.at[1][p] + b.at[2][p];
        xc_lattice_text(&l, &b, 1, values, text);
      }
      const char *at = text + xc_lattice_bytes(&l);
      for (int64_t x = slab * n[3]; x < slab * n[3] + xc_lattice_planes(&l, slab); x++)
        for (int64_t y = 0; y < n[1]; y++)
          for (int64_t z = 0; z < n[2]; z++) {
            char number[32];
            const double value = 1e4 * (-1 + 0.25 * (double)x) + 1e2 * (2 + 0.25 * (double)y) +
                                 0.5 + 0.25 * (double)z;
            (void)snprintf(number, sizeof number, "%13.5E%s", value,
                           z % 6 == 5 || z == n[2] - 1 ? "\n" : "");
            assert_memory_equal(at, number, strlen(number));
            at += strlen(number);
          }
      for (int64_t k = 0; k < xc_lattice_bytes(&l); k++) assert_int_equal(text[k], 0);
    }
    free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(values), cmocka_unit_test(potential),
                                     cmocka_unit_test(partition), cmocka_unit_test(lattice_text)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
