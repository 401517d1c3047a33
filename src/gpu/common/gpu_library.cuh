/**
 * @file gpu_library.cuh
 * Libraries of the CUDA Toolkit that are loaded when something first needs them: together they take
 * longer to load than many runs last, most runs need none, and a program with cards starts where
 * they are missing.
 */
#pragma once

#include "error.h"

/** A function of a library. */
struct tsl_gpu_function {
  const char *name;
  void *to; /**< the pointer to functions of its type that gets the address */
};

/** A library and what is called of it. */
struct tsl_gpu_library {
  const char *name; /**< libNAME.so.MAJOR */
  int major;
  const tsl_gpu_function *functions; /**< [n] */
  int n;
  bool loaded; /**< then all functions are there */
};

/**
 * Load it, if it is not: as the dynamic linker finds it, from the folder of the toolkit that this
 * program was built with, or from where a toolkit usually is. It stays for the life of the program.
 * Any thread.
 * @return TSL_ERR_DEVICE when it is in none, or lacks a function: which, and why
 */
tsl_err tsl_gpu_library_load(tsl_gpu_library *library);
