/**
 * @file help.h
 * Help texts and the tables of deck keys.
 */
#pragma once

#include "error.h"

#include <mpi.h>

/**
 * Not collective; other ranks than 0 return at once. Print help: a subcommand, a family's keys,
 * "run-keys" or "output-keys", or "" for all.
 * @param[in] comm  MPI_COMM_NULL: always print (MPI not running)
 * @return TSL_ERR_USAGE for an unknown topic, with the nearest
 */
tsl_err tsl_help(MPI_Comm comm, const char *topic);
