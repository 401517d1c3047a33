/**
 * @file compute_thread.h
 * The compute thread of a rank. The main thread talks MPI and HDF5; the compute thread drives the
 * device.
 *
 * MPI is asked for MPI_THREAD_FUNNELED only, so results can be sent and written while the next
 * unit runs. All backend calls of a worker happen on the compute thread.
 *
 * Tasks run one at a time in the order posted. Tasks with finish overlap: run only begins what the
 * device does, and while that goes on the compute thread runs the next one. At most
 * TSL_MOST_STARTED (contract.h) are begun and not finished; they are finished in order, and a task
 * without finish waits until there are none.
 */
#pragma once

#include "error.h"

#include <stdbool.h>

/** A task; zero-initialise it and embed it as the first member of what run needs. Owned by the
 *  poster. */
typedef struct tsl_task {
  /** With finish: TSL_ERR_DEVICE_MEMORY while others are begun means no room beside them; they are
   *  then finished and run is called again. */
  tsl_err (*run)(struct tsl_task *task);
  /** NULL: run is all. Else: wait for what run has begun; not called when run has failed. */
  tsl_err (*finish)(struct tsl_task *task);
  /** With finish: would it not wait? Asked of the task begun first, again and again, while another
   *  could begin. NULL: finish is called when nothing can begin now, and what is posted meanwhile
   *  begins after it. */
  bool (*ended)(struct tsl_task *task);
  tsl_err_copy error;    /**< out: the result and its message, of run or of finish */
  struct tsl_task *next; /**< private to the compute thread */
} tsl_task;

typedef struct tsl_compute_thread tsl_compute_thread;

/**
 * Start the thread.
 * @param[in]  prepare  first thing the thread does (binding); may be NULL; tasks get its error
 * @param[out] out      stop with tsl_compute_thread_stop
 */
tsl_err tsl_compute_thread_start(tsl_err (*prepare)(void *arg), void *arg,
                                 tsl_compute_thread **out);

/** Queue a task; it must stay alive until tsl_compute_thread_done returned it. */
void tsl_compute_thread_post(tsl_compute_thread *thread, tsl_task *task);

/** A finished task in order of posting, or NULL when none finished within wait_us microseconds. */
tsl_task *tsl_compute_thread_done(tsl_compute_thread *thread, long wait_us);

/** Post a task and wait for it; only while nothing else is queued. Its error becomes this thread's.
 */
tsl_err tsl_compute_thread_call(tsl_compute_thread *thread, tsl_task *task);

/** Let queued tasks finish, join the thread, free; NULL accepted, sets NULL. */
void tsl_compute_thread_stop(tsl_compute_thread **thread);
