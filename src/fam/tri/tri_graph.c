/* What backends read of a graph's fields. */
#include "tri_graph.h"

tri_graph_view tri_graph_view_of(const tsl_problem *problem) {
  return (tri_graph_view){.stage = *(const int32_t *)tsl_problem_data(problem, "stage"),
                          .component = tsl_problem_data(problem, "component"),
                          .active = tsl_problem_data(problem, "active"),
                          .bound = tsl_problem_data(problem, "bound")};
}

/** Of runs of `run` elements of n. */
static void join(const int32_t *of, int64_t n, int64_t run, int32_t *uniform) {
  for (int64_t i = 0; i < n; i++) {
    int32_t *const u = &uniform[i / run];
    if (i % run == 0)
      *u = of[i];
    else if (*u != of[i])
      *u = TRI_MIXED;
  }
}

void tri_graph_uniform(const tri_tree *t, int64_t n, const int32_t *component, int32_t *uniform) {
  join(component, n, TRI_TILE, uniform);
  for (int l = 1; l < t->levels; l++)
    join(uniform + t->first[l - 1], t->nodes[l - 1], TRI_FAN, uniform + t->first[l]);
}
