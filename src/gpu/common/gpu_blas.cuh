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

/** A handle that nobody uses, of the calling thread. Making one takes longer than small problems. */
struct tsl_gpu_blas_spare {
  cublasHandle_t handle;
  int card;
};

inline tsl_gpu_blas_spare &tsl_gpu_blas_kept() {
  static thread_local tsl_gpu_blas_spare kept = {};
  return kept;
}

/** Give a handle back, which the thread keeps for the next; NULL accepted. *handle becomes NULL. */
inline void tsl_gpu_blas_close(cublasHandle_t *handle) {
  tsl_gpu_blas_spare &kept = tsl_gpu_blas_kept();
  if (*handle == NULL) return;
  if (kept.handle != NULL) (void)cublasDestroy(kept.handle);
  kept.handle = *handle;
  (void)cudaGetDevice(&kept.card);
  *handle = NULL;
}

/** A handle of the selected card whose work goes to this stream; scalars are in the host's memory.
 *  End it with tsl_gpu_blas_close, by the same thread. */
inline tsl_err tsl_gpu_blas_open(cudaStream_t stream, cublasHandle_t *handle) {
  tsl_err err = TSL_OK;
  tsl_gpu_blas_spare &kept = tsl_gpu_blas_kept();
  int card = 0;
  TSL_CUDA_TRY(cudaGetDevice(&card));
  if (kept.handle != NULL && kept.card == card)
    *handle = kept.handle, kept.handle = NULL;
  else
    TSL_BLAS_TRY(cublasCreate(handle));
  TSL_BLAS_TRY(cublasSetStream(*handle, stream));
done:
  return err;
}
