/**
 * @file xc_molecule.h
 * A molecule in its basis: atoms, point charges, shells, effective core potentials. Atomic units
 * throughout (bohr, hartree).
 *
 * All arrays are plain data that travel between ranks as bytes.
 */
#pragma once

#include "contract.h"
#include "fn.h"

TSL_C_BEGIN

enum {
  XC_MAX_L = 4,           /**< s p d f g */
  XC_MAX_PRIMITIVES = 24, /**< of a contracted shell */
  XC_MAX_Z = 86           /**< elements that grids and basis sets here know */
};

/** 1 bohr in Angstrom (CODATA 2018). */
#define XC_BOHR 0.529177210903

typedef struct xc_atom {
  int32_t z;     /**< atomic number, 1..XC_MAX_Z */
  int32_t ghost; /**< 1: functions and points of the element without nucleus and electrons */
  int32_t core;  /**< electrons that an effective core potential replaces (xc_ecp.h) */
  int32_t zero;
  double at[3]; /**< bohr */
} xc_atom;

/** The charge that electrons, nuclei and point charges feel: of the nucleus less the electrons that
 *  an effective core potential replaces; 0 of a ghost. */
static inline int32_t xc_nuclear(const xc_atom *atom) {
  return atom->ghost ? 0 : atom->z - atom->core;
}

/** The element: 0 of a ghost. */
static inline int32_t xc_real_z(const xc_atom *atom) {
  return atom->ghost ? 0 : atom->z;
}

/** The atomic number as files have it: negative for a ghost. */
static inline int32_t xc_signed_z(const xc_atom *atom) {
  return atom->ghost ? -atom->z : atom->z;
}

typedef struct xc_charge {
  double at[3]; /**< bohr */
  double q;     /**< elementary charges */
} xc_charge;

/**
 * A contracted shell: one angular momentum, one centre.
 *
 * Functions of the shell, in this order:
 *   spherical  m = -l..l of the real solid harmonics (libint's and CCA's standard order; p is
 *              y z x there, as for every l; see xc_functions.h for the polynomials)
 *   Cartesian  x^a y^b z^c, a descending, then b descending: xx xy xz yy yz zz
 * coefficient[k] multiplies the bare primitive x^a y^b z^c exp(-exponent[k] r^2): normalisation is
 * included, such that spherical functions have norm 1 and of Cartesian shells x^l has norm 1
 * (xy then has norm 1/sqrt(3): libint's convention).
 */
typedef struct xc_shell {
  int32_t atom;
  int32_t l;
  int32_t spherical; /**< 1: 2l+1 functions, 0: (l+1)(l+2)/2 */
  int32_t n;         /**< primitives, 1..XC_MAX_PRIMITIVES */
  int64_t first;     /**< number of its first function in the basis */
  double radius;     /**< beyond it no function of the shell exceeds 1e-10 */
  double at[3];      /**< bohr, the atom's */
  double exponent[XC_MAX_PRIMITIVES];
  double coefficient[XC_MAX_PRIMITIVES];
} xc_shell;

/** Functions of a shell. */
TSL_FN int xc_shell_size(const xc_shell *shell) {
  return shell->spherical ? 2 * shell->l + 1 : (shell->l + 1) * (shell->l + 2) / 2;
}

enum {
  XC_MAX_ECP_L = 5,      /**< L: projectors to g */
  XC_MAX_ECP_TERMS = 128 /**< of an element */
};

typedef struct xc_ecp_term {
  int32_t l; /**< of the projector; L: local */
  int32_t power;
  double exponent, coefficient;
} xc_ecp_term;

/** The effective core potential of an element (xc_ecp.h). */
typedef struct xc_ecp {
  int32_t z;
  int32_t core; /**< electrons that it replaces */
  int32_t l;    /**< L */
  int32_t n;
  xc_ecp_term terms[XC_MAX_ECP_TERMS];
} xc_ecp;

/** Effective core potentials of elements. Release with xc_ecps_clear. */
typedef struct xc_ecps {
  xc_ecp *list; /**< [n] from tsl_alloc */
  int64_t n;
} xc_ecps;

/** Shells of a molecule, sorted by atom, and its effective core potentials. Release with
 *  xc_basis_clear. */
typedef struct xc_basis {
  xc_shell *shells; /**< [n_shells] from tsl_alloc */
  int64_t n_shells;
  int64_t n;    /**< functions */
  xc_ecps ecps; /**< of elements that the molecule has; of the whole basis on the root alone */
} xc_basis;

/** Release with xc_molecule_clear. */
typedef struct xc_molecule {
  xc_atom *atoms; /**< [n_atoms] from tsl_alloc */
  int64_t n_atoms;
  xc_charge
      *charges; /**< [n_charges] point charges around the molecule; NULL when there are none */
  int64_t n_charges;
  int32_t charge;       /**< of the molecule */
  int32_t multiplicity; /**< 2S + 1 */
  int64_t alpha, beta;  /**< electrons */
} xc_molecule;

void xc_basis_clear(xc_basis *basis);
void xc_molecule_clear(xc_molecule *molecule);

/** "H" -> 1, any case; 0 when unknown. */
int xc_element(const char *symbol);
/** 1 -> "H"; "?" outside 1..XC_MAX_Z. */
const char *xc_symbol(int z);
/** The known symbol nearest to a word, or NULL when none is close. */
const char *xc_element_near(const char *symbol);

/* ----------------------------------------------------------------- reading */

enum { XC_MAX_ATOMS = 65536, XC_MAX_CHARGE = 100 };

/** Atoms closer than this (bohr) are refused: 0.1 Angstrom. */
#define XC_NEAREST (0.1 / XC_BOHR)

/** What a QCSchema file (schema_name qcschema_molecule or qcschema_input, version 1 or 2) says
 *  beside the molecule; empty texts where it says nothing. */
typedef struct xc_model {
  char method[64];
  char basis[64];
  char driver[16];
} xc_model;

/**
 * Read the atoms of the text of an XYZ file: number of atoms, a comment line, "symbol x y z" in
 * Angstrom. More words of a line are ignored; an atomic number may stand for the symbol. Ghosts of
 * an element: @O, Gh:O, Gh-O, Gh(O), Ghost:O, Ghost-O, X:O, X-O, O: and O-Bq, in any case.
 * @param[in]     path      for messages
 * @param[in,out] molecule  atoms are set; charge, multiplicity and point charges are left alone
 * @return TSL_ERR_INPUT naming file and line
 */
tsl_err xc_molecule_parse_xyz(const char *path, const char *text, int64_t bytes,
                              xc_molecule *molecule);

/** Read point charges, "x y z q" a line (Angstrom, elementary charges), text or NPY or HDF5 as any
 *  table. @return TSL_ERR_INPUT naming file and line */
tsl_err xc_molecule_read_charges(const char *path, xc_molecule *molecule);

/**
 * Read a molecule in MolSSI's QCSchema JSON: symbols, geometry in bohr, molecular_charge,
 * molecular_multiplicity; of an input model, driver and extras.tesela.point_charges (x y z q in
 * turn, bohr), too. Ghost atoms (real: false) are refused.
 */
tsl_err xc_molecule_read_json(const char *path, xc_molecule *molecule, xc_model *model);
/** The same from memory; path for messages. Global for tests. */
tsl_err xc_molecule_parse_json(const char *path, const char *text, int64_t bytes,
                               xc_molecule *molecule, xc_model *model);

/**
 * Check a molecule that has been read and count its electrons (xc_molecule_count): known elements,
 * finite numbers, atoms and charges no closer than XC_NEAREST to an atom, at least one electron,
 * multiplicity that fits. Multiplicity 0 becomes the lowest, 1 or 2.
 * @param[in] what  the file, for messages
 */
tsl_err xc_molecule_finish(const char *what, xc_molecule *molecule);

/** Count the electrons, again when effective core potentials have replaced some: at least one,
 *  multiplicity that fits. Multiplicity 0 becomes the lowest, 1 or 2. */
tsl_err xc_molecule_count(const char *what, xc_molecule *molecule);

/**
 * Unpaired electrons of the atoms from lines "atom spin", separated by ';' or line ends: an atom is
 * its number, from 1, or an element, which means all its atoms; a later line replaces an earlier
 * one, atoms that are not named have none.
 * @param[in]  molecule  finished
 * @param[out] spins     [n_atoms], negative: of beta
 * @return TSL_ERR_INPUT naming the line, or when the sum is not that of the multiplicity
 */
tsl_err xc_molecule_parse_spins(const char *text, const xc_molecule *molecule, double *spins);

/** Repulsion energy of the nuclei, and of nuclei and point charges (hartree). */
double xc_repulsion_nuclei(const xc_molecule *molecule);
double xc_repulsion_charges(const xc_molecule *molecule);
/** Add the derivatives of both with respect to nuclei and point charges, hartree/bohr.
 *  @param[in,out] gradient  [n_atoms + n_charges][3] */
void xc_repulsion_gradient(const xc_molecule *molecule, double (*gradient)[3]);

TSL_C_END
