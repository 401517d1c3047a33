/* unit.plan.kinds: every phase of every set of kinds is balanced, and each unit has one owner. */
#include "plan_kinds.h"
#include "random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { N = 400, RANKS = 5, KINDS = 3 };

/* ------------------------------------------------------------------- sets */

/* As xc with fitted Coulomb: kind 2 alone in odd phases. */
static bool active(const tsl_problem *problem, int phase, int kind) {
  (void)problem;
  return phase % 2 == 0 || kind == 2;
}

/* Four sets, one of them within another. */
static bool active_by_four(const tsl_problem *problem, int phase, int kind) {
  static const uint32_t masks[] = {7, 1, 3, 4};
  (void)problem;
  return tsl_kind_in(masks[phase % 4], kind);
}

/* Kind 1 in no phase that is planned for. */
static bool active_later(const tsl_problem *problem, int phase, int kind) {
  (void)problem;
  return (phase < 1000) == (kind != 1);
}

static void finds_sets(void **state) {
  tsl_family family = {.n_kinds = KINDS, .active = active};
  const tsl_problem problem = {.family = &family};
  tsl_kind_sets sets;
  (void)state;
  tsl_kind_sets_make(&problem, NULL, 0, &sets);
  assert_int_equal(sets.n, 2);
  assert_int_equal(sets.mask[0], 7);
  assert_int_equal(sets.mask[1], 4);
  assert_true(sets.home[0] == 0 && sets.home[1] == 0 && sets.home[2] == 1 && sets.home[3] == -1);
  assert_int_equal(tsl_kind_sets_find(&sets, 4), 1);
  assert_int_equal(tsl_kind_sets_find(&sets, 5), -1);
  family.active = active_by_four;
  tsl_kind_sets_make(&problem, NULL, 0, &sets);
  assert_int_equal(sets.n, 4);
  assert_true(sets.home[0] == 1 && sets.home[1] == 2 && sets.home[2] == 3);
  family.active = active_later;
  const tsl_unit units[] = {{.id = 0, .kind = 0}, {.id = 1, .kind = 1}};
  tsl_kind_sets_make(&problem, units, 2, &sets);
  assert_true(sets.n == 2 && sets.mask[0] == 5 && sets.mask[1] == 2 && sets.home[1] == 1);
  tsl_kind_sets_make(&problem, units, 1, &sets);
  assert_true(sets.n == 1 && sets.home[1] == -1);
  family.active = NULL;
  tsl_kind_sets_make(&problem, NULL, 0, &sets);
  assert_true(sets.n == 1 && sets.mask[0] == 7 && sets.home[2] == 0);
}

/* ------------------------------------------------------------------ plans */

typedef struct instance {
  tsl_unit units[N];
  double slowness[RANKS];
} instance;

static double seconds_of(const void *model, int rank, const tsl_unit *unit) {
  const instance *in = model;
  return unit->count * in->slowness[rank];
}

static void make(instance *in, bool equal, uint64_t *seed) {
  for (int64_t u = 0; u < N; u++)
    in->units[u] = (tsl_unit){.id = u,
                              .kind = u < N / 2       ? 0
                                      : u < 3 * N / 4 ? 1
                                                      : 2,
                              .count = (0.1 + random_unit(seed)) * (u < N / 2 ? 1 : 0.3)};
  for (int r = 0; r < RANKS; r++) in->slowness[r] = equal ? 1 : 1 / (0.2 + random_unit(seed));
}

/* Longest rank over all work divided by all speed, of the units of a set. */
static double off_ideal(const instance *in, const tsl_plan *plan, uint32_t mask) {
  double load[RANKS] = {0}, work = 0, speed = 0, longest = 0;
  for (int64_t u = 0; u < N; u++) {
    if (!tsl_kind_in(mask, in->units[u].kind)) continue;
    load[plan->owner[u]] += in->units[u].count * in->slowness[plan->owner[u]];
    work += in->units[u].count;
  }
  for (int r = 0; r < RANKS; r++) speed += 1 / in->slowness[r], longest = fmax(longest, load[r]);
  return longest / (work / speed);
}

static void balances(void **state) {
  static instance in;
  const tsl_workload work = {in.units, N, RANKS, seconds_of, &in};
  tsl_family family = {.n_kinds = KINDS};
  const tsl_problem problem = {.family = &family};
  tsl_kind_sets sets;
  uint64_t seed = 1;
  (void)state;
  for (int trial = 0; trial < 40; trial++) {
    family.active = trial % 6 < 2 ? active : trial % 6 < 4 ? active_by_four : active_later;
    make(&in, trial % 2 == 0, &seed);
    tsl_kind_sets_make(&problem, in.units, N, &sets);
    for (int kind = TSL_PLAN_STRIPS; kind <= TSL_PLAN_BINS; kind++) {
      const tsl_plan_rule rule = {.kind = (tsl_plan_kind)kind, .dynamic = 0.2};
      tsl_plan plan;
      double sum = 0;
      assert_int_equal(tsl_plan_make(&rule, &sets, &work, &plan), TSL_OK);
      assert_true(plan.dynamic == 0);
      for (int64_t u = 0; u < N; u++) assert_in_range(plan.owner[u], 0, RANKS - 1);
      for (int s = 0; s < sets.n; s++) {
        const double off = off_ideal(&in, &plan, sets.mask[s]);
        /* kinds of the set that have several smaller ones of their own cannot be moved any more */
        const double bound = kind == TSL_PLAN_STRIPS ? 1.12 : 1.05;
        if (off > bound)
          fail_msg("plan %s, set %d: %g of the ideal time", tsl_plan_words[kind], s, off);
      }
      for (int r = 0; r < RANKS; r++) sum += plan.seconds[r];
      assert_true(plan.total_seconds * RANKS >= sum * (1 - 1e-12));
      tsl_plan_clear(&plan);
    }
  }
}

/* One set: the plan is that of all kinds at once, and units may be taken. */
static void one_set(void **state) {
  static instance in;
  const tsl_workload work = {in.units, N, RANKS, seconds_of, &in};
  const tsl_kind_sets sets = {.n = 1, .mask = {7}};
  const tsl_plan_rule rule = {.kind = TSL_PLAN_LPT, .dynamic = 0.2};
  const double nothing[RANKS] = {0};
  int32_t owner[N];
  uint64_t seed = 2;
  tsl_plan plan;
  (void)state;
  make(&in, false, &seed);
  assert_int_equal(tsl_plan_make(&rule, &sets, &work, &plan), TSL_OK);
  assert_true(plan.dynamic == 0.2);
  assert_int_equal(tsl_plan_assign(&rule, &work, 7, nothing, owner), TSL_OK);
  assert_memory_equal(plan.owner, owner, sizeof owner);
  tsl_plan_clear(&plan);
}

static void views(void **state) {
  static instance in;
  const tsl_workload work = {in.units, N, RANKS, seconds_of, &in};
  const tsl_kind_sets sets = {.n = 2, .mask = {7, 4}, .home = {0, 0, 1, -1, -1, -1, -1, -1}};
  const tsl_plan_rule rule = {.kind = TSL_PLAN_LPT};
  uint64_t seed = 3;
  tsl_plan plan, view;
  tsl_unit *part = NULL;
  double load[RANKS], longest = 0;
  (void)state;
  make(&in, false, &seed);
  assert_int_equal(tsl_plan_make(&rule, &sets, &work, &plan), TSL_OK);
  assert_int_equal(tsl_plan_view(&plan, &work, 4, &part, &view), TSL_OK);
  assert_int_equal(view.n_units, N / 4);
  assert_true(view.dynamic == 0);
  for (int64_t k = 0; k < view.n_units; k++) {
    assert_int_equal(part[k].id, 3 * N / 4 + k);
    assert_int_equal(part[k].kind, 2);
    assert_int_equal(view.owner[k], plan.owner[part[k].id]);
  }
  tsl_plan_loads(&plan, &work, 4, load);
  for (int r = 0; r < RANKS; r++) {
    assert_true(fabs(load[r] - view.seconds[r]) < 1e-12);
    longest = fmax(longest, load[r]);
  }
  assert_true(view.total_seconds == longest);
  tsl_free(part);
  tsl_plan_clear(&view);
  tsl_plan_clear(&plan);
}

static void efficiency(void **state) {
  const double load[] = {2, 1, 0, 3};
  bool left_out[][4] = {{false, false, true, false}, {false, true, true, true}};
  tsl_cost cost = {.n_ranks = 4};
  (void)state;
  assert_true(tsl_plan_efficiency(load, &cost) == 0.5);
  cost.left_out = left_out[0];
  assert_true(fabs(tsl_plan_efficiency(load, &cost) - 2.0 / 3) < 1e-15);
  cost.left_out = left_out[1];
  assert_true(tsl_plan_efficiency(load, &cost) == 1);
  cost = (tsl_cost){.n_ranks = 1};
  assert_true(tsl_plan_efficiency(load + 2, &cost) == 1);
}

/* A phase takes as long as its longest rank. */
static void times_phases(void **state) {
  static instance in;
  const tsl_workload work = {in.units, N, RANKS, seconds_of, &in};
  int32_t owner[4] = {0, 1, 0, 0};
  double load[3];
  const tsl_plan plan = {.n_units = 4, .n_ranks = 3, .owner = owner};
  (void)state;
  for (int u = 0; u < 4; u++) in.units[u] = (tsl_unit){.id = u, .kind = u % 2, .count = 2};
  for (int r = 0; r < 3; r++) in.slowness[r] = r == 1 ? 2 : 1;
  assert_true(tsl_plan_loads(&plan, &work, 3, load) == 6);
  assert_true(load[0] == 6 && load[1] == 4 && load[2] == 0);
  assert_true(tsl_plan_loads(&plan, &work, 2, load) == 4);
  assert_true(load[0] == 2 && load[1] == 4);
  owner[2] = owner[3] = 1;
  assert_true(tsl_plan_loads(&plan, &work, 3, load) == 12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(finds_sets), cmocka_unit_test(balances),     cmocka_unit_test(one_set),
      cmocka_unit_test(views),      cmocka_unit_test(times_phases), cmocka_unit_test(efficiency),
  };
  return cmocka_run_group_tests_name("unit.plan.kinds", tests, NULL, NULL);
}
