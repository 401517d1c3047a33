/* Chains of multiply-adds in registers: compiled with contraction, once for each SIMD level. */
#include "probe_cpu.h"

#include "fn.h"

enum { VECTOR_BYTES = 64, CHAINS = 12 };
typedef double vector_f64 __attribute__((vector_size(VECTOR_BYTES)));
typedef float vector_f32 __attribute__((vector_size(VECTOR_BYTES)));

#define STEP(k) a##k = a##k * factor + term;
#define SUM(k) total += a##k;
#define ALL(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11)

#define BODY(vector, scalar)                                                                      \
  const int lanes = VECTOR_BYTES / (int)sizeof(scalar);                                           \
  const vector one = (vector){0} + 1, factor = one * (scalar)0.999, term = one * (scalar)0.001;   \
  vector a0 = one * 1, a1 = one * 2, a2 = one * 3, a3 = one * 4, a4 = one * 5, a5 = one * 6,      \
         a6 = one * 7, a7 = one * 8, a8 = one * 9, a9 = one * 10, a10 = one * 11, a11 = one * 12, \
         total = one;                                                                             \
  for (int64_t k = 0; k < rounds; k++) {                                                          \
    ALL(STEP)                                                                                     \
  }                                                                                               \
  ALL(SUM)                                                                                        \
  *result = 0;                                                                                    \
  for (int lane = 0; lane < lanes; lane++) *result += (double)total[lane];                        \
  return 2.0 * lanes * CHAINS * (double)rounds;

TSL_LEVELS double tsl_cpu_fma_f64(int64_t rounds, double *result){BODY(vector_f64, double)}

TSL_LEVELS double tsl_cpu_fma_f32(int64_t rounds, double *result) {
  BODY(vector_f32, float)
}
