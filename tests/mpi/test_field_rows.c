/* mpi.field_rows: family.finish reads and writes finished fields, in memory and in the file, on any
 * number of ranks and with either HDF5 flavour; a streamed field that no unit fills is legal. */
#include "field_rows.h"
#include "mpi_fixture.h"
#include "phase.h"
#include "result_writer.h"
#include "slab_pool.h"

#include <hdf5.h>
#include <math.h>
#include <unistd.h>

enum { ROWS = 517, COLUMNS = 1201, UNITS = 13 };
enum { VALUES, DOUBLED, KEPT, LINE, TOTAL, RECORDS, N_FIELDS };

/* ------------------------------------------------------------- a small family */

static uint16_t value_of(int64_t row, int64_t column) {
  return (uint16_t)(row * 31 + column * 7);
}

/* Units are bands of rows; VALUES and KEPT are theirs, DOUBLED and LINE are nobody's. */
static void region(const tsl_problem *problem, const tsl_unit *unit, int field, int64_t lo[3],
                   int64_t hi[3]) {
  const bool filled = field == VALUES || field == KEPT;
  (void)problem;
  for (int k = 0; k < 3; k++) lo[k] = 0, hi[k] = 1;
  lo[0] = filled ? unit->lo[0] : 0;
  hi[0] = filled ? unit->hi[0] : 0;
  hi[1] = field == VALUES ? COLUMNS : 1;
}

/* What finish shall do; set by each test. */
static tsl_err (*task)(tsl_problem *problem, const tsl_field_rows *store);

static tsl_err finish(tsl_problem *problem, const tsl_field_rows *store) {
  return task(problem, store);
}

static const tsl_family family = {.name = "store", .region = region, .finish = finish};

static tsl_err add(tsl_problem *problem, const char *name, tsl_type type, tsl_combine combine,
                   int64_t rows, int64_t columns, bool stream) {
  tsl_err err = TSL_OK;
  tsl_field field = {.role = TSL_OUT,
                     .type = type,
                     .combine = combine,
                     .rank = columns > 0 ? 2 : 1,
                     .shape = {rows, columns, 1},
                     .stream = stream};
  tsl_field *added = NULL;
  (void)snprintf(field.name, sizeof field.name, "%s", name);
  TSL_TRY(tsl_problem_add(problem, &field, &added));
  if (!stream && combine == TSL_GATHER && rank == 0)
    TSL_TRY(tsl_alloc(tsl_field_count(added), tsl_type_bytes(type), name, &added->data));
done:
  return err;
}

static tsl_err make_problem(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  *problem = (tsl_problem){.family = &family};
  TSL_TRY(add(problem, "values", TSL_U16, TSL_GATHER, ROWS, COLUMNS, true));
  TSL_TRY(add(problem, "doubled", TSL_I32, TSL_GATHER, ROWS, COLUMNS, true));
  TSL_TRY(add(problem, "kept", TSL_I16, TSL_GATHER, ROWS, 0, false));
  TSL_TRY(add(problem, "line", TSL_F64, TSL_GATHER, ROWS, 0, true));
  TSL_TRY(add(problem, "total", TSL_U64, TSL_SUM, 1, 0, false));
  TSL_TRY(add(problem, "records", TSL_U8, TSL_LIST, 0, 2, false));
done:
  return err;
}

/* Every rank delivers the units that are its turn, as a phase would. */
static tsl_err deliver_all(tsl_problem *problem, tsl_out *out) {
  tsl_err err = TSL_OK;
  tsl_unit units[UNITS];
  tsl_message parcels[UNITS] = {{.n_requests = 0}};
  tsl_part part = {.seconds = 0};
  tsl_result_writer *delivery = NULL;
  uint16_t *values = malloc(sizeof *values * ROWS * COLUMNS);
  int16_t kept[ROWS];
  for (int u = 0; u < UNITS; u++)
    units[u] = (tsl_unit){.id = u, .lo = {ROWS * u / UNITS}, .hi = {ROWS * (u + 1) / UNITS}};
  for (int64_t i = 0; i < ROWS; i++) {
    kept[i] = (int16_t)-i;
    for (int64_t j = 0; j < COLUMNS; j++) values[i * COLUMNS + j] = value_of(i, j);
  }
  TSL_TRY(tsl_result_writer_open(MPI_COMM_WORLD, problem, out, units, UNITS, &delivery));
  for (int u = rank; u < UNITS; u += size) {
    part.slab[VALUES] = values + units[u].lo[0] * COLUMNS;
    part.slab[KEPT] = kept + units[u].lo[0];
    TSL_TRY(tsl_result_writer_put(delivery, &units[u], &part));
    TSL_TRY(tsl_result_writer_send(delivery, &units[u], 1, &part, &parcels[u]));
  }
  TSL_TRY(tsl_result_writer_flush(delivery));
  for (int u = rank; u < UNITS; u += size)
    for (bool sent = false, took = false; !sent;) {
      TSL_TRY(tsl_result_writer_serve(delivery, false, &took));
      TSL_TRY(tsl_message_sent(&parcels[u], &sent));
    }
  TSL_TRY(tsl_result_writer_end(delivery));
  while (!tsl_result_writer_complete(delivery)) {
    bool took = false;
    TSL_TRY(tsl_result_writer_serve(delivery, false, &took));
  }
done:
  tsl_result_writer_close(&delivery);
  free(values);
  return err;
}

static tsl_err open_out(const tsl_problem *problem, const char *name, int compress, tsl_out **out) {
  tsl_err err = TSL_OK;
  TSL_COLLECTIVE_TRY(MPI_COMM_WORLD,
                     tsl_out_create(MPI_COMM_WORLD, path_of(name), true, compress, out));
  TSL_TRY(tsl_out_field(*out, &problem->fields[VALUES]));
  TSL_TRY(tsl_out_field(*out, &problem->fields[DOUBLED]));
  TSL_TRY(tsl_out_field(*out, &problem->fields[LINE]));
  TSL_TRY(tsl_out_open_stream(*out));
done:
  return err;
}

/* A run up to finish; the out of a failed run is discarded. */
static tsl_err run_to_finish(const char *name, int compress, tsl_problem *problem, tsl_out **out) {
  tsl_err err = TSL_OK;
  TSL_COLLECTIVE_TRY(MPI_COMM_WORLD, make_problem(problem));
  TSL_TRY(open_out(problem, name, compress, out));
  TSL_COLLECTIVE_TRY(MPI_COMM_WORLD, deliver_all(problem, *out));
  TSL_TRY(tsl_out_close_stream(*out));
  TSL_TRY(tsl_field_rows_finish(MPI_COMM_WORLD, NULL, problem, *out));
done:
  return err;
}

/* --------------------------------------------------------------------- tests */

/* Rows in blocks of step, the last one first when it is negative. */
static tsl_err copy_doubled(const tsl_field_rows *store, int64_t step) {
  tsl_err err = TSL_OK;
  const int64_t size_of = llabs(step), n = (ROWS + size_of - 1) / size_of;
  uint16_t *from = malloc(sizeof *from * (size_t)size_of * COLUMNS);
  int32_t *to = malloc(sizeof *to * (size_t)size_of * COLUMNS);
  for (int64_t k = 0; k < n; k++) {
    const int64_t lo = size_of * (step > 0 ? k : n - 1 - k);
    const int64_t hi = lo + size_of < ROWS ? lo + size_of : ROWS;
    TSL_TRY(store->read(store->state, VALUES, lo, hi, from));
    for (int64_t i = 0; i < (hi - lo) * COLUMNS; i++) to[i] = -2 * (int32_t)from[i];
    TSL_TRY(store->write(store->state, DOUBLED, lo, hi, to));
  }
done:
  free(from);
  free(to);
  return err;
}

static tsl_err fill_line(const tsl_field_rows *store) {
  tsl_err err = TSL_OK;
  double line[ROWS];
  int16_t kept[ROWS];
  TSL_TRY(store->read(store->state, KEPT, 0, ROWS, kept));
  for (int i = 0; i < ROWS; i++) line[i] = 0.5 * kept[i];
  TSL_TRY(store->write(store->state, LINE, 0, ROWS, line));
  for (int i = 0; i < ROWS; i++) kept[i] = (int16_t)(kept[i] - 1);
  TSL_TRY(store->write(store->state, KEPT, 100, 300, kept + 100));
done:
  return err;
}

static tsl_err derive_forward(tsl_problem *problem, const tsl_field_rows *store) {
  tsl_err err = TSL_OK;
  (void)problem;
  TSL_TRY(copy_doubled(store, 37));
  TSL_TRY(fill_line(store));
done:
  return err;
}

static tsl_err derive_backward(tsl_problem *problem, const tsl_field_rows *store) {
  tsl_err err = TSL_OK;
  (void)problem;
  TSL_TRY(copy_doubled(store, 1000)); /* all rows at once, then again over what is there */
  TSL_TRY(copy_doubled(store, -1));
  TSL_TRY(fill_line(store));
done:
  return err;
}

static void *read_dataset(hid_t file, const char *name, hid_t type, size_t bytes) {
  void *data = malloc(bytes);
  const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
  const bool good = H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
  (void)H5Dclose(dataset);
  if (good) return data;
  free(data);
  return NULL;
}

/* Root: does the finished file hold what the family computed and derived? */
static bool file_is_right(const char *name) {
  const hid_t file = H5Fopen(path_of(name), H5F_ACC_RDONLY, H5P_DEFAULT);
  const size_t n = (size_t)ROWS * COLUMNS;
  uint16_t *values = read_dataset(file, "/results/values", H5T_NATIVE_UINT16, 2 * n);
  int32_t *doubled = read_dataset(file, "/results/doubled", H5T_NATIVE_INT32, 4 * n);
  int16_t *kept = read_dataset(file, "/results/kept", H5T_NATIVE_INT16, 2 * ROWS);
  double *line = read_dataset(file, "/results/line", H5T_NATIVE_DOUBLE, 8 * ROWS);
  bool good = values != NULL && doubled != NULL && kept != NULL && line != NULL;
  for (int64_t i = 0; good && i < ROWS; i++) {
    good = kept[i] == -i - (i >= 100 && i < 300) && line[i] == -0.5 * (double)i;
    for (int64_t j = 0; good && j < COLUMNS; j++)
      good = values[i * COLUMNS + j] == value_of(i, j) &&
             doubled[i * COLUMNS + j] == -2 * (int32_t)value_of(i, j);
  }
  free(values), free(doubled), free(kept), free(line);
  (void)H5Fclose(file);
  return good;
}

static void derived(const char *name, int compress) {
  tsl_problem problem = {0};
  tsl_out *out = NULL;
  CHECK(run_to_finish(name, compress, &problem, &out) == TSL_OK);
  CHECK(tsl_out_array(out, &problem.fields[KEPT]) == TSL_OK);
  CHECK(tsl_out_commit(&out) == TSL_OK);
  CHECK(rank != 0 || file_is_right(name));
  CHECK(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) == 0);
  tsl_problem_clear(&problem);
}

static void in_order(void **state) {
  (void)state;
  task = derive_forward;
  derived("a.h5", 0);
}

static void over_again(void **state) {
  (void)state;
  task = derive_backward;
  derived("b.h5", 0);
}

static void compressed(void **state) {
  (void)state;
  task = derive_backward;
  derived("c.h5", 4);
}

/* Everything that a family could get wrong is an error; the first one is returned. */
static tsl_err misuse(tsl_problem *problem, const tsl_field_rows *store) {
  double line[4] = {0, 1, 2, 3};
  (void)problem;
  assert_int_equal(store->read(store->state, -1, 0, 1, line), TSL_ERR_INTERNAL);
  assert_int_equal(store->read(store->state, N_FIELDS, 0, 1, line), TSL_ERR_INTERNAL);
  assert_int_equal(store->read(store->state, TOTAL, 0, 1, line), TSL_ERR_INTERNAL);
  assert_int_equal(store->read(store->state, RECORDS, 0, 0, line), TSL_ERR_INTERNAL);
  assert_int_equal(store->read(store->state, LINE, -1, 1, line), TSL_ERR_INTERNAL);
  assert_int_equal(store->read(store->state, LINE, 2, 1, line), TSL_ERR_INTERNAL);
  assert_int_equal(store->write(store->state, LINE, ROWS - 1, ROWS + 1, line), TSL_ERR_INTERNAL);
  assert_int_equal(store->write(store->state, KEPT, ROWS, ROWS + 1, line), TSL_ERR_INTERNAL);
  assert_int_equal(store->write(store->state, LINE, ROWS, ROWS, line), TSL_OK);
  assert_int_equal(store->read(store->state, KEPT, 0, 0, NULL), TSL_OK);
  line[2] = NAN;
  assert_int_equal(store->write(store->state, LINE, 0, 4, line), TSL_ERR_NUMERIC);
  assert_int_equal(store->write(store->state, LINE, 0, 2, line), TSL_OK);
  tsl_stop_signal = 15;
  assert_int_equal(store->write(store->state, LINE, 0, 2, line), TSL_ERR_STOPPED);
  tsl_stop_signal = 0;
  return tsl_fail(TSL_ERR_INPUT, __FILE__, __LINE__, "the picture cannot be written");
}

static void errors_reach_all(void **state) {
  tsl_problem problem = {0};
  tsl_out *out = NULL;
  (void)state;
  task = misuse;
  CHECK(run_to_finish("e.h5", 0, &problem, &out) == TSL_ERR_INPUT);
  CHECK(strstr(tsl_err_message(), "picture") != NULL);
  tsl_out_discard(&out);
  (void)MPI_Barrier(MPI_COMM_WORLD);
  CHECK(access(path_of("e.h5"), F_OK) != 0 && access(path_of("e.h5.part"), F_OK) != 0);
  tsl_problem_clear(&problem);
}

static void remove_folder(void) {
  static const char *const names[] = {"a.h5", "b.h5", "c.h5"};
  for (size_t n = 0; n < sizeof names / sizeof *names; n++) (void)unlink(path_of(names[n]));
  if (rmdir(folder) != 0) (void)fprintf(stderr, "files left in %s\n", folder);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(in_order),
      cmocka_unit_test(over_again),
      cmocka_unit_test(compressed),
      cmocka_unit_test(errors_reach_all),
  };
  int failed = 0;
  begin_ranks(&argc, &argv);
  make_folder();
  failed = cmocka_run_group_tests_name("mpi.store", tests, NULL, NULL);
  (void)MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) remove_folder();
  (void)MPI_Finalize();
  return failed;
}
