/**
 * @file bench_cpu.h
 * The benchmarks of `tesela bench` on a socket: each reads its own arguments and prints a table.
 */
#pragma once

#include "contract.h"

/** Ends with a NULL name. */
extern const tsl_bench tsl_cpu_benches[];

/** Speeds of the engines beside their goals, and parasail and edlib where they are installed. */
tsl_err dp_bench_cpu(int argc, char **argv);
tsl_err fractal_bench_cpu(int argc, char **argv);
tsl_err tri_bench_cpu(int argc, char **argv);
tsl_err xc_bench_cpu(int argc, char **argv); /**< where TSL_HAVE_XC is set */
