/* The thread that syncs rows and commits a checkpoint, and the calls by which the main thread
 * steers it through atomic states. */
#include "checkpoint_thread.h"

#include "parallel.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

typedef enum permit { WAIT, COMMIT, DROP } permit;

struct tsl_behind {
  tsl_behind_work work;
  tsl_behind_end end; /* of the thread, until it is over */
  bool beside;        /* there is a thread */
  pthread_t thread;
  pthread_mutex_t lock; /* of permit */
  pthread_cond_t given;
  permit permit;
  atomic_bool synced, over;
};

tsl_err tsl_sync_rows(int fd) {
  tsl_err err = TSL_OK;
  if (fd < 0) return TSL_OK;
  if (fsync(fd) != 0) TSL_FAIL(TSL_ERR_IO, "rows of the results: fsync: %s", strerror(errno));
done:
  (void)close(fd);
  return err;
}

/* ---- the work */

static void sync_rows(tsl_behind *b) {
  tsl_err_save(tsl_sync_rows(b->work.rows), &b->end.rows);
  atomic_store(&b->synced, true);
}

static bool may_commit(tsl_behind *b) {
  pthread_mutex_lock(&b->lock);
  while (b->permit == WAIT) pthread_cond_wait(&b->given, &b->lock);
  const bool commits = b->permit == COMMIT;
  pthread_mutex_unlock(&b->lock);
  return commits && b->end.rows.code == TSL_OK;
}

static tsl_err commit(tsl_behind *b) {
  tsl_err err = TSL_OK;
  if (!may_commit(b)) TSL_FAIL(TSL_ERR_IO, "not every rank has its part of it on the disk");
  TSL_TRY(tsl_checkpoint_commit(&b->work.writer, &b->end.bytes));
  b->work.saved(b->work.state);
done:
  tsl_checkpoint_drop(&b->work.writer);
  return err;
}

static void end(tsl_behind *b) {
  if (b->work.writer != NULL) tsl_err_save(commit(b), &b->end.checkpoint);
  atomic_store(&b->over, true);
}

static void *checkpoint_thread_run(void *behind) {
  sync_rows(behind);
  end(behind);
  return NULL;
}

/* ---- the calls */

static void discard(const tsl_behind_work *work) {
  tsl_checkpoint_writer *writer = work->writer;
  tsl_checkpoint_drop(&writer);
  if (work->rows >= 0) (void)close(work->rows);
}

tsl_err tsl_behind_start(const tsl_behind_work *work, tsl_behind **behind) {
  tsl_err err = TSL_OK;
  tsl_behind *b = NULL;
  *behind = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *b, "checkpoint's thread", (void **)&b));
  b->work = *work;
  (void)pthread_mutex_init(&b->lock, NULL);
  (void)pthread_cond_init(&b->given, NULL);
  b->beside = tsl_thread_start(&b->thread, checkpoint_thread_run, b) == 0;
  if (!b->beside) sync_rows(b);
  *behind = b;
done:
  if (err != TSL_OK) discard(work);
  return err;
}

bool tsl_behind_synced(const tsl_behind *b) {
  return atomic_load(&b->synced);
}

bool tsl_behind_rows_safe(const tsl_behind *b) {
  return tsl_behind_synced(b) && b->end.rows.code == TSL_OK;
}

void tsl_behind_go(tsl_behind *b, bool commits) {
  pthread_mutex_lock(&b->lock);
  const bool first = b->permit == WAIT;
  if (first) b->permit = commits ? COMMIT : DROP;
  pthread_cond_broadcast(&b->given);
  pthread_mutex_unlock(&b->lock);
  if (first && !b->beside) end(b);
}

bool tsl_behind_over(const tsl_behind *b) {
  return atomic_load(&b->over);
}

void tsl_behind_wait(tsl_behind **behind, tsl_behind_end *end) {
  tsl_behind *b = *behind;
  if (b->beside) (void)pthread_join(b->thread, NULL);
  *end = b->end;
  (void)pthread_mutex_destroy(&b->lock);
  (void)pthread_cond_destroy(&b->given);
  tsl_free(b);
  *behind = NULL;
}
