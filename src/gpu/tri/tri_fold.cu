/* Row reductions of a range of rows: degree, maximum, and the phases of tri_graph.h. */
#include "tri_fold.cuh"
#include "tri_strips.cuh"

#include <string.h>

extern template tsl_err tri_fold_rows<float>(const tri_gpu *, const tri_args<float> *, int64_t,
                                             int64_t, const tri_fold<float> *);
extern template tsl_err tri_fold_rows<double>(const tri_gpu *, const tri_args<double> *, int64_t,
                                              int64_t, const tri_fold<double> *);

/* ------------------------------------------------- the fields of tri_graph.h */

tsl_err tri_graph_begin(tri_gpu *w) {
  tsl_err err = TSL_OK;
  const tri_graph_view view = tri_graph_view_of(w->problem);
  const int64_t n = w->p.n, value = tri_value_bytes(w);
  tri_graph_state *s = &w->graph;
  void *uniform = NULL;
  s->stage = view.stage;
  TSL_TRY(tsl_gpu_upload(w, &s->component, view.component, n * 4, "components"));
  TSL_TRY(tsl_gpu_upload(w, &s->active, view.active, n, "components"));
  if (view.stage == TRI_STAGE_NEAREST)
    TSL_TRY(tsl_gpu_upload(w, &s->bound, view.bound, n * value, "components"));
  if (w->p.near) {
    TSL_TRY(tsl_alloc(w->near.tree.ld, 4, "components", &uniform));
    tri_graph_uniform(&w->near.tree, n, view.component, (int32_t *)uniform);
    TSL_TRY(tsl_gpu_upload(w, &s->uniform, uniform, w->near.tree.ld * 4, "components"));
  }
  TSL_CUDA_TRY(cudaStreamSynchronize(w->stream));
done:
  tsl_free(uniform);
  return err;
}

void tri_graph_close(tri_gpu *w) {
  tri_graph_state *s = &w->graph;
  tsl_gpu_buffer *const buffers[] = {&s->component, &s->active, &s->bound, &s->uniform};
  for (tsl_gpu_buffer *buffer : buffers) tsl_gpu_release(&w->memory, buffer);
}

/* -------------------------------------------------------------------- rows */

/* Results of rows on the card: numbers or links, and values. */
enum { NUMBERS, VALUES };

/* What is wanted by the output and its phase. */
template <class R> static tri_fold<R> fold_of(const tri_gpu *w, int64_t a) {
  tri_fold<R> o = {};
  const bool graph = tri_is_graph(&w->p);
  o.first = (int)(w->p.near ? a : w->p.first + a);
  o.cut = (R)w->p.threshold;
  o.kind = TRI_FOLD_DEGREE;
  if (w->p.output == TRI_MAXIMUM) o.kind = TRI_FOLD_FARTHEST, o.cut = (R)HUGE_VAL;
  if (graph) {
    o.kind = w->graph.stage == TRI_STAGE_LINK ? TRI_FOLD_LINK : TRI_FOLD_NEAREST;
    o.component = (const int *)w->graph.component.data;
    o.active = (const unsigned char *)w->graph.active.data;
    o.bound = (const R *)w->graph.bound.data;
    if (w->p.near) o.uniform = (const int *)w->graph.uniform.data;
    o.links = (int *)w->work[NUMBERS].data;
  } else {
    o.numbers = (long long *)w->work[NUMBERS].data;
  }
  if (!tri_output_in(&w->p, TRI_BIT(DEGREE) | TRI_BIT(COMPONENTS)))
    o.values = (R *)w->work[VALUES].data;
  return o;
}

template <class R> static tsl_err fold(tri_gpu *w, int64_t a, int64_t b) {
  tsl_err err = TSL_OK;
  const tri_fold<R> target = fold_of<R>(w, a);
  if (w->p.near && w->p.output != TRI_MAXIMUM)
    TSL_TRY(tri_near_fold_run<R>(w, a, b, &target));
  else
    TSL_TRY(tri_each_strip<R>(w, a, b, false,
                              [=](const tri_args<R> &args, int64_t first, int64_t last) {
                                return tri_fold_rows<R>(w, &args, first, last, &target);
                              }));
done:
  return err;
}

/* The first phase of dbscan: rows have no links. */
static tsl_err core(tri_gpu *w, int64_t a, int64_t b) {
  tsl_err err = TSL_OK;
  const size_t rows = (size_t)(b - a);
  TSL_TRY(tri_kth_run(w, a, b, w->work[VALUES].data));
  TSL_CUDA_TRY(cudaMemset2DAsync(w->work[NUMBERS].data, 8, 0xff, 4, rows, w->stream));
  TSL_CUDA_TRY(cudaMemset2DAsync((char *)w->work[NUMBERS].data + 4, 8, 0, 4, rows, w->stream));
done:
  return err;
}

/* Rows [a, b) of the units that begin at lo; numbers and links have 8 bytes. */
static tsl_err batch(tri_gpu *w, int64_t lo, int64_t a, int64_t b, tsl_part *part) {
  tsl_err err = TSL_OK;
  const int64_t rows = b - a, value = tri_value_bytes(w);
  const bool valued = !tri_output_in(&w->p, TRI_BIT(DEGREE) | TRI_BIT(COMPONENTS));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->work[NUMBERS], 8 * rows, "results of rows"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->work[VALUES], value * rows, "results of rows"));
  if (tri_is_graph(&w->p) && w->graph.stage == TRI_STAGE_CORE)
    TSL_TRY(core(w, a, b));
  else
    TSL_TRY(w->p.type == TSL_F64 ? fold<double>(w, a, b) : fold<float>(w, a, b));
  TSL_CUDA_TRY(cudaMemcpyAsync((char *)part->slab[TRI_OUT] + 8 * (a - lo), w->work[NUMBERS].data,
                               (size_t)(8 * rows), cudaMemcpyDeviceToHost, w->stream));
  if (valued)
    TSL_CUDA_TRY(cudaMemcpyAsync((char *)part->slab[TRI_OUT_2] + value * (a - lo),
                                 w->work[VALUES].data, (size_t)(value * rows),
                                 cudaMemcpyDeviceToHost, w->stream));
  TSL_CUDA_TRY(cudaStreamSynchronize(w->stream));
done:
  return err;
}

tsl_err tri_fold_run(tri_gpu *w, int64_t lo, int64_t hi, tsl_part *part) {
  if (w->p.output == TRI_MAXIMUM && tri_partners_of(&w->p) == 0) return TSL_OK;
  if (tri_columns_of(&w->p) == 0) { /* the other set is empty */
    memset(part->slab[TRI_OUT], 0, (size_t)(hi - lo) * sizeof(int64_t));
    return TSL_OK;
  }
  return tri_in_batches(w, lo, hi, [=](int64_t a, int64_t b) { return batch(w, lo, a, b, part); });
}
