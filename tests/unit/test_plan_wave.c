/* unit.plan.wave: a lane has one owner; strips are contiguous and in proportion to speed; single
 * tiles are dealt so that all end together. */
#include "plan_wave.h"
#include "random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_UNITS = 4000, MAX_RANKS = 7 };

static tsl_unit units[MAX_UNITS];

/** A rank needs slowness[rank] seconds an item. */
static double seconds_of(const void *model, int rank, const tsl_unit *unit) {
  return ((const double *)model)[rank] * unit->count;
}

/** Stages of equal lanes. */
static int64_t table(int64_t stages, int64_t lanes, double count) {
  for (int64_t u = 0; u < stages * lanes; u++)
    units[u] = (tsl_unit){.id = u, .stage = u / lanes, .lane = u % lanes, .count = count};
  return stages * lanes;
}

/** Tiles of a triangle: diagonal d has tiles of cost d + 1, each a lane of its own. */
static int64_t triangle(int64_t boxes) {
  int64_t n = 0;
  for (int64_t d = 0; d < boxes; d++)
    for (int64_t r = 0; r + d < boxes; r++, n++)
      units[n] = (tsl_unit){.id = n, .stage = d, .lane = n, .count = (double)(d + 1)};
  return n;
}

static void check(const tsl_plan *plan, int64_t n, int ranks, const double *slowness) {
  double seconds[MAX_RANKS] = {0}, most = 0;
  assert_true(plan->dynamic == 0);
  for (int64_t u = 0; u < n; u++) {
    assert_true(plan->owner[u] >= 0 && plan->owner[u] < ranks);
    seconds[plan->owner[u]] += slowness[plan->owner[u]] * units[u].count;
    for (int64_t v = 0; v < n; v++)
      if (units[v].lane == units[u].lane) assert_int_equal(plan->owner[v], plan->owner[u]);
  }
  for (int r = 0; r < ranks; r++) {
    assert_true(fabs(plan->seconds[r] - seconds[r]) <= 1e-9 * (1 + seconds[r]));
    most = fmax(most, seconds[r]);
  }
  assert_true(fabs(plan->total_seconds - most) <= 1e-9 * (1 + most));
}

static void make(tsl_plan_kind kind, int64_t n, int ranks, const double *slowness, tsl_plan *plan) {
  const tsl_plan_rule rule = {.kind = kind, .dynamic = 0.2};
  if (tsl_plan_wave(&rule, &(tsl_workload){units, n, ranks, seconds_of, slowness}, plan) != TSL_OK)
    fail_msg("%s", tsl_err_message());
  check(plan, n, ranks, slowness);
}

static void strips_follow_speed(void **state) {
  static const double slowness[] = {1, 3, 1, 2};
  const double rate = 1 + 1 / 3.0 + 1 + 0.5;
  const int64_t lanes = 128, n = table(16, lanes, 10);
  tsl_plan plan;
  (void)state;
  make(TSL_PLAN_STRIPS, n, 4, slowness, &plan);
  for (int64_t u = 1; u < lanes; u++) assert_true(plan.owner[u] >= plan.owner[u - 1]);
  for (int r = 0; r < 4; r++) {
    int64_t mine = 0;
    for (int64_t u = 0; u < lanes; u++) mine += plan.owner[u] == r;
    assert_true(fabs((double)mine - (double)lanes / (slowness[r] * rate)) <= 2);
  }
  tsl_plan_clear(&plan);
}

static void tiles_are_dealt(void **state) {
  static const double slowness[] = {1, 1, 4};
  const int64_t n = triangle(40);
  double work = 0;
  tsl_plan plan;
  (void)state;
  for (int64_t u = 0; u < n; u++) work += units[u].count;
  make(TSL_PLAN_STRIPS, n, 3, slowness, &plan);
  const double ideal = work / (1 + 1 + 0.25);
  for (int r = 0; r < 3; r++) assert_true(fabs(plan.seconds[r] - ideal) <= 0.05 * ideal);
  tsl_plan_clear(&plan);
}

static void round_robin(void **state) {
  static const double slowness[] = {1, 5, 1};
  const int64_t n = table(3, 10, 1);
  tsl_plan plan;
  (void)state;
  make(TSL_PLAN_ROUNDROBIN, n, 3, slowness, &plan);
  for (int64_t u = 0; u < n; u++) assert_int_equal(plan.owner[u], units[u].lane % 3);
  tsl_plan_clear(&plan);
}

/** Nothing to do, one tile, fewer lanes than ranks, a rank without speed known. */
static void ends(void **state) {
  static const double slowness[] = {1, 1, 1, 1, 1, 1, 1}, unknown[] = {0, 0, 0};
  tsl_plan plan;
  (void)state;
  for (int ranks = 1; ranks <= MAX_RANKS; ranks++)
    for (int64_t lanes = 0; lanes < 4; lanes++) {
      make(TSL_PLAN_STRIPS, table(5, lanes, 1), ranks, slowness, &plan);
      tsl_plan_clear(&plan);
    }
  make(TSL_PLAN_STRIPS, table(5, 9, 1), 3, unknown, &plan);
  tsl_plan_clear(&plan);
}

static void random_costs(void **state) {
  uint64_t seed = 5;
  (void)state;
  for (int round = 0; round < 50; round++) {
    double slowness[MAX_RANKS];
    tsl_plan plan;
    const int ranks = 1 + round % MAX_RANKS;
    const int64_t n = table(1 + round % 5, 1 + round * 7 % 60, 1);
    for (int64_t u = 0; u < n; u++) units[u].count = random_unit(&seed);
    for (int r = 0; r < ranks; r++) slowness[r] = 0.1 + random_unit(&seed);
    make(round % 2 != 0 ? TSL_PLAN_STRIPS : TSL_PLAN_ROUNDROBIN, n, ranks, slowness, &plan);
    tsl_plan_clear(&plan);
  }
}

/* ---- the traceback */

/** Tiles of the first lane not at all, others as often as their lane says. */
static double as_lane(const tsl_problem *problem, const tsl_unit *unit) {
  (void)problem;
  return (double)unit->lane / 2;
}

static void traceback(void **state) {
  static const double slowness[] = {1, 3};
  const tsl_family once = {.traceback_part = as_lane}, never = {0};
  tsl_problem problem = {.family = &once};
  tsl_plan plan;
  double want = 0;
  (void)state;
  const int64_t n = table(4, 8, 2);
  make(TSL_PLAN_STRIPS, n, 2, slowness, &plan);
  for (int64_t u = 0; u < n; u++)
    want += (double)units[u].lane / 2 * seconds_of(slowness, plan.owner[u], &units[u]);
  tsl_plan_wave_traceback(
      &problem, &(tsl_workload){units, plan.n_units, plan.n_ranks, seconds_of, slowness}, &plan);
  assert_true(want > 0 && fabs(plan.traceback_seconds - want) <= 1e-12 * want);
  problem.family = &never;
  tsl_plan_wave_traceback(
      &problem, &(tsl_workload){units, plan.n_units, plan.n_ranks, seconds_of, slowness}, &plan);
  assert_true(plan.traceback_seconds == 0);
  tsl_plan_clear(&plan);
}

/* ---- the end of the last rank */

/** The tile on the left. */
static int64_t left_of(const tsl_problem *problem, const tsl_unit *list, int64_t n, int64_t id,
                       int64_t *out, int64_t room) {
  (void)problem, (void)n;
  if (list[id].lane == 0) return 0;
  if (room > 0) out[0] = id - 1;
  return 1;
}

/** All other tiles of the stage before. */
static int64_t stage_before(const tsl_problem *problem, const tsl_unit *list, int64_t n, int64_t id,
                            int64_t *out, int64_t room) {
  int64_t found = 0;
  (void)problem, (void)n;
  for (int64_t t = 0; t < id; t++)
    if (list[t].stage == list[id].stage - 1 && list[t].lane != list[id].lane) {
      if (found < room) out[found] = t;
      found++;
    }
  return found;
}

static int64_t edge_size; /* of all tiles */

static int64_t edge_bytes(const tsl_problem *problem, const tsl_unit *unit) {
  (void)problem, (void)unit;
  return edge_size;
}

static double time_of(int64_t (*predecessors)(const tsl_problem *, const tsl_unit *, int64_t,
                                              int64_t, int64_t *, int64_t),
                      int64_t n, int ranks, const double *slowness, const double *delay) {
  const tsl_family family = {
      .shape = TSL_WAVE, .predecessors = predecessors, .edge_bytes = edge_bytes};
  const tsl_problem problem = {.family = &family};
  tsl_plan plan;
  make(TSL_PLAN_STRIPS, n, ranks, slowness, &plan);
  if (tsl_plan_wave_time(&problem,
                         &(tsl_workload){units, plan.n_units, plan.n_ranks, seconds_of, slowness},
                         delay, NULL, &plan) != TSL_OK)
    fail_msg("%s", tsl_err_message());
  const double seconds = plan.total_seconds;
  tsl_plan_clear(&plan);
  return seconds;
}

/** S stages of equal ranks one behind the other take S + ranks - 1 of them. */
static void pipeline_fills(void **state) {
  static const double slowness[] = {1, 1, 1, 1, 1, 1, 1};
  (void)state;
  for (int ranks = 1; ranks <= MAX_RANKS; ranks++)
    for (int64_t stages = 1; stages <= 9; stages += 4) {
      const double stage = 5; /* lanes of a rank */
      const double seconds = time_of(left_of, table(stages, 5 * ranks, 1), ranks, slowness, NULL);
      assert_true(fabs(seconds - (double)(stages + ranks - 1) * stage) < 1e-9);
    }
}

/** Ranks of a node hand over as before; each border of nodes that a strip waits for adds the way of
 * an edge, once, as the pipeline goes on meanwhile. */
static void edges_cross_the_network(void **state) {
  static const double slowness[] = {1, 1, 1, 1};
  const tsl_family family = {.shape = TSL_WAVE, .predecessors = left_of, .edge_bytes = edge_bytes};
  const tsl_problem problem = {.family = &family};
  (void)state;
  for (int per_node = 1; per_node <= 4; per_node++) {
    const tsl_network network = {.ranks_per_node = per_node, .latency = 0.5, .bandwidth = 1e30};
    const int64_t n = table(6, 20, 1);
    const int borders = (4 + per_node - 1) / per_node - 1;
    tsl_plan plan;
    make(TSL_PLAN_STRIPS, n, 4, slowness, &plan);
    if (tsl_plan_wave_time(&problem,
                           &(tsl_workload){units, plan.n_units, plan.n_ranks, seconds_of, slowness},
                           NULL, &network, &plan) != TSL_OK)
      fail_msg("%s", tsl_err_message());
    assert_true(fabs(plan.total_seconds - (9 * 5 + 0.5 * borders)) < 1e-9);
    tsl_plan_clear(&plan);
  }
}

/** Where a stage needs all of the one before, its slowest rank counts. */
static void stages_wait(void **state) {
  static const double slowness[] = {1, 2};
  (void)state;
  assert_true(fabs(time_of(stage_before, table(7, 2, 3), 2, slowness, NULL) - 7 * 6) < 1e-9);
  assert_true(fabs(time_of(stage_before, table(7, 1, 3), 1, slowness, NULL) - 7 * 3) < 1e-9);
}

/** Stages that overlap end every time of their cells, the first a delay later; where the delay is
 *  longer than the cells, two at once end every half of both. */
static void stages_overlap(void **state) {
  static const double slowness[] = {1, 1, 1, 1, 1, 1, 1};
  (void)state;
  for (int ranks = 1; ranks <= MAX_RANKS; ranks++)
    for (int k = 0; k < 3; k++) {
      const double cells = 5, delays[] = {1, 4, 15}, d = delays[k]; /* cells: of a rank's stage */
      const double delay[MAX_RANKS] = {d, d, d, d, d, d, d};
      const double every = fmax(cells, (cells + d) / 2), first = ranks * (cells + d);
      const int64_t stages = 9; /* in pairs after the first */
      const double seconds = time_of(left_of, table(stages, 5 * ranks, 1), ranks, slowness, delay);
      const double wanted = first + (double)(stages - 1) * every;
      assert_true(fabs(seconds - wanted) < 1e-9);
    }
}

/** Edges take time, once for each rank that needs them. */
static void edges_take_time(void **state) {
  static const double slowness[] = {1, 1};
  const int64_t stages = 7;
  (void)state;
  edge_size = 1 << 20;
  const double edge = 2 * (double)edge_size / TSL_EDGE_RATE;
  const double strips = time_of(left_of, table(stages, 8, 1), 2, slowness, NULL);
  const double sweep = time_of(stage_before, table(stages, 8, 1), 2, slowness, NULL);
  edge_size = 0;
  assert_true(fabs(strips - ((double)(stages + 1) * 4 + (double)stages * edge)) < 1e-9);
  assert_true(fabs(sweep - ((double)stages * 4 + (double)(stages - 1) * 4 * edge)) < 1e-9);
}

/** Never before the busiest rank's own work, never after all work one after the other. */
static void time_is_bounded(void **state) {
  uint64_t seed = 11;
  (void)state;
  for (int round = 0; round < 40; round++) {
    const int ranks = 2 + round % (MAX_RANKS - 1);
    const int64_t n = round % 3 == 0 ? triangle(12) : table(1 + round % 8, 1 + round % 30, 1);
    double slowness[MAX_RANKS], all = 0, most = 0;
    tsl_plan plan;
    for (int r = 0; r < ranks; r++) slowness[r] = 0.2 + random_unit(&seed);
    make(TSL_PLAN_STRIPS, n, ranks, slowness, &plan);
    for (int r = 0; r < ranks; r++) all += plan.seconds[r], most = fmax(most, plan.seconds[r]);
    tsl_plan_clear(&plan);
    const double seconds = time_of(stage_before, n, ranks, slowness, NULL);
    assert_true(seconds >= most * (1 - 1e-9) && seconds <= all * (1 + 1e-9));
  }
}

static void others_are_refused(void **state) {
  static const double slowness[] = {1, 1};
  static const tsl_plan_kind kinds[] = {TSL_PLAN_LPT, TSL_PLAN_BINS, TSL_PLAN_SHARE};
  (void)state;
  for (int k = 0; k < 3; k++) {
    const tsl_plan_rule rule = {.kind = kinds[k]};
    tsl_plan plan;
    assert_int_equal(tsl_plan_wave(&rule,
                                   &(tsl_workload){units, table(2, 2, 1), 2, seconds_of, slowness},
                                   &plan),
                     TSL_ERR_INPUT);
    assert_non_null(strstr(tsl_err_message(), tsl_plan_words[kinds[k]]));
    tsl_plan_clear(&plan);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(strips_follow_speed), cmocka_unit_test(tiles_are_dealt),
      cmocka_unit_test(round_robin),         cmocka_unit_test(ends),
      cmocka_unit_test(random_costs),        cmocka_unit_test(others_are_refused),
      cmocka_unit_test(pipeline_fills),      cmocka_unit_test(edges_cross_the_network),
      cmocka_unit_test(traceback),           cmocka_unit_test(stages_wait),
      cmocka_unit_test(stages_overlap),      cmocka_unit_test(time_is_bounded),
      cmocka_unit_test(edges_take_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
