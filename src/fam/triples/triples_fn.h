/**
 * @file triples_fn.h
 * The triple-dipole energy of Axilrod and Teller (J. Chem. Phys. 11, 1943, 299) and its slopes: the
 * one source of the formulas for sockets and cards, float and double.
 *
 * With a, b, c the squares of the three sides and u = 1 / (a b c), a triangle has the energy
 *
 *     E = nu u^(3/2) (1 + 3/8 P u),   P = (a + b - c) (a - b + c) (b + c - a) = 8 a b c cos cos cos
 *
 * Its slope along the square of one side, with t = b - c, is
 *
 *     dE/da = nu 3/8 a^(-5/2) (b c)^(-3/2) (Z / (b c) - 4),
 *     Z = dP/da - 5/2 P/a = (b + c) (5/2 t^2/a - a/2) - 3/2 t^2 - a^2/2 = 5/2 z/a,
 *     z = (b + c - 3/5 a) (t^2 - 1/5 a^2) - 8/25 a^3
 *
 * (a cubic in b + c alone loses all digits of points on a line, t^2 as a difference of squares),
 * so that the sum over the third points k of a pair (i, j),
 *
 *     G_ij = sum_k dE_ijk/da_ij = nu 15/16 a^(-7/2) (sum_k w z - 8/5 a sum_k q),
 *     q = (r_ik r_jk)^-3,   w = (r_ik r_jk)^-5,
 *
 * is a product of two matrices of sides in another algebra: two sums for a pair, no scatter.
 * Forces and energy are sums over pairs. F_i = -2 sum_j G_ij (x_i - x_j); and since E is of degree
 * -9/2 in the squares, sum of a dE/da over the sides of a triangle is -9/2 E (Euler), which gives
 * E = -2/9 sum over pairs of a_ij G_ij.
 *
 * Terms and then both sums are added in the type of the run for TRIPLES_TILE points k at a time,
 * these in double precision: the same bits on every device (fn.h).
 */
#pragma once

#include "fn.h"

#define TRIPLES_REAL float
#define TRIPLES_(name) name##_f32
#define TRIPLES_FMA fmaf
#define TRIPLES_SQRT sqrtf
#ifndef TRIPLES_INVERSE_ROOT_F32 /* a card brings one with the same bits */
#define TRIPLES_INVERSE_ROOT_F32(x) (1.0f / sqrtf(x))
#endif
#define TRIPLES_INVERSE_ROOT TRIPLES_INVERSE_ROOT_F32
#include "triples_fn_body.h"

#define TRIPLES_REAL double
#define TRIPLES_(name) name##_f64
#define TRIPLES_FMA fma
#define TRIPLES_SQRT sqrt
#define TRIPLES_INVERSE_ROOT(x) (1.0 / sqrt(x))
#include "triples_fn_body.h"

/** G_ij without nu, from a = r_ij^2, a^(-5/2), which is 0 of no side, and triples_sum of all k; in
 *  the unit of length of the sides. */
TSL_FN double triples_slope(double a, double fifth, double sum) {
  return fifth > 0 ? 0.9375 * (fifth / a) * sum : 0;
}

/** Place of a triangle in counts, its sides in bins a, b, c in any order; bins^3 if one is -1. */
TSL_FN int triples_place(int a, int b, int c, int bins) {
  const int least_ab = a < b ? a : b, most_ab = a < b ? b : a;
  const int least = least_ab < c ? least_ab : c, most = most_ab > c ? most_ab : c;
  const int middle = a + b + c - least - most;
  return least >= 0 ? (least * bins + middle) * bins + most : bins * bins * bins;
}
