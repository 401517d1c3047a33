/** @file dp_driver.c  The ready problems of a worker, by the engine of the problem. */
#include "dp_driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dp_engine engine_of(const dp_driver *d) {
  return (dp_engine)d->c.p->engine;
}

void dp_driver_clear(dp_driver *d) {
  dp_bands_clear(&d->bands);
  dp_rows_clear(&d->rows);
  dp_boxes_clear(&d->boxes);
}

tsl_err dp_driver_begin(dp_driver *d) {
  d->c.begun = true;
  if (engine_of(d) == DP_ROWS) return dp_rows_begin(&d->rows);
  if (engine_of(d) == DP_INTERVAL) return dp_boxes_begin(&d->boxes);
  dp_bands_clear(&d->bands);
  return TSL_OK;
}

tsl_err dp_driver_edge_out(dp_driver *d, const tsl_unit *unit, void *bytes) {
  if (engine_of(d) == DP_WAVEFRONT) return dp_bands_edge_out(&d->bands, unit, bytes);
  if (engine_of(d) == DP_ROWS) return dp_rows_edge_out(&d->rows, unit, bytes);
  return dp_boxes_edge_out(&d->boxes, unit, bytes);
}

tsl_err dp_driver_edge_in(dp_driver *d, const tsl_unit *unit, const void *bytes) {
  if (engine_of(d) == DP_WAVEFRONT) return dp_bands_edge_in(&d->bands, unit, bytes);
  if (engine_of(d) == DP_ROWS) return dp_rows_edge_in(&d->rows, unit, bytes);
  return dp_boxes_edge_in(&d->boxes, unit, bytes);
}

tsl_err dp_driver_walk(dp_driver *d, const tsl_unit *units, int64_t n, tsl_cursor *cursor,
                       tsl_list *list) {
  tsl_err err = TSL_OK;
  dp_steps steps = {0};
  if (d->c.p->problem == DP_RECURRENCE)
    TSL_FAIL(TSL_ERR_INTERNAL, "dp: recurrences are recovered on the root");
  if (engine_of(d) == DP_WAVEFRONT)
    TSL_TRY(dp_bands_trace(&d->bands, units, n, cursor, &steps));
  else if (engine_of(d) == DP_ROWS)
    TSL_TRY(dp_rows_trace(&d->rows, units, n, cursor, &steps));
  else
    TSL_FAIL(TSL_ERR_INTERNAL, "dp: intervals are recovered on the root");
  *list = (tsl_list){.data = steps.at, .n = steps.n};
  steps.at = NULL;
done:
  free(steps.at);
  return err;
}

void dp_driver_notes(const dp_driver *d, char text[TSL_NOTES]) {
  const double again = d->bands.again + d->rows.again;
  text[0] = '\0';
  if (again > 0)
    (void)snprintf(text, TSL_NOTES, "computed %.6g cells again on the way back", again);
}

tsl_err dp_driver_goal(dp_driver *d, tsl_field *goal) {
  memset(goal->data, 0, 8);
  if (engine_of(d) == DP_WAVEFRONT) return dp_bands_goal(&d->bands, goal);
  if (engine_of(d) == DP_ROWS) return dp_rows_goal(&d->rows, goal);
  return dp_boxes_goal(&d->boxes, goal);
}

int64_t dp_driver_state_bytes(const dp_driver *d, const tsl_unit *unit, int64_t stage) {
  if (engine_of(d) == DP_WAVEFRONT) return dp_bands_state_bytes(&d->bands, unit, stage);
  if (engine_of(d) == DP_ROWS) return dp_rows_state_bytes(&d->rows, unit, stage);
  return dp_boxes_state_bytes(&d->boxes, unit);
}

tsl_err dp_driver_save(dp_driver *d, const tsl_unit *unit, int64_t stage, void *bytes) {
  if (engine_of(d) == DP_WAVEFRONT) return dp_bands_save(&d->bands, unit, stage, bytes);
  if (engine_of(d) == DP_ROWS) return dp_rows_save(&d->rows, unit, stage, bytes);
  return dp_boxes_edge_out(&d->boxes, unit, bytes);
}

tsl_err dp_driver_load(dp_driver *d, const tsl_unit *unit, int64_t stage, const uint8_t *own,
                       int64_t lanes, const void *bytes, int64_t n) {
  if (engine_of(d) == DP_WAVEFRONT)
    return dp_bands_load(&d->bands, unit, stage, own, lanes, bytes, n);
  if (engine_of(d) == DP_ROWS) return dp_rows_load(&d->rows, unit, stage, own, lanes, bytes, n);
  return dp_boxes_load(&d->boxes, unit, own[unit->lane] != 0, bytes, n);
}
