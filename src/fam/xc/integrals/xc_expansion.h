/**
 * @file xc_expansion.h
 * A product of two Gaussians along one axis as a sum of Hermite Gaussians:
 *   (x - A)^i (x - B)^j exp(-a (x - A)^2 - b (x - B)^2) = sum_t E_t^ij (d/dP)^t exp(-p (x - P)^2)
 * with p = a + b, P = (a A + b B) / p.
 *
 * Source: Helgaker, Jorgensen, Olsen, Molecular Electronic-Structure Theory, 9.5.6-7.
 */
#pragma once

#include "fn.h"
#include "xc_molecule.h"

/** Hermite coefficients; i has room for the first derivative, j for the second. */
typedef struct xc_expansion {
  double of[XC_MAX_L + 2][XC_MAX_L + 3][2 * XC_MAX_L + 4]; /**< [i][j][t] */
} xc_expansion;

/** E_t^(i+1,j) = E_t-1^ij / 2p + PA E_t^ij + (t + 1) E_t+1^ij, likewise j with PB. top = i + j. */
TSL_FN void xc_expansion_raise(const double *from, double *to, double shift, double half, int top) {
  for (int t = 0; t <= top + 1; t++)
    to[t] = (t > 0 ? half * from[t - 1] : 0) + (t <= top ? shift * from[t] : 0) +
            (t < top ? (t + 1) * from[t + 1] : 0);
}

/** All of i <= la, j <= lb. @param[in] start  E_0^00 */
TSL_FN void xc_expansion_fill(xc_expansion *e, int la, int lb, double pa, double pb, double p,
                              double start) {
  const double half = 0.5 / p;
  e->of[0][0][0] = start;
  for (int i = 0; i < la; i++) xc_expansion_raise(e->of[i][0], e->of[i + 1][0], pa, half, i);
  for (int i = 0; i <= la; i++)
    for (int j = 0; j < lb; j++) xc_expansion_raise(e->of[i][j], e->of[i][j + 1], pb, half, i + j);
}
