/* The planners strips, lpt, bins, roundrobin and share over one accessor of cost. */
#include "plan.h"

#include <math.h>
#include <stdlib.h>

/* Loads of ranks that need as long for every unit, under one binary tree whose nodes have the least
 * load below them: the least loaded rank, or the first below a limit, is log steps away. */
typedef struct tree {
  int n;
  int leaves;     /* power of two, n or more */
  int32_t *ranks; /* [n] ascending */
  double *least;  /* [2 leaves] s: node k is above 2k and 2k + 1, the root is 1; leaves are last */
} tree;

/* What every planner works on. */
typedef struct job {
  const tsl_plan_rule *rule;
  const tsl_workload *work;
  int64_t *order; /* [n] the units to be dealt, as planners go through them */
  int64_t n;
  int n_ranks;
  const double *base; /* [n_ranks] s that the ranks have to do already */
  int32_t *owner;     /* [work->n_units], out */
  tree *trees;        /* [n_trees], by their first ranks */
  int n_trees;
  int32_t *ranks; /* [n_ranks] of the trees one after another */
  double *nodes;  /* of all trees */
} job;

/* On the ranks of a tree. */
static double tree_cost(const job *j, int t, int64_t unit) {
  return tsl_workload_seconds(j->work, j->trees[t].ranks[0], unit);
}

/* On those who take part. */
static double mean_cost(const job *j, int64_t unit) {
  double sum = 0;
  int n = 0;
  for (int t = 0; t < j->n_trees; t++) {
    const double seconds = tree_cost(j, t, unit);
    if (isfinite(seconds)) sum += seconds * j->trees[t].n, n += j->trees[t].n;
  }
  return n > 0 ? sum / n : 0;
}

double tsl_plan_longest(const double *load, int n_ranks) {
  double most = 0;
  for (int r = 0; r < n_ranks; r++) most = fmax(most, load[r]);
  return most;
}

/* ---- trees */

static tsl_err make_trees(job *j) {
  tsl_err err = TSL_OK;
  const int32_t *like = j->rule->like;
  int32_t *at = NULL; /* [n_ranks] tree of the rank */
  TSL_TRY(tsl_alloc(j->n_ranks, sizeof *j->trees, "loads", (void **)&j->trees));
  TSL_TRY(tsl_alloc(j->n_ranks, sizeof *j->ranks, "loads", (void **)&j->ranks));
  TSL_TRY(tsl_alloc(4 * (int64_t)j->n_ranks, sizeof *j->nodes, "loads", (void **)&j->nodes));
  TSL_TRY(tsl_alloc(j->n_ranks, sizeof *at, "loads", (void **)&at));
  for (int r = 0; r < j->n_ranks; r++) {
    const int first = like != NULL ? like[r] : r;
    at[r] = first == r ? j->n_trees++ : at[first];
    j->trees[at[r]].n++;
  }
  for (int t = 0, n = 0, nodes = 0; t < j->n_trees; t++) {
    tree *of = &j->trees[t];
    for (of->leaves = 1; of->leaves < of->n;) of->leaves *= 2;
    of->ranks = j->ranks + n, of->least = j->nodes + nodes;
    n += of->n, nodes += 2 * of->leaves;
    of->n = 0;
  }
  for (int r = 0; r < j->n_ranks; r++) j->trees[at[r]].ranks[j->trees[at[r]].n++] = r;
done:
  tsl_free(at);
  return err;
}

static void set_trees(job *j) {
  for (int t = 0; t < j->n_trees; t++) {
    tree *of = &j->trees[t];
    for (int p = 0; p < of->leaves; p++)
      of->least[of->leaves + p] = p < of->n ? j->base[of->ranks[p]] : INFINITY;
    for (int k = of->leaves - 1; k > 0; k--)
      of->least[k] = fmin(of->least[2 * k], of->least[2 * k + 1]);
  }
}

/* The leaf of the least load, or the first that with these seconds is no more than the capacity; 0:
 * none. */
static int find_leaf(const tree *t, double seconds, double capacity) {
  const bool any = isinf(capacity);
  int k = 1;
  if (!any && !(t->least[1] + seconds <= capacity)) return 0;
  while (k < t->leaves) {
    const double left = t->least[2 * k];
    k = 2 * k + (any ? t->least[2 * k + 1] < left : left + seconds > capacity);
  }
  return k;
}

/* To the rank that would end it first, the lowest of equals; with a capacity to the first that ends
 * it in time. */
static bool give_best(job *j, int64_t unit, double capacity) {
  const bool any = isinf(capacity);
  double end = INFINITY;
  const tree *best = NULL;
  int at = 0, owner = 0;
  for (int t = 0; t < j->n_trees; t++) {
    const tree *of = &j->trees[t];
    if (!any && best != NULL && of->ranks[0] > owner) break; /* so are those that follow */
    const double its = tree_cost(j, t, unit);
    const int leaf = find_leaf(of, its, capacity);
    if (leaf == 0) continue;
    const int rank = of->ranks[leaf - of->leaves];
    const double then = of->least[leaf] + its;
    const bool better = any && then != end ? then < end : rank < owner;
    if (best == NULL || better) best = of, at = leaf, owner = rank, end = then;
  }
  if (best == NULL) return false;
  j->owner[unit] = owner;
  best->least[at] = end;
  for (int k = at / 2; k > 0; k /= 2)
    best->least[k] = fmin(best->least[2 * k], best->least[2 * k + 1]);
  return true;
}

/* ---- round robin */

static tsl_err plan_roundrobin(job *j) {
  for (int64_t k = 0; k < j->n; k++) j->owner[j->order[k]] = (int32_t)(k % j->n_ranks);
  return TSL_OK;
}

/* ---- fixed share */

/* Extent of the box in the family's index space; unused dimensions count once. */
static double volume(const tsl_unit *unit) {
  double product = 1;
  for (int k = 0; k < 3; k++)
    if (unit->hi[k] > unit->lo[k]) product *= (double)(unit->hi[k] - unit->lo[k]);
  return product;
}

/* A unit goes where its middle lies; a side divides its part evenly among its ranks. */
static tsl_err plan_share(job *j) {
  tsl_err err = TSL_OK;
  int n_side[2] = {0, 0}, *ranks = NULL; /* the slow ones, then the fast ones */
  double total = 0, before = 0;
  TSL_TRY(tsl_alloc(j->n_ranks, sizeof *ranks, "ranks of a side", (void **)&ranks));
  for (int side = 0; side < 2; side++)
    for (int r = 0; r < j->n_ranks; r++)
      if (j->rule->fast[r] == (side == 1)) ranks[side * n_side[0] + n_side[side]++] = r;
  for (int64_t k = 0; k < j->n; k++) total += volume(&j->work->units[j->order[k]]);
  const double cut = j->rule->share * total;
  for (int64_t k = 0; k < j->n; k++) {
    const double here = volume(&j->work->units[j->order[k]]), middle = before + 0.5 * here;
    const bool fast = middle < cut;
    const int n = n_side[fast];
    const double at = fast ? middle / cut : (middle - cut) / (total - cut);
    if (n == 0)
      TSL_FAIL(TSL_ERR_INPUT,
               "plan share: gpu_share %g leaves work to the %s, but no rank is on that side; "
               "start more ranks, or set gpu_share to %d",
               j->rule->share, fast ? "cards" : "sockets", fast ? 0 : 1);
    const int nth = (int)(at * n);
    j->owner[j->order[k]] = ranks[fast * n_side[0] + (nth < n ? nth : n - 1)];
    before += here;
  }
done:
  tsl_free(ranks);
  return err;
}

void tsl_plan_sides(const bool *on_card, int n_ranks, bool *fast) {
  int cards = 0;
  for (int r = 0; r < n_ranks; r++) cards += on_card[r];
  const bool mixed = cards > 0 && cards < n_ranks;
  for (int r = 0; r < n_ranks; r++) fast[r] = mixed ? on_card[r] : r == 0;
}

/* ---- search of the smallest capacity that a packing accepts */

typedef bool (*packing)(job *j, double capacity);

static const double PRECISE = 1e-4; /* of the capacity */

/* Where all ranks would end at once if units could be cut at will. */
static double find_ideal(const job *j) {
  double rate = 0, done = 1;
  for (int t = 0; t < j->n_trees; t++) {
    const tree *of = &j->trees[t];
    double alone = 0;
    for (int64_t k = 0; k < j->n; k++) alone += tree_cost(j, t, j->order[k]);
    if (alone <= 0) return 0;
    rate += of->n / alone;
    for (int p = 0; p < of->n; p++) done += j->base[of->ranks[p]] / alone;
  }
  return done / rate;
}

/* Up from there in growing steps, until a capacity fits; then halve what lies below it. */
static tsl_err smallest_capacity(job *j, packing fits) {
  double low = 0, high = find_ideal(j);
  for (double step = PRECISE * high; isfinite(high) && !fits(j, high); step *= 4)
    low = high, high += step;
  while (isfinite(high) && high - low > PRECISE * high) {
    const double middle = 0.5 * (low + high);
    *(fits(j, middle) ? &high : &low) = middle;
  }
  high *= 1 + 1e-12; /* the last accepted capacity, safe against rounding of the sums */
  if (!fits(j, high))
    return tsl_fail(TSL_ERR_INTERNAL, __FILE__, __LINE__, "no capacity packs the units");
  return TSL_OK;
}

/* ---- strips */

static bool strips_fit(job *j, double capacity) {
  int rank = 0;
  double load = j->base[0];
  for (int64_t k = 0; k < j->n; k++) {
    double then;
    while ((then = load + tsl_workload_seconds(j->work, rank, j->order[k])) > capacity) {
      if (++rank == j->n_ranks) return false;
      load = j->base[rank];
    }
    load = then;
    j->owner[j->order[k]] = rank;
  }
  return true;
}

static tsl_err plan_strips(job *j) {
  return smallest_capacity(j, strips_fit);
}

/* ---- lpt and bins */

static int by_decreasing_key(const void *a, const void *b, void *keys) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  const double p = ((const double *)keys)[x], q = ((const double *)keys)[y];
  if (p != q) return p < q ? 1 : -1;
  return x < y ? -1 : x > y;
}

static bool bins_fit(job *j, double capacity) {
  set_trees(j);
  for (int64_t k = 0; k < j->n; k++)
    if (!give_best(j, j->order[k], capacity)) return false;
  return true;
}

static tsl_err plan_in_order(job *j) {
  tsl_err err = TSL_OK;
  double *keys = NULL;
  TSL_TRY(tsl_alloc(j->work->n_units, sizeof *keys, "plan order", (void **)&keys));
  for (int64_t k = 0; k < j->n; k++) keys[j->order[k]] = mean_cost(j, j->order[k]);
  qsort_r(j->order, (size_t)j->n, sizeof *j->order, by_decreasing_key, keys);
  if (j->rule->kind == TSL_PLAN_BINS)
    TSL_TRY(smallest_capacity(j, bins_fit));
  else
    (void)bins_fit(j, INFINITY);
done:
  tsl_free(keys);
  return err;
}

/* ---- all */

static tsl_err (*const planners[TSL_N_PLANS])(job *) = {
    [TSL_PLAN_STRIPS] = plan_strips, [TSL_PLAN_LPT] = plan_in_order,
    [TSL_PLAN_BINS] = plan_in_order, [TSL_PLAN_ROUNDROBIN] = plan_roundrobin,
    [TSL_PLAN_SHARE] = plan_share,
};

tsl_err tsl_plan_assign(const tsl_plan_rule *rule, const tsl_workload *work, uint32_t kinds,
                        const double *base, int32_t *owner) {
  tsl_err err = TSL_OK;
  const int n_ranks = work->n_ranks;
  job part = {.rule = rule, .work = work, .n_ranks = n_ranks, .base = base, .owner = owner};
  TSL_TRY(tsl_alloc(work->n_units, sizeof *part.order, "plan order", (void **)&part.order));
  for (int64_t u = 0; u < work->n_units; u++)
    if ((kinds >> work->units[u].kind & 1) != 0) part.order[part.n++] = u;
  if (part.n == 0) goto done;
  TSL_TRY(make_trees(&part));
  TSL_TRY(planners[rule->kind](&part));
done:
  TSL_FREE_ALL(part.order, part.trees, part.ranks, part.nodes);
  return err;
}

tsl_err tsl_plan_open(int64_t n_units, int n_ranks, tsl_plan *plan) {
  tsl_err err = TSL_OK;
  *plan = (tsl_plan){.n_units = n_units, .n_ranks = n_ranks};
  TSL_TRY(tsl_alloc(plan->n_units, sizeof *plan->owner, "plan", (void **)&plan->owner));
  TSL_TRY(tsl_alloc(plan->n_ranks, sizeof *plan->seconds, "plan", (void **)&plan->seconds));
done:
  if (err != TSL_OK) tsl_plan_clear(plan);
  return err;
}

void tsl_plan_clear(tsl_plan *plan) {
  TSL_FREE_ALL(plan->owner, plan->seconds);
  *plan = (tsl_plan){0};
}
