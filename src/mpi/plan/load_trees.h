/**
 * @file load_trees.h
 * Loads of ranks, for planners that ask for the least one, or for the first below a limit.
 *
 * Ranks that need as long for every unit are under one binary tree, whose nodes have the least load
 * below them: either question takes log steps where a look at each rank took their number.
 */
#pragma once

#include "memory.h"

#include <stdint.h>

/** Ranks that are alike, in ascending order. */
typedef struct tsl_load_tree {
  int n;
  int leaves;     /**< power of two, n or more */
  int32_t *ranks; /**< [n] */
  double *least; /**< [2 leaves] s: node k is above 2k and 2k + 1, the root is 1; leaves are last */
} tsl_load_tree;

/** All ranks. */
typedef struct tsl_load_trees {
  int n;
  tsl_load_tree *tree; /**< [n], by their first ranks */
  int32_t *ranks;      /**< [n_ranks] of the trees one after another */
  double *nodes;       /**< of all trees */
} tsl_load_trees;

/**
 * @param[in]  like   [n_ranks] the first rank that each is like (tsl_plan_rule); NULL: each is
 *                    like none but itself
 * @param[out] trees  without loads; free with tsl_load_trees_clear
 */
tsl_err tsl_load_trees_make(const int32_t *like, int n_ranks, tsl_load_trees *trees);
void tsl_load_trees_clear(tsl_load_trees *trees);

/** Take in the loads of all ranks. @param[in] load  [n_ranks] s, not NaN */
void tsl_load_trees_set(tsl_load_trees *trees, const double *load);

/** Place in tree->ranks of the least load, the first of equal ones. */
int tsl_load_tree_least(const tsl_load_tree *tree);

/** The first place whose load and these seconds are no more than the capacity; -1: none. */
int tsl_load_tree_first(const tsl_load_tree *tree, double seconds, double capacity);

/** The load of a place is so many seconds from now on. */
void tsl_load_tree_put(tsl_load_tree *tree, int place, double load);
