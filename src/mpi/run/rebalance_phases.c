/* Rank 0 learns from a phase's log and moves units where that pays. All ranks receive the owners
 * and the changed inputs. */
#include "rebalance_phases.h"

#include "bcast.h"
#include "collective_error.h"
#include "rebalance.h"

#include <string.h>

/* ---- owners; rank 0 */

/* Who computed a unit keeps it. */
static void keep_owners(const tsl_session *s, const tsl_record *record, int32_t *owner) {
  if (s->units.n > 0) memcpy(owner, s->plan.owner, (size_t)s->units.n * sizeof *owner);
  for (int64_t k = 0; k < record->n_last; k++)
    if (record->last[k].owner >= 0) owner[record->last[k].unit.id] = record->last[k].owner;
}

/* Seconds of a phase of the set: as measured, or by the cost model where a unit has not been in
 * one; 0: not a set that is planned for. */
static double expected(const tsl_session *s, int set, const int32_t *owner, double *load) {
  const tsl_timing_history *l = &s->learned;
  memset(load, 0, (size_t)s->size * sizeof *load);
  for (int64_t u = 0; u < s->units.n && set >= 0; u++) {
    const tsl_unit *unit = &s->units.list[u];
    double seconds = tsl_history_of(l, set, u)->seconds;
    if (!tsl_kind_in(s->sets.mask[set], unit->kind)) continue;
    if (seconds <= 0) seconds = tsl_cost_seconds(&s->cost, owner[u], unit);
    load[owner[u]] += seconds;
    if (!tsl_history_knows(l, u)) load[owner[u]] += tsl_history_setup(l, set, u, owner[u]);
  }
  return tsl_plan_longest(load, s->size);
}

static tsl_err learn_and_move(tsl_session *s, int phase, int32_t *owner, tsl_record *record) {
  tsl_err err = TSL_OK;
  double *load = NULL;
  const int set = tsl_kind_sets_find(&s->sets, tsl_kinds_active(&s->problem, phase));
  const int next = tsl_kind_sets_find(&s->sets, tsl_kinds_active(&s->problem, phase + 1));
  tsl_rebalance_gain gain = {.moved = 0};
  const bool move = s->run.rebalance && s->run.plan != TSL_PLAN_SHARE;
  tsl_phase_line *line = &record->phases[record->n_phases - 1];
  TSL_TRY(tsl_alloc(s->size, sizeof *load, "loads", (void **)&load));
  if (s->learned.unit == NULL)
    TSL_TRY(tsl_history_open(s->units.list, s->units.n, &s->cost, &s->sets, &s->learned));
  if (set >= 0) {
    TSL_TRY(tsl_history_phase(&s->learned, set, record->last, record->n_last));
    if (move) TSL_TRY(tsl_rebalance(&s->learned, set, s->run.rebalance_threshold, owner, &gain));
  }
  line->moved = gain.moved;
  line->imbalance_before = gain.imbalance_before;
  line->imbalance_after = gain.imbalance_after;
  record->expected = expected(s, next, owner, load);
done:
  tsl_free(load);
  return err;
}

/* ---- all ranks */

/* Units that keep something stay with their owners now; others may take the rest. */
static void set_owners(tsl_session *s, const int32_t *owner) {
  const tsl_workload work = tsl_session_work(s, tsl_cost_seconds);
  tsl_plan *plan = &s->plan;
  if (s->units.n > 0) memcpy(plan->owner, owner, (size_t)s->units.n * sizeof *owner);
  plan->kept = true;
  plan->total_seconds = tsl_plan_loads(plan, &work, UINT32_MAX, plan->seconds);
}

static tsl_err next_owners(tsl_session *s, int phase, int32_t *owner, tsl_record *record) {
  tsl_err err = TSL_OK;
  if (s->rank != 0) return TSL_OK;
  keep_owners(s, record, owner);
  TSL_TRY(learn_and_move(s, phase, owner, record));
done:
  return err;
}

tsl_err tsl_rebalance_phases_next(tsl_session *s, int phase, tsl_record *record) {
  tsl_err err = TSL_OK;
  int32_t *owner = NULL;
  TSL_TRY(tsl_bcast_inputs(s->comm, &s->problem));
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_SHARE));
  if (s->family->shape == TSL_WAVE) return TSL_OK; /* its lanes stay where they are */
  TSL_COLLECTIVE_TRY(s->comm, tsl_alloc(s->units.n, sizeof *owner, "owners", (void **)&owner));
  TSL_COLLECTIVE_TRY(s->comm, next_owners(s, phase, owner, record));
  TSL_TRY(tsl_bcast_bytes(s->comm, owner, s->units.n * (int64_t)sizeof *owner));
  set_owners(s, owner);
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_REBALANCE));
done:
  tsl_free(owner);
  return err;
}

void tsl_rebalance_phases_print(const tsl_record *record, FILE *file) {
  const tsl_phase_line *line = &record->phases[record->n_phases - 1];
  fprintf(file, "phase %lld: %lld units, %.4g s, imbalance %.1f %%", (long long)line->phase,
          (long long)line->units, line->wall, 100 * line->imbalance);
  if (line->moved > 0)
    fprintf(file, "; moved %lld units, predicted imbalance %.1f %% -> %.1f %%",
            (long long)line->moved, 100 * line->imbalance_before, 100 * line->imbalance_after);
  fputc('\n', file);
  fflush(file);
}
