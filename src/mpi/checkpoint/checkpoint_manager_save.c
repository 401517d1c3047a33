/* A checkpoint is gathered on rank 0. */
#include "checkpoint_manager.h"

#include "bcast.h"
#include "collective_error.h"
#include "gather.h"
#include "result_writer.h"
#include "version.h"

#include <stdlib.h>
#include <string.h>

enum { TAG_LIST = 40 };

bool tsl_checkpoints_streams(const tsl_field *field) {
  return (field->role & TSL_OUT) && field->combine == TSL_GATHER && field->stream && !field->hidden;
}

static bool is_list(const tsl_field *field) {
  return (field->role & TSL_OUT) && field->combine == TSL_LIST;
}

bool tsl_checkpoints_saves(const tsl_checkpoint_manager *checkpoints, const tsl_field *field) {
  if (field->role & TSL_STATE) return true;
  return !checkpoints->between && (field->role & TSL_OUT) && field->combine != TSL_LIST &&
         !field->stream;
}

/* The checkpoint on rank 0; after a failure the rest of the gathering goes on without it. */
typedef struct sink {
  tsl_checkpoint_writer *writer; /* NULL: failed, or another rank */
  tsl_err_copy why;
} sink;

static void checkpoint_manager_save_settle(sink *to, tsl_err err) {
  if (err == TSL_OK) return;
  tsl_err_save(err, &to->why);
  tsl_checkpoint_drop(&to->writer);
}

static void checkpoint_manager_save_add(sink *to, tsl_block tag, int index, const void *bytes,
                                        int64_t n) {
  if (to->writer != NULL)
    checkpoint_manager_save_settle(to, tsl_checkpoint_add(to->writer, tag, index, bytes, n));
}

static void checkpoint_manager_save_put(sink *to, const void *bytes, int64_t n) {
  if (to->writer != NULL)
    checkpoint_manager_save_settle(to, tsl_checkpoint_put(to->writer, bytes, n));
}

/* ---- lists */

static int64_t record_bytes(const tsl_field *field) {
  return tsl_field_row(field) * (int64_t)tsl_type_bytes((tsl_type)field->type);
}

/* The records of a finished unit, from here or from its owner. */
static tsl_err put_list(tsl_session *s, const tsl_phase *phase, int f, int64_t unit, int owner,
                        int64_t bytes, sink *to) {
  tsl_err err = TSL_OK;
  const tsl_list *list = &phase->lists.of[unit * s->problem.n_fields + f];
  void *received = NULL;
  if (owner <= 0) {
    checkpoint_manager_save_put(to, list->data, bytes);
    return TSL_OK;
  }
  TSL_TRY(tsl_alloc(bytes, 1, "records", &received));
  TSL_TRY(tsl_bcast_receive(s->comm, owner, TAG_LIST, received, bytes));
  checkpoint_manager_save_put(to, received, bytes);
done:
  tsl_free(received);
  return err;
}

static tsl_err collect_lists(tsl_session *s, const tsl_phase *phase, int f, const int64_t *counts,
                             const int32_t *owner, sink *to) {
  tsl_err err = TSL_OK;
  const int64_t record = record_bytes(&s->problem.fields[f]);
  int64_t sum = 0;
  for (int64_t u = 0; u < s->units.n; u++) sum += counts[u];
  checkpoint_manager_save_add(to, TSL_BLOCK_COUNTS, f, counts,
                              s->units.n * (int64_t)sizeof *counts);
  if (to->writer != NULL)
    checkpoint_manager_save_settle(
        to, tsl_checkpoint_block(to->writer, TSL_BLOCK_RECORDS, f, sum * record));
  if (sum == 0) checkpoint_manager_save_put(to, "", 0);
  for (int64_t u = 0; u < s->units.n; u++)
    if (counts[u] > 0) TSL_TRY(put_list(s, phase, f, u, owner[u], counts[u] * record, to));
done:
  return err;
}

static tsl_err send_lists(tsl_session *s, const tsl_phase *phase, int f) {
  tsl_err err = TSL_OK;
  const int64_t record = record_bytes(&s->problem.fields[f]);
  for (int64_t u = 0; u < s->units.n; u++) { /* in the order in which rank 0 takes them */
    const tsl_list *list = &phase->lists.of[u * s->problem.n_fields + f];
    if (list->n > 0) TSL_TRY(tsl_bcast_send(s->comm, 0, TAG_LIST, list->data, list->n * record));
  }
done:
  return err;
}

/* Records of each unit on this rank; NaN must not get into a checkpoint. */
static tsl_err count_list(const tsl_session *s, const tsl_phase *phase, int f, int64_t *counts) {
  tsl_err err = TSL_OK;
  const tsl_field *field = &s->problem.fields[f];
  const int64_t elements = tsl_field_row(field);
  for (int64_t u = 0; u < s->units.n; u++) {
    const tsl_list *list = &phase->lists.of[u * s->problem.n_fields + f];
    counts[u] = list->n;
    if (tsl_first_bad(field, list->data, list->n * elements) >= 0)
      TSL_FAIL(TSL_ERR_NUMERIC, "field '%s': %s in a record of unit %lld", field->name,
               tsl_bad_word(field), (long long)u);
  }
done:
  return err;
}

static tsl_err gather_list(tsl_session *s, const tsl_phase *phase, int f, const int32_t *owner,
                           sink *to) {
  tsl_err err = TSL_OK;
  int64_t *counts = NULL;
  TSL_COLLECTIVE_TRY(s->comm,
                     tsl_alloc(s->units.n, sizeof *counts, "record counts", (void **)&counts));
  TSL_COLLECTIVE_TRY(s->comm, count_list(s, phase, f, counts));
  TSL_MPI(MPI_Reduce(s->rank == 0 ? MPI_IN_PLACE : counts, s->rank == 0 ? counts : NULL,
                     (int)s->units.n, MPI_INT64_T, MPI_SUM, 0, s->comm));
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 ? collect_lists(s, phase, f, counts, owner, to)
                                           : send_lists(s, phase, f));
done:
  tsl_free(counts);
  return err;
}

/* ---- all but the lists; rank 0 */

static void add_head(const tsl_session *s, int64_t n_rows, int next, sink *to) {
  const tsl_checkpoint_manager *k = s->checkpoints;
  const char version[] = "tesela " TSL_VERSION " (" TSL_GIT_HASH ")";
  tsl_checkpoint_head head;
  memset(&head, 0, sizeof head); /* the bytes between members, too */
  head.sequence = k->sequence + 1;
  head.phase = next;
  head.n_units = s->units.n, head.n_rows = n_rows, head.n_fields = s->problem.n_fields;
  head.inputs = k->inputs;
  head.limits = s->limits;
  head.seconds = k->before + tsl_now() - s->opened;
  checkpoint_manager_save_add(to, TSL_BLOCK_HEAD, 0, &head, (int64_t)sizeof head);
  checkpoint_manager_save_add(to, TSL_BLOCK_VERSION, 0, version, (int64_t)sizeof version);
  checkpoint_manager_save_add(to, TSL_BLOCK_FAMILY, 0, s->family->name,
                              (int64_t)strlen(s->family->name) + 1);
}

static tsl_err add_deck(const tsl_session *s, sink *to) {
  tsl_err err = TSL_OK;
  char *resolved = NULL;
  TSL_TRY(tsl_deck_resolved(s->deck, &resolved));
  checkpoint_manager_save_add(to, TSL_BLOCK_DECK, 0, resolved, (int64_t)strlen(resolved) + 1);
done:
  free(resolved);
  return err;
}

static void add_fields(const tsl_session *s, sink *to) {
  tsl_checkpoint_field fields[TSL_MAX_FIELDS];
  memset(fields, 0, sizeof fields);
  for (int f = 0; f < s->problem.n_fields; f++) {
    const tsl_field *field = &s->problem.fields[f];
    (void)snprintf(fields[f].name, sizeof fields[f].name, "%s", field->name);
    memcpy(fields[f].shape, field->shape, sizeof fields[f].shape);
    fields[f].type = field->type, fields[f].combine = field->combine;
    fields[f].role = field->role, fields[f].stream = field->stream;
    fields[f].place = s->checkpoints->place[f];
  }
  checkpoint_manager_save_add(to, TSL_BLOCK_FIELDS, 0, fields,
                              s->problem.n_fields * (int64_t)sizeof *fields);
  for (int f = 0; f < s->problem.n_fields; f++)
    if (tsl_checkpoints_saves(s->checkpoints, &s->problem.fields[f]) &&
        s->problem.fields[f].data != NULL)
      checkpoint_manager_save_add(to, TSL_BLOCK_DATA, f, s->problem.fields[f].data,
                                  tsl_field_bytes(&s->problem.fields[f]));
}

static tsl_err begin_file(tsl_session *s, const tsl_out_unit *rows, int64_t n_rows, int next,
                          sink *to) {
  tsl_err err = TSL_OK;
  char path[1100];
  checkpoint_manager_save_settle(
      to, tsl_checkpoint_create(tsl_checkpoints_path(s, s->checkpoints->slot, path),
                                tsl_memory_free() / 2, &to->writer));
  add_head(s, n_rows, next, to);
  TSL_TRY(add_deck(s, to));
  checkpoint_manager_save_add(to, TSL_BLOCK_UNITS, 0, s->units.list,
                              s->units.n * (int64_t)sizeof *s->units.list);
  checkpoint_manager_save_add(to, TSL_BLOCK_ROWS, 0, rows, n_rows * (int64_t)sizeof *rows);
  add_fields(s, to);
done:
  return err;
}

/* ---- tiles of a WAVE family */

/* The traceback as far as it has come; rank 0. */
static void add_walk(const tsl_session *s, sink *to) {
  const tsl_cursor *cursor = &s->checkpoints->cursor;
  const int64_t(*steps)[2] = NULL;
  int64_t n = 0;
  if (s->family->traceback_so_far != NULL) s->family->traceback_so_far(&s->problem, &steps, &n);
  if (n == 0 || to->writer == NULL) return;
  const int64_t bytes = n * (int64_t)sizeof *steps;
  checkpoint_manager_save_settle(
      to, tsl_checkpoint_block(to->writer, TSL_BLOCK_WALK, 0, (int64_t)sizeof *cursor + bytes));
  checkpoint_manager_save_put(to, cursor, (int64_t)sizeof *cursor);
  checkpoint_manager_save_put(to, steps, bytes);
}

static void begin_tiles(void *state, const int64_t *tiles, int64_t n, int64_t bytes) {
  sink *to = state;
  checkpoint_manager_save_add(to, TSL_BLOCK_TILES, 0, tiles, n * (int64_t)sizeof *tiles);
  if (to->writer != NULL)
    checkpoint_manager_save_settle(to,
                                   tsl_checkpoint_block(to->writer, TSL_BLOCK_STATES, 0, bytes));
  if (bytes == 0) checkpoint_manager_save_put(to, "", 0);
}

static void put_tile(void *state, const void *bytes, int64_t n) {
  checkpoint_manager_save_put(state, bytes, n);
}

/* ---- the whole */

/* Who computed what, and what is finished, on all ranks. */
static tsl_err gather_log(tsl_session *s, const tsl_phase *phase, tsl_out_unit **rows,
                          int64_t *n_rows, int32_t **owner) {
  tsl_err err = TSL_OK;
  void *all = NULL;
  TSL_TRY(tsl_gather_rows(s->comm, phase->log, phase->n_log, sizeof *phase->log, &all, n_rows));
  *rows = all;
  TSL_COLLECTIVE_TRY(s->comm, tsl_alloc(s->units.n, sizeof **owner, "unit owners", (void **)owner));
  for (int64_t r = 0; r < *n_rows; r++) {
    (*owner)[(*rows)[r].unit.id] = (*rows)[r].owner;
    s->checkpoints->finished[(*rows)[r].unit.id] = 1;
  }
  TSL_TRY(tsl_bcast_bytes(s->comm, s->checkpoints->finished, s->units.n));
done:
  return err;
}

tsl_err tsl_checkpoints_save(tsl_session *s, tsl_out *out, const tsl_phase *phase, int next) {
  tsl_err err = TSL_OK;
  sink to = {.why = {.code = TSL_OK}};
  tsl_checkpoint_writer *writer = NULL;
  tsl_out_unit *rows = NULL;
  int64_t n_rows = 0;
  int32_t *owner = NULL;
  TSL_TRY(tsl_checkpoints_settle(s, out));
  s->checkpoints->taken = tsl_now();
  if (out != NULL) TSL_TRY(tsl_checkpoints_flush(s, out));
  if (phase != NULL) TSL_TRY(gather_log(s, phase, &rows, &n_rows, &owner));
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 ? begin_file(s, rows, n_rows, next, &to) : TSL_OK);
  for (int f = 0; f < s->problem.n_fields && phase != NULL; f++)
    if (is_list(&s->problem.fields[f])) TSL_TRY(gather_list(s, phase, f, owner, &to));
  if (s->family->shape == TSL_WAVE)
    TSL_TRY(tsl_checkpoints_save_tiles(s, &(tsl_checkpoints_sink){&to, begin_tiles, put_tile}));
  if (s->rank == 0) add_walk(s, &to);
  if (to.why.code != TSL_OK) tsl_checkpoints_warn(s, &to.why);
  writer = to.writer;
  to.writer = NULL;
  TSL_TRY(tsl_checkpoints_write(s, out, writer));
done:
  tsl_checkpoint_drop(&to.writer);
  TSL_FREE_ALL(rows, owner);
  return err;
}
