/** @file triples_bench.cuh  Measurements of triples. */
#ifndef TSL_GPU_TRIPLES_BENCH_CUH
#define TSL_GPU_TRIPLES_BENCH_CUH

#include "contract.h"

/** `tesela bench maps3`. */
tsl_err triples_bench_maps(int argc, char **argv);

#endif
