/**
 * @file dp_boxes.h
 * INTERVAL: boxes of the triangle of a worker, their edges and checkpoints.
 *
 * Boxes are queued; whoever calls waits once for all. Values of boxes go through memory of the
 * device to the host, many at once, or straight there when the host has the device's memory.
 */
#pragma once

#include "dp_host.h"

TSL_C_BEGIN

/** What a triangle is made from, as the problem has it; borrowed for the call of open. */
typedef struct dp_triangle_input {
  const int64_t *dims;    /**< MATRIX_CHAIN: [n + 1] */
  const uint8_t *letters; /**< NUSSINOV: [n] */
  const void *energy;     /**< FOLD: rna_energy; PARTITION: rna_exact */
  const void *sizes;      /**< FOLD: i32 [n + 1]; PARTITION: f64 */
  uint32_t pairs[32];     /**< NUSSINOV: bit y of pairs[x]: letters x and y may pair */
  const void *gaps;       /**< SEARCH_TREE: [n + 1] of the type */
  void *high, *low;       /**< SEARCH_TREE: [n + 2] of the type, dp_tree_sums */
} dp_triangle_input;

/** An engine of triangles. Static storage. */
typedef struct dp_triangle_engine {
  /** REQUIRED. @return TSL_ERR_MEMORY, TSL_ERR_INPUT where values may be too large */
  tsl_err (*open)(void *worker, const dp_triangle_input *in, void **triangle);
  /** REQUIRED. NULL is accepted. */
  void (*close)(void **triangle);
  /** REQUIRED. Forget all values: those of trials were computed without what they need. */
  tsl_err (*begin)(void *triangle);
  /** REQUIRED. Queue n boxes that do not need each other. */
  tsl_err (*boxes)(void *triangle, const dp_box *boxes, int64_t n);
  /** REQUIRED. Values of a box, row-major, zero where a >= b: to memory of the device, and then
   *  only queued, or of the host. */
  tsl_err (*get)(void *triangle, const dp_box *box, void *values);
  /** REQUIRED. Take in the values of a box that another worker has computed; host. */
  tsl_err (*put)(void *triangle, const dp_box *box, const void *values);
  /** OPTIONAL, all three together, for memory of the host; default get and put: all that others
   *  need of a box (dp.h, edges), and the optimum after the last one. */
  tsl_err (*edge_out)(void *triangle, const dp_box *box, void *values);
  tsl_err (*edge_in)(void *triangle, const dp_box *box, const void *values);
  tsl_err (*whole)(void *triangle, void *value);
} dp_triangle_engine;

/** The boxes of a worker; zero-initialise, dp_boxes_open, dp_boxes_clear. */
typedef struct dp_boxes {
  const dp_context *c;
  const dp_triangle_engine *engine;
  void *triangle;
  bool whole;   /**< this worker computed the box that the optimum comes with */
  dp_box *last; /**< [n_last] boxes computed last */
  int64_t n_last, room;
  dp_buffer values; /**< of boxes, one after another */
  dp_buffer out;    /**< pinned: values of boxes out_from..out_to-1 of last, for edges */
  int64_t out_from, out_to;
} dp_boxes;

/** Open the triangle with the problem's numbers, weights or letters. */
tsl_err dp_boxes_open(dp_boxes *boxes, const dp_context *c, const dp_triangle_engine *engine);
/** Free the triangle; accepts one that was not opened. */
void dp_boxes_clear(dp_boxes *boxes);
/** Start a phase: no box is computed. */
tsl_err dp_boxes_begin(dp_boxes *boxes);

/** Queue boxes of one stage; what they need is computed or has come in.
 *  @param[in,out] parts  shape [n]; slabs of the table, filled when the device is done */
tsl_err dp_boxes_run(dp_boxes *boxes, const tsl_unit *units, int64_t n, tsl_part *parts);

/** Set goal->data [1], i64 or f64, where this worker computed the last box; waits. */
tsl_err dp_boxes_goal(const dp_boxes *boxes, tsl_field *goal);

/** Copy a box, row-major [hi[0] - lo[0]][hi[1] - lo[1]], to bytes; waits where the box is still on
 *  the device. The boxes that follow it among those computed last are copied with it. */
tsl_err dp_boxes_edge_out(dp_boxes *boxes, const tsl_unit *unit, void *bytes);
/** Copy a box of another worker into the triangle. */
tsl_err dp_boxes_edge_in(dp_boxes *boxes, const tsl_unit *unit, const void *bytes);

/** Checkpoints: a tile is saved as its edge. */
int64_t dp_boxes_state_bytes(const dp_boxes *boxes, const tsl_unit *unit);
/** @param[in] own  the tile is one of this worker
 *  @return TSL_ERR_INPUT when n is not the size of the tile's edge */
tsl_err dp_boxes_load(dp_boxes *boxes, const tsl_unit *unit, bool own, const void *bytes,
                      int64_t n);

TSL_C_END
