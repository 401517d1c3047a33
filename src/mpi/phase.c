#include "phase.h"

#include "agree.h"
#include "batch.h"
#include "deliver.h"
#include "queue.h"
#include "slot.h"

#include <stdlib.h>
#include <string.h>

volatile int tsl_stop_signal;

enum {
  N_FLIGHTS = 3, /* one computing, one waiting behind it, one being delivered */
  AHEAD = 2      /* posted to the hand at most */
};
static const long IDLE_US = 200, SENDING_US = 20; /* naps of the main thread */

/* A batch of units on its way: posted to the hand, then delivered. */
typedef struct flight {
  tsl_task task;
  const tsl_station *station;
  tsl_unit units[TSL_MAX_BATCH];
  tsl_part parts[TSL_MAX_BATCH];
  tsl_parcel parcels[TSL_MAX_BATCH];
  int64_t n;
  bool posted, sending, dynamic;
  double start; /* tsl_now() when the device began */
} flight;

/* The state of this rank's phase. */
typedef struct course {
  tsl_phase *phase;
  tsl_queue *queue;
  tsl_delivery *delivery;
  flight *flights; /* [N_FLIGHTS] */
  int rank, size, posted;
  int64_t next_static;        /* first unit of the static part not looked at yet */
  int64_t chunk_lo, chunk_hi; /* taken from the tail, not posted yet */
  int64_t room;               /* units of one flight, see batch.h */
  bool drained, abort, ended, lists;
  tsl_err err; /* first failure of this rank */
  tsl_err_copy error;
  double origin, total; /* tsl_now() at the start; work of all units */
  double slow_check;    /* last look at the abort flag */
  tsl_progress progress;
} course;

static void keep_error(course *c, tsl_err err) {
  if (err == TSL_OK || c->err != TSL_OK) return;
  c->err = err;
  tsl_err_save(err, &c->error);
  c->abort = true;
  (void)tsl_queue_abort(c->queue);
}

/* ---- on the hand */

static tsl_err compute(tsl_task *task) {
  flight *f = (flight *)task;
  f->start = tsl_now();
  return f->station->backend->run(f->station->worker, f->units, f->n, f->parts);
}

/* ---- feeding */

static double predicted(const course *c, int64_t unit) {
  return tsl_cost_seconds(c->phase->cost, c->rank, &c->phase->units[unit]);
}

/* Work as everybody counts it: seconds on rank 0's device. */
static double work_of(const course *c, const tsl_unit *unit) {
  return tsl_cost_seconds(c->phase->cost, 0, unit);
}

/* How many of the units from u on may travel together. */
static int64_t batch_limit(const course *c, int64_t u) {
  return tsl_batch_size(predicted(c, u), c->room);
}

static void add_unit(course *c, flight *f, int64_t unit, bool dynamic) {
  f->units[f->n++] = c->phase->units[unit];
  f->dynamic = dynamic;
}

static void fill_static(course *c, flight *f) {
  const tsl_plan *plan = c->phase->plan;
  int64_t limit = TSL_MAX_BATCH;
  while (c->next_static < plan->first_dynamic && f->n < limit) {
    const int64_t u = c->next_static++;
    if (plan->owner[u] != c->rank) continue;
    if (f->n == 0) limit = batch_limit(c, u);
    add_unit(c, f, u, false);
  }
}

static tsl_err fill_dynamic(course *c, flight *f) {
  tsl_err err = TSL_OK;
  int64_t limit;
  if (c->drained) return TSL_OK;
  if (c->chunk_lo == c->chunk_hi)
    TSL_TRY(tsl_queue_take(c->queue, c->phase->units, c->phase->cost, &c->chunk_lo, &c->chunk_hi));
  c->drained = c->chunk_lo == c->chunk_hi;
  limit = c->drained ? 0 : batch_limit(c, c->chunk_lo);
  while (f->n < limit && c->chunk_lo < c->chunk_hi) add_unit(c, f, c->chunk_lo++, true);
done:
  return err;
}

static flight *idle_flight(course *c) {
  for (int k = 0; k < N_FLIGHTS; k++)
    if (!c->flights[k].posted && !c->flights[k].sending) return &c->flights[k];
  return NULL;
}

static bool work_left(const course *c) {
  return !c->abort && (c->next_static < c->phase->plan->first_dynamic || !c->drained);
}

static tsl_err feed(course *c, bool *moved) {
  tsl_err err = TSL_OK;
  flight *f;
  while (work_left(c) && c->posted < AHEAD && (f = idle_flight(c)) != NULL) {
    f->n = 0;
    fill_static(c, f);
    if (f->n == 0) TSL_TRY(fill_dynamic(c, f));
    if (f->n == 0) break;
    f->posted = true;
    c->posted++;
    tsl_hand_post(c->phase->station->hand, &f->task);
    *moved = true;
  }
done:
  return err;
}

/* ---- taking results */

static tsl_err keep_lists(course *c, const tsl_unit *unit, tsl_part *part) {
  tsl_err err = TSL_OK;
  tsl_phase *phase = c->phase;
  char have[24], cap[24];
  for (int f = 0; f < phase->problem->n_fields; f++) {
    const tsl_field *field = &phase->problem->fields[f];
    const int64_t record = field->shape[1] * field->shape[2] * (int64_t)tsl_type_bytes(field->type);
    if (!(field->role & TSL_OUT) || field->combine != TSL_LIST) continue;
    phase->lists.bytes += part->list[f].n * record;
    phase->lists.of[unit->id * phase->problem->n_fields + f] = part->list[f];
    part->list[f] = (tsl_list){0};
  }
  if (phase->lists.bytes > phase->memory)
    TSL_FAIL(
        TSL_ERR_MEMORY,
        "the list of results exceeds run.memory on this rank (%s of %s); keep fewer records or "
        "raise run.memory",
        tsl_bytes_text((double)phase->lists.bytes, have),
        tsl_bytes_text((double)phase->memory, cap));
done:
  return err;
}

static void log_unit(course *c, const flight *f, int64_t k, double start) {
  tsl_phase *phase = c->phase;
  phase->log[phase->n_log++] = (tsl_out_unit){.unit = f->units[k],
                                              .owner = c->rank,
                                              .phase = phase->index,
                                              .dynamic = f->dynamic,
                                              .predicted = predicted(c, f->units[k].id),
                                              .measured = f->parts[k].seconds,
                                              .start = start - phase->trace->origin};
}

static tsl_err deliver_unit(course *c, flight *f, int64_t k, double *start) {
  tsl_err err = TSL_OK;
  tsl_phase *phase = c->phase;
  const double seconds = f->parts[k].seconds, begin = tsl_now();
  log_unit(c, f, k, *start);
  phase->busy += seconds;
  TSL_TRY(tsl_trace_add(phase->trace, TSL_TRACK_DEVICE, "unit", f->units[k].id, *start, seconds));
  *start += seconds;
  TSL_TRY(tsl_deliver(c->delivery, &f->units[k], &f->parts[k], &f->parcels[k]));
  if (c->lists) TSL_TRY(keep_lists(c, &f->units[k], &f->parts[k]));
  if (tsl_part_has_slabs(&f->parts[k]))
    TSL_TRY(tsl_trace_add(phase->trace, TSL_TRACK_MAIN, "deliver", f->units[k].id, begin,
                          tsl_now() - begin));
done:
  return err;
}

static tsl_err land(course *c, flight *f) {
  tsl_err err = TSL_OK;
  double start = f->start, work = 0;
  f->posted = false;
  c->posted--;
  TSL_TRY(tsl_err_restore(&f->task.error));
  if (c->abort) return TSL_OK;
  f->sending = true;
  for (int64_t k = 0; k < f->n; k++) TSL_TRY(deliver_unit(c, f, k, &start));
  c->phase->finish = start - c->origin;
  for (int64_t k = 0; k < f->n; k++) work += work_of(c, &f->units[k]);
  TSL_TRY(tsl_queue_add_done(c->queue, work));
done:
  return err;
}

static tsl_err release_sent(course *c, bool *moved) {
  tsl_err err = TSL_OK;
  for (int k = 0; k < N_FLIGHTS; k++) {
    flight *f = &c->flights[k];
    bool all = f->sending && !f->posted;
    for (int64_t u = 0; u < f->n && all; u++) {
      bool sent = false;
      TSL_TRY(tsl_parcel_sent(&f->parcels[u], &sent));
      all = all && sent;
    }
    if (all) f->sending = false, *moved = true;
  }
done:
  return err;
}

static long nap(const course *c, bool moved) {
  if (moved) return 0;
  for (int k = 0; k < N_FLIGHTS; k++)
    if (c->flights[k].sending) return SENDING_US;
  return IDLE_US;
}

static bool all_idle(const course *c) {
  for (int k = 0; k < N_FLIGHTS; k++)
    if (c->flights[k].posted || c->flights[k].sending) return false;
  return true;
}

/* ---- the loop */

/* Has someone failed, or the user asked to stop? */
static tsl_err look_around(course *c) {
  tsl_err err = TSL_OK;
  const double now = tsl_now();
  if (tsl_stop_signal != 0 && !c->abort)
    TSL_FAIL(TSL_ERR_STOPPED,
             "stopped by signal %d before the work was done; no output was left behind",
             tsl_stop_signal);
  if (now - c->slow_check < 0.02 || c->abort) return TSL_OK;
  c->slow_check = now;
  TSL_TRY(tsl_queue_aborted(c->queue, &c->abort));
  if (c->rank == 0 && tsl_progress_due(&c->progress)) {
    double done_seconds = 0;
    TSL_TRY(tsl_queue_done(c->queue, &done_seconds));
    tsl_progress_update(&c->progress, c->total > 0 ? done_seconds / c->total : 1);
  }
done:
  return err;
}

static tsl_err serve_others(course *c, bool *moved) {
  tsl_err err = TSL_OK;
  bool took = false;
  TSL_TRY(tsl_delivery_serve(c->delivery, c->abort, &took));
  *moved = *moved || took;
done:
  return err;
}

/* One turn; errors of any part are kept and the loop goes on until everybody has left. */
static void turn(course *c) {
  bool moved = false;
  tsl_task *landed;
  keep_error(c, look_around(c));
  keep_error(c, feed(c, &moved));
  keep_error(c, serve_others(c, &moved));
  keep_error(c, release_sent(c, &moved));
  if (c->abort && c->phase->out != NULL) tsl_out_forget(c->phase->out);
  landed = tsl_hand_done(c->phase->station->hand, nap(c, moved));
  if (landed != NULL) keep_error(c, land(c, (flight *)landed));
  if (!c->ended && !work_left(c) && all_idle(c)) {
    keep_error(c, tsl_delivery_end(c->delivery));
    c->ended = true;
  }
}

static bool finished(const course *c) {
  return c->ended && tsl_delivery_complete(c->delivery);
}

/* ---- set-up */

static void scan_fields(course *c) {
  const tsl_phase *phase = c->phase;
  for (int f = 0; f < phase->problem->n_fields; f++) {
    const tsl_field *field = &phase->problem->fields[f];
    c->lists = c->lists || ((field->role & TSL_OUT) && field->combine == TSL_LIST);
  }
  c->room = tsl_batch_room(phase->problem, phase->units, phase->plan->n_units, phase->memory);
}

static tsl_err open_course(course *c) {
  tsl_err err = TSL_OK;
  tsl_phase *phase = c->phase;
  const tsl_plan *plan = phase->plan;
  TSL_TRY(tsl_alloc(N_FLIGHTS, sizeof *c->flights, "result buffers", (void **)&c->flights));
  for (int k = 0; k < N_FLIGHTS; k++) {
    c->flights[k].task.run = compute;
    c->flights[k].station = phase->station;
    for (int64_t p = 0; p < c->room; p++)
      TSL_TRY(tsl_part_init(phase->problem, phase->station->backend, phase->units, plan->n_units,
                            &c->flights[k].parts[p]));
  }
  TSL_TRY(tsl_alloc(plan->n_units, sizeof *phase->log, "unit log", (void **)&phase->log));
  if (c->lists)
    TSL_TRY(tsl_alloc(plan->n_units * phase->problem->n_fields, sizeof *phase->lists.of, "lists",
                      (void **)&phase->lists.of));
  for (int64_t u = 0; u < plan->n_units; u++) c->total += work_of(c, &phase->units[u]);
  TSL_TRY(tsl_delivery_open(phase->comm, phase->problem, phase->out, phase->units, plan->n_units,
                            &c->delivery));
done:
  return err;
}

static void close_course(course *c) {
  const tsl_station *station = c->phase->station;
  for (int k = 0; k < N_FLIGHTS && c->flights != NULL; k++)
    for (int p = 0; p < TSL_MAX_BATCH; p++)
      tsl_part_clear(c->phase->problem, station->backend, &c->flights[k].parts[p]);
  tsl_free(c->flights);
  tsl_delivery_close(&c->delivery);
  tsl_queue_close(&c->queue);
}

tsl_err tsl_phase_run(tsl_phase *phase) {
  tsl_err err = TSL_OK;
  course c = {.phase = phase};
  TSL_MPI(MPI_Comm_rank(phase->comm, &c.rank));
  TSL_MPI(MPI_Comm_size(phase->comm, &c.size));
  scan_fields(&c);
  TSL_AGREE(phase->comm, open_course(&c));
  TSL_AGREE(phase->comm, tsl_queue_open(phase->comm, phase->plan->first_dynamic,
                                        phase->plan->n_units, &c.queue));
  c.origin = tsl_now();
  tsl_progress_start(&c.progress, phase->quiet || c.rank != 0);
  while (!finished(&c)) turn(&c);
  tsl_progress_end(&c.progress);
  if (c.err != TSL_OK) (void)tsl_err_restore(&c.error);
  TSL_AGREE(phase->comm, c.err);
done:
  close_course(&c);
  return err;
}

void tsl_phase_clear(tsl_phase *phase) {
  if (phase->lists.of != NULL)
    for (int64_t k = 0; k < phase->plan->n_units * phase->problem->n_fields; k++)
      free(phase->lists.of[k].data);
  tsl_free(phase->lists.of);
  tsl_free(phase->log);
  phase->lists = (tsl_lists){0};
  phase->log = NULL;
  phase->n_log = 0;
}
