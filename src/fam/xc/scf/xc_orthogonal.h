/**
 * @file xc_orthogonal.h
 * Orthonormal combinations of a basis, and orbitals in them.
 */
#pragma once

#include "error.h"

#include <stdint.h>

/**
 * Canonical orthogonalisation: eigenvectors of the overlap divided by the root of their eigenvalue,
 * those below limit left out. half overlap half^T = 1.
 * @param[in]  overlap   [n][n]
 * @param[in]  limit     of eigenvalues, for instance 1e-7
 * @param[out] half      [independent][n] of room [n][n]; free with tsl_free
 * @param[out] independent  rows of half
 * @param[out] smallest  eigenvalue of the overlap; NULL accepted
 * @return TSL_ERR_NUMERIC when nothing is left
 */
tsl_err xc_orthogonal_create(int64_t n, const double *overlap, double limit, double **half,
                             int64_t *independent, double *smallest);

/**
 * Orbitals of a Fock matrix: eigenvectors of half fock half^T, turned back into the basis.
 * @param[out] orbitals  [m][n], row k is orbital k
 * @param[out] energies  [m], ascending
 */
tsl_err xc_orthogonal_orbitals(int64_t n, int64_t m, const double *fock, const double *half,
                               double *orbitals, double *energies);
