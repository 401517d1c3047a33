/** @file dp_rows_walk.c  The walk back through a sweep by the decisions kept. */
#include "dp_rows_own.h"

/** The decisions of an item in a column, found from *at downwards; NULL: another worker's. */
static dp_choices *find(const dp_rows *rows, int64_t item, int64_t column, int64_t *at) {
  while (*at > 0 && rows->list[*at].lo > item) --*at;
  for (int64_t k = *at; k >= 0 && rows->list[k].hi > item; k--) {
    dp_choices *c = &rows->list[k];
    if (c->from <= column && column < c->to) return c;
  }
  return NULL;
}

/** Decisions that were not kept, made again; those of one place at a time. */
static tsl_err make_again(const tsl_worker *w, dp_choices *c, dp_choices *made) {
  tsl_err err = TSL_OK;
  const dp_span span = {.lo = c->lo,
                        .hi = c->hi,
                        .from = c->from,
                        .to = c->to,
                        .top = c->top,
                        .bottom = w->rows.row[0]};
  if (made->lo == c->lo && made->hi == c->hi) return TSL_OK;
  tsl_free(made->bits);
  tsl_free(made->k);
  *made = (dp_choices){.lo = c->lo, .hi = c->hi, .from = c->from, .to = c->to};
  TSL_TRY(dp_choices_alloc(w, made));
  TSL_TRY(dp_span_compute(w, &span, made, NULL, NULL));
done:
  return err;
}

static bool bit_of(const dp_choices *c, int64_t item, int64_t column) {
  const int64_t words = (c->to - c->from + 63) / 64, k = column - c->from;
  return c->bits[(item - c->lo) * words + k / 64] >> k % 64 & 1;
}

/** One decision: knapsacks (item, 1) or on to the next item; others the amount or state. */
static tsl_err step_back(const tsl_worker *w, const dp_choices *c, tsl_cursor *cursor,
                         dp_steps *steps) {
  tsl_err err = TSL_OK;
  int64_t *at = cursor->at;
  const bool stages = w->c.p->problem == DP_STAGECOACH;
  const int64_t item = stages ? at[0] : at[0] - 1, *weights = dp_input(&w->c, DP_A);
  if (c->bits != NULL) {
    const bool taken = bit_of(c, item, at[1]);
    if (taken) TSL_TRY(dp_steps_add(steps, item, 1));
    if (taken) at[1] -= weights[item];
    if (!taken || w->c.p->problem == DP_KNAPSACK) at[0]--;
    goto done;
  }
  const int32_t k = c->k[(item - c->lo) * (c->to - c->from) + at[1] - c->from];
  if (stages)
    TSL_TRY(dp_steps_add(steps, at[0], at[1]));
  else if (k > 0)
    TSL_TRY(dp_steps_add(steps, item, k));
  at[1] = stages ? k : at[1] - k;
  at[0]--;
done:
  return err;
}

/** Through what was computed together. */
tsl_err dp_rows_walk(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_cursor *cursor,
                     dp_steps *steps) {
  tsl_err err = TSL_OK;
  const bool stages = w->c.p->problem == DP_STAGECOACH;
  const dp_choices *first = NULL;
  dp_choices made = {.lo = -1};
  int64_t at = w->rows.n - 1;
  while (cursor->at[0] > 0) {
    const int64_t item = stages ? cursor->at[0] : cursor->at[0] - 1;
    dp_choices *c = find(&w->rows, item, cursor->at[1], &at);
    if (c == NULL || (first != NULL && c != first)) break;
    first = c;
    if (c->top != NULL) TSL_TRY(make_again(w, c, &made));
    TSL_TRY(step_back(w, c->top != NULL ? &made : c, cursor, steps));
  }
  cursor->lane = cursor->at[0] > 0 ? dp_lane_of(units, n, cursor->at[1]) : -1;
  if (cursor->at[0] == 0 && stages) TSL_TRY(dp_steps_add(steps, 0, cursor->at[1]));
done:
  tsl_free(made.bits);
  tsl_free(made.k);
  return err;
}
