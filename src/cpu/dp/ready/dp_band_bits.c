/** @file dp_band_bits.c  Bands of bits: longest common subsequence, edit distance with unit costs.
 */
#include "dp_backend.h"

typedef struct bits_band {
  dp_cpu_bits *bits;
  const tsl_worker *w;
  int64_t lo, hi, row, keep_lo;
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

static tsl_err open_bits(void *worker, int64_t lo, int64_t hi, void **engine) {
  tsl_err err = TSL_OK;
  const tsl_worker *w = worker;
  const uint8_t *a = dp_input(&w->dp.c, DP_A), *b = dp_input(&w->dp.c, DP_B);
  bits_band *e = NULL;
  *engine = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *e, "band", (void **)&e));
  *e = (bits_band){.w = w, .lo = lo, .hi = hi};
  *engine = e;
  TSL_TRY(dp_cpu_bits_open(&w->cpu, problem_of(e), a, w->dp.c.p->n, b + lo, hi - lo, &e->bits));
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
  return dp_cpu_bits_tile(e->bits, lo, hi, left, right, keep);
}

static int64_t keep_bits(const void *engine, int64_t rows) {
  const bits_band *e = engine;
  return dp_cpu_bits_keep_bytes(&e->w->cpu, problem_of(e), rows, e->hi - e->lo);
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
  int64_t row = from[0], column = from[1] - e->lo, n = 0;
  const int64_t room = row - e->keep_lo < column ? row - e->keep_lo : column;
  dp_pair *pairs = NULL;
  TSL_TRY(tsl_alloc(room, sizeof *pairs, "pairs", (void **)&pairs));
  TSL_TRY(dp_cpu_bits_trace(e->bits, &row, &column, pairs, room, &n));
  cursor->at[0] = row, cursor->at[1] = e->lo + column;
  TSL_TRY(dp_steps_pairs(&e->w->dp.c, pairs, n, e->lo, from, cursor->at, steps));
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
