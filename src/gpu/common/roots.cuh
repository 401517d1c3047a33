/**
 * @file roots.cuh
 * Square roots and their reciprocals in fp32 that round as IEEE 754 asks, without the branches of
 * the general ones, for numbers of a range (tests gpu.tri.sqrt).
 */
#pragma once

#include <cuda_runtime.h>
#include <math.h>

/* The usual fast path of an IEEE square root: inside this range of bits, [2^-101, FLT_MAX], one
 * Newton step from rsqrt.approx rounds correctly. Zero, subnormal and tiny numbers are outside. A
 * caller that has checked says so with __builtin_assume, and the branch disappears. */
#define TSL_SQRT_FIRST 0x0d000000u
#define TSL_SQRT_SPAN 0x727fffffu

#ifdef __CUDACC__
/** sqrt(x) of x inside. */
static __device__ __forceinline__ float tsl_sqrt_inside(float x) {
  float y, s, r;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  s = __fmul_rn(x, y);
  r = __fmaf_rn(-s, s, x);
  return __fmaf_rn(r, __fmul_rn(0.5f, y), s);
}

/** 1 / sqrt(x) of x inside, rounded twice: the root is in [2^-51, 2^64], where one Newton step
 *  from rcp.approx rounds correctly. */
static __device__ __forceinline__ float tsl_inverse_root_inside(float x) {
  const float root = tsl_sqrt_inside(x);
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(root));
  return __fmaf_rn(y, -__fmaf_rn(y, root, -1.0f), y);
}
#endif

static __host__ __device__ __forceinline__ float tsl_sqrt_f32(float x) {
#ifdef __CUDA_ARCH__
  return __float_as_uint(x) - TSL_SQRT_FIRST <= TSL_SQRT_SPAN ? tsl_sqrt_inside(x) : __fsqrt_rn(x);
#else
  return sqrtf(x);
#endif
}

/** 1 / sqrt(x) of x inside; tsl_inverse_root_inside on a card. */
static __host__ __device__ __forceinline__ float tsl_inverse_root_f32(float x) {
#ifdef __CUDA_ARCH__
  return tsl_inverse_root_inside(x);
#else
  return 1.0f / sqrtf(x);
#endif
}
