/**
 * @file tri_host_threads.cuh
 * What a card's rank does with the cores of its host while it computes: reading of frames and
 * records. The threads are its own, as those of parallel.h may be at work for the main thread.
 */
#pragma once

#include "error.h"

#include <stdint.h>

/** Cores that this process may use, for its threads of the host; 64 at most. */
int tri_usable_cores(void);

/** @param[in] thread  in 0..threads - 1, of one item at a time */
typedef tsl_err (*tri_host_item)(void *context, int thread, int64_t item);

/**
 * Items [0, n), begun in rising order, on so many threads, of which the caller is the first; those
 * that cannot begin are not missed. Returns when all have ended.
 * @return the error of the lowest item that fails; items not begun by then are left out
 */
tsl_err tri_host_threads_run(int threads, int64_t n, tri_host_item run, void *context);
