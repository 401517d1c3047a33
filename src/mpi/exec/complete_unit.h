/**
 * @file complete_unit.h
 * What a rank does with a finished unit: log it, trace it, store its slabs, keep its lists. Shared
 * by phases of BAG (bag_engine.c) and WAVE (wave.c) families.
 */
#pragma once

#include "phase.h"
#include "result_writer.h"

/** Does any OUT field consist of lists? */
bool tsl_complete_lists(const tsl_problem *problem);

/** Make room in phase for the log of all units and, when asked, their lists; once for a phase that
 *  pauses. */
tsl_err tsl_complete_open(tsl_phase *phase);

/** Rank 0: lists of field f from a checkpoint, as if this rank had computed them.
 *  @param[in] only     shape [n_units], the units to take; NULL: all
 *  @param[in] counts   records of each unit, shape [n_units]
 *  @param[in] records  in order of units */
tsl_err tsl_complete_restore_lists(tsl_phase *phase, int f, const uint8_t *only,
                                   const int64_t *counts, const char *records);

/**
 * Take one unit's results.
 * @param[in]     dynamic  it was taken from another rank
 * @param[in,out] start    tsl_now() when the unit began; moved to its end
 * @param[in,out] part     lists are taken out of it; slabs stay until they are sent
 */
tsl_err tsl_complete_unit(tsl_phase *phase, tsl_result_writer *delivery, int rank,
                          const tsl_unit *unit, bool dynamic, double *start, tsl_part *part);
