/**
 * @file xc_ecp_local.h
 * The local part of effective core potentials in Hermite Gaussians: with
 *
 *   W(R) = int exp(-p |r - P|^2) U_L(|r - C|) dr,  R = |P - C|,
 *
 * integrals are sums of derivatives of W with respect to P, as those of attraction are of R_tuv
 * (xc_one.h). Each term c r^(k - 2) exp(-z r^2) of U_L makes, with s = p + z, g = p z / s,
 * h = p^2 / s,
 *
 *   W = c exp(-g R^2) { 2 (pi^3 / s)^(1/2) D_0(h R^2)   k = 0,  D_n(t) = int_0^1 (1 - u^2)^n
 *                       2 pi / s           F_0(h R^2)   k = 1            exp(-t (1 - u^2)) du
 *                       (pi / s)^(3/2)                  k = 2
 *
 * and (1/R d/dR)^n W follows from d/dt F_n = -F_n+1, d/dt D_n = -D_n+1: terms of one sign.
 *
 * Source: L. E. McMurchie, E. R. Davidson, J. Comput. Phys. 44 (1981) 289; the closed forms are
 * those of products of Gaussians.
 */
#pragma once

#include "xc_ecp.h"
#include "xc_hermite.h"

/** A potential at its atom. */
typedef struct xc_ecp_centre {
  const xc_ecp *ecp; /**< not owned */
  int64_t atom;
  double at[3];
} xc_ecp_centre;

/** sum[h] = derivatives of W of one potential, the Hermite functions of degree <= l.
 *  @param[in] p,at  exponent and centre P of the product of two Gaussians */
void xc_ecp_hermites(const xc_ecp_centre *centre, int l, double p, const double at[3],
                     double sum[XC_HERMITES]);

/** D_0(t)..D_last(t) of above, last <= XC_HERMITE_L, t >= 0; relative error below 1e-13. For tests.
 */
void xc_ecp_dawson(int last, double t, double *d);

/**
 * Local parts of potentials: <i| sum_C U_L |j>, as xc_attraction of xc_one.h.
 * @param[in] centres  [n]
 */
void xc_ecp_local(const xc_basis *basis, const xc_ecp_centre *centres, int64_t n, int64_t lo,
                  int64_t hi, double *matrix);

/** The derivative of sum_ij density_ij of that, as xc_attraction_gradient.
 *  @param[in,out] gradient  [atoms][3], of shells' atoms and the centres' */
void xc_ecp_local_gradient(const xc_basis *basis, const xc_ecp_centre *centres, int64_t n,
                           int64_t lo, int64_t hi, const double *density, double (*gradient)[3]);
