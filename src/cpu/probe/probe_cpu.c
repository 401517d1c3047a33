/** @file probe_cpu.c  Arithmetic and branches of a socket, and the order in which its groups of
 * figures are measured. */
#include "probe_cpu.h"

#include <math.h>
#include <omp.h>

double tsl_cpu_best(void (*work)(void *arg), void *arg) {
  enum { RUNS = 5 };
  double best = INFINITY;
  work(arg); /* warms up */
  for (int run = 0; run < RUNS; run++) {
    const double begin = tsl_cpu_seconds();
    work(arg);
    best = fmin(best, tsl_cpu_seconds() - begin);
  }
  return best;
}

/* ---- arithmetic */

typedef struct chains {
  double (*run)(int64_t rounds, double *result);
  int threads;
  double flops;
} chains;

static void run_chains(void *arg) {
  enum { ROUNDS = 200000 };
  chains *c = arg;
  double flops = 0, sink = 0;
#pragma omp parallel num_threads(c->threads) reduction(+ : flops, sink)
  {
    double result = 0;
    flops += c->run(ROUNDS, &result);
    sink += result;
  }
  c->flops = sink == sink ? flops : 0; /* the result is used */
}

static double gflops(double (*run)(int64_t, double *), int threads) {
  chains c = {run, threads, 0};
  const double seconds = tsl_cpu_best(run_chains, &c);
  return c.flops / seconds * 1e-9;
}

static tsl_err probe_arithmetic(const tsl_device *device, tsl_figures *f) {
  tsl_err err = TSL_OK;
  const double one = gflops(tsl_cpu_fma_f64, 1), half = gflops(tsl_cpu_fma_f32, 1);
  const double all = gflops(tsl_cpu_fma_f64, device->threads);
  tsl_figures_group(f, "arithmetic");
  TSL_TRY(tsl_figures_add(f, "multiply-add fp64, one thread", one, "GFLOP/s", 0,
                          "what one core gives when nothing waits for memory"));
  TSL_TRY(tsl_figures_add(f, "multiply-add fp64, all threads", all, "GFLOP/s",
                          one * device->threads,
                          "below the peak: the clock falls, or threads share a core"));
  tsl_figures_mark(f, TSL_TERM_COMPUTE);
  TSL_TRY(tsl_figures_add(f, "multiply-add fp32, one thread", half, "GFLOP/s", 0,
                          "single precision is worth this much where it is enough"));
done:
  return err;
}

/* ---- branches */

enum { BYTES = 1 << 16, PASSES = 64 };

typedef struct choices {
  unsigned char *list; /* [BYTES] */
  int64_t sum;
} choices;

static void probe_cpu_choose(void *arg) {
  choices *c = arg;
  int64_t sum = 0;
  for (int pass = 0; pass < PASSES; pass++)
    for (int k = 0; k < BYTES; k++)
      if (c->list[k] >= 128) {
        sum += c->list[k];
        __asm__ volatile("" : "+r"(sum)); /* a branch, not a conditional move */
      }
  c->sum = sum;
}

static tsl_err probe_branches(tsl_figures *f) {
  tsl_err err = TSL_OK;
  choices c = {NULL, 0};
  double sorted = 0, random = 0;
  uint32_t state = 1;
  TSL_TRY(tsl_alloc(BYTES, 1, "probe", (void **)&c.list));
  for (int k = 0; k < BYTES; k++) c.list[k] = (unsigned char)(k / (BYTES / 256));
  sorted = tsl_cpu_best(probe_cpu_choose, &c) / ((double)BYTES * PASSES) * 1e9;
  for (int k = 0; k < BYTES; k++) {
    state = state * 1664525u + 1013904223u;
    c.list[k] = (unsigned char)(state >> 24);
  }
  random = tsl_cpu_best(probe_cpu_choose, &c) / ((double)BYTES * PASSES) * 1e9;
  tsl_figures_group(f, "branches");
  TSL_TRY(tsl_figures_add_time(f, "predictable", sorted, "ns", 0,
                               "a branch that goes one way for long costs nearly nothing"));
  TSL_TRY(tsl_figures_add_time(f, "unpredictable", random, "ns", sorted,
                               "sort by the condition, or compute both sides and select"));
done:
  tsl_free(c.list);
  return err;
}

tsl_err tsl_cpu_probe(const tsl_device *device, tsl_figures *figures) {
  tsl_err err = TSL_OK;
  TSL_TRY(probe_arithmetic(device, figures));
  TSL_TRY(tsl_cpu_probe_memory(device, figures));
  TSL_TRY(probe_branches(figures));
  TSL_TRY(tsl_cpu_probe_threads(device, figures));
done:
  return err;
}
