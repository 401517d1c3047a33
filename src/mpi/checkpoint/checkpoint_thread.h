/**
 * @file checkpoint_thread.h
 * A checkpoint gets to the disk beside the computation, by a thread of its own.
 *
 * In this order: the rows that this host has written to FILE.part are synced; all other hosts have
 * synced theirs (tsl_behind_go); the checkpoint is committed (checkpoint.h). So a checkpoint never
 * has its name before the rows that it speaks of are on the disk, and the one before it stays until
 * then. The thread calls neither MPI nor HDF5. A rank that has rows but no checkpoint syncs alone.
 */
#pragma once

#include "checkpoint.h"

/** A checkpoint on its way. */
typedef struct tsl_behind tsl_behind;

/** What is to be written. */
typedef struct tsl_behind_work {
  int rows;                      /**< descriptor of FILE.part, closed by the thread; -1: no rows */
  tsl_checkpoint_writer *writer; /**< taken over; NULL: rows alone */
  void (*saved)(void *state);    /**< the thread calls it when the checkpoint is on the disk */
  void *state;
} tsl_behind_work;

/** How it went. */
typedef struct tsl_behind_end {
  tsl_err_copy rows;       /**< code TSL_OK, or why the rows are not on the disk */
  tsl_err_copy checkpoint; /**< code TSL_OK, or why there is no checkpoint; so without a writer */
  int64_t bytes;           /**< of the checkpoint's file */
} tsl_behind_end;

/** Start the thread; what is in work belongs to it, also when that fails. Where no thread can be
 *  had (limits), this call and tsl_behind_go do the work themselves, and the computation waits.
 *  @return TSL_ERR_MEMORY */
tsl_err tsl_behind_start(const tsl_behind_work *work, tsl_behind **behind);

/** Is it known whether this rank's rows are on the disk, and are they then? */
bool tsl_behind_synced(const tsl_behind *behind);
bool tsl_behind_rows_safe(const tsl_behind *behind);

/** The rows of all hosts are on the disk: commit; or one host's will not be: drop the checkpoint.
 *  Only the first call counts. */
void tsl_behind_go(tsl_behind *behind, bool commit);

/** Is all over, so that tsl_behind_wait returns at once? */
bool tsl_behind_over(const tsl_behind *behind);

/** Wait for all, after tsl_behind_go; free it, set NULL. */
void tsl_behind_wait(tsl_behind **behind, tsl_behind_end *end);

/** fsync, here and now. @param[in] fd  closed; -1: nothing to do. @return TSL_ERR_IO */
tsl_err tsl_sync_rows(int fd);
