/* Each phase's rows update smoothed seconds, the ratio of each rank and kind, set-up times and the
 * ratio of each unit; rebalancing reads them. */
#include "timing_history_own.h"

#include <math.h>
#include <string.h>

static const double KEEP = 0.5; /* weight of what was known before */
static const double SUDDEN = 2; /* less by this factor replaces what was known; a unit's
                                         first time on a rank counts for no more than so many times
                                         what was expected */
static const double LONGEST[] = {0, 2, 1.5, 1.25, 1.125, 1}; /* tried until moves pay */

tsl_err tsl_history_open(int64_t n_units, int n_ranks, const tsl_kind_sets *sets,
                         tsl_timing_history *l) {
  tsl_err err = TSL_OK;
  const int64_t n = n_units * sets->n, n_rank_bias = (int64_t)sets->n * n_ranks * TSL_MAX_KINDS;
  *l = (tsl_timing_history){.n_units = n_units, .n_ranks = n_ranks, .n_sets = sets->n};
  TSL_TRY(tsl_alloc(n, sizeof *l->seconds, "measured times", (void **)&l->seconds));
  TSL_TRY(tsl_alloc(n, sizeof *l->last, "measured times", (void **)&l->last));
  TSL_TRY(tsl_alloc(n, sizeof *l->guessed, "measured times", (void **)&l->guessed));
  TSL_TRY(tsl_alloc(n, sizeof *l->unit_bias, "measured times", (void **)&l->unit_bias));
  TSL_TRY(tsl_alloc(n_units, sizeof *l->settled, "measured times", (void **)&l->settled));
  TSL_TRY(tsl_alloc((int64_t)n_ranks * TSL_MAX_KINDS, sizeof *l->sums, "measured speeds",
                    (void **)&l->sums));
  TSL_TRY(tsl_alloc(n_rank_bias, sizeof *l->rank_bias, "measured speeds", (void **)&l->rank_bias));
  TSL_TRY(tsl_alloc(n_rank_bias, sizeof *l->idle, "measured speeds", (void **)&l->idle));
done:
  if (err != TSL_OK) tsl_history_clear(l);
  return err;
}

void tsl_history_clear(tsl_timing_history *l) {
  tsl_free(l->seconds);
  tsl_free(l->last);
  tsl_free(l->guessed);
  tsl_free(l->unit_bias);
  tsl_free(l->settled);
  tsl_free(l->rank_bias);
  tsl_free(l->idle);
  tsl_free(l->sums);
  *l = (tsl_timing_history){.n_units = 0};
}

/* ---- taking in */

double tsl_history_first(const tsl_timing_history *l, int kind) {
  if (l->later_sum[kind] <= 0) return 0;
  return fmax(1, l->first_sum[kind] / l->later_sum[kind]);
}

double *tsl_history_off(const tsl_timing_history *l, int set, int rank, int kind) {
  return &l->rank_bias[((int64_t)set * l->n_ranks + rank) * TSL_MAX_KINDS + kind];
}

double tsl_history_predicted(const tsl_timing_history *l, const tsl_cost *cost, int set, int rank,
                             const tsl_unit *unit) {
  const double own = l->unit_bias[set * l->n_units + unit->id];
  return tsl_cost_seconds(cost, rank, unit) * (own > 0 ? own : 1);
}

double tsl_history_setup(const tsl_timing_history *l, const tsl_cost *cost, int rank,
                         const tsl_unit *unit, double later) {
  const int kind = unit->kind;
  const double predicted = tsl_cost_setup(cost, rank, unit), first = tsl_history_first(l, kind);
  if (predicted <= 0) return first > 1 ? (first - 1) * later : 0;
  if (l->setup_sum[kind] <= 0) return predicted;
  return predicted * fmax(0, l->first_sum[kind] - l->later_sum[kind]) / l->setup_sum[kind];
}

static int64_t timing_history_place(const tsl_timing_history *l, int set, const tsl_out_unit *row) {
  return set * l->n_units + row->unit.id;
}

static tsl_history_sum *sum_of(tsl_timing_history *l, const tsl_out_unit *row) {
  return &l->sums[(int64_t)row->owner * TSL_MAX_KINDS + row->unit.kind];
}

static void clear_sums(tsl_timing_history *l) {
  memset(l->sums, 0, (size_t)l->n_ranks * TSL_MAX_KINDS * sizeof *l->sums);
}

/* Nothing makes a run faster than it can be: less is believed at once. */
static double smooth(double known, double now) {
  return SUDDEN * now < known ? now : KEEP * known + (1 - KEEP) * now;
}

/* A unit that runs a second time on a rank tells what its first run took more. */
static void compare_runs(tsl_timing_history *l, int set, const tsl_out_unit *row,
                         const tsl_cost *cost) {
  const int64_t at = timing_history_place(l, set, row);
  if (!l->guessed[at]) return;
  l->first_sum[row->unit.kind] += l->last[at];
  l->later_sum[row->unit.kind] += fmin(l->last[at], row->measured);
  l->setup_sum[row->unit.kind] += tsl_cost_setup(cost, row->owner, &row->unit);
}

/* Of a first run's seconds those of a later one. */
static double without_setup(const tsl_timing_history *l, const tsl_out_unit *row,
                            const tsl_cost *cost) {
  const double first = tsl_history_first(l, row->unit.kind);
  const double setup = tsl_history_setup(l, cost, row->owner, &row->unit, 0);
  const double later = tsl_cost_seconds(cost, row->owner, &row->unit);
  if (setup > 0 && later > 0) return row->measured * later / (later + setup);
  return first > 0 ? row->measured / first : row->measured;
}

/* What ranks take for units that have run twice or more where they are, in this phase and in the
 * one before. */
static void sum_confirmed(tsl_timing_history *l, int set, const tsl_out_unit *rows,
                          int64_t n_rows) {
  clear_sums(l);
  for (int64_t k = 0; k < n_rows; k++) {
    const int64_t at = timing_history_place(l, set, &rows[k]);
    tsl_history_sum *sum = sum_of(l, &rows[k]);
    if (l->last[at] <= 0 || l->guessed[at]) continue;
    sum->now += rows[k].measured;
    sum->last += l->last[at];
    sum->both += fmin(rows[k].measured, l->last[at]);
  }
}

/* Seconds of a later run as far as two phases show them. */
static double confirmed(tsl_timing_history *l, int set, const tsl_out_unit *row) {
  const int64_t at = timing_history_place(l, set, row);
  const double now = row->measured, known = l->seconds[at], least = fmin(now, l->last[at]);
  const tsl_history_sum *sum = sum_of(l, row);
  if (l->guessed[at]) return now; /* a first run may have less to do: it tells little */
  if (l->last[at] <= 0) return known > 0 ? fmin(now, SUDDEN * known) : now;
  if (sum->both <= 0) return least;
  return least * fmin(sum->now, sum->last) / sum->both;
}

/* Seconds with everything in place. A first run's time is a guess that the second replaces. */
static void take_row(tsl_timing_history *l, int set, const tsl_out_unit *row,
                     const tsl_cost *cost) {
  const int64_t at = timing_history_place(l, set, row);
  double *known = &l->seconds[at];
  if (!l->settled[row->unit.id]) {
    const double guess = without_setup(l, row, cost);
    *known = *known > 0 ? fmin(guess, SUDDEN * *known) : guess;
    l->guessed[at] = true;
  } else {
    const double now = confirmed(l, set, row);
    *known = *known > 0 && !l->guessed[at] ? smooth(*known, now) : now;
    l->guessed[at] = false;
  }
  l->last[at] = row->measured;
}

/* Nothing is measured of a rank without units: what is believed of it fades, so that it is tried
 * again; a rank that is slow indeed, ever more rarely. */
static void fade(double *off, int32_t *idle) {
  ++*idle;
  if ((*idle & (*idle - 1)) == 0) *off = sqrt(*off);
}

static void take_speed(tsl_timing_history *l, int set, int rank, int kind) {
  const tsl_history_sum *sum = &l->sums[(int64_t)rank * TSL_MAX_KINDS + kind];
  double *off = tsl_history_off(l, set, rank, kind);
  if (sum->now > 0 && sum->predicted > 0)
    *off = *off > 0 ? smooth(*off, sum->now / sum->predicted) : sum->now / sum->predicted;
  else if (*off > 0)
    fade(off, &l->idle[off - l->rank_bias]);
}

static void take_speeds(tsl_timing_history *l, int set, const tsl_out_unit *rows, int64_t n_rows,
                        const tsl_cost *cost) {
  bool at_work[TSL_MAX_KINDS] = {false};
  clear_sums(l);
  for (int64_t k = 0; k < n_rows; k++) {
    tsl_history_sum *sum = sum_of(l, &rows[k]);
    sum->now += l->seconds[timing_history_place(l, set, &rows[k])];
    sum->predicted += tsl_history_predicted(l, cost, set, rows[k].owner, &rows[k].unit);
    at_work[rows[k].unit.kind] = true;
  }
  for (int r = 0; r < l->n_ranks; r++)
    for (int kind = 0; kind < TSL_MAX_KINDS; kind++)
      if (at_work[kind]) take_speed(l, set, r, kind);
}

/* What the cost model misses in a unit, beyond off, what it misses in the rank that has it. */
static void take_own(tsl_timing_history *l, const tsl_cost *cost, int set, int rank,
                     const tsl_unit *unit, double off) {
  const int64_t at = set * l->n_units + unit->id;
  const double predicted = tsl_cost_seconds(cost, rank, unit);
  if (l->unit_bias[at] > 0) return;
  if (l->seconds[at] > 0 && predicted > 0 && off > 0)
    l->unit_bias[at] = l->seconds[at] / predicted / off;
}

/* Units that have not moved yet: from their second run on; after take_speeds. */
static void take_owns(tsl_timing_history *l, int set, const tsl_out_unit *rows, int64_t n_rows,
                      const tsl_cost *cost) {
  for (int64_t k = 0; k < n_rows; k++) {
    const int64_t at = timing_history_place(l, set, &rows[k]);
    const tsl_history_sum *sum = sum_of(l, &rows[k]);
    if (l->guessed[at] || sum->predicted <= 0) continue;
    take_own(l, cost, set, rows[k].owner, &rows[k].unit, sum->now / sum->predicted);
  }
}

void tsl_history_phase(tsl_timing_history *l, int set, const tsl_out_unit *rows, int64_t n_rows,
                       const tsl_cost *cost) {
  for (int64_t k = 0; k < n_rows; k++)
    if (l->settled[rows[k].unit.id]) compare_runs(l, set, &rows[k], cost);
  sum_confirmed(l, set, rows, n_rows);
  for (int64_t k = 0; k < n_rows; k++) take_row(l, set, &rows[k], cost);
  for (int64_t k = 0; k < n_rows; k++) l->settled[rows[k].unit.id] = true;
  take_speeds(l, set, rows, n_rows, cost);
  take_owns(l, set, rows, n_rows, cost);
}

/* ---- moving */

/* The cost models' ratio, corrected by what both ranks have shown with the kind. */
double tsl_look_correction(const void *model, int64_t unit, int from, int to) {
  const tsl_look *v = model;
  const tsl_unit *u = &v->units[unit];
  const double there = tsl_cost_seconds(v->cost, to, u), here = tsl_cost_seconds(v->cost, from, u);
  const double off_there = *tsl_history_off(v->learned, v->set, to, u->kind);
  const double off_here = *tsl_history_off(v->learned, v->set, from, u->kind);
  const double off = off_there > 0 && off_here > 0 ? off_there / off_here : 1;
  return there > 0 && here > 0 ? there / here * off : off;
}

/* Paid in one of the sets the unit is in, whichever comes first: the dearest counts. */
double tsl_look_migration(const void *model, int64_t unit, int from, int to) {
  const tsl_look *v = model;
  const tsl_timing_history *l = v->learned;
  double most = 0;
  for (int s = 0; s < l->n_sets; s++) most = fmax(most, l->seconds[s * l->n_units + unit]);
  return tsl_history_setup(l, v->cost, to, &v->units[unit],
                           most * tsl_look_correction(v, unit, from, to));
}

/* Times of a unit that has moved, in all sets. */
void tsl_look_carry(tsl_timing_history *l, tsl_look *v, int64_t unit, int from, int to) {
  for (int s = 0; s < l->n_sets; s++) {
    v->set = s;
    take_own(l, v->cost, s, from, &v->units[unit],
             *tsl_history_off(l, s, from, v->units[unit].kind));
    l->seconds[s * l->n_units + unit] *= tsl_look_correction(v, unit, from, to);
    l->last[s * l->n_units + unit] = 0;
    l->guessed[s * l->n_units + unit] = false;
  }
  l->settled[unit] = false;
}

/* Room of one call. */
typedef struct workspace {
  bool *movable, *parts;
  int32_t *owner;
} workspace;

static tsl_err open_workspace(const tsl_timing_history *l, workspace *m) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(l->n_units, sizeof *m->movable, "rebalancing", (void **)&m->movable));
  TSL_TRY(tsl_alloc(l->n_units, sizeof *m->owner, "rebalancing", (void **)&m->owner));
  TSL_TRY(tsl_alloc(l->n_ranks, sizeof *m->parts, "rebalancing", (void **)&m->parts));
done:
  return err;
}

static void close_workspace(workspace *m) {
  tsl_free(m->movable);
  tsl_free(m->owner);
  tsl_free(m->parts);
}

tsl_err tsl_history_rebalance(tsl_timing_history *l, const tsl_cost *cost, const tsl_unit *units,
                              const tsl_kind_sets *sets, int set, double threshold, int32_t *owner,
                              tsl_rebalance_gain *gain) {
  tsl_err err = TSL_OK;
  workspace m = {.movable = NULL};
  tsl_look view = {.learned = l, .cost = cost, .units = units, .set = set};
  TSL_TRY(open_workspace(l, &m));
  for (int r = 0; r < l->n_ranks; r++) m.parts[r] = tsl_cost_takes_part(cost, r);
  for (int64_t u = 0; u < l->n_units; u++) {
    const int kind = units[u].kind;
    m.movable[u] = sets->home[kind] == set && tsl_history_first(l, kind) > 0;
    m.owner[u] = owner[u];
  }
  tsl_rebalance_ask ask = {.n = l->n_units,
                           .n_ranks = l->n_ranks,
                           .seconds = l->seconds + set * l->n_units,
                           .movable = m.movable,
                           .takes_part = m.parts,
                           .correction = tsl_look_correction,
                           .migration = tsl_look_migration,
                           .model = &view,
                           .threshold = threshold};
  for (size_t k = 0; k < sizeof LONGEST / sizeof *LONGEST; k++) {
    for (int64_t u = 0; u < l->n_units; u++) m.owner[u] = owner[u];
    ask.longest = LONGEST[k];
    TSL_TRY(tsl_rebalance(&ask, m.owner, gain));
    if (gain->moved == 0 || tsl_rebalance_pays(gain, TSL_PHASES_LEFT)) break;
  }
  if (!tsl_rebalance_pays(gain, TSL_PHASES_LEFT)) {
    gain->moved = 0, gain->after = gain->before, gain->imbalance_after = gain->imbalance_before;
    goto done;
  }
  for (int64_t u = 0; u < l->n_units; u++) {
    if (m.owner[u] == owner[u]) continue;
    tsl_look_carry(l, &view, u, owner[u], m.owner[u]);
    owner[u] = m.owner[u];
  }
done:
  close_workspace(&m);
  return err;
}
