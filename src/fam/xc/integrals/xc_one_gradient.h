/**
 * @file xc_one_gradient.h
 * First derivatives of one-electron integrals with respect to nuclei and charges, contracted at
 * once with a symmetric matrix. All functions add.
 *
 *   d/dA_x of (x - A)^i exp(-a (x - A)^2) is 2 a (i + 1) - i (i - 1): the function of one power
 *   more and that of one less. Overlap and kinetic energy depend on A - B alone, so d/dB = - d/dA.
 *   Attraction: the density of a pair of primitives is one sum of Hermite Gaussians about P,
 *     sum_h H_h L_h(r - P),   E = - sum_c q_c 2 pi / p sum_h H_h R_h(P - C)
 *   and dR_tuv/dP_x = R_(t+1)uv = - dR_tuv/dC_x, so d/dA + d/dB = - sum_c d/dC_c.
 *
 * Batches are pairs (a, b), b <= a, of shells with a in [lo, hi), as in xc_one.h; batches of the
 * same outputs may not run at the same time.
 *
 * Source: L. E. McMurchie, E. R. Davidson, J. Comput. Phys. 26 (1978) 218; Helgaker, Jorgensen,
 * Olsen, Molecular Electronic-Structure Theory, 9.5 and 9.9.
 */
#pragma once

#include "xc_molecule.h"

TSL_C_BEGIN

/**
 * gradient += sum_ij overlap_ij dS_ij/dR + kinetic_ij dT_ij/dR, hartree/bohr.
 * @param[in] overlap,kinetic  [n][n] symmetric weights
 * @param[in,out] gradient  [atoms][3], by the shells' atom
 */
void xc_overlap_kinetic_gradient(const xc_basis *basis, int64_t lo, int64_t hi,
                                 const double *overlap, const double *kinetic,
                                 double (*gradient)[3]);

/**
 * The derivative of sum_ij density_ij A_ij, A of xc_attraction, hartree/bohr.
 * @param[in] charges  [n]
 * @param[in] density  [n][n] symmetric
 * @param[in,out] gradient    [atoms][3] with respect to the functions' places
 * @param[in,out] on_charges  [n][3] with respect to the charges' places; where the first charges
 *                            are the nuclei it may be the same memory
 */
void xc_attraction_gradient(const xc_basis *basis, const xc_charge *charges, int64_t n, int64_t lo,
                            int64_t hi, const double *density, double (*gradient)[3],
                            double (*on_charges)[3]);

TSL_C_END
