/**
 * @file xc_purify.h
 * The density of a Fock matrix without its eigenvectors: trace-correcting purification of second
 * order, which needs products of matrices alone. In an orthonormal basis,
 *
 *   X_0 = (hi - F) / (hi - lo),   [lo, hi] around the spectrum of F
 *   X_k+1 = X_k^2 or 2 X_k - X_k^2, whose trace is nearer to the number of electrons
 *
 * The eigenvectors are those of F; the eigenvalues, in [0, 1] from the first on, go to 1 for as
 * many of the lowest levels as there are electrons and to 0 for the others. tr(X - X^2) is how far
 * they are from that: each of the two steps squares the distance from one end and doubles that from
 * the other, so that one more of each suffices once it is below the root of the rounding. The
 * number of steps rises by about three for each halving of the gap over hi - lo.
 *
 * Source: A. M. N. Niklasson, Phys. Rev. B 66 (2002) 155115 (steps); S. Gershgorin, Izv. Akad. Nauk
 * SSSR 7 (1931) 749 (lo, hi); E. H. Rubensson, E. Rudberg, P. Salek, J. Chem. Phys. 128 (2008)
 * 074106 (rounding errors: some eps (hi - lo) / gap).
 */
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

/** Is it expected to take less time than a diagonalisation, for matrices of order n where the
 *  caller's region is (xc_matrix.h)? */
bool xc_purify_pays(int64_t n);

/**
 * The projector onto the eigenvectors of the lowest eigenvalues; in a region or out of one.
 * @param[in]  filled  number of these, 0..n
 * @param[in]  fock    [n][n], symmetric, in the host's memory
 * @param[out] work    [n][n]
 * @param[out] out     [n][n]
 * @param[out] found   false, and out is undefined: in a bounded number of steps no gap was found
 *                     behind the lowest eigenvalues, or fock is not finite
 */
tsl_err xc_purify(int64_t n, int64_t filled, const double *fock, double *work, double *out,
                  bool *found);
