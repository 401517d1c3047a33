/* A team of threads that sleep until there is work. Who wakes takes ranges from a counter; the
 * caller works too, and waits only for those that have begun. */
#include "parallel.h"

#include "memory.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

typedef struct job {
  tsl_parallel_body body;
  void *context;
  int64_t n, grain, ranges;
  atomic_llong next;
  atomic_bool failed;
} job;

/* A thread's place in its team. */
typedef struct seat {
  tsl_team *team;
  int slot;
  pthread_t thread;
} seat;

struct tsl_team {
  pthread_mutex_t lock;
  pthread_cond_t work, idle;
  seat seats[TSL_PARALLEL_MOST];
  int slots;            /* threads, the caller among them */
  cpu_set_t processors; /* of the caller when they were started */
  bool placed;          /* those are known */
  job *job;             /* NULL: nothing to join */
  int64_t number;       /* of the job */
  int working;          /* threads in it */
  bool stop;
  atomic_flag taken;
  int64_t failed_range; /* of the job, the lowest */
  tsl_err_copy error;
};

static tsl_team *process; /* of tsl_parallel; NULL: the caller alone */

static tsl_err do_range(const job *j, int slot, int64_t range) {
  const int64_t lo = range * j->grain, left = j->n - lo;
  return j->body(j->context, slot, lo, lo + (left < j->grain ? left : j->grain));
}

/* Ranges begin in rising order, so the lowest one that fails has always begun. */
static void note_error(tsl_team *team, job *j, int64_t range, tsl_err err) {
  pthread_mutex_lock(&team->lock);
  if (!atomic_load(&j->failed) || range < team->failed_range) {
    team->failed_range = range;
    tsl_err_save(err, &team->error);
  }
  atomic_store(&j->failed, true);
  pthread_mutex_unlock(&team->lock);
}

static void take_ranges(tsl_team *team, job *j, int slot) {
  while (!atomic_load(&j->failed)) {
    const int64_t range = atomic_fetch_add(&j->next, 1);
    if (range >= j->ranges) return;
    const tsl_err err = do_range(j, slot, range);
    if (err != TSL_OK) note_error(team, j, range, err);
  }
}

static void *thread_main(void *arg) {
  const seat *mine = arg;
  tsl_team *team = mine->team;
  int64_t seen = 0;
  pthread_mutex_lock(&team->lock);
  for (;;) {
    while (!team->stop && (team->job == NULL || team->number == seen))
      pthread_cond_wait(&team->work, &team->lock);
    if (team->stop) break;
    job *j = team->job;
    seen = team->number;
    team->working++;
    pthread_mutex_unlock(&team->lock);
    take_ranges(team, j, mine->slot);
    pthread_mutex_lock(&team->lock);
    if (--team->working == 0) pthread_cond_signal(&team->idle);
  }
  pthread_mutex_unlock(&team->lock);
  return NULL;
}

static tsl_err do_together(tsl_team *team, job *j) {
  pthread_mutex_lock(&team->lock);
  team->job = j;
  team->number++;
  pthread_cond_broadcast(&team->work);
  pthread_mutex_unlock(&team->lock);
  take_ranges(team, j, 0);
  pthread_mutex_lock(&team->lock);
  team->job = NULL;
  while (team->working > 0) pthread_cond_wait(&team->idle, &team->lock);
  pthread_mutex_unlock(&team->lock);
  return atomic_load(&j->failed) ? tsl_err_restore(&team->error) : TSL_OK;
}

static tsl_err do_alone(const job *j) {
  tsl_err err = TSL_OK;
  for (int64_t range = 0; range < j->ranges; range++) TSL_TRY(do_range(j, 0, range));
done:
  return err;
}

tsl_err tsl_team_run(tsl_team *team, int64_t n, int64_t grain, tsl_parallel_body body,
                     void *context) {
  tsl_err err = TSL_OK;
  job j = {.body = body, .context = context, .n = n, .grain = grain};
  if (n < 0 || grain < 1)
    TSL_FAIL(TSL_ERR_INTERNAL, "%lld items in ranges of %lld", (long long)n, (long long)grain);
  j.ranges = n / grain + (n % grain > 0);
  if (j.ranges < 2 || tsl_team_slots(team) < 2 || atomic_flag_test_and_set(&team->taken))
    return do_alone(&j);
  err = do_together(team, &j);
  atomic_flag_clear(&team->taken);
done:
  return err;
}

int tsl_team_slots(const tsl_team *team) {
  return team != NULL ? team->slots : 1;
}

void tsl_team_close(tsl_team **of) {
  tsl_team *team = *of;
  if (team == NULL) return;
  pthread_mutex_lock(&team->lock);
  team->stop = true;
  pthread_cond_broadcast(&team->work);
  pthread_mutex_unlock(&team->lock);
  for (int slot = 1; slot < team->slots; slot++) pthread_join(team->seats[slot].thread, NULL);
  pthread_cond_destroy(&team->work);
  pthread_cond_destroy(&team->idle);
  pthread_mutex_destroy(&team->lock);
  tsl_free(team);
  *of = NULL;
}

int tsl_thread_start(pthread_t *thread, void *(*run)(void *state), void *state) {
  sigset_t all, before;
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  const int why = pthread_create(thread, NULL, run, state);
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  return why;
}

tsl_err tsl_team_open(int slots, tsl_team **out) {
  tsl_err err = TSL_OK;
  char limits[200];
  tsl_team *team = NULL;
  int why = 0;
  TSL_TRY(tsl_alloc(1, sizeof *team, "threads", (void **)&team));
  pthread_mutex_init(&team->lock, NULL);
  pthread_cond_init(&team->work, NULL);
  pthread_cond_init(&team->idle, NULL);
  atomic_flag_clear(&team->taken);
  for (team->slots = 1; why == 0 && team->slots < slots && team->slots < TSL_PARALLEL_MOST;) {
    seat *next = &team->seats[team->slots];
    next->team = team, next->slot = team->slots;
    why = tsl_thread_start(&next->thread, thread_main, next);
    team->slots += why == 0;
  }
  team->placed =
      pthread_getaffinity_np(pthread_self(), sizeof team->processors, &team->processors) == 0;
  if (why != 0)
    TSL_FAIL(TSL_ERR_MEMORY, "cannot start %d threads: %s%s", slots - 1, strerror(why),
             tsl_limits_text(limits));
done:
  if (err != TSL_OK) tsl_team_close(&team);
  *out = team;
  return err;
}

int tsl_usable_cores(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return n < 1 ? 1 : n > TSL_PARALLEL_MOST ? TSL_PARALLEL_MOST : n;
}

/* ---- the team of the process */

tsl_err tsl_parallel(int64_t n, int64_t grain, tsl_parallel_body body, void *context) {
  return tsl_team_run(process, n, grain, body, context);
}

int tsl_parallel_slots(void) {
  return tsl_team_slots(process);
}

void tsl_parallel_inherit(void (*start)(int n), int n) {
  const pthread_t self = pthread_self();
  cpu_set_t own;
  const bool moved =
      tsl_parallel_slots() > 1 && process->placed &&
      pthread_getaffinity_np(self, sizeof own, &own) == 0 &&
      pthread_setaffinity_np(self, sizeof process->processors, &process->processors) == 0;
  start(n);
  if (moved) (void)pthread_setaffinity_np(self, sizeof own, &own);
}

tsl_err tsl_parallel_open(int slots) {
  tsl_parallel_close();
  return slots > 1 ? tsl_team_open(slots, &process) : TSL_OK;
}

void tsl_parallel_close(void) {
  tsl_team_close(&process);
}
