/** @file dp_band_dtw.c  Bands of dynamic time warping. */
#include "dp_backend.h"

typedef struct dtw_band {
  dp_band_head band;
  dp_cpu_dtw *dtw;
  double last; /* last cell computed of the last column */
} dtw_band;

static void close_dtw(void *engine) {
  dtw_band *e = engine;
  dp_cpu_dtw_close(&e->dtw);
}

static tsl_err open_dtw(void *engine, int64_t rows) {
  tsl_err err = TSL_OK;
  dtw_band *e = engine;
  const dp_context *c = e->band.c;
  const char *a = (const char *)dp_input(c, DP_A) + e->band.top * c->bytes;
  const char *b = (const char *)dp_input(c, DP_B) + e->band.lo * c->bytes;
  TSL_TRY(dp_cpu_dtw_open(&((const tsl_worker *)c->worker)->cpu, (tsl_type)c->p->type,
                          c->p->square != 0, a, rows, b, e->band.hi - e->band.lo, &e->dtw));
  dp_cpu_dtw_begin(e->dtw);
done:
  return err;
}

static tsl_err tile_dtw(void *engine, int64_t lo, int64_t hi, const void *left, void *right,
                        bool keep, dp_window window) {
  tsl_err err = TSL_OK;
  dtw_band *e = engine;
  (void)window; /* the table is made by plain loops */
  TSL_TRY(dp_cpu_dtw_tile(e->dtw, lo - e->band.top, hi - e->band.top, left, right, keep));
  if (right == NULL) goto done;
  e->last = e->band.c->p->type == TSL_F32 ? ((const float *)right)[hi - lo]
                                          : ((const double *)right)[hi - lo];
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
  int64_t row = cursor->at[0] - e->band.top, column = cursor->at[1] - e->band.lo, n = 0;
  const int64_t room = cursor->at[0] - e->band.keep_lo + column;
  dp_pair *cells = NULL;
  TSL_TRY(tsl_alloc(room, sizeof *cells, "cells", (void **)&cells));
  TSL_TRY(dp_cpu_dtw_trace(e->dtw, &row, &column, cells, room, &n));
  for (int64_t k = 0; k < n; k++)
    TSL_TRY(dp_steps_add(steps, e->band.top + cells[k].row, e->band.lo + cells[k].column));
  cursor->at[0] = e->band.top + row, cursor->at[1] = e->band.lo + column;
done:
  tsl_free(cells);
  return err;
}

static tsl_err goal_dtw(void *engine, bool last, double *goal) {
  *goal = last ? ((const dtw_band *)engine)->last : 0;
  return TSL_OK;
}

const dp_band_engine dp_engine_dtw_cpu = {
    .bytes = sizeof(dtw_band),
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
