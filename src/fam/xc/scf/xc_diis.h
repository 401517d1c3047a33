/**
 * @file xc_diis.h
 * Direct inversion in the iterative subspace: the combination of earlier matrices whose error
 * vectors cancel best, far from the end mixed with the one of lowest energy (xc_adiis.h).
 *
 * Source: P. Pulay, Chem. Phys. Lett. 73 (1980) 393; J. Comput. Chem. 3 (1982) 556. Mixture: A. J.
 * Garza, G. E. Scuseria, J. Chem. Phys. 137 (2012) 054110.
 */
#pragma once

#include "error.h"
#include "xc_adiis.h"

#include <stdbool.h>
#include <stdint.h>

enum { XC_DIIS_MOST = XC_ADIIS_MOST };

/** History of matrices, errors and densities. Release with xc_diis_clear. */
typedef struct xc_diis {
  int64_t size;                               /**< elements, all spins together */
  int32_t room, n;                            /**< most entries; entries so far */
  int32_t next;                               /**< entry that the next one replaces */
  double *matrices;                           /**< [room][size] */
  double *errors;                             /**< [room][size] */
  double *densities;                          /**< [room][size]; NULL: for DIIS alone */
  double overlap[XC_DIIS_MOST][XC_DIIS_MOST]; /**< of errors */
  double trace[XC_DIIS_MOST][XC_DIIS_MOST];   /**< of a density and a matrix */
} xc_diis;

/** @param[in] room       1..XC_DIIS_MOST
 *  @param[in] densities  keep the densities of the matrices, too */
tsl_err xc_diis_create(int64_t size, int32_t room, bool densities, xc_diis *diis);
void xc_diis_clear(xc_diis *diis);

/**
 * Store a matrix with its error and replace matrix by a combination of those stored; with one entry
 * it stays as it is.
 * @param[in] density  that the matrix is of, [size]; NULL when densities are not kept
 * @param[in] share    of the weights of lowest energy, 0..1; the rest is Pulay's
 */
void xc_diis_step(xc_diis *diis, const double *error, const double *density, double share,
                  double *matrix);
