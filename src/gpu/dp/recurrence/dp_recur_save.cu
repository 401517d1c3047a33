/* Checkpoints of recurrences on a card, as in dp_recur_saved.h. The twin of
 * src/cpu/dp/recurrence/dp_recur_save.c. */
#include "dp_recur_own.cuh"

#include <string.h>

int64_t dp_recur_card_state_bytes(const dp_recur_card *w, const tsl_unit *u, int64_t stage) {
  return dp_recur_saved_bytes(w->recur, &w->front, u, stage);
}

/* Saved rows of the tile between the card and host memory; waits. */
static tsl_err move_values(dp_recur_card *w, const tsl_unit *u, int64_t lo, int64_t hi,
                           void *values, bool out) {
  tsl_err err = TSL_OK;
  const dp_recur_box box = {lo, hi, u->lo[1], u->hi[1]};
  char *const line = dp_recur_at(w, &w->line, box.q0);
  if (dp_recur_empty(&box)) return TSL_OK;
  if (w->code.engine != DP_WAVEFRONT)
    return out ? dp_recur_rows_get(w, box, values) : dp_recur_rows_put(w, box, values);
  TSL_TRY(tsl_gpu_copy(w->card, out ? values : line, out ? line : values,
                       (size_t)((box.q1 - box.q0) * w->bytes)));
done:
  return err;
}

tsl_err dp_recur_card_keep(dp_recur_card *w, const tsl_unit *u, tsl_part *part) {
  int64_t lo, hi;
  if (!dp_recur_gives(w->kept, part)) return TSL_OK;
  (void)dp_recur_kept(&w->code, w->recur->strip, u, &lo, &hi);
  return move_values(w, u, lo, hi, part->slab[w->kept], true);
}

/* ---- save */

/* What the goal needs of the cells computed so far. @param[out] wanted  [n_wanted] */
static tsl_err get_goal(dp_recur_card *w, dp_recur_best *best, int64_t *wanted) {
  tsl_err err = TSL_OK;
  if (!dp_recur_empty(&w->goal)) TSL_TRY(dp_recur_best_of(w, best));
  TSL_TRY(dp_recur_card_collect(w, wanted));
done:
  return err;
}

tsl_err dp_recur_card_save(dp_recur_card *w, const tsl_unit *u, int64_t stage, void *bytes) {
  tsl_err err = TSL_OK;
  dp_recur_best best = {0, -1, -1, 0};
  int64_t *wanted = NULL, lo = 0, hi = 0;
  char *values = NULL;
  memset(bytes, 0, (size_t)dp_recur_card_state_bytes(w, u, stage));
  TSL_TRY(tsl_alloc(w->recur->n_wanted, sizeof *wanted, "goal", (void **)&wanted));
  if (dp_recur_saved_has_goal(w->recur, &w->front, u, stage)) TSL_TRY(get_goal(w, &best, wanted));
  values = dp_recur_saved_put(w->recur, &w->front, u, stage, &best, wanted, bytes, &lo, &hi);
  TSL_TRY(move_values(w, u, lo, hi, values, true));
done:
  tsl_free(wanted);
  return err;
}

/* ---- load */

/* The opposite of dp_recur_bits. */
static void put_bits(tsl_type type, int64_t bits, void *address) {
  const int16_t i16 = (int16_t)bits;
  const int32_t i32 = (int32_t)bits;
  double real = 0;
  memcpy(&real, &bits, sizeof real);
  const float f32 = (float)real;
  switch (type) {
  case TSL_I16:
    memcpy(address, &i16, sizeof i16);
    break;
  case TSL_I32:
    memcpy(address, &i32, sizeof i32);
    break;
  case TSL_F32:
    memcpy(address, &f32, sizeof f32);
    break;
  default: /* i64, f64 */
    memcpy(address, &bits, sizeof bits);
    break;
  }
}

/* Wanted cells that a worker before has computed. */
static tsl_err take_wanted(dp_recur_card *w, const dp_recur_saved *saved) {
  tsl_err err = TSL_OK;
  const int64_t n = w->recur->n_wanted;
  char *values = NULL;
  if (n == 0) return TSL_OK;
  TSL_TRY(dp_recur_card_wanted(w, &values));
  for (int64_t k = 0; k < n; k++) {
    const int64_t bits = dp_recur_saved_wanted(saved, k);
    if (bits != 0) put_bits(w->type, bits, values + k * w->step);
  }
  TSL_TRY(tsl_gpu_copy(w->card, w->wanted.data, values, n * w->step));
done:
  tsl_free(values);
  return err;
}

/* The goal's cells of a worker before become this one's. */
static tsl_err take_goal(dp_recur_card *w, const dp_recur_saved *saved) {
  if (saved->best.i >= 0 && dp_recur_better(w->recur, &saved->best, &w->taken))
    w->taken = saved->best;
  return take_wanted(w, saved);
}

tsl_err dp_recur_card_load(dp_recur_card *w, const tsl_unit *u, int64_t stage, const uint8_t *own,
                           const void *bytes, int64_t n) {
  tsl_err err = TSL_OK;
  dp_recur_saved saved;
  TSL_TRY(dp_recur_saved_get(w->recur, u, stage, bytes, n, &saved));
  if (saved.goal && own[u->lane]) TSL_TRY(take_goal(w, &saved));
  if (own[u->lane]) dp_recur_front_add(&w->front, u);
  if (u->hi[0] > w->front.done) w->front.done = u->hi[0];
  TSL_TRY(move_values(w, u, saved.lo, saved.hi, (void *)saved.values, false));
done:
  return err;
}
