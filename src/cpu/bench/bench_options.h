/**
 * @file bench_options.h
 * Options of the benchmarks of sockets: [--threads N] [--quick] [--csv FILE] [--help].
 */
#pragma once

#include "error.h"

#include <stdbool.h>

typedef struct bench_options {
  int threads;
  bool quick, help;
  const char *csv; /**< NULL: none; borrowed from argv */
} bench_options;

/**
 * Read them.
 * @param[in] argv     argv[0] is the benchmark's name
 * @param[in] threads  without --threads
 * @return TSL_ERR_USAGE
 */
tsl_err bench_options_read(int argc, char **argv, int threads, bench_options *options);
