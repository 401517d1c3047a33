/* The stage of a session that decides who takes part and who gets what. */
#include "batch.h"
#include "bcast.h"
#include "checkpoint_manager.h"
#include "collective_error.h"
#include "measure.h"
#include "plan_wave.h"
#include "stages.h"

#include <math.h>
#include <string.h>

static tsl_err share_plan(tsl_session *s) {
  tsl_err err = TSL_OK;
  tsl_plan *p = &s->plan;
  TSL_COLLECTIVE_TRY(s->comm, s->rank != 0 ? tsl_plan_open(s->units.n, s->size, p) : TSL_OK);
  int32_t *owner = p->owner;
  double *seconds = p->seconds;
  TSL_TRY(tsl_bcast_bytes(s->comm, p, (int64_t)sizeof *p));
  p->owner = owner, p->seconds = seconds;
  TSL_TRY(tsl_bcast_bytes(s->comm, p->owner, p->n_units * (int64_t)sizeof *p->owner));
  TSL_TRY(tsl_bcast_bytes(s->comm, p->seconds, p->n_ranks * (int64_t)sizeof *p->seconds));
done:
  return err;
}

/* Runs of a unit that are expected. */
static int phases_ahead(const tsl_session *s) {
  return s->family->advance != NULL ? TSL_COST_PHASES : 1;
}

/* A run of a unit, with its part of what is done once. */
static tsl_seconds_fn mean_seconds(const tsl_session *s) {
  return phases_ahead(s) == 1 ? tsl_cost_first : tsl_cost_mean;
}

/* tsl_seconds_fn for planners; who takes no part would need for ever, and units that are finished
 * cost nothing any more. */
static double cost_of(const void *model, int rank, const tsl_unit *unit) {
  const tsl_session *s = model;
  if (!tsl_cost_takes_part(&s->cost, rank)) return INFINITY;
  if (s->finished != NULL && s->finished[unit->id]) return 0;
  const bool once = phases_ahead(s) > 1 && s->settled;
  return (once ? tsl_cost_seconds : mean_seconds(s))(&s->cost, rank, unit);
}

/* Are there units whose first run on a rank takes more than later ones? */
static bool has_setup(const tsl_session *s) {
  for (int64_t u = 0; u < s->units.n; u++)
    if (s->units.list[u].setup > 0) return true;
  return false;
}

/* Or that have less to do in the first phase? */
static bool skips_in_phase0(const tsl_session *s) {
  for (int64_t u = 0; u < s->units.n; u++)
    if (s->units.list[u].phase0_skipped > 0) return true;
  return false;
}

/* The plan's seconds have been those of its making: now a phase of each set with everything in
 * place, and the first phase. */
static tsl_err tell_phases(tsl_session *s) {
  tsl_err err = TSL_OK;
  const int phase = s->checkpoints != NULL ? s->checkpoints->phase : 0;
  const uint32_t begin = tsl_kinds_active(&s->problem, phase);
  const tsl_workload work = tsl_session_work(s, tsl_cost_seconds);
  const tsl_workload first = tsl_session_work(s, phase == 0 ? tsl_cost_begin : tsl_cost_first);
  tsl_plan *plan = &s->plan;
  double *load = NULL, later = 0;
  s->first = 0;
  if (!has_setup(s) && !skips_in_phase0(s)) return TSL_OK;
  TSL_TRY(tsl_alloc(s->size, sizeof *load, "loads", (void **)&load));
  memset(plan->seconds, 0, (size_t)s->size * sizeof *plan->seconds);
  for (int k = 0; k < s->sets.n; k++) {
    later += tsl_plan_loads(plan, &work, s->sets.mask[k], load);
    for (int r = 0; r < s->size; r++) plan->seconds[r] += load[r];
  }
  plan->total_seconds = later;
  s->first = tsl_plan_loads(plan, &first, begin, load);
done:
  tsl_free(load);
  return err;
}

/* Where stages of a rank overlap: by how much later than its cells each of them ends. */
static tsl_err plan_wave(tsl_session *s, const tsl_plan_rule *rule, const tsl_workload *work) {
  tsl_err err = TSL_OK;
  const tsl_workload again = tsl_session_work(s, tsl_cost_seconds);
  tsl_plan *plan = &s->plan;
  double *delay = NULL;
  TSL_TRY(tsl_plan_wave(rule, work, plan));
  TSL_TRY(tsl_alloc(s->size, sizeof *delay, "plan", (void **)&delay));
  for (int r = 0; r < s->size; r++) {
    bool overlaps = false;
    const double fill = tsl_session_pipeline_fill(s, r, &overlaps);
    if (overlaps) delay[r] = fill * plan->seconds[r];
  }
  TSL_TRY(tsl_plan_wave_time(&s->problem, work, delay, s->network, plan));
  tsl_plan_wave_traceback(&s->problem, &again, plan);
done:
  tsl_free(delay);
  return err;
}

tsl_err tsl_session_make_plan(tsl_session *s) {
  tsl_err err = TSL_OK;
  bool *sides = NULL;
  int32_t *like = NULL;
  const tsl_workload work = {s->units.list, s->units.n, s->size, cost_of, s};
  tsl_plan_rule rule = {
      .kind = (tsl_plan_kind)s->run.plan, .dynamic = s->run.dynamic, .share = s->run.gpu_share};
  tsl_plan_clear(&s->plan);
  TSL_TRY(tsl_alloc(s->size, sizeof *sides, "plan", (void **)&sides));
  tsl_session_sides(s, sides);
  TSL_TRY(tsl_alloc(s->size, sizeof *like, "plan", (void **)&like));
  tsl_cost_like(&s->cost, like);
  rule.fast = sides, rule.like = like;
  if (s->family->shape == TSL_WAVE)
    TSL_TRY(plan_wave(s, &rule, &work));
  else
    TSL_TRY(tsl_plan_make(&rule, &s->sets, &work, &s->plan));
  TSL_TRY(tell_phases(s));
done:
  TSL_FREE_ALL(sides, like);
  return err;
}

void tsl_session_sides(const tsl_session *s, bool *fast) {
  for (int r = 0; r < s->size; r++) fast[r] = s->placements[r].device.kind == TSL_GPU;
  tsl_plan_sides(fast, s->size, fast);
}

tsl_err tsl_session_assign(tsl_session *s) {
  tsl_err err = TSL_OK;
  tsl_plan_clear(&s->plan);
  tsl_kind_sets_make(&s->problem, s->units.list, s->units.n, &s->sets);
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 ? tsl_session_make_plan(s) : TSL_OK);
  TSL_COLLECTIVE_TRY(s->comm, share_plan(s));
done:
  return err;
}

/* ---- who takes part */

/* Stages of strips, whose number bounds what one more rank is worth; 0: no strips. */
static int64_t strip_stages(const tsl_session *s) {
  int64_t most_lane = 0;
  if (s->family->shape != TSL_WAVE || s->units.n == 0) return 0;
  for (int64_t u = 0; u < s->units.n; u++)
    if (s->units.list[u].lane > most_lane) most_lane = s->units.list[u].lane;
  return most_lane + 1 < s->units.n ? s->units.list[s->units.n - 1].stage + 1 : 0;
}

static bool can_be_finer(const tsl_session *s) {
  return s->family->shape == TSL_BAG && s->run.units == 0 && s->finer == 1 &&
         s->finished == NULL; /* a restart keeps its units */
}

/* Seconds of the fewest units that this rank's device computes at once; 0: one suffices. */
static double shortest_batch(const tsl_session *s) {
  double most = 0;
  for (int kind = 0; kind < s->family->n_kinds; kind++) {
    const tsl_unit *unit = tsl_middle_unit(s->units.list, s->units.n, kind);
    const int64_t least = tsl_batch_least(&s->executor, unit);
    if (least > 1) most = fmax(most, (double)least * tsl_cost_seconds(&s->cost, s->rank, unit));
  }
  return most;
}

/* Everybody takes part where the user or the plan says so. */
static tsl_err judge_ranks(tsl_session *s, const double *batch) {
  tsl_err err = TSL_OK;
  int32_t *like = NULL;
  const bool all = s->run.ranks == TSL_RANKS_ALL || s->run.plan == TSL_PLAN_ROUNDROBIN ||
                   s->run.plan == TSL_PLAN_SHARE;
  TSL_TRY(tsl_alloc(s->size, sizeof *like, "ranks", (void **)&like));
  tsl_cost_like(&s->cost, like);
  const tsl_select_ask ask = {.work = tsl_session_work(s, mean_seconds(s)),
                              .phases = phases_ahead(s),
                              .like = like,
                              .bytes = (double)tsl_session_output_bytes(s),
                              .stages = strip_stages(s),
                              .cut_last = can_be_finer(s) ? TSL_USEFUL_PEERS : 1,
                              .batch = batch};
  tsl_select_ranks(&ask, s->use);
  for (int r = 0; r < s->size && all; r++) s->use[r].takes_part = 1;
done:
  tsl_free(like);
  return err;
}

static tsl_err allocate_ranks(tsl_session *s) {
  tsl_err err = TSL_OK;
  TSL_FREE_ALL(s->use, s->cost.left_out);
  s->use = NULL, s->cost.left_out = NULL;
  TSL_TRY(tsl_alloc(s->size, sizeof *s->use, "ranks", (void **)&s->use));
  TSL_TRY(tsl_alloc(s->size, sizeof *s->cost.left_out, "ranks", (void **)&s->cost.left_out));
done:
  return err;
}

static tsl_err choose_ranks(tsl_session *s) {
  tsl_err err = TSL_OK;
  double *batch = NULL;
  const bool imagined = s->network != NULL;
  TSL_COLLECTIVE_TRY(s->comm, allocate_ranks(s));
  TSL_COLLECTIVE_TRY(s->comm, tsl_alloc(s->size, sizeof *batch, "ranks", (void **)&batch));
  const double own = imagined ? 0 : shortest_batch(s);
  if (!imagined) TSL_MPI(MPI_Gather(&own, 1, MPI_DOUBLE, batch, 1, MPI_DOUBLE, 0, s->comm));
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 ? judge_ranks(s, batch) : TSL_OK);
  TSL_TRY(tsl_bcast_bytes(s->comm, s->use, s->size * (int64_t)sizeof *s->use));
  for (int r = 0; r < s->size; r++) s->cost.left_out[r] = !s->use[r].takes_part;
done:
  tsl_free(batch);
  return err;
}

int tsl_session_parts(const tsl_session *s) {
  int n = 0;
  for (int r = 0; r < s->size; r++) n += tsl_cost_takes_part(&s->cost, r);
  return n;
}

/* Does a slow rank take part whose units are long? The same on all ranks. */
static bool finer_pays(const tsl_session *s) {
  const double runs = (double)s->units.n * phases_ahead(s);
  double fastest = INFINITY, slowest = 0;
  for (int r = 0; r < s->size; r++) {
    if (!s->use[r].takes_part || s->use[r].alone <= 0) continue;
    fastest = fmin(fastest, s->use[r].alone);
    slowest = fmax(slowest, s->use[r].alone);
  }
  return can_be_finer(s) && slowest > TSL_USEFUL_PEERS * fastest &&
         slowest > TSL_USEFUL_START * runs;
}

static tsl_err calibrate(tsl_session *s) {
  tsl_err err = TSL_OK;
  char now[sizeof s->calibrated] = "";
  if (s->family->signature != NULL) s->family->signature(&s->problem, now);
  if (now[0] != '\0' && strcmp(now, s->calibrated) == 0) return TSL_OK; /* of the problem before */
  s->calibrated[0] = '\0';
  tsl_free(s->cost.speeds);
  s->cost.speeds = NULL;
  TSL_TRY(tsl_calibrate(s->comm, &s->executor, s->units.list, s->units.n, &s->run, &s->cost,
                        &s->measured));
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_CALIBRATE));
  if (s->measured > 0 && has_setup(s)) TSL_TRY(tsl_session_reopen(s));
  memcpy(s->calibrated, now, sizeof now);
done:
  return err;
}

static tsl_err cut_again(tsl_session *s) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_session_units(s));
  TSL_COLLECTIVE_TRY(s->comm, tsl_checkpoints_recut(s));
done:
  return err;
}

/* The cost model holds for units of any size; who takes part is judged once. The unit of a slow
 * rank then takes what one of the others took. */
static tsl_err cut_finer(tsl_session *s) {
  s->finer = (int64_t)TSL_USEFUL_PEERS;
  return cut_again(s);
}

/* Root: the largest part of the first stage that a rank has, where there is a way back for which
 * ranks keep something and units are not those of a checkpoint; else 0. */
static tsl_err find_widest(const tsl_session *s, double *widest) {
  tsl_err err = TSL_OK;
  const tsl_unit *units = s->units.list;
  double *own = NULL, all = 0, most = 0;
  *widest = 0;
  if (s->limited || s->plan.traceback_seconds <= 0) return TSL_OK;
  TSL_TRY(tsl_alloc(s->size, sizeof *own, "parts of a stage", (void **)&own));
  for (int64_t u = 0; u < s->units.n && units[u].stage == units[0].stage; u++)
    all += units[u].count, own[s->plan.owner[u]] += units[u].count;
  for (int r = 0; r < s->size; r++) most = fmax(most, own[r]);
  *widest = all > 0 ? most / all : 0;
done:
  tsl_free(own);
  return err;
}

/* What a rank has to keep goes with its part of a stage. */
static tsl_err cut_for_widest(tsl_session *s) {
  tsl_err err = TSL_OK;
  double widest = 0;
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 ? find_widest(s, &widest) : TSL_OK);
  TSL_MPI(MPI_Bcast(&widest, 1, MPI_DOUBLE, 0, s->comm));
  if (widest <= (1 + TSL_NOISE) * fmax(s->widest, 1.0 / s->size)) return TSL_OK;
  s->widest = widest;
  TSL_TRY(cut_again(s));
  TSL_TRY(tsl_session_assign(s));
done:
  return err;
}

tsl_err tsl_session_plan_known(tsl_session *s) {
  tsl_err err = TSL_OK;
  TSL_TRY(choose_ranks(s));
  if (finer_pays(s)) TSL_TRY(cut_finer(s));
  TSL_TRY(tsl_session_assign(s));
  TSL_TRY(cut_for_widest(s));
done:
  return err;
}

tsl_err tsl_session_plan(tsl_session *s) {
  tsl_err err = TSL_OK;
  TSL_TRY(calibrate(s));
  TSL_TRY(tsl_session_plan_known(s));
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_PLAN));
done:
  return err;
}
