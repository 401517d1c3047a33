/* Lanes are dealt as units of summed cost, and a timetable of stages with edges between ranks gives
 * the predicted end. */
#include "plan_wave.h"

#include "plan_kinds.h"

#include <math.h>
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

static tsl_err count_lanes(const tsl_workload *work, int64_t *n_lanes) {
  tsl_err err = TSL_OK;
  *n_lanes = 0;
  for (int64_t u = 0; u < work->n_units; u++) {
    const int64_t lane = work->units[u].lane;
    if (lane < 0 || lane >= work->n_units)
      TSL_FAIL(TSL_ERR_INTERNAL, "tile %lld is of lane %lld", (long long)u, (long long)lane);
    if (lane >= *n_lanes) *n_lanes = lane + 1;
  }
done:
  return err;
}

/* Each tile to the rank that would end it first; the lowest of equals. */
static void deal_tiles(const tsl_workload *work, tsl_plan *plan) {
  for (int64_t u = 0; u < plan->n_units; u++) {
    double end = INFINITY;
    for (int r = 0; r < plan->n_ranks; r++) {
      const double then = plan->seconds[r] + tsl_workload_seconds(work, r, u);
      if (r == 0 || then < end) plan->owner[u] = r, end = then;
    }
    plan->seconds[plan->owner[u]] = end;
  }
}

/* Deal the lanes, and own the tiles as they are dealt. */
static tsl_err deal_lanes(const tsl_plan_rule *rule, const tsl_workload *work, int64_t n,
                          tsl_plan *plan) {
  tsl_err err = TSL_OK;
  lane_costs lanes = {.n = n};
  int32_t *owner = NULL;
  TSL_TRY(tsl_alloc(n, sizeof *lanes.units, "lanes", (void **)&lanes.units));
  TSL_TRY(tsl_alloc(n * work->n_ranks, sizeof *lanes.seconds, "lanes", (void **)&lanes.seconds));
  TSL_TRY(tsl_alloc(n, sizeof *owner, "lanes", (void **)&owner));
  for (int64_t l = 0; l < n; l++) lanes.units[l].id = l;
  for (int64_t u = 0; u < work->n_units; u++)
    for (int r = 0; r < work->n_ranks; r++)
      lanes.seconds[r * n + work->units[u].lane] += tsl_workload_seconds(work, r, u);
  const tsl_workload of_lanes = {lanes.units, n, work->n_ranks, lane_seconds, &lanes};
  TSL_TRY(tsl_plan_assign(rule, &of_lanes, UINT32_MAX, plan->seconds, owner));
  for (int64_t u = 0; u < plan->n_units; u++) plan->owner[u] = owner[work->units[u].lane];
done:
  TSL_FREE_ALL(lanes.units, lanes.seconds, owner);
  return err;
}

tsl_err tsl_plan_wave(const tsl_plan_rule *rule, const tsl_workload *work, tsl_plan *plan) {
  tsl_err err = TSL_OK;
  int64_t n_lanes = 0;
  TSL_TRY(tsl_plan_open(work->n_units, work->n_ranks, plan));
  if (rule->kind != TSL_PLAN_STRIPS && rule->kind != TSL_PLAN_ROUNDROBIN)
    TSL_FAIL(TSL_ERR_INPUT,
             "run.plan: %s does not suit tiles that depend on each other; "
             "use strips (default) or roundrobin",
             tsl_plan_words[rule->kind]);
  TSL_TRY(count_lanes(work, &n_lanes));
  if (rule->kind == TSL_PLAN_STRIPS && n_lanes == work->n_units)
    deal_tiles(work, plan);
  else
    TSL_TRY(deal_lanes(rule, work, n_lanes, plan));
  plan->total_seconds = tsl_plan_loads(plan, work, UINT32_MAX, plan->seconds);
done:
  return err;
}

/* ---- when everything ends */

/* A rank on its way through the stages; s. */
typedef struct runner {
  double idle;  /* when it can begin a stage; in one, when its cells are done */
  double last;  /* when it has ended its last stage */
  double cells; /* of its tiles of the stage */
  double delay; /* by which a stage ends later than its cells, where two overlap; 0: they do not */
} runner;

typedef struct timetable {
  const tsl_problem *problem;
  const tsl_workload *work;
  tsl_plan *plan;
  const tsl_network *network; /* or NULL */
  double *end;                /* [n_units] when a tile's edge is there */
  runner *ranks;              /* [n_ranks] */
  uint64_t *taken; /* [n_units] bit of a rank: it has the edge; ranks 64 apart share one */
  int64_t *list, room;
} timetable;

/* An edge of another rank: when it is on the rank's node.
 * @return s out of one device and into another, if the rank has not had it yet */
static double take_edge(timetable *t, int64_t tile, int rank) {
  const double bytes = (double)t->problem->family->edge_bytes(t->problem, &t->work->units[tile]);
  const int from = t->plan->owner[tile];
  const bool far = t->network != NULL && tsl_network_crosses(t->network, from, rank);
  const double way = far ? tsl_network_message(t->network, bytes) : 0;
  const uint64_t bit = UINT64_C(1) << rank % 64;
  t->ranks[rank].idle = fmax(t->ranks[rank].idle, t->end[tile] + way);
  if (t->taken[tile] & bit) return 0;
  t->taken[tile] |= bit;
  if (far) t->plan->network_bytes += bytes;
  return 2 * bytes / TSL_EDGE_RATE;
}

/* When the rank has the edges of other ranks' tiles that a tile needs. */
static tsl_err take_edges(timetable *t, int64_t u) {
  tsl_err err = TSL_OK;
  const tsl_unit *units = t->work->units;
  const int rank = t->plan->owner[u];
  double seconds = 0;
  int64_t n;
  while ((n = t->problem->family->predecessors(t->problem, units, t->plan->n_units, u, t->list,
                                               t->room)) > t->room) {
    tsl_free(t->list);
    t->list = NULL, t->room = 2 * n;
    TSL_TRY(tsl_alloc(t->room, sizeof *t->list, "predecessors", (void **)&t->list));
  }
  for (int64_t k = 0; k < n; k++)
    if (t->plan->owner[t->list[k]] != rank) seconds += take_edge(t, t->list[k], rank);
  t->ranks[rank].idle += seconds;
done:
  return err;
}

/* When the tiles that the rank has had of a stage have ended. */
static double end_of(const runner *r) {
  return r->delay > 0 ? fmax(r->idle + r->delay, r->last + r->cells) : r->idle;
}

/* The rank has had all its tiles of a stage; where two overlap, it may have begun the next. */
static void end_stage(runner *r) {
  const double before = r->last;
  if (r->cells <= 0) return;
  r->last = end_of(r);
  r->idle = r->delay > 0 ? before : r->last;
  r->cells = 0;
}

/* Tiles [first, end) of a stage; lanes of several tiles are done together. */
static tsl_err do_stage(timetable *t, int64_t first, int64_t end) {
  tsl_err err = TSL_OK;
  const int32_t *owner = t->plan->owner;
  const int64_t n = t->plan->n_units;
  for (int64_t u = first; u < end; u++) {
    const double cells = tsl_workload_seconds(t->work, owner[u], u);
    runner *rank = &t->ranks[owner[u]];
    TSL_TRY(take_edges(t, u));
    rank->idle += cells;
    rank->cells += cells;
    t->end[u] = end_of(rank);
  }
  for (int r = 0; r < t->plan->n_ranks; r++) end_stage(&t->ranks[r]);
  for (int64_t u = first; u < end && t->work->units[n - 1].lane != n - 1; u++)
    t->end[u] = t->ranks[owner[u]].last;
done:
  return err;
}

tsl_err tsl_plan_wave_time(const tsl_problem *problem, const tsl_workload *work,
                           const double *delay, const tsl_network *network, tsl_plan *plan) {
  tsl_err err = TSL_OK;
  const int64_t n = plan->n_units;
  const int n_ranks = plan->n_ranks;
  timetable t = {.problem = problem, .work = work, .plan = plan, .network = network};
  if (n_ranks == 1 && (delay == NULL || delay[0] <= 0)) return TSL_OK;
  TSL_TRY(tsl_alloc(n, sizeof *t.end, "plan", (void **)&t.end));
  TSL_TRY(tsl_alloc(n, sizeof *t.taken, "plan", (void **)&t.taken));
  TSL_TRY(tsl_alloc(n_ranks, sizeof *t.ranks, "plan", (void **)&t.ranks));
  for (int r = 0; r < n_ranks && delay != NULL; r++) t.ranks[r].delay = delay[r];
  for (int64_t first = 0, end; first < n; first = end) {
    for (end = first; end < n && work->units[end].stage == work->units[first].stage;) end++;
    TSL_TRY(do_stage(&t, first, end));
  }
  plan->total_seconds = 0;
  for (int r = 0; r < n_ranks; r++)
    plan->total_seconds = fmax(plan->total_seconds, t.ranks[r].last);
done:
  TSL_FREE_ALL(t.end, t.taken, t.ranks, t.list);
  return err;
}

void tsl_plan_wave_traceback(const tsl_problem *problem, const tsl_workload *work, tsl_plan *plan) {
  const tsl_family *family = problem->family;
  plan->traceback_seconds = 0;
  for (int64_t u = 0; u < plan->n_units && family->traceback_part != NULL; u++) {
    const double part = family->traceback_part(problem, &work->units[u]);
    if (part > 0) plan->traceback_seconds += part * tsl_workload_seconds(work, plan->owner[u], u);
  }
}
