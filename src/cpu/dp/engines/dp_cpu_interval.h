/** @file dp_cpu_interval.h  A triangle of values, shared by dp_cpu_interval*.c and the engines of
 *  foldings. */
#pragma once

#include "dp_cpu.h"
#include "dp_cpu_fold.h"
#include "dp_kernels.h"

struct dp_cpu_interval {
  dp_cpu cpu;
  dp_problem problem;
  tsl_type type;        /**< outside */
  dp_join_type kind;    /**< inside */
  int64_t posts, tiles; /**< N; tiles along a side */
  int64_t size;         /**< bytes of a value inside */
  char *values;         /**< tiles of row 0, then of row 1, ...; each [DP_SIDE][DP_SIDE] */
  /* lists with tiles * DP_SIDE values of kind, or NULL */
  char *d, *base, *high, *low;
  uint8_t *letters;
  uint32_t pairs[32];
  int32_t span;
  dp_cpu_fold *fold; /**< FOLD, else NULL; X is its M */
};

/** A box in tiles: rows [i0, i1), columns [j0, j1). */
typedef struct dp_tile_range {
  int64_t i0, i1, j0, j1;
} dp_tile_range;

static inline dp_tile_range dp_tiles_of(const dp_box *b) {
  return (dp_tile_range){b->lo[0] / DP_SIDE, (b->hi[0] + DP_SIDE - 1) / DP_SIDE, b->lo[1] / DP_SIDE,
                         (b->hi[1] + DP_SIDE - 1) / DP_SIDE};
}

static inline char *interval_tile(const dp_cpu_interval *w, int64_t i, int64_t j) {
  const int64_t number = i * (2 * w->tiles - i + 1) / 2 + j - i;
  return w->values + number * DP_SIDE * DP_SIDE * w->size;
}

/** Place of X[a][b], a <= b. */
static inline char *interval_at(const dp_cpu_interval *w, int64_t a, int64_t b) {
  return interval_tile(w, a / DP_SIDE, b / DP_SIDE) +
         (a % DP_SIDE * DP_SIDE + b % DP_SIDE) * w->size;
}

/** May letters a and b - 1 pair? */
static inline bool interval_pairs(const dp_cpu_interval *w, int64_t a, int64_t b) {
  return b - 1 - a > w->span && (w->pairs[w->letters[a]] >> w->letters[b - 1] & 1);
}
