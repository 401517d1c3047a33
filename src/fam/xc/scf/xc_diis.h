/**
 * @file xc_diis.h
 * Direct inversion in the iterative subspace: the combination of earlier matrices whose error
 * vectors cancel best.
 *
 * Source: P. Pulay, Chem. Phys. Lett. 73 (1980) 393; J. Comput. Chem. 3 (1982) 556.
 */
#ifndef TSL_FAM_XC_DIIS_H
#define TSL_FAM_XC_DIIS_H

#include "error.h"

#include <stdint.h>

enum { XC_DIIS_MOST = 20 };

/** History of matrices and errors. Release with xc_diis_clear. */
typedef struct xc_diis {
  int64_t size;                               /**< elements, all spins together */
  int32_t room, n;                            /**< most entries; entries so far */
  int32_t next;                               /**< entry that the next one replaces */
  double *matrices;                           /**< [room][size] */
  double *errors;                             /**< [room][size] */
  double overlap[XC_DIIS_MOST][XC_DIIS_MOST]; /**< of errors */
} xc_diis;

/** @param[in] room  1..XC_DIIS_MOST */
tsl_err xc_diis_create(int64_t size, int32_t room, xc_diis *diis);
void xc_diis_clear(xc_diis *diis);

/** Store a matrix with its error and replace matrix by the best combination; with one entry, or
 *  when no combination can be found, it stays as it is. */
void xc_diis_step(xc_diis *diis, const double *error, double *matrix);

#endif
