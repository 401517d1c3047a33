#include "queue.h"

#include "agree.h"

enum { NEXT, ABORT, DONE, N_CELLS };

static const double TICKS = 1e9; /* work is counted in integer nanoseconds */

struct tsl_queue {
  MPI_Comm comm; /* not owned */
  MPI_Win window;
  int64_t *cells; /* on rank 0 */
  int rank;
  int64_t last;
};

tsl_err tsl_queue_open(MPI_Comm comm, int64_t first, int64_t last, tsl_queue **out) {
  tsl_err err = TSL_OK;
  tsl_queue *queue = NULL;
  MPI_Aint bytes = 0;
  TSL_TRY(tsl_alloc(1, sizeof *queue, "work queue", (void **)&queue));
  queue->window = MPI_WIN_NULL;
  queue->comm = comm;
  queue->last = last;
  TSL_MPI(MPI_Comm_rank(comm, &queue->rank));
  bytes = queue->rank == 0 ? (MPI_Aint)(N_CELLS * sizeof(int64_t)) : 0;
  TSL_MPI(
      MPI_Win_allocate(bytes, sizeof(int64_t), MPI_INFO_NULL, comm, &queue->cells, &queue->window));
  TSL_MPI(MPI_Win_set_errhandler(queue->window, MPI_ERRORS_RETURN));
  if (queue->rank == 0) {
    queue->cells[NEXT] = first;
    queue->cells[ABORT] = queue->cells[DONE] = 0;
  }
  TSL_MPI(MPI_Barrier(comm));
  TSL_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, queue->window));
  *out = queue;
  queue = NULL;
done:
  tsl_free(queue);
  return err;
}

void tsl_queue_close(tsl_queue **queue) {
  if (*queue == NULL) return;
  (void)MPI_Win_unlock_all((*queue)->window);
  (void)MPI_Win_free(&(*queue)->window);
  tsl_free(*queue);
  *queue = NULL;
}

/* *old = cell; cell += add. */
static tsl_err fetch_add(tsl_queue *queue, int cell, int64_t add, int64_t *old) {
  tsl_err err = TSL_OK;
  const MPI_Op op = add == 0 ? MPI_NO_OP : MPI_SUM;
  TSL_MPI(MPI_Fetch_and_op(&add, old, MPI_INT64_T, 0, cell, op, queue->window));
  TSL_MPI(MPI_Win_flush(0, queue->window));
done:
  return err;
}

/* Units a rank does per second, from the next unit of the tail. */
static double rate(const tsl_cost *cost, int rank, const tsl_unit *unit) {
  const double seconds = tsl_cost_seconds(cost, rank, unit);
  return seconds > 0 ? 1 / seconds : 0;
}

int64_t tsl_queue_chunk(const tsl_unit *units, int64_t next, int64_t last, const tsl_cost *cost,
                        int rank) {
  double sum = 0, fastest = 0;
  const double rest = (double)(last - next);
  const double mine = next < last ? rate(cost, rank, &units[next]) : 0;
  if (next >= last) return 0;
  for (int r = 0; r < cost->n_ranks; r++) {
    const double other = rate(cost, r, &units[next]);
    sum += other;
    if (other > fastest) fastest = other;
  }
  if (mine <= 0 || sum <= 0) return 1; /* unknown speed: one at a time */
  if (mine < fastest && rest / (sum - mine) < 1 / mine) return 0;
  const int64_t guided = (int64_t)(rest * mine / (2 * sum));
  return guided > 1 ? guided : 1;
}

tsl_err tsl_queue_take(tsl_queue *queue, const tsl_unit *units, const tsl_cost *cost, int64_t *lo,
                       int64_t *hi) {
  tsl_err err = TSL_OK;
  int64_t next = 0, chunk = 0;
  *lo = *hi = queue->last;
  TSL_TRY(fetch_add(queue, NEXT, 0, &next));
  chunk = tsl_queue_chunk(units, next, queue->last, cost, queue->rank);
  if (chunk == 0) goto done;
  TSL_TRY(fetch_add(queue, NEXT, chunk, &next));
  if (next >= queue->last) goto done;
  *lo = next;
  *hi = next + chunk < queue->last ? next + chunk : queue->last;
done:
  return err;
}

tsl_err tsl_queue_abort(tsl_queue *queue) {
  int64_t old;
  return fetch_add(queue, ABORT, 1, &old);
}

tsl_err tsl_queue_aborted(tsl_queue *queue, bool *aborted) {
  int64_t flag = 0;
  const tsl_err err = fetch_add(queue, ABORT, 0, &flag);
  *aborted = flag != 0;
  return err;
}

tsl_err tsl_queue_add_done(tsl_queue *queue, double seconds) {
  int64_t old;
  const int64_t ticks = (int64_t)(seconds * TICKS) + 1;
  return fetch_add(queue, DONE, ticks, &old);
}

tsl_err tsl_queue_done(tsl_queue *queue, double *seconds) {
  int64_t ticks = 0;
  const tsl_err err = fetch_add(queue, DONE, 0, &ticks);
  *seconds = (double)ticks / TICKS;
  return err;
}
