/* By dlopen; one thread at a time. */
#include "gpu_library.cuh"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* The first place's reason counts: the dynamic linker's own search. */
static tsl_err open_library(const tsl_gpu_library *library, void **handle) {
  tsl_err err = TSL_OK;
  static const char *const folders[] = {"", TSL_CUDA_FOLDER "/", "/usr/local/cuda/lib64/"};
  char why[400] = "";
  *handle = NULL;
  for (const char *folder : folders) {
    char file[512];
    (void)snprintf(file, sizeof file, "%slib%s.so.%d", folder, library->name, library->major);
    if (*handle == NULL) *handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    if (*handle == NULL && why[0] == '\0') (void)snprintf(why, sizeof why, "%s", dlerror());
  }
  if (*handle == NULL)
    TSL_FAIL(TSL_ERR_DEVICE,
             "lib%s.so.%d of the CUDA Toolkit cannot be loaded: %s; install it, or compute on "
             "sockets (run.device: cpu)",
             library->name, library->major, why);
done:
  return err;
}

static tsl_err find_functions(const tsl_gpu_library *library, void *handle) {
  tsl_err err = TSL_OK;
  for (int k = 0; k < library->n; k++) {
    void *const found = dlsym(handle, library->functions[k].name);
    if (found == NULL)
      TSL_FAIL(TSL_ERR_DEVICE,
               "lib%s.so.%d has no function %s; this program was built with another", library->name,
               library->major, library->functions[k].name);
    memcpy(library->functions[k].to, &found, sizeof found);
  }
done:
  return err;
}

tsl_err tsl_gpu_library_load(tsl_gpu_library *library) {
  static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
  tsl_err err = TSL_OK;
  void *handle = NULL;
  (void)pthread_mutex_lock(&one);
  if (library->loaded) goto done;
  TSL_TRY(open_library(library, &handle));
  TSL_TRY(find_functions(library, handle));
  library->loaded = true;
done:
  (void)pthread_mutex_unlock(&one);
  return err;
}
