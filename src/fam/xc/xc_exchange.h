/**
 * @file xc_exchange.h
 * Coulomb and exact exchange by density fitting, of one kind of integrals (F. Weigend, Phys. Chem.
 * Chem. Phys. 4 (2002) 4285):
 *
 *   B_Qmn = sum_P (L^-1)_QP (P|mn),  (P|Q) = L L^T
 *   J_mn  = sum_Q B_Qmn beta_Q,      beta_Q = sum_kl B_Qkl D_kl
 *   K_mn  = sum_Q sum_i X_Qim X_Qin, X_Qim  = sum_n B_Qmn c_in
 *
 * The Q are orthonormal combinations of fitting functions, Q of the first Q alone as L is a lower
 * triangle. Both matrices are sums over Q, so units are ranges of Q, and B of a range is kept where
 * it was made. The i are orbitals of the very density that is asked for, D = sum_i c_i c_i^T: the
 * occupied ones of a determinant; of atoms or a mixture of iterations any vectors with that sum,
 * columns of Cholesky's factor with pivots.
 *
 * The gradient is that of E = J/2 - a/2 sum_ij sum_PQ (ij|P) (P|Q)^-1 (Q|ij) of each spin:
 *
 *   dE_x = -a sum_ijP C_Pij d(P|ij) + a/2 sum_ijPQ C_Pij C_Qij d(P|Q),
 *   C_Pij = sum_Q (P|Q)^-1 (Q|ij) = sum_Q (L^-1)_QP B_Qij,  c_P = sum_Q (L^-1)_QP beta_Q
 *
 * Products i >= j are kept, those of unlike orbitals times the root of 2.
 */
#pragma once

#include "xc_problem.h"

TSL_C_BEGIN

/** Orbitals of spin s. */
static inline int64_t xc_exchange_count(const tsl_problem *problem, int s) {
  return ((const int32_t *)problem->fields[XC_IN_OCCUPIED].data)[s];
}

/** The orbitals c of spin s, one a row, [xc_exchange_count][n]. */
static inline const double *xc_exchange_orbitals(const tsl_problem *problem, int s) {
  const int64_t n = xc_params_of(problem)->n;
  return (const double *)problem->fields[XC_IN_ORBITALS].data + s * n * n;
}

/** Columns of L^-1 from row and column on, column by column with leading dimension n_fit. */
static inline const double *xc_exchange_metric(const tsl_problem *problem, int64_t row,
                                               int64_t column) {
  return (const double *)problem->fields[XC_IN_METRIC].data +
         column * xc_params_of(problem)->n_fit + row;
}

/** Orbitals of a spin in products, and the first of them; of more the others have no occupation. */
static inline int64_t xc_exchange_rank(const tsl_problem *problem, int64_t s, int64_t *first) {
  const int32_t *occupied = (const int32_t *)problem->fields[XC_IN_OCCUPIED].data;
  const int64_t most = xc_params_of(problem)->n_orbitals;
  *first = occupied[s] > most ? occupied[s] - most : 0;
  return occupied[s] - *first;
}

/** C of function P and spin s, [n_products]. */
static inline const double *xc_exchange_products(const tsl_problem *problem, int64_t s, int64_t p) {
  const xc_params *all = xc_params_of(problem);
  return (const double *)problem->fields[XC_IN_PRODUCTS].data +
         (s * all->n_fit + p) * all->n_products;
}

TSL_C_END
