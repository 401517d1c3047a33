/* The family tri on a card: the backend. Units are run one after another; a unit whose output does
 * not fit the card is run in smaller batches of rows. Batches of forces and of records overlap. */
#include "gpu_worker.cuh"
#include "tri_equation.cuh"
#include "tri_frames.cuh"
#include "tri_letters.cuh"
#include "tri_strips.cuh"

#include <stdlib.h>
#include <string.h>

static tri_gpu *gpu_of(tsl_worker *worker) {
  return (tri_gpu *)worker;
}

static void release_scratch(tri_gpu *w) {
  tsl_gpu_release(&w->memory, &w->out);
  tsl_gpu_release(&w->memory, &w->out_2);
  for (tsl_gpu_buffer &buffer : w->work) tsl_gpu_release(&w->memory, &buffer);
  for (tsl_gpu_buffer &buffer : w->strips) tsl_gpu_release(&w->memory, &buffer);
  tri_forces_release(w);
}

bool tri_smaller_batch(tri_gpu *w, tsl_err failed, int64_t count, int64_t *rows) {
  if (failed != TSL_ERR_DEVICE_MEMORY || count <= 1) return false;
  (void)cudaStreamSynchronize(w->stream);
  release_scratch(w);
  *rows = (count + 1) / 2;
  return true;
}

int64_t tri_slab_count(const tri_params *p, const tri_slab *slab) {
  if (p->output == TRI_SQUARE || p->two) return (slab->b - slab->a) * slab->columns;
  return tri_condensed_row(p->n, slab->b) - tri_condensed_row(p->n, slab->a);
}

/* CONDENSED and SQUARE of functions that come in strips. */
template <class R> static tsl_err store_strips(tri_gpu *w, const tri_slab *slab, R *out) {
  const int64_t first = w->p.first;
  return tri_each_strip<R>(w, slab->a, slab->b, w->p.output == TRI_CONDENSED,
                           [=](const tri_args<R> &args, int64_t a, int64_t b) {
                             return tri_store_run<R>(w, &args, slab, a - first, b - first, out,
                                                     w->stream);
                           });
}

tsl_err tri_slab_run(tri_gpu *w, const tri_slab *slab, void *out) {
  tsl_err err = TSL_OK;
  tri_args<float> f = tri_args_of<float>(w);
  tri_args<double> d = tri_args_of<double>(w);
  if (w->equation != NULL)
    TSL_TRY(tri_equation_store(w, slab, out));
  else if (tri_is_terms(&w->p) && w->p.type == TSL_F64)
    TSL_TRY(store_strips<double>(w, slab, (double *)out));
  else if (tri_is_terms(&w->p))
    TSL_TRY(store_strips<float>(w, slab, (float *)out));
  else if (w->p.map != TRI_MAP_AUTO)
    TSL_TRY(tri_map_run(w, slab, out));
  else if (tri_uses_gemm(&w->p))
    TSL_TRY(tri_gemm_slab(w, slab, out));
  else if (w->p.type == TSL_F64)
    TSL_TRY(tri_store_run(w, &d, slab, slab->a, slab->b, (double *)out, w->stream));
  else
    TSL_TRY(tri_store_run(w, &f, slab, slab->a, slab->b, (float *)out, w->stream));
done:
  return err;
}

/* ------------------------------------------------------- units by output */

/* Units that are computed together; slabs and lists come one unit at a time. */
typedef struct unit_group {
  const tsl_unit *units; /* [n], each beginning where the one before ends */
  int64_t n;
  tsl_part *parts; /* [n] */
} unit_group;

/* Rows [a, b) of a group. TSL_ERR_DEVICE_MEMORY: try fewer rows. */
static tsl_err slab_batch(tri_gpu *w, const unit_group *group, int64_t a, int64_t b) {
  tsl_err err = TSL_OK;
  const tsl_unit *unit = group->units; /* SQUARE: a group of one */
  const int64_t columns = w->p.two ? w->p.columns : unit->hi[0];
  const tri_slab before = {unit->lo[0], a, columns, true}, slab = {a, b, columns, true};
  const int64_t value = tri_value_bytes(w), bytes = tri_slab_count(&w->p, &slab) * value;
  char *const host = (char *)group->parts->slab[TRI_OUT] + tri_slab_count(&w->p, &before) * value;
  if (bytes == 0) return TSL_OK;
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->out, bytes, "rows of the output"));
  TSL_TRY(tri_slab_run(w, &slab, w->out.data));
  TSL_CUDA_TRY(
      cudaMemcpyAsync(host, w->out.data, (size_t)bytes, cudaMemcpyDeviceToHost, w->stream));
  if (w->p.map == TRI_MAP_CDP) TSL_TRY(tri_cdp_check(w, (const int *)w->work[5].data));
done:
  return err;
}

/* Rows [a, b) of those from lo on. */
static tsl_err paired_batch(tri_gpu *w, const unit_group *group, int64_t lo, int64_t a, int64_t b) {
  char *const slab = (char *)group->parts->slab[TRI_OUT];
  return tri_paired_rows(w, a, b, slab + (a - lo) * tri_value_bytes(w));
}

static tsl_err run_group(tri_gpu *w, const unit_group *group) {
  tsl_err err = TSL_OK;
  int64_t lo = group->units[0].lo[0], hi = group->units[group->n - 1].hi[0];
  double seconds = 0;
  TSL_TRY(tsl_gpu_timer_start(&w->timer, w->stream));
  if (w->p.streamed) {
    TSL_TRY(tri_letters_read(w, lo, hi));
    hi -= lo, lo = 0;
  }
  switch (w->p.output) {
  case TRI_CONDENSED:
  case TRI_SQUARE:
    TSL_TRY(tri_in_batches(w, lo, hi,
                           [=](int64_t a, int64_t b) { return slab_batch(w, group, a, b); }));
    break;
  case TRI_PAIRED:
    TSL_TRY(tri_in_batches(w, lo, hi,
                           [=](int64_t a, int64_t b) { return paired_batch(w, group, lo, a, b); }));
    break;
  case TRI_THRESHOLD:
  case TRI_CSR:
    TSL_TRY(tri_threshold_run(w, lo, hi, group->parts));
    break;
  case TRI_DEGREE:
  case TRI_MAXIMUM:
  case TRI_COMPONENTS:
  case TRI_DBSCAN:
  case TRI_LINKAGE:
    TSL_TRY(tri_fold_run(w, lo, hi, group->parts));
    break;
  case TRI_MINIMUM:
  case TRI_TOPK:
    TSL_TRY(tri_topk_run(w, lo, hi, group->parts));
    break;
  case TRI_HISTOGRAM:
    TSL_TRY(tri_histogram_run(w, lo, hi));
    break;
  case TRI_SUM:
    TSL_TRY(tri_sum_run(w, group->units, group->n, group->parts));
    break;
  default:
    TSL_FAIL(TSL_ERR_INTERNAL, "unknown output %d", w->p.output);
  }
  if (w->p.aligned) TSL_TRY(tri_traceback_rows_run(w, lo, hi, group->parts));
  TSL_TRY(tsl_gpu_timer_stop(&w->timer, w->stream, &seconds));
  tsl_seconds_spread(seconds, group->units, group->n, group->parts);
  for (int64_t u = 0; u < group->n; u++)
    tri_restore_signs(&w->p, &group->units[u], &group->parts[u]);
done:
  return err;
}

/* ------------------------------------------------------------ the backend */

/* Classes, their table, edges and weights of a histogram with cells. */
static tsl_err upload_marks(tri_gpu *w) {
  tsl_err err = TSL_OK;
  for (int f = TRI_CLASSES; f < TRI_LETTERS && tri_has_cells(&w->p); f++) {
    const tsl_field *field = &w->problem->fields[f];
    TSL_TRY(tsl_gpu_upload(w, &w->marks[f - TRI_CLASSES], field->data, tsl_field_bytes(field),
                           "classes, edges or weights"));
  }
done:
  return err;
}

static tsl_err tri_gpu_upload(tri_gpu *w) {
  tsl_err err = TSL_OK;
  const tsl_field *points = &w->problem->fields[TRI_POINTS],
                  *extras = &w->problem->fields[TRI_EXTRAS];
  const int64_t value = tri_value_bytes(w);
  TSL_TRY(tsl_gpu_upload(w, &w->points, points->data, tsl_field_count(points) * value, "points"));
  TSL_TRY(tsl_gpu_upload(w, &w->extras, extras->data, tsl_field_count(extras) * value,
                         "radii or masses"));
  if (w->p.output == TRI_FORCES) TSL_TRY(tri_gravity_upload(w));
  TSL_TRY(upload_marks(w));
  TSL_CUDA_TRY(cudaStreamSynchronize(w->stream));
done:
  return err;
}

static tsl_err clear_counts(tri_gpu *w) {
  tsl_err err = TSL_OK;
  const int64_t bytes = tri_cells_of(&w->p) * 8;
  if (w->p.output != TRI_HISTOGRAM || w->frames != NULL) return TSL_OK;
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->counts, bytes, "histogram"));
  TSL_CUDA_TRY(cudaMemsetAsync(w->counts.data, 0, (size_t)bytes, w->stream));
  if (!w->p.weighted) return TSL_OK;
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->sums, 2 * bytes, "sums of weights"));
  TSL_CUDA_TRY(cudaMemsetAsync(w->sums.data, 0, (size_t)(2 * bytes), w->stream));
done:
  return err;
}

static void tri_close(tsl_worker **worker) {
  tri_gpu *w = gpu_of(*worker);
  if (w == NULL) return;
  tri_frames_close_gpu(&w->frames);
  if (w->stream != NULL) (void)cudaStreamSynchronize(w->stream);
  tri_forces_close(w);
  tri_started_close(&w->started);
  tri_gemm_destroy(w);
  tsl_gpu_buffer *const buffers[] = {&w->points, &w->extras, &w->counts, &w->sums, &w->words};
  for (tsl_gpu_buffer *buffer : buffers) tsl_gpu_release(&w->memory, buffer);
  for (tsl_gpu_buffer &buffer : w->marks) tsl_gpu_release(&w->memory, &buffer);
  release_scratch(w);
  tri_near_close(w);
  tri_graph_close(w);
  tri_filter_close(w);
  tri_equation_close(w);
  tri_letters_close(w);
  tsl_gpu_stage_destroy(&w->stage);
  tsl_gpu_timer_destroy(&w->timer);
  if (w->stream != NULL) (void)cudaStreamDestroy(w->stream);
  free(w);
  *worker = NULL;
}

/* A trajectory: points come later, frame by frame. */
static tsl_err tri_frames_open_worker(tri_gpu *w, const tsl_device *device, tsl_worker **worker) {
  const tsl_err err = tri_frames_open_gpu(w->problem, device, &w->frames);
  if (err != TSL_OK) tri_close(worker);
  return err;
}

static tsl_err tri_open(const tsl_problem *problem, const tsl_device *device, tsl_worker **worker) {
  tsl_err err = TSL_OK;
  tri_gpu *w = (tri_gpu *)calloc(1, sizeof *w);
  *worker = (tsl_worker *)w;
  if (w == NULL) TSL_FAIL(TSL_ERR_MEMORY, "no host memory for a worker");
  w->p = *tri_params_of(problem);
  w->problem = problem;
  if (w->p.frames > 0) return tri_frames_open_worker(w, device, worker);
  TSL_TRY(tsl_gpu_worker_open(w, device));
  TSL_CUDA_TRY(cudaDeviceGetAttribute(&w->shared_limit, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                      device->index));
  TSL_TRY(tri_started_open(&w->started));
  if (w->p.output == TRI_FORCES) TSL_TRY(tri_forces_open(w));
  if (w->p.output == TRI_THRESHOLD || w->p.output == TRI_CSR)
    TSL_TRY(tsl_gpu_stage_create(&w->stage));
  TSL_TRY(tri_gpu_upload(w));
  TSL_TRY(tri_equation_open(w, device->capability));
  TSL_TRY(tri_letters_open(w));
  TSL_TRY(tri_bits_open(w));
  if (w->p.near) TSL_TRY(tri_near_open(w));
  if (tri_is_graph(&w->p)) TSL_TRY(tri_graph_begin(w)); /* trials come before the first phase */
  TSL_TRY(clear_counts(w));
done:
  if (err != TSL_OK && *worker != NULL) tri_close(worker);
  return err;
}

static tsl_err tri_begin(tsl_worker *worker, int phase) {
  tsl_err err = TSL_OK;
  if (gpu_of(worker)->frames != NULL) return TSL_OK;
  if (tri_is_graph(&gpu_of(worker)->p)) return tri_graph_begin(gpu_of(worker));
  if (phase > 0) TSL_TRY(tri_gpu_upload(gpu_of(worker)));
  TSL_TRY(clear_counts(gpu_of(worker)));
done:
  return err;
}

/* How many of the units run as one: neighbours, where the kernel gains from more rows. Records of a
 * group are the first unit's, as they come before all that follow; slabs of neighbours are one.
 * Streamed are half a window, as one group is read while another is computed; a whole one, if few
 * pairs are in it. */
static int64_t group_size(const tri_gpu *w, const tsl_unit *units, int64_t n) {
  enum { FEW = 1 << 14 };
  const bool together = w->p.output != TRI_SQUARE; /* whose units have rows of their own widths */
  const int64_t m = together ? tsl_neighbours(units, n) : 1;
  double bytes = units->device_bytes;
  int64_t k = 1;
  const double window = TRI_WINDOW_BYTES, limit = (double)w->memory.limit;
  const double most = limit > 0 && limit / 4 < window ? limit / 4 : window;
  for (; k < m; k++) {
    const bool few = units[k - 1].hi[0] - units->lo[0] < FEW;
    bytes += units[k].device_bytes;
    if (bytes > (few ? most : most / 2)) break;
  }
  return w->p.streamed ? k : m; /* as much as is read at once */
}

/* Each group is read while the card computes what was queued before. */
static tsl_err queue_records(tri_gpu *w, const tri_batch *batch, const tsl_gpu_timer *timer) {
  tsl_err err = TSL_OK;
  TSL_CUDA_TRY(cudaEventRecord(timer->begin, w->stream));
  for (int64_t u = 0; u < batch->n;) {
    const unit_group group = {batch->units + u, group_size(w, batch->units + u, batch->n - u),
                              batch->parts + u};
    const int64_t lo = group.units[0].lo[0], rows = group.units[group.n - 1].hi[0] - lo;
    TSL_TRY(tri_letters_read(w, lo, lo + rows));
    TSL_TRY(tri_in_batches(w, 0, rows,
                           [=](int64_t a, int64_t b) { return paired_batch(w, &group, 0, a, b); }));
    u += group.n;
  }
  TSL_TRY(tri_letters_join(w));
  TSL_CUDA_TRY(cudaEventRecord(timer->end, w->stream));
done:
  if (err != TSL_OK) (void)cudaStreamSynchronize(w->stream); /* the first error counts */
  return err;
}

static tsl_err tri_start(tsl_worker *worker, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  tri_gpu *w = gpu_of(worker);
  tri_started *s = &w->started;
  tri_batch batch = {units, parts, n, 0};
  if (s->n == TSL_MOST_STARTED) TSL_FAIL(TSL_ERR_INTERNAL, "%d batches are started", s->n);
  if (w->p.output == TRI_FORCES)
    TSL_TRY(tri_forces_queue(w, &batch, tri_started_timer(s)));
  else
    TSL_TRY(queue_records(w, &batch, tri_started_timer(s)));
  s->batches[s->n++] = batch;
done:
  return err;
}

/* With alignments the way back needs a group's letters on the host. */
static bool tri_overlaps(const tsl_worker *worker) {
  const tri_params *p = &((const tri_gpu *)worker)->p;
  return p->output == TRI_FORCES || (p->streamed && !p->aligned);
}

static int64_t tri_saturating_units(const tsl_worker *worker, const tsl_unit *unit) {
  const tri_gpu *w = (const tri_gpu *)worker;
  if (tri_is_scored(&w->p)) return tri_letters_units(w, unit);
  return w->frames != NULL ? tri_frames_saturating_gpu(w->frames) : 1;
}

static tsl_err tri_run(tsl_worker *worker, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  tri_gpu *w = gpu_of(worker);
  if (w->frames != NULL) return tri_frames_run_gpu(w->frames, units, n, parts);
  if (tri_overlaps(worker)) {
    TSL_TRY(tri_start(worker, units, n, parts));
    return tri_batch_finish(worker);
  }
  for (int64_t u = 0; u < n;) {
    const unit_group group = {units + u, group_size(w, units + u, n - u), parts + u};
    TSL_TRY(run_group(w, &group));
    u += group.n;
  }
done:
  return err;
}

/* The halves of the sums, low ones first, as limbs. */
static tsl_err collect_sums(tri_gpu *w, uint64_t (*limbs)[TRI_LIMBS]) {
  tsl_err err = TSL_OK;
  const int64_t cells = tri_cells_of(&w->p);
  uint64_t *halves = NULL;
  TSL_TRY(tsl_alloc(2 * cells, sizeof *halves, "sums of weights", (void **)&halves));
  TSL_TRY(tsl_gpu_copy(w, halves, w->sums.data, 2 * cells * 8));
  for (int64_t c = 0; c < cells; c++)
    for (int h = 0; h < 2; h++) {
      limbs[c][2 * h] = halves[h * cells + c] & UINT32_MAX;
      limbs[c][2 * h + 1] = halves[h * cells + c] >> 32;
    }
done:
  tsl_free(halves);
  return err;
}

static tsl_err tri_collect(tsl_worker *worker, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  tri_gpu *w = gpu_of(worker);
  if (w->p.output != TRI_HISTOGRAM || w->frames != NULL) return TSL_OK;
  TSL_TRY(tsl_gpu_copy(w, problem->fields[TRI_OUT].data, w->counts.data,
                       (size_t)tri_cells_of(&w->p) * 8));
  if (w->p.weighted)
    TSL_TRY(collect_sums(w, (uint64_t(*)[TRI_LIMBS])problem->fields[TRI_OUT_2].data));
done:
  return err;
}

const tsl_backend tri_backend_gpu = {
    .family = "tri",
    .prepare = tri_gpu_prepare,
    .open = tri_open,
    .begin = tri_begin,
    .run = tri_run,
    .start = tri_start,
    .ended = tri_batch_ended,
    .finish = tri_batch_finish,
    .overlaps = tri_overlaps,
    .saturating_units = tri_saturating_units,
    .collect = tri_collect,
    .close = tri_close,
    .host_alloc = tsl_gpu_host_alloc,
    .host_free = tsl_gpu_host_free,
};
