/* Cells with inner indices, in memory: a launch is a step (tsl_dp_step). Those of a wavefront are
 * stored by diagonals, so that threads side by side read and write side by side. */
#include "dp_recur_own.cuh"
#include "integers.h"

enum { STEP_THREADS = 128, MOVE_THREADS = 256 };

static const int64_t SKEWED_BYTES = INT64_C(4) << 30; /* that there are many threads in a step */

tsl_err dp_recur_layers_run(dp_recur_card *w, dp_recur_box b, void *table, int64_t stride,
                            cudaStream_t stream) {
  tsl_err err = TSL_OK;
  dp_step_launch a = {table, stride, b.p0, b.p1, b.q0, b.q1, (int *)w->bad.data, 0, 0, 0};
  const int64_t steps = dp_code_steps(&w->code, &a);
  for (; a.step < steps; a.step++) {
    const int64_t threads = dp_code_step_threads(&w->code, &a);
    TSL_TRY(dp_recur_run(w, DP_KERNEL_STEP, tsl_ceil_div(threads, STEP_THREADS), STEP_THREADS,
                         stream, &a));
  }
done:
  return err;
}

/* ------------------------------------------------------------------------ skewed wavefronts */

tsl_err dp_recur_skewed_reserve(dp_recur_card *w, int64_t rows, int64_t columns, int64_t *most) {
  tsl_err err = TSL_OK;
  for (*most = rows;; *most = (*most + 1) / 2) {
    const int64_t lines = *most + 1, diagonals = *most + columns + 1;
    const bool fits = (double)lines * (double)diagonals * (double)w->bytes <= (double)SKEWED_BYTES;
    if (!fits && *most > 1) continue;
    err = tsl_gpu_reserve(&w->card->memory, &w->skewed, lines * diagonals * w->bytes,
                          "cells of a launch");
    if (err != TSL_ERR_DEVICE_MEMORY || *most == 1) return err;
  }
}

/* Value by value; a thread a value of a cell. */
template <class U>
static __global__ void __launch_bounds__(MOVE_THREADS)
    move_kernel(U *skewed, int64_t lines, int values, dp_recur_box cells, U *plain, int64_t stride,
                bool out) {
  const int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  const int64_t row = (cells.q1 - cells.q0) * values, y = n / row, x = n - y * row;
  if (y >= cells.p1 - cells.p0) return;
  const int64_t r = cells.p0 + y, c = cells.q0 + x / values;
  U *const here = skewed + ((r + c) * values + x % values) * lines + r;
  U *const there = plain + y * stride * values + x;
  if (out)
    *there = *here;
  else
    *here = *there;
}

static tsl_err move(dp_recur_card *w, int64_t rows, dp_recur_box cells, void *plain, int64_t stride,
                    bool out) {
  const int64_t count = (cells.p1 - cells.p0) * (cells.q1 - cells.q0) * w->code.values;
  return dp_recur_by_bytes(w, [=](auto zero) {
    typedef decltype(zero) U;
    tsl_err err = TSL_OK;
    TSL_LAUNCH((move_kernel<U>), dim3((unsigned)tsl_ceil_div(count, MOVE_THREADS)), MOVE_THREADS, 0,
               w->card->stream, (U *)w->skewed.data, rows + 1, (int)w->code.values, cells,
               (U *)plain, stride, out);
  done:
    return err;
  });
}

tsl_err dp_recur_skewed_put(dp_recur_card *w, int64_t rows, dp_recur_box cells, const void *plain) {
  return move(w, rows, cells, (void *)plain, cells.q1 - cells.q0, false);
}

tsl_err dp_recur_skewed_get(dp_recur_card *w, int64_t rows, dp_recur_box cells, void *plain,
                            int64_t stride) {
  return move(w, rows, cells, plain, stride, true);
}
