/* The table of functions is filled once, whichever thread is the first. */
#include "gpu_blas.cuh"

#include "gpu_library.cuh"

tsl_blas_functions tsl_blas;

/* The names in the library are those that cublas_v2.h defines. */
#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)

static bool load_blas(void) {
  void *library = tsl_gpu_library("cublas", CUBLAS_VER_MAJOR);
  bool whole = library != NULL;
#define TSL_BLAS(name) \
  whole = whole && tsl_gpu_function(library, TEXT(cublas##name), &tsl_blas.name);
#include "gpu_blas.def"
  return whole;
}

tsl_err tsl_blas_create(cudaStream_t stream, cublasHandle_t *handle) {
  tsl_err err = TSL_OK;
  static const bool loaded = load_blas();
  *handle = NULL;
  if (!loaded)
    TSL_FAIL(TSL_ERR_DEVICE,
             "cuBLAS is not here (libcublas.so.%d, of the CUDA Toolkit): install it, or compute on "
             "sockets (run.device: cpu)",
             CUBLAS_VER_MAJOR);
  TSL_BLAS_TRY(tsl_blas.Create(handle));
  TSL_BLAS_TRY(tsl_blas.SetStream(*handle, stream));
done:
  if (err != TSL_OK) tsl_blas_destroy(handle);
  return err;
}

void tsl_blas_destroy(cublasHandle_t *handle) {
  if (*handle != NULL) (void)tsl_blas.Destroy(*handle);
  *handle = NULL;
}
