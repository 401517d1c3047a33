/**
 * @file gpu_library.cuh
 * Libraries of the CUDA Toolkit that are loaded when something first needs them: together they take
 * longer to load than many runs last, most runs need none, and a program with cards starts where
 * they are missing.
 *
 * Loaded they stay for the life of the program. Any thread.
 */
#pragma once

#include <dlfcn.h>

/** libNAME.so.MAJOR, by the search of the dynamic linker, from the folder of the toolkit that this
 *  program was built with, or from where a toolkit usually is; NULL: it is in none. */
void *tsl_gpu_library(const char *name, int major);

/** @return whether the library has the function */
template <class F> bool tsl_gpu_function(void *library, const char *name, F *out) {
  *out = (F)dlsym(library, name);
  return *out != NULL;
}
