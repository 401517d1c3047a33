#include "plan_wave.h"

#include <string.h>

/* Lanes as units, and what each costs on each rank: the sum of its tiles. */
typedef struct lane_costs {
  tsl_unit *units; /* [n] */
  double *seconds; /* [ranks][n] */
  int64_t n;
} lane_costs;

static double lane_seconds(const void *model, int rank, const tsl_unit *lane) {
  const lane_costs *c = model;
  return c->seconds[rank * c->n + lane->id];
}

static tsl_err sum_lanes(const tsl_unit *units, const tsl_plan *plan, int64_t n_lanes,
                         tsl_seconds_fn seconds, const void *model, lane_costs *c) {
  tsl_err err = TSL_OK;
  *c = (lane_costs){.n = n_lanes};
  TSL_TRY(tsl_alloc(n_lanes, sizeof *c->units, "lanes", (void **)&c->units));
  TSL_TRY(tsl_alloc(n_lanes * plan->n_ranks, sizeof *c->seconds, "lanes", (void **)&c->seconds));
  for (int64_t u = 0; u < plan->n_units; u++) {
    const int64_t lane = units[u].lane;
    c->units[lane].id = lane;
    c->units[lane].count += units[u].count;
    for (int r = 0; r < plan->n_ranks; r++)
      c->seconds[r * n_lanes + lane] += seconds(model, r, &units[u]);
  }
done:
  return err;
}

static tsl_err count_lanes(const tsl_unit *units, int64_t n_units, int64_t *n_lanes) {
  tsl_err err = TSL_OK;
  *n_lanes = 0;
  for (int64_t u = 0; u < n_units; u++) {
    if (units[u].lane < 0 || units[u].lane >= n_units)
      TSL_FAIL(TSL_ERR_INTERNAL, "tile %lld is of lane %lld", (long long)u,
               (long long)units[u].lane);
    if (units[u].lane >= *n_lanes) *n_lanes = units[u].lane + 1;
  }
done:
  return err;
}

/* Each tile to the rank that would end it first; the lowest of equals. */
static void deal_tiles(const tsl_unit *units, tsl_seconds_fn seconds, const void *model,
                       tsl_plan *plan) {
  for (int64_t u = 0; u < plan->n_units; u++) {
    int best = 0;
    for (int r = 1; r < plan->n_ranks; r++)
      if (plan->seconds[r] + seconds(model, r, &units[u]) <
          plan->seconds[best] + seconds(model, best, &units[u]))
        best = r;
    plan->owner[u] = best;
    plan->seconds[best] += seconds(model, best, &units[u]);
  }
}

/* Own the lanes as the plan of the lanes says. */
static void spread_lanes(const tsl_unit *units, const tsl_plan *lanes, const lane_costs *c,
                         tsl_plan *plan) {
  for (int64_t u = 0; u < plan->n_units; u++) plan->owner[u] = lanes->owner[units[u].lane];
  for (int64_t k = 0; k < c->n; k++)
    plan->seconds[lanes->owner[k]] += lane_seconds(c, lanes->owner[k], &c->units[k]);
}

tsl_err tsl_plan_wave(const tsl_plan_rule *rule, const tsl_unit *units, int64_t n_units,
                      int n_ranks, tsl_seconds_fn seconds, const void *model, tsl_plan *plan) {
  tsl_err err = TSL_OK;
  const tsl_plan_kind kind = rule->kind;
  const tsl_plan_rule fixed = {.kind = kind};
  int64_t n_lanes = 0;
  lane_costs lanes = {0};
  tsl_plan of_lanes = {0};
  *plan = (tsl_plan){
      .n_units = n_units, .n_ranks = n_ranks, .kind = (int32_t)kind, .first_dynamic = n_units};
  if (kind != TSL_PLAN_STRIPS && kind != TSL_PLAN_ROUNDROBIN)
    TSL_FAIL(TSL_ERR_INPUT,
             "run.plan: %s does not suit tiles that depend on each other; "
             "use strips (default) or roundrobin",
             tsl_plan_words[kind]);
  TSL_TRY(tsl_alloc(n_units, sizeof *plan->owner, "plan", (void **)&plan->owner));
  TSL_TRY(tsl_alloc(n_ranks, sizeof *plan->seconds, "plan", (void **)&plan->seconds));
  TSL_TRY(count_lanes(units, n_units, &n_lanes));
  if (kind == TSL_PLAN_STRIPS && n_lanes == n_units) {
    deal_tiles(units, seconds, model, plan);
  } else {
    TSL_TRY(sum_lanes(units, plan, n_lanes, seconds, model, &lanes));
    TSL_TRY(tsl_plan_make(&fixed, lanes.units, n_lanes, n_ranks, lane_seconds, &lanes, &of_lanes));
    spread_lanes(units, &of_lanes, &lanes, plan);
  }
  for (int r = 0; r < n_ranks; r++)
    if (plan->seconds[r] > plan->total_seconds) plan->total_seconds = plan->seconds[r];
done:
  tsl_free(lanes.units);
  tsl_free(lanes.seconds);
  tsl_plan_clear(&of_lanes);
  return err;
}
