/* Points of a wide sweep: density, polarisation, reduced gradients, kinetic energy. */
#pragma once

#include "random.h"

#include <math.h>
#include <string.h>

enum { SWEEP_INPUTS = 7, SWEEP_OUTPUTS = 8 };

/** Log-uniform between two positive bounds. */
static inline double sweep_log(uint64_t *state, double lo, double hi) {
  return exp(log(lo) + random_unit(state) * (log(hi) - log(lo)));
}

/** zeta: 0, any, near +-1 (down to 1e-10), near 0. */
static inline double sweep_zeta(uint64_t *state) {
  const double near = sweep_log(state, 1e-10, 1);
  switch (random_below(state, 5)) {
  case 0:
    return 0;
  case 1:
    return 2 * random_unit(state) - 1;
  case 2:
    return 1 - near;
  case 3:
    return near - 1;
  default:
    return random_unit(state) < 0.5 ? near * 1e-3 : -near * 1e-3;
  }
}

/** s of a spin: 0..50, or log-uniform from 3e-4. */
static inline double sweep_s(uint64_t *state) {
  return random_below(state, 3) == 0 ? 50 * random_unit(state) : sweep_log(state, 3e-4, 50);
}

/** tau of a spin: von Weizsaecker's and alpha times the uniform gas', alpha 1e-6..1e3. */
static inline double sweep_tau(double n, double sigma) {
  uint64_t state; /* of the density: points are those of a sweep without tau */
  memcpy(&state, &n, sizeof state);
  return sigma / (8 * n) +
         sweep_log(&state, 1e-6, 1e3) * 0.3 * pow(6 * M_PI * M_PI, 2.0 / 3) * pow(n, 5.0 / 3);
}

/**
 * A point: density 1e-12..1e4, so that no threshold of libxc cuts in.
 * @param[out] in  n_a, n_b, sigma_aa, sigma_ab, sigma_bb, tau_a, tau_b
 */
static inline void sweep_point(uint64_t *state, double in[SWEEP_INPUTS]) {
  const double s_scale = 2 * cbrt(6 * M_PI * M_PI);
  double gradient[2];
  do {
    const double n = sweep_log(state, 1e-12, 1e4), zeta = sweep_zeta(state);
    in[0] = n * (1 + zeta) / 2;
    in[1] = n * (1 - zeta) / 2;
    for (int k = 0; k < 2; k++) gradient[k] = s_scale * pow(in[k], 4.0 / 3) * sweep_s(state);
    in[2] = gradient[0] * gradient[0];
    in[3] = gradient[0] * gradient[1] * (2 * random_unit(state) - 1);
    in[4] = gradient[1] * gradient[1];
  } while (in[0] < 1.01e-12 || in[1] < 1.01e-12 || in[2] < 1e-32 || in[4] < 1e-32);
  for (int k = 0; k < 2; k++) in[5 + k] = sweep_tau(in[k], in[2 + 2 * k]);
}
