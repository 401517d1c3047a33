/* Our own kernels of fractal in fp32. */
#include "fractal_auto.cuh"

template tsl_err fractal_auto_run<float>(fractal_gpu *w, int64_t n);
