/* The partition on the root: components and dbscan; linkage is in tri_graph_linkage.c. */
#include "tri_graph_root.h"

#include "integers.h"

#include <math.h>
#include <string.h>

void tri_graph_touch(tsl_problem *problem, const char *name) {
  tsl_field_touch(&problem->fields[tsl_problem_find(problem, name)]);
}

tsl_err tri_graph_result(tsl_problem *problem, const char *name, void **data) {
  tsl_err err = TSL_OK;
  const int f = tsl_problem_find(problem, name);
  if (f < 0) TSL_FAIL(TSL_ERR_INTERNAL, "tri: no field '%s'", name);
  TSL_TRY(tsl_field_allocate(&problem->fields[f]));
  *data = problem->fields[f].data;
done:
  return err;
}

/* ------------------------------------------------------------- union-find */

int32_t tri_graph_find(tri_graph *g, int32_t i) {
  while (g->parent[i] != i) { /* path halving: Tarjan and van Leeuwen, JACM 31, 1984, 245 */
    g->parent[i] = g->parent[g->parent[i]];
    i = g->parent[i];
  }
  return i;
}

bool tri_graph_unite(tri_graph *g, int32_t i, int32_t j) {
  const int32_t a = tri_graph_find(g, i), b = tri_graph_find(g, j);
  g->parent[a > b ? a : b] = a < b ? a : b;
  return a != b;
}

/* ----------------------------------------------------------------- create */

static tsl_err add_in(tsl_problem *problem, const char *name, int type, int64_t n) {
  tsl_err err = TSL_OK;
  tsl_field *added = NULL;
  TSL_TRY(tsl_problem_add_hidden(problem, name, "Between phases; see tri_graph.h.", type, n, 1,
                                 &added));
  added->infinite = 1;
done:
  return err;
}

static void set_stage(tsl_problem *problem, tri_stage stage) {
  *(int32_t *)tsl_problem_data(problem, "stage") = stage;
  tri_graph_touch(problem, "stage");
}

static void set_first(tsl_problem *problem, tri_graph *g) {
  const tri_params *p = tri_params_of(problem);
  int32_t *component = tsl_problem_data(problem, "component");
  void *bound = tsl_problem_data(problem, "bound");
  static const tri_stage first[TRI_N_OUTPUTS] = {[TRI_COMPONENTS] = TRI_STAGE_LINK,
                                                 [TRI_DBSCAN] = TRI_STAGE_CORE,
                                                 [TRI_LINKAGE] = TRI_STAGE_NEAREST};
  set_stage(problem, first[p->output]);
  memset(tsl_problem_data(problem, "active"), 1, (size_t)p->n);
  for (int64_t i = 0; i < p->n; i++) {
    component[i] = g->parent[i] = (int32_t)i;
    if (p->output != TRI_LINKAGE) continue;
    g->nearest[i] = -1;
    g->reach[i] = -INFINITY;
    if (p->type == TSL_F32)
      ((float *)bound)[i] = INFINITY;
    else
      ((double *)bound)[i] = INFINITY;
  }
}

tsl_err tri_graph_create(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  tri_own *own = problem->own;
  const bool linkage = p->output == TRI_LINKAGE;
  const int64_t n = p->n, edges = linkage ? n : 0;
  TSL_TRY(tsl_alloc(1, sizeof *own->graph, "partition", (void **)&own->graph));
  tri_graph *g = own->graph;
  TSL_TRY(tsl_alloc(n, sizeof *g->parent, "partition", (void **)&g->parent));
  TSL_TRY(tsl_alloc(n, sizeof *g->reach, "partition", (void **)&g->reach));
  TSL_TRY(tsl_alloc(edges, sizeof *g->nearest, "nearest points", (void **)&g->nearest));
  TSL_TRY(tsl_alloc(edges, sizeof *g->best, "shortest edges", (void **)&g->best));
  TSL_TRY(tsl_alloc(edges, sizeof *g->edges, "edges", (void **)&g->edges));
  TSL_TRY(add_in(problem, "stage", TSL_I32, 1));
  TSL_TRY(add_in(problem, "component", TSL_I32, n));
  TSL_TRY(add_in(problem, "active", TSL_U8, n));
  TSL_TRY(add_in(problem, "bound", p->type, edges));
  set_first(problem, g);
done:
  return err;
}

void tri_graph_clear(tri_graph **graph) {
  tri_graph *g = *graph;
  if (g == NULL) return;
  TSL_FREE_ALL(g->parent, g->reach, g->nearest, g->best, g->edges, g);
  *graph = NULL;
}

/* ---------------------------------------------------------------- results */

/** Number the components of places that have one, by their first points as in the input.
 *  @param[out] labels  [n] as in the input; -1: none */
static tsl_err number(const tsl_problem *problem, tri_graph *g, int64_t *labels) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const int32_t *component = tsl_problem_data(problem, "component");
  int64_t *numbers = NULL;
  TSL_TRY(tsl_alloc(p->n, sizeof *numbers, "numbers of components", (void **)&numbers));
  for (int64_t r = 0; r < p->n; r++) {
    labels[tri_point_at(problem, r)] = component[r];
    numbers[r] = -1;
  }
  g->clusters = 0;
  for (int64_t i = 0; i < p->n; i++) {
    if (labels[i] < 0) continue;
    if (numbers[labels[i]] < 0) numbers[labels[i]] = g->clusters++;
    labels[i] = numbers[labels[i]];
  }
done:
  tsl_free(numbers);
  return err;
}

/** Largest cluster, and points without one. */
static tsl_err count_members(const tsl_problem *problem, tri_graph *g, const int64_t *labels) {
  tsl_err err = TSL_OK;
  int64_t *members = NULL;
  TSL_TRY(tsl_alloc(g->clusters, sizeof *members, "members", (void **)&members));
  g->noise = g->largest = 0;
  for (int64_t i = 0; i < tri_params_of(problem)->n; i++) {
    if (labels[i] < 0)
      g->noise++;
    else
      g->largest = tsl_max(g->largest, ++members[labels[i]]);
  }
done:
  tsl_free(members);
  return err;
}

/* ----------------------------------------------------------------- phases */

/** Unite what active rows are linked to. Those that saw their own component alone are done.
 *  @return rows that are not */
static int64_t unite_links(tsl_problem *problem, tri_graph *g) {
  const int64_t n = tri_params_of(problem)->n;
  const int32_t(*links)[2] = tsl_problem_data(problem, "links");
  int32_t *component = tsl_problem_data(problem, "component");
  uint8_t *active = tsl_problem_data(problem, "active");
  int64_t left = 0;
  for (int64_t i = 0; i < n; i++) {
    if (!active[i]) continue;
    active[i] = links[i][0] != component[i] || links[i][1] != component[i];
    if (!active[i]) continue;
    left++;
    (void)tri_graph_unite(g, component[i], links[i][0]);
    (void)tri_graph_unite(g, component[i], links[i][1]);
  }
  for (int64_t i = 0; i < n; i++)
    if (component[i] >= 0) component[i] = tri_graph_find(g, component[i]);
  tri_graph_touch(problem, "component");
  tri_graph_touch(problem, "active");
  return left;
}

/** Core points that the search has come across are of one component. */
static void unite_core(tri_graph *g, int64_t n, const int32_t (*links)[2], int32_t *component) {
  for (int64_t i = 0; i < n; i++)
    for (int side = 0; side < 2 && component[i] >= 0 && links[i][0] >= 0; side++)
      if (component[links[i][side]] >= 0) (void)tri_graph_unite(g, (int32_t)i, links[i][side]);
  for (int64_t i = 0; i < n; i++)
    if (component[i] >= 0) component[i] = tri_graph_find(g, (int32_t)i);
}

/** After TRI_STAGE_CORE: core points begin as components of their own, the others have none. */
static void take_core(tsl_problem *problem, tri_graph *g) {
  const tri_params *p = tri_params_of(problem);
  const void *reach = tsl_problem_data(problem, "reach");
  int32_t *component = tsl_problem_data(problem, "component");
  uint8_t *active = tsl_problem_data(problem, "active");
  for (int64_t i = 0; i < p->n; i++) {
    g->reach[i] = tsl_real_get(p->type, reach, i);
    active[i] = isfinite(g->reach[i]);
    component[i] = active[i] ? (int32_t)i : TRI_NO_COMPONENT;
    g->core += active[i];
  }
  unite_core(g, p->n, tsl_problem_data(problem, "links"), component);
  tri_graph_touch(problem, "component");
  tri_graph_touch(problem, "active");
  set_stage(problem, TRI_STAGE_LINK);
}

/** Clusters have their numbers; the other points look for the first one near them. */
static void look_for_border(tsl_problem *problem, tri_graph *g, const int64_t *labels) {
  const int64_t n = tri_params_of(problem)->n;
  int32_t *component = tsl_problem_data(problem, "component");
  uint8_t *active = tsl_problem_data(problem, "active");
  for (int64_t r = 0; r < n; r++) {
    component[r] = (int32_t)labels[tri_point_at(problem, r)];
    active[r] = component[r] == TRI_NO_COMPONENT;
  }
  tri_graph_touch(problem, "component");
  tri_graph_touch(problem, "active");
  g->border = true;
}

static void take_border(const tsl_problem *problem, int64_t *labels) {
  const int64_t n = tri_params_of(problem)->n;
  const int32_t(*links)[2] = tsl_problem_data(problem, "links");
  const uint8_t *active = tsl_problem_data(problem, "active");
  for (int64_t r = 0; r < n; r++)
    if (active[r])
      labels[tri_point_at(problem, r)] = links[r][0] == INT32_MAX ? TRI_NO_COMPONENT : links[r][0];
}

static tsl_err finish_dbscan(tsl_problem *problem, const tri_graph *g) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  void *distances = NULL;
  TSL_TRY(tri_graph_result(problem, "core_distances", &distances));
  for (int64_t r = 0; r < p->n; r++)
    if (p->type == TSL_F32)
      ((float *)distances)[tri_point_at(problem, r)] = (float)g->reach[r];
    else
      ((double *)distances)[tri_point_at(problem, r)] = g->reach[r];
done:
  return err;
}

/** components and dbscan. */
static tsl_err clusters_advance(tsl_problem *problem, tri_graph *g, bool *more) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const bool dbscan = p->output == TRI_DBSCAN;
  void *labels = NULL;
  TSL_TRY(tri_graph_result(problem, "labels", &labels));
  if (tri_graph_view_of(problem).stage == TRI_STAGE_CORE) {
    take_core(problem, g);
    *more = g->core > 0;
  } else if (g->border) {
    take_border(problem, labels);
  } else {
    *more = unite_links(problem, g) > 0;
  }
  if (*more) goto done;
  if (!g->border) TSL_TRY(number(problem, g, labels));
  *more = dbscan && !g->border && g->core > 0 && g->core < p->n;
  if (*more) look_for_border(problem, g, labels);
  if (!*more) TSL_TRY(count_members(problem, g, labels));
  if (!*more && dbscan) TSL_TRY(finish_dbscan(problem, g));
done:
  return err;
}

tsl_err tri_graph_advance(tsl_problem *problem, bool *more) {
  tri_graph *g = ((tri_own *)problem->own)->graph;
  *more = false;
  return tri_params_of(problem)->output == TRI_LINKAGE ? tri_linkage_advance(problem, g, more)
                                                       : clusters_advance(problem, g, more);
}

void tri_graph_summary(const tsl_problem *problem, tsl_summary *summary) {
  const tri_params *p = tri_params_of(problem);
  const tri_graph *g = ((const tri_own *)problem->own)->graph;
  summary->other_work = true; /* later phases look at less */
  if (p->output == TRI_LINKAGE) {
    double length = 0;
    for (int64_t e = 0; e < g->n_edges; e++) length += g->edges[e].value;
    tsl_summary_add(summary, "length of the minimum spanning tree", length,
                    problem->fields[TRI_OUT_2].unit);
    return;
  }
  tsl_summary_add(summary, p->output == TRI_DBSCAN ? "clusters" : "components", (double)g->clusters,
                  "1");
  tsl_summary_add(summary, "points of the largest", (double)g->largest, "1");
  if (p->output != TRI_DBSCAN) return;
  tsl_summary_add(summary, "core points", (double)g->core, "1");
  tsl_summary_add(summary, "noise points", (double)g->noise, "1");
}
