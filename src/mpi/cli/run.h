/**
 * @file run.h
 * The subcommands that take a deck; argv[0] is the subcommand's name.
 */
#pragma once

#include "session.h"

#include <mpi.h>

/** Collective on comm. A subcommand without an output: its options (options.h), its help where that
 *  is asked for, else work in a session. */
tsl_err tsl_in_session(MPI_Comm comm, int argc, char **argv, const char *switches, bool deck,
                       tsl_err (*work)(tsl_session *session));

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
