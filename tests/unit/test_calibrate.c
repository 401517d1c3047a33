/* unit.calibrate.correct: what a finished run leaves in the calibration file predicts what was
 * measured, whatever ranks of one key had measured before. */
#include "calibrate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { RANKS = 3, KINDS = 2, MANY = 6 };

static const char KEY[] = "h|socket|0|none|1,threads|3,ranks|xc|what|build|2^9|2^9";

typedef struct fixture {
  char path[64];
  tsl_run_settings settings;
  tsl_speed speeds[RANKS];
  char keys[RANKS][TSL_COST_KEY];
  tsl_cost cost;
  tsl_kind_seconds shown[RANKS][TSL_MAX_KINDS];
} fixture;

/* Ranks that measured a second, a half and two for the same work; the file has their lines. */
static fixture *open_file(void) {
  static const double off[RANKS] = {1, 0.5, 2};
  fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  (void)snprintf(f->path, sizeof f->path, "calibrate-%ld.txt", (long)getpid());
  f->settings = (tsl_run_settings){.calibration = f->path};
  f->cost = (tsl_cost){.n_ranks = RANKS, .speeds = f->speeds, .keys = f->keys[0]};
  FILE *file = tsl_calibration_append(&f->settings);
  assert_non_null(file);
  for (int r = 0; r < RANKS; r++) {
    (void)snprintf(f->keys[r], TSL_COST_KEY, "%s", KEY);
    f->speeds[r].c[0][1] = 1e-9 * off[r], f->speeds[r].c[0][TSL_SETUP] = 1e-8 * off[r];
    f->speeds[r].c[1][0] = 1e-3 * off[r];
    for (int k = 0; k < KINDS; k++) tsl_calibration_put(file, KEY, k, f->speeds[r].c[k]);
  }
  (void)fclose(file);
  return f;
}

static void close_file(fixture *f) {
  (void)remove(f->path);
  free(f);
}

/* Each rank ran units of 1e9 operations in so many seconds, and ten units of the other kind. */
static void show(fixture *f, double seconds, int64_t runs) {
  for (int r = 0; r < RANKS; r++) {
    f->shown[r][0] = (tsl_kind_seconds){.terms = {4, 1e9}, .measured = seconds, .runs = runs};
    f->shown[r][1] = (tsl_kind_seconds){.terms = {10}, .measured = 0.01 * seconds, .runs = runs};
  }
  assert_int_equal(
      tsl_calibration_correct(&f->settings, &f->cost, KINDS, (const void *)f->shown, true), TSL_OK);
}

static tsl_speed look_up(const fixture *f) {
  tsl_speed speed = {{{0}}};
  assert_true(tsl_calibration_find(&f->settings, KEY, 0, KINDS, speed.c));
  return speed;
}

static void assert_near(double a, double b) {
  if (fabs(a / b - 1) > 1e-6) fail_msg("%g, not %g", a, b);
}

/* The last line, of the rank that is twice too slow, is what plans find, not the first rank's. */
static void phases_count_in_full(void **state) {
  static const double all[] = {0.2, 0.93, 1.07, 1.2, 1.5, 5};
  (void)state;
  for (int k = 0; k < (int)(sizeof all / sizeof all[0]); k++) {
    fixture *f = open_file();
    show(f, all[k], MANY);
    const tsl_speed speed = look_up(f);
    assert_near(speed.c[0][1] * 1e9, all[k]);
    assert_near(speed.c[0][TSL_SETUP] / speed.c[0][1], 10);
    close_file(f);
  }
}

/* Less than TSL_PRECISE of a kind tells little, of several phases it tells enough. */
static void short_kinds_need_phases(void **state) {
  (void)state;
  for (int64_t runs = 1; runs <= MANY; runs += MANY - 1) {
    fixture *f = open_file();
    show(f, 0.5, runs); /* of three ranks 0.015 s, and 0.06 s predicted */
    assert_near(look_up(f).c[1][0] * 10, 0.005);
    show(f, 0.25, runs); /* 0.0075 s, and 0.015 s predicted */
    assert_near(look_up(f).c[1][0] * 10, runs == 1 ? 0.005 : 0.0025);
    close_file(f);
  }
}

/* Times of a run of one phase: little is noise, much is not, in between half of it. */
static void one_phase_within_noise(void **state) {
  static const double measured[] = {2.1, 2.4, 4}, known[] = {2, 2.19089023, 4};
  (void)state;
  for (int k = 0; k < 3; k++) {
    fixture *f = open_file();
    show(f, measured[k], 1);
    assert_near(look_up(f).c[0][1] * 1e9, known[k]);
    close_file(f);
  }
}

/* The first run after samples: they are a few units, it is all. */
static void a_run_outweighs_samples(void **state) {
  fixture *f = open_file();
  (void)state;
  f->cost.sampled = true;
  show(f, 2.2, 1);
  assert_near(look_up(f).c[0][1] * 1e9, 2.2);
  f->cost.sampled = false;
  show(f, 2.3, 1);
  assert_near(look_up(f).c[0][1] * 1e9, 2.2);
  close_file(f);
}

static int count_lines(const fixture *f) {
  tsl_calibration_line line = {.number = 0};
  FILE *file = tsl_calibration_open(&f->settings);
  while (tsl_calibration_next(file, &line)) continue;
  return line.number;
}

static double waiting(const fixture *f) {
  double c[1][TSL_N_TERMS] = {{0}};
  assert_true(tsl_calibration_find(&f->settings, KEY, TSL_WAITING, 1, c));
  return c[0][0];
}

/* What the file knows well enough adds no line. */
static void steady_runs_add_nothing(void **state) {
  fixture *f = open_file();
  (void)state;
  show(f, 1.5, MANY);
  const int lines = count_lines(f);
  show(f, 1.56, MANY);
  assert_int_equal(count_lines(f), lines);
  tsl_calibration_keep_phases(&f->settings, &f->cost, TSL_WAITING, 1.2);
  tsl_calibration_keep_phases(&f->settings, &f->cost, TSL_WAITING, 1.24);
  tsl_calibration_keep_phases(&f->settings, &f->cost, TSL_BETWEEN, 0);
  assert_near(waiting(f), 1.2);
  assert_int_equal(count_lines(f), lines + 1);
  tsl_calibration_keep_phases(&f->settings, &f->cost, TSL_WAITING, 1.3);
  assert_near(waiting(f), 1.3);
  close_file(f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(phases_count_in_full), cmocka_unit_test(short_kinds_need_phases),
      cmocka_unit_test(one_phase_within_noise), cmocka_unit_test(a_run_outweighs_samples),
      cmocka_unit_test(steady_runs_add_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
