/**
 * @file learned.h
 * What the phases of an iterating family have shown: seconds of units on their owners, how far
 * ranks are off the cost model, what a unit's first run on a rank takes more. Pure, tested without
 * MPI; the runtime has it on rank 0.
 *
 * Times are kept for each set of kinds (plan_sets.h) and smoothed over its phases. They are those
 * of runs with everything in place. What a first run takes more is what the cost model says
 * (tsl_unit.setup), corrected by what first runs have shown; where the model says nothing, first
 * runs take so many times longer as they have shown.
 */
#ifndef TSL_MPI_LEARNED_H
#define TSL_MPI_LEARNED_H

#include "out_unit.h"
#include "plan_sets.h"
#include "rebalance.h"

typedef struct tsl_learned {
  int64_t n_units;
  int n_ranks, n_sets;
  double *seconds; /**< [n_sets][n_units] on the present owner; 0: never ran in the set */
  double *raw;     /**< [n_sets][n_units] s of a first run, until the next one; 0: none */
  bool *settled;   /**< [n_units] has run on its present owner */
  double *off;     /**< [n_sets][n_ranks][TSL_MAX_KINDS] measured over predicted seconds; 0: not
                        known */
  double *sums;    /**< [n_ranks][TSL_MAX_KINDS][2] room: measured and predicted of a phase */
  double first_sum[TSL_MAX_KINDS]; /**< s of first runs, of units that ran again */
  double later_sum[TSL_MAX_KINDS]; /**< s of their second runs */
  double setup_sum[TSL_MAX_KINDS]; /**< s that the cost model has their first runs take more */
} tsl_learned;

/** @param[out] learned  free with tsl_learned_clear */
tsl_err tsl_learned_open(int64_t n_units, int n_ranks, const tsl_kind_sets *sets,
                         tsl_learned *learned);
void tsl_learned_clear(tsl_learned *learned);

/**
 * Take in a phase.
 * @param[in] rows  [n_rows] its units as computed: unit, owner, measured
 * @param[in] cost  predicts
 */
void tsl_learned_phase(tsl_learned *learned, int set, const tsl_out_unit *rows, int64_t n_rows,
                       const tsl_cost *cost);

/** Has the unit run on its present owner? */
static inline bool tsl_learned_knows(const tsl_learned *learned, int64_t unit) {
  return learned->settled != NULL && learned->settled[unit];
}

/** s that the first run of a unit on a rank takes more than a later one, which takes later s. */
double tsl_learned_setup(const tsl_learned *learned, const tsl_cost *cost, int rank,
                         const tsl_unit *unit, double later);

/** First over later seconds of a kind, 1 or more; 0: not known. */
double tsl_learned_first(const tsl_learned *learned, int kind);

/**
 * Move the units whose home the set is, when that pays within some phases, else fewer units with a
 * limit on the next phase (tsl_rebalance_ask.longest); then times go over to the new owners. Units
 * of a kind whose first runs cannot be told from later ones yet, because none ran twice, stay: so
 * nothing moves after the first phase, which shows little of the later ones.
 * @param[in,out] owner  shape [n_units]; as it was when gain says no moves
 */
tsl_err tsl_learned_rebalance(tsl_learned *learned, const tsl_cost *cost, const tsl_unit *units,
                              const tsl_kind_sets *sets, int set, double threshold, int32_t *owner,
                              tsl_rebalance_gain *gain);

#endif
