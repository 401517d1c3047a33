/* unit.bind: who gets which card and which cores, on recorded hosts. No MPI calls. */
#include "bind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_RANKS = 16, MAX_CARDS = 8 };

/* A recorded host with its ranks. */
typedef struct bench {
  hwloc_topology_t topology;
  tsl_core *cores;
  tsl_card cards[MAX_CARDS];
  int32_t ordinal[MAX_RANKS * MAX_CARDS];
  bool *in_job, *may_run, *chosen;
  tsl_bind_host host;
  tsl_bind_choice got[MAX_RANKS];
} bench;

static void finish_host(bench *b, int32_t n_cards, int32_t n_ranks) {
  assert_int_equal(hwloc_topology_load(b->topology), 0);
  assert_int_equal(tsl_bind_cores(b->topology, &b->cores, &b->host.n_cores), TSL_OK);
  const size_t n = (size_t)b->host.n_cores;
  b->in_job = malloc(n);
  b->may_run = malloc(n * (size_t)n_ranks);
  b->chosen = malloc(n * (size_t)n_ranks);
  memset(b->in_job, true, n);
  memset(b->may_run, true, n * (size_t)n_ranks);
  for (int32_t c = 0; c < n_cards; c++) {
    (void)snprintf(b->cards[c].id, sizeof b->cards[c].id, "GPU-%d", c);
    b->cards[c].numa = b->cores[n - 1].numa * c * 2 / n_cards; /* first half 0, the rest the last */
    for (int32_t r = 0; r < n_ranks; r++) b->ordinal[r * n_cards + c] = c;
  }
  b->host.n_cards = n_cards, b->host.n_ranks = n_ranks;
  b->host.cores = b->cores, b->host.cards = b->cards;
  b->host.in_job = b->in_job, b->host.may_run = b->may_run, b->host.ordinal = b->ordinal;
}

/* Synthetic hwloc text, or the name of a recording in tests/machines. */
static void open_host(bench *b, const char *text, int32_t n_cards, int32_t n_ranks) {
  char path[512];
  memset(b, 0, sizeof *b);
  assert_int_equal(hwloc_topology_init(&b->topology), 0);
  if (strstr(text, ".xml") != NULL) {
    (void)snprintf(path, sizeof path, "%s/%s", TSL_MACHINES, text);
    assert_int_equal(hwloc_topology_set_xml(b->topology, path), 0);
  } else
    assert_int_equal(hwloc_topology_set_synthetic(b->topology, text), 0);
  finish_host(b, n_cards, n_ranks);
}

static void close_host(bench *b) {
  hwloc_topology_destroy(b->topology);
  tsl_free(b->cores);
  free(b->in_job), free(b->may_run), free(b->chosen);
}

static tsl_err decide(bench *b, const char *devices, int32_t threads, bool share) {
  const tsl_bind_ask ask = {.devices = devices, .threads = threads, .allow_shared_gpu = share};
  return tsl_bind_decide(&ask, &b->host, b->got, b->chosen);
}

static bool has_core(const bench *b, int32_t rank, int32_t core) {
  return b->chosen[rank * b->host.n_cores + core];
}

/* Cores belong to one rank at most, lie in its mask, and are counted right. */
static void check_cores(const bench *b) {
  for (int32_t c = 0; c < b->host.n_cores; c++) {
    int owners = 0;
    for (int32_t r = 0; r < b->host.n_ranks; r++) owners += has_core(b, r, c);
    assert_in_range(owners, 0, 1);
  }
  for (int32_t r = 0; r < b->host.n_ranks; r++) {
    int32_t n = 0;
    for (int32_t c = 0; c < b->host.n_cores; c++) {
      n += has_core(b, r, c);
      assert_true(!has_core(b, r, c) || b->may_run[r * b->host.n_cores + c]);
    }
    assert_int_equal(n, b->got[r].n_cores);
    assert_true(b->got[r].threads >= 1);
    assert_int_equal((b->got[r].notes & TSL_NOTE_CROWDED) != 0, n == 0);
  }
}

static const char small[] = "package:1 core:4 pu:1";
static const char big[] = "two-sockets-32-cores.xml";

/* ----------------------------------------------------------------- CPU ranks */

static void one_socket(void **state) {
  static const int32_t cores[9][8] = {{0}, {4}, {2, 2}, {1, 1, 2}, {1, 1, 1, 1}, {0}};
  (void)state;
  for (int32_t n = 1; n <= 8; n++) {
    bench b;
    int32_t sum = 0;
    open_host(&b, small, 0, n);
    assert_int_equal(decide(&b, "auto", 0, false), TSL_OK);
    check_cores(&b);
    for (int32_t r = 0; r < n; r++) {
      assert_int_equal(b.got[r].kind, TSL_CPU);
      assert_int_equal(b.got[r].package, 0);
      if (n <= 4) assert_int_equal(b.got[r].threads, cores[n][r]);
      if (n > 4) assert_int_equal(b.got[r].threads, 1);
      sum += b.got[r].n_cores;
    }
    assert_int_equal(sum, 4);
    close_host(&b);
  }
}

static void two_sockets_shared_evenly(void **state) {
  bench b;
  (void)state;
  for (int32_t n = 1; n <= 8; n++) {
    int32_t on[2] = {0, 0}, cores[2] = {0, 0};
    open_host(&b, big, 0, n);
    assert_int_equal(decide(&b, "cpu", 0, false), TSL_OK);
    check_cores(&b);
    for (int32_t r = 0; r < n; r++) {
      on[b.got[r].package]++;
      cores[b.got[r].package] += b.got[r].n_cores;
      assert_int_equal(b.got[r].threads, b.got[r].n_cores);
      for (int32_t c = 0; c < b.host.n_cores; c++)
        assert_true(!has_core(&b, r, c) || b.cores[c].package == b.got[r].package);
    }
    assert_in_range(on[0] - on[1], 0, 1);
    assert_int_equal(cores[0], 16);
    assert_int_equal(cores[1], n > 1 ? 16 : 0);
    assert_int_equal((b.got[0].notes & TSL_NOTE_IDLE_CORES) != 0, n == 1);
    close_host(&b);
  }
}

static void threads_asked(void **state) {
  bench b;
  (void)state;
  open_host(&b, big, 0, 4);
  assert_int_equal(decide(&b, "cpu", 3, false), TSL_OK);
  check_cores(&b);
  for (int32_t r = 0; r < 4; r++) {
    assert_int_equal(b.got[r].n_cores, 3);
    assert_int_equal(b.got[r].threads, 3);
    assert_int_equal(b.got[r].notes, 0);
  }
  assert_int_equal(decide(&b, "cpu", 12, false), TSL_OK); /* 8 cores each */
  assert_int_equal(b.got[0].threads, 12);
  assert_int_equal(b.got[0].n_cores, 8);
  assert_int_equal(b.got[0].notes, TSL_NOTE_THREADS);
  close_host(&b);
}

/* ----------------------------------------------------------------- GPU ranks */

static void cards_first(void **state) {
  (void)state;
  for (int32_t n = 1; n <= 8; n++) {
    bench b;
    open_host(&b, big, 4, n);
    assert_int_equal(decide(&b, "auto", 0, false), TSL_OK);
    check_cores(&b);
    for (int32_t r = 0; r < n; r++) {
      assert_int_equal(b.got[r].kind, r < 4 ? TSL_GPU : TSL_CPU);
      assert_int_equal(b.got[r].card, r < 4 ? r : -1);
      if (r < 4) assert_int_equal(b.got[r].package, r / 2); /* feeds from the card's own socket */
      if (r < 4) assert_int_equal(b.got[r].threads, 1);
    }
    if (n == 6) { /* two feeders of two cores per socket; the rest for the CPU rank there */
      assert_int_equal(b.got[4].package, 0);
      assert_int_equal(b.got[5].package, 1);
      assert_int_equal(b.got[4].threads, 12);
      assert_int_equal(b.got[5].threads, 12);
      assert_int_equal(b.got[0].n_cores, 2);
    }
    if (n == 4) assert_int_equal(b.got[3].n_cores, 8); /* no CPU rank: they divide the socket */
    assert_int_equal((b.got[0].notes & TSL_NOTE_IDLE_CARDS) != 0, n < 4);
    close_host(&b);
  }
}

static void free_socket_first(void **state) {
  bench b;
  (void)state;
  open_host(&b, big, 2, 3);
  b.cards[1].numa = 0; /* both cards on socket 0 */
  assert_int_equal(decide(&b, "auto", 0, false), TSL_OK);
  check_cores(&b);
  assert_int_equal(b.got[2].package, 1);
  assert_int_equal(b.got[2].threads, 16);
  close_host(&b);
}

static void absent_refused(void **state) {
  bench b;
  (void)state;
  open_host(&b, small, 0, 1);
  b.host.no_card = "no driver";
  assert_int_equal(decide(&b, "gpu", 0, false), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "no driver"));
  assert_int_equal(decide(&b, "gpu0", 0, true), TSL_ERR_INPUT);
  close_host(&b);
  open_host(&b, big, 4, 5);
  assert_int_equal(decide(&b, "gpu", 0, false), TSL_ERR_INPUT); /* fifth rank finds none */
  assert_non_null(strstr(tsl_err_message(), "allow_shared_gpu"));
  assert_int_equal(decide(&b, "gpu,gpu,gpu,gpu,gpu4", 0, false), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "gpu4"));
  close_host(&b);
}

static void sharing(void **state) {
  bench b;
  (void)state;
  open_host(&b, big, 2, 5);
  assert_int_equal(decide(&b, "gpu", 0, true), TSL_OK);
  check_cores(&b);
  assert_int_equal(b.got[0].sharers + b.got[1].sharers, 5);
  assert_true(b.got[4].notes & TSL_NOTE_SHARED_CARD);
  assert_int_equal(decide(&b, "gpu0,gpu0,cpu,cpu,cpu", 0, false), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "GPU-0"));
  assert_int_equal(decide(&b, "gpu0,gpu0,cpu,cpu,cpu", 0, true), TSL_OK);
  assert_int_equal(b.got[1].sharers, 2);
  assert_int_equal(b.got[2].notes & TSL_NOTE_SHARED_CARD, 0);
  close_host(&b);
}

static void lists(void **state) {
  bench b;
  (void)state;
  open_host(&b, big, 2, 4);
  assert_int_equal(decide(&b, "cpu1, gpu1 ,cpu0,gpu", 0, false), TSL_OK);
  check_cores(&b);
  assert_int_equal(b.got[0].package, 1);
  assert_int_equal(b.got[1].card, 1);
  assert_int_equal(b.got[2].package, 0);
  assert_int_equal(b.got[3].card, 0);
  assert_int_equal(decide(&b, "cpu,cpu", 0, false), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "2 words"));
  assert_int_equal(decide(&b, "cpu,cpu,cpu2,cpu", 0, false), TSL_ERR_INPUT);
  assert_int_equal(decide(&b, "cpu,cpu,tpu,cpu", 0, false), TSL_ERR_INPUT);
  assert_int_equal(decide(&b, "cpu,cpu,,cpu", 0, false), TSL_ERR_INPUT);
  assert_int_equal(decide(&b, "cpu,cpu,cpu1x,cpu", 0, false), TSL_ERR_INPUT);
  assert_int_equal(decide(&b, "gpu99999999999999999999,cpu,cpu,cpu", 0, false), TSL_ERR_INPUT);
  assert_int_equal(decide(&b, "", 0, false), TSL_ERR_INPUT);
  close_host(&b);
}

/* Each rank sees one card, as with srun --gpus-per-task=1, or overlapping sets. */
static void visible_by_rank(void **state) {
  bench b;
  (void)state;
  open_host(&b, big, 2, 2);
  b.ordinal[0] = -1, b.ordinal[1] = 0; /* rank 0 sees card 1 as its number 0 */
  b.ordinal[2] = 0, b.ordinal[3] = -1;
  assert_int_equal(decide(&b, "gpu", 0, false), TSL_OK);
  assert_int_equal(b.got[0].card, 1);
  assert_int_equal(b.got[1].card, 0);
  assert_int_equal(decide(&b, "gpu0,gpu0", 0, false), TSL_OK);
  b.ordinal[0] = 0, b.ordinal[1] = 1; /* rank 0 sees both, rank 1 the first only */
  assert_int_equal(decide(&b, "gpu", 0, false), TSL_OK);
  assert_int_equal(b.got[0].card, 1);
  assert_int_equal(b.got[1].card, 0);
  close_host(&b);
}

/* ----------------------------------------------------------- launcher's masks */

static void narrow_masks(void **state) {
  bench b;
  (void)state;
  open_host(&b, big, 0, 2); /* mpirun's standard for two ranks: one core each */
  memset(b.may_run, false, 64);
  b.may_run[0] = b.may_run[32 + 1] = true;
  assert_int_equal(decide(&b, "auto", 0, false), TSL_OK);
  check_cores(&b);
  assert_int_equal(b.got[0].threads, 1);
  assert_int_equal(b.got[1].threads, 1);
  assert_true(b.got[0].notes & TSL_NOTE_NARROW);
  assert_int_equal(decide(&b, "auto", 16, false), TSL_OK);
  assert_int_equal(b.got[1].threads, 16);
  assert_true(b.got[1].notes & TSL_NOTE_NARROW);
  assert_int_equal(decide(&b, "cpu1,cpu0", 0, false), TSL_ERR_INPUT); /* no core of socket 1 */
  close_host(&b);
}

static void disjoint_masks(void **state) {
  bench b;
  (void)state;
  open_host(&b, big, 0, 4); /* --map-by socket:PE=8 */
  for (int32_t r = 0; r < 4; r++)
    for (int32_t c = 0; c < 32; c++) b.may_run[r * 32 + c] = c / 8 == (r % 2) * 2 + r / 2;
  assert_int_equal(decide(&b, "auto", 0, false), TSL_OK);
  check_cores(&b);
  for (int32_t r = 0; r < 4; r++) {
    assert_int_equal(b.got[r].package, r % 2);
    assert_int_equal(b.got[r].n_cores, 8);
    assert_int_equal(b.got[r].notes, 0);
  }
  close_host(&b);
}

static void common_part_split(void **state) {
  bench b;
  (void)state;
  open_host(&b, big, 0, 2); /* a job of 8 cores on one socket of a shared node */
  for (int32_t c = 0; c < 32; c++)
    b.in_job[c] = b.may_run[c] = b.may_run[32 + c] = c >= 4 && c < 12;
  assert_int_equal(decide(&b, "auto", 0, false), TSL_OK);
  check_cores(&b);
  assert_int_equal(b.got[0].n_cores, 4);
  assert_int_equal(b.got[1].n_cores, 4);
  assert_int_equal(b.got[0].notes | b.got[1].notes, 0);
  close_host(&b);
}

static void crowded_gpu_rank_feeds(void **state) {
  bench b;
  (void)state;
  open_host(&b, "package:1 core:2 pu:1", 1, 2);
  assert_int_equal(decide(&b, "auto", 0, false), TSL_OK);
  check_cores(&b);
  assert_int_equal(b.got[0].n_cores, 1);
  assert_int_equal(b.got[1].n_cores, 1);
  close_host(&b);
}

/* ------------------------------------------------------------- masks and text */

static void cpuset_text(void **state) {
  bench b;
  char text[256];
  (void)state;
  open_host(&b, big, 0, 1);
  hwloc_bitmap_t allowed = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(b.topology));
  memset(b.chosen, false, 32);
  b.chosen[0] = b.chosen[1] = b.chosen[17] = true;
  assert_int_equal(tsl_bind_cpuset(b.topology, b.chosen, 32, allowed, text), TSL_OK);
  assert_string_equal(text, "0-3,34-35"); /* two hardware threads on each core */
  (void)hwloc_bitmap_clr(allowed, 35);
  assert_int_equal(tsl_bind_cpuset(b.topology, b.chosen, 32, allowed, text), TSL_OK);
  assert_string_equal(text, "0-3,34");
  hwloc_bitmap_free(allowed);
  close_host(&b);
}

/** The ranks of a node lend their cores; a rank that is not pinned stays so. */
static void node_cores(void **state) {
  tsl_placement p[4] = {{.node = 1, .cores = 4, .threads = 1, .cpuset = "0-3,16-19"},
                        {.node = 0, .cores = 8, .threads = 3, .cpuset = "0-7"},
                        {.node = 1, .cores = 2, .threads = 2, .cpuset = "8,10", .rank = 2},
                        {.node = 1, .cores = 0}};
  tsl_placement all;
  (void)state;
  p[0].device.kind = TSL_GPU, p[1].device.kind = p[2].device.kind = TSL_CPU;
  assert_int_equal(tsl_bind_node(p, 4, 2, &all), TSL_OK);
  assert_string_equal(all.cpuset, "0-3,8,10,16-19");
  assert_true(all.cores == 6 && all.node == 1 && all.rank == 2);
  assert_int_equal(tsl_bind_node(p, 4, 1, &all), TSL_OK);
  assert_string_equal(all.cpuset, "0-7");
  assert_int_equal(all.cores, 3);
  assert_int_equal(tsl_bind_node(p, 4, 3, &all), TSL_OK);
  assert_string_equal(all.cpuset, "");
  assert_int_equal(all.cores, 6);
}

static void table_text(void **state) {
  tsl_placement placements[2] = {
      {.rank = 0, .local_size = 2, .threads = 1, .cores = 1, .node_cores = 32},
      {.rank = 1, .local_size = 2, .threads = 16, .node_cores = 32}};
  char *text = NULL;
  size_t bytes = 0;
  FILE *file = open_memstream(&text, &bytes);
  (void)state;
  placements[0].device.kind = TSL_GPU;
  (void)snprintf(placements[0].device.id, sizeof placements[0].device.id, "GPU-12");
  (void)snprintf(placements[1].host, sizeof placements[1].host, "a-long-host-name");
  (void)snprintf(placements[1].cpuset, sizeof placements[1].cpuset, "0-15");
  placements[0].notes = TSL_NOTE_NARROW, placements[1].notes = TSL_NOTE_NARROW | TSL_NOTE_CROWDED;
  tsl_machine_print(placements, 2, file);
  tsl_machine_warn(placements, 2, file);
  (void)fclose(file);
  assert_non_null(strstr(text, "GPU-12"));
  assert_non_null(strstr(text, "not pinned"));
  assert_non_null(strstr(text, "and 1 more rank)"));
  assert_non_null(strstr(text, "--bind-to none"));
  assert_non_null(strstr(text, "more ranks than cores"));
  assert_null(strstr(text, "OMP_PLACES"));
  free(text);
}

static const char *const *slurm; /* name, value, name, value, ..., NULL */

static char *look(const char *name) {
  for (int i = 0; slurm[i] != NULL; i += 2)
    if (strcmp(slurm[i], name) == 0) return (char *)slurm[i + 1];
  return NULL;
}

static void slurm_notes(void **state) {
  static const char *const none[] = {NULL};
  static const char *const plain[] = {"SLURM_NTASKS", "8", NULL};
  static const char *const het[] = {"SLURM_NTASKS",
                                    "2",
                                    "SLURM_NTASKS_HET_GROUP_0",
                                    "2",
                                    "SLURM_HET_SIZE",
                                    "2",
                                    "SLURM_NTASKS_HET_GROUP_1",
                                    "3",
                                    NULL};
  static const char *const bad[] = {"SLURM_NTASKS", "x", "SLURM_HET_SIZE", "999999999", NULL};
  static const char *const daemons[] = {"SLURM_NTASKS", "2", "SLURM_STEP_ID", "0", "PMIX_NAMESPACE",
                                        "1760821249",   NULL};
  static const char *const step[] = {"SLURM_NTASKS",   "2", "SLURM_STEP_ID", "0", "PMIX_NAMESPACE",
                                     "slurm.pmix.1.0", NULL};
  char text[512];
  (void)state;
  slurm = none;
  tsl_machine_slurm_note(4, look, text);
  assert_string_equal(text, "");
  slurm = plain;
  tsl_machine_slurm_note(8, look, text);
  assert_string_equal(text, "");
  tsl_machine_slurm_note(1, look, text);
  assert_non_null(strstr(text, "8 tasks"));
  slurm = het;
  tsl_machine_slurm_note(5, look, text);
  assert_string_equal(text, "");
  tsl_machine_slurm_note(2, look, text);
  assert_non_null(strstr(text, "--het-group=0-1"));
  slurm = bad;
  tsl_machine_slurm_note(2, look, text);
  assert_string_equal(text, "");
  slurm = daemons; /* mpirun reached this node by a step of its own */
  tsl_machine_slurm_note(8, look, text);
  assert_string_equal(text, "");
  slurm = step;
  tsl_machine_slurm_note(8, look, text);
  assert_non_null(strstr(text, "2 tasks"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_socket),
      cmocka_unit_test(two_sockets_shared_evenly),
      cmocka_unit_test(threads_asked),
      cmocka_unit_test(cards_first),
      cmocka_unit_test(free_socket_first),
      cmocka_unit_test(absent_refused),
      cmocka_unit_test(sharing),
      cmocka_unit_test(lists),
      cmocka_unit_test(visible_by_rank),
      cmocka_unit_test(narrow_masks),
      cmocka_unit_test(disjoint_masks),
      cmocka_unit_test(common_part_split),
      cmocka_unit_test(crowded_gpu_rank_feeds),
      cmocka_unit_test(cpuset_text),
      cmocka_unit_test(node_cores),
      cmocka_unit_test(table_text),
      cmocka_unit_test(slurm_notes),
  };
  return cmocka_run_group_tests_name("unit.bind", tests, NULL, NULL);
}
