/* The minimum spanning tree on the root, and single linkage from it.
 *
 * Boruvka: of each component the least edge that leaves it, by (value, i, j), is one of the tree's.
 * A row's nearest point outside stays that until its component takes it in. A row looks again only
 * then, and only where no other edge of its component is known to be less than all that it can
 * find. */
#include "tri_graph_root.h"

#include "integers.h"
#include "tri_pairs.h"

#include <math.h>
#include <stdlib.h>

#define VALUE(R, suffix)                                                                     \
  /** The value of places i and j, as rows find it. */                                       \
  static double value_##suffix(const tsl_problem *problem, int64_t i, int64_t j) {           \
    const tri_params *p = tri_params_of(problem);                                            \
    const R *x = problem->fields[TRI_POINTS].data, *e = problem->fields[TRI_EXTRAS].data;    \
    const bool has = problem->fields[TRI_EXTRAS].shape[0] > 0;                               \
    const R ei = has ? e[i] : 0, ej = has ? e[j] : 0;                                        \
    R acc = 0;                                                                               \
    switch (p->function) { TRI_STEP_LIST(CASE_##suffix) default : return (double)INFINITY; } \
  }
#define CASE(NAME, name, R, suffix)                                                   \
  case TRI_##NAME:                                                                    \
    for (int64_t k = 0; k < p->d; k++)                                                \
      acc = tri_step_##name##_##suffix(acc, x[k * p->n_pad + i], x[k * p->n_pad + j], \
                                       k < 3 ? (R)p->box[k] : 0);                     \
    return (double)tri_finish_##name##_##suffix(acc, ei, ej, (R)p->scale);
#define CASE_f32(NAME, name, ...) CASE(NAME, name, float, f32)
#define CASE_f64(NAME, name, ...) CASE(NAME, name, double, f64)
VALUE(float, f32)
VALUE(double, f64)

static tri_edge edge_of(const tsl_problem *problem, const tri_graph *g, int64_t row) {
  const int32_t i = (int32_t)tri_point_at(problem, row);
  const int32_t j = (int32_t)tri_point_at(problem, g->nearest[row]);
  return (tri_edge){g->reach[row], i < j ? i : j, i < j ? j : i};
}

/** Edges are ordered by (value, i, j), so that no two are equal. */
static int compare(const void *a, const void *b) {
  const tri_edge *x = a, *y = b;
  if (x->value != y->value) return x->value < y->value ? -1 : 1;
  if (x->i != y->i) return x->i < y->i ? -1 : 1;
  return (x->j > y->j) - (x->j < y->j);
}

/** What active rows have found; those that have not know that there is nothing within the bound. */
static tsl_err take_found(const tsl_problem *problem, tri_graph *g) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const int32_t(*links)[2] = tsl_problem_data(problem, "links");
  const uint8_t *active = tsl_problem_data(problem, "active");
  const void *reach = tsl_problem_data(problem, "reach"),
             *bound = tsl_problem_data(problem, "bound");
  int32_t *place = NULL;
  TSL_TRY(tsl_alloc(p->n, sizeof *place, "places", (void **)&place));
  for (int64_t r = 0; r < p->n; r++) place[tri_point_at(problem, r)] = (int32_t)r;
  for (int64_t r = 0; r < p->n; r++) {
    if (!active[r]) continue;
    const void *from = links[r][0] < 0 ? bound : reach;
    g->nearest[r] = links[r][0] < 0 ? -1 : place[links[r][0]];
    g->reach[r] = tsl_real_get(p->type, from, r);
  }
done:
  tsl_free(place);
  return err;
}

/** Is the point that a row has found in another component still? */
static bool leaves(const tri_graph *g, const int32_t *component, int64_t row) {
  return g->nearest[row] >= 0 && component[g->nearest[row]] != component[row];
}

/** Join components along the least edges that leave them. @return edges added */
static int64_t add_edges(const tsl_problem *problem, tri_graph *g, const int32_t *component) {
  const int64_t n = tri_params_of(problem)->n, before = g->n_edges;
  for (int64_t c = 0; c < n; c++) g->best[c] = -1;
  for (int64_t r = 0; r < n; r++) {
    if (!leaves(g, component, r)) continue;
    int32_t *const best = &g->best[component[r]];
    const tri_edge mine = edge_of(problem, g, r);
    const tri_edge other = *best < 0 ? mine : edge_of(problem, g, *best);
    if (*best < 0 || compare(&mine, &other) < 0) *best = (int32_t)r;
  }
  for (int64_t c = 0; c < n; c++)
    if (g->best[c] >= 0 && tri_graph_unite(g, g->best[c], g->nearest[g->best[c]]))
      g->edges[g->n_edges++] = edge_of(problem, g, g->best[c]);
  return g->n_edges - before;
}

/** near: of each component some edge that leaves it, from neighbouring places.
 *  @param[in,out] least  [n] by component */
static void bound_by_neighbours(const tsl_problem *problem, const int32_t *component,
                                double *least) {
  const tri_params *p = tri_params_of(problem);
  for (int64_t r = 0; r + 1 < p->n; r++) {
    if (component[r] == component[r + 1]) continue;
    const double v =
        p->type == TSL_F32 ? value_f32(problem, r, r + 1) : value_f64(problem, r, r + 1);
    least[component[r]] = fmin(least[component[r]], v);
    least[component[r + 1]] = fmin(least[component[r + 1]], v);
  }
}

/** Which rows look in the next phase, and how far. */
static tsl_err set_bounds(tsl_problem *problem, const tri_graph *g, const int32_t *component) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  uint8_t *active = tsl_problem_data(problem, "active");
  void *bound = tsl_problem_data(problem, "bound");
  double *least = NULL;
  TSL_TRY(tsl_alloc(p->n, sizeof *least, "bounds", (void **)&least));
  for (int64_t c = 0; c < p->n; c++) least[c] = INFINITY;
  for (int64_t r = 0; r < p->n; r++)
    if (leaves(g, component, r)) least[component[r]] = fmin(least[component[r]], g->reach[r]);
  if (p->near) bound_by_neighbours(problem, component, least);
  for (int64_t r = 0; r < p->n; r++) {
    const double most = least[component[r]];
    active[r] = !leaves(g, component, r) && g->reach[r] <= most;
    if (p->type == TSL_F32)
      ((float *)bound)[r] = (float)most;
    else
      ((double *)bound)[r] = most;
  }
  tri_graph_touch(problem, "active");
  tri_graph_touch(problem, "bound");
done:
  tsl_free(least);
  return err;
}

/** Rows of scipy's linkage matrix: clusters are numbered n, n + 1, ... as they are made. */
static tsl_err join_clusters(const tri_graph *g, int64_t n, double (*linkage)[4]) {
  tsl_err err = TSL_OK;
  int64_t *number = NULL, *size = NULL;
  tri_graph sets = {0};
  TSL_TRY(tsl_alloc(n, sizeof *sets.parent, "clusters", (void **)&sets.parent));
  TSL_TRY(tsl_alloc(n, sizeof *number, "clusters", (void **)&number));
  TSL_TRY(tsl_alloc(n, sizeof *size, "clusters", (void **)&size));
  for (int64_t i = 0; i < n; i++) sets.parent[i] = (int32_t)i, number[i] = i, size[i] = 1;
  for (int64_t e = 0; e < g->n_edges; e++) {
    const int32_t a = tri_graph_find(&sets, g->edges[e].i),
                  b = tri_graph_find(&sets, g->edges[e].j);
    const int64_t together = size[a] + size[b], first = tsl_min(number[a], number[b]);
    linkage[e][0] = (double)first;
    linkage[e][1] = (double)tsl_max(number[a], number[b]);
    linkage[e][2] = g->edges[e].value;
    linkage[e][3] = (double)together;
    (void)tri_graph_unite(&sets, a, b);
    const int32_t root = tri_graph_find(&sets, a);
    number[root] = n + e, size[root] = together;
  }
done:
  TSL_FREE_ALL(sets.parent, number, size);
  return err;
}

static tsl_err finish(tsl_problem *problem, tri_graph *g) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  void *pairs = NULL, *values = NULL, *linkage = NULL;
  TSL_TRY(tri_graph_result(problem, "pairs", &pairs));
  TSL_TRY(tri_graph_result(problem, "values", &values));
  TSL_TRY(tri_graph_result(problem, "linkage", &linkage));
  if (g->n_edges > 0) qsort(g->edges, (size_t)g->n_edges, sizeof *g->edges, compare);
  for (int64_t e = 0; e < g->n_edges; e++) {
    ((int64_t(*)[2])pairs)[e][0] = g->edges[e].i;
    ((int64_t(*)[2])pairs)[e][1] = g->edges[e].j;
    if (p->type == TSL_F32)
      ((float *)values)[e] = (float)g->edges[e].value;
    else
      ((double *)values)[e] = g->edges[e].value;
  }
  TSL_TRY(join_clusters(g, p->n, linkage));
done:
  return err;
}

tsl_err tri_linkage_advance(tsl_problem *problem, tri_graph *g, bool *more) {
  tsl_err err = TSL_OK;
  const int64_t n = tri_params_of(problem)->n;
  int32_t *component = tsl_problem_data(problem, "component");
  int64_t added = 0;
  *more = false;
  if (n > 1) {
    TSL_TRY(take_found(problem, g));
    added = add_edges(problem, g, component);
    if (added == 0) TSL_FAIL(TSL_ERR_INTERNAL, "linkage: no edge leaves a component");
    for (int64_t r = 0; r < n; r++) component[r] = tri_graph_find(g, component[r]);
    tri_graph_touch(problem, "component");
    *more = g->n_edges < n - 1;
  }
  TSL_TRY(*more ? set_bounds(problem, g, component) : finish(problem, g));
done:
  return err;
}
