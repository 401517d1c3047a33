/* The callbacks behind tsl_field_rows: they check field and rows, then use the array or the
 * dataset. */
#include "field_rows.h"

#include "collective_error.h"
#include "phase.h"
#include "result_writer.h"

#include <string.h>

/* Behind a tsl_field_rows; nothing is owned. */
typedef struct store_state {
  tsl_problem *problem;
  tsl_out *out; /* after tsl_out_close_stream */
  const tsl_executor *executor;
} store_state;

static tsl_err check_signal(void) {
  if (tsl_stop_signal == 0) return TSL_OK;
  return tsl_fail(TSL_ERR_STOPPED, __FILE__, __LINE__,
                  "stopped by signal %d while results were derived; no output was left behind",
                  tsl_stop_signal);
}

/* A GATHER field that has these rows; to be read, a LIST field, too. */
static tsl_err field_rows_find(const tsl_problem *problem, int f, int64_t lo, int64_t hi, bool list,
                               const tsl_field **out) {
  tsl_err err = TSL_OK;
  const tsl_field *field = NULL;
  if (f < 0 || f >= problem->n_fields)
    TSL_FAIL(TSL_ERR_INTERNAL, "store: no field %d of %d", f, problem->n_fields);
  field = &problem->fields[f];
  if (!(field->role & TSL_OUT) ||
      (field->combine != TSL_GATHER && !(list && field->combine == TSL_LIST)))
    TSL_FAIL(TSL_ERR_INTERNAL, "store: field '%s' is no result with rows", field->name);
  if (lo < 0 || hi < lo || hi > field->shape[0])
    TSL_FAIL(TSL_ERR_INTERNAL, "store: rows %lld..%lld of field '%s' leave 0..%lld", (long long)lo,
             (long long)hi, field->name, (long long)field->shape[0]);
  TSL_TRY(check_signal());
  *out = field;
done:
  return err;
}

/* Where row lo of a field held in memory begins, and the bytes up to row hi. */
static char *rows_in_memory(const tsl_field *field, int64_t lo, int64_t hi, size_t *bytes) {
  const size_t row = (size_t)tsl_field_row(field) * tsl_type_bytes((tsl_type)field->type);
  *bytes = (size_t)(hi - lo) * row;
  return (char *)field->data + (size_t)lo * row;
}

static tsl_err field_rows_read_rows(void *arg, int f, int64_t lo, int64_t hi, void *rows) {
  tsl_err err = TSL_OK;
  const store_state *state = arg;
  const tsl_field *field = NULL;
  size_t bytes = 0;
  TSL_TRY(field_rows_find(state->problem, f, lo, hi, true, &field));
  if (field->stream || field->combine == TSL_LIST)
    TSL_TRY(tsl_out_read_rows(state->out, field, lo, hi, rows));
  else if (hi > lo) {
    const char *from = rows_in_memory(field, lo, hi, &bytes);
    memcpy(rows, from, bytes);
  }
done:
  return err;
}

static tsl_err write_rows(void *arg, int f, int64_t lo, int64_t hi, const void *rows) {
  tsl_err err = TSL_OK;
  const store_state *state = arg;
  const tsl_field *field = NULL;
  size_t bytes = 0;
  TSL_TRY(field_rows_find(state->problem, f, lo, hi, false, &field));
  if (tsl_first_bad(field, rows, (hi - lo) * tsl_field_row(field)) >= 0)
    TSL_FAIL(TSL_ERR_NUMERIC, "field '%s': %s in rows %lld to %lld", field->name,
             tsl_bad_word(field), (long long)lo, (long long)hi - 1);
  if (field->stream)
    TSL_TRY(tsl_out_write_rows(state->out, field, lo, hi, rows));
  else if (hi > lo) {
    char *to = rows_in_memory(field, lo, hi, &bytes);
    memcpy(to, rows, bytes);
  }
done:
  return err;
}

static tsl_err append_records(void *arg, int f, const void *records, int64_t n) {
  tsl_err err = TSL_OK;
  const store_state *state = arg;
  tsl_field *field = NULL;
  if (f < 0 || f >= state->problem->n_fields)
    TSL_FAIL(TSL_ERR_INTERNAL, "store: no field %d of %d", f, state->problem->n_fields);
  field = &state->problem->fields[f];
  if (!(field->role & TSL_OUT) || field->combine != TSL_LIST || n < 0)
    TSL_FAIL(TSL_ERR_INTERNAL, "store: %lld records for field '%s', which is no LIST result",
             (long long)n, field->name);
  if (tsl_first_bad(field, records, n * tsl_field_row(field)) >= 0)
    TSL_FAIL(TSL_ERR_NUMERIC, "field '%s': %s in a record", field->name, tsl_bad_word(field));
  TSL_TRY(tsl_out_append(state->out, field, records, n));
  field->shape[0] += n;
done:
  return err;
}

/* A tile that is computed again, by the thread that has the device. */
typedef struct tile_again {
  tsl_task task;
  const tsl_executor *executor;
  const tsl_unit *before, *unit;
  const void *bytes; /* [n] saved of before */
  int64_t n;
  tsl_part *part;
} tile_again;

static tsl_err run_again(tsl_task *task) {
  tsl_err err = TSL_OK;
  const tile_again *t = (tile_again *)task;
  const tsl_backend *backend = t->executor->backend;
  tsl_worker *worker = t->executor->worker;
  const uint8_t own[1] = {1}; /* of its only lane */
  TSL_TRY(backend->begin(worker, 0));
  if (t->before != NULL)
    TSL_TRY(backend->load(worker, t->before, t->unit->stage, own, 1, t->bytes, t->n));
  TSL_TRY(backend->tiles(worker, t->unit, 1, t->part));
done:
  return err;
}

static tsl_err compute_again(void *arg, const tsl_unit *before, const void *bytes, int64_t n,
                             const tsl_unit *unit, tsl_part *part) {
  tsl_err err = TSL_OK;
  const store_state *state = arg;
  tile_again t = {.task.run = run_again,
                  .executor = state->executor,
                  .before = before,
                  .unit = unit,
                  .bytes = bytes,
                  .n = n,
                  .part = part};
  TSL_TRY(check_signal());
  TSL_TRY(tsl_compute_thread_call(state->executor->thread, &t.task));
done:
  return err;
}

static tsl_err field_rows_finish(store_state *state) {
  tsl_err err = TSL_OK;
  const tsl_field_rows store = {.state = state,
                                .read = field_rows_read_rows,
                                .write = write_rows,
                                .append = append_records,
                                .again = compute_again};
  TSL_TRY(state->problem->family->finish(state->problem, &store));
  TSL_TRY(tsl_out_end_rows(state->out));
done:
  return err;
}

tsl_err tsl_field_rows_finish(MPI_Comm comm, const tsl_executor *executor, tsl_problem *problem,
                              tsl_out *out) {
  tsl_err err = TSL_OK;
  store_state state = {problem, out, executor};
  int rank = 0;
  if (problem->family->finish == NULL) return TSL_OK;
  TSL_MPI(MPI_Comm_rank(comm, &rank));
  TSL_COLLECTIVE_TRY(comm, rank == 0 ? field_rows_finish(&state) : TSL_OK);
done:
  return err;
}
