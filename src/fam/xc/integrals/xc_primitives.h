/** @file xc_primitives.h  A pair of primitives, for integrals, derivatives and potentials. */
#pragma once

#include "xc_expansion.h"
#include "xc_hermite.h"

#include <math.h>

enum { XC_ONE_BLOCK = XC_CARTESIANS(XC_MAX_L) * XC_CARTESIANS(XC_MAX_L) };

/** A pair of primitives of shells a and b. */
typedef struct xc_primitives {
  const xc_shell *a, *b;
  double alpha, beta, p, factor; /**< factor: both coefficients */
  double at[3];                  /**< centre of the product */
  xc_expansion e[3];
} xc_primitives;

/** Set up primitives i and j of shells a and b, a with room for raise more powers, b for extra. */
void xc_primitives_set(xc_primitives *q, const xc_shell *a, const xc_shell *b, int i, int j,
                       int raise, int extra);

/** The density of a pair of shells in Cartesian functions, of both orders of unlike shells.
 *  @param[in] density  [n][n] symmetric
 *  @param[out] block   [cartesians of a][of b] */
void xc_primitives_density(const xc_basis *basis, const xc_shell *a, const xc_shell *b,
                           const double *density, double *block);

/** A density as a sum of Hermite Gaussians: itself, to degree l_a + l_b, and its derivatives with
 *  respect to A, of one degree more. */
typedef struct xc_hermites {
  double whole[XC_HERMITES], moved[3][XC_HERMITES];
} xc_hermites;

/** The density of a pair of primitives, set with raise 1, but for its factor.
 *  @param[in] block  of xc_primitives_density */
void xc_hermites_set(const xc_primitives *q, const double *block, xc_hermites *out);

/** The integral of the product's Gaussian, coefficients included, but for E_0^00. */
static inline double xc_primitives_overlap(const xc_primitives *q) {
  return q->factor * (M_PI / q->p) * sqrt(M_PI / q->p);
}

/** Along axis x, -1/2 d^2/dx^2 on x^j exp(-b x^2), as Hermite coefficient 0. */
static inline double xc_primitives_kinetic(const xc_primitives *q, int x, int i, int j) {
  const double(*e)[2 * XC_MAX_L + 4] = q->e[x].of[i];
  return -2 * q->beta * q->beta * e[j + 2][0] + q->beta * (2 * j + 1) * e[j][0] -
         (j > 1 ? 0.5 * j * (j - 1) * e[j - 2][0] : 0);
}

/** What multiplies Hermite integrals of attraction by charges. @return false: too little to feel
 *  any charge */
static inline bool xc_primitives_feel(const xc_primitives *q, double *factor) {
  *factor = -2 * M_PI / q->p * q->factor;
  return fabs(*factor) * q->e[0].of[0][0][0] * q->e[1].of[0][0][0] * q->e[2].of[0][0][0] >= 1e-24;
}
