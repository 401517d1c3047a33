/* Bands of weighted edit distances and of dynamic time warping. */
#include "dp_backend_gpu.cuh"

typedef struct grid_band {
  dp_grid *grid;
  dp_worker *w;
  int64_t top, lo, hi, keep_lo; /* top: first row that the engine knows */
} grid_band;

static void close_grid(void **engine) {
  grid_band *e = (grid_band *)*engine;
  if (e == NULL) return;
  dp_grid_close(&e->grid);
  tsl_free(e);
  *engine = NULL;
}

static tsl_err open_grid(void *worker, const dp_box *cells, void **engine) {
  tsl_err err = TSL_OK;
  const int64_t top = cells->lo[0], n = cells->hi[0] - top, lo = cells->lo[1], hi = cells->hi[1];
  dp_worker *w = (dp_worker *)worker;
  const dp_params *p = w->dp.c.p;
  grid_band *e = NULL;
  *engine = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *e, "band", (void **)&e));
  *engine = e;
  e->w = w;
  e->top = top;
  e->lo = lo;
  e->hi = hi;
  if (p->problem == DP_DTW)
    TSL_TRY(dp_grid_open_dtw(&w->card, (tsl_type)p->type, p->square != 0,
                             (const char *)dp_input(&w->dp.c, DP_A) + top * w->dp.c.bytes, n,
                             (const char *)dp_input(&w->dp.c, DP_B) + lo * w->dp.c.bytes, hi - lo,
                             lo, &e->grid));
  else
    TSL_TRY(dp_grid_open_edit(
        &w->card, p->insert, p->remove, p->replace, (const uint8_t *)dp_input(&w->dp.c, DP_A) + top,
        n, (const uint8_t *)dp_input(&w->dp.c, DP_B) + lo, hi - lo, p->m, lo, &e->grid));
done:
  if (err != TSL_OK) close_grid(engine);
  return err;
}

static tsl_err tile_grid(void *engine, int64_t lo, int64_t hi, const void *left, void *right,
                         bool keep, dp_window) {
  grid_band *e = (grid_band *)engine;
  if (keep) e->keep_lo = lo;
  return dp_grid_tile(e->grid, lo - e->top, hi - e->top, left, right, keep);
}

static int64_t dp_backend_gpu_grid_keep_bytes(const void *, int64_t rows, int64_t columns) {
  return dp_grid_keep_bytes(rows, columns);
}

/* Weighted edit distances have no F. */
static int64_t state_bytes(const dp_params *p, int64_t columns) {
  return dp_state_bytes(p, columns) / (p->problem == DP_EDIT ? 2 : 1);
}

static tsl_err dp_backend_gpu_grid_state_get(void *engine, void *state) {
  return dp_grid_state_get(((grid_band *)engine)->grid, state);
}

static tsl_err dp_backend_gpu_grid_state_put(void *engine, int64_t row, const void *state) {
  grid_band *e = (grid_band *)engine;
  return dp_grid_state_put(e->grid, row - e->top, state);
}

static tsl_err trace_grid(void *engine, tsl_cursor *cursor, dp_steps *steps) {
  tsl_err err = TSL_OK;
  grid_band *e = (grid_band *)engine;
  int64_t *at = cursor->at, row = at[0] - e->top, column = at[1] - e->lo, n = 0;
  const int64_t room = at[0] - e->keep_lo + column;
  uint8_t *directions = NULL;
  TSL_TRY(tsl_alloc(room, 1, "steps", (void **)&directions));
  TSL_TRY(e->w->dp.c.p->host ? dp_grid_trace_host(e->grid, &row, &column, directions, room, &n)
                             : dp_grid_trace(e->grid, &row, &column, directions, room, &n));
  TSL_TRY(e->w->dp.c.p->problem == DP_DTW
              ? dp_steps_cells(directions, n, at[0], at[1], steps)
              : dp_steps_alignment(&e->w->dp.c, directions, n, at[0], at[1], steps));
  at[0] = e->top + row;
  at[1] = e->lo + column;
done:
  tsl_free(directions);
  return err;
}

static tsl_err goal_grid(void *engine, bool last, double *goal) {
  *goal = 0;
  return last ? dp_grid_last(((grid_band *)engine)->grid, goal) : TSL_OK;
}

const dp_band_engine dp_engine_grid = {
    .open = open_grid,
    .close = close_grid,
    .tile = tile_grid,
    .keep_bytes = dp_backend_gpu_grid_keep_bytes,
    .state_bytes = state_bytes,
    .state_get = dp_backend_gpu_grid_state_get,
    .state_put = dp_backend_gpu_grid_state_put,
    .trace = trace_grid,
    .goal = goal_grid,
};
