/**
 * @file tri_kernels.h
 * The kernels of one SIMD level, compiled once for each by tsl_simd (tools/cmake/TslSimd.cmake),
 * which names the table in TSL_SIMD_TABLE and the level's number in TSL_SIMD_LEVEL.
 *
 * All but gravity f32 are bit-identical on every level: each value is computed by the formulas
 * of tri_pairs.h without contraction, vectorised over columns only.
 */
#include "tri_cpu.h"
#include "tri_pairs.h"

#include <math.h>
#include <string.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

#define SIMD _Pragma("omp simd")
#define UNROLL _Pragma("GCC unroll 8")

/* Of the first PACK values those that are at most `most`: their places, counted from k, to the
 * front of places, where PACK are written; returns their number. */
#if defined __AVX512F__ && defined __AVX512VL__
enum { PACK_f32 = 16, PACK_f64 = 8 };
static inline int pack_f32(const float *v, float most, int64_t k, int32_t *places) {
  const __mmask16 hits = _mm512_cmp_ps_mask(_mm512_loadu_ps(v), _mm512_set1_ps(most), _CMP_LE_OQ);
  const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i at = _mm512_add_epi32(lanes, _mm512_set1_epi32((int)k));
  _mm512_storeu_si512(places, _mm512_maskz_compress_epi32(hits, at));
  return __builtin_popcount(hits);
}
static inline int pack_f64(const double *v, double most, int64_t k, int32_t *places) {
  const __mmask8 hits = _mm512_cmp_pd_mask(_mm512_loadu_pd(v), _mm512_set1_pd(most), _CMP_LE_OQ);
  const __m256i lanes = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
  const __m256i at = _mm256_add_epi32(lanes, _mm256_set1_epi32((int)k));
  _mm256_storeu_si256((__m256i *)places, _mm256_maskz_compress_epi32(hits, at));
  return __builtin_popcount(hits);
}
#else /* branchless, one by one */
enum { PACK_f32 = 16, PACK_f64 = 16 };
#define PACK(R, name)                                                      \
  static inline int name(const R *v, R most, int64_t k, int32_t *places) { \
    int found = 0;                                                         \
    for (int c = 0; c < 16; c++) {                                         \
      places[found] = (int32_t)(k + c);                                    \
      found += v[c] <= most;                                               \
    }                                                                      \
    return found;                                                          \
  }
PACK(float, pack_f32)
PACK(double, pack_f64)
#undef PACK
#endif

#define R float
#define T(name) name##_f32
#include "tri_kernels_body.h"
#define R double
#define T(name) name##_f64
#include "tri_kernels_body.h"

#include "tri_kernels_bits.h"
#include "tri_kernels_gravity.h"

/* Of 8 values those below x, and those above it, to the front of low and high, where 8 are written;
 * NaN are neither. Their numbers are added to n_low and n_high. */
static inline void split(const double *v, double x, double *low, double *high, int64_t *n_low,
                         int64_t *n_high) {
#ifdef __AVX512F__
  const __m512d values = _mm512_loadu_pd(v), pivot = _mm512_set1_pd(x);
  const __mmask8 below = _mm512_cmp_pd_mask(values, pivot, _CMP_LT_OQ);
  const __mmask8 above = _mm512_cmp_pd_mask(values, pivot, _CMP_GT_OQ);
  _mm512_storeu_pd(low, _mm512_maskz_compress_pd(below, values));
  _mm512_storeu_pd(high, _mm512_maskz_compress_pd(above, values));
  *n_low += __builtin_popcount(below), *n_high += __builtin_popcount(above);
#else
  int64_t l = 0, h = 0;
  for (int c = 0; c < 8; c++) {
    const double value = v[c];
    low[l] = value, high[h] = value;
    l += value<x, h += value> x;
  }
  *n_low += l, *n_high += h;
#endif
}

/* Quickselect (Hoare, CACM 4, 1961, 321) from list to list: no branch depends on a value but the
 * choice of a side. NaN fill the last eight up. */
static double kth(const double *values, int64_t n, int64_t k) {
  double room[3][TRI_MOST_RANKED + 16], *v = room[0], *low = room[1], *high = room[2];
  memcpy(v, values, (size_t)n * sizeof *v);
  for (;;) {
    const double a = v[0], b = v[n / 2], c = v[n - 1], first = a < b ? a : b, last = a < b ? b : a;
    const double pivot = c < first ? first : c < last ? c : last;
    int64_t n_low = 0, n_high = 0;
    for (int e = 0; e < 8; e++) v[n + e] = (double)NAN;
    for (int64_t i = 0; i < n; i += 8)
      split(v + i, pivot, low + n_low, high + n_high, &n_low, &n_high);
    if (n_low < k && k <= n - n_high) return pivot;
    double *const all = v;
    if (k <= n_low) {
      v = low, low = all, n = n_low;
    } else {
      k -= n - n_high;
      v = high, high = all, n = n_high;
    }
  }
}

#if defined __AVX512F__
enum { LINE = 64 };
static inline void stream_line(char *to, const char *from) {
  _mm512_stream_si512((__m512i *)to, _mm512_loadu_si512(from));
}
#elif defined __AVX__
enum { LINE = 64 };
static inline void stream_line(char *to, const char *from) {
  const __m256i a = _mm256_loadu_si256((const __m256i *)from);
  const __m256i b = _mm256_loadu_si256((const __m256i *)(from + 32));
  _mm256_stream_si256((__m256i *)to, a);
  _mm256_stream_si256((__m256i *)(to + 32), b);
}
#elif defined __SSE2__
enum { LINE = 64 };
static inline void stream_line(char *to, const char *from) {
  for (int k = 0; k < 64; k += 16)
    _mm_stream_si128((__m128i *)(to + k), _mm_loadu_si128((const __m128i *)(from + k)));
}
#else
enum { LINE = 64 };
static inline void stream_line(char *to, const char *from) {
  memcpy(to, from, 64);
}
#endif

static void stream(void *to_, const void *from_, int64_t bytes) {
  char *to = to_;
  const char *from = from_;
  int64_t head = (int64_t)(-(uintptr_t)to % LINE);
  if (head > bytes) head = bytes;
  if (head > 0) memcpy(to, from, (size_t)head);
  int64_t k = head;
  for (; k + LINE <= bytes; k += LINE) stream_line(to + k, from + k);
  if (k < bytes) memcpy(to + k, from + k, (size_t)(bytes - k));
}

static void fence(void) {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

#define FILL_F32(NAME, name, ...) [TRI_##NAME] = fill_##name##_f32,
#define FILL_F64(NAME, name, ...) [TRI_##NAME] = fill_##name##_f64,
#define TILES_F32(NAME, name, ...) [TRI_##NAME] = tiles_##name##_f32,
#define TILES_F64(NAME, name, ...) [TRI_##NAME] = tiles_##name##_f64,
#define BOUND_F32(NAME, name, ...) [TRI_##NAME] = bound_##name##_f32,
#define BOUND_F64(NAME, name, ...) [TRI_##NAME] = bound_##name##_f64,

const tri_kernels TSL_SIMD_TABLE = {
    .level = TSL_SIMD_LEVEL,
    .fill = {{TRI_PAIR_LIST(FILL_F32)}, {TRI_PAIR_LIST(FILL_F64)}},
    .tiles = {{TRI_DIRECT_LIST(TILES_F32)}, {TRI_DIRECT_LIST(TILES_F64)}},
    .bound = {{TRI_DIRECT_LIST(BOUND_F32)}, {TRI_DIRECT_LIST(BOUND_F64)}},
    .from_products = {from_products_f32, from_products_f64},
    .select = {select_f32, select_f64},
    .link = {link_f32, link_f64},
    .kth = kth,
    .add = {add_f32, add_f64},
    .bin = {bin_f32, bin_f64},
    .stream = stream,
    .fence = fence,
    .gravity = {gravity_f32, gravity_f64},
};
