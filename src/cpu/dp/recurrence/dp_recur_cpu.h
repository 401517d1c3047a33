/**
 * @file dp_recur_cpu.h
 * `problem: recurrence` on a socket: compiled code or the interpreter, by tiles.
 *
 *   dp_recur_cpu.c         the worker; compiling for the job's sockets
 *   dp_recur_interpret.c   cells by the interpreter; what went wrong where compiled code fails
 *   dp_recur_cells.c       what is done to cells that are there: best, wanted, the user's table
 *   dp_recur_wave.c        WAVEFRONT: strips in step, from edges alone
 *   dp_recur_rows.c        ROWS: the last rows in a ring, or the whole table
 *   dp_recur_boxes.c       INTERVAL: the whole table, box by box
 *   dp_recur_save.c        checkpoints of all of them
 *
 * Units, edges and fields are those of dp_recur_problem.h. Compiled code that reports a failure is
 * followed by the interpreter on the same cells, which names the cell; no value is kept then.
 */
#pragma once

#include "dp_backend.h"
#include "dp_recur_saved.h"
#include "lang_compile.h"

/** Cells [p0, p1) x [q0, q1) in memory: (p, q) at values[(p - p0) * stride + q - q0]. */
typedef struct dp_area {
  int64_t p0, p1, q0, q1;
  char *values;
  int64_t stride;
} dp_area;

/** The first error of several threads. */
typedef struct dp_fault {
  bool failed;
  tsl_err_copy copy;
} dp_fault;

/** The right column of a tile. */
typedef struct dp_side {
  int64_t column, row; /**< one past its column; first row of the tile */
  char *values;        /**< [n] entries as in the edge */
  int64_t n;
} dp_side;

typedef struct dp_recur_cpu {
  dp_recur *recur;
  lang_object *object; /**< NULL: interpreted */
  dp_row_fn *row;
  dp_wave_fn *wave;
  dp_edge_fn *edge;
  dp_tile_fn *tile;
  dp_pattern pattern;
  int64_t bytes;      /**< of a cell */
  int64_t step;       /**< of a value of it */
  bool trial;         /**< calibration: missing edges are zero, failures are ignored */
  int64_t *wanted;    /**< [n_wanted] */
  dp_recur_best best; /**< of the cells computed so far */
  dp_recur_front front;
  dp_area choice; /**< cells that the goal may choose; values NULL */
  char *top;      /**< WAVEFRONT: [Q] last row computed */
  dp_side *sides; /**< WAVEFRONT: [n_sides] */
  int64_t n_sides, side_room;
  int kept;    /**< the field, -1: none */
  char *table; /**< ROWS: [depth + 1][Q], row p at p % (depth + 1); depth 0 and INTERVAL: [P][Q] */
} dp_recur_cpu;

/* ---- the functions of the contract (contract.h says the rest) */

/**
 * Compile the recurrence once for each SIMD level of the job's sockets and put the objects into
 * the field code_cpu. Interpreted problems: nothing.
 * @param[in] devices  shape [n], sockets of all ranks
 * @return errors of lang_object_open, lang_objects_put
 */
tsl_err dp_recur_cpu_prepare(tsl_problem *problem, const tsl_device *devices, int n);

/** Make w->recur: the parsed recurrence, the object for the device's SIMD level, rows or table.
 *  Free with dp_recur_cpu_close, also when it fails. */
tsl_err dp_recur_cpu_open(tsl_worker *w, const tsl_device *device);

/** Start a phase: wanted cells are zero, no cell is the best, sides are freed. Cannot fail. */
tsl_err dp_recur_cpu_begin(tsl_worker *w);

/**
 * Time tiles before begin. Missing edges are zero and failures of cells are ignored. A sweep that
 * other ranks share copies its edges out and in after each stage, as in a run.
 * @param[in,out] parts  shape [n]; seconds are set, slabs are overwritten
 */
tsl_err dp_recur_cpu_trial(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);

/**
 * Compute tiles of one stage by the problem's engine.
 * @param[in,out] parts  shape [n]; seconds, and slabs of the table and of best
 * @return the first error of a cell, which the message names
 */
tsl_err dp_recur_cpu_tiles(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);

/** Copy the edge of a finished tile to bytes (dp_recur_problem.h). Only WAVEFRONT can fail. */
tsl_err dp_recur_cpu_edge_out(tsl_worker *w, const tsl_unit *unit, void *bytes);
/** Take in the edge of another worker's tile. Only WAVEFRONT can fail. */
tsl_err dp_recur_cpu_edge_in(tsl_worker *w, const tsl_unit *unit, const void *bytes);

/** Checkpoints: bytes of a tile (dp_recur_saved.h), the copy out, and the copy in.
 *  @return of load, TSL_ERR_INPUT when the n bytes are not of this tile */
int64_t dp_recur_cpu_state_bytes(const tsl_worker *w, const tsl_unit *unit, int64_t stage);
tsl_err dp_recur_cpu_save(tsl_worker *w, const tsl_unit *unit, int64_t stage, void *bytes);
tsl_err dp_recur_cpu_load(tsl_worker *w, const tsl_unit *unit, int64_t stage, const uint8_t *own,
                          const void *bytes, int64_t n);

/** Copy the rows that are kept of a finished tile to its slab, where there is one. */
void dp_recur_cpu_keep(const tsl_worker *w, const tsl_unit *unit, tsl_part *part);

/** Copy the wanted cells that this worker computed to the field wanted, where there is one. */
void dp_recur_cpu_collect(const tsl_worker *w, tsl_problem *problem);

/** Free w->recur and set it NULL; NULL accepted. */
void dp_recur_cpu_close(tsl_worker *w);

/* ---- engines: tiles of one stage that are neighbours, [n]; edges as in dp_recur_problem.h */

/** Compute the tiles as one, in strips of columns that threads take in step.
 *  @return TSL_ERR_INTERNAL without the left edge; TSL_ERR_MEMORY; the first error of a cell */
tsl_err dp_recur_wave_run(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);
/** Copy the right side of a tile to bytes. @return TSL_ERR_INTERNAL: it has left none */
tsl_err dp_recur_wave_edge_out(const dp_recur_cpu *r, const tsl_unit *unit, void *bytes);
/** Keep a copy of the right side of another worker's tile. @return TSL_ERR_MEMORY */
tsl_err dp_recur_wave_edge_in(dp_recur_cpu *r, const tsl_unit *unit, const void *bytes);
/** Free all sides, those of this worker's tiles and those that came in. */
void dp_recur_wave_clear(dp_recur_cpu *r);

/** Compute the tiles row after row; the columns of a row are shared out to threads.
 *  @return the first error of a cell */
tsl_err dp_recur_rows_run(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);
/** Copy the last rows of a tile, [min(depth, rows)][columns], out of the ring or into it. */
void dp_recur_rows_edge_out(const dp_recur_cpu *r, const tsl_unit *unit, void *bytes);
void dp_recur_rows_edge_in(dp_recur_cpu *r, const tsl_unit *unit, const void *bytes);

/** Compute all tiles of a stage together; they need not be neighbours.
 *  @return the first error of a cell */
tsl_err dp_recur_boxes_run(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);
/** Copy a whole tile, row-major, out of the table or into it. */
void dp_recur_boxes_edge_out(const dp_recur_cpu *r, const tsl_unit *unit, void *bytes);
void dp_recur_boxes_edge_in(dp_recur_cpu *r, const tsl_unit *unit, const void *bytes);

/* ---- the interpreter */

/** Where cells are read and written: rows of pointers, or cells. */
typedef struct dp_view {
  dp_area cells;
  void *const *rows; /**< not NULL: rows[d] is cell (p - d, 0), d = 0..depth */
  int64_t p, depth;
} dp_view;

/**
 * Compute cells [p0, p1) x [q0, q1) into the view, those they read being in it.
 * @return the interpreter's error, which names the cell; none in a trial
 */
tsl_err dp_recur_interpret(const dp_recur_cpu *r, const dp_view *view, int64_t p0, int64_t p1,
                           int64_t q0, int64_t q1);

/** Compiled code has failed on these cells: say where and why. Never TSL_OK, but in a trial. */
tsl_err dp_recur_explain(const dp_recur_cpu *r, const dp_view *view, int64_t p0, int64_t p1,
                         int64_t q0, int64_t q1);

/* ---- cells that are there */

/** Must the cells of a box be seen, the user's table aside?
 *  @param[in] chosen  the best of them will be known without */
bool dp_recur_is_watched(const dp_recur_cpu *r, int64_t p0, int64_t p1, int64_t q0, int64_t q1,
                         bool chosen);

/** Take what the goal needs out of cells. Any thread.
 *  @param[in] chosen  the best of them is known already */
void dp_recur_watch(dp_recur_cpu *r, const dp_area *cells, bool chosen);

/** A better cell, from any thread. */
void dp_recur_offer(dp_recur_cpu *r, const dp_recur_best *best);

/** Copy cells to the slabs of the units that have them. Any thread. */
void dp_recur_store(const tsl_worker *w, const dp_area *cells, const tsl_unit *units, int64_t n,
                    tsl_part *parts);

/* ---- threads */

/** Keep an error of this thread; TSL_OK is nothing. */
void dp_fault_keep(dp_fault *fault, tsl_err err);
bool dp_fault_is(const dp_fault *fault);
/** The kept error as this thread's, or TSL_OK. */
tsl_err dp_fault_settle(const dp_fault *fault);
