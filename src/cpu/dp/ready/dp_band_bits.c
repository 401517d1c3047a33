/** @file dp_band_bits.c  Bands of bits: longest common subsequence, edit distance with unit costs.
 */
#include "dp_backend.h"

#include <string.h>

typedef struct bits_band {
  dp_cpu_bits *bits;
  const dp_cpu *cpu;
  const uint8_t *a, *b;
  int64_t lo, hi, row;
  int64_t keep_lo;
  dp_problem problem;
} bits_band;

static void close_bits(void **engine) {
  bits_band *e = *engine;
  if (e == NULL) return;
  dp_cpu_bits_close(&e->bits);
  tsl_free(e);
  *engine = NULL;
}

static tsl_err open_bits(const tsl_worker *w, int64_t lo, int64_t hi, void **engine) {
  tsl_err err = TSL_OK;
  bits_band *e = NULL;
  *engine = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *e, "band", (void **)&e));
  *e = (bits_band){.cpu = &w->cpu, .lo = lo, .hi = hi, .problem = (dp_problem)w->p->problem};
  *engine = e;
  e->a = dp_input(w, DP_A), e->b = dp_input(w, DP_B);
  TSL_TRY(dp_cpu_bits_open(&w->cpu, e->problem, e->a, w->p->n, e->b + lo, hi - lo, &e->bits));
done:
  if (err != TSL_OK) close_bits(engine);
  return err;
}

static void begin_bits(void *engine) {
  bits_band *e = engine;
  e->row = 0;
  dp_cpu_bits_begin(e->bits);
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
  return dp_cpu_bits_keep_bytes(e->cpu, e->problem, rows, e->hi - e->lo);
}

static void row_get(const void *engine, void *row) {
  dp_cpu_bits_row_get(((const bits_band *)engine)->bits, row);
}

static tsl_err row_put(void *engine, int64_t row, const void *state) {
  bits_band *e = engine;
  e->row = row;
  dp_cpu_bits_row_put(e->bits, state);
  return TSL_OK;
}

/* ---- from pairs to steps */

/** LCS: the pairs themselves. EDIT: what lies between them as well. */
static tsl_err add_steps(const bits_band *e, const dp_pair *pairs, int64_t n, int64_t i, int64_t j,
                         const tsl_cursor *end, dp_steps *steps) {
  tsl_err err = TSL_OK;
  for (int64_t k = 0; k <= n; k++) {
    const int64_t row = k < n ? pairs[k].row + 1 : end->at[0];
    const int64_t column = k < n ? e->lo + pairs[k].column + 1 : end->at[1];
    if (e->problem == DP_LCS) {
      if (k < n) TSL_TRY(dp_steps_add(steps, row - 1, column - 1));
      continue;
    }
    if (j > column) TSL_TRY(dp_steps_run(steps, DP_INSERT, j - column));
    if (i > row) TSL_TRY(dp_steps_run(steps, DP_DELETE, i - row));
    if (k < n)
      TSL_TRY(dp_steps_run(steps, e->a[row - 1] == e->b[column - 1] ? DP_MATCH : DP_MISMATCH, 1));
    i = row - 1, j = column - 1;
  }
done:
  return err;
}

static tsl_err trace_bits(void *engine, tsl_cursor *cursor, dp_steps *steps) {
  tsl_err err = TSL_OK;
  const bits_band *e = engine;
  const int64_t from_row = cursor->at[0], from_column = cursor->at[1];
  int64_t row = from_row, column = from_column - e->lo, n = 0;
  const int64_t room = row - e->keep_lo < column ? row - e->keep_lo : column;
  dp_pair *pairs = NULL;
  TSL_TRY(tsl_alloc(room, sizeof *pairs, "pairs", (void **)&pairs));
  TSL_TRY(dp_cpu_bits_trace(e->bits, &row, &column, pairs, room, &n));
  cursor->at[0] = row, cursor->at[1] = e->lo + column;
  TSL_TRY(add_steps(e, pairs, n, from_row, from_column, cursor, steps));
done:
  tsl_free(pairs);
  return err;
}

static double goal_bits(const void *engine, bool last) {
  const bits_band *e = engine;
  (void)last;
  const double rows = e->problem == DP_EDIT && e->lo == 0 ? (double)e->row : 0;
  return rows + (double)dp_cpu_bits_sum(e->bits);
}

static void best_bits(const void *engine, int64_t best[3]) {
  (void)engine;
  memset(best, 0, 3 * sizeof *best);
}

const dp_band_ops dp_band_bits = {
    .open = open_bits,
    .close = close_bits,
    .begin = begin_bits,
    .tile = tile_bits,
    .keep_bytes = keep_bits,
    .row_get = row_get,
    .row_put = row_put,
    .trace = trace_bits,
    .goal = goal_bits,
    .best = best_bits,
};
