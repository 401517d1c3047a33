/**
 * @file xc_occupation.h
 * Occupations of the orbitals of a spin: the lowest ones, or fractions by a smeared step.
 *
 *   fermi     f = 1 / (1 + exp x),  S = - sum_k f ln f + (1 - f) ln(1 - f)
 *   gaussian  f = erfc(x) / 2,      S = sum_k exp(-x^2) / (2 sqrt pi)
 *
 * with x = (level - mu) / width, mu such that the f add up to the electrons. The free energy
 * E - width S is what the field makes lowest; E - width S / 2 is the energy for width -> 0 up to
 * the third order in it.
 *
 * Source: N. D. Mermin, Phys. Rev. 137 (1965) A1441 (fermi); C. Elsaesser, M. Faehnle, C. T. Chan,
 * K. M. Ho, Phys. Rev. B 49 (1994) 13975 (gaussian); M. J. Gillan, J. Phys.: Condens. Matter 1
 * (1989) 689 (width -> 0).
 */
#pragma once

#include <stdint.h>

/** Kinds in the order of the deck's words. */
typedef enum xc_smearing {
  XC_SMEARING_NONE,
  XC_SMEARING_FERMI,
  XC_SMEARING_GAUSSIAN,
  XC_N_SMEARINGS
} xc_smearing;

/**
 * @param[in]  kind         NONE: the lowest orbitals, one electron each; width is not used
 * @param[in]  width        hartree, above 0
 * @param[in]  levels       [m], ascending, hartree
 * @param[in]  electrons    0..m
 * @param[out] occupations  [m], 0..1
 * @param[out] fermi        mu, hartree; 0 where nothing is smeared: NONE, no electron, no empty
 *                          place
 * @return S
 */
double xc_occupy(xc_smearing kind, double width, int64_t m, const double *levels, int64_t electrons,
                 double *occupations, double *fermi);
