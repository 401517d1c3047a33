/* Living ranks report to rank 0, form a communicator of their own, and save a checkpoint from what
 * they hold. */
#include "survivors.h"

#include "checkpoint_manager.h"
#include "collective_error.h"
#include "combine.h"
#include "complete_unit.h"
#include "heartbeat.h"

enum { TAG_HERE = 50, TAG_MEMBERS, TAG_COMM };

/* The meeting; plain arrays. */
typedef struct meeting {
  tsl_session *s;
  int *members; /* [n] ranks that save, ascending; rank 0 first */
  int n;
  int *here;             /* [size] rank 0: 1 when the rank has come */
  MPI_Request *requests; /* [size] rank 0: of here */
} meeting;

static tsl_err open_meeting(meeting *m) {
  tsl_err err = TSL_OK;
  const int size = m->s->size;
  TSL_TRY(tsl_alloc(size, sizeof *m->members, "living ranks", (void **)&m->members));
  TSL_TRY(tsl_alloc(size, sizeof *m->here, "living ranks", (void **)&m->here));
  TSL_TRY(tsl_alloc(size, sizeof *m->requests, "living ranks", (void **)&m->requests));
done:
  return err;
}

/* ---- rank 0 */

static tsl_err call(meeting *m) {
  tsl_err err = TSL_OK;
  for (int r = 1; r < m->s->size; r++)
    TSL_MPI(MPI_Irecv(&m->here[r], 1, MPI_INT, r, TAG_HERE, m->s->comm, &m->requests[r]));
done:
  return err;
}

/* Each of the others comes, or is gone. */
static tsl_err count(meeting *m) {
  tsl_err err = TSL_OK;
  m->members[m->n++] = 0;
  for (int r = 1; r < m->s->size; r++) {
    err = tsl_mpi_wait(&m->requests[r], r, 0);
    if (err == TSL_OK && m->here[r]) m->members[m->n++] = r;
    if (err == TSL_ERR_LOST) err = TSL_OK;
    if (err != TSL_OK) break;
  }
  return err;
}

/* Who came hears who takes part. */
static tsl_err answer(const meeting *m) {
  tsl_err err = TSL_OK;
  for (int k = 1; k < m->n; k++)
    TSL_MPI(MPI_Send(m->members, m->n, MPI_INT, m->members[k], TAG_MEMBERS, m->s->comm));
done:
  return err;
}

static tsl_err hold(meeting *m) {
  tsl_err err = TSL_OK;
  TSL_TRY(call(m));
  TSL_TRY(count(m));
  TSL_TRY(answer(m));
done:
  return err;
}

/* ---- other ranks: those with nothing to save do not come */

static tsl_err come(meeting *m) {
  tsl_err err = TSL_OK;
  MPI_Request request = MPI_REQUEST_NULL;
  const int here = 1;
  TSL_MPI(MPI_Send(&here, 1, MPI_INT, 0, TAG_HERE, m->s->comm));
  TSL_MPI(MPI_Irecv(m->members, m->s->size, MPI_INT, 0, TAG_MEMBERS, m->s->comm, &request));
  TSL_TRY(tsl_mpi_wait(&request, 0, 0));
  while (m->n < m->s->size && (m->n == 0 || m->members[m->n] > 0)) m->n++;
done:
  return err;
}

/* ---- all that came */

static tsl_err make_comm(const meeting *m, MPI_Comm *living) {
  tsl_err err = TSL_OK;
  MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
  TSL_MPI(MPI_Comm_group(m->s->comm, &all));
  TSL_MPI(MPI_Group_incl(all, m->n, m->members, &some));
  TSL_MPI(MPI_Comm_create_group(m->s->comm, some, TAG_COMM, living));
  TSL_MPI(MPI_Comm_set_errhandler(*living, MPI_ERRORS_RETURN));
done:
  if (some != MPI_GROUP_NULL) (void)MPI_Group_free(&some);
  if (all != MPI_GROUP_NULL) (void)MPI_Group_free(&all);
  return err;
}

/* The session and the phase as those see it who live. */
static tsl_err see(const meeting *m, MPI_Comm living, tsl_session *view, tsl_phase *part) {
  tsl_err err = TSL_OK;
  view->comm = part->comm = living;
  TSL_MPI(MPI_Comm_rank(living, &view->rank));
  TSL_MPI(MPI_Comm_size(living, &view->size));
  for (int64_t k = 0; k < part->n_log; k++)
    if (part->log[k].owner == m->s->rank) part->log[k].owner = view->rank;
  part->paused = true;
done:
  return err;
}

/* ---- what is saved */

typedef struct task_state {
  tsl_task task;
  tsl_session *session;
} task_state;

static tsl_err collect(tsl_task *task) {
  const task_state *e = (const task_state *)task;
  const tsl_executor *st = &e->session->executor;
  return st->backend->collect != NULL ? st->backend->collect(st->worker, &e->session->problem)
                                      : TSL_OK;
}

/* Rank 0: rows and lists of the units, of which there are n, from the last checkpoint. */
static tsl_err take_from_file(const tsl_session *s, tsl_phase *phase, const uint8_t *units,
                              int64_t n) {
  tsl_err err = TSL_OK;
  char path[1100];
  tsl_checkpoint from = {.bytes = NULL};
  TSL_TRY(tsl_checkpoint_read(tsl_checkpoints_path(s, 1 - s->checkpoints->slot, path), &from));
  for (int64_t r = 0; r < from.head.n_rows; r++) {
    if (!units[from.rows[r].unit.id]) continue;
    phase->log[phase->n_log] = from.rows[r];
    phase->log[phase->n_log++].owner = -1;
    n--;
  }
  for (int f = 0; f < s->problem.n_fields; f++)
    if (from.counts[f] != NULL)
      TSL_TRY(tsl_complete_restore_lists(phase, f, units, from.counts[f], from.records[f]));
  if (n != 0)
    TSL_FAIL(TSL_ERR_IO, "%s: %lld units that a silent rank had finished are not in it", path,
             (long long)n);
done:
  tsl_checkpoint_clear(&from);
  return err;
}

/* What the silent ranks had finished by the last pause is in the sums that were made then, but they
 * cannot tell of it: it is taken from the file. */
static tsl_err cover_lost(const tsl_session *view, tsl_phase *phase) {
  tsl_err err = TSL_OK;
  uint8_t *units = NULL;
  int64_t n = 0;
  TSL_COLLECTIVE_TRY(view->comm, tsl_alloc(view->units.n, 1, "finished units", (void **)&units));
  for (int64_t k = 0; k < phase->n_log; k++) units[phase->log[k].unit.id] = 1;
  TSL_MPI(MPI_Allreduce(MPI_IN_PLACE, units, (int)view->units.n, MPI_UINT8_T, MPI_MAX, view->comm));
  for (int64_t u = 0; u < view->units.n; u++) {
    units[u] = view->checkpoints->finished[u] && !units[u];
    n += units[u];
  }
  TSL_COLLECTIVE_TRY(view->comm,
                     n > 0 && view->rank == 0 ? take_from_file(view, phase, units, n) : TSL_OK);
done:
  tsl_free(units);
  return err;
}

/* Within a phase: finished units and what they have summed. */
static tsl_err save_units(const meeting *m, tsl_out *out, tsl_phase *phase) {
  tsl_err err = TSL_OK;
  MPI_Comm living = MPI_COMM_NULL;
  tsl_session view = *m->s;
  TSL_TRY(make_comm(m, &living));
  TSL_TRY(see(m, living, &view, phase));
  TSL_TRY(cover_lost(&view, phase));
  TSL_TRY(tsl_combine_reduce(living, &view.problem));
  TSL_TRY(tsl_checkpoints_leave(&view, out, phase));
  TSL_TRY(tsl_checkpoints_settle(&view, out));
done:
  return err;
}

static tsl_err meet_and_save(tsl_session *s, tsl_out *out, tsl_phase *phase) {
  tsl_err err = TSL_OK;
  meeting m = {.s = s};
  task_state e = {.task.run = collect, .session = s};
  TSL_TRY(tsl_compute_thread_call(s->executor.thread, &e.task));
  TSL_TRY(open_meeting(&m));
  TSL_TRY(s->rank == 0 ? hold(&m) : come(&m));
  TSL_TRY(save_units(&m, out, phase));
done: /* the lists stay: MPI may still write there */
  return err;
}

/* Between phases rank 0 has all; it is as it was before this one. */
static tsl_err save_states(tsl_session *s, tsl_out *out, int next) {
  tsl_err err = TSL_OK;
  int rank = 0;
  const meeting m = {.s = s, .members = &rank, .n = 1};
  MPI_Comm alone = MPI_COMM_NULL;
  tsl_session view = *s;
  tsl_phase none = {.n_log = 0};
  if (s->rank != 0 || next == s->checkpoints->phase) return TSL_OK;
  TSL_TRY(make_comm(&m, &alone));
  TSL_TRY(see(&m, alone, &view, &none));
  TSL_TRY(tsl_checkpoints_save(&view, out, NULL, next));
  TSL_TRY(tsl_checkpoints_settle(&view, out));
done:
  return err;
}

void tsl_survivors_save(tsl_session *s, tsl_out *out, tsl_phase *phase) {
  tsl_err err = TSL_OK;
  const tsl_checkpoint_manager *k = s->checkpoints;
  int written = 0;
  if (k == NULL || !k->on || out == NULL || s->family->shape == TSL_WAVE) return;
  if (tsl_heart_gone(0) || !(k->between || (phase->can_pause && phase->drained))) return;
  tsl_heart_save();
  tsl_checkpoints_abandon(s);
  written = k->written;
  err = k->between ? save_states(s, out, phase->index) : meet_and_save(s, out, phase);
  s->rescued = k->written > written;
  if (err == TSL_OK || err == TSL_ERR_LOST || err == TSL_ERR_PAUSED || s->rank != 0) return;
  fprintf(stderr, "tesela: warning: what is done could not be saved: %s\n", tsl_err_message());
}
