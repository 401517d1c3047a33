/**
 * @file xc_lattice.h
 * Points of a regular lattice, the cubes that are asked for there, and their text in Gaussian's
 * format: values as 13.5E, six a line, x outermost and z innermost, a new line for each y.
 *
 * Slabs of some planes of one x are worked on one after another, in blocks of points that the same
 * shells reach. Each number has its place in the text of its slab, whoever writes it.
 */
#pragma once

#include "xc_values.h"

TSL_C_BEGIN

typedef enum xc_cube_kind {
  XC_CUBE_DENSITY,   /**< of both spins, electrons per bohr^3 */
  XC_CUBE_SPIN,      /**< alpha's less beta's */
  XC_CUBE_POTENTIAL, /**< electrostatic, hartree per elementary charge */
  XC_CUBE_ORBITAL,   /**< bohr^-3/2 */
  XC_N_CUBE_KINDS
} xc_cube_kind;

/** Most orbitals; most cubes; edge of a block, points. */
enum {
  XC_CUBE_ORBITALS = 32,
  XC_MOST_CUBES = XC_CUBE_ORBITAL + XC_CUBE_ORBITALS,
  XC_CUBE_EDGE = 8
};

typedef struct xc_cube {
  int32_t kind;    /**< xc_cube_kind */
  int32_t spin;    /**< of an orbital: 0 alpha, 1 beta */
  int64_t orbital; /**< from 0 */
} xc_cube;

/** Plain data, the same on all ranks. */
typedef struct xc_lattice {
  xc_cube cubes[XC_MOST_CUBES];
  int64_t n;              /**< cubes; 0: none are asked for, and the rest is of no meaning */
  int64_t points[3];      /**< along x, y, z */
  int64_t planes;         /**< of a slab; the last one's may be fewer */
  double origin[3], step; /**< bohr, of six digits behind the point, as the files have them */
  int64_t pairs;          /**< of primitives, of the potential (xc_potential_pairs); 0: none */
} xc_lattice;

/** Does one of the cubes have this kind? */
bool xc_lattice_has(const xc_lattice *lattice, xc_cube_kind kind);
/** Orbitals among the cubes before cube k, which is its row where orbitals are sent. */
int64_t xc_lattice_row(const xc_lattice *lattice, int64_t k);

/** Choose the planes of a slab: some 64 MiB of text, whole blocks where these fit. */
void xc_lattice_cut(xc_lattice *lattice);
int64_t xc_lattice_slabs(const xc_lattice *lattice);
/** Planes of a slab; the last one's may be fewer. */
int64_t xc_lattice_planes(const xc_lattice *lattice, int64_t slab);
/** Blocks of a whole slab, y outermost of a layer; some of the last slab have no points. */
int64_t xc_lattice_blocks(const xc_lattice *lattice);
/** Bytes of text of a row of z; of a cube in a whole slab. */
int64_t xc_lattice_row_bytes(const xc_lattice *lattice);
int64_t xc_lattice_bytes(const xc_lattice *lattice);

/** A block: points [lo, hi) along each axis, z innermost. */
typedef struct xc_block {
  int64_t lo[3], hi[3];
  double at[3][XC_PLACES];
  xc_places points; /**< of at */
} xc_block;
void xc_lattice_block(const xc_lattice *lattice, int64_t slab, int64_t number, xc_block *block);

/** Has a shell a function above 1e-10 (xc_shell.radius) in the box of a block that has points? */
bool xc_block_meets(const xc_block *block, const xc_shell *shell);

/**
 * The text of a block's values of cube k.
 * @param[in]  values  [block->points.n]
 * @param[out] text    [n][planes of a whole slab][y][row_bytes], of the block's slab; what is not
 *                     of this block stays
 */
void xc_lattice_text(const xc_lattice *lattice, const xc_block *block, int64_t k,
                     const double *values, char *text);

TSL_C_END
