/* Lanes as arrays of four, for processors without AVX2; see fractal_lanes_avx512.h. Where the
 * processor has no fused multiply-add, the C library computes it, slowly and with the same bits. */

#if REAL_F64
typedef int64_t T(Int);
#define FUSED fma
#define SIZE fabs
#else
typedef int32_t T(Int);
#define FUSED fmaf
#define SIZE fabsf
#endif
enum { T(W) = 4 };
typedef struct T(V) {
  R a[T(W)];
} T(V);
typedef unsigned T(M);
typedef struct T(I) {
  T(Int) a[T(W)];
} T(I);

#define EACH for (int l = 0; l < T(W); l++)

LANE T(V) T(load)(const R *from) {
  T(V) v;
  EACH v.a[l] = from[l];
  return v;
}
LANE void T(store)(R *to, T(V) a) {
  EACH to[l] = a.a[l];
}
LANE T(V) T(all)(R a) {
  T(V) v;
  EACH v.a[l] = a;
  return v;
}
LANE T(V) T(plus)(T(V) a, T(V) b) {
  EACH a.a[l] = a.a[l] + b.a[l];
  return a;
}
LANE T(V) T(minus)(T(V) a, T(V) b) {
  EACH a.a[l] = a.a[l] - b.a[l];
  return a;
}
LANE T(V) T(times)(T(V) a, T(V) b) {
  EACH a.a[l] = a.a[l] * b.a[l];
  return a;
}
LANE T(V) T(fused)(T(V) a, T(V) b, T(V) c) {
  EACH a.a[l] = FUSED(a.a[l], b.a[l], c.a[l]);
  return a;
}
LANE T(V) T(size)(T(V) a) {
  EACH a.a[l] = SIZE(a.a[l]);
  return a;
}
LANE T(M) T(less)(T(V) a, T(V) b) {
  T(M) m = 0;
  EACH m |= (T(M))(a.a[l] < b.a[l]) << l;
  return m;
}
LANE T(M) T(both)(T(M) a, T(M) b) {
  return a & b;
}
LANE T(M) T(either)(T(M) a, T(M) b) {
  return a | b;
}
LANE T(M) T(but)(T(M) a, T(M) b) {
  return a & ~b;
}
LANE unsigned T(bits)(T(M) a) {
  return a;
}
LANE T(M) T(below)(int64_t n) {
  return n >= T(W) ? (1u << T(W)) - 1 : n <= 0 ? 0 : (1u << n) - 1;
}
LANE unsigned T(same)(T(V) x, const R *at_x, T(V) y, const R *at_y) {
  unsigned m = 0;
  EACH m |= (unsigned)(memcmp(&x.a[l], at_x + l, sizeof(R)) == 0 &&
                       memcmp(&y.a[l], at_y + l, sizeof(R)) == 0)
            << l;
  return m;
}
LANE T(I) T(none)(void) {
  return (T(I)){{0}};
}
LANE T(I) T(count)(T(I) n, T(M) m) {
  EACH n.a[l] += m >> l & 1;
  return n;
}
LANE T(I) T(next)(T(I) n, T(M) m) {
  EACH n.a[l] = (m >> l & 1) != 0 ? n.a[l] + 1 : 0;
  return n;
}
LANE void T(store_counts)(T(Int) * to, T(I) n) {
  EACH to[l] = n.a[l];
}

#undef EACH
#undef FUSED
#undef SIZE
