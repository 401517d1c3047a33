/**
 * @file dp_cut.h
 * A length cut into pieces.
 */
#pragma once

#include "contract.h"
#include "memory.h"

/** Pieces of about equal length, each a multiple of quantum where that is possible. */
typedef struct dp_cut {
  int64_t n, pieces, quantum;
} dp_cut;

/** At most wanted pieces of n; none of 0. */
dp_cut dp_cut_make(int64_t n, int64_t wanted, int64_t quantum);

/** Ends of pieces one after another. */
typedef struct dp_ends {
  int64_t *at; /**< [n] from tsl_alloc */
  int64_t n;
} dp_ends;

tsl_err dp_cut_ends(const dp_cut *cut, dp_ends *ends);

/** Tiles of these rows, counted from top, and columns: all of a stage, then those of the next.
 *  @param[in,out] units  list [rows->n columns->n]; n becomes that; features are not set */
void dp_cut_tiles(const dp_ends *rows, const dp_ends *columns, int64_t top, tsl_units *units);

/**
 * Stages of strips that a number of ranks works through one behind the other. A stage of A / S for
 * its cells and B besides them takes A / S + B, the last rank ends after S + ranks - 1 of them: so
 * S is the root of (ranks - 1) A / B. A rank alone wants them for progress and checkpoints only,
 * and few enough that all B are a small part.
 *
 * Where stages overlap, two at most, one ends every A / S as long as that is no less than B, but
 * takes A / S + B: the last rank ends after A + B + (ranks - 1) (A / S + B). More stages than A / B
 * help where (2 ranks - 1) A / B is larger than their square: two under way at once then end every
 * (A / S + B) / 2. As B is an estimate, and too many stages cost more than too few, A / B counts by
 * two thirds.
 * @param[in] fill     B / A (tsl_limits.pipeline_fill); 0: as many stages as are of any use
 * @param[in] overlap  tsl_limits.overlap
 */
int64_t dp_cut_stages(int64_t ranks, double fill, bool overlap);
