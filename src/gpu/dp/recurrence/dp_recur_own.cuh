/**
 * @file dp_recur_own.cuh
 * What the files of recurrences on a card share. Private to dp_recur_*.cu.
 */
#pragma once

#include "dp_engine.cuh"
#include "dp_recur_gpu.cuh"
#include "dp_recur_saved.h"

/* -------------------------------------------------------------------------------- kernels */

/** Functions of emitted CUDA, dp_emit.h. */
typedef enum dp_recur_kernel {
  DP_KERNEL_WAVE,
  DP_KERNEL_WAVE_FEW,
  DP_KERNEL_EDGE,
  DP_KERNEL_ROW,
  DP_KERNEL_TILE,
  DP_KERNEL_STEP,
  DP_N_KERNELS
} dp_recur_kernel;

/* ---------------------------------------------------------------------------------- cells */

/** Cells of the folded table, half-open. */
typedef struct dp_recur_box {
  int64_t p0, p1, q0, q1;
} dp_recur_box;

/** Cells that are on the card. */
typedef struct dp_recur_view {
  void *cells; /**< cell (p0, q0); rows stride elements apart */
  int64_t stride;
  dp_recur_box box;
} dp_recur_view;

static inline bool dp_recur_empty(const dp_recur_box *b) {
  return b->p0 >= b->p1 || b->q0 >= b->q1;
}

/** What both have. */
dp_recur_box dp_recur_common(dp_recur_box a, dp_recur_box b);
static inline dp_recur_box dp_recur_box_of(const tsl_unit *u) {
  return dp_recur_box{u->lo[0], u->hi[0], u->lo[1], u->hi[1]};
}

/** Copy the rows that are kept of a finished tile to its slab, where there is one; waits. */
tsl_err dp_recur_card_keep(dp_recur_card *w, const tsl_unit *unit, tsl_part *part);

/** Copy the wanted cells, at least one, to the host; waits. @param[out] values  from tsl_alloc */
tsl_err dp_recur_card_wanted(dp_recur_card *w, char **values);
/** Note those of the wanted cells that are in the view. */
tsl_err dp_recur_note_wanted(dp_recur_card *w, dp_recur_view view);
/** Compare the goal's cells of the view with the best so far. */
tsl_err dp_recur_note_best(dp_recur_card *w, dp_recur_view view);
/** Copy what the view has of the units to their slabs of the table, in the user's order.
 *  @param[in] units, parts  [n] */
tsl_err dp_recur_note_table(dp_recur_card *w, dp_recur_view view, const tsl_unit *units, int64_t n,
                            tsl_part *parts);

/** Forget the wanted and the best cells. */
tsl_err dp_recur_forget(dp_recur_card *w);
/** The best of all cells seen since; waits. */
tsl_err dp_recur_best_of(dp_recur_card *w, dp_recur_best *best);
/** Folded box of the goal's cells, empty for an expression. */
dp_recur_box dp_recur_goal_box(const dp_recur *recur);

/* ---------------------------------------------------------------------------------- worker */

/** Last column of a tile, this worker's or another's. */
typedef struct dp_recur_edge {
  int64_t column, row, rows; /**< one past the column; first row, rows of the tile */
  void *data;                /**< [rows + 1], pinned */
  int64_t bytes;
} dp_recur_edge;

enum { DP_RECUR_STREAMS = 16 };

struct dp_recur_card {
  dp_card *card; /**< not owned */
  const dp_recur *recur;
  dp_recur *own; /**< the same where it is to be closed, else NULL */
  dp_code code;
  int table, best, kept;
  tsl_type type;
  int64_t bytes; /**< of a cell */
  int64_t step;  /**< of a value of it */
  dp_args args;  /**< data in device memory */
  lang_module *kernels;
  tsl_gpu_buffer data[LANG_ARRAYS_MAX], bad;
  bool trial;

  dp_recur_box goal;
  tsl_gpu_buffer wanted_at; /**< i64 [n_wanted][3], folded row and column, number of the value */
  tsl_gpu_buffer wanted;    /**< value [n_wanted] */
  tsl_gpu_buffer bests;     /**< dp_engine_best of values [n_bests]; q: column * layers + layer */
  int64_t n_bests;
  dp_recur_best taken;   /**< the best cell of a checkpoint */
  dp_recur_front front;  /**< for checkpoints */
  tsl_gpu_buffer turned; /**< cells in the user's order */

  /* WAVEFRONT */
  tsl_gpu_buffer line;              /**< value [Q] the last row of each column */
  tsl_gpu_buffer below;             /**< value [columns] the row a launch makes */
  tsl_gpu_buffer left, right, side; /**< value [R + 1] edges; side: that of a launch */
  tsl_gpu_buffer cells, finished;
  tsl_gpu_buffer skewed; /**< with a depth: cells of a launch (dp_step_launch) */
  dp_recur_edge *edges;  /**< [n_edges], by column */
  int64_t n_edges, edge_room;

  /* ROWS, INTERVAL */
  tsl_gpu_buffer window; /**< value [room][Q] rows base .. base + room - 1 */
  int64_t base, room;
  cudaStream_t streams[DP_RECUR_STREAMS];
  cudaEvent_t fork, joins[DP_RECUR_STREAMS];
};

/** WAVEFRONT: reserve the last row on the card.
 *  @return TSL_ERR_INPUT: more columns than a card takes; TSL_ERR_DEVICE_MEMORY */
tsl_err dp_recur_wave_open(dp_recur_card *w);
/** Free the edges; buffers are the worker's to release. */
void dp_recur_wave_close(dp_recur_card *w);
/** Start a phase: edges are freed, the last row is zero. Queues only. */
tsl_err dp_recur_wave_begin(dp_recur_card *w);
/** Queue the tiles of neighbouring lanes as one, and the copy of its right edge to the host.
 *  @return TSL_ERR_INTERNAL without the left edge, but in a trial; TSL_ERR_DEVICE_MEMORY */
tsl_err dp_recur_wave_tiles(dp_recur_card *w, const tsl_unit *units, int64_t n, tsl_part *parts);
/** Copy the edge of a tile that is done to bytes, [rows + 1]. @return TSL_ERR_INTERNAL: it has left
 *  none */
tsl_err dp_recur_wave_edge_out(dp_recur_card *w, const tsl_unit *unit, void *bytes);
/** Keep a copy of the edge of another worker's tile in pinned memory. */
tsl_err dp_recur_wave_edge_in(dp_recur_card *w, const tsl_unit *unit, const void *bytes);

/** With a depth: queue all steps of a box; table and stride as of dp_step_launch, the cells that
 *  the box reads being there. */
tsl_err dp_recur_layers_run(dp_recur_card *w, dp_recur_box box, void *table, int64_t stride,
                            cudaStream_t stream);
/** WAVEFRONT with a depth: memory for the steps of a box, skewed as dp_step_launch has it.
 *  @param[out] most  rows of a box that it has room for, 1..rows */
tsl_err dp_recur_skewed_reserve(dp_recur_card *w, int64_t rows, int64_t columns, int64_t *most);
/** Copy cells into it and out of it: rows and columns 0 are those before a box of `rows` rows.
 *  plain: row after row, of get `stride` cells apart. */
tsl_err dp_recur_skewed_put(dp_recur_card *w, int64_t rows, dp_recur_box cells, const void *plain);
tsl_err dp_recur_skewed_get(dp_recur_card *w, int64_t rows, dp_recur_box cells, void *plain,
                            int64_t stride);
/** Reserve a buffer of as many rows as fit, least to most. @param[out] rows  how many */
tsl_err dp_recur_reserve_rows(dp_recur_card *w, tsl_gpu_buffer *buffer, int64_t row, int64_t least,
                              int64_t most, const char *what, int64_t *rows);

/** ROWS, INTERVAL: reserve the window of rows, or the whole table; INTERVAL: make the streams.
 *  @return TSL_ERR_INPUT: the cells overflow; TSL_ERR_DEVICE_MEMORY, TSL_ERR_DEVICE */
tsl_err dp_recur_rows_open(dp_recur_card *w);
/** Destroy streams and events; buffers are the worker's to release. */
void dp_recur_rows_close(dp_recur_card *w);
/** Start a phase: the window is zero and begins with row 0. Queues only. */
tsl_err dp_recur_rows_begin(dp_recur_card *w);
/** ROWS: queue the tiles of neighbouring lanes as one. The window moves on where it has to.
 *  @return TSL_ERR_INTERNAL: several rows but not all columns, but in a trial */
tsl_err dp_recur_rows_tiles(dp_recur_card *w, const tsl_unit *units, int64_t n, tsl_part *parts);
/** INTERVAL: queue tiles of a stage; those that do not read each other run at once. */
tsl_err dp_recur_boxes_tiles(dp_recur_card *w, const tsl_unit *units, int64_t n, tsl_part *parts);
/** Copy a tile's edge (dp_recur_problem.h) out of the window or into it, row-major; waits.
 *  @return of edge_out, TSL_ERR_INTERNAL: the rows are not on the card any more */
tsl_err dp_recur_rows_edge_out(dp_recur_card *w, const tsl_unit *unit, void *bytes);
tsl_err dp_recur_rows_edge_in(dp_recur_card *w, const tsl_unit *unit, const void *bytes);
/** Cells of a box to host memory, row after row, and from there; waits.
 *  @return TSL_ERR_INTERNAL: its rows are not in the window */
tsl_err dp_recur_rows_get(dp_recur_card *w, dp_recur_box box, void *values);
tsl_err dp_recur_rows_put(dp_recur_card *w, dp_recur_box box, const void *values);

static inline char *dp_recur_at(const dp_recur_card *w, const tsl_gpu_buffer *buffer, int64_t n) {
  return (char *)buffer->data + n * w->bytes;
}

/** Queue a copy of n cells. */
tsl_err dp_recur_copy(dp_recur_card *w, void *to, const void *from, int64_t n);

/** Queue a launch; 0 blocks: nothing. params: addresses of the arguments. */
tsl_err dp_recur_start(dp_recur_card *w, dp_recur_kernel kernel, int64_t blocks, int threads,
                       cudaStream_t stream, void **params);
/** dp_recur_start with the arguments dp_args and launch. */
tsl_err dp_recur_run(dp_recur_card *w, dp_recur_kernel kernel, int64_t blocks, int threads,
                     cudaStream_t stream, void *launch);

/** F is called with an unsigned number of as many bytes as a value. */
template <class F> tsl_err dp_recur_by_bytes(const dp_recur_card *w, F call) {
  if (w->step == 2) return call((unsigned short)0);
  return w->step == 4 ? call(0u) : call(0ull);
}

/** F is called with a value of the table's type, as dp_engine.cuh spells it. */
template <class F> tsl_err dp_recur_typed(const dp_recur_card *w, F call) {
  switch (w->type) {
  case TSL_I16:
    return call((short)0);
  case TSL_I32:
    return call((int)0);
  case TSL_I64:
    return call((long long)0);
  case TSL_F32:
    return call(0.0f);
  default:
    return call(0.0);
  }
}
