/* Checkpoints of wavefronts on a card: the state of lanes, and what recovery keeps, as in
 * dp_saved.h. The twin of src/cpu/dp/ready/dp_bands_save.c. */
#include "dp_backend_gpu.cuh"

#include <string.h>

/* ---- states between the card and what sockets have */

/* Bytes of a state that the card has: weighted edit distances have no F. */
static int64_t bytes_on_card(const dp_params *p, int64_t columns) {
  const bool half = p->problem == DP_EDIT && !p->unit && p->mode != DP_TABLE;
  return dp_state_bytes(p, columns) / (half ? 2 : 1);
}

/* Bits beyond the last column are zero in a checkpoint. */
static void mask_bits(const dp_params *p, int64_t columns, char *state) {
  const int64_t words = dp_bit_words(columns);
  uint32_t *bits = (uint32_t *)state;
  if (!dp_state_is_bits(p) || columns % 32 == 0) return;
  for (int part = 1; part <= dp_bit_parts(p); part++)
    bits[part * words - 1] &= (1u << columns % 32) - 1;
}

/* From the card to host memory, [dp_state_bytes], a multiple of 4; waits. */
static tsl_err fetch(dp_worker *w, int64_t columns, const void *card, char *state) {
  tsl_err err = TSL_OK;
  const int64_t bytes = bytes_on_card(w->p, columns);
  memset(state, 0, (size_t)dp_state_bytes(w->p, columns));
  TSL_CUDA_TRY(cudaMemcpyAsync(state, card, (size_t)bytes, cudaMemcpyDeviceToHost, w->card.stream));
  TSL_TRY(dp_card_wait(&w->card));
  mask_bits(w->p, columns, state);
done:
  return err;
}

/* ---- which band has what of a tile */

static dp_band_gpu *band_of(const dp_worker *w, const tsl_unit *u) {
  for (int64_t k = 0; k < w->bands.n; k++) {
    dp_band_gpu *b = &w->bands.list[k];
    if (!b->past && b->lo <= u->lo[1] && u->hi[1] <= b->hi) return b;
  }
  return NULL;
}

/* Are these some of the tile's rows, kept with the tile's lane? */
static bool goes_with(const dp_band_gpu *b, const dp_kept_rows *kept, const tsl_unit *u) {
  return b->lanes[0] == u->lane && kept->lo >= u->lo[0] && kept->hi <= u->hi[0];
}

static dp_saved_rows rows_of(const dp_worker *w, const dp_band_gpu *b, const dp_kept_rows *kept) {
  dp_saved_rows rows = {};
  rows.from = b->lo;
  rows.to = b->hi;
  rows.end = b->lanes[1];
  rows.lo = kept->lo;
  rows.hi = kept->hi;
  rows.left_bytes = kept->left.data != NULL ? dp_edge_size(w->p, kept->hi - kept->lo) : 0;
  return rows;
}

int64_t dp_gpu_bands_state_bytes(const dp_worker *w, const tsl_unit *u, int64_t stage) {
  int64_t bytes = 0;
  for (int64_t k = 0; k < w->bands.n; k++) {
    const dp_band_gpu *b = &w->bands.list[k];
    for (int64_t s = 0; s < b->n_kept; s++) {
      const dp_saved_rows rows = rows_of(w, b, &b->kept[s]);
      if (goes_with(b, &b->kept[s], u)) bytes += dp_saved_rows_bytes(w->p, &rows);
    }
  }
  return dp_saved_bytes(w->p, u, stage, bytes);
}

/* ---- save */

/* The band's state in host memory, made once for all its lanes. */
static tsl_err make_image(dp_worker *w, dp_band_gpu *b) {
  tsl_err err = TSL_OK;
  const int64_t bytes = dp_state_bytes(w->p, b->hi - b->lo);
  if (b->image != NULL && b->image_row == b->row) return TSL_OK;
  if (b->image == NULL) TSL_TRY(tsl_alloc(bytes, 1, "state of a band", &b->image));
  b->image_row = -1;
  TSL_TRY(tsl_gpu_reserve(&w->card.memory, &w->bands.state, bytes, "state of a band"));
  TSL_TRY(w->bands.engine->state_get(b->engine, w->bands.state.data));
  TSL_TRY(fetch(w, b->hi - b->lo, w->bands.state.data, (char *)b->image));
  b->image_row = b->row;
done:
  return err;
}

/* The best cell that goes with the tile. */
static tsl_err find_best(dp_worker *w, const tsl_unit *u, int64_t stage, int64_t best[3]) {
  tsl_err err = TSL_OK;
  dp_band_gpu *b = band_of(w, u);
  const dp_lane_state *l = b == NULL ? dp_lane_states_find(&w->bands.loaded, u) : NULL;
  best[0] = best[1] = best[2] = 0;
  if (!dp_saved_has_state(u, stage) || w->p->problem != DP_LOCAL) return TSL_OK;
  if (l != NULL) memcpy(best, l->best, sizeof l->best);
  if (b != NULL) TSL_TRY(w->bands.engine->best(b->engine, best));
  if (best[2] <= u->lo[1] || best[2] > u->hi[1]) best[0] = best[1] = best[2] = 0;
done:
  return err;
}

static tsl_err save_state(dp_worker *w, const tsl_unit *u, char *state) {
  tsl_err err = TSL_OK;
  dp_band_gpu *b = band_of(w, u);
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

static tsl_err save_rows(dp_worker *w, const dp_band_gpu *b, const dp_kept_rows *kept, char **at) {
  tsl_err err = TSL_OK;
  const dp_saved_rows rows = rows_of(w, b, kept);
  char *top = NULL, *left = NULL;
  *at = dp_saved_rows_put(w->p, &rows, *at, &top, &left);
  TSL_TRY(fetch(w, b->hi - b->lo, kept->top.data, top));
  if (rows.left_bytes == 0) goto done;
  TSL_CUDA_TRY(cudaMemcpyAsync(left, kept->left.data, (size_t)rows.left_bytes,
                               cudaMemcpyDeviceToHost, w->card.stream));
  TSL_TRY(dp_card_wait(&w->card));
done:
  return err;
}

tsl_err dp_gpu_bands_save(dp_worker *w, const tsl_unit *u, int64_t stage, void *bytes) {
  tsl_err err = TSL_OK;
  int64_t best[3];
  char *state = NULL, *at = NULL;
  memset(bytes, 0, (size_t)dp_gpu_bands_state_bytes(w, u, stage));
  TSL_TRY(find_best(w, u, stage, best));
  at = dp_saved_put(w->p, u, stage, best, bytes, &state);
  if (state != NULL) TSL_TRY(save_state(w, u, state));
  for (int64_t k = 0; k < w->bands.n; k++) {
    const dp_band_gpu *b = &w->bands.list[k];
    for (int64_t s = 0; s < b->n_kept; s++)
      if (goes_with(b, &b->kept[s], u)) TSL_TRY(save_rows(w, b, &b->kept[s], &at));
  }
done:
  return err;
}

/* ---- load */

/* The band of an earlier run that has these columns, made when it is not there. */
static tsl_err past_band(dp_worker *w, const dp_saved_rows *rows, int64_t first,
                         dp_band_gpu **out) {
  tsl_err err = TSL_OK;
  dp_bands_gpu *bands = &w->bands;
  dp_band_gpu *b = NULL;
  for (int64_t k = 0; k < bands->n; k++) {
    *out = b = &bands->list[k];
    if (b->past && b->lo == rows->from && b->hi == rows->to && b->row == rows->lo) return TSL_OK;
  }
  TSL_TRY(dp_list_grow((void **)&bands->list, bands->n, &bands->room, sizeof *bands->list));
  b = &bands->list[bands->n++];
  *b = dp_band_gpu{};
  b->lo = rows->from;
  b->hi = rows->to;
  b->lanes[0] = first;
  b->lanes[1] = rows->end;
  b->past = true;
  b->right_lo = b->at = b->out_lo[0] = b->out_lo[1] = -1;
  *out = b;
done:
  return err;
}

/* Host memory to a new buffer. */
static tsl_err put(dp_worker *w, tsl_gpu_buffer *buffer, const char *host, int64_t bytes,
                   const char *what) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_gpu_reserve(&w->card.memory, buffer, bytes, what));
  TSL_CUDA_TRY(
      cudaMemcpyAsync(buffer->data, host, (size_t)bytes, cudaMemcpyHostToDevice, w->card.stream));
done:
  return err;
}

static tsl_err load_rows(dp_worker *w, const tsl_unit *u, const dp_saved_rows *rows) {
  tsl_err err = TSL_OK;
  dp_band_gpu *b = NULL;
  dp_kept_rows *kept = NULL;
  const int64_t top = bytes_on_card(w->p, rows->to - rows->from);
  TSL_TRY(past_band(w, rows, u->lane, &b));
  TSL_TRY(dp_list_grow((void **)&b->kept, b->n_kept, &b->kept_room, sizeof *kept));
  kept = &b->kept[b->n_kept++];
  *kept = dp_kept_rows{rows->lo, rows->hi, {}, {}};
  b->row = rows->hi;
  w->bands.history += top + rows->left_bytes;
  TSL_TRY(put(w, &kept->top, rows->top, top, "special row"));
  if (rows->left_bytes > 0)
    TSL_TRY(put(w, &kept->left, rows->left_edge, rows->left_bytes, "special column"));
done:
  return err;
}

tsl_err dp_gpu_bands_load(dp_worker *w, const tsl_unit *u, int64_t stage, const uint8_t *own,
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
    if (more && dp_saved_wanted(own, u->lane, rows.end)) TSL_TRY(load_rows(w, u, &rows));
  }
  TSL_TRY(dp_card_wait(&w->card)); /* the bytes are the caller's */
done:
  return err;
}

/* ---- a band from its lanes */

tsl_err dp_gpu_bands_go_on(dp_worker *w, dp_band_gpu *b, int64_t row) {
  tsl_err err = TSL_OK;
  const int64_t columns = b->hi - b->lo, bytes = dp_state_bytes(w->p, columns);
  int64_t best[3];
  char *state = NULL;
  TSL_TRY(tsl_alloc(bytes, 1, "state of a band", (void **)&state));
  TSL_TRY(dp_lane_states_join(w->p, &w->bands.loaded, b->lo, b->hi, row, state, best));
  TSL_TRY(put(w, &w->bands.state, state, bytes, "state of a band"));
  TSL_TRY(w->bands.engine->state_put(b->engine, row, w->bands.state.data));
  if (best[0] > 0) TSL_TRY(w->bands.engine->best_put(b->engine, best));
  b->row = row;
  TSL_TRY(dp_card_wait(&w->card));
done:
  tsl_free(state);
  return err;
}
