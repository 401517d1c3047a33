/* Kinds of each phase become sets; units are dealt set by set, the smallest first, on top of the
 * loads so far. */
#include "plan_kinds.h"

#include <math.h>
#include <string.h>

/* ---- sets */

uint32_t tsl_kinds_active(const tsl_problem *problem, int phase) {
  const tsl_family *family = problem->family;
  uint32_t mask = 0;
  for (int k = 0; k < family->n_kinds; k++)
    if (family->active == NULL || family->active(problem, phase, k)) mask |= UINT32_C(1) << k;
  return mask;
}

int tsl_kind_sets_find(const tsl_kind_sets *sets, uint32_t mask) {
  for (int s = 0; s < sets->n; s++)
    if (sets->mask[s] == mask) return s;
  return -1;
}

void tsl_kind_sets_make(const tsl_problem *problem, const tsl_unit *units, int64_t n_units,
                        tsl_kind_sets *sets) {
  uint32_t later = 0;
  *sets = (tsl_kind_sets){.n = 0};
  for (int64_t u = 0; u < n_units; u++) later |= UINT32_C(1) << units[u].kind;
  for (int phase = 0; phase < TSL_PHASES_AHEAD; phase++) {
    const uint32_t mask = tsl_kinds_active(problem, phase);
    if (tsl_kind_sets_find(sets, mask) < 0) sets->mask[sets->n++] = mask;
    later &= ~mask;
  }
  if (later != 0) sets->mask[sets->n++] = later;
  for (int k = 0; k < TSL_MAX_KINDS; k++) {
    int home = -1;
    for (int s = 0; s < sets->n; s++)
      if (tsl_kind_in(sets->mask[s], k) &&
          (home < 0 || tsl_kind_count(sets->mask[s]) < tsl_kind_count(sets->mask[home])))
        home = s;
    sets->home[k] = home;
  }
}

/* ---- plans */

/* Everything of a plan of several sets. */
typedef struct deal {
  const tsl_plan_rule *rule;
  const tsl_kind_sets *sets;
  const tsl_workload *work;
  tsl_unit *part; /* [n_units] room */
  int64_t *place; /* [n_units] of part's units in units */
  int32_t *owner; /* [n_units] of part's units */
  double *loads;  /* [n_sets][n_ranks] */
  double *load;   /* [n_ranks] */
} deal;

/* Deal the units whose home is a set; -1: those that have none. */
static tsl_err deal_home(deal *d, int set, int32_t *owner) {
  tsl_err err = TSL_OK;
  tsl_workload part = *d->work;
  const double *base = set >= 0 ? d->loads + (size_t)set * (size_t)part.n_ranks : NULL;
  part.units = d->part, part.n_units = 0;
  for (int64_t u = 0; u < d->work->n_units; u++)
    if (d->sets->home[d->work->units[u].kind] == set)
      d->part[part.n_units] = d->work->units[u], d->place[part.n_units++] = u;
  TSL_TRY(tsl_plan_assign(d->rule, &part, base, d->owner, d->load));
  for (int64_t k = 0; k < part.n_units; k++) {
    const double seconds = tsl_workload_seconds(&part, d->owner[k], k);
    owner[d->place[k]] = d->owner[k];
    for (int s = 0; s < d->sets->n; s++)
      if (tsl_kind_in(d->sets->mask[s], part.units[k].kind))
        d->loads[s * part.n_ranks + d->owner[k]] += seconds;
  }
done:
  return err;
}

/* Small sets first. */
static tsl_err deal_all(deal *d, int32_t *owner) {
  tsl_err err = TSL_OK;
  const int64_t n = d->work->n_units, n_ranks = d->work->n_ranks;
  TSL_TRY(tsl_alloc(n, sizeof *d->part, "plan", (void **)&d->part));
  TSL_TRY(tsl_alloc(n, sizeof *d->place, "plan", (void **)&d->place));
  TSL_TRY(tsl_alloc(n, sizeof *d->owner, "plan", (void **)&d->owner));
  TSL_TRY(tsl_alloc(n_ranks, sizeof *d->load, "plan", (void **)&d->load));
  TSL_TRY(tsl_alloc(d->sets->n * n_ranks, sizeof *d->loads, "plan", (void **)&d->loads));
  for (int size = 0; size <= TSL_MAX_KINDS; size++)
    for (int s = 0; s < d->sets->n; s++)
      if (tsl_kind_count(d->sets->mask[s]) == size) TSL_TRY(deal_home(d, s, owner));
  TSL_TRY(deal_home(d, -1, owner));
done:
  return err;
}

tsl_err tsl_plan_make(const tsl_plan_rule *rule, const tsl_kind_sets *sets,
                      const tsl_workload *work, tsl_plan *plan) {
  tsl_err err = TSL_OK;
  deal d = {.rule = rule, .sets = sets, .work = work};
  TSL_TRY(tsl_plan_open(rule, work, plan));
  if (sets != NULL && sets->n > 1) {
    TSL_TRY(deal_all(&d, plan->owner));
    for (int64_t k = 0; k < (int64_t)sets->n * work->n_ranks; k++)
      plan->seconds[k % work->n_ranks] += d.loads[k];
    for (int s = 0; s < sets->n; s++)
      plan->total_seconds += tsl_plan_longest(d.loads + s * work->n_ranks, work->n_ranks);
  } else {
    plan->dynamic = work->n_ranks > 1 && rule->kind != TSL_PLAN_SHARE ? rule->dynamic : 0;
    TSL_TRY(tsl_plan_assign(rule, work, NULL, plan->owner, plan->seconds));
    plan->total_seconds = tsl_plan_longest(plan->seconds, work->n_ranks);
  }
done:
  TSL_FREE_ALL(d.part, d.place, d.owner, d.load, d.loads);
  if (err != TSL_OK) tsl_plan_clear(plan);
  return err;
}

/* ---- what a plan means for a set */

double tsl_plan_loads(const tsl_plan *plan, const tsl_workload *work, uint32_t mask, double *load) {
  memset(load, 0, (size_t)plan->n_ranks * sizeof *load);
  for (int64_t u = 0; u < plan->n_units; u++)
    if (tsl_kind_in(mask, work->units[u].kind))
      load[plan->owner[u]] += tsl_workload_seconds(work, plan->owner[u], u);
  return tsl_plan_longest(load, plan->n_ranks);
}

double tsl_plan_efficiency(const double *load, const tsl_cost *cost) {
  double sum = 0, most = 0;
  int n = 0;
  for (int r = 0; r < cost->n_ranks; r++)
    if (tsl_cost_takes_part(cost, r)) sum += load[r], most = fmax(most, load[r]), n++;
  return most > 0 ? sum / (most * n) : 1;
}

tsl_err tsl_plan_view(const tsl_plan *plan, const tsl_workload *work, uint32_t mask,
                      tsl_unit **part, tsl_plan *view) {
  tsl_err err = TSL_OK;
  const tsl_plan_rule rule = {.kind = (tsl_plan_kind)plan->kind};
  tsl_workload of_mask = *work;
  *part = NULL;
  of_mask.n_units = 0;
  for (int64_t u = 0; u < plan->n_units; u++)
    of_mask.n_units += tsl_kind_in(mask, work->units[u].kind);
  TSL_TRY(tsl_plan_open(&rule, &of_mask, view));
  TSL_TRY(tsl_alloc(of_mask.n_units, sizeof **part, "units of a phase", (void **)part));
  for (int64_t u = 0, n = 0; u < plan->n_units; u++)
    if (tsl_kind_in(mask, work->units[u].kind))
      (*part)[n] = work->units[u], view->owner[n++] = plan->owner[u];
  view->total_seconds = tsl_plan_loads(plan, work, mask, view->seconds);
done:
  if (err != TSL_OK) tsl_plan_clear(view);
  return err;
}
