/* A checkpoint that was gathered is written beside the computation. */
#include "checkpoint_manager.h"

#include "checkpoint_thread.h"
#include "collective_error.h"
#include "heartbeat.h"

#include <time.h>
#include <unistd.h>

/* ---- how it ended; root */

/* The one before may be gone, with its folder. */
static bool one_is_left(const tsl_session *s) {
  char path[1100];
  return access(tsl_checkpoints_path(s, 0, path), R_OK) == 0 ||
         access(tsl_checkpoints_path(s, 1, path), R_OK) == 0;
}

void tsl_checkpoints_warn(tsl_session *s, const tsl_err_copy *why) {
  tsl_checkpoint_manager *k = s->checkpoints;
  k->safe = k->safe && one_is_left(s);
  fprintf(stderr, "tesela: warning: no checkpoint: %s; %s\n", why->message,
          k->safe ? "the one before is kept" : "there is none yet");
}

/* On the thread. */
static void saved(void *checkpoints) {
  const tsl_checkpoint_manager *k = checkpoints;
  tsl_heart_saved(k->output, k->taken);
}

/* What the thread of this rank has to tell; it is over, or will be soon. */
static void collect(tsl_session *s) {
  tsl_checkpoint_manager *k = s->checkpoints;
  tsl_behind_end end;
  tsl_behind_wait(&k->behind, &end);
  if (end.rows.code != TSL_OK) k->rows = end.rows;
  if (end.checkpoint.code != TSL_OK) tsl_checkpoints_warn(s, &end.checkpoint);
  if (end.checkpoint.code != TSL_OK || end.bytes == 0) return;
  k->sequence++;
  k->written++;
  k->slot = 1 - k->slot;
  k->safe = true;
  tsl_checkpoints_put_off(s, tsl_now() - k->taken);
}

/* ---- the other hosts */

/* One rank of each host syncs what its host has written, where each rank writes. */
static tsl_err find_hosts(tsl_session *s, const tsl_out *out) {
  tsl_err err = TSL_OK;
  tsl_checkpoint_manager *k = s->checkpoints;
  bool several = false;
  if (k->looked || tsl_heart_alarm()) return TSL_OK;
  k->looked = true;
  for (int r = 0; r < s->size; r++) several = several || s->placements[r].node > 0;
  if (!several || !tsl_out_by_all(out)) return TSL_OK;
  TSL_MPI(MPI_Comm_split(s->comm, s->placements[s->rank].local_rank == 0 ? 0 : MPI_UNDEFINED,
                         s->rank, &k->hosts));
  if (k->hosts != MPI_COMM_NULL) TSL_MPI(MPI_Comm_set_errhandler(k->hosts, MPI_ERRORS_RETURN));
  k->several = k->hosts != MPI_COMM_NULL;
done:
  return err;
}

static tsl_err tell_hosts(tsl_checkpoint_manager *k) {
  tsl_err err = TSL_OK;
  k->all_synced = tsl_behind_rows_safe(k->behind);
  TSL_MPI(MPI_Iallreduce(MPI_IN_PLACE, &k->all_synced, 1, MPI_INT, MPI_MIN, k->hosts, &k->heard));
  k->meeting = true;
done:
  return err;
}

static void go(tsl_checkpoint_manager *k, bool commit) {
  k->apart = false;
  tsl_behind_go(k->behind, commit);
}

/* Have all hosts synced their rows? */
static tsl_err look_at_hosts(tsl_checkpoint_manager *k) {
  tsl_err err = TSL_OK;
  int heard = 0;
  if (!k->meeting && !tsl_behind_synced(k->behind)) return TSL_OK;
  if (!k->meeting) TSL_TRY(tell_hosts(k));
  TSL_MPI(MPI_Test(&k->heard, &heard, MPI_STATUS_IGNORE));
  if (heard) go(k, k->all_synced != 0);
done:
  return err;
}

/* Wait for them; when one is lost there is no knowing. */
static tsl_err wait_for_hosts(tsl_checkpoint_manager *k) {
  const struct timespec nap = {0, 1000 * 1000};
  tsl_err err = TSL_OK;
  while (k->apart && err == TSL_OK && !tsl_heart_alarm()) {
    err = look_at_hosts(k);
    if (k->apart) (void)nanosleep(&nap, NULL);
  }
  if (k->apart) go(k, false);
  return err;
}

/* ---- begin, tend, end */

static bool streams(const tsl_session *s) {
  for (int f = 0; f < s->problem.n_fields; f++)
    if (tsl_checkpoints_streams(&s->problem.fields[f])) return true;
  return false;
}

tsl_err tsl_checkpoints_flush(tsl_session *s, tsl_out *out) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_out_look(out));
  if (!streams(s)) return TSL_OK;
  TSL_TRY(tsl_out_flush(out));
  TSL_TRY(find_hosts(s, out));
done:
  return err;
}

/* This rank's part. When a rank is silent each of the others syncs its rows here and now. */
static tsl_err checkpoint_manager_write_begin(tsl_session *s, const tsl_out *out,
                                              tsl_checkpoint_writer *writer) {
  tsl_err err = TSL_OK;
  tsl_checkpoint_manager *k = s->checkpoints;
  const bool alarm = tsl_heart_alarm(), rows = out != NULL && streams(s);
  tsl_behind_work work = {.rows = -1, .writer = writer, .saved = saved, .state = k};
  k->meeting = false;
  k->apart = rows && k->several && !alarm;
  if (rows && (alarm || k->apart || s->rank == 0)) err = tsl_out_rows(out, &work.rows);
  if (err == TSL_OK && alarm) err = tsl_sync_rows(work.rows), work.rows = -1;
  if (err != TSL_OK) tsl_checkpoint_drop(&work.writer);
  if (err == TSL_OK && (work.rows >= 0 || writer != NULL))
    err = tsl_behind_start(&work, &k->behind);
  return err;
}

tsl_err tsl_checkpoints_write(tsl_session *s, tsl_out *out, tsl_checkpoint_writer *writer) {
  tsl_err err = TSL_OK;
  tsl_checkpoint_manager *k = s->checkpoints;
  TSL_COLLECTIVE_TRY(s->comm, checkpoint_manager_write_begin(s, out, writer));
  if (s->rank != 0 && !k->safe) tsl_heart_saved(k->output, 0); /* rank 0 will tell */
  if (k->behind != NULL && !k->apart) go(k, true);
  if (out != NULL && s->rank == 0) tsl_out_keep(out, true);
done: /* where another rank is lost or failed, this one's thread must not wait for leave */
  if (err != TSL_OK && k->behind != NULL) go(k, false);
  return err;
}

tsl_err tsl_checkpoints_tend(tsl_session *s) {
  tsl_err err = TSL_OK;
  tsl_checkpoint_manager *k = s->checkpoints;
  if (k->behind == NULL) return TSL_OK;
  if (k->apart) TSL_TRY(look_at_hosts(k));
  if (!k->apart && tsl_behind_over(k->behind)) collect(s);
done:
  return err;
}

/* The alarm is answered meanwhile. */
static tsl_err end_here(tsl_session *s) {
  const struct timespec nap = {0, 1000 * 1000};
  tsl_err err = TSL_OK;
  tsl_checkpoint_manager *k = s->checkpoints;
  if (k->behind != NULL) err = wait_for_hosts(k);
  while (k->behind != NULL && !tsl_behind_over(k->behind)) {
    if (tsl_heart_alarm()) tsl_heart_answer();
    (void)nanosleep(&nap, NULL);
  }
  if (k->behind != NULL) collect(s);
  return err == TSL_OK && k->rows.code != TSL_OK ? tsl_err_restore(&k->rows) : err;
}

tsl_err tsl_checkpoints_settle(tsl_session *s, tsl_out *out) {
  tsl_err err = TSL_OK;
  tsl_checkpoint_manager *k = s->checkpoints;
  if (k == NULL || !k->on) return TSL_OK;
  TSL_COLLECTIVE_TRY(s->comm, end_here(s));
  TSL_MPI(MPI_Bcast(&k->safe, 1, MPI_C_BOOL, 0, s->comm));
  if (out != NULL) tsl_out_keep(out, k->safe);
done:
  return err;
}

void tsl_checkpoints_abandon(tsl_session *s) {
  tsl_checkpoint_manager *k = s->checkpoints;
  if (k == NULL || k->behind == NULL) return;
  if (k->apart) (void)look_at_hosts(k);
  if (k->apart) go(k, false);
  collect(s);
}
