/* The first density of a served geometry, from those of the last ones. */
#include "xc_last.h"

#include "xc_family.h"
#include "xc_matrix.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------- keeping */

static void clear_point(xc_last_point *point) {
  TSL_FREE_ALL(point->at, point->density);
  *point = (xc_last_point){.at = NULL};
}

void xc_last_clear(xc_last *last) {
  for (int k = 0; k < XC_LAST_MOST; k++) clear_point(&last->point[k]);
  xc_molecule_clear(&last->molecule);
  xc_basis_clear(&last->basis);
  *last = (xc_last){.n = 0};
}

/* Atoms, electrons and shells but for their places. */
static bool is_same(const xc_last *last, const xc_molecule *m, const xc_basis *basis,
                    int32_t n_spin) {
  const xc_molecule *l = &last->molecule;
  bool same = last->n > 0 && last->n_spin == n_spin && l->n_atoms == m->n_atoms &&
              l->alpha == m->alpha && l->beta == m->beta;
  for (int64_t a = 0; same && a < m->n_atoms; a++) same = l->atoms[a].z == m->atoms[a].z;
  return same && xc_basis_same(&last->basis, basis);
}

/* Point charges stay out of it. */
static tsl_err copy_molecule(const xc_molecule *m, const xc_basis *basis, xc_last *last) {
  tsl_err err = TSL_OK;
  const size_t bytes = (size_t)basis->n_shells * sizeof *basis->shells;
  xc_molecule *to = &last->molecule;
  *to = (xc_molecule){.n_atoms = m->n_atoms, .alpha = m->alpha, .beta = m->beta};
  last->basis = (xc_basis){.n_shells = basis->n_shells, .n = basis->n};
  TSL_TRY(tsl_alloc(m->n_atoms, sizeof *to->atoms, "last atoms", (void **)&to->atoms));
  memcpy(to->atoms, m->atoms, (size_t)m->n_atoms * sizeof *to->atoms);
  TSL_TRY(tsl_alloc(1, bytes, "last shells", (void **)&last->basis.shells));
  memcpy(last->basis.shells, basis->shells, bytes);
done:
  return err;
}

/* D' = S^1/2 D S^1/2 of each spin. */
static tsl_err make_point(const xc_molecule *m, const xc_scf *scf, xc_last_point *point) {
  tsl_err err = TSL_OK;
  const int64_t n = scf->n;
  double *half = NULL, *work = NULL;
  TSL_TRY(tsl_alloc(m->n_atoms, sizeof *point->at, "places of atoms", (void **)&point->at));
  TSL_TRY(xc_matrix_create(scf->n_spin * n, n, "last density", &point->density));
  TSL_TRY(xc_matrix_create(n, n, "S^1/2", &half));
  TSL_TRY(xc_matrix_create(n, n, "S^1/2 D", &work));
  TSL_TRY(xc_matrix_power(n, scf->overlap, 0.5, scf->options.overlap_limit, half));
  for (int t = 0; t < scf->n_spin; t++)
    TSL_TRY(xc_matrix_project(n, n, scf->density[t], half, work, point->density + t * n * n));
  for (int64_t a = 0; a < m->n_atoms; a++) memcpy(point->at[a], m->atoms[a].at, sizeof *point->at);
done:
  TSL_FREE_ALL(half, work);
  return err;
}

tsl_err xc_last_keep(xc_last *last, const xc_molecule *m, const xc_basis *basis,
                     const xc_scf *scf) {
  tsl_err err = TSL_OK;
  xc_last_point point = {.at = NULL};
  TSL_TRY(make_point(m, scf, &point));
  if (!is_same(last, m, basis, scf->n_spin)) {
    xc_last_clear(last);
    TSL_TRY(copy_molecule(m, basis, last));
    last->n_spin = scf->n_spin;
  }
  clear_point(&last->point[XC_LAST_MOST - 1]);
  for (int k = XC_LAST_MOST - 1; k > 0; k--) last->point[k] = last->point[k - 1];
  last->point[0] = point, point = (xc_last_point){.at = NULL};
  last->n += last->n < XC_LAST_MOST;
done:
  clear_point(&point);
  return err;
}

/* ----------------------------------------------------------------- beginning */

/* Atoms may have moved by this, bohr (0.5 Angstrom). */
static const double farthest = 0.5 / XC_BOHR;
/* e of the coefficients, bohr: the places that a mixture cannot reach count more than this. */
static const double stiffness = 1e-5;

static double moved_most(const xc_last_point *point, const xc_molecule *m) {
  double most = 0;
  for (int64_t a = 0; a < m->n_atoms; a++) {
    const double *p = point->at[a], *q = m->atoms[a].at;
    most = fmax(most, hypot(hypot(p[0] - q[0], p[1] - q[1]), p[2] - q[2]));
  }
  return most;
}

/* (R_j - R_0) . (R_k - R_0), j = 0: of the places asked for. */
static double overlap_of_moves(const xc_last *last, const xc_molecule *m, int j, int k) {
  double sum = 0;
  for (int64_t a = 0; a < m->n_atoms; a++)
    for (int x = 0; x < 3; x++) {
      const double from = last->point[0].at[a][x];
      const double *to = j == 0 ? m->atoms[a].at : last->point[j].at[a];
      sum += (to[x] - from) * (last->point[k].at[a][x] - from);
    }
  return sum;
}

/* Of the count newest geometries; that of the newest is what the others leave of 1. */
static tsl_err choose_weights(const xc_last *last, const xc_molecule *m, int count,
                              double weights[XC_LAST_MOST]) {
  tsl_err err = TSL_OK;
  const int n = count - 1;
  double matrix[XC_LAST_MOST * XC_LAST_MOST], rest = 1;
  for (int j = 0; j < n; j++) {
    for (int k = 0; k < n; k++) matrix[j * n + k] = overlap_of_moves(last, m, j + 1, k + 1);
    matrix[j * n + j] += stiffness * stiffness;
    weights[j + 1] = overlap_of_moves(last, m, 0, j + 1);
  }
  if (n > 0) {
    TSL_TRY(xc_matrix_factor(n, "places of the last geometries", matrix));
    TSL_TRY(xc_matrix_solve(n, matrix, weights + 1));
  }
  for (int j = 1; j <= n; j++) rest -= weights[j];
  for (int j = count; j < last->n; j++) weights[j] = 0;
  weights[0] = rest;
done:
  return err;
}

/* A density of orbitals near to one that is none; work is [2][n][n]. */
static tsl_err purify(int64_t n, double *density, double *work) {
  enum { MOST = 8 };
  static const double NEAR = 1e-9;
  tsl_err err = TSL_OK;
  double *square = work, *cube = work + n * n, off = 1;
  for (int k = 0; k < MOST && off > NEAR; k++) {
    TSL_TRY(xc_matrix_product(n, n, n, 1, density, false, density, false, square));
    TSL_TRY(xc_matrix_product(n, n, n, 1, square, false, density, false, cube));
    off = 0;
    for (int64_t i = 0; i < n * n; i++) {
      off = fmax(off, fabs(square[i] - density[i]));
      density[i] = 3 * square[i] - 2 * cube[i];
    }
    xc_matrix_symmetrise(n, 0.5, density);
  }
done:
  return err;
}

static tsl_err mix(const xc_last *last, const double weights[XC_LAST_MOST], bool orbitals,
                   int64_t n, double *density) {
  tsl_err err = TSL_OK;
  double *work = NULL;
  TSL_TRY(xc_matrix_create(2 * n, n, "powers of the density", &work));
  for (int t = 0; t < last->n_spin; t++) {
    double *to = density + t * n * n;
    for (int j = 0; j < last->n; j++)
      xc_matrix_add(n * n, weights[j], last->point[j].density + t * n * n, to);
    if (orbitals) TSL_TRY(purify(n, to, work));
  }
done:
  tsl_free(work);
  return err;
}

/* D = S^-1/2 D' S^-1/2. */
static tsl_err begin(const xc_last *last, const double *mixed, xc_scf *scf) {
  tsl_err err = TSL_OK;
  const int64_t n = scf->n;
  double *inverse = NULL, *work = NULL;
  xc_start start = {.n_spin = last->n_spin};
  TSL_TRY(xc_matrix_create(last->n_spin * n, n, "first density", &start.density));
  TSL_TRY(xc_matrix_create(n, n, "S^-1/2", &inverse));
  TSL_TRY(xc_matrix_create(n, n, "S^-1/2 D'", &work));
  TSL_TRY(xc_matrix_power(n, scf->overlap, -0.5, scf->options.overlap_limit, inverse));
  for (int t = 0; t < last->n_spin; t++)
    TSL_TRY(xc_matrix_project(n, n, mixed + t * n * n, inverse, work, start.density + t * n * n));
  TSL_TRY(xc_start_begin(&start, scf));
done:
  TSL_FREE_ALL(inverse, work);
  xc_start_clear(&start);
  return err;
}

tsl_err xc_last_begin(const xc_last *last, const xc_molecule *m, const xc_basis *basis, xc_scf *scf,
                      bool *begun) {
  tsl_err err = TSL_OK;
  double weights[XC_LAST_MOST], *mixed = NULL;
  *begun = false;
  if (!is_same(last, m, basis, scf->n_spin) || !(moved_most(&last->point[0], m) <= farthest))
    return TSL_OK;
  const bool orbitals = scf->options.smearing == XC_SMEARING_NONE;
  TSL_TRY(choose_weights(last, m, orbitals ? last->n : 1, weights));
  TSL_TRY(xc_matrix_create(last->n_spin * scf->n, scf->n, "first density", &mixed));
  TSL_TRY(mix(last, weights, orbitals, scf->n, mixed));
  TSL_TRY(begin(last, mixed, scf));
  *begun = true;
done:
  tsl_free(mixed);
  return err;
}
