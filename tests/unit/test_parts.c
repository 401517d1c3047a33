/* unit.plan.parts: the lists, the rules alone, and a game of ranks that work through their parts
 * and take from each other. */
#include "plan_fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void make(instance *in, tsl_plan_kind kind, int64_t n, int ranks, const double *slowness,
                 double dynamic, uint64_t *random) {
  if (make_plan(in, kind, n, ranks, slowness, dynamic, random) != TSL_OK ||
      tsl_parts_make(&in->plan, in->units, &in->cost, &in->parts) != TSL_OK)
    fail_msg("%s", tsl_err_message());
}

static void clear(instance *in) {
  tsl_parts_clear(&in->parts);
  tsl_plan_clear(&in->plan);
}

static double items_of(const instance *in) {
  double items = 0;
  for (int64_t u = 0; u < in->plan.n_units; u++) items += in->units[u].count;
  return items;
}

/* --------------------------------------------------------------------- lists */

static void list_owners(void **state) {
  static instance in;
  static const double slowness[] = {1, 2, 4};
  uint64_t seed = 1;
  (void)state;
  for (int kind = 0; kind < TSL_PLAN_SHARE; kind++) {
    const tsl_parts *p = &in.parts;
    make(&in, (tsl_plan_kind)kind, 200, 3, slowness, 1, &seed);
    assert_int_equal(p->start[0], 0);
    assert_int_equal(p->start[3], 200);
    assert_true(fabs(p->ideal / items_of(&in) - 4.0 / 7) < 1e-12);
    for (int r = 0; r < 3; r++) {
      for (int64_t k = p->start[r]; k < p->start[r + 1]; k++) {
        assert_int_equal(in.plan.owner[p->order[k]], r);
        if (k > p->start[r]) assert_true(p->order[k] > p->order[k - 1]);
        const double own = slowness[r] * in.units[p->order[k]].count;
        assert_true(fabs(p->before[k + 1] - p->before[k] - own) < 1e-9 * p->before[k + 1]);
      }
    }
    clear(&in);
  }
}

/* Units that were finished before are nobody's. */
static void lists_leave_out_finished(void **state) {
  static instance in;
  static const double slowness[] = {1, 1};
  static uint8_t finished[100];
  (void)state;
  make(&in, TSL_PLAN_STRIPS, 100, 2, slowness, 1, NULL);
  for (int u = 0; u < 100; u += 3) finished[u] = 1;
  in.plan.finished = finished;
  tsl_parts_clear(&in.parts);
  assert_int_equal(tsl_parts_make(&in.plan, in.units, &in.cost, &in.parts), TSL_OK);
  assert_int_equal(in.parts.start[2], 66);
  for (int64_t k = 0; k < 66; k++) assert_int_equal(finished[in.parts.order[k]], 0);
  clear(&in);
}

/* The front of a part is its owner's alone. */
static void front_is_kept(void **state) {
  static instance in;
  static const double slowness[] = {1, 1}, parts[] = {0, 0.25, 1};
  (void)state;
  for (int k = 0; k < 3; k++) {
    make(&in, TSL_PLAN_STRIPS, 80, 2, slowness, parts[k], NULL);
    const tsl_range all = in.parts.left[1];
    assert_int_equal(all.back, 40);
    assert_int_equal(all.front, 40 - (int)(40 * parts[k]));
    clear(&in);
  }
}

/* After the first phase units with a setup are their owner's, and come first. */
static void what_keeps_something_stays(void **state) {
  static instance in;
  static const double slowness[] = {1, 1};
  (void)state;
  make(&in, TSL_PLAN_STRIPS, 80, 2, slowness, 1, NULL);
  for (int u = 0; u < 80; u++) in.units[u].setup = u % 4 == 3;
  assert_int_equal(in.parts.left[1].front, 0);
  tsl_parts_clear(&in.parts);
  in.plan.kept = true;
  assert_int_equal(tsl_parts_make(&in.plan, in.units, &in.cost, &in.parts), TSL_OK);
  for (int r = 0; r < 2; r++) {
    const tsl_range all = in.parts.left[r];
    const int64_t *order = in.parts.order + in.parts.start[r];
    assert_int_equal(all.front, 10);
    assert_int_equal(all.back, 40);
    for (int k = 0; k < 40; k++) {
      assert_true((in.units[order[k]].setup > 0) == (k < 10));
      assert_true(k == 0 || k == 10 || order[k] > order[k - 1]);
    }
  }
  for (int u = 0; u < 80; u++) in.units[u].setup = 0;
  clear(&in);
}

/* --------------------------------------------------------------------- rules */

/* Three ranks with 100 planned units of 1 s each; what they have not begun is given. */
static int64_t steal_batch(const int32_t left[3], const double slower[3], int thief, double ahead,
                           double batch, int *victim) {
  static instance in;
  static const double equal[] = {1, 1, 1};
  make(&in, TSL_PLAN_STRIPS, 300, 3, equal, 1, NULL);
  for (int r = 0; r < 3; r++) in.parts.left[r] = (tsl_range){100 - left[r], 100};
  memcpy(in.parts.slower, slower, 3 * sizeof *slower);
  const int64_t n = tsl_parts_steal(&in.parts, thief, ahead, batch, victim);
  clear(&in);
  return n;
}

static int64_t steal(const int32_t left[3], const double slower[3], int thief, double ahead,
                     int *victim) {
  return steal_batch(left, slower, thief, ahead, INFINITY, victim);
}

static void takes_from_the_longest(void **state) {
  static const double even[] = {1, 1, 1}, slow2[] = {1, 1, 5};
  int victim = -1;
  (void)state;
  assert_int_equal(steal((const int32_t[]){0, 40, 20}, even, 0, 0, &victim), 10);
  assert_int_equal(victim, 1); /* 20 each would end together: half of that */
  assert_int_equal(steal((const int32_t[]){0, 40, 20}, slow2, 0, 0, &victim), 8);
  assert_int_equal(victim, 2); /* 100 s of work there; 100 / 6 units end together */
  assert_int_equal(steal((const int32_t[]){0, 40, 20}, even, 0, 20, &victim), 5);
}

/* The others may be idle soon: with units of 1 s, no more than a batch each, and one at least. */
static void takes_a_batch_at_most(void **state) {
  static const double even[] = {1, 1, 1}, fast0[] = {0.5, 1, 1};
  int victim = -1;
  (void)state;
  assert_int_equal(steal_batch((const int32_t[]){0, 40, 20}, even, 0, 0, 4, &victim), 4);
  assert_int_equal(victim, 1);
  assert_int_equal(steal_batch((const int32_t[]){0, 40, 20}, fast0, 0, 0, 4, &victim), 8);
  assert_int_equal(steal_batch((const int32_t[]){0, 40, 20}, even, 0, 0, 0.03, &victim), 1);
  assert_int_equal(steal_batch((const int32_t[]){0, 4, 0}, even, 0, 0, 10, &victim), 1);
}

static void leaves_what_is_as_soon_done_there(void **state) {
  static const double even[] = {1, 1, 1}, slow0[] = {30, 1, 1}, slow2[] = {1, 1, 2};
  int victim = -1;
  (void)state;
  assert_int_equal(steal((const int32_t[]){0, 0, 0}, even, 0, 0, &victim), 0);
  assert_int_equal(victim, -1);
  assert_int_equal(steal((const int32_t[]){50, 0, 0}, even, 0, 0, &victim), 0); /* only its own */
  assert_int_equal(steal((const int32_t[]){0, 1, 0}, slow2, 2, 0, &victim), 0);
  assert_int_equal(steal((const int32_t[]){0, 1, 0}, even, 0, 0, &victim),
                   1); /* busy with others */
  assert_int_equal(steal((const int32_t[]){0, 2, 0}, even, 0, 0, &victim), 1);
  assert_int_equal(steal((const int32_t[]){0, 29, 3}, slow0, 0, 0, &victim), 0);
  assert_int_equal(steal((const int32_t[]){0, 31, 3}, slow0, 0, 0, &victim), 1);
  assert_int_equal(steal((const int32_t[]){0, 31, 3}, slow0, 0, 5, &victim), 0);
}

/* A quarter of its own; a batch at most. */
static void takes_of_its_own(void **state) {
  static const double equal[] = {1e-4, 1e-4};
  static instance in;
  (void)state;
  make(&in, TSL_PLAN_STRIPS, 200, 2, equal, 1, NULL);
  in.parts.left[0].front = 20;
  assert_int_equal(tsl_parts_take(&in.parts, 0, 1, (int64_t[]){1}), 20);
  assert_int_equal(tsl_parts_take(&in.parts, 0, 1e-3, (int64_t[]){1}), 10);
  assert_int_equal(tsl_parts_take(&in.parts, 0, 0, (int64_t[]){1}),
                   2); /* rank 0 is asked by both */
  assert_int_equal(tsl_parts_take(&in.parts, 0, 0, (int64_t[]){32}),
                   32); /* the threads of a device */
  assert_int_equal(tsl_parts_take(&in.parts, 0, 0, (int64_t[]){100}), 80);
  clear(&in);
}

/* ------------------------------------------------------- ranks at work, a game */

enum { AHEAD = 2 };                              /* batches a device may have, as in bag_engine.c */
static const double LAUNCH = 2e-5, PAUSE = 5e-4; /* s */
static const double SHORT = 0.003, ENOUGH = 0.002; /* as in work_source.c */

/* A rank and its device. */
typedef struct player {
  double truth; /* measured over predicted seconds */
  int posted;
  double end[AHEAD], planned[AHEAD], seconds[AHEAD];
  double since, ask_at, launch;    /* launch: s that a batch takes besides its units */
  double sum_planned, sum_seconds; /* lately */
  double busy, finish;
  bool over;
} player;

typedef struct game {
  const instance *in;
  player players[MAX_RANKS];
  int taken[MAX_UNITS];
  double batch;  /* s */
  double enough; /* s ahead at which a device gets no more */
} game;

static void begin(game *g, const instance *in, const double *truth) {
  memset(g, 0, sizeof *g);
  g->in = in;
  g->batch = fmax(SHORT, in->parts.ideal / 64);
  g->enough = ENOUGH;
  for (int r = 0; r < in->cost.n_ranks; r++) {
    g->in->parts.slower[r] = 1;
    g->in->parts.left[r] = (tsl_range){0, (int32_t)(in->parts.start[r + 1] - in->parts.start[r])};
    g->players[r].truth = truth != NULL ? truth[r] : 1;
    g->players[r].launch = LAUNCH;
  }
}

static void land(game *g, int rank) {
  player *p = &g->players[rank];
  const double now = p->end[0];
  p->busy += p->seconds[0];
  p->sum_planned = 0.8 * p->sum_planned + p->planned[0];
  p->sum_seconds = 0.8 * p->sum_seconds + p->seconds[0];
  g->in->parts.slower[rank] = p->sum_seconds / p->sum_planned;
  p->finish = p->since = p->ask_at = now;
  p->end[0] = p->end[1], p->planned[0] = p->planned[1], p->seconds[0] = p->seconds[1];
  p->posted--;
}

static void post(game *g, int rank, int64_t lo, int64_t hi, double now) {
  player *p = &g->players[rank];
  const double start = p->posted > 0 && p->end[p->posted - 1] > now ? p->end[p->posted - 1] : now;
  double planned = 0;
  for (int64_t k = lo; k < hi; k++) {
    const int64_t u = g->in->parts.order[k];
    g->taken[u]++;
    planned += tsl_cost_seconds(&g->in->cost, rank, &g->in->units[u]);
  }
  if (p->posted == 0) p->since = now;
  p->planned[p->posted] = planned;
  p->seconds[p->posted] = planned * p->truth;
  p->end[p->posted++] = start + p->launch + planned * p->truth;
}

/* Units for the rank, as work_source.c finds them: [*lo, *hi) of the order. */
static void find(game *g, int rank, double ahead, int64_t *lo, int64_t *hi) {
  const tsl_parts *p = &g->in->parts;
  tsl_range *mine = &g->in->parts.left[rank];
  int victim = -1;
  *lo = *hi = 0;
  if (mine->front < mine->back) {
    *lo = p->start[rank] + mine->front;
    mine->front += tsl_parts_take(p, rank, g->batch, (int64_t[]){1});
    assert_true(mine->front <= mine->back);
    *hi = p->start[rank] + mine->front;
    return;
  }
  const int64_t n = tsl_parts_steal(p, rank, ahead, g->batch, &victim);
  if (n == 0) return;
  *hi = p->start[victim] + g->in->parts.left[victim].back;
  g->in->parts.left[victim].back -= (int32_t)n;
  assert_true(g->in->parts.left[victim].front <= g->in->parts.left[victim].back);
  *lo = *hi - n;
}

static void ask(game *g, int rank, double now) {
  player *p = &g->players[rank];
  double ahead = 0;
  int64_t lo, hi;
  for (int k = 0; k < p->posted; k++) ahead += p->planned[k];
  ahead = ahead * g->in->parts.slower[rank] - (now - p->since);
  if (p->posted == 0) ahead = 0;
  const double enough = tsl_parts_enough(&g->in->parts, rank, g->enough);
  if (ahead > enough) {
    p->ask_at = now + fmax(ahead - enough, 1e-6);
    return;
  }
  find(g, rank, fmax(ahead, 0), &lo, &hi);
  if (lo < hi) return post(g, rank, lo, hi, now);
  p->ask_at = now + PAUSE;
  p->over = true;
  for (int r = 0; r < g->in->cost.n_ranks; r++)
    p->over = p->over && g->in->parts.left[r].front >= g->in->parts.left[r].back;
}

/* The rank whose next event is the earliest; *landing tells which event. -1: all is done. */
static int next_event(const game *g, bool *landing) {
  int best = -1;
  double earliest = INFINITY;
  for (int r = 0; r < g->in->cost.n_ranks; r++) {
    const player *p = &g->players[r];
    if (p->posted > 0 && p->end[0] < earliest) best = r, earliest = p->end[0], *landing = true;
    if (!p->over && p->posted < AHEAD && p->ask_at < earliest)
      best = r, earliest = p->ask_at, *landing = false;
  }
  return best;
}

static void play(game *g) {
  bool landing = false;
  int64_t events = 0;
  for (int r; (r = next_event(g, &landing)) >= 0;) {
    assert_true(events++ < 10000000);
    if (landing)
      land(g, r);
    else
      ask(g, r, g->players[r].ask_at);
  }
  for (int64_t u = 0; u < MAX_UNITS; u++) assert_int_equal(g->taken[u], u < g->in->plan.n_units);
}

static double wall(const game *g) {
  double last = 0;
  for (int r = 0; r < g->in->cost.n_ranks; r++) last = fmax(last, g->players[r].finish);
  return last;
}

static double ideal(const game *g, const double *slowness) {
  double rate = 0;
  for (int r = 0; r < g->in->cost.n_ranks; r++) rate += 1 / (slowness[r] * g->players[r].truth);
  return items_of(g->in) / rate;
}

/* Mean share of the ranks' time without device work. */
static double idle(const game *g) {
  double busy = 0;
  for (int r = 0; r < g->in->cost.n_ranks; r++) busy += g->players[r].busy;
  return 1 - busy / (wall(g) * g->in->cost.n_ranks);
}

/* ---- what the ranks achieve */

static void all_units_once(void **state) {
  static instance in;
  static game g;
  uint64_t seed = 1;
  (void)state;
  for (int trial = 0; trial < 200; trial++) {
    const int ranks = 1 + random_below(&seed, MAX_RANKS);
    const int64_t n = random_below(&seed, 500);
    double slowness[MAX_RANKS], truth[MAX_RANKS];
    for (int r = 0; r < ranks; r++) slowness[r] = pow(10, 3 * random_unit(&seed) - 6);
    for (int r = 0; r < ranks; r++) truth[r] = pow(10, 2 * random_unit(&seed) - 1);
    make(&in, (tsl_plan_kind)(trial % TSL_PLAN_SHARE), n, ranks, slowness, 1, &seed);
    begin(&g, &in, truth);
    play(&g);
    clear(&in);
  }
}

/* Idle at most 5 %, whatever the speeds, when units are small enough for the slowest rank; after a
 * plan that goes by no speeds two batches of a slow rank more. */
static void little_idle(void **state) {
  static const struct {
    int ranks;
    int64_t n;
    double slowness[MAX_RANKS];
  } cases[] = {
      {2, 512, {1e-4, 3e-4}},
      {2, 512, {3e-4, 1e-4}},
      {2, 4096, {5e-6, 5e-4}},
      {2, 4096, {1e-4, 1e-2}},
      {2, 4096, {2e-6, 2e-4}},
      {2, 4096, {3e-5, 3e-3}},
      {3, 4096, {2e-5, 2e-5, 2e-3}},
      {4, 2048, {1e-4, 1e-4, 1e-4, 1e-4}},
      {5, 4096, {1e-5, 1e-5, 3e-5, 2e-4, 2e-4}},
  };
  static instance in;
  static game g;
  uint64_t seed = 3;
  (void)state;
  for (size_t k = 0; k < 2 * sizeof cases / sizeof *cases; k++) {
    const size_t c = k / 2;
    for (int kind = 0; kind < TSL_PLAN_SHARE; kind++) {
      make(&in, (tsl_plan_kind)kind, cases[c].n, cases[c].ranks, cases[c].slowness, 1, &seed);
      begin(&g, &in, NULL);
      if (k % 2 == 1) g.enough = g.batch; /* batches overlap */
      play(&g);
      const double best = ideal(&g, cases[c].slowness);
      const bool blind = kind == TSL_PLAN_ROUNDROBIN; /* slow ranks begin too much */
      if (!(wall(&g) <= 1.05 * best + (blind ? 2 * g.batch : 0)) || (!blind && !(idle(&g) <= 0.05)))
        fail_msg("case %zu, plan %d: idle %.4f, wall %.6f, ideal %.6f", k, kind, idle(&g), wall(&g),
                 best);
      clear(&in);
    }
  }
}

/* A rank that is slower or faster than predicted is found out on the way. */
static void learns(void **state) {
  static const double slowness[] = {1e-4, 1e-4, 1e-4}, truths[] = {3, 10, 0.2};
  static instance in;
  static game g;
  uint64_t seed = 4;
  (void)state;
  for (int k = 0; k < 6; k++) {
    const int c = k / 2;
    const double truth[] = {1, truths[c], 1};
    make(&in, TSL_PLAN_STRIPS, MAX_UNITS, 3, slowness, 1, &seed);
    begin(&g, &in, truth);
    if (k % 2 == 1) g.enough = g.batch;
    play(&g);
    if (!(wall(&g) <= 1.05 * ideal(&g, slowness)))
      fail_msg("truth %g: wall %.6f, ideal %.6f", truths[c], wall(&g), ideal(&g, slowness));
    clear(&in);
  }
}

/* A card beside a hundred times slower socket, from tiny units on: never later than the card alone
 * by more than two starts of a batch; and where starts are long, batches stay long. */
static void card_is_not_slowed_down(void **state) {
  static const struct {
    double slowness[2], launch;
  } cases[] = {{{1e-6, 1e-4}, 2e-5},   {{1e-5, 1e-3}, 2e-5},   {{1e-4, 1e-2}, 2e-5},
               {{1e-4, 2.5e-3}, 1e-5}, {{1e-4, 2.5e-3}, 1e-4}, {{1e-4, 2.5e-3}, 1e-3}};
  static instance one, both;
  static game g, alone;
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    make(&one, TSL_PLAN_STRIPS, 4096, 1, cases[c].slowness, 1, NULL);
    begin(&alone, &one, NULL);
    alone.players[0].launch = cases[c].launch;
    play(&alone);
    make(&both, TSL_PLAN_STRIPS, 4096, 2, cases[c].slowness, 1, NULL);
    begin(&g, &both, NULL);
    g.players[0].launch = cases[c].launch;
    play(&g);
    if (!(wall(&g) <= wall(&alone) + 2 * cases[c].launch))
      fail_msg("case %zu: wall %.7f, the card alone %.7f", c, wall(&g), wall(&alone));
    clear(&one);
    clear(&both);
  }
}

/* Of the last units each rank that is about as fast as the others takes one when it is idle. */
static void last_units_are_shared(void **state) {
  static instance in;
  static game g;
  double slowness[MAX_RANKS];
  uint64_t seed = 7;
  (void)state;
  for (int trial = 0; trial < 100; trial++) {
    for (int r = 0; r < MAX_RANKS; r++) slowness[r] = 0.03 * (1 + 0.2 * random_unit(&seed));
    make(&in, TSL_PLAN_STRIPS, 2 * MAX_RANKS, MAX_RANKS, slowness, 1, NULL);
    for (int u = 0; u < 2 * MAX_RANKS; u++) in.plan.owner[u] = 0; /* all with the first */
    tsl_parts_clear(&in.parts);
    assert_int_equal(tsl_parts_make(&in.plan, in.units, &in.cost, &in.parts), TSL_OK);
    begin(&g, &in, NULL);
    play(&g);
    assert_true(wall(&g) < 3.2 * 0.03 * 1.2);
    clear(&in);
  }
}

/* Rows of a triangle: units become small, the last has no items. On a card each costs a launch
 * besides, so that by its last units neither a rank's speed nor what it has left can be judged. */
static void make_triangle(instance *in, int64_t n, double launch, const double slowness[2]) {
  const tsl_plan_rule rule = {.kind = TSL_PLAN_STRIPS, .dynamic = 1};
  const tsl_workload work = {in->units, n, 2, tsl_cost_seconds, &in->cost};
  make(in, TSL_PLAN_STRIPS, n, 2, slowness, 1, NULL);
  clear(in);
  for (int64_t u = 0; u < n; u++) in->units[u].count = (double)(n - 1 - u);
  in->speeds[0].c[0][0] = launch;
  if (tsl_plan_make(&rule, &one_set, &work, &in->plan) != TSL_OK ||
      tsl_parts_make(&in->plan, in->units, &in->cost, &in->parts) != TSL_OK)
    fail_msg("%s", tsl_err_message());
}

static void triangles(void **state) {
  static const double slowness[][2] = {{1e-6, 1e-6}, {1e-6, 1.5e-5}, {1e-6, 3e-6}, {3e-6, 1e-6}};
  static const double truths[][2] = {{1, 1}, {1, 3}, {1, 0.3}, {2, 0.7}};
  static instance in;
  static game g;
  (void)state;
  for (int k = 0; k < 32; k++) {
    const double *slow = slowness[k % 4], *truth = truths[k / 4 % 4];
    double rate = 0;
    make_triangle(&in, 1000, k < 16 ? 0 : 3e-5, slow);
    for (int r = 0; r < 2; r++) {
      double alone = 0;
      for (int u = 0; u < 1000; u++) alone += tsl_cost_seconds(&in.cost, r, &in.units[u]);
      rate += 1 / (alone * truth[r]);
    }
    begin(&g, &in, truth);
    play(&g);
    if (!(wall(&g) <= 1.05 / rate))
      fail_msg("case %d: wall %.6f, ideal %.6f, idle %.4f", k, wall(&g), 1 / rate, idle(&g));
    clear(&in);
  }
}

/* A rank that is left out takes nothing. */
static void left_out(void **state) {
  static const double slowness[] = {1e-4, 1e-4};
  bool out[] = {false, true};
  static instance in;
  int victim;
  (void)state;
  make(&in, TSL_PLAN_STRIPS, 200, 2, slowness, 1, NULL);
  in.parts.left[1].front = 100;
  assert_true(tsl_parts_steal(&in.parts, 1, 0, 1, &victim) > 0);
  in.cost.left_out = out;
  assert_int_equal(tsl_parts_steal(&in.parts, 1, 0, 1, &victim), 0);
  clear(&in);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(list_owners),
      cmocka_unit_test(lists_leave_out_finished),
      cmocka_unit_test(front_is_kept),
      cmocka_unit_test(what_keeps_something_stays),
      cmocka_unit_test(takes_from_the_longest),
      cmocka_unit_test(takes_a_batch_at_most),
      cmocka_unit_test(leaves_what_is_as_soon_done_there),
      cmocka_unit_test(takes_of_its_own),
      cmocka_unit_test(all_units_once),
      cmocka_unit_test(little_idle),
      cmocka_unit_test(learns),
      cmocka_unit_test(card_is_not_slowed_down),
      cmocka_unit_test(last_units_are_shared),
      cmocka_unit_test(left_out),
      cmocka_unit_test(triangles),
  };
  return cmocka_run_group_tests_name("unit.plan.parts", tests, NULL, NULL);
}
