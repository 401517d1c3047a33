/* A phase's stages in order: choice of active units, begin, run until it ends or pauses, collect,
 * reduce, checkpoint, log, lists. */
#include "phase_run.h"

#include "checkpoint_manager.h"
#include "collective_error.h"
#include "combine.h"
#include "complete_unit.h"
#include "survivors.h"
#include "wave.h"

/* begin and collect run on the compute thread. */
typedef struct task_state {
  tsl_task task;
  tsl_session *session;
  int phase;
} task_state;

static tsl_err begin_phase(tsl_task *task) {
  const task_state *e = (const task_state *)task;
  const tsl_executor *st = &e->session->executor;
  return st->backend->begin(st->worker, e->phase);
}

static tsl_err collect_phase(tsl_task *task) {
  const task_state *e = (const task_state *)task;
  const tsl_executor *st = &e->session->executor;
  if (st->backend->collect == NULL) return TSL_OK;
  return st->backend->collect(st->worker, &e->session->problem);
}

/* The whole phase, or what of it is done until it pauses for a checkpoint. */
static tsl_err compute_part(tsl_session *s, tsl_phase *phase) {
  tsl_err err = TSL_OK;
  task_state e = {.session = s, .phase = phase->index};
  const bool wave = s->family->shape == TSL_WAVE, goes_on = wave && phase->paused;
  e.task.run = begin_phase;
  if (!goes_on) TSL_COLLECTIVE_TRY(s->comm, tsl_compute_thread_call(s->executor.thread, &e.task));
  if (!goes_on) TSL_TRY(tsl_checkpoints_begun(s));
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_BEGIN));
  if (wave && s->checkpoints->walks) return TSL_OK; /* all is computed, and combined */
  TSL_TRY(wave ? tsl_wave_run(phase) : tsl_bag_run(phase));
  phase->drained = false; /* from here on others may be further than a checkpoint allows */
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_COMPUTE));
  if (wave && phase->paused) return TSL_OK; /* the workers keep what they have */
  e.task.run = collect_phase;
  TSL_COLLECTIVE_TRY(s->comm, tsl_compute_thread_call(s->executor.thread, &e.task));
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_COLLECT));
  TSL_TRY(tsl_combine_reduce(s->comm, &s->problem));
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_COMBINE));
done:
  return err;
}

/* Units and plan of the kinds that are active, when those are not all. */
static tsl_err choose_units(const tsl_session *s, int index, tsl_unit **units, tsl_plan *plan,
                            tsl_phase *phase) {
  tsl_err err = TSL_OK;
  const tsl_workload work = tsl_session_work(s, tsl_cost_seconds);
  const uint32_t mask = tsl_kinds_active(&s->problem, index);
  const uint32_t all = (UINT32_C(1) << s->family->n_kinds) - 1;
  if (s->family->shape == TSL_WAVE || mask == all) return TSL_OK;
  if (tsl_complete_lists(&s->problem))
    TSL_FAIL(TSL_ERR_INTERNAL, "family '%s' has LIST fields and kinds that rest", s->family->name);
  if (s->plan.dynamic > 0)
    TSL_FAIL(TSL_ERR_INTERNAL, "family '%s' takes from other ranks and has kinds that rest",
             s->family->name);
  TSL_TRY(tsl_plan_view(&s->plan, &work, mask, units, plan));
  phase->units = *units;
  phase->plan = plan;
done:
  return err;
}

tsl_err tsl_phase_run(tsl_session *s, tsl_out *out, int index, tsl_record *record) {
  tsl_err err = TSL_OK;
  tsl_unit *units = NULL;
  tsl_plan plan = {.n_units = 0};
  tsl_phase phase = {.comm = s->comm,
                     .executor = &s->executor,
                     .problem = &s->problem,
                     .units = s->units.list,
                     .plan = &s->plan,
                     .cost = &s->cost,
                     .out = out,
                     .memory = s->run.memory,
                     .index = index,
                     .quiet = s->options->quiet,
                     .watchdog = s->run.watchdog,
                     .trace = &s->trace};
  TSL_COLLECTIVE_TRY(s->comm, choose_units(s, index, &units, &plan, &phase));
  do {
    TSL_TRY(tsl_checkpoints_enter(s, &phase));
    TSL_TRY(compute_part(s, &phase));
    TSL_TRY(tsl_checkpoints_leave(s, out, &phase));
  } while (phase.paused);
  TSL_TRY(tsl_record_phase(s, &phase, record));
  TSL_TRY(tsl_combine_lists(&phase, record->last, record->n_last));
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_RECORD));
done:
  if (err == TSL_ERR_LOST) tsl_survivors_save(s, out, &phase);
  tsl_phase_clear(&phase);
  tsl_free(units);
  tsl_plan_clear(&plan);
  return err;
}
