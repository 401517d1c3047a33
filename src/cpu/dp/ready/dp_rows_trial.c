/** @file dp_rows_trial.c  Trials of row sweeps, which tell their cost before they run. */
#include "dp_rows_own.h"

#include <string.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

void dp_rows_trial_end(tsl_worker *w) {
  if (w->rows.n == 0) return;
  dp_rows_forget(&w->rows);
#ifdef __GLIBC__
  (void)malloc_trim(0);
#endif
}

/** Decisions of a trial. They are kept as those of a run are, so that the next trial's lie in pages
 *  that are in no cache either; all that memory allows are forgotten together. */
static tsl_err keep_trial(tsl_worker *w, const dp_span *span, dp_choices **out) {
  tsl_err err = TSL_OK;
  dp_rows *rows = &w->rows;
  dp_choices *c = NULL;
  const int64_t bytes = dp_choice_bytes(w->c.p, span->hi - span->lo, span->to - span->from);
  if (rows->bytes + bytes > w->c.p->budget) dp_rows_trial_end(w);
  TSL_TRY(dp_rows_grow(rows));
  c = &rows->list[rows->n];
  *c = (dp_choices){.lo = span->lo, .hi = span->hi, .from = span->from, .to = span->to};
  TSL_TRY(dp_choices_alloc(w, c));
  rows->n++;
  rows->bytes += bytes;
  *out = c;
done:
  return err;
}

/** Rows after those of the span before, from one row to the other as in a run. Numbers may
 *  overflow, as the rows are not those of the problem. */
static tsl_err try_span(tsl_worker *w, int turn, const tsl_unit *units, int64_t n,
                        tsl_part *parts) {
  tsl_err err = TSL_OK;
  const dp_span span = {.lo = units[0].lo[0],
                        .hi = units[0].hi[0],
                        .from = units[0].lo[1],
                        .to = units[n - 1].hi[1],
                        .top = w->rows.row[1 - turn],
                        .bottom = w->rows.row[turn]};
  const bool keep = w->c.p->mode == DP_RECOVER && !dp_span_made_again(w, &span);
  const double start = tsl_cpu_seconds();
  dp_choices *choices = NULL;
  if (keep) TSL_TRY(keep_trial(w, &span, &choices));
  err = dp_span_compute(w, &span, choices, NULL, NULL);
  if (err == TSL_ERR_NUMERIC) err = TSL_OK;
  dp_cpu_spread(w, start, units, n, parts);
done:
  return err;
}

tsl_err dp_rows_trial(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  int turn = 0;
  for (int k = 0; k < 2; k++) memset(w->rows.row[k], 0, (size_t)(dp_width(w->c.p) * w->c.bytes));
  for (int64_t k = 0, end; k < n; k = end, turn = 1 - turn) {
    end = dp_units_end(units, n, k);
    TSL_TRY(try_span(w, turn, units + k, end - k, parts + k));
  }
done:
  return err;
}
