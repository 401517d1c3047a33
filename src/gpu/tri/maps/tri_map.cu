/* Launches of the seed's maps: the grids of each, and the rectangle beside the triangle. */
#include "tri_map.cuh"

extern template tri_map_pointer<float>::type tri_map_kernel_of<float>(int map, int function);
extern template tri_map_pointer<double>::type tri_map_kernel_of<double>(int map, int function);

enum { MAX_GRID_Y = 65535 };

/** Everything that one launch of a map needs. */
template <class R> struct tri_map_job {
  typename tri_map_pointer<R>::type kernel;
  int map;
  tri_args<R> args;
  tri_target target;
  dim3 block;
  R *out;
  cudaStream_t stream;
};

template <class R>
static tsl_err tri_map_launch(const tri_map_job<R> *job, int64_t x, int64_t y, int level,
                              tri_segment segment) {
  tsl_err err = TSL_OK;
  if (x > INT32_MAX || y > MAX_GRID_Y)
    TSL_FAIL(TSL_ERR_INPUT,
             "the seed's maps take at most %lld rows of a slab at block %u; use `map: auto` or "
             "a larger block",
             (long long)MAX_GRID_Y * job->block.x / 2, job->block.x);
  TSL_LAUNCH(job->kernel, dim3((unsigned)x, (unsigned)y), job->block, 0, job->stream, job->args,
             job->target, job->map, level, segment, job->out);
done:
  return err;
}

template <class R> static tsl_err launch_rec(const tri_map_job<R> *job, int t) {
  tsl_err err = TSL_OK;
  const tri_segment none = {};
  for (int level = 0; ((int64_t)1 << level) < t; level++)
    TSL_TRY(tri_map_launch(job, (int64_t)1 << level, tri_rec_rows(t, level), level, none));
  TSL_TRY(tri_map_launch(job, t, 1, TRI_REC_DIAGONAL, none));
done:
  return err;
}

template <class R> static tsl_err launch_flat(const tri_map_job<R> *job, int t) {
  tsl_err err = TSL_OK;
  for (int at = 0; at < t;) {
    const tri_segment segment = tri_segment_at(at, t);
    TSL_TRY(tri_map_launch(job, tri_flat_columns(segment), tri_flat_rows(segment), 0, segment));
    at += segment.p;
  }
done:
  return err;
}

template <class R> static tsl_err launch_triangle(const tri_map_job<R> *job, int map, int side) {
  const tri_segment none = {};
  const int m = job->target.m;
  const int64_t t = tsl_ceil_div(m, side);
  switch (map) {
  case TRI_MAP_BB:
    return tri_map_launch(job, t, t, 0, none);
  case TRI_MAP_RB:
    return tri_map_launch(job, tsl_ceil_div(tri_rb_columns(m), side),
                          tsl_ceil_div(tri_rb_rows(m), side), 0, none);
  case TRI_MAP_REC:
    return launch_rec(job, (int)t);
  case TRI_MAP_LTM:
    return tri_map_launch(job, t * (t + 1) / 2, 1, 0, none);
  default:
    return launch_flat(job, (int)t);
  }
}

template <class R> static tsl_err run(tri_gpu *w, const tri_slab *slab, R *out) {
  tsl_err err = TSL_OK;
  const tri_segment none = {};
  tri_map_job<R> job = {};
  int64_t beside = 0;
  const int side = w->p.block;
  if (side != 8 && side != 16 && side != 32)
    TSL_FAIL(TSL_ERR_INPUT, "block is %d; the maps take 8, 16 or 32", side);
  job.args = tri_args_of<R>(w);
  job.target = tri_target_of(&w->p, slab);
  job.block = tri_map_block(&w->p);
  job.out = out;
  job.stream = w->stream;
  job.map = TRI_MAP_AUTO;
  job.kernel = tri_map_kernel_of<R>(job.map, w->p.function);
  if (job.kernel == NULL) TSL_FAIL(TSL_ERR_INTERNAL, "no kernel for function %d", w->p.function);
  beside = job.target.square ? slab->a : w->p.n - slab->b;
  TSL_TRY(
      tri_map_launch(&job, tsl_ceil_div(beside, side), tsl_ceil_div(job.target.m, side), 0, none));
  if (w->p.map == TRI_MAP_CDP) {
    TSL_TRY(tsl_gpu_reserve(&w->memory, &w->work[5], sizeof(int), "flag of the map cdp"));
    TSL_CUDA_TRY(cudaMemsetAsync(w->work[5].data, 0, sizeof(int), w->stream));
    TSL_TRY(tri_cdp_run(w, slab, out, (int *)w->work[5].data));
  } else {
    job.map = w->p.map;
    job.kernel = tri_map_kernel_of<R>(job.map, w->p.function);
    TSL_TRY(launch_triangle(&job, w->p.map, side));
  }
done:
  return err;
}

tsl_err tri_map_run(tri_gpu *w, const tri_slab *slab, void *out) {
  tsl_err err = TSL_OK;
  if (slab->a >= slab->b) return TSL_OK;
  if (w->p.output == TRI_SQUARE && slab->fill)
    TSL_CUDA_TRY(cudaMemsetAsync(out, 0, (size_t)(tri_slab_count(&w->p, slab) * tri_value_bytes(w)),
                                 w->stream));
  if (w->p.type == TSL_F64)
    TSL_TRY(run(w, slab, (double *)out));
  else
    TSL_TRY(run(w, slab, (float *)out));
done:
  return err;
}
