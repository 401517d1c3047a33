/**
 * @file tri_equation.cuh
 * An equation on a card: compiled for the job on the root, loaded by each worker.
 */
#pragma once

#include "lang_gpu.cuh"
#include "tri_gpu.cuh"

/** tsl_backend.prepare. */
tsl_err tri_gpu_prepare(tsl_problem *problem, const tsl_device *devices, int n);

/** Load what was compiled for the card, when the function is an equation. Points are there. */
tsl_err tri_equation_open(tri_gpu *w, int32_t capability);
void tri_equation_close(tri_gpu *w);

/** Rows of a slab of CONDENSED or SQUARE into out (device). */
tsl_err tri_equation_store(tri_gpu *w, const tri_slab *slab, void *out);

/** Values of rows [a, b) with columns [c0, c1) into strips[0]. */
tsl_err tri_equation_strip(tri_gpu *w, int64_t a, int64_t b, int64_t c0, int64_t c1);

/** Rows of a batch of sums, device memory; as the compiled loops have it. */
typedef struct tri_sum_rows {
  int64_t n, a, b; /**< columns; places of rows [a, b) */
  const void *w;   /**< [n_pad] one vector */
  double *partial; /**< [chunks][terms][b - a], or NULL: sums are written */
  double *sums;    /**< sums[(i - a) stride + term] */
  int64_t stride, chunks;
} tri_sum_rows;

/** Queue the sums of the rows with chunks shared out to so many blocks; 1 without partial. */
tsl_err tri_equation_sum(tri_gpu *w, const tri_sum_rows *rows, int splits);
/** Rows that a block of it has. */
int64_t tri_equation_sum_rows(const tri_gpu *w);

/** Sums of units, each beginning where the one before ends, of any function, into their slabs. */
tsl_err tri_sum_run(tri_gpu *w, const tsl_unit *units, int64_t n, tsl_part *parts);
