/* unit.plan.select_ranks: who takes part is who shortens the run by more than it costs. */
#include "random.h"
#include "select_ranks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MAX_RANKS = 9, N_UNITS = 512 };

/* Rank r alone needs alone[r] seconds. */
typedef struct instance {
  double alone[MAX_RANKS];
  double setup[MAX_RANKS]; /* s of all first runs more */
  tsl_unit units[N_UNITS];
  tsl_select_ask ask;
  tsl_use use[MAX_RANKS];
} instance;

static double seconds_of(const void *model, int rank, const tsl_unit *unit) {
  const instance *in = model;
  (void)unit;
  return (in->alone[rank] + in->setup[rank] / in->ask.phases) / N_UNITS;
}

static void make(instance *in, int ranks, const double *alone) {
  *in = (instance){.alone = {0}};
  for (int r = 0; r < ranks; r++) in->alone[r] = alone[r];
  in->ask = (tsl_select_ask){
      .work = {in->units, N_UNITS, ranks, seconds_of, in}, .phases = 1, .cut_last = 1};
}

static int parts(const instance *in) {
  int n = 0;
  for (int r = 0; r < in->ask.work.n_ranks; r++) n += in->use[r].takes_part;
  return n;
}

/* Equal ranks share even the shortest run. */
static void equal_ranks_stay(void **state) {
  static instance in;
  static const double alone[] = {1e-3, 1e-3, 1.2e-3, 3.9e-3};
  (void)state;
  make(&in, 4, alone);
  tsl_select_ranks(&in.ask, in.use);
  assert_int_equal(parts(&in), 4);
}

/* The socket beside a card: out of a short run, part of a long one. */
static void a_slow_rank_needs_time(void **state) {
  static instance in;
  bool was_in = false;
  (void)state;
  for (double seconds = 0.01; seconds < 100; seconds *= 2) {
    const double alone[] = {25 * seconds, seconds};
    make(&in, 2, alone);
    in.ask.cut_last = 4;
    tsl_select_ranks(&in.ask, in.use);
    assert_int_equal(in.use[1].takes_part, 1);
    assert_true(in.use[0].takes_part >= was_in);
    was_in = in.use[0].takes_part;
    assert_true(fabs(in.use[0].gain - (seconds - seconds / 1.04)) <= 1e-9 * seconds);
    assert_true(fabs(in.use[0].without - seconds) <= 1e-9 * seconds);
    assert_int_equal(was_in, in.use[0].gain > in.use[0].price);
    if (seconds < 0.5) assert_false(was_in); /* gains 20 ms at most */
  }
  assert_true(was_in);
}

/* The whole run counts: later phases of 24 ms would not need the socket, 8 s of set-up do. */
static void set_up_counts(void **state) {
  static instance in;
  static const double alone[] = {0.024, 2.2};
  (void)state;
  make(&in, 2, alone);
  in.ask.phases = 10;
  tsl_select_ranks(&in.ask, in.use);
  assert_int_equal(parts(&in), 1);
  assert_true(fabs(in.use[1].alone - 22) < 1e-9);
  in.setup[0] = 8, in.setup[1] = 9;
  tsl_select_ranks(&in.ask, in.use);
  assert_int_equal(parts(&in), 2);
  assert_true(fabs(in.use[0].alone - 8.24) < 1e-9 && fabs(in.use[1].alone - 31) < 1e-9);
}

/* Results that must travel, and one more stage of strips, speak against a slow rank. */
static void prices(void **state) {
  static instance in;
  static const double alone[] = {4, 60};
  (void)state;
  make(&in, 2, alone);
  tsl_select_ranks(&in.ask, in.use);
  const double bare = in.use[1].price;
  assert_true(fabs(bare - TSL_USEFUL_START - 60.0 / N_UNITS) <= 1e-12);
  assert_int_equal(in.use[1].takes_part, 1);
  in.ask.bytes = 16e9; /* a sixteenth of them at 1 GB/s: a second */
  tsl_select_ranks(&in.ask, in.use);
  assert_true(fabs(in.use[1].price - bare - 1) <= 1e-9);
  assert_int_equal(in.use[1].takes_part, 0);
  in.ask.bytes = 0, in.ask.stages = 10;
  tsl_select_ranks(&in.ask, in.use);
  assert_true(fabs(in.use[1].price - bare - 0.375) <= 1e-9);
  assert_int_equal(in.use[1].takes_part, 0);
}

/* A slow rank whose device computes no fewer units at once is late by so many. */
static void batches_of_many_units(void **state) {
  static instance in;
  static const double alone[] = {4, 60}, batch[] = {0, 0.5};
  (void)state;
  make(&in, 2, alone);
  tsl_select_ranks(&in.ask, in.use);
  assert_int_equal(in.use[1].takes_part, 1); /* gains 0.25 s */
  in.ask.batch = batch;
  tsl_select_ranks(&in.ask, in.use);
  assert_true(fabs(in.use[1].price - TSL_USEFUL_START - 0.5) <= 1e-12);
  assert_int_equal(in.use[1].takes_part, 0);
}

/* Many slow ranks pay the start once, so that together they can be worth it. */
static void many_slow_ranks(void **state) {
  static instance in;
  static const double alone[] = {0.4, 8, 8, 8, 8, 8, 8, 8, 8};
  (void)state;
  make(&in, 2, alone);
  tsl_select_ranks(&in.ask, in.use);
  assert_int_equal(parts(&in), 1);
  make(&in, 9, alone);
  tsl_select_ranks(&in.ask, in.use);
  assert_int_equal(parts(&in), 9);
}

/* Against all sets: the chosen one is the best of those that add ranks by speed. */
static void best_of_all(void **state) {
  static instance in;
  uint64_t seed = 7;
  (void)state;
  for (int trial = 0; trial < 500; trial++) {
    const int ranks = 1 + (int)random_below(&seed, MAX_RANKS);
    double alone[MAX_RANKS], fastest = INFINITY, best = INFINITY, chosen = 0;
    for (int r = 0; r < ranks; r++) {
      alone[r] = 0.05 * pow(10, 3 * random_unit(&seed));
      fastest = fmin(fastest, alone[r]);
    }
    make(&in, ranks, alone);
    tsl_select_ranks(&in.ask, in.use);
    for (int k = -1; k < ranks; k++) { /* all at least as fast as rank k; -1: the chosen */
      double rate = 0, slowest = 0;
      for (int r = 0; r < ranks; r++) {
        const bool fast = alone[r] <= TSL_USEFUL_PEERS * fastest;
        const bool part = k < 0 ? in.use[r].takes_part != 0 : fast || alone[r] <= alone[k];
        if (fast) assert_int_equal(in.use[r].takes_part, 1);
        if (part) rate += 1 / alone[r];
        if (part && !fast) slowest = fmax(slowest, alone[r]);
      }
      const double total = 1 / rate + (slowest > 0 ? TSL_USEFUL_START + slowest / N_UNITS : 0);
      if (k < 0)
        chosen = total;
      else
        best = fmin(best, total);
    }
    assert_true(chosen <= best * (1 + 1e-12));
  }
}

static void nothing_known(void **state) {
  static instance in;
  static const double alone[] = {0, 1e3};
  (void)state;
  make(&in, 2, alone);
  tsl_select_ranks(&in.ask, in.use);
  assert_int_equal(parts(&in), 2);
  in.ask.work.n_units = 0;
  tsl_select_ranks(&in.ask, in.use);
  assert_int_equal(parts(&in), 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_ranks_stay),      cmocka_unit_test(a_slow_rank_needs_time),
      cmocka_unit_test(set_up_counts),         cmocka_unit_test(prices),
      cmocka_unit_test(batches_of_many_units), cmocka_unit_test(many_slow_ranks),
      cmocka_unit_test(best_of_all),           cmocka_unit_test(nothing_known),
  };
  return cmocka_run_group_tests_name("plan.useful", tests, NULL, NULL);
}
