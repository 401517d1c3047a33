/* Flags and progress go by the counter on rank 0. */
#include "phase_loop.h"

#include "collective_error.h"

#include <signal.h>

volatile int tsl_stop_signal;

static const double EVERY = 0.02; /* s between looks at what others ask for */

bool tsl_stop_politely(void) {
  const int number = tsl_stop_signal;
  return number != 0 && number != SIGINT;
}

tsl_err tsl_phase_loop_make(tsl_phase *phase, tsl_phase_loop *loop) {
  tsl_err err = TSL_OK;
  *loop = (tsl_phase_loop){.phase = phase};
  TSL_MPI(MPI_Comm_rank(phase->comm, &loop->rank));
  TSL_MPI(MPI_Comm_size(phase->comm, &loop->size));
done:
  return err;
}

double tsl_phase_loop_work(const tsl_phase_loop *loop, const tsl_unit *unit) {
  return tsl_cost_seconds(loop->phase->cost, 0, unit);
}

tsl_err tsl_phase_loop_open(tsl_phase_loop *loop) {
  tsl_err err = TSL_OK;
  tsl_phase *phase = loop->phase;
  const tsl_plan *plan = phase->plan;
  for (int64_t u = 0; u < plan->n_units; u++) {
    const double work = tsl_phase_loop_work(loop, &phase->units[u]);
    loop->total += work;
    loop->before += plan->finished != NULL && plan->finished[u] ? work : 0;
  }
  TSL_TRY(tsl_complete_open(phase));
  TSL_TRY(tsl_result_writer_open(phase->comm, phase->problem, phase->out, phase->units,
                                 plan->n_units, &loop->delivery));
done:
  return err;
}

void tsl_phase_loop_close(tsl_phase_loop *loop) {
  tsl_result_writer_close(&loop->delivery);
  tsl_counter_close(&loop->counter);
}

void tsl_phase_loop_start(tsl_phase_loop *loop) {
  if (loop->phase->origin == 0) loop->phase->origin = tsl_now();
  tsl_progress_start(&loop->progress, loop->phase->quiet || loop->rank != 0);
  if (loop->before > 0) loop->progress.first = loop->before / loop->total;
}

void tsl_phase_loop_keep(tsl_phase_loop *loop, tsl_err err) {
  if (err == TSL_OK || loop->err != TSL_OK) return;
  loop->err = err;
  tsl_err_save(err, &loop->error);
  loop->abort = true;
  (void)tsl_counter_abort(loop->counter);
}

static bool stops_at_once(const tsl_phase_loop *loop) {
  const bool waits = loop->phase->can_pause || loop->phase->hold;
  return tsl_stop_signal != 0 && !loop->abort && !(waits && tsl_stop_politely());
}

/* Is it time for this rank to make all pause? */
static bool wants_pause(const tsl_phase_loop *loop, double now) {
  if (!loop->phase->can_pause || loop->pause) return false;
  return tsl_stop_politely() || (loop->rank == 0 && now >= loop->phase->pause_at);
}

tsl_err tsl_phase_loop_look_around(tsl_phase_loop *loop) {
  tsl_err err = TSL_OK;
  const double now = tsl_now();
  if (stops_at_once(loop))
    TSL_FAIL(TSL_ERR_STOPPED,
             "stopped by signal %d before the work was done; no output was left behind",
             tsl_stop_signal);
  if (now - loop->slow_check < EVERY || loop->abort) return TSL_OK;
  loop->slow_check = now;
  if (loop->phase->tend != NULL) TSL_TRY(loop->phase->tend(loop->phase));
  if (wants_pause(loop, now)) TSL_TRY(tsl_counter_pause(loop->counter));
  TSL_TRY(tsl_counter_aborted(loop->counter, &loop->abort, &loop->pause));
  if (loop->rank == 0 && tsl_progress_due(&loop->progress)) {
    double done = 0;
    TSL_TRY(tsl_counter_done(loop->counter, &done));
    tsl_progress_update(&loop->progress, loop->total > 0 ? (loop->before + done) / loop->total : 1);
  }
done:
  return err;
}
