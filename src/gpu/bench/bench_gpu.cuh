/**
 * @file bench_gpu.cuh
 * The benchmarks of `tesela bench` on a card.
 */
#pragma once

#include "gpu.cuh"

/** Ends with a NULL name. */
extern const tsl_bench tsl_gpu_benches[];

/** Shortest time of work() on the stream of a worker or card, seconds; one run before does not
 *  count. */
template <class W, class F> tsl_err bench_best(W *w, int64_t repeat, F work, double *best) {
  tsl_err err = TSL_OK;
  double seconds = 0;
  *best = 1e300;
  for (int64_t r = -1; r < repeat; r++) {
    TSL_TRY(tsl_gpu_timer_start(&w->timer, w->stream));
    TSL_TRY(work());
    TSL_TRY(tsl_gpu_timer_stop(&w->timer, w->stream, &seconds));
    if (r >= 0 && seconds < *best) *best = seconds;
  }
done:
  return err;
}
