/**
 * @file rebalance.h
 * Between two phases units move from slow ranks to fast ones by measured times (seeds: LIO,
 * Algorithm 1). A pure function, tested without MPI.
 *
 *   while t_max / t_min > k:
 *     dT = (t_max - t_min) / 2
 *     of the slowest rank's units take the one whose seconds on the fastest rank, with what its
 *     first run there takes more, are nearest to dT; move it; update both sums
 *
 * A move must make the larger of the two sums smaller, so the search ends; where no unit of the
 * slowest rank does, the rank after the fastest is looked at. As many of the moves are
 * made as pay: the next TSL_PHASES_LEFT phases must take less with them than without, what first
 * runs take more included. So a slow rank whose units are dear gets rid of them over several
 * phases. Units whose times are not known stay: nothing moves after the first phase.
 */
#pragma once

#include "timing_history.h"

/** Nobody knows how many phases follow; what is done once must pay within so many. */
enum { TSL_PHASES_LEFT = 4 };

/** What moves bring. Imbalance: largest sum over mean sum of the ranks that take part - 1. */
typedef struct tsl_rebalance_gain {
  int64_t moved;                            /**< units with another owner than before */
  double imbalance_before, imbalance_after; /**< 0: none */
} tsl_rebalance_gain;

/**
 * Move units whose home the set is; their times go over to the new owners.
 * @param[in]     threshold  k - 1
 * @param[in,out] owner      shape [n_units]
 */
tsl_err tsl_rebalance(tsl_timing_history *learned, int set, double threshold, int32_t *owner,
                      tsl_rebalance_gain *gain);
