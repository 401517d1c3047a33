/** @file dp_bands_save.c  Checkpoints of wavefronts: the state of lanes, and what recovery keeps,
 * as in dp_saved.h. */
#include "dp_backend.h"

#include <string.h>

/* ---- which band has what of a tile */

static dp_band *band_of(const tsl_worker *w, const tsl_unit *u) {
  for (int64_t k = 0; k < w->bands.n; k++) {
    dp_band *b = &w->bands.list[k];
    if (!b->past && b->lo <= u->lo[1] && u->hi[1] <= b->hi) return b;
  }
  return NULL;
}

/** Is the stage one of the tile's rows, kept with the tile's lane? */
static bool goes_with(const dp_band *b, const dp_stage *s, const tsl_unit *u) {
  return b->lanes[0] == u->lane && s->lo >= u->lo[0] && s->hi <= u->hi[0];
}

static dp_saved_rows rows_of(const tsl_worker *w, const dp_band *b, const dp_stage *s) {
  return (dp_saved_rows){.from = b->lo,
                         .to = b->hi,
                         .end = b->lanes[1],
                         .lo = s->lo,
                         .hi = s->hi,
                         .left_bytes = s->left != NULL ? dp_edge_size(w->p, s->hi - s->lo) : 0};
}

int64_t dp_bands_state_bytes(const tsl_worker *w, const tsl_unit *u, int64_t stage) {
  int64_t bytes = 0;
  for (int64_t k = 0; k < w->bands.n && w->p->mode == DP_RECOVER; k++) {
    const dp_band *b = &w->bands.list[k];
    for (int64_t s = 0; s < b->n_stages; s++) {
      const dp_saved_rows rows = rows_of(w, b, &b->stages[s]);
      if (goes_with(b, &b->stages[s], u)) bytes += dp_saved_rows_bytes(w->p, &rows);
    }
  }
  return dp_saved_bytes(w->p, u, stage, bytes);
}

/* ---- save */

/** The band's state in memory, made once for all its lanes. */
static tsl_err make_image(tsl_worker *w, dp_band *b) {
  tsl_err err = TSL_OK;
  const int64_t bytes = dp_state_bytes(w->p, b->hi - b->lo);
  if (b->image != NULL && b->image_row == b->row) return TSL_OK;
  if (b->image == NULL) TSL_TRY(tsl_alloc(bytes, 1, "state of a band", &b->image));
  w->bands.ops->row_get(b->engine, b->image);
  b->image_row = b->row;
done:
  return err;
}

/** The best cell that goes with the tile. */
static void find_best(const tsl_worker *w, const tsl_unit *u, int64_t stage, int64_t best[3]) {
  const dp_band *b = band_of(w, u);
  const dp_lane_state *l = b == NULL ? dp_lane_states_find(&w->bands.loaded, u) : NULL;
  memset(best, 0, 3 * sizeof *best);
  if (!dp_saved_has_state(u, stage) || w->p->problem != DP_LOCAL) return;
  if (l != NULL) memcpy(best, l->best, sizeof l->best);
  if (b != NULL) w->bands.ops->best(b->engine, best);
  if (best[2] <= u->lo[1] || best[2] > u->hi[1]) memset(best, 0, 3 * sizeof *best);
}

static tsl_err save_state(tsl_worker *w, const tsl_unit *u, char *state) {
  tsl_err err = TSL_OK;
  dp_band *b = band_of(w, u);
  const dp_lane_state *l = b == NULL ? dp_lane_states_find(&w->bands.loaded, u) : NULL;
  if (b == NULL && l == NULL)
    TSL_FAIL(TSL_ERR_INTERNAL, "dp: tile %lld has no state to save", (long long)u->id);
  if (l != NULL) {
    memcpy(state, l->state, (size_t)dp_state_bytes(w->p, u->hi[1] - u->lo[1]));
    goto done;
  }
  TSL_TRY(make_image(w, b));
  dp_state_cut(w->p, b->image, b->hi - b->lo, u->lo[1] - b->lo, u->hi[1] - b->lo, state);
done:
  return err;
}

static char *save_stage(const tsl_worker *w, const dp_band *b, const dp_stage *s, char *at) {
  const dp_saved_rows rows = rows_of(w, b, s);
  char *top = NULL, *left = NULL;
  at = dp_saved_rows_put(w->p, &rows, at, &top, &left);
  memcpy(top, s->top, (size_t)dp_state_bytes(w->p, b->hi - b->lo));
  if (rows.left_bytes > 0) memcpy(left, s->left, (size_t)rows.left_bytes);
  return at;
}

tsl_err dp_bands_save(tsl_worker *w, const tsl_unit *u, int64_t stage, void *bytes) {
  tsl_err err = TSL_OK;
  int64_t best[3];
  char *state = NULL, *at = NULL;
  memset(bytes, 0, (size_t)dp_bands_state_bytes(w, u, stage));
  find_best(w, u, stage, best);
  at = dp_saved_put(w->p, u, stage, best, bytes, &state);
  if (state != NULL) TSL_TRY(save_state(w, u, state));
  for (int64_t k = 0; k < w->bands.n && w->p->mode == DP_RECOVER; k++)
    for (int64_t s = 0; s < w->bands.list[k].n_stages; s++)
      if (goes_with(&w->bands.list[k], &w->bands.list[k].stages[s], u))
        at = save_stage(w, &w->bands.list[k], &w->bands.list[k].stages[s], at);
done:
  return err;
}

/* ---- load */

/** The band of an earlier run that has these columns, made when it is not there. */
static tsl_err past_band(tsl_worker *w, const dp_saved_rows *rows, int64_t first, dp_band **out) {
  tsl_err err = TSL_OK;
  dp_bands *bands = &w->bands;
  void *engine = NULL;
  for (int64_t k = 0; k < bands->n; k++) {
    dp_band *b = &bands->list[k];
    *out = b;
    if (b->past && b->lo == rows->from && b->hi == rows->to && b->row == rows->lo) return TSL_OK;
  }
  TSL_TRY(dp_bands_grow((void **)&bands->list, bands->n, &bands->room, sizeof **out));
  TSL_TRY(bands->ops->open(w, rows->from, rows->to, &engine));
  *out = &bands->list[bands->n++];
  **out = (dp_band){.lo = rows->from,
                    .hi = rows->to,
                    .lanes = {first, rows->end},
                    .past = true,
                    .engine = engine,
                    .kept = -1};
done:
  return err;
}

static tsl_err load_stage(tsl_worker *w, const tsl_unit *u, const dp_saved_rows *rows) {
  tsl_err err = TSL_OK;
  dp_band *b = NULL;
  dp_stage *s = NULL;
  const int64_t top = dp_state_bytes(w->p, rows->to - rows->from);
  TSL_TRY(past_band(w, rows, u->lane, &b));
  TSL_TRY(dp_bands_grow((void **)&b->stages, b->n_stages, &b->room, sizeof *s));
  s = &b->stages[b->n_stages++];
  *s = (dp_stage){.lo = rows->lo, .hi = rows->hi};
  b->row = rows->hi;
  w->bands.history += top + rows->left_bytes;
  TSL_TRY(tsl_alloc(top, 1, "special row", &s->top));
  memcpy(s->top, rows->top, (size_t)top);
  if (rows->left_bytes == 0) goto done;
  TSL_TRY(tsl_alloc(rows->left_bytes, 1, "special column", &s->left));
  memcpy(s->left, rows->left_edge, (size_t)rows->left_bytes);
done:
  return err;
}

tsl_err dp_bands_load(tsl_worker *w, const tsl_unit *u, int64_t stage, const uint8_t *own,
                      int64_t lanes, const void *bytes, int64_t n) {
  tsl_err err = TSL_OK;
  dp_saved saved;
  dp_saved_rows rows;
  bool more = true;
  TSL_TRY(dp_saved_open(w->p, u, stage, bytes, n, &saved));
  if (saved.state != NULL && own[u->lane])
    TSL_TRY(dp_lane_states_add(w->p, &w->bands.loaded, u, &saved));
  while (more) {
    TSL_TRY(dp_saved_next(w->p, u, lanes, &saved, &rows, &more));
    if (more && dp_saved_wanted(own, u->lane, rows.end)) TSL_TRY(load_stage(w, u, &rows));
  }
done:
  return err;
}

/* ---- a band from its lanes */

tsl_err dp_bands_go_on(tsl_worker *w, dp_band *b, int64_t row) {
  tsl_err err = TSL_OK;
  int64_t best[3];
  char *state = NULL;
  TSL_TRY(tsl_alloc(dp_state_bytes(w->p, b->hi - b->lo), 1, "state of a band", (void **)&state));
  TSL_TRY(dp_lane_states_join(w->p, &w->bands.loaded, b->lo, b->hi, row, state, best));
  TSL_TRY(w->bands.ops->row_put(b->engine, row, state));
  if (w->bands.ops->best_put != NULL) w->bands.ops->best_put(b->engine, best);
  b->row = row;
done:
  tsl_free(state);
  return err;
}
