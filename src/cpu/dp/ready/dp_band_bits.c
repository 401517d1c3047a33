/** @file dp_band_bits.c  Bands of bits: longest common subsequence, edit distance with unit costs.
 */
#include "dp_backend.h"

typedef struct bits_band {
  dp_cpu_bits *bits;
  const tsl_worker *w;
  int64_t top, lo, hi, row, keep_lo; /**< top: first row that the engine knows */
} bits_band;

static dp_problem problem_of(const bits_band *e) {
  return (dp_problem)e->w->dp.c.p->problem;
}

static void close_bits(void **engine) {
  bits_band *e = *engine;
  if (e == NULL) return;
  dp_cpu_bits_close(&e->bits);
  tsl_free(e);
  *engine = NULL;
}

static tsl_err open_bits(void *worker, const dp_box *cells, void **engine) {
  tsl_err err = TSL_OK;
  const int64_t top = cells->lo[0], n = cells->hi[0] - top, lo = cells->lo[1], hi = cells->hi[1];
  const tsl_worker *w = worker;
  const uint8_t *a = (const uint8_t *)dp_input(&w->dp.c, DP_A) + top, *b = dp_input(&w->dp.c, DP_B);
  bits_band *e = NULL;
  *engine = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *e, "band", (void **)&e));
  *e = (bits_band){.w = w, .top = top, .lo = lo, .hi = hi};
  *engine = e;
  TSL_TRY(dp_cpu_bits_open(&w->cpu, problem_of(e), a, n, b + lo, hi - lo, &e->bits));
  dp_cpu_bits_begin(e->bits);
done:
  if (err != TSL_OK) close_bits(engine);
  return err;
}

static tsl_err tile_bits(void *engine, int64_t lo, int64_t hi, const void *left, void *right,
                         bool keep, dp_window window) {
  bits_band *e = engine;
  (void)window; /* the table is made by plain loops */
  e->row = hi;
  if (keep) e->keep_lo = lo;
  return dp_cpu_bits_tile(e->bits, lo - e->top, hi - e->top, left, right, keep);
}

static int64_t keep_bits(const void *worker, int64_t rows, int64_t columns) {
  const tsl_worker *w = worker;
  return dp_cpu_bits_keep_bytes(&w->cpu, (dp_problem)w->dp.c.p->problem, rows, columns);
}

static tsl_err dp_band_bits_state_get(void *engine, void *state) {
  dp_cpu_bits_row_get(((const bits_band *)engine)->bits, state);
  return TSL_OK;
}

static tsl_err dp_band_bits_state_put(void *engine, int64_t row, const void *state) {
  bits_band *e = engine;
  e->row = row;
  dp_cpu_bits_row_put(e->bits, state);
  return TSL_OK;
}

static tsl_err trace_bits(void *engine, tsl_cursor *cursor, dp_steps *steps) {
  tsl_err err = TSL_OK;
  const bits_band *e = engine;
  const int64_t from[2] = {cursor->at[0], cursor->at[1]};
  int64_t row = from[0] - e->top, column = from[1] - e->lo, n = 0;
  const int64_t rows = from[0] - e->keep_lo, room = rows < column ? rows : column;
  dp_pair *pairs = NULL;
  TSL_TRY(tsl_alloc(room, sizeof *pairs, "pairs", (void **)&pairs));
  TSL_TRY(dp_cpu_bits_trace(e->bits, &row, &column, pairs, room, &n));
  cursor->at[0] = e->top + row, cursor->at[1] = e->lo + column;
  TSL_TRY(
      dp_steps_pairs(&e->w->dp.c, pairs, n, (int64_t[]){e->top, e->lo}, from, cursor->at, steps));
done:
  tsl_free(pairs);
  return err;
}

static tsl_err goal_bits(void *engine, bool last, double *goal) {
  const bits_band *e = engine;
  (void)last;
  *goal = (double)dp_cpu_bits_sum(e->bits) +
          (problem_of(e) == DP_EDIT && e->lo == 0 ? (double)e->row : 0);
  return TSL_OK;
}

const dp_band_engine dp_engine_bits_cpu = {
    .open = open_bits,
    .close = close_bits,
    .tile = tile_bits,
    .keep_bytes = keep_bits,
    .state_bytes = dp_state_bytes,
    .state_get = dp_band_bits_state_get,
    .state_put = dp_band_bits_state_put,
    .trace = trace_bits,
    .goal = goal_bits,
};
