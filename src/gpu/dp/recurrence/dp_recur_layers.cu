/* Cells with a third index, in memory: a launch is a step (tsl_dp_step). */
#include "dp_recur_own.cuh"
#include "integers.h"

enum { STEP_THREADS = 128 };

tsl_err dp_recur_layers_run(dp_recur_card *w, dp_recur_box b, void *table, int64_t stride,
                            cudaStream_t stream) {
  tsl_err err = TSL_OK;
  dp_step_launch a = {table, stride, b.p0, b.p1, b.q0, b.q1, 0, 0, (int *)w->bad.data};
  const int64_t steps = dp_code_steps(&w->code, &a);
  for (; a.step < steps; a.step++) {
    const int64_t threads = dp_code_step_threads(&w->code, &a);
    TSL_TRY(dp_recur_run(w, DP_KERNEL_STEP, tsl_ceil_div(threads, STEP_THREADS), STEP_THREADS,
                         stream, &a));
  }
done:
  return err;
}
