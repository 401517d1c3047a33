/** @file dp_rows_own.h  Shared by dp_rows.c, dp_rows_save.c, dp_rows_trial.c and dp_rows_walk.c. */
#ifndef TSL_CPU_DP_ROWS_OWN_H
#define TSL_CPU_DP_ROWS_OWN_H

#include "dp_backend.h"

/** Items [lo, hi) in columns [from, to). Rows are indexed by column of the table. */
typedef struct dp_span {
  int64_t lo, hi, from, to;
  int64_t lanes[2]; /**< [first, last + 1), RECOVER */
  const void *top;  /**< the row above, with the halo on its left */
  void *bottom;     /**< gets columns [from, to) of the last row */
} dp_span;

/** Called when a row is done; values are indexed by column of the table. */
typedef void (*dp_row_fn)(void *context, int64_t item, const void *values);

/** @param[out] choices  NULL, or allocated: the decisions of all rows */
tsl_err dp_span_compute(const tsl_worker *w, const dp_span *span, dp_choices *choices,
                        dp_row_fn done_row, void *context);

/** Are the decisions of a span too many to be kept, and is no halo needed to make them again? */
bool dp_span_made_again(const tsl_worker *w, const dp_span *span);

/** Free all decisions. */
void dp_rows_forget(dp_rows *rows);

/** Trials are over: what they left behind is given back to the system, for a run's decisions lie in
 *  pages that nobody had before. */
void dp_rows_trial_end(tsl_worker *w);

/** Memory for the decisions of c's rows and columns. */
tsl_err dp_choices_alloc(const tsl_worker *w, dp_choices *c);

/** Number k of an array of the problem's type; long double holds all of them. */
static inline long double dp_number(const dp_params *p, const void *data, int64_t k) {
  if (p->type == TSL_I32) return ((const int32_t *)data)[k];
  if (p->type == TSL_I64) return ((const int64_t *)data)[k];
  if (p->type == TSL_F32) return ((const float *)data)[k];
  return ((const double *)data)[k];
}

#endif
