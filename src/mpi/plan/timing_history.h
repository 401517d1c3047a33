/**
 * @file timing_history.h
 * What the phases of an iterating family have shown: seconds of units on their owners, how far
 * ranks are off the cost model, what a unit's first run on a rank takes more. Pure, tested without
 * MPI; the runtime has it on rank 0.
 *
 * Times are kept for each set of kinds (plan_kinds.h) and smoothed over its phases. They are those
 * of runs with everything in place. What a first run takes more is what the cost model says
 * (tsl_unit.setup), corrected by what first runs have shown; where the model says nothing, first
 * runs take so many times longer as they have shown.
 *
 * A machine holds up a unit or a rank now and then, in a phase of milliseconds a hundred times
 * longer than it computes. So more time counts as far as two phases in a row show it, of the sum of
 * a rank (its units of a kind that have run there before) and, within that sum, of each unit. A
 * unit's second run is believed, as its first, which may have had less to do, tells little of it;
 * its first on a new rank counts for twice what was expected at most. Less time than half of what
 * was known counts at once. A rank that others slow down in every phase is slow by its sum,
 * whichever units are hit.
 *
 * Units of a kind may take many times more or less than the cost model says, each by its own
 * factor, found in its second run as what it is off beyond its rank's units together. It goes with
 * the unit, so that a rank is not thought slow for having got a long one.
 *
 * A rank without units of a kind is measured no more. What was believed of it goes half way
 * (geometric) back to the cost model in the 1st, 2nd, 4th, 8th ... phase that passes so: it is
 * tried again when that promises to pay, and if it is slow indeed, ever more rarely.
 *
 * The plan has judged ranks by predictions (select_ranks.h); tsl_exclude_slow_ranks judges by
 * measured times. A rank that is more than TSL_USEFUL_PEERS times slower than the fastest costs
 * TSL_USEFUL_START each time that all units run, and the time of its least unit: nothing finer can
 * make its load even with the others'. It is left out of the phases to come if it saves less.
 */
#pragma once

#include "out_unit.h"
#include "plan_kinds.h"
#include "rebalance.h"

/** s of a rank's units of a kind. */
typedef struct tsl_history_sum {
  double now, last; /**< in a phase and in the one before */
  double both;      /**< of each unit the smaller one */
  double predicted;
} tsl_history_sum;

/** A unit in a set. */
typedef struct tsl_history_unit {
  double last;  /**< s as measured on the present owner in the set's last phase; 0: none */
  double bias;  /**< a factor: measured over predicted seconds beyond that of the rank where it was
                     found; 0: not known */
  bool guessed; /**< that was a first run, of which seconds is a guess */
} tsl_history_unit;

/** A rank with a kind in a set. */
typedef struct tsl_history_rank {
  double bias;  /**< measured over predicted seconds (times those of the units); 0: not known */
  int32_t idle; /**< phases of the set in which the rank had no unit of the kind */
} tsl_history_rank;

typedef struct tsl_timing_history {
  const tsl_unit *units; /**< [n_units] not owned, as the next two */
  const tsl_cost *cost;
  const tsl_kind_sets *sets;
  int64_t n_units;
  int n_ranks, n_sets;
  double *seconds;        /**< [n_sets][n_units] on the present owner; 0: never ran in the set */
  tsl_history_unit *unit; /**< likewise */
  bool *settled;          /**< [n_units] has run on its present owner */
  tsl_history_rank *rank; /**< [n_sets][n_ranks][TSL_MAX_KINDS] */
  tsl_history_sum *sums;  /**< [n_ranks][TSL_MAX_KINDS] room */
  double first_sum[TSL_MAX_KINDS]; /**< s of first runs, of units that ran again */
  double later_sum[TSL_MAX_KINDS]; /**< s of their second runs */
  double setup_sum[TSL_MAX_KINDS]; /**< s that the cost model has their first runs take more */
} tsl_timing_history;

/** Nobody knows how many phases follow; what is done once must pay within so many. */
enum { TSL_PHASES_LEFT = 4 };

/** Phases of an imbalance above this are looked at for ranks to leave out: balanced ranks stay as
 *  they are. */
#define TSL_REST_ABOVE 0.05

/** The rank that was left out; seconds of one phase of each set together. */
typedef struct tsl_exclusion {
  int32_t rank; /**< -1: nobody */
  double saves; /**< that it took off the phases */
  double least; /**< its least units took */
  double cost;  /**< once, of what the others make anew */
} tsl_exclusion;

/** @param[out] learned  free with tsl_history_clear */
tsl_err tsl_history_open(const tsl_unit *units, int64_t n_units, const tsl_cost *cost,
                         const tsl_kind_sets *sets, tsl_timing_history *learned);
void tsl_history_clear(tsl_timing_history *learned);

/**
 * Take in a phase.
 * @param[in] rows  [n_rows] its units as computed: unit, owner, measured
 */
void tsl_history_phase(tsl_timing_history *learned, int set, const tsl_out_unit *rows,
                       int64_t n_rows);

/** Has the unit run on its present owner? */
static inline bool tsl_history_knows(const tsl_timing_history *learned, int64_t unit) {
  return learned->settled != NULL && learned->settled[unit];
}

/** s that the first run of a unit on a rank takes more than a later one, which takes later s. */
double tsl_history_setup(const tsl_timing_history *learned, int rank, const tsl_unit *unit,
                         double later);

/** First over later seconds of a kind, 1 or more; 0: not known. */
double tsl_history_first(const tsl_timing_history *learned, int kind);

/** Measured over predicted seconds of a rank in a set with a kind; 0: not known. */
double tsl_history_off(const tsl_timing_history *learned, int set, int rank, int kind);

/** s of a unit on rank to over those on rank from: the cost model's, corrected by what both have
 *  shown with the kind in the set. */
double tsl_history_ratio(const tsl_timing_history *learned, int set, const tsl_unit *unit, int from,
                         int to);

/** The unit has moved: its times go over to the new owner, in all sets. */
void tsl_history_carry(tsl_timing_history *learned, const tsl_unit *unit, int from, int to);

/**
 * Move the units whose home the set is, when that pays within some phases, else fewer units with a
 * limit on the next phase (tsl_rebalance_ask.longest); then times go over to the new owners. Units
 * of a kind whose first runs cannot be told from later ones yet, because none ran twice, stay: so
 * nothing moves after the first phase, which shows little of the later ones.
 * @param[in,out] owner  shape [n_units]; as it was when gain says no moves
 */
tsl_err tsl_history_rebalance(tsl_timing_history *learned, int set, double threshold,
                              int32_t *owner, tsl_rebalance_gain *gain);

/**
 * Give the units of the slowest rank to the others, when that pays within some phases; then times
 * go over to the new owners. Nobody is left out before all units have run and first runs can be
 * told from later ones.
 * @param[in,out] owner  shape [n_units]
 */
tsl_err tsl_exclude_slow_ranks(tsl_timing_history *learned, int32_t *owner, tsl_exclusion *rest);
