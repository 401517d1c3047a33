/* X = phi P, M = phi^T Z and Z = psi P of all pieces of a batch by cuBLAS, which works column by
 * column: phi, x, psi and z are its [ld][pad] matrices, square [pad][pad]. Pieces of one shape are
 * a bucket. All buckets go in one call where cuBLAS has grouped products (12.5) for this card, else
 * each in a call. Reproducible: each piece in a call, for cuBLAS may choose another kernel by how
 * many there are; of one call, one shape and one kind of card it promises the same bits. */
#include "xc_gpu.cuh"

#include <string.h>

/** Buckets of a batch, as the grouped call wants them. */
struct xc_shapes {
  cublasOperation_t turned[XC_MAX_PIECES], plain[XC_MAX_PIECES];
  int m[XC_MAX_PIECES], n[XC_MAX_PIECES], k[XC_MAX_PIECES], count[XC_MAX_PIECES];
  int lda[XC_MAX_PIECES], ldb[XC_MAX_PIECES], ldc[XC_MAX_PIECES];
  double one[XC_MAX_PIECES], old[XC_MAX_PIECES]; /* old: what C had counts, 0 or 1 */
  float one_f[XC_MAX_PIECES], old_f[XC_MAX_PIECES];
  int buckets;
};

tsl_err xc_product_open(xc_gpu *w) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(1, sizeof *w->shapes, "shapes of products", (void **)&w->shapes));
  for (int b = 0; b < XC_MAX_PIECES; b++) w->shapes->one[b] = w->shapes->one_f[b] = 1;
done:
  return err;
}

static bool same_shape(const xc_piece *a, const xc_piece *b) {
  return a->ld == b->ld && a->pad == b->pad;
}

/* turned: square = phi^T x, or with add square += phi^T x; else x = phi square. */
static void set_shapes(xc_shapes *s, const xc_batch *batch, bool turned, bool add) {
  s->buckets = 0;
  for (int64_t lo = 0, hi; lo < batch->n; lo = hi, s->buckets++) {
    const xc_piece *k = &batch->host[lo];
    const int b = s->buckets;
    for (hi = lo + 1; hi < batch->n && same_shape(k, &batch->host[hi]);) hi++;
    s->turned[b] = turned ? CUBLAS_OP_T : CUBLAS_OP_N;
    s->plain[b] = CUBLAS_OP_N;
    s->m[b] = turned ? k->pad : k->ld;
    s->n[b] = k->pad;
    s->k[b] = turned ? k->ld : k->pad;
    s->lda[b] = k->ld;
    s->ldb[b] = turned ? k->ld : k->pad;
    s->ldc[b] = turned ? k->pad : k->ld;
    s->count[b] = (int)(hi - lo);
    s->old[b] = s->old_f[b] = add;
  }
}

#if CUBLAS_VERSION >= 120500
static cublasStatus_t grouped(cublasHandle_t blas, const xc_shapes *s, const double *const *a,
                              const double *const *b, double *const *c) {
  return tsl_blas.DgemmGroupedBatched(blas, s->turned, s->plain, s->m, s->n, s->k, s->one, a,
                                      s->lda, b, s->ldb, s->old, c, s->ldc, s->buckets, s->count);
}
static cublasStatus_t grouped(cublasHandle_t blas, const xc_shapes *s, const float *const *a,
                              const float *const *b, float *const *c) {
  return tsl_blas.SgemmGroupedBatched(blas, s->turned, s->plain, s->m, s->n, s->k, s->one_f, a,
                                      s->lda, b, s->ldb, s->old_f, c, s->ldc, s->buckets, s->count);
}
#endif

static cublasStatus_t batched(cublasHandle_t blas, const xc_shapes *s, int i,
                              const double *const *a, const double *const *b, double *const *c) {
  return tsl_blas.DgemmBatched(blas, s->turned[i], s->plain[i], s->m[i], s->n[i], s->k[i], s->one,
                               a, s->lda[i], b, s->ldb[i], s->old, c, s->ldc[i], s->count[i]);
}
static cublasStatus_t batched(cublasHandle_t blas, const xc_shapes *s, int i, const float *const *a,
                              const float *const *b, float *const *c) {
  return tsl_blas.SgemmBatched(blas, s->turned[i], s->plain[i], s->m[i], s->n[i], s->k[i], s->one_f,
                               a, s->lda[i], b, s->ldb[i], s->old_f, c, s->ldc[i], s->count[i]);
}

static cublasStatus_t single(cublasHandle_t blas, const xc_shapes *s, int i, const double *a,
                             const double *b, double *c) {
  return tsl_blas.Dgemm(blas, s->turned[i], s->plain[i], s->m[i], s->n[i], s->k[i], s->one, a,
                        s->lda[i], b, s->ldb[i], s->old, c, s->ldc[i]);
}
static cublasStatus_t single(cublasHandle_t blas, const xc_shapes *s, int i, const float *a,
                             const float *b, float *c) {
  return tsl_blas.Sgemm(blas, s->turned[i], s->plain[i], s->m[i], s->n[i], s->k[i], s->one_f, a,
                        s->lda[i], b, s->ldb[i], s->old_f, c, s->ldc[i]);
}

/* Factors and result of a product, as xc_piece or the pointers behind the pieces have them. */
template <class P> struct xc_factors { P a, b, c; };

template <class P>
static xc_factors<P> factors_of(P phi, P x, P square, P psi, P z, xc_product which) {
  if (which == XC_PRODUCT_X) return {phi, square, x};
  if (which == XC_PRODUCT_M) return {phi, x, square};
  return {psi, square, z};
}

/* Each piece in a call. */
template <class R>
static tsl_err run_each(xc_gpu *w, const xc_batch *batch, xc_product which, int block) {
  tsl_err err = TSL_OK;
  const xc_shapes *const s = w->shapes;
  const xc_piece *k = batch->host;
  for (int i = 0; i < s->buckets; i++)
    for (int n = 0; n < s->count[i]; n++, k++) {
      const xc_factors<void *> f = factors_of(xc_block_of(w, k, block), xc_x_of(w, k, block),
                                              k->square, k->psi, k->z, which);
      TSL_BLAS_TRY(single(w->blas, s, i, (const R *)f.a, (const R *)f.b, (R *)f.c));
    }
done:
  return err;
}

template <class R>
static tsl_err run(xc_gpu *w, const xc_batch *batch, xc_product which, int block) {
  tsl_err err = TSL_OK;
  xc_shapes *const s = w->shapes;
  char *const pointers = (char *)w->tasks.data + (size_t)batch->n * sizeof(xc_piece);
  R **const all = (R **)pointers;
  const int64_t n = batch->n;
  R **const other = all + 2 * XC_BLOCKS * n;
  const xc_factors<R **> f = factors_of(all + block * n, all + (XC_BLOCKS + block) * n, other,
                                        other + n, other + 2 * n, which);
  int64_t at = 0;
  set_shapes(s, batch, which == XC_PRODUCT_M, which == XC_PRODUCT_M && block > 0);
  if (w->calls == XC_CALLS_EACH) return run_each<R>(w, batch, which, block);
#if CUBLAS_VERSION >= 120500
  if (w->calls == XC_CALLS_ONE || (w->calls == XC_CALLS_BEST && w->single)) {
    const cublasStatus_t status = grouped(w->blas, s, f.a, f.b, f.c);
    if (status != CUBLAS_STATUS_NOT_SUPPORTED) {
      TSL_BLAS_TRY(status);
      goto done;
    }
    w->calls = XC_CALLS_BUCKETS; /* this kind of card has no grouped products */
  }
#endif
  for (int i = 0; i < s->buckets; i++) {
    TSL_BLAS_TRY(batched(w->blas, s, i, f.a + at, f.b + at, f.c + at));
    at += s->count[i];
  }
done:
  return err;
}

tsl_err xc_product_run(xc_gpu *w, const xc_batch *batch, xc_product which, int block) {
  return w->single ? run<float>(w, batch, which, block) : run<double>(w, batch, which, block);
}
