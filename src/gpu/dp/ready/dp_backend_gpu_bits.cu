/* Bands of bits: longest common subsequence, edit distance with unit costs. */
#include "dp_backend_gpu.cuh"

typedef struct bits_band {
  dp_bits *bits;
  dp_worker *w;
  int64_t lo, hi, row, keep_lo;
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

static tsl_err open_bits(void *worker, int64_t lo, int64_t hi, void **engine) {
  tsl_err err = TSL_OK;
  dp_worker *w = (dp_worker *)worker;
  bits_band *e = NULL;
  *engine = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *e, "band", (void **)&e));
  *engine = e;
  e->w = w;
  e->lo = lo;
  e->hi = hi;
  TSL_TRY(dp_bits_open(&w->card, problem_of(e), (const uint8_t *)dp_input(&w->dp.c, DP_A),
                       w->dp.c.p->n, (const uint8_t *)dp_input(&w->dp.c, DP_B) + lo, hi - lo, 0,
                       &e->bits));
done:
  if (err != TSL_OK) close_bits(engine);
  return err;
}

static tsl_err tile_bits(void *engine, int64_t lo, int64_t hi, const void *left, void *right,
                         bool keep, dp_window) {
  bits_band *e = (bits_band *)engine;
  e->row = hi;
  if (keep) e->keep_lo = lo;
  return dp_bits_tile(e->bits, lo, hi, (const uint32_t *)left, (uint32_t *)right, keep);
}

static int64_t dp_backend_gpu_bits_keep_bytes(const void *engine, int64_t rows) {
  const bits_band *e = (const bits_band *)engine;
  return dp_bits_keep_bytes(problem_of(e), rows, e->hi - e->lo);
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
  int64_t row = from[0], column = from[1] - e->lo, n = 0;
  const int64_t room = row - e->keep_lo < column ? row - e->keep_lo : column;
  dp_pair *pairs = NULL;
  TSL_TRY(tsl_alloc(room, sizeof *pairs, "pairs", (void **)&pairs));
  TSL_TRY(e->w->dp.c.p->host ? dp_bits_trace_host(e->bits, &row, &column, pairs, room, &n)
                             : dp_bits_trace(e->bits, &row, &column, pairs, room, &n));
  cursor->at[0] = row;
  cursor->at[1] = e->lo + column;
  TSL_TRY(dp_steps_pairs(&e->w->dp.c, pairs, n, e->lo, from, cursor->at, steps));
done:
  tsl_free(pairs);
  return err;
}

static void forget_bits(void *engine) {
  dp_bits_forget(((bits_band *)engine)->bits);
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

const dp_band_engine dp_engine_bits = {open_bits,
                                       close_bits,
                                       tile_bits,
                                       dp_backend_gpu_bits_keep_bytes,
                                       dp_state_bytes,
                                       dp_backend_gpu_bits_state_get,
                                       dp_backend_gpu_bits_state_put,
                                       trace_bits,
                                       forget_bits,
                                       goal_bits,
                                       NULL,
                                       NULL,
                                       NULL,
                                       NULL,
                                       NULL};
