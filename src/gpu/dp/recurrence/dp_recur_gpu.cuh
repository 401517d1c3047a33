/**
 * @file dp_recur_gpu.cuh
 * `problem: recurrence` on a card: compiled by NVRTC, loaded by the driver, computed by tiles.
 *
 *   dp_recur_card.cu      the worker: tiles of any engine, the goal's cells, what failed
 *   dp_recur_wave.cu      WAVEFRONT: bands of neighbouring lanes, their edges
 *   dp_recur_rows.cu      ROWS and INTERVAL: rows of the table, or all of it, on the card
 *   dp_recur_layers.cu    cells with inner indices, of any engine
 *   dp_recur_cells.cu     what is done to cells that are there: to the user's order, best, wanted
 *   dp_recur_save.cu      checkpoints
 *   dp_recur_open.cu      a problem's recurrence: prepare and open
 *   dp_recur_own.cuh      what these share
 *
 * The functions of the worker are those of tsl_backend, for a tsl_worker that has a dp_card and,
 * where dp_params.problem is DP_RECURRENCE, a dp_recur_card. Units, edges and fields are those of
 * dp_recur_problem.h. The values are the interpreter's, bit for bit; where a cell fails there is
 * an error and no value.
 */
#pragma once

#include "dp_gpu.cuh"
#include "dp_recur_problem.h"
#include "lang_gpu.cuh"

/* ------------------------------------------------------------------------------ compiling */

/** Emitted CUDA (dp_emit, DP_TARGET_CUDA) with the engines' headers, for lang_compile_gpu. */
lang_program dp_recur_program(const char *text);

/* ----------------------------------------------------------------------------- the worker */

/** A worker's recurrence. */
typedef struct dp_recur_card dp_recur_card;

/** What a worker is made of; all borrowed until it is closed, the image for the call. */
typedef struct dp_recur_source {
  const dp_recur *recur; /**< args.data: host memory */
  const void *image;     /**< [image_bytes] as from lang_compile_gpu, for this card */
  int64_t image_bytes;
  int table, best, kept; /**< indices of these fields in tsl_part.slab, -1: not asked for */
} dp_recur_source;

/**
 * tsl_backend.prepare for cards: compile the recurrence for each kind of card of the job into field
 * code_gpu; nothing for an empty table. Root only; no card is needed.
 * @param[in] devices  [n] the job's cards
 * @return TSL_ERR_INPUT with `interpret`, or with a depth and rows that are too long to be copied;
 * and as lang_compile_gpu
 */
tsl_err dp_recur_prepare_gpu(tsl_problem *problem, const tsl_device *devices, int n);

/**
 * Open the recurrence of a problem: its image for this card out of field code_gpu.
 * @param[in] card        of this worker; outlives it
 * @param[in] capability  10 * major + minor of the card
 * @return TSL_ERR_INPUT with `interpret`, or when the job has no image for this card
 */
tsl_err dp_recur_card_open(dp_card *card, const tsl_problem *problem, int32_t capability,
                           dp_recur_card **out);

/** The same from its pieces. */
tsl_err dp_recur_card_make(dp_card *card, const dp_recur_source *source, dp_recur_card **out);

/** NULL accepted, sets NULL. */
void dp_recur_card_close(dp_recur_card **worker);

/** tsl_backend.begin: nothing is computed yet. */
tsl_err dp_recur_card_begin(dp_recur_card *worker);

/** tsl_backend.tiles. @return TSL_ERR_NUMERIC where a cell failed: why and, if it can be found
 *  quickly, which */
tsl_err dp_recur_card_tiles(dp_recur_card *worker, const tsl_unit *units, int64_t n,
                            tsl_part *parts);

/** tsl_backend.run: each tile alone, as if all that it reads were 0. */
tsl_err dp_recur_card_trial(dp_recur_card *worker, const tsl_unit *units, int64_t n,
                            tsl_part *parts);

/** tsl_backend.edge_out: bytes of the edge of a tile that is done; host memory. */
tsl_err dp_recur_card_edge_out(dp_recur_card *worker, const tsl_unit *unit, void *bytes);

/** tsl_backend.edge_in: the edge of another worker's tile; host memory, copied. */
tsl_err dp_recur_card_edge_in(dp_recur_card *worker, const tsl_unit *unit, const void *bytes);

/**
 * tsl_backend.collect: the cells of `wanted` that this worker computed, 0 for others.
 * @param[out] wanted  [n_wanted] integers, or the bits of f64; host
 */
tsl_err dp_recur_card_collect(dp_recur_card *worker, int64_t *wanted);

/** tsl_backend.state_bytes, save, load; the bytes are those of dp_recur_saved.h. */
int64_t dp_recur_card_state_bytes(const dp_recur_card *worker, const tsl_unit *unit, int64_t stage);
tsl_err dp_recur_card_save(dp_recur_card *worker, const tsl_unit *unit, int64_t stage, void *bytes);
tsl_err dp_recur_card_load(dp_recur_card *worker, const tsl_unit *unit, int64_t stage,
                           const uint8_t *own, const void *bytes, int64_t n);
