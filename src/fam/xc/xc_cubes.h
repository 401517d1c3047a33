/**
 * @file xc_cubes.h
 * Cube files: a density, orbitals and the potential on a regular lattice round the molecule, in
 * Gaussian's format (https://gaussian.com/cubegen: two lines of text, atoms, origin and steps in
 * bohr, values with x outermost and z innermost; an orbital's number behind the atoms, whose count
 * is negative then).
 */
#pragma once

#include "xc_basis.h"
#include "xc_lattice.h"
#include "xc_scf.h"

#include "new_file.h"

/** Section `xc.cube:`; the keys and their meaning are in xc_cubes.c. */
typedef struct xc_cube_deck {
  char *files[XC_CUBE_ORBITAL], *orbitals, *orbital_files;
  double spacing, margin;
} xc_cube_deck;
extern const tsl_key xc_cube_keys[];

/** Most points of a cube; most points of all cubes in a plane of one x. */
enum { XC_CUBE_POINTS = 1 << 30, XC_CUBE_PLANE = 1 << 24 };

/** Potential of a pair of primitives at a point, seconds of a core; for predictions. */
#define XC_CUBE_PAIR_SECONDS 2e-8

/** What is to be written. Release with xc_cubes_clear. */
typedef struct xc_cubes {
  xc_lattice lattice;
  char *names[XC_MOST_CUBES];        /**< of the files, from tsl_alloc */
  tsl_new_file files[XC_MOST_CUBES]; /**< while they are written; stream NULL: not begun, or lost */
  double electrons; /**< afterwards: of the density, values times volume added up; else negative */
} xc_cubes;

/** Key of the deck that names a cube's file. */
const char *xc_cube_key(const xc_cube *cube);

/**
 * From the deck to what is to be written; refuses orbitals that are not there, files that cannot be
 * written, and more points than there is room for.
 * @param[in] problem  its devices, for a prediction
 */
tsl_err xc_cubes_plan(const tsl_deck *deck, const xc_cube_deck *s, const tsl_problem *problem,
                      const xc_molecule *molecule, const xc_basis *basis, int32_t n_spin,
                      xc_cubes *out);
/** Refuse orbitals beyond the independent functions. @param[in] m  their number */
tsl_err xc_cubes_check(const tsl_deck *deck, const xc_cubes *cubes, int64_t m);
/** Files that are being written are lost. */
void xc_cubes_clear(xc_cubes *cubes);

/** What will be written and what it takes, for people; "" when nothing is. */
void xc_cubes_text(const xc_cubes *cubes, char *text, size_t size);

/** Begin the files. What cannot be written is lost (tsl_files_lose), here and later. */
void xc_cubes_begin(const xc_scf *scf, const xc_molecule *molecule, xc_cubes *cubes);
/**
 * Write a slab.
 * @param[in] text  [n][bytes of a whole slab], as xc_lattice_text has made it
 * @param[in] sums  [blocks of a slab] of the density
 */
void xc_cubes_put(xc_cubes *cubes, int64_t slab, const char *text, const double *sums);
/** The last slab is written: they get their names. */
void xc_cubes_end(xc_cubes *cubes);
