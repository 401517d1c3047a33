/**
 * @file fractal_cpu.h
 * The family fractal on a socket, private to src/cpu.
 *
 * Kernels (one source for each SIMD level, no OpenMP) take pieces of pixels from a source until it
 * is dry. Sources cut the units of one run call: row pieces for exact images (fractal_cpu.c), tiles
 * whose uniform borders are filled for exact = 0 (fractal_cpu_fill.c). The other schedules deal
 * rows or pixels to plain loops (fractal_cpu_plain.c).
 */
#pragma once

#include "cpu.h"
#include "fractal.h"

/** Pixels of one unit that a kernel takes together. */
typedef struct fractal_piece {
  const void *x, *y;    /**< coordinates, [n] of params.type; y [1] when one_y; not owned */
  bool one_y;           /**< all pixels have the ordinate y[0] */
  void *out;            /**< value i goes to out[place == NULL ? i : place[i]]; not owned */
  const int64_t *place; /**< [n] or NULL; not owned */
  int64_t n;            /**< >= 1 */
  int64_t unit;         /**< its steps are booked on counts.work[unit] */
} fractal_piece;

/** What a thread counts. */
typedef struct fractal_counts {
  uint64_t totals[FRACTAL_N_TOTALS]; /**< kernels count values and inside only */
  double *work; /**< [units of the run call] steps done, to share out the time; NULL: not wanted;
                     not owned */
} fractal_counts;

/** Where a kernel takes its pieces from. The arrays of a piece live until the next is taken; out
 *  until the kernel returns. */
typedef struct fractal_source {
  bool (*next)(struct fractal_source *source, fractal_piece *piece);
} fractal_source;

/** The kernels of one SIMD level; index [0] is f32, [1] is f64. All levels give the same values. */
typedef struct fractal_kernels {
  int level;
  /** Values of all pieces of the source; returns when it is dry and each value is stored. */
  void (*paint[2])(const fractal_params *p, fractal_source *source, fractal_counts *counts);
  /** Values of a piece by fractal_plain, pixel by pixel; place is not used. */
  void (*plain[2])(const fractal_params *p, const fractal_piece *piece);
  /** Mandelbrot by u u - v v + x, 2 u v + y with one_y, each operation rounded: values differ near
   *  the border; for benchmarks only. */
  void (*textbook[2])(const fractal_params *p, const fractal_piece *piece);
  /** Rounds of independent fused multiply-adds, for benchmarks; returns their operations. */
  double (*peak[2])(int64_t rounds);
} fractal_kernels;

/** The kernels for an x86-64 level (2, 3, 4). Made by tsl_simd (tools/cmake/TslSimd.cmake). */
const fractal_kernels *fractal_kernels_at(int level);

/** One run call: units and where their values go. */
typedef struct fractal_job {
  const tsl_unit *units; /**< [n]; not owned */
  tsl_part *parts;       /**< [n]; not owned */
  int64_t n;
  int64_t *first; /**< [n + 1] items (pixels; exact = 0: strips) of the units before */
  double *work;   /**< [threads][n] steps */
  int64_t next;   /**< next item to be dealt; atomic */
} fractal_job;

/** Buffers of one thread for exact = 0. */
typedef struct fractal_strip fractal_strip;

struct tsl_worker {
  const fractal_params *p; /**< not owned */
  const fractal_kernels *kernels;
  const char *x, *y; /**< coordinate tables; not owned */
  int t;             /**< 0 f32, 1 f64 */
  int64_t r_bytes, value_bytes;
  int threads;
  double slow;            /**< TSL_TEST_SLOW */
  fractal_strip **strips; /**< exact = 0: [threads] */
  uint64_t totals[FRACTAL_N_TOTALS];
};

static inline int64_t fractal_width(const tsl_unit *unit) {
  return unit->hi[1] - unit->lo[1];
}

/** The unit that item belongs to; 0 <= item < first[n]. */
int64_t fractal_unit_of(const fractal_job *job, int64_t item);

/** Value k of an array of values. */
uint32_t fractal_value(const tsl_worker *w, const void *values, int64_t k);

/** Add the values and zeros among values[0, n) to totals. */
void fractal_count_values(const tsl_worker *w, const void *values, int64_t n, uint64_t *totals);

/** exact = 0: number of strips of a unit; all strips that this thread gets; buffers of a thread. */
int64_t fractal_strip_count(const tsl_unit *unit);
void fractal_strips_run(tsl_worker *w, fractal_job *job, int thread, fractal_counts *counts);
tsl_err fractal_strip_create(fractal_strip **strip);
void fractal_strip_destroy(fractal_strip **strip);

/** A unit by the plain loops of params.schedule on all threads of the worker. */
void fractal_plain_run(tsl_worker *w, const tsl_unit *unit, void *values);

extern const tsl_backend fractal_backend_cpu;
