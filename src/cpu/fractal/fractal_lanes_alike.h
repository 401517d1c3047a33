/* What lanes of 256 and of 512 bits have alike; included by fractal_lanes_avx2.h and
 * fractal_lanes_avx512.h, which say what V, W and OP(name) are. No guard, as they have none. */

LANE T(V) T(load)(const R *from) {
  return OP(loadu)(from);
}
LANE void T(store)(R *to, T(V) a) {
  OP(storeu)(to, a);
}
LANE T(V) T(all)(R a) {
  return OP(set1)(a);
}
#define TWO(name, op)                 \
  LANE T(V) T(name)(T(V) a, T(V) b) { \
    return OP(op)(a, b);              \
  }
TWO(plus, add)
TWO(minus, sub)
TWO(times, mul)
LANE T(V) T(fused)(T(V) a, T(V) b, T(V) c) {
  return OP(fmadd)(a, b, c);
}
