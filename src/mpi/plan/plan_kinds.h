/**
 * @file plan_kinds.h
 * Plans of families whose kinds of units have work in some phases only (family.active). Pure
 * functions, tested without MPI.
 *
 * The kinds that are active together are a set. Every phase should be balanced, and a unit stays
 * with one rank in all of them, for what that rank keeps of it. So kinds that have a phase of their
 * own (their home is the smaller set) are dealt first, by that phase; the others on top of them.
 */
#pragma once

#include "cost.h"
#include "plan.h"

/** The sets of a problem. */
typedef struct tsl_kind_sets {
  int32_t n;                           /**< 1 or more */
  uint32_t mask[TSL_PHASES_AHEAD + 1]; /**< bit k: kind k is in it; in the order of their first
                                          phase; at last the kinds that are in none of these */
  int32_t home[TSL_MAX_KINDS]; /**< the smallest set that has the kind; -1: no kind of the family */
} tsl_kind_sets;

/** Kinds that are active in a phase, as bits. */
uint32_t tsl_kinds_active(const tsl_problem *problem, int phase);

/** The sets of the first TSL_PHASES_AHEAD phases, and of kinds of units that rest in all of them.
 *  @param[in] units  [n_units] */
void tsl_kind_sets_make(const tsl_problem *problem, const tsl_unit *units, int64_t n_units,
                        tsl_kind_sets *sets);

/** Index of a set, or -1. */
int tsl_kind_sets_find(const tsl_kind_sets *sets, uint32_t mask);

/** Is a kind in a set given as bits? */
static inline bool tsl_kind_in(uint32_t mask, int kind) {
  return (mask >> kind & 1) != 0;
}

/**
 * Make a plan. Several sets: nothing is taken from others; plan->seconds and total_seconds are
 * those of one phase of each set together.
 * @param[in]  work  ids 0..n_units-1 in order
 * @param[out] plan  owned by the caller, free with tsl_plan_clear; one rank: nothing is taken
 * @return as tsl_plan_assign
 */
tsl_err tsl_plan_make(const tsl_plan_rule *rule, const tsl_kind_sets *sets,
                      const tsl_workload *work, tsl_plan *plan);

/**
 * Predicted seconds of the ranks in a phase of a set.
 * @param[out] load  shape [plan->n_ranks]
 * @return those of the rank with the longest load
 */
double tsl_plan_loads(const tsl_plan *plan, const tsl_workload *work, uint32_t mask, double *load);

/** Mean load over largest load, 0..1, of the ranks that take part; 1 without load. */
double tsl_plan_efficiency(const double *load, const tsl_cost *cost);

/**
 * The units of a set alone, and their part of a plan.
 * @param[out] part,view  units in order, ids kept, shape [view->n_units], from tsl_alloc; the plan,
 *                        free with tsl_plan_clear
 */
tsl_err tsl_plan_view(const tsl_plan *plan, const tsl_workload *work, uint32_t mask,
                      tsl_unit **part, tsl_plan *view);
