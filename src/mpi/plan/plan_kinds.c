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
          (home < 0 || __builtin_popcount(sets->mask[s]) < __builtin_popcount(sets->mask[home])))
        home = s;
    sets->home[k] = home;
  }
}

/* ---- plans */

/* Deal the units whose home is a set.
 * @param[in,out] loads  [sets->n][n_ranks] of the units that are dealt */
static tsl_err deal_home(const tsl_plan_rule *rule, const tsl_kind_sets *sets,
                         const tsl_workload *work, int set, double *loads, int32_t *owner) {
  tsl_err err = TSL_OK;
  uint32_t kinds = 0;
  for (int k = 0; k < TSL_MAX_KINDS; k++)
    if (sets->home[k] == set) kinds |= UINT32_C(1) << k;
  TSL_TRY(tsl_plan_assign(rule, work, kinds, loads + set * work->n_ranks, owner));
  for (int64_t u = 0; u < work->n_units; u++) {
    const int kind = work->units[u].kind;
    if (!tsl_kind_in(kinds, kind)) continue;
    const double seconds = tsl_workload_seconds(work, owner[u], u);
    for (int s = 0; s < sets->n; s++)
      if (tsl_kind_in(sets->mask[s], kind)) loads[s * work->n_ranks + owner[u]] += seconds;
  }
done:
  return err;
}

tsl_err tsl_plan_make(const tsl_plan_rule *rule, const tsl_kind_sets *sets,
                      const tsl_workload *work, tsl_plan *plan) {
  tsl_err err = TSL_OK;
  const int n_ranks = work->n_ranks;
  double *loads = NULL; /* [sets->n][n_ranks] */
  TSL_TRY(tsl_plan_open(work->n_units, n_ranks, plan));
  TSL_TRY(tsl_alloc((int64_t)sets->n * n_ranks, sizeof *loads, "plan", (void **)&loads));
  if (sets->n == 1 && n_ranks > 1 && rule->kind != TSL_PLAN_SHARE) plan->dynamic = rule->dynamic;
  for (int size = 0; size <= TSL_MAX_KINDS; size++) /* small sets first */
    for (int s = 0; s < sets->n; s++)
      if (__builtin_popcount(sets->mask[s]) == size)
        TSL_TRY(deal_home(rule, sets, work, s, loads, plan->owner));
  for (int s = 0; s < sets->n; s++) {
    for (int r = 0; r < n_ranks; r++) plan->seconds[r] += loads[s * n_ranks + r];
    plan->total_seconds += tsl_plan_longest(loads + s * n_ranks, n_ranks);
  }
done:
  tsl_free(loads);
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
  int64_t n = 0;
  *part = NULL;
  TSL_TRY(tsl_plan_open(plan->n_units, plan->n_ranks, view));
  TSL_TRY(tsl_alloc(plan->n_units, sizeof **part, "units of a phase", (void **)part));
  for (int64_t u = 0; u < plan->n_units; u++)
    if (tsl_kind_in(mask, work->units[u].kind))
      (*part)[n] = work->units[u], view->owner[n++] = plan->owner[u];
  view->n_units = n;
  view->total_seconds = tsl_plan_loads(plan, work, mask, view->seconds);
done:
  if (err != TSL_OK) tsl_plan_clear(view);
  return err;
}
