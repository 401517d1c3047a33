/* The benchmarks of `tesela bench` on a socket. */
#include "bench_cpu.h"

#include <stddef.h>

const tsl_bench tsl_cpu_benches[] = {
    {"dp-cpu", "dynamic programming on this socket: each engine beside its goal, parasail, edlib",
     dp_bench_cpu},
    {"fractal-cpu", "escape-time images on this socket: plain schedules, our own, theory",
     fractal_bench_cpu},
    {"tri-cpu", "all pairs on this socket: distances, gravity, histogram, correlation",
     tri_bench_cpu},
#ifdef TSL_HAVE_XC
    {"xc-cpu", "exchange-correlation builds on this socket: parts, cache, sharing, scalar code",
     xc_bench_cpu},
#endif
    {NULL, NULL, NULL},
};
