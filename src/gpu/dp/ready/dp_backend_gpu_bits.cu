/* Bands of bits: longest common subsequence, edit distance with unit costs. */
#include "dp_backend_gpu.cuh"

typedef struct bits_band {
  dp_bits *bits;
  dp_worker *w;
  int64_t top, lo, hi, row, keep_lo; /* top: first row that the engine knows */
} bits_band;

static dp_problem problem_of(const bits_band *e) {
  return (dp_problem)e->w->dp.c.p->problem;
}

static void close_bits(void **engine) {
  bits_band *e = (bits_band *)*engine;
  if (e == NULL) return;
  dp_bits_close(&e->bits);
  tsl_free(e);
  *engine = NULL;
}

static tsl_err open_bits(void *worker, const dp_box *cells, void **engine) {
  tsl_err err = TSL_OK;
  const int64_t top = cells->lo[0], lo = cells->lo[1], hi = cells->hi[1];
  dp_worker *w = (dp_worker *)worker;
  bits_band *e = NULL;
  *engine = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *e, "band", (void **)&e));
  *engine = e;
  e->w = w;
  e->top = top;
  e->lo = lo;
  e->hi = hi;
  TSL_TRY(dp_bits_open(&w->card, problem_of(e), (const uint8_t *)dp_input(&w->dp.c, DP_A) + top,
                       cells->hi[0] - top, (const uint8_t *)dp_input(&w->dp.c, DP_B) + lo, hi - lo,
                       0, &e->bits));
done:
  if (err != TSL_OK) close_bits(engine);
  return err;
}

static tsl_err tile_bits(void *engine, int64_t lo, int64_t hi, const void *left, void *right,
                         bool keep, dp_window) {
  bits_band *e = (bits_band *)engine;
  e->row = hi;
  if (keep) e->keep_lo = lo;
  return dp_bits_tile(e->bits, lo - e->top, hi - e->top, (const uint32_t *)left, (uint32_t *)right,
                      keep);
}

static int64_t dp_backend_gpu_bits_keep_bytes(const void *worker, int64_t rows, int64_t columns) {
  const dp_worker *w = (const dp_worker *)worker;
  return dp_bits_keep_bytes((dp_problem)w->dp.c.p->problem, rows, columns);
}

static tsl_err dp_backend_gpu_bits_state_get(void *engine, void *state) {
  return dp_bits_state_get(((bits_band *)engine)->bits, state);
}

static tsl_err dp_backend_gpu_bits_state_put(void *engine, int64_t row, const void *state) {
  bits_band *e = (bits_band *)engine;
  e->row = row;
  return dp_bits_state_put(e->bits, state);
}

static tsl_err trace_bits(void *engine, tsl_cursor *cursor, dp_steps *steps) {
  tsl_err err = TSL_OK;
  bits_band *e = (bits_band *)engine;
  const int64_t from[2] = {cursor->at[0], cursor->at[1]};
  const int64_t lo[2] = {e->top, e->lo}, rows = from[0] - e->keep_lo;
  int64_t row = from[0] - e->top, column = from[1] - e->lo, n = 0;
  const int64_t room = rows < column ? rows : column;
  dp_pair *pairs = NULL;
  TSL_TRY(tsl_alloc(room, sizeof *pairs, "pairs", (void **)&pairs));
  TSL_TRY(e->w->dp.c.p->host ? dp_bits_trace_host(e->bits, &row, &column, pairs, room, &n)
                             : dp_bits_trace(e->bits, &row, &column, pairs, room, &n));
  cursor->at[0] = e->top + row;
  cursor->at[1] = e->lo + column;
  TSL_TRY(dp_steps_pairs(&e->w->dp.c, pairs, n, lo, from, cursor->at, steps));
done:
  tsl_free(pairs);
  return err;
}

static tsl_err goal_bits(void *engine, bool, double *goal) {
  tsl_err err = TSL_OK;
  bits_band *e = (bits_band *)engine;
  int64_t sum = 0;
  TSL_TRY(dp_bits_sum(e->bits, &sum));
  *goal = (double)sum + (problem_of(e) == DP_EDIT && e->lo == 0 ? (double)e->row : 0);
done:
  return err;
}

const dp_band_engine dp_engine_bits = {
    .open = open_bits,
    .close = close_bits,
    .tile = tile_bits,
    .keep_bytes = dp_backend_gpu_bits_keep_bytes,
    .state_bytes = dp_state_bytes,
    .state_get = dp_backend_gpu_bits_state_get,
    .state_put = dp_backend_gpu_bits_state_put,
    .trace = trace_bits,
    .goal = goal_bits,
};
