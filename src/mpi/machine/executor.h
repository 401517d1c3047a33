/**
 * @file executor.h
 * A device as the main thread of a rank sees it: start, open a worker, run it, close, stop. All
 * that concerns the device is done on its compute thread.
 */
#pragma once

#include "compute_thread.h"
#include "placement.h"

/** What a rank needs to run units: backend, worker, and the compute thread that drives them;
 *  zero-initialise. */
typedef struct tsl_executor {
  const tsl_problem *problem; /**< not owned */
  const tsl_backend *backend; /**< not owned */
  tsl_worker *worker;         /**< opened on the compute thread */
  tsl_compute_thread *thread;
  const tsl_placement *placement; /**< this rank's; not owned */
  tsl_device device; /**< its device as the compute thread has selected it, before its first task */
} tsl_executor;

/** Start the compute thread, which first takes its cores and its device: a card takes tenths of a
 *  second to start, while the caller goes on, and tasks get what goes wrong.
 *  @param[in] placement  lives as long as the executor */
tsl_err tsl_executor_start(const tsl_placement *placement, tsl_executor *executor);

/** Open a worker of a problem, which outlives it.
 *  @return TSL_ERR_INPUT: the family has no backend for the device; those of tsl_backend.open */
tsl_err tsl_executor_open(const tsl_problem *problem, tsl_executor *executor);

/** Close the worker, if there is one; the error that brought the caller here stays. */
void tsl_executor_close(tsl_executor *executor);

/** Close the worker and end the thread. */
void tsl_executor_stop(tsl_executor *executor);
