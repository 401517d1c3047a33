/**
 * @file xc_davidson.h
 * The lowest eigenvalue of a large symmetric matrix whose products with vectors are made elsewhere:
 *
 *   xc_davidson_begin -> { image of xc_davidson_asks; xc_davidson_step } until it is done
 *
 * Source: E. R. Davidson, J. Comput. Phys. 17 (1975) 87.
 */
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

/** Vectors that are kept before they are replaced by the best of what they span. */
enum { XC_DAVIDSON_ROOM = 16 };

/** All memory is owned. Release with xc_davidson_clear. */
typedef struct xc_davidson {
  int64_t size;
  int32_t n;        /**< vectors whose images are known; the next is the one asked for */
  int32_t products; /**< images so far */
  double *diagonal; /**< [size] about that of the matrix */
  double *vectors;  /**< [room][size], orthonormal */
  double *images;   /**< [room][size] */
  double *best;     /**< [size], unit length: of the lowest eigenvalue */
  double *work;     /**< [size] */
  double matrix[XC_DAVIDSON_ROOM][XC_DAVIDSON_ROOM]; /**< of vectors and images */
  double lowest;   /**< eigenvalue; from above, as far as images are exact */
  double residual; /**< length of A best - lowest best: so near is an eigenvalue */
} xc_davidson;

/** Begin with a vector that is like no other: large where the diagonal is low, of no symmetry.
 *  @param[in] diagonal  [size >= 1], copied */
tsl_err xc_davidson_begin(int64_t size, const double *diagonal, xc_davidson *d);
void xc_davidson_clear(xc_davidson *d);

/** The vector [size] whose image is asked for. */
static inline const double *xc_davidson_asks(const xc_davidson *d) {
  return d->vectors + d->n * d->size;
}

/**
 * Its image is known.
 * @param[in] image     [size]
 * @param[in] residual  small enough to be done
 * @param[out] done     then, or when the vectors span all there is
 */
tsl_err xc_davidson_step(xc_davidson *d, const double *image, double residual, bool *done);
