/**
 * @file plan.h
 * Plans: which rank runs which unit. Pure functions, tested without MPI.
 *
 * Every unit has an owner. While the plan runs, ranks that have nothing left may take units that
 * their owners have not begun (parts.h).
 */
#pragma once

#include "settings.h"

/** Predicted seconds of a unit on a rank; never negative, INFINITY where the rank takes no part. */
typedef double (*tsl_seconds_fn)(const void *model, int rank, const tsl_unit *unit);

typedef struct tsl_plan {
  int64_t n_units;
  int32_t n_ranks;
  double dynamic;           /**< part 0..1 of each rank's units that others may take; 0: none */
  bool kept;                /**< a phase has run: units with a setup stay with their owners */
  int32_t *owner;           /**< [n_units] rank */
  double *seconds;          /**< [n_ranks] predicted seconds */
  double total_seconds;     /**< predicted seconds of the whole phase, those of the longest rank */
  double traceback_seconds; /**< WAVE: predicted seconds of the traceback, after the phase */
  double network_bytes; /**< WAVE: of edges between the nodes of a network that is given, else 0 */
  const uint8_t *finished; /**< [n_units] 1: not to be computed any more; NULL: none; not owned */
} tsl_plan;

/** What the deck asks of a plan. */
typedef struct tsl_plan_rule {
  tsl_plan_kind kind;
  double dynamic; /**< part 0..1 of each rank's units that others may take; not used by SHARE */
  double share;   /**< SHARE: part 0..1 of the domain for the fast ranks, by volume of the boxes */
  const bool *fast;    /**< SHARE: [n_ranks] the fast ranks; else NULL; not owned */
  const int32_t *like; /**< [n_ranks] the first rank that needs as long for every unit, so that one
                            of them is looked at; NULL: not known; not owned */
} tsl_plan_rule;

/** What is planned: units, and what they take. */
typedef struct tsl_workload {
  const tsl_unit *units; /**< [n_units] */
  int64_t n_units;
  int n_ranks;
  tsl_seconds_fn seconds; /**< cost model, called with model */
  const void *model;
} tsl_workload;

/** Predicted seconds of a unit on a rank. */
static inline double tsl_workload_seconds(const tsl_workload *work, int on, int64_t unit) {
  return work->seconds(work->model, on, &work->units[unit]);
}

/**
 * Deal units on top of what the ranks have to do already.
 * @param[in]  work   ids do not matter
 * @param[in]  kinds  bits of the kinds whose units are dealt
 * @param[in]  base   shape [n_ranks], s
 * @param[out] owner  shape [n_units]; those of other kinds stay
 * @return TSL_ERR_INPUT when SHARE gives a part of the domain to a side without ranks
 */
tsl_err tsl_plan_assign(const tsl_plan_rule *rule, const tsl_workload *work, uint32_t kinds,
                        const double *base, int32_t *owner);

/** A plan without owners. @param[out] plan  owned by the caller, free with tsl_plan_clear */
tsl_err tsl_plan_open(int64_t n_units, int n_ranks, tsl_plan *plan);

/** Load of the rank that has most; 0 or more. */
double tsl_plan_longest(const double *load, int n_ranks);

/**
 * The fast side of a fixed share: the ranks on cards; where all or none are, rank 0.
 * @param[in]  on_card  shape [n_ranks]
 * @param[out] fast     shape [n_ranks]
 */
void tsl_plan_sides(const bool *on_card, int n_ranks, bool *fast);

/** Free the arrays and zero the plan; zeroed ones are accepted. */
void tsl_plan_clear(tsl_plan *plan);
