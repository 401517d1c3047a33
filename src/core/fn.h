/**
 * @file fn.h
 * One source for formulas shared by C and CUDA.
 *
 * A body marked TSL_FN compiles as `static inline` C for the sockets and as a
 * `__host__ __device__` function for the cards. No body may rely on contraction:
 * the project is built with -ffp-contract=off and --fmad=false, so a*b+c rounds twice
 * on both; write tsl_fma_* where one rounding is wanted. Then CPU and GPU agree bit for bit.
 */
#pragma once

#include <math.h>

#ifdef __CUDACC__
#define TSL_FN static __host__ __device__ __forceinline__
#else
#define TSL_FN static inline __attribute__((always_inline))
#endif

/** Before a loop with constant bounds: on a card all its turns are written out, so that arrays
 *  indexed by it are registers. */
#ifdef __CUDA_ARCH__
#define TSL_UNROLL _Pragma("unroll")
#else
#define TSL_UNROLL
#endif

/** Before a loop: its turns do not depend on each other, so that it may be vectorised. */
#ifdef __clang__
#define TSL_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define TSL_INDEPENDENT _Pragma("GCC ivdep")
#endif

/** Before a function of a host: compiled for each level of x86-64, chosen when the program starts;
 *  without contraction the same operations and bits. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define TSL_LEVELS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TSL_LEVELS
#endif
