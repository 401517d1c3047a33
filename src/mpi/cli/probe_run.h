/**
 * @file probe_run.h
 * `tesela probe`: what the advice of optimisation guides is worth on the devices of this job.
 */
#pragma once

#include "error.h"

#include <mpi.h>

/** What `tesela probe --help` and `tesela help probe` print. */
extern const char tsl_probe_help[];

/**
 * Collective on comm. Measure this job's devices, print the figures of each kind of device once,
 * and remember them by host, device, driver and program. What is remembered is printed again unless
 * --again is given.
 * @param[in] argv  argv[0] is "probe"
 */
tsl_err tsl_probe(MPI_Comm comm, int argc, char **argv);
