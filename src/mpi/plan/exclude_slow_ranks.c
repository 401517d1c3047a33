/* The units of the slowest rank are given away on trial. The new owners are kept when the next
 * TSL_PHASES_LEFT phases gain more than the move costs. */
#include "exclude_slow_ranks.h"

#include "select_ranks.h"
#include "timing_history_own.h"

#include <math.h>
#include <string.h>

/* Room of one call, and what is looked at. */
typedef struct workspace {
  tsl_look look;
  const tsl_kind_sets *sets;
  const int32_t *owner; /* [n_units] as it is */
  int32_t *to;          /* [n_units] without the rank that is judged */
  double *load;         /* [n_sets][n_ranks] */
  double *extra;        /* [n_ranks] s of migrations */
} workspace;

static bool takes_part(const workspace *m, int rank) {
  return tsl_cost_takes_part(m->look.cost, rank);
}

static int home_of(const workspace *m, int64_t unit) {
  return m->sets->home[m->look.units[unit].kind];
}

static double seconds_in(const workspace *m, int set, int64_t unit) {
  const tsl_timing_history *l = m->look.learned;
  return tsl_kind_in(m->sets->mask[set], m->look.units[unit].kind)
             ? l->seconds[set * l->n_units + unit]
             : 0;
}

/* Has every unit shown what it takes? */
static bool all_known(const workspace *m) {
  const tsl_timing_history *l = m->look.learned;
  for (int64_t u = 0; u < l->n_units; u++) {
    const int home = home_of(m, u);
    if (home < 0) continue;
    if (tsl_history_first(l, m->look.units[u].kind) <= 0 || seconds_in(m, home, u) <= 0)
      return false;
  }
  return true;
}

/* Measured over predicted seconds of kinds on all ranks, for ranks that have shown nothing of them;
 * usual: [TSL_MAX_KINDS]. */
static void usual_off(const workspace *m, double *usual) {
  const tsl_timing_history *l = m->look.learned;
  double predicted[TSL_MAX_KINDS] = {0};
  memset(usual, 0, TSL_MAX_KINDS * sizeof *usual);
  for (int64_t u = 0; u < l->n_units; u++) {
    const tsl_unit *unit = &m->look.units[u];
    const int home = home_of(m, u);
    if (home < 0) continue;
    usual[unit->kind] += seconds_in(m, home, u);
    predicted[unit->kind] += tsl_history_predicted(l, m->look.cost, home, m->owner[u], unit);
  }
  for (int k = 0; k < TSL_MAX_KINDS; k++)
    usual[k] = usual[k] > 0 && predicted[k] > 0 ? usual[k] / predicted[k] : 1;
}

/* Seconds that a rank would take for everything, each unit in its home set. */
static double alone(const workspace *m, const double *usual, int rank) {
  const tsl_timing_history *l = m->look.learned;
  double sum = 0;
  for (int64_t u = 0; u < l->n_units; u++) {
    const tsl_unit *unit = &m->look.units[u];
    const int home = home_of(m, u);
    if (home < 0) continue;
    const double off = *tsl_history_off(l, home, rank, unit->kind);
    sum += tsl_history_predicted(l, m->look.cost, home, rank, unit) *
           (off > 0 ? off : usual[unit->kind]);
  }
  return sum;
}

/* The slowest rank that takes part, if the fastest is faster by more than peers are; or -1. */
static int slowest(const workspace *m) {
  double most = 0, least = INFINITY, usual[TSL_MAX_KINDS];
  int rank = -1;
  usual_off(m, usual);
  for (int r = 0; r < m->look.cost->n_ranks; r++) {
    const double seconds = takes_part(m, r) ? alone(m, usual, r) : 0;
    if (seconds <= 0) continue;
    least = fmin(least, seconds);
    if (seconds > most) rank = r, most = seconds;
  }
  return most > TSL_USEFUL_PEERS * least ? rank : -1;
}

/* Longest loads of the sets together. */
static double phases_of(const workspace *m) {
  const int n = m->look.cost->n_ranks;
  double sum = 0;
  for (int s = 0; s < m->sets->n; s++) {
    double most = 0;
    for (int r = 0; r < n; r++) most = fmax(most, m->load[s * n + r]);
    sum += most;
  }
  return sum;
}

static void add_load(workspace *m, int64_t unit, int rank, double factor) {
  for (int s = 0; s < m->sets->n; s++)
    m->load[s * m->look.cost->n_ranks + rank] += factor * seconds_in(m, s, unit);
}

/* Who would have a unit of `from` done first; set: its home. */
static int best_other(workspace *m, int64_t unit, int from, int set) {
  const int n = m->look.cost->n_ranks;
  double first = INFINITY;
  int best = -1;
  m->look.set = set;
  for (int r = 0; r < n; r++) {
    if (r == from || !takes_part(m, r)) continue;
    const double there = seconds_in(m, set, unit) * tsl_look_correction(&m->look, unit, from, r);
    if (m->load[set * n + r] + there < first) best = r, first = m->load[set * n + r] + there;
  }
  return best;
}

/* Everything of a rank goes to the others. */
static void give_away(workspace *m, int from) {
  for (int64_t u = 0; u < m->look.learned->n_units; u++) {
    const int home = home_of(m, u);
    if (m->owner[u] != from || home < 0) continue;
    const int to = best_other(m, u, from, home);
    add_load(m, u, from, -1);
    add_load(m, u, to, tsl_look_correction(&m->look, u, from, to));
    m->extra[to] += tsl_look_migration(&m->look, u, from, to);
    m->to[u] = to;
  }
}

/* Least units of the rank, in all sets together. */
static double least_units(const workspace *m, int rank) {
  double sum = 0;
  for (int s = 0; s < m->sets->n; s++) {
    double least = INFINITY;
    for (int64_t u = 0; u < m->look.learned->n_units; u++)
      if (m->owner[u] == rank && home_of(m, u) == s) least = fmin(least, seconds_in(m, s, u));
    sum += isfinite(least) ? least : 0;
  }
  return sum;
}

static bool better_without(workspace *m, int rank, tsl_exclusion *rest) {
  const int n = m->look.cost->n_ranks;
  double before, price;
  memset(m->load, 0, (size_t)(m->sets->n * n) * sizeof *m->load);
  for (int64_t u = 0; u < m->look.learned->n_units; u++) {
    m->to[u] = m->owner[u];
    add_load(m, u, m->owner[u], 1);
  }
  before = phases_of(m);
  give_away(m, rank);
  *rest = (tsl_exclusion){.rank = rank, .least = least_units(m, rank)};
  rest->saves = phases_of(m) - before;
  for (int r = 0; r < n; r++) rest->cost = fmax(rest->cost, m->extra[r]);
  price = TSL_USEFUL_START + rest->least;
  return rest->saves < price && TSL_PHASES_LEFT * (price - rest->saves) > rest->cost;
}

static tsl_err open_workspace(const tsl_timing_history *l, workspace *m) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(l->n_units, sizeof *m->to, "owners", (void **)&m->to));
  TSL_TRY(tsl_alloc((int64_t)l->n_sets * l->n_ranks, sizeof *m->load, "loads", (void **)&m->load));
  TSL_TRY(tsl_alloc(l->n_ranks, sizeof *m->extra, "loads", (void **)&m->extra));
done:
  return err;
}

tsl_err tsl_exclude_slow_ranks(tsl_timing_history *l, const tsl_cost *cost, const tsl_unit *units,
                               const tsl_kind_sets *sets, int32_t *owner, tsl_exclusion *rest) {
  tsl_err err = TSL_OK;
  workspace m = {.look = {l, cost, units, 0}, .sets = sets, .owner = owner};
  *rest = (tsl_exclusion){.rank = -1};
  TSL_TRY(open_workspace(l, &m));
  const int rank = all_known(&m) ? slowest(&m) : -1;
  if (rank < 0 || !better_without(&m, rank, rest)) {
    rest->rank = -1;
    goto done;
  }
  for (int64_t u = 0; u < l->n_units; u++) {
    if (m.to[u] == owner[u]) continue;
    tsl_look_carry(l, &m.look, u, owner[u], m.to[u]);
    owner[u] = m.to[u];
  }
done:
  tsl_free(m.to);
  tsl_free(m.load);
  tsl_free(m.extra);
  return err;
}
