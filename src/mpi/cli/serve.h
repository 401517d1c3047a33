/**
 * @file serve.h
 * The subcommand `serve`: one job that computes problem after problem.
 */
#pragma once

#include "error.h"

#include <mpi.h>

/** Collective on comm. `tesela serve DECK`: answer question after question of whoever asks
 *  (tsl_service), until there are no more. argv[0] is the subcommand's name. */
tsl_err tsl_serve(MPI_Comm comm, int argc, char **argv);
