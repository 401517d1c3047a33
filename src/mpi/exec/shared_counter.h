/**
 * @file shared_counter.h
 * The dynamic tail: a counter on rank 0 that all ranks advance, on one host in shared memory, else
 * by MPI RMA.
 *
 * The same window carries an abort flag, the work done so far (for the progress line), how much
 * slower each rank turned out than predicted, and what of its planned units each has claimed.
 * Guided self-scheduling: a rank takes half of what would keep all busy to the end, so chunks
 * shrink and the tail ends together (Polychronopoulos & Kuck 1987, weighted by speed and by the
 * units' predicted work). Who waits for an answer of rank 0 sleeps; when that is silent
 * (heartbeat.h), the error is TSL_ERR_LOST, and the counter is never freed.
 */
#ifndef TSL_MPI_SHARED_COUNTER_H
#define TSL_MPI_SHARED_COUNTER_H

#include "cost.h"

#include <mpi.h>

typedef struct tsl_shared_counter tsl_shared_counter;

/** The tail as the rule sees it; nothing is owned. */
typedef struct tsl_dynamic_pool {
  const tsl_unit *units; /**< all units */
  const double *before;  /**< [units + 1] seconds of the units before each, on rank 0's device */
  const tsl_cost *cost;
  const double *slower; /**< [n_ranks] measured over predicted seconds of late; NULL: 1 */
  int64_t next, last;   /**< units [next, last) are left */
  double longest;       /**< s of units taken at once, at most */
  double enough;        /**< a device with more s ahead takes nothing, with less near the end */
} tsl_dynamic_pool;

/** Seconds of units taken at once: at least, unless the others would wait for it. */
#define TSL_POOL_SHORTEST 1e-4
/** The most grows with the number of ranks by this, for rank 0's sake. */
#define TSL_POOL_PER_RANK 1e-4
/** Seconds ahead that hide a start: what enough is where batches do not overlap. */
#define TSL_POOL_AHEAD 0.002

/**
 * Number of units the rank should take; the pure rule behind tsl_counter_take. Global for tests.
 *
 * 0 when the rest is better left to the others: to an idle rank when those that are much faster
 * would have done it before this rank had finished one more unit, to a busy one when all others
 * would; or when its device has enough to do for now. The fastest rank takes when it is idle, so
 * the tail always ends.
 * @param[in] ahead  s until the rank's device has done what it has already; 0 idle
 */
int64_t tsl_dynamic_pool_chunk(const tsl_dynamic_pool *tail, int rank, double ahead);

/** Collective on comm. Units [first, last) are in the tail. Close with tsl_counter_close. */
tsl_err tsl_counter_open(MPI_Comm comm, int64_t first, int64_t last, tsl_shared_counter **out);

/** Collective on the counter's comm, but when a rank is silent; NULL accepted, sets NULL. */
void tsl_counter_close(tsl_shared_counter **counter);

/* All below: not collective. They address the window on rank 0 alone. */

/**
 * Take units from the tail for this rank.
 * @param[in]  tail    units, before and cost; the counter knows the rest
 * @param[in]  ahead   as in tsl_dynamic_pool_chunk
 * @param[out] lo,hi   half-open range of units; may be empty
 * @param[out] over    the tail is used up; false with an empty range: ask again later
 */
tsl_err tsl_counter_take(tsl_shared_counter *counter, const tsl_dynamic_pool *tail, double ahead,
                         int64_t *lo, int64_t *hi, bool *over);

/** Tell all ranks how many times slower than predicted this rank is. Does not wait: they see it
 *  soon, at the latest some time after the next tsl_counter_aborted. */
tsl_err tsl_counter_slower(tsl_shared_counter *counter, double ratio);

/** What a rank has not begun of its n planned units: [front, back) of 0..n. It takes from the
 * front, others may take from the back (work_source.h). */
typedef struct tsl_range {
  int32_t front, back;
} tsl_range;

/** Set this rank's claim; before anybody else looks at it. */
tsl_err tsl_counter_set_range(tsl_shared_counter *counter, tsl_range claim);

/**
 * Claim n planned units (1 or more): of this rank from the front, of another from the back.
 * @param[out] got  those that were left, possibly fewer or none
 */
tsl_err tsl_counter_take_range(tsl_shared_counter *counter, int owner, int32_t n, tsl_range *got);

/** First unit of the tail that nobody has taken; beyond the last when it is used up. */
tsl_err tsl_counter_next(tsl_shared_counter *counter, int64_t *next);

/** Speeds and claims of all ranks. @param[out] slower,claims  shape [size] */
tsl_err tsl_counter_read(tsl_shared_counter *counter, double *slower, tsl_range *claims);

/** Ask all ranks to stop; any rank. */
tsl_err tsl_counter_abort(tsl_shared_counter *counter);
/** Ask all ranks to finish what they have begun and then to leave; any rank. */
tsl_err tsl_counter_pause(tsl_shared_counter *counter);
/** Has any rank asked to stop, or to pause? Does not wait: between hosts the answer is that of the
 *  call before. @param[out] paused  may be NULL */
tsl_err tsl_counter_aborted(tsl_shared_counter *counter, bool *aborted, bool *paused);

/** Add work done, in seconds of work as everybody counts them. As late as tsl_counter_slower. */
tsl_err tsl_counter_add_done(tsl_shared_counter *counter, double seconds);
/** Sum of all ranks' tsl_counter_add_done. */
tsl_err tsl_counter_done(tsl_shared_counter *counter, double *seconds);

#endif
