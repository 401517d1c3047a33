/**
 * @file tri_frame_kernels.h
 * Bins of the distances within a frame, compiled once for each SIMD level (tri_kernels.h says how).
 * The same bits on every level.
 */
#include "tri_cpu_frames.h"

#include <math.h>

#define BINS(R, T)                                                                           \
  static void bins_##T(const tri_frame_view *view, const uint32_t at[3], const uint32_t *u1, \
                       const uint32_t *u2, const uint32_t *u3, int64_t n, int32_t *out) {    \
    const uint32_t a1 = at[0], a2 = at[1], a3 = at[2];                                       \
    const R lo = (R)view->lo, hi = (R)view->hi, inv_width = (R)view->inv_width;              \
    const int bins = view->bins;                                                             \
    R m[6];                                                                                  \
    for (int k = 0; k < 6; k++) m[k] = (R)view->m[k];                                        \
    const int64_t end = (n + TRI_FRAME_LAP - 1) / TRI_FRAME_LAP * TRI_FRAME_LAP;             \
    _Pragma("omp simd") for (int64_t c = 0; c < end; c++) {                                  \
      const R r = tri_frame_distance_##T(m, u1[c] - a1, u2[c] - a2, u3[c] - a3);             \
      out[c] = 1 + tri_bin_##T(r, lo, hi, inv_width, bins);                                  \
    }                                                                                        \
  }
BINS(float, f32)
BINS(double, f64)
#undef BINS

const tri_frame_kernels TSL_SIMD_TABLE = {.bins = {bins_f32, bins_f64}};
