/**
 * @file xc_gpu_slices.cuh
 * Energies and electrons of a slice: of a block of XC_SLICE threads, a point each.
 */
#pragma once

#include "xc_gpu.cuh"

/** The sums of the block's points, in a fixed order, by thread 0. */
static __device__ __forceinline__ void xc_add_slice(double sums[XC_N_INTEGRALS], double *out) {
  __shared__ double all[XC_N_INTEGRALS][XC_SLICE / XC_WARP];
  for (int s = 0; s < XC_N_INTEGRALS; s++) {
    for (int d = XC_WARP / 2; d > 0; d /= 2) sums[s] += __shfl_down_sync(0xffffffff, sums[s], d);
    if (threadIdx.x % XC_WARP == 0) all[s][threadIdx.x / XC_WARP] = sums[s];
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int s = 0; s < XC_N_INTEGRALS; s++) {
    double sum = 0;
    for (int k = 0; k < XC_SLICE / XC_WARP; k++) sum += all[s][k];
    out[s] = sum;
  }
}
