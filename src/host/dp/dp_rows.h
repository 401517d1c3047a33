/**
 * @file dp_rows.h
 * ROWS: sweeps. Neighbouring lanes are computed as one span, from the last row of the stage before
 * to their own; RECOVER keeps the decisions of a span, or, where these are too many, the row above.
 *
 * Rows and decisions are memory of the device. Values of a row are the field's, or int32 where
 * those of a knapsack are held so (narrow). Spans are queued; whoever calls waits once for all.
 */
#pragma once

#include "dp_steps.h"

TSL_C_BEGIN

enum { DP_ROW_PAD = 32 /**< places before column 0 of a row in memory */ };

/** Items [lo, hi) in columns [from, to). Rows are indexed by column of the table. */
typedef struct dp_sweep_span {
  int64_t lo, hi, from, to;
  int64_t lanes[2]; /**< [first, last + 1) */
  const void *top;  /**< the row above, with the halo on its left */
  void *bottom;     /**< gets columns [from, to) of the last row */
} dp_sweep_span;

/** Decisions of items [lo, hi) in columns [from, to). */
typedef struct dp_decisions {
  int64_t lo, hi, from, to;
  int64_t lanes[2]; /**< [first, last + 1) */
  dp_buffer made;   /**< knapsacks: bits [hi - lo][words]; others: i32 [hi - lo][to - from] */
  dp_buffer top;    /**< else [width] the row above: they are made again when they are needed */
} dp_decisions;

/** An engine of sweeps. Static storage. */
typedef struct dp_sweep_engine {
  /** REQUIRED for RECOVER. Bytes of so many items' decisions; each item's bits fill words of it. */
  int64_t (*decision_bytes)(const dp_params *p, int64_t items, int64_t columns);
  /** REQUIRED. Queue the rows of a span. @param[out] made  decisions of all of them, zeroed by the
   *  engine where it needs that; NULL: not wanted */
  tsl_err (*span)(void *worker, const dp_sweep_span *span, void *made);
  /** REQUIRED for TABLE. The same, all rows to the slabs of the span's units; before the first
   *  stage row 0 as well. */
  tsl_err (*table)(void *worker, const dp_sweep_span *span, const tsl_unit *units, int64_t n,
                   const tsl_part *parts);
  /** OPTIONAL, default by the host: go back through decisions as dp_rows_trace does; waits. */
  tsl_err (*trace)(void *worker, const dp_decisions *d, tsl_cursor *cursor, dp_steps *steps);
} dp_sweep_engine;

/** The sweep of a worker; zero-initialise, dp_rows_open, dp_rows_clear. */
typedef struct dp_rows {
  const dp_context *c;
  const dp_sweep_engine *engine;
  bool narrow;
  int64_t each;           /**< bytes of a value of a row */
  dp_buffer row[2];       /**< last rows of stages of even and odd number; dp_row_at */
  dp_buffer scratch[2];   /**< two more, for engines */
  dp_decisions *list;     /**< [n] stage after stage */
  int64_t n, room, bytes; /**< bytes that the list keeps */
  int goal;               /**< which row has the goal in its last column; -1: another worker's */
  int64_t (*spans)[2];    /**< [n_spans] columns of the stage computed last */
  int64_t n_spans, span_room;
  dp_buffer out; /**< pinned: columns out_from..out_to-1 of stage out_stage, for edges; unused where
                      the host has the device's memory */
  int64_t out_stage, out_from, out_to; /**< out_stage -1: none */
  double again;                        /**< cells computed again on the way back */
} dp_rows;

/** Reserve two rows and two scratch rows of the table's width. */
tsl_err dp_rows_open(dp_rows *rows, const dp_context *c, const dp_sweep_engine *engine,
                     bool narrow);
/** Free rows and decisions; accepts those that were not opened. */
void dp_rows_clear(dp_rows *rows);
/** Start a phase: no decision is kept, and the row above the first stage is set (row 0, the costs
 *  of stage 0, or C(0, k)); waits. */
tsl_err dp_rows_begin(dp_rows *rows);
/** Free all decisions. */
void dp_rows_forget(dp_rows *rows);
/** Queue: zeros in all rows, where nothing has come yet: what is computed of them is never used. */
tsl_err dp_rows_zero(dp_rows *rows);

/** Column 0 of a row. */
static inline char *dp_row_at(const dp_rows *rows, const dp_buffer *row) {
  return (char *)row->data + DP_ROW_PAD * rows->each;
}

/* ---- tiles */

/** A stage begins: what was copied to the host is old. */
void dp_rows_stage(dp_rows *rows);

/** The span of n units, neighbours of a stage (dp_units_end). */
dp_sweep_span dp_sweep_span_of(const dp_rows *rows, const tsl_unit *units, int64_t n);

/**
 * Queue the span of n units; the row above is there as far as they read it.
 * @param[in,out] parts  shape [n]; slabs of the table, filled when the device is done
 * @return TSL_ERR_MEMORY: the decisions are more than dp.memory; those of the engine
 */
tsl_err dp_rows_run(dp_rows *rows, const tsl_unit *units, int64_t n, tsl_part *parts);

/** STAGECOACH, units of the last stage: the cheapest state of each lane to their parts; waits.
 *  Nothing for others. */
tsl_err dp_rows_best(dp_rows *rows, const tsl_unit *units, int64_t n, tsl_part *parts);

/** Set goal->data [1], i64 or f64, where this worker computed the last column of the last row;
 *  waits. STAGECOACH: nothing, its goal comes from the field best. */
tsl_err dp_rows_goal(dp_rows *rows, tsl_field *goal);

/** Copy the tile's columns of its last row, shape [hi[1] - lo[1]] of the field's type, to bytes.
 *  The first tile of a span brings all of the span to the host, and waits. */
tsl_err dp_rows_edge_out(dp_rows *rows, const tsl_unit *unit, void *bytes);
/** Queue the copy of the last row of another worker's tile into the row of its stage; bytes may
 *  change afterwards. */
tsl_err dp_rows_edge_in(dp_rows *rows, const tsl_unit *unit, const void *bytes);

/* ---- decisions */

/** Are the decisions of a span too many to be kept, and is no halo needed to make them again? */
bool dp_decisions_later(const dp_rows *rows, const dp_sweep_span *span);
/** Append decisions of the span to the list, without memory. */
tsl_err dp_decisions_add(dp_rows *rows, const dp_sweep_span *span, dp_decisions **out);
/** Bytes, and memory, for the decisions of d's items and columns. */
int64_t dp_decisions_bytes(const dp_rows *rows, const dp_decisions *d);
tsl_err dp_decisions_reserve(const dp_rows *rows, dp_decisions *d);
void dp_decisions_clear(const dp_rows *rows, dp_decisions *d);

/**
 * Go back through the decisions of one span; those that were not kept are made again.
 * @param[in]     units   all tiles, shape [n]
 * @param[in,out] cursor  at[0], at[1]: row and column; moves on to the next span or to a column of
 *                        another worker; lane becomes -1 at row 0
 */
tsl_err dp_rows_trace(dp_rows *rows, const tsl_unit *units, int64_t n, tsl_cursor *cursor,
                      dp_steps *steps);

/** Checkpoints, as in contract.h; save and load wait. */
int64_t dp_rows_state_bytes(const dp_rows *rows, const tsl_unit *unit, int64_t stage);
tsl_err dp_rows_save(dp_rows *rows, const tsl_unit *unit, int64_t stage, void *bytes);
tsl_err dp_rows_load(dp_rows *rows, const tsl_unit *unit, int64_t stage, const uint8_t *own,
                     int64_t lanes, const void *bytes, int64_t n);

TSL_C_END
