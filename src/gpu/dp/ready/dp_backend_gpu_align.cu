/* Bands of alignments with affine gaps. */
#include "dp_backend_gpu.cuh"

typedef struct align_band {
  dp_band_head band;
  dp_affine *align;
} align_band;

static void close_align(void *engine) {
  align_band *e = (align_band *)engine;
  dp_affine_close(&e->align);
}

static tsl_err open_align(void *engine, int64_t rows) {
  tsl_err err = TSL_OK;
  align_band *e = (align_band *)engine;
  const dp_context *c = e->band.c;
  const dp_params *p = c->p;
  const int64_t top = e->band.top, lo = e->band.lo;
  const uint8_t *a = (const uint8_t *)dp_input(c, DP_A) + top;
  const uint8_t *b = (const uint8_t *)dp_input(c, DP_B) + lo;
  TSL_TRY(dp_affine_open(dp_card_of(c), (dp_problem)p->problem, &p->scores, a, rows, b,
                         e->band.hi - lo, p->m, lo, 0, &e->align));
  if (c->begun) TSL_TRY(dp_affine_prune(e->align, p->n - top, p->m - lo, p->least));
done:
  return err;
}

static tsl_err tile_align(void *engine, int64_t lo, int64_t hi, const void *left, void *right,
                          bool keep, dp_window) {
  align_band *e = (align_band *)engine;
  return dp_affine_tile(e->align, lo - e->band.top, hi - e->band.top, (const int32_t *)left,
                        (int32_t *)right, keep);
}

static tsl_err tile_sides_align(void *engine, int64_t lo, int64_t hi, const void *left,
                                int64_t every, void *sides) {
  align_band *e = (align_band *)engine;
  return dp_affine_tile_sides(e->align, lo - e->band.top, hi - e->band.top, (const int32_t *)left,
                              every, (int32_t *)sides);
}

static int64_t dp_backend_gpu_align_keep_bytes(const void *, int64_t rows, int64_t columns) {
  return dp_affine_keep_bytes(rows, columns);
}

static tsl_err dp_backend_gpu_align_state_get(void *engine, void *state) {
  return dp_affine_state_get(((align_band *)engine)->align, state);
}

static tsl_err dp_backend_gpu_align_state_put(void *engine, int64_t row, const void *state) {
  align_band *e = (align_band *)engine;
  return dp_affine_state_put(e->align, row - e->band.top, state);
}

static tsl_err trace_align(void *engine, tsl_cursor *cursor, dp_steps *steps) {
  tsl_err err = TSL_OK;
  align_band *e = (align_band *)engine;
  int64_t *at = cursor->at, n = 0;
  dp_place place = {at[0] - e->band.top, at[1] - e->band.lo, (int32_t)at[2], 0};
  const int64_t room = at[0] - e->band.keep_lo + place.column;
  uint8_t *directions = NULL;
  TSL_TRY(tsl_alloc(room, 1, "steps", (void **)&directions));
  TSL_TRY(e->band.c->p->host ? dp_affine_trace_host(e->align, &place, directions, room, &n)
                             : dp_affine_trace(e->align, &place, directions, room, &n));
  TSL_TRY(dp_steps_alignment(e->band.c, directions, n, at[0], at[1], steps));
  if (e->band.c->p->problem == DP_LOCAL)
    at[DP_CURSOR_SCORE] -= dp_steps_score(e->band.c, directions, n, at[0], at[1], place.state);
  at[0] = e->band.top + place.row;
  at[1] = e->band.lo + place.column;
  at[2] = place.state;
  if (place.done) cursor->lane = -1;
done:
  tsl_free(directions);
  return err;
}

static tsl_err aim_align(void *engine, const int64_t at[2], int64_t score) {
  align_band *e = (align_band *)engine;
  const dp_aim aim = dp_aim_of(e->band.c->p, e->band.top, e->band.lo, at, score);
  return dp_affine_prune(e->align, aim.rows, aim.columns, aim.known);
}

static tsl_err goal_align(void *engine, bool last, double *goal) {
  tsl_err err = TSL_OK;
  dp_best best = {};
  if (last) TSL_TRY(dp_affine_best(((align_band *)engine)->align, &best));
  *goal = (double)best.score;
done:
  return err;
}

tsl_err dp_gpu_align_best(dp_affine *align, int64_t lo, int64_t best[3]) {
  tsl_err err = TSL_OK;
  dp_best found = {};
  TSL_TRY(dp_affine_best(align, &found));
  best[0] = found.score;
  best[1] = found.row;
  best[2] = found.score > 0 ? lo + found.column : 0;
done:
  return err;
}

tsl_err dp_gpu_align_best_put(dp_affine *align, int64_t lo, const int64_t best[3]) {
  const dp_best found = {best[0], best[1], best[2] - lo};
  return dp_affine_best_put(align, &found);
}

static tsl_err best_align(void *engine, int64_t best[3]) {
  const align_band *e = (const align_band *)engine;
  return dp_gpu_align_best(e->align, e->band.lo, best);
}

static tsl_err best_put_align(void *engine, const int64_t best[3]) {
  const align_band *e = (const align_band *)engine;
  return dp_gpu_align_best_put(e->align, e->band.lo, best);
}

static tsl_err start_align(void *engine, int64_t lo, int64_t hi, const void *left, void *right) {
  return dp_affine_start(((align_band *)engine)->align, lo, hi, (const int32_t *)left,
                         (int32_t *)right);
}

static bool ended_align(const void *engine) {
  return dp_affine_ended(((const align_band *)engine)->align);
}

static tsl_err finish_align(void *engine, double *seconds) {
  return dp_affine_finish(((align_band *)engine)->align, seconds);
}

static tsl_err pruned_align(void *engine, int64_t *cells) {
  return dp_affine_pruned(((align_band *)engine)->align, cells);
}

const dp_band_engine dp_engine_align = {
    .bytes = sizeof(align_band),
    .open = open_align,
    .close = close_align,
    .tile = tile_align,
    .keep_bytes = dp_backend_gpu_align_keep_bytes,
    .state_bytes = dp_state_bytes,
    .state_get = dp_backend_gpu_align_state_get,
    .state_put = dp_backend_gpu_align_state_put,
    .trace = trace_align,
    .goal = goal_align,
    .best = best_align,
    .best_put = best_put_align,
    .start = start_align,
    .ended = ended_align,
    .finish = finish_align,
    .pruned = pruned_align,
    .aim = aim_align,
    .tile_sides = tile_sides_align,
    .every = DP_AFFINE_ALIGN,
};
