/** @file dp_rows.c  Row sweeps: rows of the stage before, halos, decisions. */
#include "dp_rows_own.h"

#include <string.h>

/* ---- rows */

static tsl_err alloc_rows(const tsl_worker *w, void **rows) {
  tsl_err err = TSL_OK;
  for (int k = 0; k < 2; k++)
    TSL_TRY(tsl_alloc(dp_width(w->c.p), (size_t)w->c.bytes, "row of the table", &rows[k]));
done:
  return err;
}

tsl_err dp_rows_open(tsl_worker *w) {
  tsl_err err = TSL_OK;
  w->rows.goal = -1;
  TSL_TRY(alloc_rows(w, w->rows.row));
  TSL_TRY(alloc_rows(w, w->rows.scratch));
done:
  return err;
}

void dp_rows_forget(dp_rows *rows) {
  for (int64_t k = 0; k < rows->n; k++) {
    tsl_free(rows->list[k].bits);
    tsl_free(rows->list[k].k);
    tsl_free(rows->list[k].top);
  }
  tsl_free(rows->list);
  rows->list = NULL;
  rows->n = rows->room = rows->bytes = 0;
}

void dp_rows_clear(tsl_worker *w) {
  dp_rows_forget(&w->rows);
  for (int k = 0; k < 2; k++) {
    tsl_free(w->rows.row[k]);
    tsl_free(w->rows.scratch[k]);
  }
  w->rows = (dp_rows){.goal = -1};
}

/** Row 0, or stage 0: what the first stage continues. */
tsl_err dp_rows_begin(tsl_worker *w) {
  void *first = w->rows.row[1];
  const size_t bytes = (size_t)(dp_width(w->c.p) * w->c.bytes);
  dp_rows_trial_end(w);
  dp_rows_forget(&w->rows);
  w->rows.goal = -1;
  memset(first, 0, bytes);
  if (w->c.p->problem == DP_STAGECOACH) memcpy(first, dp_input(&w->c, DP_B), bytes);
  if (w->c.p->problem == DP_BINOMIAL) *(int64_t *)first = w->c.p->modulus == 1 ? 0 : 1;
  return TSL_OK;
}

/* ---- edges */

static char *place_of(const tsl_worker *w, const tsl_unit *unit) {
  return (char *)w->rows.row[unit->stage & 1] + unit->lo[1] * w->c.bytes;
}

tsl_err dp_rows_edge_out(tsl_worker *w, const tsl_unit *unit, void *bytes) {
  memcpy(bytes, place_of(w, unit), (size_t)((unit->hi[1] - unit->lo[1]) * w->c.bytes));
  return TSL_OK;
}

tsl_err dp_rows_edge_in(tsl_worker *w, const tsl_unit *unit, const void *bytes) {
  memcpy(place_of(w, unit), bytes, (size_t)((unit->hi[1] - unit->lo[1]) * w->c.bytes));
  return TSL_OK;
}

/* ---- decisions */

tsl_err dp_choices_alloc(const tsl_worker *w, dp_choices *c) {
  tsl_err err = TSL_OK;
  const int64_t bytes = dp_choice_bytes(w->c.p, c->hi - c->lo, c->to - c->from);
  if (w->c.p->problem == DP_KNAPSACK || w->c.p->problem == DP_KNAPSACK_UNBOUNDED)
    TSL_TRY(tsl_alloc(bytes, 1, "decisions", (void **)&c->bits));
  else
    TSL_TRY(tsl_alloc(bytes, 1, "decisions", (void **)&c->k));
done:
  return err;
}

tsl_err dp_rows_grow(dp_rows *rows) {
  tsl_err err = TSL_OK;
  void *more = NULL;
  const int64_t room = rows->room > 0 ? 2 * rows->room : 64;
  if (rows->n < rows->room) return TSL_OK;
  TSL_TRY(tsl_alloc(room, sizeof *rows->list, "decisions", &more));
  if (rows->n > 0) memcpy(more, rows->list, (size_t)rows->n * sizeof *rows->list);
  tsl_free(rows->list);
  rows->list = more, rows->room = room;
done:
  return err;
}

bool dp_span_made_again(const tsl_worker *w, const dp_span *span) {
  const bool whole = span->from == 0 && span->to == dp_width(w->c.p);
  const double all = (double)dp_choice_bytes(w->c.p, 1, span->to - span->from) * (double)w->c.p->n;
  return whole && all > (double)w->c.p->budget;
}

/** Keep the decisions of these rows, or, where they are too many and no halo is needed to make them
 *  again, the row above them. */
static tsl_err keep_choices(tsl_worker *w, const dp_span *span, dp_choices **out) {
  tsl_err err = TSL_OK;
  dp_rows *rows = &w->rows;
  const int64_t width = dp_width(w->c.p), budget = w->c.p->budget;
  const bool later = dp_span_made_again(w, span);
  const double all = (double)dp_choice_bytes(w->c.p, 1, span->to - span->from) * (double)w->c.p->n;
  char need[24], have[24];
  dp_choices *c = NULL;
  TSL_TRY(dp_rows_grow(rows));
  c = &rows->list[rows->n];
  *c = (dp_choices){.lo = span->lo, .hi = span->hi, .from = span->from, .to = span->to};
  memcpy(c->lanes, span->lanes, sizeof c->lanes);
  rows->bytes +=
      later ? width * w->c.bytes : dp_choice_bytes(w->c.p, c->hi - c->lo, c->to - c->from);
  if (rows->bytes > budget)
    TSL_FAIL(TSL_ERR_MEMORY,
             "dp.memory: %s is too little for the decisions of this rank's part of the table, "
             "which need %s",
             tsl_bytes_text((double)budget, have), tsl_bytes_text(all, need));
  if (later) {
    TSL_TRY(tsl_alloc(width, (size_t)w->c.bytes, "special row", &c->top));
    memcpy(c->top, span->top, (size_t)(width * w->c.bytes));
  } else {
    TSL_TRY(dp_choices_alloc(w, c));
  }
  rows->n++;
  if (!later) *out = c;
done:
  return err;
}

/* ---- one span: rows [lo, hi), columns [from, to) */

/** Columns to the left of a row's own that items after it, up to hi, reach. */
static int64_t reach_after(const tsl_worker *w, int64_t item, int64_t hi) {
  const int64_t *weights = dp_input(&w->c, DP_A);
  int64_t sum = 0;
  if (w->c.p->problem == DP_BINOMIAL) return hi - 1 - item;
  if (w->c.p->problem != DP_KNAPSACK) return 0;
  for (int64_t i = item + 1; i < hi && sum <= w->c.p->m; i++)
    if (weights[i] <= w->c.p->m) sum += weights[i];
  return sum;
}

/** Items [lo, hi) of a span at once; y gets columns [from, span->to). */
typedef struct piece {
  const dp_span *span;
  int64_t lo, hi, from;
  const void *x;
  void *y;
  uint64_t *bits;
  int32_t *k;
} piece;

static tsl_err compute_binomial(const tsl_worker *w, const piece *q) {
  tsl_err err = TSL_OK;
  const int64_t modulus = w->c.p->modulus, *y = q->y;
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
  const dp_params *p = w->c.p;
  const tsl_type type = (tsl_type)p->type;
  const int64_t *weights = dp_input(&w->c, DP_A), *values = dp_input(&w->c, DP_B), to = q->span->to;
  const bool stages = p->problem == DP_STAGECOACH;
  const int64_t row = stages ? p->m * p->m : p->m + 1;
  const char *numbers = (const char *)dp_input(&w->c, DP_A) + (q->lo - stages) * row * w->c.bytes;
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

tsl_err dp_span_compute(const tsl_worker *w, const dp_span *span, dp_choices *choices,
                        dp_row_fn done_row, void *context) {
  tsl_err err = TSL_OK;
  const int64_t columns = span->to - span->from, words = (columns + 63) / 64;
  const bool many = w->c.p->problem == DP_KNAPSACK || w->c.p->problem == DP_BINOMIAL ||
                    (w->c.p->problem == DP_KNAPSACK_UNBOUNDED && choices == NULL);
  piece q = {.span = span, .x = span->top};
  for (int64_t i = span->lo; i < span->hi; i = q.hi, q.x = q.y) {
    q.lo = i, q.hi = many && done_row == NULL ? span->hi : i + 1;
    q.from = span->from - reach_after(w, q.hi - 1, span->hi);
    if (q.from < 0) q.from = 0;
    q.y = q.hi == span->hi ? span->bottom : w->rows.scratch[i & 1];
    if (choices != NULL && choices->bits != NULL) q.bits = choices->bits + (i - span->lo) * words;
    if (choices != NULL && choices->k != NULL) q.k = choices->k + (i - span->lo) * columns;
    TSL_TRY(compute_piece(w, &q));
    if (done_row != NULL) done_row(context, i, q.y);
  }
done:
  return err;
}

/* ---- tiles */

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
    w->c.problem->family->region(w->c.problem, &t->units[u], w->c.table, lo, hi);
    const size_t bytes = (size_t)((hi[1] - lo[1]) * w->c.bytes);
    memcpy((char *)t->parts[u].slab[w->c.table] + (size_t)(row - lo[0]) * bytes,
           (const char *)values + lo[1] * w->c.bytes, bytes);
  }
}

static void put_item(void *context, int64_t item, const void *values) {
  const table_rows *t = context;
  put_row(t, item + dp_has_boundary(t->w->c.p), values);
}

/** STAGECOACH: the cheapest state of the lane. */
static void put_best(const tsl_worker *w, const tsl_unit *unit, const tsl_part *part) {
  const void *row = w->rows.row[unit->stage & 1];
  int64_t *best = part->slab[w->c.best], at = unit->lo[1];
  const bool real = w->c.p->type == TSL_F32 || w->c.p->type == TSL_F64;
  for (int64_t s = at + 1; s < unit->hi[1]; s++)
    if (dp_number(w->c.p, row, s) < dp_number(w->c.p, row, at)) at = s;
  const double value = (double)dp_number(w->c.p, row, at);
  best[0] = (int64_t)dp_number(w->c.p, row, at);
  if (real) memcpy(&best[0], &value, sizeof value);
  best[1] = unit->lo[0] < unit->hi[0] ? unit->hi[0] - 1 : 0, best[2] = at;
}

static tsl_err run_span(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const int stage = (int)(units[0].stage & 1);
  dp_span span = {.lo = units[0].lo[0],
                  .hi = units[0].hi[0],
                  .from = units[0].lo[1],
                  .to = units[n - 1].hi[1],
                  .lanes = {units[0].lane, units[n - 1].lane + 1},
                  .top = w->rows.row[1 - stage],
                  .bottom = w->rows.row[stage]};
  table_rows table = {w, units, parts, n};
  dp_choices *choices = NULL;
  if (w->c.p->mode == DP_RECOVER) TSL_TRY(keep_choices(w, &span, &choices));
  if (w->c.table >= 0 && units[0].stage == 0) put_row(&table, 0, span.top);
  TSL_TRY(dp_span_compute(w, &span, choices, w->c.table >= 0 ? put_item : NULL, &table));
  if (span.hi == w->c.p->n && span.to == dp_width(w->c.p)) w->rows.goal = stage;
  for (int64_t u = 0; u < n && span.hi == w->c.p->n && w->c.best >= 0; u++)
    put_best(w, &units[u], &parts[u]);
done:
  return err;
}

tsl_err dp_rows_tiles(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  for (int64_t k = 0, end; k < n; k = end) {
    const double start = tsl_cpu_seconds();
    end = dp_units_end(units, n, k);
    TSL_TRY(run_span(w, units + k, end - k, parts + k));
    dp_cpu_spread(w, start, units + k, end - k, parts + k);
  }
done:
  return err;
}

void dp_rows_goal(const tsl_worker *w, tsl_field *goal) {
  if (w->rows.goal < 0 || w->c.p->problem == DP_STAGECOACH) return;
  const long double value = dp_number(w->c.p, w->rows.row[w->rows.goal], w->c.p->m);
  if (goal->type == TSL_I64)
    *(int64_t *)goal->data = (int64_t)value;
  else
    *(double *)goal->data = (double)value;
}
