/* By dlopen, which counts how often a library is asked for and loads it once. */
#include "gpu_library.cuh"

#include <stdio.h>

void *tsl_gpu_library(const char *name, int major) {
  static const char *const folders[] = {"", TSL_CUDA_FOLDER "/", "/usr/local/cuda/lib64/"};
  void *library = NULL;
  for (const char *folder : folders) {
    char file[512];
    (void)snprintf(file, sizeof file, "%slib%s.so.%d", folder, name, major);
    if (library == NULL) library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  }
  return library;
}
