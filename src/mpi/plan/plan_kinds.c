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
  const tsl_unit *units;
  int64_t n_units;
  int n_ranks;
  tsl_seconds_fn seconds;
  const void *model;
  tsl_unit *part; /* [n_units] room */
  int64_t *place; /* [n_units] of part's units in units */
  int32_t *owner; /* [n_units] of part's units */
  double *loads;  /* [n_sets][n_ranks] */
  double *load;   /* [n_ranks] */
} deal;

static void add_unit(deal *d, const tsl_unit *unit, int owner) {
  for (int s = 0; s < d->sets->n; s++)
    if (tsl_kind_in(d->sets->mask[s], unit->kind))
      d->loads[s * d->n_ranks + owner] += d->seconds(d->model, owner, unit);
}

/* Deal the units whose home is a set; -1: those that have none. */
static tsl_err deal_home(deal *d, int set, int32_t *owner) {
  tsl_err err = TSL_OK;
  int64_t n = 0;
  const double *base = set >= 0 ? d->loads + (size_t)set * (size_t)d->n_ranks : NULL;
  for (int64_t u = 0; u < d->n_units; u++)
    if (d->sets->home[d->units[u].kind] == set) d->part[n] = d->units[u], d->place[n++] = u;
  TSL_TRY(tsl_plan_assign(d->rule, d->part, n, d->n_ranks, d->seconds, d->model, base, d->owner,
                          d->load));
  for (int64_t k = 0; k < n; k++) {
    owner[d->place[k]] = d->owner[k];
    add_unit(d, &d->part[k], d->owner[k]);
  }
done:
  return err;
}

/* Small sets first. */
static tsl_err deal_all(deal *d, int32_t *owner) {
  tsl_err err = TSL_OK;
  for (int size = 0; size <= TSL_MAX_KINDS; size++)
    for (int s = 0; s < d->sets->n; s++)
      if (tsl_kind_count(d->sets->mask[s]) == size) TSL_TRY(deal_home(d, s, owner));
  TSL_TRY(deal_home(d, -1, owner));
done:
  return err;
}

static tsl_err open_deal(deal *d) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(d->n_units, sizeof *d->part, "plan", (void **)&d->part));
  TSL_TRY(tsl_alloc(d->n_units, sizeof *d->place, "plan", (void **)&d->place));
  TSL_TRY(tsl_alloc(d->n_units, sizeof *d->owner, "plan", (void **)&d->owner));
  TSL_TRY(tsl_alloc(d->n_ranks, sizeof *d->load, "plan", (void **)&d->load));
  TSL_TRY(
      tsl_alloc((int64_t)d->sets->n * d->n_ranks, sizeof *d->loads, "plan", (void **)&d->loads));
done:
  return err;
}

static void close_deal(deal *d) {
  tsl_free(d->part);
  tsl_free(d->place);
  tsl_free(d->owner);
  tsl_free(d->load);
  tsl_free(d->loads);
}

static void sum_sets(const deal *d, tsl_plan *plan) {
  for (int s = 0; s < d->sets->n; s++) {
    double longest = 0;
    for (int r = 0; r < d->n_ranks; r++) {
      plan->seconds[r] += d->loads[s * d->n_ranks + r];
      longest = fmax(longest, d->loads[s * d->n_ranks + r]);
    }
    plan->total_seconds += longest;
  }
}

tsl_err tsl_plan_sets(const tsl_plan_rule *rule, const tsl_kind_sets *sets, const tsl_unit *units,
                      int64_t n_units, int n_ranks, tsl_seconds_fn seconds, const void *model,
                      tsl_plan *plan) {
  tsl_err err = TSL_OK;
  deal d = {.rule = rule,
            .sets = sets,
            .units = units,
            .n_units = n_units,
            .n_ranks = n_ranks,
            .seconds = seconds,
            .model = model};
  if (sets->n <= 1) return tsl_plan_make(rule, units, n_units, n_ranks, seconds, model, plan);
  *plan = (tsl_plan){.n_units = n_units, .n_ranks = n_ranks, .kind = (int32_t)rule->kind};
  TSL_TRY(tsl_alloc(n_units, sizeof *plan->owner, "plan", (void **)&plan->owner));
  TSL_TRY(tsl_alloc(n_ranks, sizeof *plan->seconds, "plan", (void **)&plan->seconds));
  TSL_TRY(open_deal(&d));
  TSL_TRY(deal_all(&d, plan->owner));
  sum_sets(&d, plan);
done:
  close_deal(&d);
  if (err != TSL_OK) tsl_plan_clear(plan);
  return err;
}

/* ---- what a plan means for a set */

void tsl_plan_loads(const tsl_plan *plan, const tsl_unit *units, uint32_t mask,
                    tsl_seconds_fn seconds, const void *model, double *load) {
  memset(load, 0, (size_t)plan->n_ranks * sizeof *load);
  for (int64_t u = 0; u < plan->n_units; u++) {
    const int r = plan->owner[u];
    if (tsl_kind_in(mask, units[u].kind)) load[r] += seconds(model, r, &units[u]);
  }
}

double tsl_plan_time(const tsl_plan *plan, const tsl_unit *units, uint32_t mask,
                     tsl_seconds_fn seconds, const void *model, double *load) {
  double longest = 0;
  tsl_plan_loads(plan, units, mask, seconds, model, load);
  for (int r = 0; r < plan->n_ranks; r++) longest = fmax(longest, load[r]);
  return longest;
}

double tsl_plan_efficiency(const double *load, const bool *takes_part, int n_ranks) {
  double sum = 0, most = 0;
  int n = 0;
  for (int r = 0; r < n_ranks; r++) {
    if (takes_part != NULL && !takes_part[r]) continue;
    sum += load[r], most = fmax(most, load[r]), n++;
  }
  return most > 0 ? sum / (most * n) : 1;
}

tsl_err tsl_plan_view(const tsl_plan *plan, const tsl_unit *units, uint32_t mask,
                      tsl_seconds_fn seconds, const void *model, tsl_unit **part, tsl_plan *view) {
  tsl_err err = TSL_OK;
  int64_t n = 0;
  for (int64_t u = 0; u < plan->n_units; u++) n += tsl_kind_in(mask, units[u].kind);
  *part = NULL;
  *view = (tsl_plan){.n_units = n, .n_ranks = plan->n_ranks, .kind = plan->kind};
  TSL_TRY(tsl_alloc(n, sizeof **part, "units of a phase", (void **)part));
  TSL_TRY(tsl_alloc(n, sizeof *view->owner, "plan of a phase", (void **)&view->owner));
  TSL_TRY(
      tsl_alloc(view->n_ranks, sizeof *view->seconds, "plan of a phase", (void **)&view->seconds));
  n = 0;
  for (int64_t u = 0; u < plan->n_units; u++)
    if (tsl_kind_in(mask, units[u].kind)) (*part)[n] = units[u], view->owner[n++] = plan->owner[u];
  tsl_plan_loads(plan, units, mask, seconds, model, view->seconds);
  for (int r = 0; r < view->n_ranks; r++)
    view->total_seconds = fmax(view->total_seconds, view->seconds[r]);
done:
  if (err != TSL_OK) {
    tsl_free(*part), *part = NULL;
    tsl_plan_clear(view);
  }
  return err;
}
