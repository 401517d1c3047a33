/**
 * @file dp_simd.h
 * Vectors of one SIMD level for the kernels of dp: 64, 32 or 16 bytes of i8..i64, f32, f64.
 *
 * Included by dp_kernels_<level>.c only. Arithmetic, comparisons and logic are written with the
 * compiler's vector types; what it does not turn into one instruction is named here:
 *
 *   load_T store_T all_T      any alignment; one value in all lanes
 *   max_T min_T               max: a > b ? a : b, min: a < b ? a : b (ties give b)
 *   down_T(v, low)            lane p gets lane p + 1 of v, the last lane gets lane 0 of low
 *   clip_T(a, b)              a - b for a, b >= 0, 0 where it would be negative (i8, i16)
 *   choose_equal_T(a,b,x,y)   lanes of x where a == b, of y elsewhere
 *   choose_T(mask, x, y)      lanes of x where mask is all ones, of y where it is zero
 *   greater_bits_T(a, b)      bit p: a > b in lane p
 *   add_term_T(x, y, sum)     x y + sum; f64: exact values only, rounded once or twice
 */
#ifndef TSL_CPU_DP_SIMD_H
#define TSL_CPU_DP_SIMD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE4_2__
#include <immintrin.h>
#endif

#if defined __AVX512BW__
#define DP_BYTES 64
#elif defined __AVX2__
#define DP_BYTES 32
#else
#define DP_BYTES 16
#endif

#define DP_INLINE static inline __attribute__((always_inline, unused))
#define DP_UNROLL _Pragma("GCC unroll 8")

#define DP_VECTOR(t, name, m)                                                       \
  typedef t v_##name __attribute__((vector_size(DP_BYTES)));                        \
  typedef t u_##name __attribute__((vector_size(DP_BYTES), aligned(1), may_alias)); \
  enum { N_##name = DP_BYTES / sizeof(t) };                                         \
  DP_INLINE v_##name load_##name(const void *p) {                                   \
    return *(const u_##name *)p;                                                    \
  }                                                                                 \
  DP_INLINE void store_##name(void *p, v_##name v) {                                \
    *(u_##name *)p = v;                                                             \
  }                                                                                 \
  DP_INLINE v_##name all_##name(t x) {                                              \
    return x - (v_##name){0};                                                       \
  }                                                                                 \
  DP_INLINE v_##name choose_##name(v_##m mask, v_##name x, v_##name y) {            \
    return (v_##name)(((v_##m)x & mask) | ((v_##m)y & ~mask));                      \
  }
DP_VECTOR(int8_t, i8, i8)
DP_VECTOR(int16_t, i16, i16)
DP_VECTOR(int32_t, i32, i32)
DP_VECTOR(int64_t, i64, i64)
DP_VECTOR(uint64_t, u64, u64)
DP_VECTOR(float, f32, i32)
DP_VECTOR(double, f64, i64)
#undef DP_VECTOR

/* A function of two vectors that is one instruction. */
#define DP_PAIR(name, cast, out, fn)                        \
  DP_INLINE v_##name out##_##name(v_##name a, v_##name b) { \
    return (v_##name)fn((cast)a, (cast)b);                  \
  }

/* Where there is none. */
#define DP_PLAIN_LESS(name)                               \
  DP_INLINE v_##name max_##name(v_##name a, v_##name b) { \
    return choose_##name(a > b, a, b);                    \
  }                                                       \
  DP_INLINE v_##name min_##name(v_##name a, v_##name b) { \
    return choose_##name(a < b, a, b);                    \
  }
#define DP_CHOOSE_EQUAL(name)                                                              \
  DP_INLINE v_##name choose_equal_##name(v_##name a, v_##name b, v_##name x, v_##name y) { \
    return choose_##name(a == b, x, y);                                                    \
  }

#if DP_BYTES == 64
#define DP_LESS(name, cast, suffix)             \
  DP_PAIR(name, cast, max, _mm512_max_##suffix) \
  DP_PAIR(name, cast, min, _mm512_min_##suffix)
DP_LESS(i8, __m512i, epi8)
DP_LESS(i16, __m512i, epi16)
DP_LESS(i32, __m512i, epi32)
DP_LESS(i64, __m512i, epi64)
DP_LESS(f32, __m512, ps)
DP_LESS(f64, __m512d, pd)
DP_PAIR(i8, __m512i, clip, _mm512_subs_epu8)
DP_PAIR(i16, __m512i, clip, _mm512_subs_epu16)
#define DP_CHOOSE_512(name, suffix)                                                        \
  DP_INLINE v_##name choose_equal_##name(v_##name a, v_##name b, v_##name x, v_##name y) { \
    return (v_##name)_mm512_mask_blend_##suffix(                                           \
        _mm512_cmpeq_##suffix##_mask((__m512i)a, (__m512i)b), (__m512i)y, (__m512i)x);     \
  }
DP_CHOOSE_512(i8, epi8)
DP_CHOOSE_512(i16, epi16)
DP_CHOOSE_512(i32, epi32)
DP_INLINE __m512i down_512(__m512i v, __m512i low, const int bytes) {
  const __m512i over = _mm512_alignr_epi64(low, v, 2);
  switch (bytes) {
  case 1:
    return _mm512_alignr_epi8(over, v, 1);
  case 2:
    return _mm512_alignr_epi8(over, v, 2);
  case 4:
    return _mm512_alignr_epi32(low, v, 1);
  default:
    return _mm512_alignr_epi64(low, v, 1);
  }
}
#define DP_DOWN(name, type)                                                 \
  DP_INLINE v_##name down_##name(v_##name v, v_##name low) {                \
    return (v_##name)down_512((__m512i)v, (__m512i)low, (int)sizeof(type)); \
  }
DP_INLINE uint64_t greater_bits_i32(v_i32 a, v_i32 b) {
  return _mm512_cmpgt_epi32_mask((__m512i)a, (__m512i)b);
}
DP_INLINE uint64_t greater_bits_i64(v_i64 a, v_i64 b) {
  return _mm512_cmpgt_epi64_mask((__m512i)a, (__m512i)b);
}
DP_INLINE bool any_equal_i32(v_i32 a, v_i32 b) {
  return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b) != 0;
}

#elif DP_BYTES == 32
#define DP_LESS(name, cast, suffix)             \
  DP_PAIR(name, cast, max, _mm256_max_##suffix) \
  DP_PAIR(name, cast, min, _mm256_min_##suffix)
DP_LESS(i8, __m256i, epi8)
DP_LESS(i16, __m256i, epi16)
DP_LESS(i32, __m256i, epi32)
DP_LESS(f32, __m256, ps)
DP_LESS(f64, __m256d, pd)
DP_PLAIN_LESS(i64)
DP_PAIR(i8, __m256i, clip, _mm256_subs_epu8)
DP_PAIR(i16, __m256i, clip, _mm256_subs_epu16)
DP_CHOOSE_EQUAL(i8)
DP_CHOOSE_EQUAL(i16)
DP_CHOOSE_EQUAL(i32)
DP_INLINE __m256i down_256(__m256i v, __m256i low, const int bytes) {
  const __m256i over = _mm256_permute2x128_si256(v, low, 0x21);
  switch (bytes) {
  case 1:
    return _mm256_alignr_epi8(over, v, 1);
  case 2:
    return _mm256_alignr_epi8(over, v, 2);
  case 4:
    return _mm256_alignr_epi8(over, v, 4);
  default:
    return _mm256_alignr_epi8(over, v, 8);
  }
}
#define DP_DOWN(name, type)                                                 \
  DP_INLINE v_##name down_##name(v_##name v, v_##name low) {                \
    return (v_##name)down_256((__m256i)v, (__m256i)low, (int)sizeof(type)); \
  }
DP_INLINE uint64_t greater_bits_i32(v_i32 a, v_i32 b) {
  return (unsigned)_mm256_movemask_ps((__m256)(a > b));
}
DP_INLINE uint64_t greater_bits_i64(v_i64 a, v_i64 b) {
  return (unsigned)_mm256_movemask_pd((__m256d)(a > b));
}
DP_INLINE bool any_equal_i32(v_i32 a, v_i32 b) {
  return _mm256_movemask_epi8((__m256i)(a == b)) != 0;
}

#elif defined __SSE4_2__
#define DP_LESS(name, cast, suffix)          \
  DP_PAIR(name, cast, max, _mm_max_##suffix) \
  DP_PAIR(name, cast, min, _mm_min_##suffix)
DP_LESS(i8, __m128i, epi8)
DP_LESS(i16, __m128i, epi16)
DP_LESS(i32, __m128i, epi32)
DP_LESS(f32, __m128, ps)
DP_LESS(f64, __m128d, pd)
DP_PLAIN_LESS(i64)
DP_PAIR(i8, __m128i, clip, _mm_subs_epu8)
DP_PAIR(i16, __m128i, clip, _mm_subs_epu16)
DP_CHOOSE_EQUAL(i8)
DP_CHOOSE_EQUAL(i16)
DP_CHOOSE_EQUAL(i32)
DP_INLINE __m128i down_128(__m128i v, __m128i low, const int bytes) {
  switch (bytes) {
  case 1:
    return _mm_alignr_epi8(low, v, 1);
  case 2:
    return _mm_alignr_epi8(low, v, 2);
  case 4:
    return _mm_alignr_epi8(low, v, 4);
  default:
    return _mm_alignr_epi8(low, v, 8);
  }
}
#define DP_DOWN(name, type)                                                 \
  DP_INLINE v_##name down_##name(v_##name v, v_##name low) {                \
    return (v_##name)down_128((__m128i)v, (__m128i)low, (int)sizeof(type)); \
  }
DP_INLINE uint64_t greater_bits_i32(v_i32 a, v_i32 b) {
  return (unsigned)_mm_movemask_ps((__m128)(a > b));
}
DP_INLINE uint64_t greater_bits_i64(v_i64 a, v_i64 b) {
  return (unsigned)_mm_movemask_pd((__m128d)(a > b));
}
DP_INLINE bool any_equal_i32(v_i32 a, v_i32 b) {
  return _mm_movemask_epi8((__m128i)(a == b)) != 0;
}

#else
DP_PLAIN_LESS(i8)
DP_PLAIN_LESS(i16)
DP_PLAIN_LESS(i32)
DP_PLAIN_LESS(i64)
DP_PLAIN_LESS(f32)
DP_PLAIN_LESS(f64)
DP_CHOOSE_EQUAL(i8)
DP_CHOOSE_EQUAL(i16)
DP_CHOOSE_EQUAL(i32)
DP_INLINE v_i8 clip_i8(v_i8 a, v_i8 b) {
  return max_i8(a - b, (v_i8){0});
}
DP_INLINE v_i16 clip_i16(v_i16 a, v_i16 b) {
  return max_i16(a - b, (v_i16){0});
}
#define DP_DOWN(name, type)                                  \
  DP_INLINE v_##name down_##name(v_##name v, v_##name low) { \
    type both[2 * N_##name];                                 \
    store_##name(both, v);                                   \
    store_##name(both + N_##name, low);                      \
    return load_##name(both + 1);                            \
  }
#define DP_GREATER_BITS(name)                                                     \
  DP_INLINE uint64_t greater_bits_##name(v_##name a, v_##name b) {                \
    uint64_t bits = 0;                                                            \
    for (int p = 0; p < (int)N_##name; p++) bits |= (uint64_t)(a[p] > b[p]) << p; \
    return bits;                                                                  \
  }
DP_GREATER_BITS(i32)
DP_GREATER_BITS(i64)
DP_INLINE bool any_equal_i32(v_i32 a, v_i32 b) {
  bool any = false;
  for (int p = 0; p < (int)N_i32; p++) any |= a[p] == b[p];
  return any;
}
#endif

/* Chains of matrices: all values are integers below 2^53, so that one rounding or two are none. */
DP_INLINE v_f64 add_term_f64(v_f64 x, v_f64 y, v_f64 sum) {
#if DP_BYTES == 64
  return (v_f64)_mm512_fmadd_pd((__m512d)x, (__m512d)y, (__m512d)sum);
#elif DP_BYTES == 32
  return (v_f64)_mm256_fmadd_pd((__m256d)x, (__m256d)y, (__m256d)sum);
#else
  return x * y + sum;
#endif
}
DP_INLINE v_i64 add_term_i64(v_i64 x, v_i64 y, v_i64 sum) {
  return x * y + sum;
}
DP_INLINE v_i32 add_term_i32(v_i32 x, v_i32 y, v_i32 sum) {
  return x * y + sum;
}
DP_INLINE v_i16 add_term_i16(v_i16 x, v_i16 y, v_i16 sum) {
  return x * y + sum;
}

DP_DOWN(i8, int8_t)
DP_DOWN(i16, int16_t)
DP_DOWN(i32, int32_t)
DP_DOWN(u64, uint64_t)
DP_DOWN(f32, float)
DP_DOWN(f64, double)

#endif
