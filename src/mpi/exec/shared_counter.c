/* The window of cells on rank 0, and atomic operations on them: in shared memory on one host, else
 * by MPI RMA. */
#include "shared_counter.h"

#include "collective_error.h"
#include "heartbeat.h"

#include <stdatomic.h>
#include <string.h>

/* Cells: ABORT, a range for each rank, and what each rank has told of itself, NEWS words. */
enum { ABORT, RANGES };
enum { SLOWER, DONE, NEWS };

static const int64_t PAUSE = INT64_C(1) << 32; /* added to ABORT; below it: ranks that abort */

struct tsl_shared_counter {
  MPI_Comm comm; /* not owned */
  MPI_Win window;
  int64_t *cells;          /* on rank 0 */
  _Atomic int64_t *shared; /* the same as all ranks of one host see them; else NULL */
  int rank, size;
  int64_t add, old;   /* what is under way to a cell and back; not on the stack: see tsl_mpi_wait */
  double news[NEWS];  /* of this rank */
  int64_t sent[NEWS]; /* the same on their way, which nobody waits for, as bits */
  bool changed;       /* since they were sent */
  MPI_Request telling;
  int64_t flags, asked_flags; /* of ABORT: as last seen, and what is being read */
  MPI_Request asking;
  int64_t words[]; /* [size] ranges and [size][NEWS] as read from the window */
};

/* ---- the window */

/* On one host the cells are shared memory and operations the processor's: an MPI may answer its own
 * there, too, only when rank 0 calls it, as MPICH does. */
static tsl_err open_window(tsl_shared_counter *counter) {
  tsl_err err = TSL_OK;
  const int n_cells = RANGES + (1 + NEWS) * counter->size;
  const MPI_Aint bytes = counter->rank == 0 ? (MPI_Aint)n_cells * (MPI_Aint)sizeof(int64_t) : 0;
  MPI_Aint size = 0;
  int unit = 0;
  bool one_host = false;
  TSL_TRY(tsl_on_one_host(counter->comm, &one_host));
  if (one_host)
    TSL_MPI(MPI_Win_allocate_shared(bytes, sizeof(int64_t), MPI_INFO_NULL, counter->comm,
                                    &counter->cells, &counter->window));
  else if (MPI_Win_allocate(bytes, sizeof(int64_t), MPI_INFO_NULL, counter->comm, &counter->cells,
                            &counter->window) != MPI_SUCCESS)
    TSL_FAIL(TSL_ERR_MPI,
             "this MPI has no window over several nodes, by which ranks take units from each "
             "other; Open MPI 4 has one with OMPI_MCA_osc=sm,rdma,pt2pt in the environment");
  TSL_MPI(MPI_Win_set_errhandler(counter->window, MPI_ERRORS_RETURN));
  if (one_host)
    TSL_MPI(MPI_Win_shared_query(counter->window, 0, &size, &unit, (void *)&counter->shared));
  for (int k = 0; counter->rank == 0 && k < n_cells; k++) counter->cells[k] = 0;
  TSL_MPI(MPI_Barrier(counter->comm));
  TSL_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, counter->window));
done:
  return err;
}

tsl_err tsl_counter_open(MPI_Comm comm, tsl_shared_counter **out) {
  tsl_err err = TSL_OK;
  tsl_shared_counter *counter = NULL;
  int rank = 0, size = 1;
  TSL_MPI(MPI_Comm_rank(comm, &rank));
  TSL_MPI(MPI_Comm_size(comm, &size));
  const size_t bytes = sizeof *counter + (1 + NEWS) * (size_t)size * sizeof *counter->words;
  TSL_COLLECTIVE_TRY(comm, tsl_alloc(1, bytes, "shared counter", (void **)&counter));
  *counter = (tsl_shared_counter){.comm = comm,
                                  .window = MPI_WIN_NULL,
                                  .telling = MPI_REQUEST_NULL,
                                  .asking = MPI_REQUEST_NULL,
                                  .rank = rank,
                                  .size = size};
  TSL_TRY(open_window(counter));
  *out = counter;
  counter = NULL;
done:
  tsl_free(counter);
  return err;
}

void tsl_counter_close(tsl_shared_counter **counter) {
  tsl_shared_counter *q = *counter;
  *counter = NULL;
  /* Else the others would wait for the rank that is silent, and MPI may still write here. */
  if (q == NULL || tsl_heart_alarm()) return;
  (void)MPI_Wait(&q->telling, MPI_STATUS_IGNORE);
  (void)MPI_Wait(&q->asking, MPI_STATUS_IGNORE);
  (void)MPI_Win_unlock_all(q->window);
  (void)MPI_Win_free(&q->window);
  tsl_free(q);
}

/* ---- asking and telling rank 0. Over a network it answers when its main thread comes by: who
 * waits for it sleeps meanwhile (MPI_Win_flush would take a core from the threads that compute). */

/* Read n words from a cell on; *request completes when they are there. */
static tsl_err ask(tsl_shared_counter *counter, int cell, int n, int64_t *words,
                   MPI_Request *request) {
  tsl_err err = TSL_OK;
  if (counter->shared != NULL) {
    for (int k = 0; k < n; k++) words[k] = counter->shared[cell + k];
    return TSL_OK;
  }
  TSL_MPI(MPI_Rget_accumulate(NULL, 0, MPI_INT64_T, words, n, MPI_INT64_T, 0, cell, n, MPI_INT64_T,
                              MPI_NO_OP, counter->window, request));
done:
  return err;
}

/* Wait for an answer. Rank 0 has its own at once, and comes to the others' questions. */
static tsl_err hear(tsl_shared_counter *counter, MPI_Request *request) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_mpi_wait(request, 0, 0));
  if (counter->rank == 0 && counter->shared == NULL) TSL_MPI(MPI_Win_flush(0, counter->window));
done:
  return err;
}

/* counter->old = cell; cell += add. */
static tsl_err fetch_add(tsl_shared_counter *counter, int cell, int64_t add) {
  tsl_err err = TSL_OK;
  MPI_Request request = MPI_REQUEST_NULL;
  if (counter->shared != NULL) {
    counter->old = atomic_fetch_add(&counter->shared[cell], add);
    return TSL_OK;
  }
  counter->add = add;
  TSL_MPI(MPI_Rget_accumulate(&counter->add, 1, MPI_INT64_T, &counter->old, 1, MPI_INT64_T, 0, cell,
                              1, MPI_INT64_T, MPI_SUM, counter->window, &request));
  TSL_TRY(hear(counter, &request));
done:
  return err;
}

/* Send what is new of this rank, as soon as what left before it has arrived. */
static tsl_err tell(tsl_shared_counter *counter) {
  tsl_err err = TSL_OK;
  const int cell = RANGES + counter->size + NEWS * counter->rank;
  int gone = 0;
  TSL_MPI(MPI_Test(&counter->telling, &gone, MPI_STATUS_IGNORE));
  if (!gone || !counter->changed) return TSL_OK;
  counter->changed = false;
  memcpy(counter->sent, counter->news, sizeof counter->sent);
  if (counter->shared != NULL) {
    for (int k = 0; k < NEWS; k++) counter->shared[cell + k] = counter->sent[k];
    return TSL_OK;
  }
  TSL_MPI(MPI_Raccumulate(counter->sent, NEWS, MPI_INT64_T, 0, cell, NEWS, MPI_INT64_T, MPI_REPLACE,
                          counter->window, &counter->telling));
done:
  return err;
}

/* What all ranks have left and have told: counter->words. */
static tsl_err look(tsl_shared_counter *counter) {
  tsl_err err = TSL_OK;
  MPI_Request request = MPI_REQUEST_NULL;
  TSL_TRY(ask(counter, RANGES, (1 + NEWS) * counter->size, counter->words, &request));
  TSL_TRY(hear(counter, &request));
done:
  return err;
}

static double told(const tsl_shared_counter *counter, int rank, int what) {
  double value;
  memcpy(&value, &counter->words[counter->size + NEWS * rank + what], sizeof value);
  return value;
}

/* ---- ranges: front and back in one word that is only ever added to. An addition that goes too far
 * empties the range for good, and who made it got all that was left. (MPI_Compare_and_swap on a
 * rank's own window crashes in Open MPI 4.1.4.) */

static const int64_t FRONT = INT64_C(1) << 32;  /* a step of front */
static const int64_t OFFSET = INT64_C(1) << 30; /* keeps back positive */

static int64_t pack(tsl_range range) {
  return range.front * FRONT + range.back + OFFSET;
}

static tsl_range unpack(int64_t word) {
  return (tsl_range){(int32_t)(word / FRONT), (int32_t)(word % FRONT - OFFSET)};
}

tsl_err tsl_counter_set_range(tsl_shared_counter *counter, tsl_range range) {
  return fetch_add(counter, RANGES + counter->rank, pack(range)); /* to 0, as cells are at first */
}

tsl_err tsl_counter_take_range(tsl_shared_counter *counter, int owner, int32_t n, tsl_range *got) {
  tsl_err err = TSL_OK;
  const bool own = owner == counter->rank;
  TSL_TRY(fetch_add(counter, RANGES + owner, own ? n * FRONT : -n));
  *got = unpack(counter->old);
  if (own && got->front + n < got->back) got->back = got->front + n;
  if (!own && got->back - n > got->front) got->front = got->back - n;
done:
  return err;
}

tsl_err tsl_counter_read(tsl_shared_counter *counter, double *slower, tsl_range *left) {
  tsl_err err = TSL_OK;
  TSL_TRY(look(counter));
  for (int r = 0; r < counter->size; r++) {
    const double ratio = told(counter, r, SLOWER); /* 0: it has not */
    slower[r] = ratio > 0 ? ratio : 1;
    left[r] = unpack(counter->words[r]);
  }
done:
  return err;
}

/* ---- speeds, abort, progress */

tsl_err tsl_counter_slower(tsl_shared_counter *counter, double ratio) {
  counter->news[SLOWER] = ratio;
  counter->changed = true;
  return tell(counter);
}

tsl_err tsl_counter_abort(tsl_shared_counter *counter) {
  return fetch_add(counter, ABORT, 1);
}

tsl_err tsl_counter_pause(tsl_shared_counter *counter) {
  return fetch_add(counter, ABORT, PAUSE);
}

/* The flags as the last answer has them, and the next question. */
tsl_err tsl_counter_aborted(tsl_shared_counter *counter, bool *aborted, bool *paused) {
  tsl_err err = TSL_OK;
  int answered = 0;
  TSL_TRY(tell(counter));
  if (counter->asking == MPI_REQUEST_NULL)
    TSL_TRY(ask(counter, ABORT, 1, &counter->asked_flags, &counter->asking));
  TSL_MPI(MPI_Test(&counter->asking, &answered, MPI_STATUS_IGNORE));
  if (answered) counter->flags = counter->asked_flags;
  *aborted = counter->flags % PAUSE != 0;
  *paused = counter->flags / PAUSE != 0;
done:
  return err;
}

tsl_err tsl_counter_add_done(tsl_shared_counter *counter, double seconds) {
  counter->news[DONE] += seconds;
  counter->changed = true;
  return tell(counter);
}

tsl_err tsl_counter_done(tsl_shared_counter *counter, double *seconds) {
  tsl_err err = TSL_OK;
  *seconds = 0;
  TSL_TRY(look(counter));
  for (int r = 0; r < counter->size; r++) *seconds += told(counter, r, DONE);
done:
  return err;
}
