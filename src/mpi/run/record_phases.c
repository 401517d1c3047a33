/* Phases one by one and in sum. Rank 0. */
#include "record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- sums */

static void add_line(const tsl_share_line *of_phase, tsl_share_line *sum) {
  sum->rank = of_phase->rank;
  sum->units += of_phase->units;
  sum->dynamic += of_phase->dynamic;
  sum->predicted += of_phase->predicted;
  sum->busy += of_phase->busy;
  sum->finish += of_phase->finish;
  sum->idle += of_phase->idle;
}

/* Shares of a phase's items become shares of all. */
static void add_share(double before, double items, double of_phase, double *sum) {
  if (before + items > 0) *sum = (*sum * before + of_phase * items) / (before + items);
}

static void add_balance(const tsl_session *s, const tsl_balance *of_phase, tsl_record *record) {
  tsl_balance *b = &record->balance;
  const int n_parts = tsl_session_parts(s);
  double sum_finish = 0;
  b->wall += of_phase->wall;
  b->ideal += of_phase->ideal;
  b->dynamic += of_phase->dynamic;
  b->idle += of_phase->idle;
  b->predicted += of_phase->predicted;
  for (int r = 0; r < s->size; r++)
    if (tsl_cost_takes_part(&s->cost, r)) sum_finish += record->lines[r].finish;
  if (b->wall <= 0 || sum_finish <= 0) return;
  b->imbalance = b->wall * n_parts / sum_finish - 1;
  b->waiting = b->idle / (b->wall * n_parts);
}

static void add_sums(const tsl_session *s, const tsl_share_line *lines, const tsl_balance *balance,
                     tsl_record *record) {
  double items = 0;
  for (int64_t k = 0; k < record->n_last; k++) items += record->last[k].unit.count;
  for (int r = 0; r < s->size; r++) {
    add_share(record->items, items, lines[r].static_share, &record->lines[r].static_share);
    add_line(&lines[r], &record->lines[r]);
  }
  add_share(record->items, items, balance->static_share, &record->balance.static_share);
  record->items += items;
  add_balance(s, balance, record);
}

/* ---- tables */

static tsl_err add_phase(const tsl_session *s, const tsl_phase *phase, const tsl_share_line *lines,
                         const tsl_balance *balance, tsl_record *record) {
  tsl_err err = TSL_OK;
  double most = 0, sum = 0;
  TSL_TRY(tsl_grow((void **)&record->phases, record->n_phases, 1, &record->room_phases,
                   sizeof *record->phases, "phase report"));
  for (int r = 0; r < s->size; r++) most = fmax(most, lines[r].busy), sum += lines[r].busy;
  record->phases[record->n_phases++] = (tsl_phase_line){
      .phase = phase->index,
      .kinds = tsl_kinds_active(&s->problem, phase->index),
      .units = phase->plan->n_units,
      .wall = balance->wall,
      .computed = sum,
      .predicted = balance->predicted,
      .imbalance = sum > 0 ? most * tsl_session_parts(s) / sum - 1 : 0,
      .communication = s->stages.spent[TSL_STAGE_SHARE] + s->stages.spent[TSL_STAGE_COMBINE]};
done:
  return err;
}

/* Times by rank and kind; nothing once the table is full. */
static tsl_err add_times(const tsl_session *s, const tsl_phase *phase, tsl_record *record) {
  tsl_err err = TSL_OK;
  const int n_kinds = s->family->n_kinds;
  const int64_t most = (int64_t)s->size * n_kinds;
  tsl_phase_time *all = NULL;
  if (record->n_detailed + 1 < record->n_phases || record->n_times + most > TSL_PHASE_TIMES)
    return TSL_OK;
  TSL_TRY(tsl_alloc(most, sizeof *all, "phase report", (void **)&all));
  TSL_TRY(tsl_grow((void **)&record->times, record->n_times, most, &record->room_times,
                   sizeof *record->times, "phase report"));
  for (int64_t k = 0; k < record->n_last; k++) {
    const tsl_out_unit *row = &record->last[k];
    if (row->owner < 0) continue;
    tsl_phase_time *t = &all[row->owner * n_kinds + row->unit.kind];
    t->units++;
    t->seconds += row->measured;
    t->predicted += row->predicted;
  }
  for (int64_t k = 0; k < most; k++) {
    if (all[k].units == 0) continue;
    all[k].phase = phase->index;
    all[k].rank = (int32_t)(k / n_kinds), all[k].kind = (int32_t)(k % n_kinds);
    record->times[record->n_times++] = all[k];
  }
  record->n_detailed = record->n_phases;
done:
  tsl_free(all);
  return err;
}

tsl_err tsl_record_add(const tsl_session *s, const tsl_phase *phase, tsl_share_line *lines,
                       tsl_record *record) {
  tsl_err err = TSL_OK;
  tsl_balance balance;
  if (record->lines == NULL)
    TSL_TRY(tsl_alloc(s->size, sizeof *record->lines, "run report", (void **)&record->lines));
  tsl_report_balance(s, record->last, record->n_last, lines, &balance);
  balance.predicted = phase->plan->total_seconds;
  if (record->expected > 0)
    balance.predicted = record->expected;
  else if (s->first > 0 && record->n_phases == 0)
    balance.predicted = s->first;
  add_sums(s, lines, &balance, record);
  TSL_TRY(add_phase(s, phase, lines, &balance, record));
  TSL_TRY(add_times(s, phase, record));
done:
  return err;
}

/* ---- phases once units have settled */

/* Phases, by what is compared of them. */
typedef struct ranked {
  double seconds;
  int64_t at; /* in record->phases */
} ranked;

static int by_seconds(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  if (x->seconds != y->seconds) return x->seconds > y->seconds ? 1 : -1;
  return (x->at > y->at) - (x->at < y->at);
}

/* The one in the middle, of two the shorter, as others on a machine only make phases longer; NULL:
 * there is none. */
static const ranked *middle(ranked *list, int64_t n) {
  if (n > 0) qsort(list, (size_t)n, sizeof *list, by_seconds);
  return n > 0 ? &list[(n - 1) / 2] : NULL;
}

/* The later half of the first n_phases as far as they are of a set, in which little is set up; of a
 * run of one phase that one, else a set of one phase is of no iteration. @return their number */
static int64_t list_settled(const tsl_record *record, int64_t n_phases, uint32_t mask,
                            const double *seconds, int64_t stride, ranked *list) {
  int64_t n = 0, half;
  for (int64_t p = 0; p < n_phases; p++)
    if (record->phases[p].kinds == (int64_t)mask) list[n++] = (ranked){seconds[p * stride], p};
  if (record->n_phases == 1) return n;
  half = n > 1 ? n / 2 : n;
  memmove(list, list + half, (size_t)(n - half) * sizeof *list);
  return n - half;
}

/* Of each set of kinds the middle one of its phases, in sum. */
static double sum_middles(const tsl_session *s, const tsl_record *record, const double *seconds,
                          ranked *list) {
  double sum = 0;
  for (int k = 0; k < s->sets.n; k++) {
    const ranked *one =
        middle(list, list_settled(record, record->n_phases, s->sets.mask[k], seconds, 1, list));
    if (one != NULL) sum += one->seconds;
  }
  return sum;
}

tsl_err tsl_record_besides(const tsl_session *s, const tsl_record *record, double *between,
                           double *waiting) {
  tsl_err err = TSL_OK;
  const int64_t n = record->n_phases;
  const tsl_phase_line *line = record->phases;
  double *seconds = NULL, idle = 0, mean = 0;
  ranked *list = NULL;
  *between = *waiting = 0;
  if (n < 2) return TSL_OK;
  TSL_TRY(tsl_alloc(n, sizeof *seconds, "phases", (void **)&seconds));
  TSL_TRY(tsl_alloc(n, sizeof *list, "phases", (void **)&list));
  tsl_stage_phases(s, line[0].phase, n, seconds);
  for (int64_t p = 0; p < n; p++) seconds[p] = fmax(0, seconds[p] - line[p].wall);
  *between = sum_middles(s, record, seconds, list);
  for (int64_t p = 0; p < n; p++) seconds[p] = line[p].computed / tsl_session_parts(s);
  mean = sum_middles(s, record, seconds, list);
  for (int64_t p = 0; p < n; p++) seconds[p] = fmax(0, line[p].wall - seconds[p]);
  idle = sum_middles(s, record, seconds, list);
  *waiting = mean > 0 ? 1 + idle / mean : 0;
done:
  TSL_FREE_ALL(seconds, list);
  return err;
}

/* What was measured of a kind in a phase. */
static void add_measured(const tsl_record *record, int kind, int64_t at, int64_t runs,
                         tsl_kind_seconds (*all)[TSL_MAX_KINDS]) {
  for (int64_t k = 0; k < record->n_times; k++) {
    const tsl_phase_time *t = &record->times[k];
    if (t->kind != kind || t->phase != record->phases[at].phase) continue;
    all[t->rank][kind].measured += t->seconds;
    all[t->rank][kind].runs = runs;
  }
}

/* Terms of units where they ran last, as often as phases of theirs count. */
static void add_terms(const tsl_record *record, const int *phases_of_kind,
                      tsl_kind_seconds (*all)[TSL_MAX_KINDS]) {
  const bool first = record->n_phases == 1;
  for (int64_t k = 0; k < record->n_rows; k++) {
    const tsl_out_unit *row = &record->rows[k];
    if (row->owner < 0) continue; /* computed before a restart */
    const double n = phases_of_kind[row->unit.kind];
    const tsl_unit unit = first ? tsl_unit_begin(&row->unit) : row->unit;
    double *terms = all[row->owner][unit.kind].terms;
    terms[0] += n, terms[1] += n * unit.flops, terms[2] += n * unit.bytes;
    terms[3] += n * unit.count;
    if (first) terms[TSL_SETUP] += unit.setup;
  }
}

tsl_err tsl_record_kinds(const tsl_session *s, const tsl_record *record,
                         tsl_kind_seconds (*all)[TSL_MAX_KINDS]) {
  tsl_err err = TSL_OK;
  const int64_t n = record->n_phases;
  int phases_of_kind[TSL_MAX_KINDS] = {0};
  double *totals = NULL;
  ranked *list = NULL;
  memset(all, 0, (size_t)s->size * sizeof *all);
  TSL_TRY(tsl_alloc(n * TSL_MAX_KINDS, sizeof *totals, "phases", (void **)&totals));
  TSL_TRY(tsl_alloc(n, sizeof *list, "phases", (void **)&list));
  for (int64_t k = 0; k < record->n_times; k++) {
    const tsl_phase_time *t = &record->times[k];
    totals[(t->phase - record->phases[0].phase) * TSL_MAX_KINDS + t->kind] += t->seconds;
  }
  for (int set = 0; set < s->sets.n; set++)
    for (int kind = 0; kind < s->family->n_kinds; kind++) {
      const int64_t runs = list_settled(record, record->n_detailed, s->sets.mask[set],
                                        totals + kind, TSL_MAX_KINDS, list);
      const ranked *one = middle(list, runs);
      if (one == NULL || one->seconds <= 0) continue;
      add_measured(record, kind, one->at, runs, all);
      phases_of_kind[kind]++;
    }
  add_terms(record, phases_of_kind, all);
done:
  TSL_FREE_ALL(totals, list);
  return err;
}

/* ---- for people */

void tsl_record_print(const tsl_session *s, const tsl_record *record, FILE *file) {
  tsl_slowest slowest = {.n_phases = record->n_phases};
  for (int64_t k = 0; k < record->n_phases; k++)
    if (record->phases[k].wall > slowest.seconds)
      slowest.phase = record->phases[k].phase, slowest.seconds = record->phases[k].wall;
  tsl_report_run(s, record->lines, &record->balance, &slowest, file);
}

/* ---- into the file */

static const tsl_column phase_columns[] = {
    TSL_COLUMNS_4(tsl_phase_line, "", phase, kinds, units, moved),
    TSL_COLUMN_AS(tsl_phase_line, wall, "measured", "s"),
    TSL_COLUMNS_2(tsl_phase_line, "s", computed, predicted),
    TSL_COLUMNS_3(tsl_phase_line, "1", imbalance, imbalance_before, imbalance_after),
    TSL_COLUMN(tsl_phase_line, communication, "s"),
    TSL_NO_COLUMN,
};

static const tsl_column time_columns[] = {
    TSL_COLUMNS_4(tsl_phase_time, "", phase, rank, kind, units),
    TSL_COLUMN_AS(tsl_phase_time, seconds, "measured", "s"),
    TSL_COLUMN(tsl_phase_time, predicted, "s"),
    TSL_NO_COLUMN,
};

tsl_err tsl_record_store_phases(const tsl_record *record, tsl_out *out) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_out_table(out, "/run/phases", phase_columns, record->phases, sizeof *record->phases,
                        record->n_phases));
  TSL_TRY(tsl_out_table(out, "/run/phase_times", time_columns, record->times, sizeof *record->times,
                        record->n_times));
  TSL_TRY(tsl_out_attr_i64(out, "/run", "phases", record->n_phases));
  TSL_TRY(tsl_out_attr_i64(out, "/run", "phases_detailed", record->n_detailed));
done:
  return err;
}
