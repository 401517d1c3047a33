/**
 * @file xc_lebedev.h
 * Lebedev's rules: points and weights on the unit sphere with octahedral symmetry.
 *
 * A rule is stored as its orbits under the octahedral group: one representative and one weight
 * for all its images. A rule of order L integrates every spherical harmonic of degree l <= L
 * exactly (to 1e-13, test unit.xc.grid). Weights sum to 1 and are positive, but for the rules of
 * 74, 230 and 266 points, which have one negative orbit each.
 *
 * Source: V. I. Lebedev, D. N. Laikov, Dokl. Math. 59 (1999) 477; the 116 points (seed, order 17):
 * V. I. Lebedev, Zh. Vychisl. Mat. Mat. Fiz. 15 (1975) 48.
 */
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

TSL_C_BEGIN

typedef enum xc_orbit_kind {
  XC_ORBIT_001, /**< (0, 0, 1): 6 points */
  XC_ORBIT_011, /**< (0, 1, 1)/sqrt 2: 12 */
  XC_ORBIT_111, /**< (1, 1, 1)/sqrt 3: 8 */
  XC_ORBIT_AAB, /**< (a, a, sqrt(1 - 2a^2)): 24 */
  XC_ORBIT_AB0, /**< (a, sqrt(1 - a^2), 0): 24 */
  XC_ORBIT_ABC  /**< (a, b, sqrt(1 - a^2 - b^2)): 48 */
} xc_orbit_kind;

typedef struct xc_orbit {
  int32_t kind; /**< xc_orbit_kind */
  double a, b;  /**< parameters; 0 where the kind has none */
  double weight;
} xc_orbit;

typedef struct xc_lebedev {
  int32_t points, order, n_orbits;
  const xc_orbit *orbits;
} xc_lebedev;

/** All rules by number of points, from 6 to 1454; ends with points 0. */
extern const xc_lebedev xc_lebedevs[];

/** The most points of a rule. */
enum { XC_LEBEDEV_MAX = 1454 };

/**
 * The rule of so many points.
 * @return TSL_ERR_INPUT naming the nearest rules when there is none
 */
tsl_err xc_lebedev_find(int64_t points, const xc_lebedev **out);

/**
 * The rule some places below another one, for pruning (the 116 points are no member of the series).
 * @return NULL when there is none, or when rule is no member
 */
const xc_lebedev *xc_lebedev_below(const xc_lebedev *rule, int places);

/**
 * Points and weights of a rule, orbit by orbit.
 * @param[out] x, y, z  [points] on the unit sphere
 * @param[out] w        [points] weights, sum 1
 */
void xc_lebedev_points(const xc_lebedev *rule, double *x, double *y, double *z, double *w);

TSL_C_END
