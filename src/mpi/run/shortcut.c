/* A worker on the cores of the root's node takes the shortcut; rank 0's main thread shows how far
 * that is and passes on that it is to stop. */
#include "shortcut.h"

#include "bind.h"
#include "calibrate.h"
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
  tsl_placement node;    /* the root's, as a socket with the cores of all ranks of its node */
  tsl_executor executor; /* of the node */
  double alone;          /* s that it would take for all units */
  double part;           /* of these that the shortcut is likely to take; 0: it finds nothing */
  double most;
  bool found;
  _Atomic double done; /* 0..1, by the compute thread */
  _Atomic bool stop;   /* by the main thread */
} shortcut;

/* ---- on the worker's thread */

static bool tell(const tsl_step *step, double done) {
  shortcut *t = step->teller;
  t->done = done;
  return !t->stop;
}

static tsl_err take_shortcut(tsl_task *task) {
  shortcut *t = (shortcut *)task;
  const tsl_executor *x = &t->executor;
  return x->backend->shortcut(x->worker, &t->session->problem, t->most, &t->step, &t->found);
}

/* ---- on the main thread of the root */

/* As a run on it alone knows or measures. */
static tsl_err measure(shortcut *t) {
  tsl_err err = TSL_OK;
  const tsl_session *s = t->session;
  tsl_cost cost = {0};
  int measured = 0;
  TSL_TRY(tsl_calibrate(MPI_COMM_SELF, &t->executor, s->units.list, s->units.n, &s->run, &cost,
                        &measured));
  for (int64_t u = 0; u < s->units.n; u++)
    t->alone += tsl_cost_seconds(&cost, 0, &s->units.list[u]);
done:
  TSL_FREE_ALL(cost.speeds, cost.keys);
  return err;
}

static tsl_err shortcut_open(tsl_session *s, shortcut *t) {
  tsl_err err = TSL_OK;
  tsl_placement *node = &t->node;
  *t = (shortcut){.task.run = take_shortcut, .session = s, .most = PAYS};
  t->step = (tsl_step){.tell = tell, .teller = t};
  TSL_TRY(tsl_bind_node(s->placements, s->size, s->rank, node));
  const int64_t limit = node->device.host_limit;
  if (node->device.kind == TSL_GPU) TSL_TRY(tsl_platform_cpu.describe(0, &node->device));
  node->local_size = 1;
  node->threads = node->device.threads = node->cores;
  node->device.host_limit = node->device.memory_limit = limit;
  TSL_TRY(tsl_executor_start(node, &t->executor));
  TSL_TRY(tsl_executor_open(&s->problem, &t->executor));
  t->part = t->executor.backend->shortcut_part(t->executor.worker, &s->problem);
  if (t->part > 0) TSL_TRY(measure(t));
  if (t->alone > 0) t->most = PAYS * fmin(1, s->plan.total_seconds / t->alone);
done:
  return err;
}

static bool stops(const tsl_session *s) {
  return tsl_stop_signal != 0 && !(tsl_stop_politely() && s->checkpoints->on);
}

static tsl_err watch(shortcut *t) {
  tsl_err err = TSL_OK;
  const tsl_session *s = t->session;
  tsl_progress progress;
  tsl_progress_start(&progress, s->options->quiet);
  tsl_compute_thread_post(t->executor.thread, &t->task);
  while (tsl_compute_thread_done(t->executor.thread, LOOK_US) == NULL) {
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

/* s, 0: it would not pay. */
static double likely_seconds(const shortcut *t) {
  const double seconds = t->part * t->alone;
  return seconds <= PAYS * t->session->plan.total_seconds ? seconds : 0;
}

static tsl_err try_shortcut(tsl_session *s, double *likely) {
  tsl_err err = TSL_OK;
  const double start = tsl_now();
  shortcut t = {.most = 0};
  TSL_TRY(shortcut_open(s, &t));
  *likely = likely_seconds(&t);
  if (t.part > 0) TSL_TRY(watch(&t));
  s->problem.shortcut = false;
  s->shortcut = tsl_now() - start;
done:
  tsl_executor_stop(&t.executor);
  return err;
}

tsl_err tsl_session_shortcut_seconds(tsl_session *s, double *seconds) {
  tsl_err err = TSL_OK;
  shortcut t = {.most = 0};
  *seconds = 0;
  if (!s->problem.shortcut || s->run.calibrate == TSL_CALIBRATE_PROBE) return TSL_OK;
  TSL_TRY(shortcut_open(s, &t));
  *seconds = likely_seconds(&t);
done:
  tsl_executor_stop(&t.executor);
  return err;
}

/* ---- all */

tsl_err tsl_session_shortcut(tsl_session *s) {
  tsl_err err = TSL_OK;
  int has = s->rank == 0 && s->problem.shortcut;
  double likely = 0;
  const double whole = s->plan.total_seconds;
  TSL_MPI(MPI_Bcast(&has, 1, MPI_INT, 0, s->comm));
  if (!has) return TSL_OK;
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 ? try_shortcut(s, &likely) : TSL_OK);
  TSL_TRY(tsl_session_units(s));
  TSL_TRY(tsl_session_plan_known(s));
  if (s->units.n == 0) s->plan.total_seconds = likely > 0 ? likely : whole;
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_SHORTCUT));
done:
  return err;
}
