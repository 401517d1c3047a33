/**
 * @file tri_cpu.h
 * The family tri on a socket, private to src/cpu.
 *
 * Three layers: kernels (one source for each SIMD level, no OpenMP, no knowledge of outputs),
 * the walk (row groups x column blocks dealt to threads; with near pairs alone, the search: row
 * groups x tiles that a tree of boxes leaves), and one file per output that consumes rows of values
 * from a buffer in the first-level cache.
 */
#pragma once

#include "cpu.h"
#include "tri_cpu_equation.h"
#include "tri_cpu_letters.h"
#include "tri_cpu_pairs.h"
#include "tri_graph.h"

enum {
  TRI_FILL_ROWS = 4,      /**< rows of one direct fill */
  TRI_LONG_STEP = 40,     /**< operations of a step beside which loads and stores are nothing */
  TRI_BLAS_ROWS = 128,    /**< rows of one product tile; divides n_pad, as TRI_PAD does */
  TRI_BLAS_D = 16,        /**< from this d on, TRI_PRODUCT are matrix products */
  TRI_MAX_COLUMNS = 2048, /**< columns of a block */
  TRI_LAP = 16,           /**< columns a block may be computed beyond its end, see tri_row */
  TRI_GRAVITY_ROWS = 32,  /**< rows of one gravity call */
  TRI_GRAVITY_TILE = 256, /**< columns summed in fp32 before they go to fp64 */
  TRI_MAX_COPIES = 8,     /**< histograms of one thread */
  TRI_MOST_RANKED = 128   /**< values that tri_kernels.kth takes */
};

/** The points as kernels see them. */
typedef struct tri_view {
  const void *x;     /**< [d][ld], 64-byte aligned, float or double; TRI_WORDS of bits; not owned */
  const void *extra; /**< [ld] radii, or NULL; not owned */
  int64_t ld;        /**< n_pad */
  int64_t d;
  double box[3];
  double scale;
} tri_view;

/** Values of rows [i, i + rows) x columns [j, j + n) into out[row][column], row stride out_ld. */
typedef void (*tri_fill)(const tri_view *view, int64_t i, int rows, int64_t j, int64_t n, void *out,
                         int64_t out_ld);

/** n boxes, element c of coordinate k at [k ld + c]. */
typedef struct tri_boxes {
  const void *lo, *hi;
  const void *extra; /**< [n] largest radii, or NULL */
  int64_t ld, n;
} tri_boxes;

/** The box of some rows; element k in the type of the points. */
typedef struct tri_query {
  double lo[TRI_NEAR_D], hi[TRI_NEAR_D]; /**< exact: coordinates */
  double extra;                          /**< largest radius */
} tri_query;

/** Values of row i with the points of n tiles, TRI_TILE each, into values[n TRI_TILE]. */
typedef void (*tri_tiles)(const tri_view *view, int64_t i, const int32_t *tiles, int64_t n,
                          void *values);

/** Bounds of the rows' values with what is in each box, into values[n]. */
typedef void (*tri_bound)(const tri_view *view, const tri_query *query, const tri_boxes *boxes,
                          void *values);

/** Points of a gravity problem, [n][4] = x, y, z, mass. */
typedef struct tri_bodies {
  const void *p;     /**< float or double; 64-byte aligned */
  int64_t n;         /**< that are summed over */
  double softening2; /**< eps^2 in the units of p */
  bool equal;        /**< masses are all equal: the kernel leaves them out */
} tri_bodies;

/** Sums over j != i for rows [i, i + rows): sums[0..2] = sum w m dx, sums[3] = sum m / r. */
typedef void (*tri_gravity)(const tri_bodies *bodies, int64_t i, int rows,
                            double sums[4][TRI_GRAVITY_ROWS]);

/** The kernels of one SIMD level; index [0] is f32, [1] is f64. */
typedef struct tri_kernels {
  int level;
  tri_fill fill[2][TRI_N_PAIRS];
  tri_tiles tiles[2][TRI_N_PAIRS];
  tri_bound bound[2][TRI_N_PAIRS];
  /** Cosine: inner products of row i with columns [j, j + n) become values, in place. */
  void (*from_products[2])(const tri_view *view, int64_t i, int64_t j, int64_t n, void *values);
  /** Places k < n with values[k] <= most, ascending, into places[n]; returns their number. */
  int64_t (*select[2])(const void *values, int64_t n, double most, int32_t *places);
  /** Least and largest of links[0..1] and the components of places k < n with values[k] <= most,
   *  into links. tiles: places are those of these tiles, components count from the first point;
   *  NULL: components count from the first place. TRI_NO_COMPONENT is left out. */
  void (*link[2])(const void *values, int64_t n, double most, const int32_t *tiles,
                  const int32_t *component, int32_t *links);
  /** The k-th least of n values, 1 <= k <= n <= TRI_MOST_RANKED. */
  double (*kth)(const double *values, int64_t n, int64_t k);
  /** 1 + tri_bin of each value, so 0 means outside. */
  /** SUM: add the sum of values[k] weights[k], k < n, to *sum, chunk by chunk (tri_equation.h). */
  void (*add[2])(const void *values, const void *weights, int64_t n, double *sum);
  void (*bin[2])(const void *values, int64_t n, double lo, double hi, double inv_width, int bins,
                 int32_t *out);
  /** Copy past the caches, both addresses multiples of bytes_per; fence before others read. */
  void (*stream)(void *to, const void *from, int64_t bytes);
  void (*fence)(void);
  tri_gravity gravity[2];
} tri_kernels;

/** The kernels for an x86-64 level (2, 3, 4). Made by tsl_simd (tools/cmake/TslSimd.cmake). */
const tri_kernels *tri_kernels_at(int level);

/** Growing list of (column, value) of one row or one thread. */
typedef struct tri_hits {
  int32_t *j;   /**< [room] */
  char *values; /**< [room] elements of params.type */
  int64_t n, room;
} tri_hits;

/** An entry of a heap of the nearest. */
typedef struct tri_near {
  double value;
  int64_t j;
} tri_near;

/** What one thread owns. */
typedef struct tri_thread {
  void *values;                /**< [fill_rows][row_stride] */
  int32_t *places;             /**< [TRI_MAX_COLUMNS] bins or places */
  uint32_t *bins;              /**< HISTOGRAM: [copies][bins_room] */
  uint64_t *counts;            /**< HISTOGRAM: [bins_room] */
  int64_t counted;             /**< pairs in bins since the last flush */
  tri_near *heap;              /**< TOPK: [group_rows][k] */
  int64_t *heap_n;             /**< TOPK: [group_rows] */
  double *cuts;                /**< [group_rows] values beyond it do not matter to a row */
  double *within;              /**< DBSCAN: [group_rows][within_room] values within the cut */
  int64_t *within_n;           /**< DBSCAN: [group_rows] */
  tri_hits *rows;              /**< THRESHOLD: [group_rows] */
  struct tri_finds *finds;     /**< near: of the search */
  tri_hits hits;               /**< THRESHOLD: rows done, one after another */
  double *sums;                /**< SUM: [group_rows][vectors] */
  tri_letters_thread *letters; /**< of sequences, but for PAIRED; else NULL */
  tri_pairs_thread *pairs;     /**< of sequences, PAIRED; else NULL */
} tri_thread;

/** Sequences: values of rows from lo on, [rows][ld], from column `first` on. */
typedef struct tri_matrix {
  void *values;
  int64_t room; /**< in values */
  int64_t lo, first, ld;
} tri_matrix;

/** HISTOGRAM with tri_has_cells(): tri_cpu_cells.c. */
typedef struct tri_cells tri_cells;

struct tsl_worker {
  const tri_params *p; /**< not owned; with params.streamed those of `records` */
  const tri_kernels *kernels;
  tri_view view;
  int t; /**< 0 f32, 1 f64 */
  int64_t value_bytes;
  bool blas;  /**< values come from matrix products */
  bool begun; /**< a phase has: trials are over */
  int threads;
  int fill_rows;       /**< rows of one fill */
  int64_t group_rows;  /**< rows of one task */
  int64_t columns;     /**< columns of one block */
  int64_t row_stride;  /**< of thread->values, in elements */
  int copies;          /**< HISTOGRAM */
  int64_t bins_room;   /**< HISTOGRAM: bins + 1 rounded up to a cache line */
  int64_t cache_bytes; /**< slabs above this are stored past the caches */
  double slow;         /**< TSL_TEST_SLOW */
  tri_bodies bodies;   /**< GRAVITY; p is owned */
  double acceleration_factor, potential_factor;
  tri_thread *thread;         /**< [threads] */
  const int32_t *order;       /**< near: [n] the input's point at each place; not owned */
  tri_tree tree;              /**< near */
  tri_cells *cells;           /**< HISTOGRAM with tri_has_cells() */
  const tsl_problem *problem; /**< not owned */
  int function; /**< of the kernels: params.function, or sqeuclidean where roots change nothing */
  double cut;   /**< values of that function beyond it do not matter; topk: infinite */
  bool nearest; /**< rows keep the k nearest, which cut what is left to see */
  tri_graph_view graph; /**< of the phase, for the outputs of tri_graph.h; else zero */
  int32_t *uniform; /**< [tree.ld] near: components of nodes in a phase that joins them; or NULL */
  bool skips;       /**< uniform is set */
  int64_t within_room; /**< DBSCAN: values of a row before the k least are kept */
  tri_cpu_equation equation;
  tri_cpu_letters letters;
  tri_matrix matrix;               /**< of sequences, but for PAIRED */
  struct tri_tracer *tracer;       /**< of alignments; else NULL */
  struct tri_cpu_records *records; /**< with params.streamed; else NULL */
  const void *vectors;             /**< SUM: [vectors][n_pad]; not owned */
  void *ones;                      /**< SUM without vectors */

  struct tri_frames_cpu *frames; /**< of a trajectory; then nothing else but p and slow is set */
};

struct tri_job;

/**
 * One row segment of values: columns [lo, hi) of row i. With job.overlap the segment reaches up
 * to that many columns into the next block, which has them too: the output takes columns from
 * where it wants the block boundaries j0 and j1 to be for this row on.
 */
typedef struct tri_row {
  int64_t i;     /**< as rows of the output are counted */
  int64_t self;  /**< as points of the input are; -1 of two sets: no column is the row's own */
  int64_t place; /**< of the row's point */
  int64_t lo, hi;
  int64_t j0, j1;       /**< block; j0 = INT64_MIN for the first block of a row group */
  int64_t slot;         /**< of the rows of the task, 0..group_rows - 1 */
  const int32_t *tiles; /**< near: columns count from the first point of these; or NULL */
  const void *values;
} tri_row;

/** Where the point of the column at place c of the row's values is. */
static inline int64_t tri_column_place(const tri_row *row, int64_t c) {
  const int64_t at = row->lo + c;
  return row->tiles == NULL ? at : (int64_t)row->tiles[at / TRI_TILE] * TRI_TILE + at % TRI_TILE;
}

/** The column at place c of the row's values, counted as in the input. */
static inline int64_t tri_column(const tsl_worker *w, const tri_row *row, int64_t c) {
  const int64_t at = tri_column_place(row, c);
  return row->tiles == NULL ? at : w->order[at];
}

/** How an output consumes values. */
typedef struct tri_job {
  const tsl_unit *unit;
  tsl_part *part;
  void *own;  /**< of the output */
  bool split; /**< the columns of a row may go to several threads, in any order */
  bool past_caches;
  bool direct;     /**< take computes the values itself; row.values is unset */
  int64_t overlap; /**< columns of overlap of the blocks, 0..TRI_LAP; 0 for products */
  /** REQUIRED. */
  tsl_err (*take)(tsl_worker *w, tri_thread *thread, struct tri_job *job, const tri_row *row);
  /** OPTIONAL. Before the rows of a task, and for each of them (row: i and slot) after it. */
  void (*start)(tsl_worker *w, tri_thread *thread, int64_t rows);
  tsl_err (*finish)(tsl_worker *w, tri_thread *thread, struct tri_job *job, const tri_row *row);
} tri_job;

/** The first error of a team of threads is kept and given back after the parallel region. */
typedef struct tri_failure {
  int code; /* tsl_err, read and written atomically */
  tsl_err_copy copy;
} tri_failure;

void tri_failure_note(tri_failure *f, tsl_err err);
static inline bool tri_failure_is(const tri_failure *f) {
  return __atomic_load_n(&f->code, __ATOMIC_ACQUIRE) != TSL_OK;
}
/** The noted error as this thread's error, or TSL_OK. */
tsl_err tri_failure_take(const tri_failure *f);

/** Deal the unit's rows to the threads. */
tsl_err tri_walk(tsl_worker *w, tri_job *job);

/** The same with near pairs alone; scratch memory of it. */
tsl_err tri_search(tsl_worker *w, tri_job *job);
tsl_err tri_finds_create(const tsl_worker *w, struct tri_finds **finds);
void tri_finds_clear(struct tri_finds **finds);

/** Units of each output; parts are filled, seconds excepted. */
tsl_err tri_run_store(tsl_worker *w, const tsl_unit *unit, tsl_part *part);
tsl_err tri_run_threshold(tsl_worker *w, const tsl_unit *unit, tsl_part *part);
tsl_err tri_run_topk(tsl_worker *w, const tsl_unit *unit, tsl_part *part);
tsl_err tri_run_histogram(tsl_worker *w, const tsl_unit *unit, tsl_part *part);
tsl_err tri_run_forces(tsl_worker *w, const tsl_unit *unit, tsl_part *part);
tsl_err tri_run_degree(tsl_worker *w, const tsl_unit *unit, tsl_part *part);
tsl_err tri_run_maximum(tsl_worker *w, const tsl_unit *unit, tsl_part *part);
tsl_err tri_run_graph(tsl_worker *w, const tsl_unit *unit, tsl_part *part);

/** Outputs of tri_graph.h: what rows look for in the phase that begins; scratch memory for it. */
tsl_err tri_graph_open(tsl_worker *w);
void tri_graph_begin(tsl_worker *w);

/** k nearest: before the rows of a task, and the values of one. */
void tri_topk_start(tsl_worker *w, tri_thread *thread, int64_t rows);
tsl_err tri_topk_take(tsl_worker *w, tri_thread *thread, tri_job *job, const tri_row *row);

/** What is beyond it does not matter to the row from the start. */
double tri_first_cut(const tsl_worker *w, int64_t row);

tsl_err tri_run_sum(tsl_worker *w, const tsl_unit *unit, tsl_part *part);
tsl_err tri_run_paired(tsl_worker *w, const tsl_unit *unit, tsl_part *part);

/** SUM: find or make the vectors. */
tsl_err tri_sum_open(tsl_worker *w, const tsl_problem *problem);

/** Sequences: where a range of rows from lo on ends whose values are computed at once; those of
 *  rows [lo, hi), each with all of its columns. */
int64_t tri_matrix_end(const tsl_worker *w, int64_t lo, int64_t hi);
tsl_err tri_matrix_fill(tsl_worker *w, int64_t lo, int64_t hi);
/** Units like this one that take the other threads as long as one takes for the longest row with a
 *  group of the longest columns: with fewer they wait for it. */
int64_t tri_matrix_units(const tsl_worker *w, const tsl_unit *unit);
void tri_matrix_clear(tri_matrix *matrix);

/** Points: values of rows [i, i + rows) x columns [j, j + n) into out, by the deck's function. */
static inline void tri_values(const tsl_worker *w, int64_t i, int rows, int64_t j, int64_t n,
                              void *out, int64_t out_ld) {
  if (w->equation.fill != NULL)
    w->equation.fill(&w->equation.args, i, rows, j, n, out, out_ld);
  else
    w->kernels->fill[w->t][w->function](&w->view, i, rows, j, n, out, out_ld);
}

/** Allocate and free what one thread needs for the output. */
tsl_err tri_thread_create(const tsl_worker *w, tri_thread *thread);
void tri_thread_clear(const tsl_worker *w, tri_thread *thread);

/** Count n bins in 8 copies of the counts, each `room` behind the one before it. */
static inline void tri_count_8(const int32_t *bin, int64_t n, uint32_t *counts, int64_t room) {
  uint32_t *const c1 = counts + room, *const c2 = c1 + room, *const c3 = c2 + room;
  uint32_t *const c4 = c3 + room, *const c5 = c4 + room, *const c6 = c5 + room;
  uint32_t *const c7 = c6 + room;
  int64_t k = 0;
  for (; k + 8 <= n; k += 8) {
    counts[bin[k]]++, c1[bin[k + 1]]++, c2[bin[k + 2]]++, c3[bin[k + 3]]++;
    c4[bin[k + 4]]++, c5[bin[k + 5]]++, c6[bin[k + 6]]++, c7[bin[k + 7]]++;
  }
  for (; k < n; k++) counts[bin[k]]++;
}

/** HISTOGRAM: zero the counts; add them up into total[bins]. */
void tri_histogram_zero(tsl_worker *w);
void tri_histogram_total(tsl_worker *w, uint64_t *total);

/** GRAVITY: pack and scale the bodies, set the factors. */
tsl_err tri_forces_prepare(tsl_worker *w, const tsl_problem *problem);

/** HISTOGRAM with tri_has_cells(): its cells. Totals go to counts[cells] and, where weighted, to
 *  sums[cells], else NULL. tri_cells_clear() also after an error. */
tsl_err tri_cells_create(const tsl_worker *w, const tsl_problem *problem, tri_cells **cells);
void tri_cells_clear(tri_cells **cells);
void tri_cells_zero(tri_cells *cells);
void tri_cells_total(const tri_cells *cells, uint64_t *counts, uint64_t (*sums)[TRI_LIMBS]);
tsl_err tri_run_cells(tsl_worker *w, const tsl_unit *unit, tsl_part *part);

/** THRESHOLD: free a list. */
void tri_hits_clear(tri_hits *hits);

extern const tsl_backend tri_backend_cpu;
