/**
 * @file dp_ends.h
 * Free ends of an alignment: semi-global and overlap alignments (Gusfield 1997, Algorithms on
 * strings, trees, and sequences, section 11.6.4).
 *
 * At a free begin the boundary is 0 (dp_boundary). The alignment ends in the best of
 *
 *   (n, m),   a_end: (i, m), i = 0..n, the last column,   b_end: (n, j), j = 0..m, the last row,
 *
 * of equal ones in that of the smallest row, then column. No engine knows of it: the driver puts
 * the zeros where a table begins, as a state and as left edges, and looks at the right edges and
 * the last state that engines hand over anyway. A lane gives in the field best
 *
 *   [0] [1]  the best value in the last row of its columns, and the column, from 1
 *   [2]      the value in the last row of its last column
 *   [3] [4]  a_end, the last lane: the best value of the last column, and the row; else 0
 *
 * where states are bits [0] and [2] minus the value left of the lane.
 */
#pragma once

#include "dp_saved.h"

TSL_C_BEGIN

/** Does x beat y as the value of an alignment's end? */
static inline bool dp_ends_better(const dp_params *p, int64_t x, int64_t y) {
  return p->problem == DP_EDIT ? x < y : x > y;
}

/** The best of a part of the last column, rows from 0 on. */
typedef struct dp_last_column {
  int64_t best, row;
  int64_t value; /**< in the last one of these rows */
} dp_last_column;

/** Of row 0 alone. */
dp_last_column dp_last_column_begin(const dp_params *p);

/** Go on by rows [first, first + rows) of tiles, that is the next rows of the table.
 *  @param[in] edge  of these rows, of the last column, dp.h; host */
void dp_last_column_add(const dp_params *p, const void *edge, int64_t first, int64_t rows,
                        dp_last_column *column);

/** [0] to [2] of a lane.
 *  @param[in] state     after row n, of a band of `columns` columns the first of which is `first`
 *  @param[in] from, to  the lane's, in the band */
void dp_last_row_look(const dp_params *p, const void *state, int64_t columns, int64_t first,
                      int64_t from, int64_t to, int64_t lane[3]);

/** State above the table. @param[out] state  [dp_state_bytes] */
void dp_free_top(const dp_params *p, int64_t columns, void *state);
/** Left edge of the table. @param[out] edge  [dp_edge_size] */
void dp_free_side(const dp_params *p, int64_t rows, void *edge);

/** The end of the alignment: value, row, column.
 *  @param[in] lanes  shape [n][5], of the field best; n 0: a table without cells */
void dp_ends_find(const dp_params *p, const int64_t (*lanes)[5], int64_t n, int64_t end[3]);

TSL_C_END
