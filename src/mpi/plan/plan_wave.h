/**
 * @file plan_wave.h
 * Plans for WAVE families: a lane belongs to one rank. A pure function, tested without MPI.
 */
#pragma once

#include "network.h"
#include "plan.h"

/** Bytes of edges in a second that a rank copies out and sends, or receives and takes in, whose
 *  pages are fresh each time. Between two ranks of a host what a run took less its cells gave 1.7e9
 *  to 2.7e9: rows of 4 MB by recurrences, lanes of 1.5 MB of unbounded knapsacks. */
#define TSL_EDGE_RATE 2e9

/**
 * Give the lanes to ranks.
 *
 * Where lanes have several tiles (strips that are worked through stage by stage) a rank gets
 * neighbouring lanes with a share of the work in proportion to its speed, so that only the ends of
 * its part meet other ranks. Where each lane is a single tile (interval problems) the tiles of a
 * stage are dealt one by one, each to the rank that would end earliest (block-cyclic for equal
 * ranks). roundrobin deals lanes in turn. Other kinds are TSL_ERR_INPUT.
 *
 * @param[in]  work  ids in order, stages ascending
 * @param[out] plan  owned by the caller, free with tsl_plan_clear
 */
tsl_err tsl_plan_wave(const tsl_plan_rule *rule, const tsl_workload *work, tsl_plan *plan);

/**
 * The end of the last rank, which waits for edges: sets plan->total_seconds. A rank's tiles of a
 * stage begin when the stage before is done and all edges of other ranks' tiles are in, and end
 * together. Edges are handed over at TSL_EDGE_RATE on either side. Where stages overlap one begins
 * when the last but one is done, and ends a delay after the time of its cells, but no sooner after
 * the one before than that time.
 * @param[in]     problem  its family says what tiles need
 * @param[in]     delay    [plan->n_ranks] s; 0: no two stages at once; NULL: 0
 * @param[in]     network  edges between nodes travel so; NULL: in no time, as within a node
 * @param[in,out] plan     of tsl_plan_wave
 */
tsl_err tsl_plan_wave_time(const tsl_problem *problem, const tsl_workload *work,
                           const double *delay, const tsl_network *network, tsl_plan *plan);

/**
 * What the traceback does of the units' work again, by their owners one after another: sets
 * plan->traceback_seconds.
 * @param[in]     problem  its family says how often (traceback_part)
 * @param[in,out] plan     of tsl_plan_wave
 */
void tsl_plan_wave_traceback(const tsl_problem *problem, const tsl_workload *work, tsl_plan *plan);
