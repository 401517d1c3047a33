/**
 * @file dp_strips.h
 * A band of diagonals (dp_diagonals.h) computed strip after strip by a socket's engines of bands.
 *
 * What enters a strip from outside of the band are values of real paths: from the corner of the
 * strip above to the left along its top, and along its left side down from where the strip before
 * ends, letters of one sequence alone. So no value is better than the table's.
 */
#pragma once

#include "dp_backend.h"
#include "dp_diagonals.h"

/** What enters a strip, kept for the way back, which computes pieces of rows of it again. */
typedef struct dp_strip_side {
  int64_t corner; /**< M above the strip's first row, left of its first column */
  dp_buffer edge; /**< from the left, as in dp.h; empty: the boundary */
  char *tops;     /**< RECOVER: states above all pieces, [state] each */
  int64_t state;  /**< bytes */
} dp_strip_side;

/** How far bands are; zero-initialise but for the step. */
typedef struct dp_strips_progress {
  const tsl_step *step;
  double done, likely; /**< cells, those of the way back included */
} dp_strips_progress;

/**
 * How the worker computes band k: strips of so many columns, each by all of `threads`, in pieces of
 * rows. Strips are as wide as keeps these at work, at most 1/32 of the table; the band has as many
 * cells more as its strips are wide, so a narrow one is for few threads.
 */
typedef struct dp_strips_cut {
  int64_t k, width, n, piece;
  int threads;
} dp_strips_cut;

dp_strips_cut dp_strips_cut_of(const tsl_worker *w, int64_t k);

typedef struct dp_strips {
  const tsl_worker *w;
  dp_strips_progress *progress; /**< not owned */
  const dp_band_engine *engine;
  dp_strips_cut cut;
  double cells;             /**< computed */
  dp_strip_side *sides;     /**< [n + 1] */
  dp_buffer right, part[2]; /**< right side of a strip; sides of a piece: left, right */
} dp_strips;

/** Bytes that computing and recovery in a band take. */
double dp_strips_bytes(const tsl_worker *w, const dp_strips_cut *cut);

/** About the cells that the way back through a band computes again. */
double dp_strips_again(const tsl_worker *w, const dp_strips_cut *cut);

/** Compute band k.
 *  @param[in,out] progress  lives as long as the strips
 *  @param[out]    goal      of the best path in it
 *  @param[out]    out       dp_strips_clear, also after an error
 *  @return TSL_ERR_STOPPED: who is told of the progress wants that */
tsl_err dp_strips_run(const tsl_worker *w, int64_t k, dp_strips_progress *progress, dp_strips *out,
                      int64_t *goal);

/** Walk back; the band is certain. Steps as of tsl_backend.traceback. */
tsl_err dp_strips_walk(dp_strips *strips, dp_steps *steps);

void dp_strips_clear(dp_strips *strips);
