/* Filter and refinement: centred points and their lengths once, then strips of products. */
#include "tri_filter.cuh"

/* Sums of squares of points beyond this overflow, or nearly. */
static const float MOST_LENGTH = 1e18f;

/* y of dimension blockIdx.x: less the mean, which need not be the same bits everywhere. */
template <class R> static __global__ void centre(const R *x, int64_t n, int64_t n_pad, float *y) {
  __shared__ double sums[TRI_THREADS];
  const R *const from = x + blockIdx.x * n_pad;
  float *const to = y + blockIdx.x * n_pad;
  double sum = 0;
  for (int64_t i = threadIdx.x; i < n; i += TRI_THREADS) sum += (double)from[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = TRI_THREADS / 2; half > 0; half /= 2) {
    if ((int)threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  const R mean = (R)(sums[0] / (double)n);
  for (int64_t i = threadIdx.x; i < n_pad; i += TRI_THREADS)
    to[i] = i < n ? (float)(from[i] - mean) : 0.0f;
}

/* Lengths of the points, and the bits of the largest, which order as numbers do. */
static __global__ void measure(const float *y, int64_t d, int64_t n_pad, float *lengths,
                               int *most) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  if (i >= n_pad) return;
  for (int64_t k = 0; k < d; k++) sum = fmaf(y[k * n_pad + i], y[k * n_pad + i], sum);
  lengths[i] = sqrtf(sum);
  atomicMax(most, __float_as_int(lengths[i]));
}

/* Floats of a row of a strip. */
static int64_t row_length(const tri_gpu *w) {
  return tsl_ceil_div(tri_columns_of(&w->p), 4) * 4;
}

/* -2 y_i y_j of rows [lo, hi), places, with all columns. */
static tsl_err multiply(tri_gpu *w, int64_t lo, int64_t hi) {
  return tri_gemm_product<float>(w, (const float *)w->filter.points.data, -2, lo, hi, 0,
                                 row_length(w));
}

/* And a first strip of the usual size, if it fits: the library then has its kernel for others. */
template <class R> static tsl_err make(tri_gpu *w) {
  tsl_err err = TSL_OK, first = TSL_OK;
  tri_filter_state *s = &w->filter;
  const int64_t d = w->p.d, n_pad = w->p.n_pad, rows = tri_filter_rows(w);
  float most = 0;
  TSL_TRY(tsl_gpu_reserve(&w->memory, &s->points, d * n_pad * 4, "centred points"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &s->lengths, n_pad * 4, "lengths of points"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &s->crowded, 4, "count of rows"));
  TSL_CUDA_TRY(cudaMemsetAsync(s->crowded.data, 0, 4, w->stream));
  TSL_LAUNCH(centre<R>, dim3((unsigned)d), TRI_THREADS, 0, w->stream, (const R *)w->points.data,
             w->p.n, n_pad, (float *)s->points.data);
  TSL_LAUNCH(measure, dim3((unsigned)tsl_ceil_div(n_pad, 256)), 256, 0, w->stream,
             (const float *)s->points.data, d, n_pad, (float *)s->lengths.data,
             (int *)s->crowded.data);
  TSL_TRY(tsl_gpu_copy(w, &most, s->crowded.data, 4));
  s->made = true;
  s->off = !(most < MOST_LENGTH);
  if (!s->off) first = multiply(w, 0, rows < w->p.n ? rows : w->p.n);
  if (first != TSL_ERR_DEVICE_MEMORY) TSL_TRY(first);
done:
  return err;
}

bool tri_filters(const tri_gpu *w) {
  const tri_prepare how = tri_abouts[w->p.function].prepare;
  const bool euclidean = w->p.function == TRI_EUCLIDEAN || w->p.function == TRI_SQEUCLIDEAN ||
                         how == TRI_SCALED || how == TRI_WHITENED;
  return euclidean && w->p.d >= TRI_STRIP_D && w->p.k <= TRI_FEW_K && !w->filter.off;
}

int64_t tri_filter_rows(const tri_gpu *w) {
  return TRI_STREAMS * tri_gemm_rows(w, tri_columns_of(&w->p));
}

void tri_filter_close(tri_gpu *w) {
  tri_filter_state *s = &w->filter;
  tsl_gpu_buffer *const buffers[] = {&s->points, &s->lengths, &s->crowded};
  for (tsl_gpu_buffer *buffer : buffers) tsl_gpu_release(&w->memory, buffer);
}

/* Twice the k wanted, and two steps of a warp. */
static int room_of(int k) {
  int room = 256;
  while (room < 2 * k + 256) room *= 2;
  return room;
}

static tri_filter filter_of(const tri_gpu *w, int64_t lo, int k) {
  tri_filter f = {};
  f.strip = (const float *)w->strips[0].data;
  f.ld = row_length(w);
  f.row = (int)lo;
  f.lengths = (const float *)w->filter.lengths.data;
  f.share = (float)(4 * w->p.d + 64) * 0x1p-24f;
  f.least = (float)w->p.d * 0x1p-126f;
  f.room = room_of(k);
  f.crowded = (int *)w->filter.crowded.data;
  return f;
}

template <class R>
tsl_err tri_filter_run(tri_gpu *w, int64_t lo, int64_t hi, const tri_nearest<R> *target,
                       bool *undecided) {
  tsl_err err = TSL_OK;
  const auto kernel = w->p.function == TRI_SQEUCLIDEAN ? tri_filter_kernel<TRI_SQEUCLIDEAN, R>
                                                       : tri_filter_kernel<TRI_EUCLIDEAN, R>;
  tri_nearest<R> o = *target;
  const int each = room_of(o.k) * (int)(sizeof(R) + sizeof(int));
  int warps = w->shared_limit / each, crowded = 0;
  warps = warps > TRI_TOPK_WARPS ? TRI_TOPK_WARPS : warps;
  *undecided = true;
  if (!w->filter.made) TSL_TRY(make<R>(w));
  if (w->filter.off) return TSL_OK;
  o.a = (int)lo;
  o.b = (int)hi;
  TSL_TRY(multiply(w, lo, hi));
  TSL_CUDA_TRY(cudaMemsetAsync(w->filter.crowded.data, 0, 4, w->stream));
  TSL_CUDA_TRY(cudaFuncSetAttribute((const void *)kernel,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, warps * each));
  TSL_LAUNCH(kernel, dim3((unsigned)tsl_ceil_div(hi - lo, warps)), (unsigned)(32 * warps),
             (size_t)(warps * each), w->stream, tri_args_of<R>(w), o, filter_of(w, lo, o.k));
  TSL_TRY(tsl_gpu_copy(w, &crowded, w->filter.crowded.data, 4));
  *undecided = crowded > 0;
  w->filter.off = 2 * crowded > hi - lo; /* then it costs more than it saves */
done:
  return err;
}

template tsl_err tri_filter_run<float>(tri_gpu *, int64_t, int64_t, const tri_nearest<float> *,
                                       bool *);
template tsl_err tri_filter_run<double>(tri_gpu *, int64_t, int64_t, const tri_nearest<double> *,
                                        bool *);
