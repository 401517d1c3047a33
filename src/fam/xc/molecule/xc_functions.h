/**
 * @file xc_functions.h
 * Values, gradients and second derivatives of the functions of one shell at one point: the one
 * source of these formulas for sockets and cards, double and float.
 *
 * With r = point - centre and f(r^2) = sum_k c_k exp(-a_k r^2), function i of a shell is
 *     value  = P_i(r) f,      gradient = grad P_i(r) f + P_i(r) r g,      g = 2 df/d(r^2)
 *     second     d2P_i f + (dP_i r + r dP_i + P_i 1) g + P_i r r h, h = 2 dg/d(r^2)
 * where P_i is
 *     spherical  the real solid harmonic r^l C_lm, m = -l..l, Racah's normalisation (m < 0 holds
 *                sin |m| phi, m > 0 cos m phi, no Condon-Shortley sign):
 *                l = 1  y, z, x      l = 2  s3 xy, s3 yz, (3z^2 - r^2)/2, s3 xz, s3/2 (x^2 - y^2)
 *     Cartesian  x^a y^b z^c, a descending, then b descending
 * On the unit sphere |P_i| <= 1 in both. Bodies are straight-line code without a branch or a call,
 * so a loop over points vectorises, and every fused multiply-add is written (fn.h), so devices
 * agree bit for bit; the exponential is xc_exp for the same reason (libm and CUDA differ in the
 * last place).
 *
 * Names after inclusion end in _f64 and _f32:
 *   xc_exp(x)                            x <= 0; below -700 (-85 in float) exactly 0
 *   xc_radial(n, a, c, r2, &f, &g)       n primitives
 *   xc_functions(l, spherical, r, f, g, value, dx, dy, dz)
 *                                        value and gradient of the 1..15 functions; l and
 *                                        spherical are constants at the place of the call
 *   xc_function_values(l, spherical, r, f, value)
 *   xc_radial_second(n, a, c, r2, &f, &g, &h)
 *   xc_function_seconds(l, spherical, r, f, g, h, d)
 *                                        d[9][XC_MAX_FUNCTIONS]: d/dx d/dy d/dz xx xy xz yy yz zz
 *
 * Source of the harmonics: Helgaker, Jorgensen, Olsen, Molecular Electronic-Structure Theory, 6.4.
 */
#pragma once

#include "fn.h"

#include <stdint.h>
#include <string.h>

/** Most functions of a shell: Cartesian g. */
enum { XC_MAX_FUNCTIONS = 15 };

/** X(l, spherical) of each kind of shell. */
#define XC_SHELL_KINDS(X) \
  X(0, 0) X(0, 1) X(1, 0) X(1, 1) X(2, 0) X(2, 1) X(3, 0) X(3, 1) X(4, 0) X(4, 1)

/** 2^k for -1022 <= k <= 1023, k held in the low bits of a shifted double (see xc_exp_f64). */
TSL_FN double xc_power2_f64(double shifted) {
  int64_t bits;
  memcpy(&bits, &shifted, sizeof bits);
  bits = (int64_t)((uint64_t)(bits + 1023) << 52);
  double power;
  memcpy(&power, &bits, sizeof power);
  return power;
}

TSL_FN float xc_power2_f32(float shifted) {
  int32_t bits;
  memcpy(&bits, &shifted, sizeof bits);
  bits = (int32_t)((uint32_t)(bits + 127) << 23);
  float power;
  memcpy(&power, &bits, sizeof power);
  return power;
}

/**
 * exp(x) for x <= 0: x = k ln 2 + t, |t| <= ln 2 / 2, exp(t) by its Taylor series to t^13 (relative
 * error of the series below 1e-17; of the result below 3e-16). k is read off the low bits of
 * x / ln 2 + 1.5 * 2^52, whose bits below 2^32 count in units.
 */
TSL_FN double xc_exp_f64(double x) {
  const double y = x > -700.0 ? x : -700.0;
  const double shifted = y * 1.4426950408889634074 + 6755399441055744.0;
  const double k = shifted - 6755399441055744.0;
  const double t = (y - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;
  double p = 1.0 / 6227020800.0;
  p = fma(p, t, 1.0 / 479001600.0);
  p = fma(p, t, 1.0 / 39916800.0);
  p = fma(p, t, 1.0 / 3628800.0);
  p = fma(p, t, 1.0 / 362880.0);
  p = fma(p, t, 1.0 / 40320.0);
  p = fma(p, t, 1.0 / 5040.0);
  p = fma(p, t, 1.0 / 720.0);
  p = fma(p, t, 1.0 / 120.0);
  p = fma(p, t, 1.0 / 24.0);
  p = fma(p, t, 1.0 / 6.0);
  p = fma(p, t, 0.5);
  p = fma(p, t, 1.0);
  p = fma(p, t, 1.0);
  const double e = p * xc_power2_f64(shifted);
  return x > -700.0 ? e : 0.0;
}

/** Likewise in float, series to t^7, relative error below 2e-7. */
TSL_FN float xc_exp_f32(float x) {
  const float y = x > -85.0f ? x : -85.0f;
  const float shifted = y * 1.44269504f + 12582912.0f;
  const float k = shifted - 12582912.0f;
  const float t = (y - k * 0.693145752f) - k * 1.42860677e-6f;
  float p = 1.0f / 5040.0f;
  p = fmaf(p, t, 1.0f / 720.0f);
  p = fmaf(p, t, 1.0f / 120.0f);
  p = fmaf(p, t, 1.0f / 24.0f);
  p = fmaf(p, t, 1.0f / 6.0f);
  p = fmaf(p, t, 0.5f);
  p = fmaf(p, t, 1.0f);
  p = fmaf(p, t, 1.0f);
  const float e = p * xc_power2_f32(shifted);
  return x > -85.0f ? e : 0.0f;
}

#define XC_REAL double
#define XC_(name) name##_f64
#define XC_FMA fma
#include "xc_functions_body.h"

#define XC_REAL float
#define XC_(name) name##_f32
#define XC_FMA fmaf
#include "xc_functions_body.h"
