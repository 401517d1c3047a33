/**
 * @file triples_kernels.h
 * The kernels of one SIMD level, compiled once for each by tsl_simd (tools/cmake/TslSimd.cmake).
 * All are bit-identical on every level: the formulas of triples_fn.h without contraction, vectors
 * over columns only.
 */
#include "triples_cpu.h"
#include "triples_fn.h"

#include <string.h>

#define SIMD _Pragma("omp simd")
#define UNROLL _Pragma("GCC unroll 8")

/* ROWS rows of pairs share what is loaded of a column: with three constants and two sums of each
 * pair as many as there are registers for. Both divide TILE. */
#ifdef __AVX512F__
enum { TILE = TRIPLES_TILE, ROWS = 4, VECTOR_BYTES = 64 };
#else
enum { TILE = TRIPLES_TILE, ROWS = 2, VECTOR_BYTES = 32 };
#endif

#define R float
#define T(name) name##_f32
#include "triples_kernels_body.h"
#define R double
#define T(name) name##_f64
#include "triples_kernels_body.h"

const triples_kernels TSL_SIMD_TABLE = {
    .level = TSL_SIMD_LEVEL,
    .scratch_bytes = sizeof(scratch_f64),
    .slopes = {slopes_f32, slopes_f64},
    .columns = {columns_f32, columns_f64},
    .row = {row_f32, row_f64},
    .neighbours = {neighbours_f32, neighbours_f64},
    .triangles = {triangles_f32, triangles_f64},
};
