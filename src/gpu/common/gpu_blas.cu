/* The list of functions becomes a table, and what is to be found for it. */
#include "gpu_blas.cuh"

#include "gpu_library.cuh"

tsl_blas_functions tsl_blas;

/* The names in the library are those that cublas_v2.h defines. */
#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)

static const tsl_gpu_function functions[] = {
#define TSL_BLAS(name) {TEXT(cublas##name), &tsl_blas.name},
#include "gpu_blas.def"
#undef TSL_BLAS
};
static tsl_gpu_library library = {"cublas", CUBLAS_VER_MAJOR, functions,
                                  sizeof functions / sizeof *functions};

tsl_err tsl_blas_create(cudaStream_t stream, cublasHandle_t *handle) {
  tsl_err err = TSL_OK;
  *handle = NULL;
  TSL_TRY(tsl_gpu_library_load(&library));
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
