/* Top-k of thousands: whole rows of a strip are sorted, with their columns, and cut. */
#include "tri_topk.cuh"

#include <cub/device/device_segmented_sort.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

enum { COLUMNS, COLUMNS_2, VALUES_2, SCRATCH }; /* places in w->work */

/* Values and columns of rows [a, b) of the strip; a point with itself comes last. */
template <class R>
static __global__ void number_columns(tri_args<R> args, int a, int64_t count, R *values,
                                      int *columns) {
  const int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= count) return;
  const int64_t r = e / args.n, j = e - r * args.n;
  const int i = a + (int)r;
  const R v = tri_matrix<R>::value(args, i, (int)j);
  values[e] = j == (i | args.apart) ? (R)NAN : v;
  columns[e] = (int)j;
}

template <class R>
static __global__ void cut_rows(const R *values, const int *columns, int64_t n, int a,
                                int64_t count, tri_nearest<R> o) {
  const int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= count) return;
  const int64_t r = e / o.k, t = e - r * o.k, to = (a - o.first + r) * o.k + t;
  const R v = values[r * n + t];
  o.neighbours[to] = v <= o.cut ? columns[r * n + t] : INT32_MAX;
  o.values[to] = v <= o.cut ? v : (R)HUGE_VAL;
}

/* Where row r begins. */
struct row_begin {
  int64_t n;
  __host__ __device__ int64_t operator()(int64_t r) const {
    return r * n;
  }
};

template <class R>
tsl_err tri_topk_sort(tri_gpu *w, const tri_args<R> *args, int64_t a, int64_t b,
                      const tri_nearest<R> *target) {
  tsl_err err = TSL_OK;
  const int64_t n = args->n, rows = b - a, count = rows * n;
  const auto begins =
      thrust::make_transform_iterator(thrust::make_counting_iterator((int64_t)0), row_begin{n});
  size_t bytes = 0;
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->work[COLUMNS], 4 * count, "columns of a strip"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->work[COLUMNS_2], 4 * count, "columns of a strip"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->work[VALUES_2], count * (int64_t)sizeof(R),
                          "values of a strip"));
  {
    R *const strip = (R *)w->strips[0].data;
    cub::DoubleBuffer<R> values(strip, (R *)w->work[VALUES_2].data);
    cub::DoubleBuffer<int> columns((int *)w->work[COLUMNS].data, (int *)w->work[COLUMNS_2].data);
    TSL_LAUNCH(number_columns<R>, dim3((unsigned)tsl_ceil_div(count, 256)), 256, 0, w->stream,
               *args, (int)a, count, strip, columns.Current());
    TSL_CUDA_TRY(cub::DeviceSegmentedSort::StableSortPairs(NULL, bytes, values, columns, count,
                                                           rows, begins, begins + 1, w->stream));
    TSL_TRY(
        tsl_gpu_reserve(&w->memory, &w->work[SCRATCH], (int64_t)bytes + 1, "space for sorting"));
    TSL_CUDA_TRY(cub::DeviceSegmentedSort::StableSortPairs(
        w->work[SCRATCH].data, bytes, values, columns, count, rows, begins, begins + 1, w->stream));
    TSL_LAUNCH(cut_rows<R>, dim3((unsigned)tsl_ceil_div(rows * target->k, 256)), 256, 0, w->stream,
               (const R *)values.Current(), (const int *)columns.Current(), n, (int)a,
               rows * target->k, *target);
  }
done:
  return err;
}

template tsl_err tri_topk_sort<float>(tri_gpu *, const tri_args<float> *, int64_t, int64_t,
                                      const tri_nearest<float> *);
template tsl_err tri_topk_sort<double>(tri_gpu *, const tri_args<double> *, int64_t, int64_t,
                                       const tri_nearest<double> *);
