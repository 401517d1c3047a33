/**
 * @file plan_wave.h
 * Plans for WAVE families: a lane belongs to one rank. A pure function, tested without MPI.
 */
#ifndef TSL_MPI_PLAN_WAVE_H
#define TSL_MPI_PLAN_WAVE_H

#include "plan.h"

/**
 * Give the lanes to ranks.
 *
 * Where lanes have several tiles (strips that are worked through stage by stage) a rank gets
 * neighbouring lanes with a share of the work in proportion to its speed, so that only the ends of
 * its part meet other ranks. Where each lane is a single tile (interval problems) the tiles of a
 * stage are dealt one by one, each to the rank that would end earliest (block-cyclic for equal
 * ranks). roundrobin deals lanes in turn. Other kinds are TSL_ERR_INPUT.
 *
 * @param[in]  units  shape [n_units], ids in order, stages ascending
 * @param[out] plan   without dynamic tail; owned by the caller, free with tsl_plan_clear
 */
tsl_err tsl_plan_wave(const tsl_plan_rule *rule, const tsl_unit *units, int64_t n_units,
                      int n_ranks, tsl_seconds_fn seconds, const void *model, tsl_plan *plan);

#endif
