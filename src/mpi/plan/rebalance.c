/* Owners on trial, by measured times: one unit at a time goes from the slowest to the fastest rank.
 */
#include "rebalance.h"

#include <math.h>
#include <string.h>

static const double PROGRESS = 1e-9; /* of the largest sum: smaller gains are rounding */

/* Room of one call, and what is looked at. */
typedef struct search {
  const tsl_timing_history *learned;
  int set;
  const int32_t *owner; /* [n_units] as it is */
  int32_t *to;          /* [n_units] on trial */
  int32_t *paid;        /* [n_units] the last that paid */
  double *load;         /* [n_ranks] s of a phase of the set */
  double *extra;        /* [n_ranks] s that first runs take more */
  bool *closed;         /* [n_ranks] none of the slowest rank's units is worth moving there */
} search;

/* ---- times */

/* Seconds on rank to over those on rank from: the cost model's, corrected by what both have shown
 * with the kind in the set. */
static double ratio(const tsl_timing_history *l, int set, int64_t unit, int from, int to) {
  const tsl_unit *of = &l->units[unit];
  const double there = tsl_cost_seconds(l->cost, to, of),
               here = tsl_cost_seconds(l->cost, from, of);
  const double off_there = tsl_history_off(l, set, to, of->kind);
  const double off_here = tsl_history_off(l, set, from, of->kind);
  const double off = off_there > 0 && off_here > 0 ? off_there / off_here : 1;
  return there > 0 && here > 0 ? there / here * off : off;
}

/* The unit has moved: its times go over to the new owner, in all sets. */
static void carry(tsl_timing_history *l, int64_t unit, int from, int to) {
  for (int s = 0; s < l->sets->n; s++) {
    tsl_history_of(l, s, unit)->seconds *= ratio(l, s, unit, from, to);
    tsl_history_of(l, s, unit)->last = 0;
  }
  l->first[unit] = 0;
}

/* ---- sums */

/* Seconds of a unit in the set; 0: not known, or not in the set. */
static double seconds_on(const search *s, int64_t unit, int rank) {
  const double known = tsl_history_of(s->learned, s->set, unit)->seconds;
  const int from = s->owner[unit];
  return rank == from ? known : known * ratio(s->learned, s->set, unit, from, rank);
}

/* What its first run on a rank that has not had it takes more. */
static double setup_on(const search *s, int64_t unit, int rank) {
  return rank == s->owner[unit] ? 0 : tsl_history_setup(s->learned, s->set, unit, rank);
}

static void sum_up(search *s, const int32_t *owner) {
  memset(s->load, 0, (size_t)s->learned->n_ranks * sizeof *s->load);
  for (int64_t u = 0; u < s->learned->n_units; u++) s->load[owner[u]] += seconds_on(s, u, owner[u]);
}

static double imbalance(const search *s) {
  return 1 / tsl_plan_efficiency(s->load, s->learned->cost) - 1;
}

/* Seconds of those to come, the first of them with first runs. */
static double next_phases(const search *s) {
  double first = 0;
  for (int r = 0; r < s->learned->n_ranks; r++) first = fmax(first, s->load[r] + s->extra[r]);
  return first + (TSL_PHASES_LEFT - 1) * tsl_plan_longest(s->load, s->learned->n_ranks);
}

/* ---- moves */

/* Slowest of the ranks that take part, and the fastest that is open; false: there are not two. */
static bool ends(const search *s, int *slowest, int *fastest) {
  *slowest = *fastest = -1;
  for (int r = 0; r < s->learned->n_ranks; r++) {
    if (!tsl_cost_takes_part(s->learned->cost, r)) continue;
    if (*slowest < 0 || s->load[r] > s->load[*slowest]) *slowest = r;
    if (!s->closed[r] && (*fastest < 0 || s->load[r] < s->load[*fastest])) *fastest = r;
  }
  return *fastest >= 0 && *slowest != *fastest;
}

/* The unit to move from the slowest to the fastest, or -1. */
static int64_t pick(const search *s, int slowest, int fastest) {
  const tsl_timing_history *l = s->learned;
  const double most = s->load[slowest], least = s->load[fastest], goal = (most - least) / 2;
  double nearest = INFINITY;
  int64_t best = -1;
  for (int64_t u = 0; u < l->n_units; u++) {
    if (s->to[u] != slowest || l->sets->home[l->units[u].kind] != s->set) continue;
    const double here = seconds_on(s, u, slowest), there = seconds_on(s, u, fastest);
    const double off = fabs(there + setup_on(s, u, fastest) - goal);
    const bool shorter = fmax(most - here, least + there) < most * (1 - PROGRESS);
    if (here > 0 && shorter && off < nearest) best = u, nearest = off;
  }
  return best;
}

static void move(search *s, int64_t unit, int from, int to) {
  s->load[from] -= seconds_on(s, unit, from), s->extra[from] -= setup_on(s, unit, from);
  s->load[to] += seconds_on(s, unit, to), s->extra[to] += setup_on(s, unit, to);
  s->to[unit] = to;
}

/* As many as pay. */
static void move_units(search *s, double threshold) {
  const int64_t n = s->learned->n_units;
  const double now = next_phases(s) * (1 - PROGRESS);
  int slowest, fastest;
  for (int64_t moves = 0; moves < 2 * n && ends(s, &slowest, &fastest);) {
    if (s->load[slowest] <= (1 + threshold) * s->load[fastest]) break;
    const int64_t unit = pick(s, slowest, fastest);
    s->closed[fastest] = unit < 0;
    if (unit < 0) continue;
    move(s, unit, slowest, fastest);
    memset(s->closed, 0, (size_t)s->learned->n_ranks * sizeof *s->closed);
    moves++;
    if (next_phases(s) < now) memcpy(s->paid, s->to, (size_t)n * sizeof *s->to);
  }
}

tsl_err tsl_rebalance(tsl_timing_history *l, int set, double threshold, int32_t *owner,
                      tsl_rebalance_gain *gain) {
  tsl_err err = TSL_OK;
  search s = {.learned = l, .set = set, .owner = owner};
  TSL_TRY(tsl_alloc(l->n_units, sizeof *s.to, "rebalancing", (void **)&s.to));
  TSL_TRY(tsl_alloc(l->n_units, sizeof *s.paid, "rebalancing", (void **)&s.paid));
  TSL_TRY(tsl_alloc(l->n_ranks, sizeof *s.load, "rebalancing", (void **)&s.load));
  TSL_TRY(tsl_alloc(l->n_ranks, sizeof *s.extra, "rebalancing", (void **)&s.extra));
  TSL_TRY(tsl_alloc(l->n_ranks, sizeof *s.closed, "rebalancing", (void **)&s.closed));
  for (int64_t u = 0; u < l->n_units; u++) s.to[u] = s.paid[u] = owner[u];
  sum_up(&s, owner);
  *gain = (tsl_rebalance_gain){.imbalance_before = imbalance(&s)};
  move_units(&s, threshold);
  sum_up(&s, s.paid); /* afresh, free of the rounding of many updates */
  gain->imbalance_after = imbalance(&s);
  for (int64_t u = 0; u < l->n_units; u++) {
    if (s.paid[u] == owner[u]) continue;
    carry(l, u, owner[u], s.paid[u]);
    owner[u] = s.paid[u];
    gain->moved++;
  }
done:
  TSL_FREE_ALL(s.to, s.paid, s.load, s.extra, s.closed);
  return err;
}
