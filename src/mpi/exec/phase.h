/**
 * @file phase.h
 * One phase of a BAG family: every unit is computed once, somewhere, and its results delivered.
 */
#pragma once

#include "calibrate.h"
#include "clock.h"
#include "out_h5.h"
#include "plan.h"
#include "trace.h"

/** The records of LIST fields a rank has computed, kept until the phase ends. */
typedef struct tsl_lists {
  tsl_list *of; /**< [n_units][n_fields], from tsl_alloc; empty entries elsewhere; NULL without LIST
                   fields */
  int64_t bytes;
} tsl_lists;

/** All that a phase works with; nothing is owned except lists and log. */
typedef struct tsl_phase {
  MPI_Comm comm;
  const tsl_executor *executor;
  tsl_problem *problem;
  const tsl_unit *units; /**< [plan->n_units], the same on all ranks */
  const tsl_plan *plan;
  const tsl_cost *cost;
  tsl_out *out;
  int64_t memory; /**< bytes for LIST records of this rank */
  int64_t unsent; /**< WAVE: with more bytes of edges that have not left, this rank begins nothing
                       more for which nobody can be waiting; 0: 256 MiB */
  int index;      /**< number of the phase */
  bool quiet;
  bool can_pause;  /**< leave early when a signal (not SIGINT) or pause_at asks for it */
  bool hold;       /**< such signals wait for the end of the phase */
  double pause_at; /**< tsl_now() on rank 0 */
  /** OPTIONAL: called by the main thread every 20 ms or so; may set pause_at. */
  tsl_err (*tend)(struct tsl_phase *phase);
  void *tender;    /**< its own */
  double watchdog; /**< s without an end of what the device computes, after which the job is ended
                        (at least 20 times the predicted seconds); 0: never */
  tsl_timeline *trace;

  tsl_lists lists;   /**< out, this rank's; freed with tsl_phase_clear */
  tsl_out_unit *log; /**< out, [n_log] units this rank computed, in order; freed likewise */
  int64_t n_log;
  double busy;   /**< out, s of device time of this rank */
  double finish; /**< out, s from the phase's start to the end of this rank's last unit */
  double origin; /**< out, tsl_now() at the phase's start */
  bool drained; /**< out: what this rank has begun is finished and delivered, and no more has begun;
                      of use after TSL_ERR_LOST */
  bool paused;  /**< out, the same on all ranks: units may be left (WAVE: are left, whole stages);
                      run it again, with plan->finished, and it goes on */
} tsl_phase;

/**
 * Collective on phase->comm. Run the phase.
 *
 * The compute thread computes; this thread feeds it from the static list and then from the shared
 * counter, delivers finished slabs, and on rank 0 receives those of others. When a rank fails, all
 * stop. When it is to pause, all finish and deliver what they have begun, and return. So do those
 * that live when a rank is silent (heartbeat.h) and a checkpoint can be made of it; else they
 * leave as soon as their devices are done.
 *
 * @return the lowest failing rank's error, on all ranks; TSL_ERR_LOST
 */
tsl_err tsl_bag_run(tsl_phase *phase);

/** Not collective. Free lists and log; zeroed phases are accepted. */
void tsl_phase_clear(tsl_phase *phase);

/** Set by main's signal handler: the number of the signal that asks to stop, or 0. */
extern volatile int tsl_stop_signal;

/** Has a signal asked to stop after a checkpoint? SIGINT asks to stop at once. */
bool tsl_stop_politely(void);
