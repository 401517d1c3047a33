/* The planners strips, lpt, bins, roundrobin and share over one accessor of cost. */
#include "plan.h"

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
} job;

static double cost(const job *j, int rank, int64_t unit) {
  return j->seconds(j->model, rank, &j->units[unit]);
}

/* On those who take part. */
static double mean_cost(const job *j, int64_t unit) {
  double sum = 0;
  int n = 0;
  for (int r = 0; r < j->n_ranks; r++)
    if (isfinite(cost(j, r, unit))) sum += cost(j, r, unit), n++;
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

/* Seconds if the fastest rank did everything: an upper bound for any sensible plan. */
static double alone(const job *j) {
  double best = -1;
  for (int r = 0; r < j->n_ranks; r++) {
    double sum = 0;
    if (j->rule->like != NULL && j->rule->like[r] != r) continue;
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

/* ---- fixed share */

/* Extent of the box in the family's index space; unused dimensions count once. */
static double volume(const tsl_unit *unit) {
  double product = 1;
  for (int k = 0; k < 3; k++)
    if (unit->hi[k] > unit->lo[k]) product *= (double)(unit->hi[k] - unit->lo[k]);
  return product;
}

/* Rank number nth of one side. */
static int nth_of_side(const job *j, bool fast, int nth) {
  int rank = 0;
  for (; rank < j->n_ranks; rank++)
    if (j->rule->fast[rank] == fast && nth-- == 0) break;
  return rank;
}

/* A unit goes where its middle lies; a side divides its part evenly among its ranks. */
static tsl_err plan_share(job *j) {
  tsl_err err = TSL_OK;
  int n_side[2] = {0, 0};
  double total = 0, before = 0;
  for (int r = 0; r < j->n_ranks; r++) n_side[j->rule->fast[r]]++;
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
    const int rank = nth_of_side(j, fast, nth < n ? nth : n - 1);
    give(j, u, rank, cost(j, rank, u));
    before += volume(&j->units[u]);
  }
done:
  return err;
}

void tsl_plan_sides(const bool *on_card, int n_ranks, bool *fast) {
  bool any = false;
  for (int r = 0; r < n_ranks; r++) any = any || on_card[r];
  for (int r = 0; r < n_ranks; r++) fast[r] = any ? on_card[r] : r == 0;
}

/* ---- search of the smallest capacity that a packing accepts */

typedef bool (*packing)(job *j, const int64_t *order, double capacity);

enum { SEARCH_STEPS = 40 };

static tsl_err smallest_capacity(job *j, const int64_t *order, packing fits) {
  double low = 0, high = most_base(j) + alone(j);
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

/* ---- all */

static tsl_err (*const planners[TSL_N_PLANS])(job *) = {
    [TSL_PLAN_STRIPS] = plan_strips, [TSL_PLAN_LPT] = plan_lpt,
    [TSL_PLAN_BINS] = plan_bins,     [TSL_PLAN_ROUNDROBIN] = plan_roundrobin,
    [TSL_PLAN_SHARE] = plan_share,
};

tsl_err tsl_plan_assign(const tsl_plan_rule *rule, const tsl_unit *units, int64_t n_units,
                        int n_ranks, tsl_seconds_fn seconds, const void *model, const double *base,
                        int32_t *owner, double *load) {
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
  return n_units > 0 ? planners[rule->kind](&part) : TSL_OK;
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
