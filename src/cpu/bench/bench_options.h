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
  FILE *table;     /**< of bench_socket: that file */
  int level;       /**< of bench_socket: SIMD level */
} bench_options;

/**
 * Read them.
 * @param[in] argv     argv[0] is the benchmark's name
 * @param[in] threads  without --threads
 * @return TSL_ERR_USAGE
 */
tsl_err bench_options_read(int argc, char **argv, int threads, bench_options *options);

/** One benchmark: what --help prints, the first line of the file, and what is measured. */
typedef struct bench_about {
  const char *family, *help, *header;
  tsl_err (*run)(const bench_options *options);
} bench_about;

/**
 * Read the options; print the help where it is asked for, else choose the SIMD level, begin the
 * file, measure and close it.
 * @return what bench_options_read, tsl_cpu_level_use, run and tsl_new_table_close return
 */
tsl_err bench_socket(int argc, char **argv, int threads, const bench_about *about);
