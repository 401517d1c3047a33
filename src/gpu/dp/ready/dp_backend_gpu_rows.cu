/* Row sweeps on a card: rows of the stage before, halos, decisions. */
#include "dp_backend_gpu.cuh"
#include "dp_knapsack.cuh"

#include <stdlib.h>
#include <string.h>

/* ---- open and begin */

static int64_t row_bytes(const dp_worker *w) {
  return (DP_ROW_PAD + dp_width(w->c.p) + 1) * w->rows.each;
}

/* Do the values of a knapsack fit int32, with what a pass may add to them? */
static tsl_err choose_width(dp_worker *w) {
  tsl_err err = TSL_OK;
  const dp_params *p = w->c.p;
  const int64_t *weights = (const int64_t *)dp_input(&w->c, DP_A);
  const int64_t *values = (const int64_t *)dp_input(&w->c, DP_B);
  w->rows.each = w->c.bytes;
  if (!dp_is_sack(p)) return TSL_OK;
  const int64_t most =
      dp_knap_most(p->problem == DP_KNAPSACK_UNBOUNDED, p->n, weights, values, p->m);
  for (int64_t i = 0; i < p->n; i++)
    if (weights[i] < 0 || values[i] < 0)
      TSL_FAIL(TSL_ERR_INPUT, "dp: item %lld has weight %lld and value %lld; allowed >= 0",
               (long long)i, (long long)weights[i], (long long)values[i]);
  w->rows.narrow = most >= 0 && most <= INT32_MAX;
  if (w->rows.narrow) w->rows.each = 4;
done:
  return err;
}

/* Weights, returns or costs. */
static tsl_err upload(dp_worker *w) {
  tsl_err err = TSL_OK;
  const tsl_field *field = &w->c.problem->fields[DP_A];
  const int64_t bytes = tsl_field_count(field) * (int64_t)tsl_type_bytes((tsl_type)field->type);
  if (w->c.p->problem == DP_BINOMIAL || bytes == 0) return TSL_OK;
  TSL_TRY(tsl_gpu_reserve(&w->card.memory, &w->rows.data, bytes, "numbers of the problem"));
  TSL_CUDA_TRY(cudaMemcpyAsync(w->rows.data.data, field->data, (size_t)bytes, cudaMemcpyDefault,
                               w->card.stream));
  TSL_TRY(dp_card_wait(&w->card));
done:
  return err;
}

tsl_err dp_gpu_rows_open(dp_worker *w) {
  tsl_err err = TSL_OK;
  dp_rows_gpu *rows = &w->rows;
  rows->goal = -1;
  TSL_TRY(choose_width(w));
  for (int k = 0; k < 2; k++) {
    TSL_TRY(tsl_gpu_reserve(&w->card.memory, &rows->row[k], row_bytes(w), "row of the table"));
    TSL_TRY(tsl_gpu_reserve(&w->card.memory, &rows->scratch[k], row_bytes(w), "row of the table"));
  }
  TSL_TRY(tsl_gpu_reserve(&w->card.memory, &rows->bad, 4, "flag"));
  TSL_TRY(dp_pinned_reserve(&rows->bad_here, 4));
  TSL_TRY(upload(w));
done:
  return err;
}

void dp_choices_clear(dp_worker *w, dp_choices *c) {
  tsl_gpu_release(&w->card.memory, &c->bits);
  tsl_gpu_release(&w->card.memory, &c->k);
  tsl_gpu_release(&w->card.memory, &c->top);
}

static void clear_list(dp_worker *w) {
  for (int64_t k = 0; k < w->rows.n; k++) dp_choices_clear(w, &w->rows.list[k]);
  tsl_free(w->rows.list);
  w->rows.list = NULL;
  w->rows.n = w->rows.room = w->rows.bytes = 0;
}

void dp_gpu_rows_clear(dp_worker *w) {
  dp_rows_gpu *rows = &w->rows;
  tsl_gpu_buffer *const all[] = {&rows->row[0], &rows->row[1], &rows->scratch[0], &rows->scratch[1],
                                 &rows->data,   &rows->table,  &rows->bad,        &rows->walk};
  clear_list(w);
  for (tsl_gpu_buffer *buffer : all) tsl_gpu_release(&w->card.memory, buffer);
  dp_pinned_release(&rows->bad_here);
  dp_pinned_release(&rows->out);
  tsl_free(rows->spans);
  *rows = dp_rows_gpu{};
}

/* Zeros where nothing has come yet: what is computed of them is never used. */
static tsl_err zero_rows(dp_worker *w) {
  tsl_err err = TSL_OK;
  for (int k = 0; k < 2; k++) {
    TSL_CUDA_TRY(
        cudaMemsetAsync(w->rows.row[k].data, 0, (size_t)w->rows.row[k].bytes, w->card.stream));
    TSL_CUDA_TRY(cudaMemsetAsync(w->rows.scratch[k].data, 0, (size_t)w->rows.scratch[k].bytes,
                                 w->card.stream));
  }
  TSL_CUDA_TRY(cudaMemsetAsync(w->rows.bad.data, 0, 4, w->card.stream));
done:
  return err;
}

/* Row 0, or stage 0: what the first stage continues. */
tsl_err dp_gpu_rows_begin(dp_worker *w) {
  tsl_err err = TSL_OK;
  const dp_params *p = w->c.p;
  const int64_t one = p->modulus == 1 ? 0 : 1;
  char *first = dp_row_at(w, &w->rows.row[1]);
  clear_list(w);
  w->rows.goal = -1;
  w->rows.n_spans = 0;
  w->rows.out_stage = -1;
  TSL_TRY(zero_rows(w));
  if (p->problem == DP_STAGECOACH)
    TSL_CUDA_TRY(cudaMemcpyAsync(first, dp_input(&w->c, DP_B), (size_t)(dp_width(p) * w->c.bytes),
                                 cudaMemcpyDefault, w->card.stream));
  if (p->problem == DP_BINOMIAL)
    TSL_CUDA_TRY(cudaMemcpyAsync(first, &one, 8, cudaMemcpyDefault, w->card.stream));
  TSL_TRY(dp_card_wait(&w->card));
done:
  return err;
}

/* ---- edges */

static char *place_of(const dp_worker *w, int64_t stage, int64_t column) {
  return dp_row_at(w, &w->rows.row[stage & 1]) + column * w->rows.each;
}

/* Columns from unit's first to the end of its span, which leave one after another. */
static tsl_err fetch(dp_worker *w, const tsl_unit *unit) {
  tsl_err err = TSL_OK;
  dp_rows_gpu *rows = &w->rows;
  const int64_t from = unit->lo[1];
  int64_t to = unit->hi[1];
  for (int64_t k = 0; k < rows->n_spans; k++)
    if (rows->spans[k][0] <= from && to <= rows->spans[k][1]) to = rows->spans[k][1];
  rows->out_stage = -1;
  TSL_TRY(dp_pinned_reserve(&rows->out, dp_width(w->c.p) * rows->each));
  TSL_CUDA_TRY(cudaMemcpyAsync(rows->out.data, place_of(w, unit->stage, from),
                               (size_t)((to - from) * rows->each), cudaMemcpyDeviceToHost,
                               w->card.stream));
  TSL_TRY(dp_card_wait(&w->card));
  rows->out_stage = unit->stage;
  rows->out_from = from;
  rows->out_to = to;
done:
  return err;
}

tsl_err dp_gpu_rows_edge_out(dp_worker *w, const tsl_unit *unit, void *bytes) {
  tsl_err err = TSL_OK;
  const dp_rows_gpu *rows = &w->rows;
  const int64_t from = unit->lo[1], n = unit->hi[1] - from;
  const char *values = NULL;
  if (rows->out_stage != unit->stage || from < rows->out_from || unit->hi[1] > rows->out_to)
    TSL_TRY(fetch(w, unit));
  values = (const char *)rows->out.data + (from - rows->out_from) * rows->each;
  if (!rows->narrow) memcpy(bytes, values, (size_t)(n * rows->each));
  for (int64_t c = 0; c < n && rows->narrow; c++)
    ((int64_t *)bytes)[c] = ((const int32_t *)values)[c];
done:
  return err;
}

tsl_err dp_gpu_rows_edge_in(dp_worker *w, const tsl_unit *unit, const void *bytes) {
  tsl_err err = TSL_OK;
  const int64_t n = unit->hi[1] - unit->lo[1], *wide = (const int64_t *)bytes;
  int32_t *values = NULL;
  if (w->rows.narrow) {
    TSL_TRY(tsl_alloc(n, sizeof *values, "edge", (void **)&values));
    for (int64_t c = 0; c < n; c++) values[c] = (int32_t)wide[c];
  }
  TSL_CUDA_TRY(cudaMemcpyAsync(place_of(w, unit->stage, unit->lo[1]),
                               values != NULL ? (const void *)values : bytes,
                               (size_t)(n * w->rows.each), cudaMemcpyHostToDevice, w->card.stream));
done:
  tsl_free(values);
  return err;
}

/* ---- decisions */

int64_t dp_choices_bytes(const dp_params *p, int64_t rows, int64_t columns) {
  return dp_is_sack(p) ? rows * tsl_ceil_div(columns, 32) * 4 : rows * columns * 4;
}

tsl_err dp_choices_reserve(dp_worker *w, dp_choices *c) {
  const int64_t bytes = dp_choices_bytes(w->c.p, c->hi - c->lo, c->to - c->from);
  tsl_gpu_buffer *buffer = dp_is_sack(w->c.p) ? &c->bits : &c->k;
  return tsl_gpu_reserve(&w->card.memory, buffer, bytes, "decisions");
}

/* Keep the decisions of these rows, or, where they are too many and no halo is needed to make them
 * again, the row above them. *out: where the decisions go, or NULL. */
static tsl_err keep_choices(dp_worker *w, const dp_sweep_span *span, dp_choices **out) {
  tsl_err err = TSL_OK;
  dp_rows_gpu *rows = &w->rows;
  const int64_t width = dp_width(w->c.p), budget = w->c.p->budget, top = width * rows->each;
  const bool whole = span->from == 0 && span->to == width;
  const double all = (double)dp_choices_bytes(w->c.p, 1, span->to - span->from) * (double)w->c.p->n;
  const bool later = whole && all > (double)budget;
  char need[24], have[24];
  dp_choices *c = NULL;
  TSL_TRY(dp_list_grow((void **)&rows->list, rows->n, &rows->room, sizeof *rows->list));
  c = &rows->list[rows->n];
  *c = dp_choices{span->lo, span->hi, span->from, span->to, {}, {}, {}, {}};
  rows->bytes += later ? top : dp_choices_bytes(w->c.p, c->hi - c->lo, c->to - c->from);
  if (rows->bytes > budget)
    TSL_FAIL(TSL_ERR_MEMORY,
             "dp.memory: %s is too little for the decisions of this rank's part of the table, "
             "which need %s",
             tsl_bytes_text((double)budget, have), tsl_bytes_text(all, need));
  rows->n++;
  if (later) {
    TSL_TRY(tsl_gpu_reserve(&w->card.memory, &c->top, top, "special row"));
    TSL_CUDA_TRY(cudaMemcpyAsync(c->top.data, span->top, (size_t)top, cudaMemcpyDeviceToDevice,
                                 w->card.stream));
  } else {
    TSL_TRY(dp_choices_reserve(w, c));
    *out = c;
  }
done:
  return err;
}

/* ---- tiles */

static dp_sweep_span span_of(const dp_worker *w, const tsl_unit *units, int64_t n) {
  const int stage = (int)(units[0].stage & 1);
  return dp_sweep_span{units[0].lo[0],
                       units[0].hi[0],
                       units[0].lo[1],
                       units[n - 1].hi[1],
                       dp_row_at(w, &w->rows.row[1 - stage]),
                       dp_row_at(w, &w->rows.row[stage])};
}

/* Queue: rows of the span and, before the first stage, row 0, then all to the units' slabs. */
static tsl_err run_table(dp_worker *w, const dp_sweep_span *span, const tsl_unit *units, int64_t n,
                         const tsl_part *parts) {
  tsl_err err = TSL_OK;
  const int64_t first = units[0].stage == 0, rows = span->hi - span->lo + first;
  const int64_t columns = span->to - span->from, line = columns * w->c.bytes;
  char *table = NULL;
  TSL_TRY(tsl_gpu_reserve(&w->card.memory, &w->rows.table, rows * line, "rows of the table"));
  table = (char *)w->rows.table.data;
  if (first) TSL_TRY(dp_row_cast(w, span->top, span->from, span->to, table));
  TSL_TRY(dp_span_run(w, span, NULL, table + first * line));
  for (int64_t u = 0; u < n; u++) {
    const size_t bytes = (size_t)((units[u].hi[1] - units[u].lo[1]) * w->c.bytes);
    TSL_CUDA_TRY(cudaMemcpy2DAsync(parts[u].slab[w->c.table], bytes,
                                   table + (units[u].lo[1] - span->from) * w->c.bytes, (size_t)line,
                                   bytes, (size_t)rows, cudaMemcpyDeviceToHost, w->card.stream));
  }
done:
  return err;
}

static tsl_err run_span(dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const dp_sweep_span span = span_of(w, units, n);
  dp_rows_gpu *rows = &w->rows;
  dp_choices *choices = NULL;
  TSL_TRY(
      dp_list_grow((void **)&rows->spans, rows->n_spans, &rows->span_room, sizeof *rows->spans));
  rows->spans[rows->n_spans][0] = span.from;
  rows->spans[rows->n_spans++][1] = span.to;
  if (w->c.p->mode == DP_RECOVER) {
    TSL_TRY(keep_choices(w, &span, &choices));
    rows->list[rows->n - 1].lanes[0] = units[0].lane;
    rows->list[rows->n - 1].lanes[1] = units[n - 1].lane + 1;
  }
  if (w->c.table >= 0)
    TSL_TRY(run_table(w, &span, units, n, parts));
  else
    TSL_TRY(dp_span_run(w, &span, choices, NULL));
  if (span.hi == w->c.p->n && span.to == dp_width(w->c.p)) rows->goal = (int)(units[0].stage & 1);
done:
  return err;
}

static double number(const dp_params *p, const char *row, int64_t k) {
  if (p->type == TSL_F32) return ((const float *)row)[k];
  return ((const double *)row)[k];
}

/* STAGECOACH: the cheapest of n states, as (cost as the bits of goal's type, number). */
static void cheapest(const dp_params *p, const char *row, int64_t n, int64_t best[2]) {
  const bool real = p->type == TSL_F32 || p->type == TSL_F64;
  int64_t at = 0;
  for (int64_t s = 1; s < n; s++) {
    const bool less = real                 ? number(p, row, s) < number(p, row, at)
                      : p->type == TSL_I32 ? ((const int32_t *)row)[s] < ((const int32_t *)row)[at]
                                           : ((const int64_t *)row)[s] < ((const int64_t *)row)[at];
    if (less) at = s;
  }
  best[1] = at;
  best[0] = p->type == TSL_I32 ? ((const int32_t *)row)[at] : 0;
  if (p->type == TSL_I64) best[0] = ((const int64_t *)row)[at];
  if (real) {
    const double value = number(p, row, at);
    memcpy(&best[0], &value, sizeof value);
  }
}

/* STAGECOACH, last stage: the cheapest state of each lane. */
static tsl_err put_best(dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  for (int64_t u = 0; u < n && w->c.best >= 0; u++) {
    int64_t *best = (int64_t *)parts[u].slab[w->c.best], found[2];
    const int64_t columns = units[u].hi[1] - units[u].lo[1];
    if (units[u].hi[0] != w->c.p->n) continue;
    TSL_TRY(dp_pinned_reserve(&w->rows.out, dp_width(w->c.p) * w->rows.each));
    w->rows.out_stage = -1;
    TSL_CUDA_TRY(cudaMemcpyAsync(w->rows.out.data, place_of(w, units[u].stage, units[u].lo[1]),
                                 (size_t)(columns * w->c.bytes), cudaMemcpyDeviceToHost,
                                 w->card.stream));
    TSL_TRY(dp_card_wait(&w->card));
    cheapest(w->c.p, (const char *)w->rows.out.data, columns, found);
    best[0] = found[0];
    best[1] = units[u].lo[0] < units[u].hi[0] ? units[u].hi[0] - 1 : 0;
    best[2] = units[u].lo[1] + found[1];
  }
done:
  return err;
}

/* Has a binomial coefficient left 63 bits? */
static tsl_err check_bad(dp_worker *w, const tsl_unit *unit) {
  tsl_err err = TSL_OK;
  if (w->c.p->problem != DP_BINOMIAL || *(const int *)w->rows.bad_here.data == 0) return TSL_OK;
  TSL_FAIL(TSL_ERR_NUMERIC,
           "a binomial coefficient C(%lld, k) with k <= %lld exceeds 63 bits; give dp.modulus",
           (long long)unit->hi[0], (long long)w->c.p->m);
done:
  return err;
}

tsl_err dp_gpu_rows_tiles(dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  double seconds = 0;
  w->rows.n_spans = 0;
  w->rows.out_stage = -1;
  TSL_TRY(tsl_gpu_timer_start(&w->card.timer, w->card.stream));
  for (int64_t k = 0, end; k < n; k = end) {
    end = dp_units_end(units, n, k);
    TSL_TRY(run_span(w, units + k, end - k, parts + k));
  }
  TSL_CUDA_TRY(cudaMemcpyAsync(w->rows.bad_here.data, w->rows.bad.data, 4, cudaMemcpyDeviceToHost,
                               w->card.stream));
  TSL_TRY(tsl_gpu_timer_stop(&w->card.timer, w->card.stream, &seconds));
  TSL_TRY(check_bad(w, &units[0]));
  TSL_TRY(put_best(w, units, n, parts));
  dp_seconds_spread(seconds, units, n, parts);
done:
  return err;
}

/* From a row of zeros; nothing is kept, and numbers may overflow, as the rows are not those of the
 * problem. */
tsl_err dp_gpu_rows_trial(dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  TSL_TRY(zero_rows(w));
  for (int64_t k = 0, end; k < n; k = end) {
    double seconds = 0;
    end = dp_units_end(units, n, k);
    const dp_sweep_span span = span_of(w, units + k, end - k);
    TSL_TRY(tsl_gpu_timer_start(&w->card.timer, w->card.stream));
    TSL_TRY(dp_span_run(w, &span, NULL, NULL));
    TSL_TRY(tsl_gpu_timer_stop(&w->card.timer, w->card.stream, &seconds));
    dp_seconds_spread(seconds, units + k, end - k, parts + k);
  }
done:
  return err;
}

tsl_err dp_gpu_rows_goal(dp_worker *w, tsl_field *goal) {
  tsl_err err = TSL_OK;
  const dp_params *p = w->c.p;
  int64_t value = 0; /* the bits of any type */
  if (w->rows.goal < 0 || p->problem == DP_STAGECOACH) return TSL_OK;
  TSL_CUDA_TRY(cudaMemcpyAsync(&value, place_of(w, w->rows.goal, p->m), (size_t)w->rows.each,
                               cudaMemcpyDefault, w->card.stream));
  TSL_TRY(dp_card_wait(&w->card));
  if (p->type == TSL_F32) {
    float real;
    memcpy(&real, &value, sizeof real);
    *(double *)goal->data = real;
  } else if (w->rows.narrow || p->type == TSL_I32)
    *(int64_t *)goal->data = (int32_t)value;
  else
    *(int64_t *)goal->data = value; /* f64: its bits */
done:
  return err;
}
