/**
 * @file xc_stability.h
 * Is a self-consistent field a minimum? The lowest eigenvalue of A + B, the second derivatives of
 * the energy by rotations of occupied into empty orbitals, of real orbitals of the field's own kind
 * (R. Seeger, J. A. Pople, J. Chem. Phys. 66 (1977) 3045; R. Bauernschmitt, R. Ahlrichs, J. Chem.
 * Phys. 104 (1996) 9047):
 *
 *   (A + B) x = (e_a - e_i) x_ai + C_a^T (F[D(t x)] - F[D]) C_i / t,   D(t x) of C_i + t x_ai C_a
 *
 * made orthonormal. So a product is one more Fock matrix, built as those of the field are, and
 * holds for every functional that has one. t is small: the quotient is off by about as much.
 *
 *   xc_stability_begin -> { build for scf.ask_*; xc_stability_step } until it does not run
 *
 * Occupations are 0 and 1. Restricted fields are looked at among restricted ones: whether spins
 * part tells the same field, unrestricted. F[D] is built once more, of the orbitals that are
 * turned, as the field's density is of those before its last step.
 */
#pragma once

#include "xc_davidson.h"
#include "xc_scf.h"

/** All memory is owned. Release with xc_stability_clear. */
typedef struct xc_stability {
  bool running;
  bool known;      /**< lowest is that of the last field looked at */
  bool settled;    /**< and its residual as small as it was to be */
  int32_t builds;  /**< Fock matrices so far */
  int32_t follows; /**< fields that were left for a lower one */
  double lowest;   /**< eigenvalue, hartree; infinite: there is nothing to rotate */
  double residual; /**< hartree */
  double *xc;      /**< [n_spin][n][n] exchange-correlation matrix of a product, for the caller */
  /* private */
  bool based; /* base is known */
  xc_davidson davidson;
  double *density, *fock; /* [n_spin][n][n] the field's */
  double *orbitals[2];    /* [m][n] likewise */
  double *base, *image;   /* [rotations] C_a^T F C_i of the field; of a vector */
  double *rows[2];        /* [m][n] */
} xc_stability;

/** Look at a field that has converged; when running is set, its first product is asked for.
 *  @return TSL_ERR_MEMORY */
tsl_err xc_stability_begin(xc_scf *scf, xc_stability *s);
/** A product was built. When it was the last, densities, Fock matrices and orbitals are the
 *  field's again. */
tsl_err xc_stability_step(xc_scf *scf, const xc_scf_built *built, xc_stability *s);
/** Is there a way down? */
bool xc_stability_unstable(const xc_stability *s);
/** Begin the field anew, downhill along the eigenvector; iterations count on. */
tsl_err xc_stability_follow(xc_scf *scf, xc_stability *s);
void xc_stability_clear(xc_stability *s);
