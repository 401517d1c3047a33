/** @file dp_recur_save.c  Checkpoints of recurrences, as in dp_recur_saved.h. */
#include "dp_recur_cpu.h"

#include <string.h>

static char *row_at(const dp_recur_cpu *r, int64_t p) {
  const dp_code *c = &r->recur->code;
  if (c->engine == DP_WAVEFRONT) return r->top;
  return r->table +
         (c->engine == DP_ROWS && c->depth > 0 ? p % (c->depth + 1) : p) * c->Q * r->bytes;
}

/** Values of the tile's saved rows, out or in. */
static void move_values(const dp_recur_cpu *r, const tsl_unit *u, int64_t lo, int64_t hi,
                        char *values, bool out) {
  const int64_t width = (u->hi[1] - u->lo[1]) * r->bytes;
  for (int64_t p = lo; p < hi; p++) {
    char *here = row_at(r, p) + u->lo[1] * r->bytes, *there = values + (p - lo) * width;
    memcpy(out ? there : here, out ? here : there, (size_t)width);
  }
}

void dp_recur_cpu_keep(const tsl_worker *w, const tsl_unit *u, tsl_part *part) {
  int64_t lo, hi;
  if (!dp_recur_gives(w->recur->kept, part)) return;
  (void)dp_recur_kept(&w->recur->recur->code, w->recur->recur->strip, u, &lo, &hi);
  move_values(w->recur, u, lo, hi, part->slab[w->recur->kept], true);
}

int64_t dp_recur_cpu_state_bytes(const tsl_worker *w, const tsl_unit *u, int64_t stage) {
  return dp_recur_saved_bytes(w->recur->recur, &w->recur->front, u, stage);
}

tsl_err dp_recur_cpu_save(tsl_worker *w, const tsl_unit *u, int64_t stage, void *bytes) {
  const dp_recur_cpu *r = w->recur;
  int64_t lo, hi;
  memset(bytes, 0, (size_t)dp_recur_cpu_state_bytes(w, u, stage));
  char *values =
      dp_recur_saved_put(r->recur, &r->front, u, stage, &r->best, r->wanted, bytes, &lo, &hi);
  move_values(r, u, lo, hi, values, true);
  return TSL_OK;
}

/** The goal's cells of a worker before become this one's. */
static void take_goal(dp_recur_cpu *r, const dp_recur_saved *saved) {
  if (saved->best.i >= 0) dp_recur_offer(r, &saved->best);
  for (int64_t k = 0; k < r->recur->n_wanted; k++) {
    const int64_t bits = dp_recur_saved_wanted(saved, k);
    if (bits != 0) r->wanted[k] = bits;
  }
}

tsl_err dp_recur_cpu_load(tsl_worker *w, const tsl_unit *u, int64_t stage, const uint8_t *own,
                          const void *bytes, int64_t n) {
  tsl_err err = TSL_OK;
  dp_recur_cpu *r = w->recur;
  dp_recur_saved saved;
  TSL_TRY(dp_recur_saved_get(r->recur, u, stage, bytes, n, &saved));
  if (saved.goal && own[u->lane]) take_goal(r, &saved);
  if (own[u->lane]) dp_recur_front_add(&r->front, u);
  if (u->hi[0] > r->front.done) r->front.done = u->hi[0];
  move_values(r, u, saved.lo, saved.hi, (char *)saved.values, false);
done:
  return err;
}
