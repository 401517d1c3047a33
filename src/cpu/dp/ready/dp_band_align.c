/** @file dp_band_align.c  Bands of alignments with affine gaps and of weighted edit distances. */
#include "dp_backend.h"

#include <string.h>

typedef struct align_band {
  dp_band_head band;
  dp_cpu_align *align;
} align_band;

static int64_t width_of(const align_band *e) {
  return e->band.hi - e->band.lo;
}

static void close_align(void *engine) {
  align_band *e = engine;
  dp_cpu_align_close(&e->align);
}

static tsl_err open_align(void *engine, int64_t rows) {
  tsl_err err = TSL_OK;
  align_band *e = engine;
  const dp_context *c = e->band.c;
  const dp_params *p = c->p;
  const dp_cpu *cpu = &((const tsl_worker *)c->worker)->cpu;
  const int64_t top = e->band.top, lo = e->band.lo, width = width_of(e);
  const uint8_t *a = (const uint8_t *)dp_input(c, DP_A) + top;
  const uint8_t *b = (const uint8_t *)dp_input(c, DP_B) + lo;
  if (p->problem == DP_EDIT)
    TSL_TRY(dp_cpu_edit_open(cpu, p->insert, p->remove, p->replace, a, rows, b, width, p->m, lo,
                             &e->align));
  else
    TSL_TRY(dp_cpu_align_open(cpu, (dp_problem)p->problem, &p->scores, a, rows, b, width, p->m, lo,
                              &e->align));
  if (c->begun) dp_cpu_align_prune(e->align, p->n - top, p->m - lo, p->least);
  dp_cpu_align_begin(e->align);
done:
  return err;
}

static tsl_err tile_align(void *engine, int64_t lo, int64_t hi, const void *left, void *right,
                          bool keep, dp_window window) {
  const align_band *e = engine;
  (void)window; /* the table is made by plain loops */
  return dp_cpu_align_tile(e->align, lo - e->band.top, hi - e->band.top, left, right, keep);
}

static int64_t dp_band_align_keep_bytes(const void *worker, int64_t rows, int64_t columns) {
  return dp_cpu_align_keep_bytes(&((const tsl_worker *)worker)->cpu, rows, columns);
}

/* ---- state: H, then F */

/** Weighted edit distances have no F. */
static int64_t state_bytes_align(const dp_params *p, int64_t columns) {
  return dp_state_bytes(p, columns) / (p->problem == DP_EDIT ? 2 : 1);
}

static tsl_err dp_band_align_state_get(void *engine, void *state) {
  const align_band *e = engine;
  memset(state, 0, (size_t)state_bytes_align(e->band.c->p, width_of(e)));
  dp_cpu_align_row_get(e->align, state, (int32_t *)state + width_of(e));
  return TSL_OK;
}

static tsl_err dp_band_align_state_put(void *engine, int64_t row, const void *state) {
  const align_band *e = engine;
  (void)row; /* a tile says where it begins */
  dp_cpu_align_row_put(e->align, state, (const int32_t *)state + width_of(e));
  return TSL_OK;
}

/* ---- traceback */

static tsl_err trace_align(void *engine, tsl_cursor *cursor, dp_steps *steps) {
  tsl_err err = TSL_OK;
  const align_band *e = engine;
  int64_t *at = cursor->at, n = 0;
  dp_place place = {
      .row = at[0] - e->band.top, .column = at[1] - e->band.lo, .state = (int32_t)at[2]};
  const int64_t room = at[0] - e->band.keep_lo + place.column;
  uint8_t *directions = NULL;
  TSL_TRY(tsl_alloc(room, 1, "steps", (void **)&directions));
  TSL_TRY(dp_cpu_align_trace(e->align, &place, directions, room, &n));
  TSL_TRY(dp_steps_alignment(e->band.c, directions, n, at[0], at[1], steps));
  if (e->band.c->p->problem == DP_LOCAL)
    at[DP_CURSOR_SCORE] -= dp_steps_score(e->band.c, directions, n, at[0], at[1], place.state);
  at[0] = e->band.top + place.row, at[1] = e->band.lo + place.column, at[2] = place.state;
  if (place.done) cursor->lane = -1;
done:
  tsl_free(directions);
  return err;
}

static tsl_err aim_align(void *engine, const int64_t at[2], int64_t score) {
  const align_band *e = engine;
  const dp_aim aim = dp_aim_of(e->band.c->p, e->band.top, e->band.lo, at, score);
  dp_cpu_align_prune(e->align, aim.rows, aim.columns, aim.known);
  return TSL_OK;
}

/* ---- results */

static tsl_err goal_align(void *engine, bool last, double *goal) {
  const align_band *e = engine;
  *goal = last ? (double)dp_cpu_align_best(e->align).score : 0;
  return TSL_OK;
}

static tsl_err best_align(void *engine, int64_t best[3]) {
  const align_band *e = engine;
  const dp_best found = dp_cpu_align_best(e->align);
  best[0] = found.score, best[1] = found.row;
  best[2] = found.score > 0 ? e->band.lo + found.column : 0;
  return TSL_OK;
}

static tsl_err best_put(void *engine, const int64_t best[3]) {
  const align_band *e = engine;
  const dp_best found = {best[0], best[1], best[2] - e->band.lo};
  dp_cpu_align_best_put(e->align, &found);
  return TSL_OK;
}

static tsl_err pruned_align(void *engine, int64_t *cells) {
  *cells = dp_cpu_align_pruned(((const align_band *)engine)->align);
  return TSL_OK;
}

const dp_band_engine dp_engine_align_cpu = {
    .bytes = sizeof(align_band),
    .open = open_align,
    .close = close_align,
    .tile = tile_align,
    .keep_bytes = dp_band_align_keep_bytes,
    .state_bytes = state_bytes_align,
    .state_get = dp_band_align_state_get,
    .state_put = dp_band_align_state_put,
    .trace = trace_align,
    .goal = goal_align,
    .best = best_align,
    .best_put = best_put,
    .pruned = pruned_align,
    .aim = aim_align,
};
