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

#include "tri_kernels_gravity.h"

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
    .tiles = {{TRI_PAIR_LIST(TILES_F32)}, {TRI_PAIR_LIST(TILES_F64)}},
    .bound = {{TRI_PAIR_LIST(BOUND_F32)}, {TRI_PAIR_LIST(BOUND_F64)}},
    .from_products = {from_products_f32, from_products_f64},
    .select = {select_f32, select_f64},
    .bin = {bin_f32, bin_f64},
    .stream = stream,
    .fence = fence,
    .gravity = {gravity_f32, gravity_f64},
};
