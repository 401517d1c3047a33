/**
 * @file dp_backend.h
 * The backend of dp on a socket: what its files share.
 *
 *   dp_backend.c      the functions of the contract, by the engine of the problem
 *   dp_bands_timed.c  WAVEFRONT: bands (src/host/dp), with their seconds
 *   dp_score_guess.c  values around a tile of a local alignment, for trials
 *   dp_band_*.c       engines of a band: bits, alignments, warping; plain loops for whole tables
 *   dp_sweep*.c       ROWS: spans of sweeps (src/host/dp), with their seconds, and trials
 *   dp_boxes_timed.c  INTERVAL: boxes of the triangle (src/host/dp), with their seconds
 *   dp_recur_*.c      recurrences of the deck, see dp_recur_cpu.h
 *
 * The engines compute what dp.h says, with the bits that any other device gets.
 */
#pragma once

#include "cpu.h"
#include "dp_cpu.h"
#include "dp_driver.h"

/* -------------------------------------------------------------------- wavefronts */

extern const dp_band_engine dp_engine_bits_cpu, dp_engine_align_cpu, dp_engine_dtw_cpu,
    dp_engine_plain_cpu;

/** The sides of a tile whose first cell is at (row, column), from 0. */
typedef struct dp_score_guess {
  int64_t row, column, rows, columns;
  int32_t *above; /**< [2][columns] H and F' of the row above */
  int32_t *left;  /**< [rows + 1][2] H and E' of the column before, from the row above on */
} dp_score_guess;

/** LOCAL: fill them with what an alignment along the diagonal would leave there. */
tsl_err dp_score_guess_sides(const tsl_worker *w, const dp_score_guess *guess);

/**
 * Time tiles before begin. Each run of neighbouring lanes gets an engine of its own and computes
 * from the top of the table with zeros on its left; DP_LOCAL without TABLE starts from guessed
 * values (dp_score_guess_sides), on which its time depends. The worker's bands stay as they are.
 * @param[in,out] parts  shape [n]; seconds are set, slabs of the table are overwritten
 */
tsl_err dp_cpu_bands_trial(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);

/** Compute tiles of one stage (dp_band_run). Neighbouring lanes run as one band, with mode TABLE
 *  each lane alone.
 *  @param[in]     units  shape [n], ascending lanes
 *  @param[in,out] parts  shape [n]; seconds, and slabs of the table and of best */
tsl_err dp_cpu_bands_tiles(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);

/* ----------------------------------------------------------------------- sweeps */

extern const dp_sweep_engine dp_engine_sweep_cpu;

/**
 * Time tiles before begin, from rows of zeros. RECOVER keeps the decisions of trials until
 * dp.memory is full, as a run would. Overflow of numbers is ignored.
 * @param[in,out] parts  shape [n]; seconds are set
 */
tsl_err dp_cpu_rows_trial(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);

/** Trials are over: what they left behind is given back to the system, for a run's decisions lie in
 *  pages that nobody had before. */
void dp_cpu_rows_trial_end(tsl_worker *w);

/**
 * Compute tiles of one stage (dp_rows_run). Neighbouring lanes run as one span, with a halo of
 * columns to the left where later items of the stage read it.
 * @param[in]     units  shape [n], ascending lanes; the row above is there as far as they read it
 * @param[in,out] parts  shape [n]; seconds, and slabs of the table and of best
 * @return TSL_ERR_NUMERIC: a binomial coefficient without modulus exceeds 63 bits
 */
tsl_err dp_cpu_rows_tiles(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);

/* -------------------------------------------------------------------- intervals */

extern const dp_triangle_engine dp_engine_triangle_cpu, dp_engine_partition_cpu;

/**
 * Compute boxes of one stage together (dp_boxes_run); what they need is computed or has come in.
 * @param[in,out] parts  shape [n]; seconds, and slabs of the table
 */
tsl_err dp_cpu_boxes_tiles(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);

/* ---------------------------------------------------------------------- the worker */

struct tsl_worker {
  dp_driver dp;
  dp_cpu cpu;
  double slow;                /**< TSL_TEST_SLOW */
  int64_t room;               /**< bytes of the host that this rank may use; 0: not known */
  struct dp_recur_cpu *recur; /**< RECURRENCE, else NULL */
};

/** Spread the seconds since start over units by their items. */
void dp_cpu_spread(const tsl_worker *w, double start, const tsl_unit *units, int64_t n,
                   tsl_part *parts);
