/** @file dp_pipe.c  Strips in step. */
#include "dp_pipe.h"

#include "memory.h"

#include <omp.h>
#include <sched.h>
#include <stdatomic.h>

enum { SPINS = 256 };

/** Blocks that a strip has finished, on a cache line of its own. */
typedef struct progress {
  _Alignas(64) _Atomic int64_t blocks;
} progress;

typedef struct pipe {
  progress *done; /**< [strips] */
  _Atomic int64_t next;
} pipe;

static void wait_for(const progress *strip, int64_t block) {
  for (int spins = 0; atomic_load_explicit(&strip->blocks, memory_order_acquire) <= block;)
    if (++spins >= SPINS) (void)sched_yield();
}

static void run_strips(pipe *p, int64_t strips, int64_t blocks, dp_pipe_fn fn, void *context) {
  const int thread = omp_get_thread_num();
  for (int64_t s; (s = atomic_fetch_add(&p->next, 1)) < strips;)
    for (int64_t b = 0; b < blocks; b++) {
      if (s > 0) wait_for(&p->done[s - 1], b);
      fn(context, s, b, thread);
      atomic_store_explicit(&p->done[s].blocks, b + 1, memory_order_release);
    }
}

tsl_err dp_pipe_run(int threads, int64_t strips, int64_t blocks, dp_pipe_fn fn, void *context) {
  tsl_err err = TSL_OK;
  pipe p = {.done = NULL};
  if (threads > strips) threads = (int)strips;
  if (strips < 1 || blocks < 1) goto done;
  if (threads == 1) {
    for (int64_t s = 0; s < strips; s++)
      for (int64_t b = 0; b < blocks; b++) fn(context, s, b, 0);
    goto done;
  }
  TSL_TRY(tsl_alloc(strips, sizeof *p.done, "progress of strips", (void **)&p.done));
#pragma omp parallel num_threads(threads)
  run_strips(&p, strips, blocks, fn, context);
done:
  tsl_free(p.done);
  return err;
}
