/* The loop of the compute thread: tasks waiting, begun and finished. A mutex and two conditions
 * guard the first and the last queue; the second is the thread's own. */
#include "hand.h"

#include "contract.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

typedef struct fifo {
  tsl_task *first, *last;
} fifo;

struct tsl_hand {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t work, done;
  fifo waiting, finished;
  fifo begun; /* the thread's own, as n_begun */
  int n_begun;
  bool stop;
  tsl_err (*prepare)(const void *arg);
  const void *arg;
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

static void hand_back(tsl_hand *hand, tsl_task *task) {
  pthread_mutex_lock(&hand->lock);
  push(&hand->finished, task);
  pthread_cond_signal(&hand->done);
  pthread_mutex_unlock(&hand->lock);
}

/* The next task, when it may begin now: beside others only one with finish. */
static tsl_task *next_task(tsl_hand *hand) {
  const tsl_task *first = hand->waiting.first;
  if (first == NULL || hand->n_begun == TSL_MOST_STARTED) return NULL;
  if (hand->n_begun > 0 && first->finish == NULL) return NULL;
  return pop(&hand->waiting);
}

/* Can nothing begin beside the tasks that are begun, even if it were posted now? */
static bool is_full(const tsl_hand *hand) {
  return hand->n_begun == TSL_MOST_STARTED || (hand->n_begun > 0 && hand->waiting.first != NULL);
}

/* Is it the first task's turn to be finished? The lock is held, and let go meanwhile. */
static bool first_is_due(tsl_hand *hand) {
  tsl_task *first = hand->begun.first;
  bool due;
  if (first->error.code != TSL_OK || first->ended == NULL || is_full(hand)) return true;
  pthread_mutex_unlock(&hand->lock);
  due = first->ended(first);
  if (!due) (void)sched_yield();
  pthread_mutex_lock(&hand->lock);
  return due;
}

/* Wait for something to do. *task: begin it; NULL: finish the first of those begun; false: neither,
 * the hand is to stop. */
static bool next_step(tsl_hand *hand, tsl_task **task) {
  bool due = false;
  pthread_mutex_lock(&hand->lock);
  while ((*task = next_task(hand)) == NULL && !due && !(hand->stop && hand->n_begun == 0))
    if (hand->n_begun > 0)
      due = first_is_due(hand);
    else
      pthread_cond_wait(&hand->work, &hand->lock);
  pthread_mutex_unlock(&hand->lock);
  return *task != NULL || due;
}

static void finish_first(tsl_hand *hand) {
  tsl_task *task = pop(&hand->begun);
  hand->n_begun--;
  if (task->error.code == TSL_OK) tsl_err_save(task->finish(task), &task->error);
  hand_back(hand, task);
}

/* A hand that could not be prepared (bound) refuses its tasks with that error. */
static void run(const tsl_hand *hand, tsl_task *task) {
  if (hand->prepared.code != TSL_OK)
    task->error = hand->prepared;
  else
    tsl_err_save(task->run(task), &task->error);
}

/* A task that failed keeps its place among those begun. */
static void begin(tsl_hand *hand, tsl_task *task) {
  run(hand, task);
  if (task->error.code == TSL_ERR_DEVICE_MEMORY && hand->n_begun > 0) {
    while (hand->n_begun > 0) finish_first(hand);
    run(hand, task);
  }
  if (task->finish == NULL) {
    hand_back(hand, task);
    return;
  }
  push(&hand->begun, task);
  hand->n_begun++;
}

static void *thread_main(void *arg) {
  tsl_hand *hand = arg;
  tsl_task *task;
  hand->prepared.code = TSL_OK;
  if (hand->prepare != NULL) tsl_err_save(hand->prepare(hand->arg), &hand->prepared);
  while (next_step(hand, &task))
    if (task != NULL)
      begin(hand, task);
    else
      finish_first(hand);
  return NULL;
}

tsl_err tsl_hand_start(tsl_err (*prepare)(const void *arg), const void *arg, tsl_hand **out) {
  tsl_err err = TSL_OK;
  pthread_condattr_t attribute;
  tsl_hand *hand = NULL;
  char limits[200];
  int why;
  TSL_TRY(tsl_alloc(1, sizeof *hand, "compute thread", (void **)&hand));
  hand->prepare = prepare;
  hand->arg = arg;
  pthread_mutex_init(&hand->lock, NULL);
  pthread_condattr_init(&attribute);
  pthread_condattr_setclock(&attribute, CLOCK_MONOTONIC);
  pthread_cond_init(&hand->work, NULL);
  pthread_cond_init(&hand->done, &attribute);
  pthread_condattr_destroy(&attribute);
  why = pthread_create(&hand->thread, NULL, thread_main, hand);
  if (why != 0)
    TSL_FAIL(TSL_ERR_MEMORY, "cannot start the compute thread: %s%s", strerror(why),
             tsl_limits_text(limits));
  *out = hand;
  hand = NULL;
done:
  tsl_free(hand);
  return err;
}

void tsl_hand_post(tsl_hand *hand, tsl_task *task) {
  pthread_mutex_lock(&hand->lock);
  push(&hand->waiting, task);
  pthread_cond_signal(&hand->work);
  pthread_mutex_unlock(&hand->lock);
}

static struct timespec after(long wait_us) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  t.tv_nsec += wait_us % 1000000 * 1000;
  t.tv_sec += wait_us / 1000000 + t.tv_nsec / 1000000000;
  t.tv_nsec %= 1000000000;
  return t;
}

tsl_task *tsl_hand_done(tsl_hand *hand, long wait_us) {
  tsl_task *task;
  const struct timespec until = after(wait_us);
  int waited = 0;
  pthread_mutex_lock(&hand->lock);
  while (hand->finished.first == NULL && wait_us > 0 && waited != ETIMEDOUT)
    waited = pthread_cond_timedwait(&hand->done, &hand->lock, &until);
  task = pop(&hand->finished);
  pthread_mutex_unlock(&hand->lock);
  return task;
}

tsl_err tsl_hand_call(tsl_hand *hand, tsl_task *task) {
  tsl_hand_post(hand, task);
  while (tsl_hand_done(hand, 1000000) == NULL) {
  }
  return tsl_err_restore(&task->error);
}

void tsl_hand_stop(tsl_hand **hand) {
  if (*hand == NULL) return;
  pthread_mutex_lock(&(*hand)->lock);
  (*hand)->stop = true;
  pthread_cond_signal(&(*hand)->work);
  pthread_mutex_unlock(&(*hand)->lock);
  pthread_join((*hand)->thread, NULL);
  pthread_cond_destroy(&(*hand)->work);
  pthread_cond_destroy(&(*hand)->done);
  pthread_mutex_destroy(&(*hand)->lock);
  tsl_free(*hand);
  *hand = NULL;
}
