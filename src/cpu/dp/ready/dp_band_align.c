/** @file dp_band_align.c  Bands of alignments with affine gaps and of weighted edit distances. */
#include "dp_backend.h"

#include <string.h>

typedef struct align_band {
  dp_cpu_align *align;
  const dp_cpu *cpu;
  const dp_params *p;
  const uint8_t *a, *b;
  int64_t lo, hi, keep_lo;
} align_band;

static int64_t width_of(const align_band *e) {
  return e->hi - e->lo;
}

static void close_align(void **engine) {
  align_band *e = *engine;
  if (e == NULL) return;
  dp_cpu_align_close(&e->align);
  tsl_free(e);
  *engine = NULL;
}

static tsl_err open_align(const tsl_worker *w, int64_t lo, int64_t hi, void **engine) {
  tsl_err err = TSL_OK;
  const dp_params *p = w->p;
  align_band *e = NULL;
  *engine = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *e, "band", (void **)&e));
  *e = (align_band){.cpu = &w->cpu, .p = p, .lo = lo, .hi = hi};
  *engine = e;
  e->a = dp_input(w, DP_A), e->b = dp_input(w, DP_B);
  if (p->problem == DP_EDIT)
    TSL_TRY(dp_cpu_edit_open(&w->cpu, p->insert, p->remove, p->replace, e->a, p->n, e->b + lo,
                             hi - lo, p->m, lo, &e->align));
  else
    TSL_TRY(dp_cpu_align_open(&w->cpu, (dp_problem)p->problem, &p->scores, e->a, p->n, e->b + lo,
                              hi - lo, p->m, lo, &e->align));
done:
  if (err != TSL_OK) close_align(engine);
  return err;
}

static void begin_align(void *engine) {
  dp_cpu_align_begin(((align_band *)engine)->align);
}

static tsl_err tile_align(void *engine, int64_t lo, int64_t hi, const void *left, void *right,
                          bool keep, dp_window window) {
  align_band *e = engine;
  (void)window; /* the table is made by plain loops */
  if (keep) e->keep_lo = lo;
  return dp_cpu_align_tile(e->align, lo, hi, left, right, keep);
}

static int64_t keep_bytes(const void *engine, int64_t rows) {
  const align_band *e = engine;
  return dp_cpu_align_keep_bytes(e->cpu, rows, width_of(e));
}

/* ---- state: H, then F */

static void row_get(const void *engine, void *row) {
  const align_band *e = engine;
  memset(row, 0, (size_t)dp_state_bytes(e->p, width_of(e)));
  dp_cpu_align_row_get(e->align, row, (int32_t *)row + width_of(e));
}

static tsl_err row_put(void *engine, int64_t row, const void *state) {
  align_band *e = engine;
  (void)row; /* a tile says where it begins */
  dp_cpu_align_row_put(e->align, state, (const int32_t *)state + width_of(e));
  return TSL_OK;
}

/* ---- the walk back */

static tsl_err add_steps(const align_band *e, const uint8_t *ways, int64_t n, int64_t i, int64_t j,
                         dp_steps *steps) {
  tsl_err err = TSL_OK;
  for (int64_t k = 0; k < n; k++) {
    const int pair = ways[k] == DP_STEP_PAIR && e->a[i - 1] == e->b[j - 1] ? DP_MATCH : DP_MISMATCH;
    TSL_TRY(dp_steps_run(steps,
                         ways[k] == DP_STEP_PAIR   ? pair
                         : ways[k] == DP_STEP_LEFT ? DP_INSERT
                                                   : DP_DELETE,
                         1));
    i -= ways[k] != DP_STEP_LEFT;
    j -= ways[k] != DP_STEP_UP;
  }
done:
  return err;
}

static tsl_err trace_align(void *engine, tsl_cursor *cursor, dp_steps *steps) {
  tsl_err err = TSL_OK;
  const align_band *e = engine;
  int64_t *at = cursor->at, n = 0;
  dp_place place = {.row = at[0], .column = at[1] - e->lo, .state = (int32_t)at[2]};
  const int64_t room = place.row - e->keep_lo + place.column;
  uint8_t *ways = NULL;
  TSL_TRY(tsl_alloc(room, 1, "steps", (void **)&ways));
  TSL_TRY(dp_cpu_align_trace(e->align, &place, ways, room, &n));
  TSL_TRY(add_steps(e, ways, n, at[0], at[1], steps));
  at[0] = place.row, at[1] = e->lo + place.column, at[2] = place.state;
  if (place.done) cursor->lane = -1;
done:
  tsl_free(ways);
  return err;
}

/* ---- results */

static double goal_align(const void *engine, bool last) {
  const align_band *e = engine;
  return last ? (double)dp_cpu_align_best(e->align).score : 0;
}

static void best_align(const void *engine, int64_t best[3]) {
  const align_band *e = engine;
  const dp_best found = dp_cpu_align_best(e->align);
  best[0] = found.score, best[1] = found.row;
  best[2] = found.score > 0 ? e->lo + found.column : 0;
}

static void best_put(void *engine, const int64_t best[3]) {
  const align_band *e = engine;
  const dp_best found = {best[0], best[1], best[2] - e->lo};
  if (best[0] > 0) dp_cpu_align_best_put(e->align, &found);
}

const dp_band_ops dp_band_align = {
    .open = open_align,
    .close = close_align,
    .begin = begin_align,
    .tile = tile_align,
    .keep_bytes = keep_bytes,
    .row_get = row_get,
    .row_put = row_put,
    .trace = trace_align,
    .goal = goal_align,
    .best = best_align,
    .best_put = best_put,
};
