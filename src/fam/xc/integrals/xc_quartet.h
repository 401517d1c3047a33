/**
 * @file xc_quartet.h
 * Four-centre integrals (ab|cd) by Rys quadrature, for cards (sockets use libint2, xc_integrals.h)
 * and for the tests that hold both together.
 *
 *   (ab|cd) = sum over primitive pairs  factor_p factor_q 2 pi^5/2 / sqrt(p + q)
 *             sum_r weight_r I_x(y_r) I_y(y_r) I_z(y_r),     t = p q / (p + q) |P - Q|^2
 *
 * Integrals of an axis are made for a function of degree la + lb at A and one of lc + ld at C
 *   I(n+1, m) = c00 I(n, m) + n b10 I(n-1, m) + m b00 I(n, m-1)
 *   I(n, m+1) = d00 I(n, m) + m b01 I(n, m-1) + n b00 I(n-1, m)
 * and degrees are moved from A to B and from C to D: I(i, j+1) = I(i+1, j) + (A - B) I(i, j).
 * Functions are monomials; xc_quartet_power numbers them as xc_molecule.h does. A derivative with
 * respect to A is, along its axis, 2 alpha I(i+1, j) - i I(i-1, j), alpha the exponent at A.
 *
 * Of erf(omega r) / r the quadrature ends at sqrt(s), s = omega^2 / (omega^2 + p q / (p + q)):
 * roots and weights are those of s t, and count times s and sqrt(s). As s / (p + q) is
 * 1 / (p + q + p q / omega^2), that sum in place of p + q is all that changes.
 *
 * Loops have bounds that are constants at the place of the call on a card: their arrays are
 * registers there.
 *
 * Sources: J. Rys, M. Dupuis, H. F. King, J. Comput. Chem. 4 (1983) 154, eqs. 15-22; of other
 * operators: R. Ahlrichs, Phys. Chem. Chem. Phys. 8 (2006) 3072.
 */
#pragma once

#include "xc_harmonics.h"
#include "xc_rys.h"

#include <stdalign.h>

enum {
  XC_QUARTET_L = 3, /**< highest degree of a shell: four of them need XC_RYS_MOST roots */
  XC_QUARTET_AXIS = 2 * XC_QUARTET_L + 2 /**< degrees of a pair and its derivative along an axis */
};

/** A pair of primitives: exponent p and centre of the product, half = 1 / 2p; factor: both
 *  coefficients, the decay with the distance of the shells, and 1 / p. */
typedef struct xc_quartet_two {
  alignas(16) double p; /* a card loads two numbers at once */
  double at[3], factor, half;
} xc_quartet_two;

/** Primitives i of a and j of b. */
TSL_FN void xc_quartet_set(const xc_shell *a, const xc_shell *b, int i, int j, xc_quartet_two *q) {
  const double alpha = a->exponent[i], beta = b->exponent[j];
  double square = 0;
  q->p = alpha + beta;
  for (int x = 0; x < 3; x++) {
    const double ab = a->at[x] - b->at[x];
    q->at[x] = (alpha * a->at[x] + beta * b->at[x]) / q->p;
    square += ab * ab;
  }
  q->half = 0.5 / q->p;
  q->factor = a->coefficient[i] * b->coefficient[j] / q->p * exp(-alpha * beta / q->p * square);
}

/** What all roots of two pairs of primitives share. */
typedef struct xc_quartet_core {
  double t, scale;       /**< scale: of the weights */
  double half_p, half_q; /**< 1 / 2p, 1 / 2q */
  double of_p, of_q;     /**< s p / (p + q), s q / (p + q); s of 1 / r is 1 */
} xc_quartet_core;

/** @param[in] spread  1 / omega^2 of erf(omega r) / r; 0: 1 / r */
TSL_FN void xc_quartet_meet(const xc_quartet_two *bra, const xc_quartet_two *ket, double spread,
                            xc_quartet_core *c) {
  const double p = bra->p, q = ket->p;
  const double root = xc_rsqrt(fma(p * q, spread, p + q)), inverse = root * root;
  double square = 0;
  for (int x = 0; x < 3; x++) {
    const double pq = bra->at[x] - ket->at[x];
    square = fma(pq, pq, square);
  }
  c->of_p = p * inverse, c->of_q = q * inverse;
  c->t = p * c->of_q * square;
  c->scale = 34.986836655249725693 * root * bra->factor * ket->factor;
  c->half_p = bra->half, c->half_q = ket->half;
}

/** Coefficients of the recursion along an axis. */
typedef struct xc_quartet_step {
  double b00, b10, b01, c00, d00;
} xc_quartet_step;

/** @param[in] y  a root
 *  @param[in] pa, qc, pq  P - A, Q - C and P - Q along the axis */
TSL_FN xc_quartet_step xc_quartet_root(const xc_quartet_core *c, double y, double pa, double qc,
                                       double pq) {
  xc_quartet_step s;
  s.b00 = y * c->of_p * c->half_p; /* = s y / 2 (p + q) */
  s.b10 = c->half_p * (1 - y * c->of_q);
  s.b01 = c->half_q * (1 - y * c->of_p);
  s.c00 = fma(-y * c->of_q, pq, pa);
  s.d00 = fma(y * c->of_p, pq, qc);
  return s;
}

/** Integrals along an axis for degrees up to n at A and m at C. @param[out] v  [n + 1][m + 1] */
TSL_FN void xc_quartet_climb(int n, int m, const xc_quartet_step *s, double first, double *v) {
  v[0] = first;
  TSL_UNROLL
  for (int i = 0; i < n; i++) {
    v[(i + 1) * (m + 1)] = s->c00 * v[i * (m + 1)];
    if (i > 0) v[(i + 1) * (m + 1)] = fma(i * s->b10, v[(i - 1) * (m + 1)], v[(i + 1) * (m + 1)]);
  }
  TSL_UNROLL
  for (int k = 0; k < m; k++) {
    TSL_UNROLL
    for (int i = 0; i <= n; i++) {
      double *at = v + i * (m + 1) + k;
      double value = s->d00 * at[0];
      if (k > 0) value = fma(k * s->b01, at[-1], value);
      if (i > 0) value = fma(i * s->b00, at[-(m + 1)], value);
      at[1] = value;
    }
  }
}

/**
 * Integrals along an axis for a root.
 * @param[in]  first   I(0, 0): 1, or weight and factors along one of the axes
 * @param[in]  ab, cd  A - B and C - D along the axis
 * @param[out] out     [la + 1][lb + 1][lc + 1][ld + 1]
 */
TSL_FN void xc_quartet_axis(int la, int lb, int lc, int ld, const xc_quartet_step *s, double first,
                            double ab, double cd, double *out) {
  double v[XC_QUARTET_AXIS * XC_QUARTET_AXIS], h[XC_QUARTET_AXIS];
  double moved[(XC_QUARTET_L + 2) * (XC_QUARTET_L + 1) * XC_QUARTET_AXIS];
  const int n = la + lb, m = lc + ld;
  xc_quartet_climb(n, m, s, first, v);
  TSL_UNROLL
  for (int k = 0; k <= m; k++) {
    TSL_UNROLL
    for (int i = 0; i <= n; i++) h[i] = v[i * (m + 1) + k];
    TSL_UNROLL
    for (int j = 0; j <= lb; j++) {
      TSL_UNROLL
      for (int i = 0; i <= la; i++) moved[(i * (lb + 1) + j) * (m + 1) + k] = h[i];
      TSL_UNROLL
      for (int i = 0; i < n - j; i++) h[i] = fma(ab, h[i], h[i + 1]);
    }
  }
  TSL_UNROLL
  for (int ij = 0; ij < (la + 1) * (lb + 1); ij++) {
    TSL_UNROLL
    for (int k = 0; k <= m; k++) h[k] = moved[ij * (m + 1) + k];
    TSL_UNROLL
    for (int l = 0; l <= ld; l++) {
      TSL_UNROLL
      for (int k = 0; k <= lc; k++) out[(ij * (lc + 1) + k) * (ld + 1) + l] = h[k];
      TSL_UNROLL
      for (int k = 0; k < m - l; k++) h[k] = fma(cd, h[k], h[k + 1]);
    }
  }
}

/** Roots that a class needs. */
TSL_FN int xc_quartet_roots(int la, int lb, int lc, int ld) {
  return (la + lb + lc + ld) / 2 + 1;
}

/** Power of x, y or z in monomial k of degree l. */
TSL_FN int xc_quartet_power(int l, int k, int axis) {
  const int both = (k >= 1) + (k >= 3) + (k >= 6); /* of y and z */
  const int z = k - both * (both + 1) / 2;
  return axis == 0 ? l - both : axis == 1 ? both - z : z;
}
