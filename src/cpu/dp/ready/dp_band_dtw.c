/** @file dp_band_dtw.c  Bands of dynamic time warping. */
#include "dp_backend.h"

typedef struct dtw_band {
  dp_cpu_dtw *dtw;
  tsl_type type;
  int64_t top, lo, hi, keep_lo, bytes; /* top: first row that the engine knows; of a value */
  double last;                         /* last cell computed of the last column */
} dtw_band;

static void close_dtw(void **engine) {
  dtw_band *e = *engine;
  if (e == NULL) return;
  dp_cpu_dtw_close(&e->dtw);
  tsl_free(e);
  *engine = NULL;
}

static tsl_err open_dtw(void *worker, const dp_box *cells, void **engine) {
  tsl_err err = TSL_OK;
  const int64_t top = cells->lo[0], lo = cells->lo[1], hi = cells->hi[1];
  const tsl_worker *w = worker;
  dtw_band *e = NULL;
  *engine = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *e, "band", (void **)&e));
  *e = (dtw_band){
      .type = (tsl_type)w->dp.c.p->type, .top = top, .lo = lo, .hi = hi, .bytes = w->dp.c.bytes};
  *engine = e;
  TSL_TRY(
      dp_cpu_dtw_open(&w->cpu, e->type, w->dp.c.p->square != 0,
                      (const char *)dp_input(&w->dp.c, DP_A) + top * e->bytes, cells->hi[0] - top,
                      (const char *)dp_input(&w->dp.c, DP_B) + lo * e->bytes, hi - lo, &e->dtw));
  dp_cpu_dtw_begin(e->dtw);
done:
  if (err != TSL_OK) close_dtw(engine);
  return err;
}

static tsl_err tile_dtw(void *engine, int64_t lo, int64_t hi, const void *left, void *right,
                        bool keep, dp_window window) {
  tsl_err err = TSL_OK;
  dtw_band *e = engine;
  (void)window; /* the table is made by plain loops */
  if (keep) e->keep_lo = lo;
  TSL_TRY(dp_cpu_dtw_tile(e->dtw, lo - e->top, hi - e->top, left, right, keep));
  if (right == NULL) goto done;
  e->last = e->type == TSL_F32 ? ((const float *)right)[hi - lo] : ((const double *)right)[hi - lo];
done:
  return err;
}

static int64_t dp_band_dtw_keep_bytes(const void *worker, int64_t rows, int64_t columns) {
  const tsl_worker *w = worker;
  return dp_cpu_dtw_keep_bytes(&w->cpu, (tsl_type)w->dp.c.p->type, rows, columns);
}

static tsl_err dp_band_dtw_state_get(void *engine, void *state) {
  dp_cpu_dtw_row_get(((const dtw_band *)engine)->dtw, state);
  return TSL_OK;
}

static tsl_err dp_band_dtw_state_put(void *engine, int64_t row, const void *state) {
  const dtw_band *e = engine;
  (void)row; /* a tile says where it begins */
  dp_cpu_dtw_row_put(e->dtw, state);
  return TSL_OK;
}

static tsl_err trace_dtw(void *engine, tsl_cursor *cursor, dp_steps *steps) {
  tsl_err err = TSL_OK;
  const dtw_band *e = engine;
  int64_t row = cursor->at[0] - e->top, column = cursor->at[1] - e->lo, n = 0;
  const int64_t room = cursor->at[0] - e->keep_lo + column;
  dp_pair *cells = NULL;
  TSL_TRY(tsl_alloc(room, sizeof *cells, "cells", (void **)&cells));
  TSL_TRY(dp_cpu_dtw_trace(e->dtw, &row, &column, cells, room, &n));
  for (int64_t k = 0; k < n; k++)
    TSL_TRY(dp_steps_add(steps, e->top + cells[k].row, e->lo + cells[k].column));
  cursor->at[0] = e->top + row, cursor->at[1] = e->lo + column;
done:
  tsl_free(cells);
  return err;
}

static tsl_err goal_dtw(void *engine, bool last, double *goal) {
  *goal = last ? ((const dtw_band *)engine)->last : 0;
  return TSL_OK;
}

const dp_band_engine dp_engine_dtw_cpu = {
    .open = open_dtw,
    .close = close_dtw,
    .tile = tile_dtw,
    .keep_bytes = dp_band_dtw_keep_bytes,
    .state_bytes = dp_state_bytes,
    .state_get = dp_band_dtw_state_get,
    .state_put = dp_band_dtw_state_put,
    .trace = trace_dtw,
    .goal = goal_dtw,
};
