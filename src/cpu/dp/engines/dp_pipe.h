/**
 * @file dp_pipe.h
 * Strips of a table in step: strip s may compute its block b of rows when strip s - 1 has finished
 * its own block b. Threads take strips in order, so that none waits for a strip nobody has taken.
 */
#pragma once

#include "error.h"

#include <stdint.h>

/** Computes block `block` of strip `strip`; thread is 0..threads-1, for scratch memory. */
typedef void (*dp_pipe_fn)(void *context, int64_t strip, int64_t block, int thread);

/**
 * Call fn for all strips and blocks; left to right within a block, top to bottom within a strip.
 * @param[in] threads  at least 1
 * @return TSL_ERR_MEMORY
 */
tsl_err dp_pipe_run(int threads, int64_t strips, int64_t blocks, dp_pipe_fn fn, void *context);
