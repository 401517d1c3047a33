/**
 * @file timing_history.h
 * What the phases of an iterating family have shown: seconds of units on their owners, and how far
 * ranks are off the cost model. Pure, tested without MPI; the runtime has it on rank 0.
 *
 * Times are kept for each set of kinds (plan_kinds.h). They are those of runs with everything in
 * place: a unit's first run on a rank only tells what first runs take more.
 *
 * A machine holds up a unit or a rank now and then, in a phase of milliseconds a hundred times
 * longer than it computes. So time counts as far as two phases in a row show it, of the sum of a
 * rank (its units of a kind) and, within that sum, of each unit. A rank that others slow down in
 * every phase is slow by its sum, whichever units are hit.
 *
 * Units of a kind may take many times more or less than the cost model says, each by its own
 * factor, found in its second run as what it is off beyond its rank's units together. It goes with
 * the unit, so that a rank is not thought slow for having got a long one.
 *
 * A rank without units of a kind is measured no more; what was believed of it stays.
 */
#pragma once

#include "out_unit.h"
#include "plan_kinds.h"

/** A unit in a set; factors are measured over predicted seconds, 0 where not known. */
typedef struct tsl_history_unit {
  double seconds; /**< on the present owner, everything in place; 0: not known */
  double last;    /**< s in the set's last phase; 0: it was elsewhere, or new there */
  double own;     /**< a factor beyond that of the rank where it was found */
} tsl_history_unit;

/** What first runs on a rank took more than second ones, s, and by the cost model. */
typedef struct tsl_history_setups {
  double took, predicted;
} tsl_history_setups;

typedef struct tsl_timing_history {
  const tsl_unit *units; /**< [n_units] not owned, as the next two */
  const tsl_cost *cost;
  const tsl_kind_sets *sets;
  int64_t n_units;
  int n_ranks;
  tsl_history_unit *unit; /**< [sets->n][n_units] */
  double *first;          /**< [n_units] s of the first run on the present owner; 0: none yet, below
                             0: later ones have followed */
  double *off;            /**< [sets->n][n_ranks][TSL_MAX_KINDS] a factor of the rank with the kind,
                             beyond those of the units */
  tsl_history_setups *setups; /**< [n_ranks][TSL_MAX_KINDS] */
} tsl_timing_history;

/** @param[out] learned  free with tsl_history_clear */
tsl_err tsl_history_open(const tsl_unit *units, int64_t n_units, const tsl_cost *cost,
                         const tsl_kind_sets *sets, tsl_timing_history *learned);
void tsl_history_clear(tsl_timing_history *learned);

/**
 * Take in a phase.
 * @param[in] rows  [n_rows] its units as computed: unit, owner (-1: before a restart), measured
 */
tsl_err tsl_history_phase(tsl_timing_history *learned, int set, const tsl_out_unit *rows,
                          int64_t n_rows);

/** Has the unit run on its present owner? */
static inline bool tsl_history_knows(const tsl_timing_history *learned, int64_t unit) {
  return learned->first != NULL && learned->first[unit] != 0;
}

/** A unit in a set. */
static inline tsl_history_unit *tsl_history_of(const tsl_timing_history *learned, int set,
                                               int64_t unit) {
  return &learned->unit[set * learned->n_units + unit];
}

/** Measured over predicted seconds of a rank in a set with a kind; 0: not known. */
double tsl_history_off(const tsl_timing_history *learned, int set, int rank, int kind);

/** s that the first run of a unit on a rank takes more than later ones: the cost model's, corrected
 *  by what the rank's first runs of the kind have shown, else as later ones. */
double tsl_history_setup(const tsl_timing_history *learned, int set, int64_t unit, int rank);
