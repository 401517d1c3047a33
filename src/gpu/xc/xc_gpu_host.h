/**
 * @file xc_gpu_host.h
 * What a card's rank computes on the host: functionals that only libxc has.
 */
#pragma once

#include "xc_functional.h"

TSL_C_BEGIN

/** Points of a slice: partial sums are made of them. */
enum { XC_SLICE = 128 };

/** Points of one piece; arrays are those of the batch, from the piece's first point. */
typedef struct xc_host_points {
  int64_t n, ld;         /**< points, padded to ld */
  int64_t stride;        /**< from array to array */
  const double *weights; /**< [n] */
  const double *in;      /**< [10][stride] density of spins, gradients [spin][3], tau [spin] */
  double *out;           /**< [11][stride] scales [spin][4], of tau [spin], weight times energy; 0
                              beyond n */
  double *partials;      /**< [slices][3] energy, electrons of spins */
} xc_host_points;

/** What densities the functional needs. */
typedef struct xc_host_kind {
  int n_spin;
  bool gga, tau;
} xc_host_kind;

/** The functional at the points of pieces, by threads; values of a slice depend on it alone. */
void xc_host_functional(const xc_evaluator *evaluator, xc_host_kind kind, int threads,
                        const xc_host_points *pieces, int64_t n);

TSL_C_END
