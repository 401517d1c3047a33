/**
 * @file xc_cpu_gradient.h
 * The gradient of the exchange-correlation energy on a socket, group by group.
 *
 * Of a group's share of E = sum_p w_p e(rho_p, sigma_p), at fixed density matrices:
 *   functions move   what follows the atoms' functions, points and weights at rest: J. A. Pople,
 *                    P. M. W. Gill, B. G. Johnson, Chem. Phys. Lett. 199 (1992) 557, eq. 20 to 24
 *   points move      with the atom that owns them, and so does their weight: B. G. Johnson,
 *                    P. M. W. Gill, J. A. Pople, J. Chem. Phys. 98 (1993) 5612, appendix; with
 *                    xc_params.response alone. The sum over the groups is the derivative of the
 *                    quadrature then, and the sum over the atoms is zero to rounding
 * With X = D phi, G = de/d(grad rho) and psi = v_rho phi + G . grad phi, the first is of atom A
 *     -2 sum_p w_p sum_(i of A) [ grad phi_i (D psi)_i + (grad grad phi_i) (x_i G + u y_i) ]
 * for each spin, with u = v_tau / 2 and y = D grad phi for meta-GGAs, so it costs two products of
 * matrices (local functionals: one, meta-GGAs: five), about as an exchange-correlation matrix does;
 * second derivatives are used where they are made.
 */
#pragma once

#include "xc_cpu.h"

/** What threads need beside xc_thread. */
typedef struct xc_gradient xc_gradient;

/** Bytes that xc_gradient_open takes, after xc_groups_bytes. */
double xc_gradient_bytes(const tsl_worker *w);
/**
 * Memory of the threads, and the partition of the grid when xc_params.response is set.
 * @param[in]  w    open; its threads and its evaluator are used, not owned
 * @param[out] out  free with xc_gradient_close, before the worker
 * @return TSL_ERR_MEMORY
 */
tsl_err xc_gradient_open(tsl_worker *w, xc_gradient **out);
/** NULL accepted, sets NULL. */
void xc_gradient_close(xc_gradient **gradient);

/**
 * Add the shares of groups to a gradient; densities are those of XC_IN_DENSITIES.
 *
 * Threads share pieces of groups as in xc_run_groups, whose functions, when kept, are used. What
 * pieces find is added in their order: the sum depends on the units, their order and the number of
 * threads alone (XC_INNER), or not on threads either. Reproducible: each share of a piece is
 * rounded to a multiple of 2^-42, so that sums of shares are exact in doubles below 2048 and the
 * same bits in any order, over ranks too.
 * @param[in]     units     [n] of kind XC_UNIT_GROUP
 * @param[out]    parts     [n] seconds are set
 * @param[in,out] gradient  [n_atoms][3] dE/dR, hartree/bohr; added to
 * @return TSL_ERR_NUMERIC reproducible: a sum is no number or beyond 1024; TSL_ERR_MEMORY
 */
tsl_err xc_gradient_groups(tsl_worker *w, xc_gradient *g, const tsl_unit *units, int64_t n,
                           tsl_part *parts, double *gradient);
