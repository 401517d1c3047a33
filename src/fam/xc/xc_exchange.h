/**
 * @file xc_exchange.h
 * Exact exchange by density fitting (F. Weigend, Phys. Chem. Chem. Phys. 4 (2002) 4285):
 *
 *   K_mn = sum_i sum_PQ (mi|P) (P|Q)^-1 (Q|ni) = sum_i sum_P Y_Pim Y_Pin
 *   L Y = X,  X_Pim = sum_n (P|mn) c_in,  (P|Q) = L L^T
 *
 * The i are orbitals of the very density that is asked for, D = sum_i c_i c_i^T, whether it is of a
 * determinant, of atoms or a mixture of iterations: eigenvectors of D times the root of their
 * eigenvalue. The gradient is that of E = -a/2 sum_ij sum_PQ (ij|P) (P|Q)^-1 (Q|ij) of each spin,
 *
 *   dE = -a sum_ijP C_Pij d(P|ij) + a/2 sum_ijPQ C_Pij C_Qij d(P|Q)
 *   C_Pij = sum_Q (P|Q)^-1 (Q|ij)
 *
 * where products i >= j are kept, those of unlike orbitals times the root of 2. How many there are
 * differs by iteration, so units are ranges of slots, and the orbitals are dealt to slots evenly.
 */
#ifndef TSL_FAM_XC_XC_EXCHANGE_H
#define TSL_FAM_XC_XC_EXCHANGE_H

#include "xc_problem.h"

TSL_C_BEGIN

/** Orbitals of spin s before a slot; all of them for n_slots. */
static inline int64_t xc_exchange_before(const tsl_problem *problem, int64_t s, int64_t slot) {
  const int32_t *occupied = (const int32_t *)problem->fields[XC_IN_OCCUPIED].data;
  return occupied[s] * slot / xc_params_of(problem)->n_slots;
}

/** Row k of spin s in XC_IN_ORBITALS, [n]. */
static inline const double *xc_exchange_orbital(const tsl_problem *problem, int64_t s, int64_t k) {
  const int64_t n = xc_params_of(problem)->n;
  return (const double *)problem->fields[XC_IN_ORBITALS].data + (s * n + k) * n;
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
#endif
