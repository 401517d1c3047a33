/** @file dp_bands_checkpoint.c  Checkpoints of wavefronts: the state of lanes, and what recovery
 * keeps, as in dp_saved.h. */
#include "dp_bands.h"

#include <string.h>

/* ---- states between the device and checkpoints */

/** Bits beyond the last column are zero in a checkpoint. */
static void mask_bits(const dp_params *p, int64_t columns, char *state) {
  const int64_t words = dp_bit_words(columns);
  uint32_t *bits = (uint32_t *)state;
  if (!dp_state_is_bits(p) || columns % 32 == 0) return;
  for (int part = 1; part <= dp_bit_parts(p); part++)
    bits[part * words - 1] &= (1u << columns % 32) - 1;
}

/** From the device to host memory, [dp_state_bytes], a multiple of 4; waits. */
static tsl_err state_out(const dp_bands *bands, int64_t columns, const void *device, char *state) {
  tsl_err err = TSL_OK;
  const dp_context *c = bands->c;
  memset(state, 0, (size_t)dp_state_bytes(c->p, columns));
  TSL_TRY(dp_copy(c, state, device, bands->engine->state_bytes(c->p, columns), DP_COPY_OUT));
  TSL_TRY(dp_wait(c));
  mask_bits(c->p, columns, state);
done:
  return err;
}

/** Queue: host memory to a buffer. */
static tsl_err bytes_in(const dp_context *c, dp_buffer *buffer, const char *host, int64_t bytes,
                        const char *what) {
  tsl_err err = TSL_OK;
  TSL_TRY(dp_reserve(c, buffer, bytes, what));
  TSL_TRY(dp_copy(c, buffer->data, host, bytes, DP_COPY_IN));
done:
  return err;
}

/* ---- which band has what of a tile */

static dp_band *band_of(const dp_bands *bands, const tsl_unit *u) {
  for (int64_t k = 0; k < bands->n; k++) {
    dp_band *b = &bands->list[k];
    if (!b->past && b->lo <= u->lo[1] && u->hi[1] <= b->hi) return b;
  }
  return NULL;
}

/** Are these some of the tile's rows, kept with the tile's lane? */
static bool goes_with(const dp_band *b, const dp_kept_rows *kept, const tsl_unit *u) {
  return b->lanes[0] == u->lane && kept->lo >= u->lo[0] && kept->hi <= u->hi[0];
}

static dp_saved_rows rows_of(const dp_band *b, const dp_kept_rows *kept) {
  return (dp_saved_rows){.from = b->lo,
                         .to = b->hi,
                         .end = b->lanes[1],
                         .lo = kept->lo,
                         .hi = kept->hi,
                         .left_bytes = kept->left.bytes};
}

int64_t dp_bands_state_bytes(const dp_bands *bands, const tsl_unit *u, int64_t stage) {
  const dp_params *p = bands->c->p;
  int64_t bytes = 0;
  for (int64_t k = 0; k < bands->n; k++) {
    const dp_band *b = &bands->list[k];
    for (int64_t s = 0; s < b->n_kept; s++) {
      const dp_saved_rows rows = rows_of(b, &b->kept[s]);
      if (goes_with(b, &b->kept[s], u)) bytes += dp_saved_rows_bytes(p, &rows);
    }
  }
  return dp_saved_bytes(p, u, stage, bytes);
}

/* ---- save */

tsl_err dp_band_image(dp_bands *bands, dp_band *b) {
  tsl_err err = TSL_OK;
  const int64_t columns = b->hi - b->lo, bytes = dp_state_bytes(bands->c->p, columns);
  if (b->image != NULL && b->image_row == b->row) return TSL_OK;
  if (b->image == NULL) TSL_TRY(tsl_alloc(bytes, 1, "state of a band", &b->image));
  b->image_row = -1;
  TSL_TRY(dp_reserve(bands->c, &bands->state, bytes, "state of a band"));
  TSL_TRY(bands->engine->state_get(b->engine, bands->state.data));
  TSL_TRY(state_out(bands, columns, bands->state.data, b->image));
  b->image_row = b->row;
done:
  return err;
}

/** The best cell, or what there is of the last column, that goes with the tile. */
static tsl_err find_best(const dp_bands *bands, const tsl_unit *u, int64_t stage, int64_t best[3]) {
  tsl_err err = TSL_OK;
  const dp_params *p = bands->c->p;
  const dp_band *b = band_of(bands, u);
  const dp_lane_state *l = b == NULL ? dp_lane_states_find(&bands->loaded, u) : NULL;
  memset(best, 0, 3 * sizeof *best);
  if (!dp_saved_has_state(u, stage) || !dp_has_best(p)) return TSL_OK;
  if (l != NULL) memcpy(best, l->best, sizeof l->best);
  if (p->free_ends != 0) {
    if (b != NULL && dp_saved_column(p, u))
      best[0] = b->column.best, best[1] = b->column.row, best[2] = b->column.value;
    return TSL_OK;
  }
  if (b != NULL) TSL_TRY(bands->engine->best(b->engine, best));
  if (best[2] <= u->lo[1] || best[2] > u->hi[1]) memset(best, 0, 3 * sizeof *best);
done:
  return err;
}

static tsl_err save_state(dp_bands *bands, const tsl_unit *u, char *state) {
  tsl_err err = TSL_OK;
  const dp_params *p = bands->c->p;
  dp_band *b = band_of(bands, u);
  const dp_lane_state *l = b == NULL ? dp_lane_states_find(&bands->loaded, u) : NULL;
  if (b == NULL && l == NULL)
    TSL_FAIL(TSL_ERR_INTERNAL, "dp: tile %lld has no state to save", (long long)u->id);
  if (l != NULL) {
    memcpy(state, l->state, (size_t)dp_state_bytes(p, u->hi[1] - u->lo[1]));
    goto done;
  }
  TSL_TRY(dp_band_image(bands, b)); /* made once for all its lanes */
  dp_state_cut(p, b->image, b->hi - b->lo, u->lo[1] - b->lo, u->hi[1] - b->lo, state);
done:
  return err;
}

static tsl_err save_rows(dp_bands *bands, const dp_band *b, dp_kept_rows *kept, char **at) {
  tsl_err err = TSL_OK;
  const dp_context *c = bands->c;
  const dp_saved_rows rows = rows_of(b, kept);
  char *top = NULL, *left = NULL;
  *at = dp_saved_rows_put(c->p, &rows, *at, &top, &left);
  TSL_TRY(dp_kept_fetch(c, &bands->keep, &kept->top));
  TSL_TRY(state_out(bands, b->hi - b->lo, kept->top.data.data, top));
  TSL_TRY(dp_kept_store(c, &bands->keep, &kept->top));
  if (rows.left_bytes == 0) goto done;
  TSL_TRY(dp_kept_fetch(c, &bands->keep, &kept->left));
  TSL_TRY(dp_copy(c, left, kept->left.data.data, rows.left_bytes, DP_COPY_OUT));
  TSL_TRY(dp_wait(c));
  TSL_TRY(dp_kept_store(c, &bands->keep, &kept->left));
done:
  return err;
}

tsl_err dp_bands_save(dp_bands *bands, const tsl_unit *u, int64_t stage, void *bytes) {
  tsl_err err = TSL_OK;
  int64_t best[3];
  char *state = NULL, *at = NULL;
  memset(bytes, 0, (size_t)dp_bands_state_bytes(bands, u, stage));
  TSL_TRY(find_best(bands, u, stage, best));
  at = dp_saved_put(bands->c->p, u, stage, best, bytes, &state);
  if (state != NULL) TSL_TRY(save_state(bands, u, state));
  for (int64_t k = 0; k < bands->n; k++) {
    const dp_band *b = &bands->list[k];
    for (int64_t s = 0; s < b->n_kept; s++)
      if (goes_with(b, &b->kept[s], u)) TSL_TRY(save_rows(bands, b, &b->kept[s], &at));
  }
done:
  return err;
}

/* ---- load */

/** The band of an earlier run that has these columns, made when it is not there. */
static tsl_err past_band(dp_bands *bands, const dp_saved_rows *rows, int64_t first, dp_band **out) {
  tsl_err err = TSL_OK;
  for (int64_t k = 0; k < bands->n; k++) {
    dp_band *b = *out = &bands->list[k];
    if (b->past && b->lo == rows->from && b->hi == rows->to && b->row == rows->lo) return TSL_OK;
  }
  TSL_TRY(dp_bands_add(bands, rows->from, rows->to, out));
  (*out)->lanes[0] = first;
  (*out)->lanes[1] = rows->end;
  (*out)->past = true;
done:
  return err;
}

static tsl_err load_rows(dp_bands *bands, const tsl_unit *u, const dp_saved_rows *rows) {
  tsl_err err = TSL_OK;
  const dp_context *c = bands->c;
  const int64_t top = bands->engine->state_bytes(c->p, rows->to - rows->from);
  dp_band *b = NULL;
  dp_kept_rows *kept = NULL;
  TSL_TRY(past_band(bands, rows, u->lane, &b));
  TSL_TRY(tsl_grow((void **)&b->kept, b->n_kept, 1, &b->kept_room, sizeof *kept, "list"));
  kept = &b->kept[b->n_kept++];
  *kept = (dp_kept_rows){.lo = rows->lo, .hi = rows->hi};
  b->row = rows->hi;
  TSL_TRY(dp_kept_reserve(c, &bands->keep, top, "special row", &kept->top));
  TSL_TRY(bytes_in(c, &kept->top.data, rows->top, top, "special row"));
  TSL_TRY(dp_kept_store(c, &bands->keep, &kept->top));
  if (rows->left_bytes == 0) goto done;
  TSL_TRY(dp_kept_reserve(c, &bands->keep, rows->left_bytes, "special column", &kept->left));
  TSL_TRY(bytes_in(c, &kept->left.data, rows->left_edge, rows->left_bytes, "special column"));
  TSL_TRY(dp_kept_store(c, &bands->keep, &kept->left));
done:
  return err;
}

tsl_err dp_bands_load(dp_bands *bands, const tsl_unit *u, int64_t stage, const uint8_t *own,
                      int64_t lanes, const void *bytes, int64_t n) {
  tsl_err err = TSL_OK;
  const dp_params *p = bands->c->p;
  dp_saved saved;
  dp_saved_rows rows;
  bool more = true;
  TSL_TRY(dp_saved_open(p, u, stage, bytes, n, &saved));
  if (saved.state != NULL && own[u->lane])
    TSL_TRY(dp_lane_states_add(p, &bands->loaded, u, &saved));
  while (more) {
    TSL_TRY(dp_saved_next(p, u, lanes, &saved, &rows, &more));
    if (more && dp_saved_wanted(own, u->lane, rows.end)) TSL_TRY(load_rows(bands, u, &rows));
  }
  TSL_TRY(dp_wait(bands->c)); /* the bytes are the caller's */
done:
  return err;
}

/* ---- a band from its lanes */

tsl_err dp_band_resume(dp_bands *bands, dp_band *b, int64_t row) {
  tsl_err err = TSL_OK;
  const dp_context *c = bands->c;
  const int64_t bytes = dp_state_bytes(c->p, b->hi - b->lo);
  int64_t best[3];
  char *state = NULL;
  TSL_TRY(tsl_alloc(bytes, 1, "state of a band", (void **)&state));
  TSL_TRY(dp_lane_states_join(c->p, &bands->loaded, b->lo, b->hi, row, state, best));
  TSL_TRY(bytes_in(c, &bands->state, state, bytes, "state of a band"));
  TSL_TRY(bands->engine->state_put(b->engine, row, bands->state.data));
  if (c->p->problem == DP_LOCAL && best[0] > 0) TSL_TRY(bands->engine->best_put(b->engine, best));
  if (c->p->free_ends != 0) b->column = (dp_last_column){best[0], best[1], best[2]};
  b->row = row;
  b->resumed = true;
  TSL_TRY(dp_wait(c));
done:
  tsl_free(state);
  return err;
}
