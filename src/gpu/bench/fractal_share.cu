/* One managed image that card and host write at once, by the seed's formula: the card a fixed share
 * of its rows or columns, the host's threads the rest; the best share by bisection. */
#include "fractal_bench.cuh"
#include "parallel.h"

#include "clock.h"

#include <algorithm>
#include <string.h>
#include <thread>

enum { SHARE_LINE = 128 };
static const double SHARE_TOLERANCE = 0.01; /* of the image, or of the sides' times */

/* The card has the first columns of the first rows: all rows, or all columns. */
static __global__ void share_kernel(const double *x, const double *y, int n, int columns, int rows,
                                    int maxiter, double *image) {
  const int i = (int)(blockIdx.x * SHARE_LINE + threadIdx.x);
  if (i >= columns) return;
  for (int j = (int)blockIdx.y; j < rows; j += (int)gridDim.y)
    image[(int64_t)j * n + i] = fractal_seed_escape(x[i], y[j], maxiter);
}

typedef struct shared {
  fractal_bench_image *b;
  double *image;          /* managed, [n][n] */
  double *alone;          /* [n][n] what the card makes alone */
  cudaEvent_t begin, end; /* of the kernel */
  int n, maxiter;
  bool by_columns;
  int columns, rows; /* the card's */
} shared;

/* Seconds of one run; 0 of a side without a part. */
typedef struct share_times {
  double card, host, wall;
} share_times;

static tsl_err host_rows(void *context, int slot, int64_t lo, int64_t hi) {
  const shared *s = (const shared *)context;
  const double *x = (const double *)s->b->problem.fields[FRACTAL_X].data;
  const double *y = (const double *)s->b->problem.fields[FRACTAL_Y].data;
  (void)slot;
  for (int64_t j = lo; j < hi; j++)
    for (int64_t i = j < s->rows ? s->columns : 0; i < s->n; i++)
      s->image[j * s->n + i] = fractal_seed_escape(x[i], y[j], s->maxiter);
  return TSL_OK;
}

static void set_share(shared *s, double share) {
  const int part = (int)(share * s->n + 0.5);
  s->columns = s->by_columns ? part : s->n;
  s->rows = s->by_columns ? s->n : part;
}

/* The kernel first, so that both work at once. The image begins on the host. */
static tsl_err share_once(shared *s, share_times *t) {
  tsl_err err = TSL_OK;
  const fractal_gpu *w = s->b->w;
  const bool card = s->columns > 0 && s->rows > 0, host = s->columns < s->n || s->rows < s->n;
  const dim3 grid((unsigned)tsl_ceil_div(s->columns, SHARE_LINE),
                  (unsigned)std::min(s->rows, 65535));
  float milliseconds = 0;
  *t = {};
  memset(s->image, 255, (size_t)s->n * (size_t)s->n * sizeof *s->image); /* NaN */
  const double start = tsl_now();
  TSL_CUDA_TRY(cudaEventRecord(s->begin, w->stream));
  if (card)
    TSL_LAUNCH(share_kernel, grid, SHARE_LINE, 0, w->stream, (const double *)w->x.data,
               (const double *)w->y.data, s->n, s->columns, s->rows, s->maxiter, s->image);
  TSL_CUDA_TRY(cudaEventRecord(s->end, w->stream));
  if (host) TSL_TRY(tsl_parallel(s->n, 1, host_rows, s));
  if (host) t->host = tsl_now() - start;
  TSL_CUDA_TRY(cudaStreamSynchronize(w->stream));
  t->wall = tsl_now() - start;
  TSL_CUDA_TRY(cudaEventElapsedTime(&milliseconds, s->begin, s->end));
  if (card) t->card = 1e-3 * milliseconds;
done:
  return err;
}

static int64_t count_other(const shared *s) {
  int64_t n = 0;
  for (int64_t k = 0; k < (int64_t)s->n * s->n; k++) n += !(s->image[k] == s->alone[k]);
  return n;
}

static void share_print(const tri_bench_options *o, const shared *s, const char *what, double share,
                        const share_times *t) {
  const char *cut = s->by_columns ? "columns" : "rows";
  printf("%6d  %-8s %-18s %7.4f %11.3f %11.3f %11.3f\n", s->n, cut, what, share, t->card * 1e3,
         t->host * 1e3, t->wall * 1e3);
  if (o->csv != NULL)
    (void)fprintf(o->csv, "%d,%s,%s,%.6f,%.6f,%.6f,%.6f\n", s->n, cut, what, share, t->card * 1e3,
                  t->host * 1e3, t->wall * 1e3);
}

/* The best of the repetitions; each is the image that the card makes alone. */
static tsl_err share_line(const tri_bench_options *o, shared *s, const char *what, double share,
                          share_times *best) {
  tsl_err err = TSL_OK;
  set_share(s, share);
  for (int64_t r = -1; r < o->repeat; r++) {
    share_times t;
    TSL_TRY(share_once(s, &t));
    if (r <= 0 || t.wall < best->wall) *best = t;
    const int64_t other = count_other(s);
    if (other > 0)
      TSL_FAIL(TSL_ERR_INTERNAL, "%lld pixels are not those of the card alone", (long long)other);
  }
  share_print(o, s, what, share, best);
done:
  return err;
}

/* The side that needs longer gives some of its share away. */
static tsl_err share_bisect(const tri_bench_options *o, shared *s) {
  tsl_err err = TSL_OK;
  share_times best = {}, card = {}, host = {};
  double low = 0, high = 1, at = 0;
  TSL_TRY(share_line(o, s, "card alone", 1, &card));
  TSL_TRY(share_line(o, s, "host alone", 0, &host));
  while (high - low > SHARE_TOLERANCE) {
    const double share = 0.5 * (low + high);
    share_times t;
    TSL_TRY(share_line(o, s, "both", share, &t));
    if (best.wall == 0 || t.wall < best.wall) best = t, at = share;
    if (fabs(t.card - t.host) <= SHARE_TOLERANCE * t.wall) break;
    (t.card > t.host ? high : low) = share;
  }
  printf("best fixed share %.4f: %.3f ms, %.3f times as fast as the card alone\n", at,
         best.wall * 1e3, card.wall / best.wall);
done:
  return err;
}

static tsl_err share_open(shared *s) {
  tsl_err err = TSL_OK;
  const int64_t count = (int64_t)s->n * s->n, bytes = count * (int64_t)sizeof *s->image;
  int device = 0, at_once = 0;
  size_t n_free = 0, n_total = 0;
  TSL_CUDA_TRY(cudaGetDevice(&device));
  TSL_CUDA_TRY(cudaDeviceGetAttribute(&at_once, cudaDevAttrConcurrentManagedAccess, device));
  if (!at_once)
    TSL_FAIL(TSL_ERR_INPUT, "card %s: managed memory is not for card and host at once here",
             tsl_gpu_card());
  TSL_CUDA_TRY(cudaMemGetInfo(&n_free, &n_total));
  if ((size_t)bytes > n_free / 2)
    TSL_FAIL(TSL_ERR_DEVICE_MEMORY, "card %s: too little free memory for a managed image",
             tsl_gpu_card());
  TSL_CUDA_TRY(cudaMallocManaged((void **)&s->image, (size_t)bytes, cudaMemAttachGlobal));
  TSL_CUDA_TRY(cudaEventCreate(&s->begin));
  TSL_CUDA_TRY(cudaEventCreate(&s->end));
  TSL_TRY(tsl_alloc(count, sizeof *s->alone, "the image", (void **)&s->alone));
done:
  return err;
}

static void share_close(shared *s) {
  if (s->begin != NULL) (void)cudaEventDestroy(s->begin);
  if (s->end != NULL) (void)cudaEventDestroy(s->end);
  if (s->image != NULL) (void)cudaFree(s->image);
  tsl_free(s->alone);
}

tsl_err fractal_share_measure(const tri_bench_options *o, int64_t n, int64_t maxiter) {
  tsl_err err = TSL_OK;
  fractal_bench_image b = {};
  shared s = {};
  share_times t;
  fractal_bench_view(&b, false, n, maxiter);
  TSL_TRY(fractal_bench_open(&b));
  s.b = &b, s.n = (int)n, s.maxiter = (int)maxiter;
  TSL_TRY(share_open(&s));
  TSL_TRY(tsl_parallel_open((int)std::thread::hardware_concurrency()));
  set_share(&s, 1);
  TSL_TRY(share_once(&s, &t));
  memcpy(s.alone, s.image, (size_t)n * (size_t)n * sizeof *s.image);
  for (bool by_columns : {false, true}) {
    s.by_columns = by_columns;
    TSL_TRY(share_bisect(o, &s));
  }
done:
  tsl_parallel_close();
  share_close(&s);
  fractal_bench_close(&b);
  return err;
}
