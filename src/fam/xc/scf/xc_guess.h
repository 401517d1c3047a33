/**
 * @file xc_guess.h
 * Initial density as a superposition of atomic densities.
 *
 * Each element is solved once, alone, in the molecule's own basis of it: spin-restricted
 * Hartree-Fock with its electrons spread evenly over the functions of an angular momentum (filled
 * in Madelung's order), so the density is spherical. Of Cartesian shells the pure harmonics are
 * used.
 */
#ifndef TSL_FAM_XC_GUESS_H
#define TSL_FAM_XC_GUESS_H

#include "xc_molecule.h"

/** Electrons of each angular momentum s, p, d, f of a neutral atom by Madelung's order. Global for
 *  tests. */
void xc_guess_occupation(int z, double electrons[4]);

/**
 * @param[out] density       total density [n][n] of the neutral atoms, zero between them
 * @param[out] n_unconverged elements whose iterations did not settle to 1e-6; their density is used
 */
tsl_err xc_guess_atoms(const xc_molecule *molecule, const xc_basis *basis, double *density,
                       int64_t *n_unconverged);

#endif
