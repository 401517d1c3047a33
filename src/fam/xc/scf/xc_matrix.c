/* Calls of OpenBLAS and LAPACKE with row-major arguments. LAPACKE's failures become TSL_ERR_NUMERIC
 * or TSL_ERR_MEMORY. */
#include "xc_matrix.h"

#include "memory.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>

void xc_matrix_one_thread(void) {
  openblas_set_num_threads(1);
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

double xc_matrix_dot(int64_t n, const double *a, const double *b) {
  double sum = 0;
  for (int64_t k = 0; k < n; k++) sum += a[k] * b[k];
  return sum;
}

void xc_matrix_add(int64_t n, double factor, const double *x, double *y) {
  for (int64_t k = 0; k < n; k++) y[k] += factor * x[k];
}

void xc_matrix_symmetrise(int64_t n, double factor, double *a) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j <= i; j++)
      a[i * n + j] = a[j * n + i] = factor * (a[i * n + j] + a[j * n + i]);
}

tsl_err xc_matrix_eigen(int64_t n, double *a, double *values) {
  tsl_err err = TSL_OK;
  for (int64_t k = 0; k < n * n; k++)
    if (!isfinite(a[k]))
      TSL_FAIL(TSL_ERR_NUMERIC, "a matrix to be diagonalised holds %g in row %lld", a[k],
               (long long)(k / n));
  /* column-major: the same symmetric matrix, and its vectors come as rows */
  const lapack_int info =
      LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', (lapack_int)n, a, (lapack_int)n, values);
  if (info != 0)
    TSL_FAIL(info == LAPACK_WORK_MEMORY_ERROR ? TSL_ERR_MEMORY : TSL_ERR_NUMERIC,
             "diagonalisation of a matrix of order %lld failed (dsyevd: %d)", (long long)n,
             (int)info);
done:
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
  (void)LAPACKE_dpotrs(LAPACK_COL_MAJOR, 'L', (lapack_int)n, 1, factor, (lapack_int)n, b,
                       (lapack_int)n);
}

bool xc_matrix_solve_any(int n, double *a, double *b) {
  lapack_int pivots[64];
  return n <= 64 && LAPACKE_dgesv(LAPACK_COL_MAJOR, n, 1, a, n, pivots, b, n) == 0;
}
