/** @file xc_cpu.c  The backend of xc on a socket: open, begin, run, collect, close. */
#include "xc_cpu.h"
#include "xc_cpu_gradient.h"
#include "xc_cpu_nonlocal.h"
#include "xc_fixed.h"

#include <cblas.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { CACHE_PART = 4 }; /* of the rank's memory for functions */

static void xc_close_cpu(tsl_worker **worker) {
  tsl_worker *w = *worker;
  if (w == NULL) return;
  xc_gradient_close(&w->gradient);
  xc_groups_close(w);
  xc_batches_close(&w->batches);
  xc_sampler_close(&w->sampler);
  TSL_FREE_ALL(w->thread, w->gradient_sum, w->densities, w);
  *worker = NULL;
}

/* In a phase products run inside the threads here. */
static tsl_err xc_begin_cpu(tsl_worker *w, int phase) {
  w->phase = phase;
  openblas_set_num_threads(1);
  memset(w->fixed != NULL ? (void *)w->fixed : w->xc, 0,
         (size_t)(w->p->n_spin * w->p->n * w->p->n) * sizeof *w->xc);
  memset(w->integrals_sum, 0, sizeof w->integrals_sum);
  memset(w->integrals_fixed, 0, sizeof w->integrals_fixed);
  w->bad = false;
  if (w->gradient_sum != NULL)
    memset(w->gradient_sum, 0, (size_t)(3 * w->p->n_atoms) * sizeof *w->gradient_sum);
  if (xc_is_active(w->problem, phase, XC_UNIT_GROUP)) xc_cache_begin(&w->cache);
  w->sites = xc_nonlocal_sites_of(w->problem);
  if (w->densities != NULL)
    memset(w->densities, 0,
           (size_t)(XC_NONLOCAL_OMEGA * w->p->n_nonlocal_points) * sizeof *w->densities);
  xc_batches_begin(w->batches, phase);
  xc_sampler_begin(w->sampler);
  return TSL_OK;
}

/* Functions kept may take a part of the rank's memory, and no more than is not needed; rows of
 * fitting integrals get what is left. */
static tsl_err share_memory(tsl_worker *w, int64_t limit, double *room) {
  tsl_err err = TSL_OK;
  double spare = 0, groups = xc_groups_bytes(w);
  if (w->p->gradient) groups += xc_gradient_bytes(w);
  TSL_TRY(xc_batches_room(w->problem, w->threads, limit,
                          groups + xc_batches_gradient_bytes(w->problem, w->threads), room));
  spare = *room - xc_batches_least(w->problem);
  w->cache_bytes = w->p->cache;
  if (limit > 0 && w->cache_bytes > limit / CACHE_PART) w->cache_bytes = limit / CACHE_PART;
  if ((double)w->cache_bytes > spare) w->cache_bytes = (int64_t)spare;
  *room -= (double)w->cache_bytes;
done:
  return err;
}

static tsl_err xc_open_cpu(const tsl_problem *problem, const tsl_device *device,
                           tsl_worker **worker) {
  tsl_err err = TSL_OK;
  tsl_worker *w = NULL;
  int level = 0;
  double room = 0;
  *worker = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *w, "xc worker", (void **)&w));
  w->problem = problem;
  w->p = xc_params_of(problem);
  w->threads = device->threads > 0 ? device->threads : omp_get_max_threads();
  TSL_TRY(tsl_cpu_level_use(&level));
  w->loops = xc_loops_at(level);
  TSL_TRY(tsl_test_delay_factor(&w->slow));
  xc_view_set(problem, &w->view);
  TSL_TRY(share_memory(w, device->memory_limit, &room));
  TSL_TRY(tsl_alloc(w->threads, sizeof *w->thread, "threads", (void **)&w->thread));
  TSL_TRY(xc_groups_open(w));
  if (w->p->gradient) {
    TSL_TRY(xc_gradient_open(w, &w->gradient));
    TSL_TRY(tsl_alloc(3 * w->p->n_atoms, sizeof *w->gradient_sum, "gradient",
                      (void **)&w->gradient_sum));
  }
  if (w->p->n_nonlocal_points > 0)
    TSL_TRY(tsl_alloc(XC_NONLOCAL_OMEGA * w->p->n_nonlocal_points, sizeof *w->densities,
                      "densities of points", (void **)&w->densities));
  TSL_TRY(xc_batches_open(problem, w->threads, room, 0, &w->batches));
  TSL_TRY(xc_sampler_open(problem, w->threads, &w->sampler));
  TSL_TRY(xc_begin_cpu(w, 0)); /* calibration comes before the first phase */
  xc_batches_trial(w->batches);
  *worker = w;
done:
  if (err != TSL_OK) xc_close_cpu(&w);
  return err;
}

/* Does a unit go on where the one before ends? (P|mn) D, and J by c (P|mn), add one function after
 * another, so such units are run as one, with the same bits. */
static bool goes_on(const tsl_worker *w, const tsl_unit *before, const tsl_unit *unit) {
  return unit->kind == XC_UNIT_FIT && before->kind == XC_UNIT_FIT && unit->lo[0] == before->hi[0] &&
         !xc_adds_gradient(w->problem, w->phase, XC_UNIT_FIT);
}

/* Units [0, n), of which each goes on where the one before ends. */
static tsl_err run_batch(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const double start = tsl_cpu_seconds();
  const int64_t lo = units[0].lo[0], hi = units[n - 1].hi[0];
  if (xc_adds_gradient(w->problem, w->phase, units[0].kind))
    TSL_TRY(xc_batches_gradient(w->batches, units));
  else if (units[0].kind == XC_UNIT_FOCK)
    xc_batches_fock(w->batches, lo, hi);
  else if (units[0].kind == XC_UNIT_EXCHANGE)
    TSL_TRY(xc_batches_exchange(w->batches, units));
  else
    TSL_TRY(xc_batches_fit(w->batches, lo, hi));
  tsl_seconds_spread(tsl_cpu_unit_seconds(start, w->slow, 1), units, n, parts);
done:
  return err;
}

static bool has_points(const tsl_unit *unit) {
  return unit->kind == XC_UNIT_GROUP || unit->kind == XC_UNIT_NONLOCAL;
}

/* Units of one kind. */
static tsl_err run_groups(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  for (int64_t u = 0; u < n; u++) parts[u].seconds = 0;
  if (xc_task_of(w->problem) == XC_TASK_PRODUCTS) return TSL_OK;
  if (units[0].kind == XC_UNIT_NONLOCAL && w->phase % 2 == 0)
    return xc_nonlocal_densities(w, units, n, parts);
  if (!xc_adds_gradient(w->problem, w->phase, units[0].kind))
    return xc_run_groups(w, units, n, parts);
  return xc_gradient_groups(w, w->gradient, units, n, parts, w->gradient_sum);
}

/* A group is one thread's, unless threads share it; two for each thread even out. */
static int64_t xc_cpu_saturating_units(const tsl_worker *w, const tsl_unit *unit) {
  const bool of_points = unit->kind == XC_UNIT_GROUP || unit->kind == XC_UNIT_NONLOCAL;
  return of_points && w->p->parallel != XC_INNER ? 2 * (int64_t)w->threads : 1;
}

static tsl_err run_samples(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const double start = tsl_cpu_seconds();
  TSL_TRY(xc_sampler_run(w->sampler, units, n));
  xc_sampler_spread(w->sampler, tsl_cpu_unit_seconds(start, w->slow, 1), units, n, parts);
done:
  return err;
}

/* Groups that follow one another travel together, and so do fitting shells. */
static tsl_err xc_run_cpu(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const bool samples = xc_sampler_takes(w->sampler, units);
  if (samples) TSL_TRY(run_samples(w, units, n, parts));
  for (int64_t u = samples ? n : 0, end; u < n; u = end) {
    end = u + 1;
    parts[u].seconds = 0;
    if (!xc_is_active(w->problem, w->phase, units[u].kind)) continue;
    if (!has_points(&units[u])) {
      while (end < n && goes_on(w, &units[end - 1], &units[end])) end++;
      TSL_TRY(run_batch(w, units + u, end - u, parts + u));
      continue;
    }
    while (end < n && units[end].kind == units[u].kind) end++;
    TSL_TRY(run_groups(w, units + u, end - u, parts + u));
  }
  for (int64_t u = 0; u < n; u++)
    if (xc_is_active(w->problem, w->phase, units[u].kind))
      tsl_cpu_virtual_seconds(&units[u], w->slow, &parts[u]);
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

/* Likewise, of integers. */
static tsl_err collect_fixed(const tsl_worker *w, tsl_problem *problem) {
  const int64_t n = w->p->n;
  int64_t *out = problem->fields[XC_SUM_XC].data;
  bool good = !w->bad;
  for (int s = 0; s < w->p->n_spin; s++)
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < n; j++)
        good = !__builtin_add_overflow(w->fixed[(s * n + i) * n + j], w->fixed[(s * n + j) * n + i],
                                       &out[(s * n + i) * n + j]) &&
               good;
  memcpy(problem->fields[XC_SUM_INTEGRALS].data, w->integrals_fixed, sizeof w->integrals_fixed);
  xc_fixed_set_guard(problem, XC_FIXED_XC, XC_SUM_XC);
  xc_fixed_set_guard(problem, XC_FIXED_INTEGRALS, XC_SUM_INTEGRALS);
  return xc_fixed_held(good, "the exchange-correlation matrix or energy");
}

static tsl_err xc_collect_cpu(tsl_worker *w, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  if (w->fixed != NULL)
    TSL_TRY(collect_fixed(w, problem));
  else
    collect_xc(w, problem);
  if (w->densities != NULL)
    memcpy(problem->fields[XC_SUM_NONLOCAL].data, w->densities,
           (size_t)(XC_NONLOCAL_OMEGA * w->p->n_nonlocal_points) * sizeof *w->densities);
  TSL_TRY(xc_batches_collect(w->batches, problem, &(xc_batches_more){NULL}));
  TSL_TRY(xc_sampler_collect(w->sampler, problem));
  for (int64_t k = 0; w->gradient_sum != NULL && k < 3 * w->p->n_atoms; k++)
    ((double *)problem->fields[XC_SUM_GRADIENT].data)[k] += w->gradient_sum[k];
done:
  return err;
}

static void xc_notes_cpu(const tsl_worker *w, char text[TSL_NOTES]) {
  char functions[TSL_NOTES / 2 - 2], rows[TSL_NOTES / 2 - 2];
  xc_cache_tell(&w->cache, "xc.cache, run.host_memory", functions, sizeof functions);
  xc_batches_tell(w->batches, rows, sizeof rows);
  (void)snprintf(text, TSL_NOTES, "%s%s%s", functions,
                 functions[0] != '\0' && rows[0] != '\0' ? "; " : "", rows);
}

const tsl_backend xc_backend_cpu = {
    .family = "xc",
    .open = xc_open_cpu,
    .begin = xc_begin_cpu,
    .run = xc_run_cpu,
    .saturating_units = xc_cpu_saturating_units,
    .collect = xc_collect_cpu,
    .notes = xc_notes_cpu,
    .close = xc_close_cpu,
};
