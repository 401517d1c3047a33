/* The phase of a test: nothing printed, little memory, all ranks. */
#pragma once

#include "phase.h"

/* All borrowed. */
static inline tsl_phase quiet_phase(const tsl_executor *executor, tsl_problem *problem,
                                    const tsl_unit *units, const tsl_plan *plan,
                                    const tsl_cost *cost, tsl_timeline *trace) {
  return (tsl_phase){.comm = MPI_COMM_WORLD,
                     .executor = executor,
                     .problem = problem,
                     .units = units,
                     .plan = plan,
                     .cost = cost,
                     .memory = 1 << 20,
                     .quiet = true,
                     .trace = trace};
}
