/* unit.sandbox: what another process reads arrives; its errors, its death and its limits are told;
 * nothing hangs while other threads allocate; the starter ends with its program. That what loops is
 * ended takes its ten seconds of a processor: a case (../cpu/cases.h). */
#include "../cpu/cases.h"
#include "sandbox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N = 10000 }; /* more than a pipe holds */

/* ---- parts */

typedef enum wish { COUNT, FAIL_AFTER, DIE, EXIT, LOOP, WHOSE, ALLOCATE } wish;

typedef struct ask {
  wish wish;
  int64_t from;
} ask;

static tsl_err count(int64_t from, int to) {
  tsl_err err = TSL_OK;
  for (int64_t i = from; i < from + N; i++) TSL_TRY(tsl_sandbox_put(to, &i, (int64_t)sizeof i));
done:
  return err;
}

/* Waits for ever when a lock of the allocator came along closed. */
static void use_allocator(void) {
  for (size_t n = 1; n < 5000; n++) {
    volatile char *memory = malloc(n);
    if (memory != NULL) memory[0] = 1;
    free((void *)memory);
  }
}

static tsl_err part(const void *bytes, int to) {
  tsl_err err = TSL_OK;
  const ask *a = bytes;
  const pid_t parent = getppid();
  if (a->wish == COUNT || a->wish == FAIL_AFTER) TSL_TRY(count(a->from, to));
  if (a->wish == FAIL_AFTER) TSL_FAIL(TSL_ERR_NUMERIC, "number %d is odd", 7);
  if (a->wish == DIE) (void)raise(SIGKILL);
  if (a->wish == EXIT) _exit(0);
  if (a->wish == WHOSE) TSL_TRY(tsl_sandbox_put(to, &parent, (int64_t)sizeof parent));
  if (a->wish == ALLOCATE) use_allocator();
  while (a->wish == LOOP) {
  }
done:
  return err;
}

/* ---- here */

static tsl_err take(void *arg, int from) {
  tsl_err err = TSL_OK;
  const int64_t first = *(const int64_t *)arg;
  int64_t got = 0;
  for (int64_t i = first; i < first + N; i++) {
    TSL_TRY(tsl_sandbox_get(from, &got, (int64_t)sizeof got));
    assert_int_equal(got, i);
  }
done:
  return err;
}

static tsl_err take_little(void *arg, int from) {
  tsl_err err = TSL_OK;
  int64_t got = 0;
  (void)arg;
  TSL_TRY(tsl_sandbox_get(from, &got, (int64_t)sizeof got));
  TSL_FAIL(TSL_ERR_MEMORY, "no more of it");
done:
  return err;
}

static tsl_err take_process(void *arg, int from) {
  return tsl_sandbox_get(from, arg, (int64_t)sizeof(pid_t));
}

static tsl_err run(wish what, int64_t first, tsl_err (*take_it)(void *arg, int from), void *arg) {
  const ask a = {what, first};
  return tsl_sandbox("a file", &(tsl_sandbox_sides){part, take_it, &a, (int64_t)sizeof a, arg});
}

static tsl_err run_count(int64_t first) {
  return run(COUNT, first, take, &first);
}

/* ---- tests */

static void everything_arrives(void **state) {
  (void)state;
  assert_int_equal(run_count(0), TSL_OK);
  assert_int_equal(tsl_sandbox_begin(), TSL_OK);
  for (int k = 1; k < 4; k++) assert_int_equal(run_count(k), TSL_OK);
  tsl_sandbox_end();
  tsl_sandbox_end();
  assert_int_equal(run_count(9), TSL_OK);
}

static void errors_are_told(void **state) {
  int64_t first = 3;
  (void)state;
  assert_int_equal(tsl_sandbox_begin(), TSL_OK);
  assert_int_equal(run(FAIL_AFTER, first, take, &first), TSL_ERR_NUMERIC);
  assert_non_null(strstr(tsl_err_message(), "number 7 is odd"));
  assert_int_equal(run(COUNT, first, take_little, NULL), TSL_ERR_MEMORY);
  assert_non_null(strstr(tsl_err_message(), "no more of it"));
  assert_int_equal(run(DIE, first, take, &first), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "a file is damaged"));
  assert_non_null(strstr(tsl_err_message(), strsignal(SIGKILL)));
  assert_int_equal(run(EXIT, first, NULL, NULL), TSL_ERR_INPUT);
  assert_int_equal(run_count(4), TSL_OK);
  tsl_sandbox_end();
}

static void what_loops_is_ended(void **state) {
  (void)state;
  if (!case_is_mine(1)) skip();
  assert_int_equal(run(LOOP, 0, NULL, NULL), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), strsignal(SIGXCPU)));
}

static void too_long_names_are_refused(void **state) {
  (void)state;
  const tsl_sandbox_sides sides = {part, NULL, "", TSL_APART_MOST + 1, NULL};
  assert_int_equal(tsl_sandbox("a file", &sides), TSL_ERR_INPUT);
}

static atomic_bool enough;

static void *allocate(void *arg) {
  (void)arg;
  while (!enough) use_allocator();
  return NULL;
}

/* Without a starter this hangs within 20 runs where fork takes no care of the allocator (GCC 12's
 * AddressSanitizer). */
static void threads_may_allocate(void **state) {
  enum { THREADS = 3, RUNS = 100 };
  pthread_t threads[THREADS];
  (void)state;
  assert_int_equal(tsl_sandbox_begin(), TSL_OK);
  enough = false;
  for (int t = 0; t < THREADS; t++)
    assert_int_equal(pthread_create(&threads[t], NULL, allocate, NULL), 0);
  for (int k = 0; k < RUNS; k++) assert_int_equal(run(ALLOCATE, k, NULL, NULL), TSL_OK);
  enough = true;
  for (int t = 0; t < THREADS; t++) (void)pthread_join(threads[t], NULL);
  tsl_sandbox_end();
}

static bool ends_within(pid_t process, int seconds) {
  const struct timespec moment = {0, 10000000};
  for (int k = 0; k < 100 * seconds; k++) {
    if (kill(process, 0) != 0) return true;
    (void)nanosleep(&moment, NULL);
  }
  return false;
}

/* A program that is killed leaves no process behind. */
static void starter_ends_with_its_program(void **state) {
  int ends[2], status;
  pid_t starter = -1;
  (void)state;
  assert_int_equal(pipe(ends), 0);
  const pid_t program = fork();
  if (program == 0) {
    pid_t whose = -1;
    if (tsl_sandbox_begin() != TSL_OK || run(WHOSE, 0, take_process, &whose) != TSL_OK) _exit(1);
    (void)!write(ends[1], &whose, sizeof whose);
    (void)raise(SIGKILL);
  }
  (void)close(ends[1]);
  assert_int_equal(read(ends[0], &starter, sizeof starter), sizeof starter);
  assert_true(starter > 0 && starter != program);
  (void)waitpid(program, &status, 0);
  assert_true(ends_within(starter, 10));
  (void)close(ends[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everything_arrives),   cmocka_unit_test(errors_are_told),
      cmocka_unit_test(what_loops_is_ended),  cmocka_unit_test(too_long_names_are_refused),
      cmocka_unit_test(threads_may_allocate), cmocka_unit_test(starter_ends_with_its_program),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
