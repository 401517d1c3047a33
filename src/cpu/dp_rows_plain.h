/**
 * @file dp_rows_plain.h
 * Rows of allotments and stagecoaches by plain loops, with the choices that were made: what the
 * mode RECOVER keeps.
 */
#ifndef TSL_CPU_DP_ROWS_PLAIN_H
#define TSL_CPU_DP_ROWS_PLAIN_H

#include "dp_backend.h"

/** A row to compute: columns [from, to). Rows are indexed by column of the table. */
typedef struct dp_row_job {
  int64_t from, to, m;
  const void *numbers; /**< ALLOTMENT: [to] returns; STAGECOACH: [m][m] costs */
  const void *x;       /**< row above */
  void *y;             /**< row computed */
  int32_t *k;          /**< [to - from] the choice of each column: the smallest that attains it */
} dp_row_job;

void dp_row_choose(dp_problem problem, tsl_type type, const dp_row_job *job);

#endif
