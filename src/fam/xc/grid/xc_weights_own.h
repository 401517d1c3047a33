/* What the weights of the partition and their derivatives share, on sockets and cards. */
#pragma once

#include "xc_grid.h"

#include "fn.h"

#include <math.h>

/** The half width of the SSF step, and 1 over it, which is exact. */
#define XC_SSF_A 0.64
#define XC_SSF_INVERSE 1.5625

/** Rows of atoms are padded to XC_CELL_LANES. A cell takes so many factors first, then
 *  XC_CELL_PIECE at a time, and looks after each of these whether it is over; a lane has the
 *  factors of every eighth atom. Sockets and cards (xc_gpu_shares.cu) do so alike, to the same
 *  bits. */
enum { XC_CELL_LANES = 8, XC_CELL_PIECE = 32 };

/** Cells below so much of the sum of cells are left out of derivatives. */
#define XC_LEAST_CELL 1e-16

struct xc_partition {
  int64_t n; /**< atoms */
  bool becke;
  double cut;
  double over;     /**< SSF: beyond |mu| = over the step is over, whatever the sizes of the cells */
  double *at;      /**< [n][3] */
  double *inverse; /**< [n][n] 1/R_ij, 0 on the diagonal */
  double *shift;   /**< [n][n] a_ij of the size adjustment, -1 on the diagonal: own factor 1 */
};

/** The steps' polynomials, of numbers or of vectors of them; SSF's of t = nu/a held within 1. */
#define XC_BECKE_TURN(nu) ((3 - (nu) * (nu)) * (nu)*0.5)
#define XC_SSF_STEP(t, t2) \
  (0.5 - 0.5 * ((1 / 16.) * ((t) * (35 + (t2) * (-35 + (t2) * (21 - 5 * (t2)))))))

/** Becke's step: 1/2 (1 - p(p(p(nu)))), p(t) = t (3 - t^2)/2. */
TSL_FN double becke_step(double nu) {
  nu = XC_BECKE_TURN(nu);
  nu = XC_BECKE_TURN(nu);
  nu = XC_BECKE_TURN(nu);
  return 0.5 - 0.5 * nu;
}

/** d ln s / d nu of it; 0 where s is. */
TSL_FN double becke_slope(double nu, double s) {
  const double a = (3 - nu * nu) * nu * 0.5, b = (3 - a * a) * a * 0.5;
  const double slope = -0.5 * 3.375 * (1 - nu * nu) * (1 - a * a) * (1 - b * b);
  return s > 0 ? slope / s : 0;
}

/** nu/a, held within 1. */
TSL_FN double ssf_bounded(double nu) {
  const double x = nu * XC_SSF_INVERSE, above = x < -1 ? -1 : x;
  return above > 1 ? 1 : above;
}

/** The step of SSF, eq. 11 and 14: exactly 1 below -a and 0 above a. */
TSL_FN double ssf_step(double nu) {
  const double t = ssf_bounded(nu);
  return XC_SSF_STEP(t, t * t);
}

/** d ln s / d nu of it; 0 where s is. */
TSL_FN double ssf_slope(double nu, double s) {
  const double t = ssf_bounded(nu), u = 1 - t * t;
  return s > 0 ? -0.5 * (35 / 16.) * XC_SSF_INVERSE * (u * u * u) / s : 0;
}
