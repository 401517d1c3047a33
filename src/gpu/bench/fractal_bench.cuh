/**
 * @file fractal_bench.cuh
 * What the measurements of fractal share: an image on card 0, timing, lines of the table.
 */
#pragma once

#include "bench_gpu.cuh"
#include "fractal_gpu.cuh"
#include "tri_bench.cuh" /* options of a bench */

/** An image of a square view with a worker; values and binary are as large as the image needs. */
typedef struct fractal_bench_image {
  fractal_params p; /**< set before open; w->p is what the kernels follow */
  double centre[2], width;
  tsl_problem problem;
  tsl_worker *worker;
  fractal_gpu *w; /**< the same */
  tsl_unit unit;  /**< all of it */
  tsl_part part;  /**< slab: pinned host memory for the values */
  void *binary;   /**< pinned host memory, one byte for each pixel */
  tsl_gpu_buffer binary_device;
  void *binary_managed;
  uint64_t totals[FRACTAL_N_TOTALS];
} fractal_bench_image;

/** Whole Mandelbrot set, or a view inside it, resolution x resolution pixels. */
void fractal_bench_view(fractal_bench_image *b, bool inside, int64_t resolution, int64_t maxiter);
/** Coordinates, worker, pinned memory; p and view are set. */
tsl_err fractal_bench_open(fractal_bench_image *b);
void fractal_bench_close(fractal_bench_image *b);

/** Values and totals; waits. The totals are read to b->totals. */
tsl_err fractal_bench_image_run(fractal_bench_image *b);
/** Image, mean, binarised image, and both on the host, by w->p.memory, threads and mean; waits. */
tsl_err fractal_bench_pipeline(fractal_bench_image *b);

/** The seed's value of a point, the same bits on card and host. */
static __host__ __device__ __forceinline__ double fractal_seed_escape(double x, double y,
                                                                      int maxiter) {
  double u = 0, v = 0;
  int k = 1;
  while (k < maxiter && u * u + v * v < 4) {
    const double old = u;
    u = u * u - v * v + x;
    v = 2 * old * v + y;
    k++;
  }
  return k >= maxiter ? 0 : k;
}

/** The seed's program on this card: its formula and its types, at its best (pinned host memory). */
typedef struct fractal_seed_times {
  double kernel_1d, kernel_2d, pipeline; /**< seconds; the pipeline with the faster kernel */
} fractal_seed_times;

/** Measure it on the worker's card: the best of repeat runs of each of the three.
 *  @return TSL_ERR_DEVICE, TSL_ERR_DEVICE_MEMORY, TSL_ERR_MEMORY */
tsl_err fractal_seed_measure(fractal_bench_image *b, int64_t repeat, fractal_seed_times *times);

/** Fused multiply-adds in fp64 that the card does: measured, flop/s (two for each). */
tsl_err fractal_bench_peak(fractal_gpu *w, double *flops);

/**
 * One managed image of n x n values in fp64 that card 0 and the host's threads write at once, the
 * card a fixed share of rows, then of columns, found by bisection, beside each alone. All images
 * are the same.
 * @return TSL_ERR_INPUT where card and host cannot, TSL_ERR_DEVICE_MEMORY, TSL_ERR_MEMORY,
 *         TSL_ERR_INTERNAL when an image is another one
 */
tsl_err fractal_share_measure(const tri_bench_options *o, int64_t n, int64_t maxiter);

/** The seed's table, the sums, and the line of theory. */
tsl_err fractal_bench_table(const tri_bench_options *o);
/** The rates that have a goal. */
tsl_err fractal_bench_goals(const tri_bench_options *o);

/** `tesela bench fractal`, `tesela bench fractal-share` and `tesela bench fractal-tune`. */
tsl_err fractal_bench(int argc, char **argv);
tsl_err fractal_bench_share(int argc, char **argv);
tsl_err fractal_bench_tune(int argc, char **argv);
