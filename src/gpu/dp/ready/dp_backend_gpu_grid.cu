/* Bands of weighted edit distances and of dynamic time warping. */
#include "dp_backend_gpu.cuh"

typedef struct grid_band {
  dp_band_head band;
  dp_grid *grid;
} grid_band;

static void close_grid(void *engine) {
  grid_band *e = (grid_band *)engine;
  dp_grid_close(&e->grid);
}

static tsl_err open_grid(void *engine, int64_t rows) {
  grid_band *e = (grid_band *)engine;
  const dp_context *c = e->band.c;
  const dp_params *p = c->p;
  const int64_t lo = e->band.lo, width = e->band.hi - lo;
  const char *a = (const char *)dp_input(c, DP_A), *b = (const char *)dp_input(c, DP_B);
  if (p->problem == DP_DTW)
    return dp_grid_open_dtw(dp_card_of(c), (tsl_type)p->type, p->square != 0,
                            a + e->band.top * c->bytes, rows, b + lo * c->bytes, width, lo,
                            &e->grid);
  return dp_grid_open_edit(dp_card_of(c), p->insert, p->remove, p->replace,
                           (const uint8_t *)a + e->band.top, rows, (const uint8_t *)b + lo, width,
                           p->m, lo, &e->grid);
}

static tsl_err tile_grid(void *engine, int64_t lo, int64_t hi, const void *left, void *right,
                         bool keep, dp_window) {
  grid_band *e = (grid_band *)engine;
  return dp_grid_tile(e->grid, lo - e->band.top, hi - e->band.top, left, right, keep);
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
  return dp_grid_state_put(e->grid, row - e->band.top, state);
}

static tsl_err trace_grid(void *engine, tsl_cursor *cursor, dp_steps *steps) {
  tsl_err err = TSL_OK;
  grid_band *e = (grid_band *)engine;
  int64_t *at = cursor->at, row = at[0] - e->band.top, column = at[1] - e->band.lo, n = 0;
  const int64_t room = at[0] - e->band.keep_lo + column;
  uint8_t *directions = NULL;
  TSL_TRY(tsl_alloc(room, 1, "steps", (void **)&directions));
  TSL_TRY(e->band.c->p->host ? dp_grid_trace_host(e->grid, &row, &column, directions, room, &n)
                             : dp_grid_trace(e->grid, &row, &column, directions, room, &n));
  TSL_TRY(e->band.c->p->problem == DP_DTW
              ? dp_steps_cells(directions, n, at[0], at[1], steps)
              : dp_steps_alignment(e->band.c, directions, n, at[0], at[1], steps));
  at[0] = e->band.top + row;
  at[1] = e->band.lo + column;
done:
  tsl_free(directions);
  return err;
}

static tsl_err goal_grid(void *engine, bool last, double *goal) {
  *goal = 0;
  return last ? dp_grid_last(((grid_band *)engine)->grid, goal) : TSL_OK;
}

const dp_band_engine dp_engine_grid = {
    .bytes = sizeof(grid_band),
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
