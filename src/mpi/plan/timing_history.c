/* Each phase's rows update seconds of units, the factor of each rank and kind and what first runs
 * take; moves and ranks left out go by them. */
#include "timing_history.h"

#include "select_ranks.h"

#include <math.h>

static const double KEEP = 0.5; /* weight of what was known before */

tsl_err tsl_history_open(int64_t n_units, int n_ranks, const tsl_kind_sets *sets,
                         tsl_timing_history *h) {
  tsl_err err = TSL_OK;
  const int64_t n = n_units * sets->n, n_factors = (int64_t)n_ranks * TSL_MAX_KINDS;
  *h = (tsl_timing_history){.n_units = n_units, .n_ranks = n_ranks, .n_sets = sets->n};
  TSL_TRY(tsl_alloc(n, sizeof *h->seconds, "measured times", (void **)&h->seconds));
  TSL_TRY(tsl_alloc(n, sizeof *h->last, "measured times", (void **)&h->last));
  TSL_TRY(tsl_alloc(n, sizeof *h->first, "measured times", (void **)&h->first));
  TSL_TRY(tsl_alloc(n, sizeof *h->unit_bias, "measured times", (void **)&h->unit_bias));
  TSL_TRY(tsl_alloc(n_units, sizeof *h->settled, "measured times", (void **)&h->settled));
  TSL_TRY(tsl_alloc(n_factors, sizeof *h->factor, "measured speeds", (void **)&h->factor));
done:
  if (err != TSL_OK) tsl_history_clear(h);
  return err;
}

void tsl_history_clear(tsl_timing_history *h) {
  tsl_free(h->seconds);
  tsl_free(h->last);
  tsl_free(h->first);
  tsl_free(h->unit_bias);
  tsl_free(h->settled);
  tsl_free(h->factor);
  *h = (tsl_timing_history){.n_units = 0};
}

/* ---- taking in */

double tsl_history_first(const tsl_timing_history *h, int kind) {
  return h->later_sum[kind] > 0 ? fmax(1, h->first_sum[kind] / h->later_sum[kind]) : 0;
}

double tsl_history_setup(const tsl_timing_history *h, const tsl_cost *cost, int rank,
                         const tsl_unit *unit, double later) {
  const double first = tsl_history_first(h, unit->kind);
  return first > 0 ? (first - 1) * later : tsl_cost_setup(cost, rank, unit);
}

/* By the cost model, and by what it misses in the unit. */
static double predict(const tsl_timing_history *h, const tsl_cost *cost, int set, int rank,
                      const tsl_unit *unit) {
  const double bias = h->unit_bias[set * h->n_units + unit->id];
  return tsl_cost_seconds(cost, rank, unit) * (bias > 0 ? bias : 1);
}

static double smooth(double known, double now) {
  return known > 0 ? KEEP * known + (1 - KEEP) * now : now;
}

/* s of a rank's units of a kind that have run there before. */
typedef struct sum {
  double now, last; /* in this phase and in the one before */
  double both;      /* of each unit the smaller one */
  double predicted;
} sum;

/* A phase, and room for it. */
typedef struct look {
  tsl_timing_history *h;
  const tsl_cost *cost;
  int set;
  sum *sums; /* [n_ranks][TSL_MAX_KINDS] */
} look;

static sum *sum_of(const look *v, const tsl_out_unit *row) {
  return &v->sums[(int64_t)row->owner * TSL_MAX_KINDS + row->unit.kind];
}

static int64_t timing_history_place(const look *v, const tsl_out_unit *row) {
  return v->set * v->h->n_units + row->unit.id;
}

/* Of a unit that runs where it has run before. */
static void add_row(const look *v, const tsl_out_unit *row) {
  tsl_timing_history *h = v->h;
  const double last = h->last[timing_history_place(v, row)] > 0
                          ? h->last[timing_history_place(v, row)]
                          : row->measured;
  sum *s = sum_of(v, row);
  s->now += row->measured;
  s->last += last;
  s->both += fmin(row->measured, last);
  s->predicted += predict(h, v->cost, v->set, row->owner, &row->unit);
  if (!h->first[timing_history_place(v, row)]) return;
  h->first_sum[row->unit.kind] += last;
  h->later_sum[row->unit.kind] += fmin(row->measured, last);
}

/* Seconds as far as two runs show them. */
static double confirmed(const look *v, const tsl_out_unit *row) {
  const double last = v->h->last[timing_history_place(v, row)];
  const sum *s = sum_of(v, row);
  const double part = s->both > 0 ? fmin(s->now, s->last) / s->both : 1;
  return part * (last > 0 ? fmin(row->measured, last) : row->measured);
}

/* What the unit is off beyond its rank, once, in its second run. */
static void take_row(const look *v, const tsl_out_unit *row) {
  tsl_timing_history *h = v->h;
  const int64_t at = timing_history_place(v, row);
  const sum *s = sum_of(v, row);
  const double now = confirmed(v, row),
               predicted = tsl_cost_seconds(v->cost, row->owner, &row->unit);
  h->seconds[at] = smooth(h->seconds[at], now);
  if (h->unit_bias[at] <= 0 && now > 0 && predicted > 0)
    h->unit_bias[at] = now / predicted * s->predicted / fmin(s->now, s->last);
}

static void take_factors(const look *v) {
  tsl_timing_history *h = v->h;
  for (int kind = 0; kind < TSL_MAX_KINDS; kind++) {
    double shown = 0, predicted = 0;
    for (int r = 0; r < h->n_ranks; r++) {
      const sum *s = &v->sums[r * TSL_MAX_KINDS + kind];
      double *factor = &h->factor[r * TSL_MAX_KINDS + kind];
      if (s->predicted <= 0 || s->now <= 0) continue;
      *factor = smooth(*factor, fmin(s->now, s->last) / s->predicted);
      shown += *factor * s->predicted, predicted += s->predicted;
    }
    if (predicted > 0) h->usual[kind] = shown / predicted;
  }
}

tsl_err tsl_history_phase(tsl_timing_history *h, int set, const tsl_out_unit *rows, int64_t n_rows,
                          const tsl_cost *cost) {
  tsl_err err = TSL_OK;
  look v = {.h = h, .cost = cost, .set = set};
  TSL_TRY(tsl_alloc((int64_t)h->n_ranks * TSL_MAX_KINDS, sizeof *v.sums, "measured speeds",
                    (void **)&v.sums));
  for (int64_t k = 0; k < n_rows; k++)
    if (h->settled[rows[k].unit.id]) add_row(&v, &rows[k]);
  for (int64_t k = 0; k < n_rows; k++)
    if (h->settled[rows[k].unit.id]) take_row(&v, &rows[k]);
  for (int64_t k = 0; k < n_rows; k++) {
    h->last[timing_history_place(&v, &rows[k])] = rows[k].measured;
    h->first[timing_history_place(&v, &rows[k])] = !h->settled[rows[k].unit.id];
    h->settled[rows[k].unit.id] = true;
  }
  take_factors(&v);
done:
  tsl_free(v.sums);
  return err;
}

/* ---- moving */

/* What is looked at when a change is judged. */
typedef struct view {
  tsl_timing_history *h;
  const tsl_cost *cost;
  const tsl_unit *units;
  const tsl_kind_sets *sets;
  int set;
} view;

static double factor_of(const tsl_timing_history *h, int rank, int kind) {
  const double factor = h->factor[(int64_t)rank * TSL_MAX_KINDS + kind];
  if (factor > 0) return factor;
  return h->usual[kind] > 0 ? h->usual[kind] : 1;
}

/* tsl_ratio_fn: the cost models' ratio, corrected by what both ranks have shown with the kind. */
static double correction(const void *model, int64_t unit, int from, int to) {
  const view *v = model;
  const tsl_unit *u = &v->units[unit];
  const double there = tsl_cost_seconds(v->cost, to, u), here = tsl_cost_seconds(v->cost, from, u);
  const double off = factor_of(v->h, to, u->kind) / factor_of(v->h, from, u->kind);
  return there > 0 && here > 0 ? there / here * off : off;
}

/* tsl_migration_fn. Paid in one of the sets the unit is in: the dearest counts. */
static double migration(const void *model, int64_t unit, int from, int to) {
  const view *v = model;
  double most = 0;
  for (int s = 0; s < v->h->n_sets; s++) most = fmax(most, v->h->seconds[s * v->h->n_units + unit]);
  return tsl_history_setup(v->h, v->cost, to, &v->units[unit],
                           most * correction(v, unit, from, to));
}

/* Times of units that have moved, in all sets. */
static void adopt(const view *v, const int32_t *to, int32_t *owner) {
  const tsl_timing_history *h = v->h;
  for (int64_t u = 0; u < h->n_units; u++) {
    if (to[u] == owner[u]) continue;
    for (int s = 0; s < h->n_sets; s++) {
      h->seconds[s * h->n_units + u] *= correction(v, u, owner[u], to[u]);
      h->last[s * h->n_units + u] = 0;
    }
    h->settled[u] = false;
    owner[u] = to[u];
  }
}

tsl_err tsl_history_rebalance(tsl_timing_history *h, const tsl_cost *cost, const tsl_unit *units,
                              const tsl_kind_sets *sets, int set, double threshold, int32_t *owner,
                              tsl_rebalance_gain *gain) {
  tsl_err err = TSL_OK;
  const view v = {.h = h, .cost = cost, .units = units, .sets = sets, .set = set};
  bool *movable = NULL, *parts = NULL;
  int32_t *to = NULL;
  TSL_TRY(tsl_alloc(h->n_units, sizeof *movable, "rebalancing", (void **)&movable));
  TSL_TRY(tsl_alloc(h->n_units, sizeof *to, "rebalancing", (void **)&to));
  TSL_TRY(tsl_alloc(h->n_ranks, sizeof *parts, "rebalancing", (void **)&parts));
  for (int r = 0; r < h->n_ranks; r++) parts[r] = tsl_cost_takes_part(cost, r);
  for (int64_t u = 0; u < h->n_units; u++) {
    movable[u] = sets->home[units[u].kind] == set && tsl_history_first(h, units[u].kind) > 0;
    to[u] = owner[u];
  }
  const tsl_rebalance_ask ask = {.n = h->n_units,
                                 .n_ranks = h->n_ranks,
                                 .seconds = h->seconds + set * h->n_units,
                                 .movable = movable,
                                 .takes_part = parts,
                                 .correction = correction,
                                 .migration = migration,
                                 .model = &v,
                                 .threshold = threshold};
  TSL_TRY(tsl_rebalance(&ask, to, gain));
  adopt(&v, to, owner);
done:
  tsl_free(movable);
  tsl_free(parts);
  tsl_free(to);
  return err;
}

/* ---- leaving a rank out */

/* s of a unit in its home set. */
static double expect(const view *v, int rank, const tsl_unit *unit) {
  const int home = v->sets->home[unit->kind];
  if (home < 0) return 0;
  return predict(v->h, v->cost, home, rank, unit) * factor_of(v->h, rank, unit->kind);
}

static bool all_known(const view *v) {
  for (int64_t u = 0; u < v->h->n_units; u++) {
    const int home = v->sets->home[v->units[u].kind];
    if (home >= 0 && v->h->seconds[home * v->h->n_units + u] <= 0) return false;
  }
  return true;
}

/* The slowest rank that takes part, if the fastest is faster by more than peers are; or -1. */
static int slowest(const view *v) {
  double most = 0, least = INFINITY;
  int rank = -1;
  for (int r = 0; r < v->h->n_ranks; r++) {
    double alone = 0;
    if (!tsl_cost_takes_part(v->cost, r)) continue;
    for (int64_t u = 0; u < v->h->n_units; u++) alone += expect(v, r, &v->units[u]);
    least = fmin(least, alone);
    if (alone > most) rank = r, most = alone;
  }
  return most > TSL_USEFUL_PEERS * least ? rank : -1;
}

/* Ranks' seconds, and what they make anew. */
typedef struct loads {
  double *sum, *extra; /* [n_ranks] */
} loads;

static double timing_history_largest(const double *list, int n) {
  double most = 0;
  for (int r = 0; r < n; r++) most = fmax(most, list[r]);
  return most;
}

static int first_to_end(const view *v, const tsl_unit *unit, int from, const loads *l) {
  int best = -1;
  double first = INFINITY;
  for (int r = 0; r < v->h->n_ranks; r++) {
    const double end = l->sum[r] + expect(v, r, unit);
    if (r != from && tsl_cost_takes_part(v->cost, r) && end < first) best = r, first = end;
  }
  return best;
}

/* Each unit of a rank to the one that then ends first. */
static void give_away(const view *v, int from, const loads *l, int32_t *to, tsl_exclusion *out) {
  const int n = v->h->n_ranks;
  *out = (tsl_exclusion){.rank = from, .least = INFINITY};
  for (int64_t u = 0; u < v->h->n_units; u++) l->sum[to[u]] += expect(v, to[u], &v->units[u]);
  out->saves = -timing_history_largest(l->sum, n);
  for (int64_t u = 0; u < v->h->n_units; u++) {
    if (to[u] != from) continue;
    out->least = fmin(out->least, expect(v, from, &v->units[u]));
    to[u] = first_to_end(v, &v->units[u], from, l);
    l->sum[to[u]] += expect(v, to[u], &v->units[u]);
    l->extra[to[u]] += migration(v, u, from, to[u]);
  }
  l->sum[from] = 0;
  out->saves += timing_history_largest(l->sum, n);
  out->cost = timing_history_largest(l->extra, n);
  if (!isfinite(out->least)) out->least = 0;
}

tsl_err tsl_history_exclude(tsl_timing_history *h, const tsl_cost *cost, const tsl_unit *units,
                            const tsl_kind_sets *sets, int32_t *owner, tsl_exclusion *out) {
  tsl_err err = TSL_OK;
  const view v = {.h = h, .cost = cost, .units = units, .sets = sets};
  const int rank = all_known(&v) ? slowest(&v) : -1;
  loads l = {NULL, NULL};
  int32_t *to = NULL;
  *out = (tsl_exclusion){.rank = -1};
  if (rank < 0) return TSL_OK;
  TSL_TRY(tsl_alloc(h->n_ranks, sizeof *l.sum, "loads", (void **)&l.sum));
  TSL_TRY(tsl_alloc(h->n_ranks, sizeof *l.extra, "loads", (void **)&l.extra));
  TSL_TRY(tsl_alloc(h->n_units, sizeof *to, "owners", (void **)&to));
  for (int64_t u = 0; u < h->n_units; u++) to[u] = owner[u];
  give_away(&v, rank, &l, to, out);
  if (TSL_PHASES_LEFT * (TSL_USEFUL_START - out->saves) > out->cost)
    adopt(&v, to, owner);
  else
    out->rank = -1;
done:
  tsl_free(l.sum);
  tsl_free(l.extra);
  tsl_free(to);
  return err;
}
