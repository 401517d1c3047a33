/**
 * @file dp_backend_gpu.cuh
 * The backend of dp on a card: what its files share.
 *
 *   dp_backend_gpu.cu        the functions of the contract, by the engine of the problem
 *   dp_memory_gpu.cu         the card's memory for the driver (src/host/dp)
 *   dp_backend_gpu_bands.cu  WAVEFRONT: bands (src/host/dp), with their seconds
 *   dp_backend_gpu_stages.cu stages of them that overlap
 *   dp_backend_gpu_bits.cu   engines of a band: bits,
 *   dp_backend_gpu_align.cu  alignments with affine gaps,
 *   dp_backend_gpu_grid.cu   weighted edit distances and time warping,
 *   dp_backend_gpu_table.cu  whole tables of all of them
 *   dp_backend_gpu_rows.cu   ROWS: sweeps (src/host/dp), with their seconds
 *   dp_backend_gpu_sweep.cu  one span of them; dp_backend_gpu_trace.cu their traceback
 *   dp_backend_gpu_boxes.cu  INTERVAL: boxes of the triangle (src/host/dp), with their seconds
 *   dp_backend_gpu_partition.cu  the same of sums over structures
 *   dp_recur_*.cu            RECURRENCE of any engine
 *
 * Edges, results, steps, errors and checkpoints (dp_saved.h) are the same bytes as those of
 * sockets. Edges between bands of a card, rows between stages and what a recovery keeps stay in
 * device memory. A stage is queued as a whole and waited for once; an edge for another rank is then
 * in host memory.
 * Stages of alignments of which only the best value is wanted overlap: one begins while the one
 * before drains (dp_affine.cuh). Tables, recoveries and all other engines run one stage at a time.
 * `recover: host` goes back on the host through the directions and decisions that the card kept.
 */
#pragma once

#include "dp_driver.h"
#include "dp_gpu.cuh"

struct dp_recur_card;
struct dp_worker;

/** The memory of a card, and pinned memory of its host; device: dp_card. */
extern const dp_memory_ops dp_memory_card;
/** Pinned host memory, at least this large; contents are lost when it grows. */
tsl_err dp_pinned_reserve(dp_buffer *buffer, int64_t bytes);
/** Free it; an empty buffer is accepted. */
void dp_pinned_release(dp_buffer *buffer);

/* ------------------------------------------------------------------------------ wavefronts */

extern const dp_band_engine dp_engine_bits, dp_engine_align, dp_engine_grid, dp_engine_table;

/** The card of a worker's context. */
static inline dp_card *dp_card_of(const dp_context *c) {
  return (dp_card *)c->device;
}

/** dp_band_engine.best and best_put of a band of alignments whose first column is lo. */
tsl_err dp_gpu_align_best(dp_affine *align, int64_t lo, int64_t best[3]);
tsl_err dp_gpu_align_best_put(dp_affine *align, int64_t lo, const int64_t best[3]);

/** Tiles that are started and not finished. */
typedef struct dp_stage_gpu {
  const tsl_unit *units; /**< [n], the caller's, as parts */
  tsl_part *parts;
  int64_t n, band; /**< band: index */
  bool under_way;  /**< in the band's engine; else all is done but, with `spread`, parts' seconds */
  bool spread;
  double seconds;
} dp_stage_gpu;

typedef struct dp_stages_gpu {
  dp_stage_gpu started[TSL_MOST_STARTED]; /**< [n_started] oldest first */
  int n_started;
  tsl_gpu_buffer trial_left, trial_right; /**< edges of trials */
} dp_stages_gpu;

/** Compute tiles of one stage (dp_band_run) and wait for the card.
 *  @param[in,out] parts  [n]; seconds, and slabs of the table and of best */
tsl_err dp_gpu_bands_tiles(struct dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);
/** Do stages of a band overlap? Those of alignments of which only the value is wanted. */
bool dp_gpu_bands_overlap(const dp_params *p);
/** tsl_backend.start, ended, finish (dp_backend_gpu_stages.cu). Tiles of several bands, or without
 *  cells, are computed by start, which then waits.
 *  @return TSL_ERR_INTERNAL also when too many are started, or none is there to be finished */
tsl_err dp_gpu_bands_start(struct dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);
bool dp_gpu_bands_ended(const struct dp_worker *w);
tsl_err dp_gpu_bands_finish(struct dp_worker *w);

/** A band of a calibration, with zeros on the left. */
typedef struct dp_trial_gpu {
  void *engine;     /**< owned */
  int64_t row;      /**< the next; at first LOCAL the tiles' own, else the table's top */
  const void *left; /**< edge of any rows; NULL: the boundary */
} dp_trial_gpu;

/** Open an engine for n tiles of a stage. @param[in] rows  of a call at most
 *  @param[out] t  close its engine, also after an error */
tsl_err dp_gpu_trial_open(struct dp_worker *w, const tsl_unit *units, int64_t n, int64_t rows,
                          dp_trial_gpu *t);
/** Time tiles before begin; several stages of bands that overlap go to dp_gpu_stages_trial. The
 *  worker's bands stay as they are. @param[in,out] parts  [n]; seconds set, slabs overwritten */
tsl_err dp_gpu_bands_trial(struct dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);
/** Time stages of the same lanes as a run has them, each behind the one before. */
tsl_err dp_gpu_stages_trial(struct dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);
/** Free what trials have; no stage is started. */
void dp_gpu_stages_clear(struct dp_worker *w);

/** tsl_backend.pipeline_fill */
double dp_gpu_pipeline_fill(const tsl_problem *problem, const tsl_device *device, int n_ranks,
                            bool *overlap);
/** tsl_backend.saturating_lanes */
int64_t dp_gpu_saturating_lanes(const tsl_problem *problem, const tsl_device *device,
                                const tsl_unit *lanes, int64_t n);

/* ---------------------------------------------------------------------------------- sweeps */

extern const dp_sweep_engine dp_engine_sweep;

/** What the sweeps of a worker have besides their rows. */
typedef struct dp_sweep_gpu {
  tsl_gpu_buffer numbers; /**< of field A: weights, returns, costs */
  tsl_gpu_buffer table;   /**< TABLE: rows of a span, [rows][columns] of the field's type */
  tsl_gpu_buffer bad;     /**< int: a binomial coefficient is too large */
  tsl_gpu_buffer trace;   /**< of the traceback */
  dp_buffer bad_here;     /**< bad in host memory, pinned */
} dp_sweep_gpu;

/** Reserve rows on the card and upload weights, returns or costs; waits. Knapsacks whose values fit
 *  are held in 32 bits. Free with dp_driver_clear and dp_gpu_sweep_clear.
 *  @return TSL_ERR_INPUT: an item with a negative weight or value; TSL_ERR_DEVICE_MEMORY */
tsl_err dp_gpu_rows_open(struct dp_worker *w);
/** Compute tiles of one stage (dp_rows_run) and wait.
 *  @param[in,out] parts  shape [n]; seconds, and slabs of the table and of best
 *  @return TSL_ERR_NUMERIC: a binomial coefficient without modulus exceeds 63 bits */
tsl_err dp_gpu_rows_tiles(struct dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);
/** Time tiles before begin, from rows of zeros; no decisions are kept, overflow is ignored.
 *  @param[in,out] parts  shape [n]; seconds are set */
tsl_err dp_gpu_rows_trial(struct dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);
/** dp_sweep_engine.trace, by a kernel. */
tsl_err dp_gpu_rows_trace(void *worker, const dp_decisions *d, tsl_cursor *cursor, dp_steps *steps);
/** Free what sweeps have besides their rows. */
void dp_gpu_sweep_clear(struct dp_worker *w);

/**
 * Queue the rows of a span.
 * @param[out] made  NULL, or device memory: the decisions of all rows, words of 32 columns
 * @param[out] rows  NULL, or device memory: all rows, [hi - lo][to - from] of the field's type
 */
tsl_err dp_span_run(struct dp_worker *w, const dp_sweep_span *span, void *made, void *rows);

/** Queue: columns [from, to) of a row as they are in device memory to the field's type. */
tsl_err dp_row_cast(struct dp_worker *w, const void *row, int64_t from, int64_t to, void *out);

/* ------------------------------------------------------------------------------- intervals */

extern const dp_triangle_engine dp_engine_triangle, dp_engine_fold, dp_engine_partition;

/** Compute boxes of one stage together (dp_boxes_run) and wait.
 *  @param[in,out] parts  shape [n]; seconds, and slabs of the table */
tsl_err dp_gpu_boxes_tiles(struct dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);
/** Time boxes before begin, as if all that they need were there (dp_interval_pretend); sums take
 *  the same time whatever they are of.
 *  @param[in,out] parts  shape [n]; seconds are set, slabs of the table are overwritten */
tsl_err dp_gpu_boxes_trial(struct dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);

/* ------------------------------------------------------------------------------ the worker */

typedef struct dp_worker {
  dp_driver dp;
  dp_card card;
  dp_stages_gpu stages;
  dp_sweep_gpu sweep;
  struct dp_recur_card *recur; /**< RECURRENCE, dp_recur_gpu.cuh: all of the above is unused then */
} dp_worker;
