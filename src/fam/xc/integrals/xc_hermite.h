/* Hermite functions by number, tables that all integrals by them share, and sums over charges. */
#pragma once

#include "xc_boys.h"
#include "xc_harmonics.h"

enum {
  XC_HERMITE_L = 2 * XC_MAX_L + 1, /* degree of a product, and of its derivative */
  XC_HERMITES = (XC_HERMITE_L + 1) * (XC_HERMITE_L + 2) * (XC_HERMITE_L + 3) / 6,
  XC_CHARGE_LANES = 8,               /* charges at a time */
  XC_REPULSION_L = 4 * XC_MAX_L + 1, /* degree of two products, one of them differentiated */
  XC_REPULSIONS = (XC_REPULSION_L + 1) * (XC_REPULSION_L + 2) * (XC_REPULSION_L + 3) / 6,
  XC_HERMITE_ROW = 1 + XC_REPULSION_L + XC_BOYS_TERMS /* as XC_BOYS_ROW, to that degree */
};

/* Number of Hermite function (t, u, v), degrees ascending. */
TSL_FN int xc_hermite_at(int t, int u, int v) {
  const int d = t + u + v;
  return d * (d + 1) * (d + 2) / 6 + xc_cartesian_at(u, v);
}

/* Number of those of degree <= l. */
TSL_FN int xc_hermite_count(int l) {
  return (l + 1) * (l + 2) * (l + 3) / 6;
}

/* How R_tuv follows from lower degrees: R[h] = r[axis] R[one] + factor R[two]. */
typedef struct xc_hermite_step {
  int axis, one, two;
  double factor;
} xc_hermite_step;

typedef struct xc_one_tables {
  xc_harmonics harmonics;
  int power[XC_MAX_L + 1][XC_CARTESIANS(XC_MAX_L)][3]; /* of x, y, z in function k of degree l */
  xc_hermite_step step[XC_REPULSIONS];
  int up[XC_HERMITES][3];                /* (t + 1, u, v) and so on of those below XC_HERMITE_L */
  int16_t sum[XC_HERMITES][XC_HERMITES]; /* number of h + h' of degree <= XC_REPULSION_L */
  double boys[XC_BOYS_NODES][XC_HERMITE_ROW];
} xc_one_tables;

/* The tables, filled at the first call; any thread. */
const xc_one_tables *xc_one_tables_get(void);

/*
 * sum[h] = sum_c q_c R_h(p, at - R_c) for the Hermite functions of degree <= l, where R_000 =
 * F_0(p r^2); charges in blocks of XC_CHARGE_LANES, the last one filled up with zeros.
 */
void xc_hermite_charges(const xc_one_tables *tables, int l, double p, const double at[3],
                        const xc_charge *charges, int64_t n, double sum[XC_HERMITES]);

/*
 * Likewise of degree <= l + 1, and of each charge what it adds to the derivative of
 * sum_h weights[h] sum[h] with respect to `at`, for weights of degree <= l < XC_HERMITE_L:
 * forces[c][x] += q_c sum_h weights[h] R_(h + x).
 */
void xc_hermite_forces(const xc_one_tables *tables, int l, double p, const double at[3],
                       const xc_charge *charges, int64_t n, const double *weights,
                       double sum[XC_HERMITES], double (*forces)[3]);

/*
 * out[k] += sum_h number[h] R_h(p, at - r_k) of the Hermite functions of degree <= l at n points
 * r_k; r[x] holds their x, y and z.
 */
void xc_hermite_points(const xc_one_tables *tables, int l, double p, const double at[3],
                       const double *number, const double *const r[3], int64_t n, double *out);
