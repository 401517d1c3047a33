/**
 * @file xc_ecp.h
 * Effective core potentials: what replaces the electrons near a heavy nucleus.
 *
 *   U(r) = U_L(r) + sum_{l<L} sum_m |lm> U_l(r) <lm|,
 *   U_l(r) = sum_k coefficient_k r^(power_k - 2) exp(-exponent_k r^2)
 *
 * around the nucleus, whose charge is less by the electrons that are replaced (xc_nuclear). Read
 * with a basis set (xc_basis.h): NWChem's block "ECP ... END", lines "I nelec 28", "I ul", "I S"
 * and rows "power exponent coefficient"; Gaussian94's "I-ECP L electrons" after "I 0", potentials
 * U_L, U_0 to U_(L-1), each a line of text, a number of rows, rows.
 *
 * The data are in xc_molecule.h.
 *
 * Source: L. R. Kahn, P. Baybutt, D. G. Truhlar, J. Chem. Phys. 65 (1976) 3826.
 */
#pragma once

#include "xc_molecule.h"

TSL_C_BEGIN

void xc_ecps_clear(xc_ecps *ecps);

/** The potential of element z, or NULL. */
const xc_ecp *xc_ecp_of(const xc_ecps *ecps, int32_t z);

/**
 * Electrons s p d f of a core of closed shells. Cores are those that potentials are made for, such
 * as 28 (1s to 3d) and 60 (1s to 4f).
 * @return false: no such core is known, and electrons are 0
 */
bool xc_ecp_core(int32_t core, double electrons[4]);

/** Copy the potentials of elements that the molecule has, ghosts not counted. */
tsl_err xc_ecps_choose(const xc_ecps *from, const xc_molecule *molecule, xc_ecps *out);

/**
 * Set the electrons that the atoms' potentials replace, 0 of atoms without a potential and of
 * ghosts, and count the molecule's electrons again.
 * @param[in] what  the set, for messages
 * @return TSL_ERR_INPUT when the electrons left do not fit charge and multiplicity
 */
tsl_err xc_ecps_place(const char *what, const xc_ecps *ecps, xc_molecule *molecule);

TSL_C_END
