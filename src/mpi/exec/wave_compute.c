/* A group on the compute thread: in one call, or in two halves where groups overlap. */
#include "wave_compute.h"

#include "fault.h"
#include "heartbeat.h"
#include "test_delay_card.h"

static const tsl_group *group_of(const tsl_wave_batch *f) {
  return &f->edges->groups[f->group];
}

static tsl_err take_edges(const tsl_wave_batch *f) {
  tsl_err err = TSL_OK;
  const tsl_executor *st = f->phase->executor;
  for (int64_t k = group_of(f)->in_lo; k < group_of(f)->in_hi; k++) {
    const tsl_edge *edge = &f->edges->in[k];
    TSL_TRY(st->backend->edge_in(st->worker, &f->phase->units[edge->tile], edge->data));
  }
done:
  return err;
}

static tsl_err give_edges(const tsl_wave_batch *f) {
  tsl_err err = TSL_OK;
  const tsl_executor *st = f->phase->executor;
  for (int64_t k = group_of(f)->out_lo; k < group_of(f)->out_hi; k++) {
    tsl_edge *edge = &f->edges->out[k];
    TSL_TRY(tsl_alloc(edge->bytes, 1, "edge", &edge->data));
    TSL_TRY(st->backend->edge_out(st->worker, &f->phase->units[edge->tile], edge->data));
  }
done:
  return err;
}

static tsl_err wave_compute_compute(tsl_task *task) {
  tsl_err err = TSL_OK;
  tsl_wave_batch *f = (tsl_wave_batch *)task;
  const tsl_executor *st = f->phase->executor;
  const int64_t n = group_of(f)->n;
  TSL_TRY(tsl_fault_before(f->rank, f->units, n));
  f->start = tsl_now();
  tsl_heart_unit(f->units[0].id);
  TSL_TRY(take_edges(f));
  TSL_TRY(st->backend->tiles(st->worker, f->units, n, f->parts));
  TSL_TRY(tsl_test_delay(st, 1, f->parts, n));
  tsl_fault_after(st->problem, f->rank, f->units, n, f->parts);
  TSL_TRY(give_edges(f));
done:
  return err;
}

static tsl_err wave_compute_begin(tsl_task *task) {
  tsl_err err = TSL_OK;
  tsl_wave_batch *f = (tsl_wave_batch *)task;
  const tsl_executor *st = f->phase->executor;
  TSL_TRY(tsl_fault_begin(f->rank, f->units, group_of(f)->n));
  f->start = tsl_now();
  tsl_heart_unit(f->units[0].id);
  TSL_TRY(take_edges(f));
  TSL_TRY(st->backend->start(st->worker, f->units, group_of(f)->n, f->parts));
done:
  return err;
}

static bool has_ended(tsl_task *task) {
  const tsl_executor *st = ((const tsl_wave_batch *)task)->phase->executor;
  return st->backend->ended(st->worker);
}

static tsl_err wave_compute_finish(tsl_task *task) {
  tsl_err err = TSL_OK;
  tsl_wave_batch *f = (tsl_wave_batch *)task;
  const tsl_executor *st = f->phase->executor;
  const int64_t n = group_of(f)->n;
  tsl_fault_wait(f->rank, f->units, n);
  TSL_TRY(st->backend->finish(st->worker));
  if (*f->freed > f->start) f->start = *f->freed;
  *f->freed = tsl_now();
  tsl_fault_after(st->problem, f->rank, f->units, n, f->parts);
  TSL_TRY(give_edges(f));
done:
  return err;
}

tsl_wave_batch tsl_wave_batch_make(const tsl_phase *phase, tsl_edges *edges, int rank,
                                   bool overlaps, double *freed) {
  return (tsl_wave_batch){.task.run = overlaps ? wave_compute_begin : wave_compute_compute,
                          .task.finish = overlaps ? wave_compute_finish : NULL,
                          .task.ended = overlaps ? has_ended : NULL,
                          .phase = phase,
                          .edges = edges,
                          .freed = freed,
                          .rank = rank};
}
