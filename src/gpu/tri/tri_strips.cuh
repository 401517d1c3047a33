/**
 * @file tri_strips.cuh
 * For outputs that consume pairs by rows: call f(args, a, b) for all rows [lo, hi), at once by the
 * formula, or strip after strip when inner products come from cuBLAS or values from an equation.
 */
#ifndef TSL_GPU_TRI_STRIPS_CUH
#define TSL_GPU_TRI_STRIPS_CUH

#include "tri_equation.cuh"

template <class R, class F>
static tsl_err tri_each_strip(tri_gpu *w, int64_t lo, int64_t hi, bool upper, F f) {
  tsl_err err = TSL_OK;
  tri_args<R> args = tri_args_of<R>(w);
  if (lo >= hi) return TSL_OK;
  const bool given = w->equation != NULL;
  if (!given && !tri_uses_gemm(&w->p)) return f(args, lo, hi);
  const int64_t rows = tri_gemm_rows(w, upper ? w->p.n - lo : w->p.n);
  for (int64_t a = lo; a < hi; a += rows) {
    const int64_t b = a + rows < hi ? a + rows : hi, c0 = upper ? a : 0;
    TSL_TRY((given ? tri_equation_strip : tri_gemm_strip)(w, a, b, c0, w->p.n));
    args = tri_args_of_strip<R>(w, a, c0, w->p.n);
    args.given = given;
    TSL_TRY(f(args, a, b));
  }
done:
  return err;
}

#endif
