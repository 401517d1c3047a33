/* Near pairs on a card: the tree goes there once; rows of a unit are put in the order of their
 * places, so that neighbouring warps find the same boxes and tiles in the caches. */
#include "tri_near.cuh"

#include <cub/device/device_radix_sort.cuh>

#define EXTERN_NEAR(R)                                                                          \
  extern template tsl_err tri_near_histogram<R>(const tri_gpu *, const tri_boxes<R> *,          \
                                                const tri_near_rows *);                         \
  extern template tsl_err tri_near_threshold<R>(const tri_gpu *, const tri_boxes<R> *,          \
                                                const tri_near_rows *, const tri_records<R> *); \
  extern template tsl_err tri_near_topk<R>(const tri_gpu *, const tri_boxes<R> *,               \
                                           const tri_near_rows *, const tri_nearest<R> *);      \
  extern template tsl_err tri_near_fold<R>(const tri_gpu *, const tri_boxes<R> *,               \
                                           const tri_near_rows *, const tri_fold<R> *);
EXTERN_NEAR(float)
EXTERN_NEAR(double)

template <class R>
tsl_err tri_near_cells(const tri_gpu *w, const tri_boxes<R> *boxes, const tri_near_rows *rows);

static tsl_err upload(tri_gpu *w, tsl_gpu_buffer *to, const void *from, int64_t bytes,
                      const char *what) {
  tsl_err err = TSL_OK;
  if (from == NULL) return TSL_OK;
  TSL_TRY(tsl_gpu_reserve(&w->memory, to, bytes, what));
  TSL_CUDA_TRY(cudaMemcpyAsync(to->data, from, (size_t)bytes, cudaMemcpyHostToDevice, w->stream));
done:
  return err;
}

tsl_err tri_near_open(tri_gpu *w) {
  tsl_err err = TSL_OK;
  tri_near_state *s = &w->near;
  tri_tree *t = &s->tree;
  const int64_t value = tri_value_bytes(w);
  TSL_TRY(tri_tree_create(w->problem, t));
  TSL_TRY(upload(w, &s->lo, t->lo, w->p.d * t->ld * value, "boxes"));
  TSL_TRY(upload(w, &s->hi, t->hi, w->p.d * t->ld * value, "boxes"));
  TSL_TRY(upload(w, &s->extra, t->extra, t->ld * value, "boxes"));
  TSL_TRY(upload(w, &s->place, t->place, tri_rows_of(&w->p) * 4, "places of rows"));
  TSL_TRY(upload(w, &s->order, w->problem->fields[TRI_ORDER].data, w->p.n * 4, "order"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &s->next, 8, "counter of rows"));
  TSL_CUDA_TRY(cudaStreamSynchronize(w->stream));
  tsl_free(t->lo);
  tsl_free(t->hi);
  tsl_free(t->extra);
  tsl_free(t->place);
  t->lo = t->hi = t->extra = NULL;
  t->place = NULL;
done:
  return err;
}

void tri_near_close(tri_gpu *w) {
  tri_near_state *s = &w->near;
  tsl_gpu_buffer *const buffers[] = {&s->lo,    &s->hi,     &s->extra, &s->order,
                                     &s->place, &s->sorted, &s->next,  &s->scratch};
  for (tsl_gpu_buffer *buffer : buffers) tsl_gpu_release(&w->memory, buffer);
  tri_tree_clear(&s->tree);
}

template <class R> static tri_boxes<R> boxes_of(const tri_gpu *w) {
  const tri_tree *t = &w->near.tree;
  tri_boxes<R> b = {};
  b.lo = (const R *)w->near.lo.data;
  b.hi = (const R *)w->near.hi.data;
  b.extra = (const R *)w->near.extra.data;
  b.order = (const int *)w->near.order.data;
  b.ld = t->ld;
  b.levels = t->levels;
  for (int l = 0; l < t->levels; l++) b.nodes[l] = (int)t->nodes[l], b.first[l] = t->first[l];
  return b;
}

/* Rows [lo, hi): of the output, or places. */
static tsl_err set_rows(tri_gpu *w, int64_t lo, int64_t hi, bool places, tri_near_rows *rows) {
  tsl_err err = TSL_OK;
  tri_near_state *s = &w->near;
  const int *from = (const int *)s->place.data + lo;
  const int count = (int)(hi - lo);
  size_t bytes = 0;
  int bits = 1;
  *rows = {};
  rows->first = (int)(w->p.first + lo);
  rows->count = count;
  rows->next = (unsigned long long *)s->next.data;
  TSL_CUDA_TRY(cudaMemsetAsync(rows->next, 0, 8, w->stream));
  if (places) goto done;
  while (bits < 31 && w->p.n >> bits != 0) bits++;
  TSL_TRY(tsl_gpu_reserve(&w->memory, &s->sorted, 4 * (int64_t)count, "rows"));
  TSL_CUDA_TRY(cub::DeviceRadixSort::SortKeys(NULL, bytes, from, (int *)s->sorted.data, count, 0,
                                              bits, w->stream));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &s->scratch, (int64_t)bytes + 1, "space for sorting"));
  TSL_CUDA_TRY(cub::DeviceRadixSort::SortKeys(s->scratch.data, bytes, from, (int *)s->sorted.data,
                                              count, 0, bits, w->stream));
  rows->places = (const int *)s->sorted.data;
done:
  return err;
}

template <class R> static tsl_err histogram(tri_gpu *w, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  const tri_boxes<R> boxes = boxes_of<R>(w);
  tri_near_rows rows;
  if (lo >= hi) return TSL_OK;
  TSL_TRY(set_rows(w, lo, hi, true, &rows));
  if (tri_has_cells(&w->p))
    TSL_TRY(tri_near_cells<R>(w, &boxes, &rows));
  else
    TSL_TRY(tri_near_histogram<R>(w, &boxes, &rows));
done:
  return err;
}

tsl_err tri_near_histogram_run(tri_gpu *w, int64_t lo, int64_t hi) {
  return w->p.type == TSL_F64 ? histogram<double>(w, lo, hi) : histogram<float>(w, lo, hi);
}

/* Rows [lo, hi) of what is wanted, by a kernel. */
template <class R, class T>
static tsl_err run(tri_gpu *w, int64_t lo, int64_t hi, bool places, const T *target,
                   tsl_err (*launch)(const tri_gpu *, const tri_boxes<R> *, const tri_near_rows *,
                                     const T *)) {
  tsl_err err = TSL_OK;
  const tri_boxes<R> boxes = boxes_of<R>(w);
  tri_near_rows rows;
  if (lo >= hi) return TSL_OK;
  TSL_TRY(set_rows(w, lo, hi, places, &rows));
  TSL_TRY(launch(w, &boxes, &rows, target));
done:
  return err;
}

template <class R>
tsl_err tri_near_threshold_run(tri_gpu *w, int64_t lo, int64_t hi, const tri_records<R> *records) {
  return run<R>(w, lo, hi, false, records, tri_near_threshold<R>);
}

template <class R>
tsl_err tri_near_topk_run(tri_gpu *w, int64_t lo, int64_t hi, const tri_nearest<R> *target) {
  return run<R>(w, lo, hi, tri_rows_are_places(&w->p), target, tri_near_topk<R>);
}

template <class R>
tsl_err tri_near_fold_run(tri_gpu *w, int64_t lo, int64_t hi, const tri_fold<R> *target) {
  return run<R>(w, lo, hi, tri_rows_are_places(&w->p), target, tri_near_fold<R>);
}

template tsl_err tri_near_fold_run<float>(tri_gpu *, int64_t, int64_t, const tri_fold<float> *);
template tsl_err tri_near_fold_run<double>(tri_gpu *, int64_t, int64_t, const tri_fold<double> *);
template tsl_err tri_near_threshold_run<float>(tri_gpu *, int64_t, int64_t,
                                               const tri_records<float> *);
template tsl_err tri_near_threshold_run<double>(tri_gpu *, int64_t, int64_t,
                                                const tri_records<double> *);
template tsl_err tri_near_topk_run<float>(tri_gpu *, int64_t, int64_t, const tri_nearest<float> *);
template tsl_err tri_near_topk_run<double>(tri_gpu *, int64_t, int64_t,
                                           const tri_nearest<double> *);
