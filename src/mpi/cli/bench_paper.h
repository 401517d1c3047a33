/**
 * @file bench_paper.h
 * `tesela bench dp-paper`: four problems by a plain program, by an equation and by the engine.
 */
#pragma once

#include "error.h"

#include <mpi.h>

/**
 * Collective on comm. Fill the tables of tsl_paper_cases (bench_cases.h) at several sizes, for the
 * value alone and with a solution: by a loop of one thread on rank 0, by an equation of a deck and
 * by the engine of the problem, both on the devices of all ranks. Prints mean seconds; writes CSV
 * when asked.
 *
 * @param[in] argv  arguments after `bench`; argv[0] is "dp-paper"
 * @return TSL_ERR_USAGE; TSL_ERR_NUMERIC where two of them differ in their optimum
 */
tsl_err tsl_bench_paper(MPI_Comm comm, int argc, char **argv);
