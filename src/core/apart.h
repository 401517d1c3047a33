/**
 * @file apart.h
 * A part of the program in a process of its own: for libraries that may die, loop or swallow all
 * memory in a file that is damaged or hostile (HDF5).
 *
 * The process that is started may use 10 s of processor time (anew after each tsl_apart_put) and
 * 8 GiB of memory more than the program has. What it does reaches the program by the pipe and by
 * its error only. It must not call MPI or CUDA.
 */
#ifndef TSL_CORE_APART_H
#define TSL_CORE_APART_H

#include "error.h"

#include <stdint.h>

/** The two sides of it. */
typedef struct tsl_apart_sides {
  tsl_err (*part)(void *arg, int to);   /**< over there; writes with tsl_apart_put */
  tsl_err (*take)(void *arg, int from); /**< here; reads with tsl_apart_get; NULL: nothing comes */
  void *arg;                            /**< for both; over there a copy */
} tsl_apart_sides;

/**
 * Run both sides until both have ended. stdout is flushed before and by the part.
 * @param[in] path  the file that is read, for messages
 * @return the part's error with its message; else that of take; TSL_ERR_INPUT when the process died
 *         or went over its limits; TSL_ERR_INTERNAL when it cannot be started
 */
tsl_err tsl_apart(const char *path, const tsl_apart_sides *sides);

/** Send n bytes. @return TSL_ERR_IO when nobody reads */
tsl_err tsl_apart_put(int to, const void *bytes, int64_t n);

/** Wait for n bytes. @return TSL_ERR_INPUT when the other side ends before */
tsl_err tsl_apart_get(int from, void *bytes, int64_t n);

#endif
