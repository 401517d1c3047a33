/**
 * @file queue.h
 * The dynamic tail: a counter on rank 0 that all ranks advance by MPI RMA.
 *
 * The same window carries an abort flag and the work done so far (for the progress line).
 * Guided self-scheduling: a rank takes half of what would keep all busy to the end, so chunks
 * shrink and the tail ends together (Polychronopoulos & Kuck 1987, weighted by speed).
 */
#ifndef TSL_MPI_QUEUE_H
#define TSL_MPI_QUEUE_H

#include "cost.h"

#include <mpi.h>

typedef struct tsl_queue tsl_queue;

/** Collective on comm. Units [first, last) are in the tail. Close with tsl_queue_close. */
tsl_err tsl_queue_open(MPI_Comm comm, int64_t first, int64_t last, tsl_queue **out);

/** Collective; NULL accepted, sets NULL. */
void tsl_queue_close(tsl_queue **queue);

/**
 * Take units from the tail for this rank.
 * @param[in]  units   all units, shape [n]
 * @param[out] lo,hi   half-open range of units; empty when the tail is used up or when the other
 *                     ranks would finish the rest before this one finished a unit
 */
tsl_err tsl_queue_take(tsl_queue *queue, const tsl_unit *units, const tsl_cost *cost, int64_t *lo,
                       int64_t *hi);

/** Number of units the rank should take; the pure rule behind tsl_queue_take. 0: leave it to
 * others. */
int64_t tsl_queue_chunk(const tsl_unit *units, int64_t next, int64_t last, const tsl_cost *cost,
                        int rank);

/** Ask all ranks to stop; any rank. */
tsl_err tsl_queue_abort(tsl_queue *queue);
/** Has any rank asked to stop? */
tsl_err tsl_queue_aborted(tsl_queue *queue, bool *aborted);

/** Add finished work (predicted seconds) and read the sum over ranks. */
tsl_err tsl_queue_add_done(tsl_queue *queue, double seconds);
tsl_err tsl_queue_done(tsl_queue *queue, double *seconds);

#endif
