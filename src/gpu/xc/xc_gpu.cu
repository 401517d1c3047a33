/* The family xc on a card: the backend. Groups run on the card, together; batches of integrals on
 * the threads of the rank's host, as far as they are not the card's. */
#include "xc_gpu.cuh"

#include "clock.h"
#include "gpu_linalg.cuh"
#include "parallel.h"
#include "xc_fixed.h"
#include "xc_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static xc_gpu *gpu_of(tsl_worker *worker) {
  return (xc_gpu *)worker;
}

static void xc_close(tsl_worker **worker) {
  xc_gpu *w = gpu_of(*worker);
  if (w == NULL) return;
  if (w->stream != NULL) (void)cudaStreamSynchronize(w->stream);
  xc_quartets_close(w);
  xc_exchange_close(w);
  xc_fit_close(w);
  xc_cache_close(w);
  xc_batch_close(w);
  xc_evaluator_destroy(&w->evaluator);
  xc_batches_close(&w->batches);
  xc_sampler_close(&w->sampler);
  xc_gradient_close(w);
  xc_nonlocal_close(w);
  tsl_gpu_timer_destroy(&w->timer);
  tsl_blas_destroy(&w->blas);
  if (w->stream != NULL) (void)cudaStreamDestroy(w->stream);
  free(w);
  *worker = NULL;
}

static tsl_err open_device(xc_gpu *w, const tsl_device *device) {
  tsl_err err = TSL_OK;
  size_t n_free = 0, n_total = 0;
  w->memory.limit = device->memory_limit;
  if (w->memory.limit > 0) w->memory.limit -= tsl_gpu_linalg_bytes();
  TSL_CUDA_TRY(cudaMemGetInfo(&n_free, &n_total));
  if (w->memory.limit <= 0 || w->memory.limit > (int64_t)n_free) w->memory.limit = (int64_t)n_free;
  TSL_CUDA_TRY(cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking));
  TSL_TRY(tsl_gpu_timer_create(&w->timer));
  TSL_TRY(tsl_blas_create(w->stream, &w->blas));
done:
  return err;
}

/* Is a phase's precision another, the functions kept are of no use. Gradients are in double. */
static tsl_err set_precision(xc_gpu *w) {
  tsl_err err = TSL_OK;
  const bool single = xc_is_single(w->problem) && w->task == XC_TASK_ENERGY;
  if (single != w->single) TSL_TRY(xc_cache_drop(w));
  w->single = single;
done:
  return err;
}

static tsl_err xc_begin(tsl_worker *worker, int phase) {
  tsl_err err = TSL_OK;
  xc_gpu *w = gpu_of(worker);
  const size_t bytes = (size_t)(w->p->n_spin * w->p->n * w->p->n) * 8;
  w->phase = phase, w->task = xc_task_of(w->problem);
  if (xc_is_active(w->problem, phase, XC_UNIT_GROUP)) xc_cache_begin(&w->cache);
  TSL_TRY(set_precision(w));
  if (xc_is_active(w->problem, phase, XC_UNIT_GROUP))
    TSL_CUDA_TRY(cudaMemcpyAsync(w->densities.data, xc_density_of(w->problem, 0), bytes,
                                 cudaMemcpyHostToDevice, w->stream));
  TSL_CUDA_TRY(cudaMemsetAsync(w->sums.data, 0, bytes, w->stream));
  TSL_CUDA_TRY(cudaMemsetAsync(w->flag.data, 0xff, 8, w->stream));
  TSL_CUDA_TRY(cudaMemsetAsync(w->partials.data, 0,
                               (size_t)(w->n_slices * XC_N_INTEGRALS) * sizeof(double), w->stream));
  xc_batches_begin(w->batches, phase);
  xc_sampler_begin(w->sampler);
  TSL_TRY(xc_fit_begin(w));
  TSL_TRY(xc_exchange_begin(w));
  TSL_TRY(xc_quartets_begin(w));
  TSL_TRY(xc_nonlocal_begin(w));
  if (w->task == XC_TASK_GRADIENT) TSL_TRY(xc_gradient_begin(w));
  TSL_CUDA_TRY(cudaStreamSynchronize(w->stream));
done:
  return err;
}

/* What is needed before anything is kept. */
static tsl_err check_card(const xc_gpu *w) {
  tsl_err err = TSL_OK;
  const double needed = xc_memory_card(w->p) + xc_batch_least(w) + xc_nonlocal_bytes(w->p);
  char has[24], needs[24];
  if (needed > (double)w->memory.limit)
    TSL_FAIL(
        TSL_ERR_DEVICE_MEMORY,
        "card %s: a rank may use %s of it (run.device_memory, shared by the ranks of a card), "
        "but needs at least %s for %lld functions and %lld points: raise run.device_memory, or "
        "lower xc.groups.target",
        tsl_gpu_card(), tsl_bytes_text((double)w->memory.limit, has),
        tsl_bytes_text(xc_memory_said(needed), needs), (long long)w->p->n,
        (long long)w->p->n_points);
done:
  return err;
}

/* The degree from which on quartets are the host's (xc_batches_open). */
static int least_degree(const xc_gpu *w) {
  if (w->p->fitted_exchange) return XC_BATCHES_NONE;
  if (!xc_quartets_on_card(w->p)) return 0;
  for (int64_t k = 0; k < w->view.orbital.n_shells; k++)
    if (w->view.orbital.shells[k].l > XC_QUARTET_L) return XC_QUARTET_L + 1;
  return XC_BATCHES_NONE;
}

static tsl_err open_host(xc_gpu *w, int64_t limit) {
  tsl_err err = TSL_OK;
  const int least = least_degree(w);
  double room = 0, slopes = 0;
  w->host_quartets = xc_has_quartets(w->p) && least < XC_BATCHES_NONE;
  if (w->host_quartets) slopes = xc_batches_gradient_bytes(w->problem, w->threads);
  TSL_TRY(xc_batches_room(w->problem, w->host_quartets ? w->threads : 1, limit, slopes, &room));
  TSL_TRY(xc_batches_open(w->problem, w->threads, room, least, &w->batches));
  TSL_TRY(xc_sampler_open(w->problem, w->threads, &w->sampler));
done:
  return err;
}

static tsl_err xc_open(const tsl_problem *problem, const tsl_device *device, tsl_worker **worker) {
  tsl_err err = TSL_OK;
  xc_gpu *w = (xc_gpu *)calloc(1, sizeof *w);
  const xc_params *p = xc_params_of(problem);
  *worker = (tsl_worker *)w;
  if (w == NULL) TSL_FAIL(TSL_ERR_MEMORY, "no host memory for a worker");
  w->problem = problem;
  w->p = p;
  w->threads = tsl_usable_cores();
  if (p->reproducible) w->calls = XC_CALLS_EACH;
  xc_view_set(problem, &w->view);
  TSL_TRY(open_device(w, device));
  TSL_TRY(check_card(w));
  TSL_TRY(xc_batch_open(w));
  TSL_TRY(xc_nonlocal_open(w));
  if (p->gradient) TSL_TRY(xc_gradient_open(w));
  TSL_TRY(xc_cache_open(w));
  if (p->functional.n_terms > 0)
    TSL_TRY(xc_evaluator_create(&p->functional, p->n_spin, 0, &w->evaluator));
  TSL_TRY(open_host(w, device->host_limit));
  TSL_TRY(xc_fit_open(w));
  TSL_TRY(xc_exchange_open(w));
  TSL_TRY(xc_quartets_open(w));
  TSL_TRY(xc_begin(*worker, 0)); /* calibration comes before the first phase */
done:
  if (err != TSL_OK && *worker != NULL) xc_close(worker);
  return err;
}

/* Compute integrals that are not kept; the parts of units get their time by what it depends on. */
static tsl_err fill_units(xc_gpu *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  double seconds = 0, all = 0;
  TSL_TRY(xc_fit_fill(w, units, n, &seconds));
  for (int64_t u = 0; u < n; u++) {
    parts[u].seconds = 0;
    if (units[u].kind == XC_UNIT_FIT) all += units[u].setup;
  }
  for (int64_t u = 0; u < n && all > 0; u++)
    if (units[u].kind == XC_UNIT_FIT) parts[u].seconds = seconds * units[u].setup / all;
done:
  return err;
}

/* Products of all units are queued, the host's done meanwhile; the card's share what is left of the
 * time by their cost. */
static tsl_err run_fits(xc_gpu *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const double start = tsl_now();
  double host = 0, all = 0, card = 0;
  for (int64_t u = 0; u < n; u++) {
    const double begin = tsl_now();
    if (units[u].kind != XC_UNIT_FIT) continue;
    TSL_TRY(xc_fit_run(w, &units[u]));
    const double took = tsl_now() - begin;
    if (xc_fit_on_card(w, &units[u]))
      all += units[u].count;
    else
      parts[u].seconds += took, host += took;
  }
  if (all > 0) TSL_CUDA_TRY(cudaStreamSynchronize(w->stream));
  card = tsl_now() - start - host;
  for (int64_t u = 0; u < n && all > 0; u++)
    if (units[u].kind == XC_UNIT_FIT && xc_fit_on_card(w, &units[u]))
      parts[u].seconds += card * units[u].count / all;
done:
  return err;
}

/* Bra pairs of all units together, then what is left of each to the host; units share the card's
 * time by their cost. */
static tsl_err run_quartets(xc_gpu *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  double seconds = 0, all = 0;
  TSL_TRY(xc_quartets_run(w, units, n, &seconds));
  for (int64_t u = 0; u < n; u++) all += units[u].kind == XC_UNIT_FOCK ? units[u].count : 0;
  for (int64_t u = 0; u < n; u++) {
    if (units[u].kind != XC_UNIT_FOCK) continue;
    const double start = tsl_now();
    if (w->host_quartets) xc_batches_fock(w->batches, units[u].lo[0], units[u].hi[0]);
    parts[u].seconds = tsl_now() - start + (all > 0 ? seconds * units[u].count / all : 0);
  }
done:
  return err;
}

static tsl_err run_exchange(xc_gpu *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  for (int64_t u = 0; u < n; u++) {
    const double start = tsl_now();
    if (units[u].kind != XC_UNIT_EXCHANGE) continue;
    TSL_TRY(xc_exchange_run(w, &units[u]));
    parts[u].seconds = tsl_now() - start;
  }
done:
  return err;
}

/* Does a kind of unit add to matrices in this phase? */
static bool adds_matrices(const xc_gpu *w, int kind) {
  return xc_is_active(w->problem, w->phase, kind) && xc_has_sums(w->problem) &&
         !xc_adds_gradient(w->problem, w->phase, kind);
}

/* Units [0, n) of integrals that follow one another. */
static tsl_err run_batches(xc_gpu *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  for (int64_t u = 0; u < n; u++) parts[u].seconds = 0;
  if (adds_matrices(w, XC_UNIT_FIT)) {
    TSL_TRY(fill_units(w, units, n, parts));
    TSL_TRY(run_fits(w, units, n, parts));
  }
  if (adds_matrices(w, XC_UNIT_EXCHANGE)) TSL_TRY(run_exchange(w, units, n, parts));
  if (adds_matrices(w, XC_UNIT_FOCK)) TSL_TRY(run_quartets(w, units, n, parts));
  if (w->task == XC_TASK_GRADIENT) TSL_TRY(xc_gradient_integrals(w, units, n, parts));
done:
  return err;
}

static bool has_points(int kind) {
  return kind == XC_UNIT_GROUP || kind == XC_UNIT_NONLOCAL;
}

/* Has a kind of unit anything to do? */
static bool has_work(const xc_gpu *w, int kind) {
  return xc_is_active(w->problem, w->phase, kind) &&
         (!has_points(kind) || w->task != XC_TASK_PRODUCTS);
}

/* Units of points go together by kind, those of integrals whatever their kind. */
static int64_t same_kind(const tsl_unit *units, int64_t n) {
  const int kind = units[0].kind;
  int64_t m = 1;
  while (m < n && (has_points(kind) ? units[m].kind == kind : !has_points(units[m].kind))) m++;
  return m;
}

/* Units of groups: the stream gets them; host batches: the host computes them. */
static tsl_err run_kind(xc_gpu *w, const tsl_unit *units, int64_t n, tsl_part *parts, bool groups) {
  tsl_err err = TSL_OK;
  for (int64_t u = 0, m; u < n; u += m) {
    m = same_kind(units + u, n - u);
    if (!has_work(w, units[u].kind)) {
      for (int64_t k = u; k < u + m; k++) parts[k].seconds = 0;
    } else if (groups && has_points(units[u].kind))
      TSL_TRY(xc_batch_run(w, units + u, m));
    else if (!groups && !has_points(units[u].kind))
      TSL_TRY(run_batches(w, units + u, m, parts + u));
  }
done:
  return err;
}

static tsl_err wait_groups(xc_gpu *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  float milliseconds = 0;
  int64_t count = 0;
  for (int64_t u = 0; u < n; u++) count += has_points(units[u].kind) && has_work(w, units[u].kind);
  if (count == 0) goto done;
  TSL_CUDA_TRY(cudaEventSynchronize(w->timer.end));
  TSL_CUDA_TRY(cudaEventElapsedTime(&milliseconds, w->timer.begin, w->timer.end));
  TSL_TRY(xc_matrix_check(w));
  for (int64_t u = 0, m; u < n; u += m) { /* runs of groups share by their number */
    m = same_kind(units + u, n - u);
    if (!has_points(units[u].kind) || !has_work(w, units[u].kind)) continue;
    xc_batch_seconds(w, units + u, m, milliseconds * 1e-3 * (double)m / (double)count, parts + u);
  }
done:
  return err;
}

/* The host computes what the field is at points of space. */
static tsl_err run_samples(xc_gpu *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const double start = tsl_now();
  TSL_TRY(xc_sampler_run(w->sampler, units, n));
  xc_sampler_spread(w->sampler, tsl_now() - start, units, n, parts);
done:
  return err;
}

static tsl_err xc_run(tsl_worker *worker, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  xc_gpu *w = gpu_of(worker);
  if (xc_sampler_takes(w->sampler, units)) return run_samples(w, units, n, parts);
  TSL_CUDA_TRY(cudaEventRecord(w->timer.begin, w->stream));
  TSL_TRY(run_kind(w, units, n, parts, true));
  TSL_CUDA_TRY(cudaEventRecord(w->timer.end, w->stream));
  TSL_TRY(run_kind(w, units, n, parts, false));
  TSL_TRY(wait_groups(w, units, n, parts));
done:
  return err;
}

/* Energies of the slices are added in the order of the groups, or as integers. */
static tsl_err add_slices(const xc_gpu *w, void *sums) {
  tsl_err err = TSL_OK;
  const double scale = xc_fixed_scale(w->problem, XC_FIXED_INTEGRALS);
  bool good = true;
  for (int64_t s = 0; s < w->n_slices * XC_N_INTEGRALS; s++) {
    const int64_t k = s % XC_N_INTEGRALS;
    if (w->p->reproducible)
      good = xc_fixed_add((int64_t *)sums + k, w->host_partials[s], scale) && good;
    else
      ((double *)sums)[k] += w->host_partials[s];
  }
  if (!good)
    TSL_FAIL(TSL_ERR_NUMERIC,
             "card %s: the exchange-correlation energy is not finite, or beyond "
             "what xc.reproducible can hold",
             tsl_gpu_card());
done:
  return err;
}

static tsl_err collect_xc(xc_gpu *w, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const size_t matrix = (size_t)(w->p->n_spin * w->p->n * w->p->n) * 8;
  const bool nonlocal = w->p->n_nonlocal_points > 0;
  memset(problem->fields[XC_SUM_INTEGRALS].data, 0, XC_N_INTEGRALS * sizeof(double));
  if (!adds_matrices(w, XC_UNIT_GROUP) && !(nonlocal && adds_matrices(w, XC_UNIT_NONLOCAL))) {
    memset(problem->fields[XC_SUM_XC].data, 0, matrix);
    goto done;
  }
  TSL_TRY(xc_matrix_run(w));
  TSL_CUDA_TRY(cudaMemcpyAsync(problem->fields[XC_SUM_XC].data, w->matrix.data, matrix,
                               cudaMemcpyDeviceToHost, w->stream));
  TSL_CUDA_TRY(cudaMemcpyAsync(w->host_partials, w->partials.data,
                               (size_t)(w->n_slices * XC_N_INTEGRALS) * sizeof(double),
                               cudaMemcpyDeviceToHost, w->stream));
  TSL_TRY(xc_matrix_check(w));
  TSL_TRY(add_slices(w, problem->fields[XC_SUM_INTEGRALS].data));
done:
  if (w->p->reproducible) {
    xc_fixed_set_guard(problem, XC_FIXED_XC, XC_SUM_XC);
    xc_fixed_set_guard(problem, XC_FIXED_INTEGRALS, XC_SUM_INTEGRALS);
  }
  return err;
}

/* J, K and gamma: what the card has, added to the host's. */
static tsl_err collect_integrals(xc_gpu *w, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const xc_params *p = w->p;
  const int64_t nn = p->n * p->n;
  xc_batches_more more = {};
  if (p->reproducible) return xc_batches_collect(w->batches, problem, &more);
  if (p->fitted) {
    TSL_TRY(tsl_alloc(p->n_packed, 8, "packed Coulomb matrix", (void **)&more.fitted));
    TSL_TRY(tsl_alloc(p->n_fit, 8, "gamma", (void **)&more.gamma));
    TSL_TRY(xc_fit_collect(w, more.fitted, more.gamma));
  } else
    TSL_TRY(tsl_alloc(nn, 8, "Coulomb matrix", (void **)&more.coulomb));
  if (xc_functional_exact(&p->functional))
    TSL_TRY(tsl_alloc(p->n_spin * nn, 8, "exchange matrix", (void **)&more.exchange));
  if (p->fitted_exchange)
    TSL_TRY(xc_exchange_collect(w, more.exchange));
  else
    TSL_TRY(xc_quartets_collect(w, more.coulomb, more.exchange));
  TSL_TRY(xc_batches_collect(w->batches, problem, &more));
done:
  for (double *sums : {more.fitted, more.gamma, more.coulomb, more.exchange}) tsl_free(sums);
  return err;
}

static tsl_err xc_collect(tsl_worker *worker, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  xc_gpu *w = gpu_of(worker);
  TSL_TRY(collect_xc(w, problem));
  TSL_TRY(xc_nonlocal_collect(w, (double *)problem->fields[XC_SUM_NONLOCAL].data));
  TSL_TRY(collect_integrals(w, problem));
  TSL_TRY(xc_sampler_collect(w->sampler, problem));
  if (w->task == XC_TASK_GRADIENT)
    TSL_TRY(xc_gradient_collect(w, (double *)problem->fields[XC_SUM_GRADIENT].data));
done:
  return err;
}

static void xc_notes(const tsl_worker *worker, char text[TSL_NOTES]) {
  const xc_gpu *w = (const xc_gpu *)worker;
  char functions[TSL_NOTES / 2 - 2], rows[TSL_NOTES / 2 - 2];
  xc_cache_tell(&w->cache, "xc.card_cache, run.device_memory", functions, sizeof functions);
  rows[0] = '\0';
  if (w->batches != NULL) xc_batches_tell(w->batches, rows, sizeof rows);
  const char *const parts[] = {w->quartets != NULL && w->host_quartets
                                   ? "computes J and K of shells beyond f on the host's threads"
                                   : "",
                               w->gradient.on_host != NULL ? w->gradient.on_host : "",
                               tsl_gpu_linalg_lacks_memory()
                                   ? "does its algebra on the host's threads (run.device_memory)"
                                   : "",
                               functions, rows};
  text[0] = '\0';
  for (const char *part : parts) {
    const size_t at = strlen(text);
    if (part[0] != '\0')
      (void)snprintf(text + at, TSL_NOTES - at, "%s%s", at > 0 ? "; " : "", part);
  }
}

const tsl_backend xc_backend_gpu = {
    .family = "xc",
    .open = xc_open,
    .begin = xc_begin,
    .run = xc_run,
    .collect = xc_collect,
    .notes = xc_notes,
    .close = xc_close,
};
