/**
 * @file tri_gpu.cuh
 * The family tri on a card: the worker and what its files offer each other.
 *
 *   tri_gpu.cu        the backend: open, begin, run, start, collect, close
 *   tri_started.cu    batches that overlap: ended and finish; tri_forces.cu: those of forces
 *   tri_near.cu*      near pairs alone: the tree on the card, kernels of threshold, topk, histogram
 *   tri_filter.cu     topk in many dimensions: candidates by a product of matrices, then refined
 *   tri_fold.cu*      degree, maximum, and the phases of tri_graph.h
 *   tri_fn.cuh        pair functions and the sources of pair values (formula or matrix)
 *   tri_tiles.cuh     tiles of a triangle and their enumeration
 *   tri_store*.cu*    condensed and square, our own map (also tri_wide.cuh, tri_narrow.cuh)
 *   tri_gemm.cu       correlation and cosine by cuBLAS; maps/: the seed's maps
 *   tri_bits.cu*      strips of values of rows of bits
 *   tri_threshold.cu, tri_topk*.cu, tri_histogram.cu, tri_gravity.cu: the other outputs
 *   tri_bench*.cu     measurements
 *
 * All functions work on the worker's stream, forces on those of a lane, and do not wait unless they
 * say so.
 */
#pragma once

#include "gpu_stage.cuh"
#include "tri_graph.h"

enum {
  TRI_STREAMS = 4,      /**< strips of a matrix product in flight */
  TRI_GEMM_MIN_D = 16,  /**< from here on cosine and correlation go through cuBLAS */
  TRI_GEMM_ROWS = 1024, /**< rows of a strip */
  TRI_STRIP_D = 5,      /**< from here on values consumed by rows come in strips */
  TRI_READERS = 64,     /**< threads of the host that read frames or records, at most */
};

/** Part of the output in device memory: rows [a, b). */
typedef struct tri_slab {
  int64_t a, b;
  int64_t columns; /**< SQUARE, two sets: row length in the slab; CONDENSED: unused */
  bool fill;       /**< SQUARE: write zeros above the diagonal too */
} tri_slab;

/** What the kernels need to know of the points; R is float or double. */
template <class R> struct tri_args {
  const R *x;     /**< [d][n_pad] */
  const R *extra; /**< [n_pad] or NULL */
  int64_t n_pad;
  int n, d;  /**< n: columns */
  int first; /**< place of row 0; kernels count rows by places */
  int apart; /**< all bits of two sets, else 0: i | apart is the row's own column, or -1 */
  R box[3], scale;
  bool given;     /**< the strip has values */
  const R *strip; /**< inner products of rows [strip_row, ..) with columns [strip_col, ..) */
  int64_t strip_ld;
  int strip_row, strip_col;
};

/** Boxes of a tree (tri_near.h) on the card; R is float or double. */
template <class R> struct tri_boxes {
  const R *lo, *hi; /**< [d][ld] */
  const R *extra;   /**< [ld] or NULL */
  const int *order; /**< [n] */
  int64_t ld, first[TRI_LEVELS];
  int levels, nodes[TRI_LEVELS];
};

struct tri_gemm;
struct tri_card_equation;
struct tri_letters_state;

/** Where a batch of forces is computed, while another may be in the lane beside it. */
typedef struct tri_lane {
  cudaStream_t sums[2]; /**< the long kernel, and rows beside it (tri_gravity_sums) */
  cudaStream_t results; /**< what follows them, before long kernels of another lane (priority) */
  cudaEvent_t summed;   /**< sums are there, for results */
  cudaEvent_t free;     /**< and read, for the next ones */
  tsl_gpu_buffer partial, acc, phi;
} tri_lane;

/** A batch; units and parts are the caller's. */
typedef struct tri_batch {
  const tsl_unit *units; /**< [n] */
  tsl_part *parts;       /**< [n] */
  int64_t n;
  int lane; /**< FORCES */
} tri_batch;

/** Batches under way, TSL_MOST_STARTED at most: of forces, and of records that a rank reads. */
typedef struct tri_started {
  tsl_gpu_timer timers[TSL_MOST_STARTED + 1]; /**< of the batches under way and of the one before */
  tri_batch batches[TSL_MOST_STARTED];        /**< [n] under way, in order */
  int n;
  int64_t finished; /**< batches so far */
  double late;      /**< s that an earlier batch than the last finished one ended after it */
} tri_started;

/** Near pairs: the tree, and rows of a launch. */
typedef struct tri_near_state {
  tri_tree tree; /**< levels; its arrays are on the card: */
  tsl_gpu_buffer lo, hi, extra, order, place;
  tsl_gpu_buffer sorted, next, scratch;
} tri_near_state;

/** Outputs of tri_graph.h: the phase's fields on the card. */
typedef struct tri_graph_state {
  tri_stage stage;
  tsl_gpu_buffer component, active, bound, uniform;
} tri_graph_state;

/** What tri_filter.cu knows of the points; made on first use. */
typedef struct tri_filter_state {
  tsl_gpu_buffer points;  /**< float [d][n_pad], less their mean */
  tsl_gpu_buffer lengths; /**< float [n_pad], their Euclidean norms */
  tsl_gpu_buffer crowded; /**< int: rows that the filter could not decide */
  bool made, off;         /**< off: it does not serve these points */
} tri_filter_state;

/** A worker; tsl_worker of this backend. */
typedef struct tri_gpu {
  tri_params p;
  const tsl_problem *problem; /**< not owned; its IN fields are uploaded again by begin */
  tsl_gpu_memory memory;
  int processors;   /**< multiprocessors */
  int shared_limit; /**< largest dynamic shared memory of a block, bytes */
  cudaStream_t stream;
  tsl_gpu_timer timer;
  tsl_gpu_buffer marks[TRI_LETTERS - TRI_CLASSES]; /**< the fields between them */
  tsl_gpu_buffer sums;                             /**< HISTOGRAM weighted: low and high halves */
  tsl_gpu_buffer points, extras, out, out_2, counts, work[6];
  tsl_gpu_buffer strips[TRI_STREAMS];
  struct tri_gemm *gemm; /**< made on first use */
  tri_started started;
  tri_lane lanes[TSL_MOST_STARTED]; /**< FORCES */
  int length, weight;               /**< FORCES: points and extras are in these tri_gravity_units */
  tsl_gpu_stage stage;              /**< THRESHOLD and CSR: records on their way to their lists */
  tri_near_state near;              /**< with params.near */
  tri_graph_state graph;            /**< tri_is_graph */
  tri_filter_state filter;
  struct tri_card_equation *equation; /**< the deck's own function, tri_equation.cuh; or NULL */
  struct tri_letters_state *letters;  /**< of sequences, tri_letters.cuh; or NULL */
  tsl_gpu_buffer words;               /**< of bits: field TRI_WORDS */

  struct tri_frames_gpu *frames; /**< of a trajectory; then only p and problem are set besides */
} tri_gpu;

extern const tsl_backend tri_backend_gpu;

/** Of bits: upload the words; values of rows [a, b) with columns [c0, c1), places, into out
 *  (device). */
tsl_err tri_bits_open(tri_gpu *w);
tsl_err tri_bits_rows(tri_gpu *w, int64_t a, int64_t b, int64_t c0, int64_t c1, void *out);

/** FORCES: bring points and extras, just uploaded, to the units of tri_gravity_units. */
tsl_err tri_gravity_upload(tri_gpu *w);

/** Bytes of one value. */
static inline int64_t tri_value_bytes(const tri_gpu *w) {
  return (int64_t)tsl_type_bytes((tsl_type)w->p.type);
}

/** Do the inner products go through cuBLAS? */
static inline bool tri_uses_gemm(const tri_params *p) {
  return tri_abouts[p->function].sum == TRI_PRODUCT && p->d >= TRI_GEMM_MIN_D;
}

/** Are values computed in strips, for other kernels to consume? */
static inline bool tri_wants_strips(const tri_params *p) {
  return p->d >= TRI_STRIP_D || tri_is_terms(p) || p->k > TRI_FEW_K;
}

template <class R> tri_args<R> tri_args_of(const tri_gpu *w) {
  tri_args<R> args = {};
  args.x = (const R *)w->points.data;
  args.extra = (const R *)w->extras.data;
  args.n_pad = w->p.n_pad;
  args.n = (int)tri_columns_of(&w->p);
  args.first = (int)w->p.first;
  args.apart = w->p.two ? -1 : 0;
  args.d = (int)w->p.d;
  for (int k = 0; k < 3; k++) args.box[k] = (R)w->p.box[k];
  args.scale = (R)w->p.scale;
  return args;
}

/**
 * After a batch of `count` rows failed: may it be tried with fewer? If device memory was short and
 * there is more than one row, all scratch buffers are given back and *rows becomes half of count.
 */
bool tri_smaller_batch(tri_gpu *w, tsl_err failed, int64_t count, int64_t *rows);

/** Rows [lo, hi) in as few batches as device memory takes: work(a, b) does rows [a, b). */
template <class F> tsl_err tri_in_batches(tri_gpu *w, int64_t lo, int64_t hi, F work) {
  tsl_err err = TSL_OK;
  int64_t rows = hi - lo;
  for (int64_t a = lo; a < hi;) {
    const int64_t b = a + rows < hi ? a + rows : hi;
    err = work(a, b);
    if (tri_smaller_batch(w, err, b - a, &rows)) continue;
    TSL_TRY(err);
    a = b;
  }
done:
  return err;
}

/** Elements of a slab. */
int64_t tri_slab_count(const tri_params *p, const tri_slab *slab);

/** CONDENSED and SQUARE: compute a slab into out (device, 16-byte aligned) by the map of the
 * parameters. */
tsl_err tri_slab_run(tri_gpu *w, const tri_slab *slab, void *out);

/** Our own map on rows [a, b) of the slab whose memory is out: by the formula, or from a strip of
 *  inner products when args.strip is set. */
template <class R>
tsl_err tri_store_run(const tri_gpu *w, const tri_args<R> *args, const tri_slab *slab, int64_t a,
                      int64_t b, R *out, cudaStream_t stream);

/** The seed's maps bb, rb, rec, ltm, frb, fr on the diagonal triangle; plain grid beside it. */
tsl_err tri_map_run(tri_gpu *w, const tri_slab *slab, void *out);
/** The map cdp on the diagonal triangle of the slab alone. flag: device int, set when a launch
 * failed. */
tsl_err tri_cdp_run(const tri_gpu *w, const tri_slab *slab, void *out, int *flag);
/** Wait for the stream and report a failed launch of tri_cdp_run. */
tsl_err tri_cdp_check(const tri_gpu *w, const int *flag);

/** Correlation and cosine of a slab by matrix products and a packing kernel. */
tsl_err tri_gemm_slab(tri_gpu *w, const tri_slab *slab, void *out);
/** Inner products of rows [a, b) with columns [c0, c1) into strips[0] on the worker's stream.
 *  The row length of the strip is c1 - c0. */
tsl_err tri_gemm_strip(tri_gpu *w, int64_t a, int64_t b, int64_t c0, int64_t c1);
/** The same of any points x, device memory of shape [d][n_pad], times a factor. */
template <class R>
tsl_err tri_gemm_product(tri_gpu *w, const R *x, R factor, int64_t a, int64_t b, int64_t c0,
                         int64_t c1);
/** Values of the same by the formula. */
tsl_err tri_values_strip(tri_gpu *w, int64_t a, int64_t b, int64_t c0, int64_t c1);
/** Rows of a strip of this many columns that fit the memory, 1..TRI_GEMM_ROWS. */
int64_t tri_gemm_rows(const tri_gpu *w, int64_t columns);
void tri_gemm_destroy(tri_gpu *w);

/** Arguments of pairs whose values come from strips[0], set up by tri_gemm_strip. */
template <class R>
tri_args<R> tri_args_of_strip(const tri_gpu *w, int64_t a, int64_t c0, int64_t c1) {
  tri_args<R> args = tri_args_of<R>(w);
  args.strip = (const R *)w->strips[0].data;
  args.strip_ld = c1 - c0;
  args.strip_row = (int)a;
  args.strip_col = (int)c0;
  return args;
}

/** Records (i, j, value) of rows [lo, hi) into part->list of TRI_OUT and TRI_OUT_2; waits. */
tsl_err tri_threshold_run(tri_gpu *w, int64_t lo, int64_t hi, tsl_part *part);
/** Neighbours of rows [lo, hi) into part->slab of TRI_OUT and TRI_OUT_2; waits. */
tsl_err tri_topk_run(tri_gpu *w, int64_t lo, int64_t hi, tsl_part *part);
/** degree, maximum, components, dbscan, linkage: rows [lo, hi) into part->slab; waits. */
tsl_err tri_fold_run(tri_gpu *w, int64_t lo, int64_t hi, tsl_part *part);
/** dbscan: of rows [a, b) the k-th nearest within the threshold. @param[out] last  device memory */
tsl_err tri_kth_run(tri_gpu *w, int64_t a, int64_t b, void *last);
/** Outputs of tri_graph.h: the fields of the phase that begins; waits. */
tsl_err tri_graph_begin(tri_gpu *w);
void tri_graph_close(tri_gpu *w);
/** Add the pairs of rows [lo, hi) to w->counts (u64 [bins]). */
tsl_err tri_histogram_run(tri_gpu *w, int64_t lo, int64_t hi);
/** Near pairs alone: boxes and order to the card; give them back. */
tsl_err tri_near_open(tri_gpu *w);
void tri_near_close(tri_gpu *w);
void tri_filter_close(tri_gpu *w);
/** Add the near pairs of rows [lo, hi) to w->counts. */
tsl_err tri_near_histogram_run(tri_gpu *w, int64_t lo, int64_t hi);
template <class R> struct tri_nearest;
/** TOPK of many: the k nearest of rows [a, b), places, of a strip that args have, by sorting it. */
template <class R>
tsl_err tri_topk_sort(tri_gpu *w, const tri_args<R> *args, int64_t a, int64_t b,
                      const tri_nearest<R> *target);
/** Does TOPK go by filter and refinement? */
bool tri_filters(const tri_gpu *w);
/** Rows that it takes at once. */
int64_t tri_filter_rows(const tri_gpu *w);
/** The k nearest of rows [lo, hi), places, by it; *undecided: they are wanted by all values. */
template <class R>
tsl_err tri_filter_run(tri_gpu *w, int64_t lo, int64_t hi, const tri_nearest<R> *target,
                       bool *undecided);
/** Near pairs of rows [lo, hi), for the other outputs. */
template <class R> struct tri_records;
template <class R> struct tri_fold;
template <class R>
tsl_err tri_near_threshold_run(tri_gpu *w, int64_t lo, int64_t hi, const tri_records<R> *records);
template <class R>
tsl_err tri_near_topk_run(tri_gpu *w, int64_t lo, int64_t hi, const tri_nearest<R> *target);
template <class R>
tsl_err tri_near_fold_run(tri_gpu *w, int64_t lo, int64_t hi, const tri_fold<R> *target);
/** Sums of the forces on rows [lo, hi), lo < hi, by segments of points: whole blocks of rows on one
 *  stream, what is left over on another or the same. @param[out] partial  device memory of
 *  tri_gravity_bytes(w, hi - lo) */
tsl_err tri_gravity_sums(const tri_gpu *w, int64_t lo, int64_t hi, double *partial,
                         cudaStream_t stream, cudaStream_t rest);
/** Accelerations and potential of rows > 0 rows from their partial sums. @param[out] acc,phi
 *  device memory, shape [rows][d_read] and [rows] */
tsl_err tri_gravity_combine(const tri_gpu *w, const double *partial, int64_t rows, double *acc,
                            double *phi, cudaStream_t stream);
/** Bytes of the partial sums of so many rows. */
int64_t tri_gravity_bytes(const tri_gpu *w, int64_t rows);
/** Of so many rows those that are computed at once, for the sake of their partial sums; at least 1.
 */
int64_t tri_gravity_rows(const tri_gpu *w, int64_t rows);

/** Streams, events and timers of the lanes; freed with tri_forces_close also after an error. */
tsl_err tri_forces_open(tri_gpu *w);
void tri_forces_close(tri_gpu *w);
/** Wait for all lanes and give their buffers back. */
void tri_forces_release(tri_gpu *w);
/** Queue the work of a batch in a lane that is free, set to it; after an error none of it is under
 *  way. */
tsl_err tri_forces_queue(tri_gpu *w, tri_batch *batch, const tsl_gpu_timer *timer);

/** Timers of batches. */
tsl_err tri_started_open(tri_started *s);
void tri_started_close(tri_started *s);
/** Events for the next batch that is started. */
const tsl_gpu_timer *tri_started_timer(const tri_started *s);
/** tsl_backend.ended and finish. */
bool tri_batch_ended(tsl_worker *worker);
tsl_err tri_batch_finish(tsl_worker *worker);

/** `tesela bench maps` and `tesela bench tri`. */
tsl_err tri_bench_maps(int argc, char **argv);
tsl_err tri_bench_goals(int argc, char **argv);
