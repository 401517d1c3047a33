/* unit.cost.device_class: equal devices that measured about the same get equal coefficients,
 * others keep theirs. */
#include "device_class.h"
#include "plan_wave.h"
#include "random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_RANKS = 12, KEY = TSL_COST_KEY, N_UNITS = 300 };

/* Two kinds of units, the second 1 % of all the work. */
typedef struct world {
  char keys[MOST_RANKS][KEY];
  tsl_unit units[N_UNITS];
  tsl_speed speeds[MOST_RANKS], before[MOST_RANKS];
  tsl_cost cost;
} world;

/* All ranks of a class, and rank r needs slow[r] seconds for all units. */
static void make(world *w, int n_ranks, const double *slow) {
  *w = (world){.cost = {.n_ranks = n_ranks, .speeds = w->speeds, .keys = w->keys[0]}};
  for (int u = 0; u < N_UNITS; u++)
    w->units[u] = (tsl_unit){.id = u, .kind = u % 3 == 0, .count = u % 3 == 0 ? 1 : 49.5};
  for (int r = 0; r < n_ranks; r++)
    for (int kind = 0; kind < 2; kind++) w->speeds[r].c[kind][3] = slow[r] / 1e4;
}

static void pool(world *w) {
  memcpy(w->before, w->speeds, sizeof w->before);
  assert_int_equal(tsl_device_class_pool(w->units, N_UNITS, &w->cost), TSL_OK);
}

static bool same_speed(const tsl_speed *a, const tsl_speed *b) {
  return memcmp(a, b, sizeof *a) == 0;
}

static bool kept(const world *w, int rank) {
  return same_speed(&w->speeds[rank], &w->before[rank]);
}

static double alone(const world *w, int rank) {
  double sum = 0;
  for (int u = 0; u < N_UNITS; u++) sum += tsl_cost_mean(&w->cost, rank, &w->units[u]);
  return sum;
}

/* ---- classes */

/* Are two devices with these keys of a class? Their measurements agree. */
static bool of_a_class(const char *a, const char *b) {
  static const double slow[] = {0.99, 1.01};
  world w;
  make(&w, 2, slow);
  (void)snprintf(w.keys[0], KEY, "%s", a);
  (void)snprintf(w.keys[1], KEY, "%s", b);
  pool(&w);
  return same_speed(&w.speeds[0], &w.speeds[1]);
}

/* Cards of one model wherever they sit; sockets of one model on any host. */
static void places_do_not_matter(void **state) {
  (void)state;
  assert_true(of_a_class("|NVIDIA,H200|GPU-1|CUDA,12.4|1,threads|4,ranks|dp|lcs|1.2|2^20",
                         "|NVIDIA,H200|GPU-2|CUDA,12.4|1,threads|4,ranks|dp|lcs|1.2|2^20"));
  assert_true(of_a_class("a|AMD,EPYC|socket,0|OpenMP|16,threads|4,ranks|dp",
                         "b|AMD,EPYC|socket,1|OpenMP|16,threads|4,ranks|dp"));
}

/* Model, driver, threads, ranks side by side, and a slowness that a test has asked for. */
static void all_else_matters(void **state) {
  static const char *const keys[] = {
      "|NVIDIA,H200|GPU|CUDA,12.4|1,threads|4,ranks|dp|lcs|1.2|2^20",
      "|NVIDIA,H200|GPU|CUDA,12.5|1,threads|4,ranks|dp|lcs|1.2|2^20",
      "|NVIDIA,H200|GPU|CUDA,12.4|2,threads|4,ranks|dp|lcs|1.2|2^20",
      "|NVIDIA,H200|GPU|CUDA,12.4|1,threads|8,ranks|dp|lcs|1.2|2^20",
      "|NVIDIA,H200|GPU|CUDA,12.4|1,threads|4,ranks|dp|lcs|1.2|slow,0:1,1:3,0|2^20",
      "|NVIDIA,H200|GPU|CUDA,12.4|1,threads|4,ranks|dp|lcs|1.2|slow,0:1,1:3,1|2^20",
      "|NVIDIA,H200,NVL|GPU|CUDA,12.4|1,threads|4,ranks|dp|lcs|1.2|2^20",
      "|NVIDIA,H20|GPU|CUDA,12.4|1,threads|4,ranks|dp|lcs|1.2|2^20",
      "",
      "a|b"};
  enum { KEYS = sizeof keys / sizeof *keys };
  (void)state;
  for (int k = 0; k < KEYS; k++)
    for (int l = 0; l < KEYS; l++) assert_int_equal(of_a_class(keys[k], keys[l]), k == l);
}

/* ---- coefficients */

/* The two cards that were given 47 to 53. */
static void noise_goes(void **state) {
  static const double slow[] = {0.94, 1.06};
  world w;
  (void)state;
  make(&w, 2, slow);
  pool(&w);
  assert_true(same_speed(&w.speeds[0], &w.speeds[1]));
  assert_true(fabs(alone(&w, 0) - 1) < 1e-12);
}

static void other_kinds_keep_theirs(void **state) {
  static const double slow[] = {1, 1.05, 1.02, 1.03};
  world w;
  (void)state;
  make(&w, 4, slow);
  for (int r = 1; r < 4; r += 2) (void)snprintf(w.keys[r], KEY, "|another");
  pool(&w);
  assert_true(same_speed(&w.speeds[0], &w.speeds[2]) && same_speed(&w.speeds[1], &w.speeds[3]));
  assert_true(fabs(alone(&w, 0) - 1.01) < 1e-12 && fabs(alone(&w, 1) - 1.04) < 1e-12);
}

/* A card that is throttled, among equal ones; and just beyond the bound. */
static void true_differences_stay(void **state) {
  static const double slow[] = {1, 1.3, 1.04, 0.98, 0.7}, two[] = {0.89, 1.11};
  world w;
  (void)state;
  make(&w, 5, slow);
  pool(&w);
  assert_true(kept(&w, 1) && kept(&w, 4));
  assert_true(same_speed(&w.speeds[0], &w.speeds[2]) && same_speed(&w.speeds[0], &w.speeds[3]));
  assert_true(fabs(alone(&w, 0) - 1) < 1e-12); /* the middle one, not the mean */
  make(&w, 2, two);
  pool(&w);
  assert_true(kept(&w, 0) && kept(&w, 1));
}

/* A node of slower cards: the middle of all is nobody's. */
static void two_groups(void **state) {
  static const double slow[] = {1.5, 1, 1.02, 1.54, 1.52, 1.01, 1.49, 1.03};
  world w;
  (void)state;
  make(&w, 8, slow);
  pool(&w);
  for (int r = 0; r < 8; r++)
    assert_true(fabs(alone(&w, r) - (slow[r] > 1.2 ? 1.51 : 1.015)) < 1e-12);
}

/* Noise of a short kind, far beyond the bound, is a part of 1 % of the run: its rank is not in the
 * middle. */
static void short_kinds(void **state) {
  static const double slow[] = {1, 1, 1, 1};
  world w;
  (void)state;
  make(&w, 4, slow);
  w.speeds[2].c[1][3] *= 2;
  w.speeds[1].c[1][3] *= 1.02;
  pool(&w);
  for (int r = 0; r < 4; r++) assert_true(same_speed(&w.speeds[r], &w.speeds[0]));
  assert_true(fabs(w.speeds[0].c[1][3] - 1.01e-4) < 1e-15);
}

/* Coefficients of a kind stay together: half of them of one fit and half of another predict
 * nothing. Here one rank's fit is all flops, and the others' all items. */
static void fits_stay_whole(void **state) {
  static const double slow[] = {1, 1.01, 0.99};
  world w;
  (void)state;
  make(&w, 3, slow);
  for (int u = 0; u < N_UNITS; u++) w.units[u].flops = 3 * w.units[u].count;
  for (int r = 0; r < 3; r += 2) w.speeds[r].c[0][1] = w.speeds[r].c[0][3] / 3;
  for (int r = 0; r < 3; r += 2) w.speeds[r].c[0][3] = 0;
  pool(&w);
  for (int r = 0; r < 3; r++) assert_true(fabs(alone(&w, r) - 1) < 1e-12);
  assert_true(w.speeds[1].c[0][3] == 0 && w.speeds[1].c[0][1] > 0);
}

/* First runs count for a tenth, as planners see them. */
static void first_runs(void **state) {
  static const double slow[] = {1, 1, 1};
  world w;
  (void)state;
  make(&w, 3, slow);
  for (int u = 0; u < N_UNITS; u++) w.units[u].setup = 1;
  for (int r = 0; r < 3; r++) w.speeds[r].c[0][TSL_SETUP] = 0.01 * (1 + 0.1 * r); /* 2 s in all */
  pool(&w);
  for (int r = 0; r < 3; r++) assert_true(w.speeds[r].c[0][TSL_SETUP] == 0.01 * 1.1);
  make(&w, 3, slow);
  for (int u = 0; u < N_UNITS; u++) w.units[u].setup = 1;
  w.speeds[2].c[0][TSL_SETUP] = 0.03; /* 6 s in all, 0.6 a run: another device */
  pool(&w);
  assert_true(kept(&w, 2) && same_speed(&w.speeds[0], &w.speeds[1]));
}

/* What a device gets depends on no rank's number. */
static void any_order(void **state) {
  world w, x;
  uint64_t seed = 11;
  (void)state;
  for (int trial = 0; trial < 300; trial++) {
    const int n = 2 + random_below(&seed, MOST_RANKS - 1);
    double slow[MOST_RANKS];
    int at[MOST_RANKS];
    for (int r = 0; r < n; r++) slow[r] = 1 + 0.05 * random_below(&seed, 10);
    for (int r = 0; r < n; r++) at[r] = r;
    for (int r = n - 1; r > 0; r--) {
      const int s = random_below(&seed, r + 1), t = at[r];
      at[r] = at[s], at[s] = t;
    }
    make(&w, n, slow);
    for (int r = 0; r < n; r++) w.speeds[r].c[1][0] = 1e-6 * random_below(&seed, 3);
    x = w, x.cost.speeds = x.speeds;
    for (int r = 0; r < n; r++) x.speeds[at[r]] = w.speeds[r];
    pool(&w);
    pool(&x);
    for (int r = 0; r < n; r++) assert_true(same_speed(&x.speeds[at[r]], &w.speeds[r]));
  }
}

/* Who gets other coefficients was within the bound of what it gets. */
static void within_the_bound(void **state) {
  world w;
  uint64_t seed = 3;
  int changed = 0, alone_left = 0;
  (void)state;
  for (int trial = 0; trial < 500; trial++) {
    const int n = 2 + random_below(&seed, MOST_RANKS - 1);
    double slow[MOST_RANKS];
    for (int r = 0; r < n; r++) slow[r] = 1 + 0.8 * random_unit(&seed);
    make(&w, n, slow);
    pool(&w);
    for (int r = 0; r < n; r++) {
      const double now = alone(&w, r);
      assert_true(fabs(slow[r] - now) <= TSL_NOISE * now * (1 + 1e-9));
      if (kept(&w, r))
        alone_left++;
      else
        changed++;
    }
  }
  assert_true(changed > 1000 && alone_left > 100);
}

static double seconds_of(const void *model, int rank, const tsl_unit *unit) {
  return tsl_cost_seconds(model, rank, unit);
}

/* The point of it all: lanes that cannot move during a run are dealt evenly. */
static void equal_shares(void **state) {
  enum { LANES = 64 };
  static const double slow[] = {0.94, 1.06};
  const tsl_plan_rule rule = {.kind = TSL_PLAN_STRIPS};
  tsl_unit tiles[2 * LANES];
  tsl_plan plan;
  world w;
  (void)state;
  for (int u = 0; u < 2 * LANES; u++)
    tiles[u] = (tsl_unit){.id = u, .stage = u / LANES, .lane = u % LANES, .count = 1000};
  make(&w, 2, slow);
  for (int pooled = 0; pooled < 2; pooled++) {
    int own[2] = {0, 0};
    if (pooled) pool(&w);
    assert_int_equal(
        tsl_plan_wave(&rule, &(tsl_workload){tiles, 2 * LANES, 2, seconds_of, &w.cost}, &plan),
        TSL_OK);
    for (int u = 0; u < LANES; u++) own[plan.owner[u]]++;
    assert_int_equal(own[0], pooled ? LANES / 2 : 34);
    tsl_plan_clear(&plan);
  }
}

static void nothing_known(void **state) {
  static const double none[] = {0, 0, 0}, mixed[] = {0, INFINITY, 1}, one[] = {1};
  world w;
  (void)state;
  make(&w, 3, none);
  pool(&w);
  for (int r = 0; r < 3; r++) assert_true(kept(&w, r));
  make(&w, 3, mixed);
  pool(&w);
  for (int r = 0; r < 3; r++) assert_true(kept(&w, r));
  make(&w, 1, one);
  pool(&w);
  assert_true(kept(&w, 0));
  make(&w, 3, mixed);
  memcpy(w.before, w.speeds, sizeof w.before);
  assert_int_equal(tsl_device_class_pool(w.units, 0, &w.cost), TSL_OK);
  for (int r = 0; r < 3; r++) assert_true(kept(&w, r));
}

/* The file's line is of the middle rank of a key, whichever measured last. */
static void middle_of_a_key(void **state) {
  static const double slow[] = {1.02, 0.5, 1, 2.2, 3, 1.01};
  int middle[6];
  world w;
  (void)state;
  make(&w, 6, slow);
  for (int r = 3; r < 5; r++) (void)snprintf(w.keys[r], KEY, "a|AMD,EPYC|socket,1|OpenMP");
  assert_int_equal(tsl_device_class_middle(w.units, N_UNITS, &w.cost, middle), TSL_OK);
  for (int r = 0; r < 6; r++) assert_int_equal(middle[r], r == 3 || r == 4 ? 3 : 2);
  for (int r = 0; r < 6; r++) assert_true(fabs(alone(&w, r) - slow[r]) < 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(places_do_not_matter),
      cmocka_unit_test(all_else_matters),
      cmocka_unit_test(noise_goes),
      cmocka_unit_test(other_kinds_keep_theirs),
      cmocka_unit_test(true_differences_stay),
      cmocka_unit_test(two_groups),
      cmocka_unit_test(short_kinds),
      cmocka_unit_test(fits_stay_whole),
      cmocka_unit_test(first_runs),
      cmocka_unit_test(any_order),
      cmocka_unit_test(within_the_bound),
      cmocka_unit_test(equal_shares),
      cmocka_unit_test(nothing_known),
      cmocka_unit_test(middle_of_a_key),
  };
  return cmocka_run_group_tests_name("unit.cost.device_class", tests, NULL, NULL);
}
