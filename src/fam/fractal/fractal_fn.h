/**
 * @file fractal_fn.h
 * The arithmetic of an escape-time image: one source for sockets, cards and tests.
 *
 * A step is z <- z^2 + c written as
 *
 *   x' = fma(x - y, x + y, cx),   y' = fma(x + x, y, cy)          (burning_ship: of |x|, |y|)
 *
 * that is two fused multiply-adds and three additions, each rounded once, the same on all devices.
 *
 * What makes the shortcuts exact:
 *  - sparse test: once |z|^2 >= 4 and |c| <= 2 - 1e-9, |z| grows with every step by more than
 *    rounding can take away, and an overflow ends as infinity or NaN, which is "out" too. So a test
 *    after several steps finds every lane that left; it is then replayed step by step from the
 *    state before. Points with larger |c| are tested at each step (fractal_wild).
 *  - periodicity: a step is a function of (x, y), so a state that repeats bit for bit never leaves
 *    (R. P. Brent, BIT 20 (1980) 176, saves a state at powers of two).
 *  - interior: the main cardioid and the period-2 disc hold only points whose orbit converges. They
 *    are made smaller, for the test has rounding errors e (where they touch, near -3/4, as large as
 *    the quantities compared), and rounding can carry an orbit away when its multiplier is nearer
 *    to 1 than e^(2/3): 2e-11, fp32 2e-5. Hence FRACTAL_INTERIOR_MARGIN.
 *  - doubling: x + x is x with 1 added to its exponent, except for zero, denormals and infinity.
 *    There the product with y is too small to change cy, provided every |cy| is 0 or above
 *    2^-900 (fp32: 2^-100), and cy = 0 only where z_0 = 0 (y is then 0 for ever). The family
 *    checks that and says so in params.doubling.
 */
#pragma once

#include "fn.h"
#include "fractal.h"

/** What the interior test stays below the border's polynomials, for an expression of type R. */
#define FRACTAL_INTERIOR_MARGIN(R) (sizeof(R) == 8 ? (R)1e-9 : (R)1e-4)

#define FRACTAL_REAL double
#define FRACTAL_(name) name##_f64
#define FRACTAL_FMA fma
#define FRACTAL_ABS fabs
#include "fractal_fn_body.h"

#define FRACTAL_REAL float
#define FRACTAL_(name) name##_f32
#define FRACTAL_FMA fmaf
#define FRACTAL_ABS fabsf
#include "fractal_fn_body.h"

/** Is a filled pixel of an image of xres columns computed again? One in 64, by its place alone. */
TSL_FN int fractal_is_sampled(int64_t row, int64_t column) {
  const uint64_t mixed = ((uint64_t)row * UINT64_C(0x9e3779b97f4a7c15)) ^
                         ((uint64_t)column * UINT64_C(0xc2b2ae3d27d4eb4f));
  return ((mixed * UINT64_C(0xff51afd7ed558ccd)) >> 58) == 0;
}
