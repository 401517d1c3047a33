/**
 * @file sandbox.h
 * A part of the program in a process of its own: for libraries that may die, loop or swallow all
 * memory in a file that is damaged or hostile (HDF5).
 *
 * The process that is started may use 10 s of processor time (anew after each tsl_sandbox_put) and
 * 8 GiB of memory more than the program had. What it does reaches the program by the pipe and by
 * its error only. It must not call MPI or CUDA.
 *
 * A process that forks while others of its threads allocate may leave its child a lock that nobody
 * gives back. So the parts are forked by a starter, a process without threads that a program has
 * begun before its own ones (POSIX.1-2017, fork: only async-signal-safe functions in the child of a
 * process with threads).
 */
#pragma once

#include "error.h"

#include <stdint.h>

/** The two sides of it. */
typedef struct tsl_sandbox_sides {
  /** Over there, with a copy of ask; writes with tsl_sandbox_put. */
  tsl_err (*part)(const void *ask, int to);
  /** Here; reads with tsl_sandbox_get; NULL: nothing comes. */
  tsl_err (*take)(void *arg, int from);
  const void *ask; /**< shape [n_ask] bytes; at most TSL_APART_MOST, without pointers */
  int64_t n_ask;
  void *arg; /**< of take */
} tsl_sandbox_sides;

/** Most bytes of an ask. */
enum { TSL_APART_MOST = 1 << 20 };

/**
 * Begin the starter; called before there are threads (MPI has some). It ends with the program, or
 * by tsl_sandbox_end. Nothing happens when it is there.
 * @return TSL_ERR_INTERNAL when it cannot be started
 */
tsl_err tsl_sandbox_begin(void);

/** End the starter, if any. */
void tsl_sandbox_end(void);

/**
 * Run both sides until both have ended. stdout is flushed before and by the part. Without a starter
 * one is begun for this call.
 * @param[in] path  the file that is read, for messages
 * @return the part's error with its message; else that of take; TSL_ERR_INPUT when the process died
 *         or went over its limits; TSL_ERR_INTERNAL when it cannot be started
 */
tsl_err tsl_sandbox(const char *path, const tsl_sandbox_sides *sides);

/** Send n bytes. @return TSL_ERR_IO when nobody reads */
tsl_err tsl_sandbox_put(int to, const void *bytes, int64_t n);

/** Wait for n bytes. @return TSL_ERR_INPUT when the other side ends before */
tsl_err tsl_sandbox_get(int from, void *bytes, int64_t n);
