/**
 * @file linalg.h
 * Dense linear algebra of this process on its device, where that is faster than the host's threads.
 *
 * Families have no devices. What they do with large matrices on the root they bring here in
 * regions:
 *
 *   enter(region) -> { product, eigen: operands move to the device when they are first used,
 *   results stay there; fetch what the host wants } -> leave
 *
 * Matrices are row-major, in the host's memory, named by the address of their first element; those
 * of a region must not overlap. The device's copy counts until leave. The host's memory holds a
 * result only after fetch, and what the host writes is not seen before drop.
 *
 * The runtime opens the device's table for the thread that calls the family; without it, and for
 * all other threads, there is none, and callers use what the host has.
 */
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

TSL_C_BEGIN

/** What is about to be done, as far as a device's time and memory depend on it. */
typedef struct tsl_linalg_region {
  int64_t order;       /**< rows or columns of the largest matrix */
  int32_t matrices;    /**< at most so many, of order x order elements, those held left out */
  double moved;        /**< elements between host and device */
  double operations;   /**< floating-point operations of products */
  int64_t eigen;       /**< sum of the orders of matrices that are diagonalised */
  int64_t factor;      /**< likewise of those that are factored */
  int64_t inverse;     /**< likewise of factors that are inverted */
  double host_seconds; /**< that the host would take; infinity: the device is to do it */
} tsl_linalg_region;

/** c[m][n] = factor op(a) op(b) + keep c, op(a) m x k and op(b) k x n. */
typedef struct tsl_linalg_product {
  int64_t m, n, k;
  double factor, keep; /**< keep 0: c is not read */
  const double *a, *b;
  bool a_turned, b_turned; /**< op is the transpose */
  double *c;
} tsl_linalg_product;

/** Operations of a device; all REQUIRED. Those that return tsl_err return TSL_ERR_DEVICE. */
typedef struct tsl_linalg {
  /** Begin to make ready, beside the caller, what matrices of this order need on the device. */
  void (*warm)(int64_t order);
  /** Begin a region where the device is the faster one and has the memory.
   *  @param[out] taken  false: the host's threads are to do it; leave is not called */
  tsl_err (*enter)(const tsl_linalg_region *region, bool *taken);
  tsl_err (*product)(const tsl_linalg_product *product);
  /**
   * Eigenvalues, ascending, and eigenvectors of a symmetric matrix.
   * @param[in]  a        [n][n]; unchanged where vectors are another matrix
   * @param[out] values   [n], in the host's memory
   * @param[out] vectors  [n][n], may be a; row k is the vector of values[k]
   * @return TSL_ERR_NUMERIC when a holds NaN or does not converge
   */
  tsl_err (*eigen)(int64_t n, const double *a, double *values, double *vectors);
  /**
   * Cholesky factor l of a positive matrix, in place: row j holds column j from its diagonal on,
   * what is before it is not read and stays.
   * @param[out] row  1.. of the first at which the matrix is not positive; else 0
   */
  tsl_err (*factor)(int64_t n, double *a, int64_t *row);
  /** Its inverse likewise; what is before the diagonal becomes 0. */
  tsl_err (*invert)(int64_t n, double *l);
  /** The host's memory gets a result of this region. */
  tsl_err (*fetch)(double *a);
  /** End the region; the device's copies are forgotten, but of matrices that are held. */
  void (*leave)(void);

  /** The n elements from a on stay as they are until drop: the device copies them, where it has the
   *  memory, and keeps that from region to region. */
  tsl_err (*hold)(int64_t n, const double *a);
  /** Forget the device's copy, if there is one, and that it is held. */
  void (*drop)(const double *a);
  /** Solve l l^T x = b with a matrix that is held; outside of regions.
   *  @param[in]     factor  [n][n], of which row j holds column j of l from its diagonal on
   *  @param[in,out] b       [n], in the host's memory; becomes x
   *  @param[out]    taken   false: it is not held, or the host is faster */
  tsl_err (*solve)(int64_t n, const double *factor, double *b, bool *taken);
  /** Free all. */
  void (*close)(void);
} tsl_linalg;

/** From now on the calling thread has this table; NULL: none. The one before is closed. */
void tsl_linalg_open(const tsl_linalg *table);
/** Closes the table, if one is open; by the thread that opened it. */
void tsl_linalg_close(void);
/** The table of the calling thread, or NULL. */
const tsl_linalg *tsl_linalg_used(void);

TSL_C_END
