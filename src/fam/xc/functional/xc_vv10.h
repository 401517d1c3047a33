/**
 * @file xc_vv10.h
 * Non-local correlation of pairs of points (VV10): one source for sockets, cards and tests.
 *
 *   E = sum_i w_i rho_i (beta + 1/2 sum_j w_j rho_j Phi_ij)
 *   Phi_ij = -3 / (2 g_ij g_ji (g_ij + g_ji)),  g_ij = omega_i R_ij^2 + kappa_i
 *   omega = (C |grad rho|^4 / rho^4 + 4 pi rho / 3)^(1/2),  kappa = b 3 pi/2 (rho / 9 pi)^(1/6)
 *   beta = (3 / b^2)^(3/4) / 32
 *
 * (O. A. Vydrov, T. Van Voorhis, J. Chem. Phys. 133 (2010) 244103, eq. 2 to 13), of the density of
 * both spins. Points of less density than XC_VV10_LEAST take no part, as in other programs.
 *
 * Arithmetic. Roots are the root's alone (xc_vv10_site); what is done for each pair and after it
 * are products, sums and quotients, whose order for a point does not depend on who computes: the
 * same bits on cards and on sockets with a fused multiply-add.
 */
#pragma once

#include "fn.h"

/** Electrons / bohr^3. */
#define XC_VV10_LEAST 1e-8

/** b: how fast it vanishes where densities meet; 0: there is none. c: its C6 coefficients. */
typedef struct xc_vv10 {
  double b, c;
} xc_vv10;

/** What a point has beside its density: both 0 where it takes no part. */
typedef struct xc_vv10_site {
  double omega, kappa;
} xc_vv10_site;

/** A point and those that it has met. */
typedef struct xc_vv10_sums {
  double f;     /**< sum_j w_j rho_j (-2/3) Phi_ij */
  double u, v;  /**< the same times 1 / g_ij + 1 / (g_ij + g_ji), and that times R^2 */
  double at[3]; /**< sum_j w_j rho_j dPhi_ij/dR^2 (r_i - r_j), of gradients alone */
} xc_vv10_sums;

/** Of a point's energy: e of its own in E / w_i, whole what dE/dw_i is, and derivatives of E / w_i
 *  with respect to rho and sigma. */
typedef struct xc_vv10_point {
  double e, whole, vrho, vsigma;
} xc_vv10_point;

TSL_FN double xc_vv10_plasma(double rho) {
  return 4.1887902047863905 * rho; /* 4 pi / 3 */
}

/** rho^4 times what it adds to omega^2, over sigma. */
TSL_FN double xc_vv10_slope(double c, double rho, double sigma) {
  const double s = 1 / (rho * rho);
  return c * sigma * s * s;
}

/** rho of at least XC_VV10_LEAST. */
TSL_FN xc_vv10_site xc_vv10_site_of(xc_vv10 f, double rho, double sigma) {
  xc_vv10_site site;
  site.omega = sqrt(fma(sigma, xc_vv10_slope(f.c, rho, sigma), xc_vv10_plasma(rho)));
  site.kappa = f.b * 4.71238898038469 * cbrt(sqrt(rho / 28.274333882308138)); /* 3 pi/2, 9 pi */
  return site;
}

TSL_FN double xc_vv10_beta(double b) {
  const double s = sqrt(1.7320508075688772 / b); /* (3 / b^2)^(1/4) */
  return s * s * s / 32;
}

/** One more point, of charge w rho, as far away as d; near is of the point itself. */
TSL_FN void xc_vv10_add(xc_vv10_site near, xc_vv10_site far, double charge, const double d[3],
                        xc_vv10_sums *sums) {
  const double r2 = fma(d[0], d[0], fma(d[1], d[1], d[2] * d[2]));
  const double g = fma(near.omega, r2, near.kappa), h = fma(far.omega, r2, far.kappa);
  const double s = g + h, gh = g * h, q = 1 / (gh * s), t = charge * q;
  const double more = t * q * fma(h, s, gh); /* 1/g + 1/s = q (h s + g h) */
  sums->f += t;
  sums->u += more;
  sums->v = fma(more, r2, sums->v);
}

/** Likewise what moves the point: dPhi/dR^2 = 3/2 q (omega/g + omega'/h + (omega + omega')/s). */
TSL_FN void xc_vv10_add_slope(xc_vv10_site near, xc_vv10_site far, double charge, const double d[3],
                              xc_vv10_sums *sums) {
  const double r2 = fma(d[0], d[0], fma(d[1], d[1], d[2] * d[2]));
  const double g = fma(near.omega, r2, near.kappa), h = fma(far.omega, r2, far.kappa);
  const double s = g + h, gh = g * h, q = 1 / (gh * s);
  const double turn = fma(near.omega, h * s, fma(far.omega, g * s, (near.omega + far.omega) * gh));
  const double slope = 1.5 * charge * q * q * turn;
  for (int x = 0; x < 3; x++) sums->at[x] = fma(slope, d[x], sums->at[x]);
}

/** A point that has met all others. @param[in] beta  xc_vv10_beta */
TSL_FN xc_vv10_point xc_vv10_finish(xc_vv10 f, double beta, double rho, double sigma,
                                    xc_vv10_site site, const xc_vv10_sums *sums) {
  const double phi = -1.5 * sums->f, slope = xc_vv10_slope(f.c, rho, sigma);
  /* rho domega/drho, rho dkappa/drho, rho domega/dsigma */
  const double omega = fma(-2 * sigma, slope, 0.5 * xc_vv10_plasma(rho)) / site.omega;
  const double kappa = site.kappa / 6, turn = rho * slope / site.omega;
  xc_vv10_point o;
  o.e = rho * fma(0.5, phi, beta);
  o.whole = rho * (beta + phi);
  o.vrho = beta + phi + 1.5 * fma(sums->u, kappa, sums->v * omega);
  o.vsigma = 1.5 * sums->v * turn;
  return o;
}
