/**
 * @file warp.cuh
 * Reductions over the 32 lanes of a warp, all of which call them and get the result: one
 * instruction from compute capability 8.0 on, exchanges between lanes before.
 */
#pragma once

#include <cuda_runtime.h>

static __device__ __forceinline__ int tsl_warp_max(int value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(0xffffffffu, value);
#else
  for (int d = 16; d > 0; d /= 2) value = max(value, __shfl_xor_sync(0xffffffffu, value, d));
  return value;
#endif
}

/** value: more than INT32_MIN. */
static __device__ __forceinline__ int tsl_warp_min(int value) {
  return -tsl_warp_max(-value);
}

static __device__ __forceinline__ int tsl_warp_sum(int value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xffffffffu, value);
#else
  for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(0xffffffffu, value, d);
  return value;
#endif
}
