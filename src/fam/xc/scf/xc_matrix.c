/* Calls of OpenBLAS and LAPACKE with row-major arguments. LAPACKE's failures become TSL_ERR_NUMERIC
 * or TSL_ERR_MEMORY. */
#include "xc_matrix.h"

#include "memory.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>

/* The library's threads are on the processors that the process had when it began. */
void xc_matrix_threads(int n) {
  const int most = openblas_get_num_procs();
  openblas_set_num_threads(n < most ? n : most);
}

tsl_err xc_matrix_create(int64_t rows, int64_t columns, const char *what, double **out) {
  tsl_err err = TSL_OK;
  int64_t n = 0;
  *out = NULL;
  if (!tsl_mul_i64(rows, columns, &n) || rows > INT32_MAX || columns > INT32_MAX)
    TSL_FAIL(TSL_ERR_MEMORY, "%s: %lld x %lld elements are too many", what, (long long)rows,
             (long long)columns);
  TSL_TRY(tsl_alloc(n, sizeof **out, what, (void **)out));
done:
  return err;
}

void xc_matrix_product(int64_t m, int64_t n, int64_t k, double factor, const double *a,
                       bool a_turned, const double *b, bool b_turned, double *c) {
  if (m == 0 || n == 0) return;
  cblas_dgemm(CblasRowMajor, a_turned ? CblasTrans : CblasNoTrans,
              b_turned ? CblasTrans : CblasNoTrans, (int)m, (int)n, (int)k, factor, a,
              (int)(a_turned ? m : k), b, (int)(b_turned ? k : n), 0.0, c, (int)n);
}

void xc_matrix_project(int64_t m, int64_t n, const double *a, const double *b, double *work,
                       double *out) {
  xc_matrix_product(m, n, n, 1, b, false, a, false, work);
  xc_matrix_product(m, m, n, 1, work, false, b, true, out);
}

void xc_matrix_outer(int64_t n, int64_t k, double factor, const double *rows, double keep,
                     double *out) {
  if (n == 0) return;
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)n, (int)n, (int)k, factor, rows, (int)n,
              rows, (int)n, keep, out, (int)n);
}

static tsl_err check_finite(int64_t n, const double *a) {
  tsl_err err = TSL_OK;
  if (isfinite(xc_matrix_dot(n * n, a, a))) goto done; /* its square may overflow, too */
  for (int64_t k = 0; k < n * n; k++)
    if (!isfinite(a[k]))
      TSL_FAIL(TSL_ERR_NUMERIC, "a matrix to be diagonalised holds %g in row %lld", a[k],
               (long long)(k / n));
done:
  return err;
}

static tsl_err check_lapack(lapack_int info, const char *routine, int64_t n) {
  tsl_err err = TSL_OK;
  if (info != 0)
    TSL_FAIL(info == LAPACK_WORK_MEMORY_ERROR ? TSL_ERR_MEMORY : TSL_ERR_NUMERIC,
             "diagonalisation of a matrix of order %lld failed (%s: %d)", (long long)n, routine,
             (int)info);
done:
  return err;
}

tsl_err xc_matrix_eigen(int64_t n, double *a, double *values) {
  tsl_err err = TSL_OK;
  const lapack_int m = (lapack_int)n;
  TSL_TRY(check_finite(n, a));
  /* column-major: the same symmetric matrix, and its vectors come as rows */
  TSL_TRY(check_lapack(LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', m, a, m, values), "dsyevd", n));
done:
  return err;
}

/* The steps of dsyevd, of which the last is for k vectors. */
tsl_err xc_matrix_eigen_lowest(int64_t n, int64_t k, double *a, double *values, double *vectors) {
  tsl_err err = TSL_OK;
  const lapack_int m = (lapack_int)n, few = (lapack_int)k;
  double *rest = NULL;
  TSL_TRY(check_finite(n, a));
  TSL_TRY(xc_matrix_create(2, n, "a tridiagonal matrix", &rest));
  double *beside = rest, *factors = rest + n;
  TSL_TRY(check_lapack(LAPACKE_dsytrd(LAPACK_COL_MAJOR, 'L', m, a, m, values, beside, factors),
                       "dsytrd", n));
  TSL_TRY(check_lapack(LAPACKE_dstedc(LAPACK_COL_MAJOR, 'I', m, values, beside, vectors, m),
                       "dstedc", n));
  TSL_TRY(check_lapack(
      LAPACKE_dormtr(LAPACK_COL_MAJOR, 'L', 'L', 'N', m, few, a, m, factors, vectors, m), "dormtr",
      n));
done:
  tsl_free(rest);
  return err;
}

tsl_err xc_matrix_factor(int64_t n, const char *what, double *a) {
  tsl_err err = TSL_OK;
  const lapack_int info = LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', (lapack_int)n, a, (lapack_int)n);
  if (info != 0)
    TSL_FAIL(TSL_ERR_NUMERIC,
             "%s is not positive definite at row %d of %lld: its functions are "
             "linearly dependent",
             what, (int)info, (long long)n);
done:
  return err;
}

void xc_matrix_solve(int64_t n, const double *factor, double *b) {
  const int m = (int)n;
  cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, m, factor, m, b, 1);
  cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, m, factor, m, b, 1);
}

bool xc_matrix_solve_any(int n, double *a, double *b) {
  lapack_int pivots[64];
  return n <= 64 && LAPACKE_dgesv(LAPACK_COL_MAJOR, n, 1, a, n, pivots, b, n) == 0;
}
