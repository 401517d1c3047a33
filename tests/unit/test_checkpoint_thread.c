/* A checkpoint is written by a thread of its own: nothing has its name before the rows are synced
 * and the other hosts have said so, a failure keeps the one before, and without a thread the work
 * is done all the same. What is gathered stays in memory as far as it may. */
#include "checkpoint_fixture.h"
#include "checkpoint_thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/tsl_behind_XXXXXX";
static char path[256], temporary[300], rows[256];
static bool no_threads;
static int saved_times;

/* The library's own, unless there are to be none. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument) {
  int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = NULL;
  void *const found = dlsym(RTLD_NEXT, "pthread_create");
  memcpy(&real, &found, sizeof real);
  return no_threads ? EAGAIN : real(thread, attributes, run, argument);
}

static int set_up(void **state) {
  (void)state;
  if (mkdtemp(folder) == NULL) return -1;
  (void)snprintf(path, sizeof path, "%s/a.ckpt.0", folder);
  (void)snprintf(temporary, sizeof temporary, "%s.tmp", path);
  (void)snprintf(rows, sizeof rows, "%s/rows", folder);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  return rmdir(folder);
}

static int each(void **state) {
  (void)state;
  no_threads = false;
  saved_times = 0;
  (void)unlink(path);
  (void)unlink(temporary);
  (void)unlink(rows);
  return 0;
}

static bool is_there(const char *name) {
  return access(name, F_OK) == 0;
}

static void note_saved(void *state) {
  assert_true(is_there(path));
  saved_times += *(const int *)state;
}

static void pause_a_moment(void) {
  const struct timespec moment = {0, 1000 * 1000};
  (void)nanosleep(&moment, NULL);
}

/* One deck, which is no whole checkpoint. */
static tsl_checkpoint_writer *gather(int64_t bytes, int64_t most) {
  tsl_checkpoint_writer *writer = NULL;
  char *deck = malloc((size_t)bytes);
  assert_non_null(deck);
  memset(deck, 'd', (size_t)bytes);
  assert_int_equal(tsl_checkpoint_create(path, most, &writer), TSL_OK);
  assert_int_equal(tsl_checkpoint_add(writer, TSL_BLOCK_DECK, 0, deck, bytes), TSL_OK);
  free(deck);
  return writer;
}

static tsl_behind *start(int fd) {
  static const int one = 1;
  tsl_behind *behind = NULL;
  const tsl_behind_work work = {
      .rows = fd, .writer = gather(100, 0), .saved = note_saved, .state = (void *)(uintptr_t)&one};
  assert_int_equal(tsl_behind_start(&work, &behind), TSL_OK);
  return behind;
}

static int open_rows(void) {
  const int fd = open(rows, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  assert_true(fd >= 0);
  return fd;
}

static tsl_behind_end wait_for(tsl_behind *behind) {
  tsl_behind_end end;
  tsl_behind_wait(&behind, &end);
  assert_null(behind);
  assert_false(is_there(temporary));
  return end;
}

static void memory_first(void **state) {
  enum { MIB = 1 << 20 };
  (void)state;
  tsl_checkpoint_writer *writer = gather(5 * MIB, 16 * MIB);
  assert_false(is_there(temporary));
  tsl_checkpoint_drop(&writer);
  writer = gather(5 * MIB, 2 * MIB);
  assert_true(is_there(temporary));
  tsl_checkpoint_drop(&writer);
  assert_false(is_there(temporary));
}

/* The same bytes, however much of them was in memory. */
static void same_bytes(void **state) {
  enum { MIB = 1 << 20 };
  static const int64_t most[] = {0, 3 * MIB + 5, 64 * MIB, -1};
  tsl_checkpoint_writer *writer = NULL;
  char *first = NULL;
  int64_t bytes = 0, n = 0, n_first = 0;
  (void)state;
  for (size_t k = 0; k < sizeof most / sizeof *most; k++) {
    writer = gather(7 * MIB + 3, most[k]);
    assert_int_equal(tsl_checkpoint_commit(&writer, &bytes), TSL_OK);
    char *whole = fix_load(path, &n);
    assert_int_equal(n, bytes);
    if (first == NULL) first = whole, n_first = n;
    assert_int_equal(n, n_first);
    assert_memory_equal(first, whole, (size_t)n);
    if (whole != first) free(whole);
  }
  free(first);
}

static void after_the_rows(void **state) {
  (void)state;
  tsl_behind *behind = start(open_rows());
  while (!tsl_behind_synced(behind)) pause_a_moment();
  assert_true(tsl_behind_rows_safe(behind));
  for (int k = 0; k < 20; k++) pause_a_moment();
  assert_false(tsl_behind_over(behind)); /* other hosts may not have synced theirs */
  assert_false(is_there(path));
  tsl_behind_go(behind, true);
  const tsl_behind_end end = wait_for(behind);
  assert_int_equal(end.rows.code, TSL_OK);
  assert_int_equal(end.checkpoint.code, TSL_OK);
  assert_true(end.bytes > 100 && is_there(path));
  assert_int_equal(saved_times, 1);
}

static void dropped(void **state) {
  (void)state;
  tsl_behind *behind = start(open_rows());
  tsl_behind_go(behind, false);
  tsl_behind_go(behind, true); /* too late */
  const tsl_behind_end end = wait_for(behind);
  assert_int_equal(end.rows.code, TSL_OK);
  assert_int_equal(end.checkpoint.code, TSL_ERR_IO);
  assert_false(is_there(path));
  assert_int_equal(saved_times, 0);
}

/* A pipe cannot be synced. */
static void rows_fail(void **state) {
  int ends[2];
  (void)state;
  assert_int_equal(pipe(ends), 0);
  tsl_behind *behind = start(ends[1]);
  tsl_behind_go(behind, true);
  const tsl_behind_end end = wait_for(behind);
  (void)close(ends[0]);
  assert_int_equal(end.rows.code, TSL_ERR_IO);
  assert_int_equal(end.checkpoint.code, TSL_ERR_IO);
  assert_false(is_there(path));
}

/* The folder is not there. */
static void checkpoint_fails(void **state) {
  tsl_checkpoint_writer *writer = NULL;
  tsl_behind *behind = NULL;
  (void)state;
  assert_int_equal(tsl_checkpoint_create("/tmp/no such folder/a", 0, &writer), TSL_OK);
  const tsl_behind_work work = {.rows = -1, .writer = writer, .saved = note_saved};
  assert_int_equal(tsl_behind_start(&work, &behind), TSL_OK);
  tsl_behind_go(behind, true);
  const tsl_behind_end end = wait_for(behind);
  assert_int_equal(end.rows.code, TSL_OK);
  assert_int_equal(end.checkpoint.code, TSL_ERR_IO);
  assert_non_null(strstr(end.checkpoint.message, "no such folder"));
}

static void without_thread(void **state) {
  (void)state;
  no_threads = true;
  tsl_behind *behind = start(open_rows());
  assert_true(tsl_behind_rows_safe(behind));
  assert_false(is_there(path));
  tsl_behind_go(behind, true);
  assert_true(tsl_behind_over(behind) && is_there(path));
  assert_int_equal(wait_for(behind).checkpoint.code, TSL_OK);
  assert_int_equal(saved_times, 1);
}

static void rows_alone(void **state) {
  tsl_behind *behind = NULL;
  const tsl_behind_work work = {.rows = open_rows(), .writer = NULL};
  (void)state;
  assert_int_equal(tsl_behind_start(&work, &behind), TSL_OK);
  while (!tsl_behind_over(behind)) pause_a_moment();
  const tsl_behind_end end = wait_for(behind);
  assert_int_equal(end.rows.code, TSL_OK);
  assert_int_equal(end.checkpoint.code, TSL_OK);
  assert_int_equal(end.bytes, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(memory_first, each),
      cmocka_unit_test_setup(same_bytes, each),
      cmocka_unit_test_setup(after_the_rows, each),
      cmocka_unit_test_setup(dropped, each),
      cmocka_unit_test_setup(rows_fail, each),
      cmocka_unit_test_setup(checkpoint_fails, each),
      cmocka_unit_test_setup(without_thread, each),
      cmocka_unit_test_setup_teardown(rows_alone, each, each),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
