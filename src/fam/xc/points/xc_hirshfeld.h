/**
 * @file xc_hirshfeld.h
 * Hirshfeld's charges: each atom gets of the density at a point the share that it has in the sum of
 * the free atoms' densities there,
 *
 *   q_A = Z_A - sum_p w_p rho(p) rho_A(p) / sum_B rho_B(p)
 *
 * The free atoms are those of the guess (xc_guess.h): neutral, spherical, in the molecule's basis.
 *
 * Source: F. L. Hirshfeld, Theor. Chim. Acta 44 (1977) 129.
 */
#pragma once

#include "xc_groups.h"
#include "xc_values.h"

TSL_C_BEGIN

/** Densities of free atoms. Release with xc_free_atoms_clear. */
typedef struct xc_free_atoms {
  const xc_basis *basis;        /**< borrowed */
  int64_t *first;               /**< [n_atoms + 1] shells of atom a: first[a] to first[a + 1] - 1 */
  int32_t *z;                   /**< [n_atoms] */
  double *radial[XC_MAX_Z + 1]; /**< of each element there is: xc_guess_radial */
} xc_free_atoms;

/** Solve each element once, in ranges (parallel.h). @param[in] basis  borrowed */
tsl_err xc_free_atoms_create(const xc_molecule *molecule, const xc_basis *basis,
                             xc_free_atoms *out);
void xc_free_atoms_clear(xc_free_atoms *atoms);

/** Density of a free atom at points, electrons per bohr^3. Any thread.
 *  @param scratch   [XC_MAX_FREE_SHELLS][XC_PLACES]
 *  @param[out] out  [places->n] */
void xc_free_atom_density(const xc_free_atoms *atoms, int64_t atom, const xc_places *places,
                          double *scratch, double *out);

/**
 * Charges of a density on the molecular grid, in ranges of groups.
 * @param[in]  groups   of the grid's points; list and shells are set
 * @param[in]  point    x, y, z (bohr) and weight w (bohr^3) of the points, in the groups' order
 * @param[in]  total    [n][n] density of both spins
 * @param[out] charges  [n_atoms], e
 * Numerics: sums of a group's points in their order, then of the groups: the same bits for any
 * threads. Atoms of which no function reaches a group have no share there.
 */
tsl_err xc_hirshfeld(const xc_molecule *molecule, const xc_basis *basis, const xc_groups *groups,
                     const double *const point[4], const double *total, double *charges);

TSL_C_END
