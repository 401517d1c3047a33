/* unit.plan: every unit has one owner; the plans keep their bounds; the tail has its share. */
#include "plan_kinds.h"
#include "random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_RANKS = 7, MAX_UNITS = 400, SMALL_UNITS = 8, SMALL_RANKS = 3 };
static const int rank_counts[] = {1, 2, 3, 7};
enum { N_RANK_COUNTS = sizeof rank_counts / sizeof rank_counts[0] };
static const double SEARCH = 2e-4; /* relative error of a search for the smallest capacity */
static const double ROUNDING = 1e-10;

/* --------------------------------------------------------------- instances */

/* Seconds of unit u on rank r are count[u] * slowness[r], or times[r][u] when unrelated. */
typedef struct instance {
  int ranks;
  int64_t n;
  bool unrelated;
  double slowness[MAX_RANKS], times[MAX_RANKS][MAX_UNITS];
  tsl_unit units[MAX_UNITS];
} instance;

static double seconds_of(const void *model, int rank, const tsl_unit *unit) {
  const instance *in = model;
  return in->unrelated ? in->times[rank][unit->id] : unit->count * in->slowness[rank];
}

static void make_units(instance *in, int64_t n, uint64_t *state) {
  in->n = n;
  for (int64_t u = 0; u < n; u++) {
    const double x = random_unit(state);
    in->units[u] = (tsl_unit){.id = u, .count = x < 0.1 ? 0 : x < 0.3 ? 100 * x : x};
    for (int r = 0; r < MAX_RANKS; r++) in->times[r][u] = in->units[u].count * random_unit(state);
  }
}

/* flavour 0: equal ranks; 1: unequal speeds; 2: every pair of unit and rank has its own time. */
static void make_ranks(instance *in, int ranks, int flavour, uint64_t *state) {
  in->ranks = ranks;
  in->unrelated = flavour == 2;
  for (int r = 0; r < ranks; r++)
    in->slowness[r] = flavour == 0 ? 1 : 1 / (0.05 + random_unit(state));
}

/* Every second rank is fast; half of the domain is theirs when there are two sides. */
static const bool alternate[MAX_RANKS] = {true, false, true, false, true, false, true};

/* There is one kind. */
static const tsl_kind_sets one_set = {.n = 1, .mask = {1}};

static tsl_plan plan_of(const instance *in, tsl_plan_kind kind, double dynamic) {
  tsl_plan plan;
  const tsl_plan_rule rule = {
      .kind = kind, .dynamic = dynamic, .share = in->ranks > 1 ? 0.5 : 1, .fast = alternate};
  const tsl_workload work = {in->units, in->n, in->ranks, seconds_of, in};
  const tsl_err err = tsl_plan_make(&rule, &one_set, &work, &plan);
  if (err != TSL_OK) fail_msg("%s", tsl_err_message());
  return plan;
}

static double longest(const tsl_plan *plan) {
  double most = 0;
  for (int r = 0; r < plan->n_ranks; r++) most = fmax(most, plan->seconds[r]);
  return most;
}

/* ---------------------------------------------------------- what all promise */

static void check_owners(const instance *in, const tsl_plan *plan) {
  double load[MAX_RANKS] = {0};
  assert_int_equal(plan->n_units, in->n);
  assert_int_equal(plan->n_ranks, in->ranks);
  for (int64_t u = 0; u < in->n; u++) {
    assert_in_range(plan->owner[u], 0, in->ranks - 1);
    load[plan->owner[u]] += seconds_of(in, plan->owner[u], &in->units[u]);
  }
  for (int r = 0; r < in->ranks; r++)
    assert_true(fabs(load[r] - plan->seconds[r]) <= ROUNDING * (1 + load[r]));
  assert_true(plan->total_seconds == longest(plan));
}

static void owners(void **state) {
  static instance in;
  static const double shares[] = {0, 0.2, 0.75, 1};
  uint64_t seed = 1;
  (void)state;
  for (int trial = 0; trial < 20; trial++)
    for (int c = 0; c < N_RANK_COUNTS; c++)
      for (int flavour = 0; flavour < 3; flavour++) {
        make_units(&in, random_below(&seed, MAX_UNITS), &seed);
        make_ranks(&in, rank_counts[c], flavour, &seed);
        for (int kind = 0; kind < TSL_N_PLANS; kind++)
          for (int s = 0; s < 4; s++) {
            tsl_plan plan = plan_of(&in, (tsl_plan_kind)kind, shares[s]);
            check_owners(&in, &plan);
            const bool shared = in.ranks > 1 && kind != TSL_PLAN_SHARE;
            assert_true(plan.dynamic == (shared ? shares[s] : 0));
            tsl_plan_clear(&plan);
          }
      }
}

static void same_again(void **state) {
  static instance in;
  uint64_t seed = 2;
  (void)state;
  make_units(&in, 300, &seed);
  make_ranks(&in, 5, 1, &seed);
  for (int kind = 0; kind < TSL_N_PLANS; kind++) {
    tsl_plan a = plan_of(&in, (tsl_plan_kind)kind, 0.1);
    tsl_plan b = plan_of(&in, (tsl_plan_kind)kind, 0.1);
    assert_true(a.dynamic == b.dynamic);
    assert_memory_equal(a.owner, b.owner, (size_t)in.n * sizeof *a.owner);
    assert_true(a.total_seconds == b.total_seconds);
    tsl_plan_clear(&a);
    tsl_plan_clear(&b);
  }
}

/* ------------------------------------------------------------------ corners */

static void no_units(void **state) {
  static instance in;
  (void)state;
  memset(&in, 0, sizeof in);
  in.ranks = 3;
  for (int kind = 0; kind < TSL_N_PLANS; kind++) {
    tsl_plan plan = plan_of(&in, (tsl_plan_kind)kind, 0.5);
    check_owners(&in, &plan);
    assert_true(plan.total_seconds == 0);
    tsl_plan_clear(&plan);
    assert_null(plan.owner);
    assert_null(plan.seconds);
  }
}

static void free_units(void **state) {
  static instance in;
  uint64_t seed = 3;
  (void)state;
  make_units(&in, 50, &seed);
  make_ranks(&in, 3, 0, &seed);
  for (int64_t u = 0; u < in.n; u++) in.units[u].count = 0;
  for (int kind = 0; kind < TSL_N_PLANS; kind++) {
    tsl_plan plan = plan_of(&in, (tsl_plan_kind)kind, 0.3);
    check_owners(&in, &plan);
    assert_true(plan.total_seconds == 0);
    tsl_plan_clear(&plan);
  }
}

static void few_units(void **state) {
  static instance in;
  uint64_t seed = 4;
  (void)state;
  for (int64_t n = 1; n < 7; n++)
    for (int kind = 0; kind < TSL_N_PLANS; kind++) {
      make_units(&in, n, &seed);
      make_ranks(&in, 7, kind % 3, &seed);
      for (int64_t u = 0; u < n; u++) in.units[u].count += 1;
      tsl_plan plan = plan_of(&in, (tsl_plan_kind)kind, 0);
      check_owners(&in, &plan);
      tsl_plan_clear(&plan);
    }
}

/* -------------------------------------------------------------- the optimum */

/* Smallest makespan of units u.. by trying all owners; rank 0 first is no restriction. */
static double best_of(const instance *in, int64_t u, double load[SMALL_RANKS], double bound) {
  double most = 0, best = bound;
  for (int r = 0; r < in->ranks; r++) most = fmax(most, load[r]);
  if (most >= bound) return bound;
  if (u == in->n) return most;
  for (int r = 0; r < in->ranks; r++) {
    const double s = seconds_of(in, r, &in->units[u]);
    load[r] += s;
    best = fmin(best, best_of(in, u + 1, load, best));
    load[r] -= s;
  }
  return best;
}

static double optimum(const instance *in) {
  double load[SMALL_RANKS] = {0};
  return best_of(in, 0, load, INFINITY);
}

/* Smallest makespan of contiguous strips in rank order, empty ones allowed. */
static double best_strips(const instance *in, int rank, int64_t first) {
  double best = INFINITY, mine = 0;
  if (first == in->n) return 0;
  if (rank == in->ranks) return INFINITY;
  for (int64_t end = first; end <= in->n; end++) {
    best = fmin(best, fmax(mine, best_strips(in, rank + 1, end)));
    if (end < in->n) mine += seconds_of(in, rank, &in->units[end]);
  }
  return best;
}

typedef void (*small_check)(const instance *in, int flavour);

static void each_small(small_check check) {
  static instance in;
  uint64_t seed = 5;
  for (int trial = 0; trial < 60; trial++)
    for (int ranks = 1; ranks <= SMALL_RANKS; ranks++)
      for (int flavour = 0; flavour < 3; flavour++) {
        make_units(&in, 1 + random_below(&seed, SMALL_UNITS), &seed);
        make_ranks(&in, ranks, flavour, &seed);
        check(&in, flavour);
      }
}

/* Graham 1969: 4/3 - 1/(3m) for equal ranks; Gonzalez, Ibarra and Sahni 1977: 2 - 2/(m+1). */
static void check_lpt(const instance *in, int flavour) {
  tsl_plan plan = plan_of(in, TSL_PLAN_LPT, 0);
  const double m = in->ranks, best = optimum(in);
  const double bound = flavour == 0 ? 4.0 / 3 - 1 / (3 * m)
                       : m == 1     ? 1
                                    : fmax(4.0 / 3, 2 - 2 / (m + 1));
  assert_true(longest(&plan) >= best * (1 - ROUNDING));
  if (flavour < 2) assert_true(longest(&plan) <= bound * best * (1 + ROUNDING));
  tsl_plan_clear(&plan);
}

/* Equal ranks: 13/11 (Yue 1990); else never worse than the fastest rank alone. */
static void check_bins(const instance *in, int flavour) {
  tsl_plan plan = plan_of(in, TSL_PLAN_BINS, 0);
  const double best = optimum(in);
  double alone = INFINITY;
  for (int r = 0; r < in->ranks; r++) {
    double sum = 0;
    for (int64_t u = 0; u < in->n; u++) sum += seconds_of(in, r, &in->units[u]);
    alone = fmin(alone, sum);
  }
  assert_true(longest(&plan) >= best * (1 - ROUNDING));
  assert_true(longest(&plan) <= alone * (1 + ROUNDING));
  if (flavour == 0) assert_true(longest(&plan) <= 13.0 / 11 * best * (1 + SEARCH));
  tsl_plan_clear(&plan);
}

static void check_strips(const instance *in, int flavour) {
  tsl_plan plan = plan_of(in, TSL_PLAN_STRIPS, 0);
  const double best = best_strips(in, 0, 0);
  (void)flavour;
  for (int64_t u = 1; u < in->n; u++) assert_true(plan.owner[u] >= plan.owner[u - 1]);
  assert_true(longest(&plan) >= best * (1 - ROUNDING));
  assert_true(longest(&plan) <= best * (1 + SEARCH));
  tsl_plan_clear(&plan);
}

static void lpt_bound(void **state) {
  (void)state;
  each_small(check_lpt);
}

static void bins_bound(void **state) {
  (void)state;
  each_small(check_bins);
}

static void strips_optimal(void **state) {
  (void)state;
  each_small(check_strips);
}

/* Many small units on unequal ranks: every plan but roundrobin comes near the ideal. */
static void large_near_ideal(void **state) {
  static instance in;
  uint64_t seed = 6;
  double work = 0, rate = 0, least = INFINITY;
  (void)state;
  make_units(&in, MAX_UNITS, &seed);
  make_ranks(&in, 5, 1, &seed);
  for (int64_t u = 0; u < in.n; u++) work += in.units[u].count = 0.5 + random_unit(&seed);
  for (int r = 0; r < in.ranks; r++)
    rate += 1 / in.slowness[r], least = fmin(least, in.slowness[r]);
  const double ideal = work / rate;
  for (int kind = 0; kind < TSL_PLAN_ROUNDROBIN; kind++) {
    tsl_plan plan = plan_of(&in, (tsl_plan_kind)kind, 0);
    assert_true(plan.total_seconds >= ideal * (1 - ROUNDING));
    assert_true(plan.total_seconds <= 1.15 * ideal);
    tsl_plan_clear(&plan);
  }
}

static void roundrobin_deals(void **state) {
  static instance in;
  uint64_t seed = 7;
  (void)state;
  make_units(&in, 100, &seed);
  make_ranks(&in, 3, 1, &seed);
  tsl_plan plan = plan_of(&in, TSL_PLAN_ROUNDROBIN, 0);
  for (int64_t u = 0; u < in.n; u++) assert_int_equal(plan.owner[u], u % 3);
  tsl_plan_clear(&plan);
}

/* ------------------------------------------------------ many ranks, few kinds */

enum { WIDE_RANKS = 100, WIDE_UNITS = 3000 };

/* Kinds of ranks need other multiples of a unit's count, which go by its id. */
typedef struct wide {
  tsl_unit units[WIDE_UNITS];
  int32_t like[WIDE_RANKS];
  double factor[WIDE_RANKS][3];
} wide;

static double wide_seconds(const void *model, int rank, const tsl_unit *unit) {
  return unit->count * ((const wide *)model)->factor[rank][unit->id % 3];
}

static void make_wide(wide *w, int kinds, uint64_t *state) {
  for (int64_t u = 0; u < WIDE_UNITS; u++)
    w->units[u] = (tsl_unit){.id = u, .count = random_below(state, 5) + 0.5 * random_unit(state)};
  for (int r = 0; r < WIDE_RANKS; r++) {
    w->like[r] = r < kinds ? r : (int32_t)random_below(state, kinds);
    for (int k = 0; k < 3; k++)
      w->factor[r][k] = w->like[r] == r ? 0.2 + random_unit(state) : w->factor[w->like[r]][k];
    if (w->like[r] == 1) w->factor[r][0] = w->factor[r][1] = w->factor[r][2] = INFINITY;
  }
}

static double mean_seconds(const wide *w, int64_t u) {
  double sum = 0;
  int n = 0;
  for (int r = 0; r < WIDE_RANKS; r++)
    if (isfinite(wide_seconds(w, r, &w->units[u]))) sum += wide_seconds(w, r, &w->units[u]), n++;
  return sum / n;
}

/* Is the unit, by a look at each rank, where lpt (capacity NAN) or first fit would have put it? */
static bool is_right(const wide *w, const double *load, const tsl_unit *unit, double capacity,
                     int owner) {
  double best = INFINITY;
  for (int r = 0; r < WIDE_RANKS; r++) {
    const double end = load[r] + wide_seconds(w, r, unit);
    if (end <= capacity) return owner == r;
    best = fmin(best, end);
  }
  return isnan(capacity) && load[owner] + wide_seconds(w, owner, unit) <= best * (1 + ROUNDING);
}

/* The units in an order of falling means, given to the owners of the plan. */
static void check_wide(const wide *w, const tsl_plan *plan, double capacity) {
  static double mean[WIDE_UNITS];
  static bool given[WIDE_UNITS];
  double load[WIDE_RANKS] = {0};
  for (int64_t u = 0; u < WIDE_UNITS; u++) mean[u] = mean_seconds(w, u), given[u] = false;
  for (int64_t k = 0; k < WIDE_UNITS; k++) {
    int64_t next = -1;
    for (int64_t u = 0; u < WIDE_UNITS; u++)
      if (!given[u] && (next < 0 || mean[u] > mean[next])) next = u;
    given[next] = true;
    assert_true(is_right(w, load, &w->units[next], capacity, plan->owner[next]));
    load[plan->owner[next]] += wide_seconds(w, plan->owner[next], &w->units[next]);
  }
}

/* That ranks are alike changes no plan, only how soon it is there; lpt and bins are what a look at
 * each rank gives. */
static void alike_ranks(void **state) {
  static wide w;
  uint64_t seed = 8;
  (void)state;
  for (int kinds = 1; kinds <= 7; kinds += 2) {
    make_wide(&w, kinds > 1 ? kinds : 3, &seed);
    for (int kind = TSL_PLAN_STRIPS; kind <= TSL_PLAN_BINS; kind++) {
      tsl_plan_rule rule = {.kind = (tsl_plan_kind)kind, .like = w.like};
      const tsl_workload work = {w.units, WIDE_UNITS, WIDE_RANKS, wide_seconds, &w};
      tsl_plan fast, slow;
      assert_int_equal(tsl_plan_make(&rule, &one_set, &work, &fast), TSL_OK);
      rule.like = NULL;
      assert_int_equal(tsl_plan_make(&rule, &one_set, &work, &slow), TSL_OK);
      assert_true(fabs(fast.total_seconds / slow.total_seconds - 1) < 2 * SEARCH);
      if (kind != TSL_PLAN_STRIPS)
        check_wide(&w, &fast, kind == TSL_PLAN_BINS ? longest(&fast) * (1 + ROUNDING) : NAN);
      tsl_plan_clear(&fast);
      tsl_plan_clear(&slow);
    }
  }
}

/* ------------------------------------------------------------- fixed share */

/* Units of the given volumes (rows of ten), each free to be anywhere. */
static void make_boxes(instance *in, int64_t n, int ranks, const int64_t *rows) {
  memset(in, 0, sizeof *in);
  in->n = n;
  in->ranks = ranks;
  for (int r = 0; r < ranks; r++) in->slowness[r] = 1;
  for (int64_t u = 0, at = 0; u < n; u++) {
    in->units[u] = (tsl_unit){.id = u, .lo = {at, 0, 0}, .hi = {at + rows[u], 10, 1}, .count = 1};
    at += rows[u];
  }
}

static tsl_err share_of(const instance *in, double share, const bool *fast, tsl_plan *plan) {
  const tsl_plan_rule rule = {.kind = TSL_PLAN_SHARE, .dynamic = 0.3, .share = share, .fast = fast};
  const tsl_workload work = {in->units, in->n, in->ranks, seconds_of, in};
  return tsl_plan_make(&rule, &one_set, &work, plan);
}

/* 100 equal units, 2 fast ranks of 5: 60 units to ranks 1 and 3 in order, 40 to the others. */
static void share_cuts_evenly(void **state) {
  static instance in;
  static const bool fast[] = {false, true, false, true, false};
  int64_t rows[100], n_of[5] = {0};
  tsl_plan plan;
  (void)state;
  for (int u = 0; u < 100; u++) rows[u] = 3;
  make_boxes(&in, 100, 5, rows);
  assert_int_equal(share_of(&in, 0.6, fast, &plan), TSL_OK);
  assert_true(plan.dynamic == 0);
  for (int u = 0; u < 100; u++) {
    assert_true(fast[plan.owner[u]] == (u < 60));
    if (u > 0 && u != 60) assert_true(plan.owner[u] >= plan.owner[u - 1]);
    n_of[plan.owner[u]]++;
  }
  for (int r = 0; r < 5; r++) assert_in_range(n_of[r], fast[r] ? 30 : 13, fast[r] ? 30 : 14);
  assert_true(plan.total_seconds == 30);
  tsl_plan_clear(&plan);
}

/* The cut follows the volume of the boxes, not their number or cost. */
static void share_cuts_by_volume(void **state) {
  static instance in;
  static const bool fast[] = {true, false};
  int64_t rows[20];
  tsl_plan plan;
  (void)state;
  for (int u = 0; u < 20; u++) rows[u] = u < 10 ? 9 : 1;
  make_boxes(&in, 20, 2, rows);
  for (int u = 0; u < 20; u++) in.units[u].count = u == 0 ? 1000 : 1;
  assert_int_equal(share_of(&in, 0.9, fast, &plan), TSL_OK); /* 90 of 100 rows: ten units */
  for (int u = 0; u < 20; u++) assert_int_equal(plan.owner[u], u >= 10);
  tsl_plan_clear(&plan);
  assert_int_equal(share_of(&in, 0.45, fast, &plan), TSL_OK);
  for (int u = 0; u < 20; u++) assert_int_equal(plan.owner[u], u >= 5);
  tsl_plan_clear(&plan);
}

static void share_ends(void **state) {
  static instance in;
  static const bool fast[] = {false, true, false};
  int64_t rows[31];
  tsl_plan plan;
  (void)state;
  for (int u = 0; u < 31; u++) rows[u] = 1 + u % 4;
  make_boxes(&in, 31, 3, rows);
  assert_int_equal(share_of(&in, 1, fast, &plan), TSL_OK);
  for (int u = 0; u < 31; u++) assert_int_equal(plan.owner[u], 1);
  tsl_plan_clear(&plan);
  assert_int_equal(share_of(&in, 0, fast, &plan), TSL_OK);
  for (int u = 0; u < 31; u++) assert_true(plan.owner[u] != 1);
  tsl_plan_clear(&plan);
}

/* A part of the domain for nobody is refused with what to do. */
static void share_needs_both_sides(void **state) {
  static instance in;
  static const bool all[] = {true, true}, none[] = {false, false};
  static const int64_t rows[] = {1, 1, 1, 1};
  tsl_plan plan;
  (void)state;
  make_boxes(&in, 4, 2, rows);
  assert_int_equal(share_of(&in, 0.5, all, &plan), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "sockets"));
  assert_null(plan.owner);
  assert_int_equal(share_of(&in, 0.5, none, &plan), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "cards"));
  assert_int_equal(share_of(&in, 1, all, &plan), TSL_OK);
  tsl_plan_clear(&plan);
  assert_int_equal(share_of(&in, 0, none, &plan), TSL_OK);
  tsl_plan_clear(&plan);
}

static void sides(void **state) {
  static const bool mixed[] = {false, true, true}, none[] = {false, false, false};
  static const bool cards[] = {true, true, true};
  bool fast[3];
  (void)state;
  tsl_plan_sides(mixed, 3, fast);
  assert_memory_equal(fast, mixed, sizeof fast);
  tsl_plan_sides(none, 3, fast);
  assert_true(fast[0] && !fast[1] && !fast[2]);
  tsl_plan_sides(cards, 3, fast);
  assert_true(fast[0] && !fast[1] && !fast[2]);
}

static void words(void **state) {
  (void)state;
  for (int kind = 0; kind < TSL_N_PLANS; kind++) assert_non_null(tsl_plan_words[kind]);
  assert_null(tsl_plan_words[TSL_N_PLANS]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(owners),
      cmocka_unit_test(same_again),
      cmocka_unit_test(no_units),
      cmocka_unit_test(free_units),
      cmocka_unit_test(few_units),
      cmocka_unit_test(lpt_bound),
      cmocka_unit_test(bins_bound),
      cmocka_unit_test(strips_optimal),
      cmocka_unit_test(large_near_ideal),
      cmocka_unit_test(roundrobin_deals),
      cmocka_unit_test(alike_ranks),
      cmocka_unit_test(share_cuts_evenly),
      cmocka_unit_test(share_cuts_by_volume),
      cmocka_unit_test(share_ends),
      cmocka_unit_test(share_needs_both_sides),
      cmocka_unit_test(sides),
      cmocka_unit_test(words),
  };
  return cmocka_run_group_tests_name("unit.plan", tests, NULL, NULL);
}
