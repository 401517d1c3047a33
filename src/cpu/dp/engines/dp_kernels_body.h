/**
 * @file dp_kernels_body.h
 * The kernels of one SIMD level, compiled once for each by tsl_simd (tools/cmake/TslSimd.cmake),
 * which names the table in TSL_SIMD_TABLE and the level's number in TSL_SIMD_LEVEL.
 */
#include "cpu_vectors.h"
#include "dp_kernels.h"

#include "dp_kernels_bits.h"

#define E int8_t
#define V v_i8
#define T(name) name##_i8
#define DP_NARROW 1
#include "dp_kernels_align.h"
#include "dp_kernels_undef.h"

#include "dp_kernels_moving.h"

#define E int16_t
#define V v_i16
#define T(name) name##_i16
#define DP_NARROW 1
#define DP_CHAIN 0
#define DP_BEST max_i16
#include "dp_kernels_align.h"
#include "dp_kernels_join.h"
#include "dp_kernels_undef.h"

#define E int32_t
#define U uint32_t
#define V v_i32
#define I v_i32
#define ALL all_i32
#define T(name) name##_i32
#define DP_NARROW 0
#define DP_WHOLE 1
#define DP_CHAIN 0
#define DP_BEST max_i32
#include "dp_kernels_align.h"
#include "dp_kernels_join.h"
#include "dp_kernels_stage.h"

#include "dp_kernels_fold.h" /* joins rows */

#include "dp_kernels_undef.h"

#define E int64_t
#define U uint64_t
#define V v_i64
#define I v_i64
#define ALL all_i64
#define T(name) name##_i64
#define DP_WHOLE 1
#define DP_CHAIN 1
#define DP_BEST min_i64
#include "dp_kernels_join.h"
#include "dp_kernels_stage.h"
#include "dp_kernels_undef.h"

#define E float
#define V v_f32
#define I v_i32
#define ALL all_i32
#define T(name) name##_f32
#define DP_WHOLE 0
#include "dp_kernels_dtw.h"
#include "dp_kernels_stage.h"
#include "dp_kernels_undef.h"

#define E double
#define V v_f64
#define I v_i64
#define ALL all_i64
#define T(name) name##_f64
#define DP_WHOLE 0
#define DP_CHAIN 1
#define DP_BEST min_f64
#include "dp_kernels_dtw.h"
#include "dp_kernels_join.h"
#include "dp_kernels_stage.h"
#include "dp_kernels_undef.h"

#include "dp_kernels_partition.h"
#include "dp_kernels_rows.h"

static void range(const int32_t *from, int64_t n, int32_t *lo, int32_t *hi) {
  int32_t least = *lo, most = *hi;
  for (int64_t k = 0; k < n; k++) {
    least = from[k] < least ? from[k] : least;
    most = from[k] > most ? from[k] : most;
  }
  *lo = least;
  *hi = most;
}

static int32_t opened(const int32_t *gap, int64_t n, int32_t open, int32_t extend) {
  int32_t most = INT32_MIN / 2;
  for (int32_t k = 0; k < (int32_t)n; k++) {
    const int32_t v = gap[k] - ((int32_t)n - 1 - k) * extend;
    most = v > most ? v : most;
  }
  return most - open;
}

/* A path along the far side begins before cell 0 or leaves the gap of an earlier one. */
static void cross(const dp_align_side *side) {
  int32_t *restrict h = side->h, *restrict gap = side->gap;
  const int32_t n = (int32_t)side->n, open = side->open, extend = side->extend;
  const int32_t far = side->across * extend;
  int32_t along = side->along - extend; /* at the first cell */
  for (int32_t k = 0; k < n; k++) {
    const int32_t straight = gap[k] - far, turned = side->turned - (k + 1) * extend;
    gap[k] = straight > turned ? straight : turned;
  }
#pragma omp simd reduction(inscan, max : along)
  for (int32_t k = 0; k < n; k++) {
    { h[k] = along - k * extend; }
#pragma omp scan exclusive(along)
    { along = gap[k] - open + k * extend > along ? gap[k] - open + k * extend : along; }
  }
  for (int32_t k = 0; k < n; k++) {
    const int32_t best = h[k] > gap[k] ? h[k] : gap[k];
    h[k] = best > 0 ? best : 0;
    gap[k] = h[k] - open > gap[k] ? h[k] - open : gap[k];
  }
}

const dp_kernels TSL_SIMD_TABLE = {
    .level = TSL_SIMD_LEVEL,
    .bytes = VECTOR_BYTES,
    .bits = bits,
    .bits_spread = bits_spread,
    .bits_expand = bits_expand,
    .bits_compress = bits_compress,
    .align = {align_i8, align_moving, align_i16, align_i32},
    .narrow = {narrow_i8, narrow_i32, narrow_i16, narrow_i32},
    .widen = {widen_i8, widen_i32, widen_i16, widen_i32},
    .dtw = {dtw_f32, dtw_f64},
    .sack_i32 = sack_i32,
    .sack_i64 = sack_i64,
    .sack_again = sack_again,
    .shrink = shrink,
    .stretch = stretch,
    .larger = larger,
    .pascal = pascal,
    .allot = {allot_i32, allot_i64, allot_f32, allot_f64},
    .stage = {stage_i32, stage_i64, stage_f32, stage_f64},
    .meet = {meet_i16, meet_i32, meet_i64, meet_f64},
    .join = {join_i16, join_i32, join_i64, join_f64},
    .fold_row = fold_row,
    .fold_join = fold_join,
    .fold_add = fold_add,
    .fold_least = fold_least,
    .partition_row = partition_row,
    .partition_meet = partition_meet,
    .partition_add = partition_add,
    .partition_times = partition_times,
    .range = range,
    .opened = opened,
    .cross = cross,
};
