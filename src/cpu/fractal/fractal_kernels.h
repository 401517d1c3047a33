/**
 * @file fractal_kernels.h
 * The kernels of one SIMD level, compiled once for each by tsl_simd (tools/cmake/TslSimd.cmake),
 * which names the table in TSL_SIMD_TABLE and the level's number in TSL_SIMD_LEVEL. Values are the
 * same on every level, bit for bit those of fractal_plain.
 */
#include "fractal_cpu.h"
#include "fractal_fn.h"

#include <string.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#define LANE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")
/* Stores before this are made here: moved out of a loop they would cost registers in it. */
#define KEEP __asm__ volatile("" ::: "memory")

#if defined __AVX512F__ && defined __AVX512DQ__
#define FRACTAL_LANES "fractal_lanes_avx512.h"
#elif defined __AVX2__ && defined __FMA__
#define FRACTAL_LANES "fractal_lanes_avx2.h"
#else
#define FRACTAL_LANES "fractal_lanes_plain.h"
#endif

enum {
  BLOCK = 16, /**< steps between two tests of a lane */
  FLY = 6,    /**< vectors in flight of the long run, to hide the latency of its operations */
  FEW = 4,    /**< vectors in flight while each step is tested */
  SAVES = 8   /**< blocks between two looks for states to be kept, to see them repeat */
};

/** Where the value of a pixel goes. */
typedef struct target {
  void *out; /**< NULL: nowhere, the lane is idle */
  int64_t unit;
} target;

#define R float
#define REAL_F64 0
#define T(name) name##_f32
#include FRACTAL_LANES
#include "fractal_kernels_body.h"
#include "fractal_kernels_paint.h"
#undef R
#undef REAL_F64
#undef T
#define R double
#define REAL_F64 1
#define T(name) name##_f64
#include FRACTAL_LANES
#include "fractal_kernels_body.h"
#include "fractal_kernels_paint.h"
#undef R
#undef REAL_F64
#undef T

const fractal_kernels TSL_SIMD_TABLE = {
    .level = TSL_SIMD_LEVEL,
    .paint = {paint_f32, paint_f64},
    .plain = {plain_f32, plain_f64},
    .textbook = {textbook_f32, textbook_f64},
    .peak = {peak_f32, peak_f64},
};
