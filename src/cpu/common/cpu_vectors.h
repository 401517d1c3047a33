/**
 * @file cpu_vectors.h
 * Vectors of one SIMD level for kernels: 64, 32 or 16 bytes of i8..i64, f32, f64.
 *
 * Included by the bodies of tsl_simd only. Arithmetic, comparisons and logic are written with the
 * compiler's vector types; what it does not turn into one instruction is named here:
 *
 *   load_T store_T all_T      any alignment; one value in all lanes
 *   max_T min_T               max: a > b ? a : b, min: a < b ? a : b (ties give b)
 *   down_T(v, low)            lane p gets lane p + 1 of v, the last lane gets lane 0 of low
 *   clip_T(a, b)              a - b for a, b >= 0, 0 where it would be negative (i8, i16)
 *   choose_equal_T(a,b,x,y)   lanes of x where a == b, of y elsewhere
 *   choose_T(mask, x, y)      lanes of x where mask is all ones, of y where it is zero
 *   greater_bits_T(a, b)      bit p: a > b in lane p; equal_bits_T: a == b
 *   wider_T(from)             all lanes from as many int8_t in memory (i16, i32)
 *   add_term_T(x, y, sum)     x y + sum; f64: exact values only, rounded once or twice
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE4_2__
#include <immintrin.h>
#endif

#if defined __AVX512BW__
#define VECTOR_BYTES 64
#elif defined __AVX2__
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

#define VECTOR_INLINE static inline __attribute__((always_inline, unused))
#define VECTOR_UNROLL _Pragma("GCC unroll 8")

#define VECTOR_TYPE(t, name, m)                                                         \
  typedef t v_##name __attribute__((vector_size(VECTOR_BYTES)));                        \
  typedef t u_##name __attribute__((vector_size(VECTOR_BYTES), aligned(1), may_alias)); \
  enum { N_##name = VECTOR_BYTES / sizeof(t) };                                         \
  VECTOR_INLINE v_##name load_##name(const void *p) {                                   \
    return *(const u_##name *)p;                                                        \
  }                                                                                     \
  VECTOR_INLINE void store_##name(void *p, v_##name v) {                                \
    *(u_##name *)p = v;                                                                 \
  }                                                                                     \
  VECTOR_INLINE v_##name all_##name(t x) {                                              \
    return x - (v_##name){0};                                                           \
  }                                                                                     \
  VECTOR_INLINE v_##name choose_##name(v_##m mask, v_##name x, v_##name y) {            \
    return (v_##name)(((v_##m)x & mask) | ((v_##m)y & ~mask));                          \
  }
VECTOR_TYPE(int8_t, i8, i8)
VECTOR_TYPE(int16_t, i16, i16)
VECTOR_TYPE(int32_t, i32, i32)
VECTOR_TYPE(int64_t, i64, i64)
VECTOR_TYPE(uint64_t, u64, u64)
VECTOR_TYPE(float, f32, i32)
VECTOR_TYPE(double, f64, i64)
#undef VECTOR_TYPE

/* A function of two vectors that is one instruction. */
#define VECTOR_PAIR(name, cast, out, fn)                        \
  VECTOR_INLINE v_##name out##_##name(v_##name a, v_##name b) { \
    return (v_##name)fn((cast)a, (cast)b);                      \
  }

/* Where there is none. */
#define VECTOR_PLAIN_LESS(name)                               \
  VECTOR_INLINE v_##name max_##name(v_##name a, v_##name b) { \
    return choose_##name(a > b, a, b);                        \
  }                                                           \
  VECTOR_INLINE v_##name min_##name(v_##name a, v_##name b) { \
    return choose_##name(a < b, a, b);                        \
  }
#define VECTOR_CHOOSE_EQUAL(name)                                                              \
  VECTOR_INLINE v_##name choose_equal_##name(v_##name a, v_##name b, v_##name x, v_##name y) { \
    return choose_##name(a == b, x, y);                                                        \
  }

#if defined __SSE4_2__
/* VECTOR_MM(name): the intrinsic of this level, on vectors of the types after it. */
#if VECTOR_BYTES == 64
#define VECTOR_MM(name) _mm512_##name
typedef __m512i m_int;
typedef __m512 m_f32;
typedef __m512d m_f64;
#elif VECTOR_BYTES == 32
#define VECTOR_MM(name) _mm256_##name
typedef __m256i m_int;
typedef __m256 m_f32;
typedef __m256d m_f64;
#else
#define VECTOR_MM(name) _mm_##name
typedef __m128i m_int;
typedef __m128 m_f32;
typedef __m128d m_f64;
#endif
#define VECTOR_LESS(name, cast, suffix)                 \
  VECTOR_PAIR(name, cast, max, VECTOR_MM(max_##suffix)) \
  VECTOR_PAIR(name, cast, min, VECTOR_MM(min_##suffix))
VECTOR_LESS(i8, m_int, epi8)
VECTOR_LESS(i16, m_int, epi16)
VECTOR_LESS(i32, m_int, epi32)
VECTOR_LESS(f32, m_f32, ps)
VECTOR_LESS(f64, m_f64, pd)
VECTOR_INLINE v_i16 wider_i16(const int8_t *from) {
#if VECTOR_BYTES == 64
  return (v_i16)_mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)from));
#elif VECTOR_BYTES == 32
  return (v_i16)_mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)from));
#else
  return (v_i16)_mm_cvtepi8_epi16(_mm_loadl_epi64((const __m128i *)from));
#endif
}
VECTOR_INLINE v_i32 wider_i32(const int8_t *from) {
#if VECTOR_BYTES == 64
  return (v_i32)_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)from));
#elif VECTOR_BYTES == 32
  return (v_i32)_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)from));
#else
  return (v_i32)_mm_cvtepi8_epi32(_mm_loadu_si32(from));
#endif
}
VECTOR_PAIR(i8, m_int, clip, VECTOR_MM(subs_epu8))
VECTOR_PAIR(i16, m_int, clip, VECTOR_MM(subs_epu16))
#define VECTOR_DOWN(name, type)                                           \
  VECTOR_INLINE v_##name down_##name(v_##name v, v_##name low) {          \
    return (v_##name)down_bytes((m_int)v, (m_int)low, (int)sizeof(type)); \
  }

#if VECTOR_BYTES == 64
VECTOR_LESS(i64, m_int, epi64)
#define VECTOR_CHOOSE_512(name, suffix)                                                        \
  VECTOR_INLINE v_##name choose_equal_##name(v_##name a, v_##name b, v_##name x, v_##name y) { \
    return (v_##name)_mm512_mask_blend_##suffix(                                               \
        _mm512_cmpeq_##suffix##_mask((__m512i)a, (__m512i)b), (__m512i)y, (__m512i)x);         \
  }
VECTOR_CHOOSE_512(i8, epi8)
VECTOR_CHOOSE_512(i16, epi16)
VECTOR_CHOOSE_512(i32, epi32)
#define VECTOR_BITS_512(name, suffix)                                  \
  VECTOR_INLINE uint64_t equal_bits_##name(v_##name a, v_##name b) {   \
    return _mm512_cmpeq_##suffix##_mask((__m512i)a, (__m512i)b);       \
  }                                                                    \
  VECTOR_INLINE uint64_t greater_bits_##name(v_##name a, v_##name b) { \
    return _mm512_cmpgt_##suffix##_mask((__m512i)a, (__m512i)b);       \
  }
VECTOR_BITS_512(i8, epi8)
VECTOR_BITS_512(i16, epi16)
VECTOR_BITS_512(i32, epi32)
VECTOR_BITS_512(i64, epi64)
VECTOR_INLINE __m512i down_bytes(__m512i v, __m512i low, const int bytes) {
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

#else                  /* 32 or 16 bytes; comparisons leave lanes of ones */
VECTOR_PLAIN_LESS(i64)
VECTOR_CHOOSE_EQUAL(i8)
VECTOR_CHOOSE_EQUAL(i16)
VECTOR_CHOOSE_EQUAL(i32)
VECTOR_INLINE m_int down_bytes(m_int v, m_int low, const int bytes) {
#if VECTOR_BYTES == 32 /* alignr shifts within 16 bytes: over has the 16 that follow each */
  const m_int over = _mm256_permute2x128_si256(v, low, 0x21);
#else
  const m_int over = low;
#endif
  switch (bytes) {
  case 1:
    return VECTOR_MM(alignr_epi8)(over, v, 1);
  case 2:
    return VECTOR_MM(alignr_epi8)(over, v, 2);
  case 4:
    return VECTOR_MM(alignr_epi8)(over, v, 4);
  default:
    return VECTOR_MM(alignr_epi8)(over, v, 8);
  }
}
/* Of a comparison. */
VECTOR_INLINE uint64_t bits_i8(v_i8 mask) {
  return (unsigned)VECTOR_MM(movemask_epi8)((m_int)mask);
}
VECTOR_INLINE uint64_t bits_i16(v_i16 mask) {
#if VECTOR_BYTES == 32
  const __m128i halves[2] = {_mm256_castsi256_si128((m_int)mask),
                             _mm256_extracti128_si256((m_int)mask, 1)};
#else
  const __m128i halves[2] = {(m_int)mask, _mm_setzero_si128()};
#endif
  return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(halves[0], halves[1]));
}
VECTOR_INLINE uint64_t bits_i32(v_i32 mask) {
  return (unsigned)VECTOR_MM(movemask_ps)((m_f32)mask);
}
VECTOR_INLINE uint64_t bits_i64(v_i64 mask) {
  return (unsigned)VECTOR_MM(movemask_pd)((m_f64)mask);
}
#define VECTOR_BITS(name)                                              \
  VECTOR_INLINE uint64_t equal_bits_##name(v_##name a, v_##name b) {   \
    return bits_##name(a == b);                                        \
  }                                                                    \
  VECTOR_INLINE uint64_t greater_bits_##name(v_##name a, v_##name b) { \
    return bits_##name(a > b);                                         \
  }
VECTOR_BITS(i8)
VECTOR_BITS(i16)
VECTOR_BITS(i32)
VECTOR_BITS(i64)
#endif

#else
VECTOR_PLAIN_LESS(i8)
VECTOR_PLAIN_LESS(i16)
VECTOR_PLAIN_LESS(i32)
VECTOR_PLAIN_LESS(i64)
VECTOR_PLAIN_LESS(f32)
VECTOR_PLAIN_LESS(f64)
VECTOR_CHOOSE_EQUAL(i8)
VECTOR_CHOOSE_EQUAL(i16)
VECTOR_CHOOSE_EQUAL(i32)
#define VECTOR_WIDER(name)                                  \
  VECTOR_INLINE v_##name wider_##name(const int8_t *from) { \
    v_##name v;                                             \
    for (int p = 0; p < (int)N_##name; p++) v[p] = from[p]; \
    return v;                                               \
  }
VECTOR_WIDER(i16)
VECTOR_WIDER(i32)
VECTOR_INLINE v_i8 clip_i8(v_i8 a, v_i8 b) {
  return max_i8(a - b, (v_i8){0});
}
VECTOR_INLINE v_i16 clip_i16(v_i16 a, v_i16 b) {
  return max_i16(a - b, (v_i16){0});
}
#define VECTOR_DOWN(name, type)                                  \
  VECTOR_INLINE v_##name down_##name(v_##name v, v_##name low) { \
    type both[2 * N_##name];                                     \
    store_##name(both, v);                                       \
    store_##name(both + N_##name, low);                          \
    return load_##name(both + 1);                                \
  }
#define VECTOR_BITS(name)                                                          \
  VECTOR_INLINE uint64_t equal_bits_##name(v_##name a, v_##name b) {               \
    uint64_t bits = 0;                                                             \
    for (int p = 0; p < (int)N_##name; p++) bits |= (uint64_t)(a[p] == b[p]) << p; \
    return bits;                                                                   \
  }                                                                                \
  VECTOR_INLINE uint64_t greater_bits_##name(v_##name a, v_##name b) {             \
    uint64_t bits = 0;                                                             \
    for (int p = 0; p < (int)N_##name; p++) bits |= (uint64_t)(a[p] > b[p]) << p;  \
    return bits;                                                                   \
  }
VECTOR_BITS(i8)
VECTOR_BITS(i16)
VECTOR_BITS(i32)
VECTOR_BITS(i64)
#endif

VECTOR_INLINE bool any_equal_i32(v_i32 a, v_i32 b) {
  return equal_bits_i32(a, b) != 0;
}

/* Chains of matrices: all values are integers below 2^53, so that one rounding or two are none. */
VECTOR_INLINE v_f64 add_term_f64(v_f64 x, v_f64 y, v_f64 sum) {
#if VECTOR_BYTES > 16
  return (v_f64)VECTOR_MM(fmadd_pd)((m_f64)x, (m_f64)y, (m_f64)sum);
#else
  return x * y + sum;
#endif
}
VECTOR_INLINE v_i64 add_term_i64(v_i64 x, v_i64 y, v_i64 sum) {
  return x * y + sum;
}
VECTOR_INLINE v_i32 add_term_i32(v_i32 x, v_i32 y, v_i32 sum) {
  return x * y + sum;
}
VECTOR_INLINE v_i16 add_term_i16(v_i16 x, v_i16 y, v_i16 sum) {
  return x * y + sum;
}

VECTOR_DOWN(i8, int8_t)
VECTOR_DOWN(i16, int16_t)
VECTOR_DOWN(i32, int32_t)
VECTOR_DOWN(u64, uint64_t)
VECTOR_DOWN(f32, float)
VECTOR_DOWN(f64, double)
