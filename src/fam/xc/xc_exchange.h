/**
 * @file xc_exchange.h
 * Exact exchange by density fitting (F. Weigend, Phys. Chem. Chem. Phys. 4 (2002) 4285):
 *
 *   K_mn = sum_i sum_PQ (mi|P) (P|Q)^-1 (Q|ni) = sum_i sum_P Y_Pim Y_Pin
 *   L Y = X,  X_Pim = sum_n (P|mn) c_in,  (P|Q) = L L^T
 *
 * The i are orbitals of the very density that is asked for, D = sum_i c_i c_i^T, whether it is of a
 * determinant, of atoms or a mixture of iterations: eigenvectors of D times the root of their
 * eigenvalue. How many there are differs by iteration, so units are ranges of slots, and the
 * orbitals are dealt to slots evenly.
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

TSL_C_END
#endif
