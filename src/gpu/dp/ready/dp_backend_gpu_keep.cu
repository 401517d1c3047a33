/* Checkpoints of sweeps on a card: the last row, and decisions that recovery keeps, as in
 * dp_saved.h. The twin of src/cpu/dp/ready/dp_rows_save.c. */
#include "dp_backend_gpu.cuh"

#include <string.h>

static bool goes_with(const dp_choices *c, const tsl_unit *u) {
  return c->lanes[0] == u->lane && c->lo == u->lo[0] && c->hi == u->hi[0];
}

static dp_saved_choices choices_of(const dp_worker *w, const dp_choices *c) {
  const bool top = c->top.data != NULL;
  dp_saved_choices saved = {};
  saved.lo = c->lo;
  saved.hi = c->hi;
  saved.from = c->from;
  saved.to = c->to;
  saved.end = c->lanes[1];
  saved.kind = top ? DP_SAVED_TOP : dp_is_sack(w->c.p) ? DP_SAVED_BITS : DP_SAVED_AMOUNTS;
  saved.bytes =
      top ? dp_width(w->c.p) * w->c.bytes : dp_choice_bytes(w->c.p, c->hi - c->lo, c->to - c->from);
  return saved;
}

int64_t dp_gpu_rows_state_bytes(const dp_worker *w, const tsl_unit *u, int64_t stage) {
  int64_t bytes = 0;
  for (int64_t k = 0; k < w->rows.n; k++) {
    const dp_saved_choices saved = choices_of(w, &w->rows.list[k]);
    if (goes_with(&w->rows.list[k], u)) bytes += dp_saved_choices_bytes(&saved);
  }
  return dp_saved_row_bytes(w->c.p, u, stage, bytes);
}

/* ---- decisions between the card and what sockets have */

/* Rows of words of 32 columns, which are words of 64 in a checkpoint. */
static tsl_err move_bits(dp_worker *w, const dp_choices *c, char *data, bool out) {
  tsl_err err = TSL_OK;
  const int64_t columns = c->to - c->from;
  const size_t here = (size_t)(4 * dp_bit_words(columns));
  const size_t there = (size_t)dp_choice_bytes(w->c.p, 1, columns), rows = (size_t)(c->hi - c->lo);
  if (rows == 0) return TSL_OK;
  if (out)
    TSL_CUDA_TRY(cudaMemcpy2DAsync(data, there, c->bits.data, here, here, rows,
                                   cudaMemcpyDeviceToHost, w->card.stream));
  else
    TSL_CUDA_TRY(cudaMemcpy2DAsync(c->bits.data, here, data, there, here, rows,
                                   cudaMemcpyHostToDevice, w->card.stream));
done:
  return err;
}

static tsl_err move_bytes(dp_worker *w, tsl_gpu_buffer *buffer, char *data, int64_t bytes,
                          bool out) {
  tsl_err err = TSL_OK;
  if (bytes > 0)
    TSL_CUDA_TRY(cudaMemcpyAsync(out ? (void *)data : buffer->data,
                                 out ? buffer->data : (void *)data, (size_t)bytes,
                                 cudaMemcpyDefault, w->card.stream));
done:
  return err;
}

/* The row above: int64 in a checkpoint where the card has int32. */
static tsl_err move_top(dp_worker *w, dp_choices *c, char *data, bool out) {
  tsl_err err = TSL_OK;
  const int64_t n = dp_width(w->c.p);
  int64_t *wide = (int64_t *)data;
  int32_t *values = NULL;
  if (!w->rows.narrow) return move_bytes(w, &c->top, data, n * w->rows.each, out);
  TSL_TRY(tsl_alloc(n, sizeof *values, "row", (void **)&values));
  for (int64_t k = 0; k < n && !out; k++) values[k] = (int32_t)wide[k];
  TSL_TRY(move_bytes(w, &c->top, (char *)values, n * 4, out));
  TSL_TRY(dp_card_wait(&w->card));
  for (int64_t k = 0; k < n && out; k++) wide[k] = values[k];
done:
  tsl_free(values);
  return err;
}

/* data: host, 8-byte aligned, zeroed before it is written; waits. */
static tsl_err move_choices(dp_worker *w, dp_choices *c, const dp_saved_choices *saved, char *data,
                            bool out) {
  tsl_err err = TSL_OK;
  if (saved->kind == DP_SAVED_TOP)
    TSL_TRY(move_top(w, c, data, out));
  else if (saved->kind == DP_SAVED_BITS)
    TSL_TRY(move_bits(w, c, data, out));
  else
    TSL_TRY(move_bytes(w, &c->k, data, saved->bytes, out));
  TSL_TRY(dp_card_wait(&w->card));
done:
  return err;
}

/* ---- save and load */

tsl_err dp_gpu_rows_save(dp_worker *w, const tsl_unit *u, int64_t stage, void *bytes) {
  tsl_err err = TSL_OK;
  char *row = NULL, *at = NULL, *data = NULL;
  memset(bytes, 0, (size_t)dp_gpu_rows_state_bytes(w, u, stage));
  at = dp_saved_row_put(w->c.p, u, stage, bytes, &row);
  if (row != NULL) TSL_TRY(dp_gpu_rows_edge_out(w, u, row));
  for (int64_t k = 0; k < w->rows.n; k++) {
    dp_choices *c = &w->rows.list[k];
    const dp_saved_choices saved = choices_of(w, c);
    if (!goes_with(c, u)) continue;
    at = dp_saved_choices_put(&saved, at, &data);
    TSL_TRY(move_choices(w, c, &saved, data, true));
  }
done:
  return err;
}

static tsl_err load_choices(dp_worker *w, const tsl_unit *u, const dp_saved_choices *saved) {
  tsl_err err = TSL_OK;
  dp_rows_gpu *rows = &w->rows;
  dp_choices *c = NULL;
  const int64_t top = dp_width(w->c.p) * rows->each;
  TSL_TRY(dp_list_grow((void **)&rows->list, rows->n, &rows->room, sizeof *rows->list));
  c = &rows->list[rows->n++];
  *c = dp_choices{saved->lo, saved->hi, saved->from, saved->to, {}, {}, {}, {u->lane, saved->end}};
  if (saved->kind == DP_SAVED_TOP)
    TSL_TRY(tsl_gpu_reserve(&w->card.memory, &c->top, top, "special row"));
  else
    TSL_TRY(dp_choices_reserve(w, c));
  TSL_TRY(move_choices(w, c, saved, (char *)saved->data, false));
  rows->bytes +=
      saved->kind == DP_SAVED_TOP ? top : dp_choices_bytes(w->c.p, c->hi - c->lo, c->to - c->from);
done:
  return err;
}

tsl_err dp_gpu_rows_load(dp_worker *w, const tsl_unit *u, int64_t stage, const uint8_t *own,
                         int64_t lanes, const void *bytes, int64_t n) {
  tsl_err err = TSL_OK;
  dp_saved saved;
  dp_saved_choices choices;
  bool more = true;
  TSL_TRY(dp_saved_row_open(w->c.p, u, stage, bytes, n, &saved));
  if (saved.state != NULL) TSL_TRY(dp_gpu_rows_edge_in(w, u, saved.state));
  while (more) {
    TSL_TRY(dp_saved_choices_next(w->c.p, u, lanes, &saved, &choices, &more));
    if (more && dp_saved_wanted(own, u->lane, choices.end)) TSL_TRY(load_choices(w, u, &choices));
  }
  TSL_TRY(dp_card_wait(&w->card)); /* the bytes are the caller's */
done:
  return err;
}
