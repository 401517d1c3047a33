/**
 * @file dp_backend.h
 * The backend of dp on a socket: what its files share.
 *
 *   dp_backend.c      the functions of the contract, by the engine of the problem
 *   dp_bands.c        WAVEFRONT: bands of neighbouring lanes, their edges and what is kept
 *   dp_bands_walk.c   their walk back; dp_bands_save.c their checkpoints
 *   dp_band_*.c       engines of a band: bits, alignments, warping; plain loops for whole tables
 *   dp_rows.c         ROWS: sweeps with halo; dp_rows_walk.c their walk back, dp_rows_save.c their
 *                     checkpoints, dp_rows_trial.c what tells their cost before
 *   dp_boxes.c        INTERVAL: boxes of the triangle
 *   dp_recur_*.c      recurrences of the deck, see dp_recur_cpu.h
 *
 * The engines compute what dp.h says, with the bits that any other device gets.
 */
#ifndef TSL_CPU_DP_BACKEND_H
#define TSL_CPU_DP_BACKEND_H

#include "cpu.h"
#include "dp_cpu.h"
#include "dp_saved.h"

/** Steps of a walk: a growing list from malloc. */
typedef struct dp_steps {
  int64_t (*at)[2];
  int64_t n, room;
} dp_steps;

/** Append a pair. @return TSL_ERR_MEMORY */
tsl_err dp_steps_add(dp_steps *steps, int64_t first, int64_t second);
/** Append (op, length), joined with the step before when that has the same op. */
tsl_err dp_steps_run(dp_steps *steps, int64_t op, int64_t length);

/* -------------------------------------------------------------------- wavefronts */

struct dp_band;

/** Where a tile's cells go in the mode TABLE: of row lo + r and column c to [(r) * ld + c]. */
typedef struct dp_window {
  void *cells; /**< NULL: nowhere */
  int64_t ld;
} dp_window;

/** An engine of bands. Rows and columns of tiles are letters, from 0. All functions REQUIRED,
 *  keep_bytes and trace for the mode RECOVER only. */
typedef struct dp_band_ops {
  tsl_err (*open)(const tsl_worker *w, int64_t lo, int64_t hi, void **engine);
  void (*close)(void **engine);
  /** Back to the boundary row above the table. */
  void (*begin)(void *engine);
  /** Rows [lo, hi), which continue those before; edges as in dp.h, left NULL: the boundary.
   *  keep: what trace needs, for these rows only. */
  tsl_err (*tile)(void *engine, int64_t lo, int64_t hi, const void *left, void *right, bool keep,
                  dp_window window);
  /** Bytes that keep needs for so many rows. */
  int64_t (*keep_bytes)(const void *engine, int64_t rows);
  /** State after the last row, dp_state_bytes of it: what begins a tile at that row. */
  void (*row_get)(const void *engine, void *row);
  tsl_err (*row_put)(void *engine, int64_t row, const void *state);
  /** Walk back through the rows kept, from cell (at[0], at[1]) of the table to their top or the
   *  band's left side or the end (lane -1). */
  tsl_err (*trace)(void *engine, tsl_cursor *cursor, dp_steps *steps);
  /** This band's part of the goal, after the last row. last: it ends with the last column. */
  double (*goal)(const void *engine, bool last);
  /** LOCAL: (score, row, column) of the best cell of the band in the table; score 0: none. */
  void (*best)(const void *engine, int64_t best[3]);
  /** OPTIONAL: take it over from a checkpoint. */
  void (*best_put)(void *engine, const int64_t best[3]);
} dp_band_ops;

/** The sides of a tile whose first cell is at (row, column), from 0. */
typedef struct dp_ridge {
  int64_t row, column, rows, columns;
  int32_t *above; /**< [2][columns] H and F' of the row above */
  int32_t *left;  /**< [rows + 1][2] H and E' of the column before, from the row above on */
} dp_ridge;

/** LOCAL: fill them with what an alignment along the diagonal would leave there. */
tsl_err dp_ridge_sides(const tsl_worker *w, const dp_ridge *ridge);

extern const dp_band_ops dp_band_bits, dp_band_align, dp_band_dtw, dp_band_plain;

/** Rows that were computed together: what their recovery needs. */
typedef struct dp_stage {
  int64_t lo, hi;
  void *top;  /**< state above them */
  void *left; /**< edge, NULL: the boundary */
} dp_stage;

/** Neighbouring lanes that are computed as one. */
typedef struct dp_band {
  int64_t lo, hi;   /**< columns, from 0 */
  int64_t lanes[2]; /**< [first, last + 1) */
  bool past;        /**< of a run before this one: what its stages have kept, no more */
  int64_t row;      /**< rows done */
  void *engine;
  void *right; /**< edge of the last tile, [right_bytes] */
  int64_t right_lo, right_bytes;
  dp_stage *stages;             /**< [n_stages], RECOVER */
  int64_t n_stages, room, kept; /**< kept: stage whose cells the engine has kept, -1 none */
  void *image;                  /**< state after row image_row, NULL: none; while it is saved */
  int64_t image_row;
} dp_band;

/** An edge of another rank. */
typedef struct dp_edge {
  int64_t column, row; /**< one past its column; first row */
  void *data;
  int64_t bytes;
} dp_edge;

typedef struct dp_bands {
  const dp_band_ops *ops;
  dp_band *list; /**< [n] in the order they appeared */
  int64_t n, room;
  dp_edge *edges; /**< [n_edges] */
  int64_t n_edges, edge_room;
  int64_t history;       /**< bytes kept in stages */
  dp_lane_states loaded; /**< from a checkpoint */
} dp_bands;

/** Start a phase: all bands, edges and loaded states are freed. Cannot fail. */
tsl_err dp_bands_begin(tsl_worker *w);

/**
 * Time tiles before begin. Each run of neighbouring lanes gets an engine of its own and computes
 * from the top of the table with zeros on its left; DP_LOCAL without TABLE starts from guessed
 * values (dp_ridge_sides), on which its time depends. The worker's bands stay as they are.
 * @param[in,out] parts  shape [n]; seconds are set, slabs of the table are overwritten
 */
tsl_err dp_bands_trial(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);

/**
 * Compute tiles of one stage. Neighbouring lanes run as one band, with mode TABLE each lane alone.
 * RECOVER keeps the state above each piece of rows and its left edge, and nothing of its cells.
 * @param[in]     units  shape [n], ascending lanes
 * @param[in,out] parts  shape [n]; seconds, and slabs of the table and of best
 * @return TSL_ERR_INTERNAL: a tile whose rows do not follow those of its band, or without its left
 *         edge; TSL_ERR_MEMORY: what RECOVER keeps is more than dp.memory
 */
tsl_err dp_bands_tiles(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);

/** Copy the edge at the right of a tile that ends its band, or that came in, to bytes
 *  [dp_edge_size]. @return TSL_ERR_INTERNAL: there is none of these rows any more */
tsl_err dp_bands_edge_out(tsl_worker *w, const tsl_unit *unit, void *bytes);

/** Keep a copy of the edge of another worker's tile; it replaces the one before at that column.
 *  @return TSL_ERR_MEMORY */
tsl_err dp_bands_edge_in(tsl_worker *w, const tsl_unit *unit, const void *bytes);

/**
 * Walk back through one stage of one band, whose cells are computed once more unless they are the
 * ones computed last.
 * @param[in]     units   all tiles, shape [n]
 * @param[in,out] cursor  at[0], at[1]: the cell; moves on, and lane becomes that of the new column
 *                        or -1
 * @return TSL_ERR_INTERNAL: this worker has no rows with that cell
 */
tsl_err dp_bands_walk(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_cursor *cursor,
                      dp_steps *steps);

/** Sum this worker's parts of the goal into goal->data [1], i64 or f64. DP_LOCAL: nothing, its
 *  goal comes from the field best. */
void dp_bands_goal(const tsl_worker *w, tsl_field *goal);

/** Free all bands, edges and loaded states; the choice of engine stays. */
void dp_bands_clear(tsl_worker *w);

/** Room for one more element of a list. */
tsl_err dp_bands_grow(void **list, int64_t n, int64_t *room, size_t size);

/** Checkpoints, as in contract.h. */
int64_t dp_bands_state_bytes(const tsl_worker *w, const tsl_unit *unit, int64_t stage);
tsl_err dp_bands_save(tsl_worker *w, const tsl_unit *unit, int64_t stage, void *bytes);
tsl_err dp_bands_load(tsl_worker *w, const tsl_unit *unit, int64_t stage, const uint8_t *own,
                      int64_t lanes, const void *bytes, int64_t n);
/** Set a band that begins at row > 0 to the state loaded for its lanes. */
tsl_err dp_bands_go_on(tsl_worker *w, dp_band *band, int64_t row);

/* ----------------------------------------------------------------------- sweeps */

/** Decisions of items [lo, hi) in columns [from, to). */
typedef struct dp_choices {
  int64_t lo, hi, from, to;
  int64_t lanes[2]; /**< [first, last + 1) */
  uint64_t *bits;   /**< knapsacks: [hi - lo][words], words of 64 columns */
  int32_t *k;       /**< others: [hi - lo][to - from] */
  void *top;        /**< [width] the row above; the decisions are made again when they are needed */
} dp_choices;

typedef struct dp_rows {
  void *row[2];           /**< [width] last rows of stages of even and odd number */
  void *scratch[2];       /**< [width] */
  dp_choices *list;       /**< [n] stage after stage */
  int64_t n, room, bytes; /**< bytes that the list keeps */
  int goal;               /**< which row has the goal in its last column; -1: another worker's */
} dp_rows;

/** Room for one more element of the list; then as keep_choices in dp_rows.c. */
tsl_err dp_rows_grow(dp_rows *rows);

/** Checkpoints, as in contract.h. */
int64_t dp_rows_state_bytes(const tsl_worker *w, const tsl_unit *unit, int64_t stage);
tsl_err dp_rows_save(tsl_worker *w, const tsl_unit *unit, int64_t stage, void *bytes);
tsl_err dp_rows_load(tsl_worker *w, const tsl_unit *unit, int64_t stage, const uint8_t *own,
                     int64_t lanes, const void *bytes, int64_t n);

/** Allocate two rows and two scratch rows of the table's width. Free with dp_rows_clear.
 *  @return TSL_ERR_MEMORY */
tsl_err dp_rows_open(tsl_worker *w);

/** Start a phase: kept decisions are freed, and the row above the first stage is set (row 0, the
 *  costs of stage 0, or C(0, k)). Cannot fail. */
tsl_err dp_rows_begin(tsl_worker *w);

/**
 * Time tiles before begin, from rows of zeros. RECOVER keeps the decisions of trials until
 * dp.memory is full, as a run would. Overflow of numbers is ignored.
 * @param[in,out] parts  shape [n]; seconds are set
 */
tsl_err dp_rows_trial(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);

/**
 * Compute tiles of one stage. Neighbouring lanes run as one span, with a halo of columns to the
 * left where later items of the stage read it.
 * @param[in]     units  shape [n], ascending lanes; the row above is there as far as they read it
 * @param[in,out] parts  shape [n]; seconds, and slabs of the table and of best
 * @return TSL_ERR_MEMORY: the decisions are more than dp.memory; TSL_ERR_NUMERIC: a binomial
 *         coefficient without modulus exceeds 63 bits
 */
tsl_err dp_rows_tiles(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);

/** Copy the tile's columns of its last row, shape [hi[1] - lo[1]], to bytes. Cannot fail. */
tsl_err dp_rows_edge_out(tsl_worker *w, const tsl_unit *unit, void *bytes);

/** Copy the last row of another worker's tile into the row of its stage. Cannot fail. */
tsl_err dp_rows_edge_in(tsl_worker *w, const tsl_unit *unit, const void *bytes);

/**
 * Walk back through the decisions of one span; those that were not kept are made again.
 * @param[in]     units   all tiles, shape [n]
 * @param[in,out] cursor  at[0], at[1]: row and column; moves on to the next span or to a column of
 *                        another worker; lane becomes -1 at row 0
 */
tsl_err dp_rows_walk(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_cursor *cursor,
                     dp_steps *steps);

/** Set goal->data [1], i64 or f64, where this worker computed the last column of the last row.
 *  STAGECOACH: nothing, its goal comes from the field best. */
void dp_rows_goal(const tsl_worker *w, tsl_field *goal);

/** Free rows and decisions. */
void dp_rows_clear(tsl_worker *w);

/* -------------------------------------------------------------------- intervals */

typedef struct dp_boxes {
  dp_cpu_interval *triangle;
  bool whole; /**< this worker computed the last box */
} dp_boxes;

/** Open the triangle (dp_cpu_interval_open) with the problem's numbers, weights or letters. Free
 *  with dp_boxes_clear. @return TSL_ERR_MEMORY */
tsl_err dp_boxes_open(tsl_worker *w);

/**
 * Compute boxes of one stage together; what they need is computed or has come in.
 * @param[in,out] parts  shape [n]; seconds, and slabs of the table
 */
tsl_err dp_boxes_tiles(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);

/** Copy a box, row-major [hi[0] - lo[0]][hi[1] - lo[1]], out of the triangle. Cannot fail. */
tsl_err dp_boxes_edge_out(tsl_worker *w, const tsl_unit *unit, void *bytes);
/** Copy a box of another worker into the triangle. Cannot fail. */
tsl_err dp_boxes_edge_in(tsl_worker *w, const tsl_unit *unit, const void *bytes);

/** Checkpoints: a tile is saved as its edge. */
int64_t dp_boxes_state_bytes(const tsl_worker *w, const tsl_unit *unit);
/** @return TSL_ERR_INPUT when n is not the size of the tile's edge */
tsl_err dp_boxes_load(tsl_worker *w, const tsl_unit *unit, const void *bytes, int64_t n);

/** Set goal->data [1], i64 or f64, where this worker computed the last box.
 *  @return TSL_ERR_MEMORY */
tsl_err dp_boxes_goal(const tsl_worker *w, tsl_field *goal);

/** Free the triangle; also when it is not open. */
void dp_boxes_clear(tsl_worker *w);

/* ---------------------------------------------------------------------- the worker */

struct tsl_worker {
  const tsl_problem *problem; /**< not owned */
  const dp_params *p;
  dp_cpu cpu;
  double slow;     /**< TSL_TEST_SLOW */
  int table, best; /**< fields, -1 none */
  int64_t bytes;   /**< of a value */
  dp_bands bands;
  dp_rows rows;
  dp_boxes boxes;
  struct dp_recur_cpu *recur; /**< RECURRENCE, else NULL */
};

/** Letters or numbers of field DP_A, DP_B, DP_C. */
static inline const void *dp_input(const tsl_worker *w, int field) {
  return w->problem->fields[field].data;
}

/** First unit of units after k that does not continue the lanes from k on; at most n. */
int64_t dp_run_end(const tsl_unit *units, int64_t n, int64_t k);

/** Spread the seconds since start over units by their items. */
void dp_spread_seconds(const tsl_worker *w, double start, const tsl_unit *units, int64_t n,
                       tsl_part *parts);

#endif
