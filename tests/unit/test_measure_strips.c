/* unit.measure.strips: what a calibration learns of strips from short trials holds for whole runs.
 *
 * The device is a model of a card that computes a band by strips of columns, each a warp that goes
 * down the rows `delay` rows behind the one before; so many are at work at once, and the more share
 * a multiprocessor, the slower is each. Its numbers are those of local alignments on an H200
 * (docs/families/dp.md): the model gives twelve trials of 1 954 to 2 000 000 rows and four whole
 * runs there to 9 %, most to 3 %. In a band far wider than it has rows strips that begin one after
 * another take all of the time, and cells none; one that has a few more strips than the card has
 * room for takes twice as long. */
#include "measure.h"

#include "compute_thread.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { STRIP = 1024, DELAY = 96, DRAIN = 64, PROCESSORS = 132, ROOM = 16 * PROCESSORS };

/* Seconds of a row of a strip when so many warps share a multiprocessor. */
static double pace(double warps) {
  static const double at[] = {0, 1, 3, 8, 16};
  static const double microseconds[] = {0.403, 0.431, 0.592, 0.501, 0.626};
  int k = 1;
  while (k < 4 && warps > at[k]) k++;
  const double part = (warps - at[k - 1]) / (at[k] - at[k - 1]);
  return 1e-6 * (microseconds[k - 1] + part * (microseconds[k] - microseconds[k - 1]));
}

/* Time in rows: strip k begins DELAY after the one before, and when there is room for it. */
static double card_seconds(int64_t rows, int64_t columns) {
  const int64_t n = (columns + STRIP - 1) / STRIP, length = rows + DRAIN;
  int64_t *begin = malloc((size_t)n * sizeof *begin), begun = 0, ended = 0, now = 0;
  double seconds = 0;
  assert_non_null(begin);
  for (int64_t k = 0; k < n; k++) {
    begin[k] = k > 0 ? begin[k - 1] + DELAY : 0;
    if (k >= ROOM && begin[k] < begin[k - ROOM] + length) begin[k] = begin[k - ROOM] + length;
  }
  while (ended < n) {
    const int64_t end = begin[ended] + length;
    const int64_t next = begun < n && begin[begun] <= end ? begin[begun] : end;
    seconds += (double)(next - now) * pace((double)(begun - ended) / PROCESSORS);
    now = next;
    if (begun < n && next == begin[begun])
      begun++;
    else
      ended++;
  }
  free(begin);
  return seconds;
}

static double socket_seconds(int64_t rows, int64_t columns) {
  return 30e-6 + (double)rows * (double)columns / 1e10;
}

/* ---- a table in strips */

struct tsl_worker {
  double (*seconds)(int64_t rows, int64_t columns); /* of a band */
  bool overlaps;
};

static void set_features(tsl_unit *u) {
  const double rows = (double)(u->hi[0] - u->lo[0]), columns = (double)(u->hi[1] - u->lo[1]);
  u->count = u->flops = rows * columns;
  u->bytes = 4 * (rows + columns);
}

static void sample(const tsl_problem *problem, const tsl_unit *whole, double fraction,
                   tsl_unit *out) {
  (void)problem;
  *out = *whole;
  out->hi[0] = whole->lo[0] + (int64_t)ceil(fraction * (double)(whole->hi[0] - whole->lo[0]));
  set_features(out);
}

/* Stages that overlap: what one adds when many go before it. */
static double period(int64_t rows, int64_t columns) {
  return (card_seconds(9 * rows, columns) - card_seconds(rows, columns)) / 8;
}

/* Neighbours of a stage are one band. */
static tsl_err run(tsl_worker *worker, const tsl_unit *units, int64_t n, tsl_part *parts) {
  for (int64_t a = 0, b; a < n; a = b) {
    for (b = a + 1; b < n && units[b].stage == units[a].stage;) b++;
    const bool behind = worker->overlaps && a > 0;
    const double seconds = (behind ? period : worker->seconds)(units[a].hi[0] - units[a].lo[0],
                                                               units[b - 1].hi[1] - units[a].lo[1]);
    for (int64_t u = a; u < b; u++) parts[u].seconds = seconds / (double)(b - a);
  }
  return TSL_OK;
}

static int64_t busy(const tsl_problem *problem, const tsl_device *device, const tsl_unit *lanes,
                    int64_t n) {
  int64_t k = 1;
  (void)problem, (void)device;
  while (k < n && lanes[k].hi[1] - lanes[0].lo[1] <= (int64_t)ROOM * STRIP) k++;
  return k;
}

/* A square table on equal ranks. */
typedef struct table {
  int64_t n;
  int ranks;
  int64_t lanes, stages;
} table;

static tsl_unit *cut(const table *t) {
  tsl_unit *units = calloc((size_t)(t->lanes * t->stages), sizeof *units);
  assert_non_null(units);
  for (int64_t s = 0; s < t->stages; s++)
    for (int64_t l = 0; l < t->lanes; l++) {
      tsl_unit *u = &units[s * t->lanes + l];
      u->id = s * t->lanes + l;
      u->stage = (int32_t)s;
      u->lane = (int32_t)l;
      u->lo[0] = t->n * s / t->stages, u->hi[0] = t->n * (s + 1) / t->stages;
      u->lo[1] = t->n * l / t->lanes, u->hi[1] = t->n * (l + 1) / t->lanes;
      u->hi[2] = 1;
      set_features(u);
    }
  return units;
}

/* Trials run one at a time; nothing is started. */
static tsl_err start(tsl_worker *worker, const tsl_unit *units, int64_t n, tsl_part *parts) {
  (void)worker, (void)units, (void)n, (void)parts;
  fail();
  return TSL_OK;
}

/* Of a rank's part of a stage; where stages overlap, the mean of all: the first takes longer. */
static double true_seconds(const table *t, const tsl_unit *units,
                           double (*seconds)(int64_t, int64_t), bool overlaps) {
  const int64_t rows = units[0].hi[0], columns = units[t->lanes / t->ranks - 1].hi[1];
  const double first = seconds(rows, columns), n = (double)t->stages;
  return overlaps ? (first + (n - 1) * period(rows, columns)) / n : first;
}

/* Predicted over true seconds of a rank's part of a stage, minus 1. */
static double off(const table *t, double (*seconds)(int64_t, int64_t), bool fills, bool overlaps) {
  static const tsl_family family = {
      .name = "model", .shape = TSL_WAVE, .n_kinds = 1, .sample = sample};
  const tsl_problem problem = {.family = &family};
  const tsl_backend backend = {.family = "model",
                               .run = run,
                               .saturating_lanes = fills ? busy : NULL,
                               .start = overlaps ? start : NULL};
  const tsl_placement placement = {.rank = 0};
  tsl_worker worker = {seconds, overlaps};
  tsl_executor executor = {
      .problem = &problem, .backend = &backend, .worker = &worker, .placement = &placement};
  tsl_unit *units = cut(t);
  tsl_speed speed = {.c = {{0}}};
  double predicted = 0;
  const int64_t of_rank = t->lanes / t->ranks;
  assert_int_equal(tsl_compute_thread_start(NULL, NULL, &executor.thread), TSL_OK);
  assert_int_equal(tsl_measure(&executor, units, t->lanes * t->stages, t->ranks, INT64_MAX, &speed),
                   TSL_OK);
  tsl_compute_thread_stop(&executor.thread);
  for (int64_t l = 0; l < of_rank; l++) predicted += tsl_speed_seconds(&speed, &units[l]);
  const double truth = true_seconds(t, units, seconds, overlaps);
  free(units);
  return predicted / truth - 1;
}

static void whole_runs_on_a_card(void **state) {
  static const table tables[] = {
      {1000000, 1, 3, 1},    {2000000, 1, 7, 1},    {4000000, 1, 15, 2},   {8000000, 1, 30, 8},
      {16000000, 1, 61, 8},  {32000000, 1, 64, 8},  {2000000, 2, 64, 5},   {4000000, 2, 64, 6},
      {8000000, 2, 64, 9},   {16000000, 2, 64, 19}, {8000000, 4, 128, 12}, {16000000, 4, 128, 23},
      {24000000, 4, 128, 28}};
  (void)state;
  for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
    const double error = off(&tables[k], card_seconds, true, false);
    print_message("%lld on %d cards: %+.1f %%\n", (long long)tables[k].n, tables[k].ranks,
                  100 * error);
    assert_true(fabs(error) <= 0.05);
  }
}

static void stages_that_overlap(void **state) {
  static const table tables[] = {
      {1000000, 1, 3, 8},    {2000000, 1, 7, 8},    {4000000, 1, 15, 8},  {8000000, 1, 30, 8},
      {16000000, 1, 61, 8},  {4000000, 2, 64, 24},  {8000000, 2, 64, 32}, {16000000, 2, 64, 32},
      {8000000, 4, 128, 32}, {16000000, 4, 128, 48}};
  (void)state;
  for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
    const double error = off(&tables[k], card_seconds, true, true);
    print_message("%lld on %d cards, overlapping: %+.1f %%\n", (long long)tables[k].n,
                  tables[k].ranks, 100 * error);
    assert_true(fabs(error) <= 0.05);
  }
}

static void whole_runs_on_a_socket(void **state) {
  static const table tables[] = {{20000, 1, 1, 8},
                                 {150000, 1, 1, 8},
                                 {150000, 2, 64, 16},
                                 {600000, 3, 96, 16},
                                 {3000, 2, 46, 32}};
  (void)state;
  for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
    const double error = off(&tables[k], socket_seconds, false, false);
    print_message("%lld on %d sockets: %+.1f %%\n", (long long)tables[k].n, tables[k].ranks,
                  100 * error);
    assert_true(fabs(error) <= 0.05);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(whole_runs_on_a_card),
                                     cmocka_unit_test(stages_that_overlap),
                                     cmocka_unit_test(whole_runs_on_a_socket)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
