/**
 * @file tri_bench.cuh
 * What the measurements share: options, a problem of random points, timing, the write ceiling.
 */
#pragma once

#include "tri_gpu.cuh"

#include <stdio.h>

enum { TRI_BENCH_LIST = 32 };

/** Options of a bench; a bench refuses those that it does not list in its help. */
typedef struct tri_bench_options {
  int64_t n[TRI_BENCH_LIST], block[TRI_BENCH_LIST],
      rows[TRI_BENCH_LIST]; /**< rows: 0 of a square block */
  int n_n, n_block;
  int64_t d, repeat, cutoff;
  double depth;
  bool quick, help;
  FILE *csv; /**< NULL: none; closed by tri_bench_finish */
} tri_bench_options;

/**
 * Read options. allowed: NULL-ended list such as "--n", "--csv".
 * @return TSL_ERR_USAGE for an unknown option or a bad value
 */
tsl_err tri_bench_options_read(int argc, char **argv, const char *const *allowed,
                               tri_bench_options *o);

/** Close the CSV file. @return TSL_ERR_IO when it could not be written */
tsl_err tri_bench_finish(tri_bench_options *o, tsl_err err);

/** Describe and select card 0. @return TSL_ERR_DEVICE without one */
tsl_err tri_bench_select_card(tsl_device *device);

/** A worker on card 0 with random fp32 points. */
typedef struct tri_bench_worker {
  tri_params p;
  tsl_problem problem;
  tsl_worker *worker;
} tri_bench_worker;

/** Fill in n_pad, points in [0, 1) (unit-norm rows when the function needs them), open. */
tsl_err tri_bench_open(tri_bench_worker *b);
void tri_bench_close(tri_bench_worker *b);

/** The worker behind the contract's handle. */
static inline tri_gpu *tri_bench_gpu(tri_bench_worker *b) {
  return (tri_gpu *)b->worker;
}

/** Mean and root mean square deviation over repetitions. */
typedef struct tri_bench_time {
  double mean, rms, best; /**< seconds */
} tri_bench_time;

/** Time work(w) on the worker's stream with events; two runs before do not count. */
template <class W, class F>
tsl_err tri_bench_measure(W *w, int64_t repeat, F work, tri_bench_time *time) {
  tsl_err err = TSL_OK;
  double sum = 0, squares = 0, seconds = 0;
  time->best = 1e300;
  for (int64_t r = -2; r < repeat; r++) {
    TSL_TRY(tsl_gpu_timer_start(&w->timer, w->stream));
    TSL_TRY(work());
    TSL_TRY(tsl_gpu_timer_stop(&w->timer, w->stream, &seconds));
    if (r < 0) continue;
    sum += seconds;
    squares += seconds * seconds;
    if (seconds < time->best) time->best = seconds;
  }
  time->mean = sum / (double)repeat;
  time->rms = sqrt(fmax(0.0, squares / (double)repeat - time->mean * time->mean));
done:
  return err;
}

/** Mean seconds of a Gaussian kernel sum: by a deck's equation; by hand; by hand with __expf. */
typedef struct tri_bench_sums {
  double deck, hand, fast;
} tri_bench_sums;
tsl_err tri_bench_sum(int64_t n, int64_t repeat, tri_bench_sums *out);

/** Best write rate of the card in bytes/s: cudaMemset and a kernel of 16-byte stores, on a buffer.
 */
tsl_err tri_bench_ceiling(tri_gpu *w, void *buffer, int64_t bytes, double *rate);
