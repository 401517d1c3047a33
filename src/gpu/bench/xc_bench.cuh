/** @file xc_bench.cuh  `tesela bench xc`. */
#ifndef TSL_GPU_XC_BENCH_CUH
#define TSL_GPU_XC_BENCH_CUH

#include "xc_gpu.cuh"

/** Builds of the exchange-correlation matrix of the guess; no iteration is done. */
tsl_err xc_bench(int argc, char **argv);

#endif
