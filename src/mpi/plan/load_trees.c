/* Ranks sorted into trees by a count, and the walks down and up a tree. */
#include "load_trees.h"

#include <math.h>

/* Ranks of each tree lie together, and so do its nodes; at[r]: the tree of rank r. */
static void sort_ranks(const int32_t *like, int n_ranks, tsl_load_trees *t, int32_t *at) {
  int32_t *ranks = t->ranks;
  double *nodes = t->nodes;
  for (int r = 0; r < n_ranks; r++) {
    const int first = like != NULL ? like[r] : r;
    at[r] = first == r ? t->n++ : at[first];
    t->tree[at[r]].n++;
  }
  for (int k = 0; k < t->n; k++) {
    tsl_load_tree *tree = &t->tree[k];
    *tree = (tsl_load_tree){.n = tree->n, .leaves = 1, .ranks = ranks, .least = nodes};
    while (tree->leaves < tree->n) tree->leaves *= 2;
    ranks += tree->n, nodes += 2 * tree->leaves;
    tree->n = 0;
  }
  for (int r = 0; r < n_ranks; r++) t->tree[at[r]].ranks[t->tree[at[r]].n++] = r;
}

tsl_err tsl_load_trees_make(const int32_t *like, int n_ranks, tsl_load_trees *t) {
  tsl_err err = TSL_OK;
  int32_t *at = NULL;
  *t = (tsl_load_trees){0};
  TSL_TRY(tsl_alloc(n_ranks, sizeof *t->tree, "loads", (void **)&t->tree));
  TSL_TRY(tsl_alloc(n_ranks, sizeof *t->ranks, "loads", (void **)&t->ranks));
  TSL_TRY(tsl_alloc(4 * (int64_t)n_ranks, sizeof *t->nodes, "loads", (void **)&t->nodes));
  TSL_TRY(tsl_alloc(n_ranks, sizeof *at, "loads", (void **)&at));
  sort_ranks(like, n_ranks, t, at);
done:
  tsl_free(at);
  return err;
}

void tsl_load_trees_clear(tsl_load_trees *t) {
  TSL_FREE_ALL(t->tree, t->ranks, t->nodes);
  *t = (tsl_load_trees){0};
}

void tsl_load_trees_set(tsl_load_trees *t, const double *load) {
  for (int k = 0; k < t->n; k++) {
    const tsl_load_tree *tree = &t->tree[k];
    for (int p = 0; p < tree->leaves; p++)
      tree->least[tree->leaves + p] = p < tree->n ? load[tree->ranks[p]] : INFINITY;
    for (int node = tree->leaves - 1; node > 0; node--)
      tree->least[node] = fmin(tree->least[2 * node], tree->least[2 * node + 1]);
  }
}

int tsl_load_tree_least(const tsl_load_tree *tree) {
  int node = 1;
  while (node < tree->leaves) node = 2 * node + (tree->least[2 * node + 1] < tree->least[2 * node]);
  return node - tree->leaves;
}

int tsl_load_tree_first(const tsl_load_tree *tree, double seconds, double capacity) {
  int node = 1;
  if (!(tree->least[1] + seconds <= capacity)) return -1;
  while (node < tree->leaves) node = 2 * node + (tree->least[2 * node] + seconds > capacity);
  return node - tree->leaves;
}

void tsl_load_tree_put(tsl_load_tree *tree, int place, double load) {
  int node = tree->leaves + place;
  tree->least[node] = load;
  for (node /= 2; node > 0; node /= 2) {
    const double left = tree->least[2 * node], right = tree->least[2 * node + 1];
    tree->least[node] = left < right ? left : right;
  }
}
