/** @file xc_bench.cuh  `tesela bench xc`. */
#pragma once

#include "xc_gpu.cuh"

/** Builds of the exchange-correlation matrix of the guess; no iteration is done. */
tsl_err xc_bench(int argc, char **argv);
