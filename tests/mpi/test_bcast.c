/* mpi.bcast: all inputs are shared once, later only those that the root has touched. */
#include "bcast.h"
#include "mpi_fixture.h"

enum { N = 1000 };

static const tsl_family family = {.name = "test"};
static tsl_field *add(tsl_problem *problem, const char *name, int32_t role) {
  tsl_field field = {.role = role, .type = TSL_F64, .rank = 1, .shape = {N, 1, 1}}, *out = NULL;
  (void)snprintf(field.name, sizeof field.name, "%s", name);
  assert_int_equal(tsl_problem_add(problem, &field, &out), TSL_OK);
  assert_int_equal(tsl_alloc(N, sizeof(double), name, &out->data), TSL_OK);
  return out;
}

static void fill(tsl_problem *problem, int f, double value) {
  double *data = problem->fields[f].data;
  for (int64_t k = 0; k < N; k++) data[k] = value;
}

static void check(const tsl_problem *problem, int f, double value, int64_t changes) {
  const double *data = problem->fields[f].data;
  for (int64_t k = 0; k < N; k++) assert_true(data[k] == value);
  assert_int_equal(problem->fields[f].changes, changes);
}

static void changes(void **state) {
  tsl_problem problem = {.family = &family};
  (void)state;
  if (rank == 0) {
    assert_int_equal(tsl_alloc(1, 8, "parameters", &problem.params), TSL_OK);
    problem.params_bytes = 8;
    (void)add(&problem, "a", TSL_IN);
    (void)add(&problem, "b", TSL_IN);
    fill(&problem, 0, 1);
    fill(&problem, 1, 2);
    tsl_field_touch(&problem.fields[1]); /* before the first time: it is shared as all are */
  }
  assert_int_equal(tsl_bcast_problem(MPI_COMM_WORLD, &problem), TSL_OK);
  check(&problem, 0, 1, 0);
  check(&problem, 1, 2, 1);
  if (rank == 0) {
    fill(&problem, 0, 3);
    fill(&problem, 1, 4);
    tsl_field_touch(&problem.fields[0]);
  }
  assert_int_equal(tsl_bcast_inputs(MPI_COMM_WORLD, &problem), TSL_OK);
  check(&problem, 0, 3, 1);
  check(&problem, 1, rank == 0 ? 4 : 2, 1); /* not touched, so not shared */
  if (rank == 0) {
    tsl_field_touch(&problem.fields[1]);
    tsl_field_touch(&problem.fields[1]);
  }
  assert_int_equal(tsl_bcast_inputs(MPI_COMM_WORLD, &problem), TSL_OK);
  check(&problem, 0, 3, 1);
  check(&problem, 1, 4, 3);
  fill(&problem, 0, rank); /* nothing touched: nothing is overwritten */
  assert_int_equal(tsl_bcast_inputs(MPI_COMM_WORLD, &problem), TSL_OK);
  check(&problem, 0, rank, 1);
  tsl_problem_clear(&problem);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(changes)};
  begin_ranks(&argc, &argv);
  return end_ranks(cmocka_run_group_tests_name("mpi.share", tests, NULL, NULL));
}
