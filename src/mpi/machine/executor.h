/**
 * @file executor.h
 * A rank's device as the main thread sees it.
 */
#pragma once

#include "compute_thread.h"
#include "placement.h"

/** What a rank needs to run units: backend, worker, and the compute thread that drives them. */
typedef struct tsl_executor {
  const tsl_problem *problem; /**< not owned */
  const tsl_backend *backend; /**< not owned */
  tsl_worker *worker;         /**< opened on the compute thread */
  tsl_compute_thread *thread;
  const tsl_placement *placement; /**< this rank's; not owned */
  tsl_device device; /**< its device as the compute thread has selected it, before its first task */
} tsl_executor;
