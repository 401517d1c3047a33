/**
 * @file tri_graph_root.h
 * The root's part in tri_graph.h: it holds the partition, and after each phase says what rows look
 * for in the next one.
 */
#pragma once

#include "tri_family.h"
#include "tri_graph.h"

/** An edge of the minimum spanning tree, i < j as in the input. */
typedef struct tri_edge {
  double value;
  int32_t i, j;
} tri_edge;

/** Where the root is between phases. */
typedef struct tri_graph {
  int32_t *parent; /**< [n] places; a root is its own parent and the least place of its tree */
  bool border;   /**< dbscan: the last phase, in which points that are no core look for a cluster */
  double *reach; /**< [n] dbscan: core distances. linkage: no other component is nearer */
  int32_t *nearest; /**< [n] linkage: the place found last, or -1 */
  int32_t *best;    /**< [n] linkage: by component, the row with its shortest edge */
  tri_edge *edges;  /**< [n_edges] linkage */
  int64_t n_edges, clusters, core, noise, largest; /**< for the summary */
} tri_graph;

/** Add the IN fields and set them for the first phase. The points are in their final order. */
tsl_err tri_graph_create(tsl_problem *problem);
void tri_graph_clear(tri_graph **graph);

/** tsl_family.advance and the lines of summary for these outputs. */
tsl_err tri_graph_advance(tsl_problem *problem, bool *more);
void tri_graph_summary(const tsl_problem *problem, tsl_summary *summary);

/* ---- shared by its files */

/** An OUT field's data, made here when the runtime has not. */
tsl_err tri_graph_result(tsl_problem *problem, const char *name, void **data);
void tri_graph_touch(tsl_problem *problem, const char *name);

/** Point of the input at a place. */
static inline int64_t tri_point_at(const tsl_problem *problem, int64_t place) {
  const int32_t *order = problem->fields[TRI_ORDER].data;
  return tri_params_of(problem)->near ? order[place] : place;
}

int32_t tri_graph_find(tri_graph *g, int32_t i);
/** @return false when they are of one tree already */
bool tri_graph_unite(tri_graph *g, int32_t i, int32_t j);

/** linkage: after a phase, and at the end. */
tsl_err tri_linkage_advance(tsl_problem *problem, tri_graph *g, bool *more);
