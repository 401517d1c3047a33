/**
 * @file heartbeat.h
 * Ranks that are stopped, swapped out or whose host is gone are noticed by the others.
 *
 * MPI waits for such a rank for ever, and a watchdog in its own process is stopped with it. So each
 * rank has a thread that does nothing but send and take signs of life (datagrams, which need
 * neither MPI nor the main thread): a few bytes to rank 0 and to the next rank, four times within
 * run.heartbeat. Rank 0 watches all ranks, each other rank the one before it, so that rank 0 is
 * watched, too. Who has missed somebody for half of run.heartbeat asks it for a sign, so that lost
 * datagrams end no job.
 *
 * A rank that has been silent for run.heartbeat is named, and all ranks get the alarm. Their main
 * threads look for it (tsl_heart_alarm) where they wait, leave with TSL_ERR_LOST and save what they
 * can (survivors.h); one that cannot, as it waits inside MPI, is ended with its process by its own
 * thread. Nobody waits for ever.
 *
 * One heart a process; without one (a single rank, run.heartbeat 0) there is no alarm.
 */
#pragma once

#include "placement.h"

#include <mpi.h>

/**
 * Collective on comm, and agrees. Start the thread. Where a socket cannot be had, rank 0 warns, and
 * there are no heartbeats.
 * @param[in] placements    shape [size], kept until tsl_heart_stop
 * @param[in] seconds  run.heartbeat
 */
tsl_err tsl_heart_start(MPI_Comm comm, const tsl_placement *placements, double seconds);

/** Not collective: from here on no rank misses this one. Leave in good order; nothing without a
 *  heart. */
void tsl_heart_stop(void);

/* ---- any thread, at any time */

/** The device begins with this unit: the last one that a silent rank is known by. */
void tsl_heart_unit(int64_t unit);

/** There is a checkpoint of this output on the disk, of what was done at this tsl_now(); 0: none
 *  that this rank knows of, but others may, and tell. */
void tsl_heart_saved(const char *output, double when);

/** Is a rank silent, so that the job has to end? Nothing collective on all ranks ends any more. */
bool tsl_heart_alarm(void);

/** Is this rank not to be waited for: silent, at its end, or its main thread has not answered in
 *  time? Known of all on the rank that leads (rank 0 unless it is silent itself), of a silent rank
 *  0 everywhere. */
bool tsl_heart_gone(int rank);

/* ---- main thread */

/** Is who waits for other ranks to leave with TSL_ERR_LOST? After the alarm, until tsl_heart_save.
 */
bool tsl_heart_calls(void);

/** The alarm was heard: the process is on its way to its end, which may take a while. */
void tsl_heart_answer(void);

/** An error for who heard the alarm where it waited; answers. @return TSL_ERR_LOST */
tsl_err tsl_heart_lost(const char *file, int line);

/** Not collective. From here on this rank waits for other ranks in spite of the alarm, to save what
 *  it has (tsl_heart_calls); answers. */
void tsl_heart_save(void);

/**
 * Not collective; waits for the rank that leads. All that can be done is done. On the rank that
 * leads: say what can be continued, and tell the others to end. Other ranks: wait for that, or
 * until it is too late to.
 * @param[in] saved  the living ranks have written a checkpoint
 */
void tsl_heart_end(bool saved);
