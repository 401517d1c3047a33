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
  const xc_basis *basis; /**< borrowed */
  int64_t *first;        /**< [n_atoms + 1] shells of atom a: first[a] to first[a + 1] - 1 */
  int32_t *z;            /**< [n_atoms] */
  int64_t example[XC_MAX_Z + 1]; /**< an atom of the element, plus 1; 0: there is none */
  double *radial[XC_MAX_Z + 1];  /**< of each element that is solved: xc_guess_radial */
} xc_free_atoms;

/** Find the shells of each atom; no element is solved yet. @param[in] basis  borrowed */
tsl_err xc_free_atoms_create(const xc_atom *atoms, int64_t n_atoms, const xc_basis *basis,
                             xc_free_atoms *out);
/** Solve element z, if there is one. Any thread, one for an element.
 *  @return as xc_guess_radial */
tsl_err xc_free_atoms_solve(xc_free_atoms *atoms, int32_t z);
void xc_free_atoms_clear(xc_free_atoms *atoms);

/** Density of a free atom at points, electrons per bohr^3. Any thread.
 *  @param scratch   [XC_MAX_FREE_SHELLS][XC_PLACES]
 *  @param[out] out  [places->n] */
void xc_free_atom_density(const xc_free_atoms *atoms, int64_t atom, const xc_places *places,
                          double *scratch, double *out);

/** Scratch memory of one thread. Begin with zeros, release with xc_sharing_clear. */
typedef struct xc_sharing {
  xc_values values;
  double *share; /**< [room + XC_MAX_FREE_SHELLS][XC_PLACES], of the atoms of a group */
  int64_t room;
} xc_sharing;
void xc_sharing_clear(xc_sharing *scratch);

/**
 * Electrons that the atoms of a group get at its points. Any thread.
 * @param[in]  atoms   all elements are solved
 * @param[in]  shells  [group->n_shells] the group's, ascending
 * @param[in]  point   x, y, z (bohr) and weight w (bohr^3) of the group's points
 * @param[in]  total   [n][n] density of both spins
 * @param[out] part    [group->n_shells] of each atom of these shells, in order; the rest stays
 * Numerics: sums of the points in their order. Atoms of which no function reaches the group have no
 * share there. @return TSL_ERR_MEMORY
 */
tsl_err xc_hirshfeld_group(const xc_free_atoms *atoms, const xc_group *group, const int32_t *shells,
                           const double *const point[4], const double *total, xc_sharing *scratch,
                           double *part);

/**
 * Charges, by the sums of all groups in their order.
 * @param[in]  part     of each group, from its place in the list of shells on
 * @param[out] charges  [n_atoms], e
 */
void xc_hirshfeld_charges(const xc_molecule *molecule, const xc_basis *basis,
                          const xc_groups *groups, const double *part, double *charges);

TSL_C_END
