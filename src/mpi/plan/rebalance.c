/* The search moves one unit at a time from the slowest to the fastest rank and sums up what the
 * moves bring and cost. */
#include "rebalance.h"

#include "plan_kinds.h"

#include <math.h>
#include <string.h>

static const double PROGRESS = 1e-9; /* of the largest sum: smaller gains are rounding */

/* The present owners and their sums. */
typedef struct state {
  const tsl_rebalance_ask *ask;
  int32_t *owner;  /* [n] the caller's */
  int32_t *first;  /* [n] owners that seconds were measured on */
  double *seconds; /* [n] on the present owner */
  double *sum;     /* [n_ranks] */
  double *extra;   /* [n_ranks] s of migrations */
  double before;   /* s, largest sum at the beginning */
} state;

static bool takes_part(const state *s, int rank) {
  return s->ask->takes_part == NULL || s->ask->takes_part[rank];
}

static bool is_movable(const state *s, int64_t unit) {
  return s->ask->movable == NULL || s->ask->movable[unit];
}

static void sum_up(state *s, const int32_t *owner) {
  memset(s->sum, 0, (size_t)s->ask->n_ranks * sizeof *s->sum);
  for (int64_t u = 0; u < s->ask->n; u++) s->sum[owner[u]] += s->seconds[u];
}

/* Slowest and fastest of the ranks that take part; false: there are not two. */
static bool ends(const state *s, int *slowest, int *fastest) {
  *slowest = *fastest = -1;
  for (int r = 0; r < s->ask->n_ranks; r++) {
    if (!takes_part(s, r)) continue;
    if (*slowest < 0 || s->sum[r] > s->sum[*slowest]) *slowest = r;
    if (*fastest < 0 || s->sum[r] < s->sum[*fastest]) *fastest = r;
  }
  return *slowest != *fastest;
}

static double imbalance(const state *s) {
  return 1 / tsl_plan_efficiency(s->sum, s->ask->takes_part, s->ask->n_ranks) - 1;
}

static double largest(const state *s, bool with_extra) {
  double most = 0;
  for (int r = 0; r < s->ask->n_ranks; r++)
    most = fmax(most, s->sum[r] + (with_extra ? s->extra[r] : 0));
  return most;
}

static double seconds_on(const state *s, int64_t unit, int to) {
  return s->seconds[unit] * s->ask->correction(s->ask->model, unit, s->owner[unit], to);
}

static double migration(const state *s, int64_t unit, int from, int to) {
  return s->ask->migration(s->ask->model, unit, from, to);
}

/* The unit to move from the slowest to the fastest, or -1. */
static int64_t pick(const state *s, int slowest, int fastest) {
  const double most = s->sum[slowest], least = s->sum[fastest], goal = (most - least) / 2;
  double nearest = INFINITY;
  int64_t best = -1;
  for (int64_t u = 0; u < s->ask->n; u++) {
    if (s->owner[u] != slowest || s->seconds[u] <= 0 || !is_movable(s, u)) continue;
    const double there = seconds_on(s, u, fastest), extra = migration(s, u, slowest, fastest);
    const double off = fabs(there + extra - goal);
    const double larger = fmax(most - s->seconds[u], least + there);
    const double next = least + s->extra[fastest] + there + extra; /* must fit, the first run too */
    if (s->ask->longest > 0 && next > s->ask->longest * s->before) continue;
    if (larger < most * (1 - PROGRESS) && off < nearest) best = u, nearest = off;
  }
  return best;
}

static void move(state *s, int64_t unit, int to) {
  const int from = s->owner[unit];
  const double there = seconds_on(s, unit, to);
  s->extra[to] += migration(s, unit, from, to);
  s->sum[from] -= s->seconds[unit];
  s->sum[to] += there;
  s->seconds[unit] = there;
  s->owner[unit] = to;
}

/* Units of ranks that take no part go to who would have them done first. */
static void give_away(state *s) {
  for (int64_t u = 0; u < s->ask->n; u++) {
    double end = INFINITY;
    int best = -1;
    if (takes_part(s, s->owner[u]) || !is_movable(s, u)) continue;
    for (int r = 0; r < s->ask->n_ranks; r++) {
      const double then = takes_part(s, r) ? s->sum[r] + seconds_on(s, u, r) : INFINITY;
      if (then < end) best = r, end = then;
    }
    if (best >= 0) move(s, u, best);
  }
}

static void move_all(state *s) {
  const double k = 1 + s->ask->threshold;
  int slowest, fastest;
  for (int64_t moves = 0; moves < 2 * s->ask->n && ends(s, &slowest, &fastest); moves++) {
    if (s->sum[slowest] <= k * s->sum[fastest]) break;
    const int64_t unit = pick(s, slowest, fastest);
    if (unit < 0) break;
    move(s, unit, fastest);
  }
}

static void count_moves(state *s, tsl_rebalance_gain *gain) {
  memset(s->extra, 0, (size_t)s->ask->n_ranks * sizeof *s->extra);
  for (int64_t u = 0; u < s->ask->n; u++) {
    if (s->owner[u] == s->first[u] || !is_movable(s, u)) continue;
    gain->moved++;
    s->extra[s->owner[u]] += migration(s, u, s->first[u], s->owner[u]);
  }
}

/* Sums where units were measured, then where they are. */
static void begin(state *s, tsl_rebalance_gain *gain) {
  const tsl_rebalance_ask *ask = s->ask;
  for (int64_t u = 0; u < ask->n; u++) {
    s->first[u] = ask->measured != NULL ? ask->measured[u] : s->owner[u];
    s->seconds[u] = ask->seconds[u];
  }
  sum_up(s, s->first);
  gain->before = s->before = largest(s, false);
  gain->imbalance_before = imbalance(s);
  for (int64_t u = 0; u < ask->n; u++)
    if (s->owner[u] != s->first[u])
      s->seconds[u] *= ask->correction(ask->model, u, s->first[u], s->owner[u]);
  sum_up(s, s->owner);
}

tsl_err tsl_rebalance(const tsl_rebalance_ask *ask, int32_t *owner, tsl_rebalance_gain *gain) {
  tsl_err err = TSL_OK;
  state s = {.ask = ask, .owner = owner};
  *gain = (tsl_rebalance_gain){.moved = 0};
  TSL_TRY(tsl_alloc(ask->n, sizeof *s.first, "owners", (void **)&s.first));
  TSL_TRY(tsl_alloc(ask->n, sizeof *s.seconds, "seconds of units", (void **)&s.seconds));
  TSL_TRY(tsl_alloc(ask->n_ranks, sizeof *s.sum, "loads", (void **)&s.sum));
  TSL_TRY(tsl_alloc(ask->n_ranks, sizeof *s.extra, "loads", (void **)&s.extra));
  begin(&s, gain);
  give_away(&s);
  move_all(&s);
  sum_up(&s, owner); /* afresh, free of the rounding of many updates */
  count_moves(&s, gain);
  gain->after = largest(&s, false);
  gain->imbalance_after = imbalance(&s);
  gain->cost = largest(&s, true) - gain->after;
done:
  TSL_FREE_ALL(s.first, s.seconds, s.sum, s.extra);
  return err;
}

bool tsl_rebalance_pays(const tsl_rebalance_gain *gain, int phases) {
  return gain->moved > 0 && (gain->before - gain->after) * phases > gain->cost;
}
