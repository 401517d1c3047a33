/**
 * @file tri_graph.h
 * Outputs that join points: components, dbscan, linkage. No pair is kept.
 *
 * They are worked out in phases. The root holds the partition so far; in a phase each active row
 * looks at its near pairs and reports a few numbers; the root joins components by them (union-find)
 * and asks again, until no row has anything to report. Reports and the root's work depend on the
 * points alone, and so do results.
 *
 *   TRI_STAGE_CORE     the k-th nearest within the threshold (dbscan, first)
 *   TRI_STAGE_LINK     the first and the last component among the points within the threshold
 *   TRI_STAGE_NEAREST  the nearest point of another component, within the row's bound: an edge of
 *                      the minimum spanning tree is the least of a component's (Boruvka 1926)
 *
 * Rows and columns are places with params.near, else points as in the input. Fields:
 *   IN   "stage"      i32 [1]  tri_stage
 *   IN   "component"  i32 [n]  of each point; -1: not to be joined (dbscan: no core point)
 *   IN   "active"     u8 [n]   rows that look
 *   IN   "bound"      params.type [n], linkage, else [0]
 *   OUT  "links"      i32 [n][2]  LINK: least and largest component seen, the row's own included;
 *                     (INT32_MAX, -1) where there is none. NEAREST: (point as in the input, 0), or
 *                     (-1, 0). CORE: places within the threshold of the row, the first and
 *                     the last of any that the search has come across, or (-1, 0): a start for LINK
 *   OUT  "reach"      params.type [n], dbscan, linkage. CORE, NEAREST: the value, infinite where
 *                     there is none; LINK: 0
 * What rows report that are not active is not read. All are hidden; the family makes the results.
 */
#pragma once

#include "tri_near.h"

TSL_C_BEGIN

typedef enum tri_stage { TRI_STAGE_CORE, TRI_STAGE_LINK, TRI_STAGE_NEAREST } tri_stage;

enum { TRI_NO_COMPONENT = -1, TRI_MIXED = -2 };

/** The IN fields; borrowed. */
typedef struct tri_graph_view {
  tri_stage stage;
  const int32_t *component;
  const uint8_t *active;
  const void *bound;
} tri_graph_view;

tri_graph_view tri_graph_view_of(const tsl_problem *problem);

/** The component that all points of a node belong to, TRI_MIXED where they differ.
 *  @param[out] uniform  [tree->ld] */
void tri_graph_uniform(const tri_tree *tree, int64_t n, const int32_t *component, int32_t *uniform);

/** Does a row of this component learn nothing from points that are all of one, or TRI_MIXED? */
TSL_FN int tri_graph_skips(int32_t of_row, int32_t of_points) {
  return of_points == TRI_NO_COMPONENT || (of_points >= 0 && of_points == of_row);
}

TSL_C_END
