/**
 * @file xc_guess.h
 * Initial density as a superposition of atomic densities, with spins of atoms on request.
 *
 * Each element is solved once, alone, in the molecule's own basis of it: spin-restricted
 * Hartree-Fock with its electrons spread evenly over the functions of an angular momentum (filled
 * in Madelung's order), so the density is spherical. Of Cartesian shells the pure harmonics are
 * used.
 */
#pragma once

#include "xc_molecule.h"

/** Electrons of each angular momentum s, p, d, f of an atom by Madelung's order, without shells of
 *  its core. Global for tests.
 *  @param[in] all   electrons but those of the core, of both spins alike
 *  @param[in] core  electrons that an effective core potential replaces (xc_ecp_core) */
void xc_guess_occupation(double all, int32_t core, double electrons[4]);

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

/** Most shells of an atom whose density xc_guess_radial gives. */
enum { XC_MAX_FREE_SHELLS = 256 };

/**
 * Density of a neutral atom alone, of the electrons that no effective core potential of the basis
 * replaces, as the guess has it: with f_i(r) = sum_k c_k exp(-a_k r^2) of shell i it is
 * sum_ij d_ij r^2l f_i f_j over pairs of shells of the same l.
 * @param[in]  first,n  its shells in the basis
 * @param[out] radial   [n][n] d, zero between unlike l
 * @return TSL_ERR_INPUT for more than XC_MAX_FREE_SHELLS shells; what did not settle to 1e-6 is
 *         used, as in xc_guess_atoms
 */
tsl_err xc_guess_radial(const xc_basis *basis, int64_t first, int64_t n, int32_t z, double *radial);
