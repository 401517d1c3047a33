/* mpi.out_h5: the output file, run on 1 and more ranks, with either HDF5 flavour. */
#include "mpi_fixture.h"
#include "out_h5.h"

#include <hdf5.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Remove the output; the root does it, so the others wait before they look. */
static void discard(tsl_out **out) {
  tsl_out_discard(out);
  (void)MPI_Barrier(MPI_COMM_WORLD);
}

static bool exists(const char *name) {
  return access(path_of(name), F_OK) == 0;
}

static tsl_field field_of(const char *name, int type, int combine, int dims, int64_t n0,
                          int64_t n1) {
  tsl_field field = {.role = TSL_OUT, .type = type, .combine = combine, .rank = dims, .stream = 1};
  (void)snprintf(field.name, sizeof field.name, "%s", name);
  (void)snprintf(field.unit, sizeof field.unit, "m");
  (void)snprintf(field.doc, sizeof field.doc, "Test field %s.", name);
  if (strcmp(name, "line") == 0) (void)snprintf(field.quantity, sizeof field.quantity, "depth");
  field.shape[0] = n0, field.shape[1] = n1, field.shape[2] = 1;
  return field;
}

static tsl_err write_slab(tsl_out *out, const tsl_field *field, int64_t lo0, int64_t hi0,
                          int64_t lo1, int64_t hi1) {
  const int64_t lo[3] = {lo0, lo1, 0}, hi[3] = {hi0, hi1, 1};
  float *data = malloc(sizeof *data * (size_t)((hi0 - lo0) * (hi1 - lo1) + 1));
  float *to = data;
  tsl_err err = TSL_OK;
  for (int64_t i = lo0; i < hi0; i++)
    for (int64_t j = lo1; j < hi1; j++) *to++ = (float)(i * field->shape[1] + j);
  err = tsl_out_slab(out, field, lo, hi, data);
  free(data);
  return err;
}

/* Does dataset NAME of a finished file hold n floats 0, 1, 2, ...? Root. */
static bool holds_counting(const char *file_name, const char *name, int64_t n) {
  bool good = true;
  float *data = malloc(sizeof *data * (size_t)(n + 1));
  const hid_t file = H5Fopen(path_of(file_name), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
  const hid_t space = H5Dget_space(dataset);
  good = H5Sget_simple_extent_npoints(space) == n &&
         H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
  for (int64_t i = 0; good && i < n; i++) good = data[i] == (float)i;
  (void)H5Sclose(space), (void)H5Dclose(dataset), (void)H5Fclose(file);
  free(data);
  return good;
}

static bool no_ids(void) {
  return H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) == 0;
}

/* ------------------------------------------------------------------- writing */

enum { N1 = 300007, ROWS = 513, COLUMNS = 700 };

/* Boxes of both fields dealt to the ranks from the last to the first, or all by the root. */
static tsl_err write_boxes(tsl_out *out, const tsl_field *line, const tsl_field *square) {
  tsl_err err = TSL_OK;
  const bool alone = tsl_out_independent(out);
  for (int box = 12; box >= 0; box--) {
    if (alone ? box % size != rank : rank != 0) continue;
    TSL_TRY(write_slab(out, line, N1 * (int64_t)box / 13, N1 * (int64_t)(box + 1) / 13, 0, 1));
    TSL_TRY(write_slab(out, square, ROWS * box / 13, ROWS * (box + 1) / 13, 0, 300));
    TSL_TRY(write_slab(out, square, ROWS * box / 13, ROWS * (box + 1) / 13, 300, COLUMNS));
    TSL_TRY(write_slab(out, square, ROWS * box / 13, ROWS * box / 13, 5, 9));
  }
done:
  return err;
}

static void slabs(int compress) {
  tsl_out *out = NULL;
  const tsl_field line = field_of("line", TSL_F32, TSL_GATHER, 1, N1, 1);
  const tsl_field square = field_of("square", TSL_F32, TSL_GATHER, 2, ROWS, COLUMNS);
  const tsl_field empty = field_of("empty", TSL_F64, TSL_GATHER, 1, 0, 1);
  const tsl_field empty2 = field_of("empty2", TSL_I32, TSL_GATHER, 2, 0, 7);
  const int64_t zero[3] = {0, 0, 0};
  CHECK(tsl_out_create(MPI_COMM_WORLD, path_of("a.h5"), true, compress, &out) == TSL_OK);
  CHECK(tsl_out_field(out, &line) == TSL_OK && tsl_out_field(out, &square) == TSL_OK);
  CHECK(tsl_out_field(out, &empty) == TSL_OK && tsl_out_field(out, &empty2) == TSL_OK);
  CHECK(tsl_out_open_stream(out) == TSL_OK);
  CHECK(write_boxes(out, &line, &square) == TSL_OK);
  CHECK(rank != 0 || tsl_out_slab(out, &empty, zero, zero, NULL) == TSL_OK);
  CHECK(tsl_out_close_stream(out) == TSL_OK);
  CHECK(tsl_out_attr_i64(out, "/run", "answer", 42) == TSL_OK);
  CHECK(rank != 0 || exists("a.h5.part"));
  CHECK(tsl_out_commit(&out) == TSL_OK && out == NULL);
  CHECK(rank != 0 || (exists("a.h5") && !exists("a.h5.part")));
  CHECK(rank != 0 || holds_counting("a.h5", "/results/line", N1));
  CHECK(rank != 0 || holds_counting("a.h5", "/results/square", (int64_t)ROWS * COLUMNS));
  CHECK(rank != 0 || holds_counting("a.h5", "/results/empty", 0));
  CHECK(rank != 0 || holds_counting("a.h5", "/results/empty2", 0));
  CHECK(no_ids());
}

static void slabs_land_right(void **state) {
  (void)state;
  slabs(0);
}

static void slabs_compressed(void **state) {
  (void)state;
  slabs(3);
}

static void boxes_outside_refused(void **state) {
  tsl_out *out = NULL;
  const tsl_field line = field_of("line", TSL_F32, TSL_GATHER, 1, 10, 1);
  const int64_t lo[3] = {5, 0, 0}, hi[3] = {11, 1, 1};
  const float data[6] = {0};
  (void)state;
  CHECK(tsl_out_create(MPI_COMM_WORLD, path_of("b.h5"), false, 0, &out) == TSL_OK);
  CHECK(tsl_out_field(out, &line) == TSL_OK && tsl_out_open_stream(out) == TSL_OK);
  CHECK(tsl_out_slab(out, &line, lo, hi, data) == TSL_ERR_INTERNAL);
  CHECK(rank != 0 || tsl_out_attr_i64(out, "/run", "early", 1) == TSL_ERR_INTERNAL);
  discard(&out);
  CHECK(!exists("b.h5") && !exists("b.h5.part") && no_ids());
}

static void list_appends(void **state) {
  enum { PIECES = 40, PIECE = 5001 };
  tsl_out *out = NULL;
  const tsl_field list = field_of("list", TSL_F32, TSL_LIST, 2, 0, 3);
  const tsl_field gather = field_of("line", TSL_F32, TSL_GATHER, 1, 100, 1);
  float *data = malloc(sizeof(float) * PIECE * 3);
  bool good = true;
  (void)state;
  CHECK(tsl_out_create(MPI_COMM_WORLD, path_of("l.h5"), true, 1, &out) == TSL_OK);
  CHECK(tsl_out_field(out, &list) == TSL_OK && tsl_out_field(out, &gather) == TSL_OK);
  CHECK(tsl_out_open_stream(out) == TSL_OK);
  CHECK(tsl_out_independent(out) == (size == 1));
  for (int p = 0; rank == 0 && p < PIECES; p++) {
    for (int i = 0; i < PIECE * 3; i++) data[i] = (float)(p * PIECE * 3 + i);
    good = good && tsl_out_append(out, &list, data, PIECE) == TSL_OK;
    good = good && tsl_out_append(out, &list, data, 0) == TSL_OK;
  }
  if (rank == 0) good = good && write_slab(out, &gather, 0, 100, 0, 1) == TSL_OK;
  free(data);
  CHECK(good);
  CHECK(tsl_out_close_stream(out) == TSL_OK && tsl_out_commit(&out) == TSL_OK);
  CHECK(rank != 0 || holds_counting("l.h5", "/results/list", PIECES * PIECE * 3));
  CHECK(rank != 0 || holds_counting("l.h5", "/results/line", 100));
}

/* ------------------------------------------------------------- whole or nothing */

static void existing_refused(void **state) {
  tsl_out *out = NULL;
  (void)state;
  if (rank == 0) {
    FILE *file = fopen(path_of("old.h5"), "w");
    (void)fputs("precious", file);
    (void)fclose(file);
  }
  CHECK(rank != 0 || tsl_out_precheck(path_of("old.h5"), false, 10) == TSL_ERR_INPUT);
  CHECK(rank != 0 || tsl_out_precheck(path_of("old.h5"), true, 10) == TSL_OK);
  CHECK(tsl_collective_error(MPI_COMM_WORLD, tsl_out_create(MPI_COMM_WORLD, path_of("old.h5"),
                                                            false, 0, &out)) == TSL_ERR_INPUT);
  discard(&out);
  CHECK(exists("old.h5") && !exists("old.h5.part"));
}

static void appeared_meanwhile_kept(void **state) {
  tsl_out *out = NULL;
  char text[16] = "";
  (void)state;
  CHECK(tsl_out_create(MPI_COMM_WORLD, path_of("late.h5"), false, 0, &out) == TSL_OK);
  CHECK(tsl_out_open_stream(out) == TSL_OK && tsl_out_close_stream(out) == TSL_OK);
  if (rank == 0) {
    FILE *file = fopen(path_of("late.h5"), "w");
    (void)fputs("precious", file);
    (void)fclose(file);
  }
  CHECK(tsl_out_commit(&out) != TSL_OK && out == NULL);
  if (rank == 0) {
    FILE *file = fopen(path_of("late.h5"), "r");
    CHECK(fgets(text, sizeof text, file) != NULL);
    (void)fclose(file);
  } else
    CHECK(true);
  CHECK(rank != 0 || (strcmp(text, "precious") == 0 && !exists("late.h5.part") && no_ids()));
}

static void stale_part_replaced(void **state) {
  tsl_out *out = NULL, *other = NULL;
  (void)state;
  if (rank == 0) {
    FILE *file = fopen(path_of("s.h5.part"), "w");
    (void)fputs("left by a dead run", file);
    (void)fclose(file);
  }
  CHECK(tsl_out_create(MPI_COMM_WORLD, path_of("s.h5"), false, 0, &out) == TSL_OK);
  CHECK(tsl_collective_error(MPI_COMM_WORLD,
                             tsl_out_create(MPI_COMM_WORLD, path_of("s.h5"), false, 0, &other)) ==
        TSL_ERR_INPUT); /* a living one */
  discard(&other);
  CHECK(exists("s.h5.part"));
  CHECK(tsl_out_open_stream(out) == TSL_OK && tsl_out_close_stream(out) == TSL_OK);
  CHECK(tsl_out_commit(&out) == TSL_OK);
  CHECK(exists("s.h5") && !exists("s.h5.part"));
}

static void discard_in_any_state(void **state) {
  const tsl_field line = field_of("line", TSL_F32, TSL_GATHER, 1, 1000, 1);
  tsl_out *out = NULL;
  (void)state;
  discard(&out);
  for (int stage = 0; stage < 4; stage++) {
    CHECK(tsl_out_create(MPI_COMM_WORLD, path_of("d.h5"), false, 0, &out) == TSL_OK);
    if (stage > 0) CHECK(tsl_out_field(out, &line) == TSL_OK);
    if (stage > 1) CHECK(tsl_out_open_stream(out) == TSL_OK);
    if (stage > 2) CHECK(tsl_out_close_stream(out) == TSL_OK);
    discard(&out);
    CHECK(out == NULL && !exists("d.h5") && !exists("d.h5.part") && no_ids());
  }
}

static void precheck_reasons(void **state) {
  (void)state;
  if (rank != 0) return;
  assert_int_equal(tsl_out_precheck(path_of("no/such/x.h5"), false, 1), TSL_ERR_INPUT);
  assert_int_equal(tsl_out_precheck(folder, true, 1), TSL_ERR_INPUT);
  assert_int_equal(tsl_out_precheck("/dev/null", true, 1), TSL_ERR_INPUT);
  assert_int_equal(tsl_out_precheck("", true, 1), TSL_ERR_INPUT);
  assert_int_equal(tsl_out_precheck(path_of("x.h5"), false, INT64_MAX), TSL_ERR_IO);
  assert_non_null(strstr(tsl_err_message(), "free"));
  assert_int_equal(tsl_out_precheck(path_of("x.h5"), false, 1000), TSL_OK);
  assert_false(exists("x.h5") || exists("x.h5.part"));
}

/* ------------------------------------------------------------------- full disk */

/* Stream 40 MB where less fits: the error must reach all ranks and nothing may stay behind. */
static void overfill(const char *path, bool list) {
  enum { N = 10 * 1000 * 1000, PIECES = 20 };
  tsl_out *out = NULL;
  const tsl_field field =
      field_of("big", TSL_F32, list ? TSL_LIST : TSL_GATHER, 1, list ? 0 : N, 1);
  float *data = calloc(N / PIECES, sizeof *data);
  tsl_err err = TSL_OK;
  char part[160];
  for (int i = 0; i < N / PIECES; i++) data[i] = (float)(i % 100003 * 31 % 257);
  (void)snprintf(part, sizeof part, "%s.part", path);
  CHECK(tsl_out_create(MPI_COMM_WORLD, path, false, 0, &out) == TSL_OK);
  err = tsl_collective_error(MPI_COMM_WORLD, tsl_out_field(out, &field));
  if (err == TSL_OK) err = tsl_collective_error(MPI_COMM_WORLD, tsl_out_open_stream(out));
  if (err == TSL_OK) {
    const bool alone = tsl_out_independent(out);
    tsl_err mine = TSL_OK;
    for (int p = 0; p < PIECES; p++) {
      const int64_t lo[3] = {(int64_t)p * (N / PIECES), 0, 0};
      const int64_t hi[3] = {lo[0] + N / PIECES, 1, 1};
      if (alone ? p % size != rank : rank != 0) continue;
      mine = list ? tsl_out_append(out, &field, data, N / PIECES)
                  : tsl_out_slab(out, &field, lo, hi, data);
    }
    err = tsl_collective_error(MPI_COMM_WORLD, mine);
  }
  free(data);
  if (err == TSL_OK) err = tsl_out_close_stream(out); /* at the latest */
  CHECK(err == TSL_ERR_IO);
  CHECK(strstr(tsl_err_message(), "needed") != NULL && strstr(tsl_err_message(), "free") != NULL);
  CHECK(strstr(tsl_err_message(), ".part") != NULL);
  CHECK(rank != 0 || tsl_out_attr_i64(out, "/run", "x", 1) == TSL_ERR_IO);
  discard(&out);
  CHECK(access(path, F_OK) != 0 && access(part, F_OK) != 0 && no_ids());
}

static void file_size_limit(void **state) {
  struct rlimit old, limit;
  (void)state;
  (void)getrlimit(RLIMIT_FSIZE, &old);
  limit = old;
  limit.rlim_cur = 9 << 20;
  (void)setrlimit(RLIMIT_FSIZE, &limit);
  overfill(path_of("full.h5"), false);
  overfill(path_of("full.h5"), true);
  (void)setrlimit(RLIMIT_FSIZE, &old);
}

static void full_disk(void **state) {
  char path[128];
  int mounted = 0;
  (void)state;
  (void)snprintf(path, sizeof path, "%s/small", folder);
  if (rank == 0)
    mounted = mkdir(path, 0777) == 0 && mount("none", path, "tmpfs", 0, "size=8m") == 0;
  (void)MPI_Bcast(&mounted, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (!mounted) { /* needs root */
    if (rank == 0) (void)fprintf(stderr, "full_disk skipped: no right to mount a tmpfs\n");
    skip();
  }
  (void)snprintf(path, sizeof path, "%s/small/x.h5", folder);
  overfill(path, false);
  overfill(path, true);
  (void)MPI_Barrier(MPI_COMM_WORLD);
  (void)snprintf(path, sizeof path, "%s/small", folder);
  if (rank == 0) (void)umount2(path, MNT_DETACH);
}

/* --------------------------------------------------------------- description */

static tsl_err describe(tsl_out *out) {
  static double places[1000];
  tsl_err err = TSL_OK;
  const double edges[4] = {0, 0.5, 1, 1.5};
  const int64_t counts[3] = {10, 20, 30};
  const float points[6] = {1, 2, 3, 4, 5, 6};
  tsl_field edge = field_of("edges", TSL_F64, TSL_SUM, 1, 4, 1);
  tsl_field count = field_of("counts", TSL_I64, TSL_SUM, 1, 3, 1);
  tsl_field point = field_of("points", TSL_F32, TSL_SUM, 2, 2, 3);
  tsl_field place = field_of("place", TSL_F64, TSL_SUM, 1, 1000, 1);
  const tsl_field line = field_of("line", TSL_F32, TSL_GATHER, 1, 1000, 1);
  const tsl_placement placements[2] = {
      {.rank = 0, .host = "n1", .cpuset = "0-3", .threads = 4, .device = {.name = "a CPU"}},
      {.rank = 1,
       .node = 1,
       .host = "n2",
       .device = {.kind = TSL_GPU, .id = "GPU-1", .memory = 5}}};
  tsl_out_unit units[5] = {{.owner = 0}};
  const tsl_out_coefficient terms[1] = {{.device = "a CPU", .term = "flops", .seconds = 1e-9}};
  const tsl_out_about about = {.family = "tri",
                               .title = "gr\303\266\303\237e",
                               .version = "0.1",
                               .plan = "bins",
                               .command = "tesela run x.yaml",
                               .deck = "family: tri\n",
                               .resolved = "family: tri\ntri: {}\n"};
  tsl_summary summary = {.valid = false, .reason = "made up"};
  edge.data = (void *)edges, count.data = (void *)counts, point.data = (void *)points;
  for (int i = 0; i < 1000; i++) places[i] = 0.5 * i;
  place.data = places;
  point.role = place.role = TSL_IN;
  for (int u = 0; u < 5; u++)
    units[u] =
        (tsl_out_unit){.unit = {.id = u, .hi = {u, 2, 3}}, .owner = u % 2, .measured = 0.5 * u};
  tsl_summary_add(&summary, "energy", -1.5, "hartree");
  TSL_TRY(tsl_out_array(out, &edge));
  TSL_TRY(tsl_out_array(out, &count));
  TSL_TRY(tsl_out_array(out, &point));
  TSL_TRY(tsl_out_array(out, &place));
  TSL_TRY(tsl_out_scale(out, &count, 0, &edge));
  TSL_TRY(tsl_out_scale(out, &line, 0, &place)); /* a streamed field and a scale of /input */
  TSL_TRY(tsl_out_about_run(out, &about));
  TSL_TRY(tsl_out_machine(out, placements, 2));
  TSL_TRY(tsl_out_units(out, units, 5));
  TSL_TRY(tsl_out_calibration(out, terms, 1));
  TSL_TRY(tsl_out_summary(out, &summary));
  TSL_TRY(tsl_out_attr_f64(out, "/run", "imbalance", 0.03));
  TSL_TRY(tsl_out_attr_i64(out, "/run", "ranks", size));
  TSL_TRY(tsl_out_attr_i64(out, "/run", "ranks", size)); /* replaces */
done:
  return err;
}

/* Exit status of the reader script: 0 good, 77 no h5py here. */
static int read_back(const char *path) {
  char python[] = "/usr/bin/python3", script[] = TSL_TEST_DIR "/check_out_h5.py", file[128];
  char *const args[] = {python, script, file, NULL};
  int status = 0;
  pid_t child = 0;
  (void)snprintf(file, sizeof file, "%s", path);
  if (posix_spawn(&child, python, NULL, NULL, args, environ) != 0) return 77;
  (void)waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void read_by_h5py(void **state) {
  tsl_out *out = NULL;
  const tsl_field line = field_of("line", TSL_F32, TSL_GATHER, 1, 1000, 1);
  int status = 0;
  (void)state;
  CHECK(tsl_out_create(MPI_COMM_WORLD, path_of("p.h5"), false, 0, &out) == TSL_OK);
  CHECK(tsl_out_field(out, &line) == TSL_OK && tsl_out_open_stream(out) == TSL_OK);
  CHECK(rank != size - 1 || !tsl_out_independent(out) ||
        write_slab(out, &line, 500, 1000, 0, 1) == TSL_OK);
  CHECK(rank != 0 ||
        write_slab(out, &line, 0, tsl_out_independent(out) ? 500 : 1000, 0, 1) == TSL_OK);
  CHECK(tsl_out_close_stream(out) == TSL_OK);
  CHECK(describe(out) == TSL_OK);
  CHECK(tsl_out_commit(&out) == TSL_OK && no_ids());
  if (rank == 0) status = read_back(path_of("p.h5"));
  (void)MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (status == 77) {
    if (rank == 0) (void)fprintf(stderr, "read_by_h5py skipped: no python3 with h5py\n");
    skip();
  }
  CHECK(status == 0);
}

static void remove_folder(void) {
  static const char *const names[] = {"a.h5", "l.h5", "old.h5", "late.h5", "s.h5", "p.h5"};
  for (size_t n = 0; n < sizeof names / sizeof *names; n++) (void)unlink(path_of(names[n]));
  (void)rmdir(path_of("small"));
  if (rmdir(folder) != 0) (void)fprintf(stderr, "files left in %s\n", folder);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slabs_land_right),
      cmocka_unit_test(slabs_compressed),
      cmocka_unit_test(boxes_outside_refused),
      cmocka_unit_test(list_appends),
      cmocka_unit_test(existing_refused),
      cmocka_unit_test(appeared_meanwhile_kept),
      cmocka_unit_test(stale_part_replaced),
      cmocka_unit_test(discard_in_any_state),
      cmocka_unit_test(precheck_reasons),
      cmocka_unit_test(file_size_limit),
      cmocka_unit_test(full_disk),
      cmocka_unit_test(read_by_h5py),
  };
  int failed = 0;
  begin_ranks(&argc, &argv);
  (void)signal(SIGXFSZ, SIG_IGN);
  make_folder();
  failed = cmocka_run_group_tests_name("mpi.out_h5", tests, NULL, NULL);
  (void)MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) remove_folder();
  (void)MPI_Finalize();
  return failed;
}
