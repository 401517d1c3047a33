/** @file dp_sweep.c  Sweeps on a socket: the rows of a span, and tiles with their seconds. */
#include "dp_backend.h"

#include <string.h>

/* ---- one span: rows [lo, hi), columns [from, to) */

/** Columns to the left of a row's own that items after it, up to hi, reach. */
static int64_t reach_after(const tsl_worker *w, int64_t item, int64_t hi) {
  const dp_params *p = w->dp.c.p;
  const bool above = dp_ready_of(p)->reach != NULL && p->problem != DP_KNAPSACK_UNBOUNDED;
  return above ? dp_ready_of(p)->reach(w->dp.c.problem, item + 1, hi) : 0;
}

/** Items [lo, hi) of a span at once; y gets columns [from, span->to). */
typedef struct piece {
  const dp_sweep_span *span;
  int64_t lo, hi, from;
  const void *x;
  void *y;
  uint64_t *bits; /**< knapsacks: decisions, or NULL; k: the others' */
  int32_t *k;
} piece;

static tsl_err compute_binomial(const tsl_worker *w, const piece *q) {
  tsl_err err = TSL_OK;
  const int64_t modulus = w->dp.c.p->modulus, *y = q->y;
  TSL_TRY(dp_cpu_binomial(&w->cpu, modulus, q->hi - q->lo, q->x, q->y, q->from, q->span->to));
  for (int64_t c = q->from; c < q->span->to && modulus == 0; c++)
    if (y[c] < 0)
      TSL_FAIL(TSL_ERR_NUMERIC,
               "the binomial coefficient C(%lld, %lld) exceeds 63 bits; give dp.modulus",
               (long long)q->hi, (long long)c);
done:
  return err;
}

static tsl_err compute_piece(const tsl_worker *w, const piece *q) {
  const dp_params *p = w->dp.c.p;
  const tsl_type type = (tsl_type)p->type;
  const int64_t *weights = dp_input(&w->dp.c, DP_A), *values = dp_input(&w->dp.c, DP_B),
                to = q->span->to;
  const bool stages = p->problem == DP_STAGECOACH;
  const int64_t row = stages ? p->m * p->m : p->m + 1;
  const char *numbers =
      (const char *)dp_input(&w->dp.c, DP_A) + (q->lo - stages) * row * w->dp.c.bytes;
  switch ((dp_problem)p->problem) {
  case DP_KNAPSACK:
    return dp_cpu_knapsack(&w->cpu, weights + q->lo, values + q->lo, q->hi - q->lo, q->x, q->y,
                           q->from, to, q->bits);
  case DP_KNAPSACK_UNBOUNDED:
    return dp_cpu_knapsack_unbounded(&w->cpu, weights + q->lo, values + q->lo, q->hi - q->lo, q->x,
                                     q->y, q->from, to, q->bits);
  case DP_BINOMIAL:
    return compute_binomial(w, q);
  case DP_ALLOTMENT:
    return dp_cpu_allotment(&w->cpu, type, q->x, numbers, q->y, q->from, to, q->k);
  default:
    return dp_cpu_stagecoach(&w->cpu, type, q->x, numbers, p->m, q->y, q->from, to, q->k);
  }
}

/** Called when a row is done; values are indexed by column of the table. */
typedef void (*row_fn)(void *context, int64_t item, const void *values);

static tsl_err compute_span(const tsl_worker *w, const dp_sweep_span *span, char *made,
                            row_fn done_row, void *context) {
  tsl_err err = TSL_OK;
  const dp_params *p = w->dp.c.p;
  const dp_buffer *scratch = w->dp.rows.scratch;
  const int64_t step = dp_choice_bytes(p, 1, span->to - span->from);
  const bool many = p->problem == DP_KNAPSACK || p->problem == DP_BINOMIAL ||
                    (p->problem == DP_KNAPSACK_UNBOUNDED && made == NULL);
  piece q = {.span = span, .x = span->top};
  for (int64_t i = span->lo; i < span->hi; i = q.hi, q.x = q.y) {
    void *place = made != NULL ? made + (i - span->lo) * step : NULL;
    q.lo = i, q.hi = many && done_row == NULL ? span->hi : i + 1;
    q.from = span->from - reach_after(w, q.hi - 1, span->hi);
    if (q.from < 0) q.from = 0;
    q.y = q.hi == span->hi ? span->bottom : (void *)dp_row_at(&w->dp.rows, &scratch[i & 1]);
    q.bits = dp_is_sack(p) ? place : NULL;
    q.k = dp_is_sack(p) ? NULL : place;
    TSL_TRY(compute_piece(w, &q));
    if (done_row != NULL) done_row(context, i, q.y);
  }
done:
  return err;
}

static tsl_err span_cpu(void *worker, const dp_sweep_span *span, void *made) {
  return compute_span(worker, span, made, NULL, NULL);
}

/* ---- whole tables */

/** Where the rows of a run of tiles go in the mode TABLE. */
typedef struct table_rows {
  const tsl_worker *w;
  const tsl_unit *units;
  const tsl_part *parts;
  int64_t n;
} table_rows;

static void put_row(const table_rows *t, int64_t row, const void *values) {
  const tsl_worker *w = t->w;
  for (int64_t u = 0; u < t->n; u++) {
    int64_t lo[3], hi[3];
    w->dp.c.problem->family->region(w->dp.c.problem, &t->units[u], w->dp.c.table, lo, hi);
    const size_t bytes = (size_t)((hi[1] - lo[1]) * w->dp.c.bytes);
    memcpy((char *)t->parts[u].slab[w->dp.c.table] + (size_t)(row - lo[0]) * bytes,
           (const char *)values + lo[1] * w->dp.c.bytes, bytes);
  }
}

static void put_item(void *context, int64_t item, const void *values) {
  const table_rows *t = context;
  put_row(t, item + dp_has_boundary(t->w->dp.c.p), values);
}

static tsl_err table_cpu(void *worker, const dp_sweep_span *span, const tsl_unit *units, int64_t n,
                         const tsl_part *parts) {
  table_rows table = {worker, units, parts, n};
  if (units[0].stage == 0) put_row(&table, 0, span->top);
  return compute_span(worker, span, NULL, put_item, &table);
}

const dp_sweep_engine dp_engine_sweep_cpu = {
    .decision_bytes = dp_choice_bytes, .span = span_cpu, .table = table_cpu};

/* ---- tiles of a run */

tsl_err dp_cpu_rows_tiles(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  dp_rows_stage(&w->dp.rows);
  for (int64_t k = 0, end; k < n; k = end) {
    const double start = tsl_cpu_seconds();
    end = dp_units_end(units, n, k);
    TSL_TRY(dp_rows_run(&w->dp.rows, units + k, end - k, parts + k));
    TSL_TRY(dp_rows_best(&w->dp.rows, units + k, end - k, parts + k));
    dp_cpu_spread(w, start, units + k, end - k, parts + k);
  }
done:
  return err;
}
