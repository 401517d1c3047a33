/**
 * @file dp_bench.cuh
 * What the measurements of dp share: options, one line of the table, random data.
 */
#pragma once

#include "bench_gpu.cuh"
#include "dp_gpu.cuh"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct dp_bench_options {
  bool quick;       /**< sizes of a fraction of a second */
  int64_t repeat;   /**< runs that count; the best is printed */
  const char *only; /**< lines whose name contains this, or NULL */
  FILE *csv;        /**< or NULL */
  dp_card card;
} dp_bench_options;

/** One line: rate (or seconds, when less is better) against the goal. */
typedef struct dp_bench_line {
  const char *what;
  double value;
  const char *unit;
  double goal; /**< 0: none */
  bool less;   /**< smaller is better */
  double seconds;
  const char *published; /**< what others print, with the machine; "" */
} dp_bench_line;

/** Print the line with its ratio to the goal, "MISSED" below 1, and add it to the CSV file. */
void dp_bench_print(const dp_bench_options *o, const dp_bench_line *line);

/** Is the line wanted? */
static inline bool dp_bench_wants(const dp_bench_options *o, const char *what) {
  return o->only == NULL || strstr(what, o->only) != NULL;
}

/** Letters 0..letters-1 from a counter. */
static inline void dp_bench_letters(uint8_t *text, int64_t n, int letters, uint64_t seed) {
  uint64_t z = seed * 0x9e3779b97f4a7c15ull + 1;
  for (int64_t i = 0; i < n; i++) {
    z ^= z << 13;
    z ^= z >> 7;
    z ^= z << 17;
    text[i] = (uint8_t)((z >> 32) % (uint64_t)letters);
  }
}

/** Lines of dp_bench_wave.cu, dp_bench_interval.cu and dp_bench_rows.cu. */
tsl_err dp_bench_wave(dp_bench_options *o);
tsl_err dp_bench_interval(dp_bench_options *o);
tsl_err dp_bench_rows(dp_bench_options *o);

/** `tesela bench dp`. */
tsl_err dp_bench(int argc, char **argv);
