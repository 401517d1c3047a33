/**
 * @file bench_dp_storage.h
 * What it is worth that a table is stored in the order in which it is filled.
 */
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

/** Plain loops of one thread over a whole table: all cells of a stage, stage after stage. */
typedef enum dp_storage_order {
  DP_STORED_COLUMNS,   /**< CLR: i32, a cell reads two of the column before */
  DP_STORED_DIAGONALS, /**< NOSE: i32, the longest common subsequence */
  DP_STORED_INTERVALS, /**< SONE: i64, a chain of matrices, n^3 / 6 splits */
  DP_N_STORED
} dp_storage_order;

/** Tables of n x n cells. */
typedef struct dp_storage_case {
  const char *what; /**< "filled by columns" */
  int64_t n;
  double items; /**< cells, or splits */
} dp_storage_case;

dp_storage_case dp_storage_case_of(dp_storage_order order, bool quick);

/**
 * Fill the table and give its last cell.
 * @param[in]  by_rows   stored row after row; false: stage after stage
 * @param[in]  repeats   runs, of which the best counts; a warm run comes first
 * @param[out] seconds   of a run
 * @param[out] goal      the same for both ways
 */
tsl_err dp_storage_run(dp_storage_order order, const dp_storage_case *about, bool by_rows,
                       int repeats, double *seconds, int64_t *goal);
