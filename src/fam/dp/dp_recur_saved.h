/**
 * @file dp_recur_saved.h
 * Checkpoints of recurrences: what is saved of a tile, the same bytes from sockets and from cards.
 *
 * All parts are filled up to 8 bytes:
 *   int64 [2]  what follows: 1 the cells that the goal needs; bytes of the values
 *   goal       int64 [4] the best cell so far, [n_wanted] the cells wanted; with one lane of each
 *              worker
 *   values     WAVEFRONT: the row below the last finished stage's tile; ROWS: rows of the tile that
 *              later ones may read; INTERVAL: the tile; row after row
 *
 * What is read is hostile: every size is checked.
 */
#pragma once

#include "dp_recur_problem.h"

TSL_C_BEGIN

/** How far a worker is. */
typedef struct dp_recur_front {
  int64_t first_lane; /**< lowest lane of this worker, INT64_MAX none yet */
  int64_t done;       /**< rows that are done or loaded end here */
} dp_recur_front;

static inline dp_recur_front dp_recur_front_begin(void) {
  dp_recur_front front = {INT64_MAX, 0};
  return front;
}

/** A tile of this worker is done or loaded. */
static inline void dp_recur_front_add(dp_recur_front *front, const tsl_unit *unit) {
  if (unit->lane < front->first_lane) front->first_lane = unit->lane;
  if (unit->hi[0] > front->done) front->done = unit->hi[0];
}

/** Bytes saved of a finished tile of the worker. */
int64_t dp_recur_saved_bytes(const dp_recur *recur, const dp_recur_front *front,
                             const tsl_unit *unit, int64_t stage);

/** Do the goal's cells go with this tile? */
bool dp_recur_saved_has_goal(const dp_recur *recur, const dp_recur_front *front,
                             const tsl_unit *unit, int64_t stage);

/**
 * Write all but the values.
 * @param[in]  best    i = -1: none; not read where the goal goes with another tile, nor is wanted
 * @param[in]  wanted  [n_wanted]
 * @param[out] bytes   [dp_recur_saved_bytes], zeroed where there is nothing
 * @param[out] lo, hi  rows of the tile that are saved, maybe none
 * @return where their values go
 */
char *dp_recur_saved_put(const dp_recur *recur, const dp_recur_front *front, const tsl_unit *unit,
                         int64_t stage, const dp_recur_best *best, const int64_t *wanted,
                         void *bytes, int64_t *lo, int64_t *hi);

/** What is saved of a tile; borrows the bytes. */
typedef struct dp_recur_saved {
  bool goal;
  dp_recur_best best;
  const char *wanted; /**< int64 [n_wanted], not aligned; 0: not computed */
  const char *values; /**< of rows [lo, hi) of the tile */
  int64_t lo, hi;
} dp_recur_saved;

/** @return TSL_ERR_INPUT: the n bytes are not of this tile */
tsl_err dp_recur_saved_get(const dp_recur *recur, const tsl_unit *unit, int64_t stage,
                           const void *bytes, int64_t n, dp_recur_saved *out);

/** Wanted cell k. */
static inline int64_t dp_recur_saved_wanted(const dp_recur_saved *saved, int64_t k) {
  int64_t bits = 0;
  for (int b = 0; b < 8; b++) ((char *)&bits)[b] = saved->wanted[8 * k + b];
  return bits;
}

TSL_C_END
