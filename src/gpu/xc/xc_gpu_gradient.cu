/* What units add to the gradient: sums on the card, and which of the integrals are the card's. The
 * host's threads have the others: all of them when sums are reproducible, those of shells beyond
 * the card's kernels, and those of fitted exchange. */
#include "xc_gpu.cuh"

#include "clock.h"

#include <algorithm>
#include <vector>

enum { GRADIENT_BLOCK = 128 };

/* -------------------------------------------------------------------- memory */

double xc_gradient_bytes(const xc_params *p) {
  return 24.0 * (1 + XC_GRADIENT_COPIES) * (double)p->n_atoms +
         (p->response ? 4 * (double)p->n_points : 0) + xc_weights_bytes(p);
}

tsl_err xc_gradient_open(xc_gpu *w) {
  tsl_err err = TSL_OK;
  const int64_t bytes = 24 * w->p->n_atoms, owners = 4 * w->p->n_points;
  xc_gpu_gradient *g = &w->gradient;
  TSL_TRY(tsl_gpu_reserve(&w->memory, &g->groups, bytes, "gradient"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &g->integrals, XC_GRADIENT_COPIES * bytes, "gradient"));
  if (!w->p->response || owners == 0) goto done;
  TSL_TRY(tsl_gpu_reserve(&w->memory, &g->owners, owners, "owners of points"));
  TSL_CUDA_TRY(cudaMemcpy(g->owners.data, w->problem->fields[XC_IN_OWNERS].data, (size_t)owners,
                          cudaMemcpyHostToDevice));
  TSL_TRY(xc_weights_open(w));
done:
  return err;
}

void xc_gradient_close(xc_gpu *w) {
  xc_gpu_gradient *g = &w->gradient;
  tsl_gpu_buffer *const all[] = {&g->groups, &g->integrals, &g->owners,
                                 &g->at,     &g->inverse,   &g->shift};
  for (tsl_gpu_buffer *buffer : all) tsl_gpu_release(&w->memory, buffer);
}

tsl_err xc_gradient_reserve(xc_gpu *w, tsl_gpu_buffer *buffer, int64_t bytes) {
  tsl_err err = TSL_OK;
  if (bytes > w->memory.limit - w->memory.used) TSL_TRY(xc_cache_drop(w));
  TSL_TRY(tsl_gpu_reserve(&w->memory, buffer, std::max<int64_t>(bytes, 8),
                          "derivatives of fitting integrals"));
done:
  return err;
}

/* ---------------------------------------------------------------------- sums */

tsl_err xc_gradient_begin(xc_gpu *w) {
  tsl_err err = TSL_OK;
  xc_gpu_gradient *g = &w->gradient;
  g->on_host = NULL;
  TSL_CUDA_TRY(cudaMemsetAsync(g->groups.data, 0, (size_t)g->groups.bytes, w->stream));
  TSL_CUDA_TRY(cudaMemsetAsync(g->integrals.data, 0, (size_t)g->integrals.bytes, w->stream));
done:
  return err;
}

/* The first copy becomes the sum of all. */
static __global__ void join_kernel(double *sums, int64_t n) {
  const int64_t at = (int64_t)blockIdx.x * GRADIENT_BLOCK + threadIdx.x;
  double sum = 0;
  if (at >= n) return;
  for (int copy = 0; copy < XC_GRADIENT_COPIES; copy++) sum += sums[copy * n + at];
  sums[at] = sum;
}

tsl_err xc_gradient_collect(xc_gpu *w, double *gradient) {
  tsl_err err = TSL_OK;
  static const double most = 1024; /* half of what is exact */
  const double scale = xc_gradient_scale(w->p);
  const int64_t n = 3 * w->p->n_atoms;
  std::vector<int64_t> groups((size_t)n);
  std::vector<double> integrals((size_t)n);
  TSL_LAUNCH(join_kernel, (unsigned)tsl_ceil_div(n, GRADIENT_BLOCK), GRADIENT_BLOCK, 0, w->stream,
             (double *)w->gradient.integrals.data, n);
  TSL_CUDA_TRY(cudaMemcpyAsync(groups.data(), w->gradient.groups.data, (size_t)n * 8,
                               cudaMemcpyDeviceToHost, w->stream));
  TSL_TRY(tsl_gpu_copy(w, integrals.data(), w->gradient.integrals.data, (size_t)n * 8));
  for (int64_t k = 0; k < n; k++) {
    gradient[k] += (double)groups[(size_t)k] / scale + integrals[(size_t)k];
    if (w->p->reproducible && !(fabs(gradient[k]) < most))
      TSL_FAIL(TSL_ERR_NUMERIC,
               "card %s: a gradient of %g hartree/bohr; xc.reproducible can hold less than 1024",
               tsl_gpu_card(), gradient[k]);
  }
done:
  return err;
}

/* ----------------------------------------------------------------- integrals */

/* What notes say. */
static const char *const on_host[XC_N_UNIT_KINDS] = {
    NULL, "computes the gradient of quartets on the host's threads, as far as it must",
    "computes the gradient of fitted Coulomb on the host's threads",
    "computes the gradient of fitted Coulomb and exchange on the host's threads"};

/* A unit, or what is left of it, to the host's threads. */
static tsl_err run_host(xc_gpu *w, const tsl_unit *unit, const char *what) {
  w->gradient.on_host = what;
  return xc_batches_gradient(w->batches, unit);
}

/* Units of a kind share the card's time by their cost. */
static void share_seconds(const tsl_unit *units, int64_t n, int kind, double seconds,
                          tsl_part *parts) {
  double all = 0;
  for (int64_t u = 0; u < n; u++) all += units[u].kind == kind ? units[u].count : 0;
  for (int64_t u = 0; u < n && all > 0; u++)
    if (units[u].kind == kind) parts[u].seconds += seconds * units[u].count / all;
}

/* Fitting shells of all units together. @param[out] done  false: the card has no memory for it */
static tsl_err run_fits(xc_gpu *w, const tsl_unit *units, int64_t n, tsl_part *parts, bool *done) {
  tsl_err err = TSL_OK;
  double seconds = 0;
  *done = false;
  if (w->p->reproducible) goto done;
  TSL_TRY(xc_fit_slopes(w, units, n, &seconds, done));
  share_seconds(units, n, XC_UNIT_FIT, seconds, parts);
done:
  return err;
}

/* Quartets of all units together. What is left has shells beyond the card's kernels. */
static tsl_err run_quartets(xc_gpu *w, const tsl_unit *units, int64_t n, tsl_part *parts,
                            bool *done) {
  tsl_err err = TSL_OK;
  double seconds = 0;
  TSL_TRY(xc_quartets_run(w, units, n, &seconds));
  share_seconds(units, n, XC_UNIT_FOCK, seconds, parts);
  *done = !w->host_quartets;
done:
  return err;
}

/* Derivatives of (P|mn) here, of (P|Q) on the host; all there where the card has no memory. */
static tsl_err gradient_exchange(xc_gpu *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  double *pairs = NULL;
  for (int64_t u = 0; u < n; u++) {
    const double start = tsl_now();
    bool done = false;
    if (units[u].kind != XC_UNIT_EXCHANGE) continue;
    if (!w->p->reproducible) TSL_TRY(xc_exchange_slopes(w, &units[u], &done));
    if (done) {
      tsl_free(pairs);
      TSL_TRY(xc_exchange_pairs(w, &units[u], &pairs));
      TSL_TRY(xc_batches_gradient_metric(w->batches, &units[u], pairs));
    } else
      TSL_TRY(run_host(w, &units[u], on_host[XC_UNIT_EXCHANGE]));
    parts[u].seconds += tsl_now() - start;
  }
done:
  tsl_free(pairs);
  return err;
}

tsl_err xc_gradient_integrals(xc_gpu *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  bool asked[XC_N_UNIT_KINDS] = {}, done[XC_N_UNIT_KINDS] = {};
  for (int64_t u = 0; u < n; u++) {
    const int kind = units[u].kind;
    asked[kind] = on_host[kind] != NULL && xc_is_active(w->problem, w->phase, kind) &&
                  xc_adds_gradient(w->problem, w->phase, kind);
  }
  if (asked[XC_UNIT_EXCHANGE]) TSL_TRY(gradient_exchange(w, units, n, parts));
  done[XC_UNIT_EXCHANGE] = true;
  if (asked[XC_UNIT_FIT]) TSL_TRY(run_fits(w, units, n, parts, &done[XC_UNIT_FIT]));
  if (asked[XC_UNIT_FOCK]) TSL_TRY(run_quartets(w, units, n, parts, &done[XC_UNIT_FOCK]));
  for (int64_t u = 0; u < n; u++) {
    const int kind = units[u].kind;
    const double start = tsl_now();
    if (!asked[kind] || done[kind]) continue;
    TSL_TRY(run_host(w, &units[u], on_host[kind]));
    parts[u].seconds += tsl_now() - start;
  }
done:
  return err;
}
