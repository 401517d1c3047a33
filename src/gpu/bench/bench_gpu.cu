/* The benchmarks of `tesela bench` on a card. */
#include "bench_gpu.cuh"

#include "dp_bench.cuh"
#include "fractal_bench.cuh"
#include "tri_gpu.cuh"
#include "triples_bench.cuh"
#ifdef TSL_HAVE_XC
#include "xc_bench.cuh"
#endif

const tsl_bench tsl_gpu_benches[] = {
    {"dp", "dynamic programming on a card: each engine beside its goal and published figures",
     dp_bench},
    {"maps", "maps from thread block to tile of a triangle: the seed's tables", tri_bench_maps},
    {"maps3", "maps from thread block to tile of a tetrahedron, and three-body forces",
     triples_bench_maps},
    {"tri", "all-pairs kernels against their goals and cuBLAS", tri_bench_goals},
    {"fractal", "escape-time images: goals, the seed's table and theory", fractal_bench},
    {"fractal-share", "one managed image that card and host write: the best fixed share",
     fractal_bench_share},
    {"fractal-tune", "escape-time images: when warps refill and test", fractal_bench_tune},
#ifdef TSL_HAVE_XC
    {"xc", "the exchange-correlation matrix on a card: bounds and published figures", xc_bench},
#endif
    {NULL, NULL, NULL},
};
