/**
 * @file xc_guess.h
 * Initial density as a superposition of atomic densities, with spins of atoms on request.
 *
 * Each element is solved once, alone, in the molecule's own basis of it: spin-restricted
 * Hartree-Fock with its electrons spread evenly over the functions of an angular momentum (filled
 * in Madelung's order), so the density is spherical. Of Cartesian shells the pure harmonics are
 * used.
 */
#ifndef TSL_FAM_XC_GUESS_H
#define TSL_FAM_XC_GUESS_H

#include "xc_molecule.h"

/** Electrons of each angular momentum s, p, d, f of an atom by Madelung's order. Global for tests.
 *  @param[in] all  electrons, of both spins alike */
void xc_guess_occupation(double all, double electrons[4]);

/**
 * Atoms with a spin have its orbitals filled for each spin alone, so that electrons are unpaired
 * where shells are open.
 * @param[in]  spins         [n_atoms] unpaired electrons of each atom, |spin| <= z, negative: beta;
 *                           NULL: none
 * @param[out] density       [n][n] of the neutral atoms, zero between them: density[0] the total;
 *                           with spins density[0] alpha, density[1] beta
 * @param[out] n_unconverged elements whose iterations did not settle to 1e-6; their density is used
 */
tsl_err xc_guess_atoms(const xc_molecule *molecule, const xc_basis *basis, const double *spins,
                       double *const density[2], int64_t *n_unconverged);

#endif
