/**
 * @file tri_store_run.cuh
 * The default map: which kernel computes rows of condensed and square output. Included once for
 * each type.
 */
#pragma once

#include "tri_narrow.cuh"
#include "tri_wide.cuh"

/** Rows [a, b) of a slab and where they go. */
template <class R> struct tri_store_job {
  const tri_gpu *w;
  const tri_args<R> *args;
  tri_layout layout;
  int shape; /**< tri_shape */
  int64_t a, b, columns;
  R *out;
  cudaStream_t stream;
};

/** Few values in few dimensions? */
template <class R> static bool tri_store_is_small(const tri_store_job<R> *job) {
  const int64_t columns = job->columns - (job->layout.square ? 0 : job->a);
  return job->w->p.d <= TRI_NARROW_D && (job->b - job->a) * columns <= TRI_NARROW_CELLS;
}

template <class R> static tsl_err tri_store_narrow(const tri_store_job<R> *job) {
  tsl_err err = TSL_OK;
  const int C = tri_width<R>::value, warps = TRI_THREADS / 32;
  const auto kernel =
      tri_pick<tri_narrow_entry, R, 1, TRI_D2 | TRI_D3 | TRI_DN>(job->w->p.function, job->w->p.d);
  tri_box box = {};
  box.a = (int)job->a;
  box.b = (int)job->b;
  box.left = job->layout.square ? 0 : (int)job->a;
  const int most = tri_places_of(&job->layout, job->out).copies - 1; /* columns lost to alignment */
  const int64_t x = tsl_ceil_div(job->columns - box.left + most, 32 * C);
  const int64_t y = tsl_ceil_div(job->b - job->a, warps);
  if (kernel == NULL) TSL_FAIL(TSL_ERR_INTERNAL, "no kernel for function %d", job->w->p.function);
  TSL_LAUNCH(kernel, dim3((unsigned)x, (unsigned)y), TRI_THREADS, 0, job->stream, *job->args,
             job->layout, box, job->out);
done:
  return err;
}

/** Tiles of a job, refused when a grid does not hold them. */
template <class R>
static tsl_err tri_store_tiles(const tri_store_job<R> *job, int width, int rows, int wanted,
                               tri_tiles *tiles) {
  tsl_err err = TSL_OK;
  *tiles = tri_tiles_make(job->shape, job->a, job->b, job->columns, width, rows, wanted);
  if (tiles->count > INT32_MAX)
    TSL_FAIL(TSL_ERR_INTERNAL, "rows %lld..%lld make too many tiles", (long long)job->a,
             (long long)job->b);
done:
  return err;
}

/* Copies of columns cost as much as some rows: with many of them tiles are twice as high. */
template <class R, class K> static tsl_err tri_store_wide(const tri_store_job<R> *job, K kernel) {
  tsl_err err = TSL_OK;
  const tri_places places = tri_places_of(&job->layout, job->out);
  const int parts = (int)job->w->p.d * places.copies;
  const int rows = parts > TRI_WIDE_PARTS ? TRI_WIDE_ROWS : TRI_WIDE_ROWS / 2;
  tri_tiles tiles;
  TSL_TRY(tri_store_tiles(job, TRI_WIDE_THREADS * tri_width<R>::value, rows,
                          TRI_WIDE_WANTED * job->w->processors, &tiles));
  TSL_LAUNCH(kernel, dim3((unsigned)tiles.count), TRI_WIDE_THREADS,
             (size_t)parts * TRI_WIDE_GROUPS * sizeof(tri_group<R>), job->stream, *job->args, tiles,
             job->layout, places, job->out);
done:
  return err;
}

template <class R, class K> static tsl_err tri_store_any(const tri_store_job<R> *job, K kernel) {
  tsl_err err = TSL_OK;
  tri_tiles tiles;
  if (kernel == NULL) TSL_FAIL(TSL_ERR_INTERNAL, "no kernel for function %d", job->w->p.function);
  TSL_TRY(tri_store_tiles(job, TRI_THREADS * tri_width<R>::value, TRI_STORE_ROWS,
                          TRI_SMALL_GROUP * job->w->processors, &tiles));
  TSL_LAUNCH(kernel, dim3((unsigned)tiles.count), TRI_THREADS, 0, job->stream, *job->args, tiles,
             job->layout, job->out);
done:
  return err;
}

template <class R>
tsl_err tri_store_run(const tri_gpu *w, const tri_args<R> *args, const tri_slab *slab, int64_t a,
                      int64_t b, R *out, cudaStream_t stream) {
  const int function = w->p.function;
  const bool square = w->p.output == TRI_SQUARE || w->p.two;
  const int64_t first = w->p.first;
  tri_store_job<R> job = {};
  job.w = w;
  job.args = args;
  job.layout.square = square;
  job.layout.fill = slab->fill;
  job.layout.keeps = args->strip != NULL && w->p.keeps_diagonal;
  job.layout.n = (int)w->p.n;
  job.layout.a = (int)(first + slab->a);
  job.layout.columns = slab->columns;
  job.layout.origin = tri_condensed_row(w->p.n, slab->a);
  job.shape = !square ? TRI_UPPER : slab->fill ? TRI_RECTANGLE : TRI_LOWER;
  job.columns = !square ? w->p.n : slab->fill ? slab->columns : b;
  job.a = first + a;
  job.b = first + b;
  job.out = out;
  job.stream = stream;
  if (args->strip != NULL) return tri_store_any(&job, tri_store_entry<tri_matrix<R>>::kernel());
  if (tri_store_is_small(&job)) return tri_store_narrow(&job);
  const auto wide = tri_pick<tri_wide_entry, R, 1, TRI_D2 | TRI_D3>(function, w->p.d);
  if (wide != NULL) return tri_store_wide(&job, wide);
  return tri_store_any(&job,
                       tri_pick<tri_store_entry, R, 32 / (int)sizeof(R), TRI_DN>(function, w->p.d));
}
