/**
 * @file xc_fock_gradient.h
 * Derivatives of the exact-exchange energy from quartets, in the batches of xc_fock.h (the Coulomb
 * energy's: xc_coulomb_gradient.h):
 *
 *   dE/dR = sum_ijkl G_ijkl d(ij|kl)/dR at fixed densities,
 *   G_ijkl = - a/2 sum_s D^s_ik D^s_jl
 *
 * Each quartet of shells is met once; G of both orders of bra, ket and of the two is the same.
 *
 * Source: P. Pulay, Mol. Phys. 17 (1969) 197; J. A. Pople, P. M. W. Gill, B. G. Johnson, Chem.
 * Phys. Lett. 199 (1992) 557.
 */
#pragma once

#include "xc_fock.h"

/**
 * Add bra pairs [lo, hi).
 * @param[in] quartets  engine of kind XC_QUARTET_GRADIENTS
 * @param[in] fock      what the energy is of, largest for the whole densities (xc_fock_largest);
 *                      total, coulomb and exchange are not used. Quartets whose bound times the
 *                      largest product of two elements is below threshold are left out, primitive
 *                      ones at a thousandth of it
 * @param[in] share     a, hartree of exact exchange; restricted (spin[1] NULL): spin[0] counts
 * twice
 * @param[in,out] gradient  [atoms][3], hartree/bohr, by the shells' atom
 */
void xc_fock_gradient(xc_engine *quartets, const xc_fock *fock, double share, int64_t lo,
                      int64_t hi, double (*gradient)[3]);
