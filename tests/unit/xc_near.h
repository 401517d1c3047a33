/* cmocka compares floats; energies need doubles. */
#pragma once

#include <math.h>

/** a and b differ by at most limit; NaN fails. */
#define near(a, b, limit)                                                             \
  do {                                                                                \
    const double near_a = (a), near_b = (b);                                          \
    if (!(fabs(near_a - near_b) <= (limit)))                                          \
      fail_msg("%s = %.15g, not %s = %.15g: difference %.3g", #a, near_a, #b, near_b, \
               near_a - near_b);                                                      \
  } while (0)
