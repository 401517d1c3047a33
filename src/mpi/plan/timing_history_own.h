/** @file timing_history_own.h  What timing_history.c and exclude_slow_ranks.c share. */
#pragma once

#include "timing_history.h"

/** Nobody knows how many phases follow; what is done once must pay within so many. */
enum { TSL_PHASES_LEFT = 4 };

/** What the functions that tsl_rebalance calls look at. */
typedef struct tsl_look {
  const tsl_timing_history *learned;
  const tsl_cost *cost;
  const tsl_unit *units;
  int set;
} tsl_look;

/** Measured over predicted seconds of a rank in a set with a kind; 0: not known. */
double *tsl_history_off(const tsl_timing_history *learned, int set, int rank, int kind);

/** tsl_ratio_fn, tsl_migration_fn; model is a tsl_look. */
double tsl_look_correction(const void *model, int64_t unit, int from, int to);
double tsl_look_migration(const void *model, int64_t unit, int from, int to);

/** Times of a unit that has moved, in all sets. */
void tsl_look_carry(tsl_timing_history *learned, tsl_look *look, int64_t unit, int from, int to);
