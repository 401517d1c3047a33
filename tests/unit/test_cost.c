/* unit.cost: the fit finds known coefficients, is never negative and survives poor samples. */
#include "cost.h"
#include "random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MAX_SAMPLES = 64, FEATURES = TSL_N_COEFFICIENTS };

static double value_of(const double *c, const tsl_unit *u) {
  return c[0] + c[1] * u->flops + c[2] * u->bytes + c[3] * u->count;
}

static tsl_unit random_unit_of_work(uint64_t *seed) {
  return (tsl_unit){.flops = 1e9 * random_unit(seed),
                    .bytes = 1e8 * random_unit(seed),
                    .count = 1e6 * random_unit(seed)};
}

static void assert_sane(const double *c) {
  for (int k = 0; k < FEATURES; k++) assert_true(isfinite(c[k]) && c[k] >= 0);
}

/* Coefficients of 1e-4 s + 1e-10 s/flop + 1e-9 s/B + 1e-8 s/item, each left out in turn. */
static void recovers(void **state) {
  static const double all[FEATURES] = {1e-4, 1e-10, 1e-9, 1e-7};
  uint64_t seed = 1;
  (void)state;
  for (int left_out = -1; left_out < FEATURES; left_out++) {
    tsl_sample samples[MAX_SAMPLES];
    double truth[FEATURES], c[FEATURES];
    for (int k = 0; k < FEATURES; k++) truth[k] = k == left_out ? 0 : all[k];
    for (int s = 0; s < MAX_SAMPLES; s++) {
      samples[s].unit = random_unit_of_work(&seed);
      samples[s].seconds = value_of(truth, &samples[s].unit);
    }
    tsl_cost_fit(samples, MAX_SAMPLES, c);
    assert_sane(c);
    for (int k = 1; k < FEATURES; k++) assert_true(fabs(c[k] - truth[k]) <= 1e-3 * all[k]);
    for (int s = 0; s < MAX_SAMPLES; s++)
      assert_true(fabs(value_of(c, &samples[s].unit) / samples[s].seconds - 1) < 1e-3);
  }
}

/* Sizes over four decades, as calibration makes them: features grow together. */
static void growing_samples(void **state) {
  const double rate = 2e-10, launch = 5e-6;
  tsl_sample samples[9];
  double c[FEATURES];
  (void)state;
  for (int s = 0; s < 9; s++) {
    const double pairs = 1e3 * pow(4, s);
    samples[s].unit = (tsl_unit){.flops = 10 * pairs, .bytes = 4 * pairs, .count = pairs};
    samples[s].seconds = launch + rate * pairs;
  }
  tsl_cost_fit(samples, 9, c);
  assert_sane(c);
  for (int s = 0; s < 9; s++)
    assert_true(fabs(value_of(c, &samples[s].unit) / samples[s].seconds - 1) < 0.02);
}

/* Noise of 10 % moves the prediction by less than that. */
static void noise(void **state) {
  static const double truth[FEATURES] = {1e-3, 2e-10, 0, 3e-7};
  tsl_sample samples[MAX_SAMPLES];
  double c[FEATURES];
  uint64_t seed = 2;
  (void)state;
  for (int s = 0; s < MAX_SAMPLES; s++) {
    samples[s].unit = random_unit_of_work(&seed);
    samples[s].seconds = value_of(truth, &samples[s].unit) * (0.9 + 0.2 * random_unit(&seed));
  }
  tsl_cost_fit(samples, MAX_SAMPLES, c);
  assert_sane(c);
  for (int s = 0; s < 1000; s++) {
    tsl_unit u = random_unit_of_work(&seed);
    assert_true(fabs(value_of(c, &u) / value_of(truth, &u) - 1) < 0.1);
  }
}

static void never_negative(void **state) {
  uint64_t seed = 3;
  (void)state;
  for (int trial = 0; trial < 300; trial++) {
    tsl_sample samples[MAX_SAMPLES];
    double c[FEATURES];
    const int n = 1 + random_below(&seed, MAX_SAMPLES);
    for (int s = 0; s < n; s++) {
      samples[s].unit = random_unit_of_work(&seed);
      samples[s].seconds = random_unit(&seed); /* unrelated to the features */
    }
    tsl_cost_fit(samples, n, c);
    assert_sane(c);
  }
}

/* More work in less time would need a negative slope: the fit is the constant instead. */
static void falling(void **state) {
  tsl_sample samples[10];
  double c[FEATURES];
  (void)state;
  for (int s = 0; s < 10; s++)
    samples[s] = (tsl_sample){.unit = {.flops = 1e6 * (s + 1)}, .seconds = 1.0 / (s + 1)};
  tsl_cost_fit(samples, 10, c);
  assert_sane(c);
  assert_true(c[0] > 0 && c[1] == 0);
}

static void one_sample(void **state) {
  tsl_sample sample = {.unit = {.flops = 1e9, .bytes = 1e6, .count = 1e5}, .seconds = 0.25};
  double c[FEATURES];
  (void)state;
  tsl_cost_fit(&sample, 1, c);
  assert_sane(c);
  assert_true(fabs(value_of(c, &sample.unit) - 0.25) < 1e-9);
}

static void equal_samples(void **state) {
  tsl_sample samples[5];
  double c[FEATURES];
  (void)state;
  for (int s = 0; s < 5; s++)
    samples[s] = (tsl_sample){.unit = {.flops = 7, .bytes = 8, .count = 9}, .seconds = 2};
  tsl_cost_fit(samples, 5, c);
  assert_sane(c);
  assert_true(fabs(value_of(c, &samples[0].unit) - 2) < 1e-9);
}

static void no_features(void **state) {
  tsl_sample samples[3] = {{.seconds = 1}, {.seconds = 1}, {.seconds = 1}};
  double c[FEATURES];
  (void)state;
  tsl_cost_fit(samples, 3, c);
  assert_sane(c);
  assert_true(fabs(c[0] - 1) < 1e-9 && c[1] == 0 && c[2] == 0 && c[3] == 0);
}

/* A clock too coarse for the unit. */
static void no_time(void **state) {
  tsl_sample samples[3] = {{.unit = {.flops = 1}}, {.unit = {.flops = 2}}, {.unit = {.count = 3}}};
  double c[FEATURES];
  (void)state;
  tsl_cost_fit(samples, 3, c);
  assert_sane(c);
  for (int k = 0; k < FEATURES; k++) assert_true(c[k] == 0);
  samples[2].seconds = 1;
  tsl_cost_fit(samples, 3, c);
  assert_sane(c);
  assert_true(value_of(c, &samples[2].unit) > 0.5);
}

static void by_rank_and_kind(void **state) {
  tsl_speed speeds[2] = {0};
  const tsl_cost cost = {.n_ranks = 2, .speeds = speeds};
  const tsl_unit unit = {.kind = 3, .flops = 2, .bytes = 3, .count = 5};
  (void)state;
  for (int k = 0; k < FEATURES; k++) speeds[1].c[3][k] = pow(10, k);
  assert_true(tsl_cost_seconds(&cost, 1, &unit) == 1 + 20 + 300 + 5000);
  assert_true(tsl_speed_seconds(&speeds[1], &unit) == 5321);
  assert_true(tsl_cost_seconds(&cost, 0, &unit) == 0);
}

/* A first run has its set-up, mean runs a part of it. */
static void first_runs(void **state) {
  tsl_speed speeds[2] = {0};
  const tsl_cost cost = {.n_ranks = 2, .speeds = speeds};
  const tsl_unit unit = {.kind = 2, .count = 3, .setup = 70}, plain = {.kind = 2, .count = 3};
  (void)state;
  speeds[1].c[2][3] = 2, speeds[1].c[2][TSL_SETUP] = 0.5;
  assert_true(tsl_cost_seconds(&cost, 1, &unit) == 6 && tsl_cost_setup(&cost, 1, &unit) == 35);
  assert_true(tsl_cost_first(&cost, 1, &unit) == 41);
  assert_true(fabs(tsl_cost_mean(&cost, 1, &unit) - 6 - 35.0 / TSL_COST_PHASES) < 1e-12);
  assert_true(tsl_cost_first(&cost, 1, &plain) == 6 && tsl_cost_mean(&cost, 1, &plain) == 6);
  assert_true(tsl_cost_first(&cost, 0, &unit) == 0);
}

/* What a first phase has less to do is not in its time, and is in that of later ones. */
static void less_at_first(void **state) {
  tsl_speed speed = {.c = {{1, 2, 3, 4, 10}}};
  const tsl_cost cost = {.n_ranks = 1, .speeds = &speed};
  tsl_unit unit = {.flops = 8, .bytes = 16, .count = 32, .setup = 5, .phase0_skipped = 0.75};
  const tsl_unit begin = tsl_unit_begin(&unit);
  (void)state;
  assert_true(begin.flops == 2 && begin.bytes == 16 && begin.count == 8 &&
              begin.phase0_skipped == 0);
  assert_true(tsl_cost_seconds(&cost, 0, &unit) == 1 + 2 * 8 + 3 * 16 + 4 * 32);
  assert_true(tsl_cost_begin(&cost, 0, &unit) == 1 + 2 * 2 + 3 * 16 + 4 * 8 + 10 * 5);
  unit.phase0_skipped = 0;
  assert_true(tsl_cost_begin(&cost, 0, &unit) == tsl_cost_first(&cost, 0, &unit));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(recovers),      cmocka_unit_test(growing_samples),
      cmocka_unit_test(noise),         cmocka_unit_test(never_negative),
      cmocka_unit_test(falling),       cmocka_unit_test(one_sample),
      cmocka_unit_test(equal_samples), cmocka_unit_test(no_features),
      cmocka_unit_test(no_time),       cmocka_unit_test(by_rank_and_kind),
      cmocka_unit_test(first_runs),    cmocka_unit_test(less_at_first),
  };
  return cmocka_run_group_tests_name("unit.cost", tests, NULL, NULL);
}
