/* unit.heartbeat: who is taken for silent, on a clock of the test's own. */
#include "heartbeat_watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { RANKS = 3, OTHER = 1 };
static const double PATIENCE = 60, LOOK = 7.5; /* s */

static tsl_watch watch;

static int set_up(void **state) {
  (void)state;
  return tsl_watch_open(RANKS, PATIENCE, 100, &watch) == TSL_OK ? 0 : 1;
}

static int tear_down(void **state) {
  (void)state;
  tsl_watch_close(&watch);
  return 0;
}

/* Look as often as a thread does that is not disturbed. */
static double look_until(double from, double to) {
  for (; from < to; from += LOOK) tsl_watch_look(&watch, from);
  tsl_watch_look(&watch, to);
  return to;
}

static void silent_rank_is_doubted_then_missed(void **state) {
  (void)state;
  tsl_watch_heard(&watch, OTHER, 17, 110);
  double now = look_until(110, 110 + 0.49 * PATIENCE);
  assert_false(tsl_watch_doubts(&watch, OTHER, now));
  now = look_until(now, 110 + 0.51 * PATIENCE);
  assert_true(tsl_watch_doubts(&watch, OTHER, now));
  assert_false(tsl_watch_misses(&watch, OTHER, now));
  now = look_until(now, 110 + 1.01 * PATIENCE);
  assert_true(tsl_watch_misses(&watch, OTHER, now));
  assert_int_equal(watch.of[OTHER].unit, 17);
}

static void sign_in_time_clears(void **state) {
  (void)state;
  double now = 100;
  for (int k = 0; k < 20; k++) {
    tsl_watch_heard(&watch, OTHER, k, now);
    now = look_until(now, now + 0.9 * PATIENCE);
    assert_false(tsl_watch_misses(&watch, OTHER, now));
  }
}

static void never_heard_is_not_watched(void **state) {
  (void)state;
  const double now = look_until(100, 100 + 50 * PATIENCE);
  for (int r = 0; r < RANKS; r++) assert_false(tsl_watch_doubts(&watch, r, now));
}

/* The whole job is suspended: who looks was away, too. */
static void own_absence_is_nobodys_silence(void **state) {
  (void)state;
  for (int r = 0; r < RANKS; r++) tsl_watch_heard(&watch, r, 0, 110);
  const double back = look_until(110, 115) + 20 * PATIENCE;
  tsl_watch_look(&watch, back);
  for (int r = 0; r < RANKS; r++) assert_false(tsl_watch_doubts(&watch, r, back));
  const double now = look_until(back, back + 1.01 * PATIENCE);
  assert_true(tsl_watch_misses(&watch, OTHER, now)); /* it did not come back */
}

/* A pause that is too short to be noticed is too short to miss somebody, as well. */
static void short_absence_misses_nobody(void **state) {
  (void)state;
  double now = look_until(100, 110);
  tsl_watch_heard(&watch, OTHER, 0, now - PATIENCE / 4);
  now += 0.5 * PATIENCE;
  tsl_watch_look(&watch, now);
  assert_false(tsl_watch_misses(&watch, OTHER, now));
}

static void who_left_is_not_missed(void **state) {
  (void)state;
  tsl_watch_heard(&watch, OTHER, 0, 110);
  tsl_watch_left(&watch, OTHER);
  tsl_watch_heard(&watch, OTHER, 0, 110.1); /* a datagram that was overtaken */
  const double now = look_until(110, 110 + 3 * PATIENCE);
  assert_false(tsl_watch_doubts(&watch, OTHER, now));
}

static void lost_is_for_good(void **state) {
  (void)state;
  tsl_watch_heard(&watch, OTHER, 0, 110);
  tsl_watch_lose(&watch, OTHER);
  tsl_watch_heard(&watch, OTHER, 0, 120);
  assert_int_equal(watch.of[OTHER].life, TSL_LIFE_SILENT);
  assert_false(tsl_watch_misses(&watch, OTHER, look_until(120, 120 + 3 * PATIENCE)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(silent_rank_is_doubted_then_missed, set_up, tear_down),
      cmocka_unit_test_setup_teardown(sign_in_time_clears, set_up, tear_down),
      cmocka_unit_test_setup_teardown(never_heard_is_not_watched, set_up, tear_down),
      cmocka_unit_test_setup_teardown(own_absence_is_nobodys_silence, set_up, tear_down),
      cmocka_unit_test_setup_teardown(short_absence_misses_nobody, set_up, tear_down),
      cmocka_unit_test_setup_teardown(who_left_is_not_missed, set_up, tear_down),
      cmocka_unit_test_setup_teardown(lost_is_for_good, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
