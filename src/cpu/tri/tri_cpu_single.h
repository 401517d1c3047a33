/**
 * @file tri_cpu_single.h
 * Pairs of sequences one at a time, as tables of the family dp (dp_cpu.h). Long ones fill the
 * vectors alone: their strips stay in the caches, and 8 bits move along with the values, where
 * columns of many pairs side by side would be read from memory, in 32 bits. So do few pairs, and
 * those of unlike lengths, which would leave lanes without work.
 */
#pragma once

#include "tri_cpu_letters.h"

/** What all pairs of a run share. */
typedef struct tri_single tri_single;

/** For scores but where x_drop drops cells; *out is NULL for other functions.
 *  @param[in] letters  outlives it */
tsl_err tri_single_create(const tri_cpu_letters *letters, tri_single **out);
void tri_single_destroy(tri_single **single);

/**
 * Should pairs be computed one at a time rather than side by side?
 * @param[in] l              NULL: never
 * @param[in] rows, columns  letters of the longest sequences
 * @param[in] cells          of all the pairs' tables together
 */
bool tri_single_is_faster(const tri_single *l, int64_t rows, int64_t columns, double cells);

/** A pair's score. @param[in] row, column  places  @param[in] threads  that compute it */
tsl_err tri_single_score(const tri_single *single, int64_t row, int64_t column, int threads,
                         int64_t *score);

/** An alignment by its steps. Zero-initialise; steps from tsl_alloc. */
typedef struct tri_single_path {
  int64_t begin[2], end[2]; /**< letters of the row's and the column's sequence */
  uint8_t *steps;           /**< [n] dp_step (dp.h), from the end */
  int64_t n, room;
  int64_t again; /**< cells computed again, of all paths */
} tri_single_path;

/**
 * The alignment of a pair, GLOBAL or LOCAL, by one thread: dp's of the same sequences. The stages
 * before the last one are computed again on the way back, each from the row above it.
 * @param[in,out] path  its room is used again
 * @return TSL_ERR_MEMORY
 */
tsl_err tri_single_trace(const tri_single *single, int64_t row, int64_t column, int64_t *score,
                         tri_single_path *path);
