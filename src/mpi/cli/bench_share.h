/**
 * @file bench_share.h
 * `tesela bench share`: the best fixed share between two sides, beside the default plan.
 */
#pragma once

#include "error.h"

#include <mpi.h>

/**
 * Collective on comm. Time a deck's first phase, without output, for fixed shares chosen by
 * bisection, then with the deck's own plan, and on each side alone; print the table, write CSV when
 * asked.
 *
 * The fast side is the ranks on cards; with cards alone or sockets alone, rank 0 against the
 * others. One session: devices are calibrated and data is uploaded once.
 *
 * @param[in] argv  arguments after `bench`; argv[0] is "share"
 * @return TSL_ERR_USAGE or TSL_ERR_INPUT also when a side has no rank
 */
tsl_err tsl_bench_share(MPI_Comm comm, int argc, char **argv);
