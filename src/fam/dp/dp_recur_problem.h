/**
 * @file dp_recur_problem.h
 * `problem: recurrence` as a problem of the contract: its params, fields, tiles and edges.
 *
 * Params (dp.h): n = rows - 1, m = columns - 1 of the deck's table; engine, type and pattern (what
 * the checker found or confirmed) as planned by dp_code_plan; interpret: no compiled code.
 *
 * Fields, found by name where they come after DP_GOAL:
 *   DP_A      IN u8 [sizeof(dp_equation)]  the equation as bytes
 *   data0..   IN type of the array, [shape[0]][shape[1]]  elements of array k of the names
 *   code_cpu, code_gpu   IN u8 []          compiled objects for the hosts and cards of the job, put
 *                                          there by tsl_backend.prepare (dp_recur_code.h); empty
 *                                          with interpret
 *   goal      OUT SUM i64 or f64 [1]       0 from workers; the root computes it from what follows
 *   wanted    OUT SUM i64 or f64 [n] hidden  cells that the goal's expression reads, in the order
 *                                          of dp_recur.wanted: each worker adds those it computed
 *   best      OUT GATHER i64 [DP_MAX_LANES][3] hidden, goals over cells: (value, i, j) of the best
 *                                          cell of a lane, reals as their bits; smallest i, then j
 *                                          among equals; i = -1: none of the goal's cells in it
 *   table     as in dp.h, [rows][columns] of the deck
 *   path      RECOVER: cells (i, j) from the goal's to a boundary cell: always the first of the
 *             references that the cell's value was made of (dp_trace.c), made by the root
 *
 * Tiles are boxes of folded rows and columns (dp_emit.h: p in 0..P-1, q in 0..Q-1), boundary cells
 * included. Predecessors, edges (values of the table's type) and lanes:
 *   WAVEFRONT  left neighbour; [R + 1] the last column, entry 0 is row p0 - 1; strips of columns
 *   ROWS       all tiles of the stage before; [min(depth, R)][columns] the last rows of the tile;
 *              strips of columns; depth 0 or same_row: a single lane
 *   INTERVAL   all tiles up and left of it; [R][columns] the tile; a lane for each tile
 */
#ifndef TSL_FAM_DP_RECUR_PROBLEM_H
#define TSL_FAM_DP_RECUR_PROBLEM_H

#include "dp_emit.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The recurrence of a problem as a worker uses it. */
typedef struct dp_recur {
  dp_recurrence *recurrence; /**< parsed from field DP_A; its data are the problem's fields */
  dp_code code;              /**< as planned; narrow and checks are those of the emitted text */
  dp_args args;              /**< for compiled code; data are host pointers */
  int64_t (*wanted)[2];      /**< [n_wanted] cells (i, j) that the goal reads, ascending (p, q) */
  int64_t n_wanted;
} dp_recur;

/** Parse and plan, the same on every rank. Any rank; the problem must outlive it. Free with
 *  dp_recur_close. */
tsl_err dp_recur_open(const tsl_problem *problem, dp_recur **out);
/** NULL accepted, sets NULL. */
void dp_recur_close(dp_recur **recur);

#ifdef __cplusplus
}
#endif
#endif
