/** @file dp_band_bits.c  Bands of bits: longest common subsequence, edit distance with unit costs.
 */
#include "dp_backend.h"

typedef struct bits_band {
  dp_band_head band;
  dp_cpu_bits *bits;
} bits_band;

static dp_problem problem_of(const bits_band *e) {
  return (dp_problem)e->band.c->p->problem;
}

static void close_bits(void *engine) {
  bits_band *e = engine;
  dp_cpu_bits_close(&e->bits);
}

static tsl_err open_bits(void *engine, int64_t rows) {
  tsl_err err = TSL_OK;
  bits_band *e = engine;
  const dp_context *c = e->band.c;
  const uint8_t *a = (const uint8_t *)dp_input(c, DP_A) + e->band.top;
  const uint8_t *b = (const uint8_t *)dp_input(c, DP_B) + e->band.lo;
  TSL_TRY(dp_cpu_bits_open(&((const tsl_worker *)c->worker)->cpu, problem_of(e), a, rows, b,
                           e->band.hi - e->band.lo, &e->bits));
  dp_cpu_bits_begin(e->bits);
done:
  return err;
}

static tsl_err tile_bits(void *engine, int64_t lo, int64_t hi, const void *left, void *right,
                         bool keep, dp_window window) {
  const bits_band *e = engine;
  (void)window; /* the table is made by plain loops */
  return dp_cpu_bits_tile(e->bits, lo - e->band.top, hi - e->band.top, left, right, keep);
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
  e->band.row = row;
  dp_cpu_bits_row_put(e->bits, state);
  return TSL_OK;
}

static tsl_err trace_bits(void *engine, tsl_cursor *cursor, dp_steps *steps) {
  tsl_err err = TSL_OK;
  const bits_band *e = engine;
  const int64_t from[2] = {cursor->at[0], cursor->at[1]};
  int64_t row = from[0] - e->band.top, column = from[1] - e->band.lo, n = 0;
  const int64_t rows = from[0] - e->band.keep_lo, room = rows < column ? rows : column;
  dp_pair *pairs = NULL;
  TSL_TRY(tsl_alloc(room, sizeof *pairs, "pairs", (void **)&pairs));
  TSL_TRY(dp_cpu_bits_trace(e->bits, &row, &column, pairs, room, &n));
  cursor->at[0] = e->band.top + row, cursor->at[1] = e->band.lo + column;
  TSL_TRY(dp_steps_pairs(e->band.c, pairs, n, (int64_t[]){e->band.top, e->band.lo}, from,
                         cursor->at, steps));
done:
  tsl_free(pairs);
  return err;
}

static tsl_err goal_bits(void *engine, bool last, double *goal) {
  const bits_band *e = engine;
  (void)last;
  *goal = (double)dp_cpu_bits_sum(e->bits) +
          (problem_of(e) == DP_EDIT && e->band.lo == 0 ? (double)e->band.row : 0);
  return TSL_OK;
}

const dp_band_engine dp_engine_bits_cpu = {
    .bytes = sizeof(bits_band),
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
