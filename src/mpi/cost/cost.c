/* The model evaluated for each tsl_seconds_fn, and its fit by non-negative least squares with
 * cyclic coordinate descent. */
#include "cost.h"

#include <math.h>
#include <string.h>

static void features(const tsl_unit *unit, double x[TSL_N_COEFFICIENTS]) {
  x[0] = 1;
  x[1] = unit->flops;
  x[2] = unit->bytes;
  x[3] = unit->count;
}

double tsl_speed_seconds(const tsl_speed *speed, const tsl_unit *unit) {
  const double *c = speed->c[unit->kind];
  double x[TSL_N_COEFFICIENTS], sum = 0;
  features(unit, x);
  for (int k = 0; k < TSL_N_COEFFICIENTS; k++) sum += c[k] * x[k];
  return sum;
}

bool tsl_cost_takes_part(const tsl_cost *cost, int rank) {
  return cost->left_out == NULL || !cost->left_out[rank];
}

static bool alike(const tsl_cost *cost, int a, int b) {
  return tsl_cost_takes_part(cost, a) == tsl_cost_takes_part(cost, b) &&
         memcmp(&cost->speeds[a], &cost->speeds[b], sizeof *cost->speeds) == 0;
}

void tsl_cost_like(const tsl_cost *cost, int32_t *like) {
  for (int r = 0; r < cost->n_ranks; r++) {
    int first = 0;
    while (first < r && (like[first] != first || !alike(cost, first, r))) first++;
    like[r] = first;
  }
}

double tsl_cost_seconds(const void *model, int rank, const tsl_unit *unit) {
  const tsl_cost *cost = model;
  return tsl_speed_seconds(&cost->speeds[rank], unit);
}

double tsl_cost_setup(const void *model, int rank, const tsl_unit *unit) {
  const tsl_cost *cost = model;
  return cost->speeds[rank].c[unit->kind][TSL_SETUP] * unit->setup;
}

double tsl_cost_first(const void *model, int rank, const tsl_unit *unit) {
  return tsl_cost_seconds(model, rank, unit) + tsl_cost_setup(model, rank, unit);
}

tsl_unit tsl_unit_begin(const tsl_unit *unit) {
  tsl_unit begin = *unit;
  begin.flops *= 1 - unit->phase0_skipped;
  begin.count *= 1 - unit->phase0_skipped;
  begin.phase0_skipped = 0;
  return begin;
}

double tsl_cost_begin(const void *model, int rank, const tsl_unit *unit) {
  const tsl_unit begin = tsl_unit_begin(unit);
  return tsl_cost_first(model, rank, &begin);
}

double tsl_cost_mean(const void *model, int rank, const tsl_unit *unit) {
  return tsl_cost_seconds(model, rank, unit) + tsl_cost_setup(model, rank, unit) / TSL_COST_PHASES;
}

/* Non-negative least squares by cyclic coordinate descent: small, dense, always converges. */
static void solve_nonnegative(double a[TSL_N_COEFFICIENTS][TSL_N_COEFFICIENTS],
                              const double b[TSL_N_COEFFICIENTS], double x[TSL_N_COEFFICIENTS]) {
  enum { SWEEPS = 2000 };
  for (int step = 1; step <= SWEEPS * TSL_N_COEFFICIENTS; step++) {
    const int k = step % TSL_N_COEFFICIENTS;
    double rest = b[k];
    for (int l = 0; l < TSL_N_COEFFICIENTS; l++)
      if (l != k) rest -= a[k][l] * x[l];
    x[k] = a[k][k] > 0 && rest > 0 ? rest / a[k][k] : 0;
  }
}

void tsl_cost_fit(const tsl_sample *samples, int n, double *c) {
  double a[TSL_N_COEFFICIENTS][TSL_N_COEFFICIENTS] = {{0}}, b[TSL_N_COEFFICIENTS] = {0};
  double scale[TSL_N_COEFFICIENTS] = {0}, x[TSL_N_COEFFICIENTS];
  for (int s = 0; s < n; s++) {
    features(&samples[s].unit, x);
    for (int k = 0; k < TSL_N_COEFFICIENTS; k++) scale[k] = fmax(scale[k], x[k]);
  }
  for (int s = 0; s < n; s++) { /* rows divided by the measured time: relative errors count alike */
    const double weight = samples[s].seconds > 0 ? 1 / samples[s].seconds : 0;
    features(&samples[s].unit, x);
    for (int k = 0; k < TSL_N_COEFFICIENTS; k++) {
      x[k] = scale[k] > 0 ? x[k] / scale[k] * weight : 0;
      for (int l = 0; l <= k; l++) a[k][l] = a[l][k] += x[k] * x[l];
      b[k] += weight > 0 ? x[k] : 0;
    }
  }
  memset(x, 0, sizeof x);
  solve_nonnegative(a, b, x);
  for (int k = 0; k < TSL_N_COEFFICIENTS; k++) c[k] = scale[k] > 0 ? x[k] / scale[k] : 0;
}
