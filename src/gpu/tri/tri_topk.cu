/* Top-k output of a range of rows, in batches that fit the card. */
#include "tri_strips.cuh"
#include "tri_topk.cuh"

extern template tsl_err tri_topk_rows<float>(const tri_gpu *, const tri_args<float> *, int64_t,
                                             int64_t, const tri_nearest<float> *);
extern template tsl_err tri_topk_rows<double>(const tri_gpu *, const tri_args<double> *, int64_t,
                                              int64_t, const tri_nearest<double> *);

/* Candidates of a warp: k and at least one step of 32 x C columns, a power of two. */
static int room_of(int64_t k) {
  int room = 256;
  while (room < k + 128) room *= 2;
  return room;
}

/* The k nearest of rows [a, b) by all values. */
template <class R>
static tsl_err choose(tri_gpu *w, int64_t a, int64_t b, const tri_nearest<R> *target) {
  return tri_each_strip<R>(
      w, a, b, false, [=](const tri_args<R> &args, int64_t first, int64_t last) {
        return w->p.k > TRI_FEW_K ? tri_topk_sort<R>(w, &args, first, last, target)
                                  : tri_topk_rows<R>(w, &args, first, last, target);
      });
}

/* The same strip by strip by filter and refinement, where that decides. */
template <class R>
static tsl_err filter(tri_gpu *w, int64_t a, int64_t b, const tri_nearest<R> *target) {
  tsl_err err = TSL_OK;
  const int64_t rows = tri_filter_rows(w);
  for (int64_t c = a; c < b; c += rows) {
    const int64_t d = c + rows < b ? c + rows : b;
    bool undecided = false;
    TSL_TRY(tri_filter_run<R>(w, w->p.first + c, w->p.first + d, target, &undecided));
    if (undecided) TSL_TRY(choose<R>(w, c, d, target));
  }
done:
  return err;
}

/* The k nearest of rows [a, b) within a cut-off, left in w->out and w->out_2. */
template <class R> static tsl_err find(tri_gpu *w, int64_t a, int64_t b, R cut) {
  tsl_err err = TSL_OK;
  const int64_t k = w->p.k, count = (b - a) * k;
  tri_nearest<R> target = {};
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->out, count * 8, "neighbours"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->out_2, count * (int64_t)sizeof(R), "neighbours' values"));
  target.first = (int)(w->p.near ? a : w->p.first + a);
  target.k = (int)k;
  target.room = room_of(k);
  target.cut = cut;
  target.neighbours = (long long *)w->out.data;
  target.values = (R *)w->out_2.data;
  if (w->p.near)
    TSL_TRY(tri_near_topk_run<R>(w, a, b, &target));
  else if (tri_filters(w))
    TSL_TRY(filter<R>(w, a, b, &target));
  else
    TSL_TRY(choose<R>(w, a, b, &target));
done:
  return err;
}

/* The last of the k nearest of rows [a, b); infinite where there are fewer. */
template <class R>
static __global__ void take_last(const R *values, int64_t k, int64_t rows, R *last) {
  const int64_t r = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) last[r] = k > 0 ? values[r * k + k - 1] : (R)0;
}

template <class R> static tsl_err kth(tri_gpu *w, int64_t a, int64_t b, R *last) {
  tsl_err err = TSL_OK;
  const dim3 blocks((unsigned)tsl_ceil_div(b - a, 256));
  if (w->p.k > 0) TSL_TRY(find<R>(w, a, b, (R)w->p.threshold));
  TSL_LAUNCH(take_last<R>, blocks, 256, 0, w->stream, (const R *)w->out_2.data, w->p.k, b - a,
             last);
done:
  return err;
}

tsl_err tri_kth_run(tri_gpu *w, int64_t a, int64_t b, void *last) {
  return w->p.type == TSL_F64 ? kth(w, a, b, (double *)last) : kth(w, a, b, (float *)last);
}

/* Rows [a, b) of the unit that begins at lo. */
template <class R>
static tsl_err batch(tri_gpu *w, int64_t lo, int64_t a, int64_t b, tsl_part *part) {
  tsl_err err = TSL_OK;
  const int64_t k = w->p.k, count = (b - a) * k, at = (a - lo) * k;
  TSL_TRY(find<R>(w, a, b, (R)HUGE_VAL));
  TSL_CUDA_TRY(cudaMemcpyAsync((int64_t *)part->slab[TRI_OUT] + at, w->out.data, (size_t)count * 8,
                               cudaMemcpyDeviceToHost, w->stream));
  TSL_TRY(
      tsl_gpu_copy(w, (R *)part->slab[TRI_OUT_2] + at, w->out_2.data, (size_t)count * sizeof(R)));
done:
  return err;
}

tsl_err tri_topk_run(tri_gpu *w, int64_t lo, int64_t hi, tsl_part *part) {
  if (w->p.k == 0) return TSL_OK;
  return tri_in_batches(w, lo, hi, [=](int64_t a, int64_t b) {
    return w->p.type == TSL_F64 ? batch<double>(w, lo, a, b, part)
                                : batch<float>(w, lo, a, b, part);
  });
}
