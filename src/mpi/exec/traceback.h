/**
 * @file traceback.h
 * The recovery of a WAVE problem's solution: a cursor that goes from owner to owner.
 */
#ifndef TSL_MPI_TRACEBACK_H
#define TSL_MPI_TRACEBACK_H

#include "calibrate.h"
#include "plan.h"

/** What is done between the turns of a walk: a checkpoint, when one is due. */
typedef struct tsl_traceback_break {
  void *state;
  tsl_err (*look)(void *state); /**< collective; an error, the same on all ranks, ends the walk */
  bool on;                      /**< signals that ask to stop politely (phase.h) are left to look */
} tsl_traceback_break;

/**
 * Collective on comm. Walk from family.traceback_begin to the end; the steps go to
 * family.traceback_steps on the root. Nothing happens when the family has no walk. A turn that
 * does not move the cursor is TSL_ERR_INTERNAL.
 *
 * @param[in] units    shape [plan->n_units]
 * @param[in] between  NULL: any signal ends the walk with TSL_ERR_STOPPED
 */
tsl_err tsl_traceback(MPI_Comm comm, const tsl_executor *executor, tsl_problem *problem,
                      const tsl_unit *units, const tsl_plan *plan,
                      const tsl_traceback_break *between);

#endif
