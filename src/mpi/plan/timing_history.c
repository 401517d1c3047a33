/* Each phase's rows update the seconds of units and the factors of units and of ranks with kinds;
 * rebalancing reads them. */
#include "timing_history.h"

#include <float.h>
#include <math.h>

/* s of a rank's units of a kind. */
typedef struct rank_sum {
  double now, last; /* in this phase and in the one before, of units that were there in both */
  double both;      /* of each of these the smaller one */
  double seconds, predicted; /* of all, by the history and by the cost model */
} rank_sum;

tsl_err tsl_history_open(const tsl_unit *units, int64_t n_units, const tsl_cost *cost,
                         const tsl_kind_sets *sets, tsl_timing_history *l) {
  tsl_err err = TSL_OK;
  const int64_t n_kinds = (int64_t)cost->n_ranks * TSL_MAX_KINDS;
  *l = (tsl_timing_history){
      .units = units, .n_units = n_units, .cost = cost, .sets = sets, .n_ranks = cost->n_ranks};
  TSL_TRY(tsl_alloc(sets->n * n_units, sizeof *l->unit, "measured times", (void **)&l->unit));
  TSL_TRY(tsl_alloc(n_units, sizeof *l->first, "measured times", (void **)&l->first));
  TSL_TRY(tsl_alloc(sets->n * n_kinds, sizeof *l->off, "measured speeds", (void **)&l->off));
  TSL_TRY(tsl_alloc(n_kinds, sizeof *l->setups, "measured speeds", (void **)&l->setups));
done:
  if (err != TSL_OK) tsl_history_clear(l);
  return err;
}

void tsl_history_clear(tsl_timing_history *l) {
  TSL_FREE_ALL(l->unit, l->first, l->off, l->setups);
  *l = (tsl_timing_history){.n_units = 0};
}

static int64_t place_of(const tsl_timing_history *l, int set, int rank, int kind) {
  return ((int64_t)set * l->n_ranks + rank) * TSL_MAX_KINDS + kind;
}

double tsl_history_off(const tsl_timing_history *l, int set, int rank, int kind) {
  return l->off[place_of(l, set, rank, kind)];
}

/* ---- taking in */

static rank_sum *sum_of(const tsl_timing_history *l, rank_sum *sums, const tsl_out_unit *row) {
  return &sums[place_of(l, 0, row->owner, row->unit.kind)];
}

/* Of a run in the first phase, which may have less to do, those of a later one. */
static double as_later(const tsl_timing_history *l, const tsl_out_unit *row) {
  const tsl_unit begin = tsl_unit_begin(&row->unit);
  const double now = tsl_cost_seconds(l->cost, row->owner, &begin);
  const double later = tsl_cost_seconds(l->cost, row->owner, &row->unit);
  return row->phase == 0 && now > 0 ? row->measured * later / now : row->measured;
}

/* Of the rank's units of the kind that were there in the set's last phase. */
static void add_row(const tsl_timing_history *l, int set, const tsl_out_unit *row, rank_sum *sum) {
  const double last = tsl_history_of(l, set, row->unit.id)->last;
  if (last <= 0) return;
  sum->now += row->measured, sum->last += last, sum->both += fmin(row->measured, last);
}

/* A second run is believed, and tells what the first took more; of later ones time counts as far as
 * two phases show it. */
static void take_row(tsl_timing_history *l, int set, const tsl_out_unit *row, rank_sum *sum) {
  tsl_history_unit *of = tsl_history_of(l, set, row->unit.id);
  tsl_history_setups *setups = &l->setups[place_of(l, 0, row->owner, row->unit.kind)];
  const double predicted = tsl_cost_seconds(l->cost, row->owner, &row->unit);
  double *first = &l->first[row->unit.id];
  if (*first == 0) {
    *first = fmax(as_later(l, row), DBL_MIN);
  } else {
    of->seconds = of->last > 0 ? fmin(row->measured, of->last) : row->measured;
    if (of->last > 0 && sum->both > 0) of->seconds *= fmin(sum->now, sum->last) / sum->both;
    of->last = row->measured;
  }
  if (*first > 0 && of->last > 0) {
    setups->took += fmax(0, *first - row->measured);
    setups->predicted += tsl_cost_setup(l->cost, row->owner, &row->unit);
    *first = -1;
  }
  if (of->seconds > 0)
    sum->seconds += of->seconds, sum->predicted += predicted * (of->own > 0 ? of->own : 1);
}

/* The unit's own factor is found once. */
static void take_own(tsl_timing_history *l, int set, const tsl_out_unit *row) {
  tsl_history_unit *of = tsl_history_of(l, set, row->unit.id);
  const double predicted = tsl_cost_seconds(l->cost, row->owner, &row->unit);
  const double off = tsl_history_off(l, set, row->owner, row->unit.kind);
  if (of->own <= 0 && of->seconds > 0 && predicted > 0 && off > 0)
    of->own = of->seconds / predicted / off;
}

tsl_err tsl_history_phase(tsl_timing_history *l, int set, const tsl_out_unit *rows,
                          int64_t n_rows) {
  tsl_err err = TSL_OK;
  const tsl_out_unit *end = rows + n_rows;
  const int64_t n_kinds = (int64_t)l->n_ranks * TSL_MAX_KINDS, first = place_of(l, set, 0, 0);
  rank_sum *sums = NULL; /* [n_ranks][TSL_MAX_KINDS] */
  TSL_TRY(tsl_alloc(n_kinds, sizeof *sums, "measured speeds", (void **)&sums));
  for (const tsl_out_unit *row = rows; row < end; row++)
    if (row->owner >= 0) add_row(l, set, row, sum_of(l, sums, row));
  for (const tsl_out_unit *row = rows; row < end; row++)
    if (row->owner >= 0) take_row(l, set, row, sum_of(l, sums, row));
  for (int64_t k = 0; k < n_kinds; k++)
    if (sums[k].seconds > 0 && sums[k].predicted > 0)
      l->off[first + k] = sums[k].seconds / sums[k].predicted;
  for (const tsl_out_unit *row = rows; row < end; row++)
    if (row->owner >= 0) take_own(l, set, row);
done:
  tsl_free(sums);
  return err;
}

double tsl_history_setup(const tsl_timing_history *l, int set, int64_t unit, int rank) {
  const int kind = l->units[unit].kind;
  const tsl_history_setups *of = &l->setups[place_of(l, 0, rank, kind)];
  const double off = tsl_history_off(l, set, rank, kind);
  const double setup = tsl_cost_setup(l->cost, rank, &l->units[unit]);
  return setup * (of->predicted > 0 ? of->took / of->predicted : off > 0 ? off : 1);
}
