/* Boys functions and Hermite Coulomb integrals of XC_CHARGE_LANES places at a time, for functions
 * that are compiled for each level of x86-64. */
#pragma once

#include "xc_hermite.h"

#include <math.h>

/* F_0..F_l of XC_CHARGE_LANES arguments, as xc_boys_functions without a branch. */
static inline __attribute__((always_inline)) void
xc_boys_lanes(const xc_one_tables *tab, int l, const double *t, double f[][XC_CHARGE_LANES]) {
  double decay[XC_CHARGE_LANES], far[XC_CHARGE_LANES];
  for (int k = 0; k < XC_CHARGE_LANES; k++) {
    const double inside = t[k] < XC_BOYS_REACH ? t[k] : XC_BOYS_REACH;
    const int node = (int)(inside * XC_BOYS_STEPS + 0.5);
    const double d = (double)node / XC_BOYS_STEPS - inside;
    f[l][k] = xc_boys_taylor(tab->boys[node] + 1 + l, d);
    decay[k] = xc_boys_decay(tab->boys[node][0], d);
  }
  for (int k = 0; k < XC_CHARGE_LANES; k++) {
    const double t1 = t[k] > 1 ? t[k] : 1;
    far[k] = 0.5 * sqrt(M_PI / t1);
    for (int n = 1; n <= l; n++) far[k] *= (2 * n - 1) / (2 * t1);
  }
  for (int k = 0; k < XC_CHARGE_LANES; k++) {
    f[l][k] = t[k] < XC_BOYS_REACH ? f[l][k] : far[k];
    decay[k] = t[k] < XC_BOYS_REACH ? decay[k] : 0;
  }
  for (int n = l; n > 0; n--)
    for (int k = 0; k < XC_CHARGE_LANES; k++)
      f[n - 1][k] = xc_boys_down(n, t[k], f[n][k], decay[k]);
}

/* R of degree <= l from Boys functions f, which are lost: order n = l..0, each from the order above
 * it. @param[in] p  of each lane */
static inline __attribute__((always_inline))
const double (*xc_hermite_lanes(const xc_one_tables *tab, int l, const double p[XC_CHARGE_LANES],
                                const double r[3][XC_CHARGE_LANES], double f[][XC_CHARGE_LANES],
                                double (*const work[2])[XC_CHARGE_LANES]))[XC_CHARGE_LANES] {
  double power[XC_CHARGE_LANES];
  for (int k = 0; k < XC_CHARGE_LANES; k++) power[k] = 1;
  for (int n = 1; n <= l; n++)
    for (int k = 0; k < XC_CHARGE_LANES; k++) {
      power[k] *= -2 * p[k];
      f[n][k] *= power[k];
    }
  for (int n = l; n >= 0; n--) {
    double(*to)[XC_CHARGE_LANES] = work[n % 2];
    const double(*from)[XC_CHARGE_LANES] = (const double(*)[XC_CHARGE_LANES])work[1 - n % 2];
    const int count = xc_hermite_count(l - n);
    for (int k = 0; k < XC_CHARGE_LANES; k++) to[0][k] = f[n][k];
    for (int h = 1; h < count; h++) {
      const xc_hermite_step s = tab->step[h];
      for (int k = 0; k < XC_CHARGE_LANES; k++)
        to[h][k] = r[s.axis][k] * from[s.one][k] + s.factor * from[s.two][k];
    }
  }
  return (const double(*)[XC_CHARGE_LANES])work[0];
}
