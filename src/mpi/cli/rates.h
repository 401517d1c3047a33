/**
 * @file rates.h
 * `tesela rates DECK`: what to buy. Passes over a deck's units that each device ever calibrated
 * would make in a day, by the stored calibrations.
 */
#pragma once

#include "error.h"

#include <mpi.h>

/** Collective on comm, of use on one rank. The subcommand; argv[0] is "rates". */
tsl_err tsl_rates(MPI_Comm comm, int argc, char **argv);
