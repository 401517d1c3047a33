/**
 * @file plan.h
 * Plans: which rank runs which unit. Pure functions, tested without MPI.
 *
 * A plan has a static part (owner known beforehand) and a dynamic tail (owner -1) that the
 * ranks take from a shared counter while they run (queue.h).
 */
#ifndef TSL_MPI_PLAN_H
#define TSL_MPI_PLAN_H

#include "contract.h"

/** Predicted seconds of a unit on a rank; never negative. */
typedef double (*tsl_seconds_fn)(const void *model, int rank, const tsl_unit *unit);

typedef enum tsl_plan_kind {
  TSL_PLAN_STRIPS, /**< contiguous cut: the smallest time T for which every rank's strip fits */
  TSL_PLAN_LPT,    /**< longest processing time first, each to the rank that ends earliest (Graham
                      1969) */
  TSL_PLAN_BINS, /**< binary search on the capacity, first-fit decreasing for each (seeds: Algorithm
                    4) */
  TSL_PLAN_ROUNDROBIN, /**< unit i to rank i mod ranks; ignores cost */
  TSL_N_PLANS
} tsl_plan_kind;

/** Words of the deck key run.plan, NULL-ended, in the order of the enum. */
extern const char *const tsl_plan_words[];

typedef struct tsl_plan {
  int64_t n_units;
  int32_t n_ranks;
  int32_t kind;
  int64_t first_dynamic; /**< units [first_dynamic, n_units) are handed out while running */
  int32_t *owner;        /**< [n_units] rank, or -1 in the tail */
  double *seconds;       /**< [n_ranks] predicted seconds of the static part */
  double tail_seconds;   /**< predicted seconds of the tail if spread ideally over all ranks */
  double total_seconds;  /**< predicted seconds of the whole phase */
} tsl_plan;

/**
 * Make a plan.
 * @param[in]  units    shape [n_units], ids 0..n_units-1 in order
 * @param[in]  dynamic  share of the predicted work, 0..1, left to the tail (0 with one rank)
 * @param[in]  seconds  cost model, called with model
 * @param[out] plan     owned by the caller, free with tsl_plan_clear
 */
tsl_err tsl_plan_make(tsl_plan_kind kind, const tsl_unit *units, int64_t n_units, int n_ranks,
                      double dynamic, tsl_seconds_fn seconds, const void *model, tsl_plan *plan);

void tsl_plan_clear(tsl_plan *plan);

#endif
