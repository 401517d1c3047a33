/* A phase's log is gathered, checked and merged on rank 0; at the end arrays, tables and texts of
 * the run are written to the output. */
#include "record.h"

#include "collective_error.h"
#include "gather.h"
#include "service.h"
#include "version.h"
#include "worker_notes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the phase's log */

static tsl_err check_once(const tsl_session *s, const tsl_phase *phase, const tsl_out_unit *rows,
                          int64_t n) {
  tsl_err err = TSL_OK;
  uint8_t *seen = NULL;
  if (n != phase->plan->n_units)
    TSL_FAIL(TSL_ERR_INTERNAL, "%lld units were computed, not %lld", (long long)n,
             (long long)phase->plan->n_units);
  TSL_TRY(tsl_alloc(s->units.n, 1, "unit check", (void **)&seen));
  for (int64_t k = 0; k < n; k++) {
    if (seen[rows[k].unit.id]++)
      TSL_FAIL(TSL_ERR_INTERNAL, "unit %lld was computed twice", (long long)rows[k].unit.id);
  }
done:
  tsl_free(seen);
  return err;
}

static int by_owner_and_start(const void *a, const void *b) {
  const tsl_out_unit *x = a, *y = b;
  if (x->owner != y->owner) return x->owner < y->owner ? -1 : 1;
  if (x->start != y->start) return x->start < y->start ? -1 : 1;
  return x->unit.id < y->unit.id ? -1 : x->unit.id > y->unit.id;
}

/* Rows of the phase, and those before of units that it had not. */
static tsl_err merge_rows(const tsl_session *s, tsl_record *record) {
  tsl_err err = TSL_OK;
  const int64_t most = record->n_last + record->n_rows;
  uint8_t *now = NULL;
  tsl_out_unit *all = NULL;
  int64_t n = record->n_last;
  TSL_TRY(tsl_alloc(s->units.n, 1, "unit log", (void **)&now));
  TSL_TRY(tsl_alloc(most, sizeof *all, "unit log", (void **)&all));
  for (int64_t k = 0; k < record->n_last; k++) all[k] = record->last[k], now[all[k].unit.id] = 1;
  for (int64_t k = 0; k < record->n_rows; k++)
    if (!now[record->rows[k].unit.id]) all[n++] = record->rows[k];
  if (n > record->n_last) qsort(all, (size_t)n, sizeof *all, by_owner_and_start);
  tsl_free(record->rows);
  record->rows = all, record->n_rows = n;
done:
  tsl_free(now);
  return err;
}

/* What first runs take more belongs to their prediction, and what the first phase has not does
 * not. */
static void add_setups(const tsl_session *s, int phase, tsl_out_unit *rows, int64_t n) {
  for (int64_t k = 0; k < n; k++) {
    if (rows[k].owner < 0) continue;
    if (phase == 0 && rows[k].unit.phase0_skipped > 0)
      rows[k].predicted = tsl_cost_begin(&s->cost, rows[k].owner, &rows[k].unit);
    else if (!tsl_history_knows(&s->learned, rows[k].unit.id))
      rows[k].predicted += tsl_cost_setup(&s->cost, rows[k].owner, &rows[k].unit);
  }
}

/* The other ranks have waited for it. */
static void add_shortcut(const tsl_session *s, int phase, tsl_share_line *lines) {
  if (phase > 0) return;
  lines[0].busy += s->shortcut;
  for (int r = 0; r < s->size; r++) lines[r].finish += s->shortcut;
}

/* Rank 0. */
static tsl_err add_phase(const tsl_session *s, const tsl_phase *phase, const double (*times)[2],
                         tsl_record *record) {
  tsl_err err = TSL_OK;
  tsl_share_line *lines = NULL;
  if (s->rank != 0) return TSL_OK;
  TSL_TRY(check_once(s, phase, record->last, record->n_last));
  add_setups(s, phase->index, record->last, record->n_last);
  TSL_TRY(merge_rows(s, record));
  TSL_TRY(tsl_alloc(s->size, sizeof *lines, "run report", (void **)&lines));
  for (int r = 0; r < s->size; r++) lines[r].busy = times[r][0], lines[r].finish = times[r][1];
  add_shortcut(s, phase->index, lines);
  TSL_TRY(tsl_record_add(s, phase, lines, record));
done:
  tsl_free(lines);
  return err;
}

tsl_err tsl_record_phase(tsl_session *s, const tsl_phase *phase, tsl_record *record) {
  tsl_err err = TSL_OK;
  const double mine[2] = {phase->busy, phase->finish};
  void *rows = NULL, *times = NULL;
  int64_t n_times = 0;
  tsl_free(record->last);
  record->last = NULL;
  TSL_TRY(tsl_gather_rows(s->comm, phase->log, phase->n_log, sizeof *phase->log, &rows,
                          &record->n_last));
  record->last = rows;
  TSL_TRY(tsl_gather_rows(s->comm, mine, 1, sizeof mine, &times, &n_times));
  TSL_COLLECTIVE_TRY(s->comm, add_phase(s, phase, times, record));
done:
  tsl_free(times);
  return err;
}

void tsl_record_clear(tsl_record *record) {
  TSL_FREE_ALL(record->rows, record->last, record->lines, record->phases, record->times,
               record->told);
  *record = (tsl_record){0};
}

/* ---- into the file; rank 0 */

static tsl_err store_arrays(const tsl_session *s, tsl_out *out) {
  tsl_err err = TSL_OK;
  for (int f = 0; f < s->problem.n_fields; f++) {
    const tsl_field *field = &s->problem.fields[f];
    const bool streamed = field->stream || field->combine == TSL_LIST;
    if (field->hidden || ((field->role & TSL_OUT) && streamed)) continue;
    TSL_TRY(tsl_out_array(out, field));
  }
done:
  return err;
}

/* Coordinates along a dimension: a 1-D field of that length which is in the file as well. */
static tsl_err check_scale(const tsl_field *field, int dim, const tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const int32_t at = field->scale[dim] - 1;
  if (dim >= field->rank || at < 0 || at >= problem->n_fields)
    TSL_FAIL(TSL_ERR_INTERNAL, "field '%s': dimension %d has no field %d for its scale",
             field->name, dim, at);
  const tsl_field *scale = &problem->fields[at];
  if (scale == field || scale->rank != 1 || scale->hidden || scale->shape[0] != field->shape[dim])
    TSL_FAIL(TSL_ERR_INTERNAL, "field '%s': '%s' is no scale for its dimension %d", field->name,
             scale->name, dim);
done:
  return err;
}

static tsl_err store_scales(const tsl_problem *problem, tsl_out *out) {
  tsl_err err = TSL_OK;
  for (int f = 0; f < problem->n_fields; f++)
    for (int k = 0; k < 3; k++) {
      const tsl_field *field = &problem->fields[f];
      if (field->hidden || field->scale[k] == 0) continue;
      TSL_TRY(check_scale(field, k, problem));
      TSL_TRY(tsl_out_scale(out, field, k, &problem->fields[field->scale[k] - 1]));
    }
done:
  return err;
}

static tsl_err store_calibration(const tsl_session *s, tsl_out *out) {
  static const char *const terms[TSL_N_TERMS] = {"constant", "flops", "bytes", "count", "setup"};
  tsl_err err = TSL_OK;
  const int n_kinds = s->family->n_kinds;
  const int64_t n = (int64_t)s->size * n_kinds * TSL_N_TERMS;
  tsl_out_coefficient *rows = NULL, *row = NULL;
  TSL_TRY(tsl_alloc(n, sizeof *rows, "calibration table", (void **)&rows));
  row = rows;
  for (int r = 0; r < s->size; r++)
    for (int kind = 0; kind < n_kinds; kind++)
      for (int t = 0; t < TSL_N_TERMS; t++, row++) {
        row->rank = r, row->kind = kind;
        row->seconds = s->cost.speeds[r].c[kind][t];
        (void)snprintf(row->device, sizeof row->device, "%s", s->placements[r].device.name);
        (void)snprintf(row->term, sizeof row->term, "%s", terms[t]);
      }
  TSL_TRY(tsl_out_calibration(out, rows, n));
done:
  tsl_free(rows);
  return err;
}

static tsl_err store_balance(const tsl_session *s, const tsl_record *record, tsl_out *out) {
  tsl_err err = TSL_OK;
  const tsl_balance *b = &record->balance;
  TSL_TRY(tsl_out_table(out, "/run/balance", tsl_balance_columns, record->lines,
                        sizeof *record->lines, s->size));
  TSL_TRY(tsl_out_attr_f64(out, "/run", "predicted_seconds", b->predicted));
  TSL_TRY(tsl_out_attr_f64(out, "/run", "measured_seconds", b->wall));
  TSL_TRY(tsl_out_attr_f64(out, "/run", "ideal_seconds", b->ideal));
  TSL_TRY(tsl_out_attr_f64(out, "/run", "imbalance", b->imbalance));
  TSL_TRY(tsl_out_attr_f64(out, "/run", "waiting", b->waiting));
  TSL_TRY(tsl_out_attr_f64(out, "/run", "static_share", b->static_share));
  TSL_TRY(tsl_out_attr_i64(out, "/run", "dynamic_units", b->dynamic));
  TSL_TRY(tsl_out_attr_f64(out, "/run", "idle_seconds", b->idle));
done:
  return err;
}

static const tsl_column use_columns[] = {
    TSL_COLUMNS_2(tsl_use, "", rank, takes_part),
    TSL_COLUMNS_4(tsl_use, "s", alone, without, gain, price),
    TSL_NO_COLUMN,
};

static tsl_err store_about(const tsl_session *s, tsl_out *out) {
  tsl_err err = TSL_OK;
  char *resolved = NULL, facts[TSL_FACTS];
  tsl_session_facts(s, facts);
  TSL_TRY(tsl_deck_resolved(s->deck, &resolved));
  TSL_TRY(tsl_out_about_run(out, &(tsl_out_about){.family = s->family->name,
                                                  .title = tsl_deck_title(s->deck),
                                                  .version = TSL_VERSION,
                                                  .git_hash = TSL_GIT_HASH,
                                                  .plan = tsl_plan_words[s->run.plan],
                                                  .start_time = s->began,
                                                  .command = s->options->command,
                                                  .deck = tsl_deck_text(s->deck),
                                                  .facts = facts,
                                                  .resolved = resolved}));
done:
  free(resolved);
  return err;
}

static tsl_err record_store(tsl_session *s, tsl_record *record, tsl_out *out) {
  tsl_err err = TSL_OK;
  record->summary = (tsl_summary){.valid = true};
  if (s->talk != NULL)
    TSL_TRY(s->family->service->series->summary(s->talk, &record->summary));
  else if (s->family->summary != NULL)
    TSL_TRY(s->family->summary(&s->problem, &record->summary));
  TSL_TRY(store_arrays(s, out));
  TSL_TRY(store_scales(&s->problem, out));
  TSL_TRY(store_about(s, out));
  TSL_TRY(tsl_out_machine(out, s->placements, s->size));
  TSL_TRY(tsl_out_units(out, record->rows, record->n_rows));
  TSL_TRY(store_calibration(s, out));
  TSL_TRY(store_balance(s, record, out));
  TSL_TRY(tsl_record_store_phases(record, out));
  TSL_TRY(tsl_out_table(out, "/run/ranks", use_columns, s->use, sizeof *s->use, s->size));
  TSL_TRY(tsl_worker_notes_store(record, out));
  TSL_TRY(tsl_out_summary(out, &record->summary));
  TSL_TRY(tsl_stage_store(s, out));
done:
  return err;
}

tsl_err tsl_record_store(tsl_session *s, tsl_record *record, tsl_out *out) {
  tsl_err err = TSL_OK;
  TSL_COLLECTIVE_TRY(s->comm, s->rank == 0 ? record_store(s, record, out) : TSL_OK);
  TSL_MPI(MPI_Bcast(&record->summary, (int)sizeof record->summary, MPI_BYTE, 0, s->comm));
done:
  return err;
}
