#include "plan.h"

#include <stdlib.h>
#include <string.h>

const char *const tsl_plan_words[] = {"strips", "lpt", "bins", "roundrobin", NULL};

/* What every planner works on: the static units and the model, one accessor for their cost. */
typedef struct job {
  const tsl_unit *units;
  int64_t n;
  int n_ranks;
  tsl_seconds_fn seconds;
  const void *model;
  int32_t *owner; /* [n], out */
  double *load;   /* [n_ranks], out */
} job;

static double cost(const job *j, int rank, int64_t unit) {
  return j->seconds(j->model, rank, &j->units[unit]);
}

static double mean_cost(const job *j, int64_t unit) {
  double sum = 0;
  for (int r = 0; r < j->n_ranks; r++) sum += cost(j, r, unit);
  return sum / j->n_ranks;
}

static void give(job *j, int64_t unit, int rank, double seconds) {
  j->owner[unit] = rank;
  j->load[rank] += seconds;
}

static void clear_loads(job *j) {
  memset(j->load, 0, (size_t)j->n_ranks * sizeof *j->load);
}

/* Seconds if the fastest rank did everything: an upper bound for any sensible plan. */
static double alone(const job *j) {
  double best = -1;
  for (int r = 0; r < j->n_ranks; r++) {
    double sum = 0;
    for (int64_t u = 0; u < j->n; u++) sum += cost(j, r, u);
    if (best < 0 || sum < best) best = sum;
  }
  return best;
}

/* ---- round robin */

static tsl_err plan_roundrobin(job *j) {
  for (int64_t u = 0; u < j->n; u++) {
    const int rank = (int)(u % j->n_ranks);
    give(j, u, rank, cost(j, rank, u));
  }
  return TSL_OK;
}

/* ---- search of the smallest capacity that a packing accepts */

typedef bool (*packing)(job *j, const int64_t *order, double capacity);

enum { SEARCH_STEPS = 40 };

static tsl_err smallest_capacity(job *j, const int64_t *order, packing fits) {
  double low = 0, high = alone(j);
  for (int step = 0; step < SEARCH_STEPS && high - low > 1e-4 * high; step++) {
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
    while (rank < j->n_ranks && j->load[rank] + cost(j, rank, u) > capacity) rank++;
    if (rank == j->n_ranks) return false;
    give(j, u, rank, cost(j, rank, u));
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

static int earliest_end(const job *j, int64_t unit) {
  int best = 0;
  double best_end = j->load[0] + cost(j, 0, unit);
  for (int r = 1; r < j->n_ranks; r++) {
    const double end = j->load[r] + cost(j, r, unit);
    if (end < best_end) best = r, best_end = end;
  }
  return best;
}

static tsl_err plan_lpt(job *j) {
  tsl_err err = TSL_OK;
  int64_t *order = NULL;
  TSL_TRY(order_units(j, &order));
  for (int64_t k = 0; k < j->n; k++) {
    const int rank = earliest_end(j, order[k]);
    give(j, order[k], rank, cost(j, rank, order[k]));
  }
done:
  tsl_free(order);
  return err;
}

/* ---- bins */

static bool bins_fit(job *j, const int64_t *order, double capacity) {
  clear_loads(j);
  for (int64_t k = 0; k < j->n; k++) {
    const int64_t u = order[k];
    int rank = 0;
    while (rank < j->n_ranks && j->load[rank] + cost(j, rank, u) > capacity) rank++;
    if (rank == j->n_ranks) return false;
    give(j, u, rank, cost(j, rank, u));
  }
  return true;
}

static tsl_err plan_bins(job *j) {
  tsl_err err = TSL_OK;
  int64_t *order = NULL;
  TSL_TRY(order_units(j, &order));
  TSL_TRY(smallest_capacity(j, order, bins_fit));
done:
  tsl_free(order);
  return err;
}

/* ---- the tail */

/* First unit of a tail that holds about the wanted share of the mean cost. */
static int64_t cut_tail(const job *all, double share) {
  double total = 0, tail = 0;
  int64_t first = all->n;
  for (int64_t u = 0; u < all->n; u++) total += mean_cost(all, u);
  while (first > 0 && tail < share * total) tail += mean_cost(all, --first);
  return first;
}

/* Time to do the tail when all ranks share it ideally: rates add. */
static double spread_tail(const job *all, int64_t first) {
  double rate = 0;
  if (first == all->n) return 0;
  for (int r = 0; r < all->n_ranks; r++) {
    double sum = 0;
    for (int64_t u = first; u < all->n; u++) sum += cost(all, r, u);
    if (sum <= 0) return 0;
    rate += 1 / sum;
  }
  return 1 / rate;
}

/* Static loads differ; the tail first fills the gaps below the longest (rates weighted by the
 * tail). */
static double whole_time(const job *all, int64_t first, const double *load, double tail_seconds) {
  double longest = 0, rate = 0, filled = 0;
  for (int r = 0; r < all->n_ranks; r++) {
    double sum = 0;
    for (int64_t u = first; u < all->n; u++) sum += cost(all, r, u);
    if (load[r] > longest) longest = load[r];
    if (sum > 0) rate += 1 / sum, filled += load[r] / sum;
  }
  const double level = rate > 0 ? (1 + filled) / rate : longest;
  return tail_seconds > 0 && level > longest ? level : longest;
}

static tsl_err (*const planners[TSL_N_PLANS])(job *) = {
    [TSL_PLAN_STRIPS] = plan_strips,
    [TSL_PLAN_LPT] = plan_lpt,
    [TSL_PLAN_BINS] = plan_bins,
    [TSL_PLAN_ROUNDROBIN] = plan_roundrobin,
};

tsl_err tsl_plan_make(tsl_plan_kind kind, const tsl_unit *units, int64_t n_units, int n_ranks,
                      double dynamic, tsl_seconds_fn seconds, const void *model, tsl_plan *plan) {
  tsl_err err = TSL_OK;
  job all = {units, n_units, n_ranks, seconds, model, NULL, NULL};
  *plan = (tsl_plan){.n_units = n_units, .n_ranks = n_ranks, .kind = kind};
  TSL_TRY(tsl_alloc(n_units, sizeof *plan->owner, "plan", (void **)&plan->owner));
  TSL_TRY(tsl_alloc(n_ranks, sizeof *plan->seconds, "plan", (void **)&plan->seconds));
  all.owner = plan->owner;
  all.load = plan->seconds;
  plan->first_dynamic = n_ranks > 1 ? cut_tail(&all, dynamic) : n_units;
  for (int64_t u = plan->first_dynamic; u < n_units; u++) plan->owner[u] = -1;
  all.n = plan->first_dynamic;
  if (all.n > 0) TSL_TRY(planners[kind](&all));
  all.n = n_units;
  plan->tail_seconds = spread_tail(&all, plan->first_dynamic);
  plan->total_seconds = whole_time(&all, plan->first_dynamic, plan->seconds, plan->tail_seconds);
done:
  if (err != TSL_OK) tsl_plan_clear(plan);
  return err;
}

void tsl_plan_clear(tsl_plan *plan) {
  tsl_free(plan->owner);
  tsl_free(plan->seconds);
  *plan = (tsl_plan){0};
}
