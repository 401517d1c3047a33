/* Free atoms by their radial densities, and sums over the points of the groups. */
#include "xc_hirshfeld.h"

#include "xc_functions.h"
#include "xc_guess.h"

#include "fn.h"

#include <math.h>
#include <string.h>

/* --------------------------------------------------------------- free atoms */

void xc_free_atoms_clear(xc_free_atoms *atoms) {
  for (int z = 0; z <= XC_MAX_Z; z++) tsl_free(atoms->radial[z]);
  TSL_FREE_ALL(atoms->first, atoms->z);
  memset(atoms, 0, sizeof *atoms);
}

tsl_err xc_free_atoms_create(const xc_atom *atoms, int64_t n_atoms, const xc_basis *basis,
                             xc_free_atoms *out) {
  tsl_err err = TSL_OK;
  memset(out, 0, sizeof *out);
  out->basis = basis;
  TSL_TRY(tsl_alloc(n_atoms + 1, sizeof *out->first, "free atoms", (void **)&out->first));
  TSL_TRY(tsl_alloc(n_atoms, sizeof *out->z, "free atoms", (void **)&out->z));
  for (int64_t s = 0; s < basis->n_shells; s++) out->first[basis->shells[s].atom + 1]++;
  for (int64_t a = 0; a < n_atoms; a++) {
    out->first[a + 1] += out->first[a];
    out->z[a] = xc_real_z(&atoms[a]);
    if (out->z[a] > 0) out->example[out->z[a]] = a + 1;
  }
done:
  if (err != TSL_OK) xc_free_atoms_clear(out);
  return err;
}

tsl_err xc_free_atoms_solve(xc_free_atoms *atoms, int32_t z) {
  tsl_err err = TSL_OK;
  const int64_t a = atoms->example[z] - 1;
  if (a < 0) goto done;
  const int64_t n = atoms->first[a + 1] - atoms->first[a];
  TSL_TRY(tsl_alloc(n * n, sizeof(double), "density of a free atom", (void **)&atoms->radial[z]));
  TSL_TRY(xc_guess_radial(atoms->basis, atoms->first[a], n, z, atoms->radial[z]));
done:
  return err;
}

/* sum_l r^2l sum_ij d_ij f_i f_j: a closed subshell's squares add up to r^2l (xc_functions.h). */
TSL_LEVELS
static void free_density(int64_t n, const xc_shell *shells, const double *d,
                         const xc_places *places, double *f, double *out) {
  const int n_points = (int)places->n;
  double r2[XC_PLACES], row[XC_PLACES];
#pragma omp simd
  for (int p = 0; p < n_points; p++) {
    const double x = places->x[p] - shells->at[0], y = places->y[p] - shells->at[1],
                 z = places->z[p] - shells->at[2];
    r2[p] = x * x + y * y + z * z;
    out[p] = 0;
  }
  for (int64_t i = 0; i < n; i++) {
    double *restrict to = f + i * XC_PLACES;
    for (int p = 0; p < n_points; p++) to[p] = row[p] = 0;
    for (int k = 0; k < shells[i].n; k++) {
      const double a = shells[i].exponent[k], c = shells[i].coefficient[k];
#pragma omp simd
      for (int p = 0; p < n_points; p++) to[p] += c * xc_exp_f64(-a * r2[p]);
    }
    for (int64_t j = 0; j <= i; j++) {
      const double both = (j < i ? 2 : 1) * d[i * n + j], *restrict from = f + j * XC_PLACES;
      if (both == 0) continue; /* of another l */
#pragma omp simd
      for (int p = 0; p < n_points; p++) row[p] += both * from[p];
    }
    for (int l = 0; l < shells[i].l; l++)
#pragma omp simd
      for (int p = 0; p < n_points; p++) row[p] *= r2[p];
#pragma omp simd
    for (int p = 0; p < n_points; p++) out[p] += row[p] * to[p];
  }
}

void xc_free_atom_density(const xc_free_atoms *atoms, int64_t atom, const xc_places *places,
                          double *scratch, double *out) {
  const int64_t first = atoms->first[atom];
  if (atoms->z[atom] == 0) { /* a ghost has none */
    for (int64_t p = 0; p < places->n; p++) out[p] = 0;
    return;
  }
  free_density(atoms->first[atom + 1] - first, atoms->basis->shells + first,
               atoms->radial[atoms->z[atom]], places, scratch, out);
}

/* ------------------------------------------------------------------- groups */

void xc_sharing_clear(xc_sharing *scratch) {
  xc_values_clear(&scratch->values);
  tsl_free(scratch->share);
  *scratch = (xc_sharing){.share = NULL};
}

/* The first shell after the k-th that is of another atom: each atom is met once. */
static int64_t next_atom(const xc_basis *basis, const xc_group *g, const int32_t *shells,
                         int64_t k) {
  const int32_t atom = basis->shells[shells[k]].atom;
  while (k < g->n_shells && basis->shells[shells[k]].atom == atom) k++;
  return k;
}

static tsl_err reserve_shares(const xc_basis *basis, const xc_group *g, const int32_t *shells,
                              xc_sharing *s) {
  tsl_err err = TSL_OK;
  int64_t n = 0;
  for (int64_t k = 0; k < g->n_shells; k = next_atom(basis, g, shells, k)) n++;
  if (s->share != NULL && n <= s->room) goto done;
  tsl_free(s->share);
  s->share = NULL, s->room = n;
  TSL_TRY(tsl_alloc((n + XC_MAX_FREE_SHELLS) * XC_PLACES, sizeof *s->share, "shares of atoms",
                    (void **)&s->share));
done:
  return err;
}

/* Share out the electrons at points. */
static void share_points(const xc_free_atoms *atoms, const xc_group *g, const int32_t *shells,
                         const xc_places *places, const double *electrons, xc_sharing *s,
                         double *part) {
  double sum[XC_PLACES] = {0}, *scratch = s->share + s->room * XC_PLACES;
  int64_t n = 0;
  for (int64_t k = 0; k < g->n_shells; k = next_atom(atoms->basis, g, shells, k), n++) {
    double *of = s->share + n * XC_PLACES;
    xc_free_atom_density(atoms, atoms->basis->shells[shells[k]].atom, places, scratch, of);
    for (int64_t p = 0; p < places->n; p++) sum[p] += of[p];
  }
  /* far from all atoms their densities underflow, and so does that of the molecule */
  for (int64_t p = 0; p < places->n; p++) sum[p] = sum[p] > 0 ? electrons[p] / sum[p] : 0;
  for (int64_t k = 0; k < n; k++)
    for (int64_t p = 0; p < places->n; p++) part[k] += sum[p] * s->share[k * XC_PLACES + p];
}

tsl_err xc_hirshfeld_group(const xc_free_atoms *atoms, const xc_group *g, const int32_t *shells,
                           const double *const point[4], const double *total, xc_sharing *s,
                           double *part) {
  tsl_err err = TSL_OK;
  double rho[XC_PLACES];
  TSL_TRY(reserve_shares(atoms->basis, g, shells, s));
  for (int64_t k = 0, n = 0; k < g->n_shells; k = next_atom(atoms->basis, g, shells, k))
    part[n++] = 0;
  for (int64_t at = 0; at < g->n; at += XC_PLACES) {
    const int64_t left = g->n - at;
    const xc_places places = {point[0] + at, point[1] + at, point[2] + at,
                              left < XC_PLACES ? left : XC_PLACES};
    TSL_TRY(xc_values_fill(atoms->basis, shells, g->n_shells, &places, &s->values));
    xc_values_density(&s->values, total, rho);
    for (int64_t p = 0; p < places.n; p++) rho[p] *= point[3][at + p];
    share_points(atoms, g, shells, &places, rho, s, part);
  }
done:
  return err;
}

void xc_hirshfeld_charges(const xc_molecule *molecule, const xc_basis *basis,
                          const xc_groups *groups, const double *part, double *charges) {
  for (int64_t a = 0; a < molecule->n_atoms; a++) charges[a] = xc_nuclear(&molecule->atoms[a]);
  for (int64_t k = 0; k < groups->n; k++) {
    const xc_group *g = &groups->list[k];
    const int32_t *shells = groups->shells + g->shells;
    const double *of = part + g->shells;
    for (int64_t i = 0; i < g->n_shells; i = next_atom(basis, g, shells, i))
      charges[basis->shells[shells[i]].atom] -= *of++;
  }
}
