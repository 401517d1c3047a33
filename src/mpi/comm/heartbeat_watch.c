/* State of each watched rank, moved by signs of life and by the caller's clock. */
#include "heartbeat_watch.h"

#include "memory.h"

static const double AWAY = 0.5, DOUBT = 0.5; /* of patience */

tsl_err tsl_watch_open(int n, double patience, double now, tsl_watch *watch) {
  tsl_err err = TSL_OK;
  *watch = (tsl_watch){.patience = patience, .looked = now, .n = n};
  TSL_TRY(tsl_alloc(n, sizeof *watch->of, "heartbeats", (void **)&watch->of));
  for (int r = 0; r < n; r++) watch->of[r] = (tsl_watched){.heard = now, .spoke = now, .unit = -1};
done:
  return err;
}

void tsl_watch_close(tsl_watch *watch) {
  tsl_free(watch->of);
  *watch = (tsl_watch){0};
}

void tsl_watch_heard(tsl_watch *watch, int rank, int64_t unit, double now) {
  tsl_watched *w = &watch->of[rank];
  if (w->life == TSL_LIFE_SILENT || w->life == TSL_LIFE_LEFT) return;
  *w = (tsl_watched){.life = TSL_LIFE_BEATS, .heard = now, .spoke = now, .unit = unit};
}

void tsl_watch_left(tsl_watch *watch, int rank) {
  if (watch->of[rank].life != TSL_LIFE_SILENT) watch->of[rank].life = TSL_LIFE_LEFT;
}

void tsl_watch_look(tsl_watch *watch, double now) {
  const bool away = now - watch->looked > AWAY * watch->patience;
  watch->looked = now;
  for (int r = 0; away && r < watch->n; r++) watch->of[r].heard = now;
}

static double silence(const tsl_watch *watch, int rank, double now) {
  const tsl_watched *w = &watch->of[rank];
  return w->life == TSL_LIFE_BEATS ? now - w->heard : 0;
}

bool tsl_watch_doubts(const tsl_watch *watch, int rank, double now) {
  return silence(watch, rank, now) > DOUBT * watch->patience;
}

bool tsl_watch_misses(const tsl_watch *watch, int rank, double now) {
  return silence(watch, rank, now) > watch->patience;
}

void tsl_watch_lose(tsl_watch *watch, int rank) {
  watch->of[rank].life = TSL_LIFE_SILENT;
}
