/**
 * @file exclude_slow_ranks.h
 * Which slow rank is left out of the phases to come: one that saves less than it costs. A pure
 * function, tested without MPI.
 *
 * The plan has judged ranks by predictions (select_ranks.h); this judges by measured times. A rank
 * that is more than TSL_USEFUL_PEERS times slower than the fastest costs TSL_USEFUL_START each time
 * that all units run, and the time of its least unit: nothing finer can make its load even with the
 * others'.
 */
#pragma once

#include "timing_history.h"

/** Phases of an imbalance above this are looked at: balanced ranks stay as they are. */
#define TSL_REST_ABOVE 0.05

/** The rank that was left out; seconds of one phase of each set together. */
typedef struct tsl_exclusion {
  int32_t rank; /**< -1: nobody */
  double saves; /**< that it took off the phases */
  double least; /**< its least units took */
  double cost;  /**< once, of what the others make anew */
} tsl_exclusion;

/**
 * Give the units of one slow rank to the others, when that pays within some phases; then times go
 * over to the new owners. Nobody rests before all units have run and first runs can be told from
 * later ones.
 * @param[in,out] owner  shape [n_units]
 */
tsl_err tsl_exclude_slow_ranks(tsl_timing_history *learned, const tsl_cost *cost,
                               const tsl_unit *units, const tsl_kind_sets *sets, int32_t *owner,
                               tsl_exclusion *rest);
