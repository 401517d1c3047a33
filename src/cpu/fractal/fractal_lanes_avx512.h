/* Lanes of 512 bits for one type. No guard: included twice by fractal_kernels.h, which sets R
 * (float or double), REAL_F64 (0 or 1) and T(name); fractal_kernels_body.h unsets what is left.
 *
 * V  W lanes of R;   M  a truth value of each lane;   I  a count of each lane, as wide as R. */

#if REAL_F64
typedef __m512d T(V);
typedef __mmask8 T(M);
typedef int64_t T(Int);
#define OP(name) _mm512_##name##_pd
#define INT(name) _mm512_##name##_epi64
#define MASKED(name) _mm512_mask_##name##_epi64
#define MASK(name) _mm512_##name##_epi64_mask
#define MASK_MASKED(name) _mm512_mask_##name##_epi64_mask
#define ZEROED(name) _mm512_maskz_##name##_epi64
#define LESS(a, b) _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ)
#define BITS(v) _mm512_castpd_si512(v)
#else
typedef __m512 T(V);
typedef __mmask16 T(M);
typedef int32_t T(Int);
#define OP(name) _mm512_##name##_ps
#define INT(name) _mm512_##name##_epi32
#define MASKED(name) _mm512_mask_##name##_epi32
#define MASK(name) _mm512_##name##_epi32_mask
#define MASK_MASKED(name) _mm512_mask_##name##_epi32_mask
#define ZEROED(name) _mm512_maskz_##name##_epi32
#define LESS(a, b) _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ)
#define BITS(v) _mm512_castps_si512(v)
#endif
typedef __m512i T(I);
enum { T(W) = 64 / sizeof(R) };

#include "fractal_lanes_alike.h"

LANE T(V) T(size)(T(V) a) {
  return OP(abs)(a);
}
LANE T(M) T(less)(T(V) a, T(V) b) {
  return LESS(a, b);
}
LANE T(M) T(both)(T(M) a, T(M) b) {
  return (T(M))(a & b);
}
LANE T(M) T(either)(T(M) a, T(M) b) {
  return (T(M))(a | b);
}
/** a and not b */
LANE T(M) T(but)(T(M) a, T(M) b) {
  return (T(M))(a & ~b);
}
LANE unsigned T(bits)(T(M) a) {
  return a;
}
/** Lanes below n. */
LANE T(M) T(below)(int64_t n) {
  return (T(M))(n >= T(W) ? (1u << T(W)) - 1 : n <= 0 ? 0 : (1u << n) - 1);
}
/** Lanes whose x and y have the bits stored at at_x and at_y. */
LANE unsigned T(same)(T(V) x, const R *at_x, T(V) y, const R *at_y) {
  const T(M) m = MASK(cmpeq)(BITS(x), _mm512_load_si512(at_x));
  return MASK_MASKED(cmpeq)(m, BITS(y), _mm512_load_si512(at_y));
}
LANE T(I) T(none)(void) {
  return _mm512_setzero_si512();
}
LANE T(I) T(count)(T(I) n, T(M) m) {
  return MASKED(add)(n, m, n, INT(set1)(1));
}
/** n + 1 in the lanes of m, 0 in the others */
LANE T(I) T(next)(T(I) n, T(M) m) {
  return ZEROED(add)(m, n, INT(set1)(1));
}
LANE void T(store_counts)(T(Int) * to, T(I) n) {
  _mm512_storeu_si512(to, n);
}

#undef TWO
#undef OP
#undef INT
#undef MASKED
#undef MASK
#undef MASK_MASKED
#undef ZEROED
#undef LESS
#undef BITS
