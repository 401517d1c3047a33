/* Bands of bits: longest common subsequence, edit distance with unit costs. */
#include "dp_backend_gpu.cuh"

typedef struct bits_band {
  dp_band_head band;
  dp_bits *bits;
} bits_band;

static dp_problem problem_of(const bits_band *e) {
  return (dp_problem)e->band.c->p->problem;
}

static void close_bits(void *engine) {
  bits_band *e = (bits_band *)engine;
  dp_bits_close(&e->bits);
}

static tsl_err open_bits(void *engine, int64_t rows) {
  bits_band *e = (bits_band *)engine;
  const dp_context *c = e->band.c;
  const uint8_t *a = (const uint8_t *)dp_input(c, DP_A) + e->band.top;
  const uint8_t *b = (const uint8_t *)dp_input(c, DP_B) + e->band.lo;
  return dp_bits_open(dp_card_of(c), problem_of(e), a, rows, b, e->band.hi - e->band.lo, 0,
                      &e->bits);
}

static tsl_err tile_bits(void *engine, int64_t lo, int64_t hi, const void *left, void *right,
                         bool keep, dp_window) {
  bits_band *e = (bits_band *)engine;
  return dp_bits_tile(e->bits, lo - e->band.top, hi - e->band.top, (const uint32_t *)left,
                      (uint32_t *)right, keep);
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
  e->band.row = row;
  return dp_bits_state_put(e->bits, state);
}

static tsl_err trace_bits(void *engine, tsl_cursor *cursor, dp_steps *steps) {
  tsl_err err = TSL_OK;
  bits_band *e = (bits_band *)engine;
  const int64_t from[2] = {cursor->at[0], cursor->at[1]};
  const int64_t lo[2] = {e->band.top, e->band.lo}, rows = from[0] - e->band.keep_lo;
  int64_t row = from[0] - e->band.top, column = from[1] - e->band.lo, n = 0;
  const int64_t room = rows < column ? rows : column;
  dp_pair *pairs = NULL;
  TSL_TRY(tsl_alloc(room, sizeof *pairs, "pairs", (void **)&pairs));
  TSL_TRY(e->band.c->p->host ? dp_bits_trace_host(e->bits, &row, &column, pairs, room, &n)
                             : dp_bits_trace(e->bits, &row, &column, pairs, room, &n));
  cursor->at[0] = e->band.top + row;
  cursor->at[1] = e->band.lo + column;
  TSL_TRY(dp_steps_pairs(e->band.c, pairs, n, lo, from, cursor->at, steps));
done:
  tsl_free(pairs);
  return err;
}

static tsl_err goal_bits(void *engine, bool, double *goal) {
  tsl_err err = TSL_OK;
  bits_band *e = (bits_band *)engine;
  int64_t sum = 0;
  TSL_TRY(dp_bits_sum(e->bits, &sum));
  *goal = (double)sum + (problem_of(e) == DP_EDIT && e->band.lo == 0 ? (double)e->band.row : 0);
done:
  return err;
}

const dp_band_engine dp_engine_bits = {
    .bytes = sizeof(bits_band),
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
