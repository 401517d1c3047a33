/**
 * @file triples_gpu.cuh
 * The family triples on a card: the worker and what its files offer each other. All functions work
 * on the worker's stream and do not wait.
 *
 *   triples_gpu.cu        the backend: open, begin, run, collect, close
 *   triples_slopes.cu     axilrod_teller: slopes of pairs, sums of rows and columns
 *   triples_triangles.cu  triangles: neighbours, and pairs of them
 *   triples_equation.cu   equation: compiled code; sums of pairs, and of rows
 */
#pragma once

#include "gpu.cuh"
#include "triples.h"

/** Bytes of slopes, of sides and of lists of neighbours at once. */
enum { TRIPLES_SCRATCH = 1 << 30 };

/** A worker; tsl_worker of this backend. */
typedef struct triples_gpu {
  triples_params p;
  tsl_gpu_memory memory;
  int processors;   /**< multiprocessors */
  int shared_limit; /**< largest dynamic shared memory of a block, bytes */
  cudaStream_t stream;
  tsl_gpu_timer timer;
  tsl_gpu_buffer points;                     /**< [3][n_pad] */
  tsl_gpu_buffer slopes;                     /**< [rows of some blocks][n_pad] double */
  tsl_gpu_buffer sides;                      /**< with some third points, triples_slopes.cu */
  int64_t thirds, panel;                     /**< so many, 0 before; first of those there, or -1 */
  tsl_gpu_buffer sums;                       /**< [blocks][n][TRIPLES_SUMS] double; or [rows] */
  tsl_gpu_buffer quantities;                 /**< EQUATION: [n_quantities][n_pad] */
  struct triples_card_equation *equation;    /**< EQUATION; else NULL */
  tsl_gpu_buffer cells, lists, counts, next; /**< TRIANGLES */
  int64_t room;                              /**< TRIANGLES: most neighbours of a row */
} triples_gpu;

extern const tsl_backend triples_backend_gpu;

/** A field to the card; waits. */
tsl_err triples_upload(triples_gpu *w, const tsl_field *field, tsl_gpu_buffer *to);

/** Slopes of the pairs of blocks [a, b), row by row from their first, into w->slopes (reserved):
 *  row stride n_pad; nothing is written in tiles of columns below the rows.
 *  @return TSL_ERR_DEVICE_MEMORY: no room for sides */
tsl_err triples_slopes_run(triples_gpu *w, int64_t a, int64_t b);

/** Sums of these blocks' pairs over w->slopes into sums (device, [b - a][n][TRIPLES_SUMS]). */
tsl_err triples_sums_run(const triples_gpu *w, int64_t a, int64_t b, double *sums);

/** TRIANGLES: the cells to the card; waits. */
tsl_err triples_triangles_open(triples_gpu *w, const tsl_problem *problem);
/** Start w->counts (u64 [bins^3]) anew; their bytes. */
tsl_err triples_triangles_zero(triples_gpu *w);
int64_t triples_counts_bytes(const triples_params *p);
/** Add the triangles whose first corner is one of rows [lo, hi) to w->counts. */
tsl_err triples_triangles_run(triples_gpu *w, int64_t lo, int64_t hi);

/** EQUATION: tsl_backend.prepare; load what was compiled for the card (points are there; waits);
 *  queue the sums of rows [lo, hi) into host memory. */
tsl_err triples_gpu_prepare(tsl_problem *problem, const tsl_device *devices, int n);
tsl_err triples_equation_open(triples_gpu *w, const tsl_problem *problem, int32_t capability);
void triples_equation_close(triples_gpu *w);
tsl_err triples_equation_run(triples_gpu *w, int64_t lo, int64_t hi, double *host);
