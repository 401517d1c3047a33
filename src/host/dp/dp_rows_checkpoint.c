/** @file dp_rows_checkpoint.c  Checkpoints of sweeps: the last row, and decisions that recovery
 * keeps, as in dp_saved.h. */
#include "dp_rows.h"

#include <string.h>

static bool goes_with(const dp_decisions *d, const tsl_unit *u) {
  return d->lanes[0] == u->lane && d->lo == u->lo[0] && d->hi == u->hi[0];
}

static dp_saved_choices saved_of(const dp_context *c, const dp_decisions *d) {
  const bool top = d->top.data != NULL;
  return (dp_saved_choices){.lo = d->lo,
                            .hi = d->hi,
                            .from = d->from,
                            .to = d->to,
                            .end = d->lanes[1],
                            .kind = top                ? DP_SAVED_TOP
                                    : dp_is_sack(c->p) ? DP_SAVED_BITS
                                                       : DP_SAVED_AMOUNTS,
                            .bytes = top ? dp_width(c->p) * c->bytes
                                         : dp_choice_bytes(c->p, d->hi - d->lo, d->to - d->from)};
}

int64_t dp_rows_state_bytes(const dp_rows *rows, const tsl_unit *u, int64_t stage) {
  int64_t bytes = 0;
  for (int64_t k = 0; k < rows->n; k++) {
    const dp_saved_choices saved = saved_of(rows->c, &rows->list[k]);
    if (goes_with(&rows->list[k], u)) bytes += dp_saved_choices_bytes(&saved);
  }
  return dp_saved_row_bytes(rows->c->p, u, stage, bytes);
}

/* ---- decisions between the device and checkpoints */

static tsl_err move_bytes(const dp_context *c, void *device, void *host, int64_t bytes, bool out) {
  return out ? dp_copy(c, host, device, bytes, DP_COPY_OUT)
             : dp_copy(c, device, host, bytes, DP_COPY_IN);
}

/** Items of words as the engine has them, which are words of 64 columns in a checkpoint. */
static tsl_err move_made(const dp_rows *rows, const dp_decisions *d, char *data, bool out) {
  const dp_context *c = rows->c;
  const int64_t items = d->hi - d->lo, columns = d->to - d->from;
  const int64_t here = rows->engine->decision_bytes(c->p, 1, columns);
  const int64_t there = dp_choice_bytes(c->p, 1, columns);
  if (here == there || items == 0) return move_bytes(c, d->made.data, data, items * here, out);
  return out ? c->memory->copy_rows(c->device, data, there, d->made.data, here, here, items,
                                    DP_COPY_OUT)
             : c->memory->copy_rows(c->device, d->made.data, here, data, there, here, items,
                                    DP_COPY_IN);
}

/** The row above: int64 in a checkpoint where the device has int32. */
static tsl_err move_top(const dp_rows *rows, const dp_decisions *d, char *data, bool out) {
  tsl_err err = TSL_OK;
  const int64_t n = dp_width(rows->c->p);
  int64_t *wide = (int64_t *)data;
  int32_t *values = NULL;
  if (!rows->narrow) return move_bytes(rows->c, d->top.data, data, n * rows->each, out);
  TSL_TRY(tsl_alloc(n, sizeof *values, "row", (void **)&values));
  for (int64_t k = 0; k < n && !out; k++) values[k] = (int32_t)wide[k];
  TSL_TRY(move_bytes(rows->c, d->top.data, values, n * 4, out));
  TSL_TRY(dp_wait(rows->c));
  for (int64_t k = 0; k < n && out; k++) wide[k] = values[k];
done:
  tsl_free(values);
  return err;
}

/** data: host, 8-byte aligned, zeroed before it is written; waits. */
static tsl_err move_decisions(const dp_rows *rows, const dp_decisions *d, char *data, bool out) {
  tsl_err err = TSL_OK;
  TSL_TRY(d->top.data != NULL ? move_top(rows, d, data, out) : move_made(rows, d, data, out));
  TSL_TRY(dp_wait(rows->c));
done:
  return err;
}

/* ---- save and load */

tsl_err dp_rows_save(dp_rows *rows, const tsl_unit *u, int64_t stage, void *bytes) {
  tsl_err err = TSL_OK;
  char *row = NULL, *at = NULL, *data = NULL;
  memset(bytes, 0, (size_t)dp_rows_state_bytes(rows, u, stage));
  at = dp_saved_row_put(rows->c->p, u, stage, bytes, &row);
  if (row != NULL) TSL_TRY(dp_rows_edge_out(rows, u, row));
  for (int64_t k = 0; k < rows->n; k++) {
    const dp_decisions *d = &rows->list[k];
    const dp_saved_choices saved = saved_of(rows->c, d);
    if (!goes_with(d, u)) continue;
    at = dp_saved_choices_put(&saved, at, &data);
    TSL_TRY(move_decisions(rows, d, data, true));
  }
done:
  return err;
}

static tsl_err load_decisions(dp_rows *rows, const tsl_unit *u, const dp_saved_choices *saved) {
  tsl_err err = TSL_OK;
  const int64_t top = dp_width(rows->c->p) * rows->each;
  const bool is_top = saved->kind == DP_SAVED_TOP;
  const dp_sweep_span span = {.lo = saved->lo,
                              .hi = saved->hi,
                              .from = saved->from,
                              .to = saved->to,
                              .lanes = {u->lane, saved->end}};
  dp_decisions *d = NULL;
  TSL_TRY(dp_decisions_add(rows, &span, &d));
  if (is_top)
    TSL_TRY(dp_reserve(rows->c, &d->top, top, "special row"));
  else
    TSL_TRY(dp_decisions_reserve(rows, d));
  TSL_TRY(move_decisions(rows, d, (char *)saved->data, false));
  rows->bytes += is_top ? top : dp_decisions_bytes(rows, d);
done:
  return err;
}

tsl_err dp_rows_load(dp_rows *rows, const tsl_unit *u, int64_t stage, const uint8_t *own,
                     int64_t lanes, const void *bytes, int64_t n) {
  tsl_err err = TSL_OK;
  const dp_params *p = rows->c->p;
  dp_saved saved;
  dp_saved_choices choices;
  bool more = true;
  TSL_TRY(dp_saved_row_open(p, u, stage, bytes, n, &saved));
  if (saved.state != NULL) TSL_TRY(dp_rows_edge_in(rows, u, saved.state));
  while (more) {
    TSL_TRY(dp_saved_choices_next(p, u, lanes, &saved, &choices, &more));
    if (more && dp_saved_wanted(own, u->lane, choices.end))
      TSL_TRY(load_decisions(rows, u, &choices));
  }
  TSL_TRY(dp_wait(rows->c)); /* the bytes are the caller's */
done:
  return err;
}
