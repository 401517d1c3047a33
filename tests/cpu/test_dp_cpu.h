/**
 * @file test_dp_cpu.h
 * What the tests of the dp engines on a socket share: checks, random numbers, cuts of a length, and
 * the loop over SIMD levels and thread counts.
 */
#pragma once

#include "cases.h"
#include "cpu.h"
#include "dp_cpu.h"
#include "levels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long n_checks, n_failures;
static int level_now, threads_now;

#define CHECK(condition, ...)                                                                     \
  do {                                                                                            \
    n_checks++;                                                                                   \
    if (!(condition) && ++n_failures <= 20) {                                                     \
      fprintf(stderr, "FAIL line %d (level %d, %d threads): ", __LINE__, level_now, threads_now); \
      fprintf(stderr, __VA_ARGS__);                                                               \
      fputc('\n', stderr);                                                                        \
    }                                                                                             \
  } while (0)

static inline void must(tsl_err err) {
  if (err == TSL_OK) return;
  fprintf(stderr, "FAIL (level %d, %d threads): %s\n%s\n", level_now, threads_now,
          tsl_err_message(), tsl_err_places());
  exit(1);
}

static inline void *alloc(int64_t count, size_t size) {
  void *out = NULL;
  must(tsl_alloc(count > 0 ? count : 1, size, "test memory", &out));
  return out;
}

static uint64_t random_state = 1;
static inline uint64_t random_next(void) {
  random_state += 0x9e3779b97f4a7c15u;
  uint64_t z = random_state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/** 0 <= value < n. */
static inline int64_t random_below(int64_t n) {
  return n > 0 ? (int64_t)(random_next() % (uint64_t)n) : 0;
}

static inline uint8_t *random_letters(int64_t n, int letters) {
  uint8_t *out = alloc(n, 1);
  for (int64_t i = 0; i < n; i++) out[i] = (uint8_t)random_below(letters);
  return out;
}

/** A copy of a with about n / rate letters changed, removed or added; *m its length. */
static inline uint8_t *mutate(const uint8_t *a, int64_t n, int letters, int rate, int64_t *m) {
  uint8_t *out = alloc(2 * n, 1);
  *m = 0;
  for (int64_t i = 0; i < n; i++) {
    const int64_t what = random_below(3 * rate);
    if (what == 0) continue;
    out[(*m)++] = what == 1 ? (uint8_t)random_below(letters) : a[i];
    if (what == 2) out[(*m)++] = (uint8_t)random_below(letters);
  }
  return out;
}

/** Ascending cuts 0 = at[0] <= ... <= at[pieces] = n at random places. */
static inline void random_cuts(int64_t n, int pieces, int64_t *at) {
  at[0] = 0;
  for (int k = 1; k < pieces; k++) at[k] = random_below(n + 1);
  at[pieces] = n;
  for (int i = 1; i < pieces; i++)
    for (int k = i; k > 1 && at[k] < at[k - 1]; k--) {
      const int64_t swap = at[k];
      at[k] = at[k - 1];
      at[k - 1] = swap;
    }
}

/** A table's cuts into tiles. */
typedef struct tiles {
  int64_t rows[8], columns[8];
  int n_rows, n_columns;
} tiles;

/** Of n rows and m columns, at random places; the first try has one tile. */
static inline void random_tiles(int try, int64_t n, int64_t m, tiles *out) {
  out->n_rows = 1 + (int)random_below(try == 0 ? 1 : 4);
  out->n_columns = 1 + (int)random_below(try == 0 ? 1 : 4);
  random_cuts(n, out->n_rows, out->rows);
  random_cuts(m, out->n_columns, out->columns);
}

/** Run the test for each SIMD level of this build, the highest first, and for 1 and 3 threads: each
 *  a case (cases.h) with random numbers of its own. The exit status. */
static inline int run_levels(const char *name, void (*test)(const dp_cpu *cpu)) {
  const int most = tsl_cpu_level(), least = lowest_level();
  int64_t number = 0;
  for (int level = most; level >= least; level--)
    for (int threads = 1; threads <= 3; threads += 2) {
      char text[2] = {(char)('0' + level), 0};
      dp_cpu cpu;
      random_state = (uint64_t)++number;
      if (!case_is_mine(number - 1)) continue;
      if (most > 0) (void)setenv("TSL_SIMD", text, 1);
      level_now = level, threads_now = threads;
      must(dp_cpu_open(threads, &cpu));
      test(&cpu);
    }
  printf("%s: %ld checks, %ld failures\n", name, n_checks, n_failures);
  return n_failures > 0 || n_checks == 0;
}
