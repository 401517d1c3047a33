/**
 * @file fractal_walk.cuh
 * The steps of one pixel on the card.
 *
 * The arithmetic is that of fractal_fn.h. CARRY holds x and cx doubled: with u = 2x a step is four
 * fused multiply-adds and nothing else,
 *
 *   s = fma(-2, y, u) = 2 (x - y),   t = fma(1/2, u, y) = x + y,
 *   u' = fma(s, t, 2 cx) = 2 x',     y' = fma(u, y, cy),
 *
 * each the same rounding as in fractal_step, times a power of two. They could differ only where x
 * is denormal or overflows: then it is too small to change x + y, x - y and cy, or z is out. That
 * needs what params.doubling promises.
 */
#pragma once

#include "fractal_fn.h"

#include <stdint.h>

/** How a pixel walks. */
enum fractal_way {
  FRACTAL_CARRY, /**< params.doubling */
  FRACTAL_PLAIN, /**< fractal_step as it stands */
  FRACTAL_WILD   /**< params.wild: fractal_step and a test at each step */
};

/* One name for both types. */
static __device__ __forceinline__ double fractal_fma(double a, double b, double c) {
  return fma(a, b, c);
}
static __device__ __forceinline__ float fractal_fma(float a, float b, float c) {
  return fmaf(a, b, c);
}
static __device__ __forceinline__ void fractal_step(int set, double *x, double *y, double cx,
                                                    double cy) {
  fractal_step_f64(set, x, y, cx, cy);
}
static __device__ __forceinline__ void fractal_step(int set, float *x, float *y, float cx,
                                                    float cy) {
  fractal_step_f32(set, x, y, cx, cy);
}
static __device__ __forceinline__ bool fractal_is_out(double x, double y) {
  return fractal_is_out_f64(x, y) != 0;
}
static __device__ __forceinline__ bool fractal_is_out(float x, float y) {
  return fractal_is_out_f32(x, y) != 0;
}
static __device__ __forceinline__ bool fractal_is_interior(double cx, double cy) {
  return fractal_is_interior_f64(cx, cy) != 0;
}
static __device__ __forceinline__ bool fractal_is_interior(float cx, float cy) {
  return fractal_is_interior_f32(cx, cy) != 0;
}
static __device__ __forceinline__ void fractal_start(const fractal_params *p, double px, double py,
                                                     double *x, double *y, double *cx, double *cy) {
  fractal_start_f64(p, px, py, x, y, cx, cy);
}
static __device__ __forceinline__ void fractal_start(const fractal_params *p, float px, float py,
                                                     float *x, float *y, float *cx, float *cy) {
  fractal_start_f32(p, px, py, x, y, cx, cy);
}
static __host__ __device__ __forceinline__ int64_t fractal_plain(const fractal_params *p, double px,
                                                                 double py) {
  return fractal_plain_f64(p, px, py);
}
static __host__ __device__ __forceinline__ int64_t fractal_plain(const fractal_params *p, float px,
                                                                 float py) {
  return fractal_plain_f32(p, px, py);
}
static __device__ __forceinline__ bool fractal_same_bits(double a, double b) {
  return __double_as_longlong(a) == __double_as_longlong(b);
}
static __device__ __forceinline__ bool fractal_same_bits(float a, float b) {
  return __float_as_uint(a) == __float_as_uint(b);
}

/** A pixel on its way; SHIP: burning_ship. In CARRY x and cx are doubled. */
template <class T, bool SHIP_, int WAY_> struct fractal_walk {
  typedef T R;
  static const bool SHIP = SHIP_;
  static const int WAY = WAY_;
  /** Steps that are unrolled. */
  static const int RUN = sizeof(R) == 8 ? 8 : 16;

  R x, y, cx, cy;

  __device__ __forceinline__ void start(const fractal_params *p, R px, R py) {
    fractal_start(p, px, py, &x, &y, &cx, &cy);
    if (WAY != FRACTAL_CARRY) return;
    x += x;
    cx += cx;
  }

  __device__ __forceinline__ void step() {
    if (WAY != FRACTAL_CARRY) {
      fractal_step(SHIP ? FRACTAL_BURNING_SHIP : FRACTAL_MANDELBROT, &x, &y, cx, cy);
      return;
    }
    const R a = SHIP ? fabs(x) : x, b = SHIP ? fabs(y) : y;
    const R s = fractal_fma((R)-2, b, a), t = fractal_fma((R)0.5, a, b);
    y = fractal_fma(a, b, cy);
    x = fractal_fma(s, t, cx);
  }

  __device__ __forceinline__ bool is_out() const {
    return fractal_is_out(WAY == FRACTAL_CARRY ? (R)0.5 * x : x, y);
  }

  /** RUN steps; WILD: is one of the states before them out? */
  __device__ __forceinline__ bool run() {
    bool out = false;
#pragma unroll
    for (int s = 0; s < RUN; s++) {
      if (WAY == FRACTAL_WILD) out |= is_out();
      step();
    }
    return out;
  }
};
