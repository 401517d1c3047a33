/* unit.rebalance: moves make the slowest rank faster as far as units allow, and only if it pays. */
#include "random.h"
#include "rebalance.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MOST_RANKS = 6, MOST_UNITS = 300 };
static const double ROUNDING = 1e-9;

/* Units of kind 1 stay where they are. */
static const tsl_kind_sets sets = {.n = 1, .mask = {3}, .home = {0, -1, -1, -1, -1, -1, -1, -1}};

/* Seconds of unit u on rank r are work[u] * slowness[r], and price times as much once. */
typedef struct instance {
  int ranks;
  int64_t n;
  double slowness[MOST_RANKS], work[MOST_UNITS], price;
  int32_t owner[MOST_UNITS], before[MOST_UNITS];
  bool fixed[MOST_UNITS], left_out[MOST_RANKS];
} instance;

static void make(instance *in, int ranks, int64_t n, uint64_t *seed) {
  *in = (instance){.ranks = ranks, .n = n};
  for (int r = 0; r < ranks; r++) in->slowness[r] = 1;
  for (int64_t u = 0; u < n; u++) {
    in->work[u] = 0.2 + random_unit(seed);
    in->owner[u] = random_below(seed, ranks);
  }
}

static void sums(const instance *in, const int32_t *owner, double *sum) {
  for (int r = 0; r < in->ranks; r++) sum[r] = 0;
  for (int64_t u = 0; u < in->n; u++) sum[owner[u]] += in->work[u] * in->slowness[owner[u]];
}

static double most(const instance *in, const int32_t *owner) {
  double sum[MOST_RANKS], largest = 0;
  sums(in, owner, sum);
  for (int r = 0; r < in->ranks; r++) largest = fmax(largest, sum[r]);
  return largest;
}

/* All work over all speed: no deal ends sooner. */
static double ideal(const instance *in) {
  double work = 0, speed = 0;
  for (int64_t u = 0; u < in->n; u++) work += in->work[u];
  for (int r = 0; r < in->ranks; r++)
    if (!in->left_out[r]) speed += 1 / in->slowness[r];
  return work / speed;
}

static tsl_rebalance_gain balance(instance *in, double threshold) {
  static tsl_unit units[MOST_UNITS];
  static tsl_speed speeds[MOST_RANKS];
  const tsl_cost cost = {.n_ranks = in->ranks, .speeds = speeds, .left_out = in->left_out};
  tsl_timing_history l;
  tsl_rebalance_gain gain;
  int64_t moved = 0;
  for (int r = 0; r < in->ranks; r++)
    for (int kind = 0; kind < 2; kind++) {
      speeds[r].c[kind][3] = in->slowness[r];
      speeds[r].c[kind][TSL_SETUP] = in->price * in->slowness[r];
    }
  for (int64_t u = 0; u < in->n; u++)
    units[u] =
        (tsl_unit){.id = u, .kind = in->fixed[u], .count = in->work[u], .setup = in->work[u]};
  assert_int_equal(tsl_history_open(units, in->n, &cost, &sets, &l), TSL_OK);
  for (int64_t u = 0; u < in->n; u++) {
    in->before[u] = in->owner[u];
    tsl_history_of(&l, 0, u)->seconds = in->work[u] * in->slowness[in->owner[u]];
  }
  assert_int_equal(tsl_rebalance(&l, 0, threshold, in->owner, &gain), TSL_OK);
  for (int64_t u = 0; u < in->n; u++) {
    assert_in_range(in->owner[u], 0, in->ranks - 1);
    const double now = in->work[u] * in->slowness[in->owner[u]];
    assert_true(fabs(tsl_history_of(&l, 0, u)->seconds - now) <= ROUNDING * now);
    if (in->owner[u] == in->before[u]) continue;
    moved++;
    assert_true(!in->fixed[u] && !in->left_out[in->owner[u]]);
  }
  tsl_history_clear(&l);
  assert_int_equal(moved, gain.moved);
  assert_true(most(in, in->owner) <= most(in, in->before) * (1 + ROUNDING));
  return gain;
}

static void equal_ranks(void **state) {
  static instance in;
  uint64_t seed = 1;
  (void)state;
  for (int trial = 0; trial < 50; trial++) {
    double sum[MOST_RANKS];
    make(&in, 4, 200, &seed);
    const tsl_rebalance_gain gain = balance(&in, 0.02);
    sums(&in, in.owner, sum);
    for (int r = 1; r < 4; r++) assert_true(fabs(sum[r] / sum[0] - 1) < 0.03);
    assert_true(gain.imbalance_after < 0.02);
  }
}

/* The seed: a quarter too much on one of four cards is gone after moves of few groups. */
static void seed_case(void **state) {
  static instance in;
  uint64_t seed = 2;
  (void)state;
  make(&in, 4, 120, &seed);
  for (int64_t u = 0; u < in.n; u++) in.work[u] = 1, in.owner[u] = (int32_t)(u % 4);
  for (int64_t u = 1; u < 40; u += 4) in.owner[u] = 0; /* 40, 20, 30, 30 */
  const tsl_rebalance_gain gain = balance(&in, 0.02);
  assert_true(fabs(gain.imbalance_before - 1.0 / 3) < ROUNDING);
  assert_true(gain.imbalance_after < ROUNDING);
  assert_int_equal(gain.moved, 10); /* no more than needed */
}

static void unequal_speeds(void **state) {
  static instance in;
  uint64_t seed = 3;
  (void)state;
  for (int trial = 0; trial < 50; trial++) {
    make(&in, 2 + trial % 4, 300, &seed);
    for (int r = 0; r < in.ranks; r++) in.slowness[r] = r == 0 ? 1 : 1 + 40 * random_unit(&seed);
    (void)balance(&in, 0.02);
    /* a unit of the slowest rank is the grain */
    assert_true(most(&in, in.owner) <= 1.02 * ideal(&in) + 1.2 * 41);
    if (in.ranks == 2) assert_true(most(&in, in.owner) <= 1.02 * ideal(&in) + 1.2 * in.slowness[1]);
  }
}

static void one_to_three(void **state) {
  static instance in;
  uint64_t seed = 4;
  (void)state;
  make(&in, 2, 300, &seed);
  in.slowness[1] = 3;
  const tsl_rebalance_gain gain = balance(&in, 0.02);
  assert_true(most(&in, in.owner) < 1.02 * ideal(&in));
  assert_true(gain.imbalance_after < 0.02);
}

/* Every deal of few units, tried: none that the rule could reach by one more move is better. */
static void no_move_left(void **state) {
  static instance in;
  uint64_t seed = 5;
  (void)state;
  for (int trial = 0; trial < 200; trial++) {
    double sum[MOST_RANKS];
    int slow = 0, fast = 0;
    make(&in, 3, 12, &seed);
    for (int r = 0; r < 3; r++) in.slowness[r] = 1 + 2 * random_unit(&seed);
    (void)balance(&in, 0.02);
    sums(&in, in.owner, sum);
    for (int r = 1; r < 3; r++) {
      if (sum[r] > sum[slow]) slow = r;
      if (sum[r] < sum[fast]) fast = r;
    }
    if (sum[slow] <= 1.02 * sum[fast]) continue;
    for (int64_t u = 0; u < in.n; u++)
      if (in.owner[u] == slow)
        assert_true(sum[fast] + in.work[u] * in.slowness[fast] >= sum[slow] * (1 - 1e-8));
  }
}

static void stays(void **state) {
  static instance in;
  uint64_t seed = 6;
  tsl_rebalance_gain gain;
  (void)state;
  make(&in, 3, 100, &seed); /* fixed units count and stay */
  for (int64_t u = 0; u < in.n; u++) in.fixed[u] = u % 10 != 0;
  gain = balance(&in, 0.02);
  assert_true(gain.moved <= 10);
  make(&in, 3, 100, &seed); /* a rank without part gets none */
  in.left_out[2] = true;
  for (int64_t u = 0; u < in.n; u++) in.owner[u] = 0;
  gain = balance(&in, 0.02);
  assert_true(gain.moved > 0 && gain.imbalance_after < 0.03);
  make(&in, 2, 100, &seed); /* within the threshold */
  for (int64_t u = 0; u < in.n; u++) in.work[u] = 1, in.owner[u] = u < 51;
  gain = balance(&in, 0.05);
  assert_int_equal(gain.moved, 0);
  make(&in, 1, 10, &seed);
  assert_int_equal(balance(&in, 0.02).moved, 0);
  make(&in, 3, 0, &seed);
  assert_int_equal(balance(&in, 0.02).moved, 0);
}

/* Ten units move for 10 s less in each phase when that costs 10 s once; when each costs ten times
 * as much, as many as find room below what the phase took, and the next time more. */
static void pays(void **state) {
  static instance in;
  uint64_t seed = 7;
  (void)state;
  make(&in, 2, 100, &seed);
  for (int64_t u = 0; u < in.n; u++) in.work[u] = 1, in.owner[u] = u < 60;
  in.price = 1;
  tsl_rebalance_gain gain = balance(&in, 0);
  assert_int_equal(gain.moved, 10);
  assert_true(gain.imbalance_after < ROUNDING);
  for (int64_t u = 0; u < in.n; u++) in.owner[u] = u < 60;
  in.price = 10;
  gain = balance(&in, 0); /* n units: 60 - n and 40 + 11 n */
  assert_int_equal(gain.moved, 2);
  gain = balance(&in, 0); /* 58 - n and 42 + 11 n */
  assert_int_equal(gain.moved, 1);
  in.price = 100;
  assert_int_equal(balance(&in, 0).moved, 0);
}

/* A rank that is too slow for any unit is no reason to leave the others uneven. */
static void passes_over_slow_ranks(void **state) {
  static instance in;
  uint64_t seed = 8;
  (void)state;
  make(&in, 4, 100, &seed);
  in.slowness[2] = 1000;
  for (int64_t u = 0; u < in.n; u++) in.owner[u] = 0;
  (void)balance(&in, 0.02);
  assert_true(most(&in, in.owner) < 1.05 * ideal(&in));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_ranks),    cmocka_unit_test(seed_case),
      cmocka_unit_test(unequal_speeds), cmocka_unit_test(one_to_three),
      cmocka_unit_test(no_move_left),   cmocka_unit_test(stays),
      cmocka_unit_test(pays),           cmocka_unit_test(passes_over_slow_ranks),
  };
  return cmocka_run_group_tests_name("unit.rebalance", tests, NULL, NULL);
}
