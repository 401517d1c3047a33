/* mpi.work_source: own part and others' parts: every unit goes to exactly one rank (start it
 * alone or with mpirun). */
#include "../unit/plan_fixture.h"
#include "mpi_fixture.h"
#include "work_source.h"

#include "batch.h"
#include "clock.h"

#include <math.h>

static const int64_t one_each[] = {1}; /* units of a batch at least, by kind */

static void make(instance *in, tsl_plan_kind kind, int64_t n, int ranks, const double *slowness,
                 double dynamic, uint64_t *random) {
  if (make_plan(in, kind, n, ranks, slowness, dynamic, random) != TSL_OK)
    fail_msg("%s", tsl_err_message());
}

static tsl_shared_counter *open_counter(void) {
  tsl_shared_counter *counter = NULL;
  if (tsl_counter_open(MPI_COMM_WORLD, &counter) != TSL_OK) fail_msg("%s", tsl_err_message());
  return counter;
}

/* Over several hosts the owner of the window answers, in the program its main thread. */
static void wait_until(double until, bool one_host) {
  int flag = 0;
  while (tsl_now() < until)
    if (!one_host)
      (void)MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

/* Empty the work source, rank r napping naps[r] us for each unit; every unit must come out once.
 * Returns how many were taken from other ranks' parts. */
static int empty_source(instance *in, const long *naps) {
  static int taken[MAX_UNITS], sum[MAX_UNITS];
  const tsl_plan *plan = &in->plan;
  tsl_work_source *source = NULL;
  tsl_shared_counter *counter = open_counter();
  bool one_host = false;
  int stolen = 0;
  memset(taken, 0, sizeof taken);
  assert_int_equal(tsl_on_one_host(MPI_COMM_WORLD, &one_host), TSL_OK);
  if (tsl_work_source_open(MPI_COMM_WORLD, counter, plan, in->units, &in->cost, one_each, false,
                           &source) != TSL_OK)
    fail_msg("%s", tsl_err_message());
  while (tsl_work_source_left(source)) {
    int64_t n = 0;
    const int64_t *units = NULL;
    const double until = tsl_now() + 1e-6 * (double)naps[rank];
    assert_int_equal(tsl_work_source_batch(source, 0, 1, &units, &n), TSL_OK);
    if (n == 0) continue;
    stolen += plan->owner[units[0]] != rank;
    taken[units[0]]++;
    wait_until(until, one_host);
  }
  (void)MPI_Allreduce(MPI_IN_PLACE, &stolen, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  (void)MPI_Allreduce(taken, sum, MAX_UNITS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int64_t u = 0; u < MAX_UNITS; u++) assert_int_equal(sum[u], u < plan->n_units);
  tsl_work_source_close(&source);
  assert_null(source);
  tsl_counter_close(&counter);
  return stolen;
}

static void all_units_once(void **state) {
  static instance in;
  static const double shares[] = {0, 0.2, 1};
  static const long naps[MAX_RANKS] = {0};
  double slowness[MAX_RANKS];
  uint64_t seed = 2;
  (void)state;
  if (size > MAX_RANKS) skip();
  for (int r = 0; r < size; r++) slowness[r] = 1e-5 * (1 + r);
  for (int kind = 0; kind < TSL_PLAN_SHARE; kind++)
    for (int s = 0; s < 3; s++)
      for (int64_t n = 0; n < MAX_UNITS; n = 5 * n + 7) {
        make(&in, (tsl_plan_kind)kind, n, size, slowness, shares[s], &seed);
        const int stolen = empty_source(&in, naps);
        if (shares[s] == 0) assert_int_equal(stolen, 0); /* such a plan is kept */
        tsl_plan_clear(&in.plan);
      }
}

/* Rank 0 is forty times slower than planned: the others take units of its part. */
static void late_rank_is_relieved(void **state) {
  static instance in;
  double slowness[MAX_RANKS];
  long naps[MAX_RANKS];
  (void)state;
  if (size > MAX_RANKS || size == 1) skip();
  for (int r = 0; r < size; r++) slowness[r] = 1e-4, naps[r] = r == 0 ? 4000 : 100;
  make(&in, TSL_PLAN_STRIPS, 300 * size, size, slowness, 0.2, NULL);
  assert_true(empty_source(&in, naps) > 0);
  tsl_plan_clear(&in.plan);
}

/* A rank thirty times slower than the others, whatever the plan gave it. */
static void slow_rank_holds_nobody_up(void **state) {
  static instance in;
  double slowness[MAX_RANKS];
  long naps[MAX_RANKS];
  (void)state;
  if (size > MAX_RANKS || size == 1) skip();
  for (int r = 0; r < size; r++) slowness[r] = r == 1 ? 1.5e-3 : 5e-5;
  for (int r = 0; r < size; r++) naps[r] = (long)(1e6 * slowness[r]);
  for (int kind = 0; kind < TSL_PLAN_SHARE; kind++) {
    make(&in, (tsl_plan_kind)kind, 300 * size, size, slowness, 0.2, NULL);
    const int stolen = empty_source(&in, naps);
    if (kind == TSL_PLAN_ROUNDROBIN) assert_true(stolen > 0);
    tsl_plan_clear(&in.plan);
  }
}

/* A rank that is left out has nothing and asks for nothing. */
static void left_out_takes_nothing(void **state) {
  static instance in;
  bool left_out[MAX_RANKS] = {false};
  double slowness[MAX_RANKS];
  tsl_work_source *source = NULL;
  (void)state;
  if (size > MAX_RANKS || size == 1) skip();
  for (int r = 0; r < size; r++) slowness[r] = 1e-5;
  make(&in, TSL_PLAN_STRIPS, 100, size, slowness, 1, NULL);
  for (int64_t u = 0; u < 100; u++)
    if (in.plan.owner[u] == 1) in.plan.owner[u] = 0;
  left_out[1] = true;
  in.cost.left_out = left_out;
  tsl_shared_counter *counter = open_counter();
  if (tsl_work_source_open(MPI_COMM_WORLD, counter, &in.plan, in.units, &in.cost, one_each, false,
                           &source) != TSL_OK)
    fail_msg("%s", tsl_err_message());
  assert_int_equal(tsl_work_source_left(source), rank != 1);
  tsl_work_source_close(&source);
  tsl_counter_close(&counter);
  tsl_plan_clear(&in.plan);
}

/* A device whose batches overlap has up to one ahead, another what hides a start. */
static void overlapping_devices_get_a_batch_ahead(void **state) {
  static instance in;
  double slowness[MAX_RANKS];
  (void)state;
  if (size > MAX_RANKS) skip();
  for (int r = 0; r < size; r++) slowness[r] = 1e-2;
  make(&in, TSL_PLAN_STRIPS, 100 * size, size, slowness, 0.2, NULL);
  for (int overlaps = 0; overlaps < 2; overlaps++) {
    tsl_work_source *source = NULL;
    tsl_shared_counter *counter = open_counter();
    if (tsl_work_source_open(MPI_COMM_WORLD, counter, &in.plan, in.units, &in.cost, one_each,
                             overlaps != 0, &source) != TSL_OK)
      fail_msg("%s", tsl_err_message());
    const double longest = 1.0 / TSL_BATCHES; /* of a second that the phase takes */
    assert_true(fabs(tsl_work_source_enough(source) - (overlaps ? longest : TSL_BATCH_SHORT)) <
                1e-12);
    tsl_work_source_close(&source);
    tsl_counter_close(&counter);
  }
  tsl_plan_clear(&in.plan);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_units_once),
      cmocka_unit_test(late_rank_is_relieved),
      cmocka_unit_test(slow_rank_holds_nobody_up),
      cmocka_unit_test(overlapping_devices_get_a_batch_ahead),
      cmocka_unit_test(left_out_takes_nothing),
  };
  begin_ranks(&argc, &argv);
  return end_ranks(cmocka_run_group_tests_name("mpi.source", tests, NULL, NULL));
}
