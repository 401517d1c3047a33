/* The loop of the compute thread: tasks waiting, begun and finished. A mutex and two conditions
 * guard the first and the last queue; the second is the thread's own. */
#include "compute_thread.h"

#include "contract.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

typedef struct fifo {
  tsl_task *first, *last;
} fifo;

struct tsl_compute_thread {
  pthread_t pthread;
  pthread_mutex_t lock;
  pthread_cond_t work, done;
  fifo waiting, finished;
  fifo begun; /* the thread's own, as n_begun */
  int n_begun;
  bool stop;
  tsl_err (*prepare)(void *arg);
  void *arg;
  tsl_err_copy prepared;
};

static void push(fifo *f, tsl_task *task) {
  task->next = NULL;
  if (f->last != NULL)
    f->last->next = task;
  else
    f->first = task;
  f->last = task;
}

static tsl_task *pop(fifo *f) {
  tsl_task *task = f->first;
  if (task == NULL) return NULL;
  f->first = task->next;
  if (f->first == NULL) f->last = NULL;
  return task;
}

static void give_back(tsl_compute_thread *thread, tsl_task *task) {
  pthread_mutex_lock(&thread->lock);
  push(&thread->finished, task);
  pthread_cond_signal(&thread->done);
  pthread_mutex_unlock(&thread->lock);
}

/* The next task, when it may begin now: beside others only one with finish. */
static tsl_task *next_task(tsl_compute_thread *thread) {
  const tsl_task *first = thread->waiting.first;
  if (first == NULL || thread->n_begun == TSL_MOST_STARTED) return NULL;
  if (thread->n_begun > 0 && first->finish == NULL) return NULL;
  return pop(&thread->waiting);
}

/* Can nothing begin beside the tasks that are begun, even if it were posted now? */
static bool is_full(const tsl_compute_thread *thread) {
  return thread->n_begun == TSL_MOST_STARTED ||
         (thread->n_begun > 0 && thread->waiting.first != NULL);
}

/* Is it the first task's turn to be finished? The lock is held, and let go meanwhile. */
static bool first_is_due(tsl_compute_thread *thread) {
  tsl_task *first = thread->begun.first;
  bool due;
  if (first->error.code != TSL_OK || first->ended == NULL || is_full(thread)) return true;
  pthread_mutex_unlock(&thread->lock);
  due = first->ended(first);
  if (!due) (void)sched_yield();
  pthread_mutex_lock(&thread->lock);
  return due;
}

/* Wait for something to do. *task: begin it; NULL: finish the first of those begun; false: neither,
 * the compute thread is to stop. */
static bool next_step(tsl_compute_thread *thread, tsl_task **task) {
  bool due = false;
  pthread_mutex_lock(&thread->lock);
  while ((*task = next_task(thread)) == NULL && !due && !(thread->stop && thread->n_begun == 0))
    if (thread->n_begun > 0)
      due = first_is_due(thread);
    else
      pthread_cond_wait(&thread->work, &thread->lock);
  pthread_mutex_unlock(&thread->lock);
  return *task != NULL || due;
}

static void finish_first(tsl_compute_thread *thread) {
  tsl_task *task = pop(&thread->begun);
  thread->n_begun--;
  if (task->error.code == TSL_OK) tsl_err_save(task->finish(task), &task->error);
  give_back(thread, task);
}

/* A thread that could not be prepared (bound) refuses its tasks with that error. */
static void compute_thread_run(const tsl_compute_thread *thread, tsl_task *task) {
  if (thread->prepared.code != TSL_OK)
    task->error = thread->prepared;
  else
    tsl_err_save(task->run(task), &task->error);
}

/* A task that failed keeps its place among those begun. */
static void compute_thread_begin(tsl_compute_thread *thread, tsl_task *task) {
  compute_thread_run(thread, task);
  if (task->error.code == TSL_ERR_DEVICE_MEMORY && thread->n_begun > 0) {
    while (thread->n_begun > 0) finish_first(thread);
    compute_thread_run(thread, task);
  }
  if (task->finish == NULL) {
    give_back(thread, task);
    return;
  }
  push(&thread->begun, task);
  thread->n_begun++;
}

static void *thread_main(void *arg) {
  tsl_compute_thread *thread = arg;
  tsl_task *task;
  thread->prepared.code = TSL_OK;
  if (thread->prepare != NULL) tsl_err_save(thread->prepare(thread->arg), &thread->prepared);
  while (next_step(thread, &task))
    if (task != NULL)
      compute_thread_begin(thread, task);
    else
      finish_first(thread);
  return NULL;
}

tsl_err tsl_compute_thread_start(tsl_err (*prepare)(void *arg), void *arg,
                                 tsl_compute_thread **out) {
  tsl_err err = TSL_OK;
  pthread_condattr_t attribute;
  tsl_compute_thread *thread = NULL;
  char limits[200];
  int why;
  TSL_TRY(tsl_alloc(1, sizeof *thread, "compute thread", (void **)&thread));
  thread->prepare = prepare;
  thread->arg = arg;
  pthread_mutex_init(&thread->lock, NULL);
  pthread_condattr_init(&attribute);
  pthread_condattr_setclock(&attribute, CLOCK_MONOTONIC);
  pthread_cond_init(&thread->work, NULL);
  pthread_cond_init(&thread->done, &attribute);
  pthread_condattr_destroy(&attribute);
  why = pthread_create(&thread->pthread, NULL, thread_main, thread);
  if (why != 0)
    TSL_FAIL(TSL_ERR_MEMORY, "cannot start the compute thread: %s%s", strerror(why),
             tsl_limits_text(limits));
  *out = thread;
  thread = NULL;
done:
  tsl_free(thread);
  return err;
}

void tsl_compute_thread_post(tsl_compute_thread *thread, tsl_task *task) {
  pthread_mutex_lock(&thread->lock);
  push(&thread->waiting, task);
  pthread_cond_signal(&thread->work);
  pthread_mutex_unlock(&thread->lock);
}

static struct timespec after(long wait_us) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  t.tv_nsec += wait_us % 1000000 * 1000;
  t.tv_sec += wait_us / 1000000 + t.tv_nsec / 1000000000;
  t.tv_nsec %= 1000000000;
  return t;
}

tsl_task *tsl_compute_thread_done(tsl_compute_thread *thread, long wait_us) {
  tsl_task *task;
  const struct timespec until = after(wait_us);
  int waited = 0;
  pthread_mutex_lock(&thread->lock);
  while (thread->finished.first == NULL && wait_us > 0 && waited != ETIMEDOUT)
    waited = pthread_cond_timedwait(&thread->done, &thread->lock, &until);
  task = pop(&thread->finished);
  pthread_mutex_unlock(&thread->lock);
  return task;
}

tsl_err tsl_compute_thread_call(tsl_compute_thread *thread, tsl_task *task) {
  tsl_compute_thread_post(thread, task);
  while (tsl_compute_thread_done(thread, 1000000) == NULL) {
  }
  return tsl_err_restore(&task->error);
}

void tsl_compute_thread_stop(tsl_compute_thread **thread) {
  if (*thread == NULL) return;
  pthread_mutex_lock(&(*thread)->lock);
  (*thread)->stop = true;
  pthread_cond_signal(&(*thread)->work);
  pthread_mutex_unlock(&(*thread)->lock);
  pthread_join((*thread)->pthread, NULL);
  pthread_cond_destroy(&(*thread)->work);
  pthread_cond_destroy(&(*thread)->done);
  pthread_mutex_destroy(&(*thread)->lock);
  tsl_free(*thread);
  *thread = NULL;
}
