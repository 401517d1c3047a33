/* Owners on trial, by measured times: kept when the next TSL_PHASES_LEFT phases gain more than the
 * moves cost. */
#include "select_ranks.h"
#include "timing_history.h"

#include <math.h>

static const double LONGEST[] = {0, 2, 1.5, 1.25, 1.125, 1}; /* tried until moves pay */

/* Room of one call, and what is looked at. */
typedef struct trial {
  tsl_timing_history *learned;
  int set;
  int32_t *owner;   /* [n_units] as it is */
  int32_t *to;      /* [n_units] on trial */
  bool *movable;    /* [n_units] */
  bool *takes_part; /* [n_ranks] */
} trial;

static tsl_err open_trial(trial *t) {
  tsl_err err = TSL_OK;
  const tsl_timing_history *l = t->learned;
  TSL_TRY(tsl_alloc(l->n_units, sizeof *t->to, "rebalancing", (void **)&t->to));
  TSL_TRY(tsl_alloc(l->n_units, sizeof *t->movable, "rebalancing", (void **)&t->movable));
  TSL_TRY(tsl_alloc(l->n_ranks, sizeof *t->takes_part, "rebalancing", (void **)&t->takes_part));
  for (int r = 0; r < l->n_ranks; r++) t->takes_part[r] = tsl_cost_takes_part(l->cost, r);
  for (int64_t u = 0; u < l->n_units; u++) t->to[u] = t->owner[u];
done:
  return err;
}

/* tsl_ratio_fn */
static double ratio(const void *model, int64_t unit, int from, int to) {
  const trial *t = model;
  return tsl_history_ratio(t->learned, t->set, &t->learned->units[unit], from, to);
}

/* tsl_migration_fn: paid in one of the sets the unit is in, whichever comes first: the dearest
 * counts. */
static double migration(const void *model, int64_t unit, int from, int to) {
  const trial *t = model;
  const tsl_timing_history *l = t->learned;
  double most = 0;
  for (int s = 0; s < l->n_sets; s++) most = fmax(most, l->seconds[s * l->n_units + unit]);
  return tsl_history_setup(l, to, &l->units[unit], most * ratio(t, unit, from, to));
}

/* Move the units whose home the set is. */
static tsl_err try_moves(trial *t, int set, double threshold, double longest,
                         tsl_rebalance_gain *gain) {
  const tsl_timing_history *l = t->learned;
  const tsl_rebalance_ask ask = {.n = l->n_units,
                                 .n_ranks = l->n_ranks,
                                 .seconds = l->seconds + set * l->n_units,
                                 .measured = t->owner,
                                 .movable = t->movable,
                                 .takes_part = t->takes_part,
                                 .correction = ratio,
                                 .migration = migration,
                                 .model = t,
                                 .threshold = threshold,
                                 .longest = longest};
  t->set = set;
  for (int64_t u = 0; u < l->n_units; u++) {
    const int kind = t->learned->units[u].kind;
    t->movable[u] = t->learned->sets->home[kind] == set && tsl_history_first(l, kind) > 0;
  }
  return tsl_rebalance(&ask, t->to, gain);
}

static void adopt(trial *t) {
  for (int64_t u = 0; u < t->learned->n_units; u++) {
    if (t->to[u] == t->owner[u]) continue;
    tsl_history_carry(t->learned, &t->learned->units[u], t->owner[u], t->to[u]);
    t->owner[u] = t->to[u];
  }
}

tsl_err tsl_history_rebalance(tsl_timing_history *l, int set, double threshold, int32_t *owner,
                              tsl_rebalance_gain *gain) {
  tsl_err err = TSL_OK;
  trial t = {.learned = l, .owner = owner};
  TSL_TRY(open_trial(&t));
  for (size_t k = 0; k < sizeof LONGEST / sizeof *LONGEST; k++) {
    for (int64_t u = 0; u < l->n_units; u++) t.to[u] = owner[u];
    TSL_TRY(try_moves(&t, set, threshold, LONGEST[k], gain));
    if (gain->moved == 0 || tsl_rebalance_pays(gain, TSL_PHASES_LEFT)) break;
  }
  if (tsl_rebalance_pays(gain, TSL_PHASES_LEFT))
    adopt(&t);
  else
    gain->moved = 0, gain->after = gain->before, gain->imbalance_after = gain->imbalance_before;
done:
  TSL_FREE_ALL(t.to, t.movable, t.takes_part);
  return err;
}

/* ---- a slow rank */

/* Seconds of a unit on a rank in the set where it counts; 0: not known yet, or no such set. */
static double seconds_on(trial *t, int64_t unit, int rank) {
  t->set = t->learned->sets->home[t->learned->units[unit].kind];
  if (t->set < 0) return 0;
  return t->learned->seconds[t->set * t->learned->n_units + unit] *
         ratio(t, unit, t->owner[unit], rank);
}

/* The rank that would take longest for everything, if the fastest is faster by more than peers are;
 * -1: there is none, or not every unit has shown what it takes. */
static int slowest(trial *t) {
  const tsl_timing_history *l = t->learned;
  double most = 0, least = INFINITY;
  int rank = -1;
  for (int64_t u = 0; u < l->n_units; u++) {
    const int kind = l->units[u].kind;
    if (l->sets->home[kind] < 0) continue;
    if (tsl_history_first(l, kind) <= 0 || seconds_on(t, u, t->owner[u]) <= 0) return -1;
  }
  for (int r = 0; r < l->n_ranks; r++) {
    double seconds = 0;
    for (int64_t u = 0; u < l->n_units && t->takes_part[r]; u++) seconds += seconds_on(t, u, r);
    if (seconds <= 0) continue;
    least = fmin(least, seconds);
    if (seconds > most) rank = r, most = seconds;
  }
  return most > TSL_USEFUL_PEERS * least ? rank : -1;
}

/* What the phases of a set are without the rank, and its least unit in them. */
static tsl_err try_without(trial *t, int set, tsl_exclusion *rest) {
  tsl_err err = TSL_OK;
  tsl_rebalance_gain gain;
  double least = INFINITY;
  TSL_TRY(try_moves(t, set, TSL_REST_ABOVE, 0, &gain));
  for (int64_t u = 0; u < t->learned->n_units; u++)
    if (t->owner[u] == rest->rank && t->movable[u])
      least = fmin(least, seconds_on(t, u, rest->rank));
  rest->least += isfinite(least) ? least : 0;
  rest->saves += gain.after - gain.before;
  rest->cost += gain.cost;
done:
  return err;
}

tsl_err tsl_exclude_slow_ranks(tsl_timing_history *l, int32_t *owner, tsl_exclusion *rest) {
  tsl_err err = TSL_OK;
  trial t = {.learned = l, .owner = owner};
  *rest = (tsl_exclusion){.rank = -1};
  TSL_TRY(open_trial(&t));
  rest->rank = slowest(&t);
  if (rest->rank < 0) goto done;
  t.takes_part[rest->rank] = false;
  for (int size = 0; size <= TSL_MAX_KINDS; size++) /* small sets first, as they are planned */
    for (int s = 0; s < l->n_sets; s++)
      if (tsl_kind_count(l->sets->mask[s]) == size) TSL_TRY(try_without(&t, s, rest));
  const double price = TSL_USEFUL_START + rest->least;
  if (rest->saves < price && TSL_PHASES_LEFT * (price - rest->saves) > rest->cost)
    adopt(&t);
  else
    rest->rank = -1;
done:
  TSL_FREE_ALL(t.to, t.movable, t.takes_part);
  return err;
}
