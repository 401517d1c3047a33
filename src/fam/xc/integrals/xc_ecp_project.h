/**
 * @file xc_ecp_project.h
 * Functions seen from the centre of an effective core potential: of a function phi around A
 *
 *   a_lm(r) = int S_lm(u) phi(C + r u) du
 *
 * with real spherical harmonics of norm 1, in closed form: x = (x - A) + A, and
 *
 *   exp(-a |r u - d|^2) = exp(-a (r - |d|)^2) sum_k (2 k + 1) exp(-t) i_k(t) P_k(u d / |d|),
 *   t = 2 a r |d|, d = A - C,
 *
 * of which harmonics and powers of x, y and z leave a finite sum. Its integrals over directions are
 * those of polynomials, and come from a product rule that is exact for them.
 *
 * Source: L. E. McMurchie, E. R. Davidson, J. Comput. Phys. 44 (1981) 289.
 */
#pragma once

#include "xc_ecp.h"
#include "xc_harmonics.h"

enum {
  XC_PROJECT_L = XC_MAX_L + 1,                 /**< of functions and their derivatives */
  XC_PROJECT_K = XC_MAX_ECP_L + XC_PROJECT_L,  /**< orders of Legendre's polynomials: k below it */
  XC_PROJECT_LM = XC_MAX_ECP_L * XC_MAX_ECP_L, /**< harmonics of projectors */
  XC_PROJECT_POWERS = (XC_PROJECT_L + 1) * (XC_PROJECT_L + 2) * (XC_PROJECT_L + 3) / 6,
  XC_PROJECT_POINTS = 400 /**< radii, at most */
};

/** Integrals over directions, for one d. */
typedef struct xc_ecp_angles {
  double d[3], far; /**< d and its length */
  int l;            /**< projectors have l below it */
  /** [l^2 + l + m][powers, degrees ascending][k]:
   *  (2 k + 1) int S_lm x^i y^j z^k P_k(u d / |d|) du */
  double of[XC_PROJECT_LM][XC_PROJECT_POWERS][XC_PROJECT_K];
} xc_ecp_angles;

/** @param[in] l        projectors have l below it
 *  @param[in] degree   of powers, at most XC_PROJECT_L */
void xc_ecp_angles_set(const double d[3], int l, int degree, xc_ecp_angles *out);

/** What is seen from a centre: directions and radii, and memory for it. */
typedef struct xc_ecp_view {
  const xc_ecp_angles *angles; /**< borrowed */
  const double *r;             /**< [n] radii; borrowed */
  int n;                       /**< at most XC_PROJECT_POINTS */
  double radial[XC_PROJECT_L + 1][XC_PROJECT_K][XC_PROJECT_POINTS];
  double rows[2][XC_CARTESIANS(XC_PROJECT_L) * XC_PROJECT_LM * XC_PROJECT_POINTS];
} xc_ecp_view;

/** a_lm(r) of the functions of a shell at A. @param[out] out  [size of shell][l^2][n] */
void xc_ecp_project(xc_ecp_view *view, const xc_shell *shell, double *out);

/** Its derivatives with respect to A. @param[out] out  [3][size of shell][l^2][n] */
void xc_ecp_project_slopes(xc_ecp_view *view, const xc_shell *shell, double *out);

/** exp(-t) i_k(t) of modified spherical Bessel functions, k = 0..top, top < XC_PROJECT_K; relative
 *  error below 1e-13 where it is above 1e-30. For tests. */
void xc_ecp_bessel(int top, double t, double *out);
