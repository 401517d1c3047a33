/**
 * @file dp_recur_problem.h
 * `problem: recurrence` as a problem of the contract: its params, fields, tiles and edges.
 *
 * Params (dp.h): n = rows - 1, m = columns - 1 of the deck's table (-1: none); engine, type, depth,
 * reach and pattern (what the checker found or confirmed) as planned by dp_code_plan; interpret: no
 * compiled code; strip.
 *
 * Fields, found by name but for DP_A and DP_GOAL:
 *   DP_A      IN u8 [sizeof(dp_equation)]  the equation as bytes
 *   code_cpu, code_gpu   IN u8 []          compiled objects for the hosts and cards of the job, put
 *                                          there by tsl_backend.prepare (lang_objects.h); empty
 *                                          with interpret
 *   goal      OUT SUM i64 or f64 [1]       0 from workers; the root computes it from what follows
 *   places    IN u8 [sizeof(dp_places)]    lines and keys of the deck, for messages
 *   data0..   IN type of the array, [shape[0] * shape[1]]  elements of array k of the names
 *   wanted    OUT SUM i64 [n] hidden       goals that are expressions: values that it reads, in the
 *                                          order of dp_recur.wanted, reals as the bits of an f64;
 *                                          each worker adds those it computed
 *   best      OUT GATHER i64 [DP_MAX_LANES][4] hidden, goals over cells: (value, i, j, k) of the
 *                                          best cell, reals as the bits of an f64
 *                                          (dp_recur_better); i = -1: none. Given by the last tile
 *                                          of each lane: the best of at least the cells of its lane
 *   table     as in dp.h, [rows][columns] of the deck, of several values [rows][columns][values]
 *             (lang_values); cells that there are not: zero. RECOVER with strip: of no rows, given
 *             by tiles alone that are computed again (dp_recur_strips.h)
 *   kept      OUT GATHER type [.][Q][values] hidden, RECOVER with strip: rows that the strips below
 *             read (dp_recur_kept)
 *   path      RECOVER: (i, j, from): all cells that the goal rests on, to the boundary, depth first
 *             and each once: of a choice what was chosen, of other operators all references
 *             (dp_trace.c); from: number of the record whose cell rests on it first, -1 the goal;
 *             made by the root; of several tables also table, with a depth also k, l, ..: values
 *             of cells
 *
 * Tiles are boxes of folded rows and columns (dp_emit.h: p in 0..P-1, q in 0..Q-1), boundary cells
 * included. Predecessors, edges (cells: all their values) and lanes:
 *   WAVEFRONT  left neighbour; [R + 1] the last column, entry 0 is row p0 - 1 (any value when there
 *              is none); strips of columns
 *   ROWS       tiles of the stage before with columns that its cells can read (dp_code.reach);
 *              [min(depth, R)][columns] the last rows of the tile; strips of columns, a row each
 *              when there are several; depth 0 or same_row: a single lane
 *   INTERVAL   all tiles up and left of it; [R][columns] the tile; a lane for each tile; tiles
 *              without a cell are left out
 */
#pragma once

#include "dp.h"
#include "dp_emit.h"

TSL_C_BEGIN

enum { DP_REASON = 160 /* bytes of a message about a solution */ };

/** The recurrence of a problem as a worker uses it. */
typedef struct dp_recur {
  dp_recurrence *recurrence; /**< parsed from field DP_A; its data are the problem's fields */
  dp_code code;              /**< as planned; narrow and checks are those of the emitted text */
  int64_t strip;             /**< that of the params */
  dp_args args;              /**< for compiled code; data are host pointers */
  int64_t (*wanted)[3];      /**< [n_wanted] (i, j, value) that the goal reads, ascending (p, q) */
  int64_t n_wanted;
} dp_recur;

enum { DP_WANTED_MAX = 1 << 22 };

/** Parse and plan, the same on every rank. Any rank; the problem must outlive it. Free with
 *  dp_recur_close. @return TSL_ERR_INPUT: the goal reads a cell outside the table, or too many */
tsl_err dp_recur_open(const tsl_problem *problem, dp_recur **out);
/** NULL accepted, sets NULL. */
void dp_recur_close(dp_recur **recur);

/** How params alone tell rows, columns and their folding; engine, type, fold, P, Q, depth,
 *  reach. */
void dp_recur_frame(const dp_params *p, dp_code *code);

/** Rows that cells read in the strips above, at most. */
int64_t dp_recur_depth(const dp_code *code);

/** With strip: rows [*lo, *hi) of the tile that are kept, maybe none: the last dp_recur_depth of
 *  each strip but the last. Tiles do not cross strips. @return number of the first of them among
 *  all that are kept */
int64_t dp_recur_kept(const dp_code *code, int64_t strip, const tsl_unit *unit, int64_t *lo,
                      int64_t *hi);

/** Rows and columns [lo, hi) of the deck's table that the tile has. */
void dp_recur_tile_box(const dp_code *code, const tsl_unit *unit, int64_t lo[2], int64_t hi[2]);

/** Do tiles give their cells of the table? A run with strips computes most of them twice, and those
 *  of the first time give none. @param[in] table  index of the field, -1: there is none */
static inline bool dp_recur_gives(int table, const tsl_part *part) {
  return table >= 0 && part->slab[table] != NULL;
}

/** A cell and its value: one row of the field best, [DP_BEST_ROW]. */
typedef struct dp_recur_best {
  int64_t bits;  /**< the integer, or the bits of an f64 */
  int64_t i, j;  /**< i = -1: none */
  int64_t layer; /**< 0 without inner indices */
} dp_recur_best;

enum { DP_BEST_ROW = 4 };

/** Value of type at address as bits: an integer, or the bits of an f64. */
int64_t dp_recur_bits(int32_t type, const void *address);

/** The value that bits stand for. */
dp_value dp_recur_value(const dp_recur *recur, int64_t bits);

/** Goals over cells: is a better than b: a cell where b is none, a better value, or an equal one at
 *  smaller i, then j, then layer? */
bool dp_recur_better(const dp_recur *recur, const dp_recur_best *a, const dp_recur_best *b);

/** Goals over cells: may (i, j) be chosen? */
bool dp_recur_candidate(const dp_recur *recur, int64_t i, int64_t j);

/** Number of the first wanted value at or after (p, q) in that order. */
int64_t dp_recur_wanted_from(const dp_recur *recur, int64_t p, int64_t q);

TSL_C_END
