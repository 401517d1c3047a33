/** @file dp_rows_trace.c  The traceback through a sweep by the decisions kept. */
#include "dp_rows.h"

/** The decisions of an item in a column, the last ones of it; NULL: another worker's. */
static dp_decisions *decisions_of(const dp_rows *rows, int64_t item, int64_t column) {
  int64_t k = rows->n - 1;
  while (k > 0 && rows->list[k].lo > item) k--;
  for (; k >= 0 && rows->list[k].hi > item; k--) {
    dp_decisions *d = &rows->list[k];
    if (d->lo <= item && d->from <= column && column < d->to) return d;
  }
  return NULL;
}

/** Decisions that were not kept, made again. */
static tsl_err make_again(dp_rows *rows, const dp_decisions *d, dp_decisions *again) {
  tsl_err err = TSL_OK;
  const dp_sweep_span span = {.lo = d->lo,
                              .hi = d->hi,
                              .from = d->from,
                              .to = d->to,
                              .top = d->top.data,
                              .bottom = dp_row_at(rows, &rows->row[0])};
  *again = (dp_decisions){.lo = d->lo, .hi = d->hi, .from = d->from, .to = d->to};
  TSL_TRY(dp_decisions_reserve(rows, again));
  rows->again += (double)(d->hi - d->lo) * (double)(d->to - d->from);
  TSL_TRY(rows->engine->span(rows->c->worker, &span, again->made.data));
done:
  return err;
}

/** One decision: knapsacks (item, 1) or on to the next item; others the amount or state.
 *  at[0] counts rows; stages are counted from 0, items from 1. */
static tsl_err step_back(const dp_context *c, const dp_decisions *d, const char *row, int64_t *at,
                         dp_steps *steps) {
  tsl_err err = TSL_OK;
  const bool stages = c->p->problem == DP_STAGECOACH;
  const int64_t item = stages ? at[0] : at[0] - 1, column = at[1] - d->from;
  const int64_t *weights = dp_input(c, DP_A);
  if (dp_is_sack(c->p)) {
    const bool taken = ((const uint32_t *)row)[column / 32] >> column % 32 & 1;
    if (taken) TSL_TRY(dp_steps_run(steps, item, 1));
    if (taken) at[1] -= weights[item];
    if (!taken || c->p->problem == DP_KNAPSACK) at[0]--;
    goto done;
  }
  const int32_t k = ((const int32_t *)row)[column];
  if (stages)
    TSL_TRY(dp_steps_add(steps, at[0], at[1]));
  else if (k > 0)
    TSL_TRY(dp_steps_add(steps, item, k));
  at[1] = stages ? k : at[1] - k;
  at[0]--;
done:
  return err;
}

/** By the host, which gets all decisions first where it has not the device's memory. */
static tsl_err trace_by_host(const dp_rows *rows, const dp_decisions *d, tsl_cursor *cursor,
                             dp_steps *steps) {
  tsl_err err = TSL_OK;
  const dp_context *c = rows->c;
  const bool stages = c->p->problem == DP_STAGECOACH;
  const int64_t bytes = dp_decisions_bytes(rows, d);
  const int64_t step = rows->engine->decision_bytes(c->p, 1, d->to - d->from);
  const char *made = d->made.data;
  int64_t *at = cursor->at;
  void *copy = NULL;
  if (c->memory->reserve_pinned != NULL) {
    TSL_TRY(tsl_alloc(bytes, 1, "decisions", &copy));
    TSL_TRY(dp_copy(c, copy, made, bytes, DP_COPY_OUT));
    TSL_TRY(dp_wait(c));
    made = copy;
  }
  while (at[0] - !stages >= d->lo && at[0] > 0 && d->from <= at[1] && at[1] < d->to)
    TSL_TRY(step_back(c, d, made + (at[0] - !stages - d->lo) * step, at, steps));
done:
  tsl_free(copy);
  return err;
}

tsl_err dp_rows_trace(dp_rows *rows, const tsl_unit *units, int64_t n, tsl_cursor *cursor,
                      dp_steps *steps) {
  tsl_err err = TSL_OK;
  const dp_context *c = rows->c;
  const bool stages = c->p->problem == DP_STAGECOACH;
  const bool host = c->p->host || rows->engine->trace == NULL;
  const dp_decisions *d = NULL;
  dp_decisions again = {0};
  if (cursor->at[0] > 0) d = decisions_of(rows, cursor->at[0] - !stages, cursor->at[1]);
  if (d != NULL && d->top.data != NULL) {
    TSL_TRY(make_again(rows, d, &again));
    d = &again;
  }
  if (d != NULL)
    TSL_TRY(host ? trace_by_host(rows, d, cursor, steps)
                 : rows->engine->trace(c->worker, d, cursor, steps));
  cursor->lane = cursor->at[0] > 0 ? dp_lane_of(units, n, cursor->at[1]) : -1;
  if (cursor->at[0] == 0 && stages) TSL_TRY(dp_steps_add(steps, 0, cursor->at[1]));
done:
  dp_decisions_clear(rows, &again);
  return err;
}
