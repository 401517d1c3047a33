/**
 * @file xc_ecp_integrals.h
 * One-electron integrals of effective core potentials, and their derivatives.
 *
 * The local part is one of Hermite Gaussians (xc_ecp_local.h). The semilocal one is a sum over
 * radii of projections (xc_ecp_project.h) at each potential's centre, two products of matrices:
 *
 *   <i| sum_l U_l sum_m |lm><lm| |j> = sum_lm sum_k w_k r_k^2 U_l(r_k) a_ilm(r_k) a_jlm(r_k)
 *
 * with XC_PROJECT_POINTS points of Gauss and Legendre in r^(1/2), up to where the projectors'
 * potentials are below 1e-12 hartree. Functions that are below 1e-10 there are left out.
 *
 * Elements are within 1e-10 of the largest of sums over points of space, gradients within 1e-9 of
 * differences (unit.xc.ecp); energies are PySCF's within 1e-10 hartree. The library libecpint
 * 1.0.7 is not used: between s and p shells it has coefficients of six digits, and of d and f
 * functions beside another atom it loses digits; with it Au2 in def2-SVP was off by 1e-7 hartree
 * and 3e-6 hartree/bohr.
 */
#pragma once

#include "xc_ecp.h"

/**
 * matrix += <i| sum_A U_A |j>, hartree, in ranges (parallel.h); the same bits for any threads.
 * @param[in] molecule    atoms with cores (xc_ecps_place)
 * @param[in] ecps        potentials of their elements
 * @param[in,out] matrix  [n][n]
 */
tsl_err xc_ecp_add(const xc_molecule *molecule, const xc_ecps *ecps, const xc_basis *basis,
                   double *matrix);

/** Bytes that these take beside their arguments, at most: projections of all functions on the
 *  largest of the potentials, and of the threads. @param[in] threads  that ranges are handed to */
double xc_ecp_bytes(const xc_ecps *ecps, const xc_basis *basis, int threads);

/**
 * gradient += the derivatives of sum_ij density_ij <i| sum_A U_A |j> with respect to the atoms.
 * @param[in] density       [n][n] symmetric
 * @param[in,out] gradient  [n_atoms][3], hartree/bohr
 */
tsl_err xc_ecp_gradient(const xc_molecule *molecule, const xc_ecps *ecps, const xc_basis *basis,
                        const double *density, double (*gradient)[3]);
