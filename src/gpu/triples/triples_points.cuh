/**
 * @file triples_points.cuh
 * The formulas of triples_fn.h as members of a type, and the points as kernels see them.
 */
#pragma once

#include "roots.cuh"
/* Squares of sides are at least 2^-100 (triples_prepare.c). */
#define TRIPLES_INVERSE_ROOT_F32 tsl_inverse_root_f32
#include "triples_fn.h"
#include "triples_gpu.cuh"

template <class R> struct triples_formulas;
#define TRIPLES_FORMULA(type, name, suffix, takes, values) \
  static __device__ __forceinline__ type name takes {      \
    return triples_##name##_##suffix values;               \
  }
#define TRIPLES_FORMULAS(R, suffix)                                                      \
  template <> struct triples_formulas<R> {                                               \
    typedef triples_side_##suffix side;                                                  \
    typedef triples_pair_##suffix pair;                                                  \
    TRIPLES_FORMULA(R, difference, suffix, (R a, R b, R box), (a, b, box))               \
    TRIPLES_FORMULA(R, square, suffix, (R x, R y, R z), (x, y, z))                       \
    TRIPLES_FORMULA(side, side_of, suffix, (R square, R cutoff2), (square, cutoff2))     \
    TRIPLES_FORMULA(pair, pair_of, suffix, (R square), (square))                         \
    TRIPLES_FORMULA(void, term, suffix, (pair p, side ik, side jk, R *wz, R *q),         \
                    (p, ik, jk, wz, q))                                                  \
    TRIPLES_FORMULA(R, sum, suffix, (pair p, R wz, R q), (p, wz, q))                     \
    TRIPLES_FORMULA(R, energy, suffix, (side ij, side ik, side jk), (ij, ik, jk))        \
    TRIPLES_FORMULA(int, bin, suffix, (R square, R lo, R hi, R inverse_width, int bins), \
                    (square, lo, hi, inverse_width, bins))                               \
  };
TRIPLES_FORMULAS(float, f32)
TRIPLES_FORMULAS(double, f64)

/* The points as kernels see them. */
template <class R> struct triples_args {
  const R *x; /* [3][ld] */
  int n, ld;
  R box[3], cutoff2;
};

template <class R> static triples_args<R> triples_args_of(const triples_gpu *w) {
  triples_args<R> args = {};
  args.x = (const R *)w->points.data;
  args.n = (int)w->p.n;
  args.ld = (int)w->p.n_pad;
  args.cutoff2 = (R)(w->p.cutoff * w->p.cutoff);
  for (int k = 0; k < 3; k++) args.box[k] = (R)w->p.box[k];
  return args;
}

/** Square of the side from a to b. OPEN: neither box nor cut-off, which the compiler then knows. */
template <class R, bool OPEN>
static __device__ __forceinline__ R triples_square_between(const triples_args<R> &args,
                                                           const R a[3], const R b[3]) {
  typedef triples_formulas<R> fn;
  const R none = (R)INFINITY;
  const R dx = fn::difference(a[0], b[0], OPEN ? none : args.box[0]);
  const R dy = fn::difference(a[1], b[1], OPEN ? none : args.box[1]);
  const R dz = fn::difference(a[2], b[2], OPEN ? none : args.box[2]);
  return fn::square(dx, dy, dz);
}

template <class R, bool OPEN>
static __device__ __forceinline__ R triples_cutoff2(const triples_args<R> &args) {
  return OPEN ? (R)INFINITY : args.cutoff2;
}

template <class R, bool OPEN>
static __device__ __forceinline__ typename triples_formulas<R>::side
triples_side_between(const triples_args<R> &args, const R a[3], const R b[3]) {
  return triples_formulas<R>::side_of(triples_square_between<R, OPEN>(args, a, b),
                                      triples_cutoff2<R, OPEN>(args));
}
