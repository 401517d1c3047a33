/**
 * @file xc_rys.h
 * Roots and weights of Rys quadrature, for sockets and cards:
 *
 *   int_0^1 f(x^2) exp(-t x^2) dx = sum_r weight_r f(root_r)   for polynomials f of degree < 2n.
 *
 * Below XC_RYS_REACH by polynomials on intervals of length 1, beyond it by those of the half-line:
 * root / t and weight / sqrt(t) of Laguerre's polynomials of order -1/2, as what is cut off is
 * below 1e-14 of any moment there. Below it roots and weights have relative errors of 1e-15.
 *
 * Sources: M. Dupuis, J. Rys, H. F. King, J. Chem. Phys. 65 (1976) 111; the recursion coefficients
 * of a discretised measure by Stieltjes' procedure: W. Gautschi, Orthogonal Polynomials (2004),
 * 2.2.
 */
#pragma once

#include "fn.h"

#include <stdint.h>

enum {
  XC_RYS_MOST = 7,   /**< roots: four f shells */
  XC_RYS_REACH = 64, /**< intervals */
  XC_RYS_TERMS = 12  /**< of a polynomial */
};

/** Doubles of the table of n roots: [intervals][n][terms][2], root and weight side by side, then
 *  [n][2] of the half-line. */
#define XC_RYS_SIZE(n) ((XC_RYS_REACH * XC_RYS_TERMS + 1) * 2 * (n))
/** Where it begins. */
#define XC_RYS_FIRST(n) ((XC_RYS_REACH * XC_RYS_TERMS + 1) * (n) * ((n)-1))

/** Tables of 1..XC_RYS_MOST roots, one behind the other; highest power first. */
typedef struct xc_rys_tables {
  double of[XC_RYS_FIRST(XC_RYS_MOST + 1)];
} xc_rys_tables;

#ifdef __cplusplus
extern "C" {
#endif
/** The tables, filled at the first call; any thread. */
const xc_rys_tables *xc_rys_tables_get(void);

/** Roots, ascending, and weights by the procedure that fills the tables. For tests. */
void xc_rys_exact(int n, double t, double *root, double *weight);
#ifdef __cplusplus
}
#endif

/** A root and a weight, aligned so that a card loads both at once. */
#ifdef __CUDACC__
typedef double2 xc_rys_point;
#else
typedef struct xc_rys_point {
  double x, y; /**< root, weight */
} xc_rys_point;
#endif

/** Root r of n. @param[in] table  of xc_rys_tables */
TSL_FN void xc_rys(const double *table, int n, int r, double t, double *root, double *weight) {
  const xc_rys_point *points = (const xc_rys_point *)(table + XC_RYS_FIRST(n));
  if (t >= XC_RYS_REACH) {
    const xc_rys_point tail = points[XC_RYS_REACH * XC_RYS_TERMS * n + r];
    const double inverse = 1 / t;
    *root = tail.x * inverse;
    *weight = tail.y * sqrt(inverse);
    return;
  }
  const int interval = (int)t;
  const double z = 2 * (t - interval) - 1;
  const xc_rys_point *c = points + (interval * n + r) * XC_RYS_TERMS;
  double x = c[0].x, w = c[0].y;
  TSL_UNROLL
  for (int k = 1; k < XC_RYS_TERMS; k++) {
    const xc_rys_point next = c[k];
    x = fma(x, z, next.x);
    w = fma(w, z, next.y);
  }
  *root = x, *weight = w;
}
