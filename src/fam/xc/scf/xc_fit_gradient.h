/**
 * @file xc_fit_gradient.h
 * Derivatives of energies by density fitting: of (P|mn) and (P|Q), times weights.
 *
 *   Coulomb  E = 1/2 gamma (P|Q)^-1 gamma,    dE = sum c_P D_mn d(P|mn) - 1/2 sum c_P c_Q d(P|Q)
 *
 * Source: B. I. Dunlap, J. W. D. Connolly, J. R. Sabin, J. Chem. Phys. 71 (1979) 3396; of exchange
 * F. Weigend, Phys. Chem. Chem. Phys. 4 (2002) 4285.
 */
#pragma once

#include "xc_fit.h"

/**
 * gradient += sum_mn weights_P,mn d(P|mn)/dR of the functions P of a fitting shell and every
 * step-th pair of shells from first on, hartree/bohr.
 * @param[in] triples    engine of kind XC_TRIPLE_GRADIENTS
 * @param[in] weights    [functions of the shell][pairs->n_packed], both orders of a pair in one
 *                       (xc_fit_pack)
 * @param[in] bound      sqrt of the largest (P|P) of the shell
 * @param[in] threshold  blocks whose largest weight times bounds is below it are left out, hartree
 * @param[in,out] gradient  [atoms][3], by the shells' atom
 */
void xc_fit_gradient(xc_engine *triples, const xc_basis *orbital, const xc_basis *fitting,
                     const xc_pairs *pairs, int64_t shell, const double *weights, double bound,
                     double threshold, int64_t first, int64_t step, double (*gradient)[3]);

/**
 * gradient += sum_PQ weights_PQ d(P|Q)/dR of the functions P of a fitting shell and all Q of shells
 * before it, both orders in one.
 * @param[in] doubles  engine of kind XC_DOUBLE_GRADIENTS
 * @param[in] weights  [functions of the shell][fitting->n]; columns from the shell's own on unused
 */
void xc_fit_metric_gradient(xc_engine *doubles, const xc_basis *fitting, int64_t shell,
                            const double *weights, double (*gradient)[3]);
