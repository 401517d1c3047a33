/* mpi.machine: the table of all ranks on the real host. */
#include "bind.h"
#include "machine.h"
#include "mpi_fixture.h"

#include <sched.h>

static void table_is_same_everywhere(void **state) {
  const tsl_bind_ask ask = {.devices = "cpu", .threads = 0, .host_memory = 1 << 20};
  tsl_placement *placements = NULL;
  (void)state;
  assert_int_equal(tsl_machine_gather(MPI_COMM_WORLD, &ask, &placements), TSL_OK);
  for (int r = 0; r < size; r++) {
    assert_int_equal(placements[r].rank, r);
    assert_int_equal(placements[r].device.kind, TSL_CPU);
    assert_int_equal(placements[r].device.threads, placements[r].threads);
    assert_in_range(placements[r].threads, 1, placements[r].node_cores);
    assert_in_range(placements[r].allowed_cores, 1, placements[r].node_cores);
    assert_int_equal(placements[r].device.memory_limit, 1 << 20);
    assert_int_equal(placements[r].node, 0); /* one host runs this test */
    assert_int_equal(placements[r].local_rank, r);
    assert_int_equal(placements[r].local_size, size);
    assert_true(placements[r].host[0] != '\0');
    assert_int_equal(placements[r].cpuset[0] == '\0',
                     (placements[r].notes & TSL_NOTE_CROWDED) != 0);
  }
  if (rank == 0)
    tsl_machine_print(placements, size, stdout), tsl_machine_warn(placements, size, stdout);
  tsl_free(placements);
}

static void thread_is_bound(void **state) {
  tsl_placement placement = {.cpuset = ""};
  cpu_set_t before, after;
  int pu = 0;
  (void)state;
  assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
  assert_int_equal(tsl_bind_thread(&placement), TSL_OK);
  while (!CPU_ISSET(pu, &before)) pu++;
  (void)snprintf(placement.cpuset, sizeof placement.cpuset, "%d", pu);
  assert_int_equal(tsl_bind_thread(&placement), TSL_OK);
  assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
  assert_int_equal(CPU_COUNT(&after), 1);
  assert_true(CPU_ISSET(pu, &after));
  (void)snprintf(placement.cpuset, sizeof placement.cpuset, "100000");
  assert_int_equal(tsl_bind_thread(&placement), TSL_ERR_INTERNAL);
  assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

static void refusal_reaches_all(void **state) {
  const tsl_bind_ask ask = {.devices = "cpu999"};
  tsl_placement *placements = NULL;
  (void)state;
  assert_int_equal(
      tsl_collective_error(MPI_COMM_WORLD, tsl_machine_gather(MPI_COMM_WORLD, &ask, &placements)),
      TSL_ERR_INPUT);
  assert_null(placements);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(table_is_same_everywhere),
      cmocka_unit_test(thread_is_bound),
      cmocka_unit_test(refusal_reaches_all),
  };
  begin_ranks(&argc, &argv);
  return end_ranks(cmocka_run_group_tests_name("mpi.machine", tests, NULL, NULL));
}
