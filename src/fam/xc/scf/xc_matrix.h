/**
 * @file xc_matrix.h
 * Dense matrices, row-major, over OpenBLAS and LAPACKE, whose headers only xc_matrix.c sees; and
 * what is done to them element by element (xc_matrix_elements.c).
 */
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

/** From now on the library works with so many threads, or as many as there are processors.
 *  @param[in] card   large matrices may go to the device of this process (linalg.h)
 *  @param[in] order  of most of the large ones */
void xc_matrix_use(int threads, bool card, int64_t order);

/** A rows x columns matrix of zeros; what names it in messages. Free with tsl_free. */
tsl_err xc_matrix_create(int64_t rows, int64_t columns, const char *what, double **out);

/* Products, diagonalisations and factors go to a card where that is faster. Their errors are the
 * card's (TSL_ERR_DEVICE), but where something else is said. */

/** Several of them on matrices of one order. */
typedef struct xc_matrix_region {
  int64_t order;
  int matrices;    /**< so many, those held left out */
  int moved;       /**< read from the host or fetched, those held left out */
  double products; /**< in units of 2 order^3 operations */
  int eigen;       /**< diagonalisations */
} xc_matrix_region;

/** Until leave their matrices may stay on a card: the host has a result after fetch alone, and must
 *  not change what they have read or written. Regions are not nested. */
tsl_err xc_matrix_enter(const xc_matrix_region *region);
/** The host gets a result, which has to be one of this region. */
tsl_err xc_matrix_fetch(double *a);
/** Accepted without enter. */
void xc_matrix_leave(void);
/** The rows x columns matrix stays as it is until drop, and so may stay on a card. Called again,
 *  the host has changed it. */
tsl_err xc_matrix_hold(int64_t rows, int64_t columns, const double *a);
/** Before it is changed or freed; accepted for what is not held. */
void xc_matrix_drop(const double *a);

/** c[m][n] = factor op(a) op(b), op(a) m x k and op(b) k x n; a flag says transposed. */
tsl_err xc_matrix_product(int64_t m, int64_t n, int64_t k, double factor, const double *a,
                          bool a_turned, const double *b, bool b_turned, double *c);

/** out[m][m] = b[m][n] a[n][n] b^T; work [m][n]. */
tsl_err xc_matrix_project(int64_t m, int64_t n, const double *a, const double *b, double *work,
                          double *out);

/** out[n][n] = keep out + factor rows^T rows, of k rows [n]; keep 0: out is not read. */
tsl_err xc_matrix_outer(int64_t n, int64_t k, double factor, const double *rows, double keep,
                        double *out);

/**
 * Eigenvalues, ascending, and vectors of a symmetric matrix.
 * @param[in,out] a  [n][n]; on return row k is the vector of values[k]
 * @return TSL_ERR_NUMERIC when it holds NaN or does not converge
 */
tsl_err xc_matrix_eigen(int64_t n, double *a, double *values);

/**
 * Likewise, of the k lowest alone.
 * @param[in,out] a  [n][n]; destroyed
 * @param[out] values   [n], all of them
 * @param[out] vectors  [n][n]; rows [0, k), the others are destroyed
 */
tsl_err xc_matrix_eigen_lowest(int64_t n, int64_t k, double *a, double *values, double *vectors);

/** out = matrix^power, [n][n]; what belongs to eigenvalues below the limit is left out. */
tsl_err xc_matrix_power(int64_t n, const double *matrix, double power, double limit, double *out);

/** Cholesky factor of a positive matrix, in place, for xc_matrix_solve.
 *  @return TSL_ERR_NUMERIC naming what and the order at which it is not positive */
tsl_err xc_matrix_factor(int64_t n, const char *what, double *a);
/** Likewise L^-1 of the factor L, column by column, zero above the diagonal. */
tsl_err xc_matrix_inverse_factor(int64_t n, const char *what, double *a);
/**
 * Vectors r_k of which a symmetric matrix without negative eigenvalues is sum_k r_k r_k^T:
 * Cholesky's factor with complete pivoting (LAPACK's dpstrf), on the host's threads.
 * @param[out] rows  [n][n]; rows [0, *rank) are the r_k, by rising pivots, the others are destroyed
 * @param[out] rank  pivots up to 1e-13 of the largest one are rounding
 * @return TSL_ERR_NUMERIC naming what, when they do not add up to the matrix: it has a negative
 *         eigenvalue, or holds NaN
 */
tsl_err xc_matrix_roots(int64_t n, const char *what, const double *a, double *rows, int64_t *rank);
/** Solve a x = b with the factor, on a card where that is held there; b becomes x. */
tsl_err xc_matrix_solve(int64_t n, const double *factor, double *b);

/** Solve a general small system in place; false when it is singular. a is destroyed. */
bool xc_matrix_solve_any(int n, double *a, double *b);

/* Element by element, in ranges that threads may share (parallel.h): the same bits however many. */

/** Sum of a_ij b_ij over n elements; for symmetric matrices the trace of their product. */
double xc_matrix_dot(int64_t n, const double *a, const double *b);

void xc_matrix_copy(int64_t n, const double *from, double *to);

/** y += factor x, n elements. */
void xc_matrix_add(int64_t n, double factor, const double *x, double *y);

/** out = sum_k factor[k] x[k] of count arrays of n elements; out may be one of them. */
void xc_matrix_combine(int64_t n, int count, const double *factor, const double *const *x,
                       double *out);

/** Replace a by (a + a^T) factor. */
void xc_matrix_symmetrise(int64_t n, double factor, double *a);

/** Replace a by a - a^T; returns its largest element. */
double xc_matrix_antisymmetrise(int64_t n, double *a);
