/* The search moves one unit at a time from the slowest to the fastest rank and sums up what the
 * moves bring and cost. */
#include "rebalance.h"

#include "memory.h"

#include <math.h>
#include <string.h>

static const double PROGRESS = 1e-9; /* of the largest sum: smaller gains are rounding */

/* The present owners and their sums. */
typedef struct state {
  const tsl_rebalance_ask *ask;
  int32_t *owner;  /* [n] */
  double *seconds; /* [n] on the present owner */
  double *sum;     /* [n_ranks] */
  double *extra;   /* [n_ranks] s of migrations */
  double before;   /* s, largest sum at the beginning */
} state;

static bool takes_part(const tsl_rebalance_ask *ask, int rank) {
  return ask->takes_part == NULL || ask->takes_part[rank];
}

static void sum_up(state *s) {
  memset(s->sum, 0, (size_t)s->ask->n_ranks * sizeof *s->sum);
  for (int64_t u = 0; u < s->ask->n; u++) s->sum[s->owner[u]] += s->seconds[u];
}

/* Slowest and fastest of the ranks that take part; false: there are not two. */
static bool ends(const state *s, int *slowest, int *fastest) {
  *slowest = *fastest = -1;
  for (int r = 0; r < s->ask->n_ranks; r++) {
    if (!takes_part(s->ask, r)) continue;
    if (*slowest < 0 || s->sum[r] > s->sum[*slowest]) *slowest = r;
    if (*fastest < 0 || s->sum[r] < s->sum[*fastest]) *fastest = r;
  }
  return *slowest != *fastest;
}

static double imbalance(const state *s) {
  double all = 0, most = 0;
  int n = 0;
  for (int r = 0; r < s->ask->n_ranks; r++) {
    if (!takes_part(s->ask, r)) continue;
    all += s->sum[r], most = fmax(most, s->sum[r]), n++;
  }
  return all > 0 ? most * n / all - 1 : 0;
}

static double rebalance_largest(const state *s, bool with_extra) {
  double most = 0;
  for (int r = 0; r < s->ask->n_ranks; r++)
    most = fmax(most, s->sum[r] + (with_extra ? s->extra[r] : 0));
  return most;
}

static double moved_seconds(const state *s, int64_t unit, int from, int to) {
  return s->seconds[unit] * s->ask->correction(s->ask->model, unit, from, to);
}

/* Does the first run fit into the next phase? */
static bool fits(const state *s, int to, double there, double extra) {
  const double seconds = s->sum[to] + s->extra[to] + there + extra;
  return s->ask->longest <= 0 || seconds <= s->ask->longest * s->before;
}

/* The unit to move from the slowest to the fastest, or -1. */
static int64_t rebalance_pick(const state *s, int slowest, int fastest) {
  const tsl_rebalance_ask *ask = s->ask;
  const double most = s->sum[slowest], least = s->sum[fastest], goal = (most - least) / 2;
  double nearest = INFINITY;
  int64_t best = -1;
  for (int64_t u = 0; u < ask->n; u++) {
    if (s->owner[u] != slowest || s->seconds[u] <= 0) continue;
    if (ask->movable != NULL && !ask->movable[u]) continue;
    const double there = moved_seconds(s, u, slowest, fastest);
    const double extra = ask->migration(ask->model, u, slowest, fastest);
    const double off = fabs(there + extra - goal);
    const double larger = fmax(most - s->seconds[u], least + there);
    if (!fits(s, fastest, there, extra)) continue;
    if (larger < most * (1 - PROGRESS) && off < nearest) best = u, nearest = off;
  }
  return best;
}

static void move(state *s, int64_t unit, int from, int to) {
  const double there = moved_seconds(s, unit, from, to);
  s->extra[to] += s->ask->migration(s->ask->model, unit, from, to);
  s->sum[from] -= s->seconds[unit];
  s->sum[to] += there;
  s->seconds[unit] = there;
  s->owner[unit] = to;
}

static void move_all(state *s) {
  const double k = 1 + s->ask->threshold;
  int slowest, fastest;
  for (int64_t moves = 0; moves < 2 * s->ask->n && ends(s, &slowest, &fastest); moves++) {
    if (s->sum[slowest] <= k * s->sum[fastest]) break;
    const int64_t unit = rebalance_pick(s, slowest, fastest);
    if (unit < 0) break;
    move(s, unit, slowest, fastest);
  }
}

static void count_moves(state *s, const int32_t *before, tsl_rebalance_gain *gain) {
  memset(s->extra, 0, (size_t)s->ask->n_ranks * sizeof *s->extra);
  for (int64_t u = 0; u < s->ask->n; u++) {
    if (s->owner[u] == before[u]) continue;
    gain->moved++;
    s->extra[s->owner[u]] += s->ask->migration(s->ask->model, u, before[u], s->owner[u]);
  }
}

static tsl_err open_state(const tsl_rebalance_ask *ask, state *s) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(ask->n, sizeof *s->owner, "owners", (void **)&s->owner));
  TSL_TRY(tsl_alloc(ask->n, sizeof *s->seconds, "seconds of units", (void **)&s->seconds));
  TSL_TRY(tsl_alloc(ask->n_ranks, sizeof *s->sum, "loads", (void **)&s->sum));
  TSL_TRY(tsl_alloc(ask->n_ranks, sizeof *s->extra, "loads", (void **)&s->extra));
done:
  return err;
}

tsl_err tsl_rebalance(const tsl_rebalance_ask *ask, int32_t *owner, tsl_rebalance_gain *gain) {
  tsl_err err = TSL_OK;
  state s = {.ask = ask};
  *gain = (tsl_rebalance_gain){.moved = 0};
  TSL_TRY(open_state(ask, &s));
  for (int64_t u = 0; u < ask->n; u++) s.owner[u] = owner[u], s.seconds[u] = ask->seconds[u];
  sum_up(&s);
  gain->before = s.before = rebalance_largest(&s, false);
  gain->imbalance_before = imbalance(&s);
  move_all(&s);
  sum_up(&s); /* afresh, free of the rounding of many updates */
  count_moves(&s, owner, gain);
  gain->after = rebalance_largest(&s, false);
  gain->imbalance_after = imbalance(&s);
  gain->cost = rebalance_largest(&s, true) - gain->after;
  for (int64_t u = 0; u < ask->n; u++) owner[u] = s.owner[u];
done:
  tsl_free(s.owner);
  tsl_free(s.seconds);
  tsl_free(s.sum);
  tsl_free(s.extra);
  return err;
}

bool tsl_rebalance_pays(const tsl_rebalance_gain *gain, int phases) {
  return gain->moved > 0 && (gain->before - gain->after) * phases > gain->cost;
}
