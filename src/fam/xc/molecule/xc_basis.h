/**
 * @file xc_basis.h
 * Basis sets: from text to the shells of a molecule.
 *
 *   name or file -> xc_set (per element, coefficients as written) -> xc_basis (per atom,
 *   normalised)
 *
 * Formats, told apart by their first words:
 *   NWChem      "BASIS ... SPHERICAL|CARTESIAN", lines "O SP" and rows "exponent c1 c2 ...";
 *               several columns are several contractions
 *   Gaussian94  "O 0", "SP 3 1.00", rows, "****"; a first line "spherical" or "cartesian" is read
 *   LIO         "gaussian", per element "Z primitives contractions", primitives of each
 *               contraction, l of each, rows; an orbital block and a Coulomb fitting block by
 *               turns, or one block of either; Cartesian. Read as LIO does: a record begins on a
 *               line of its own, what the line has beyond it is passed over, primitives of
 *               exponent 0 are nothing, elements beyond what is supported are left out
 * Files are hostile: numbers must be finite, exponents positive, sizes are checked before memory
 * is taken, l is at most XC_MAX_L. NWChem's and Gaussian's may hold effective core potentials, too,
 * or nothing else (xc_ecp.h).
 */
#pragma once

#include "xc_ecp.h"

TSL_C_BEGIN

/** A shell of an element, coefficients as in the file: of primitives normalised one by one. */
typedef struct xc_set_shell {
  int32_t z;
  int32_t l;
  int32_t n; /**< primitives */
  int32_t zero;
  double exponent[XC_MAX_PRIMITIVES];
  double coefficient[XC_MAX_PRIMITIVES];
} xc_set_shell;

/** What a file says of its functions; the deck's words in this order. */
typedef enum xc_kind { XC_KIND_AUTO, XC_KIND_SPHERICAL, XC_KIND_CARTESIAN } xc_kind;

/** A basis set. Release with xc_set_clear. */
typedef struct xc_set {
  char name[96];     /**< of the file or set, for messages */
  char warning[384]; /**< what was read otherwise than it is written, for people; empty: nothing */
  int32_t kind;      /**< xc_kind; AUTO when the file does not say */
  int32_t n_room;    /**< private */
  int64_t n;
  xc_set_shell *shells; /**< [n] from tsl_alloc, in the order of the file */
  xc_ecps ecps;         /**< effective core potentials */
} xc_set;

void xc_set_clear(xc_set *set);

/** Longest basis text, bytes, and most shells of a set. */
enum { XC_SET_MAX_BYTES = 1 << 26, XC_SET_MAX_SHELLS = 1 << 20 };

/** Is this a LIO basis text? */
bool xc_set_is_lio(const char *text, int64_t bytes);

/** Parse NWChem or Gaussian94 text; name stands for the file in messages.
 *  @return TSL_ERR_INPUT naming the line */
tsl_err xc_set_parse(const char *name, const char *text, int64_t bytes, xc_set *set);

/** Parse LIO's text: its orbital blocks and its fitting blocks; without those fitting is empty. */
tsl_err xc_set_parse_lio(const char *name, const char *text, int64_t bytes, xc_set *orbital,
                         xc_set *fitting);

/**
 * Read a set by name from folder (names of the files without ".nw", any case), or from a file when
 * name has a '/' or a '.'. A LIO file gives its orbital sets.
 * @return TSL_ERR_INPUT with the nearest name and the list of the folder
 */
tsl_err xc_set_read(const char *name, const char *folder, xc_set *set);
/** Likewise a fitting set; of a LIO file its fitting blocks, or the only ones it has. */
tsl_err xc_set_read_fitting(const char *name, const char *folder, xc_set *set);

/**
 * The shells of a molecule.
 * @param[in] kind  wanted functions; AUTO: as the set says, spherical where it does not
 * @return TSL_ERR_INPUT naming elements that the set lacks, with atoms
 */
tsl_err xc_basis_create(const xc_set *set, xc_kind kind, const xc_molecule *molecule,
                        xc_basis *basis);

/**
 * Refuse a basis without functions for the electrons near the nuclei, such as one made for an
 * effective core potential, of atoms whose core no potential replaces.
 * @param[in] name  of the set, for messages
 * @return TSL_ERR_INPUT naming the element
 */
tsl_err xc_basis_check_core(const char *name, const xc_molecule *molecule, const xc_basis *basis);

/**
 * Normalise a contraction whose coefficients are of normalised primitives: afterwards they multiply
 * bare primitives, and x^l sum_k c_k exp(-a_k r^2) has norm 1. Global for tests.
 * @return TSL_ERR_INPUT when the norm is not positive (coefficients cancel)
 */
tsl_err xc_shell_normalise(xc_shell *shell);

TSL_C_END
