/* Bands of bits: longest common subsequence, edit distance with unit costs. */
#include "dp_backend_gpu.cuh"

typedef struct bits_band {
  dp_bits *bits;
  dp_worker *w;
  int64_t lo, hi, row, keep_lo;
} bits_band;

static dp_problem problem_of(const bits_band *e) {
  return (dp_problem)e->w->p->problem;
}

static void close_bits(void **engine) {
  bits_band *e = (bits_band *)*engine;
  if (e == NULL) return;
  dp_bits_close(&e->bits);
  tsl_free(e);
  *engine = NULL;
}

static tsl_err open_bits(dp_worker *w, int64_t lo, int64_t hi, void **engine) {
  tsl_err err = TSL_OK;
  bits_band *e = NULL;
  *engine = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *e, "band", (void **)&e));
  *engine = e;
  e->w = w;
  e->lo = lo;
  e->hi = hi;
  TSL_TRY(dp_bits_open(&w->card, problem_of(e), (const uint8_t *)dp_input(w, DP_A), w->p->n,
                       (const uint8_t *)dp_input(w, DP_B) + lo, hi - lo, 0, &e->bits));
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

static int64_t keep_bytes(const void *engine, int64_t rows) {
  const bits_band *e = (const bits_band *)engine;
  return dp_bits_keep_bytes(problem_of(e), rows, e->hi - e->lo);
}

static int64_t state_bytes(const void *engine) {
  return dp_bits_state_bytes(((const bits_band *)engine)->bits);
}

static tsl_err state_get(void *engine, void *state) {
  return dp_bits_state_get(((bits_band *)engine)->bits, state);
}

static tsl_err state_put(void *engine, int64_t row, const void *state) {
  bits_band *e = (bits_band *)engine;
  e->row = row;
  return dp_bits_state_put(e->bits, state);
}

/* LCS: the pairs themselves. EDIT: what lies between them as well, from cell (i, j) to the end. */
static tsl_err add_steps(const bits_band *e, const dp_pair *pairs, int64_t n, int64_t i, int64_t j,
                         const tsl_cursor *end, dp_steps *steps) {
  tsl_err err = TSL_OK;
  const uint8_t *a = (const uint8_t *)dp_input(e->w, DP_A);
  const uint8_t *b = (const uint8_t *)dp_input(e->w, DP_B);
  for (int64_t k = 0; k <= n; k++) {
    const int64_t row = k < n ? pairs[k].row + 1 : end->at[0];
    const int64_t column = k < n ? e->lo + pairs[k].column + 1 : end->at[1];
    if (problem_of(e) == DP_LCS) {
      if (k < n) TSL_TRY(dp_steps_add(steps, row - 1, column - 1));
      continue;
    }
    if (j > column) TSL_TRY(dp_steps_run(steps, DP_INSERT, j - column));
    if (i > row) TSL_TRY(dp_steps_run(steps, DP_DELETE, i - row));
    if (k < n)
      TSL_TRY(dp_steps_run(steps, a[row - 1] == b[column - 1] ? DP_MATCH : DP_MISMATCH, 1));
    i = row - 1;
    j = column - 1;
  }
done:
  return err;
}

static tsl_err trace_bits(void *engine, tsl_cursor *cursor, dp_steps *steps) {
  tsl_err err = TSL_OK;
  bits_band *e = (bits_band *)engine;
  const int64_t from_row = cursor->at[0], from_column = cursor->at[1];
  int64_t row = from_row, column = from_column - e->lo, n = 0;
  const int64_t room = row - e->keep_lo < column ? row - e->keep_lo : column;
  dp_pair *pairs = NULL;
  TSL_TRY(tsl_alloc(room, sizeof *pairs, "pairs", (void **)&pairs));
  TSL_TRY(e->w->p->host ? dp_bits_trace_host(e->bits, &row, &column, pairs, room, &n)
                        : dp_bits_trace(e->bits, &row, &column, pairs, room, &n));
  cursor->at[0] = row;
  cursor->at[1] = e->lo + column;
  TSL_TRY(add_steps(e, pairs, n, from_row, from_column, cursor, steps));
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

static tsl_err best_bits(void *, int64_t best[3]) {
  best[0] = best[1] = best[2] = 0;
  return TSL_OK;
}

static tsl_err best_put_bits(void *, const int64_t[3]) {
  return TSL_OK;
}

const dp_band_engine dp_engine_bits = {open_bits,   close_bits, tile_bits, keep_bytes,
                                       state_bytes, state_get,  state_put, trace_bits,
                                       forget_bits, goal_bits,  best_bits, best_put_bits};
