/** @file dp_rows_save.c  Checkpoints of sweeps: the last row, and decisions that recovery keeps, as
 * in dp_saved.h. */
#include "dp_rows_own.h"

#include <string.h>

static bool goes_with(const dp_choices *c, const tsl_unit *u) {
  return c->lanes[0] == u->lane && c->lo == u->lo[0] && c->hi == u->hi[0];
}

/** Where decisions are, and their bytes. */
static void *data_of(const dp_choices *c) {
  return c->top != NULL ? c->top : c->bits != NULL ? (void *)c->bits : (void *)c->k;
}

static dp_saved_choices choices_of(const tsl_worker *w, const dp_choices *c) {
  const bool top = c->top != NULL;
  return (dp_saved_choices){.lo = c->lo,
                            .hi = c->hi,
                            .from = c->from,
                            .to = c->to,
                            .end = c->lanes[1],
                            .kind = top               ? DP_SAVED_TOP
                                    : c->bits != NULL ? DP_SAVED_BITS
                                                      : DP_SAVED_AMOUNTS,
                            .bytes = top ? dp_width(w->c.p) * w->c.bytes
                                         : dp_choice_bytes(w->c.p, c->hi - c->lo, c->to - c->from)};
}

int64_t dp_rows_state_bytes(const tsl_worker *w, const tsl_unit *u, int64_t stage) {
  int64_t bytes = 0;
  for (int64_t k = 0; k < w->rows.n; k++) {
    const dp_saved_choices choices = choices_of(w, &w->rows.list[k]);
    if (goes_with(&w->rows.list[k], u)) bytes += dp_saved_choices_bytes(&choices);
  }
  return dp_saved_row_bytes(w->c.p, u, stage, bytes);
}

tsl_err dp_rows_save(tsl_worker *w, const tsl_unit *u, int64_t stage, void *bytes) {
  tsl_err err = TSL_OK;
  char *row = NULL, *at = NULL, *data = NULL;
  memset(bytes, 0, (size_t)dp_rows_state_bytes(w, u, stage));
  at = dp_saved_row_put(w->c.p, u, stage, bytes, &row);
  if (row != NULL) TSL_TRY(dp_rows_edge_out(w, u, row));
  for (int64_t k = 0; k < w->rows.n; k++) {
    const dp_saved_choices choices = choices_of(w, &w->rows.list[k]);
    if (!goes_with(&w->rows.list[k], u)) continue;
    at = dp_saved_choices_put(&choices, at, &data);
    memcpy(data, data_of(&w->rows.list[k]), (size_t)choices.bytes);
  }
done:
  return err;
}

static tsl_err load_choices(tsl_worker *w, const tsl_unit *u, const dp_saved_choices *saved) {
  tsl_err err = TSL_OK;
  dp_rows *rows = &w->rows;
  dp_choices *c = NULL;
  TSL_TRY(dp_rows_grow(rows));
  c = &rows->list[rows->n++];
  *c = (dp_choices){.lo = saved->lo,
                    .hi = saved->hi,
                    .from = saved->from,
                    .to = saved->to,
                    .lanes = {u->lane, saved->end}};
  if (saved->kind == DP_SAVED_TOP)
    TSL_TRY(tsl_alloc(saved->bytes, 1, "special row", &c->top));
  else
    TSL_TRY(dp_choices_alloc(w, c));
  memcpy(data_of(c), saved->data, (size_t)saved->bytes);
  rows->bytes += saved->bytes;
done:
  return err;
}

tsl_err dp_rows_load(tsl_worker *w, const tsl_unit *u, int64_t stage, const uint8_t *own,
                     int64_t lanes, const void *bytes, int64_t n) {
  tsl_err err = TSL_OK;
  dp_saved saved;
  dp_saved_choices choices;
  bool more = true;
  TSL_TRY(dp_saved_row_open(w->c.p, u, stage, bytes, n, &saved));
  if (saved.state != NULL) TSL_TRY(dp_rows_edge_in(w, u, saved.state));
  while (more) {
    TSL_TRY(dp_saved_choices_next(w->c.p, u, lanes, &saved, &choices, &more));
    if (more && dp_saved_wanted(own, u->lane, choices.end)) TSL_TRY(load_choices(w, u, &choices));
  }
done:
  return err;
}
