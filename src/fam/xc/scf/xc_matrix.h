/**
 * @file xc_matrix.h
 * Dense matrices, row-major, over OpenBLAS and LAPACKE, whose headers only xc_matrix.c sees.
 */
#ifndef TSL_FAM_XC_MATRIX_H
#define TSL_FAM_XC_MATRIX_H

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

/** From now on the library works with one thread: the same bits on any number of processors. */
void xc_matrix_one_thread(void);

/** A rows x columns matrix of zeros; what names it in messages. Free with tsl_free. */
tsl_err xc_matrix_create(int64_t rows, int64_t columns, const char *what, double **out);

/** c[m][n] = factor op(a) op(b), op(a) m x k and op(b) k x n; a flag says transposed. */
void xc_matrix_product(int64_t m, int64_t n, int64_t k, double factor, const double *a,
                       bool a_turned, const double *b, bool b_turned, double *c);

/** out[m][m] = b[m][n] a[n][n] b^T; work [m][n]. */
void xc_matrix_project(int64_t m, int64_t n, const double *a, const double *b, double *work,
                       double *out);

/** Sum of a_ij b_ij over n elements; for symmetric matrices the trace of their product. */
double xc_matrix_dot(int64_t n, const double *a, const double *b);

/** y += factor x, n elements. */
void xc_matrix_add(int64_t n, double factor, const double *x, double *y);

/** Replace a by (a + a^T) factor. */
void xc_matrix_symmetrise(int64_t n, double factor, double *a);

/**
 * Eigenvalues, ascending, and vectors of a symmetric matrix.
 * @param[in,out] a  [n][n]; on return row k is the vector of values[k]
 * @return TSL_ERR_NUMERIC when it holds NaN or does not converge
 */
tsl_err xc_matrix_eigen(int64_t n, double *a, double *values);

/** Cholesky factor of a positive matrix, in place, for xc_matrix_solve.
 *  @return TSL_ERR_NUMERIC naming what and the order at which it is not positive */
tsl_err xc_matrix_factor(int64_t n, const char *what, double *a);
/** Solve a x = b with the factor; b becomes x. */
void xc_matrix_solve(int64_t n, const double *factor, double *b);

/** Solve a general small system in place; false when it is singular. a is destroyed. */
bool xc_matrix_solve_any(int n, double *a, double *b);

#endif
