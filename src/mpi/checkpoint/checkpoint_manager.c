/* What a run and its phases have to do with checkpoints. */
#include "checkpoint_manager.h"

#include "bcast.h"
#include "collective_error.h"
#include "combine.h"
#include "complete_unit.h"
#include "heartbeat.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

char *tsl_checkpoints_path(const tsl_session *s, int slot, char path[1100]) {
  (void)snprintf(path, 1100, "%s.ckpt.%d", s->path, slot);
  return path;
}

/* ---- ready */

static const char *reason_against(const tsl_session *s) {
  if (s->run.checkpoint <= 0) return "run.checkpoint is 0";
  for (int f = 0; f < s->problem.n_fields && s->output.compress > 0; f++)
    if (s->problem.fields[f].stream && (s->problem.fields[f].role & TSL_OUT))
      return "output.compress packs rows as they come";
  return NULL;
}

/* On, or why not. */
static void switch_on(tsl_session *s) {
  s->checkpoints->why_not = reason_against(s);
  s->checkpoints->on = s->checkpoints->why_not == NULL;
}

/* Checksum of the IN fields of a family that cannot be restored. */
static uint64_t inputs_of(const tsl_session *s) {
  tsl_checksum sum = {0};
  if (s->family->restore != NULL) return 0; /* they change; restore looks at what stays */
  for (int f = 0; f < s->problem.n_fields; f++) {
    const tsl_field *field = &s->problem.fields[f];
    if ((field->role & TSL_IN) && !field->device)
      tsl_checksum_add(&sum, field->data, tsl_field_bytes(field));
  }
  return tsl_checksum_end(&sum);
}

tsl_err tsl_checkpoints_foresee(tsl_session *s) {
  tsl_err err = TSL_OK;
  TSL_COLLECTIVE_TRY(s->comm,
                     tsl_alloc(1, sizeof *s->checkpoints, "checkpoints", (void **)&s->checkpoints));
  switch_on(s);
done:
  return err;
}

static tsl_err set_up(tsl_session *s) {
  tsl_err err = TSL_OK;
  tsl_checkpoint_manager *k = s->checkpoints;
  k->between = s->family->restore != NULL;
  tsl_checkpoints_start_clock(s);
  if (s->options->restart != NULL && !k->on) TSL_FAIL(TSL_ERR_INPUT, "--restart: %s", k->why_not);
  if (s->options->walltime > 0 && !k->on)
    TSL_FAIL(TSL_ERR_INPUT, "--max-walltime: no checkpoint can be written: %s", k->why_not);
  TSL_TRY(tsl_alloc(s->units.n, 1, "finished units", (void **)&k->finished));
  if (s->rank == 0) k->inputs = inputs_of(s);
done:
  return err;
}

tsl_err tsl_checkpoints_recut(tsl_session *s) {
  tsl_checkpoint_manager *k = s->checkpoints;
  if (k == NULL || k->finished == NULL) return TSL_OK;
  tsl_free(k->finished);
  k->finished = NULL;
  return tsl_alloc(s->units.n, 1, "finished units", (void **)&k->finished);
}

static void mark_finished(tsl_checkpoint_manager *k, const tsl_out_unit *rows, int64_t n) {
  for (int64_t u = 0; u < n; u++) k->finished[rows[u].unit.id] = 1;
}

/* The traceback as far as it had come; the checkpoint itself does not last as long. */
static tsl_err take_walk(tsl_checkpoint_manager *k) {
  tsl_err err = TSL_OK;
  const tsl_checkpoint *from = &k->from;
  if (from->walk == NULL) return TSL_OK;
  TSL_TRY(tsl_alloc(from->n_steps, sizeof *k->steps, "steps of the solution", (void **)&k->steps));
  if (from->n_steps > 0) memcpy(k->steps, from->steps, (size_t)from->n_steps * sizeof *k->steps);
  k->n_steps = from->n_steps;
  k->cursor = *from->walk;
done:
  return err;
}

tsl_err tsl_checkpoints_ready(tsl_session *s) {
  tsl_err err = TSL_OK;
  tsl_checkpoint_manager *k = s->checkpoints;
  switch_on(s);
  TSL_COLLECTIVE_TRY(s->comm, set_up(s));
  if (s->options->restart == NULL) return TSL_OK;
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 ? tsl_checkpoints_fit(s) : TSL_OK);
  if (s->rank == 0) mark_finished(k, k->from.rows, k->from.head.n_rows);
  TSL_MPI(MPI_Bcast(&k->phase, 1, MPI_INT, 0, s->comm));
  TSL_TRY(tsl_bcast_bytes(s->comm, k->finished, s->units.n));
  for (int64_t u = 0; u < s->units.n && k->phase > 0; u++) s->units.list[u].phase0_skipped = 0;
  k->walks = s->family->shape == TSL_WAVE && tsl_checkpoints_stage(s, k->finished) == INT64_MAX;
  if (k->walks) TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 ? take_walk(k) : TSL_OK);
  if (k->between) TSL_TRY(tsl_bcast_inputs(s->comm, &s->problem));
  s->finished = k->finished;
  k->restart = k->safe = true;
  tsl_heart_saved(s->path, tsl_now());
done:
  return err;
}

bool tsl_checkpoints_resumes(const tsl_session *s) {
  for (int f = 0; f < s->problem.n_fields && s->checkpoints->restart; f++)
    if (tsl_checkpoints_streams(&s->problem.fields[f])) return true;
  return false;
}

/* ---- around the parts of a phase */

/* Rank 0: what the checkpoint holds, as if this rank had computed it. */
static tsl_err take_over(tsl_session *s, tsl_phase *phase) {
  tsl_err err = TSL_OK;
  const tsl_checkpoint *from = &s->checkpoints->from;
  const int n_fields = s->problem.n_fields;
  for (int64_t r = 0; r < from->head.n_rows; r++) {
    phase->log[phase->n_log] = from->rows[r];
    phase->log[phase->n_log].unit = s->units.list[from->rows[r].unit.id];
    phase->log[phase->n_log++].owner = -1;
  }
  for (int f = 0; f < n_fields; f++) {
    const tsl_field *field = &s->problem.fields[f];
    const int64_t bytes = tsl_field_bytes(field);
    if (from->counts[f] != NULL)
      TSL_TRY(tsl_complete_restore_lists(phase, f, NULL, from->counts[f], from->records[f]));
    if (from->data[f] == NULL || !(field->role & TSL_OUT)) continue;
    if (field->combine == TSL_GATHER || s->checkpoints->walks) {
      memcpy(field->data, from->data[f], (size_t)bytes);
      continue;
    }
    if (s->family->shape == TSL_WAVE) continue; /* the workers have them */
    TSL_TRY(tsl_alloc(bytes, 1, "accumulators so far", &s->checkpoints->base[f]));
    memcpy(s->checkpoints->base[f], from->data[f], (size_t)bytes);
  }
done:
  return err;
}

static tsl_err checkpoint_manager_prepare(tsl_session *s, tsl_phase *phase) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_complete_open(phase));
  if (s->checkpoints->from.bytes != NULL) TSL_TRY(take_over(s, phase));
  if (s->family->shape != TSL_WAVE) tsl_checkpoint_clear(&s->checkpoints->from);
done:
  return err;
}

static tsl_err tend(tsl_phase *phase) {
  tsl_session *s = phase->tender;
  const tsl_err err = tsl_checkpoints_tend(s);
  phase->pause_at = tsl_checkpoints_pause_at(s->checkpoints);
  return err;
}

tsl_err tsl_checkpoints_enter(tsl_session *s, tsl_phase *phase) {
  tsl_err err = TSL_OK;
  tsl_checkpoint_manager *k = s->checkpoints;
  if (k == NULL || !k->on) return TSL_OK;
  TSL_COLLECTIVE_TRY(s->comm, checkpoint_manager_prepare(s, phase));
  s->plan.finished = k->finished;
  phase->can_pause = !k->between && phase->index == 0; /* what later phases need is not saved */
  phase->hold = k->between;
  phase->pause_at = tsl_checkpoints_pause_at(k);
  phase->tend = tend;
  phase->tender = s;
done:
  return err;
}

/* Rank 0: accumulators of this part and of those before; kept when another part follows. */
static tsl_err fold(tsl_session *s, bool keep) {
  tsl_err err = TSL_OK;
  tsl_checkpoint_manager *k = s->checkpoints;
  for (int f = 0; f < s->problem.n_fields; f++) {
    const tsl_field *field = &s->problem.fields[f];
    const int64_t bytes = tsl_field_bytes(field);
    if (!tsl_combine_reduced(field)) continue;
    if (k->base[f] != NULL) TSL_TRY(tsl_combine_fold(field, k->base[f]));
    if (keep && k->base[f] == NULL)
      TSL_TRY(tsl_alloc(bytes, 1, "accumulators so far", &k->base[f]));
    if (keep) memcpy(k->base[f], field->data, (size_t)bytes);
  }
done:
  return err;
}

static void phase_is_over(tsl_session *s) {
  tsl_checkpoint_manager *k = s->checkpoints;
  memset(k->finished, 0, (size_t)s->units.n);
  s->plan.finished = NULL;
  s->finished = NULL;
  for (int f = 0; f < TSL_MAX_FIELDS; f++) {
    tsl_free(k->base[f]);
    k->base[f] = NULL;
  }
}

enum { GO_ON, SIGNAL, WALLTIME };

/* Why to end now, the same on all ranks. */
static tsl_err reason_to_end(tsl_session *s, int *reason) {
  tsl_err err = TSL_OK;
  *reason = GO_ON;
  if (s->rank == 0 && tsl_now() >= s->checkpoints->deadline) *reason = WALLTIME;
  if (tsl_stop_politely()) *reason = SIGNAL;
  TSL_MPI(MPI_Allreduce(MPI_IN_PLACE, reason, 1, MPI_INT, MPI_MAX, s->comm));
  if (*reason == WALLTIME && s->rank == 0 && tsl_stop_signal != 0) *reason = SIGNAL;
  TSL_MPI(MPI_Bcast(reason, 1, MPI_INT, 0, s->comm));
done:
  return err;
}

static tsl_err end_early(tsl_session *s, int reason) {
  tsl_err err = TSL_OK;
  const char *why = reason == SIGNAL ? "by a signal" : "before its time is over";
  const char *given = s->options->restart != NULL ? "" : " --restart ";
  if (!s->checkpoints->safe)
    TSL_FAIL(TSL_ERR_STOPPED, "stopped %s, and no checkpoint could be written; no output was left",
             why);
  TSL_FAIL(TSL_ERR_PAUSED, "stopped %s; continue with\n  %s%s%s", why, s->options->command, given,
           *given != '\0' ? s->path : "");
done:
  return err;
}

/* Save, and end or set the time of the next; the computation has waited since then. */
static tsl_err save_and_go_on(tsl_session *s, tsl_out *out, const tsl_phase *phase, int next,
                              double since) {
  tsl_err err = TSL_OK;
  int reason = GO_ON;
  TSL_TRY(tsl_checkpoints_save(s, out, phase, next));
  if (s->rank == 0) tsl_checkpoints_spend(s, tsl_now() - since);
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_CHECKPOINT));
  TSL_TRY(reason_to_end(s, &reason));
  if (reason == GO_ON) return TSL_OK;
  TSL_TRY(tsl_checkpoints_settle(s, out));
  TSL_TRY(end_early(s, reason));
done:
  return err;
}

/* When this rank began to wait: it had nothing more to compute, and a checkpoint was due. */
static double idle_since(const tsl_session *s, const tsl_phase *phase) {
  const double idle = fmax(phase->origin + phase->finish, s->checkpoints->due);
  return fmin(idle, tsl_now());
}

tsl_err tsl_checkpoints_leave(tsl_session *s, tsl_out *out, tsl_phase *phase) {
  tsl_err err = TSL_OK;
  tsl_checkpoint_manager *k = s->checkpoints;
  if (k == NULL || !k->on) return TSL_OK;
  if (s->family->shape != TSL_WAVE)
    TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 ? fold(s, phase->paused) : TSL_OK);
  if (phase->paused)
    TSL_TRY(save_and_go_on(s, out, phase, phase->index, idle_since(s, phase)));
  else
    phase_is_over(s);
done:
  return err;
}

/* Is it time for a checkpoint, the same on all ranks? */
static tsl_err is_due(tsl_session *s, bool *due) {
  tsl_err err = TSL_OK;
  int any = tsl_stop_politely();
  TSL_TRY(tsl_checkpoints_tend(s));
  any = any || (s->rank == 0 && tsl_now() >= tsl_checkpoints_pause_at(s->checkpoints));
  TSL_MPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, s->comm));
  *due = any != 0;
done:
  return err;
}

tsl_err tsl_checkpoints_between(tsl_session *s, tsl_out *out, int next) {
  tsl_err err = TSL_OK;
  const tsl_checkpoint_manager *k = s->checkpoints;
  const double since = tsl_now();
  bool due = false;
  if (k == NULL || !k->on || !k->between) return TSL_OK;
  TSL_TRY(is_due(s, &due));
  if (due) TSL_TRY(save_and_go_on(s, out, NULL, next, since));
done:
  return err;
}

/* ---- a walk */

/* The log of the phase that is over, as if it had paused before its end. */
static tsl_err reopen(tsl_session *s, const tsl_out_unit *log, int64_t n, tsl_phase *phase) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_complete_open(phase));
  if (s->rank != 0) return TSL_OK;
  memcpy(phase->log, log, (size_t)n * sizeof *phase->log);
  phase->n_log = n;
done:
  return err;
}

tsl_err tsl_checkpoints_walk(tsl_session *s, tsl_out *out, const tsl_out_unit *log, int64_t n,
                             const tsl_cursor *cursor) {
  tsl_err err = TSL_OK;
  const double since = tsl_now();
  tsl_phase phase = {.problem = &s->problem, .units = s->units.list, .plan = &s->plan};
  bool due = false;
  TSL_TRY(is_due(s, &due));
  if (!due) return TSL_OK;
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_TRACEBACK));
  TSL_COLLECTIVE_TRY(s->comm, reopen(s, log, n, &phase));
  s->checkpoints->cursor = *cursor;
  TSL_TRY(save_and_go_on(s, out, &phase, 0, since));
done:
  tsl_phase_clear(&phase);
  return err;
}

/* ---- the rest */

void tsl_checkpoints_print(const tsl_session *s, FILE *file) {
  const tsl_checkpoint_manager *k = s->checkpoints;
  if (k == NULL || s->run.checkpoint <= 0) return;
  if (!k->on)
    fprintf(file, "no checkpoints: %s\n", k->why_not);
  else if (k->restart && k->between)
    fprintf(file, "goes on from a checkpoint before phase %d\n", k->phase);
  else if (k->restart)
    fprintf(file, "goes on from a checkpoint with %lld of %lld units%s\n",
            (long long)k->from.head.n_rows, (long long)s->units.n,
            !k->walks        ? ""
            : k->n_steps > 0 ? "; the rest of the solution is left to recover"
                             : "; the solution is left to recover");
}

static void remove_files(const tsl_session *s) {
  char path[1100], half[1110];
  if (s->rank != 0) return;
  for (int slot = 0; slot < 2; slot++) {
    (void)unlink(tsl_checkpoints_path(s, slot, path));
    (void)snprintf(half, sizeof half, "%s.tmp", path); /* of a run that was killed meanwhile */
    (void)unlink(half);
  }
}

/* What the fields of state are of, after the last phase. */
static tsl_err keep_unfinished(tsl_session *s, int phase) {
  tsl_err err = TSL_OK;
  char keys[300];
  TSL_TRY(tsl_checkpoints_save(s, NULL, NULL, phase));
  TSL_TRY(tsl_checkpoints_settle(s, NULL));
  if (s->rank == 0 && s->checkpoints->safe)
    fprintf(stderr,
            "tesela: --restart %s --overwrite goes on from where this run ended; other values may "
            "be given of %s\n",
            s->path, tsl_checkpoints_free_keys(s, keys));
done:
  return err;
}

tsl_err tsl_checkpoints_end(tsl_session *s, const tsl_summary *summary) {
  tsl_err err = TSL_OK;
  tsl_checkpoint_manager *k = s->checkpoints;
  if (k == NULL || !k->on) return TSL_OK;
  if (summary->unfinished && k->between) return keep_unfinished(s, summary->phase);
  k->safe = false;
  remove_files(s);
  return err;
}

void tsl_checkpoints_free(tsl_session *s) {
  tsl_checkpoint_manager *k = s->checkpoints;
  if (k == NULL) return;
  for (int f = 0; f < TSL_MAX_FIELDS; f++) tsl_free(k->base[f]);
  if (k->several) (void)MPI_Comm_free(&k->hosts);
  tsl_checkpoint_clear(&k->from);
  TSL_FREE_ALL(k->finished, k->steps, k);
  s->checkpoints = NULL;
}
