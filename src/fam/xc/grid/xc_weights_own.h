/* What the weights of the partition and their derivatives share. */
#ifndef TSL_FAM_XC_WEIGHTS_OWN_H
#define TSL_FAM_XC_WEIGHTS_OWN_H

#include "xc_grid.h"

#include "fn.h"

#include <math.h>

/** The half width of the SSF step. */
#define XC_SSF_A 0.64

struct xc_partition {
  int64_t n; /**< atoms */
  bool becke;
  double cut;
  double over;     /**< SSF: beyond |mu| = over the step is over, whatever the sizes of the cells */
  double *at;      /**< [n][3] */
  double *inverse; /**< [n][n] 1/R_ij, 0 on the diagonal */
  double *shift;   /**< [n][n] a_ij of the size adjustment, -1 on the diagonal: own factor 1 */
};

/** Becke's step: 1/2 (1 - p(p(p(nu)))), p(t) = t (3 - t^2)/2. */
static inline double becke_step(double nu) {
  nu = (3 - nu * nu) * nu * 0.5;
  nu = (3 - nu * nu) * nu * 0.5;
  nu = (3 - nu * nu) * nu * 0.5;
  return 0.5 - 0.5 * nu;
}

/** The step of SSF, eq. 11 and 14: exactly 1 below -a and 0 above a. */
static inline double ssf_step(double nu) {
  const double above = nu < -XC_SSF_A ? -XC_SSF_A : nu;
  const double t = (above > XC_SSF_A ? XC_SSF_A : above) / XC_SSF_A, t2 = t * t;
  return 0.5 - 0.5 * ((1 / 16.) * (t * (35 + t2 * (-35 + t2 * (21 - 5 * t2)))));
}

#endif
