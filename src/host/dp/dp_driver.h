/**
 * @file dp_driver.h
 * The ready problems of a worker: what the contract asks for, by the engine of the problem.
 */
#pragma once

#include "dp_bands.h"
#include "dp_boxes.h"
#include "dp_rows.h"

TSL_C_BEGIN

/** One of bands, rows and boxes is opened by the backend; zero-initialise, dp_driver_clear. */
typedef struct dp_driver {
  dp_context c;
  dp_bands bands;
  dp_rows rows;
  dp_boxes boxes;
} dp_driver;

/** Free all. */
void dp_driver_clear(dp_driver *d);

/** As in contract.h; what they wait for is said at those of bands, rows and boxes. */
tsl_err dp_driver_begin(dp_driver *d);
tsl_err dp_driver_edge_out(dp_driver *d, const tsl_unit *unit, void *bytes);
tsl_err dp_driver_edge_in(dp_driver *d, const tsl_unit *unit, const void *bytes);
tsl_err dp_driver_walk(dp_driver *d, const tsl_unit *units, int64_t n, tsl_cursor *cursor,
                       tsl_list *list);
/** The cells that the way back has computed again; empty: none. */
void dp_driver_notes(const dp_driver *d, char text[TSL_NOTES]);
/** Set goal->data [1], i64 or f64, to this worker's part. */
tsl_err dp_driver_goal(dp_driver *d, tsl_field *goal);
int64_t dp_driver_state_bytes(const dp_driver *d, const tsl_unit *unit, int64_t stage);
tsl_err dp_driver_save(dp_driver *d, const tsl_unit *unit, int64_t stage, void *bytes);
tsl_err dp_driver_load(dp_driver *d, const tsl_unit *unit, int64_t stage, const uint8_t *own,
                       int64_t lanes, const void *bytes, int64_t n);

TSL_C_END
