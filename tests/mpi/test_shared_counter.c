/* mpi.shared_counter: the window on any number of ranks (start it alone or with mpirun). */
#include "mpi_fixture.h"
#include "shared_counter.h"

#include "clock.h"

#include <sys/resource.h>
#include <time.h>

enum { MAX_RANKS = 7 };

static tsl_shared_counter *open_counter(void) {
  tsl_shared_counter *counter = NULL;
  if (tsl_counter_open(MPI_COMM_WORLD, &counter) != TSL_OK) fail_msg("%s", tsl_err_message());
  return counter;
}

/* Owner and thieves empty a range: each position is handed out once. */
static void ranges_are_disjoint(void **state) {
  enum { N = 1000 };
  int taken[N] = {0}, sum[N];
  tsl_range got;
  (void)state;
  tsl_shared_counter *counter = open_counter();
  if (rank == 0) assert_int_equal(tsl_counter_set_range(counter, (tsl_range){0, N}), TSL_OK);
  (void)MPI_Barrier(MPI_COMM_WORLD);
  for (int32_t n = 1;; n = n % 17 + 1) {
    assert_int_equal(tsl_counter_take_range(counter, 0, n, &got), TSL_OK);
    if (got.front >= got.back) break;
    assert_true(got.front >= 0 && got.back <= N && got.back - got.front <= n);
    for (int32_t k = got.front; k < got.back; k++) taken[k]++;
  }
  (void)MPI_Allreduce(taken, sum, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int k = 0; k < N; k++) assert_int_equal(sum[k], 1);
  tsl_counter_close(&counter);
  assert_null(counter);
  tsl_counter_close(&counter);
}

/* A range that is empty from the beginning, whoever asks. */
static void empty_ranges_stay_empty(void **state) {
  tsl_range got;
  (void)state;
  tsl_shared_counter *counter = open_counter();
  assert_int_equal(tsl_counter_set_range(counter, (tsl_range){8, 8}), TSL_OK);
  (void)MPI_Barrier(MPI_COMM_WORLD);
  for (int owner = 0; owner < size; owner++) {
    assert_int_equal(tsl_counter_take_range(counter, owner, 3, &got), TSL_OK);
    assert_true(got.front >= got.back);
  }
  (void)MPI_Barrier(MPI_COMM_WORLD);
  tsl_counter_close(&counter);
}

/* Is it so on rank 0? All ranks ask together: rank 0 answers the others while it waits for them. */
static bool on_first(bool holds) {
  int there = 0;
  const int mine = rank == 0 && holds;
  (void)MPI_Allreduce(&mine, &there, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return there != 0;
}

/* What a rank tells of its speed, and what it has left, is what the others see. */
static void others_see(void **state) {
  double told[MAX_RANKS] = {0};
  tsl_range left[MAX_RANKS];
  (void)state;
  if (size > MAX_RANKS) skip();
  tsl_shared_counter *counter = open_counter();
  assert_int_equal(tsl_counter_set_range(counter, (tsl_range){rank, 100 + rank}), TSL_OK);
  if (rank == size - 1) assert_int_equal(tsl_counter_slower(counter, 8), TSL_OK);
  while (!on_first(told[size - 1] == 8))
    assert_int_equal(tsl_counter_read(counter, told, left), TSL_OK);
  if (rank == 0)
    for (int r = 0; r < size; r++) {
      assert_true(told[r] == (r == size - 1 ? 8 : 1));
      assert_true(left[r].front == r && left[r].back == 100 + r);
    }
  (void)MPI_Barrier(MPI_COMM_WORLD);
  tsl_counter_close(&counter);
}

static void stops(void **state) {
  bool aborted = true, paused = true;
  (void)state;
  tsl_shared_counter *counter = open_counter();
  assert_int_equal(tsl_counter_aborted(counter, &aborted, &paused), TSL_OK);
  assert_false(aborted);
  (void)MPI_Barrier(MPI_COMM_WORLD);
  if (rank == size - 1) assert_int_equal(tsl_counter_abort(counter), TSL_OK);
  (void)MPI_Barrier(MPI_COMM_WORLD);
  while (!aborted) assert_int_equal(tsl_counter_aborted(counter, &aborted, &paused), TSL_OK);
  (void)MPI_Barrier(MPI_COMM_WORLD);
  tsl_counter_close(&counter);
}

/* How often this thread has gone to sleep; giving way to others (sched_yield) does not count. */
static long sleeps(void) {
  struct rusage usage;
  (void)getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

/* Who waits for rank 0 of another host leaves its core to the threads that compute. */
static void sleeps_while_it_waits(void **state) {
  const struct timespec long_nap = {0, 400 * 1000 * 1000};
  double seconds = 0;
  bool one_host = true;
  (void)state;
  assert_int_equal(tsl_on_one_host(MPI_COMM_WORLD, &one_host), TSL_OK);
  tsl_shared_counter *counter = open_counter();
  assert_int_equal(tsl_counter_done(counter, &seconds), TSL_OK); /* there is a connection now */
  (void)MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) (void)nanosleep(&long_nap, NULL);
  const double begin = tsl_now();
  const long before = sleeps();
  assert_int_equal(tsl_counter_done(counter, &seconds), TSL_OK);
  if (!one_host && tsl_now() - begin > 0.2) assert_true(sleeps() - before > 5);
  (void)MPI_Barrier(MPI_COMM_WORLD);
  tsl_counter_close(&counter);
}

static void adds_work(void **state) {
  double seconds = 0;
  bool aborted = false, paused = false;
  (void)state;
  tsl_shared_counter *counter = open_counter();
  for (int k = 0; k < 4; k++) assert_int_equal(tsl_counter_add_done(counter, 0.25), TSL_OK);
  while (!on_first(seconds > size - 1e-6)) {
    assert_int_equal(tsl_counter_aborted(counter, &aborted, &paused), TSL_OK);
    assert_int_equal(tsl_counter_done(counter, &seconds), TSL_OK);
  }
  assert_true(seconds < size + 1e-6);
  tsl_counter_close(&counter);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranges_are_disjoint),
      cmocka_unit_test(empty_ranges_stay_empty),
      cmocka_unit_test(others_see),
      cmocka_unit_test(stops),
      cmocka_unit_test(sleeps_while_it_waits),
      cmocka_unit_test(adds_work),
  };
  begin_ranks(&argc, &argv);
  return end_ranks(cmocka_run_group_tests_name("mpi.shared_counter", tests, NULL, NULL));
}
