/**
 * @file xc_cubes.h
 * Cube files: a density, orbitals and the potential on a regular lattice round the molecule, in
 * Gaussian's format (https://gaussian.com/cubegen: two lines of text, atoms, origin and steps in
 * bohr, values with x outermost and z innermost; an orbital's number behind the atoms, whose count
 * is negative then).
 */
#pragma once

#include "xc_basis.h"
#include "xc_problem.h"
#include "xc_scf.h"

typedef enum xc_cube_kind {
  XC_CUBE_DENSITY,   /**< of both spins, electrons per bohr^3 */
  XC_CUBE_SPIN,      /**< alpha's less beta's */
  XC_CUBE_POTENTIAL, /**< electrostatic, hartree per elementary charge */
  XC_CUBE_ORBITAL,   /**< bohr^-3/2 */
  XC_N_CUBE_KINDS
} xc_cube_kind;

/** Section `xc.cube:`; the keys and their meaning are in xc_cubes.c. */
typedef struct xc_cube_deck {
  char *files[XC_CUBE_ORBITAL], *orbitals, *orbital_files;
  double spacing, margin;
} xc_cube_deck;
extern const tsl_key xc_cube_keys[];

/** Most orbitals; most points of a cube; most points of all cubes in a plane of one x; planes that
 *  are in memory at a time. */
enum { XC_CUBE_ORBITALS = 32, XC_CUBE_POINTS = 1 << 30, XC_CUBE_PLANE = 1 << 24, XC_CUBE_SLAB = 8 };

/** Potential of a pair of primitives at a point, seconds of a core; for predictions. */
#define XC_CUBE_PAIR_SECONDS 2e-8

typedef struct xc_cube {
  int32_t kind;    /**< xc_cube_kind */
  int32_t spin;    /**< of an orbital: 0 alpha, 1 beta */
  int64_t orbital; /**< from 0 */
  char *file;      /**< from tsl_alloc */
} xc_cube;

/** What is to be written. Release with xc_cubes_clear. */
typedef struct xc_cubes {
  xc_cube list[XC_CUBE_ORBITAL + XC_CUBE_ORBITALS];
  int n;
  int64_t points[3];
  double origin[3], step; /**< bohr, of six digits behind the point, as the files have them */
  int64_t pairs;          /**< of primitives, of the potential */
  double electrons; /**< afterwards: of the density, values times volume added up; else negative */
} xc_cubes;

/** Key of the deck that names a cube's file. */
const char *xc_cube_key(const xc_cube *cube);

/**
 * From the deck to what is to be written; refuses orbitals that are not there, files that cannot be
 * written, and more points than there is room for.
 */
tsl_err xc_cubes_plan(const tsl_deck *deck, const xc_cube_deck *s, const xc_molecule *molecule,
                      const xc_basis *basis, int32_t n_spin, xc_cubes *out);
/** Refuse orbitals beyond the independent functions. @param[in] m  their number */
tsl_err xc_cubes_check(const tsl_deck *deck, const xc_cubes *cubes, int64_t m);
void xc_cubes_clear(xc_cubes *cubes);

/** What will be written and what it takes, for people; "" when nothing is. */
void xc_cubes_text(const xc_cubes *cubes, char *text, size_t size);

/** Write them, in ranges (parallel.h); what cannot be written is lost (tsl_files_lose). */
void xc_cubes_write(const xc_scf *scf, const xc_molecule *molecule, const xc_basis *basis,
                    xc_cubes *cubes);
