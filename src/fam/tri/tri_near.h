/**
 * @file tri_near.h
 * Cut-offs without all pairs: points sorted in space, and boxes around runs of them.
 *
 * Points are put in the order of the leaves of a k-d tree (Bentley, CACM 18, 1975, 509; cells
 * are cut across their longest side, as in Friedman, Bentley and Finkel, ACM TOMS 3, 1977, 209), so
 * that TRI_TILE neighbours, a tile, are close together. Boxes that just hold the points of a tile,
 * of TRI_FAN tiles, of TRI_FAN^2 and so on make a tree without pointers: node m of level l has the
 * nodes TRI_FAN m .. of level l - 1 and the places TRI_TILE TRI_FAN^l m .. of the points.
 *
 * A row goes down the tree and leaves out nodes whose bound is beyond its cut: the pair's own
 * formula on the least differences of coordinates (tri_pairs_body.h). Rounding is monotone, so the
 * bound of a box is never above the value of a pair in it, to the last bit; values are computed as
 * without the tree, and are the same for (i, j) and (j, i). See docs/adr/0021-near-pairs.md.
 */
#pragma once

#include "tri.h"

TSL_C_BEGIN

enum {
  TRI_TILE = 32,   /**< points of a tile; divides TRI_PAD */
  TRI_FAN = 32,    /**< nodes below a node */
  TRI_LEVELS = 7,  /**< enough for TRI_MAX_N */
  TRI_NEAR_D = 16, /**< dimensions at most */
  TRI_GEMM_D = 16  /**< from this d on TRI_PRODUCT are matrix products, which have no bound */
};

/** Boxes of columns; level l holds nodes[l] of them from first[l] on, a multiple of TRI_FAN. */
typedef struct tri_tree {
  int levels; /**< the highest has TRI_FAN nodes at most */
  int64_t nodes[TRI_LEVELS], first[TRI_LEVELS];
  int64_t ld;     /**< of lo and hi */
  void *lo, *hi;  /**< [d][ld] params.type, from tsl_alloc */
  void *extra;    /**< [ld] params.type, largest radius; NULL: no radii */
  int32_t *place; /**< [rows] place of a row's point of the input */
} tri_tree;

/** Do function, output and dimensions allow it? */
bool tri_near_possible(const tri_params *p);

/** Values of pairs beyond it do not matter; topk: INFINITY, as it depends on the row. */
double tri_near_cut(const tri_params *p);

/** topk: tiles that are looked at first, enough for k neighbours; those around tile `own` begin at
 *  tri_near_seed(). */
int64_t tri_near_seeds(const tri_params *p);
TSL_FN int64_t tri_near_seed(int64_t tiles, int64_t seeds, int64_t own) {
  const int64_t first = own / seeds * seeds, last = tiles - seeds;
  return first < last ? first : last > 0 ? last : 0;
}

/** Sort the points of a prepared problem, two sets apart. @param[out] order  [n] the input's point
 *  at each place, counted in its set */
tsl_err tri_near_sort(const tsl_problem *problem, int32_t *order);

/** Set TRI_ORDER, and put points and extras into that order. order: from tsl_alloc, then the
 *  problem's; the caller's after an error, with the problem as it was. */
tsl_err tri_near_apply(tsl_problem *problem, int32_t *order);

/** Boxes of a problem after tri_near_apply; tri_tree_clear() also after an error. */
tsl_err tri_tree_create(const tsl_problem *problem, tri_tree *tree);
void tri_tree_clear(tri_tree *tree);

/** What rows are expected to look at, counted for some of them. */
typedef struct tri_look {
  double pairs; /**< of all rows */
  double boxes; /**< of all rows */
  float *row;   /**< [tiles of rows] pairs and boxes of a row of the tile, from tsl_alloc */
} tri_look;

/** The part of all pairs that any search has to look at, as they are kept: estimated from some
 *  pairs of unsorted points, or known (topk). 0..1 */
double tri_near_least(const tsl_problem *problem);

/** Count it for about so many rows (at most twice as many), evenly spaced. The caller frees
 *  look->row. */
tsl_err tri_near_count(const tsl_problem *problem, const tri_tree *tree, int64_t rows,
                       tri_look *look);

TSL_C_END
