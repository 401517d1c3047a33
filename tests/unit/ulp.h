/* Units of the last place of the double (float) nearest to exact. */
#pragma once

#include <math.h>

static inline double ulp_f64(double value, long double exact) {
  const double size = fabs((double)exact);
  return (double)(fabsl(value - exact) / (nextafter(size, INFINITY) - size));
}

static inline double ulp_f32(float value, long double exact) {
  const float size = fabsf((float)exact);
  return (double)(fabsl(value - exact) / (nextafterf(size, INFINITY) - size));
}
