/* Functions of lang_functions.h for interpreters: the values that compiled code has. */
#include "lang_expr.h"
#include "lang_functions.h"

#include <stdlib.h>

static float value_f32(lang_function function, float x, int power) {
  static float (*const functions[LANG_N_FUNCTIONS])(float) = {
      [LANG_SQRT] = lang_sqrt_f32,   [LANG_EXP] = lang_exp_f32,    [LANG_LOG] = lang_log_f32,
      [LANG_SIN] = lang_sin_f32,     [LANG_COS] = lang_cos_f32,    [LANG_ERF] = lang_erf_f32,
      [LANG_LOG1P] = lang_log1p_f32, [LANG_FLOOR] = lang_floor_f32};
  if (function != LANG_POW) return functions[function](x);
  const float v = lang_power_f32(abs(power), x);
  return power < 0 ? 1 / v : v;
}

static double value_f64(lang_function function, double x, int power) {
  static double (*const functions[LANG_N_FUNCTIONS])(double) = {
      [LANG_SQRT] = lang_sqrt_f64,   [LANG_EXP] = lang_exp_f64,    [LANG_LOG] = lang_log_f64,
      [LANG_SIN] = lang_sin_f64,     [LANG_COS] = lang_cos_f64,    [LANG_ERF] = lang_erf_f64,
      [LANG_LOG1P] = lang_log1p_f64, [LANG_FLOOR] = lang_floor_f64};
  if (function != LANG_POW) return functions[function](x);
  const double v = lang_power_f64(abs(power), x);
  return power < 0 ? 1 / v : v;
}

double lang_function_value(bool single, lang_function function, double x, int64_t power) {
  if (single) return (double)value_f32(function, (float)x, (int)power);
  return value_f64(function, x, (int)power);
}

double lang_logsum(bool single, double a, double b) {
  return single ? (double)lang_logsum_f32((float)a, (float)b) : lang_logsum_f64(a, b);
}

void lang_logsum_add(bool single, double v, double *most, double *sum) {
  float most_f32 = (float)*most, sum_f32 = (float)*sum;
  if (!single) {
    lang_logsum_add_f64(v, most, sum);
    return;
  }
  lang_logsum_add_f32((float)v, &most_f32, &sum_f32);
  *most = (double)most_f32, *sum = (double)sum_f32;
}
