/**
 * @file walk.h
 * The recovery of a WAVE problem's solution: a cursor that goes from owner to owner.
 */
#ifndef TSL_MPI_WALK_H
#define TSL_MPI_WALK_H

#include "calibrate.h"
#include "plan.h"

/**
 * Walk from family.walk_begin to the end; the steps go to family.walk_steps on the root. Nothing
 * happens when the family has no walk. A walk that comes back to a cursor it left is
 * TSL_ERR_INTERNAL.
 *
 * Collective: on comm.
 * @param[in] units  shape [plan->n_units]
 */
tsl_err tsl_walk(MPI_Comm comm, const tsl_station *station, tsl_problem *problem,
                 const tsl_unit *units, const tsl_plan *plan);

#endif
