/* The seed's program as its user would compile it: u^2 - v^2 + x and 2uv + y, the image in fp64,
 * cuBLAS for the mean. Only the memory of the host is better than there: pinned. */
#include "fractal_bench.cuh"

enum { SIDE = 16, LINE = 128 };

static __global__ void seed_2d_kernel(const double *x, const double *y, int n, int maxiter,
                                      double *image) {
  const int i = (int)(blockIdx.x * SIDE + threadIdx.x), j = (int)(blockIdx.y * SIDE + threadIdx.y);
  if (i < n && j < n) image[(int64_t)j * n + i] = fractal_seed_escape(x[i], y[j], maxiter);
}

static __global__ void seed_1d_kernel(const double *x, const double *y, int n, int maxiter,
                                      double *image) {
  const int i = (int)(blockIdx.x * LINE + threadIdx.x);
  if (i >= n) return;
  for (int j = 0; j < n; j++) image[(int64_t)j * n + i] = fractal_seed_escape(x[i], y[j], maxiter);
}

static __global__ void seed_binarise_kernel(const double *image, int64_t count, double mean,
                                            uint8_t *out) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = image[i] >= mean ? 255 : 0;
}

/* What the seed's program holds. */
typedef struct seed {
  fractal_bench_image *b;
  tsl_gpu_buffer image; /* f64 [n][n] */
  void *host;           /* pinned, the same */
  cublasHandle_t handle;
  int n, maxiter;
  int64_t count;
} seed;

static tsl_err seed_values(const seed *s, bool two) {
  tsl_err err = TSL_OK;
  const fractal_gpu *w = s->b->w;
  const double *x = (const double *)w->x.data, *y = (const double *)w->y.data;
  double *image = (double *)s->image.data;
  const unsigned side = (unsigned)tsl_ceil_div(s->n, SIDE);
  if (two)
    TSL_LAUNCH(seed_2d_kernel, dim3(side, side), dim3(SIDE, SIDE), 0, w->stream, x, y, s->n,
               s->maxiter, image);
  else
    TSL_LAUNCH(seed_1d_kernel, (unsigned)tsl_ceil_div(s->n, LINE), LINE, 0, w->stream, x, y, s->n,
               s->maxiter, image);
done:
  return err;
}

static tsl_err seed_pipeline(const seed *s, bool two) {
  tsl_err err = TSL_OK;
  const fractal_gpu *w = s->b->w;
  const double *image = (const double *)s->image.data;
  uint8_t *binary = (uint8_t *)s->b->binary_device.data;
  double sum = 0;
  TSL_TRY(seed_values(s, two));
  TSL_BLAS_TRY(tsl_blas.Dasum(s->handle, (int)s->count, image, 1, &sum));
  TSL_LAUNCH(seed_binarise_kernel, (unsigned)tsl_ceil_div(s->count, 256), 256, 0, w->stream, image,
             s->count, sum / (double)s->count, binary);
  TSL_CUDA_TRY(
      cudaMemcpyAsync(s->host, image, (size_t)s->count * 8, cudaMemcpyDeviceToHost, w->stream));
  TSL_CUDA_TRY(
      cudaMemcpyAsync(s->b->binary, binary, (size_t)s->count, cudaMemcpyDeviceToHost, w->stream));
  TSL_CUDA_TRY(cudaStreamSynchronize(w->stream));
done:
  return err;
}

static tsl_err seed_open(seed *s) {
  tsl_err err = TSL_OK;
  fractal_gpu *w = s->b->w;
  s->n = (int)s->b->p.xres;
  s->maxiter = (int)s->b->p.maxiter;
  s->count = (int64_t)s->n * s->n;
  TSL_TRY(tsl_gpu_reserve(&w->memory, &s->image, s->count * 8, "the seed's image"));
  TSL_TRY(fractal_backend_gpu.host_alloc(s->count * 8, &s->host));
  TSL_TRY(tsl_blas_create(w->stream, &s->handle));
done:
  return err;
}

static void seed_close(seed *s) {
  tsl_blas_destroy(&s->handle);
  fractal_backend_gpu.host_free(s->host);
  tsl_gpu_release(&s->b->w->memory, &s->image);
}

tsl_err fractal_seed_measure(fractal_bench_image *b, int64_t repeat, fractal_seed_times *times) {
  tsl_err err = TSL_OK;
  seed s = {};
  s.b = b;
  TSL_TRY(seed_open(&s));
  TSL_TRY(bench_best(
      b->w, repeat, [&]() { return seed_values(&s, false); }, &times->kernel_1d));
  TSL_TRY(bench_best(
      b->w, repeat, [&]() { return seed_values(&s, true); }, &times->kernel_2d));
  TSL_TRY(bench_best(
      b->w, repeat, [&]() { return seed_pipeline(&s, times->kernel_2d < times->kernel_1d); },
      &times->pipeline));
done:
  seed_close(&s);
  return err;
}

/* Eight independent chains of fused multiply-adds in each thread. */
static __global__ void __launch_bounds__(256) peak_kernel(double a, double b, int n, double *out) {
  double v[8];
  for (int k = 0; k < 8; k++) v[k] = (double)(threadIdx.x + (unsigned)k);
  for (int i = 0; i < n; i++)
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = fma(v[k], a, b);
  double sum = 0;
  for (int k = 0; k < 8; k++) sum += v[k];
  if (sum == 1e300) *out = sum; /* never, but the compiler cannot know */
}

tsl_err fractal_bench_peak(fractal_gpu *w, double *flops) {
  tsl_err err = TSL_OK;
  const unsigned blocks = (unsigned)w->processors * 8;
  const int n = 8192;
  double seconds = 0;
  TSL_TRY(bench_best(
      w, 5,
      [=]() {
        peak_kernel<<<blocks, 256, 0, w->stream>>>(0.999, 0.001, n, (double *)w->totals.data);
        return tsl_gpu_launched("peak_kernel", w->stream, __FILE__, __LINE__);
      },
      &seconds));
  *flops = 2.0 * 8 * (double)n * 256 * blocks / seconds;
done:
  return err;
}
