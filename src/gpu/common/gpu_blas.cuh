/**
 * @file gpu_blas.cuh
 * Checked calls of cuBLAS, as TSL_CUDA_TRY of gpu.cuh checks those of CUDA.
 */
#pragma once

#include "gpu.cuh"

#include <cublas_v2.h>

#define TSL_BLAS_TRY(call)                                                                \
  do {                                                                                    \
    const cublasStatus_t status_ = (call);                                                \
    if (status_ != CUBLAS_STATUS_SUCCESS)                                                 \
      TSL_FAIL((tsl_err)(status_ == CUBLAS_STATUS_ALLOC_FAILED ? TSL_ERR_DEVICE_MEMORY    \
                                                               : TSL_ERR_DEVICE),         \
               "card %s: %s: %s", tsl_gpu_card(), #call, cublasGetStatusString(status_)); \
  } while (0)
