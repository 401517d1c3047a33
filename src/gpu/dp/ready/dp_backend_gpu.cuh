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
 *   dp_backend_gpu_rows.cu   ROWS: sweeps; dp_backend_gpu_sweep.cu one span of them;
 *                            dp_backend_gpu_back.cu their walk back; dp_backend_gpu_keep.cu their
 *                            checkpoints
 *   dp_backend_gpu_boxes.cu  INTERVAL: boxes of the triangle
 *   dp_recur_*.cu            RECURRENCE of any engine
 *
 * Edges, results, steps, errors and checkpoints (dp_saved.h) are the same bytes as those of
 * sockets. Edges between bands of a card, rows between stages and what a recovery keeps stay in
 * device memory. A stage is queued as a whole and waited for once; an edge for another rank is then
 * in host memory.
 * Stages of alignments of which only the best value is wanted overlap: one begins while the one
 * before drains (dp_affine.cuh). Tables, recoveries and all other engines run one stage at a time.
 * `recover: host` walks on the host through the ways and decisions that the card has kept.
 */
#ifndef TSL_GPU_DP_BACKEND_GPU_CUH
#define TSL_GPU_DP_BACKEND_GPU_CUH

#include "dp_bands.h"
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
/** Free all bands (dp_bands_clear), and what trials and stages have. */
void dp_gpu_bands_clear(struct dp_worker *w);

/** tsl_backend.ramp */
double dp_gpu_ramp(const tsl_problem *problem, const tsl_device *device, int n_ranks,
                   bool *overlap);
/** tsl_backend.busy */
int64_t dp_gpu_busy(const tsl_problem *problem, const tsl_device *device, const tsl_unit *lanes,
                    int64_t n);

/* ---------------------------------------------------------------------------------- sweeps */

enum { DP_ROW_PAD = 32 /**< places before column 0 of a row in device memory */ };

/** Items [lo, hi) in columns [from, to). Rows are device memory, addressed by column. */
typedef struct dp_sweep_span {
  int64_t lo, hi, from, to;
  const void *top; /**< the row above, with the halo on its left */
  void *bottom;    /**< gets columns [from, to) of the last row */
} dp_sweep_span;

/** Decisions of items [lo, hi) in columns [from, to). */
typedef struct dp_choices {
  int64_t lo, hi, from, to;
  tsl_gpu_buffer bits; /**< knapsacks: u32 [hi - lo][words], words of 32 columns */
  tsl_gpu_buffer k;    /**< others: i32 [hi - lo][to - from] */
  tsl_gpu_buffer top;  /**< [width] the row above; the decisions are made again when needed */
  int64_t lanes[2];    /**< [first, last + 1) */
} dp_choices;

typedef struct dp_rows_gpu {
  bool narrow;               /**< knapsacks whose values fit int32 are held so */
  int64_t each;              /**< bytes of a value in device memory */
  tsl_gpu_buffer row[2];     /**< [pad + width] last rows of stages of even and odd number */
  tsl_gpu_buffer scratch[2]; /**< [pad + width] */
  tsl_gpu_buffer data;       /**< numbers of fields A: weights, returns, costs */
  tsl_gpu_buffer table;      /**< TABLE: rows of a span, [rows][columns] of the field's type */
  tsl_gpu_buffer bad;        /**< int: a binomial coefficient is too large */
  tsl_gpu_buffer walk;       /**< of the walk back */
  dp_buffer bad_here;        /**< the same in host memory */
  dp_choices *list;          /**< [n] stage after stage */
  int64_t n, room, bytes;    /**< bytes that the list keeps */
  int goal;                  /**< which row has the goal in its last column; -1: another worker's */
  int64_t (*spans)[2];       /**< [n_spans] columns of the last call of tiles */
  int64_t n_spans, span_room;
  dp_buffer out; /**< values of columns out_from..out_to-1 of stage out_stage, for edges */
  int64_t out_stage, out_from, out_to;
} dp_rows_gpu;

/** Reserve rows on the card and upload weights, returns or costs; waits. Knapsacks whose values fit
 *  are held in 32 bits. Free with dp_gpu_rows_clear.
 *  @return TSL_ERR_INPUT: an item with a negative weight or value; TSL_ERR_DEVICE_MEMORY */
tsl_err dp_gpu_rows_open(struct dp_worker *w);
/** Start a phase: no decision is kept, and the row above the first stage is set; waits. */
tsl_err dp_gpu_rows_begin(struct dp_worker *w);
/** Compute tiles of one stage and wait; units, parts and errors are those of dp_rows_tiles
 *  (src/cpu/dp/ready/dp_backend.h), and TSL_ERR_DEVICE_MEMORY. */
tsl_err dp_gpu_rows_tiles(struct dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);
/** Time tiles before begin, from rows of zeros; no decisions are kept, overflow is ignored.
 *  @param[in,out] parts  shape [n]; seconds are set */
tsl_err dp_gpu_rows_trial(struct dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);
/** Copy the tile's columns of its last row, shape [hi[1] - lo[1]] of the field's type, to bytes.
 *  The first tile of a span copies all of the span from the card and waits. */
tsl_err dp_gpu_rows_edge_out(struct dp_worker *w, const tsl_unit *unit, void *bytes);
/** Queue the copy of the last row of another worker's tile into the row of its stage; bytes may
 *  change afterwards. */
tsl_err dp_gpu_rows_edge_in(struct dp_worker *w, const tsl_unit *unit, const void *bytes);
/** Walk back through the decisions of one span as dp_rows_walk does, on the card, or on the host
 *  with `recover: host`. */
tsl_err dp_gpu_rows_walk(struct dp_worker *w, const tsl_unit *units, int64_t n, tsl_cursor *cursor,
                         dp_steps *steps);
/** Set goal->data [1], i64 or f64, where this worker computed the last column of the last row;
 *  waits. STAGECOACH: nothing, its goal comes from the field best. */
tsl_err dp_gpu_rows_goal(struct dp_worker *w, tsl_field *goal);
/** Free rows and decisions. */
void dp_gpu_rows_clear(struct dp_worker *w);

/** Checkpoints, as in contract.h. */
int64_t dp_gpu_rows_state_bytes(const struct dp_worker *w, const tsl_unit *unit, int64_t stage);
tsl_err dp_gpu_rows_save(struct dp_worker *w, const tsl_unit *unit, int64_t stage, void *bytes);
tsl_err dp_gpu_rows_load(struct dp_worker *w, const tsl_unit *unit, int64_t stage,
                         const uint8_t *own, int64_t lanes, const void *bytes, int64_t n);

static inline bool dp_is_sack(const dp_params *p) {
  return p->problem == DP_KNAPSACK || p->problem == DP_KNAPSACK_UNBOUNDED;
}

/** Device memory for the decisions of c's rows and columns, its bytes, and the end of it. */
tsl_err dp_choices_reserve(struct dp_worker *w, dp_choices *c);
int64_t dp_choices_bytes(const dp_params *p, int64_t rows, int64_t columns);
void dp_choices_clear(struct dp_worker *w, dp_choices *c);

/**
 * Queue the rows of a span.
 * @param[out] choices  NULL, or reserved: the decisions of all rows
 * @param[out] rows     NULL, or device memory: all rows, [hi - lo][to - from] of the field's type
 */
tsl_err dp_span_run(struct dp_worker *w, const dp_sweep_span *span, dp_choices *choices,
                    void *rows);

/** Queue: columns [from, to) of a row as they are in device memory to the field's type. */
tsl_err dp_row_cast(struct dp_worker *w, const void *row, int64_t from, int64_t to, void *out);

/* ------------------------------------------------------------------------------- intervals */

typedef struct dp_boxes_gpu {
  dp_interval *triangle;
  bool whole;              /**< this worker computed the last box */
  tsl_gpu_buffer values;   /**< of boxes, one after another */
  dp_interval_range *last; /**< [n_last] boxes of the last call of tiles */
  int64_t n_last, room;
  dp_buffer out; /**< values of boxes out_from..out_to-1 of last, for edges */
  int64_t out_from, out_to;
} dp_boxes_gpu;

/** Open the triangle (dp_interval_open) with the problem's input. Free with dp_gpu_boxes_clear. */
tsl_err dp_gpu_boxes_open(struct dp_worker *w);
/** Start a phase (dp_interval_begin): no box is computed. */
tsl_err dp_gpu_boxes_begin(struct dp_worker *w);
/** Compute boxes of one stage together and wait; what they need is computed or has come in.
 *  @param[in,out] parts  shape [n]; seconds, and slabs of the table */
tsl_err dp_gpu_boxes_tiles(struct dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);
/** Time boxes before begin, as if all that they need were there (dp_interval_pretend).
 *  @param[in,out] parts  shape [n]; seconds are set, slabs of the table are overwritten */
tsl_err dp_gpu_boxes_trial(struct dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);
/** Copy a box, row-major [hi[0] - lo[0]][hi[1] - lo[1]], to bytes; waits where the box is still on
 *  the card. The boxes that follow it in the last call of tiles are copied with it. */
tsl_err dp_gpu_boxes_edge_out(struct dp_worker *w, const tsl_unit *unit, void *bytes);
/** Copy a box of another worker into the triangle (dp_interval_put). */
tsl_err dp_gpu_boxes_edge_in(struct dp_worker *w, const tsl_unit *unit, const void *bytes);
/** Set goal->data [1], i64 or f64, where this worker computed the last box; waits. */
tsl_err dp_gpu_boxes_goal(struct dp_worker *w, tsl_field *goal);
/** Free the triangle and its buffers; also when it is not open. */
void dp_gpu_boxes_clear(struct dp_worker *w);

/* ------------------------------------------------------------------------------ the worker */

typedef struct dp_worker {
  dp_context c;
  dp_card card;
  dp_bands bands;
  dp_stages_gpu stages;
  dp_rows_gpu rows;
  dp_boxes_gpu boxes;
  struct dp_recur_card *recur; /**< RECURRENCE, dp_recur_gpu.cuh: all of the above is unused then */
} dp_worker;

/** Column 0 of a row buffer. */
static inline char *dp_row_at(const dp_worker *w, const tsl_gpu_buffer *row) {
  return (char *)row->data + DP_ROW_PAD * w->rows.each;
}

#endif
