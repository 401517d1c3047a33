/**
 * @file dp_pattern.h
 * The eight fill orders of a table, and how they fold into two.
 *
 * Where the cells that a cell (i, j) needs may lie, (i', j'):
 *
 *   RUD  i' < i            rows from top to bottom          stage i
 *   RDU  i' > i            rows upwards                     stage rows - 1 - i
 *   CLR  j' < j            columns from left to right       stage j
 *   CRL  j' > j            columns from right to left       stage cols - 1 - j
 *   NOSE i' <= i, j' <= j  from the north-west corner       stage i + j
 *   SENO i' >= i, j' >= j  from the south-east corner       stage rows - 1 - i + cols - 1 - j
 *   SONE i' >= i, j' <= j  from the south-west corner       stage rows - 1 - i + j
 *   NESO i' <= i, j' >= j  from the north-east corner       stage i + cols - 1 - j
 *
 * (the last four without (i, j) itself). Cells of a stage are independent. SONE is the order of
 * interval problems: with cells i <= j only, its stages are the diagonals j - i.
 *
 * Folded coordinates (p, q) = flips and, for columns, a transpose of (i, j), chosen so that RUD,
 * RDU, CLR and CRL all need p' < p, and the others p' <= p, q' <= q.
 *
 * Source: Lew & Mauch, Dynamic Programming (Springer 2007), problems; the classes of dependencies
 * after a parallel framework of functional equations (UNAM 2014).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** In the order of the deck's words; AUTO is the deck's last word and no order. */
typedef enum dp_pattern {
  DP_RUD,
  DP_RDU,
  DP_CLR,
  DP_CRL,
  DP_NOSE,
  DP_SENO,
  DP_SONE,
  DP_NESO,
  DP_N_PATTERNS,
  DP_AUTO = DP_N_PATTERNS
} dp_pattern;

/** "RUD", ..., "NESO", "auto", NULL-ended. */
extern const char *const dp_pattern_words[];

/** One sentence about where a cell may read, for messages; static storage. */
const char *dp_pattern_rule(dp_pattern pattern);

/** May a cell read the cell di rows below and dj columns to the right of it? */
bool dp_pattern_allows(dp_pattern pattern, int64_t di, int64_t dj);

/** The same of values that are computed together: value `to` of a cell by value `from`. */
static inline bool dp_pattern_admits(dp_pattern pattern, int64_t di, int64_t dj, int32_t from,
                                     int32_t to) {
  return di == 0 && dj == 0 ? to < from : dp_pattern_allows(pattern, di, dj);
}

/** Stages of a table; rows, cols >= 0 and their sum below 2^62. */
int64_t dp_pattern_stages(dp_pattern pattern, int64_t rows, int64_t cols);

/** Cells of a stage. */
int64_t dp_pattern_width(dp_pattern pattern, int64_t rows, int64_t cols, int64_t stage);

/** Cell number lane of a stage, 0 <= lane < width. */
void dp_pattern_cell(dp_pattern pattern, int64_t rows, int64_t cols, int64_t stage, int64_t lane,
                     int64_t *i, int64_t *j);

/** How (i, j) becomes (p, q): flip i, flip j, then exchange them. */
typedef struct dp_fold {
  int32_t transpose, flip_i, flip_j;
  int32_t rows_only; /**< 1: p' < p; 0: p' <= p, q' <= q */
} dp_fold;

dp_fold dp_pattern_fold(dp_pattern pattern);

#ifdef __cplusplus
}
#endif
