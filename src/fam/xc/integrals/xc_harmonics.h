/**
 * @file xc_harmonics.h
 * Spherical functions as sums of Cartesian ones, and blocks of integrals from one to the other.
 */
#pragma once

#include "fn.h"
#include "xc_molecule.h"

/** Cartesian and spherical functions of angular momentum l. */
#define XC_CARTESIANS(l) (((l) + 1) * ((l) + 2) / 2)
#define XC_SPHERICALS(l) (2 * (l) + 1)

/** Number of x^a y^b z^c among the monomials of degree a + b + c, in the order of xc_molecule.h. */
TSL_FN int xc_cartesian_at(int b, int c) {
  return (b + c) * (b + c + 1) / 2 + c;
}

/** Coefficients of r^l C_lm in monomials, from the recurrences of Helgaker, Jorgensen, Olsen,
 *  Molecular Electronic-Structure Theory, 6.4.70-71. */
typedef struct xc_harmonics {
  double of[XC_MAX_L + 1][XC_SPHERICALS(XC_MAX_L)][XC_CARTESIANS(XC_MAX_L)]; /**< [l][m + l][xyz] */
} xc_harmonics;

TSL_C_BEGIN

void xc_harmonics_fill(xc_harmonics *harmonics);

/**
 * Turn a block of Cartesian functions of shells a and b into the shells' own functions.
 * @param[in]  block  [XC_CARTESIANS(a->l)][XC_CARTESIANS(b->l)]
 * @param[out] out    [xc_shell_size(a)][xc_shell_size(b)]; not block
 */
void xc_harmonics_block(const xc_harmonics *harmonics, const xc_shell *a, const xc_shell *b,
                        const double *block, double *out);

/**
 * Turn a block of a density matrix into that of Cartesian functions, which gives the same density.
 * @param[in]  density  first element of the block, rows of ld elements
 * @param[out] block    [XC_CARTESIANS(a->l)][XC_CARTESIANS(b->l)]
 */
void xc_harmonics_density(const xc_harmonics *harmonics, const xc_shell *a, const xc_shell *b,
                          const double *density, int64_t ld, double *block);

TSL_C_END
