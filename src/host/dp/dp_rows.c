/** @file dp_rows.c  Row sweeps: rows of the stage before, edges, decisions that recovery keeps. */
#include "dp_rows.h"

#include <string.h>

/* ---- rows */

tsl_err dp_rows_open(dp_rows *rows, const dp_context *c, const dp_sweep_engine *engine,
                     bool narrow) {
  tsl_err err = TSL_OK;
  const int64_t each = narrow ? 4 : c->bytes, bytes = (DP_ROW_PAD + dp_width(c->p) + 1) * each;
  *rows = (dp_rows){
      .c = c, .engine = engine, .narrow = narrow, .each = each, .goal = -1, .out_stage = -1};
  for (int k = 0; k < 2; k++) {
    TSL_TRY(dp_reserve(c, &rows->row[k], bytes, "row of the table"));
    TSL_TRY(dp_reserve(c, &rows->scratch[k], bytes, "row of the table"));
  }
done:
  return err;
}

void dp_rows_clear(dp_rows *rows) {
  const dp_context *c = rows->c;
  if (c == NULL) return;
  dp_rows_forget(rows);
  for (int k = 0; k < 2; k++) {
    dp_release(c, &rows->row[k]);
    dp_release(c, &rows->scratch[k]);
  }
  if (c->memory->release_pinned != NULL) c->memory->release_pinned(&rows->out);
  tsl_free(rows->spans);
  *rows = (dp_rows){.goal = -1};
}

void dp_rows_forget(dp_rows *rows) {
  for (int64_t k = 0; k < rows->n; k++) dp_decisions_clear(rows, &rows->list[k]);
  tsl_free(rows->list);
  rows->list = NULL;
  rows->n = rows->room = rows->bytes = 0;
}

tsl_err dp_rows_zero(dp_rows *rows) {
  tsl_err err = TSL_OK;
  for (int k = 0; k < 2; k++) {
    TSL_TRY(dp_zero(rows->c, rows->row[k].data, rows->row[k].bytes));
    TSL_TRY(dp_zero(rows->c, rows->scratch[k].data, rows->scratch[k].bytes));
  }
done:
  return err;
}

tsl_err dp_rows_begin(dp_rows *rows) {
  tsl_err err = TSL_OK;
  const dp_context *c = rows->c;
  const int64_t one = c->p->modulus == 1 ? 0 : 1;
  char *first = dp_row_at(rows, &rows->row[1]);
  dp_rows_forget(rows);
  dp_rows_stage(rows);
  rows->goal = -1;
  rows->again = 0;
  TSL_TRY(dp_rows_zero(rows));
  if (c->p->problem == DP_STAGECOACH)
    TSL_TRY(dp_copy(c, first, dp_input(c, DP_B), dp_width(c->p) * c->bytes, DP_COPY_IN));
  if (c->p->problem == DP_BINOMIAL) TSL_TRY(dp_copy(c, first, &one, 8, DP_COPY_IN));
  TSL_TRY(dp_wait(c));
done:
  return err;
}

static char *place_of(const dp_rows *rows, int64_t stage, int64_t column) {
  return dp_row_at(rows, &rows->row[stage & 1]) + column * rows->each;
}

/** Columns [from, to) of a row in host memory, until the next call. */
static tsl_err values_of(dp_rows *rows, int64_t stage, int64_t from, int64_t to,
                         const void **values) {
  tsl_err err = TSL_OK;
  const dp_context *c = rows->c;
  *values = place_of(rows, stage, from);
  if (c->memory->reserve_pinned == NULL) return TSL_OK;
  rows->out_stage = -1;
  TSL_TRY(c->memory->reserve_pinned(&rows->out, dp_width(c->p) * rows->each));
  TSL_TRY(dp_copy(c, rows->out.data, *values, (to - from) * rows->each, DP_COPY_OUT));
  TSL_TRY(dp_wait(c));
  *values = rows->out.data;
done:
  return err;
}

/* ---- edges */

void dp_rows_stage(dp_rows *rows) {
  rows->n_spans = 0;
  rows->out_stage = -1;
}

/** Columns from unit's first to the end of its span, which leave one after another. */
static tsl_err fetch(dp_rows *rows, const tsl_unit *unit) {
  tsl_err err = TSL_OK;
  const int64_t from = unit->lo[1];
  const void *values = NULL;
  int64_t to = unit->hi[1];
  for (int64_t k = 0; k < rows->n_spans; k++)
    if (rows->spans[k][0] <= from && to <= rows->spans[k][1]) to = rows->spans[k][1];
  TSL_TRY(values_of(rows, unit->stage, from, to, &values));
  rows->out_stage = unit->stage;
  rows->out_from = from;
  rows->out_to = to;
done:
  return err;
}

/** The edge of a tile in host memory, as the device has it. */
static tsl_err edge_on_host(dp_rows *rows, const tsl_unit *unit, const void **values) {
  tsl_err err = TSL_OK;
  const int64_t from = unit->lo[1];
  if (rows->c->memory->reserve_pinned == NULL)
    return values_of(rows, unit->stage, from, unit->hi[1], values);
  if (rows->out_stage != unit->stage || from < rows->out_from || unit->hi[1] > rows->out_to)
    TSL_TRY(fetch(rows, unit));
  *values = (const char *)rows->out.data + (from - rows->out_from) * rows->each;
done:
  return err;
}

tsl_err dp_rows_edge_out(dp_rows *rows, const tsl_unit *unit, void *bytes) {
  tsl_err err = TSL_OK;
  const int64_t n = unit->hi[1] - unit->lo[1];
  const void *values = NULL;
  TSL_TRY(edge_on_host(rows, unit, &values));
  if (!rows->narrow) memcpy(bytes, values, (size_t)(n * rows->each));
  for (int64_t k = 0; k < n && rows->narrow; k++)
    ((int64_t *)bytes)[k] = ((const int32_t *)values)[k];
done:
  return err;
}

tsl_err dp_rows_edge_in(dp_rows *rows, const tsl_unit *unit, const void *bytes) {
  tsl_err err = TSL_OK;
  const int64_t n = unit->hi[1] - unit->lo[1], *wide = bytes;
  int32_t *values = NULL;
  if (rows->narrow) {
    TSL_TRY(tsl_alloc(n, sizeof *values, "edge", (void **)&values));
    for (int64_t k = 0; k < n; k++) values[k] = (int32_t)wide[k];
  }
  TSL_TRY(dp_copy(rows->c, place_of(rows, unit->stage, unit->lo[1]),
                  values != NULL ? (const void *)values : bytes, n * rows->each, DP_COPY_IN));
done:
  tsl_free(values);
  return err;
}

/* ---- decisions */

int64_t dp_decisions_bytes(const dp_rows *rows, const dp_decisions *d) {
  return rows->engine->decision_bytes(rows->c->p, d->hi - d->lo, d->to - d->from);
}

tsl_err dp_decisions_reserve(const dp_rows *rows, dp_decisions *d) {
  return dp_reserve(rows->c, &d->made, dp_decisions_bytes(rows, d), "decisions");
}

void dp_decisions_clear(const dp_rows *rows, dp_decisions *d) {
  dp_release(rows->c, &d->made);
  dp_release(rows->c, &d->top);
}

/** Bytes of the decisions of all items in the span's columns. */
static double bytes_of_all(const dp_rows *rows, const dp_sweep_span *span) {
  const dp_params *p = rows->c->p;
  return (double)rows->engine->decision_bytes(p, 1, span->to - span->from) * (double)p->n;
}

bool dp_decisions_later(const dp_rows *rows, const dp_sweep_span *span) {
  const bool whole = span->from == 0 && span->to == dp_width(rows->c->p);
  return whole && bytes_of_all(rows, span) > (double)rows->c->p->budget;
}

tsl_err dp_decisions_add(dp_rows *rows, const dp_sweep_span *span, dp_decisions **out) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_grow((void **)&rows->list, rows->n, 1, &rows->room, sizeof *rows->list, "list"));
  *out = &rows->list[rows->n++];
  **out = (dp_decisions){.lo = span->lo,
                         .hi = span->hi,
                         .from = span->from,
                         .to = span->to,
                         .lanes = {span->lanes[0], span->lanes[1]}};
done:
  return err;
}

/** Keep the decisions of these rows, or, where they are too many and no halo is needed to make them
 *  again, the row above them. *made: where the decisions go, or NULL. */
static tsl_err keep_decisions(dp_rows *rows, const dp_sweep_span *span, void **made) {
  tsl_err err = TSL_OK;
  const dp_context *c = rows->c;
  const int64_t budget = c->p->budget, top = dp_width(c->p) * rows->each;
  const bool later = dp_decisions_later(rows, span);
  char need[24], have[24];
  dp_decisions *d = NULL;
  TSL_TRY(dp_decisions_add(rows, span, &d));
  rows->bytes += later ? top : dp_decisions_bytes(rows, d);
  if (rows->bytes > budget)
    TSL_FAIL(TSL_ERR_MEMORY,
             "dp.memory: %s is too little for the decisions of this rank's part of the table, "
             "which need %s",
             tsl_bytes_text((double)budget, have), tsl_bytes_text(bytes_of_all(rows, span), need));
  if (later) {
    TSL_TRY(dp_reserve(c, &d->top, top, "special row"));
    TSL_TRY(dp_copy(c, d->top.data, span->top, top, DP_COPY_WITHIN));
  } else {
    TSL_TRY(dp_decisions_reserve(rows, d));
    *made = d->made.data;
  }
done:
  return err;
}

/* ---- tiles */

dp_sweep_span dp_sweep_span_of(const dp_rows *rows, const tsl_unit *units, int64_t n) {
  const int stage = (int)(units[0].stage & 1);
  return (dp_sweep_span){.lo = units[0].lo[0],
                         .hi = units[0].hi[0],
                         .from = units[0].lo[1],
                         .to = units[n - 1].hi[1],
                         .lanes = {units[0].lane, units[n - 1].lane + 1},
                         .top = dp_row_at(rows, &rows->row[1 - stage]),
                         .bottom = dp_row_at(rows, &rows->row[stage])};
}

tsl_err dp_rows_run(dp_rows *rows, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const dp_context *c = rows->c;
  const dp_sweep_span span = dp_sweep_span_of(rows, units, n);
  void *made = NULL;
  TSL_TRY(tsl_grow((void **)&rows->spans, rows->n_spans, 1, &rows->span_room, sizeof *rows->spans,
                   "list"));
  rows->spans[rows->n_spans][0] = span.from;
  rows->spans[rows->n_spans++][1] = span.to;
  if (c->p->mode == DP_RECOVER) TSL_TRY(keep_decisions(rows, &span, &made));
  if (c->table >= 0)
    TSL_TRY(rows->engine->table(c->worker, &span, units, n, parts));
  else
    TSL_TRY(rows->engine->span(c->worker, &span, made));
  if (span.hi == c->p->n && span.to == dp_width(c->p)) rows->goal = (int)(units[0].stage & 1);
done:
  return err;
}

/* ---- results */

tsl_err dp_rows_best(dp_rows *rows, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const dp_context *c = rows->c;
  const bool real = c->p->type == TSL_F32 || c->p->type == TSL_F64;
  for (int64_t u = 0; u < n && c->best >= 0 && units[0].hi[0] == c->p->n; u++) {
    const int64_t columns = units[u].hi[1] - units[u].lo[1];
    int64_t *best = parts[u].slab[c->best], at = 0;
    const void *row = NULL;
    TSL_TRY(values_of(rows, units[u].stage, units[u].lo[1], units[u].hi[1], &row));
    for (int64_t s = 1; s < columns; s++)
      if (dp_number(c->p->type, row, s) < dp_number(c->p->type, row, at)) at = s;
    const double value = (double)dp_number(c->p->type, row, at);
    best[0] = real ? 0 : (int64_t)dp_number(c->p->type, row, at);
    if (real) memcpy(&best[0], &value, sizeof value);
    best[1] = units[u].lo[0] < units[u].hi[0] ? units[u].hi[0] - 1 : 0;
    best[2] = units[u].lo[1] + at;
  }
done:
  return err;
}

tsl_err dp_rows_goal(dp_rows *rows, tsl_field *goal) {
  tsl_err err = TSL_OK;
  const dp_params *p = rows->c->p;
  const void *value = NULL;
  if (rows->goal < 0 || p->problem == DP_STAGECOACH) return TSL_OK;
  TSL_TRY(values_of(rows, rows->goal, p->m, p->m + 1, &value));
  const long double x = rows->narrow ? *(const int32_t *)value : dp_number(p->type, value, 0);
  dp_goal_set(goal, x);
done:
  return err;
}
