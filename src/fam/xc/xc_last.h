/**
 * @file xc_last.h
 * Densities of the geometries that a served job had last, and the first density of the next one.
 * Root only.
 *
 * The density matrices are kept in Loewdin's orthonormal basis, D' = S^1/2 D S^1/2, in which they
 * change with the places of the atoms alone and little. The next one is a mixture sum_j c_j D'_j
 * with sum_j c_j = 1 whose coefficients make the same mixture of the places of the atoms come
 * nearest to where they are, |R - sum_j c_j R_j|^2 + e^2 sum_j c_j^2 (E. Polack, G. Dusson,
 * B. Stamm, F. Lipparini, J. Chem. Theory Comput. 17 (2021) 6965, who fit descriptors and mix on
 * the Grassmann manifold). What the mixture is off from a density of orbitals is mended by
 * McWeeny's D' <- 3 D'^2 - 2 D'^3 (Rev. Mod. Phys. 32 (1960) 335). Smeared fields begin with the
 * newest alone, as a mixture of theirs may have negative occupations.
 */
#pragma once

#include "xc_basis.h"
#include "xc_scf.h"

/** Geometries that are kept. */
enum { XC_LAST_MOST = 6 };

typedef struct xc_last_point {
  double (*at)[3]; /**< [n_atoms] bohr */
  double *density; /**< [n_spin][n][n] D' */
} xc_last_point;

/** Of one molecule in one basis. Release with xc_last_clear. */
typedef struct xc_last {
  int n;                             /**< geometries */
  xc_last_point point[XC_LAST_MOST]; /**< the newest first */
  xc_molecule molecule;              /**< of the newest: atoms and electrons */
  xc_basis basis;                    /**< likewise */
  int32_t n_spin;
} xc_last;

/** Keep the densities of a field; of another molecule or basis than those before, these go. */
tsl_err xc_last_keep(xc_last *last, const xc_molecule *molecule, const xc_basis *basis,
                     const xc_scf *scf);

/**
 * Begin a field with what is kept.
 * @param[out] begun  false: nothing is kept of this molecule, basis and kind of spins, or an atom
 *                    is more than 0.5 Angstrom from where it was last
 */
tsl_err xc_last_begin(const xc_last *last, const xc_molecule *molecule, const xc_basis *basis,
                      xc_scf *scf, bool *begun);

void xc_last_clear(xc_last *last);
