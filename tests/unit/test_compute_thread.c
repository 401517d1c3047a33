/* unit.compute_thread: the compute thread runs tasks in order; those with two halves overlap, two
 * at most; errors stay with their task and no task that has begun is left behind. */
#include "compute_thread.h"

#include "clock.h"
#include "contract.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

enum { MOST = 8 };

/* What the compute thread did, in order: "b0" begins task 0, "f0" finishes it, "r0" runs it whole.
 * */
static char story[256];

typedef struct job {
  tsl_task task;
  int name;
  tsl_err begins, finishes; /* with this error */
  int tries, no_room;       /* begun so often; the first so many of those fail */
  atomic_bool over;         /* the device has done it */
  atomic_bool begun;
} job;

static void tell(char what, int name) {
  const size_t at = strlen(story);
  if (at + 4 > sizeof story) return; /* shows as another story */
  story[at] = what, story[at + 1] = (char)('0' + name), story[at + 2] = ' ', story[at + 3] = 0;
}

static tsl_err answer(tsl_err wanted, const job *j) {
  tsl_err err = TSL_OK;
  if (wanted != TSL_OK) TSL_FAIL(wanted, "job %d", j->name);
done:
  return err;
}

static tsl_err run_whole(tsl_task *task) {
  const job *j = (const job *)task;
  tell('r', j->name);
  return answer(j->begins, j);
}

static tsl_err begin(tsl_task *task) {
  job *j = (job *)task;
  tell('b', j->name);
  atomic_store(&j->begun, true);
  return answer(j->tries++ < j->no_room ? TSL_ERR_DEVICE_MEMORY : j->begins, j);
}

static bool has_ended(tsl_task *task) {
  return atomic_load(&((job *)task)->over);
}

static tsl_err finish(tsl_task *task) {
  const job *j = (const job *)task;
  while (!atomic_load(&j->over)) continue;
  tell('f', j->name);
  return answer(j->finishes, j);
}

static tsl_compute_thread *open_hand(tsl_err (*prepare)(void *arg)) {
  tsl_compute_thread *thread = NULL;
  story[0] = 0;
  assert_int_equal(tsl_compute_thread_start(prepare, NULL, &thread), TSL_OK);
  return thread;
}

/* A job of two halves, or whole. */
static void init(job *j, int name, bool halves) {
  memset(j, 0, sizeof *j);
  j->name = name;
  j->task.run = halves ? begin : run_whole;
  if (halves) j->task.finish = finish, j->task.ended = has_ended;
}

static void wait_begun(job *j) {
  const double until = tsl_now() + 20;
  while (!atomic_load(&j->begun)) assert_true(tsl_now() < until);
}

/* The next task back is this one, with this result. */
static void comes_back(tsl_compute_thread *thread, job *j, tsl_err wanted) {
  tsl_task *task = tsl_compute_thread_done(thread, 20000000);
  assert_ptr_equal(task, &j->task);
  assert_int_equal(tsl_err_restore(&task->error), wanted);
  if (wanted != TSL_OK) assert_int_equal(tsl_err_message()[4] - '0', j->name);
}

static void whole_tasks_run_in_order(void **state) {
  job jobs[MOST];
  tsl_compute_thread *thread = open_hand(NULL);
  (void)state;
  for (int k = 0; k < 4; k++) init(&jobs[k], k, false);
  jobs[1].begins = TSL_ERR_NUMERIC;
  for (int k = 0; k < 4; k++) tsl_compute_thread_post(thread, &jobs[k].task);
  for (int k = 0; k < 4; k++) comes_back(thread, &jobs[k], jobs[k].begins);
  assert_null(tsl_compute_thread_done(thread, 0));
  tsl_compute_thread_stop(&thread);
  assert_null(thread);
  assert_string_equal(story, "r0 r1 r2 r3 ");
}

/* The second begins before the first has ended, also when it is posted later; the third waits. */
static void two_overlap(void **state) {
  job jobs[MOST];
  tsl_compute_thread *thread = open_hand(NULL);
  (void)state;
  for (int k = 0; k < 4; k++) init(&jobs[k], k, true);
  tsl_compute_thread_post(thread, &jobs[0].task);
  wait_begun(&jobs[0]);
  assert_null(tsl_compute_thread_done(thread, 3000)); /* the compute thread waits for its end */
  tsl_compute_thread_post(thread, &jobs[1].task);
  wait_begun(&jobs[1]);
  tsl_compute_thread_post(thread, &jobs[2].task);
  atomic_store(&jobs[1].over, true);
  assert_null(tsl_compute_thread_done(thread, 3000)); /* in order */
  assert_false(atomic_load(&jobs[2].begun));
  atomic_store(&jobs[0].over, true);
  comes_back(thread, &jobs[0], TSL_OK);
  comes_back(thread, &jobs[1], TSL_OK);
  wait_begun(&jobs[2]);
  atomic_store(&jobs[2].over, true);
  comes_back(thread, &jobs[2], TSL_OK);
  tsl_compute_thread_stop(&thread);
  assert_string_equal(story, "b0 b1 f0 b2 f1 f2 ");
}

/* Without ended the compute thread waits for the first in finish; what is waiting by then has
 * begun. */
static void without_ended_finish_waits(void **state) {
  job jobs[MOST], first;
  tsl_compute_thread *thread = open_hand(NULL);
  (void)state;
  init(&first, 9, true); /* holds the compute thread until both are posted */
  tsl_compute_thread_post(thread, &first.task);
  for (int k = 0; k < 3; k++) {
    init(&jobs[k], k, true);
    jobs[k].task.ended = NULL;
    atomic_store(&jobs[k].over, true);
    tsl_compute_thread_post(thread, &jobs[k].task);
  }
  atomic_store(&first.over, true);
  comes_back(thread, &first, TSL_OK);
  for (int k = 0; k < 3; k++) comes_back(thread, &jobs[k], TSL_OK);
  tsl_compute_thread_stop(&thread);
  assert_string_equal(story, "b9 b0 f9 b1 f0 b2 f1 f2 ");
}

/* A task in one piece has the worker for itself. */
static void whole_tasks_wait(void **state) {
  job jobs[MOST];
  tsl_compute_thread *thread = open_hand(NULL);
  (void)state;
  for (int k = 0; k < 4; k++) {
    init(&jobs[k], k, k != 1);
    atomic_store(&jobs[k].over, true);
  }
  atomic_store(&jobs[0].over, false);
  tsl_compute_thread_post(thread, &jobs[0].task);
  wait_begun(&jobs[0]);
  for (int k = 1; k < 4; k++) tsl_compute_thread_post(thread, &jobs[k].task);
  assert_null(tsl_compute_thread_done(thread, 3000));
  atomic_store(&jobs[0].over, true);
  for (int k = 0; k < 4; k++) comes_back(thread, &jobs[k], TSL_OK);
  tsl_compute_thread_stop(&thread);
  assert_string_equal(story, "b0 f0 r1 b2 b3 f2 f3 ");
}

/* An error, of either half, goes to its task; the other one is finished. */
static void errors_leave_nothing_behind(void **state) {
  static const struct {
    tsl_err begins, finishes;
    const char *story;
  } cases[] = {{TSL_ERR_DEVICE, TSL_OK, "b0 b1 f0 b2 f2 "},
               {TSL_OK, TSL_ERR_DEVICE, "b0 b1 f0 b2 f1 f2 "}};
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    job jobs[MOST];
    tsl_compute_thread *thread = open_hand(NULL);
    for (int k = 0; k < 3; k++) init(&jobs[k], k, true);
    jobs[0].finishes = TSL_ERR_NUMERIC;
    jobs[1].begins = cases[c].begins, jobs[1].finishes = cases[c].finishes;
    tsl_compute_thread_post(thread, &jobs[0].task);
    tsl_compute_thread_post(thread, &jobs[1].task);
    tsl_compute_thread_post(thread, &jobs[2].task);
    wait_begun(&jobs[1]);
    atomic_store(&jobs[1].over, true);
    assert_null(tsl_compute_thread_done(thread, 3000)); /* a failure waits for its turn */
    atomic_store(&jobs[0].over, true);
    comes_back(thread, &jobs[0], TSL_ERR_NUMERIC);
    comes_back(thread, &jobs[1], TSL_ERR_DEVICE);
    atomic_store(&jobs[2].over, true);
    comes_back(thread, &jobs[2], TSL_OK);
    tsl_compute_thread_stop(&thread);
    assert_string_equal(story, cases[c].story);
  }
}

/* No room beside another: once more when that is finished, and no third time. */
static void no_room_waits_for_the_others(void **state) {
  (void)state;
  for (int no_room = 1; no_room <= 2; no_room++) {
    job jobs[MOST];
    tsl_compute_thread *thread = open_hand(NULL);
    for (int k = 0; k < 2; k++) init(&jobs[k], k, true);
    jobs[1].no_room = no_room;
    tsl_compute_thread_post(thread, &jobs[0].task);
    tsl_compute_thread_post(thread, &jobs[1].task);
    wait_begun(&jobs[1]);
    assert_null(tsl_compute_thread_done(thread, 3000));
    for (int k = 0; k < 2; k++) atomic_store(&jobs[k].over, true);
    comes_back(thread, &jobs[0], TSL_OK);
    comes_back(thread, &jobs[1], no_room == 1 ? TSL_OK : TSL_ERR_DEVICE_MEMORY);
    tsl_compute_thread_stop(&thread);
    assert_string_equal(story, no_room == 1 ? "b0 b1 f0 b1 f1 " : "b0 b1 f0 b1 ");
  }
}

static void no_room_alone_is_an_error(void **state) {
  job j;
  tsl_compute_thread *thread = open_hand(NULL);
  (void)state;
  init(&j, 0, true);
  j.no_room = 1;
  tsl_compute_thread_post(thread, &j.task);
  comes_back(thread, &j, TSL_ERR_DEVICE_MEMORY);
  tsl_compute_thread_stop(&thread);
  assert_string_equal(story, "b0 ");
}

static void stop_finishes_all(void **state) {
  job jobs[MOST];
  tsl_compute_thread *thread = open_hand(NULL);
  (void)state;
  for (int k = 0; k < 5; k++) {
    init(&jobs[k], k, k != 4);
    atomic_store(&jobs[k].over, true);
  }
  for (int k = 0; k < 5; k++) tsl_compute_thread_post(thread, &jobs[k].task);
  tsl_compute_thread_stop(&thread);
  for (int k = 0; k < 5; k++)
    assert_non_null(strstr(story, (const char[]){k == 4 ? 'r' : 'f', (char)('0' + k), 0}));
}

static tsl_err refuse(void *arg) {
  tsl_err err = TSL_OK;
  (void)arg;
  TSL_FAIL(TSL_ERR_DEVICE, "bad 0 1 2");
done:
  return err;
}

static void unprepared_hand_refuses(void **state) {
  job jobs[MOST];
  tsl_compute_thread *thread = open_hand(refuse);
  (void)state;
  for (int k = 0; k < 3; k++) {
    init(&jobs[k], k, k != 1);
    tsl_compute_thread_post(thread, &jobs[k].task);
  }
  for (int k = 0; k < 3; k++) {
    tsl_task *task = tsl_compute_thread_done(thread, 20000000);
    assert_ptr_equal(task, &jobs[k].task);
    assert_int_equal(task->error.code, TSL_ERR_DEVICE);
  }
  tsl_compute_thread_stop(&thread);
  assert_string_equal(story, "");
}

/* Without room for its stack the thread cannot start; the limit that is in the way is named. Not
 * with AddressSanitizer, which needs address space for its own memory and ends without. */
static void limits_are_named(void **state) {
  const struct rlimit least = {1, RLIM_INFINITY}; /* what is mapped stays */
  struct rlimit before;
  char text[200];
  tsl_compute_thread *thread = NULL;
  (void)state;
#ifdef __SANITIZE_ADDRESS__
  skip();
#endif
  assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
  assert_int_equal(setrlimit(RLIMIT_AS, &least), 0);
  const tsl_err err = tsl_compute_thread_start(NULL, NULL, &thread);
  (void)tsl_limits_text(text);
  assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
  assert_int_equal(err, TSL_ERR_MEMORY);
  assert_non_null(strstr(tsl_err_message(), "(ulimit -v)"));
  assert_non_null(strstr(text, "address space"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(
          limits_are_named), /* first: stacks of threads that have ended are used again */
      cmocka_unit_test(whole_tasks_run_in_order),
      cmocka_unit_test(two_overlap),
      cmocka_unit_test(without_ended_finish_waits),
      cmocka_unit_test(whole_tasks_wait),
      cmocka_unit_test(errors_leave_nothing_behind),
      cmocka_unit_test(no_room_waits_for_the_others),
      cmocka_unit_test(no_room_alone_is_an_error),
      cmocka_unit_test(stop_finishes_all),
      cmocka_unit_test(unprepared_hand_refuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
