/* Cosine and correlation with many dimensions: inner products of strips of rows by cuBLAS.
 * Only the strip's part of the triangle is multiplied, about half of a full product. cuBLAS works
 * column by column: the points [d][n_pad] are its n_pad x d matrix P, and the row-major strip
 * S[r][c] is its C = P(columns) P(rows)^T. Default math mode: full float32, no TF32. */
#include "gpu_blas.cuh"
#include "tri_fn.cuh"

#include <stdlib.h>

struct tri_gemm {
  cublasHandle_t handle[TRI_STREAMS];
  cudaStream_t stream[TRI_STREAMS];
  cudaEvent_t done[TRI_STREAMS], ready;
};

enum { STRIP_MEGABYTES = 512 }; /* largest strip, so that four of them stay modest */

void tri_gemm_destroy(tri_gpu *w) {
  tri_gemm *g = w->gemm;
  if (g == NULL) return;
  for (int s = 0; s < TRI_STREAMS; s++) {
    tsl_blas_destroy(&g->handle[s]);
    if (g->done[s] != NULL) (void)cudaEventDestroy(g->done[s]);
    if (g->stream[s] != NULL) (void)cudaStreamDestroy(g->stream[s]);
  }
  if (g->ready != NULL) (void)cudaEventDestroy(g->ready);
  free(g);
  w->gemm = NULL;
}

static tsl_err tri_gemm_prepare(tri_gpu *w) {
  tsl_err err = TSL_OK;
  tri_gemm *g = NULL;
  if (w->gemm != NULL) return TSL_OK;
  g = w->gemm = (tri_gemm *)calloc(1, sizeof *g);
  if (g == NULL) TSL_FAIL(TSL_ERR_MEMORY, "no host memory for the matrix product");
  TSL_CUDA_TRY(cudaEventCreateWithFlags(&g->ready, cudaEventDisableTiming));
  for (int s = 0; s < TRI_STREAMS; s++) {
    TSL_CUDA_TRY(cudaStreamCreateWithFlags(&g->stream[s], cudaStreamNonBlocking));
    TSL_CUDA_TRY(cudaEventCreateWithFlags(&g->done[s], cudaEventDisableTiming));
    TSL_TRY(tsl_blas_create(g->stream[s], &g->handle[s]));
  }
done:
  if (err != TSL_OK) tri_gemm_destroy(w);
  return err;
}

static cublasStatus_t product(cublasHandle_t handle, int m, int n, int k, float factor,
                              const float *a, const float *b, int ld, float *c, int ldc) {
  const float zero = 0;
  return tsl_blas.Sgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, m, n, k, &factor, a, ld, b, ld, &zero, c,
                        ldc);
}
static cublasStatus_t product(cublasHandle_t handle, int m, int n, int k, double factor,
                              const double *a, const double *b, int ld, double *c, int ldc) {
  const double zero = 0;
  return tsl_blas.Dgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, m, n, k, &factor, a, ld, b, ld, &zero, c,
                        ldc);
}

/* Inner products of rows [a, b) of x, places, with columns [c0, c1), times a factor, by handle s
 * into strips[s]. */
template <class R>
static tsl_err multiply(tri_gpu *w, int s, const R *x, R factor, int64_t a, int64_t b, int64_t c0,
                        int64_t c1) {
  tsl_err err = TSL_OK;
  TSL_BLAS_TRY(product(w->gemm->handle[s], (int)(c1 - c0), (int)(b - a), (int)w->p.d, factor,
                       x + c0, x + a, (int)w->p.n_pad, (R *)w->strips[s].data, (int)(c1 - c0)));
done:
  return err;
}

int64_t tri_gemm_rows(const tri_gpu *w, int64_t columns) {
  const int64_t most = (int64_t)STRIP_MEGABYTES * 1048576 / (tri_value_bytes(w) * (columns + 1));
  return most < 1 ? 1 : most < TRI_GEMM_ROWS ? most : (int64_t)TRI_GEMM_ROWS;
}

/* Let stream s begin after what the worker's stream has done so far. */
static tsl_err fork_stream(tri_gpu *w, int s) {
  tsl_err err = TSL_OK;
  TSL_CUDA_TRY(cudaEventRecord(w->gemm->ready, w->stream));
  TSL_CUDA_TRY(cudaStreamWaitEvent(w->gemm->stream[s], w->gemm->ready, 0));
done:
  return err;
}

/* Let the worker's stream wait for stream s. */
static tsl_err join_stream(tri_gpu *w, int s) {
  tsl_err err = TSL_OK;
  TSL_CUDA_TRY(cudaEventRecord(w->gemm->done[s], w->gemm->stream[s]));
  TSL_CUDA_TRY(cudaStreamWaitEvent(w->stream, w->gemm->done[s], 0));
done:
  return err;
}

template <class R>
tsl_err tri_gemm_product(tri_gpu *w, const R *x, R factor, int64_t a, int64_t b, int64_t c0,
                         int64_t c1) {
  tsl_err err = TSL_OK;
  TSL_TRY(tri_gemm_prepare(w));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->strips[0], (b - a) * (c1 - c0) * (int64_t)sizeof(R),
                          "strip of inner products"));
  TSL_TRY(fork_stream(w, 0));
  TSL_TRY(multiply<R>(w, 0, x, factor, a, b, c0, c1));
  TSL_TRY(join_stream(w, 0));
done:
  return err;
}

template tsl_err tri_gemm_product<float>(tri_gpu *, const float *, float, int64_t, int64_t, int64_t,
                                         int64_t);

tsl_err tri_gemm_strip(tri_gpu *w, int64_t a, int64_t b, int64_t c0, int64_t c1) {
  return w->p.type == TSL_F64
             ? tri_gemm_product<double>(w, (const double *)w->points.data, 1, a, b, c0, c1)
             : tri_gemm_product<float>(w, (const float *)w->points.data, 1, a, b, c0, c1);
}

/* Rows [a, b) of the slab: product and packing on stream s. */
template <class R>
static tsl_err strip_to_slab(tri_gpu *w, int s, const tri_slab *slab, int64_t a, int64_t b,
                             R *out) {
  tsl_err err = TSL_OK;
  const bool square = w->p.output == TRI_SQUARE;
  const int64_t c0 = square || w->p.two ? 0 : a, c1 = square ? b : tri_columns_of(&w->p);
  tri_args<R> args = tri_args_of<R>(w);
  args.strip = (const R *)w->strips[s].data;
  args.strip_ld = c1 - c0;
  args.strip_row = (int)(w->p.first + a);
  args.strip_col = (int)c0;
  TSL_TRY(multiply<R>(w, s, args.x, 1, w->p.first + a, w->p.first + b, c0, c1));
  TSL_TRY(tri_store_run<R>(w, &args, slab, a, b, out, w->gemm->stream[s]));
done:
  return err;
}

template <class R> static tsl_err run(tri_gpu *w, const tri_slab *slab, R *out) {
  tsl_err err = TSL_OK;
  const bool square = w->p.output == TRI_SQUARE;
  const int64_t widest = square ? slab->b : w->p.two ? w->p.columns : w->p.n - slab->a;
  const int64_t rows = tri_gemm_rows(w, widest);
  TSL_TRY(tri_gemm_prepare(w));
  for (int s = 0; s < TRI_STREAMS; s++) {
    TSL_TRY(tsl_gpu_reserve(&w->memory, &w->strips[s], rows * widest * (int64_t)sizeof(R),
                            "strip of inner products"));
    TSL_TRY(fork_stream(w, s));
  }
  for (int64_t a = slab->a, s = 0; a < slab->b; a += rows, s = (s + 1) % TRI_STREAMS)
    TSL_TRY(strip_to_slab<R>(w, (int)s, slab, a, a + rows < slab->b ? a + rows : slab->b, out));
  for (int s = 0; s < TRI_STREAMS; s++) TSL_TRY(join_stream(w, s));
done:
  return err;
}

tsl_err tri_gemm_slab(tri_gpu *w, const tri_slab *slab, void *out) {
  if (slab->a >= slab->b || tri_slab_count(&w->p, slab) == 0) return TSL_OK;
  return w->p.type == TSL_F64 ? run(w, slab, (double *)out) : run(w, slab, (float *)out);
}
