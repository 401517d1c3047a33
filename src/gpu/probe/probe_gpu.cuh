/**
 * @file probe_gpu.cuh
 * What `tesela probe` measures on a card, private to src/gpu.
 */
#pragma once

#include "gpu.cuh"
#include "probe.h"

#include <cmath>

/** All figures of the card of this thread; about two seconds. */
tsl_err tsl_gpu_probe(const tsl_device *device, tsl_figures *figures);

/** What the groups share. */
struct probe_card {
  cudaStream_t stream;
  tsl_gpu_timer timer;
  tsl_gpu_memory memory;
  tsl_gpu_buffer a, b; // words each
  int64_t words;       // floats of a and of b, far beyond the second-level cache
  int processors;
  int capability;
  double peak_bytes; // bytes a second by clock and bus width; 0: the driver does not tell
  double clock;      // Hz
};

/** Appends figures; waits for its kernels. @return TSL_ERR_DEVICE, TSL_ERR_DEVICE_MEMORY,
 *  TSL_ERR_MEMORY; TSL_ERR_INTERNAL: too many figures */
typedef tsl_err (*probe_part)(probe_card *card, tsl_figures *figures);

/** In their order, NULL-ended: device memory; the chip; how code is written; transfers between host
 *  and card, and launches. */
extern const probe_part probe_memory[], probe_on_chip[], probe_code[], probe_transfers[];

/** Best device seconds of a few runs of launch(), a callable that returns tsl_err. */
template <class Launch>
static tsl_err probe_best(probe_card *card, Launch launch, double *seconds) {
  enum { RUNS = 5 };
  tsl_err err = TSL_OK;
  *seconds = INFINITY;
  TSL_TRY(launch()); // warms up
  for (int run = 0; run < RUNS; run++) {
    double now = 0;
    TSL_TRY(tsl_gpu_timer_start(&card->timer, card->stream));
    TSL_TRY(launch());
    TSL_TRY(tsl_gpu_timer_stop(&card->timer, card->stream, &now));
    *seconds = fmin(*seconds, now);
  }
done:
  return err;
}

/** Blocks that fill the card eight times. */
static inline unsigned probe_grid(const probe_card *card) {
  return (unsigned)(card->processors * 8);
}

/** Best seconds of one launch of a kernel. */
template <class Kernel, class... Arguments>
static tsl_err probe_kernel(probe_card *card, double *seconds, dim3 grid, dim3 block, Kernel kernel,
                            Arguments... arguments) {
  return probe_best(
      card,
      [&]() -> tsl_err {
        tsl_err err = TSL_OK;
        TSL_LAUNCH(kernel, grid, block, 0, card->stream, arguments...);
      done:
        return err;
      },
      seconds);
}
