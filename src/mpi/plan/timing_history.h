/**
 * @file timing_history.h
 * What the phases of an iterating family have shown: seconds of units on their owners, one factor
 * for each rank and kind, what a unit's first run on a rank takes more; and what follows for the
 * phases to come. Pure, tested without MPI; the runtime has it on rank 0.
 *
 * Times are kept for each set of kinds (plan_kinds.h), of runs with everything in place: a unit's
 * first run on a rank is not one, and tells only what a kind's first runs take more. A machine
 * holds up a unit or a rank now and then, so more time counts as far as two runs in a row show it:
 * of the sum of a rank's units of a kind the smaller one, and of each unit the smaller one in
 * proportion. A rank that others slow down in every phase is slow by its sum, whichever units are
 * hit.
 *
 * A rank's factor is what its units of a kind take over what the cost model says of them, times
 * each unit's own factor, found in its second run as what it is off beyond its rank: so a rank is
 * not thought slow for having got a long unit. Where a rank has shown nothing of a kind, all ranks'
 * factor stands for it.
 *
 * A change of owners is adopted when the gain in TSL_PHASES_LEFT phases is more than it costs once.
 */
#ifndef TSL_MPI_TIMING_HISTORY_H
#define TSL_MPI_TIMING_HISTORY_H

#include "out_unit.h"
#include "plan_kinds.h"
#include "rebalance.h"

typedef struct tsl_timing_history {
  int64_t n_units;
  int n_ranks, n_sets;
  double *seconds;   /**< [n_sets][n_units] on the present owner; 0: not known yet */
  double *last;      /**< [n_sets][n_units] s as measured there in the set's last phase; 0: none */
  bool *first;       /**< [n_sets][n_units] that was its first run there */
  double *unit_bias; /**< [n_sets][n_units] measured over predicted seconds beyond the factor of the
                      rank where it was found; 0: not known */
  bool *settled;     /**< [n_units] has run on its present owner */
  double *factor;    /**< [n_ranks][TSL_MAX_KINDS] measured over predicted seconds; 0: not known */
  double usual[TSL_MAX_KINDS];     /**< of all ranks; 0: not known */
  double first_sum[TSL_MAX_KINDS]; /**< s of first runs, of units that ran again */
  double later_sum[TSL_MAX_KINDS]; /**< s of their second runs */
} tsl_timing_history;

/** @param[out] history  free with tsl_history_clear */
tsl_err tsl_history_open(int64_t n_units, int n_ranks, const tsl_kind_sets *sets,
                         tsl_timing_history *history);
void tsl_history_clear(tsl_timing_history *history);

/**
 * Take in a phase.
 * @param[in] rows  [n_rows] its units as computed: unit, owner, measured
 * @param[in] cost  predicts
 */
tsl_err tsl_history_phase(tsl_timing_history *history, int set, const tsl_out_unit *rows,
                          int64_t n_rows, const tsl_cost *cost);

/** Has the unit run on its present owner? */
static inline bool tsl_history_knows(const tsl_timing_history *history, int64_t unit) {
  return history->settled != NULL && history->settled[unit];
}

/** First over later seconds of a kind, 1 or more; 0: not known. */
double tsl_history_first(const tsl_timing_history *history, int kind);

/** s that the first run of a unit on a rank takes more than a later one, which takes later s: as
 *  shown, or by the cost model where nothing has. */
double tsl_history_setup(const tsl_timing_history *history, const tsl_cost *cost, int rank,
                         const tsl_unit *unit, double later);

/**
 * Move the units whose home the set is, where that pays; then times go over to the new owners.
 * Units of a kind whose first runs cannot be told from later ones yet, because none ran twice,
 * stay: so nothing moves after the first phase.
 * @param[in,out] owner  shape [n_units]
 */
tsl_err tsl_history_rebalance(tsl_timing_history *history, const tsl_cost *cost,
                              const tsl_unit *units, const tsl_kind_sets *sets, int set,
                              double threshold, int32_t *owner, tsl_rebalance_gain *gain);

/** The rank that was left out; seconds of one phase of each set together. */
typedef struct tsl_exclusion {
  int32_t rank; /**< -1: nobody */
  double saves; /**< that it took off the phases; below 0: they waited for it */
  double least; /**< its least unit takes */
  double cost;  /**< once, of what the others make anew */
} tsl_exclusion;

/**
 * Give the units of a rank that is more than TSL_USEFUL_PEERS times slower than the fastest to the
 * others when it saves less than TSL_USEFUL_START and that pays. Nobody is left out before all
 * units ran twice.
 * @param[in,out] owner  shape [n_units]
 */
tsl_err tsl_history_exclude(tsl_timing_history *history, const tsl_cost *cost,
                            const tsl_unit *units, const tsl_kind_sets *sets, int32_t *owner,
                            tsl_exclusion *out);

#endif
