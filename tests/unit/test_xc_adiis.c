/* unit.xc.adiis: weights of lowest energy against the formula and points all over the simplex. */
#include "xc_adiis.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static double number(uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) * 0x1p-53;
}

/** f as the paper has it: 2 <D - D_n|F_n> + <D - D_n|F - F_n>; densities, matrices as vectors. */
static double model(int32_t n, int dim, const double *d, const double *f, const double *c) {
  double value = 0;
  for (int k = 0; k < dim; k++) {
    double density = -d[k], matrix = -f[k];
    for (int32_t i = 0; i < n; i++)
      density += c[i] * d[i * dim + k], matrix += c[i] * f[i * dim + k];
    value += 2 * density * f[k] + density * matrix;
  }
  return value;
}

static void weights_of(int32_t n, int dim, const double *d, const double *f, double *weight) {
  double trace[XC_ADIIS_MOST][XC_ADIIS_MOST];
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++) {
      trace[i][j] = 0;
      for (int k = 0; k < dim; k++) trace[i][j] += d[i * dim + k] * f[j * dim + k];
    }
  xc_adiis_weights(n, (const double(*)[XC_ADIIS_MOST])trace, weight);
}

static void check_simplex(int32_t n, const double *c) {
  double sum = 0;
  for (int32_t k = 0; k < n; k++) {
    assert_true(c[k] >= 0 && c[k] <= 1 + 1e-12);
    sum += c[k];
  }
  assert_true(fabs(sum - 1) < 1e-12);
}

enum { DIM = 30, POINTS = 20000 };

/** Nothing on the simplex is lower; bend > 0: a bowl, as near the end, < 0: a saddle. */
static void lowest(int32_t n, double bend, uint64_t seed) {
  double d[XC_ADIIS_MOST * DIM], f[XC_ADIIS_MOST * DIM], weight[XC_ADIIS_MOST], c[XC_ADIIS_MOST];
  for (int k = 0; k < n * DIM; k++) d[k] = number(&seed) - 0.5;
  for (int k = 0; k < n * DIM; k++)
    f[k] = sin(k % DIM) + (k % 2 == 0 ? bend : fabs(bend)) * d[k] + 0.1 * (number(&seed) - 0.5);
  weights_of(n, DIM, d, f, weight);
  check_simplex(n, weight);
  const double least = model(n, DIM, d, f, weight);
  assert_true(least <= 1e-12); /* the newest density alone has 0 */
  for (int point = 0; point < POINTS; point++) {
    double sum = 0;
    for (int32_t k = 0; k < n; k++) sum += c[k] = -log(1 - number(&seed));
    const double near = point % 2 == 0 ? 0 : 0.999; /* all over, and round what was found */
    for (int32_t k = 0; k < n; k++) c[k] = near * weight[k] + (1 - near) * c[k] / sum;
    const double value = model(n, DIM, d, f, c);
    if (value < least - 1e-9) fail_msg("%d weights, bend %g: %g < %g", n, bend, value, least);
  }
}

static void all(void **state) {
  (void)state;
  for (int32_t n = 1; n <= XC_ADIIS_MOST; n += n < 4 ? 1 : 8)
    for (int k = 0; k < 4; k++) {
      lowest(n, 1, (uint64_t)(n + 100 * k));
      lowest(n, -0.3, (uint64_t)(n + 1000 * k));
    }
}

/** Two densities: f is a parabola in the weight of the older one. */
static void two(void **state) {
  (void)state;
  /* f(c) = 2 c d.f0 + c^2 d.(f1 - f0) = 2 c (-1) + c^2 4: least at 1/4 */
  const double d[4] = {0, 0, 1, 1}, f[4] = {-1, 0, 3, 0};
  double weight[XC_ADIIS_MOST];
  weights_of(2, 2, d, f, weight);
  assert_true(fabs(weight[1] - 0.25) < 1e-15 && fabs(weight[0] - 0.75) < 1e-15);
  const double steep[4] = {-5, 0, -4, 0}; /* falls all the way */
  weights_of(2, 2, d, steep, weight);
  assert_true(weight[1] == 1 && weight[0] == 0);
}

/** Traces that are not finite leave the newest matrix. */
static void not_finite(void **state) {
  const double d[4] = {0, NAN, 1, 1}, f[4] = {-1, 0, 3, INFINITY};
  double weight[XC_ADIIS_MOST];
  (void)state;
  weights_of(2, 2, d, f, weight);
  assert_true(weight[0] == 1 && weight[1] == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(all), cmocka_unit_test(two),
                                     cmocka_unit_test(not_finite)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
