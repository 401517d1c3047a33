/* Our own kernels of fractal in fp64. */
#include "fractal_auto.cuh"

template tsl_err fractal_auto_run<double>(fractal_gpu *w, int64_t n);
