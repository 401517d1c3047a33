/**
 * @file xc_lennard_jones.h
 * Dispersion and repulsion between the atoms and the point charges around them, which the density
 * knows nothing of: of each pair of an atom and a point charge
 *
 *     4 e [(s / r)^12 - (s / r)^6]
 *
 * with, by Lorentz and Berthelot, s = (s_i + s_j) / 2 and e = sqrt(e_i e_j), or both geometric
 * means. Among atoms it is the density's, among point charges the force field's.
 */
#pragma once

#include "xc_molecule.h"

TSL_C_BEGIN

/** Words of the deck, in the order of the enum. */
typedef enum xc_mixing { XC_LORENTZ_BERTHELOT, XC_GEOMETRIC } xc_mixing;
extern const char *const xc_mixing_words[];

/** Of an atom or a point charge; 0 is no interaction. */
typedef struct xc_lj_site {
  double epsilon; /**< hartree */
  double sigma;   /**< bohr */
} xc_lj_site;

/** Release with xc_lj_clear. */
typedef struct xc_lj {
  xc_lj_site *sites; /**< [n_atoms + n_charges]; NULL: there is none */
  int32_t mixing;    /**< xc_mixing */
} xc_lj;

/**
 * Parameters of the atoms from lines "atom epsilon sigma" (kcal/mol, Angstrom), separated by ';' or
 * line ends, and those of the point charges from columns 5 and 6 of their file.
 * An atom is its number, from 1, or an element; a later line replaces an earlier one.
 * @param[in] text  NULL: none; then the file has no such columns
 * @param[in] file  of the point charges, which have been read
 * @return TSL_ERR_INPUT naming the line, the atom without parameters, the file, or its point charge
 */
tsl_err xc_lj_read(const char *text, const char *file, const xc_molecule *molecule, xc_lj *lj);

/** hartree; 0 without parameters. */
double xc_lj_energy(const xc_lj *lj, const xc_molecule *molecule);

/** Add its derivatives. @param[in,out] gradient  [n_atoms + n_charges] hartree/bohr */
void xc_lj_gradient(const xc_lj *lj, const xc_molecule *molecule, double (*gradient)[3]);

void xc_lj_clear(xc_lj *lj);

TSL_C_END
