/**
 * @file traceback.h
 * The recovery of a WAVE problem's solution: a cursor that goes from owner to owner.
 */
#pragma once

#include "calibrate.h"
#include "plan.h"

/** What is done between the turns of a walk: a checkpoint, when one is due. */
typedef struct tsl_traceback_break {
  void *state;
  /** Collective; an error, the same on all ranks, ends the walk. cursor: where it stands. */
  tsl_err (*look)(void *state, const tsl_cursor *cursor);
  bool on;                   /**< signals that ask to stop politely (phase.h) are left to look */
  const tsl_cursor *from;    /**< root: go on from here; without steps from the end */
  const int64_t (*steps)[2]; /**< root: [n_steps] that have led there */
  int64_t n_steps;
} tsl_traceback_break;

/**
 * Collective on comm. Walk from family.traceback_begin, or where an earlier run had come to, to the
 * end; the steps go to family.traceback_steps on the root. Nothing happens when the family has no
 * walk. A turn that does not move the cursor is TSL_ERR_INTERNAL.
 *
 * @param[in] units    shape [plan->n_units]
 * @param[in] between  NULL: any signal ends the walk with TSL_ERR_STOPPED
 */
tsl_err tsl_traceback(MPI_Comm comm, const tsl_executor *executor, tsl_problem *problem,
                      const tsl_unit *units, const tsl_plan *plan,
                      const tsl_traceback_break *between);
