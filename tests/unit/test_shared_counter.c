/* mpi.shared_counter: the rule alone and in a game of ranks that share a tail; the window on any
 * number of ranks (start it alone or with mpirun). */
#include "random.h"
#include "shared_counter.h"

#include "clock.h"
#include "collective_error.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

enum { MAX_RANKS = 7, MAX_UNITS = 5000 };

typedef struct tail {
  tsl_unit units[MAX_UNITS];
  double before[MAX_UNITS + 1];
  tsl_speed speeds[MAX_RANKS];
  tsl_cost cost;
  tsl_dynamic_pool view;
} tail;

/* Units [0, n) of the given items each, or of 0.5 to 1.5 times that; rank r is predicted to need
 * slowness[r] seconds an item. */
static void make_tail(tail *t, int64_t n, int ranks, const double *slowness, uint64_t *random) {
  memset(t, 0, sizeof *t);
  t->cost = (tsl_cost){.n_ranks = ranks, .speeds = t->speeds};
  for (int r = 0; r < ranks; r++) t->speeds[r].c[0][3] = slowness[r];
  for (int64_t u = 0; u < n; u++) {
    t->units[u] = (tsl_unit){.id = u, .count = random != NULL ? 0.5 + random_unit(random) : 1};
    t->before[u + 1] = t->before[u] + tsl_cost_seconds(&t->cost, 0, &t->units[u]);
  }
  t->view = (tsl_dynamic_pool){.units = t->units,
                               .before = t->before,
                               .cost = &t->cost,
                               .last = n,
                               .longest = 0.005,
                               .enough = TSL_POOL_AHEAD};
}

/* As where batches overlap: devices have up to a batch ahead (work_source.c). */
static void let_overlap(tail *t) {
  t->view.enough = 2 * t->view.longest;
}

static int64_t chunk_of(const tail *t, int64_t next, int64_t last, int rank) {
  tsl_dynamic_pool view = t->view;
  view.next = next, view.last = last;
  return tsl_dynamic_pool_chunk(&view, rank, 0);
}

/* ------------------------------------------- ranks that work through a tail */

enum { AHEAD = 2 };                              /* batches a device may have, as in bag_engine.c */
static const double LAUNCH = 2e-5, PAUSE = 5e-4; /* s */

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
  tail *t;
  player players[MAX_RANKS];
  double slower[MAX_RANKS];
  int taken[MAX_UNITS];
  int64_t next;
} game;

static void begin(game *g, tail *t, int64_t first, const double *truth, const double *start) {
  memset(g, 0, sizeof *g);
  g->t = t;
  g->next = first;
  for (int r = 0; r < t->cost.n_ranks; r++) {
    g->slower[r] = 1;
    g->players[r].truth = truth != NULL ? truth[r] : 1;
    g->players[r].launch = LAUNCH;
    g->players[r].ask_at = g->players[r].finish = g->players[r].busy = start != NULL ? start[r] : 0;
  }
}

static void land(game *g, int rank) {
  player *p = &g->players[rank];
  const double now = p->end[0];
  p->busy += p->seconds[0];
  p->sum_planned = 0.8 * p->sum_planned + p->planned[0];
  p->sum_seconds = 0.8 * p->sum_seconds + p->seconds[0];
  g->slower[rank] = p->sum_seconds / p->sum_planned;
  p->finish = p->since = p->ask_at = now;
  p->end[0] = p->end[1], p->planned[0] = p->planned[1], p->seconds[0] = p->seconds[1];
  p->posted--;
}

static void post(game *g, int rank, int64_t chunk, double now) {
  player *p = &g->players[rank];
  const double start = p->posted > 0 && p->end[p->posted - 1] > now ? p->end[p->posted - 1] : now;
  double planned = 0;
  for (int64_t u = g->next; u < g->next + chunk; u++) {
    g->taken[u]++;
    planned += tsl_cost_seconds(&g->t->cost, rank, &g->t->units[u]);
  }
  g->next += chunk;
  if (p->posted == 0) p->since = now;
  p->planned[p->posted] = planned;
  p->seconds[p->posted] = planned * p->truth;
  p->end[p->posted++] = start + p->launch + planned * p->truth;
}

static void ask(game *g, int rank, double now) {
  player *p = &g->players[rank];
  tsl_dynamic_pool view = g->t->view;
  double ahead = 0;
  view.next = g->next;
  view.slower = g->slower;
  for (int k = 0; k < p->posted; k++) ahead += p->planned[k];
  ahead = ahead * g->slower[rank] - (now - p->since);
  if (p->posted == 0) ahead = 0;
  if (p->posted > 0 && ahead <= 0) ahead = 1e-9;
  const int64_t chunk = tsl_dynamic_pool_chunk(&view, rank, ahead);
  assert_in_range(chunk, 0, view.next < view.last ? view.last - view.next : 0);
  p->over = view.next >= view.last;
  if (chunk > 0)
    post(g, rank, chunk, now);
  else
    p->ask_at = now + PAUSE;
}

/* The rank whose next event is the earliest; *landing tells which event. -1: all is done. */
static int next_event(const game *g, bool *landing) {
  int best = -1;
  double earliest = INFINITY;
  for (int r = 0; r < g->t->cost.n_ranks; r++) {
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
}

static double wall(const game *g) {
  double last = 0;
  for (int r = 0; r < g->t->cost.n_ranks; r++) last = fmax(last, g->players[r].finish);
  return last;
}

static double ideal(const game *g, const double *slowness, int64_t first) {
  double rate = 0;
  for (int r = 0; r < g->t->cost.n_ranks; r++) rate += 1 / (slowness[r] * g->players[r].truth);
  return (g->t->before[g->t->view.last] - g->t->before[first]) / slowness[0] / rate;
}

/* Mean share of the ranks' time without device work. */
static double idle(const game *g) {
  double busy = 0;
  for (int r = 0; r < g->t->cost.n_ranks; r++) busy += g->players[r].busy;
  return 1 - busy / (wall(g) * g->t->cost.n_ranks);
}

/* ---- what the ranks achieve */

static void covers(void **state) {
  static tail t;
  static game g;
  uint64_t seed = 1;
  (void)state;
  for (int trial = 0; trial < 100; trial++) {
    const int ranks = 1 + random_below(&seed, MAX_RANKS);
    const int64_t last = 100 + random_below(&seed, 400), first = random_below(&seed, 100);
    double slowness[MAX_RANKS], truth[MAX_RANKS];
    for (int r = 0; r < ranks; r++) slowness[r] = pow(10, 3 * random_unit(&seed) - 6);
    for (int r = 0; r < ranks; r++) truth[r] = pow(10, 2 * random_unit(&seed) - 1);
    make_tail(&t, last, ranks, slowness, &seed);
    begin(&g, &t, first, truth, NULL);
    play(&g);
    for (int64_t u = 0; u < MAX_UNITS; u++)
      assert_int_equal(g.taken[u], u >= first && u < last ? 1 : 0);
  }
}

/* Idle at most 5 %, whatever the speeds, when units are small enough for the slowest rank. */
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
  static tail t;
  static game g;
  uint64_t seed = 3;
  (void)state;
  for (size_t k = 0; k < 2 * sizeof cases / sizeof *cases; k++) {
    const size_t c = k / 2;
    make_tail(&t, cases[c].n, cases[c].ranks, cases[c].slowness, &seed);
    if (k % 2 == 1) let_overlap(&t);
    begin(&g, &t, 0, NULL, NULL);
    play(&g);
    if (!(idle(&g) <= 0.05) || !(wall(&g) <= 1.05 * ideal(&g, cases[c].slowness, 0)))
      fail_msg("case %zu: idle %.4f, wall %.6f, ideal %.6f", c, idle(&g), wall(&g),
               ideal(&g, cases[c].slowness, 0));
  }
}

/* A rank that is slower or faster than predicted is found out on the way. */
static void learns(void **state) {
  static const double slowness[] = {1e-4, 1e-4, 1e-4}, truths[] = {3, 10, 0.2};
  static tail t;
  static game g;
  uint64_t seed = 4;
  (void)state;
  for (int k = 0; k < 6; k++) {
    const int c = k / 2;
    const double truth[] = {1, truths[c], 1};
    make_tail(&t, MAX_UNITS, 3, slowness, &seed);
    if (k % 2 == 1) let_overlap(&t);
    begin(&g, &t, 0, truth, NULL);
    play(&g);
    if (!(wall(&g) <= 1.05 * ideal(&g, slowness, 0)))
      fail_msg("truth %g: wall %.6f, ideal %.6f", truths[c], wall(&g), ideal(&g, slowness, 0));
  }
}

/* A hundred times faster card beside a socket: later than the card alone, which takes all at once,
 * by two starts of a batch at most, and the last of its tiny units do not go out one by one. */
static void card_is_not_starved(void **state) {
  static const double slowness[] = {1e-6, 1e-4};
  static tail t;
  static game g, alone;
  (void)state;
  make_tail(&t, 4096, 1, slowness, NULL);
  begin(&alone, &t, 0, NULL, NULL);
  play(&alone);
  make_tail(&t, 4096, 2, slowness, NULL);
  begin(&g, &t, 0, NULL, NULL);
  play(&g);
  if (!(wall(&g) <= wall(&alone) + 2 * LAUNCH))
    fail_msg("wall %.7f, the card alone %.7f", wall(&g), wall(&alone));
  assert_true(chunk_of(&t, 4000, 4096, 0) >= 90);
}

/* A card whose batches each take some time to drain is not made slower by a socket that would break
 * them up: the wall stays below the card's own. */
static void batches_stay_long(void **state) {
  static const double slowness[] = {1e-4, 2.5e-3};
  static tail t;
  static game g, alone;
  (void)state;
  for (double launch = 1e-5; launch < 2e-3; launch *= 10) {
    make_tail(&t, 4096, 1, slowness, NULL);
    t.view.longest = 0.01;
    begin(&alone, &t, 0, NULL, NULL);
    alone.players[0].launch = launch;
    play(&alone);
    make_tail(&t, 4096, 2, slowness, NULL);
    t.view.longest = 0.01;
    begin(&g, &t, 0, NULL, NULL);
    g.players[0].launch = launch;
    play(&g);
    if (!(wall(&g) <= wall(&alone)))
      fail_msg("launch %g: wall %.6f, the fast rank alone %.6f", launch, wall(&g), wall(&alone));
  }
}

/* A rank that is left out takes nothing, and the others do not wait for it. */
static void left_out(void **state) {
  static const double slowness[] = {1e-4, 1e-4};
  bool out[] = {false, true};
  static tail t;
  (void)state;
  make_tail(&t, 300, 2, slowness, NULL);
  assert_int_equal(chunk_of(&t, 0, 300, 1), 50); /* of 5 ms */
  t.cost.left_out = out;
  assert_int_equal(chunk_of(&t, 0, 300, 1), 0);
  assert_int_equal(chunk_of(&t, 0, 90, 0), 90);
}

/* Ranks that come late from their static part still end with the others. */
static void late_comers(void **state) {
  static const double slowness[] = {1e-4, 3e-4, 1e-4}, start[] = {0.02, 0.06, 0.05};
  static tail t;
  static game g;
  uint64_t seed = 5;
  double rate = 0, filled = 0;
  (void)state;
  make_tail(&t, 1500, 3, slowness, &seed);
  begin(&g, &t, 0, NULL, start);
  play(&g);
  for (int r = 0; r < 3; r++) rate += 1 / slowness[r], filled += start[r] / slowness[r];
  assert_true(wall(&g) <= 1.05 * (t.before[1500] / slowness[0] + filled) / rate);
}

/* ---- the rule */

static void half_of_the_share(void **state) {
  static tail t;
  static const double equal[] = {5e-5, 5e-5, 5e-5};
  (void)state;
  make_tail(&t, 300, 3, equal, NULL);
  assert_int_equal(chunk_of(&t, 0, 300, 0), 50); /* half of a third */
  assert_int_equal(chunk_of(&t, 297, 300, 1), 1);
  assert_int_equal(chunk_of(&t, 299, 300, 2), 1);
}

/* No batch is longer than it needs to be to hide its start. */
static void chunks_are_short(void **state) {
  static tail t;
  static const double equal[] = {1e-4, 1e-4};
  (void)state;
  make_tail(&t, MAX_UNITS, 2, equal, NULL);
  assert_int_equal(chunk_of(&t, 0, MAX_UNITS, 0), 50); /* 5 ms */
}

static void slow_declines(void **state) {
  static tail t;
  static const double slowness[] = {1, 100};
  (void)state;
  make_tail(&t, 200, 2, slowness, NULL);
  for (int64_t rest = 1; rest < 100; rest++) assert_int_equal(chunk_of(&t, 0, rest, 1), 0);
  assert_int_equal(chunk_of(&t, 0, 101, 1), 1);
}

/* Of the last units each rank that is about as fast as the others takes one when it is idle: they
 * are not left to the fastest alone, one after the other. */
static void last_units_are_shared(void **state) {
  static tail t;
  static game g;
  double slowness[MAX_RANKS], late[MAX_RANKS];
  uint64_t seed = 7;
  (void)state;
  for (int trial = 0; trial < 100; trial++) {
    for (int r = 0; r < MAX_RANKS; r++) slowness[r] = 0.03 * (1 + 0.2 * random_unit(&seed));
    for (int r = 0; r < MAX_RANKS; r++) late[r] = 0.03 * random_unit(&seed);
    late[0] = 1; /* with units of its own until long after */
    make_tail(&t, MAX_RANKS - 1, MAX_RANKS, slowness, NULL);
    begin(&g, &t, 0, NULL, late);
    play(&g);
    double last = 0;
    for (int r = 1; r < MAX_RANKS; r++) last = fmax(last, g.players[r].finish);
    assert_true(last < 0.03 + 1.5 * 0.03 * 1.2);
  }
}

/* A busy rank takes ahead only what it can begin before the others are done. */
static void busy_waits(void **state) {
  static tail t;
  static const double equal[] = {1e-3, 1e-3};
  (void)state;
  make_tail(&t, 100, 2, equal, NULL);
  tsl_dynamic_pool view = t.view;
  view.next = 90;
  assert_true(tsl_dynamic_pool_chunk(&view, 0, 1e-3) >= 1);
  assert_int_equal(tsl_dynamic_pool_chunk(&view, 0, 3e-3), 0);
  view.next = 0;
  assert_int_equal(tsl_dynamic_pool_chunk(&view, 0, 3e-3), 0);
  let_overlap(&t);
  view.enough = t.view.enough;
  assert_true(tsl_dynamic_pool_chunk(&view, 0, 3e-3) >= 1);
  assert_int_equal(tsl_dynamic_pool_chunk(&view, 0, 11e-3), 0);
  view.next = 90; /* near the end less */
  assert_int_equal(tsl_dynamic_pool_chunk(&view, 0, 3e-3), 0);
  view.next = 99;
  assert_int_equal(tsl_dynamic_pool_chunk(&view, 0, 1e-9), 0);
  assert_int_equal(tsl_dynamic_pool_chunk(&view, 0, 0), 1);
}

static void measured_speed_counts(void **state) {
  static tail t;
  static const double equal[] = {1e-4, 1e-4}, slower[] = {1, 4};
  (void)state;
  make_tail(&t, 100, 2, equal, NULL);
  tsl_dynamic_pool view = t.view;
  assert_int_equal(tsl_dynamic_pool_chunk(&view, 1, 0), 25);
  view.slower = slower;
  assert_int_equal(tsl_dynamic_pool_chunk(&view, 1, 0), 10);
  assert_int_equal(tsl_dynamic_pool_chunk(&view, 0, 0),
                   60); /* more than half of its share: nearly alone */
}

static void fastest_never_declines(void **state) {
  static tail t;
  uint64_t seed = 2;
  (void)state;
  for (int trial = 0; trial < 200; trial++) {
    double slowness[MAX_RANKS];
    int fastest = 0;
    for (int r = 0; r < MAX_RANKS; r++) {
      slowness[r] = 0.01 + random_unit(&seed);
      if (slowness[r] < slowness[fastest]) fastest = r;
    }
    make_tail(&t, 40, MAX_RANKS, slowness, &seed);
    for (int64_t rest = 1; rest < 40; rest++)
      assert_in_range(chunk_of(&t, 0, rest, fastest), 1, rest);
  }
}

static void faster_takes_more(void **state) {
  static tail t;
  static const double slowness[] = {1e-5, 2e-5, 4e-5};
  (void)state;
  make_tail(&t, 400, 3, slowness, NULL);
  const int64_t a = chunk_of(&t, 0, 400, 0), b = chunk_of(&t, 0, 400, 1);
  const int64_t c = chunk_of(&t, 0, 400, 2);
  assert_true(a > b && b > c && c >= 1);
}

static void unknown_speed(void **state) {
  static tail t;
  static const double slowness[] = {0, 0};
  (void)state;
  make_tail(&t, 400, 2, slowness, NULL);
  assert_int_equal(chunk_of(&t, 0, 400, 0), 1);
  assert_int_equal(chunk_of(&t, 399, 400, 1), 1);
}

static void empty(void **state) {
  static tail t;
  static const double slowness[] = {1};
  (void)state;
  make_tail(&t, 10, 1, slowness, NULL);
  assert_int_equal(chunk_of(&t, 5, 5, 0), 0);
  assert_int_equal(chunk_of(&t, 9, 5, 0), 0); /* counter past the end */
}

/* -------------------------------------------------------------- the window */

static tsl_shared_counter *open_queue(int64_t first, int64_t last) {
  tsl_shared_counter *queue = NULL;
  if (tsl_counter_open(MPI_COMM_WORLD, first, last, &queue) != TSL_OK)
    fail_msg("%s", tsl_err_message());
  return queue;
}

/* Slowness falls with the rank, so that the ranks take different chunks. */
static void window_covers(void **state) {
  static tail t;
  static int taken[MAX_UNITS], sum[MAX_UNITS];
  const int64_t first = 17, last = 417;
  double slowness[MAX_RANKS];
  int size = 1;
  int64_t lo = 0, hi = 0;
  bool over = false;
  (void)state;
  (void)MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > MAX_RANKS) skip();
  for (int r = 0; r < size; r++) slowness[r] = 1e-4 / (1 + r);
  make_tail(&t, last, size, slowness, NULL);
  tsl_shared_counter *queue = open_queue(first, last);
  while (!over) {
    assert_int_equal(tsl_counter_take(queue, &t.view, 0, &lo, &hi, &over), TSL_OK);
    assert_true(lo == hi || (!over && lo >= first && lo < hi && hi <= last));
    for (int64_t u = lo; u < hi; u++) taken[u]++;
  }
  (void)MPI_Allreduce(taken, sum, MAX_UNITS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int64_t u = 0; u < MAX_UNITS; u++) assert_int_equal(sum[u], u >= first && u < last);
  tsl_counter_close(&queue);
  assert_null(queue);
  tsl_counter_close(&queue);
}

/* Is it so on rank 0? All ranks ask together: rank 0 answers the others while it waits for them. */
static bool on_first(bool holds) {
  int rank = 0, there = 0;
  (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int mine = rank == 0 && holds;
  (void)MPI_Allreduce(&mine, &there, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return there != 0;
}

/* What a rank tells of its speed is what the others reckon with. */
static void window_slower(void **state) {
  static tail t;
  double slowness[MAX_RANKS], told[MAX_RANKS] = {0};
  tsl_range claims[MAX_RANKS];
  int rank = 0, size = 1;
  int64_t lo = 0, hi = 0;
  bool over = false;
  (void)state;
  (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  (void)MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > MAX_RANKS) skip();
  for (int r = 0; r < size; r++) slowness[r] = 1e-4;
  make_tail(&t, 90 * size, size, slowness, NULL);
  tsl_shared_counter *queue = open_queue(0, 90 * size);
  if (rank == size - 1) assert_int_equal(tsl_counter_slower(queue, 8), TSL_OK);
  while (!on_first(told[size - 1] == 8))
    assert_int_equal(tsl_counter_read(queue, told, claims), TSL_OK);
  if (rank == 0) assert_int_equal(tsl_counter_take(queue, &t.view, 0, &lo, &hi, &over), TSL_OK);
  if (rank == 0 && size == 1) assert_int_equal(hi - lo, 12); /* alone twice 5 ms, 8e-4 s each */
  if (rank == 0 && size == 3)
    assert_int_equal(hi - lo, 50); /* 5 ms; half of 270 / (2 + 1/8) would be 63 */
  (void)MPI_Barrier(MPI_COMM_WORLD);
  tsl_counter_close(&queue);
}

static void window_empty(void **state) {
  static tail t;
  double slowness[MAX_RANKS] = {1, 1, 1, 1, 1, 1, 1};
  int size = 1;
  int64_t lo = 0, hi = 1;
  bool over = false;
  (void)state;
  (void)MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > MAX_RANKS) skip();
  make_tail(&t, 8, size, slowness, NULL);
  tsl_shared_counter *queue = open_queue(8, 8);
  assert_int_equal(tsl_counter_take(queue, &t.view, 0, &lo, &hi, &over), TSL_OK);
  assert_true(lo == hi && over);
  tsl_counter_close(&queue);
}

static void window_abort(void **state) {
  bool aborted = true;
  int rank = 0, size = 1;
  (void)state;
  (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  (void)MPI_Comm_size(MPI_COMM_WORLD, &size);
  tsl_shared_counter *queue = open_queue(0, 10);
  assert_int_equal(tsl_counter_aborted(queue, &aborted, NULL), TSL_OK);
  assert_false(aborted);
  (void)MPI_Barrier(MPI_COMM_WORLD);
  if (rank == size - 1) assert_int_equal(tsl_counter_abort(queue), TSL_OK);
  (void)MPI_Barrier(MPI_COMM_WORLD);
  while (!aborted) assert_int_equal(tsl_counter_aborted(queue, &aborted, NULL), TSL_OK);
  (void)MPI_Barrier(MPI_COMM_WORLD);
  tsl_counter_close(&queue);
}

/* How often this thread has gone to sleep; giving way to others (sched_yield) does not count. */
static long sleeps(void) {
  struct rusage usage;
  (void)getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

/* Who waits for rank 0 of another host leaves its core to the threads that compute. */
static void window_sleeps(void **state) {
  const struct timespec long_nap = {0, 400 * 1000 * 1000};
  int64_t next = 0;
  bool one_host = true;
  int rank = 0;
  (void)state;
  (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  assert_int_equal(tsl_on_one_host(MPI_COMM_WORLD, &one_host), TSL_OK);
  tsl_shared_counter *queue = open_queue(0, 10);
  assert_int_equal(tsl_counter_next(queue, &next), TSL_OK); /* there is a connection now */
  (void)MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) (void)nanosleep(&long_nap, NULL);
  const double begin = tsl_now();
  const long before = sleeps();
  assert_int_equal(tsl_counter_next(queue, &next), TSL_OK);
  if (!one_host && tsl_now() - begin > 0.2) assert_true(sleeps() - before > 5);
  (void)MPI_Barrier(MPI_COMM_WORLD);
  tsl_counter_close(&queue);
}

static void window_done(void **state) {
  double seconds = 0;
  bool aborted = false;
  int size = 1;
  (void)state;
  (void)MPI_Comm_size(MPI_COMM_WORLD, &size);
  tsl_shared_counter *queue = open_queue(0, 10);
  for (int k = 0; k < 4; k++) assert_int_equal(tsl_counter_add_done(queue, 0.25), TSL_OK);
  while (!on_first(seconds > size - 1e-6)) {
    assert_int_equal(tsl_counter_aborted(queue, &aborted, NULL), TSL_OK);
    assert_int_equal(tsl_counter_done(queue, &seconds), TSL_OK);
  }
  assert_true(seconds < size + 1e-6);
  tsl_counter_close(&queue);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(covers),
      cmocka_unit_test(little_idle),
      cmocka_unit_test(learns),
      cmocka_unit_test(card_is_not_starved),
      cmocka_unit_test(batches_stay_long),
      cmocka_unit_test(left_out),
      cmocka_unit_test(late_comers),
      cmocka_unit_test(half_of_the_share),
      cmocka_unit_test(chunks_are_short),
      cmocka_unit_test(slow_declines),
      cmocka_unit_test(last_units_are_shared),
      cmocka_unit_test(busy_waits),
      cmocka_unit_test(measured_speed_counts),
      cmocka_unit_test(fastest_never_declines),
      cmocka_unit_test(faster_takes_more),
      cmocka_unit_test(unknown_speed),
      cmocka_unit_test(empty),
      cmocka_unit_test(window_slower),
      cmocka_unit_test(window_covers),
      cmocka_unit_test(window_empty),
      cmocka_unit_test(window_abort),
      cmocka_unit_test(window_done),
      cmocka_unit_test(window_sleeps),
  };
  int failed;
  if (MPI_Init(&argc, &argv) != MPI_SUCCESS) return 77;
  failed = cmocka_run_group_tests_name("mpi.queue", tests, NULL, NULL);
  (void)MPI_Finalize();
  return failed;
}
