/** @file triples_bench.cuh  Measurements of triples. */
#pragma once

#include "contract.h"

/** `tesela bench maps3`. */
tsl_err triples_bench_maps(int argc, char **argv);
