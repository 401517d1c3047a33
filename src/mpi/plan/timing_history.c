/* Each phase's rows update smoothed seconds, the ratio of each rank and kind, set-up times and the
 * ratio of each unit; rebalancing reads them. */
#include "timing_history.h"

#include <math.h>
#include <string.h>

static const double KEEP = 0.5; /* weight of what was known before */
static const double SUDDEN = 2; /* less by this factor replaces what was known; a unit's
                                         first time on a rank counts for no more than so many times
                                         what was expected */

tsl_err tsl_history_open(const tsl_unit *units, int64_t n_units, const tsl_cost *cost,
                         const tsl_kind_sets *sets, tsl_timing_history *l) {
  tsl_err err = TSL_OK;
  const int64_t n = n_units * sets->n, n_kinds = (int64_t)cost->n_ranks * TSL_MAX_KINDS;
  *l = (tsl_timing_history){.units = units,
                            .n_units = n_units,
                            .cost = cost,
                            .sets = sets,
                            .n_ranks = cost->n_ranks,
                            .n_sets = sets->n};
  TSL_TRY(tsl_alloc(n, sizeof *l->seconds, "measured times", (void **)&l->seconds));
  TSL_TRY(tsl_alloc(n, sizeof *l->unit, "measured times", (void **)&l->unit));
  TSL_TRY(tsl_alloc(n_units, sizeof *l->settled, "measured times", (void **)&l->settled));
  TSL_TRY(tsl_alloc(n_kinds, sizeof *l->sums, "measured speeds", (void **)&l->sums));
  TSL_TRY(tsl_alloc(sets->n * n_kinds, sizeof *l->rank, "measured speeds", (void **)&l->rank));
done:
  if (err != TSL_OK) tsl_history_clear(l);
  return err;
}

void tsl_history_clear(tsl_timing_history *l) {
  TSL_FREE_ALL(l->seconds, l->unit, l->settled, l->rank, l->sums);
  *l = (tsl_timing_history){.n_units = 0};
}

/* ---- taking in */

double tsl_history_first(const tsl_timing_history *l, int kind) {
  if (l->later_sum[kind] <= 0) return 0;
  return fmax(1, l->first_sum[kind] / l->later_sum[kind]);
}

static tsl_history_rank *rank_of(const tsl_timing_history *l, int set, int rank, int kind) {
  return &l->rank[((int64_t)set * l->n_ranks + rank) * TSL_MAX_KINDS + kind];
}

double tsl_history_off(const tsl_timing_history *l, int set, int rank, int kind) {
  return rank_of(l, set, rank, kind)->bias;
}

/* By the cost model, and by what it misses in the unit. */
static double predicted(const tsl_timing_history *l, int set, int rank, const tsl_unit *unit) {
  const double own = l->unit[set * l->n_units + unit->id].bias;
  return tsl_cost_seconds(l->cost, rank, unit) * (own > 0 ? own : 1);
}

double tsl_history_setup(const tsl_timing_history *l, int rank, const tsl_unit *unit,
                         double later) {
  const int kind = unit->kind;
  const double predicted = tsl_cost_setup(l->cost, rank, unit), first = tsl_history_first(l, kind);
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
static void compare_runs(tsl_timing_history *l, int set, const tsl_out_unit *row) {
  const int64_t at = timing_history_place(l, set, row);
  if (!l->unit[at].guessed) return;
  l->first_sum[row->unit.kind] += l->unit[at].last;
  l->later_sum[row->unit.kind] += fmin(l->unit[at].last, row->measured);
  l->setup_sum[row->unit.kind] += tsl_cost_setup(l->cost, row->owner, &row->unit);
}

/* Of a first run's seconds those of a later one. */
static double without_setup(const tsl_timing_history *l, const tsl_out_unit *row) {
  const double first = tsl_history_first(l, row->unit.kind);
  const double setup = tsl_history_setup(l, row->owner, &row->unit, 0);
  const double later = tsl_cost_seconds(l->cost, row->owner, &row->unit);
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
    if (l->unit[at].last <= 0 || l->unit[at].guessed) continue;
    sum->now += rows[k].measured;
    sum->last += l->unit[at].last;
    sum->both += fmin(rows[k].measured, l->unit[at].last);
  }
}

/* Seconds of a later run as far as two phases show them. */
static double confirmed(tsl_timing_history *l, int set, const tsl_out_unit *row) {
  const int64_t at = timing_history_place(l, set, row);
  const double now = row->measured, known = l->seconds[at], least = fmin(now, l->unit[at].last);
  const tsl_history_sum *sum = sum_of(l, row);
  if (l->unit[at].guessed) return now; /* a first run may have less to do: it tells little */
  if (l->unit[at].last <= 0) return known > 0 ? fmin(now, SUDDEN * known) : now;
  if (sum->both <= 0) return least;
  return least * fmin(sum->now, sum->last) / sum->both;
}

/* Seconds with everything in place. A first run's time is a guess that the second replaces. */
static void take_row(tsl_timing_history *l, int set, const tsl_out_unit *row) {
  const int64_t at = timing_history_place(l, set, row);
  double *known = &l->seconds[at];
  if (!l->settled[row->unit.id]) {
    const double guess = without_setup(l, row);
    *known = *known > 0 ? fmin(guess, SUDDEN * *known) : guess;
    l->unit[at].guessed = true;
  } else {
    const double now = confirmed(l, set, row);
    *known = *known > 0 && !l->unit[at].guessed ? smooth(*known, now) : now;
    l->unit[at].guessed = false;
  }
  l->unit[at].last = row->measured;
}

/* Nothing is measured of a rank without units: what is believed of it fades, so that it is tried
 * again; a rank that is slow indeed, ever more rarely. */
static void take_speed(tsl_timing_history *l, int set, int rank, int kind) {
  const tsl_history_sum *sum = &l->sums[(int64_t)rank * TSL_MAX_KINDS + kind];
  tsl_history_rank *of = rank_of(l, set, rank, kind);
  const double now = sum->now > 0 && sum->predicted > 0 ? sum->now / sum->predicted : 0;
  if (now > 0)
    of->bias = of->bias > 0 ? smooth(of->bias, now) : now;
  else if (of->bias > 0) {
    of->idle++;
    if ((of->idle & (of->idle - 1)) == 0) of->bias = sqrt(of->bias);
  }
}

static void take_speeds(tsl_timing_history *l, int set, const tsl_out_unit *rows, int64_t n_rows) {
  bool at_work[TSL_MAX_KINDS] = {false};
  clear_sums(l);
  for (int64_t k = 0; k < n_rows; k++) {
    tsl_history_sum *sum = sum_of(l, &rows[k]);
    sum->now += l->seconds[timing_history_place(l, set, &rows[k])];
    sum->predicted += predicted(l, set, rows[k].owner, &rows[k].unit);
    at_work[rows[k].unit.kind] = true;
  }
  for (int r = 0; r < l->n_ranks; r++)
    for (int kind = 0; kind < TSL_MAX_KINDS; kind++)
      if (at_work[kind]) take_speed(l, set, r, kind);
}

/* What the cost model misses in a unit, beyond off, what it misses in the rank that has it. */
static void take_own(tsl_timing_history *l, int set, int rank, const tsl_unit *unit, double off) {
  const int64_t at = set * l->n_units + unit->id;
  const double seconds = tsl_cost_seconds(l->cost, rank, unit);
  if (l->unit[at].bias <= 0 && l->seconds[at] > 0 && seconds > 0 && off > 0)
    l->unit[at].bias = l->seconds[at] / seconds / off;
}

/* Units that have not moved yet: from their second run on; after take_speeds. */
static void take_owns(tsl_timing_history *l, int set, const tsl_out_unit *rows, int64_t n_rows) {
  for (int64_t k = 0; k < n_rows; k++) {
    const int64_t at = timing_history_place(l, set, &rows[k]);
    const tsl_history_sum *sum = sum_of(l, &rows[k]);
    if (l->unit[at].guessed || sum->predicted <= 0) continue;
    take_own(l, set, rows[k].owner, &rows[k].unit, sum->now / sum->predicted);
  }
}

void tsl_history_phase(tsl_timing_history *l, int set, const tsl_out_unit *rows, int64_t n_rows) {
  for (int64_t k = 0; k < n_rows; k++)
    if (l->settled[rows[k].unit.id]) compare_runs(l, set, &rows[k]);
  sum_confirmed(l, set, rows, n_rows);
  for (int64_t k = 0; k < n_rows; k++) take_row(l, set, &rows[k]);
  for (int64_t k = 0; k < n_rows; k++) l->settled[rows[k].unit.id] = true;
  take_speeds(l, set, rows, n_rows);
  take_owns(l, set, rows, n_rows);
}

/* ---- moving */

double tsl_history_ratio(const tsl_timing_history *l, int set, const tsl_unit *unit, int from,
                         int to) {
  const double there = tsl_cost_seconds(l->cost, to, unit),
               here = tsl_cost_seconds(l->cost, from, unit);
  const double off_there = tsl_history_off(l, set, to, unit->kind);
  const double off_here = tsl_history_off(l, set, from, unit->kind);
  const double off = off_there > 0 && off_here > 0 ? off_there / off_here : 1;
  return there > 0 && here > 0 ? there / here * off : off;
}

void tsl_history_carry(tsl_timing_history *l, const tsl_unit *unit, int from, int to) {
  for (int s = 0; s < l->n_sets; s++) {
    const int64_t at = s * l->n_units + unit->id;
    take_own(l, s, from, unit, tsl_history_off(l, s, from, unit->kind));
    l->seconds[at] *= tsl_history_ratio(l, s, unit, from, to);
    l->unit[at].last = 0;
    l->unit[at].guessed = false;
  }
  l->settled[unit->id] = false;
}
