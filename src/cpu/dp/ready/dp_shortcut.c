/** @file dp_shortcut.c  Sequences that are alike: bands of diagonals until one is certain, or more
 * would not pay. */
#include "dp_shortcut.h"

#include "dp_strips.h"
#include "integers.h"

#include <math.h>
#include <stdlib.h>

/** What may be spent, in cells that this worker computes with all of its threads. */
typedef struct search {
  const tsl_worker *w;
  const dp_params *p;
  double most;   /**< of a certain band */
  double probes; /**< of all bands that are not known to be certain */
  double spent;  /**< so far */
  double bytes;  /**< RECOVER */
  int64_t path;  /**< score of the best path that is known */
  dp_attempts *attempts;
  dp_strips_progress progress;
} search;

/** Cells of a band and of the way back through it; HUGE_VAL: they do not fit the memory. */
static double cells_of(const search *t, const dp_strips_cut *cut, bool back) {
  const bool recover = t->p->mode == DP_RECOVER;
  if (recover && dp_strips_bytes(t->w, cut) > t->bytes) return HUGE_VAL;
  return dp_strips_cells(t->p, cut->k, cut->width) +
         (recover && back ? dp_strips_again(t->w, cut) : 0);
}

/** Of fewer threads than there are a cell costs as much as several. */
static double cost_of_band(const search *t, int64_t k, bool back) {
  const dp_strips_cut cut = dp_strips_cut_of(t->w, k);
  return cells_of(t, &cut, back) * t->w->cpu.threads / cut.threads;
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

/** Cells that are likely to come: of band k, of the certain one after it, of the way back. */
static double likely_cells(const search *t, int64_t k) {
  const int64_t sure = dp_outside_width(&t->attempts->outside, t->path);
  const dp_strips_cut now = dp_strips_cut_of(t->w, k), then = dp_strips_cut_of(t->w, sure);
  if (k == sure) return cells_of(t, &now, true);
  return cells_of(t, &now, false) +
         (cost_of_band(t, sure, false) <= t->most ? cells_of(t, &then, true) : 0);
}

/** Compute band k; the solution too where it is certain. */
static tsl_err attempt(search *t, int64_t k, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  dp_attempts *a = t->attempts;
  dp_strips strips = {0};
  t->progress.likely = t->progress.done + likely_cells(t, k);
  TSL_TRY(dp_strips_run(t->w, k, &t->progress, &strips, &a->goal));
  const int64_t score = dp_goal_score(t->p, a->goal);
  a->runs++, a->k = k;
  a->cells += strips.cells;
  t->spent += cost_of_band(t, k, false);
  t->path = tsl_max(t->path, score);
  a->certain = score > dp_outside_score(&a->outside, k);
  if (a->certain && t->p->mode == DP_RECOVER) TSL_TRY(walk(&strips, problem));
done:
  dp_strips_clear(&strips);
  return err;
}

/** What a path of this score leaves to be computed: a band that is certain, or the table. */
static double cost_of(const search *t, int64_t score) {
  const double band = cost_of_band(t, dp_outside_width(&t->attempts->outside, score), false);
  return band <= t->most ? band : (double)t->p->n * (double)t->p->m;
}

/** Does a better path than the one that is known save much more than band k costs? */
static bool probe_pays(const search *t, int64_t k) {
  enum { MUCH = 8 };
  const dp_attempts *a = t->attempts;
  const double cells = cost_of_band(t, k, false);
  const double saved = cost_of(t, t->path) - cost_of(t, a->hope);
  return MUCH * cells < saved && t->spent + cells <= t->probes;
}

/** The band that the path known proves to be certain, after bands that double for a better path. */
static tsl_err look(search *t, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  dp_attempts *a = t->attempts;
  for (int64_t k = dp_strips_cut_of(t->w, 0).width / 4; !a->certain && probe_pays(t, k); k *= 2)
    TSL_TRY(attempt(t, k, problem));
  const int64_t sure = dp_outside_width(&a->outside, t->path);
  if (a->certain || t->spent + cost_of_band(t, sure, false) > t->most) goto done;
  TSL_TRY(attempt(t, sure, problem));
  if (!a->certain) TSL_FAIL(TSL_ERR_INTERNAL, "dp: a band that is certain is not");
done:
  return err;
}

static search search_of(const tsl_worker *w, const tsl_problem *problem, double most) {
  static const double PROBES = 0.04; /* of what pays */
  const dp_params *p = w->dp.c.p;
  const double cells = (double)p->n * (double)p->m * most;
  dp_attempts *attempts = dp_attempts_of(problem);
  return (search){.w = w,
                  .p = p,
                  .most = cells,
                  .probes = PROBES * cells,
                  .bytes = (double)(w->room > 0 ? tsl_min(p->budget, w->room) : p->budget),
                  .path = attempts->path,
                  .attempts = attempts};
}

double dp_shortcut_part_cpu(const tsl_worker *w, const tsl_problem *problem) {
  const search t = search_of(w, problem, 1);
  const dp_attempts *a = t.attempts;
  const double table = (double)t.p->n * (double)t.p->m;
  if (!a->looked || (cost_of(&t, a->path) >= table && cost_of(&t, a->hope) >= table)) return 0;
  const double band = cost_of_band(&t, dp_outside_width(&a->outside, t.path), true);
  return fmin(1, band / table); /* 1: by a better path, if at all */
}

tsl_err dp_shortcut_cpu(tsl_worker *w, tsl_problem *problem, double most, const tsl_step *step,
                        bool *found) {
  tsl_err err = TSL_OK;
  const double start = tsl_cpu_seconds();
  search t = search_of(w, problem, most);
  t.progress.step = step;
  *found = false;
  if (!t.attempts->looked) return TSL_OK;
  TSL_TRY(look(&t, problem));
  t.attempts->seconds = tsl_cpu_unit_seconds(start, w->slow, 1);
  *found = t.attempts->certain;
done:
  return err;
}
