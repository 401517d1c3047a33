/**
 * @file dp_recur_strips.h
 * The solution of a recurrence without its whole table.
 *
 * While the table is filled the root keeps the last rows of each strip of it (dp_recur_kept).
 * Afterwards it computes the strips again, the last one first, each from the rows kept above it,
 * and notes what the values rest on that the goal rests on: a value of a cell is looked at when all
 * that read it have been. A strip and the rows kept are in memory, at least twice the square root
 * of the table's rows; the time is the root's for the table, of a wavefront for what lies left of
 * the solution.
 */
#pragma once

#include "dp_recur_problem.h"

/** What values rest on. Values are numbered (p Q + q) values + value in folded rows and columns. */
typedef struct dp_recur_solution {
  int64_t (*nodes)[2]; /**< [n] number of a value, descending; the first of its links */
  int64_t n, room;
  int64_t *links; /**< [n_links] numbers; those of node k up to the first of node k + 1, or all */
  int64_t n_links, link_room;
  int64_t bytes;            /**< that nodes and links may have */
  char mismatch[DP_REASON]; /**< a value that is another when computed again; empty: none */
} dp_recur_solution;

/** Rows of a strip within so many bytes. 0: the whole table is to be kept, as cells read any
 *  earlier one, or it has few rows, or its solution may be no path, whose memory cannot be told.
 *  What is returned may need more than these bytes: then nothing needs less. */
int64_t dp_recur_strip_rows(const dp_recur *recur, int64_t bytes);

/** Bytes on the root with strips of so many rows, and of them those for the solution, which are
 *  enough for a path from corner to corner. */
double dp_recur_strip_bytes(const dp_code *code, int64_t strip);
double dp_recur_path_bytes(const dp_code *code);

/** Number of a value of cell (i, j). */
int64_t dp_recur_number(const dp_code *code, int64_t i, int64_t j, int32_t value);

/**
 * Find what these values rest on, down to the boundary.
 * @param[in]  store    with again
 * @param[in]  roots    shape [n], numbers of values
 * @param[out] solution zero-initialise but for bytes; dp_recur_solution_clear
 * @return TSL_ERR_MEMORY: it is larger than dp.memory leaves room for; errors of cells
 */
tsl_err dp_recur_strips_solve(const tsl_problem *problem, const tsl_field_rows *store,
                              const int64_t *roots, int64_t n, dp_recur_solution *solution);

/** Node of a value, -1: the goal does not rest on it. */
int64_t dp_recur_solution_find(const dp_recur_solution *solution, int64_t number);

void dp_recur_solution_clear(dp_recur_solution *solution);
