/* Owners on trial, by measured times: one unit at a time goes from the slowest to the fastest rank.
 */
#include "rebalance.h"

#include "select_ranks.h"

#include <math.h>
#include <string.h>

static const double PROGRESS = 1e-9; /* of the largest sum: smaller gains are rounding */

/* Room of one call, and what is looked at. */
typedef struct search {
  tsl_timing_history *learned;
  int set;
  int32_t *owner;   /* [n_units] as it is; the caller's */
  int32_t *to;      /* [n_units] on trial */
  int32_t *paid;    /* [n_units] the last that paid */
  double *seconds;  /* [n_units] in the set on rank to; 0: not known, or not in the set */
  double *load;     /* [n_ranks] s of a phase of the set */
  double *extra;    /* [n_ranks] s that first runs take more */
  bool *takes_part; /* [n_ranks] */
} search;

static tsl_err open_search(search *s) {
  tsl_err err = TSL_OK;
  const tsl_timing_history *l = s->learned;
  TSL_TRY(tsl_alloc(l->n_units, sizeof *s->to, "rebalancing", (void **)&s->to));
  TSL_TRY(tsl_alloc(l->n_units, sizeof *s->paid, "rebalancing", (void **)&s->paid));
  TSL_TRY(tsl_alloc(l->n_units, sizeof *s->seconds, "rebalancing", (void **)&s->seconds));
  TSL_TRY(tsl_alloc(l->n_ranks, sizeof *s->load, "rebalancing", (void **)&s->load));
  TSL_TRY(tsl_alloc(l->n_ranks, sizeof *s->extra, "rebalancing", (void **)&s->extra));
  TSL_TRY(tsl_alloc(l->n_ranks, sizeof *s->takes_part, "rebalancing", (void **)&s->takes_part));
  for (int r = 0; r < l->n_ranks; r++) s->takes_part[r] = tsl_cost_takes_part(l->cost, r);
  for (int64_t u = 0; u < l->n_units; u++) s->to[u] = s->owner[u];
done:
  return err;
}

static void close_search(search *s) {
  TSL_FREE_ALL(s->to, s->paid, s->seconds, s->load, s->extra, s->takes_part);
}

/* ---- sums */

static bool is_movable(const search *s, int64_t unit) {
  return s->learned->sets->home[s->learned->units[unit].kind] == s->set && s->seconds[unit] > 0;
}

/* In a set, as owners are. */
static double seconds_on(const search *s, int set, int64_t unit, int rank) {
  const int from = s->owner[unit];
  return tsl_history_of(s->learned, set, unit)->seconds *
         (rank == from ? 1 : tsl_history_ratio(s->learned, set, unit, from, rank));
}

/* What a unit's first run on a rank that has not had it takes more. */
static double setup_on(const search *s, int64_t unit, int rank) {
  if (rank == s->owner[unit]) return 0;
  return tsl_history_setup(s->learned, s->set, unit, rank);
}

/* Sums of the owners on trial in a set; of first runs those that are paid in it. */
static void look_at(search *s, int set) {
  s->set = set;
  memset(s->load, 0, (size_t)s->learned->n_ranks * sizeof *s->load);
  memset(s->extra, 0, (size_t)s->learned->n_ranks * sizeof *s->extra);
  for (int64_t u = 0; u < s->learned->n_units; u++) {
    s->seconds[u] = seconds_on(s, set, u, s->to[u]);
    s->load[s->to[u]] += s->seconds[u];
    if (is_movable(s, u)) s->extra[s->to[u]] += setup_on(s, u, s->to[u]);
  }
}

static double longest(const search *s) {
  return tsl_plan_longest(s->load, s->learned->n_ranks);
}

/* That the next phase is longer. */
static double cost_once(const search *s) {
  double most = 0;
  for (int r = 0; r < s->learned->n_ranks; r++) most = fmax(most, s->load[r] + s->extra[r]);
  return most - longest(s);
}

static double next_phases(const search *s) {
  return TSL_PHASES_LEFT * longest(s) + cost_once(s);
}

static double imbalance(const search *s) {
  return 1 / tsl_plan_efficiency(s->load, s->takes_part, s->learned->n_ranks) - 1;
}

/* ---- moves */

/* Slowest and fastest of the ranks that take part; false: there are not two. */
static bool ends(const search *s, int *slowest, int *fastest) {
  *slowest = *fastest = -1;
  for (int r = 0; r < s->learned->n_ranks; r++) {
    if (!s->takes_part[r]) continue;
    if (*slowest < 0 || s->load[r] > s->load[*slowest]) *slowest = r;
    if (*fastest < 0 || s->load[r] < s->load[*fastest]) *fastest = r;
  }
  return *slowest != *fastest;
}

/* The unit to move from the slowest to the fastest, or -1. */
static int64_t pick(const search *s, int slowest, int fastest) {
  const double most = s->load[slowest], least = s->load[fastest], goal = (most - least) / 2;
  double nearest = INFINITY;
  int64_t best = -1;
  for (int64_t u = 0; u < s->learned->n_units; u++) {
    if (s->to[u] != slowest || !is_movable(s, u)) continue;
    const double there = seconds_on(s, s->set, u, fastest);
    const double off = fabs(there + setup_on(s, u, fastest) - goal);
    const double larger = fmax(most - s->seconds[u], least + there);
    if (larger < most * (1 - PROGRESS) && off < nearest) best = u, nearest = off;
  }
  return best;
}

static void move(search *s, int64_t unit, int to) {
  const int from = s->to[unit];
  s->load[from] -= s->seconds[unit], s->extra[from] -= setup_on(s, unit, from);
  s->seconds[unit] = seconds_on(s, s->set, unit, to);
  s->load[to] += s->seconds[unit], s->extra[to] += setup_on(s, unit, to);
  s->to[unit] = to;
}

/* As many moves as pay. */
static void move_units(search *s, double threshold) {
  const size_t bytes = (size_t)s->learned->n_units * sizeof *s->to;
  const double now = next_phases(s) * (1 - PROGRESS);
  int slowest, fastest;
  memcpy(s->paid, s->to, bytes);
  for (int64_t moves = 0; moves < 2 * s->learned->n_units && ends(s, &slowest, &fastest); moves++) {
    if (s->load[slowest] <= (1 + threshold) * s->load[fastest]) break;
    const int64_t unit = pick(s, slowest, fastest);
    if (unit < 0) break;
    move(s, unit, fastest);
    if (next_phases(s) < now) memcpy(s->paid, s->to, bytes);
  }
  memcpy(s->to, s->paid, bytes);
  look_at(s, s->set); /* afresh, free of the rounding of many updates */
}

static int64_t adopt(search *s) {
  int64_t moved = 0;
  for (int64_t u = 0; u < s->learned->n_units; u++) {
    if (s->to[u] == s->owner[u]) continue;
    tsl_history_carry(s->learned, u, s->owner[u], s->to[u]);
    s->owner[u] = s->to[u];
    moved++;
  }
  return moved;
}

tsl_err tsl_history_rebalance(tsl_timing_history *l, int set, double threshold, int32_t *owner,
                              tsl_rebalance_gain *gain) {
  tsl_err err = TSL_OK;
  search s = {.learned = l, .owner = owner};
  TSL_TRY(open_search(&s));
  look_at(&s, set);
  *gain = (tsl_rebalance_gain){.before = longest(&s), .imbalance_before = imbalance(&s)};
  move_units(&s, threshold);
  gain->after = longest(&s), gain->imbalance_after = imbalance(&s), gain->cost = cost_once(&s);
  gain->moved = adopt(&s);
done:
  close_search(&s);
  return err;
}

/* ---- a slow rank */

/* The rank that would take longest for everything, if the fastest is faster by more than peers are;
 * -1: there is none, or not every unit has shown what it takes. */
static int slowest_rank(const search *s) {
  const tsl_timing_history *l = s->learned;
  double most = 0, least = INFINITY;
  int rank = -1;
  for (int r = 0; r < l->n_ranks; r++) {
    double seconds = 0;
    for (int64_t u = 0; u < l->n_units && s->takes_part[r]; u++) {
      const int home = l->sets->home[l->units[u].kind];
      const double its = home < 0 ? 0 : seconds_on(s, home, u, r);
      if (home >= 0 && its <= 0) return -1;
      seconds += its;
    }
    if (seconds <= 0) continue;
    least = fmin(least, seconds);
    if (seconds > most) rank = r, most = seconds;
  }
  return most > TSL_USEFUL_PEERS * least ? rank : -1;
}

/* What a phase of a set is without the rank, and its least unit in it. */
static void try_without(search *s, int set, tsl_exclusion *rest) {
  double least = INFINITY;
  look_at(s, set);
  for (int64_t u = 0; u < s->learned->n_units; u++) {
    double end = INFINITY;
    int best = -1;
    if (s->to[u] != rest->rank || !is_movable(s, u)) continue;
    least = fmin(least, s->seconds[u]);
    for (int r = 0; r < s->learned->n_ranks; r++) {
      const double then = s->load[r] + seconds_on(s, set, u, r);
      if (s->takes_part[r] && then < end) best = r, end = then;
    }
    if (best >= 0) move(s, u, best);
  }
  move_units(s, TSL_REST_ABOVE);
  rest->least += isfinite(least) ? least : 0;
  rest->saves += longest(s);
  rest->cost += cost_once(s);
}

tsl_err tsl_exclude_slow_ranks(tsl_timing_history *l, int32_t *owner, tsl_exclusion *rest) {
  tsl_err err = TSL_OK;
  search s = {.learned = l, .owner = owner};
  *rest = (tsl_exclusion){.rank = -1};
  TSL_TRY(open_search(&s));
  rest->rank = slowest_rank(&s);
  if (rest->rank < 0) goto done;
  s.takes_part[rest->rank] = false;
  for (int set = 0; set < l->sets->n; set++) {
    look_at(&s, set);
    rest->saves -= longest(&s);
  }
  for (int size = 0; size <= TSL_MAX_KINDS; size++) /* small sets first, as they are planned */
    for (int set = 0; set < l->sets->n; set++)
      if (tsl_kind_count(l->sets->mask[set]) == size) try_without(&s, set, rest);
  const double price = TSL_USEFUL_START + rest->least;
  if (rest->saves < price && TSL_PHASES_LEFT * (price - rest->saves) > rest->cost)
    (void)adopt(&s);
  else
    rest->rank = -1;
done:
  close_search(&s);
  return err;
}
