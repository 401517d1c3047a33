/**
 * @file phase_loop.h
 * What the main thread's loops of BAG and WAVE phases share: errors, stops and pauses of all ranks,
 * results on their way, progress. Private to bag_engine.c and wave.c.
 */
#pragma once

#include "complete_unit.h"
#include "progress.h"
#include "shared_counter.h"

typedef struct tsl_phase_loop {
  tsl_phase *phase;            /**< not owned */
  tsl_shared_counter *counter; /**< for abort, pause and progress */
  tsl_result_writer *delivery;
  int rank, size;
  bool abort, pause;
  bool ended;  /**< this rank delivers no more */
  bool lost;   /**< a rank is silent */
  tsl_err err; /**< first failure of this rank */
  tsl_err_copy error;
  double total, before; /**< work of all units, and of those that were finished at the start */
  double slow_check;    /**< tsl_now() of the last look at what others ask for */
  tsl_progress progress;
} tsl_phase_loop;

/** Not collective: rank and size. @return of a rank that is in no time to run it */
tsl_err tsl_phase_loop_make(tsl_phase *phase, tsl_phase_loop *loop);

/** Not collective. Make room for results, sum up the work. */
tsl_err tsl_phase_loop_open(tsl_phase_loop *loop);

/** Collective on the phase's comm, but when a rank is silent. */
void tsl_phase_loop_close(tsl_phase_loop *loop);

/** Begin the clock and the progress line. */
void tsl_phase_loop_start(tsl_phase_loop *loop);

/** Keep the first error, and make all ranks stop. */
void tsl_phase_loop_keep(tsl_phase_loop *loop, tsl_err err);

/** Has someone failed, or the user asked to stop or to pause? Shows progress.
 *  @return TSL_ERR_STOPPED: asked to stop at once */
tsl_err tsl_phase_loop_look_around(tsl_phase_loop *loop);

/** Work as everybody counts it: seconds on rank 0's device. */
double tsl_phase_loop_work(const tsl_phase_loop *loop, const tsl_unit *unit);
