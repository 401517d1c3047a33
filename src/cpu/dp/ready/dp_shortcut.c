/** @file dp_shortcut.c  Sequences that are alike: bands of diagonals until one is certain, or more
 * would not pay. */
#include "dp_shortcut.h"

#include "dp_strips.h"
#include "integers.h"

#include <math.h>
#include <stdlib.h>

/** What may be spent, in cells that this worker computes. */
typedef struct search {
  const tsl_worker *w;
  const dp_params *p;
  dp_outside outside;
  double most;   /**< of a certain band */
  double probes; /**< of all bands that are not known to be certain */
  double bytes;  /**< RECOVER */
  dp_attempts *attempts;
} search;

static double cells_of(const search *t, int64_t k) {
  const int64_t width = dp_strips_width(t->w, k);
  if (t->p->mode == DP_RECOVER && dp_strips_bytes(t->p, k, width) > t->bytes) return HUGE_VAL;
  return dp_strips_cells(t->p, k, width);
}

/** Hand the steps over as tsl_backend.traceback would. */
static tsl_err walk(dp_strips *strips, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  dp_steps steps = {0};
  TSL_TRY(dp_strips_walk(strips, &steps));
  TSL_TRY(problem->family->traceback_steps(problem, (const int64_t(*)[2])steps.at, steps.n));
done:
  free(steps.at);
  return err;
}

/** Least band that is certain for a goal, with what was spent. */
static double cost_of(const search *t, int64_t goal, int64_t *k) {
  *k = dp_outside_width(&t->outside, dp_goal_score(t->p, goal));
  return t->attempts->cells + cells_of(t, *k);
}

static bool may_pay(const void *context, double goal) {
  const search *t = context;
  int64_t k = 0;
  return cost_of(t, (int64_t)goal, &k) <= t->most;
}

/** Compute band k, to its end where it is sure to be certain; the solution too where it is.
 *  *ended: goal is that of a path. */
static tsl_err attempt(const search *t, int64_t k, bool sure, tsl_problem *problem, bool *ended) {
  tsl_err err = TSL_OK;
  dp_attempts *a = t->attempts;
  dp_strips strips = {0};
  int64_t goal = 0;
  TSL_TRY(dp_strips_run(t->w, k, sure ? NULL : may_pay, t, &strips, &goal, ended));
  a->runs++, a->k = k;
  a->cells += strips.cells;
  if (!*ended) goto done;
  a->goal = goal;
  a->certain = dp_goal_score(t->p, goal) > dp_outside_score(&t->outside, k);
  if (a->certain && t->p->mode == DP_RECOVER) TSL_TRY(walk(&strips, problem));
done:
  dp_strips_clear(&strips);
  return err;
}

/**
 * Bands that double; each gives a path, and that path's score a band that is sure to be certain.
 * That one is computed when the next probe would not be cheap beside it, or may not be spent.
 */
static tsl_err look(const search *t, tsl_problem *problem) {
  enum { CHEAP = 8 };
  tsl_err err = TSL_OK;
  dp_attempts *a = t->attempts;
  for (int64_t k = dp_strips_width(t->w, 0) / 4, sure; !a->certain; k *= 2) {
    const double cells = cells_of(t, k);
    bool ended = false;
    if (cells > t->most || a->cells + cells > t->probes) break;
    TSL_TRY(attempt(t, k, false, problem, &ended));
    if (a->certain || !ended) continue;
    const double cost = cost_of(t, a->goal, &sure), next = cells_of(t, 2 * k);
    if (cost > t->most || (CHEAP * next < cost && a->cells + next <= t->probes)) continue;
    TSL_TRY(attempt(t, sure, true, problem, &ended));
    if (!a->certain) TSL_FAIL(TSL_ERR_INTERNAL, "dp: a band that is certain is not");
  }
done:
  return err;
}

/** This worker's part of the threads, 0 where a card takes part. */
static double share_of(const tsl_worker *w, const tsl_device *devices, int n) {
  double threads = 0;
  for (int k = 0; k < n; k++) {
    if (devices[k].kind != TSL_CPU) return 0;
    threads += tsl_max(devices[k].threads, 1);
  }
  return threads > w->cpu.threads ? w->cpu.threads / threads : 1;
}

tsl_err dp_shortcut_cpu(tsl_worker *w, tsl_problem *problem, const tsl_device *devices, int n,
                        bool *found) {
  static const double PROBES = 0.05, MOST = 0.6; /* of the cells of a rank's part of the table */
  tsl_err err = TSL_OK;
  const dp_params *p = w->dp.c.p;
  const double start = tsl_cpu_seconds();
  const double part = (double)p->n * (double)p->m * share_of(w, devices, n);
  dp_attempts attempts = {0};
  search t = {.w = w,
              .p = p,
              .most = MOST * part,
              .probes = PROBES * part,
              .bytes = (double)p->budget,
              .attempts = &attempts};
  *found = false;
  if (!dp_diagonals_apply(p)) return TSL_OK;
  if (devices[0].host_limit > 0 && (double)devices[0].host_limit < t.bytes)
    t.bytes = (double)devices[0].host_limit;
  dp_outside_set(p, dp_input(&w->dp.c, DP_A), dp_input(&w->dp.c, DP_B), &t.outside);
  TSL_TRY(look(&t, problem));
  attempts.seconds = tsl_cpu_unit_seconds(start, w->slow, 1);
  dp_attempts_note(problem, &attempts);
  *found = attempts.certain;
done:
  return err;
}
