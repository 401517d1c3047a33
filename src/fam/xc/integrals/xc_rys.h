/**
 * @file xc_rys.h
 * Roots and weights of Rys quadrature, for sockets and cards:
 *
 *   int_0^1 f(x^2) exp(-t x^2) dx = sum_r weight_r f(root_r)   for polynomials f of degree < 2n.
 *
 * Below XC_RYS_REACH by polynomials on short intervals, beyond it by those of the half-line: root /
 * t and weight / sqrt(t) of Laguerre's polynomials of order -1/2, as what is cut off is below 1e-14
 * of any moment there. Below it roots and weights have relative errors of 1e-15. On a card their
 * price is that of loading coefficients, as neighbouring threads have different intervals: they are
 * few, and the highest ones, together below 1e-8 of the value, are in fp32.
 *
 * Sources: M. Dupuis, J. Rys, H. F. King, J. Chem. Phys. 65 (1976) 111; the recursion coefficients
 * of a discretised measure by Stieltjes' procedure: W. Gautschi, Orthogonal Polynomials (2004),
 * 2.2.
 */
#pragma once

#include "fn.h"

#include <stdint.h>
#include <string.h>

enum {
  XC_RYS_MOST = 7,   /**< roots: four f shells */
  XC_RYS_REACH = 64, /**< largest t of the intervals */
  XC_RYS_FINE = 4,   /**< intervals of a unit of t */
  XC_RYS_LONG = 6,   /**< terms of a polynomial in fp64, */
  XC_RYS_SHORT = 4,  /**< and higher ones in fp32, two in a word */
  XC_RYS_TERMS = XC_RYS_LONG + XC_RYS_SHORT,
  XC_RYS_WORDS = XC_RYS_LONG + XC_RYS_SHORT / 2
};

/** Points of an interval of n roots, [words][n] and one more: an odd number, for the banks of
 *  shared  memory. */
#define XC_RYS_PITCH(n) (XC_RYS_WORDS * (n) + 1)
/** Points of the table of n roots: the intervals, then [n] of the half-line. */
#define XC_RYS_SIZE(n) (XC_RYS_REACH * XC_RYS_FINE * XC_RYS_PITCH(n) + (n))
/** Where it begins. */
#define XC_RYS_FIRST(n) \
  (XC_RYS_REACH * XC_RYS_FINE * ((n)-1) * (XC_RYS_WORDS * (n) / 2 + 1) + (n) * ((n)-1) / 2)

/** What is of a root and of its weight, aligned so that a card loads both at once. */
#ifdef __CUDACC__
typedef double2 xc_rys_point;
#else
typedef struct xc_rys_point {
  double x, y; /**< root, weight */
} xc_rys_point;
#endif

/** Tables of 1..XC_RYS_MOST roots, one behind the other. */
typedef struct xc_rys_tables {
  xc_rys_point of[XC_RYS_FIRST(XC_RYS_MOST + 1)];
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

/** 1 / sqrt(x). */
TSL_FN double xc_rsqrt(double x) {
#ifdef __CUDA_ARCH__
  return rsqrt(x);
#else
  return 1 / sqrt(x);
#endif
}

/** The part of the highest powers: two words of four numbers in fp32. */
TSL_FN double xc_rys_short(double low, double high, float z) {
  float a[2], b[2];
  memcpy(a, &low, sizeof a);
  memcpy(b, &high, sizeof b);
  return (double)fmaf(fmaf(fmaf(b[1], z, b[0]), z, a[1]), z, a[0]);
}

/** Root r of n. @param[in] table  of n roots, [XC_RYS_SIZE(n)] */
TSL_FN void xc_rys(const xc_rys_point *table, int n, int r, double t, double *root,
                   double *weight) {
  if (t >= XC_RYS_REACH) {
    const xc_rys_point tail = table[XC_RYS_REACH * XC_RYS_FINE * XC_RYS_PITCH(n) + r];
    const double inverse = xc_rsqrt(t);
    *root = tail.x * inverse * inverse;
    *weight = tail.y * inverse;
    return;
  }
  const double place = t * XC_RYS_FINE;
  const int interval = (int)place;
  const double z = 2 * (place - interval) - 1;
  const xc_rys_point *c = table + interval * XC_RYS_PITCH(n) + r;
  const xc_rys_point low = c[XC_RYS_LONG * n], high = c[(XC_RYS_LONG + 1) * n];
  double x = xc_rys_short(low.x, high.x, (float)z), w = xc_rys_short(low.y, high.y, (float)z);
  TSL_UNROLL
  for (int k = XC_RYS_LONG - 1; k >= 0; k--) {
    const xc_rys_point next = c[k * n];
    x = fma(x, z, next.x);
    w = fma(w, z, next.y);
  }
  *root = x, *weight = w;
}
