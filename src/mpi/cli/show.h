/**
 * @file show.h
 * `tesela show FILE [--values N]`: a summary of an output file for a person.
 */
#pragma once

#include "error.h"

/** What `tesela show --help` and `tesela help show` print. */
extern const char tsl_show_help[];

/**
 * Print verdict, results with units, machine table and datasets of an output file to stdout.
 * No MPI. Minimum and maximum come from a bounded sample and say so when it is not the whole.
 * @param[in] argv  argv[0] is "show"; then FILE, --values N (0..1000, standard 6), --help
 * @return TSL_ERR_USAGE; TSL_ERR_INPUT when the file is missing, truncated or not of tesela
 */
tsl_err tsl_show(int argc, char **argv);
