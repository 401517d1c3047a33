/**
 * @file bench_options.h
 * Options of the benchmarks of sockets: [--threads N] [--quick] [--csv FILE] [--help].
 */
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct bench_options {
  int threads;
  bool quick, help;
  const char *csv; /**< NULL: none; borrowed from argv */
  FILE *table;     /**< of bench_start: that file; close with tsl_new_table_close */
  int level;       /**< of bench_start: SIMD level */
} bench_options;

/**
 * Read them.
 * @param[in] argv     argv[0] is the benchmark's name
 * @param[in] threads  without --threads
 * @return TSL_ERR_USAGE
 */
tsl_err bench_options_read(int argc, char **argv, int threads, bench_options *options);

/**
 * Read them; print the help where it is asked for, else choose the SIMD level and begin the file.
 * @param[in] header  first line of the file
 * @return what bench_options_read, tsl_cpu_level_use and tsl_new_table_open return
 */
tsl_err bench_start(int argc, char **argv, int threads, const char *help, const char *header,
                    bench_options *options);
