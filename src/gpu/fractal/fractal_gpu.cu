/* The family fractal on a card: the backend. All units of a call are computed by one launch, or,
 * where their values do not fit the memory, in groups of fewer units. */
#include "fractal_gpu.cuh"

#include "gpu_worker.cuh"

#include <stdlib.h>
#include <string.h>

static fractal_gpu *gpu_of(tsl_worker *worker) {
  return (fractal_gpu *)worker;
}

/* ------------------------------------------------------- memory of a group */

/* Boxes of the units, without their places; their bytes together. */
static tsl_err list_units(fractal_gpu *w, const tsl_unit *units, int64_t n, int64_t *bytes) {
  tsl_err err = TSL_OK;
  *bytes = 0;
  if (n > w->list_size) {
    free(w->list);
    w->list_size = 0;
    w->list = (fractal_box *)malloc((size_t)n * sizeof *w->list);
    if (w->list == NULL) TSL_FAIL(TSL_ERR_MEMORY, "no host memory for %lld boxes", (long long)n);
    w->list_size = n;
  }
  for (int64_t u = 0; u < n; u++) {
    const fractal_box box = {units[u].lo[0],
                             units[u].lo[1],
                             units[u].hi[0] - units[u].lo[0],
                             units[u].hi[1] - units[u].lo[1],
                             0,
                             NULL};
    int64_t count = 0;
    if (!tsl_mul_i64(box.rows, box.columns, &count) ||
        !tsl_mul_i64(count, fractal_value_bytes(&w->p), &count) ||
        !tsl_add_i64(*bytes, count, bytes))
      TSL_FAIL(TSL_ERR_INTERNAL, "unit %lld has no proper box", (long long)units[u].id);
    w->list[u] = box;
  }
done:
  return err;
}

/* Managed memory only as far as the card has it free: beyond that pages would be driven out. */
static tsl_err reserve_managed(fractal_gpu *w, int64_t bytes) {
  tsl_err err = TSL_OK;
  size_t n_free = 0, n_total = 0;
  char wanted[24], limit[24];
  if (bytes <= w->image.bytes) return TSL_OK;
  tsl_gpu_release(&w->memory, &w->image);
  TSL_CUDA_TRY(cudaMemGetInfo(&n_free, &n_total));
  if (bytes > (int64_t)(n_free / 10 * 9) ||
      (w->memory.limit > 0 && bytes > w->memory.limit - w->memory.used))
    TSL_FAIL(TSL_ERR_DEVICE_MEMORY,
             "card %s: gpu_memory: managed: %s is more than the card has free for it (%s); use "
             "gpu_memory: device",
             tsl_gpu_card(), tsl_bytes_text((double)bytes, wanted),
             tsl_bytes_text((double)n_free, limit));
  TSL_CUDA_TRY(cudaMallocManaged(&w->image.data, (size_t)bytes, cudaMemAttachGlobal));
  w->image.bytes = bytes;
  w->memory.used += bytes;
done:
  if (err != TSL_OK && w->image.bytes == 0) w->image.data = NULL;
  return err;
}

/* A slab as the card sees it. */
static tsl_err mapped_slab(void *slab, void **out) {
  tsl_err err = TSL_OK;
  cudaPointerAttributes attributes = {};
  TSL_CUDA_TRY(cudaPointerGetAttributes(&attributes, slab));
  if (attributes.devicePointer == NULL)
    TSL_FAIL(TSL_ERR_INTERNAL, "card %s: gpu_memory: pinned: a slab is not mapped", tsl_gpu_card());
  *out = attributes.devicePointer;
done:
  return err;
}

/* Where the values of each box go. */
static tsl_err place_boxes(fractal_gpu *w, int64_t n, const tsl_part *parts) {
  tsl_err err = TSL_OK;
  char *at = (char *)w->image.data;
  for (int64_t u = 0; u < n; u++) {
    fractal_box *box = &w->list[u];
    const int64_t bytes = box->rows * box->columns * fractal_value_bytes(&w->p);
    if (bytes == 0) continue;
    box->out = at;
    if (w->p.memory == FRACTAL_MEMORY_PINNED)
      TSL_TRY(mapped_slab(parts[u].slab[FRACTAL_VALUES], &box->out));
    else
      at += bytes;
  }
done:
  return err;
}

tsl_err fractal_prepare(fractal_gpu *w, const tsl_unit *units, int64_t n, const tsl_part *parts) {
  tsl_err err = TSL_OK;
  int64_t bytes = 0;
  TSL_TRY(list_units(w, units, n, &bytes));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->boxes, n * (int64_t)sizeof(fractal_box), "boxes"));
  if (w->p.memory == FRACTAL_MEMORY_DEVICE)
    TSL_TRY(tsl_gpu_reserve(&w->memory, &w->image, bytes, "values of a group of units"));
  if (w->p.memory == FRACTAL_MEMORY_MANAGED) TSL_TRY(reserve_managed(w, bytes));
  TSL_TRY(fractal_totals_reserve(w, n));
  TSL_TRY(place_boxes(w, n, parts));
done:
  return err;
}

/* Pieces of a box: parts of rows, or tiles. */
static int64_t pieces_of(const fractal_params *p, const fractal_box *box) {
  if (box->rows == 0 || box->columns == 0) return 0;
  if (p->exact) return box->rows * tsl_ceil_div(box->columns, FRACTAL_PIECE);
  return (tsl_ceil_div(box->row + box->rows, FRACTAL_TILE) - box->row / FRACTAL_TILE) *
         (tsl_ceil_div(box->column + box->columns, FRACTAL_TILE) - box->column / FRACTAL_TILE);
}

tsl_err fractal_upload_boxes(fractal_gpu *w, int64_t n, int64_t *n_pieces) {
  tsl_err err = TSL_OK;
  *n_pieces = 0;
  for (int64_t u = 0; u < n; u++) {
    w->list[u].first = *n_pieces;
    *n_pieces += pieces_of(&w->p, &w->list[u]);
  }
  TSL_CUDA_TRY(cudaMemcpyAsync(w->boxes.data, w->list, (size_t)n * sizeof *w->list,
                               cudaMemcpyHostToDevice, w->stream));
  TSL_CUDA_TRY(cudaMemsetAsync(fractal_totals_of(w) + FRACTAL_N_TOTALS, 0, 8, w->stream));
done:
  return err;
}

/* ------------------------------------------------------------------ a group */

tsl_err fractal_values_run(fractal_gpu *w, int64_t n) {
  if (w->p.threads != FRACTAL_THREADS_AUTO) return fractal_plain_run(w, n);
  if (w->p.type == TSL_F64) return fractal_auto_run<double>(w, n);
  return fractal_auto_run<float>(w, n);
}

/* Bytes of unit u and of those behind it that lie without a gap on the card and on the host; *next
 * is the first one that does not. */
static size_t neighbours(const fractal_gpu *w, int64_t n, const tsl_part *parts, int64_t u,
                         int64_t *next) {
  const char *from = (const char *)w->list[u].out;
  const char *to = (const char *)parts[u].slab[FRACTAL_VALUES];
  size_t bytes = 0;
  for (*next = u; *next < n; ++*next) {
    const fractal_box *box = &w->list[*next];
    if ((const char *)box->out != from + bytes ||
        (const char *)parts[*next].slab[FRACTAL_VALUES] != to + bytes)
      break;
    bytes += (size_t)(box->rows * box->columns * fractal_value_bytes(&w->p));
  }
  return bytes;
}

/* Values to the slabs; managed memory is read by the host itself, which has to wait first. */
static tsl_err copy_values(fractal_gpu *w, int64_t n, const tsl_part *parts) {
  tsl_err err = TSL_OK;
  if (w->p.memory == FRACTAL_MEMORY_PINNED) return TSL_OK;
  if (w->p.memory == FRACTAL_MEMORY_MANAGED) TSL_CUDA_TRY(cudaStreamSynchronize(w->stream));
  for (int64_t u = 0, next = 0; u < n; u = next) {
    const char *from = (const char *)w->list[u].out;
    char *to = (char *)parts[u].slab[FRACTAL_VALUES];
    const size_t bytes = neighbours(w, n, parts, u, &next);
    if (bytes == 0) continue;
    if (w->p.memory == FRACTAL_MEMORY_MANAGED)
      memcpy(to, from, bytes);
    else
      TSL_CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, w->stream));
  }
done:
  return err;
}

static tsl_err run_group(fractal_gpu *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  double seconds = 0;
  TSL_TRY(tsl_gpu_timer_start(&w->timer, w->stream));
  TSL_TRY(fractal_values_run(w, n));
  TSL_TRY(fractal_totals_run(w, n));
  TSL_TRY(copy_values(w, n, parts));
  TSL_TRY(tsl_gpu_timer_stop(&w->timer, w->stream, &seconds));
  tsl_seconds_spread(seconds, units, n, parts);
done:
  return err;
}

/* ------------------------------------------------------------ the backend */

static tsl_err upload_field(fractal_gpu *w, int field, tsl_gpu_buffer *buffer) {
  tsl_err err = TSL_OK;
  const tsl_field *from = &w->problem->fields[field];
  TSL_TRY(tsl_gpu_upload(w, buffer, from->data, tsl_field_bytes(from), "coordinates"));
  TSL_CUDA_TRY(cudaStreamSynchronize(w->stream));
done:
  return err;
}

static tsl_err fractal_gpu_upload(fractal_gpu *w) {
  tsl_err err = TSL_OK;
  TSL_TRY(upload_field(w, FRACTAL_X, &w->x));
  TSL_TRY(upload_field(w, FRACTAL_Y, &w->y));
done:
  return err;
}

static tsl_err clear_totals(fractal_gpu *w) {
  tsl_err err = TSL_OK;
  const int64_t bytes = (FRACTAL_N_TOTALS + 1) * 8;
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->totals, bytes, "totals"));
  TSL_CUDA_TRY(cudaMemsetAsync(w->totals.data, 0, (size_t)bytes, w->stream));
done:
  return err;
}

static void fractal_close(tsl_worker **worker) {
  fractal_gpu *w = gpu_of(*worker);
  if (w == NULL) return;
  if (w->stream != NULL) (void)cudaStreamSynchronize(w->stream);
  tsl_blas_destroy(&w->blas);
  tsl_gpu_buffer *const buffers[] = {&w->x, &w->y, &w->image, &w->boxes, &w->scratch, &w->totals};
  for (tsl_gpu_buffer *buffer : buffers) tsl_gpu_release(&w->memory, buffer);
  tsl_gpu_timer_destroy(&w->timer);
  if (w->stream != NULL) (void)cudaStreamDestroy(w->stream);
  free(w->list);
  free(w);
  *worker = NULL;
}

static tsl_err fractal_open(const tsl_problem *problem, const tsl_device *device,
                            tsl_worker **worker) {
  tsl_err err = TSL_OK;
  fractal_gpu *w = (fractal_gpu *)calloc(1, sizeof *w);
  *worker = (tsl_worker *)w;
  if (w == NULL) TSL_FAIL(TSL_ERR_MEMORY, "no host memory for a worker");
  w->p = *fractal_params_of(problem);
  w->tuning.refill = FRACTAL_REFILL;
  w->tuning.longest = FRACTAL_LONGEST;
  w->problem = problem;
  TSL_TRY(tsl_gpu_worker_open(w, device));
  TSL_TRY(fractal_gpu_upload(w));
  TSL_TRY(clear_totals(w));
done:
  if (err != TSL_OK && *worker != NULL) fractal_close(worker);
  return err;
}

static tsl_err fractal_begin(tsl_worker *worker, int phase) {
  tsl_err err = TSL_OK;
  if (phase > 0) TSL_TRY(fractal_gpu_upload(gpu_of(worker)));
  TSL_TRY(clear_totals(gpu_of(worker)));
done:
  return err;
}

static tsl_err fractal_run(tsl_worker *worker, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  fractal_gpu *w = gpu_of(worker);
  int64_t most = n;
  for (int64_t u = 0; u < n;) {
    const int64_t m = n - u < most ? n - u : most;
    err = fractal_prepare(w, units + u, m, parts + u);
    if (err == TSL_ERR_DEVICE_MEMORY && m > 1) {
      most = (m + 1) / 2;
      continue;
    }
    TSL_TRY(err);
    TSL_TRY(run_group(w, units + u, m, parts + u));
    u += m;
  }
done:
  return err;
}

static tsl_err fractal_collect(tsl_worker *worker, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  fractal_gpu *w = gpu_of(worker);
  TSL_TRY(
      tsl_gpu_copy(w, problem->fields[FRACTAL_TOTALS].data, w->totals.data, FRACTAL_N_TOTALS * 8));
done:
  return err;
}

const tsl_backend fractal_backend_gpu = {
    .family = "fractal",
    .open = fractal_open,
    .begin = fractal_begin,
    .run = fractal_run,
    .collect = fractal_collect,
    .close = fractal_close,
    .host_alloc = tsl_gpu_host_alloc,
    .host_free = tsl_gpu_host_free,
};
