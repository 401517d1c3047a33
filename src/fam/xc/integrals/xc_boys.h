/**
 * @file xc_boys.h
 * Boys functions F_n(t) = int_0^1 u^2n exp(-t u^2) du, for sockets and cards.
 *
 * Of the highest order by Taylor's series about the nearest node of a table (dF_n/dt = -F_n+1), or
 * beyond the table (2n - 1)!! / (2t)^n sqrt(pi / t) / 2; the others downwards by
 * F_n-1 = (2t F_n + exp(-t)) / (2n - 1), which adds positive terms. Relative error below 1e-14.
 *
 * Source: Helgaker, Jorgensen, Olsen, Molecular Electronic-Structure Theory, 9.8.
 */
#pragma once

#include "fn.h"

enum {
  XC_BOYS_L = 13,    /**< highest order: a derivative of three shells of XC_MAX_L */
  XC_BOYS_TERMS = 8, /**< of Taylor's series */
  XC_BOYS_STEPS = 16,
  XC_BOYS_REACH = 64, /**< beyond it exp(-t) is nothing beside every F_n */
  XC_BOYS_NODES = XC_BOYS_REACH * XC_BOYS_STEPS + 1,
  XC_BOYS_ROW = 1 + XC_BOYS_L + XC_BOYS_TERMS /**< exp(-t), F_0, F_1, .. at a node */
};

/** F_n at a distance d = node - t, |d| <= 1 / (2 XC_BOYS_STEPS). @param[in] f  F_n, F_n+1, .. there
 */
TSL_FN double xc_boys_taylor(const double *f, double d) {
  double sum = f[7];
  sum = sum * (d * (1.0 / 7)) + f[6];
  sum = sum * (d * (1.0 / 6)) + f[5];
  sum = sum * (d * (1.0 / 5)) + f[4];
  sum = sum * (d * (1.0 / 4)) + f[3];
  sum = sum * (d * (1.0 / 3)) + f[2];
  sum = sum * (d * (1.0 / 2)) + f[1];
  return sum * d + f[0];
}

/** exp(-t) likewise. */
TSL_FN double xc_boys_decay(double at_node, double d) {
  double e = 1.0 / 5040;
  e = e * d + 1.0 / 720;
  e = e * d + 1.0 / 120;
  e = e * d + 1.0 / 24;
  e = e * d + 1.0 / 6;
  e = e * d + 0.5;
  e = e * d + 1.0;
  return at_node * (e * d + 1.0);
}

/** F_n-1 from F_n. */
TSL_FN double xc_boys_down(int n, double t, double f, double decay) {
  return (2 * t * f + decay) * (1.0 / (2 * n - 1));
}

/**
 * F_first(t)..F_last(t), t >= 0.
 * @param[in]  table  [XC_BOYS_NODES][XC_BOYS_ROW]
 * @param[out] f      [last - first + 1]
 * @return exp(-t); 0 beyond the table
 */
TSL_FN double xc_boys_functions(const double *table, int first, int last, double t, double *f) {
  if (t < XC_BOYS_REACH) {
    const int node = (int)(t * XC_BOYS_STEPS + 0.5);
    const double *row = table + node * XC_BOYS_ROW;
    const double d = node * (1.0 / XC_BOYS_STEPS) - t, decay = xc_boys_decay(row[0], d);
    f[last - first] = xc_boys_taylor(row + 1 + last, d);
    TSL_UNROLL
    for (int n = last; n > first; n--) f[n - 1 - first] = xc_boys_down(n, t, f[n - first], decay);
    return decay;
  }
  const double half = 0.5 / t;
  double far = 0.5 * sqrt(3.14159265358979323846 / t);
  TSL_UNROLL
  for (int n = 0; n <= last; n++) {
    if (n >= first) f[n - first] = far;
    far *= (2 * n + 1) * half;
  }
  return 0;
}
