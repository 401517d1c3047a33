/* The main thread's loop of a BAG phase: feed the device, take finished flights, deliver and serve
 * messages, pause or stop with all ranks. */
#include "phase.h"

#include "batch.h"
#include "collective_error.h"
#include "complete_unit.h"
#include "fault.h"
#include "heartbeat.h"
#include "overlap.h"
#include "progress.h"
#include "slab_pool.h"
#include "test_delay_card.h"
#include "watchdog.h"
#include "work_source.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

volatile int tsl_stop_signal;

bool tsl_stop_politely(void) {
  const int number = tsl_stop_signal;
  return number != 0 && number != SIGINT;
}

enum {
  N_FLIGHTS = 3, /* one computing, one waiting behind it or begun too, one being delivered */
  AHEAD = 2      /* posted to the compute thread at most */
};
static const long IDLE_US = 200, SENDING_US = 20; /* naps of the main thread */
static const double KEEP = 0.8;                   /* weight of what was measured before */
static const double NEWS = 0.02;                  /* a change of speed worth telling the others */

/* A batch of units on its way: posted to the compute thread, then delivered. */
typedef struct flight {
  tsl_task task;
  const tsl_executor *executor;
  tsl_unit units[TSL_MAX_BATCH];
  tsl_part parts[TSL_MAX_BATCH];
  tsl_message parcel;
  tsl_slab_pool slots;
  int64_t n;
  bool dynamic[TSL_MAX_BATCH];
  bool posted, sending;
  double start;   /* tsl_now() when the device began, or was free for it */
  double *freed;  /* tsl_now() when the device had done the flight before; the compute thread's */
  double seconds; /* predicted */
  int64_t order;  /* of posting */
} flight;

/* The state of this rank's phase. */
typedef struct course {
  tsl_phase *phase;
  tsl_shared_counter *counter;
  tsl_work_source *source;
  tsl_result_writer *delivery;
  flight *flights; /* [N_FLIGHTS] */
  int rank, size, posted;
  int64_t n_posted;         /* flights so far */
  int64_t room;             /* units of one flight, see batch.h */
  bool overlaps;            /* the device takes a flight while it computes the one before */
  double freed;             /* see flight */
  double since;             /* tsl_now() when the device began its present flight, about */
  double planned, measured; /* s of the last flights, older ones counting less */
  double slower, told;      /* measured over planned; what the others know */
  bool abort, pause, ended;
  bool lost;   /* a rank is silent; with abort: nothing can be saved */
  tsl_err err; /* first failure of this rank */
  tsl_err_copy error;
  double before;     /* work that was finished at the start */
  double slow_check; /* last look at the abort flag */
  tsl_progress progress;
} course;

static void keep_error(course *c, tsl_err err) {
  if (err == TSL_OK || c->err != TSL_OK) return;
  c->err = err;
  tsl_err_save(err, &c->error);
  c->abort = true;
  (void)tsl_counter_abort(c->counter);
}

/* ---- on the compute thread */

static tsl_err compute(tsl_task *task) {
  tsl_err err = TSL_OK;
  flight *f = (flight *)task;
  const tsl_executor *st = f->executor;
  TSL_TRY(tsl_fault_before(st->placement->rank, f->units, f->n));
  f->start = tsl_now();
  tsl_heart_unit(f->units[0].id);
  TSL_TRY(st->backend->run(st->worker, f->units, f->n, f->parts));
  TSL_TRY(tsl_test_delay(st, f->n, f->parts, f->n));
  tsl_fault_after(st->problem, st->placement->rank, f->units, f->n, f->parts);
done:
  return err;
}

/* The same in two halves. */
static tsl_err begin(tsl_task *task) {
  tsl_err err = TSL_OK;
  flight *f = (flight *)task;
  const tsl_executor *st = f->executor;
  TSL_TRY(tsl_fault_begin(st->placement->rank, f->units, f->n));
  f->start = tsl_now();
  tsl_heart_unit(f->units[0].id);
  TSL_TRY(st->backend->start(st->worker, f->units, f->n, f->parts));
done:
  return err;
}

static bool has_ended(tsl_task *task) {
  const tsl_executor *st = ((const flight *)task)->executor;
  return st->backend->ended(st->worker);
}

static tsl_err finish(tsl_task *task) {
  tsl_err err = TSL_OK;
  flight *f = (flight *)task;
  const tsl_executor *st = f->executor;
  tsl_fault_wait(st->placement->rank, f->units, f->n);
  TSL_TRY(st->backend->finish(st->worker));
  if (*f->freed > f->start) f->start = *f->freed;
  *f->freed = tsl_now();
  tsl_fault_after(st->problem, st->placement->rank, f->units, f->n, f->parts);
done:
  return err;
}

/* ---- feeding */

static double predicted(const course *c, int64_t unit) {
  return tsl_cost_seconds(c->phase->cost, c->rank, &c->phase->units[unit]);
}

/* Work as everybody counts it: seconds on rank 0's device. */
static double work_of(const course *c, const tsl_unit *unit) {
  return tsl_cost_seconds(c->phase->cost, 0, unit);
}

/* Seconds until the device has done what it was given, by the speed it shows. */
static double ahead(const course *c) {
  double seconds = 0;
  if (c->posted == 0) return 0;
  for (int k = 0; k < N_FLIGHTS; k++)
    if (c->flights[k].posted) seconds += c->flights[k].seconds * c->slower;
  seconds -= tsl_now() - c->since;
  return seconds > 0 ? seconds : 1e-9; /* busy still */
}

static bool is_full(const course *c, const flight *f) {
  return f->n == c->room ||
         (f->n > 0 && f->seconds * c->slower >= tsl_work_source_longest(c->source));
}

static bool is_finished(const course *c, int64_t unit) {
  const uint8_t *finished = c->phase->plan->finished;
  return finished != NULL && finished[unit];
}

/* Units for a flight: none when there are none for now. */
static tsl_err fill(course *c, flight *f) {
  tsl_err err = TSL_OK;
  int64_t u = 0;
  f->n = 0;
  f->seconds = 0;
  tsl_slab_pool_reset(&f->slots);
  while (!is_full(c, f)) {
    TSL_TRY(tsl_work_source_next(c->source, ahead(c), f->n == 0, &u, &f->dynamic[f->n]));
    if (u < 0) break;
    if (is_finished(c, u)) continue;
    f->units[f->n] = c->phase->units[u];
    f->seconds += predicted(c, u);
    TSL_TRY(tsl_slab_pool_place(&f->slots, &f->units[f->n], &f->parts[f->n]));
    f->n++;
  }
done:
  return err;
}

static flight *idle_flight(course *c) {
  for (int k = 0; k < N_FLIGHTS; k++)
    if (!c->flights[k].posted && !c->flights[k].sending) return &c->flights[k];
  return NULL;
}

static bool work_left(const course *c) {
  return !c->abort && !c->pause && tsl_work_source_left(c->source);
}

static bool wants_more(const course *c) {
  return c->posted < AHEAD && ahead(c) <= tsl_work_source_enough(c->source);
}

static tsl_err feed(course *c, bool *moved) {
  tsl_err err = TSL_OK;
  flight *f;
  while (work_left(c) && wants_more(c) && (f = idle_flight(c)) != NULL) {
    TSL_TRY(fill(c, f));
    if (f->n == 0) break;
    f->posted = true;
    f->order = c->n_posted++;
    if (c->posted++ == 0) c->since = tsl_now();
    tsl_compute_thread_post(c->phase->executor->thread, &f->task);
    *moved = true;
  }
done:
  return err;
}

/* ---- taking results */

/* Correct the prediction by what the flight took and tell the others. */
static tsl_err learn(course *c, const flight *f) {
  tsl_err err = TSL_OK;
  double seconds = 0;
  for (int64_t k = 0; k < f->n; k++) seconds += f->parts[k].seconds;
  c->planned = KEEP * c->planned + f->seconds;
  c->measured = KEEP * c->measured + seconds;
  if (c->planned <= 0 || c->measured <= 0) return TSL_OK;
  c->slower = c->measured / c->planned;
  if (c->slower > c->told * (1 - NEWS) && c->slower < c->told * (1 + NEWS)) return TSL_OK;
  TSL_TRY(tsl_counter_slower(c->counter, c->slower));
  c->told = c->slower;
done:
  return err;
}

/* The device has done a flight: it is free for another before the results are delivered. */
static tsl_err land(course *c, flight *f) {
  tsl_err err = TSL_OK;
  f->posted = false;
  c->posted--;
  c->since = tsl_now();
  TSL_TRY(tsl_err_restore(&f->task.error));
  if (c->abort) return TSL_OK;
  f->sending = true;
  TSL_TRY(learn(c, f));
  tsl_work_source_wake(c->source, c->slower);
done:
  return err;
}

static tsl_err deliver(course *c, flight *f) {
  tsl_err err = TSL_OK;
  double start = f->start, work = 0;
  if (c->abort) return TSL_OK;
  for (int64_t k = 0; k < f->n; k++)
    TSL_TRY(tsl_complete_unit(c->phase, c->delivery, c->rank, &f->units[k], f->dynamic[k], &start,
                              &f->parts[k]));
  TSL_TRY(tsl_result_writer_send(c->delivery, f->units, f->n, f->parts, &f->parcel));
  TSL_TRY(tsl_result_writer_flush(c->delivery));
  c->phase->finish = start - c->phase->origin;
  for (int64_t k = 0; k < f->n; k++) work += work_of(c, &f->units[k]);
  TSL_TRY(tsl_counter_add_done(c->counter, work));
done:
  return err;
}

static tsl_err release_sent(course *c, bool *moved) {
  tsl_err err = TSL_OK;
  for (int k = 0; k < N_FLIGHTS; k++) {
    flight *f = &c->flights[k];
    bool sent = false;
    if (!f->sending || f->posted) continue;
    TSL_TRY(tsl_message_sent(&f->parcel, &sent));
    if (sent) f->sending = false, *moved = true;
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

static bool stops_at_once(const course *c) {
  const bool waits = c->phase->can_pause || c->phase->hold;
  return tsl_stop_signal != 0 && !c->abort && !(waits && tsl_stop_politely());
}

/* Is it time for this rank to make all pause? */
static bool wants_pause(const course *c, double now) {
  if (!c->phase->can_pause || c->pause) return false;
  return tsl_stop_politely() || (c->rank == 0 && now >= c->phase->pause_at);
}

/* The flight that the device computes, or will end first: of those posted the one with the lowest
 * order, or NULL. */
static const flight *first_flight(const course *c) {
  const flight *first = NULL;
  for (int k = 0; k < N_FLIGHTS; k++)
    if (c->flights[k].posted && (first == NULL || c->flights[k].order < first->order))
      first = &c->flights[k];
  return first;
}

static void end_if_hung(const course *c, double now) {
  const flight *f = first_flight(c);
  if (f != NULL)
    tsl_watchdog_check(c->phase, c->rank, f->units, f->n, now - c->since, f->seconds * c->slower);
}

/* A rank is silent: no unit begins any more. For a checkpoint those begun are finished and
 * delivered, which takes messages to rank 0. */
static void heed_alarm(course *c) {
  if (c->lost || !tsl_heart_alarm()) return;
  c->lost = c->pause = true;
  if (c->phase->can_pause && !tsl_heart_gone(0))
    tsl_heart_answer();
  else
    c->abort = true;
}

/* Has someone failed, or the user asked to stop? */
static tsl_err look_around(course *c) {
  tsl_err err = TSL_OK;
  const double now = tsl_now();
  heed_alarm(c);
  if (c->lost) return TSL_OK;
  if (stops_at_once(c))
    TSL_FAIL(TSL_ERR_STOPPED,
             "stopped by signal %d before the work was done; no output was left behind",
             tsl_stop_signal);
  if (now - c->slow_check < 0.02 || c->abort) return TSL_OK;
  c->slow_check = now;
  if (c->phase->tend != NULL) TSL_TRY(c->phase->tend(c->phase));
  if (wants_pause(c, now)) TSL_TRY(tsl_counter_pause(c->counter));
  TSL_TRY(tsl_counter_aborted(c->counter, &c->abort, &c->pause));
  if (c->rank == 0 && tsl_progress_due(&c->progress)) {
    double done_seconds = 0;
    TSL_TRY(tsl_counter_done(c->counter, &done_seconds));
    const double total = c->before + tsl_work_source_total(c->source);
    tsl_progress_update(&c->progress, total > 0 ? (c->before + done_seconds) / total : 1);
  }
done:
  return err;
}

static tsl_err serve_others(course *c, bool *moved) {
  tsl_err err = TSL_OK;
  bool took = false;
  TSL_TRY(tsl_result_writer_serve(c->delivery, c->abort, &took));
  *moved = *moved || took;
done:
  return err;
}

/* One turn; errors of any part are kept and the loop goes on until everybody has left. */
static void turn(course *c) {
  bool moved = false;
  tsl_task *landed;
  end_if_hung(c, tsl_now());
  keep_error(c, look_around(c));
  keep_error(c, feed(c, &moved));
  keep_error(c, serve_others(c, &moved));
  keep_error(c, release_sent(c, &moved));
  if (c->abort && c->phase->out != NULL) tsl_out_forget(c->phase->out);
  landed = tsl_compute_thread_done(c->phase->executor->thread, nap(c, moved));
  if (landed != NULL) {
    keep_error(c, land(c, (flight *)landed));
    keep_error(c, feed(c, &moved));
    keep_error(c, deliver(c, (flight *)landed));
  }
  if (!c->ended && !work_left(c) && all_idle(c) && !(c->lost && c->abort)) {
    keep_error(c, tsl_result_writer_end(c->delivery));
    c->ended = true;
  }
}

static bool finished(const course *c) {
  if (c->lost && c->abort) return c->posted == 0;
  return c->ended && tsl_result_writer_complete(c->delivery);
}

/* ---- set-up */

static tsl_err open_course(course *c) {
  tsl_err err = TSL_OK;
  tsl_phase *phase = c->phase;
  const tsl_plan *plan = phase->plan;
  TSL_TRY(tsl_overlaps(phase->executor, &c->overlaps));
  TSL_TRY(tsl_alloc(N_FLIGHTS, sizeof *c->flights, "result buffers", (void **)&c->flights));
  for (int k = 0; k < N_FLIGHTS; k++) {
    c->flights[k].task.run = c->overlaps ? begin : compute;
    c->flights[k].task.finish = c->overlaps ? finish : NULL;
    c->flights[k].task.ended = c->overlaps ? has_ended : NULL;
    c->flights[k].executor = phase->executor;
    c->flights[k].freed = &c->freed;
    TSL_TRY(tsl_slab_pool_open(phase->problem, phase->executor->backend, phase->units,
                               plan->n_units, c->room, &c->flights[k].slots));
  }
  TSL_TRY(tsl_complete_open(phase));
  TSL_TRY(tsl_result_writer_open(phase->comm, phase->problem, phase->out, phase->units,
                                 plan->n_units, &c->delivery));
done:
  return err;
}

static void close_course(course *c) {
  for (int k = 0; k < N_FLIGHTS && c->flights != NULL; k++) {
    for (int p = 0; p < TSL_MAX_BATCH; p++) tsl_part_drop_lists(&c->flights[k].parts[p]);
    tsl_slab_pool_close(&c->flights[k].slots);
    tsl_message_drop(&c->flights[k].parcel);
  }
  tsl_free(c->flights);
  tsl_work_source_close(&c->source);
  tsl_result_writer_close(&c->delivery);
  tsl_counter_close(&c->counter);
}

/* First unit of the tail that is not finished: they are handed out in order. */
static int64_t first_of_tail(const tsl_plan *plan) {
  int64_t first = plan->first_dynamic;
  while (plan->finished != NULL && first < plan->n_units && plan->finished[first]) first++;
  return first;
}

static void start_clock(course *c) {
  const double total = tsl_work_source_total(c->source);
  if (c->phase->origin == 0) c->phase->origin = tsl_now();
  for (int64_t u = 0; u < c->phase->plan->n_units; u++)
    if (is_finished(c, u)) c->before += work_of(c, &c->phase->units[u]);
  tsl_progress_start(&c->progress, c->phase->quiet || c->rank != 0);
  if (c->before > 0) c->progress.first = c->before / (c->before + total);
}

/* Whoever saw the call to pause tells those who had left by then. */
static tsl_err agree_on_pause(course *c) {
  tsl_err err = TSL_OK;
  int paused = c->pause;
  if (!c->phase->can_pause) return TSL_OK;
  TSL_MPI(MPI_Allreduce(MPI_IN_PLACE, &paused, 1, MPI_INT, MPI_MAX, c->phase->comm));
  c->phase->paused = paused != 0;
done:
  return err;
}

tsl_err tsl_bag_run(tsl_phase *phase) {
  tsl_err err = TSL_OK;
  course c = {.phase = phase, .slower = 1, .told = 1};
  phase->paused = phase->drained = false;
  TSL_MPI(MPI_Comm_rank(phase->comm, &c.rank));
  TSL_MPI(MPI_Comm_size(phase->comm, &c.size));
  c.room = tsl_batch_room(phase->problem, phase->units, phase->plan->n_units, phase->memory);
  TSL_COLLECTIVE_TRY(phase->comm, open_course(&c));
  TSL_COLLECTIVE_TRY(phase->comm, tsl_counter_open(phase->comm, first_of_tail(phase->plan),
                                                   phase->plan->n_units, &c.counter));
  TSL_TRY(tsl_work_source_open(phase->comm, c.counter, phase->plan, phase->units, phase->cost,
                               c.overlaps, &c.source));
  start_clock(&c);
  while (!finished(&c)) turn(&c);
  tsl_progress_end(&c.progress);
  phase->drained = c.err == TSL_OK && !c.abort;
  if (c.err != TSL_OK) (void)tsl_err_restore(&c.error);
  TSL_COLLECTIVE_TRY(phase->comm, c.lost ? tsl_heart_lost(__FILE__, __LINE__) : c.err);
  TSL_TRY(agree_on_pause(&c));
done:
  if (err != TSL_ERR_LOST || phase->drained) close_course(&c); /* else MPI may still read it */
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
