/**
 * @file run.h
 * The subcommands that take a deck; argv[0] is the subcommand's name.
 */
#pragma once

#include "error.h"

#include <mpi.h>

/** Collective on comm. `tesela run DECK`: the whole path from deck to HDF5. */
tsl_err tsl_run(MPI_Comm comm, int argc, char **argv);

/** Collective on comm. `tesela plan DECK`: units, predicted seconds and bytes per rank; computes
 *  nothing but samples. */
tsl_err tsl_plan_only(MPI_Comm comm, int argc, char **argv);

/** Collective on comm. `tesela calibrate DECK`: measure the devices for this deck's units and store
 *  the result. */
tsl_err tsl_calibrate_only(MPI_Comm comm, int argc, char **argv);

/** Collective on comm. `tesela devices`: the table of all ranks. */
tsl_err tsl_devices(MPI_Comm comm, int argc, char **argv);
