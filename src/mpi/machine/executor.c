/* The device of a rank, through its compute thread. */
#include "executor.h"

#include "bind.h"

typedef struct opening {
  tsl_task task;
  tsl_executor *executor;
} opening;

/* ---- on the compute thread */

static tsl_err take_device(void *arg) {
  tsl_err err = TSL_OK;
  tsl_executor *executor = arg;
  TSL_TRY(tsl_bind_thread(executor->placement));
  TSL_TRY(tsl_platform_of(executor->placement)->select(&executor->device));
done:
  return err;
}

static tsl_err open_worker(tsl_task *task) {
  tsl_executor *x = ((opening *)task)->executor;
  return x->backend->open(x->problem, &x->placement->device, &x->worker);
}

static tsl_err close_worker(tsl_task *task) {
  tsl_executor *x = ((opening *)task)->executor;
  x->backend->close(&x->worker);
  return TSL_OK;
}

/* ---- on the main thread */

tsl_err tsl_executor_start(const tsl_placement *placement, tsl_executor *x) {
  x->placement = placement;
  x->device = placement->device;
  return tsl_compute_thread_start(take_device, x, &x->thread);
}

tsl_err tsl_executor_open(const tsl_problem *problem, tsl_executor *x) {
  tsl_err err = TSL_OK;
  opening o = {.task.run = open_worker, .executor = x};
  const tsl_platform *platform = tsl_platform_of(x->placement);
  x->problem = problem;
  x->backend = tsl_backend_find(platform, problem->family->name);
  if (x->backend == NULL)
    TSL_FAIL(TSL_ERR_INPUT, "family '%s' has no %s backend in this build", problem->family->name,
             platform->name);
  TSL_TRY(tsl_compute_thread_call(x->thread, &o.task));
done:
  return err;
}

void tsl_executor_close(tsl_executor *x) {
  opening o = {.task.run = close_worker, .executor = x};
  tsl_err_copy kept;
  if (x->worker == NULL) return;
  tsl_err_save(TSL_OK, &kept);
  (void)tsl_compute_thread_call(x->thread, &o.task);
  (void)tsl_err_restore(&kept);
}

void tsl_executor_stop(tsl_executor *x) {
  tsl_executor_close(x);
  tsl_compute_thread_stop(&x->thread);
}
