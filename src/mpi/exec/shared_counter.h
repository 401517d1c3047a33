/**
 * @file shared_counter.h
 * What the ranks of a phase tell each other while it runs: a window of counters on rank 0, on one
 * host in shared memory, else by MPI RMA.
 *
 * What of its planned units each rank has not begun, how much slower it turned out than predicted,
 * the work done so far (for the progress line), and an abort flag. Who waits for an answer of rank
 * 0 sleeps; when that is silent (heartbeat.h), the error is TSL_ERR_LOST, and the counter is never
 * freed.
 */
#pragma once

#include "parts.h"

#include <mpi.h>

typedef struct tsl_shared_counter tsl_shared_counter;

/** Collective on comm. Close with tsl_counter_close. */
tsl_err tsl_counter_open(MPI_Comm comm, tsl_shared_counter **out);

/** Collective on the counter's comm, but when a rank is silent; NULL accepted, sets NULL. */
void tsl_counter_close(tsl_shared_counter **counter);

/* All below: not collective. They address the window on rank 0 alone. */

/** Tell all ranks how many times slower than predicted this rank is. Does not wait: they see it
 *  soon, at the latest some time after the next tsl_counter_aborted. */
tsl_err tsl_counter_slower(tsl_shared_counter *counter, double ratio);

/** Set what others may take of this rank's part (tsl_parts.left); before anybody looks at it. */
tsl_err tsl_counter_set_range(tsl_shared_counter *counter, tsl_range range);

/**
 * Take n planned units (1 or more): of this rank from the front, of another from the back.
 * @param[out] got  those that were left, possibly fewer or none
 */
tsl_err tsl_counter_take_range(tsl_shared_counter *counter, int owner, int32_t n, tsl_range *got);

/** Speeds and ranges of all ranks. @param[out] slower,left  shape [size] */
tsl_err tsl_counter_read(tsl_shared_counter *counter, double *slower, tsl_range *left);

/** Ask all ranks to stop; any rank. */
tsl_err tsl_counter_abort(tsl_shared_counter *counter);
/** Ask all ranks to finish what they have begun and then to leave; any rank. */
tsl_err tsl_counter_pause(tsl_shared_counter *counter);
/** Has any rank asked to stop, or to pause? Does not wait: between hosts the answer is that of the
 *  call before. */
tsl_err tsl_counter_aborted(tsl_shared_counter *counter, bool *aborted, bool *paused);

/** Add work done, in seconds of work as everybody counts them. As late as tsl_counter_slower. */
tsl_err tsl_counter_add_done(tsl_shared_counter *counter, double seconds);
/** Sum of all ranks' tsl_counter_add_done. */
tsl_err tsl_counter_done(tsl_shared_counter *counter, double *seconds);
