/**
 * @file rebalance.h
 * Between two phases: units move from slow ranks to fast ones by measured times, and a slow rank is
 * left out (seeds: LIO, Algorithm 1). Pure functions, tested without MPI.
 *
 *   while t_max / t_min > k:
 *     dT = (t_max - t_min) / 2
 *     of the slowest rank's units take the one whose seconds on the fastest rank, with what its
 *     first run there takes more, are nearest to dT; move it; update both sums
 *
 * A move must make the larger of the two sums smaller, so the search ends. Of all owners on the way
 * those are adopted with which the next TSL_PHASES_LEFT phases take least, the first of them with
 * what first runs take more: if moving all does not pay, a slow rank gets rid of its units over
 * several phases. Units whose times are not known stay: so nothing moves after the first phase.
 */
#pragma once

#include "timing_history.h"

/** Nobody knows how many phases follow; what is done once must pay within so many. */
enum { TSL_PHASES_LEFT = 4 };

/** Phases of an imbalance above this are looked at for ranks to leave out: balanced ranks stay as
 *  they are. */
#define TSL_REST_ABOVE 0.05

/** What moves bring. Imbalance: largest sum over mean sum - 1. */
typedef struct tsl_rebalance_gain {
  int64_t moved;           /**< units with another owner than before */
  double before, after;    /**< s, largest sum */
  double imbalance_before; /**< 0: none */
  double imbalance_after;
  double cost; /**< s that the next phase is longer, once */
} tsl_rebalance_gain;

/** The rank that was left out; seconds of one phase of each set together. */
typedef struct tsl_exclusion {
  int32_t rank; /**< -1: nobody */
  double saves; /**< that it took off the phases */
  double least; /**< its least units took */
  double cost;  /**< once, of what the others make anew */
} tsl_exclusion;

/**
 * Move the units whose home the set is, when that pays; their times go over to the new owners.
 * @param[in]     threshold  k - 1
 * @param[in,out] owner      shape [n_units]
 */
tsl_err tsl_history_rebalance(tsl_timing_history *learned, int set, double threshold,
                              int32_t *owner, tsl_rebalance_gain *gain);

/**
 * Give the units of the slowest rank to the others, each to who has it done first, when that pays;
 * their times go over to the new owners. Nobody is left out before the times of all units are
 * known.
 *
 * The plan has judged ranks by predictions (select_ranks.h), this by measured times. A rank that is
 * more than TSL_USEFUL_PEERS times slower than the fastest costs TSL_USEFUL_START each time that
 * all units run, and the time of its least unit: nothing finer can make its load even with the
 * others'. It is left out of the phases to come if it saves less.
 * @param[in,out] owner  shape [n_units]
 */
tsl_err tsl_exclude_slow_ranks(tsl_timing_history *learned, int32_t *owner, tsl_exclusion *rest);
