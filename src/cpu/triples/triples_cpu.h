/**
 * @file triples_cpu.h
 * The family triples on a socket, private to src/cpu. Kernels are one source for each SIMD level
 * (triples_kernels.h); triples_cpu.c deals tiles to threads.
 */
#pragma once

#include "cpu.h"
#include "lang_compile.h"
#include "triples_equation.h"

/** The points as kernels see them. */
typedef struct triples_view {
  const void *x; /**< [3][ld] float or double; not owned */
  int64_t n, ld; /**< points; n_pad */
  double box[3]; /**< INFINITY: none */
  double cutoff2;
  double lo, hi, inverse_width; /**< TRIANGLES: of the bins of a side */
  int bins;
} triples_view;

/** TRIANGLES: neighbours of a point, as their sides' bins and where they are. */
typedef struct triples_list {
  void *x;      /**< [3][room] type of the points */
  int32_t *bin; /**< [room] */
  int64_t n, room;
} triples_list;

/** The kernels of one SIMD level; index [0] is f32, [1] is f64. Pairs are of rows [i, ..) and the
 *  TRIPLES_TILE columns from j on, a multiple of it; slopes are G of triples_fn.h, 0 where the
 *  column is not above the row, or no point. */
typedef struct triples_kernels {
  int level;
  int64_t scratch_bytes; /**< of slopes */
  /** Slopes of TRIPLES_TILE rows, into slopes[row][column], row stride ld. */
  void (*slopes[2])(const triples_view *view, int64_t i, int64_t j, void *scratch, double *slopes,
                    int64_t ld);
  /** Of columns: their sums over the rows [i, i + rows) above them, 2 G (x_j - x_i), into
   *  sums[column][TRIPLES_SUMS], energy 0. */
  void (*columns[2])(const triples_view *view, int64_t i, int64_t rows, int64_t j,
                     const double *slopes, int64_t ld, double *sums);
  /** Of row i: its sums over all columns, added to sums[TRIPLES_SUMS]: 2 G (x_i - x_j), and the
   *  energy. slopes: of its row, from column j, a multiple of TRIPLES_LANES. */
  void (*row[2])(const triples_view *view, int64_t i, int64_t j, const double *slopes,
                 double *sums);
  /** Append to the list the points of places [begin, end) whose side with point i is in a bin. */
  void (*neighbours[2])(const triples_view *view, int64_t i, int64_t begin, int64_t end,
                        triples_list *list);
  /** Count the triangles of a point and any two of its neighbours; counts [bins^3 + 1], the last of
   *  those with a side outside. */
  void (*triangles[2])(const triples_view *view, const triples_list *list, uint64_t *counts);
} triples_kernels;

/** What a thread owns. */
typedef struct triples_thread {
  void *scratch;     /**< AXILROD_TELLER: [kernels->scratch_bytes] */
  triples_list list; /**< TRIANGLES */
  uint64_t *counts;  /**< TRIANGLES: [bins^3 + 1] */
} triples_thread;

/** The function of triples_equation_loops.h. */
typedef void triples_equation_pairs(const triples_equation_args *args, int64_t i, int64_t first,
                                    int64_t end, double *sums);

struct tsl_worker {
  const triples_params *p; /**< not owned */
  const triples_kernels *kernels;
  triples_view view;
  const int32_t *cells; /**< TRIANGLES: TRIPLES_CELLS; not owned */
  int t;                /**< 0 f32, 1 f64 */
  int threads;
  double slow;            /**< TSL_TEST_SLOW */
  triples_thread *thread; /**< [threads] */
  double *slopes;         /**< AXILROD_TELLER: [block_rows][n_pad]; EQUATION: of some rows */
  lang_object *object;    /**< EQUATION: compiled code, its function, and what it gets */
  triples_equation_pairs *pairs, *pair_slopes; /**< NULL without params.slopes */
  triples_equation_args args;
};

/** The kernels for an x86-64 level (2, 3, 4). Made by tsl_simd (tools/cmake/TslSimd.cmake). */
const triples_kernels *triples_kernels_at(int level);

/** TRIANGLES: memory of the threads; count those whose first corner is a row of the unit; the sum
 *  of the threads' counts, and start anew. */
tsl_err triples_triangles_create(tsl_worker *w);
void triples_triangles_run(tsl_worker *w, const tsl_unit *unit);
void triples_triangles_zero(tsl_worker *w);
void triples_triangles_total(const tsl_worker *w, uint64_t *total);

/** EQUATION: tsl_backend.prepare; load what was compiled; sums of the rows of a unit, and
 *  with params.slopes forces [rows][d]. */
tsl_err triples_cpu_prepare(tsl_problem *problem, const tsl_device *devices, int n);
tsl_err triples_equation_create(tsl_worker *w, const tsl_problem *problem,
                                const tsl_device *device);
void triples_equation_run(tsl_worker *w, const tsl_unit *unit, double *sums, double *forces);
