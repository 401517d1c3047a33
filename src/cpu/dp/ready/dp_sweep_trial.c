/** @file dp_sweep_trial.c  Trials of row sweeps, which tell their cost before they run. */
#include "dp_backend.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

void dp_cpu_rows_trial_end(tsl_worker *w) {
  if (w->dp.rows.n == 0) return;
  dp_rows_forget(&w->dp.rows);
#ifdef __GLIBC__
  (void)malloc_trim(0);
#endif
}

/** Decisions of a trial. They are kept as those of a run are, so that the next trial's lie in pages
 *  that are in no cache either; all that memory allows are forgotten together. */
static tsl_err keep_trial(tsl_worker *w, const dp_sweep_span *span, void **made) {
  tsl_err err = TSL_OK;
  dp_rows *rows = &w->dp.rows;
  dp_decisions *d = NULL;
  const int64_t bytes = dp_choice_bytes(w->dp.c.p, span->hi - span->lo, span->to - span->from);
  if (rows->bytes + bytes > w->dp.c.p->budget) dp_cpu_rows_trial_end(w);
  TSL_TRY(dp_decisions_add(rows, span, &d));
  TSL_TRY(dp_decisions_reserve(rows, d));
  rows->bytes += bytes;
  *made = d->made.data;
done:
  return err;
}

/** Rows after those of the span before, from one row to the other as in a run. Numbers may
 *  overflow, as the rows are not those of the problem. */
static tsl_err try_span(tsl_worker *w, int turn, const tsl_unit *units, int64_t n,
                        tsl_part *parts) {
  tsl_err err = TSL_OK;
  dp_sweep_span span = dp_sweep_span_of(&w->dp.rows, units, n);
  const double start = tsl_cpu_seconds();
  void *made = NULL;
  span.top = dp_row_at(&w->dp.rows, &w->dp.rows.row[1 - turn]);
  span.bottom = dp_row_at(&w->dp.rows, &w->dp.rows.row[turn]);
  if (w->dp.c.p->mode == DP_RECOVER && !dp_decisions_later(&w->dp.rows, &span))
    TSL_TRY(keep_trial(w, &span, &made));
  err = w->dp.rows.engine->span(w, &span, made);
  if (err == TSL_ERR_NUMERIC) err = TSL_OK;
  dp_cpu_spread(w, start, units, n, parts);
done:
  return err;
}

tsl_err dp_cpu_rows_trial(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  int turn = 0;
  TSL_TRY(dp_rows_zero(&w->dp.rows));
  for (int64_t k = 0, end; k < n; k = end, turn = 1 - turn) {
    end = dp_units_end(units, n, k);
    TSL_TRY(try_span(w, turn, units + k, end - k, parts + k));
  }
done:
  return err;
}
