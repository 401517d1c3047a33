/* The compute thread of rank 0 takes the shortcut; its main thread shows how far that is and passes
 * on that it is to stop. */
#include "shortcut.h"

#include "checkpoint_manager.h"
#include "collective_error.h"
#include "progress.h"

#include <math.h>
#include <stdatomic.h>

static const double PAYS = 0.6; /* of the time that all ranks would take, no more */
static const long LOOK_US = 20000;

typedef struct shortcut {
  tsl_task task;
  tsl_step step;
  tsl_session *session;
  double most;
  bool found;
  _Atomic double done; /* 0..1, by the compute thread */
  _Atomic bool stop;   /* by the main thread */
} shortcut;

/* ---- on the compute thread */

static bool tell(const tsl_step *step, double done) {
  shortcut *t = step->teller;
  t->done = done;
  return !t->stop;
}

static tsl_err take_shortcut(tsl_task *task) {
  shortcut *t = (shortcut *)task;
  const tsl_executor *x = &t->session->executor;
  return x->backend->shortcut(x->worker, &t->session->problem, t->most, &t->step, &t->found);
}

/* ---- on the main thread */

static bool stops(const tsl_session *s) {
  return tsl_stop_signal != 0 && !(tsl_stop_politely() && s->checkpoints->on);
}

static tsl_err watch(shortcut *t) {
  tsl_err err = TSL_OK;
  const tsl_session *s = t->session;
  tsl_progress progress;
  tsl_progress_start(&progress, s->options->quiet);
  tsl_compute_thread_post(s->executor.thread, &t->task);
  while (tsl_compute_thread_done(s->executor.thread, LOOK_US) == NULL) {
    t->stop = stops(s);
    if (tsl_progress_due(&progress)) tsl_progress_update(&progress, t->done);
  }
  tsl_progress_end(&progress);
  if (t->task.error.code == TSL_ERR_STOPPED)
    TSL_FAIL(TSL_ERR_STOPPED,
             "stopped by signal %d before the work was done; no output was left behind",
             tsl_stop_signal);
  TSL_TRY(tsl_err_restore(&t->task.error));
done:
  return err;
}

/* s that the root would take for all units. */
static double seconds_alone(const tsl_session *s) {
  double seconds = 0;
  for (int64_t u = 0; u < s->units.n; u++)
    seconds += tsl_cost_seconds(&s->cost, 0, &s->units.list[u]);
  return seconds;
}

/* Root. */
static tsl_err try_shortcut(tsl_session *s) {
  tsl_err err = TSL_OK;
  const double start = tsl_now(), alone = seconds_alone(s);
  shortcut t = {.task.run = take_shortcut, .session = s, .most = PAYS};
  t.step = (tsl_step){.tell = tell, .teller = &t};
  if (alone > 0) t.most = PAYS * fmin(1, s->plan.total_seconds / alone);
  TSL_TRY(watch(&t));
  s->problem.shortcut = false;
  s->shortcut = tsl_now() - start;
done:
  return err;
}

/* ---- all */

double tsl_session_shortcut_seconds(const tsl_session *s) {
  const double seconds = s->problem.shortcut ? s->problem.likely * seconds_alone(s) : 0;
  return seconds <= PAYS * s->plan.total_seconds ? seconds : 0;
}

tsl_err tsl_session_shortcut(tsl_session *s) {
  tsl_err err = TSL_OK;
  int has = s->rank == 0 && s->problem.shortcut;
  const double likely = tsl_session_shortcut_seconds(s), whole = s->plan.total_seconds;
  TSL_MPI(MPI_Bcast(&has, 1, MPI_INT, 0, s->comm));
  if (!has) return TSL_OK;
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 ? try_shortcut(s) : TSL_OK);
  TSL_TRY(tsl_session_units(s));
  TSL_TRY(tsl_session_plan_known(s));
  if (s->units.n == 0) s->plan.total_seconds = likely > 0 ? likely : whole;
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_SHORTCUT));
done:
  return err;
}
