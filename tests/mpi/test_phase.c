/* mpi.phase: a phase of independent units on a device whose batches overlap, on one that takes one
 * after another, and on one that is asked not to (start it alone or with mpirun). */
#include "batch.h"
#include "mpi_fixture.h"
#include "phase.h"
#include "phase_fixture.h"
#include "plan_kinds.h"

enum { MAX_UNITS = 3000, MAX_RANKS = 7, VALUES = 0, RECORDS = 1, N_FIELDS = 2 };

static const double SECONDS = 2e-4; /* of a unit */

/* ------------------------------------------------------------------ a family */

static uint64_t value_of(int64_t unit) {
  return (uint64_t)(unit * unit + 7);
}

/* Units have one to three values. */
static void region(const tsl_problem *problem, const tsl_unit *unit, int field, int64_t lo[3],
                   int64_t hi[3]) {
  (void)problem, (void)field;
  for (int k = 0; k < 3; k++) lo[k] = 0, hi[k] = 1;
  lo[0] = unit->lo[0], hi[0] = unit->hi[0];
}

static const tsl_family family = {.name = "bag", .shape = TSL_BAG, .n_kinds = 1, .region = region};

/* --------------------------------------------------------------- its backend */

/* What goes wrong. */
static struct {
  int64_t starts, finishes; /* with an error when this unit is in the batch; -1 none */
  bool no_room_beside, no_room;
} fault;

typedef struct batch {
  const tsl_unit *units; /* [n] */
  int64_t n;
  tsl_part *parts;
  double begin, end; /* tsl_now() */
} batch;

struct tsl_worker {
  batch batches[TSL_MOST_STARTED]; /* [n], in order */
  int n, most;
  double freed; /* end of all so far */
  int64_t started, ran, refused;
  int64_t calls, first; /* of run; units of the first */
};

static bool has_unit(const batch *b, int64_t unit) {
  for (int64_t k = 0; k < b->n; k++)
    if (b->units[k].id == unit) return true;
  return false;
}

static tsl_err fill_part(const tsl_unit *unit, tsl_part *part) {
  tsl_err err = TSL_OK;
  uint64_t *record = malloc(sizeof *record);
  if (record == NULL) TSL_FAIL(TSL_ERR_MEMORY, "no memory");
  for (int64_t k = unit->lo[0]; k < unit->hi[0]; k++)
    ((uint64_t *)part->slab[VALUES])[k - unit->lo[0]] = value_of(k);
  *record = value_of(unit->id);
  part->list[RECORDS] = (tsl_list){record, 1};
done:
  return err;
}

static void wait_until(double time) {
  while (tsl_now() < time) continue;
}

static tsl_err fill(const batch *b, double seconds) {
  tsl_err err = TSL_OK;
  for (int64_t k = 0; k < b->n; k++) {
    TSL_TRY(fill_part(&b->units[k], &b->parts[k]));
    b->parts[k].seconds = seconds / (double)b->n;
  }
done:
  return err;
}

static tsl_err run(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const batch b = {.units = units, .n = n, .parts = parts};
  if (w->n > 0) TSL_FAIL(TSL_ERR_INTERNAL, "run with %d batches started", w->n);
  if (has_unit(&b, fault.starts)) TSL_FAIL(TSL_ERR_NUMERIC, "unit %lld", (long long)fault.starts);
  wait_until(tsl_now() + (double)n * SECONDS);
  if (w->calls++ == 0) w->first = n;
  w->ran += n;
  TSL_TRY(fill(&b, (double)n * SECONDS));
done:
  return err;
}

static tsl_err start(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  batch b = {.units = units, .n = n, .parts = parts, .begin = tsl_now()};
  if (w->n == TSL_MOST_STARTED) TSL_FAIL(TSL_ERR_INTERNAL, "%d batches are started", w->n);
  if (fault.no_room || (fault.no_room_beside && w->n > 0)) {
    w->refused++;
    TSL_FAIL(TSL_ERR_DEVICE_MEMORY, "no room");
  }
  if (has_unit(&b, fault.starts)) TSL_FAIL(TSL_ERR_NUMERIC, "unit %lld", (long long)fault.starts);
  const double last = w->n > 0 ? w->batches[w->n - 1].end : b.begin;
  b.end = (last > b.begin ? last : b.begin) + (double)n * SECONDS;
  w->batches[w->n++] = b;
  w->most = w->n > w->most ? w->n : w->most;
  w->started += n;
done:
  return err;
}

static bool ended(tsl_worker *w) {
  return tsl_now() >= w->batches[0].end;
}

static tsl_err finish(tsl_worker *w) {
  tsl_err err = TSL_OK;
  const batch b = w->batches[0];
  if (w->n == 0) TSL_FAIL(TSL_ERR_INTERNAL, "finish, and nothing is started");
  wait_until(b.end);
  w->batches[0] = w->batches[1];
  w->n--;
  const double from = b.begin > w->freed ? b.begin : w->freed;
  w->freed = b.end;
  if (has_unit(&b, fault.finishes))
    TSL_FAIL(TSL_ERR_NUMERIC, "unit %lld", (long long)fault.finishes);
  TSL_TRY(fill(&b, b.end - from));
done:
  return err;
}

static bool never(const tsl_worker *w) {
  (void)w;
  return false;
}

enum { WIDTH = 40 }; /* units that a wide device computes at once */
static int64_t wide(const tsl_worker *w, const tsl_unit *unit) {
  (void)w;
  return unit->kind == 0 ? WIDTH : 1;
}

enum { OVERLAPS, DECLINES, WHOLE, WIDE, N_BACKENDS };
static const tsl_backend backends[N_BACKENDS] = {
    [OVERLAPS] = {.family = "bag", .run = run, .start = start, .ended = ended, .finish = finish},
    [DECLINES] = {.family = "bag",
                  .run = run,
                  .start = start,
                  .ended = ended,
                  .finish = finish,
                  .overlaps = never},
    [WHOLE] = {.family = "bag", .run = run},
    [WIDE] = {.family = "bag", .run = run, .saturating_units = wide}};

/* ------------------------------------------------------------------ a phase */

typedef struct stage {
  tsl_problem problem;
  tsl_unit units[MAX_UNITS];
  tsl_placement placement; /* a socket */
  tsl_worker worker;
  tsl_executor executor;
  tsl_speed speeds[MAX_RANKS];
  tsl_cost cost;
  tsl_plan plan;
  tsl_timeline trace;
  tsl_phase phase;
} stage;

static tsl_err add_field(stage *s, const char *name, int combine, int64_t count) {
  tsl_err err = TSL_OK;
  tsl_field ask = {
      .role = TSL_OUT, .type = TSL_U64, .combine = combine, .rank = 1, .shape = {count, 1, 1}};
  tsl_field *added = NULL;
  memcpy(ask.name, name, strlen(name));
  TSL_TRY(tsl_problem_add(&s->problem, &ask, &added));
  if (rank == 0 && count > 0) TSL_TRY(tsl_alloc(count, 8, "values", &added->data));
done:
  return err;
}

static int64_t make_units(stage *s, int64_t n) {
  int64_t at = 0;
  for (int64_t u = 0; u < n; u++) {
    s->units[u] = (tsl_unit){.id = u, .count = 1, .lo = {at}, .hi = {at + 1 + u % 3, 1, 1}};
    at = s->units[u].hi[0];
  }
  return at;
}

/* There is one kind. */
static const tsl_kind_sets one_set = {.n = 1, .mask = {1}};

static tsl_err open_parts(stage *s, int64_t n, double dynamic) {
  tsl_err err = TSL_OK;
  const tsl_plan_rule rule = {.kind = TSL_PLAN_STRIPS, .dynamic = dynamic};
  TSL_TRY(add_field(s, "values", TSL_GATHER, make_units(s, n)));
  TSL_TRY(add_field(s, "records", TSL_LIST, 0));
  for (int r = 0; r < size; r++) s->speeds[r].c[0][3] = SECONDS;
  s->cost = (tsl_cost){.n_ranks = size, .speeds = s->speeds};
  const tsl_workload work = {s->units, n, size, tsl_cost_seconds, &s->cost};
  TSL_TRY(tsl_plan_make(&rule, &one_set, &work, &s->plan));
  TSL_TRY(tsl_compute_thread_start(NULL, NULL, &s->executor.thread));
  TSL_TRY(tsl_trace_start(MPI_COMM_WORLD, false, &s->trace));
done:
  return err;
}

static void open_stage(stage *s, int backend, int64_t n, double dynamic) {
  memset(s, 0, sizeof *s);
  memset(&fault, 0, sizeof fault);
  fault.starts = fault.finishes = -1;
  s->problem.family = &family;
  s->executor = (tsl_executor){.problem = &s->problem,
                               .backend = &backends[backend],
                               .worker = &s->worker,
                               .placement = &s->placement};
  s->placement.rank = rank;
  CHECK(open_parts(s, n, dynamic) == TSL_OK);
  s->phase = quiet_phase(&s->executor, &s->problem, s->units, &s->plan, &s->cost, &s->trace);
}

static void close_stage(stage *s) {
  tsl_compute_thread_stop(&s->executor.thread);
  tsl_phase_clear(&s->phase);
  tsl_plan_clear(&s->plan);
  tsl_problem_clear(&s->problem);
  tsl_trace_clear(&s->trace);
}

static bool values_right(const stage *s) {
  const tsl_field *field = &s->problem.fields[VALUES];
  for (int64_t k = 0; rank == 0 && k < field->shape[0]; k++)
    if (((const uint64_t *)field->data)[k] != value_of(k)) return false;
  return true;
}

/* Records of the units that this rank has computed, and none else. */
static bool records_right(const stage *s) {
  int64_t n = 0;
  for (int64_t u = 0; u < s->plan.n_units; u++) {
    const tsl_list *list = &s->phase.lists.of[u * N_FIELDS + RECORDS];
    if (list->n > 0 && *(const uint64_t *)list->data != value_of(u)) return false;
    n += list->n;
  }
  return n == s->phase.n_log;
}

/* Units in the ranks' logs, each counted as often as it is there. */
static int64_t once(const stage *s, uint8_t finished[MAX_UNITS]) {
  static int mine[MAX_UNITS];
  int64_t n = 0;
  memset(mine, 0, sizeof mine);
  for (int64_t k = 0; k < s->phase.n_log; k++) mine[s->phase.log[k].unit.id]++;
  (void)MPI_Allreduce(MPI_IN_PLACE, mine, MAX_UNITS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int64_t u = 0; u < MAX_UNITS; u++) {
    CHECK(mine[u] <= 1);
    finished[u] = mine[u] != 0;
    n += mine[u];
  }
  return n;
}

/* The seconds of all units are those that the device was busy: no more than have passed since
 * begin, though two batches were under way at a time. */
static bool log_right(const stage *s, double begin) {
  const double wall = tsl_now() - begin;
  double sum = 0;
  for (int64_t k = 0; k < s->phase.n_log; k++) {
    const tsl_out_unit *row = &s->phase.log[k];
    if (row->measured < 0 || row->start + s->trace.origin < begin) return false;
    sum += row->measured;
  }
  return sum <= wall * (1 + 1e-9) && sum >= 0.99 * SECONDS * (double)s->phase.n_log;
}

static bool nothing_started(const stage *s) {
  return s->worker.n == 0;
}

/* -------------------------------------------------------------------- tests */

static void all_units_once(void **state) {
  static stage s;
  static uint8_t finished[MAX_UNITS];
  static const double shares[] = {0, 0.25, 1};
  (void)state;
  for (int b = 0; b < N_BACKENDS; b++)
    for (int d = 0; d < 3; d++) {
      const int64_t n = 300;
      open_stage(&s, b, n, shares[d]);
      const double begin = tsl_now();
      CHECK(tsl_bag_run(&s.phase) == TSL_OK);
      CHECK(log_right(&s, begin));
      CHECK(values_right(&s) && records_right(&s) && nothing_started(&s));
      CHECK(once(&s, finished) == n);
      CHECK((b == OVERLAPS ? s.worker.ran : s.worker.started) == 0);
      close_stage(&s);
    }
}

/* A batch begins while the one before goes on, on every rank; where others use the machine, too,
 * not in each phase. */
static void batches_overlap(void **state) {
  enum { ATTEMPTS = 50 };
  static stage s;
  int most = 0;
  (void)state;
  for (int k = 0; k < ATTEMPTS && most < TSL_MOST_STARTED; k++) {
    open_stage(&s, OVERLAPS, 300, 0);
    CHECK(tsl_bag_run(&s.phase) == TSL_OK);
    (void)MPI_Allreduce(&s.worker.most, &most, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    close_stage(&s);
  }
  assert_int_equal(most, TSL_MOST_STARTED);
}

/* A wide device gets as many units as it computes at once, though fewer make a batch's time. */
static void batches_fill_the_device(void **state) {
  static stage s;
  (void)state;
  open_stage(&s, WIDE, 300, 0);
  CHECK(tsl_bag_run(&s.phase) == TSL_OK);
  CHECK(s.worker.first >= (s.worker.ran < WIDTH ? s.worker.ran : WIDTH));
  CHECK(s.worker.calls <= (s.worker.ran + WIDTH - 1) / WIDTH);
  close_stage(&s);
}

static void no_units(void **state) {
  static stage s;
  (void)state;
  open_stage(&s, OVERLAPS, 0, 0.2);
  CHECK(tsl_bag_run(&s.phase) == TSL_OK);
  CHECK(s.worker.started == 0 && nothing_started(&s));
  close_stage(&s);
}

/* Wherever a batch fails, and in whichever half, all ranks come back with its message and no batch
 * is left on a device. */
static void failures_end_it(void **state) {
  static stage s;
  char text[32];
  (void)state;
  for (int half = 0; half < 2; half++)
    for (int64_t unit = 0; unit < 300; unit += 61) {
      open_stage(&s, OVERLAPS, 300, 0.2);
      *(half == 0 ? &fault.starts : &fault.finishes) = unit;
      CHECK(tsl_bag_run(&s.phase) == TSL_ERR_NUMERIC);
      (void)snprintf(text, sizeof text, "unit %lld", (long long)unit);
      CHECK(strstr(tsl_err_message(), text) != NULL);
      CHECK(nothing_started(&s));
      close_stage(&s);
    }
}

/* A device with room for one batch takes one after another. */
static void no_room_beside(void **state) {
  static stage s;
  (void)state;
  open_stage(&s, OVERLAPS, 300, 0);
  fault.no_room_beside = true;
  CHECK(tsl_bag_run(&s.phase) == TSL_OK);
  CHECK(values_right(&s) && nothing_started(&s));
  CHECK(s.worker.most == 1 && s.worker.refused > 0);
  close_stage(&s);
}

static void no_room_at_all(void **state) {
  static stage s;
  (void)state;
  open_stage(&s, OVERLAPS, 300, 0);
  fault.no_room = true;
  CHECK(tsl_bag_run(&s.phase) == TSL_ERR_DEVICE_MEMORY);
  CHECK(s.worker.started == 0);
  close_stage(&s);
}

/* What is begun when it is to pause is finished; the rest follows in a second part. */
static void pauses_with_nothing_started(void **state) {
  static stage s;
  static uint8_t finished[MAX_UNITS];
  int64_t n = 0, parts = 0;
  (void)state;
  open_stage(&s, OVERLAPS, 900 * size, 0.2);
  s.phase.can_pause = true;
  s.phase.pause_at = tsl_now() + 0.03;
  do {
    CHECK(parts++ < 2);
    CHECK(tsl_bag_run(&s.phase) == TSL_OK);
    CHECK(nothing_started(&s));
    n = once(&s, finished);
    CHECK(s.phase.paused == (n < s.plan.n_units));
    s.plan.finished = finished;
    s.phase.pause_at = tsl_now() + 1000;
  } while (s.phase.paused);
  CHECK(parts == 2 && n == s.plan.n_units && values_right(&s) && records_right(&s));
  s.plan.finished = NULL;
  close_stage(&s);
}

/* Injected faults reach the half they belong to. */
static void injected_errors(void **state) {
  static stage s;
  (void)state;
  for (int b = 0; b < N_BACKENDS; b++) {
    open_stage(&s, b, 300, 0);
    (void)setenv("TSL_TEST_FAULT", "error:0:40", 1);
    CHECK(tsl_bag_run(&s.phase) == TSL_ERR_DEVICE);
    (void)unsetenv("TSL_TEST_FAULT");
    CHECK(strstr(tsl_err_message(), "unit 40: injected") != NULL);
    CHECK(nothing_started(&s));
    close_stage(&s);
  }
}

/* A device that is slowed down for a test takes one batch after another. */
static void slow_devices_do_not_overlap(void **state) {
  static stage s;
  (void)state;
  for (int b = 0; b < N_BACKENDS; b++) {
    open_stage(&s, b, 10, 0);
    CHECK(tsl_overlaps(&s.executor) == (b == OVERLAPS));
    (void)setenv("TSL_TEST_SLOW", "3", 1);
    CHECK(!tsl_overlaps(&s.executor));
    (void)unsetenv("TSL_TEST_SLOW");
    close_stage(&s);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_units_once),          cmocka_unit_test(batches_overlap),
      cmocka_unit_test(batches_fill_the_device), cmocka_unit_test(no_units),
      cmocka_unit_test(failures_end_it),         cmocka_unit_test(no_room_beside),
      cmocka_unit_test(no_room_at_all),          cmocka_unit_test(pauses_with_nothing_started),
      cmocka_unit_test(injected_errors),         cmocka_unit_test(slow_devices_do_not_overlap),
  };
  begin_ranks(&argc, &argv);
  (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  return end_ranks(cmocka_run_group_tests(tests, NULL, NULL));
}
