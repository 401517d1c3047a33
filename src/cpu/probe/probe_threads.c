/* What threads cost: false sharing, regions, grains of work. */
#include "probe_cpu.h"

#include <omp.h>
#include <stdio.h>

/* ---- false sharing */

enum { COUNTS = 200000, PADDED = 16 };

typedef struct counters {
  volatile int64_t *list; /* [threads * step] */
  int step, threads;
} counters;

static void count_up(void *arg) {
  const counters *c = arg;
#pragma omp parallel num_threads(c->threads)
  {
    volatile int64_t *mine = &c->list[omp_get_thread_num() * c->step];
    for (int k = 0; k < COUNTS; k++) (*mine)++;
  }
}

static tsl_err probe_sharing(const tsl_device *device, tsl_figures *f) {
  tsl_err err = TSL_OK;
  counters c = {NULL, PADDED, device->threads};
  const double total = (double)COUNTS * device->threads * 1e-9;
  double apart = 0;
  TSL_TRY(tsl_alloc((int64_t)PADDED * device->threads, sizeof *c.list, "probe", (void **)&c.list));
  apart = total / tsl_cpu_best(count_up, &c);
  c.step = 1;
  tsl_figures_group(f, "counters of threads");
  TSL_TRY(tsl_figures_add(f, "on lines of their own", apart, "G/s", 0, NULL));
  TSL_TRY(tsl_figures_add(f, "on one line", total / tsl_cpu_best(count_up, &c), "G/s", apart,
                          "false sharing: keep what threads write 128 bytes apart"));
done:
  tsl_free((void *)c.list);
  return err;
}

/* ---- regions and grains */

enum { REGIONS = 200, WORK = 1 << 18 };

typedef struct grains {
  int threads, grain;
  double sum;
} grains;

static void open_regions(void *arg) {
  grains *g = arg;
  for (int k = 0; k < REGIONS; k++) {
#pragma omp parallel num_threads(g->threads)
    __asm__ volatile("" ::: "memory");
  }
}

static void deal_grains(void *arg) {
  grains *g = arg;
  double sum = 0;
#pragma omp parallel for schedule(dynamic, g->grain) num_threads(g->threads) reduction(+ : sum)
  for (int k = 0; k < WORK; k++) sum += 1.0 / (k + 1);
  g->sum = sum;
}

tsl_err tsl_cpu_probe_threads(const tsl_device *device, tsl_figures *figures) {
  tsl_err err = TSL_OK;
  grains g = {.threads = device->threads, .grain = WORK / 64};
  double best = 0;
  TSL_TRY(probe_sharing(device, figures));
  tsl_figures_group(figures, "threads");
  TSL_TRY(tsl_figures_add_time(figures, "open and close a parallel region",
                               tsl_cpu_best(open_regions, &g) / REGIONS * 1e6, "us", 0,
                               "a region should hold a hundred times as much work"));
  tsl_figures_mark(figures, TSL_TERM_LAUNCH);
  best = WORK / tsl_cpu_best(deal_grains, &g) * 1e-6;
  TSL_TRY(tsl_figures_add(figures, "items in grains of 4096", best, "M/s", 0, NULL));
  for (g.grain = 64; g.grain >= 1; g.grain /= 8) {
    char name[40];
    (void)snprintf(name, sizeof name, "items in grains of %d", g.grain);
    TSL_TRY(tsl_figures_add(figures, name, WORK / tsl_cpu_best(deal_grains, &g) * 1e-6, "M/s", best,
                            g.grain == 1 ? "dealing out costs more than a few operations" : NULL));
  }
done:
  return err;
}
