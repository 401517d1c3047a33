/** @file dp_band_plain.c  A band by plain loops: state, edges, tiles. */
#include "dp_band_plain.h"

#include "dp_pipe.h"

#include <math.h>
#include <string.h>

enum { STRIP = 1024, BLOCK = 64 };

static int64_t width_of(const plain_band *e) {
  return e->band.hi - e->band.lo;
}

static int64_t dp_band_plain_value_bytes(const plain_band *e) {
  return (int64_t)tsl_type_bytes((tsl_type)e->p->type);
}

/* ---- the boundary: M[0][j], M[i][0] */

static void put_boundary(const plain_band *e, void *values, int64_t k, int64_t n, bool row) {
  const dp_params *p = e->p;
  if (p->problem == DP_DTW) {
    const double value = n == 0 ? 0 : (double)INFINITY;
    if (p->type == TSL_F32)
      ((float *)values)[k] = (float)value;
    else
      ((double *)values)[k] = value;
    return;
  }
  ((int32_t *)values)[k] = (int32_t)dp_boundary(p, n, !row);
}

/* ---- open, close */

static void close_plain(void *engine) {
  plain_band *e = engine;
  TSL_FREE_ALL(e->h, e->f);
}

static void begin_plain(plain_band *e) {
  for (int64_t c = 0; c <= width_of(e); c++) put_boundary(e, e->h, c, e->band.lo + c, true);
  for (int64_t c = 0; c < width_of(e) && e->f != NULL; c++) e->f[c] = DP_MINUS_INFINITY;
}

static tsl_err open_plain(void *engine, int64_t rows) {
  tsl_err err = TSL_OK;
  plain_band *e = engine;
  const dp_context *c = e->band.c;
  (void)rows; /* any */
  e->p = c->p, e->threads = ((const tsl_worker *)c->worker)->cpu.threads;
  e->a = dp_input(c, DP_A), e->b = dp_input(c, DP_B);
  TSL_TRY(
      tsl_alloc(width_of(e) + 1, (size_t)dp_band_plain_value_bytes(e), "row of the table", &e->h));
  if (dp_ready_of(e->p)->affine)
    TSL_TRY(tsl_alloc(width_of(e), sizeof *e->f, "row of gaps", (void **)&e->f));
  begin_plain(e);
done:
  return err;
}

/* ---- edges */

/** Values of a column from the bits of its differences; first is the value above. */
static void bits_to_values(const uint32_t *bits, int64_t rows, int parts, int32_t first,
                           int32_t *values) {
  const int64_t words = (rows + 31) / 32;
  values[0] = first;
  for (int64_t r = 0; r < rows; r++) {
    const uint32_t up = bits[r / 32] >> (r % 32) & 1;
    const uint32_t down = parts == 2 ? bits[words + r / 32] >> (r % 32) & 1 : 0;
    values[r + 1] = values[r] + (int32_t)up - (int32_t)down;
  }
}

static void values_to_bits(const int32_t *values, int64_t rows, int parts, uint32_t *bits) {
  const int64_t words = (rows + 31) / 32;
  memset(bits, 0, (size_t)(parts * words) * sizeof *bits);
  for (int64_t r = 0; r < rows; r++) {
    const int32_t step = values[r + 1] - values[r];
    if (step > 0) bits[r / 32] |= 1u << r % 32;
    if (step < 0 && parts == 2) bits[words + r / 32] |= 1u << r % 32;
  }
}

static void left_values(const plain_band *e, int64_t lo, int64_t rows, const void *left,
                        void *values, int32_t *gaps) {
  if (left == NULL) {
    for (int64_t r = 0; r <= rows; r++) put_boundary(e, values, r, lo + r, false);
    for (int64_t r = 0; r <= rows && gaps != NULL; r++) gaps[r] = DP_MINUS_INFINITY;
  } else if (dp_ready_of(e->p)->affine) {
    for (int64_t r = 0; r <= rows; r++) {
      ((int32_t *)values)[r] = ((const int32_t *)left)[2 * r];
      gaps[r] = ((const int32_t *)left)[2 * r + 1];
    }
  } else if (dp_edge_is_bits(e->p)) {
    bits_to_values(left, rows, dp_bit_parts(e->p), *(const int32_t *)e->h, values);
  } else {
    memcpy(values, left, (size_t)((rows + 1) * dp_band_plain_value_bytes(e)));
  }
}

static void right_edge(const plain_band *e, int64_t rows, const void *values, const int32_t *gaps,
                       void *right) {
  if (dp_ready_of(e->p)->affine)
    for (int64_t r = 0; r <= rows; r++) {
      ((int32_t *)right)[2 * r] = ((const int32_t *)values)[r];
      ((int32_t *)right)[2 * r + 1] = gaps[r];
    }
  else if (dp_edge_is_bits(e->p))
    values_to_bits(values, rows, dp_bit_parts(e->p), right);
  else
    memcpy(right, values, (size_t)((rows + 1) * dp_band_plain_value_bytes(e)));
}

/* ---- tiles */

static void dp_band_plain_run_block(void *context, int64_t strip, int64_t block, int thread) {
  const plain_tile *t = context;
  const plain_band *e = t->band;
  const int64_t at = strip % t->n_columns, before = (strip + t->n_columns - 1) % t->n_columns;
  const int64_t r1 = (block + 1) * BLOCK, c1 = (strip + 1) * STRIP;
  (void)thread;
  const plain_block k = {.tile = t,
                         .r0 = block * BLOCK,
                         .r1 = r1 < t->rows ? r1 : t->rows,
                         .c0 = strip * STRIP,
                         .c1 = c1 < width_of(e) ? c1 : width_of(e),
                         .left = strip == 0 ? t->left : t->columns[before],
                         .left_gaps = strip == 0 ? t->left_gaps : t->gaps[before],
                         .right = t->columns[at],
                         .right_gaps = t->gaps[at],
                         .best = t->best[strip]};
  if (dp_ready_of(e->p)->affine)
    plain_affine(&k);
  else if (e->p->problem == DP_LCS)
    plain_lcs(&k);
  else if (e->p->problem == DP_EDIT)
    plain_edit(&k);
  else if (e->p->type == TSL_F32)
    plain_dtw_f32(&k);
  else
    plain_dtw_f64(&k);
}

/** A strip's column is read by the next strip only, so one more than strips at work is enough. */
static tsl_err open_tile(plain_tile *t) {
  tsl_err err = TSL_OK;
  const plain_band *e = t->band;
  t->strips = (width_of(e) + STRIP - 1) / STRIP;
  t->blocks = (t->rows + BLOCK - 1) / BLOCK;
  t->n_columns = e->threads + 2;
  TSL_TRY(tsl_alloc(t->n_columns + 1, sizeof *t->columns, "columns", (void **)&t->columns));
  TSL_TRY(tsl_alloc(t->n_columns + 1, sizeof *t->gaps, "columns", (void **)&t->gaps));
  TSL_TRY(tsl_alloc(t->strips, sizeof *t->best, "best cells", (void **)&t->best));
  for (int64_t k = 0; k <= t->n_columns; k++) {
    TSL_TRY(tsl_alloc(t->rows + 1, (size_t)dp_band_plain_value_bytes(e), "column", &t->columns[k]));
    if (dp_ready_of(e->p)->affine)
      TSL_TRY(tsl_alloc(t->rows + 1, 4, "column", (void **)&t->gaps[k]));
  }
  t->left = t->columns[t->n_columns], t->left_gaps = t->gaps[t->n_columns];
done:
  return err;
}

static void close_tile(plain_tile *t) {
  for (int64_t k = 0; k <= t->n_columns && t->columns != NULL; k++) tsl_free(t->columns[k]);
  for (int64_t k = 0; k <= t->n_columns && t->gaps != NULL; k++) tsl_free(t->gaps[k]);
  TSL_FREE_ALL(t->columns, t->gaps, t->best);
}

/** The corner is the value left of the last row now; the best cell is among the strips'. */
static void finish_tile(plain_tile *t, void *right) {
  plain_band *e = t->band;
  const int64_t last = (t->strips - 1) % t->n_columns;
  const int64_t bytes = dp_band_plain_value_bytes(e);
  memcpy(e->h, (const char *)t->left + t->rows * bytes, (size_t)bytes);
  for (int64_t s = 0; s < t->strips; s++)
    if (t->best[s][0] > 0 && dp_best_better(t->best[s], e->best))
      memcpy(e->best, t->best[s], sizeof e->best);
  if (right != NULL) right_edge(e, t->rows, t->columns[last], t->gaps[last], right);
}

static tsl_err tile_plain(void *engine, int64_t lo, int64_t hi, const void *left, void *right,
                          bool keep, dp_window window) {
  tsl_err err = TSL_OK;
  plain_band *e = engine;
  plain_tile t = {.band = e, .lo = lo, .rows = hi - lo, .window = window};
  if (hi == lo) return TSL_OK;
  TSL_TRY(open_tile(&t));
  (void)keep; /* a whole table is not walked */
  left_values(e, lo, t.rows, left, t.columns[t.n_columns], t.gaps[t.n_columns]);
  TSL_TRY(dp_pipe_run(e->threads, t.strips, t.blocks, dp_band_plain_run_block, &t));
  finish_tile(&t, right);
done:
  close_tile(&t);
  return err;
}

/* ---- state */

static int64_t values_bytes(const plain_band *e) {
  return (width_of(e) + 1) * dp_band_plain_value_bytes(e);
}

static tsl_err dp_band_plain_state_get(void *engine, void *state) {
  const plain_band *e = engine;
  char *gaps = (char *)state + values_bytes(e);
  memcpy(state, e->h, (size_t)values_bytes(e));
  if (e->f != NULL) memcpy(gaps, e->f, (size_t)width_of(e) * sizeof *e->f);
  return TSL_OK;
}

static tsl_err dp_band_plain_state_put(void *engine, int64_t row, const void *state) {
  plain_band *e = engine;
  (void)row; /* a tile says where it begins */
  memcpy(e->h, state, (size_t)values_bytes(e));
  if (e->f != NULL)
    memcpy(e->f, (const char *)state + values_bytes(e), (size_t)width_of(e) * sizeof *e->f);
  return TSL_OK;
}

/* ---- results */

/** LCS and EDIT with unit costs: each band its columns. */
static double goal_of(const plain_band *e, bool last) {
  const int64_t width = width_of(e);
  const int32_t *h = e->h;
  if (dp_edge_is_bits(e->p)) return (e->band.lo == 0 ? h[0] : 0) + (double)(h[width] - h[0]);
  if (!last) return 0;
  if (e->p->type == TSL_F32) return ((const float *)e->h)[width];
  if (e->p->type == TSL_F64) return ((const double *)e->h)[width];
  return h[width];
}

static tsl_err goal_plain(void *engine, bool last, double *goal) {
  *goal = goal_of(engine, last);
  return TSL_OK;
}

static tsl_err best_plain(void *engine, int64_t best[3]) {
  memcpy(best, ((const plain_band *)engine)->best, 3 * sizeof *best);
  return TSL_OK;
}

static tsl_err best_put(void *engine, const int64_t best[3]) {
  memcpy(((plain_band *)engine)->best, best, 3 * sizeof *best);
  return TSL_OK;
}

const dp_band_engine dp_engine_plain_cpu = {
    .bytes = sizeof(plain_band),
    .open = open_plain,
    .close = close_plain,
    .tile = tile_plain,
    .state_bytes = dp_state_bytes,
    .state_get = dp_band_plain_state_get,
    .state_put = dp_band_plain_state_put,
    .goal = goal_plain,
    .best = best_plain,
    .best_put = best_put,
};
