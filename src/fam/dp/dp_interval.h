/**
 * @file dp_interval.h
 * Formulas of interval problems that the root and all backends share; posts as in dp.h.
 */
#pragma once

#include "dp.h"

TSL_C_BEGIN

/**
 * Weights of subtrees: that between posts a < b is high[b] - low[a]. Sums run from left to right in
 * the type of the weights, so that all devices have the same bits.
 * @param[in]  keys, gaps  shape [n], [n + 1] of type I64 or F64
 * @param[out] high, low   shape [n + 2], of the same type
 */
void dp_tree_sums(const dp_params *p, const void *keys, const void *gaps, void *high, void *low);

/** Values that a box has of the field table: dp_region's. */
static inline int64_t dp_interval_values(const dp_params *p, const dp_box *box) {
  int64_t rows = box->hi[0] - box->lo[0], columns = box->hi[1] - box->lo[1];
  if (p->problem == DP_PARTITION) { /* letters, not posts: the last row and column 0 are missing */
    rows -= box->hi[0] > p->n;
    columns -= box->lo[1] == 0;
  }
  return p->problem == DP_PARTITION && box->lo[2] == 0 ? 0 : rows * columns;
}

/** Values of the edge of a box (dp.h). */
static inline int64_t dp_interval_edge_values(const dp_params *p, const tsl_unit *u) {
  enum { SIDE = 64 };
  const int64_t rows = u->hi[0] - u->lo[0], columns = u->hi[1] - u->lo[1], values = rows * columns;
  const int64_t r = (rows + SIDE - 1) / SIDE, c = (columns + SIDE - 1) / SIDE;
  if (p->problem == DP_PARTITION)
    return u->lo[2] == 0 ? 3 * values + 3 * columns + 2 * rows + r * c + r + c
                         : 2 * values + columns + rows + r * c + 2;
  return p->problem == DP_FOLD ? 2 * values + 2 * columns + rows : values;
}

TSL_C_END
