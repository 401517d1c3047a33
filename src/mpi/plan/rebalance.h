/**
 * @file rebalance.h
 * Move units from slow ranks to fast ones by measured times (seeds: LIO, Algorithm 1). A pure
 * function, tested without MPI.
 *
 *   while t_max / t_min > k:
 *     dT = (t_max - t_min) / 2
 *     of the slowest rank's units take the one whose time * correction + migration cost is nearest
 *     to dT, correction being its seconds on the fastest rank over those on the slowest;
 *     move it; update both sums
 *
 * A move must make the larger of the two sums smaller, so the search ends.
 *
 * Units of a rank that takes no part go first, each to the rank that would have it done first.
 *
 * With a limit on the next phase, what first runs take more has to fit into the time below it: a
 * slow rank fills up over several phases. A limit of what the last phase took costs nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

/** Seconds of a unit on rank to over its seconds on rank from; positive. */
typedef double (*tsl_ratio_fn)(const void *model, int64_t unit, int from, int to);
/** s that the first run of a unit on rank to takes more than later ones, once: the rank has none of
 *  its functions and integrals yet. Not negative. */
typedef double (*tsl_migration_fn)(const void *model, int64_t unit, int from, int to);

typedef struct tsl_rebalance_ask {
  int64_t n;
  int n_ranks;
  const double *seconds;   /**< [n] where they were measured; 0: no work */
  const int32_t *measured; /**< [n] that rank; NULL: the present owner */
  const bool *movable;     /**< [n] the others only count; NULL: all */
  const bool *takes_part;  /**< [n_ranks] ranks that may have movable units; NULL: all */
  tsl_ratio_fn correction; /**< called with model */
  tsl_migration_fn migration;
  const void *model;
  double threshold; /**< k - 1 */
  double longest;   /**< the next phase may take so many times the last one's seconds; 0: any */
} tsl_rebalance_ask;

/** What the moves bring. Imbalance: largest sum over mean sum - 1. */
typedef struct tsl_rebalance_gain {
  int64_t moved;           /**< units with another owner than before */
  double before, after;    /**< s, largest sum; before: where units were measured */
  double imbalance_before; /**< 0: none */
  double imbalance_after;
  double cost; /**< s that the next phase is longer, once, by the movable units */
} tsl_rebalance_gain;

/**
 * @param[in,out] owner  shape [n]
 * @param[out]    gain   may be without moves
 */
tsl_err tsl_rebalance(const tsl_rebalance_ask *ask, int32_t *owner, tsl_rebalance_gain *gain);

/** Are the moves worth their cost when so many phases follow? */
bool tsl_rebalance_pays(const tsl_rebalance_gain *gain, int phases);
