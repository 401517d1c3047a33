/* Radial rules and the radii of the elements that they need. */
#include "xc_grid.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* J. C. Slater, J. Chem. Phys. 41 (1964) 3199; hydrogen 0.35, noble gases filled in. Angstrom. */
static const double bragg[XC_MAX_Z] = {
    0.35, 1.40,                                                 /* H He */
    1.45, 1.05, 0.85, 0.70, 0.65, 0.60, 0.50, 1.50,             /* Li - Ne */
    1.80, 1.50, 1.25, 1.10, 1.00, 1.00, 1.00, 1.80,             /* Na - Ar */
    2.20, 1.80,                                                 /* K Ca */
    1.60, 1.40, 1.35, 1.40, 1.40, 1.40, 1.35, 1.35, 1.35, 1.35, /* Sc - Zn */
    1.30, 1.25, 1.15, 1.15, 1.15, 1.90,                         /* Ga - Kr */
    2.35, 2.00,                                                 /* Rb Sr */
    1.80, 1.55, 1.45, 1.45, 1.35, 1.30, 1.35, 1.40, 1.60, 1.55, /* Y - Cd */
    1.55, 1.45, 1.45, 1.40, 1.40, 2.10,                         /* In - Xe */
    2.60, 2.15,                                                 /* Cs Ba */
    1.95, 1.85, 1.85, 1.85, 1.85, 1.85, 1.85,                   /* La - Eu */
    1.80, 1.75, 1.75, 1.75, 1.75, 1.75, 1.75, 1.75,             /* Gd - Lu */
    1.55, 1.45, 1.35, 1.35, 1.30, 1.35, 1.35, 1.35, 1.50,       /* Hf - Hg */
    1.90, 1.80, 1.60, 1.90, 1.45, 2.10};                        /* Tl - Rn */

/* The table of the seed's grids, which differs for noble gases and sodium. Angstrom. */
static const double slater[XC_MAX_SLATER_Z] = {
    0.35, 0.93,                                                 /* H He */
    1.45, 1.05, 0.85, 0.70, 0.65, 0.60, 0.50, 0.71,             /* Li - Ne */
    3.60, 1.50, 1.25, 1.10, 1.00, 1.00, 1.00, 2.00,             /* Na - Ar */
    2.20, 1.80,                                                 /* K Ca */
    1.60, 1.40, 1.35, 1.40, 1.40, 1.40, 1.35, 1.35, 1.35, 1.35, /* Sc - Zn */
    1.30, 1.25, 1.15, 1.15, 1.15, 1.15,                         /* Ga - Kr */
    2.35, 2.00,                                                 /* Rb Sr */
    1.80, 1.55, 1.45, 1.45, 1.35, 1.30, 1.35, 1.40, 1.60, 1.55, /* Y - Cd */
    1.55, 1.45, 1.45, 1.40, 1.40, 1.31};                        /* In - Xe */

/* O. Treutler, R. Ahlrichs, J. Chem. Phys. 102 (1995) 346, table I; from Rb on as Psi4 and
 * PySCF have it. */
static const double treutler_xi[XC_MAX_Z] = {
    0.8, 0.9,                                              /* H He */
    1.8, 1.4, 1.3,  1.1,  0.9,  0.9,  0.9,  0.9,           /* Li - Ne */
    1.4, 1.3, 1.3,  1.2,  1.1,  1.0,  1.0,  1.0,           /* Na - Ar */
    1.5, 1.4,                                              /* K Ca */
    1.3, 1.2, 1.2,  1.2,  1.2,  1.2,  1.2,  1.1, 1.1, 1.1, /* Sc - Zn */
    1.1, 1.0, 0.9,  0.9,  0.9,  0.9,                       /* Ga - Kr */
    2.0, 1.7,                                              /* Rb Sr */
    1.5, 1.5, 1.35, 1.35, 1.25, 1.2,  1.25, 1.3, 1.5, 1.5, /* Y - Cd */
    1.3, 1.2, 1.2,  1.15, 1.15, 1.15,                      /* In - Xe */
    2.5, 2.2,                                              /* Cs Ba */
    2.5, 1.5, 1.5,  1.5,  1.5,  1.5,  1.5,                 /* La - Eu */
    1.5, 1.5, 1.5,  1.5,  1.5,  1.5,  1.5,  1.5,           /* Gd - Lu */
    1.5, 1.5, 1.5,  1.5,  1.5,  1.5,  1.5,  1.5, 1.5,      /* Hf - Hg */
    1.5, 1.5, 1.5,  1.5,  1.5,  1.5};                      /* Tl - Rn */

double xc_bragg_radius(int z) {
  return bragg[z - 1] / XC_BOHR;
}

double xc_slater_radius(int z) {
  return slater[z - 1] / XC_BOHR;
}

/** The R of Becke's map. */
static double becke_radius(xc_radial rule, int z) {
  if (rule == XC_RADIAL_SLATER) return xc_slater_radius(z) / 2;
  return z == 1 ? xc_bragg_radius(z) : xc_bragg_radius(z) / 2;
}

/** Becke's map at theta: radius and dr/dx. */
static double becke_map(double scale, double theta, double *slope) {
  const double s = sin(theta / 2), c = cos(theta / 2);
  *slope = scale / (2 * s * s * s * s); /* 2 R/(1 - x)^2 */
  return scale * (c * c) / (s * s);
}

/** The map M4 at theta: radius and dr/dx. */
static double treutler_map(double xi, double theta, double *slope) {
  const double s = sin(theta / 2), c = cos(theta / 2);
  const double plus = 2 * c * c, minus = 2 * s * s;                 /* 1 + x, 1 - x */
  const double log_half = c * c < 0.5 ? log1p(-c * c) : 2 * log(s); /* ln((1 - x)/2) */
  const double factor = xi / log(2.0) * pow(plus, 0.6);
  *slope = factor * (1 / minus - 0.6 * log_half / plus);
  return -factor * log_half;
}

void xc_radial_shells(xc_radial rule, int z, int64_t n, double *r, double *w) {
  for (int64_t i = 0; i < n; i++) {
    const double theta = pi * (double)(n - i) / (double)(n + 1); /* from x = -1, the nucleus */
    double slope;
    r[i] = rule == XC_RADIAL_TREUTLER ? treutler_map(treutler_xi[z - 1], theta, &slope)
                                      : becke_map(becke_radius(rule, z), theta, &slope);
    w[i] = pi / (double)(n + 1) * sin(theta) * slope * r[i] * r[i];
  }
}
