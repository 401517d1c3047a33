/* The main thread's loop of a BAG phase: feed the device, take finished batches, deliver and serve
 * messages, pause or stop with all ranks. */
#include "phase_loop.h"

#include "batch.h"
#include "collective_error.h"
#include "fault.h"
#include "heartbeat.h"
#include "measure.h"
#include "slab_pool.h"
#include "test_delay_card.h"
#include "watchdog.h"
#include "work_source.h"

#include <stdlib.h>

enum {
  N_BATCHES = 3, /* one computing, one waiting behind it or begun too, one being delivered */
  AHEAD = 2      /* posted to the compute thread at most */
};
/* Naps of the main thread: for messages of others; while some are sent; where nobody else is. */
static const long IDLE_US = 200, SENDING_US = 20, ALONE_US = 20000;
static const double KEEP = 0.8; /* weight of what was measured before */

/* A batch of units on its way: posted to the compute thread, then delivered. */
typedef struct batch {
  tsl_task task;
  const tsl_executor *executor;
  tsl_unit *units; /* [room] of the engine */
  tsl_part *parts; /* [room] */
  tsl_message parcel;
  tsl_slab_pool slots;
  int64_t n;
  bool posted, sending;
  double start;   /* tsl_now() when the device began, or was free for it */
  double *freed;  /* tsl_now() when the device had done the batch before; the compute thread's */
  double seconds; /* predicted */
} batch;

/* The state of this rank's phase. */
typedef struct engine_state {
  tsl_phase_loop loop;
  tsl_work_source *source;
  batch batches[N_BATCHES];
  batch *queue[AHEAD]; /* those posted, in order */
  int posted;
  int64_t room;                 /* units of one batch, see batch.h */
  int64_t least[TSL_MAX_KINDS]; /* units of a batch by kind, while there are as many */
  bool overlaps;                /* the device takes a batch while it computes the one before */
  double freed;                 /* see batch */
  double since;                 /* tsl_now() when the device began its present batch, about */
  double planned, measured;     /* s of the last batches, older ones counting less */
  double slower;                /* measured over planned */
} engine_state;

/* ---- on the compute thread */

/* Begin a batch; where none overlap, end it too. */
static tsl_err bag_engine_begin(tsl_task *task) {
  tsl_err err = TSL_OK;
  batch *b = (batch *)task;
  const tsl_executor *st = b->executor;
  const bool ends = task->finish == NULL;
  if (ends) tsl_fault_wait(st->placement->rank, b->units, b->n);
  TSL_TRY(tsl_fault_begin(st->placement->rank, b->units, b->n));
  b->start = tsl_now();
  tsl_heart_unit(b->units[0].id);
  TSL_TRY((ends ? st->backend->run : st->backend->start)(st->worker, b->units, b->n, b->parts));
  if (!ends) goto done;
  TSL_TRY(tsl_test_delay(st, b->n, b->parts, b->n));
  tsl_fault_after(st->problem, st->placement->rank, b->units, b->n, b->parts);
done:
  return err;
}

static bool has_ended(tsl_task *task) {
  const tsl_executor *st = ((const batch *)task)->executor;
  return st->backend->ended(st->worker);
}

static tsl_err bag_engine_finish(tsl_task *task) {
  tsl_err err = TSL_OK;
  batch *b = (batch *)task;
  const tsl_executor *st = b->executor;
  tsl_fault_wait(st->placement->rank, b->units, b->n);
  TSL_TRY(st->backend->finish(st->worker));
  if (*b->freed > b->start) b->start = *b->freed;
  *b->freed = tsl_now();
  tsl_fault_after(st->problem, st->placement->rank, b->units, b->n, b->parts);
done:
  return err;
}

/* ---- feeding */

/* Seconds until the device has done what it was given, by the speed it shows. */
static double ahead(const engine_state *e) {
  double seconds = 0;
  if (e->posted == 0) return 0;
  for (int k = 0; k < e->posted; k++) seconds += e->queue[k]->seconds * e->slower;
  seconds -= tsl_now() - e->since;
  return seconds > 0 ? seconds : 1e-9; /* busy still */
}

/* Units for a batch: none when there are none for now. */
static tsl_err bag_engine_fill(engine_state *e, batch *b) {
  tsl_err err = TSL_OK;
  const int64_t *list = NULL;
  b->n = 0;
  b->seconds = 0;
  tsl_slab_pool_reset(&b->slots);
  TSL_TRY(tsl_work_source_batch(e->source, ahead(e), e->room, &list, &b->n));
  for (int64_t k = 0; k < b->n; k++) {
    b->units[k] = e->loop.phase->units[list[k]];
    b->seconds += tsl_cost_seconds(e->loop.phase->cost, e->loop.rank, &b->units[k]);
    TSL_TRY(tsl_slab_pool_place(&b->slots, &b->units[k], &b->parts[k]));
  }
done:
  return err;
}

static batch *idle_batch(engine_state *e) {
  for (int k = 0; k < N_BATCHES; k++)
    if (!e->batches[k].posted && !e->batches[k].sending) return &e->batches[k];
  return NULL;
}

static bool work_left(const engine_state *e) {
  return !e->loop.abort && !e->loop.pause && tsl_work_source_left(e->source);
}

static tsl_err feed(engine_state *e, bool *moved) {
  tsl_err err = TSL_OK;
  batch *b;
  while (work_left(e) && e->posted < AHEAD && ahead(e) <= tsl_work_source_enough(e->source) &&
         (b = idle_batch(e)) != NULL) {
    TSL_TRY(bag_engine_fill(e, b));
    if (b->n == 0) break;
    b->posted = true;
    if (e->posted == 0) e->since = tsl_now();
    e->queue[e->posted++] = b;
    tsl_compute_thread_post(e->loop.phase->executor->thread, &b->task);
    *moved = true;
  }
done:
  return err;
}

/* ---- taking results */

/* Correct the prediction by what the batch took. */
static void learn(engine_state *e, const batch *b) {
  e->planned = KEEP * e->planned + b->seconds;
  e->measured *= KEEP;
  for (int64_t k = 0; k < b->n; k++) e->measured += b->parts[k].seconds;
  if (e->planned > 0 && e->measured > 0) e->slower = e->measured / e->planned;
}

/* The device has done a batch: it is free for another before the results are delivered. */
static tsl_err retire(engine_state *e, batch *b) {
  tsl_err err = TSL_OK;
  b->posted = false;
  for (int k = 1; k < e->posted; k++) e->queue[k - 1] = e->queue[k]; /* it was the first */
  e->posted--;
  e->since = tsl_now();
  TSL_TRY(tsl_err_restore(&b->task.error));
  if (e->loop.abort) return TSL_OK;
  b->sending = true;
  learn(e, b);
  TSL_TRY(tsl_counter_slower(e->loop.counter, e->slower));
  tsl_work_source_wake(e->source, e->slower);
done:
  return err;
}

static tsl_err deliver(engine_state *e, batch *b) {
  tsl_err err = TSL_OK;
  const tsl_plan *plan = e->loop.phase->plan;
  double start = b->start, work = 0;
  if (e->loop.abort) return TSL_OK;
  for (int64_t k = 0; k < b->n; k++) { /* only a plan of all units lets them be taken by others */
    const bool dynamic = plan->dynamic > 0 && plan->owner[b->units[k].id] != e->loop.rank;
    TSL_TRY(tsl_complete_unit(e->loop.phase, e->loop.delivery, e->loop.rank, &b->units[k], dynamic,
                              &start, &b->parts[k]));
    work += tsl_phase_loop_work(&e->loop, &b->units[k]);
  }
  TSL_TRY(tsl_result_writer_send(e->loop.delivery, b->units, b->n, b->parts, &b->parcel));
  TSL_TRY(tsl_result_writer_flush(e->loop.delivery));
  e->loop.phase->finish = start - e->loop.phase->origin;
  TSL_TRY(tsl_counter_add_done(e->loop.counter, work));
done:
  return err;
}

static tsl_err release_sent(engine_state *e, bool *moved) {
  tsl_err err = TSL_OK;
  for (int k = 0; k < N_BATCHES; k++) {
    batch *b = &e->batches[k];
    bool sent = false;
    if (!b->sending || b->posted) continue;
    TSL_TRY(tsl_message_sent(&b->parcel, &sent));
    if (sent) b->sending = false, *moved = true;
  }
done:
  return err;
}

/* A lone rank has no messages to look for: it sleeps until the device lands a batch or wants one,
 * as each waking takes a core from the threads that compute. */
static long nap(const engine_state *e, bool moved) {
  if (moved) return 0;
  for (int k = 0; k < N_BATCHES; k++)
    if (e->batches[k].sending) return SENDING_US;
  if (e->loop.size > 1) return IDLE_US;
  if (!work_left(e) || e->posted == AHEAD) return ALONE_US;
  const double us = 1e6 * (ahead(e) - tsl_work_source_enough(e->source));
  return us < (double)IDLE_US ? IDLE_US : us < (double)ALONE_US ? (long)us : ALONE_US;
}

static bool all_idle(const engine_state *e) {
  for (int k = 0; k < N_BATCHES; k++)
    if (e->batches[k].posted || e->batches[k].sending) return false;
  return true;
}

/* ---- the loop */

static void end_if_hung(const engine_state *e, double now) {
  const batch *b = e->queue[0]; /* that the device computes, or will end first */
  if (e->posted > 0)
    tsl_watchdog_check(e->loop.phase, e->loop.rank, b->units, b->n, now - e->since,
                       b->seconds * e->slower);
}

/* A rank is silent: no unit begins any more. For a checkpoint those begun are finished and
 * delivered, which takes messages to rank 0. */
static void heed_alarm(engine_state *e) {
  if (e->loop.lost || !tsl_heart_alarm()) return;
  e->loop.lost = e->loop.pause = true;
  if (e->loop.phase->can_pause && !tsl_heart_gone(0))
    tsl_heart_answer();
  else
    e->loop.abort = true;
}

/* One turn; errors of any part are kept and the loop goes on until everybody has left. */
static void turn(engine_state *e) {
  bool moved = false;
  tsl_task *landed;
  end_if_hung(e, tsl_now());
  heed_alarm(e);
  if (!e->loop.lost) tsl_phase_loop_keep(&e->loop, tsl_phase_loop_look_around(&e->loop));
  tsl_phase_loop_keep(&e->loop, feed(e, &moved));
  tsl_phase_loop_keep(&e->loop, tsl_result_writer_serve(e->loop.delivery, e->loop.abort, &moved));
  tsl_phase_loop_keep(&e->loop, release_sent(e, &moved));
  if (e->loop.abort && e->loop.phase->out != NULL) tsl_out_forget(e->loop.phase->out);
  landed = tsl_compute_thread_done(e->loop.phase->executor->thread, nap(e, moved));
  if (landed != NULL) {
    tsl_phase_loop_keep(&e->loop, retire(e, (batch *)landed));
    tsl_phase_loop_keep(&e->loop, feed(e, &moved));
    tsl_phase_loop_keep(&e->loop, deliver(e, (batch *)landed));
  }
  if (!e->loop.ended && !work_left(e) && all_idle(e) && !(e->loop.lost && e->loop.abort)) {
    tsl_phase_loop_keep(&e->loop, tsl_result_writer_end(e->loop.delivery));
    e->loop.ended = true;
  }
}

static bool finished(const engine_state *e) {
  if (e->loop.lost && e->loop.abort) return e->posted == 0;
  return e->loop.ended && tsl_result_writer_complete(e->loop.delivery);
}

/* ---- set-up */

static tsl_err open_batch(engine_state *e, batch *b) {
  tsl_err err = TSL_OK;
  const tsl_phase *phase = e->loop.phase;
  const tsl_executor *x = phase->executor;
  b->task.run = bag_engine_begin;
  b->task.finish = e->overlaps ? bag_engine_finish : NULL;
  b->task.ended = e->overlaps ? has_ended : NULL;
  b->executor = x;
  b->freed = &e->freed;
  TSL_TRY(tsl_alloc(e->room, sizeof *b->units, "units of a batch", (void **)&b->units));
  TSL_TRY(tsl_alloc(e->room, sizeof *b->parts, "results of a batch", (void **)&b->parts));
  TSL_TRY(tsl_slab_pool_open(phase->problem, x->backend, phase->units, phase->plan->n_units,
                             e->room, &b->slots));
done:
  return err;
}

/* In the middle of this rank's own units of a kind, or where it has none, of all; NULL: there are
 * none. */
static const tsl_unit *middle_of_own(const engine_state *e, int kind) {
  const tsl_unit *units = e->loop.phase->units;
  const tsl_plan *plan = e->loop.phase->plan;
  int64_t own = 0, seen = 0;
  for (int64_t u = 0; u < plan->n_units; u++)
    own += units[u].kind == kind && plan->owner[u] == e->loop.rank;
  for (int64_t u = 0; u < plan->n_units; u++)
    if (units[u].kind == kind && plan->owner[u] == e->loop.rank && seen++ == own / 2)
      return &units[u];
  return tsl_middle_unit(units, plan->n_units, kind);
}

static tsl_err open_engine(engine_state *e) {
  tsl_err err = TSL_OK;
  tsl_phase *phase = e->loop.phase;
  const tsl_executor *x = phase->executor;
  const int64_t n = phase->plan->n_units;
  for (int k = 0; k < phase->problem->family->n_kinds; k++)
    e->least[k] = tsl_batch_least(x, middle_of_own(e, k));
  e->overlaps = tsl_overlaps(x);
  e->room = tsl_batch_room(phase->problem, phase->units, n, phase->memory);
  if (e->room > n) e->room = n > 0 ? n : 1;
  for (int k = 0; k < N_BATCHES; k++) TSL_TRY(open_batch(e, &e->batches[k]));
  TSL_TRY(tsl_phase_loop_open(&e->loop));
done:
  return err;
}

static void close_engine(engine_state *e) {
  for (int k = 0; k < N_BATCHES; k++) {
    batch *b = &e->batches[k];
    for (int64_t p = 0; p < e->room && b->parts != NULL; p++) tsl_part_drop_lists(&b->parts[p]);
    tsl_slab_pool_close(&b->slots);
    tsl_message_drop(&b->parcel);
    TSL_FREE_ALL(b->units, b->parts);
  }
  tsl_work_source_close(&e->source);
  tsl_phase_loop_close(&e->loop);
}

/* Whoever saw the call to pause tells those who had left by then. */
static tsl_err agree_on_pause(engine_state *e) {
  tsl_err err = TSL_OK;
  int paused = e->loop.pause;
  if (!e->loop.phase->can_pause) return TSL_OK;
  TSL_MPI(MPI_Allreduce(MPI_IN_PLACE, &paused, 1, MPI_INT, MPI_MAX, e->loop.phase->comm));
  e->loop.phase->paused = paused != 0;
done:
  return err;
}

tsl_err tsl_bag_run(tsl_phase *phase) {
  tsl_err err = TSL_OK;
  engine_state e = {.slower = 1};
  phase->paused = phase->drained = false;
  TSL_TRY(tsl_phase_loop_make(phase, &e.loop));
  TSL_COLLECTIVE_TRY(phase->comm, open_engine(&e));
  TSL_COLLECTIVE_TRY(phase->comm, tsl_counter_open(phase->comm, &e.loop.counter));
  TSL_TRY(tsl_work_source_open(phase->comm, e.loop.counter, phase->plan, phase->units, phase->cost,
                               e.least, e.overlaps, &e.source));
  tsl_phase_loop_start(&e.loop);
  while (!finished(&e)) turn(&e);
  tsl_progress_end(&e.loop.progress);
  phase->drained = e.loop.err == TSL_OK && !e.loop.abort;
  if (e.loop.err != TSL_OK) (void)tsl_err_restore(&e.loop.error);
  TSL_COLLECTIVE_TRY(phase->comm, e.loop.lost ? tsl_heart_lost(__FILE__, __LINE__) : e.loop.err);
  TSL_TRY(agree_on_pause(&e));
done:
  if (err != TSL_ERR_LOST || phase->drained) close_engine(&e); /* else MPI may still read it */
  return err;
}
