/** @file xc_cpu.c  The backend of xc on a socket: open, begin, run, collect, close. */
#include "xc_cpu.h"

#include <cblas.h>
#include <omp.h>
#include <string.h>

enum { CACHE_PART = 4 }; /* of the rank's memory for functions */

static tsl_err loops_choose(const xc_loops **loops) {
  tsl_err err = TSL_OK;
  int level = 0;
  TSL_TRY(tsl_cpu_level_use(&level));
#ifdef __x86_64__
  *loops = level == 4 ? &xc_loops_v4 : level == 3 ? &xc_loops_v3 : &xc_loops_v2;
#else
  *loops = &xc_loops_any;
#endif
done:
  return err;
}

static void xc_close_cpu(tsl_worker **worker) {
  tsl_worker *w = *worker;
  if (w == NULL) return;
  xc_groups_close(w);
  xc_fock_close(w);
  tsl_free(w->thread);
  tsl_free(w);
  *worker = NULL;
}

static tsl_err xc_begin_cpu(tsl_worker *w, int phase) {
  w->phase = phase;
  memset(w->xc, 0, (size_t)(w->p->n_spin * w->p->n * w->p->n) * sizeof *w->xc);
  memset(w->integrals_sum, 0, sizeof w->integrals_sum);
  xc_fock_begin(w);
  return TSL_OK;
}

static tsl_err xc_open_cpu(const tsl_problem *problem, const tsl_device *device,
                           tsl_worker **worker) {
  tsl_err err = TSL_OK;
  tsl_worker *w = NULL;
  *worker = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *w, "xc worker", (void **)&w));
  w->problem = problem;
  w->p = xc_params_of(problem);
  w->threads = device->threads > 0 ? device->threads : omp_get_max_threads();
  TSL_TRY(loops_choose(&w->loops));
  TSL_TRY(tsl_cpu_slow_factor(&w->slow));
  xc_view_set(problem, &w->view);
  w->cache_bytes = w->p->cache;
  if (device->memory_limit > 0 && w->cache_bytes > device->memory_limit / CACHE_PART)
    w->cache_bytes = device->memory_limit / CACHE_PART;
  TSL_TRY(tsl_alloc(w->threads, sizeof *w->thread, "threads", (void **)&w->thread));
  TSL_TRY(xc_groups_open(w));
  TSL_TRY(xc_fock_open(w));
  openblas_set_num_threads(1); /* products run inside the threads here */
  TSL_TRY(xc_begin_cpu(w, 0)); /* calibration comes before the first phase */
  *worker = w;
done:
  if (err != TSL_OK) xc_close_cpu(&w);
  return err;
}

static tsl_err run_batch(tsl_worker *w, const tsl_unit *unit, tsl_part *part) {
  tsl_err err = TSL_OK;
  const double start = tsl_cpu_seconds();
  if (unit->kind == XC_UNIT_FOCK)
    TSL_TRY(xc_run_fock(w, unit));
  else
    TSL_TRY(xc_run_fit(w, unit));
  part->seconds = tsl_cpu_unit_seconds(start, w->slow);
done:
  return err;
}

/* Groups that follow one another travel together. */
static tsl_err xc_run_cpu(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  for (int64_t u = 0, end; u < n; u = end) {
    end = u + 1;
    parts[u].seconds = 0;
    if (!xc_is_active(w->p, w->phase, units[u].kind)) continue;
    if (units[u].kind != XC_UNIT_GROUP) {
      TSL_TRY(run_batch(w, &units[u], &parts[u]));
      continue;
    }
    while (end < n && units[end].kind == XC_UNIT_GROUP) end++;
    TSL_TRY(xc_run_groups(w, units + u, end - u, parts + u));
  }
done:
  return err;
}

/* V = (phi Z^T) + (phi Z^T)^T. */
static void collect_xc(const tsl_worker *w, tsl_problem *problem) {
  const int64_t n = w->p->n;
  double *out = problem->fields[XC_SUM_XC].data;
  for (int s = 0; s < w->p->n_spin; s++)
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < n; j++)
        out[(s * n + i) * n + j] = w->xc[(s * n + i) * n + j] + w->xc[(s * n + j) * n + i];
  memcpy(problem->fields[XC_SUM_INTEGRALS].data, w->integrals_sum, sizeof w->integrals_sum);
}

static tsl_err xc_collect_cpu(tsl_worker *w, tsl_problem *problem) {
  collect_xc(w, problem);
  xc_fock_collect(w, problem);
  return TSL_OK;
}

const tsl_backend xc_backend_cpu = {
    .family = "xc",
    .open = xc_open_cpu,
    .begin = xc_begin_cpu,
    .run = xc_run_cpu,
    .collect = xc_collect_cpu,
    .close = xc_close_cpu,
};
