/* Lanes of 256 bits for one type; see fractal_lanes_avx512.h. A truth value is a lane of ones. */

#if REAL_F64
typedef __m256d T(V);
typedef int64_t T(Int);
#define OP(name) _mm256_##name##_pd
#define INT(name) _mm256_##name##_epi64
#define SET_INT _mm256_set1_epi64x
#define PLACES _mm256_setr_epi64x(0, 1, 2, 3)
#define BITS(v) _mm256_castpd_si256(v)
#define REAL(v) _mm256_castsi256_pd(v)
#else
typedef __m256 T(V);
typedef int32_t T(Int);
#define OP(name) _mm256_##name##_ps
#define INT(name) _mm256_##name##_epi32
#define SET_INT _mm256_set1_epi32
#define PLACES _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)
#define BITS(v) _mm256_castps_si256(v)
#define REAL(v) _mm256_castsi256_ps(v)
#endif
typedef T(V) T(M);
typedef __m256i T(I);
enum { T(W) = 32 / sizeof(R) };

#include "fractal_lanes_alike.h"

LANE T(V) T(size)(T(V) a) {
  return OP(andnot)(OP(set1)((R)-0.0), a);
}
LANE T(M) T(less)(T(V) a, T(V) b) {
  return OP(cmp)(a, b, _CMP_LT_OQ);
}
TWO(both, and)
TWO(either, or)
LANE T(M) T(but)(T(M) a, T(M) b) {
  return OP(andnot)(b, a);
}
LANE unsigned T(bits)(T(M) a) {
  return (unsigned)OP(movemask)(a);
}
LANE T(M) T(below)(int64_t n) {
  return REAL(INT(cmpgt)(SET_INT(n > T(W) ? T(W) : (T(Int))n), PLACES));
}
LANE unsigned T(same)(T(V) x, const R *at_x, T(V) y, const R *at_y) {
  const __m256i a = INT(cmpeq)(BITS(x), _mm256_load_si256((const __m256i *)at_x));
  const __m256i b = INT(cmpeq)(BITS(y), _mm256_load_si256((const __m256i *)at_y));
  return (unsigned)OP(movemask)(REAL(_mm256_and_si256(a, b)));
}
LANE T(I) T(none)(void) {
  return _mm256_setzero_si256();
}
LANE T(I) T(count)(T(I) n, T(M) m) {
  return INT(sub)(n, BITS(m));
}
LANE T(I) T(next)(T(I) n, T(M) m) {
  return _mm256_and_si256(INT(add)(n, SET_INT(1)), BITS(m));
}
LANE void T(store_counts)(T(Int) * to, T(I) n) {
  _mm256_storeu_si256((__m256i *)to, n);
}

#undef TWO
#undef OP
#undef INT
#undef SET_INT
#undef PLACES
#undef BITS
#undef REAL
