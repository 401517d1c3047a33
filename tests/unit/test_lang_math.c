/* unit.lang.math: exp, log, sin, cos and erf of lang_functions.h against libm in long double;
 * bounds in units of the last place, as documented, and the ends of their ranges. */
#include "lang_functions.h"
#include "random.h"
#include "ulp.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SAMPLES = 400000 };

#define WORST(ulp, bound, type, argument, function, truth)              \
  do {                                                                  \
    uint64_t state = 1;                                                 \
    double worst = 0, where = 0;                                        \
    for (int k = 0; k < SAMPLES; k++) {                                 \
      const type x = (type)(argument);                                  \
      const double off = ulp(function(x), truth((long double)x));       \
      if (!(off <= worst)) worst = off, where = (double)x;              \
    }                                                                   \
    if (!(worst <= (bound))) fail_msg("%g ulp at %.17g", worst, where); \
  } while (0)

static double between(uint64_t *state, double lo, double hi) {
  return lo + random_unit(state) * (hi - lo);
}

static void exp_is_close(void **unused) {
  (void)unused;
  WORST(ulp_f32, 1.5, float, between(&state, -87.3, 88.0), lang_exp_f32, expl);
  WORST(ulp_f32, 1.5, float, between(&state, -1, 1), lang_exp_f32, expl);
  WORST(ulp_f64, 1.5, double, between(&state, -708, 709), lang_exp_f64, expl);
  WORST(ulp_f64, 1.5, double, between(&state, -1, 1), lang_exp_f64, expl);
}

static void log_is_close(void **unused) {
  (void)unused;
  WORST(ulp_f32, 1.5, float, exp(between(&state, -102, 88)), lang_log_f32, logl);
  WORST(ulp_f32, 1.5, float, between(&state, 0.5, 2), lang_log_f32, logl);
  WORST(ulp_f64, 1.5, double, exp(between(&state, -740, 709)), lang_log_f64, logl);
  WORST(ulp_f64, 1.5, double, between(&state, 0.5, 2), lang_log_f64, logl);
}

static void circular_is_close(void **unused) {
  (void)unused;
  WORST(ulp_f32, 1.5, float, between(&state, -10, 10), lang_sin_f32, sinl);
  WORST(ulp_f32, 1.5, float, between(&state, -1e5, 1e5), lang_sin_f32, sinl);
  WORST(ulp_f32, 1.5, float, exp(between(&state, -80, 11)), lang_cos_f32, cosl);
  WORST(ulp_f64, 1.5, double, between(&state, -10, 10), lang_sin_f64, sinl);
  WORST(ulp_f64, 1.5, double, exp(between(&state, -700, 20)), lang_sin_f64, sinl);
  WORST(ulp_f64, 1.5, double, between(&state, -1e9, 1e9), lang_cos_f64, cosl);
  WORST(ulp_f64, 1.5, double, between(&state, -1, 1), lang_cos_f64, cosl);
}

static void erf_is_close(void **unused) {
  (void)unused;
  WORST(ulp_f32, 1.5, float, between(&state, -1.2, 1.2), lang_erf_f32, erfl);
  WORST(ulp_f32, 1.5, float, exp(between(&state, -80, 3)), lang_erf_f32, erfl);
  WORST(ulp_f64, 1.5, double, between(&state, -1.2, 1.2), lang_erf_f64, erfl);
  WORST(ulp_f64, 1.5, double, between(&state, -8, 8), lang_erf_f64, erfl);
  WORST(ulp_f64, 1.5, double, exp(between(&state, -700, 3)), lang_erf_f64, erfl);
}

static void ends(void **unused) {
  (void)unused;
  assert_true(lang_sin_f32(0) == 0 && lang_cos_f32(0) == 1 && isnan(lang_sin_f32(NAN)));
  assert_true(isnan(lang_sin_f32(1.1e5f)) && isnan(lang_cos_f32(-INFINITY)));
  assert_true(lang_sin_f64(0) == 0 && lang_cos_f64(0) == 1 && isnan(lang_cos_f64(NAN)));
  assert_true(isnan(lang_sin_f64(1.1e9)) && isnan(lang_cos_f64(INFINITY)));
  assert_true(lang_erf_f32(0) == 0 && lang_erf_f32(INFINITY) == 1 && lang_erf_f32(-4) == -1);
  assert_true(lang_erf_f64(0) == 0 && lang_erf_f64(INFINITY) == 1 && lang_erf_f64(-6) == -1);
  assert_true(isnan(lang_erf_f32(NAN)) && isnan(lang_erf_f64(NAN)));
  assert_true(lang_exp_f32(-INFINITY) == 0 && lang_exp_f32(-88) == 0 && lang_exp_f32(0) == 1);
  assert_true(isinf(lang_exp_f32(89)) && isinf(lang_exp_f32(INFINITY)) && isnan(lang_exp_f32(NAN)));
  assert_true(lang_exp_f64(-INFINITY) == 0 && lang_exp_f64(-709) == 0 && lang_exp_f64(0) == 1);
  assert_true(isinf(lang_exp_f64(710)) && isinf(lang_exp_f64(INFINITY)) &&
              isnan(lang_exp_f64(NAN)));
  assert_true(lang_log_f32(0) == -INFINITY && lang_log_f32(1) == 0 && isnan(lang_log_f32(-1)));
  assert_true(lang_log_f32(INFINITY) == INFINITY && isnan(lang_log_f32(NAN)));
  assert_true(lang_log_f64(0) == -INFINITY && lang_log_f64(1) == 0 && isnan(lang_log_f64(-1)));
  assert_true(lang_log_f64(INFINITY) == INFINITY && isnan(lang_log_f64(NAN)));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(exp_is_close), cmocka_unit_test(log_is_close),
                                     cmocka_unit_test(circular_is_close),
                                     cmocka_unit_test(erf_is_close), cmocka_unit_test(ends)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
