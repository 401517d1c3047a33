/* What is saved of the tiles of recurrences, as bytes. */
#include "dp_recur_saved.h"
#include "dp_saved.h"
#include "integers.h"

#include <string.h>

enum { HEAD = 2, BEST = DP_BEST_ROW };

static int64_t row_bytes(const dp_recur *r, const tsl_unit *u) {
  return (u->hi[1] - u->lo[1]) * dp_code_bytes(&r->code);
}

static int64_t goal_bytes(const dp_recur *r) {
  return (BEST + r->n_wanted) * 8;
}

/** Rows [lo, hi) of the tile that are saved; the last row done is `done` - 1. */
static void saved_rows(const dp_code *c, const tsl_unit *u, int64_t stage, int64_t done,
                       int64_t *lo, int64_t *hi) {
  *lo = u->lo[0];
  *hi = u->hi[0];
  if (c->engine == DP_WAVEFRONT) *lo = u->stage == stage - 1 ? *hi - 1 : *hi;
  if (c->engine == DP_ROWS && c->depth > 0) *lo = tsl_min(*hi, tsl_max(*lo, done - c->depth));
}

bool dp_recur_saved_has_goal(const dp_recur *r, const dp_recur_front *front, const tsl_unit *u,
                             int64_t stage) {
  return u->lane == front->first_lane && (r->code.engine == DP_INTERVAL || u->stage == stage - 1);
}

int64_t dp_recur_saved_bytes(const dp_recur *r, const dp_recur_front *front, const tsl_unit *u,
                             int64_t stage) {
  int64_t lo, hi;
  saved_rows(&r->code, u, stage, front->done, &lo, &hi);
  const int64_t bytes = dp_padded((hi - lo) * row_bytes(r, u)) +
                        (dp_recur_saved_has_goal(r, front, u, stage) ? goal_bytes(r) : 0);
  return bytes > 0 ? HEAD * 8 + bytes : 0;
}

char *dp_recur_saved_put(const dp_recur *r, const dp_recur_front *front, const tsl_unit *u,
                         int64_t stage, const dp_recur_best *best, const int64_t *wanted,
                         void *bytes, int64_t *lo, int64_t *hi) {
  char *at = (char *)bytes + HEAD * 8;
  saved_rows(&r->code, u, stage, front->done, lo, hi);
  const int64_t head[HEAD] = {dp_recur_saved_has_goal(r, front, u, stage),
                              (*hi - *lo) * row_bytes(r, u)};
  memcpy(bytes, head, sizeof head);
  if (!head[0]) return at;
  const int64_t found[BEST] = {best->bits, best->i, best->j, best->layer};
  memcpy(at, found, sizeof found);
  if (r->n_wanted > 0) memcpy(at + sizeof found, wanted, (size_t)r->n_wanted * sizeof *wanted);
  return at + goal_bytes(r);
}

/** Can so many rows have been saved of the tile? */
static bool rows_fit(const dp_recur *r, const tsl_unit *u, int64_t stage, int64_t rows) {
  const dp_code *c = &r->code;
  if (rows < 0 || rows > u->hi[0] - u->lo[0]) return false;
  if (c->engine == DP_WAVEFRONT) return rows == (u->stage == stage - 1 ? 1 : 0);
  if (c->engine == DP_INTERVAL || c->depth == 0) return rows == u->hi[0] - u->lo[0];
  return rows <= c->depth;
}

tsl_err dp_recur_saved_get(const dp_recur *r, const tsl_unit *u, int64_t stage, const void *bytes,
                           int64_t n, dp_recur_saved *out) {
  tsl_err err = TSL_OK;
  const char *at = (const char *)bytes + HEAD * 8;
  const int64_t width = row_bytes(r, u);
  int64_t head[HEAD] = {-1, 0}, best[BEST];
  if (n >= (int64_t)sizeof head) memcpy(head, bytes, sizeof head);
  const int64_t goal = head[0] == 1 ? goal_bytes(r) : 0, rows = width > 0 ? head[1] / width : 0;
  if (head[0] < 0 || head[0] > 1 || !rows_fit(r, u, stage, rows) || head[1] != rows * width ||
      n != (int64_t)sizeof head + goal + dp_padded(head[1]))
    TSL_FAIL(TSL_ERR_INPUT, "the checkpoint's state of tile %lld is not one of this table",
             (long long)u->id);
  *out = (dp_recur_saved){.goal = head[0] == 1,
                          .best = {0, -1, -1, 0},
                          .wanted = at + sizeof best,
                          .values = at + goal,
                          .lo = u->hi[0] - rows,
                          .hi = u->hi[0]};
  if (!out->goal) goto done;
  memcpy(best, at, sizeof best);
  out->best = (dp_recur_best){best[0], best[1], best[2], best[3]};
  const bool layer = best[3] >= 0 && best[3] < tsl_max(r->code.layers, 1);
  if (out->best.i != -1 && !(layer && dp_recur_candidate(r, out->best.i, out->best.j)))
    TSL_FAIL(TSL_ERR_INPUT, "the checkpoint's best cell of tile %lld is not one of this table",
             (long long)u->id);
done:
  return err;
}
