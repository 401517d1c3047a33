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
#undef R
#undef T
#define R double
#define T(name) name##_f64
#include "tri_kernels_body.h"
#undef R
#undef T

#include "tri_kernels_bits.h"
#include "tri_kernels_gravity.h"

/* Values are ranked until one has rank k; those that earlier ones rule out are passed over. */
static double kth(const double *v, int64_t n, int64_t k) {
  double below = -(double)INFINITY, above = (double)INFINITY;
  for (int64_t i = 0; i < n; i++) {
    const double x = v[i];
    int64_t less = 0, equal = 0;
    if (!(x > below && x < above)) continue;
    _Pragma("omp simd reduction(+ : less, equal)") for (int64_t j = 0; j < n; j++) {
      less += v[j] < x;
      equal += v[j] == x;
    }
    if (less < k && k <= less + equal) return x;
    below = less < k ? x : below;
    above = less < k ? above : x;
  }
  return below == -(double)INFINITY ? below : above; /* infinite values only are left */
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
