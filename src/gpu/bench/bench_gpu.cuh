/**
 * @file bench_gpu.cuh
 * The benchmarks of `tesela bench` on a card.
 */
#ifndef TSL_GPU_BENCH_GPU_CUH
#define TSL_GPU_BENCH_GPU_CUH

#include "contract.h"

/** Ends with a NULL name. */
extern const tsl_bench tsl_gpu_benches[];

#endif
