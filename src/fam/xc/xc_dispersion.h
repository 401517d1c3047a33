/**
 * @file xc_dispersion.h
 * Dispersion of atoms added to a field's energy: D3 with rational damping, and D4.
 *
 *   d3bj  S. Grimme, J. Antony, S. Ehrlich, H. Krieg, J. Chem. Phys. 132 (2010) 154104; S. Grimme,
 *         S. Ehrlich, L. Goerigk, J. Comput. Chem. 32 (2011) 1456. Pairs alone, no three-body term
 *   d4    E. Caldeweyher, S. Ehlert, A. Hansen, H. Neugebauer, S. Spicher, C. Bannwarth, S. Grimme,
 *         J. Chem. Phys. 150 (2019) 154122. With the three-body term, charges of the molecule's
 *
 * Both depend on nuclei, the molecule's charge and the functional alone, so they are a constant of
 * the field and have a gradient of their own. Point charges have no part in them. They are computed
 * by the libraries simple-dftd3 (libs-dftd3.so) and DFT-D4 (libdftd4.so), which also have the
 * functionals' parameters; each is loaded when it is asked for. Where: the folder TSL_DISPERSION of
 * the environment when that is set; else the one that was found when tesela was configured
 * (TSL_DISPERSION_FOLDER); else where the loader looks.
 */
#pragma once

#include "xc_functional.h"
#include "xc_molecule.h"

/** Places in the deck's words. */
typedef enum xc_dispersion_kind {
  XC_DISPERSION_NONE,
  XC_DISPERSION_D3BJ,
  XC_DISPERSION_D4
} xc_dispersion_kind;

extern const char *const xc_dispersion_words[];

/** Of a molecule. Release with xc_dispersion_clear. */
typedef struct xc_dispersion {
  xc_dispersion_kind kind;
  char text[96];         /**< "D3(BJ) dispersion for pbe, by simple-dftd3 1.7.0"; "": none */
  double energy;         /**< hartree */
  double (*gradient)[3]; /**< [n_atoms] hartree/bohr; NULL: none */
} xc_dispersion;

/**
 * Energy and gradient.
 * @param[in]  functional  own functionals by their own name, others by what the deck calls them,
 *                         letters and digits alone; a sum without a name has no parameters
 * @param[out] out         zero on error
 * @return TSL_ERR_INPUT: the library is not there, or has no parameters for the functional, or none
 *         for an element; TSL_ERR_MEMORY
 */
tsl_err xc_dispersion_compute(xc_dispersion_kind kind, const xc_functional *functional,
                              const xc_molecule *molecule, xc_dispersion *out);
void xc_dispersion_clear(xc_dispersion *dispersion);
