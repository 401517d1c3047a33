/**
 * @file fractal_gpu.cuh
 * The family fractal on a card: the worker and what its files offer each other.
 *
 *   fractal_gpu.cu         the backend: open, begin, run, collect, close
 *   fractal_walk.cuh       the steps of one pixel
 *   fractal_lanes.cuh      a warp whose lanes are refilled with pixels
 *   fractal_rows.cuh       pixels from the boxes of all units of a launch (exact)
 *   fractal_fill.cuh       pixels of tiles whose uniform borders are filled (exact = 0)
 *   fractal_auto*.cu*      launches of the two, by type
 *   fractal_plain.cu       the seed's threads: one for each column, one for each pixel
 *   fractal_mean.cu        the seed's sums: cuBLAS, tree, atomic; counting; binarising
 *   fractal_bench*.cu*     measurements
 *
 * All functions work on the worker's stream and do not wait unless they say so.
 */
#pragma once

#include "fractal.h"
#include "gpu_blas.cuh"

/** The box of one unit, as kernels see it. */
typedef struct fractal_box {
  int64_t row, column;   /**< first row and column, in image coordinates */
  int64_t rows, columns; /**< may be 0 */
  int64_t first;         /**< pieces (or tiles) of the boxes before; pieces, not pixels */
  void *out;             /**< [rows][columns] values in memory that the card can write */
} fractal_box;

enum {
  FRACTAL_PIECE = 32,   /**< pixels of a piece: part of a row of a box, handed out by tickets */
  FRACTAL_BLOCK = 128,  /**< threads of a block of the persistent kernels */
  FRACTAL_RESIDENT = 8, /**< blocks on a multiprocessor */
  FRACTAL_REFILL = 16,  /**< lanes that must be without work before a warp stops to refill them */
  FRACTAL_LONGEST = 8,  /**< largest number of runs of steps without test (fractal_lanes.cuh) */
};

/** What may be tuned without another kernel; open sets the values above. */
typedef struct fractal_tuning {
  int32_t refill;  /**< 1..32 */
  int32_t longest; /**< 1..64, power of two */
} fractal_tuning;

/** What the kernels need to know; R is float or double. */
template <class R> struct fractal_args {
  fractal_params p;
  fractal_tuning tuning;
  const R *x, *y;             /**< [xres], [yres] */
  const fractal_box *boxes;   /**< [n_boxes], first increasing */
  int64_t n_boxes, n_pieces;  /**< pieces, or tiles, of all boxes */
  unsigned long long *ticket; /**< next piece; zero at launch */
  unsigned long long *totals; /**< [FRACTAL_N_TOTALS], added to */
  int32_t sums;               /**< 0: leave FRACTAL_TOTAL_VALUES to others */
};

/** A worker; tsl_worker of this backend. */
typedef struct fractal_gpu {
  fractal_params p;
  fractal_tuning tuning;
  const tsl_problem *problem; /**< not owned; its IN fields are uploaded by open and begin */
  tsl_gpu_memory memory;
  int processors; /**< multiprocessors */
  cudaStream_t stream;
  tsl_gpu_timer timer;
  tsl_gpu_buffer x, y;
  tsl_gpu_buffer
      image; /**< values of a group of units, one after another; managed memory if asked */
  tsl_gpu_buffer boxes, scratch;
  tsl_gpu_buffer totals; /**< u64 [FRACTAL_N_TOTALS], then the ticket */
  fractal_box *list;     /**< host copy of the boxes of a launch, [list_size], from malloc */
  int64_t list_size;
  cublasHandle_t blas; /**< made on first use */
} fractal_gpu;

extern const tsl_backend fractal_backend_gpu;

static inline bool fractal_is_wide(const fractal_params *p) {
  return p->value_type == TSL_U32;
}

/** Bytes of one value. */
static inline int64_t fractal_value_bytes(const fractal_params *p) {
  return fractal_is_wide(p) ? 4 : 2;
}

static inline unsigned long long *fractal_totals_of(const fractal_gpu *w) {
  return (unsigned long long *)w->totals.data;
}

/** Arguments of a launch over the n boxes that were uploaded last. */
template <class R>
fractal_args<R> fractal_args_of(const fractal_gpu *w, int64_t n, int64_t n_pieces) {
  fractal_args<R> args = {};
  args.p = w->p;
  args.tuning = w->tuning;
  args.x = (const R *)w->x.data;
  args.y = (const R *)w->y.data;
  args.boxes = (const fractal_box *)w->boxes.data;
  args.n_boxes = n;
  args.n_pieces = n_pieces;
  args.totals = fractal_totals_of(w);
  args.ticket = args.totals + FRACTAL_N_TOTALS;
  args.sums = w->p.mean == FRACTAL_MEAN_AUTO;
  return args;
}

/**
 * Begin a group: w->list and w->image for the units, and all else that computing them needs.
 * parts: where MEMORY_PINNED puts the values.
 * @return TSL_ERR_DEVICE_MEMORY when fewer units should be tried
 */
tsl_err fractal_prepare(fractal_gpu *w, const tsl_unit *units, int64_t n, const tsl_part *parts);

/** The values of w->list: launches only. */
tsl_err fractal_values_run(fractal_gpu *w, int64_t n);

/**
 * Fill in first of the n boxes of w->list (pieces of a row when exact, tiles when not), and upload
 * them and a zero ticket. @param[out] n_pieces  of all boxes
 */
tsl_err fractal_upload_boxes(fractal_gpu *w, int64_t n, int64_t *n_pieces);

/** Our own kernels on n boxes; also adds to the totals. R is the type of params.type. */
template <class R> tsl_err fractal_auto_run(fractal_gpu *w, int64_t n);

/** The seed's threads (params.threads) on n boxes; values alone, no totals. */
tsl_err fractal_plain_run(fractal_gpu *w, int64_t n);

/** Memory for fractal_totals_run on the n boxes of w->list. */
tsl_err fractal_totals_reserve(fractal_gpu *w, int64_t n);
/** Add to the totals what the kernels that made n boxes left out, by params.mean. */
tsl_err fractal_totals_run(fractal_gpu *w, int64_t n);

/** out[i] = image[i] >= mean ? 255 : 0 for count pixels of whole rows, where mean = sum / total
 * exactly; by params.threads a thread for each column, or as many as the card holds. */
tsl_err fractal_binarise_run(const fractal_gpu *w, const void *image, int64_t count, uint64_t sum,
                             uint64_t total, uint8_t *out);
