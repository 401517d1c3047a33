/* unit.parallel: each item is done once, in ranges that n and grain alone fix; results are the same
 * bits for any number of threads; the lowest error is returned; calls within calls work. */
#include "parallel.h"

#include "clock.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { N = 10007, SLOTS = 5 };

#define good(call)                                           \
  do {                                                       \
    if ((call) != TSL_OK) fail_msg("%s", tsl_err_message()); \
  } while (0)

static void pause_us(long us) {
  const struct timespec time = {0, 1000 * us};
  (void)nanosleep(&time, NULL);
}

/* ------------------------------------------------------------------- ranges */

typedef struct tally {
  int64_t n, grain;
  atomic_int done[N], in_slot[SLOTS];
  atomic_int bad; /* ranges of another shape, slots used twice at once or out of bounds */
} tally;

static tsl_err count(void *context, int slot, int64_t lo, int64_t hi) {
  tally *t = context;
  const int64_t end = lo + t->grain < t->n ? lo + t->grain : t->n;
  if (lo % t->grain != 0 || hi != end || slot < 0 || slot >= tsl_parallel_slots())
    atomic_fetch_add(&t->bad, 1);
  if (atomic_fetch_add(&t->in_slot[slot], 1) != 0) atomic_fetch_add(&t->bad, 1);
  for (int64_t k = lo; k < hi; k++) atomic_fetch_add(&t->done[k], 1);
  atomic_fetch_sub(&t->in_slot[slot], 1);
  return TSL_OK;
}

/** Every item once, for sizes about a grain, few and many ranges, few and many threads. */
static void ranges(void **state) {
  static const int64_t sizes[] = {0, 1, 2, 63, 64, 65, 997, N}, grains[] = {1, 7, 64, 2 * N};
  static tally t;
  (void)state;
  for (int slots = 1; slots <= SLOTS; slots += 2) {
    good(tsl_parallel_open(slots));
    assert_int_equal(tsl_parallel_slots(), slots);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
      for (size_t g = 0; g < sizeof grains / sizeof *grains; g++) {
        memset(&t, 0, sizeof t);
        t.n = sizes[s], t.grain = grains[g];
        good(tsl_parallel(t.n, t.grain, count, &t));
        for (int64_t k = 0; k < N; k++) assert_int_equal(atomic_load(&t.done[k]), k < t.n);
        assert_int_equal(atomic_load(&t.bad), 0);
      }
  }
  tsl_parallel_close();
  assert_int_equal(tsl_parallel_slots(), 1);
  memset(&t, 0, sizeof t);
  t.n = N, t.grain = 10;
  good(tsl_parallel(t.n, t.grain, count, &t)); /* the caller alone */
  for (int64_t k = 0; k < N; k++) assert_int_equal(atomic_load(&t.done[k]), 1);
  good(tsl_parallel_open(-3));
  assert_int_equal(tsl_parallel_slots(), 1);
  good(tsl_parallel_open(1 << 20));
  assert_int_equal(tsl_parallel_slots(), TSL_PARALLEL_MOST);
  tsl_parallel_close();
  assert_int_equal(tsl_parallel(-1, 1, count, &t), TSL_ERR_INTERNAL);
  assert_int_equal(tsl_parallel(1, 0, count, &t), TSL_ERR_INTERNAL);
}

/* Waits until as many ranges are under way as there are threads, but not for ever. */
static tsl_err meet(void *context, int slot, int64_t lo, int64_t hi) {
  atomic_int *here = context;
  const double since = tsl_now();
  (void)slot, (void)lo, (void)hi;
  atomic_fetch_add(here, 1);
  while (atomic_load(here) < 3 && tsl_now() - since < 60) pause_us(100);
  return TSL_OK;
}

/** Three ranges are under way at once on three threads, again after a while of sleep. */
static void together(void **state) {
  (void)state;
  good(tsl_parallel_open(3));
  for (int k = 0; k < 3; k++) {
    atomic_int here = 0;
    const double since = tsl_now();
    good(tsl_parallel(3, 1, meet, &here));
    assert_int_equal(atomic_load(&here), 3);
    assert_true(tsl_now() - since < 60); /* one after another would wait it out */
    pause_us(20000);
  }
  tsl_parallel_close();
}

/* ---------------------------------------------------------------- processors */

static int n_processors(void) {
  cpu_set_t set;
  assert_int_equal(pthread_getaffinity_np(pthread_self(), sizeof set, &set), 0);
  return CPU_COUNT(&set);
}

static int asked, seen;

static void look(int n) {
  asked = n, seen = n_processors();
}

/** A library's start sees the processors that the team was opened on; the caller keeps its own. */
static void inherit(void **state) {
  cpu_set_t all, one;
  int first = 0;
  (void)state;
  assert_int_equal(pthread_getaffinity_np(pthread_self(), sizeof all, &all), 0);
  if (CPU_COUNT(&all) < 2) skip();
  while (!CPU_ISSET(first, &all)) first++;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  for (int slots = 1; slots <= 2; slots++) {
    good(tsl_parallel_open(slots));
    assert_int_equal(pthread_setaffinity_np(pthread_self(), sizeof one, &one), 0);
    tsl_parallel_inherit(look, 7 + slots);
    assert_int_equal(asked, 7 + slots);
    assert_int_equal(seen, slots == 1 ? 1 : CPU_COUNT(&all)); /* no team: as the caller is */
    assert_int_equal(n_processors(), 1);
    assert_int_equal(pthread_setaffinity_np(pthread_self(), sizeof all, &all), 0);
  }
  tsl_parallel_close();
}

/* --------------------------------------------------------------------- bits */

typedef struct row {
  double value[N], part[N];
} row;

/* Items of their own, and a sum a range. */
static tsl_err fill(void *context, int slot, int64_t lo, int64_t hi) {
  row *r = context;
  (void)slot;
  r->part[lo / 13] = 0;
  for (int64_t k = lo; k < hi; k++) {
    r->value[k] = sin(1e3 * (double)k) / (1 + sqrt((double)k));
    r->part[lo / 13] += r->value[k];
  }
  return TSL_OK;
}

static void bits(void **state) {
  static row one, more;
  (void)state;
  good(tsl_parallel(N, 13, fill, &one));
  for (int slots = 2; slots <= SLOTS; slots += 3) {
    good(tsl_parallel_open(slots));
    memset(&more, 0, sizeof more);
    good(tsl_parallel(N, 13, fill, &more));
    assert_memory_equal(&one, &more, sizeof one);
  }
  tsl_parallel_close();
}

/* ------------------------------------------------------------------- errors */

typedef struct failing {
  int64_t first; /* ranges from this one on fail; the first of them last */
  atomic_int begun;
} failing;

static tsl_err fail_late(void *context, int slot, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  failing *f = context;
  (void)slot, (void)hi;
  atomic_fetch_add(&f->begun, 1);
  if (lo == f->first) pause_us(20000);
  if (lo >= f->first) TSL_FAIL(TSL_ERR_NUMERIC, "range %lld", (long long)lo);
done:
  return err;
}

/** The lowest range's message, though others fail before it; those not begun are left out. */
static void errors(void **state) {
  (void)state;
  for (int slots = 1; slots <= SLOTS; slots += 2) {
    failing f = {.first = 3};
    good(tsl_parallel_open(slots));
    assert_int_equal(tsl_parallel(1000, 1, fail_late, &f), TSL_ERR_NUMERIC);
    assert_string_equal(tsl_err_message(), "range 3");
    assert_true(atomic_load(&f.begun) < 500);
    f.first = 1000;
    good(tsl_parallel(1000, 1, fail_late, &f)); /* and the next call is none the worse */
  }
  tsl_parallel_close();
}

/* ------------------------------------------------------------------- nested */

typedef struct outer {
  tally inner[4];
} outer;

static tsl_err nest(void *context, int slot, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  outer *o = context;
  (void)slot;
  for (int64_t k = lo; k < hi; k++) TSL_TRY(tsl_parallel(997, 7, count, &o->inner[k]));
done:
  return err;
}

static void *from_outside(void *context) {
  return (void *)(intptr_t)nest(context, 0, 2, 4);
}

static void check_inner(const outer *o) {
  for (int i = 0; i < 4; i++) {
    assert_int_equal(atomic_load(&o->inner[i].bad), 0);
    for (int64_t k = 0; k < 997; k++) assert_int_equal(atomic_load(&o->inner[i].done[k]), 1);
  }
}

/** Within a range, and from a thread of one's own at the same time. */
static void nested(void **state) {
  static outer o;
  pthread_t thread;
  void *other = NULL;
  (void)state;
  for (int slots = 1; slots <= SLOTS; slots += 2) {
    good(tsl_parallel_open(slots));
    for (int together = 0; together < 2; together++) {
      memset(&o, 0, sizeof o);
      for (int i = 0; i < 4; i++) o.inner[i].n = 997, o.inner[i].grain = 7;
      if (together) assert_int_equal(pthread_create(&thread, NULL, from_outside, &o), 0);
      good(tsl_parallel(together ? 2 : 4, 1, nest, &o));
      if (together) assert_int_equal(pthread_join(thread, &other), 0);
      assert_null(other);
      check_inner(&o);
    }
  }
  tsl_parallel_close();
}

/* ------------------------------------------------------------- teams of others */

/* A team at work while another one, and that of the process, are. */
typedef struct beside {
  tsl_team *team;
  atomic_int inner, slots_seen;
} beside;

static tsl_err add_one(void *context, int slot, int64_t lo, int64_t hi) {
  beside *b = context;
  (void)slot;
  atomic_fetch_add(&b->inner, (int)(hi - lo));
  return TSL_OK;
}

static tsl_err within(void *context, int slot, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  beside *b = context;
  (void)lo, (void)hi;
  atomic_fetch_or(&b->slots_seen, 1 << slot);
  pause_us(2000); /* time for others to begin */
  TSL_TRY(tsl_parallel(100, 1, add_one, b));
done:
  return err;
}

/** A team has its own threads, also within a range of another's. */
static void teams(void **state) {
  static beside b;
  tsl_team *none = NULL;
  (void)state;
  good(tsl_parallel_open(2));
  good(tsl_team_open(3, &b.team));
  assert_int_equal(tsl_team_slots(b.team), 3);
  assert_int_equal(tsl_team_slots(none), 1);
  good(tsl_team_run(b.team, 9, 1, within, &b));
  assert_int_equal(atomic_load(&b.inner), 900);
  assert_int_equal(atomic_load(&b.slots_seen), 7);
  good(tsl_team_run(none, 5, 2, add_one, &b));
  assert_int_equal(atomic_load(&b.inner), 905);
  tsl_team_close(&b.team);
  assert_null(b.team);
  tsl_team_close(&b.team);
  tsl_parallel_close();
  assert_in_range(tsl_usable_cores(), 1, TSL_PARALLEL_MOST);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranges), cmocka_unit_test(together), cmocka_unit_test(inherit),
      cmocka_unit_test(bits),   cmocka_unit_test(errors),   cmocka_unit_test(nested),
      cmocka_unit_test(teams),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
