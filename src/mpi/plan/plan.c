/* The planners strips, lpt, bins, roundrobin and share over one accessor of cost. */
#include "plan.h"

#include "load_trees.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What every planner works on: the units and the model, one accessor for their cost. */
typedef struct job {
  const tsl_unit *units;
  int64_t n;
  int n_ranks;
  tsl_seconds_fn seconds;
  const void *model;
  const tsl_plan_rule *rule;
  const double *base; /* [n_ranks] s that the ranks have to do already; NULL: nothing */
  int32_t *owner;     /* [n], out */
  double *load;       /* [n_ranks], out, base included */
  tsl_load_trees trees;
  double *kept; /* [n_kept][n] s of units in the order of bins, as each fit asks again */
  int n_kept;   /* trees, from the first on */
} job;

static double cost(const job *j, int rank, int64_t unit) {
  return j->seconds(j->model, rank, &j->units[unit]);
}

/* On the ranks of a tree. */
static double tree_cost(const job *j, int tree, int64_t unit) {
  return cost(j, j->trees.tree[tree].ranks[0], unit);
}

/* On those who take part. */
static double mean_cost(const job *j, int64_t unit) {
  double sum = 0;
  int n = 0;
  for (int t = 0; t < j->trees.n; t++) {
    const double seconds = tree_cost(j, t, unit);
    if (isfinite(seconds)) sum += seconds * j->trees.tree[t].n, n += j->trees.tree[t].n;
  }
  return n > 0 ? sum / n : 0;
}

static void give(job *j, int64_t unit, int rank, double seconds) {
  j->owner[unit] = rank;
  j->load[rank] += seconds;
}

static void clear_loads(job *j) {
  for (int r = 0; r < j->n_ranks; r++) j->load[r] = j->base != NULL ? j->base[r] : 0;
}

static double most_base(const job *j) {
  double most = 0;
  for (int r = 0; r < j->n_ranks && j->base != NULL; r++)
    if (j->base[r] > most) most = j->base[r];
  return most;
}

/* ---- round robin */

static tsl_err plan_roundrobin(job *j) {
  for (int64_t u = 0; u < j->n; u++) {
    const int rank = (int)(u % j->n_ranks);
    give(j, u, rank, cost(j, rank, u));
  }
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
  int n_side[2] = {0, 0}, *ranks[2] = {NULL, NULL};
  double total = 0, before = 0;
  for (int side = 0; side < 2; side++) {
    TSL_TRY(tsl_alloc(j->n_ranks, sizeof *ranks[side], "ranks of a side", (void **)&ranks[side]));
    for (int r = 0; r < j->n_ranks; r++)
      if (j->rule->fast[r] == (side == 1)) ranks[side][n_side[side]++] = r;
  }
  for (int64_t u = 0; u < j->n; u++) total += volume(&j->units[u]);
  const double cut = j->rule->share * total;
  for (int64_t u = 0; u < j->n; u++) {
    const double middle = before + 0.5 * volume(&j->units[u]);
    const bool fast = middle < cut;
    const int n = n_side[fast];
    const double at = fast ? middle / cut : (middle - cut) / (total - cut);
    if (n == 0)
      TSL_FAIL(TSL_ERR_INPUT,
               "plan share: gpu_share %g leaves work to the %s, but no rank is on that side; "
               "start more ranks, or set gpu_share to %d",
               j->rule->share, fast ? "cards" : "sockets", fast ? 0 : 1);
    const int nth = (int)(at * n);
    const int rank = ranks[fast][nth < n ? nth : n - 1];
    give(j, u, rank, cost(j, rank, u));
    before += volume(&j->units[u]);
  }
done:
  TSL_FREE_ALL(ranks[0], ranks[1]);
  return err;
}

void tsl_plan_sides(const bool *on_card, int n_ranks, bool *fast) {
  int cards = 0;
  for (int r = 0; r < n_ranks; r++) cards += on_card[r];
  const bool mixed = cards > 0 && cards < n_ranks;
  for (int r = 0; r < n_ranks; r++) fast[r] = mixed ? on_card[r] : r == 0;
}

/* ---- search of the smallest capacity that a packing accepts */

typedef bool (*packing)(job *j, const int64_t *order, double capacity);

enum { SEARCH_STEPS = 40 };
static const double PRECISE = 1e-4; /* of the capacity */

/* Where the search ends at the latest, and where it may begin. */
typedef struct bounds {
  double most; /* the fastest rank, behind those that have most to do, does everything */
  double even; /* all ranks end at once, if units could be cut at will */
} bounds;

static bounds find_bounds(const job *j) {
  double fastest = INFINITY, rate = 0, done = 1;
  for (int t = 0; t < j->trees.n; t++) {
    const tsl_load_tree *tree = &j->trees.tree[t];
    double alone = 0;
    for (int64_t u = 0; u < j->n; u++) alone += tree_cost(j, t, u);
    fastest = fmin(fastest, alone);
    rate += tree->n / alone;
    for (int p = 0; p < tree->n && j->base != NULL; p++) done += j->base[tree->ranks[p]] / alone;
  }
  const bounds b = {.most = most_base(j) + fastest, .even = fastest > 0 ? done / rate : 0};
  return b;
}

/* Away from where all could end at once in growing steps, until one capacity fits and one does not;
 * then halve what lies between them. */
static tsl_err smallest_capacity(job *j, const int64_t *order, packing fits) {
  const bounds b = find_bounds(j);
  double low = 0, high = b.most, at = b.even, step = PRECISE * b.even;
  bool up = true;
  for (int k = 0; k < SEARCH_STEPS && low < at && at < high; k++, step *= 4) {
    const bool fit = fits(j, order, at);
    if (fit)
      high = at;
    else
      low = at;
    if (k == 0) up = !fit;
    if (fit == up) break;
    at = up ? low + step : high - step;
  }
  for (int k = 0; k < SEARCH_STEPS && high - low > PRECISE * high; k++) {
    const double middle = 0.5 * (low + high);
    if (fits(j, order, middle))
      high = middle;
    else
      low = middle;
  }
  high *= 1 + 1e-12; /* the last accepted capacity, safe against rounding of the sums */
  if (!fits(j, order, high))
    return tsl_fail(TSL_ERR_INTERNAL, __FILE__, __LINE__, "no capacity packs the units");
  return TSL_OK;
}

/* ---- strips */

static bool strips_fit(job *j, const int64_t *order, double capacity) {
  int rank = 0;
  (void)order;
  clear_loads(j);
  for (int64_t u = 0; u < j->n; u++) {
    double seconds = cost(j, rank, u);
    while (j->load[rank] + seconds > capacity) {
      if (++rank == j->n_ranks) return false;
      seconds = cost(j, rank, u);
    }
    give(j, u, rank, seconds);
  }
  return true;
}

static tsl_err plan_strips(job *j) {
  return smallest_capacity(j, NULL, strips_fit);
}

/* ---- orders by decreasing cost, for lpt and bins */

typedef struct keyed {
  double key;
  int64_t index;
} keyed;

static int by_decreasing_key(const void *a, const void *b) {
  const keyed *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? 1 : -1;
  return x->index < y->index ? -1 : x->index > y->index;
}

static tsl_err order_units(const job *j, int64_t **order) {
  tsl_err err = TSL_OK;
  keyed *keys = NULL;
  *order = NULL;
  TSL_TRY(tsl_alloc(j->n, sizeof *keys, "plan order", (void **)&keys));
  TSL_TRY(tsl_alloc(j->n, sizeof **order, "plan order", (void **)order));
  for (int64_t u = 0; u < j->n; u++) keys[u] = (keyed){mean_cost(j, u), u};
  qsort(keys, (size_t)j->n, sizeof *keys, by_decreasing_key);
  for (int64_t u = 0; u < j->n; u++) (*order)[u] = keys[u].index;
done:
  tsl_free(keys);
  return err;
}

/* ---- lpt */

/* A unit to a place of a tree. */
static void give_place(job *j, int64_t unit, int tree, int place, double seconds) {
  tsl_load_tree *t = &j->trees.tree[tree];
  give(j, unit, t->ranks[place], seconds);
  tsl_load_tree_put(t, place, j->load[t->ranks[place]]);
}

/* To the rank that would end it first; of equals the lowest. */
static void give_earliest(job *j, int64_t unit) {
  int best = 0, best_place = 0, best_rank = 0;
  double best_end = INFINITY, best_seconds = 0;
  for (int t = 0; t < j->trees.n; t++) {
    const int place = tsl_load_tree_least(&j->trees.tree[t]);
    const int rank = j->trees.tree[t].ranks[place];
    const double seconds = cost(j, rank, unit), end = j->load[rank] + seconds;
    if (t > 0 && (end > best_end || (end == best_end && rank > best_rank))) continue;
    best = t, best_place = place, best_rank = rank, best_end = end, best_seconds = seconds;
  }
  give_place(j, unit, best, best_place, best_seconds);
}

static tsl_err plan_lpt(job *j) {
  tsl_err err = TSL_OK;
  int64_t *order = NULL;
  TSL_TRY(order_units(j, &order));
  tsl_load_trees_set(&j->trees, j->load);
  for (int64_t k = 0; k < j->n; k++) give_earliest(j, order[k]);
done:
  tsl_free(order);
  return err;
}

/* ---- bins */

enum { MOST_KEPT = 16 };

static tsl_err keep_costs(job *j, const int64_t *order) {
  tsl_err err = TSL_OK;
  j->n_kept = j->trees.n < MOST_KEPT ? j->trees.n : MOST_KEPT;
  TSL_TRY(tsl_alloc(j->n_kept * j->n, sizeof *j->kept, "plan order", (void **)&j->kept));
  for (int64_t k = 0; k < j->n; k++)
    for (int t = 0; t < j->n_kept; t++) j->kept[t * j->n + k] = tree_cost(j, t, order[k]);
done:
  return err;
}

/* On the ranks of a tree, of the unit that is number k in the order. */
static double cost_in_order(const job *j, const int64_t *order, int tree, int64_t k) {
  return tree < j->n_kept ? j->kept[tree * j->n + k] : tree_cost(j, tree, order[k]);
}

/* Unit number k to the first rank that ends it in time. */
static bool give_first(job *j, const int64_t *order, int64_t k, double capacity) {
  int first = -1, first_place = 0, first_rank = j->n_ranks;
  for (int t = 0; t < j->trees.n; t++) {
    const tsl_load_tree *tree = &j->trees.tree[t];
    if (tree->ranks[0] > first_rank) break; /* trees are sorted by that */
    const int place = tsl_load_tree_first(tree, cost_in_order(j, order, t, k), capacity);
    if (place < 0 || tree->ranks[place] > first_rank) continue;
    first = t, first_place = place, first_rank = tree->ranks[place];
  }
  if (first >= 0) give_place(j, order[k], first, first_place, cost_in_order(j, order, first, k));
  return first >= 0;
}

static bool bins_fit(job *j, const int64_t *order, double capacity) {
  clear_loads(j);
  tsl_load_trees_set(&j->trees, j->load);
  for (int64_t k = 0; k < j->n; k++)
    if (!give_first(j, order, k, capacity)) return false;
  return true;
}

static tsl_err plan_bins(job *j) {
  tsl_err err = TSL_OK;
  int64_t *order = NULL;
  TSL_TRY(order_units(j, &order));
  TSL_TRY(keep_costs(j, order));
  TSL_TRY(smallest_capacity(j, order, bins_fit));
done:
  TSL_FREE_ALL(order, j->kept);
  return err;
}

/* ---- all */

static tsl_err (*const planners[TSL_N_PLANS])(job *) = {
    [TSL_PLAN_STRIPS] = plan_strips, [TSL_PLAN_LPT] = plan_lpt,
    [TSL_PLAN_BINS] = plan_bins,     [TSL_PLAN_ROUNDROBIN] = plan_roundrobin,
    [TSL_PLAN_SHARE] = plan_share,
};

tsl_err tsl_plan_assign(const tsl_plan_rule *rule, const tsl_unit *units, int64_t n_units,
                        int n_ranks, tsl_seconds_fn seconds, const void *model, const double *base,
                        int32_t *owner, double *load) {
  tsl_err err = TSL_OK;
  job part = {.units = units,
              .n = n_units,
              .n_ranks = n_ranks,
              .seconds = seconds,
              .model = model,
              .rule = rule,
              .base = base,
              .owner = owner,
              .load = load};
  clear_loads(&part);
  if (n_units == 0) return TSL_OK;
  TSL_TRY(tsl_load_trees_make(rule->like, n_ranks, &part.trees));
  TSL_TRY(planners[rule->kind](&part));
done:
  tsl_load_trees_clear(&part.trees);
  return err;
}

tsl_err tsl_plan_make(const tsl_plan_rule *rule, const tsl_unit *units, int64_t n_units,
                      int n_ranks, tsl_seconds_fn seconds, const void *model, tsl_plan *plan) {
  tsl_err err = TSL_OK;
  const bool shared = n_ranks > 1 && rule->kind != TSL_PLAN_SHARE;
  *plan = (tsl_plan){.n_units = n_units,
                     .n_ranks = n_ranks,
                     .kind = (int32_t)rule->kind,
                     .dynamic = shared ? rule->dynamic : 0};
  TSL_TRY(tsl_alloc(n_units, sizeof *plan->owner, "plan", (void **)&plan->owner));
  TSL_TRY(tsl_alloc(n_ranks, sizeof *plan->seconds, "plan", (void **)&plan->seconds));
  TSL_TRY(tsl_plan_assign(rule, units, n_units, n_ranks, seconds, model, NULL, plan->owner,
                          plan->seconds));
  for (int r = 0; r < n_ranks; r++)
    plan->total_seconds =
        plan->seconds[r] > plan->total_seconds ? plan->seconds[r] : plan->total_seconds;
done:
  if (err != TSL_OK) tsl_plan_clear(plan);
  return err;
}

void tsl_plan_clear(tsl_plan *plan) {
  tsl_free(plan->owner);
  tsl_free(plan->seconds);
  *plan = (tsl_plan){0};
}
