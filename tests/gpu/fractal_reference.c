#include "fractal_reference.h"

#include <math.h>

/* Fused multiply-add as an instruction where the processor has it, else by the library. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define FAST __attribute__((target_clones("fma", "default")))
#else
#define FAST
#endif

/* k from 1; while k < maxiter and |z|^2 < 4: z <- z^2 + c; 0 when maxiter is reached. */
#define VALUE(R, name, FMA, FABS)                                           \
  FAST static uint32_t name(int ship, R re, R im, R a, R b, int64_t most) { \
    for (int64_t k = 1; k < most; k++) {                                    \
      if (!(FMA(re, re, im * im) < 4)) return (uint32_t)k;                  \
      if (ship) re = FABS(re), im = FABS(im);                               \
      const R difference = re - im, sum = re + im, twice = 2 * re;          \
      re = FMA(difference, sum, a);                                         \
      im = FMA(twice, im, b);                                               \
    }                                                                       \
    return 0;                                                               \
  }
VALUE(double, value_double, fma, fabs)
VALUE(float, value_float, fmaf, fabsf)
#undef VALUE

static uint32_t value_at(const reference_image *r, double x, double y) {
  const int julia = r->set == 1, ship = r->set == 2;
  const double re = julia ? x : 0, im = julia ? y : 0;
  const double a = julia ? r->c[0] : x, b = julia ? r->c[1] : y;
  if (r->single) return value_float(ship, (float)re, (float)im, (float)a, (float)b, r->maxiter);
  return value_double(ship, re, im, a, b, r->maxiter);
}

void reference_values(const reference_image *r, uint32_t *values) {
  const int64_t n = r->xres * r->yres;
#pragma omp parallel for schedule(dynamic, 64)
  for (int64_t i = 0; i < n; i++) values[i] = value_at(r, r->x[i % r->xres], r->y[i / r->xres]);
}
