/**
 * @file parts.h
 * The ranks' parts of a plan while they run: what each takes next of its own, and what it takes
 * from others. Pure functions, tested without MPI; work_source.h has them at work.
 *
 * A rank takes its own units from the front. A rank that has nothing left takes units from the back
 * of the rank that would need longest, when it can do them sooner: work stealing, weighted by the
 * speeds that the ranks show (Blumofe & Leiserson 1999; batches shrink as in guided
 * self-scheduling, Polychronopoulos & Kuck 1987).
 */
#pragma once

#include "plan.h"

#include "cost.h"

/** What nobody has begun of a rank's n planned units: [front, back) of 0..n. */
typedef struct tsl_range {
  int32_t front, back;
} tsl_range;

/** The planned units of all ranks one after another, and what the ranks show; plain arrays. */
typedef struct tsl_parts {
  int n_ranks;
  const tsl_unit *units; /**< all units, not owned, nor is the next */
  const tsl_cost *cost;
  int64_t *order;  /**< [start[n_ranks]] units of rank 0, then of rank 1, ...; those that stay first
                        (tsl_plan.kept), else in order of id; without finished ones */
  int64_t *start;  /**< [n_ranks + 1] where each rank's begin in order */
  double *before;  /**< [start[n_ranks] + 1] predicted seconds before each, in that order, of every
                        rank's units on its device */
  double ideal;    /**< s of all units were they spread by speed, about */
  tsl_range *left; /**< [n_ranks] not begun: at first all but the front that the plan has for the
                        rank alone (tsl_plan.dynamic, kept) */
  double *slower;  /**< [n_ranks] measured over predicted seconds of late, at first 1 */
} tsl_parts;

/** Seconds of units taken at once: at least; the most grows with the number of ranks by this, for
 *  rank 0's sake. */
#define TSL_PARTS_SHORTEST 1e-4

/** List the planned units by owner.
 *  @param[out] parts  free with tsl_parts_clear */
tsl_err tsl_parts_make(const tsl_plan *plan, const tsl_unit *units, const tsl_cost *cost,
                       tsl_parts *parts);
void tsl_parts_clear(tsl_parts *parts);

/**
 * Number of units that a rank takes from the front of its own, 1 or more, were there none left: it
 * finds that out by taking.
 *
 * A quarter of what is left, so that the rest can be taken by others; no more than a batch; but no
 * fewer than its device computes at once.
 * @param[in] batch  s of a batch of this rank
 * @param[in] least  [n_kinds] units of a batch while there are as many, by the kind of the first
 */
int32_t tsl_parts_take(const tsl_parts *parts, int rank, double batch, const int64_t *least);

/** Seconds ahead at which the rank's device gets no more: near the end of its own part less than
 *  enough, so that the rest can be taken by others. */
double tsl_parts_enough(const tsl_parts *parts, int rank, double enough);

/**
 * Whose units a rank with nothing left should take, and how many from the back.
 *
 * The rank with the longest part loses half of what would let both end together, but no more than a
 * batch: others may be idle in a moment. Its last unit goes where it is done first, when it has
 * half a unit in hand itself.
 * @param[in]  ahead   s until this rank's device is free
 * @param[in]  batch   s of a batch of this rank
 * @param[out] victim  the rank
 * @return 0 when no unit would be done sooner that way
 */
int64_t tsl_parts_steal(const tsl_parts *parts, int rank, double ahead, double batch, int *victim);
