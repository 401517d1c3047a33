/**
 * @file dp_backend_gpu.cuh
 * The backend of dp on a card: what its files share.
 *
 *   dp_backend_gpu.cu        the functions of the contract, by the engine of the problem
 *   dp_backend_gpu_bands.cu  WAVEFRONT: bands of neighbouring lanes, their edges and what is kept
 *   dp_backend_gpu_stages.cu stages of them that overlap
 *   dp_backend_gpu_walk.cu   their walk back; dp_backend_gpu_save.cu their checkpoints
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
 * The twin of dp_backend.h: edges, results, steps, errors and checkpoints (dp_saved.h) are the same
 * bytes. Edges between bands of a card, rows between stages and what a recovery keeps stay
 * in device memory. A stage is queued as a whole and waited for once; an edge for another rank is
 * then in host memory.
 * Stages of alignments of which only the best value is wanted overlap: one begins while the one
 * before drains (dp_affine.cuh). Tables, recoveries and all other engines run one stage at a time.
 * `recover: host` walks on the host through the ways and decisions that the card has kept.
 */
#ifndef TSL_GPU_DP_BACKEND_GPU_CUH
#define TSL_GPU_DP_BACKEND_GPU_CUH

#include "dp_gpu.cuh"
#include "dp_saved.h"

struct dp_recur_card;
struct dp_worker;

/* ------------------------------------------------------------------------- what all share */

/** Steps of a walk: a growing list from malloc. */
typedef struct dp_steps {
  int64_t (*at)[2];
  int64_t n, room;
} dp_steps;

/** Append a pair. @return TSL_ERR_MEMORY */
tsl_err dp_steps_add(dp_steps *steps, int64_t first, int64_t second);
/** Append (op, length), joined with the step before when that has the same op. */
tsl_err dp_steps_run(dp_steps *steps, int64_t op, int64_t length);

/** Steps of an alignment as (op, length), from cell (i, j) of the table on.
 *  @param[in] ways  [n] dp_step */
tsl_err dp_steps_ways(const struct dp_worker *w, const uint8_t *ways, int64_t n, int64_t i,
                      int64_t j, dp_steps *steps);

/** Host memory that the card copies to and from without waiting; zero-initialise. */
typedef struct dp_pinned {
  void *data;
  int64_t bytes;
} dp_pinned;

/** Make it at least this large; contents are lost when it grows. */
tsl_err dp_pinned_reserve(dp_pinned *memory, int64_t bytes);
/** Free it; empty memory is accepted. */
void dp_pinned_release(dp_pinned *memory);

/** A longer list, when n = *room. @param[in] size  bytes of an element */
tsl_err dp_list_grow(void **list, int64_t n, int64_t *room, size_t size);

/** First unit of units after k that does not continue the lanes from k on; at most n. */
int64_t dp_units_end(const tsl_unit *units, int64_t n, int64_t k);

/** Spread seconds over units by their items. */
void dp_seconds_spread(double seconds, const tsl_unit *units, int64_t n, tsl_part *parts);

/* ------------------------------------------------------------------------------ wavefronts */

/** Where a tile's cells go in the mode TABLE: of row lo + r and column c to [r * ld + c]. */
typedef struct dp_window {
  char *cells; /**< host; NULL: nowhere */
  int64_t ld;
} dp_window;

/** An engine of bands. Rows and columns of tiles are letters, from 0. Edges and states are device
 *  memory. All but goal, best, best_put, trace and finish only queue. keep_bytes, state_bytes,
 *  trace and forget serve the mode RECOVER alone. */
typedef struct dp_band_engine {
  tsl_err (*open)(struct dp_worker *w, int64_t lo, int64_t hi, void **engine);
  void (*close)(void **engine);
  /** Rows [lo, hi), which continue those before; edges as in dp.h, left NULL: the boundary. right
   *  may be NULL. keep: what trace needs, for these rows only. */
  tsl_err (*tile)(void *engine, int64_t lo, int64_t hi, const void *left, void *right, bool keep,
                  dp_window window);
  /** Bytes that keep needs for so many rows. */
  int64_t (*keep_bytes)(const void *engine, int64_t rows);
  /** State after the last row: what begins a tile at that row. The bytes of dp_state_bytes, but for
   *  bits beyond the last column, which may be any, and EDIT with weights: M alone. */
  int64_t (*state_bytes)(const void *engine);
  tsl_err (*state_get)(void *engine, void *state);
  tsl_err (*state_put)(void *engine, int64_t row, const void *state);
  /** Walk back through the rows kept, from cell (at[0], at[1]) of the table to their top or the
   *  band's left side or the end (lane -1). */
  tsl_err (*trace)(void *engine, tsl_cursor *cursor, dp_steps *steps);
  /** Give back what was kept for trace. */
  void (*forget)(void *engine);
  /** This band's part of the goal, after the last row. last: it ends with the last column. */
  tsl_err (*goal)(void *engine, bool last, double *goal);
  /** LOCAL: (score, row, column) of the best cell of the band in the table; score 0: none. */
  tsl_err (*best)(void *engine, int64_t best[3]);
  /** LOCAL: take it over from a checkpoint, before the first tile. */
  tsl_err (*best_put)(void *engine, const int64_t best[3]);
  /** tile in two halves, as dp_affine_start has them; NULL: tiles of a band do not overlap. */
  tsl_err (*start)(void *engine, int64_t lo, int64_t hi, const void *left, void *right);
  bool (*ended)(const void *engine);
  tsl_err (*finish)(void *engine, double *seconds);
} dp_band_engine;

extern const dp_band_engine dp_engine_bits, dp_engine_align, dp_engine_grid, dp_engine_table;

/** Rows that were computed together: what their recovery needs. */
typedef struct dp_kept_rows {
  int64_t lo, hi;
  tsl_gpu_buffer top;  /**< state above them */
  tsl_gpu_buffer left; /**< edge; empty: the boundary */
} dp_kept_rows;

/** Neighbouring lanes that are computed as one. */
typedef struct dp_band_gpu {
  int64_t lo, hi;       /**< columns, from 0 */
  int64_t lanes[2];     /**< [first, last + 1) */
  bool past;            /**< of a run before this one: what is kept of it, no more */
  int64_t row;          /**< rows done */
  void *engine;         /**< past: NULL until the walk is there */
  tsl_gpu_buffer right; /**< edge of the last tile, which begins with row right_lo */
  int64_t right_lo;
  dp_pinned out[2];   /**< the same in host memory, of two tiles in turn, which begin with rows */
  int64_t out_lo[2];  /**< out_lo; where the band is not the table's last */
  int turn;           /**< out[turn] is the next tile's */
  dp_kept_rows *kept; /**< [n_kept], RECOVER */
  int64_t n_kept, kept_room;
  int64_t at;  /**< the one of kept that the engine has kept cells of, -1 none */
  void *image; /**< state after row image_row, host; NULL: none */
  int64_t image_row;
} dp_band_gpu;

/** Tiles that are started and not finished. */
typedef struct dp_stage_gpu {
  const tsl_unit *units; /**< [n], the caller's, as parts */
  tsl_part *parts;
  int64_t n, band; /**< band: index */
  bool under_way;  /**< in the band's engine; else all is done but, with `spread`, parts' seconds */
  bool spread;
  double seconds;
} dp_stage_gpu;

/** An edge of another rank. */
typedef struct dp_edge_gpu {
  int64_t column, row; /**< one past its column; first row */
  tsl_gpu_buffer data;
} dp_edge_gpu;

typedef struct dp_bands_gpu {
  const dp_band_engine *engine;
  dp_band_gpu *list; /**< [n] in the order they appeared */
  int64_t n, room;
  dp_edge_gpu *edges; /**< [n_edges], two of a column in turn where stages overlap */
  int64_t n_edges, edge_room;
  int64_t history;       /**< bytes kept */
  dp_lane_states loaded; /**< from a checkpoint, host */
  tsl_gpu_buffer state;  /**< of a band, on its way to or from a checkpoint */
  tsl_gpu_buffer piece;  /**< right edge of a piece of a tile */
  tsl_gpu_buffer trial_left, trial_right;
  dp_stage_gpu started[TSL_MOST_STARTED]; /**< [n_started] oldest first */
  int n_started;
} dp_bands_gpu;

/** Compute tiles of one stage and wait for the card; units, parts and errors are those of
 *  dp_bands_tiles (src/cpu/dp/ready/dp_backend.h), and TSL_ERR_DEVICE_MEMORY. */
tsl_err dp_gpu_bands_tiles(struct dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);
/** Do stages of a band overlap? Those of alignments of which only the value is wanted. */
bool dp_gpu_bands_overlap(const dp_params *p);
/** tsl_backend.start, ended, finish (dp_backend_gpu_stages.cu). Tiles of several bands, or without
 *  cells, are computed by start, which then waits.
 *  @return TSL_ERR_INTERNAL also when too many are started, or none is there to be finished */
tsl_err dp_gpu_bands_start(struct dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);
bool dp_gpu_bands_ended(const struct dp_worker *w);
tsl_err dp_gpu_bands_finish(struct dp_worker *w);

/* What dp_backend_gpu_bands.cu and _stages.cu share. */

/** The band of n tiles, NULL when it is new. */
dp_band_gpu *dp_gpu_band_find(dp_bands_gpu *bands, const tsl_unit *units, int64_t n);
/** A new band of them, at the row where they begin. */
tsl_err dp_gpu_band_open(struct dp_worker *w, const tsl_unit *units, int64_t n, dp_band_gpu **out);
/** Left edge of rows from `row` on of the band that begins with a column; NULL when none came. */
const void *dp_gpu_band_left(const dp_bands_gpu *bands, int64_t column, int64_t row);
/** Host memory for the next right edge; NULL where the table ends. */
tsl_err dp_gpu_band_out(struct dp_worker *w, dp_band_gpu *b, int64_t rows, void **out);
/** LOCAL, tiles of the last stage: the band's best cell to their parts. */
tsl_err dp_gpu_band_best(struct dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);
/** First unit after the band that begins with unit k. */
int64_t dp_gpu_band_end(const struct dp_worker *w, const tsl_unit *units, int64_t n, int64_t k);

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
/** Copy the edge of a finished tile that ends its band from host memory to bytes [dp_edge_size].
 *  @return TSL_ERR_INTERNAL: there is none of these rows any more */
tsl_err dp_gpu_bands_edge_out(struct dp_worker *w, const tsl_unit *unit, void *bytes);
/** Queue the copy of the edge of another worker's tile to the card; bytes may change afterwards.
 *  @return TSL_ERR_DEVICE_MEMORY, TSL_ERR_MEMORY */
tsl_err dp_gpu_bands_edge_in(struct dp_worker *w, const tsl_unit *unit, const void *bytes);
/** Walk back through rows of a band that were kept together, as dp_bands_walk. What the engine has
 *  kept of their cells is given back when the walk leaves the band. */
tsl_err dp_gpu_bands_walk(struct dp_worker *w, const tsl_unit *units, int64_t n, tsl_cursor *cursor,
                          dp_steps *steps);
/** Sum this worker's parts of the goal into goal->data [1], i64 or f64; waits. DP_LOCAL: nothing,
 *  its goal comes from the field best. */
tsl_err dp_gpu_bands_goal(struct dp_worker *w, tsl_field *goal);
/** Free all bands, edges and loaded states; the choice of engine stays. */
void dp_gpu_bands_clear(struct dp_worker *w);

/** Checkpoints, as in contract.h. */
int64_t dp_gpu_bands_state_bytes(const struct dp_worker *w, const tsl_unit *unit, int64_t stage);
tsl_err dp_gpu_bands_save(struct dp_worker *w, const tsl_unit *unit, int64_t stage, void *bytes);
tsl_err dp_gpu_bands_load(struct dp_worker *w, const tsl_unit *unit, int64_t stage,
                          const uint8_t *own, int64_t lanes, const void *bytes, int64_t n);
/** Set a band that begins at row > 0 to the state loaded for its lanes. */
tsl_err dp_gpu_bands_go_on(struct dp_worker *w, dp_band_gpu *band, int64_t row);

/** Value of the boundary at (k, 0), or at (0, k) for rows false; not for DTW. */
int32_t dp_gpu_boundary(const dp_params *p, int64_t k, bool rows);
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
  dp_pinned bad_here;        /**< the same in host memory */
  dp_choices *list;          /**< [n] stage after stage */
  int64_t n, room, bytes;    /**< bytes that the list keeps */
  int goal;                  /**< which row has the goal in its last column; -1: another worker's */
  int64_t (*spans)[2];       /**< [n_spans] columns of the last call of tiles */
  int64_t n_spans, span_room;
  dp_pinned out; /**< values of columns out_from..out_to-1 of stage out_stage, for edges */
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
  dp_pinned out; /**< values of boxes out_from..out_to-1 of last, for edges */
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
  const tsl_problem *problem; /**< not owned */
  const dp_params *p;
  dp_card card;
  int table, best; /**< fields, -1 none */
  int64_t bytes;   /**< of a value */
  dp_bands_gpu bands;
  dp_rows_gpu rows;
  dp_boxes_gpu boxes;
  struct dp_recur_card *recur; /**< RECURRENCE, dp_recur_gpu.cuh: all of the above is unused then */
} dp_worker;

/** Letters or numbers of field DP_A, DP_B, DP_C; host. */
static inline const void *dp_input(const dp_worker *w, int field) {
  return w->problem->fields[field].data;
}

/** Column 0 of a row buffer. */
static inline char *dp_row_at(const dp_worker *w, const tsl_gpu_buffer *row) {
  return (char *)row->data + DP_ROW_PAD * w->rows.each;
}

#endif
