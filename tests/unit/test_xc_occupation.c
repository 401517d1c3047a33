/* unit.xc.occupation: smeared steps against closed formulas and thermodynamics. */
#include "xc_occupation.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { M = 7 };
static const double levels[M] = {-20.5, -1.3, -0.41, -0.4, -0.39, 0.02, 0.7};

static void near(double found, double wanted, double limit) {
  if (!(fabs(found - wanted) <= limit)) fail_msg("%.15g is not %.15g", found, wanted);
}

/** Levels on both sides of mu alike: half of them are filled, and mu is between. */
static void symmetric(void **state) {
  static const double four[4] = {-0.35, -0.31, -0.29, -0.25};
  double f[4], fermi = 0;
  (void)state;
  double entropy = xc_occupy(XC_SMEARING_FERMI, 0.02, 4, four, 2, f, &fermi), sum = 0;
  near(fermi, -0.3, 1e-14);
  near(f[0], 1 / (1 + exp(-2.5)), 1e-13);
  near(f[2], 1 / (1 + exp(0.5)), 1e-13);
  for (int k = 0; k < 4; k++) sum -= f[k] * log(f[k]) + (1 - f[k]) * log(1 - f[k]);
  near(entropy, sum, 1e-13);
  entropy = xc_occupy(XC_SMEARING_GAUSSIAN, 0.02, 4, four, 2, f, &fermi);
  near(fermi, -0.3, 1e-14);
  near(f[1], 0.5 * erfc(-0.5), 1e-13);
  near(entropy, (exp(-6.25) + exp(-0.25)) / sqrt(M_PI), 1e-13);
}

static double energy_of(const double *f) {
  double sum = 0;
  for (int k = 0; k < M; k++) sum += f[k] * levels[k];
  return sum;
}

/** The electrons are there, and the free energy E - w S falls by S with the width. */
static void free_energy(void **state) {
  (void)state;
  for (int kind = XC_SMEARING_FERMI; kind < XC_N_SMEARINGS; kind++)
    for (int64_t electrons = 1; electrons < M; electrons++)
      for (double width = 0.001; width < 1; width *= 7) {
        double f[M], fermi = 0, free[2], sum = 0;
        const double step = 1e-4 * width;
        for (int k = 0; k < 2; k++) {
          const double w = width + (k == 0 ? -step : step);
          const double s = xc_occupy((xc_smearing)kind, w, M, levels, electrons, f, &fermi);
          free[k] = energy_of(f) - w * s;
        }
        const double entropy = xc_occupy((xc_smearing)kind, width, M, levels, electrons, f, &fermi);
        for (int k = 0; k < M; k++) {
          assert_true(f[k] >= 0 && f[k] <= 1 && (k == 0 || f[k] <= f[k - 1]));
          sum += f[k];
        }
        near(sum, (double)electrons, 1e-11);
        near((free[1] - free[0]) / (2 * step), -entropy, 1e-5 + 1e-13 / step);
      }
}

/** No width, no electron, no empty place. */
static void whole(void **state) {
  double f[M], fermi = 9;
  (void)state;
  for (int kind = XC_SMEARING_NONE; kind < XC_N_SMEARINGS; kind++)
    for (int64_t electrons = 0; electrons <= M; electrons += kind == XC_SMEARING_NONE ? 1 : M) {
      near(xc_occupy((xc_smearing)kind, 0.1, M, levels, electrons, f, &fermi), 0, 0);
      near(fermi, 0, 0);
      for (int k = 0; k < M; k++) near(f[k], k < electrons, 0);
    }
}

/** Equal levels share their electrons, however narrow the step is. */
static void degenerate(void **state) {
  static const double equal[5] = {-3, -0.2, -0.2, -0.2, 4};
  double f[5], fermi = 0;
  (void)state;
  for (int kind = XC_SMEARING_FERMI; kind < XC_N_SMEARINGS; kind++) {
    const double entropy = xc_occupy((xc_smearing)kind, 1e-5, 5, equal, 2, f, &fermi);
    for (int k = 1; k < 4; k++) near(f[k], 1.0 / 3, 1e-10);
    assert_true(entropy > 0.1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(symmetric), cmocka_unit_test(free_energy),
                                     cmocka_unit_test(whole), cmocka_unit_test(degenerate)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
