/* mpi.queue: chunks cover the tail, shrink to one, and slow ranks decline; the window on any number
 * of ranks (start it alone or with mpirun). */
#include "queue.h"
#include "random.h"

#include "agree.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_RANKS = 7, MAX_UNITS = 500 };

typedef struct tail {
  tsl_unit units[MAX_UNITS];
  tsl_speed speeds[MAX_RANKS];
  tsl_cost cost;
} tail;

/* n units of one item; rank r needs slowness[r] seconds an item. */
static void make_tail(tail *t, int ranks, const double *slowness) {
  memset(t, 0, sizeof *t);
  t->cost = (tsl_cost){.n_ranks = ranks, .speeds = t->speeds};
  for (int r = 0; r < ranks; r++) t->speeds[r].c[0][3] = slowness[r];
  for (int64_t u = 0; u < MAX_UNITS; u++) t->units[u] = (tsl_unit){.id = u, .count = 1};
}

/* What happened when ranks took chunks as they became free. */
typedef struct outcome {
  int taken[MAX_UNITS];
  double end[MAX_RANKS];
  int64_t last_chunk[MAX_RANKS];
  bool declined[MAX_RANKS];
} outcome;

static int next_free(const outcome *o, int ranks) {
  int best = -1;
  for (int r = 0; r < ranks; r++)
    if (!o->declined[r] && (best < 0 || o->end[r] < o->end[best])) best = r;
  return best;
}

static void play(const tail *t, int64_t first, int64_t last, outcome *o) {
  int64_t next = first;
  memset(o, 0, sizeof *o);
  for (int r; (r = next_free(o, t->cost.n_ranks)) >= 0;) {
    const int64_t chunk = tsl_queue_chunk(t->units, next, last, &t->cost, r);
    assert_in_range(chunk, 0, last - next > 0 ? last - next : 0);
    o->declined[r] = chunk == 0;
    if (chunk > 0) o->last_chunk[r] = chunk;
    for (int64_t u = next; u < next + chunk; u++) {
      o->taken[u]++;
      o->end[r] += tsl_cost_seconds(&t->cost, r, &t->units[u]);
    }
    next += chunk;
  }
}

/* --------------------------------------------------------------- the rule */

static void covers(void **state) {
  static tail t;
  outcome o;
  uint64_t seed = 1;
  (void)state;
  for (int trial = 0; trial < 200; trial++) {
    const int ranks = 1 + random_below(&seed, MAX_RANKS);
    const int64_t first = random_below(&seed, 100), last = first + random_below(&seed, 400);
    double slowness[MAX_RANKS];
    for (int r = 0; r < ranks; r++) slowness[r] = pow(10, 3 * random_unit(&seed) - 3);
    make_tail(&t, ranks, slowness);
    play(&t, first, last, &o);
    for (int64_t u = 0; u < MAX_UNITS; u++)
      assert_int_equal(o.taken[u], u >= first && u < last ? 1 : 0);
  }
}

/* Ranks end within one unit of the slowest of the ideal time. */
static void ends_together(void **state) {
  static tail t;
  outcome o;
  static const double slowness[] = {1, 3, 1, 10};
  double rate = 0, makespan = 0;
  (void)state;
  make_tail(&t, 4, slowness);
  play(&t, 0, MAX_UNITS, &o);
  for (int r = 0; r < 4; r++) rate += 1 / slowness[r], makespan = fmax(makespan, o.end[r]);
  assert_true(makespan <= MAX_UNITS / rate + 10);
}

static void last_chunks_are_one(void **state) {
  static tail t;
  outcome o;
  static const double equal[] = {1, 1, 1};
  (void)state;
  make_tail(&t, 3, equal);
  play(&t, 0, 300, &o);
  for (int r = 0; r < 3; r++) assert_int_equal(o.last_chunk[r], 1);
  for (int r = 0; r < 3; r++) assert_int_equal(tsl_queue_chunk(t.units, 299, 300, &t.cost, r), 1);
  assert_int_equal(tsl_queue_chunk(t.units, 0, 300, &t.cost, 0), 50); /* half of a third */
}

static void slow_declines(void **state) {
  static tail t;
  static const double slowness[] = {1, 100};
  (void)state;
  make_tail(&t, 2, slowness);
  for (int64_t rest = 1; rest < 100; rest++)
    assert_int_equal(tsl_queue_chunk(t.units, 0, rest, &t.cost, 1), 0);
  assert_int_equal(tsl_queue_chunk(t.units, 0, 101, &t.cost, 1), 1);
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
    make_tail(&t, MAX_RANKS, slowness);
    for (int64_t rest = 1; rest < 40; rest++)
      assert_in_range(tsl_queue_chunk(t.units, 0, rest, &t.cost, fastest), 1, rest);
  }
}

static void faster_takes_more(void **state) {
  static tail t;
  static const double slowness[] = {1, 2, 4};
  (void)state;
  make_tail(&t, 3, slowness);
  const int64_t a = tsl_queue_chunk(t.units, 0, 400, &t.cost, 0);
  const int64_t b = tsl_queue_chunk(t.units, 0, 400, &t.cost, 1);
  const int64_t c = tsl_queue_chunk(t.units, 0, 400, &t.cost, 2);
  assert_true(a > b && b > c && c >= 1);
}

static void unknown_speed(void **state) {
  static tail t;
  static const double slowness[] = {0, 0};
  (void)state;
  make_tail(&t, 2, slowness);
  assert_int_equal(tsl_queue_chunk(t.units, 0, 400, &t.cost, 0), 1);
  assert_int_equal(tsl_queue_chunk(t.units, 399, 400, &t.cost, 1), 1);
}

static void empty(void **state) {
  static tail t;
  static const double slowness[] = {1};
  (void)state;
  make_tail(&t, 1, slowness);
  assert_int_equal(tsl_queue_chunk(t.units, 5, 5, &t.cost, 0), 0);
  assert_int_equal(tsl_queue_chunk(t.units, 9, 5, &t.cost, 0), 0); /* counter past the end */
}

/* -------------------------------------------------------------- the window */

static tsl_queue *open_queue(int64_t first, int64_t last) {
  tsl_queue *queue = NULL;
  if (tsl_queue_open(MPI_COMM_WORLD, first, last, &queue) != TSL_OK)
    fail_msg("%s", tsl_err_message());
  return queue;
}

/* Slowness falls with the rank, so that the ranks take different chunks. */
static void window_covers(void **state) {
  static tail t;
  static int taken[MAX_UNITS], sum[MAX_UNITS];
  const int64_t first = 17, last = 417;
  double *slowness;
  int size = 1;
  int64_t lo = 0, hi = 0;
  (void)state;
  (void)MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > MAX_RANKS) skip();
  slowness = calloc((size_t)size, sizeof *slowness);
  for (int r = 0; r < size; r++) slowness[r] = 1.0 / (1 + r);
  make_tail(&t, size, slowness);
  tsl_queue *queue = open_queue(first, last);
  do {
    assert_int_equal(tsl_queue_take(queue, t.units, &t.cost, &lo, &hi), TSL_OK);
    assert_true(lo == hi || (lo >= first && lo < hi && hi <= last));
    for (int64_t u = lo; u < hi; u++) taken[u]++;
  } while (lo < hi);
  (void)MPI_Allreduce(taken, sum, MAX_UNITS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int64_t u = 0; u < MAX_UNITS; u++) assert_int_equal(sum[u], u >= first && u < last);
  tsl_queue_close(&queue);
  assert_null(queue);
  tsl_queue_close(&queue);
  free(slowness);
}

static void window_empty(void **state) {
  static tail t;
  double slowness[MAX_RANKS] = {1, 1, 1, 1, 1, 1, 1};
  int size = 1;
  int64_t lo = 0, hi = 1;
  (void)state;
  (void)MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > MAX_RANKS) skip();
  make_tail(&t, size, slowness);
  tsl_queue *queue = open_queue(8, 8);
  assert_int_equal(tsl_queue_take(queue, t.units, &t.cost, &lo, &hi), TSL_OK);
  assert_true(lo == hi);
  tsl_queue_close(&queue);
}

static void window_abort(void **state) {
  bool aborted = true;
  int rank = 0, size = 1;
  (void)state;
  (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  (void)MPI_Comm_size(MPI_COMM_WORLD, &size);
  tsl_queue *queue = open_queue(0, 10);
  assert_int_equal(tsl_queue_aborted(queue, &aborted), TSL_OK);
  assert_false(aborted);
  (void)MPI_Barrier(MPI_COMM_WORLD);
  if (rank == size - 1) assert_int_equal(tsl_queue_abort(queue), TSL_OK);
  (void)MPI_Barrier(MPI_COMM_WORLD);
  assert_int_equal(tsl_queue_aborted(queue, &aborted), TSL_OK);
  assert_true(aborted);
  tsl_queue_close(&queue);
}

static void window_done(void **state) {
  double seconds = -1;
  int size = 1;
  (void)state;
  (void)MPI_Comm_size(MPI_COMM_WORLD, &size);
  tsl_queue *queue = open_queue(0, 10);
  for (int k = 0; k < 4; k++) assert_int_equal(tsl_queue_add_done(queue, 0.25), TSL_OK);
  (void)MPI_Barrier(MPI_COMM_WORLD);
  assert_int_equal(tsl_queue_done(queue, &seconds), TSL_OK);
  assert_true(fabs(seconds - size) < 1e-6 * size);
  (void)MPI_Barrier(MPI_COMM_WORLD);
  tsl_queue_close(&queue);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(covers),
      cmocka_unit_test(ends_together),
      cmocka_unit_test(last_chunks_are_one),
      cmocka_unit_test(slow_declines),
      cmocka_unit_test(fastest_never_declines),
      cmocka_unit_test(faster_takes_more),
      cmocka_unit_test(unknown_speed),
      cmocka_unit_test(empty),
      cmocka_unit_test(window_covers),
      cmocka_unit_test(window_empty),
      cmocka_unit_test(window_abort),
      cmocka_unit_test(window_done),
  };
  int failed;
  if (MPI_Init(&argc, &argv) != MPI_SUCCESS) return 77;
  failed = cmocka_run_group_tests_name("mpi.queue", tests, NULL, NULL);
  (void)MPI_Finalize();
  return failed;
}
