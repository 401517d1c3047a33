/* What is read off the orbitals and densities of a self-consistent field. */
#include "xc_scf.h"

#include "xc_matrix.h"

#include <math.h>

void xc_scf_frontier(const xc_scf *scf, double *highest, double *lowest) {
  *highest = -INFINITY, *lowest = INFINITY;
  for (int t = 0; t < scf->n_spin; t++) {
    const int64_t n = scf->electrons[t];
    if (n > 0) *highest = fmax(*highest, scf->levels[t][n - 1]);
    if (n < scf->m) *lowest = fmin(*lowest, scf->levels[t][n]);
  }
}

void xc_scf_dipole(const xc_scf *scf, const xc_molecule *molecule, const double *const matrices[3],
                   double dipole[3]) {
  for (int x = 0; x < 3; x++) {
    dipole[x] = -xc_matrix_dot(scf->n * scf->n, scf->total, matrices[x]);
    for (int64_t a = 0; a < molecule->n_atoms; a++)
      dipole[x] += xc_nuclear(&molecule->atoms[a]) * molecule->atoms[a].at[x];
  }
}

void xc_scf_mulliken(const xc_scf *scf, const xc_molecule *molecule, const xc_basis *basis,
                     double *charges) {
  for (int64_t a = 0; a < molecule->n_atoms; a++) charges[a] = xc_nuclear(&molecule->atoms[a]);
  for (int64_t k = 0; k < basis->n_shells; k++) {
    const xc_shell *shell = &basis->shells[k];
    const int64_t first = shell->first * scf->n, n = xc_shell_size(shell) * scf->n;
    charges[shell->atom] -= xc_matrix_dot(n, scf->total + first, scf->overlap + first);
  }
}

/* S_z (S_z + 1) + n_beta - tr(D_alpha S D_beta S). */
tsl_err xc_scf_spin_square(const xc_scf *scf, double *square) {
  tsl_err err = TSL_OK;
  const int64_t n = scf->n;
  const double z = 0.5 * (double)(scf->electrons[0] - scf->electrons[1]);
  double overlap = (double)scf->electrons[1], *left = NULL, *right = NULL;
  if (scf->n_spin == 2) {
    TSL_TRY(xc_matrix_create(n, n, "alpha density and overlap", &left));
    TSL_TRY(xc_matrix_create(n, n, "overlap and beta density", &right));
    TSL_TRY(xc_matrix_product(n, n, n, 1, scf->density[0], false, scf->overlap, false, left));
    TSL_TRY(xc_matrix_product(n, n, n, 1, scf->overlap, false, scf->density[1], false, right));
    overlap = xc_matrix_dot(n * n, left, right);
  }
  *square = z * (z + 1) + (double)scf->electrons[1] - overlap;
done:
  TSL_FREE_ALL(left, right);
  return err;
}
