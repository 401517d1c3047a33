/* unit.xc.fn_math: exp, log, roots and arc tangent of xc_fn.h against libm in long double; bounds
 * in units of the last place, as documented, and NaN. */
#include "random.h"
#include "ulp.h"
#include "xc_fn.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SAMPLES = 300000 };

/** Log-uniform between two positive bounds. */
static double spread(uint64_t *state, double lo, double hi) {
  return exp(log(lo) + random_unit(state) * (log(hi) - log(lo)));
}

#define WORST(ulp, bound, type, argument, value, exact)                             \
  do {                                                                              \
    uint64_t state = 1;                                                             \
    double worst = 0, where = 0;                                                    \
    for (int k = 0; k < SAMPLES; k++) {                                             \
      const type x = (type)(argument);                                              \
      const double off = ulp(value, exact);                                         \
      if (!(off <= worst)) worst = off, where = (double)x;                          \
    }                                                                               \
    if (!(worst <= (bound))) fail_msg("%s: %g ulp at %.17g", #value, worst, where); \
  } while (0)

static void test_double(void **unused) {
  (void)unused;
  double i;
  WORST(ulp_f64, 1, double, spread(&state, 1e-300, 1e300), xc_log_f64(x), logl(x));
  WORST(ulp_f64, 1, double, 0.5 + random_unit(&state), xc_log_f64(x), logl(x));
  WORST(ulp_f64, 2, double, spread(&state, 1e-20, 1e300), xc_log1p_f64(x), log1pl(x));
  WORST(ulp_f64, 2, double, spread(&state, 1e-3, 10), xc_log1p_f64(x), log1pl(x));
  WORST(ulp_f64, 2, double, -random_unit(&state), xc_log1p_f64(x), log1pl(x));
  WORST(ulp_f64, 2, double, spread(&state, 1e-14, 1) - 1, xc_log1p_f64(x), log1pl(x));
  WORST(ulp_f64, 2, double, -708 + 1416 * random_unit(&state), xc_exp_any_f64(x), expl(x));
  WORST(ulp_f64, 3, double, spread(&state, 1e-20, 700), xc_expm1_f64(x), expm1l(x));
  WORST(ulp_f64, 3, double, 1.5 * random_unit(&state), xc_expm1_f64(x), expm1l(x));
  WORST(ulp_f64, 4, double, spread(&state, 1e-300, 1e300), xc_roots_f64(x, &i), cbrtl(x));
  WORST(ulp_f64, 2, double, spread(&state, 1e-300, 1e300), (xc_roots_f64(x, &i), i), 1 / cbrtl(x));
  WORST(ulp_f64, 3, double, spread(&state, 1e-20, 1e20), xc_atan_f64(x, 1), atanl(x));
  WORST(ulp_f64, 3, double, 3 * random_unit(&state), xc_atan_f64(x, 1), atanl(x));
}

static void test_float(void **unused) {
  (void)unused;
  float i;
  WORST(ulp_f32, 1, float, spread(&state, 1e-37, 1e37), xc_log_f32(x), logl(x));
  WORST(ulp_f32, 2, float, spread(&state, 1e-10, 1e37), xc_log1p_f32(x), log1pl(x));
  WORST(ulp_f32, 2, float, -random_unit(&state) * 0.999, xc_log1p_f32(x), log1pl(x));
  WORST(ulp_f32, 2, float, -87 + 174 * random_unit(&state), xc_exp_any_f32(x), expl(x));
  WORST(ulp_f32, 3, float, spread(&state, 1e-10, 87), xc_expm1_f32(x), expm1l(x));
  WORST(ulp_f32, 5, float, spread(&state, 1e-36, 1e36), xc_roots_f32(x, &i), cbrtl(x));
  WORST(ulp_f32, 3, float, spread(&state, 1e-36, 1e36), (xc_roots_f32(x, &i), i), 1 / cbrtl(x));
  WORST(ulp_f32, 3, float, spread(&state, 1e-10, 1e10), xc_atan_f32(x, 1), atanl(x));
}

static void test_ends(void **unused) {
  (void)unused;
  double i;
  assert_true(xc_exp_any_f64(-709) == 0);
  assert_true(xc_exp_any_f64(0) == 1);
  assert_true(xc_expm1_f64(0) == 0);
  assert_true(xc_log_f64(1) == 0);
  assert_true(xc_log1p_f64(0) == 0);
  assert_true(xc_atan_f64(0, 1) == 0);
  assert_true(isnan(xc_exp_any_f64(NAN)) && isnan(xc_expm1_f64(NAN)) && isnan(xc_log_f64(NAN)));
  assert_true(isnan(xc_log1p_f64(NAN)) && isnan(xc_roots_f64(NAN, &i)) && isnan(i));
  assert_true(isnan(xc_atan_f64(NAN, 1)) && isnan(xc_exp_any_f32(NAN)) && isnan(xc_log_f32(NAN)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_double),
      cmocka_unit_test(test_float),
      cmocka_unit_test(test_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
