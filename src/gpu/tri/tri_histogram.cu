/* Histogram of a unit's rows: the type is chosen here, and rows come at once or strip by strip from
 * cuBLAS. */
#include "tri_strips.cuh"

template <class R>
tsl_err tri_histogram_rows(const tri_gpu *w, const tri_args<R> *args, int64_t a, int64_t b);

template <class R>
tsl_err tri_cells_rows(const tri_gpu *w, const tri_args<R> *args, int64_t a, int64_t b);

template <class R> static tsl_err run(tri_gpu *w, int64_t lo, int64_t hi) {
  return tri_each_strip<R>(w, lo, hi, true, [=](const tri_args<R> &args, int64_t a, int64_t b) {
    return tri_has_cells(&w->p) ? tri_cells_rows<R>(w, &args, a, b)
                                : tri_histogram_rows<R>(w, &args, a, b);
  });
}

tsl_err tri_histogram_run(tri_gpu *w, int64_t lo, int64_t hi) {
  if (w->p.near) return tri_near_histogram_run(w, lo, hi);
  return w->p.type == TSL_F64 ? run<double>(w, lo, hi) : run<float>(w, lo, hi);
}
