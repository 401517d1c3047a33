/* Start and stop of the heart, and the calls by which the main thread reads and sets its atomic
 * states. */
#include "heartbeat.h"

#include "clock.h"
#include "collective_error.h"
#include "heartbeat_own.h"
#include "parallel.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

static _Atomic(tsl_heart *) the_heart;
static _Atomic int64_t the_unit = -1;
static atomic_bool saving;
static pthread_mutex_t saved_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  double when; /* 0: no checkpoint */
  char output[1024];
} saved;

/* ---- start and stop */

static tsl_err make_token(tsl_heart *h) {
  tsl_err err = TSL_OK;
  if (h->rank != 0) return TSL_OK;
  if (getrandom(h->token, sizeof h->token, 0) != (ssize_t)sizeof h->token)
    TSL_FAIL(TSL_ERR_INTERNAL, "no random number for heartbeats");
done:
  return err;
}

static tsl_err start_thread(tsl_heart *h) {
  if (tsl_thread_start(&h->thread, tsl_heart_thread, h) == 0) return TSL_OK;
  return tsl_fail(TSL_ERR_MEMORY, __FILE__, __LINE__, "cannot start the thread of heartbeats");
}

static void free_heart(tsl_heart *h) {
  tsl_watch_close(&h->watch);
  tsl_post_close(&h->post);
  TSL_FREE_ALL(h->silent, h->mute, h->states, h);
}

static tsl_err make_flags(tsl_heart *h) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(h->size, sizeof *h->silent, "heartbeats", (void **)&h->silent));
  TSL_TRY(tsl_alloc(h->size, sizeof *h->mute, "heartbeats", (void **)&h->mute));
  TSL_TRY(tsl_alloc(h->size, sizeof *h->states, "heartbeats", (void **)&h->states));
done:
  return err;
}

static tsl_err make_heart(MPI_Comm comm, const tsl_placement *placements, double seconds,
                          tsl_heart *h) {
  tsl_err err = TSL_OK;
  h->placements = placements, h->patience = seconds;
  h->next = h->started = tsl_now();
  TSL_MPI(MPI_Comm_rank(comm, &h->rank));
  TSL_MPI(MPI_Comm_size(comm, &h->size));
  TSL_TRY(tsl_post_open(comm, placements, &h->post));
  TSL_COLLECTIVE_TRY(comm, tsl_watch_open(h->size, seconds, tsl_now(), &h->watch));
  TSL_COLLECTIVE_TRY(comm, make_flags(h));
  TSL_COLLECTIVE_TRY(comm, make_token(h));
  TSL_MPI(MPI_Bcast(h->token, (int)sizeof h->token, MPI_BYTE, 0, comm));
done:
  return err;
}

static tsl_err give_up(const tsl_heart *h, tsl_err err) {
  if (err == TSL_ERR_MPI || err == TSL_ERR_LOST) return err;
  if (h->rank == 0)
    fprintf(stderr, "tesela: warning: a rank that stops will not be noticed: %s\n",
            tsl_err_message());
  return TSL_OK;
}

tsl_err tsl_heart_start(MPI_Comm comm, const tsl_placement *placements, double seconds) {
  tsl_err err = TSL_OK;
  tsl_heart *h = NULL;
  int size = 1;
  TSL_MPI(MPI_Comm_size(comm, &size));
  if (size == 1 || seconds <= 0) return TSL_OK;
  TSL_COLLECTIVE_TRY(comm, tsl_alloc(1, sizeof *h, "heartbeats", (void **)&h));
  err = make_heart(comm, placements, seconds, h);
  if (err == TSL_OK) err = tsl_collective_error(comm, start_thread(h));
  if (err == TSL_OK) atomic_store(&the_heart, h), h = NULL;
  if (err != TSL_OK) err = give_up(h, err);
done:
  if (h != NULL) free_heart(h);
  return err;
}

void tsl_heart_stop(void) {
  enum { TIMES = 3 }; /* a datagram may be lost */
  tsl_heart *h = atomic_exchange(&the_heart, NULL);
  if (h == NULL) return;
  atomic_store(&h->stop, true);
  tsl_post_ring(&h->post);
  (void)pthread_join(h->thread, NULL);
  for (int k = 0; k < TIMES; k++) {
    tsl_heart_send(h, 0, TSL_BEAT_LEFT, -1, 0);
    tsl_heart_send(h, tsl_heart_neighbour(h, 1), TSL_BEAT_LEFT, -1, 0);
  }
  free_heart(h);
}

/* ---- what others ask and tell */

void tsl_heart_unit(int64_t unit) {
  atomic_store_explicit(&the_unit, unit, memory_order_relaxed);
}

void tsl_heart_saved(const char *output, double when) {
  pthread_mutex_lock(&saved_lock);
  saved.when = when;
  (void)snprintf(saved.output, sizeof saved.output, "%s", output);
  pthread_mutex_unlock(&saved_lock);
}

bool tsl_heart_alarm(void) {
  const tsl_heart *h = atomic_load(&the_heart);
  return h != NULL && atomic_load(&h->alarm);
}

bool tsl_heart_gone(int rank) {
  const tsl_heart *h = atomic_load(&the_heart);
  if (h == NULL || rank < 0 || rank >= h->size) return false;
  return atomic_load(&h->silent[rank]) || atomic_load(&h->mute[rank]);
}

bool tsl_heart_calls(void) {
  return tsl_heart_alarm() && !atomic_load(&saving);
}

void tsl_heart_save(void) {
  tsl_heart_answer();
  atomic_store(&saving, true);
}

void tsl_heart_answer(void) {
  tsl_heart *h = atomic_load(&the_heart);
  int deaf = TSL_MAIN_DEAF;
  if (h != NULL) (void)atomic_compare_exchange_strong(&h->state, &deaf, TSL_MAIN_ANSWERS);
}

tsl_err tsl_heart_lost(const char *file, int line) {
  tsl_heart_answer();
  return tsl_fail(TSL_ERR_LOST, file, line, "another rank is silent");
}

void tsl_heart_end(bool made) {
  const struct timespec nap = {0, 10 * 1000 * 1000};
  tsl_heart *h = atomic_load(&the_heart);
  if (h == NULL) return;
  atomic_store(&h->state, TSL_MAIN_DONE);
  while (!atomic_load(&h->leads) && !atomic_load(&h->ended)) (void)nanosleep(&nap, NULL);
  if (!atomic_load(&h->leads)) return;
  tsl_heart_say(made ? "the other ranks have saved what is done; " : "");
  atomic_store(&h->ending, true);
  tsl_post_ring(&h->post);
  (void)nanosleep(&nap, NULL);
}

/* ---- for the thread */

int64_t tsl_heart_last_unit(void) {
  return atomic_load_explicit(&the_unit, memory_order_relaxed);
}

float tsl_heart_age(void) {
  pthread_mutex_lock(&saved_lock);
  const float age = saved.when > 0 ? (float)(tsl_now() - saved.when) : -1;
  pthread_mutex_unlock(&saved_lock);
  return age;
}

void tsl_heart_heard_of(float age) {
  pthread_mutex_lock(&saved_lock);
  const double when = tsl_now() - (double)age;
  if (age >= 0 && saved.output[0] != '\0' && when > saved.when) saved.when = when;
  pthread_mutex_unlock(&saved_lock);
}

void tsl_heart_say(const char *before) {
  pthread_mutex_lock(&saved_lock);
  if (saved.when > 0)
    fprintf(stderr, "tesela: %sthe last checkpoint is %.0f s old; --restart %s goes on from it\n",
            before, tsl_now() - saved.when, saved.output);
  else
    fprintf(stderr, "tesela: %sno checkpoint is known of\n", before);
  pthread_mutex_unlock(&saved_lock);
}
