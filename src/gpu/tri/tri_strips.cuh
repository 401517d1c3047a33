/**
 * @file tri_strips.cuh
 * For outputs that consume pairs by rows: call f(args, a, b) for the places of rows [lo, hi), at
 * once by the formula, or strip after strip when inner products come from cuBLAS, values from an
 * equation or a function without kernels of its own, or points have so many dimensions that a tile
 * of pairs is worth sharing them.
 */
#pragma once

#include "tri_equation.cuh"

template <class R, class F>
static tsl_err tri_each_strip(tri_gpu *w, int64_t lo, int64_t hi, bool upper, F f) {
  tsl_err err = TSL_OK;
  tri_args<R> args = tri_args_of<R>(w);
  const int64_t columns = args.n, last = w->p.first + hi;
  const bool cut = upper && !w->p.two, given = w->equation != NULL || !tri_uses_gemm(&w->p);
  const auto strip = w->equation != NULL ? tri_equation_strip
                     : given             ? tri_values_strip
                                         : tri_gemm_strip;
  if (lo >= hi || columns == 0) return TSL_OK;
  if (strip == tri_values_strip && !tri_wants_strips(&w->p)) return f(args, w->p.first + lo, last);
  const int64_t rows = TRI_STREAMS * tri_gemm_rows(w, cut ? columns - lo : columns); /* of one */
  for (int64_t a = w->p.first + lo; a < last; a += rows) {
    const int64_t b = a + rows < last ? a + rows : last, c0 = cut ? a : 0;
    TSL_TRY(strip(w, a, b, c0, columns));
    args = tri_args_of_strip<R>(w, a, c0, columns);
    args.given = given;
    TSL_TRY(f(args, a, b));
  }
done:
  return err;
}
