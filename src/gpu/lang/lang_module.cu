/* An image to kernels, by the driver, of which the addresses come from the runtime. */
#include "lang_gpu.cuh"

#include "lang_objects.h"

#include <cuda.h>
#include <string.h>

enum { KERNELS_MAX = 8 };

/* Functions of the driver. */
struct driver {
  decltype(&cuModuleLoadData) load;
  decltype(&cuModuleUnload) unload;
  decltype(&cuModuleGetFunction) function;
  decltype(&cuLaunchKernel) launch;
  decltype(&cuOccupancyMaxActiveBlocksPerMultiprocessor) occupancy;
  decltype(&cuGetErrorName) error_name;
};

struct lang_module {
  driver d;
  CUmodule module;
  const char *const *names;
  int count;
  mutable CUfunction functions[KERNELS_MAX]; /* NULL: not yet looked up */
};

template <class F> static tsl_err find_function(const char *name, F *out) {
  tsl_err err = TSL_OK;
  void *address = NULL;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  TSL_CUDA_TRY(cudaGetDriverEntryPointByVersion(name, &address, 12000, cudaEnableDefault, &found));
#else
  TSL_CUDA_TRY(cudaGetDriverEntryPoint(name, &address, cudaEnableDefault, &found));
#endif
  if (found != cudaDriverEntryPointSuccess || address == NULL)
    TSL_FAIL(TSL_ERR_DEVICE, "card %s: the driver has no %s; it is too old", tsl_gpu_card(), name);
  *out = (F)address;
done:
  return err;
}

static tsl_err find_driver(driver *d) {
  tsl_err err = TSL_OK;
  TSL_TRY(find_function("cuModuleLoadData", &d->load));
  TSL_TRY(find_function("cuModuleUnload", &d->unload));
  TSL_TRY(find_function("cuModuleGetFunction", &d->function));
  TSL_TRY(find_function("cuLaunchKernel", &d->launch));
  TSL_TRY(find_function("cuOccupancyMaxActiveBlocksPerMultiprocessor", &d->occupancy));
  TSL_TRY(find_function("cuGetErrorName", &d->error_name));
done:
  return err;
}

static tsl_err driver_fail(const driver *d, CUresult code, const char *what, int line) {
  const char *name = NULL;
  (void)d->error_name(code, &name);
  return tsl_fail(code == CUDA_ERROR_OUT_OF_MEMORY ? TSL_ERR_DEVICE_MEMORY : TSL_ERR_DEVICE,
                  __FILE__, line, "card %s: compiled code: %s: %s", tsl_gpu_card(), what,
                  name != NULL ? name : "unknown error");
}

#define DRIVER_TRY(call, what)                           \
  do {                                                   \
    const CUresult code_ = (call);                       \
    if (code_ != CUDA_SUCCESS) {                         \
      err = driver_fail(&k->d, code_, (what), __LINE__); \
      goto done;                                         \
    }                                                    \
  } while (0)

tsl_err lang_module_load(const void *image, int64_t n, const char *const *names, int count,
                         lang_module **out) {
  tsl_err err = TSL_OK;
  lang_module *k = NULL;
  void *copy = NULL;
  *out = NULL;
  TSL_CUDA_TRY(cudaFree(NULL)); /* the card's context is there and current */
  TSL_TRY(tsl_alloc(1, sizeof *k, "kernels", (void **)&k));
  k->names = names;
  k->count = count < KERNELS_MAX ? count : KERNELS_MAX;
  TSL_TRY(find_driver(&k->d));
  TSL_TRY(tsl_alloc(n + 1, 1, "image", &copy)); /* PTX ends with a zero */
  memcpy(copy, image, (size_t)n);
  DRIVER_TRY(k->d.load(&k->module, copy), "the compiled code cannot be loaded");
  *out = k;
  k = NULL;
done:
  tsl_free(copy);
  lang_module_unload(&k);
  return err;
}

tsl_err lang_module_open(const tsl_problem *problem, int32_t capability, const char *const *names,
                         int count, lang_module **out) {
  tsl_err err = TSL_OK;
  const void *image = NULL;
  int64_t n = 0;
  TSL_TRY(lang_objects_find(problem, LANG_FIELD_GPU, capability, &image, &n));
  if (image == NULL)
    TSL_FAIL(TSL_ERR_INTERNAL, "card %s: the equation was not compiled for capability %d.%d",
             tsl_gpu_card(), (int)capability / 10, (int)capability % 10);
  TSL_TRY(lang_module_load(image, n, names, count, out));
done:
  return err;
}

void lang_module_unload(lang_module **kernels) {
  if (kernels == NULL || *kernels == NULL) return;
  if ((*kernels)->module != NULL) (void)(*kernels)->d.unload((*kernels)->module);
  tsl_free(*kernels);
  *kernels = NULL;
}

/** An engine's code has its own kernels only, so they are looked up when they are first needed. */
static tsl_err find_kernel(const lang_module *k, int kernel) {
  tsl_err err = TSL_OK;
  if (kernel < 0 || kernel >= k->count)
    TSL_FAIL(TSL_ERR_INTERNAL, "compiled code has no kernel %d", kernel);
  if (k->functions[kernel] == NULL)
    DRIVER_TRY(k->d.function(&k->functions[kernel], k->module, k->names[kernel]), k->names[kernel]);
done:
  return err;
}

tsl_err lang_module_launch(const lang_module *k, int kernel, dim3 grid, int threads,
                           cudaStream_t stream, void **params) {
  tsl_err err = TSL_OK;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return TSL_OK;
  TSL_TRY(find_kernel(k, kernel));
  DRIVER_TRY(k->d.launch(k->functions[kernel], grid.x, grid.y, grid.z, (unsigned)threads, 1, 1, 0,
                         (CUstream)stream, params, NULL),
             k->names[kernel]);
  TSL_TRY(tsl_gpu_launched(k->names[kernel], stream, __FILE__, __LINE__));
done:
  return err;
}

tsl_err lang_module_resident(const lang_module *k, int kernel, int threads, int *blocks) {
  tsl_err err = TSL_OK;
  TSL_TRY(find_kernel(k, kernel));
  DRIVER_TRY(k->d.occupancy(blocks, k->functions[kernel], threads, 0), k->names[kernel]);
  if (*blocks < 1)
    TSL_FAIL(TSL_ERR_DEVICE, "card %s: a block of %s does not fit", tsl_gpu_card(),
             k->names[kernel]);
done:
  return err;
}
