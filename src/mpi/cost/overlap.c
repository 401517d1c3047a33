/* One task on the compute thread asks the worker. */
#include "overlap.h"

#include <stdlib.h>

typedef struct query {
  tsl_task task;
  const tsl_executor *executor;
  bool answer;
} query;

static tsl_err ask_worker(tsl_task *task) {
  query *q = (query *)task;
  const tsl_backend *backend = q->executor->backend;
  q->answer = backend->overlaps == NULL || backend->overlaps(q->executor->worker);
  return TSL_OK;
}

tsl_err tsl_overlaps(const tsl_executor *executor, bool *overlaps) {
  tsl_err err = TSL_OK;
  query q = {.task.run = ask_worker, .executor = executor};
  *overlaps = false;
  if (executor->backend->start == NULL || getenv("TSL_TEST_SLOW") != NULL) return TSL_OK;
  TSL_TRY(tsl_compute_thread_call(executor->thread, &q.task));
  *overlaps = q.answer;
done:
  return err;
}
