/**
 * @file xc_loops.h
 * Loops over the points of a piece of a group, compiled once for each SIMD level.
 *
 * Blocks are [function][point], point fastest, leading dimension ld; a block of functions with
 * gradients is four of them: values, d/dx, d/dy, d/dz, each [functions][ld].
 */
#pragma once

#include "xc_molecule.h"

#include <stdbool.h>

/** Where points are. */
typedef struct xc_place {
  const double *x, *y, *z; /**< [n] bohr */
  int64_t n;
} xc_place;

typedef struct xc_loops {
  int level;
  /** Functions of a shell at points: out[k] are the rows of its first function, k = value, dx, dy,
   *  dz; of gradients only those that are wanted. */
  void (*functions)(const xc_shell *shell, const xc_place *place, bool gradients, int64_t ld,
                    double *const out[4]);
  /** rho += factor sum_i x_i phi_i, and with gradients[0] not NULL also
   *  gradients[k] += 2 factor sum_i x_i dphi_i/dk. Arrays [n]. */
  void (*density)(int64_t functions, int64_t n, int64_t ld, double factor,
                  const double *const phi[4], const double *x, double *rho,
                  double *const gradients[3]);
  /** z_i = a phi_i + sum_k b[k] dphi_i/dk; b[0] NULL: the first term alone. */
  void (*potential)(int64_t functions, int64_t n, int64_t ld, const double *a,
                    const double *const b[3], const double *const phi[4], double *z);
  /** A shell's part of a gradient at points: t_k = sum_i z_i dphi_i/dk + sum_b (x_i slope[b] +
   *  curve x_bi) d2phi_i/dk db over its functions i; slope[0] NULL: the first term alone, curve
   *  NULL: without x_b. Adds t_k to move[k], [n], and its sum over the points to sum[k].
   *  x: of D phi and of D dphi/db, from the shell's first row. */
  void (*gradient)(const xc_shell *shell, const xc_place *place, int64_t ld,
                   const double *const x[4], const double *z, const double *const slope[3],
                   const double *curve, double *const move[3], double sum[3]);
  /** Points that meet sites (xc_vv10.h): near x y z omega kappa [n]; far x y z omega kappa
   *  charge [sites]. out: f u v [n], and with slopes also what moves the points, at x y z.
   *  A point's sums are in the order of the sites. */
  void (*pairs)(int64_t n, const double *const near[5], int64_t sites, const double *const far[6],
                bool slopes, double *const out[6]);
  /** C = A B, or A B^T with turned, added to C with add; row-major. NULL: BLAS does it. */
  void (*product)(bool turned, bool add, int64_t rows, int64_t columns, int64_t inner,
                  const double *a, int64_t lda, const double *b, int64_t ldb, double *c,
                  int64_t ldc);
} xc_loops;

/** The kernels for an x86-64 level (2, 3, 4). Made by tsl_simd (tools/cmake/TslSimd.cmake). */
const xc_loops *xc_loops_at(int level);
/** Level 1: the same code built scalar (for x86-64-v3), with plain products; for benchmarks. */
extern const xc_loops xc_loops_plain;
