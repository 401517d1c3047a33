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

#if defined __SSE4_2__
/* DP_MM(name): the intrinsic of this level, on vectors of the types after it. */
#if DP_BYTES == 64
#define DP_MM(name) _mm512_##name
typedef __m512i m_int;
typedef __m512 m_f32;
typedef __m512d m_f64;
#elif DP_BYTES == 32
#define DP_MM(name) _mm256_##name
typedef __m256i m_int;
typedef __m256 m_f32;
typedef __m256d m_f64;
#else
#define DP_MM(name) _mm_##name
typedef __m128i m_int;
typedef __m128 m_f32;
typedef __m128d m_f64;
#endif
#define DP_LESS(name, cast, suffix)             \
  DP_PAIR(name, cast, max, DP_MM(max_##suffix)) \
  DP_PAIR(name, cast, min, DP_MM(min_##suffix))
DP_LESS(i8, m_int, epi8)
DP_LESS(i16, m_int, epi16)
DP_LESS(i32, m_int, epi32)
DP_LESS(f32, m_f32, ps)
DP_LESS(f64, m_f64, pd)
DP_PAIR(i8, m_int, clip, DP_MM(subs_epu8))
DP_PAIR(i16, m_int, clip, DP_MM(subs_epu16))
#define DP_DOWN(name, type)                                               \
  DP_INLINE v_##name down_##name(v_##name v, v_##name low) {              \
    return (v_##name)down_bytes((m_int)v, (m_int)low, (int)sizeof(type)); \
  }

#if DP_BYTES == 64
DP_LESS(i64, m_int, epi64)
#define DP_CHOOSE_512(name, suffix)                                                        \
  DP_INLINE v_##name choose_equal_##name(v_##name a, v_##name b, v_##name x, v_##name y) { \
    return (v_##name)_mm512_mask_blend_##suffix(                                           \
        _mm512_cmpeq_##suffix##_mask((__m512i)a, (__m512i)b), (__m512i)y, (__m512i)x);     \
  }
DP_CHOOSE_512(i8, epi8)
DP_CHOOSE_512(i16, epi16)
DP_CHOOSE_512(i32, epi32)
DP_INLINE __m512i down_bytes(__m512i v, __m512i low, const int bytes) {
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
DP_INLINE uint64_t greater_bits_i32(v_i32 a, v_i32 b) {
  return _mm512_cmpgt_epi32_mask((__m512i)a, (__m512i)b);
}
DP_INLINE uint64_t greater_bits_i64(v_i64 a, v_i64 b) {
  return _mm512_cmpgt_epi64_mask((__m512i)a, (__m512i)b);
}
DP_INLINE bool any_equal_i32(v_i32 a, v_i32 b) {
  return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b) != 0;
}

#else              /* 32 or 16 bytes; comparisons leave lanes of ones */
DP_PLAIN_LESS(i64)
DP_CHOOSE_EQUAL(i8)
DP_CHOOSE_EQUAL(i16)
DP_CHOOSE_EQUAL(i32)
DP_INLINE m_int down_bytes(m_int v, m_int low, const int bytes) {
#if DP_BYTES == 32 /* alignr shifts within 16 bytes: over has the 16 that follow each */
  const m_int over = _mm256_permute2x128_si256(v, low, 0x21);
#else
  const m_int over = low;
#endif
  switch (bytes) {
  case 1:
    return DP_MM(alignr_epi8)(over, v, 1);
  case 2:
    return DP_MM(alignr_epi8)(over, v, 2);
  case 4:
    return DP_MM(alignr_epi8)(over, v, 4);
  default:
    return DP_MM(alignr_epi8)(over, v, 8);
  }
}
DP_INLINE uint64_t greater_bits_i32(v_i32 a, v_i32 b) {
  return (unsigned)DP_MM(movemask_ps)((m_f32)(a > b));
}
DP_INLINE uint64_t greater_bits_i64(v_i64 a, v_i64 b) {
  return (unsigned)DP_MM(movemask_pd)((m_f64)(a > b));
}
DP_INLINE bool any_equal_i32(v_i32 a, v_i32 b) {
  return DP_MM(movemask_epi8)((m_int)(a == b)) != 0;
}
#endif

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
#if DP_BYTES > 16
  return (v_f64)DP_MM(fmadd_pd)((m_f64)x, (m_f64)y, (m_f64)sum);
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
