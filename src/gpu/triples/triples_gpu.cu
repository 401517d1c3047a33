/* The family triples on a card: the backend. Units that are neighbours run as one, blocks of them
 * together as far as the slopes of their pairs fit. */
#include "triples_gpu.cuh"

#include "gpu_worker.cuh"
#include "integers.h"

#include <stdlib.h>
#include <string.h>

static triples_gpu *gpu_of(tsl_worker *worker) {
  return (triples_gpu *)worker;
}

static void triples_close(tsl_worker **worker) {
  triples_gpu *w = gpu_of(*worker);
  if (w == NULL) return;
  if (w->stream != NULL) (void)cudaStreamSynchronize(w->stream);
  triples_equation_close(w);
  tsl_gpu_buffer *const buffers[] = {&w->points, &w->slopes, &w->sides,  &w->sums, &w->quantities,
                                     &w->cells,  &w->lists,  &w->counts, &w->next};
  for (tsl_gpu_buffer *buffer : buffers) tsl_gpu_release(&w->memory, buffer);
  tsl_gpu_timer_destroy(&w->timer);
  if (w->stream != NULL) (void)cudaStreamDestroy(w->stream);
  free(w);
  *worker = NULL;
}

tsl_err triples_upload(triples_gpu *w, const tsl_field *field, tsl_gpu_buffer *to) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_gpu_upload(w, to, field->data, tsl_field_bytes(field), field->name));
  TSL_CUDA_TRY(cudaStreamSynchronize(w->stream));
done:
  return err;
}

static tsl_err triples_open(const tsl_problem *problem, const tsl_device *device,
                            tsl_worker **worker) {
  tsl_err err = TSL_OK;
  triples_gpu *w = (triples_gpu *)calloc(1, sizeof *w);
  *worker = (tsl_worker *)w;
  if (w == NULL) TSL_FAIL(TSL_ERR_MEMORY, "no host memory for a worker");
  w->p = *triples_params_of(problem);
  TSL_TRY(tsl_gpu_worker_open(w, device));
  TSL_CUDA_TRY(cudaDeviceGetAttribute(&w->shared_limit, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                      device->index));
  TSL_TRY(triples_upload(w, &problem->fields[TRIPLES_POINTS], &w->points));
  if (w->p.function == TRIPLES_EQUATION)
    TSL_TRY(triples_equation_open(w, problem, device->capability));
  if (w->p.function == TRIPLES_TRIANGLES) {
    TSL_TRY(triples_triangles_open(w, problem));
    TSL_TRY(triples_triangles_zero(w));
  }
done:
  if (err != TSL_OK && *worker != NULL) triples_close(worker);
  return err;
}

static tsl_err triples_begin(tsl_worker *worker, int phase) {
  triples_gpu *w = gpu_of(worker);
  (void)phase;
  return w->p.function == TRIPLES_TRIANGLES ? triples_triangles_zero(w) : TSL_OK;
}

static tsl_err triples_collect(tsl_worker *worker, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  triples_gpu *w = gpu_of(worker);
  if (w->p.function != TRIPLES_TRIANGLES) return TSL_OK;
  TSL_TRY(tsl_gpu_copy(w, problem->fields[TRIPLES_OUT].data, w->counts.data,
                       (size_t)triples_counts_bytes(&w->p)));
done:
  return err;
}

/* ------------------------------------------------------------------ units */

static int64_t slope_bytes(const triples_params *p, int64_t blocks) {
  return blocks * p->block_rows * p->n_pad * (int64_t)sizeof(double);
}

static int64_t sum_count(const triples_params *p, int64_t blocks) {
  return blocks * p->n * TRIPLES_SUMS;
}

/* Blocks [a, b) to host memory of their sums. TSL_ERR_DEVICE_MEMORY: try fewer. */
static tsl_err run_blocks(triples_gpu *w, int64_t a, int64_t b, double *host) {
  tsl_err err = TSL_OK;
  const int64_t bytes = sum_count(&w->p, b - a) * (int64_t)sizeof(double);
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->slopes, slope_bytes(&w->p, b - a), "slopes of pairs"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->sums, bytes, "sums of blocks"));
  TSL_TRY(triples_slopes_run(w, a, b));
  TSL_TRY(triples_sums_run(w, a, b, (double *)w->sums.data));
  TSL_CUDA_TRY(
      cudaMemcpyAsync(host, w->sums.data, (size_t)bytes, cudaMemcpyDeviceToHost, w->stream));
done:
  return err;
}

static void release_scratch(triples_gpu *w) {
  (void)cudaStreamSynchronize(w->stream);
  tsl_gpu_release(&w->memory, &w->slopes);
  tsl_gpu_release(&w->memory, &w->sums);
}

/* AXILROD_TELLER: blocks [lo, hi), as many together as memory allows. */
static tsl_err run_all(triples_gpu *w, int64_t lo, int64_t hi, double *host) {
  tsl_err err = TSL_OK;
  int64_t most = tsl_max(1, TRIPLES_SCRATCH / tsl_max(1, slope_bytes(&w->p, 1)));
  for (int64_t a = lo; a < hi;) {
    const int64_t b = tsl_min(hi, a + most);
    err = run_blocks(w, a, b, host + sum_count(&w->p, a - lo));
    if (err == TSL_ERR_DEVICE_MEMORY && b - a > 1) {
      release_scratch(w);
      most = (b - a + 1) / 2;
      continue;
    }
    TSL_TRY(err);
    a = b;
  }
done:
  return err;
}

/* Places [lo, hi); host: their slab. */
static tsl_err run_places(triples_gpu *w, int64_t lo, int64_t hi, double *host) {
  switch (w->p.function) {
  case TRIPLES_EQUATION:
    return triples_equation_run(w, lo, hi, host);
  case TRIPLES_TRIANGLES:
    return triples_triangles_run(w, lo, hi);
  default:
    return run_all(w, lo, hi, host);
  }
}

static tsl_err triples_run(tsl_worker *worker, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  triples_gpu *w = gpu_of(worker);
  for (int64_t u = 0, m; u < n; u += m) {
    double seconds = 0;
    m = tsl_neighbours(units + u, n - u);
    TSL_TRY(tsl_gpu_timer_start(&w->timer, w->stream));
    TSL_TRY(run_places(w, units[u].lo[0], units[u + m - 1].hi[0],
                       (double *)parts[u].slab[TRIPLES_OUT]));
    TSL_TRY(tsl_gpu_timer_stop(&w->timer, w->stream, &seconds));
    tsl_seconds_spread(seconds, units + u, m, parts + u);
  }
done:
  return err;
}

/* AXILROD_TELLER: units whose tiles of pairs are 16 times as many as run at once, as the last ones
 * leave some of the card idle. */
static int64_t triples_saturating_units(const tsl_worker *worker, const tsl_unit *unit) {
  enum { BLOCKS = 2, TIMES = 16 };
  const triples_gpu *w = (const triples_gpu *)worker;
  const int64_t across = w->p.n_pad / TRIPLES_TILE, tiles = across * (across + 1) / 2;
  (void)unit;
  if (w->p.function != TRIPLES_AXILROD_TELLER) return 1;
  return tsl_ceil_div(w->p.blocks * w->processors * BLOCKS * TIMES, tsl_max(1, tiles));
}

const tsl_backend triples_backend_gpu = {
    .family = "triples",
    .prepare = triples_gpu_prepare,
    .open = triples_open,
    .begin = triples_begin,
    .run = triples_run,
    .saturating_units = triples_saturating_units,
    .collect = triples_collect,
    .close = triples_close,
    .host_alloc = tsl_gpu_host_alloc,
    .host_free = tsl_gpu_host_free,
};
