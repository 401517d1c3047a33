/* Turns of a traceback: the owner of the cursor's lane walks on, sends its steps to rank 0 and
 * broadcasts the new cursor. */
#include "traceback.h"

#include "bcast.h"
#include "collective_error.h"
#include "phase.h"
#include "test_delay_card.h"

#include <stdlib.h>
#include <string.h>

enum { TAG_STEPS = 1 };

/* The state of a traceback on one rank. */
typedef struct traceback {
  tsl_task task;
  MPI_Comm comm;
  const tsl_executor *executor;
  tsl_problem *problem;
  const tsl_unit *units; /* [n_units] */
  int64_t n_units;
  tsl_cursor cursor;
  tsl_list steps; /* of this rank's last turn */
  int rank;
} traceback;

static tsl_err trace_on(tsl_task *task) {
  tsl_err err = TSL_OK;
  traceback *w = (traceback *)task;
  const tsl_executor *st = w->executor;
  const double start = tsl_now();
  TSL_TRY(st->backend->traceback(st->worker, w->units, w->n_units, &w->cursor, &w->steps));
  TSL_TRY(tsl_test_delay_turn(start));
done:
  return err;
}

/* Owner of a lane, or -1 when there is no such lane. */
static int owner_of(const tsl_unit *units, const tsl_plan *plan, int64_t lane) {
  for (int64_t u = 0; u < plan->n_units; u++)
    if (units[u].lane == lane) return plan->owner[u];
  return -1;
}

/* Rank 0 gets the steps of the owner and hands them to the family. */
static tsl_err bring_steps(traceback *w, int owner) {
  tsl_err err = TSL_OK;
  int64_t n = w->steps.n;
  void *steps = w->rank == owner ? w->steps.data : NULL, *received = NULL;
  TSL_MPI(MPI_Bcast(&n, 1, MPI_INT64_T, owner, w->comm));
  if (owner != 0 && w->rank == 0) {
    TSL_TRY(tsl_alloc(n, 2 * sizeof(int64_t), "steps of the solution", &received));
    steps = received;
  }
  if (owner != 0 && w->rank == 0)
    TSL_TRY(
        tsl_bcast_receive(w->comm, owner, TAG_STEPS, steps, n * (int64_t)(2 * sizeof(int64_t))));
  if (owner != 0 && w->rank == owner)
    TSL_TRY(tsl_bcast_send(w->comm, 0, TAG_STEPS, steps, n * (int64_t)(2 * sizeof(int64_t))));
  if (w->rank == 0) TSL_TRY(w->problem->family->traceback_steps(w->problem, steps, n));
done:
  tsl_free(received);
  free(w->steps.data);
  w->steps = (tsl_list){0};
  return err;
}

/* One turn of the owner of the cursor's lane. */
static tsl_err one_turn(traceback *w, int owner) {
  tsl_err err = TSL_OK;
  const tsl_cursor before = w->cursor;
  TSL_COLLECTIVE_TRY(
      w->comm, w->rank == owner ? tsl_compute_thread_call(w->executor->thread, &w->task) : TSL_OK);
  TSL_MPI(MPI_Bcast(&w->cursor, (int)sizeof w->cursor, MPI_BYTE, owner, w->comm));
  if (memcmp(&before, &w->cursor, sizeof before) == 0)
    TSL_FAIL(TSL_ERR_INTERNAL, "the recovery of the solution stands still in lane %lld",
             (long long)before.lane);
  TSL_COLLECTIVE_TRY(w->comm, bring_steps(w, owner));
done:
  return err;
}

static tsl_err check_signal(const tsl_traceback_break *between) {
  const bool waits = between != NULL && between->on && tsl_stop_politely();
  if (tsl_stop_signal == 0 || waits) return TSL_OK;
  return tsl_fail(
      TSL_ERR_STOPPED, __FILE__, __LINE__,
      "stopped by signal %d while the solution was recovered; no output was left behind",
      tsl_stop_signal);
}

static tsl_err traceback_look_around(const traceback *w, const tsl_traceback_break *between) {
  tsl_err err = TSL_OK;
  TSL_COLLECTIVE_TRY(w->comm, check_signal(between));
  if (between != NULL && between->on) TSL_TRY(between->look(between->state, &w->cursor));
done:
  return err;
}

/* Rank 0: from the end of the solution, or where an earlier run had come to. */
static tsl_err begin_trace(traceback *w, const tsl_traceback_break *between) {
  tsl_err err = TSL_OK;
  const tsl_family *family = w->problem->family;
  TSL_TRY(family->traceback_begin(w->problem, &w->cursor));
  if (between == NULL || between->n_steps == 0 || family->traceback_resume == NULL) return TSL_OK;
  TSL_TRY(family->traceback_resume(w->problem, between->from, between->steps, between->n_steps));
  w->cursor = *between->from;
done:
  return err;
}

tsl_err tsl_traceback(MPI_Comm comm, const tsl_executor *executor, tsl_problem *problem,
                      const tsl_unit *units, const tsl_plan *plan,
                      const tsl_traceback_break *between) {
  tsl_err err = TSL_OK;
  traceback w = {.task.run = trace_on,
                 .comm = comm,
                 .executor = executor,
                 .problem = problem,
                 .units = units,
                 .n_units = plan->n_units};
  const tsl_family *family = problem->family;
  if (family->traceback_begin == NULL) return TSL_OK;
  TSL_MPI(MPI_Comm_rank(comm, &w.rank));
  TSL_COLLECTIVE_TRY(comm, w.rank == 0 ? begin_trace(&w, between) : TSL_OK);
  TSL_MPI(MPI_Bcast(&w.cursor, (int)sizeof w.cursor, MPI_BYTE, 0, comm));
  while (w.cursor.lane >= 0) {
    const int owner = owner_of(units, plan, w.cursor.lane);
    if (owner < 0)
      TSL_FAIL(TSL_ERR_INTERNAL, "the recovery of the solution is in lane %lld, which is none",
               (long long)w.cursor.lane);
    TSL_TRY(traceback_look_around(&w, between)); /* after the last turn there is only to write */
    TSL_TRY(one_turn(&w, owner));
  }
done:
  free(w.steps.data);
  return err;
}
