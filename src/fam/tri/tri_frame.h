/**
 * @file tri_frame.h
 * One frame of a trajectory, ready for its pairs.
 *
 * A place is three fractions of the cell, in units of 2^-32: the difference of two such numbers
 * wraps as 32 bits do, and is then the nearest image's (rounding moves an atom by 2^-33 of an
 * edge). The cell is turned so that its vectors are (ax, 0, 0), (bx, by, 0), (cx, cy, cz).
 * Fractions within 1/2 give the nearest image for all pairs that are closer than half of the cell's
 * least height, as a distance r along a height h is a fraction r/h at most. An axis that is not
 * periodic gets an edge so long that images are beyond the cut-off.
 *
 * Atoms are sorted into a grid of cells. What a cell must look at is the same for all: rows of
 * cells along the first axis, from interval arithmetic on the lower-triangular matrix (tri_step).
 * A pair is looked at once: from the row of cells that comes first, within a row from the atom
 * before.
 */
#pragma once

#include "trajectory.h"
#include "tri.h"
#include "tri_pairs.h"

TSL_C_BEGIN

enum { TRI_STEPS = 256 };

/** Cells to be looked at from cell (k, r2, r3): k + lo .. k + hi of row (r2 + d2, r3 + d3), each
 *  modulo the numbers of cells; all of the row where hi - lo + 1 is their number. */
typedef struct tri_step {
  int32_t d2, d3; /**< 0 .. cells - 1 */
  int32_t lo, hi;
} tri_step;

/** Plain data but for the places. */
typedef struct tri_frame {
  int64_t n;
  uint32_t *u[3];   /**< [n] each, from one tsl_alloc */
  double m[6];      /**< ax, bx, by, cx, cy, cz of a fraction's unit, 2^-32 of the cell */
  double volume;    /**< of the cell; 0: there is none */
  int32_t cells[3]; /**< of the grid */
  int32_t n_steps;
  tri_step steps[TRI_STEPS]; /**< that of the own row is the first */
} tri_frame;

tsl_err tri_frame_create(int64_t n, tri_frame *frame);
void tri_frame_clear(tri_frame *frame);

/** A cell whose images of a pair are looked at. */
typedef struct tri_images {
  double v[3][3], r[3][3]; /**< vectors; rows whose product with a place is its fraction */
  double height[3];        /**< of periodic vectors; INFINITY: it is not */
} tri_images;

/** The cell of a frame, or the deck's box, or none. */
void tri_images_of(const tri_params *p, const trajectory_frame *read, tri_images *images);

/** Distance of the nearest images of two atoms, in any cell and however far apart they are, in
 *  double precision. @param[in] d  their difference */
double tri_images_distance(const tri_images *images, const double d[3]);

/** Least height of the cell, over its periodic axes; INFINITY: none is. */
double tri_cell_height(const trajectory_cell *cell);

/** The cell has a volume, and heights of twice the cut-off.
 *  @return TSL_ERR_INPUT, without a place */
tsl_err tri_cell_check(const trajectory_cell *cell, double cut);

/**
 * Prepare a frame as it was read; with params.frames_pairs its volume alone.
 * @param[in] name  of its file, for messages
 * @return TSL_ERR_INPUT naming the frame: no cell, or one that is too small
 */
tsl_err tri_frame_prepare(const tri_params *p, const char *name, int64_t number,
                          const trajectory_frame *read, tri_frame *frame);

/** The cell of the grid that a fraction is in. */
TSL_FN int32_t tri_frame_cell(uint32_t u, int32_t cells) {
  return (int32_t)((uint64_t)u * (uint64_t)cells >> 32);
}

/** Cells [*lo, *hi] of a row of `cells` that the step leads to from cell k: the first of two runs;
 *  where the row's end is between them, the second begins at 0. @return last of
 *  the second, or -1 */
TSL_FN int32_t tri_step_run(const tri_step *s, int32_t cells, int32_t k, int32_t *lo, int32_t *hi) {
  int32_t first = k + s->lo, last = k + s->hi;
  if (s->hi - s->lo + 1 >= cells) first = 0, last = cells - 1;
  if (first < 0) first += cells, last += cells;
  if (first >= cells) first -= cells, last -= cells;
  *lo = first;
  *hi = last < cells ? last : cells - 1;
  return last < cells ? -1 : last - cells;
}

/* The distance of nearest images; differences of fractions, in the type of the sums. */
TSL_FN float tri_frame_distance_f32(const float m[6], uint32_t d1, uint32_t d2, uint32_t d3) {
  const float t1 = (float)(int32_t)d1, t2 = (float)(int32_t)d2, t3 = (float)(int32_t)d3;
  const float z = m[5] * t3, y = fmaf(m[4], t3, m[2] * t2);
  const float x = fmaf(m[3], t3, fmaf(m[1], t2, m[0] * t1));
  return TRI_SQRT_F32(fmaf(x, x, fmaf(y, y, z * z)));
}
TSL_FN double tri_frame_distance_f64(const double m[6], uint32_t d1, uint32_t d2, uint32_t d3) {
  const double t1 = (double)(int32_t)d1, t2 = (double)(int32_t)d2, t3 = (double)(int32_t)d3;
  const double z = m[5] * t3, y = fma(m[4], t3, m[2] * t2);
  const double x = fma(m[3], t3, fma(m[1], t2, m[0] * t1));
  return sqrt(fma(x, x, fma(y, y, z * z)));
}

TSL_C_END
