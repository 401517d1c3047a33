/* mpi.wave: tiles run in an order that their predecessors allow, edges reach whoever needs them, a
 * failure ends the phase on all ranks, the walk back visits owner after owner (start it alone or
 * with mpirun). */
#include "../unit/random.h"
#include "mpi_fixture.h"
#include "phase_fixture.h"
#include "test_delay_card.h"
#include "traceback.h"
#include "wave.h"

#include <math.h>
#include <signal.h>
#include <time.h>

enum { MAX_TILES = 1200, MOST_BEFORE = 5, VALUES = 0 };

/* ------------------------------------------------- a family made of random tiles */

/* What all ranks know of the tiles. */
static struct {
  int64_t n, lanes;
  tsl_unit units[MAX_TILES];
  int64_t before[MAX_TILES][MOST_BEFORE];
  int n_before[MAX_TILES];
  uint64_t values[MAX_TILES]; /* as one after another gives them */
  int64_t fails;              /* tile that fails, -1 none */
  bool stands;                /* the walk does not move */
  int64_t large;              /* words of the edges of lane 0, if not 0 */
  bool dawdles;               /* the last rank takes a while for each tile */
} world;

static int64_t edge_words(int64_t tile) {
  if (world.large > 0 && world.units[tile].lane == 0) return world.large;
  return tile % 7 == 0 ? 0 : 1 + tile % 3; /* some edges say nothing but "done" */
}

static uint64_t mix(uint64_t value, uint64_t other) {
  uint64_t state = value ^ (other * 3);
  return random_bits(&state);
}

static int by_number(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

static void add_before(int64_t tile, int64_t before) {
  for (int k = 0; k < world.n_before[tile]; k++)
    if (world.before[tile][k] == before) return;
  world.before[tile][world.n_before[tile]++] = before;
}

/* All that tile u needs is known. */
static void close_tile(int64_t u) {
  qsort(world.before[u], (size_t)world.n_before[u], sizeof(int64_t), by_number);
  world.values[u] = (uint64_t)u;
  for (int k = 0; k < world.n_before[u]; k++)
    world.values[u] = mix(
        world.values[u], edge_words(world.before[u][k]) > 0 ? world.values[world.before[u][k]] : 1);
}

/* Each tile needs up to four random tiles of earlier stages or of lower lanes of its own. */
static void make_world(int64_t stages, int64_t lanes, uint64_t seed) {
  memset(&world, 0, sizeof world);
  world.n = stages * lanes, world.lanes = lanes, world.fails = -1;
  for (int64_t u = 0; u < world.n; u++) {
    world.units[u] = (tsl_unit){.id = u, .stage = u / lanes, .lane = u % lanes, .count = 1};
    if (u >= lanes) add_before(u, u - lanes);
    for (int k = random_below(&seed, MOST_BEFORE); k > 0 && u > 0; k--)
      add_before(u, u - 1 - random_below(&seed, (int)(u < 2 * lanes ? u : 2 * lanes)));
    close_tile(u);
  }
}

/* Large edges of lane 0 are needed `far` stages later by lane 2, and at once by lane 3, each of
 * another rank; with ties lanes 1 and 2 need each other in every stage. */
static void make_far_world(int64_t stages, int64_t far, bool ties) {
  enum { LANES = 4, KIB_128 = 1 << 14 };
  make_world(stages, LANES, 1);
  world.large = KIB_128;
  for (int64_t u = 0; u < world.n; u++) {
    const int64_t stage = u / LANES, lane = u % LANES;
    world.n_before[u] = 0;
    if (lane == 2 && stage >= far) add_before(u, (stage - far) * LANES);
    if (lane == 2 && stage > 0 && ties) add_before(u, (stage - 1) * LANES + 1);
    if (stage > 0) add_before(u, u - LANES);
    if (lane == 1 && stage > 0 && ties) add_before(u, (stage - 1) * LANES + 2);
    if (lane == 3 && stage > 0) add_before(u, (stage - 1) * LANES);
    close_tile(u);
  }
}

static int64_t predecessors(const tsl_problem *problem, const tsl_unit *units, int64_t n_units,
                            int64_t id, int64_t *list, int64_t room) {
  (void)problem, (void)units, (void)n_units;
  for (int k = 0; k < world.n_before[id] && k < room; k++) list[k] = world.before[id][k];
  return world.n_before[id];
}

static int64_t edge_bytes(const tsl_problem *problem, const tsl_unit *unit) {
  (void)problem;
  return 8 * edge_words(unit->id);
}

static void region(const tsl_problem *problem, const tsl_unit *unit, int field, int64_t lo[3],
                   int64_t hi[3]) {
  (void)problem;
  for (int k = 0; k < 3; k++) lo[k] = hi[k] = 0;
  if (field == VALUES && unit->id % 2 == 0) /* every other tile fills something */
    lo[0] = unit->id, hi[0] = unit->id + 1, hi[1] = hi[2] = 1;
}

static tsl_err traceback_begin(tsl_problem *problem, tsl_cursor *cursor) {
  (void)problem;
  *cursor = (tsl_cursor){.lane = world.lanes - 1, .at = {world.lanes}};
  return TSL_OK;
}

static int64_t walked[MAX_TILES][2], n_walked;

static tsl_err traceback_steps(tsl_problem *problem, const int64_t (*steps)[2], int64_t n) {
  (void)problem;
  for (int64_t k = 0; k < n; k++) memcpy(walked[n_walked++], steps[k], sizeof walked[0]);
  return TSL_OK;
}

static const tsl_family family = {.name = "wave",
                                  .shape = TSL_WAVE,
                                  .n_kinds = 1,
                                  .region = region,
                                  .predecessors = predecessors,
                                  .edge_bytes = edge_bytes,
                                  .traceback_begin = traceback_begin,
                                  .traceback_steps = traceback_steps};

/* --------------------------------------------------------------- its backend */

struct tsl_worker {
  uint64_t value[MAX_TILES];
  bool known[MAX_TILES], mine[MAX_TILES];
  struct {
    const tsl_unit *units;
    int64_t n;
    tsl_part *parts;
  } started[TSL_MOST_STARTED]; /* oldest first */
  int n_started, most_started;
  int asked; /* for the end of the oldest */
};

static tsl_err one_tile(tsl_worker *w, const tsl_unit *unit, tsl_part *part) {
  tsl_err err = TSL_OK;
  uint64_t value = (uint64_t)unit->id;
  if (unit->id == world.fails) TSL_FAIL(TSL_ERR_NUMERIC, "tile %lld fails", (long long)unit->id);
  for (int k = 0; k < world.n_before[unit->id]; k++) {
    const int64_t before = world.before[unit->id][k];
    if (!w->known[before])
      TSL_FAIL(TSL_ERR_INTERNAL, "tile %lld before %lld", (long long)unit->id, (long long)before);
    value = mix(value, edge_words(before) > 0 ? w->value[before] : 1);
  }
  w->value[unit->id] = value;
  w->known[unit->id] = w->mine[unit->id] = true;
  if (unit->id % 2 == 0) memcpy(part->slab[VALUES], &value, sizeof value);
  part->seconds = 1e-9;
done:
  return err;
}

static tsl_err tiles(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  const struct timespec moment = {0, 2000000};
  if (world.dawdles && rank == size - 1) (void)nanosleep(&moment, NULL);
  for (int64_t k = 0; k < n; k++) {
    if (units[k].stage != units[0].stage) TSL_FAIL(TSL_ERR_INTERNAL, "two stages in a group");
    TSL_TRY(one_tile(w, &units[k], &parts[k]));
  }
done:
  return err;
}

/* In two halves: the tiles are computed when they are waited for. */
static tsl_err start(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  if (w->n_started == TSL_MOST_STARTED) TSL_FAIL(TSL_ERR_INTERNAL, "too many are started");
  w->started[w->n_started].units = units;
  w->started[w->n_started].n = n;
  w->started[w->n_started++].parts = parts;
  if (w->n_started > w->most_started) w->most_started = w->n_started;
done:
  return err;
}

/* After a while: until then another can be started. */
static bool ended(tsl_worker *w) {
  enum { PATIENCE = 50 };
  return ++w->asked > PATIENCE;
}

static tsl_err finish(tsl_worker *w) {
  const int64_t n = w->started[0].n;
  const tsl_unit *units = w->started[0].units;
  tsl_part *parts = w->started[0].parts;
  if (w->n_started == 0)
    return tsl_fail(TSL_ERR_INTERNAL, __FILE__, __LINE__, "nothing is started");
  w->started[0] = w->started[1];
  w->n_started--;
  w->asked = 0;
  return tiles(w, units, n, parts);
}

static tsl_err edge_out(tsl_worker *w, const tsl_unit *unit, void *bytes) {
  tsl_err err = TSL_OK;
  if (!w->mine[unit->id]) TSL_FAIL(TSL_ERR_INTERNAL, "edge of a tile that is not done");
  for (int64_t k = 0; k < edge_words(unit->id); k++)
    ((uint64_t *)bytes)[k] = w->value[unit->id] + (uint64_t)k;
done:
  return err;
}

static tsl_err edge_in(tsl_worker *w, const tsl_unit *unit, const void *bytes) {
  tsl_err err = TSL_OK;
  const int64_t words = edge_words(unit->id);
  if (w->known[unit->id]) TSL_FAIL(TSL_ERR_INTERNAL, "the edge of a tile came twice");
  for (int64_t k = 1; k < words; k++)
    if (((const uint64_t *)bytes)[k] != ((const uint64_t *)bytes)[0] + (uint64_t)k)
      TSL_FAIL(TSL_ERR_INTERNAL, "an edge was changed");
  if (words > 0) w->value[unit->id] = ((const uint64_t *)bytes)[0];
  w->known[unit->id] = true;
done:
  return err;
}

/* Back lane by lane: two steps in each, as far as this worker owns them. */
static tsl_err traceback(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_cursor *cursor,
                         tsl_list *steps) {
  int64_t(*list)[2] = malloc((size_t)(2 * world.lanes) * sizeof *list + 1);
  (void)units;
  if (list == NULL) return TSL_ERR_MEMORY;
  *steps = (tsl_list){.data = list};
  if (world.stands) return TSL_OK;
  while (cursor->lane >= 0 && w->mine[n - world.lanes + cursor->lane]) {
    for (int k = 0; k < 2; k++, steps->n++) list[steps->n][0] = cursor->lane, list[steps->n][1] = k;
    cursor->lane--;
    cursor->at[0]--;
  }
  return TSL_OK;
}

static const tsl_backend backend = {.family = "wave",
                                    .tiles = tiles,
                                    .edge_out = edge_out,
                                    .edge_in = edge_in,
                                    .traceback = traceback};
static const tsl_backend overlapping = {.family = "wave",
                                        .tiles = tiles,
                                        .start = start,
                                        .ended = ended,
                                        .finish = finish,
                                        .edge_out = edge_out,
                                        .edge_in = edge_in,
                                        .traceback = traceback};

/* ------------------------------------------------------------------ a phase */

typedef struct stage {
  tsl_problem problem;
  tsl_placement placement; /* a socket */
  tsl_executor executor;
  tsl_worker *worker;
  tsl_speed speeds[16];
  tsl_cost cost;
  tsl_plan plan;
  tsl_timeline trace;
  int32_t owner[MAX_TILES];
  tsl_phase phase;
} stage;

/* Lanes to ranks: at random, all to the last rank, or in strips. */
static int32_t owner_of(int64_t lane, int how, uint64_t seed) {
  uint64_t state = seed * 1000 + (uint64_t)lane;
  if (how == 0) return (int32_t)random_below(&state, size);
  return (int32_t)(how == 1 ? size - 1 : lane * size / world.lanes);
}

static tsl_err make_fields(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const tsl_field ask = {.name = "values",
                         .role = TSL_OUT,
                         .type = TSL_U64,
                         .combine = TSL_GATHER,
                         .rank = 1,
                         .shape = {MAX_TILES, 1, 1}};
  tsl_field *added = NULL;
  TSL_TRY(tsl_problem_add(problem, &ask, &added));
  if (rank == 0) TSL_TRY(tsl_alloc(MAX_TILES, 8, "values", &added->data));
done:
  return err;
}

static void open_stage(stage *s, int how, uint64_t seed) {
  memset(s, 0, sizeof *s);
  s->problem.family = &family;
  CHECK(make_fields(&s->problem) == TSL_OK);
  CHECK(tsl_alloc(1, sizeof *s->worker, "worker", (void **)&s->worker) == TSL_OK);
  s->executor = (tsl_executor){
      .problem = &s->problem, .backend = &backend, .worker = s->worker, .placement = &s->placement};
  CHECK(tsl_compute_thread_start(NULL, NULL, &s->executor.thread) == TSL_OK);
  for (int r = 0; r < size; r++) s->speeds[r].c[0][3] = 1e-6;
  s->cost = (tsl_cost){.n_ranks = size, .speeds = s->speeds};
  for (int64_t u = 0; u < world.n; u++) s->owner[u] = owner_of(world.units[u].lane, how, seed);
  s->plan = (tsl_plan){.n_units = world.n, .n_ranks = size, .owner = s->owner};
  CHECK(tsl_trace_start(MPI_COMM_WORLD, false, &s->trace) == TSL_OK);
  s->phase = quiet_phase(&s->executor, &s->problem, world.units, &s->plan, &s->cost, &s->trace);
}

static void close_stage(stage *s) {
  tsl_compute_thread_stop(&s->executor.thread);
  tsl_phase_clear(&s->phase);
  tsl_problem_clear(&s->problem);
  tsl_trace_clear(&s->trace);
  tsl_free(s->worker);
}

static bool values_right(const stage *s) {
  if (rank != 0) return true;
  for (int64_t u = 0; u < world.n; u += 2)
    if (((const uint64_t *)s->problem.fields[VALUES].data)[u] != world.values[u]) return false;
  return true;
}

static bool own_right(const stage *s) {
  for (int64_t u = 0; u < world.n; u++)
    if (s->worker->mine[u] != (s->owner[u] == rank) ||
        (s->worker->mine[u] && s->worker->value[u] != world.values[u]))
      return false;
  return true;
}

/* -------------------------------------------------------------------- tests */

static void edges_pass(const tsl_backend *by) {
  static stage s;
  static const int64_t sizes[][2] = {{1, 1}, {1, 30}, {40, 1}, {25, 40}, {3, 7}, {100, 11}};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    for (int how = 0; how < 3; how++) {
      make_world(sizes[k][0], sizes[k][1], 7 * k + (uint64_t)how);
      open_stage(&s, how, k);
      s.executor.backend = by;
      CHECK(tsl_wave_run(&s.phase) == TSL_OK);
      CHECK(values_right(&s));
      CHECK(own_right(&s));
      int64_t all = s.phase.n_log;
      (void)MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
      CHECK(all == world.n);
      CHECK(s.worker->n_started == 0);
      if (by == &overlapping && size == 1 && sizes[k][0] == 40) CHECK(s.worker->most_started == 2);
      close_stage(&s);
    }
}

static void edges_arrive(void **state) {
  (void)state;
  edges_pass(&backend);
}

/* A group begins while the one before is under way. */
static void groups_overlap(void **state) {
  (void)state;
  edges_pass(&overlapping);
}

static void open_far_stage(stage *s) {
  open_stage(s, 0, 1);
  const int32_t owners[] = {0, 0, (int32_t)size - 1, (int32_t)size / 2};
  for (int64_t u = 0; u < world.n; u++) s->owner[u] = owners[world.units[u].lane];
  s->phase.unsent = 300000; /* two large edges */
}

/* A rank without needs of its own is held back by those that need its edges. */
static void memory_is_bounded(void **state) {
  static stage s;
  (void)state;
  make_far_world(100, 1, false);
  world.dawdles = true;
  open_far_stage(&s);
  CHECK(tsl_wave_run(&s.phase) == TSL_OK);
  CHECK(values_right(&s));
  double last = s.phase.finish;
  (void)MPI_Bcast(&last, 1, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
  CHECK(rank != 0 || s.phase.finish >= 0.5 * last);
  close_stage(&s);
}

/* But not while they wait for it: receives are posted some groups ahead only. */
static void nobody_waits_for_ever(void **state) {
  static stage s;
  (void)state;
  make_far_world(100, 20, true);
  open_far_stage(&s);
  CHECK(tsl_wave_run(&s.phase) == TSL_OK);
  CHECK(values_right(&s));
  close_stage(&s);
}

static void no_tiles(void **state) {
  static stage s;
  (void)state;
  make_world(0, 1, 1);
  open_stage(&s, 0, 1);
  CHECK(tsl_wave_run(&s.phase) == TSL_OK);
  close_stage(&s);
}

/* Wherever a tile fails, all ranks come back with its message. */
static void failures_end_it(void **state) {
  static stage s;
  (void)state;
  for (int64_t tile = 0; tile < 200; tile += 37) {
    make_world(20, 10, 3);
    world.fails = tile;
    open_stage(&s, 0, (uint64_t)tile);
    if (tile % 2 == 1) s.executor.backend = &overlapping;
    CHECK(tsl_wave_run(&s.phase) == TSL_ERR_NUMERIC);
    CHECK(strstr(tsl_err_message(), "fails") != NULL);
    close_stage(&s);
  }
}

static void traceback_visits_owners(void **state) {
  static stage s;
  (void)state;
  for (int how = 0; how < 3; how++) {
    make_world(4, 50, 11);
    open_stage(&s, how, 5);
    CHECK(tsl_wave_run(&s.phase) == TSL_OK);
    n_walked = 0;
    CHECK(tsl_traceback(MPI_COMM_WORLD, &s.executor, &s.problem, world.units, &s.plan, NULL) ==
          TSL_OK);
    CHECK(n_walked == (rank == 0 ? 2 * world.lanes : 0));
    for (int64_t k = 0; k < n_walked; k++)
      if (walked[k][0] != world.lanes - 1 - k / 2 || walked[k][1] != k % 2) n_walked = -1;
    CHECK(n_walked >= 0);
    close_stage(&s);
  }
}

static void traceback_stands_still(void **state) {
  static stage s;
  (void)state;
  make_world(4, 50, 11);
  world.stands = true;
  open_stage(&s, 0, 5);
  CHECK(tsl_wave_run(&s.phase) == TSL_OK);
  CHECK(tsl_traceback(MPI_COMM_WORLD, &s.executor, &s.problem, world.units, &s.plan, NULL) ==
        TSL_ERR_INTERNAL);
  close_stage(&s);
}

/* What is done before a turn: it ends the walk. */
static tsl_err look(void *state, const tsl_cursor *cursor) {
  int *looks = state;
  CHECK(cursor->lane == world.lanes - 1);
  ++*looks;
  return tsl_fail(TSL_ERR_PAUSED, __FILE__, __LINE__, "to be continued");
}

static void traceback_pauses(void **state) {
  static stage s;
  int looks = 0;
  const tsl_traceback_break between = {.state = &looks, .look = look, .on = true},
                            alone = {.state = &looks, .look = look};
  (void)state;
  make_world(4, 50, 11);
  open_stage(&s, 2, 5);
  CHECK(tsl_wave_run(&s.phase) == TSL_OK);
  tsl_stop_signal = SIGTERM; /* left to look */
  CHECK(tsl_traceback(MPI_COMM_WORLD, &s.executor, &s.problem, world.units, &s.plan, &between) ==
        TSL_ERR_PAUSED);
  CHECK(looks == 1);
  CHECK(tsl_traceback(MPI_COMM_WORLD, &s.executor, &s.problem, world.units, &s.plan, &alone) ==
        TSL_ERR_STOPPED);
  tsl_stop_signal = SIGINT; /* not left to it */
  CHECK(tsl_traceback(MPI_COMM_WORLD, &s.executor, &s.problem, world.units, &s.plan, &between) ==
        TSL_ERR_STOPPED);
  CHECK(looks == 1);
  tsl_stop_signal = 0;
  close_stage(&s);
}

/* Seconds of two parts of 0.01 and 0.03 s after TSL_TEST_SLOW on a device, and those it took. */
static double lingered(tsl_device_kind kind, const char *slow, int64_t units, double seconds[2]) {
  tsl_placement placement = {.device.kind = kind};
  const tsl_executor executor = {.placement = &placement};
  tsl_part parts[2] = {{.seconds = 0.01}, {.seconds = 0.03}};
  const double start = tsl_now();
  (void)setenv("TSL_TEST_SLOW", slow, 1);
  CHECK(tsl_test_delay(&executor, units, parts, 2) == TSL_OK);
  (void)unsetenv("TSL_TEST_SLOW");
  for (int k = 0; k < 2; k++) seconds[k] = parts[k].seconds;
  return tsl_now() - start;
}

static bool near(double x, double y) {
  return fabs(x - y) < 1e-9;
}

static void cards_linger(void **state) {
  double seconds[2], took = 0;
  (void)state;
  took += lingered(TSL_GPU, "3", 2, seconds);
  CHECK(near(seconds[0], 0.03) && near(seconds[1], 0.09));
  took += lingered(TSL_GPU, "+0.05", 2, seconds); /* the less, as the first woke late */
  CHECK(took >= 0.08 + 0.06);
  CHECK(near(seconds[0], 0.025) && near(seconds[1], 0.075));
  CHECK(lingered(TSL_GPU, "+0.01", 1, seconds) >= 0 && near(seconds[0], 0.01));
  (void)lingered(TSL_CPU, "3", 2, seconds); /* its backends do it themselves */
  CHECK(near(seconds[0], 0.01) && near(seconds[1], 0.03));
  (void)lingered(TSL_GPU, "+0", 2, seconds); /* as without */
  CHECK(near(seconds[0], 0.01) && near(seconds[1], 0.03));
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(edges_arrive),
      cmocka_unit_test(groups_overlap),
      cmocka_unit_test(memory_is_bounded),
      cmocka_unit_test(nobody_waits_for_ever),
      cmocka_unit_test(no_tiles),
      cmocka_unit_test(failures_end_it),
      cmocka_unit_test(traceback_visits_owners),
      cmocka_unit_test(traceback_stands_still),
      cmocka_unit_test(traceback_pauses),
      cmocka_unit_test(cards_linger),
  };
  begin_ranks(&argc, &argv);
  (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  return end_ranks(cmocka_run_group_tests(tests, NULL, NULL));
}
