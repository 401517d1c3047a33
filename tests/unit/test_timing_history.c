/* unit.timing_history: what phases show is believed when it lasts, and a rank that was late or is
 * slow gets its fair share. */
#include "random.h"
#include "rebalance.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_RANKS = 6, MOST_UNITS = 300 };
static const double ROUNDING = 1e-9;

/* Two kinds; kind 1 alone in odd phases. */
static const tsl_kind_sets sets = {.n = 2, .mask = {3, 2}, .home = {0, 1, -1, -1, -1, -1, -1, -1}};
static const tsl_kind_sets one_set = {.n = 1, .mask = {3}, .home = {0, 0, -1, -1, -1, -1, -1, -1}};

/* Seconds of unit u on rank r are work[u] * slowness[r] * late[u]. */
typedef struct world {
  int64_t n;
  double slowness[MOST_RANKS], work[MOST_UNITS], late[MOST_UNITS];
  tsl_unit units[MOST_UNITS];
  tsl_out_unit rows[MOST_UNITS];
  int32_t owner[MOST_UNITS];
  bool ran[MOST_UNITS]; /* on its owner */
  tsl_speed speeds[MOST_RANKS];
  tsl_cost cost;
  double first; /* a first run takes so many times as long */
} world;

/* The cost model does not know that ranks differ, but what first runs take more. */
static void make_world(world *w, int ranks, int64_t n, double first, uint64_t *seed) {
  memset(w, 0, sizeof *w);
  w->n = n;
  w->first = first;
  w->cost = (tsl_cost){.n_ranks = ranks, .speeds = w->speeds};
  for (int r = 0; r < ranks; r++) {
    w->slowness[r] = 1;
    for (int kind = 0; kind < 2; kind++)
      w->speeds[r].c[kind][3] = 1, w->speeds[r].c[kind][TSL_SETUP] = first - 1;
  }
  for (int64_t u = 0; u < n; u++) {
    w->work[u] = 0.2 + random_unit(seed);
    w->late[u] = 1;
    w->units[u] = (tsl_unit){.id = u, .kind = u % 4 == 3, .count = w->work[u], .setup = w->work[u]};
    w->owner[u] = (int32_t)(u / 4 % ranks);
  }
}

/* Run a phase of a set. @return its longest rank over the mean - 1, first runs counted as others */
static double run(world *w, tsl_timing_history *l, uint32_t mask, int set) {
  double sum[MOST_RANKS] = {0}, all = 0, longest = 0;
  int64_t n = 0;
  for (int64_t u = 0; u < w->n; u++) {
    if (!tsl_kind_in(mask, w->units[u].kind)) continue;
    const double seconds = w->work[u] * w->slowness[w->owner[u]] * w->late[u];
    sum[w->owner[u]] += seconds;
    w->rows[n++] = (tsl_out_unit){.unit = w->units[u],
                                  .owner = w->owner[u],
                                  .measured = w->ran[u] ? seconds : w->first * seconds};
    w->ran[u] = true;
  }
  for (int r = 0; r < w->cost.n_ranks; r++) all += sum[r], longest = fmax(longest, sum[r]);
  assert_int_equal(tsl_history_phase(l, set, w->rows, n), TSL_OK);
  return longest * w->cost.n_ranks / all - 1;
}

static tsl_rebalance_gain rebalance(world *w, tsl_timing_history *l, int set) {
  static int32_t before[MOST_UNITS];
  tsl_rebalance_gain gain;
  memcpy(before, w->owner, sizeof before);
  assert_int_equal(tsl_rebalance(l, set, 0.02, w->owner, &gain), TSL_OK);
  for (int64_t u = 0; u < w->n; u++)
    if (w->owner[u] != before[u]) w->ran[u] = false;
  return gain;
}

/* Nothing moves after first runs, which tell little; then one round is enough. */
static void learns(void **state) {
  static world w;
  uint64_t seed = 8;
  (void)state;
  for (int trial = 0; trial < 20; trial++) {
    tsl_timing_history l;
    make_world(&w, 4, 300, 1 + trial % 5, &seed);
    for (int r = 0; r < 4; r++) w.slowness[r] = 1 + r;
    assert_int_equal(tsl_history_open(w.units, w.n, &w.cost, &one_set, &l), TSL_OK);
    assert_true(run(&w, &l, 3, 0) > 0.3);
    assert_int_equal(rebalance(&w, &l, 0).moved, 0);
    (void)run(&w, &l, 3, 0);
    assert_true(rebalance(&w, &l, 0).moved > 0);
    assert_true(run(&w, &l, 3, 0) < 0.03);
    (void)rebalance(&w, &l, 0);
    assert_true(run(&w, &l, 3, 0) < 0.03);
    tsl_history_clear(&l);
  }
}

/* Both phases of a pair become even, and the kind with a phase of its own moves by that one. */
static void learns_sets(void **state) {
  static world w;
  static int32_t before[MOST_UNITS];
  uint64_t seed = 9;
  tsl_timing_history l;
  double even = 1, odd = 1;
  (void)state;
  make_world(&w, 2, 300, 1.5, &seed);
  w.slowness[1] = 3;
  assert_int_equal(tsl_history_open(w.units, w.n, &w.cost, &sets, &l), TSL_OK);
  for (int pair = 0; pair < 5; pair++) {
    even = run(&w, &l, 3, 0);
    memcpy(before, w.owner, sizeof before);
    (void)rebalance(&w, &l, 0);
    for (int64_t u = 0; u < w.n; u++)
      if (w.units[u].kind == 1) assert_int_equal(before[u], w.owner[u]);
    odd = run(&w, &l, 2, 1);
    memcpy(before, w.owner, sizeof before);
    (void)rebalance(&w, &l, 1);
    for (int64_t u = 0; u < w.n; u++)
      if (w.units[u].kind == 0) assert_int_equal(before[u], w.owner[u]);
  }
  assert_true(even < 0.03 && odd < 0.05);
  tsl_history_clear(&l);
}

/* Units whose data are dear stay. */
static void dear_stays(void **state) {
  static world w;
  uint64_t seed = 10;
  tsl_timing_history l;
  (void)state;
  make_world(&w, 2, 300, 500, &seed);
  w.slowness[1] = 1.2;
  assert_int_equal(tsl_history_open(w.units, w.n, &w.cost, &one_set, &l), TSL_OK);
  for (int k = 0; k < 4; k++) {
    (void)run(&w, &l, 3, 0);
    const tsl_rebalance_gain gain = rebalance(&w, &l, 0);
    assert_int_equal(gain.moved, 0);
    assert_true(gain.imbalance_after == gain.imbalance_before);
  }
  tsl_history_clear(&l);
}

/* ------------------------------------------------------------ a slow rank */

enum { PAIRS = 14 };

/* Groups of unequal size and some units of the kind with phases of its own, as of a small molecule:
 * seconds of all on the fast rank, so many times more on the other. A first run takes 3 times as
 * long on the fast rank, 4 times on the other. The plan believes that the other is error times as
 * fast as it is. */
static void make_slow(world *w, double slowness, double error, double seconds, uint64_t *seed) {
  double all[2] = {0}, slow[2] = {0}, sum = 0;
  make_world(w, 2, MOST_UNITS, 0, seed);
  w->slowness[1] = slowness;
  for (int64_t u = 0; u < w->n; u++) {
    const double b = 52 + 127 * sqrt(random_unit(seed));
    w->work[u] = u % 4 == 3 ? 240 : b * b;
    sum += w->work[u];
  }
  for (int64_t u = 0; u < w->n; u++) {
    w->work[u] *= seconds / sum;
    w->units[u].count = w->units[u].setup = w->work[u];
    all[w->units[u].kind] += w->work[u];
  }
  for (int r = 0; r < 2; r++)
    for (int kind = 0; kind < 2; kind++) {
      w->speeds[r].c[kind][3] = r == 0 ? 1 : slowness / error;
      w->speeds[r].c[kind][TSL_SETUP] = r == 0 ? 2 : 3 * slowness / error;
    }
  for (int64_t u = 0; u < w->n; u++) {
    const int kind = w->units[u].kind;
    w->owner[u] = slow[kind] < all[kind] / (1 + slowness / error);
    if (w->owner[u] == 1) slow[kind] += w->work[u];
  }
}

/* As run, with first runs as above and noise. */
static void run_slow(world *w, tsl_timing_history *l, uint32_t mask, int set, uint64_t *seed) {
  int64_t n = 0;
  for (int64_t u = 0; u < w->n; u++) {
    const int32_t r = w->owner[u];
    const double seconds = w->work[u] * w->slowness[r] * (0.98 + 0.04 * random_unit(seed));
    if (!tsl_kind_in(mask, w->units[u].kind)) continue;
    w->rows[n++] = (tsl_out_unit){.unit = w->units[u],
                                  .owner = r,
                                  .measured = w->ran[u] ? seconds : seconds * (r == 0 ? 3 : 4)};
    w->ran[u] = true;
  }
  assert_int_equal(tsl_history_phase(l, set, w->rows, n), TSL_OK);
}

/* Phases of all kinds come to take what they must, with units as fine as one likes. */
static void settle(double slowness, double error, double seconds) {
  static world w;
  uint64_t seed = 12;
  tsl_timing_history l;
  double load[2] = {0};
  make_slow(&w, slowness, error, seconds, &seed);
  assert_int_equal(tsl_history_open(w.units, w.n, &w.cost, &sets, &l), TSL_OK);
  for (int pair = 0; pair < PAIRS; pair++)
    for (int set = 0; set < 2; set++) {
      run_slow(&w, &l, sets.mask[set], set, &seed);
      (void)rebalance(&w, &l, set);
    }
  for (int64_t u = 0; u < w.n; u++) load[w.owner[u]] += w.work[u] * w.slowness[w.owner[u]];
  const double ideal = seconds / (1 + 1 / slowness);
  if (fmax(load[0], load[1]) > 1.05 * ideal)
    print_error("1:%g, error %g, %g s: %g %g s\n", slowness, error, seconds, load[0], load[1]);
  assert_true(fmax(load[0], load[1]) <= 1.05 * ideal);
  tsl_history_clear(&l);
}

static void slow_rank_settles(void **state) {
  static const double seconds[] = {0.01, 0.1, 0.3, 1, 3}, slowness[] = {3, 10, 30, 1000};
  (void)state;
  for (int k = 0; k < 5; k++)
    for (int s = 0; s < 4; s++)
      for (double error = 0.4; error < 3; error *= 2.5) settle(slowness[s], error, seconds[k]);
}

/* ------------------------------------------------------ a disturbed rank */

/* Equal units dealt evenly to equal ranks; the cost model knows all but what first runs take. */
static void make_even(world *w, tsl_timing_history *l, int ranks, int64_t n, double first) {
  uint64_t seed = 15;
  make_world(w, ranks, n, first, &seed);
  for (int64_t u = 0; u < n; u++) {
    w->work[u] = w->units[u].count = w->units[u].setup = 1;
    w->units[u].kind = 0;
    w->owner[u] = (int32_t)(u % ranks);
  }
  assert_int_equal(tsl_history_open(w->units, n, &w->cost, &one_set, l), TSL_OK);
}

/* A phase and what follows it. @return units moved */
static int64_t phase(world *w, tsl_timing_history *l) {
  (void)run(w, l, 3, 0);
  return rebalance(w, l, 0).moved;
}

static int64_t units_of(const world *w, int rank) {
  int64_t n = 0;
  for (int64_t u = 0; u < w->n; u++) n += w->owner[u] == rank;
  return n;
}

/* One unit is late in one phase, whichever: its rank is no slower for that, and nothing moves. Only
 * in the second phase, whose times are the first to be believed, units go, and come back. */
static void late_unit(void **state) {
  static world w;
  uint64_t seed = 16;
  (void)state;
  for (int trial = 0; trial < 72; trial++) {
    const int when = trial % 6, ranks = 2 + trial % 3, first = 1 + trial / 6 % 2 * 2;
    const int64_t unit = random_below(&seed, 120);
    tsl_timing_history l;
    make_even(&w, &l, ranks, 120, first);
    for (int k = 0; k < 10; k++) {
      w.late[unit] = k == when ? 200 : 1;
      const int64_t moved = phase(&w, &l);
      if (when == 1) continue;
      assert_int_equal(moved, 0);
      for (int r = 0; r < ranks && k >= 1; r++)
        assert_true(fabs(tsl_history_off(&l, 0, r, 0) - 1) < 0.1);
    }
    for (int r = 0; r < ranks; r++)
      assert_true(fabs((double)units_of(&w, r) * ranks / 120 - 1) < 0.2);
    tsl_history_clear(&l);
  }
}

/* A rank is late in one phase: it keeps its share, or has it again soon. */
static void late_rank(void **state) {
  static world w;
  (void)state;
  for (int trial = 0; trial < 60; trial++) {
    const int when = trial % 6, ranks = 2 + trial % 3;
    const double late = trial % 5 == 4 ? 3 : 50;
    const int64_t n = trial % 2 ? 120 : 12;
    tsl_timing_history l;
    make_even(&w, &l, ranks, n, 1 + trial % 2 * 2);
    for (int k = 0; k < when + 6; k++) {
      w.slowness[1] = k == when ? late : 1;
      (void)phase(&w, &l);
      for (int r = 0; r < ranks; r++) assert_true(units_of(&w, r) > 0);
    }
    for (int r = 0; r < ranks; r++)
      assert_true(fabs((double)units_of(&w, r) * ranks / (double)n - 1) < 0.051);
    tsl_history_clear(&l);
  }
}

/* Others take half of a rank's time in every phase, now from these units, now from those: what is
 * left to it is learned. */
static void shared_rank(void **state) {
  static world w;
  uint64_t seed = 17;
  (void)state;
  for (int trial = 0; trial < 20; trial++) {
    tsl_timing_history l;
    make_even(&w, &l, 2, 300, 1 + trial % 3);
    for (int k = 0; k < 12; k++) {
      for (int64_t u = 0; u < w.n; u++)
        w.late[u] = w.owner[u] == 1 && random_unit(&seed) < 0.25 ? 5 : 1;
      (void)phase(&w, &l);
    }
    const double off = tsl_history_off(&l, 0, 1, 0);
    assert_true(off > 1.5 && off < 2.7);       /* truly 2 */
    assert_in_range(units_of(&w, 1), 95, 120); /* even: 100 */
    tsl_history_clear(&l);
  }
}

/* Units that really take longer than predicted, always or from a phase on, are known to. */
static void odd_units(void **state) {
  static world w;
  tsl_timing_history l;
  (void)state;
  make_even(&w, &l, 2, 120, 2);
  for (int k = 0; k < 12; k++) {
    for (int64_t u = 0; u < w.n; u++)
      w.late[u] = (u % 3 == 0 ? 3 : 1) * (u % 5 == 0 && k >= 4 ? 6 : 1);
    (void)phase(&w, &l);
    if (k < 1 || (k >= 4 && k < 10)) continue;
    for (int64_t u = 0; u < w.n; u++)
      assert_true(fabs(tsl_history_of(&l, 0, u)->seconds / w.late[u] - 1) <
                  (k < 4 ? ROUNDING : 0.05));
  }
  tsl_history_clear(&l);
}

/* Equal ranks of which one has all units of a kind, which take 6 times what is predicted in sum,
 * some 30 times: who gets such units is no slower for it, and who has had none no faster. */
static void odd_kind(void **state) {
  static world w;
  uint64_t seed = 18;
  (void)state;
  for (int trial = 0; trial < 40; trial++) {
    const int ranks = 2 + trial % 4;
    tsl_timing_history l;
    make_even(&w, &l, ranks, 120, 1 + trial % 3);
    for (int64_t u = 0; u < w.n; u++) {
      const bool odd = u % 4 == 3;
      w.units[u].kind = odd;
      w.owner[u] = odd ? ranks - 1 : (int32_t)(u / 4 % (ranks - 1));
      w.late[u] = !odd ? 1 : random_unit(&seed) < 0.2 ? 30 : 0.1;
    }
    for (int k = 0; k < 14; k++) (void)phase(&w, &l);
    for (int r = 0; r < ranks; r++) {
      assert_true(units_of(&w, r) > 0);
      for (int q = 0; q < ranks; q++) {
        const double one = tsl_history_off(&l, 0, r, 1), other = tsl_history_off(&l, 0, q, 1);
        assert_true(one <= 0 || other <= 0 || one < 2 * other);
      }
    }
    assert_true(run(&w, &l, 3, 0) < 0.5);
    tsl_history_clear(&l);
  }
}

/* ------------------------------------------------------ a game of phases */

enum { PHASES = 12 };

/* Ranks of speeds 1 to 100 that the cost model has up to off times wrong, dealt by it; a first run
 * takes setup times as long more, which the model has 10 times too long or short. @return all
 * phases, and the last one but for noise, over those of the ranks' joint speed; kept: all phases as
 * they were dealt */
static double play(int trial, double off, double setup, double *last, double *kept) {
  static world w;
  uint64_t seed = 100 + (uint64_t)trial;
  const int ranks = 2 + trial % 4;
  double rate = 0, work = 0, all = 0, load[MOST_RANKS] = {0};
  tsl_timing_history l;
  make_world(&w, ranks, 60 + random_below(&seed, 240), 1 + setup, &seed);
  for (int r = 0; r < ranks; r++) {
    w.slowness[r] = pow(100, random_unit(&seed));
    rate += 1 / w.slowness[r];
    const double model = w.slowness[r] * pow(off, 2 * random_unit(&seed) - 1);
    for (int kind = 0; kind < 2; kind++)
      w.speeds[r].c[kind][3] = model,
      w.speeds[r].c[kind][TSL_SETUP] = model * setup * pow(10, r % 3 - 1);
  }
  for (int64_t u = 0; u < w.n; u++) {
    int best = 0;
    for (int r = 1; r < ranks; r++)
      if (load[r] + w.work[u] * w.speeds[r].c[0][3] <
          load[best] + w.work[u] * w.speeds[best].c[0][3])
        best = r;
    load[w.owner[u] = best] += w.work[u] * w.speeds[best].c[0][3];
    work += w.work[u];
  }
  *kept = setup;
  assert_int_equal(tsl_history_open(w.units, w.n, &w.cost, &one_set, &l), TSL_OK);
  for (int k = 0; k < PHASES; k++) {
    double clean[MOST_RANKS] = {0}, took[MOST_RANKS] = {0};
    for (int64_t u = 0; u < w.n; u++) {
      const double seconds = w.work[u] * w.slowness[w.owner[u]];
      w.late[u] = 0.97 + 0.06 * random_unit(&seed);
      clean[w.owner[u]] += seconds;
      took[w.owner[u]] += seconds * w.late[u] * (w.ran[u] ? 1 : 1 + setup);
    }
    *last = tsl_plan_longest(clean, ranks) * rate / work;
    if (k == 0) *kept = (PHASES + setup) * *last;
    all += tsl_plan_longest(took, ranks) * rate / work;
    (void)phase(&w, &l);
  }
  tsl_history_clear(&l);
  return all;
}

/* Phases become even as far as what moves cost lets them, and moves pay. */
static void ranks_become_even(void **state) {
  (void)state;
  for (int wrong = 0; wrong < 3; wrong++)
    for (int s = 0; s < 4; s++) {
      static const double off[] = {1, 2, 5}, setup[] = {0, 1, 5, 20}, even[] = {1.05, 1.1, 1.3, 3};
      double last, kept, sum_last = 0, sum_all = 0, sum_kept = 0;
      for (int trial = 0; trial < 60; trial++) {
        const double all = play(trial, off[wrong], setup[s], &last, &kept);
        sum_last += last / 60, sum_all += all / 60, sum_kept += kept / 60;
        assert_true(last < even[s]);
        assert_true(all < 1.05 * kept);
      }
      print_message("off by %g, first runs %g times more: 12 phases in the time of %.1f, kept as "
                    "they were %.1f; the last one takes %.3f\n",
                    off[wrong], setup[s], sum_all, sum_kept, sum_last);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranks_become_even), cmocka_unit_test(learns),
      cmocka_unit_test(learns_sets),       cmocka_unit_test(dear_stays),
      cmocka_unit_test(slow_rank_settles), cmocka_unit_test(late_unit),
      cmocka_unit_test(late_rank),         cmocka_unit_test(shared_rank),
      cmocka_unit_test(odd_units),         cmocka_unit_test(odd_kind),
  };
  return cmocka_run_group_tests_name("unit.timing_history", tests, NULL, NULL);
}
