#include "compute.h"

#include "agree.h"
#include "combine.h"
#include "wave.h"

/* begin and collect run on the hand. */
typedef struct errand {
  tsl_task task;
  tsl_session *session;
  int phase;
} errand;

static tsl_err begin_phase(tsl_task *task) {
  const errand *e = (const errand *)task;
  const tsl_station *st = &e->session->station;
  return st->backend->begin(st->worker, e->phase);
}

static tsl_err collect_phase(tsl_task *task) {
  const errand *e = (const errand *)task;
  const tsl_station *st = &e->session->station;
  if (st->backend->collect == NULL) return TSL_OK;
  return st->backend->collect(st->worker, &e->session->problem);
}

tsl_err tsl_compute_phase(tsl_session *s, tsl_out *out, int index, tsl_record *record) {
  tsl_err err = TSL_OK;
  errand e = {.session = s, .phase = index};
  tsl_phase phase = {.comm = s->comm,
                     .station = &s->station,
                     .problem = &s->problem,
                     .units = s->units.list,
                     .plan = &s->plan,
                     .cost = &s->cost,
                     .out = out,
                     .memory = s->run.memory,
                     .index = index,
                     .quiet = s->options->quiet,
                     .trace = &s->trace};
  e.task.run = begin_phase;
  TSL_AGREE(s->comm, tsl_hand_call(s->station.hand, &e.task));
  TSL_TRY(s->family->shape == TSL_WAVE ? tsl_wave_run(&phase) : tsl_phase_run(&phase));
  e.task.run = collect_phase;
  TSL_AGREE(s->comm, tsl_hand_call(s->station.hand, &e.task));
  TSL_TRY(tsl_combine_reduce(s->comm, &s->problem));
  TSL_TRY(tsl_record_phase(s, &phase, record));
  TSL_TRY(tsl_combine_lists(&phase, record->rows, record->n_rows));
done:
  tsl_phase_clear(&phase);
  return err;
}
