/* unit.measure.bag: what a calibration learns of long units from parts of them holds for the units.
 *
 * The device takes a nanosecond for each piece of work and 10 us besides. Units of 0.06 to 0.11 s
 * are tried in parts of 0.05 s; how much work is in a part is known to 12 %, as the steps of an
 * image are. Parts of one length do not tell what a unit costs besides its work. */
#include "measure.h"

#include "compute_thread.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { UNITS = 64, ROWS = 60000, WORK = 1000 };

static const double NANOSECOND = 1e-9, BESIDES = 1e-5, UNSURE = 0.12;

struct tsl_worker {
  uint32_t seed;
};

static double work_of(const tsl_unit *u) {
  return (double)(u->hi[0] - u->lo[0]) * WORK * (1 + (double)(u->id % 7) / 7);
}

/* The same for the same box: between -1 and 1. */
static double scatter(const tsl_unit *u) {
  uint64_t hash = 88172645463325252U ^ (uint64_t)(u->id * 1000003 + u->hi[0] * 7919);
  for (int k = 0; k < 4; k++) hash ^= hash << 13, hash ^= hash >> 7, hash ^= hash << 17;
  return (double)(hash % 2001) / 1000 - 1;
}

static void set_features(tsl_unit *u, double unsure) {
  u->count = u->flops = work_of(u) * (1 + unsure * scatter(u));
  u->bytes = 8 * (double)(u->hi[0] - u->lo[0]);
}

static void sample(const tsl_problem *problem, const tsl_unit *whole, double fraction,
                   tsl_unit *out) {
  (void)problem;
  *out = *whole;
  out->hi[0] = whole->lo[0] + (int64_t)ceil(fraction * (double)(whole->hi[0] - whole->lo[0]));
  set_features(out, UNSURE);
}

static tsl_err run(tsl_worker *worker, const tsl_unit *units, int64_t n, tsl_part *parts) {
  (void)worker;
  for (int64_t u = 0; u < n; u++) parts[u].seconds = BESIDES + NANOSECOND * work_of(&units[u]);
  return TSL_OK;
}

/* How far off a calibration of units of 60 to 110 ms is, which begin with this one. */
static double measure_bag(int64_t first) {
  static const tsl_family family = {
      .name = "model", .shape = TSL_BAG, .n_kinds = 1, .sample = sample};
  const tsl_problem problem = {.family = &family};
  const tsl_backend backend = {.family = "model", .run = run};
  const tsl_placement placement = {.rank = 0};
  tsl_worker worker = {0};
  tsl_executor executor = {
      .problem = &problem, .backend = &backend, .worker = &worker, .placement = &placement};
  tsl_unit units[UNITS];
  tsl_speed speed = {.c = {{0}}};
  double predicted = 0, truth = 0;
  memset(units, 0, sizeof units);
  for (int64_t u = 0; u < UNITS; u++) {
    const int64_t row = (first + u) * ROWS;
    units[u] = (tsl_unit){.id = u, .lo = {row}, .hi = {row + ROWS, 1, 1}};
    set_features(&units[u], 0);
  }
  assert_int_equal(tsl_compute_thread_start(NULL, NULL, &executor.thread), TSL_OK);
  assert_int_equal(tsl_measure(&executor, units, UNITS, 1, INT64_MAX, &speed), TSL_OK);
  tsl_compute_thread_stop(&executor.thread);
  for (int64_t u = 0; u < UNITS; u++) {
    predicted += tsl_speed_seconds(&speed, &units[u]);
    truth += BESIDES + NANOSECOND * work_of(&units[u]);
  }
  return fabs(predicted / truth - 1);
}

static void units_longer_than_trials(void **state) {
  double worst = 0;
  (void)state;
  for (int64_t first = 0; first < 40; first++) worst = fmax(worst, measure_bag(first * UNITS));
  print_message("40 calibrations: at most %.1f %% off\n", 100 * worst);
  assert_true(worst < 0.1);
}

/* Units that cannot be cut and take longer than a calibration may are known after the first. */
static void units_longer_than_the_budget(void **state) {
  static const tsl_family family = {.name = "model", .shape = TSL_BAG, .n_kinds = 1};
  const tsl_problem problem = {.family = &family};
  const tsl_backend backend = {.family = "model", .run = run};
  const tsl_placement placement = {.rank = 0};
  tsl_worker worker = {0};
  tsl_executor executor = {
      .problem = &problem, .backend = &backend, .worker = &worker, .placement = &placement};
  tsl_unit units[2] = {{.id = 0, .hi = {100 * ROWS, 1, 1}}, {.id = 1, .hi = {100 * ROWS, 1, 1}}};
  tsl_speed speed = {.c = {{0}}};
  (void)state;
  for (int u = 0; u < 2; u++) set_features(&units[u], 0);
  assert_int_equal(tsl_compute_thread_start(NULL, NULL, &executor.thread), TSL_OK);
  assert_int_equal(tsl_measure(&executor, units, 2, 1, INT64_MAX, &speed), TSL_OK);
  tsl_compute_thread_stop(&executor.thread);
  for (int u = 0; u < 2; u++)
    assert_true(fabs(tsl_speed_seconds(&speed, &units[u]) / (NANOSECOND * work_of(&units[u])) - 1) <
                0.01);
}

/* What the device was given by a warm-up. */
static tsl_unit given[4];
static int n_given;

static tsl_err take(tsl_worker *worker, const tsl_unit *units, int64_t n, tsl_part *parts) {
  (void)worker;
  for (int64_t u = 0; u < n; u++) given[n_given++] = units[u], parts[u].seconds = BESIDES;
  return TSL_OK;
}

/* A small part of the middle unit of each kind, but of those that keep something or take long. */
static void warm_up_is_short(void **state) {
  static const tsl_family family = {
      .name = "model", .shape = TSL_BAG, .n_kinds = 3, .sample = sample};
  const tsl_problem problem = {.family = &family};
  const tsl_backend backend = {.family = "model", .run = take};
  const tsl_placement placement = {.rank = 0};
  tsl_worker worker = {0};
  tsl_executor executor = {
      .problem = &problem, .backend = &backend, .worker = &worker, .placement = &placement};
  tsl_unit units[9];
  const tsl_speed speed = {.c = {{0, NANOSECOND}, {0, NANOSECOND}, {0, 1000 * NANOSECOND}}};
  (void)state;
  memset(units, 0, sizeof units);
  for (int u = 0; u < 9; u++) {
    units[u] = (tsl_unit){.id = u, .kind = u / 3, .hi = {ROWS, 1, 1}, .setup = u / 3 == 1};
    set_features(&units[u], 0);
  }
  n_given = 0;
  assert_int_equal(tsl_compute_thread_start(NULL, NULL, &executor.thread), TSL_OK);
  assert_int_equal(tsl_measure_warm_up(&executor, units, 9, &speed), TSL_OK);
  tsl_compute_thread_stop(&executor.thread);
  assert_int_equal(n_given, 1);
  assert_int_equal(given[0].id, 1);
  assert_in_range(given[0].hi[0], 1, ROWS / 200);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(units_longer_than_trials),
                                     cmocka_unit_test(units_longer_than_the_budget),
                                     cmocka_unit_test(warm_up_is_short)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
