/**
 * @file dp_emit.h
 * A recurrence as C for the host compiler and as CUDA for NVRTC, and how that code is called.
 *
 * Everything here is in folded coordinates (dp_pattern.h): rows p = 0..P-1, columns q = 0..Q-1, a
 * cell reads p' < p (row orders), or p' <= p and q' <= q. Storage is row-major in (p, q), so that
 * it follows the fill order.
 *
 * Three engines:
 *   ROWS       cells of a row one after another in memory; reads whole rows above (and, when
 *              same_row, cells before it in its own row). tsl_dp_row
 *   WAVEFRONT  reads (p-1, q), (p, q-1), (p-1, q-1) only; a tile from its edges, no table needed.
 *              tsl_dp_wave
 *   INTERVAL   reads any earlier cell; the whole table in memory, tile by tile. tsl_dp_tile
 *
 * The cell's function is generated, the loops around it are fixed text. Compiled code gives the
 * interpreter's values bit for bit (dp_eval.h), or a non-zero sum of dp_bad: then the values are
 * not to be used, and the interpreter on the same cells says what went wrong and where.
 *
 * Where there are several tables a cell is the values of all of them, one after another in memory:
 * in storage, rows and edges `table's type` then stands for so many values of it. The cell's
 * functions get what is already known of the cell itself (`own`).
 *
 * With inner indices a cell is the values of all layers (lang_values); its functions write one
 * layer into it, and read it and other cells through pointers. Loops over the layers go by runs, in
 * which the last index alone differs. They are inside that over cells where cells are in memory, so
 * that there are vectors of the last index. A wavefront's strip has them outside: vectors of cells,
 * whatever a value reads of its own cell. On cards cells are in memory with every engine, and a
 * thread has dp_code_chunk layers of a cell: tsl_dp_step.
 *
 * What can be proved is not checked at run time: that indices are inside, that a read follows the
 * order, that a sum fits. 32-bit arithmetic is used where every value fits.
 */
#pragma once

#include "dp_depend.h"
#include "dp_order.h"

TSL_C_BEGIN

/** Why a cell failed; or'ed together. */
enum dp_bad {
  DP_BAD_OVERFLOW = 1, /**< an integer does not fit */
  DP_BAD_DIVISION = 2, /**< division or remainder by zero */
  DP_BAD_TABLE = 4,    /**< a read outside the table, or of a cell that comes later */
  DP_BAD_DATA = 8,     /**< an index outside a data array */
  DP_BAD_RANGE = 16,   /**< an empty range without `else`, or one too long */
  DP_BAD_REAL = 32,    /**< an operation on reals without a result (dp_real.h) */
  DP_BAD_RULE = 64     /**< tsl_dp_edge: no boundary rule gives the cell */
};

/* The structs below are compiled here and are part of the emitted text. */

/** What all functions get: the table's extents (rows of i, columns of j) and, by number, the arrays
 *  and constants of lang_names. Arrays are never NULL; in CUDA they are device memory. */
#define DP_ARGS_STRUCT     \
  struct dp_args {         \
    long long rows, cols;  \
    const void *data[8];   \
    long long shape[8][2]; \
    long long whole[32];   \
    double real[32];       \
  }
typedef DP_ARGS_STRUCT dp_args;
#ifndef __cplusplus
_Static_assert(LANG_ARRAYS_MAX == 8 && LANG_SCALARS_MAX == 32, "DP_ARGS_STRUCT");
#endif

/**
 * A tile of the wavefront: rows p0..p1, columns q0..q1 (half-open, p0 >= margin_p, q0 >= margin_q).
 * Edges hold values of the table's type:
 *   top   [q1 - q0]      in: row p0 - 1; out: row p1 - 1
 *   left  [1 + p1 - p0]  in: column q0 - 1, rows p0 - 1 .. p1 - 1; out: column q1 - 1, same rows
 *   table                NULL, or where cell (p0, q0) goes, rows stride elements apart
 *   lines                with a depth: memory for dp_code_strip_bytes, else NULL
 *   best                 goals over all cells: the best value (of the goal's table) of the tile is
 * compared with *best and replaces it when it is better, or equal with smaller (i, j, layer);
 * best_p, best_q its place, -1: none yet, best_layer its layer
 */
#define DP_WAVE_STRUCT        \
  struct dp_wave {            \
    long long p0, p1, q0, q1; \
    void *top, *left, *table; \
    long long stride;         \
    void *best;               \
    long long best_p, best_q; \
    long long best_layer;     \
    void *lines;              \
  }
typedef DP_WAVE_STRUCT dp_wave;

/**
 * One row: cells q0..q1 of row p.
 * @param[in] rows    [depth + 1] rows[d]: cell (p - d, 0), rows[0] is written; those of rows below
 * 0 are not used. depth 0: rows[0] alone, the other rows stride elements apart
 * @return sum of dp_bad
 */
typedef int dp_row_fn(const dp_args *args, void *const *rows, long long stride, long long p,
                      long long q0, long long q1);
typedef int dp_wave_fn(const dp_args *args, dp_wave *wave);

/** Cells [p0, p1) x [q0, q1), all they read being there; table: cell (0, 0), rows stride apart. */
typedef int dp_tile_fn(const dp_args *args, void *table, long long stride, long long p0,
                       long long p1, long long q0, long long q1);

/** WAVEFRONT: boundary cells [p0, p1) x [q0, q1), all with p < margin_p or q < margin_q, to
 *  out [p1 - p0][q1 - q0]. */
typedef int dp_edge_fn(const dp_args *args, long long p0, long long p1, long long q0, long long q1,
                       void *out);

/* CUDA: kernels with these arguments after dp_args, all passed by value; bad is or'ed to. */

/** tsl_dp_row, not with same_row: a thread for each cell of q0..q1; blocks of at most 256. */
#define DP_ROW_LAUNCH_STRUCT     \
  struct dp_row_launch {         \
    void *rows[9];               \
    long long stride, p, q0, q1; \
    int *bad;                    \
  }
typedef DP_ROW_LAUNCH_STRUCT dp_row_launch;

/** tsl_dp_edge (WAVEFRONT): a thread for each cell; blocks of at most 256. tsl_dp_wave, with lanes
 * of 8 columns, and tsl_dp_wave_few, of 4, take dp_engine_args (dp_engine.cuh) with data a dp_args.
 */
#define DP_EDGE_LAUNCH_STRUCT \
  struct dp_edge_launch {     \
    long long p0, p1, q0, q1; \
    void *out;                \
    int *bad;                 \
  }
typedef DP_EDGE_LAUNCH_STRUCT dp_edge_launch;

/** tsl_dp_tile (INTERVAL, and ROWS with same_row): block b computes the side x side tile first + b
 *  down and diagonal - first - b across in cells p0..p1, q0..q1; tiles of a diagonal are
 * independent, diagonals follow each other. Blocks of at most 128. */
#define DP_TILE_LAUNCH_STRUCT         \
  struct dp_tile_launch {             \
    void *table;                      \
    long long stride, p0, p1, q0, q1; \
    long long side, diagonal, first;  \
    int *bad;                         \
  }
typedef DP_TILE_LAUNCH_STRUCT dp_tile_launch;

/** With a depth, tsl_dp_step and of a wavefront tsl_dp_edge are all kernels. tsl_dp_step: one step
 *  of cells p0..p1, q0..q1 (WAVEFRONT: beyond the margins), of which table has all that they read.
 *  table: cell (0, 0), rows stride apart; of a wavefront all is skewed: value n of cell (p, q) is
 *  value ((r + c) * values + n) * stride + r of it, r = p - p0 + 1 < stride, c = q - q0 + 1.
 *  A thread computes chunk c of a cell, which in step s is
 *    same_row      row p0 + l, column q0 + s - l - turn * c
 *    else          row p0 + s - turn * c, column q0 + l
 *  where turn is 1 with in_turn, else 0: all that it reads was computed in the steps before.
 *  Thread n has c = n % dp_code_chunks, l = first + n / dp_code_chunks, of a wavefront l = first +
 *  n % lines, c = n / lines; those whose row or column is outside do nothing. Blocks of at most
 *  128. */
#define DP_STEP_LAUNCH_STRUCT         \
  struct dp_step_launch {             \
    void *table;                      \
    long long stride, p0, p1, q0, q1; \
    int *bad;                         \
    long long step, first, lines;     \
  }
typedef DP_STEP_LAUNCH_STRUCT dp_step_launch;

/** How a recurrence is computed; plain data. */
typedef struct dp_code {
  dp_fold fold;
  int64_t P, Q;   /**< folded extents */
  int32_t engine; /**< dp_engine */
  int32_t type;   /**< tsl_type of the tables */
  int32_t tables; /**< how many */
  int32_t layers; /**< of a cell; 0: no inner indices */
  int32_t values; /**< of a cell (lang_values) */
  int32_t margin_p,
      margin_q; /**< cells before them may be boundary, later ones are not; -1: anywhere */
  int32_t margin_inner[LANG_INNER_MAX]; /**< the same of inner indices: where all are later none is
                         boundary in a cell beyond the others */
  int32_t lanes;                        /**< WAVEFRONT: rows of a strip in C */
  int32_t depth;       /**< ROWS: how many rows above are read; 0: any, the whole table is needed */
  int32_t same_row;    /**< 1: cells of a row depend on each other, from left to right */
  int32_t in_turn;     /**< 1: some value reads layers below its own of its cell, or may do so */
  int32_t ascends;     /**< 1: no value reads a layer above its own, of any cell */
  int64_t layers_down; /**< ascends: layers one below the other in a chain of reads, at most */
  int64_t reach[2];    /**< ROWS: columns to the left, to the right of its own that a cell reads at
                         most in rows above, proved from offsets; 0..Q */
  int32_t best;        /**< WAVEFRONT: 1: the goal is over all cells */
  int32_t narrow;      /**< 1: integers in 32 bits; set by dp_emit */
  int32_t checks;      /**< 1: some cell can fail at run time; set by dp_emit */
} dp_code;

enum { DP_DEPTH_ROWS = 8 /* largest depth; deeper reads need the whole table */ };

/** Bytes of a cell. */
static inline int64_t dp_code_bytes(const dp_code *code) {
  return (int64_t)tsl_type_bytes((tsl_type)code->type) * code->values;
}

enum { DP_PLANE_PAD = 16 /* a plane of a strip has so many values more than lanes */ };

/** WAVEFRONT with a depth: bytes of a strip's lines and of the cells that go along its edge, and of
 *  the best of each lane, its step and its layer. */
static inline int64_t dp_code_strip_bytes(const dp_code *code) {
  const int64_t best = code->best != 0 ? (int64_t)tsl_type_bytes((tsl_type)code->type) + 8 : 0;
  return (3 * (code->lanes + DP_PLANE_PAD) + 3) * dp_code_bytes(code) + code->lanes * best;
}

enum { DP_CHUNK = 16 /* layers of a cell that a card's thread computes where they are in turn */ };

/** With a depth: layers of a cell that a card's thread computes, from below. Where chunks of a cell
 *  are computed in turn, chunk c may stand beside chunk c + 1 of the cells before, where no layer
 *  above is read; else a thread has the whole cell. */
static inline int64_t dp_code_chunk(const dp_code *code) {
  if (code->in_turn == 0) return 1;
  return code->ascends != 0 && code->layers > DP_CHUNK ? DP_CHUNK : code->layers;
}

/** Chunks of a cell. */
static inline int64_t dp_code_chunks(const dp_code *code) {
  return (code->layers + dp_code_chunk(code) - 1) / dp_code_chunk(code);
}

/** Choose engine, margins, depth and the order of layers for a checked recurrence. */
tsl_err dp_code_plan(const dp_recurrence *recurrence, dp_pattern pattern, dp_code *out);

/** How many steps tsl_dp_step has for the cells of a launch. */
int64_t dp_code_steps(const dp_code *code, const dp_step_launch *cells);

/** Threads of step a->step, among which are all of its chunks; sets a->first and a->lines. */
int64_t dp_code_step_threads(const dp_code *code, dp_step_launch *a);

/** Folded (p, q) of cell (i, j), and back. */
void dp_code_fold(const dp_code *code, int64_t i, int64_t j, int64_t *p, int64_t *q);
void dp_code_unfold(const dp_code *code, int64_t p, int64_t q, int64_t *i, int64_t *j);

/** Arguments of the emitted functions; data as in the recurrence. */
void dp_code_args(const dp_recurrence *recurrence, dp_args *args);

typedef enum dp_target { DP_TARGET_C, DP_TARGET_CUDA } dp_target;

/**
 * The text of a recurrence.
 * @param[in,out] code  narrow and checks are set
 * @param[out] text     zero-ended, from tsl_alloc
 */
tsl_err dp_emit(const dp_recurrence *recurrence, dp_target target, dp_code *code, char **text);

TSL_C_END
