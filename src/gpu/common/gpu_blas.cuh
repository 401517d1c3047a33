/**
 * @file gpu_blas.cuh
 * cuBLAS, loaded with the first handle (gpu_library.cuh), and its calls checked as TSL_CUDA_TRY of
 * gpu.cuh checks those of CUDA.
 */
#pragma once

#include "gpu.cuh"

#include <cublas_v2.h>

/** cublasCreate is tsl_blas.Create, and so on; not before tsl_blas_create. */
struct tsl_blas_functions {
#define TSL_BLAS(name) decltype(&cublas##name) name;
#include "gpu_blas.def"
#undef TSL_BLAS
};
extern tsl_blas_functions tsl_blas;

#define TSL_BLAS_TRY(call)                                                                   \
  do {                                                                                       \
    const cublasStatus_t status_ = (call);                                                   \
    if (status_ != CUBLAS_STATUS_SUCCESS)                                                    \
      TSL_FAIL((tsl_err)(status_ == CUBLAS_STATUS_ALLOC_FAILED ? TSL_ERR_DEVICE_MEMORY       \
                                                               : TSL_ERR_DEVICE),            \
               "card %s: %s: %s", tsl_gpu_card(), #call, tsl_blas.GetStatusString(status_)); \
  } while (0)

/** A handle for the selected card, whose calls go to the stream. Any thread.
 *  @param[out] handle  tsl_blas_destroy() ends it; NULL on failure
 *  @return TSL_ERR_DEVICE, when the library is not here, too */
tsl_err tsl_blas_create(cudaStream_t stream, cublasHandle_t *handle);
/** NULL is accepted, and left. */
void tsl_blas_destroy(cublasHandle_t *handle);
