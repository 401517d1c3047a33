/* mpi.cards: made-up cards, one for each rank, start beside the creation of the first problem; what
 * they have free, or why they do not start, reaches all ranks after it. */
#include "assist.h"
#include "mpi_fixture.h"
#include "stages.h"

#include <pthread.h>
#include <stdatomic.h>

static const int64_t GIB = (int64_t)1 << 30;
static const double SHARE = 0.25; /* run.device_memory of all decks here */

/* ------------------------------------------------------------------ the cards */

static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool open;                /* cards may come up */
  int waiting;              /* threads that select and may not go on */
  bool beside;              /* the problem was being created while the root's card started */
  int64_t free;             /* bytes of card 0; those of card k: so many GiB more */
  int fails;                /* card that does not start, or -1 */
  pthread_t main;           /* who may not wait for a card before the problem is there */
  atomic_int main_selected; /* so often */
} cards = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void set_open(bool open) {
  pthread_mutex_lock(&cards.lock);
  cards.open = open;
  pthread_cond_broadcast(&cards.changed);
  pthread_mutex_unlock(&cards.lock);
}

static int count(const char **why) {
  *why = NULL;
  return size;
}

static tsl_err describe(int index, tsl_device *device) {
  *device = (tsl_device){.kind = TSL_GPU, .index = index, .numa = -1, .memory = 1024 * GIB};
  (void)snprintf(device->name, sizeof device->name, "made-up card");
  (void)snprintf(device->id, sizeof device->id, "GPU-made-up-%d", index);
  return TSL_OK;
}

static tsl_err select_card(tsl_device *device) {
  tsl_err err = TSL_OK;
  if (pthread_equal(pthread_self(), cards.main)) atomic_fetch_add(&cards.main_selected, 1);
  pthread_mutex_lock(&cards.lock);
  cards.waiting++;
  pthread_cond_broadcast(&cards.changed);
  while (!cards.open) pthread_cond_wait(&cards.changed, &cards.lock);
  cards.waiting--;
  pthread_mutex_unlock(&cards.lock);
  if (device->index == cards.fails)
    TSL_FAIL(TSL_ERR_DEVICE, "card %d does not come up", device->index);
  tsl_device_has_free(device, cards.free + device->index * GIB);
done:
  return err;
}

/* The last thing in the creation of a problem, on the root: its card has begun and goes on now. */
static tsl_err prepare(tsl_problem *problem, const tsl_device *devices, int n) {
  (void)problem;
  pthread_mutex_lock(&cards.lock);
  while (cards.waiting == 0 && !cards.open) pthread_cond_wait(&cards.changed, &cards.lock);
  cards.beside = !cards.open && n == size && atomic_load(&cards.main_selected) == 0;
  for (int r = 0; r < n; r++)
    cards.beside = cards.beside && devices[r].memory_limit == (int64_t)(SHARE * 1024) * GIB;
  pthread_mutex_unlock(&cards.lock);
  set_open(true);
  return TSL_OK;
}

static const tsl_backend fractals = {.family = "fractal", .prepare = prepare};
static const tsl_backend points = {.family = "tri", .prepare = prepare};
static const tsl_backend fields = {.family = "xc", .prepare = prepare};
static const tsl_backend *const backends[] = {&fractals, &points, &fields, NULL};

const tsl_assistant tsl_gpu_assistants[] = {{NULL, NULL}};

const tsl_platform tsl_platform_gpu = {.kind = TSL_GPU,
                                       .name = "gpu",
                                       .backends = backends,
                                       .count = count,
                                       .describe = describe,
                                       .select = select_card};

/* ------------------------------------------------------------------- a session */

#define RUN "run: {device: gpu, device_memory: 0.25}\n"

static const char picture[] = RUN "family: fractal\nfractal:\n  xres: 8\n  yres: 8\n  maxiter: 9\n"
                                  "  view: {corners: [-2, -1, 1, 1]}\n";

static tsl_options options = {.deck = "deck.yaml", .quiet = true};

/* Up to where the cards have been told to start, and hang. */
static tsl_err open_session(const char *deck, int64_t n_free, int fails, tsl_session *s) {
  tsl_err err = TSL_OK;
  set_open(false);
  cards.free = n_free, cards.fails = fails, cards.beside = false;
  cards.main = pthread_self();
  atomic_store(&cards.main_selected, 0);
  options.text = deck;
  TSL_TRY(tsl_session_open(MPI_COMM_WORLD, &options, s));
  TSL_TRY(tsl_session_deck(s));
  TSL_TRY(tsl_session_machine(s));
  if (rank != 0) set_open(true); /* the root's, when its problem is nearly there */
done:
  return err;
}

/* ----------------------------------------------------------------------- tests */

static void memory_comes_after_the_problem(void **state) {
  tsl_session s;
  (void)state;
  CHECK(open_session(picture, 80 * GIB, -1, &s) == TSL_OK);
  CHECK(!s.met);
  for (int r = 0; r < size; r++) CHECK(s.placements[r].device.memory_limit == 256 * GIB);
  CHECK(tsl_session_problem(&s) == TSL_OK);
  CHECK(s.met);
  CHECK(rank != 0 || cards.beside);
  CHECK(atomic_load(&cards.main_selected) == 1); /* it allocates on the card, too */
  for (int r = 0; r < size; r++) {
    const int64_t n_free = 80 * GIB + s.placements[r].device.index * GIB;
    CHECK(s.placements[r].device.memory_free == n_free);
    CHECK(s.placements[r].device.memory_limit == n_free / 4);
  }
  CHECK(s.units.n > 0);
  CHECK(s.limits.device_bytes == 20 * GIB);
  tsl_session_drop(&s);
  CHECK(tsl_session_problem(&s) == TSL_OK); /* another, of the same job: nobody waits again */
  CHECK(atomic_load(&cards.main_selected) == 1);
  tsl_session_close(&s);
}

static void memory_without_a_problem(void **state) {
  tsl_session s;
  (void)state;
  CHECK(open_session(picture, 80 * GIB, -1, &s) == TSL_OK);
  set_open(true);
  CHECK(tsl_session_memory(&s) == TSL_OK);
  for (int r = 0; r < size; r++) CHECK(s.placements[r].device.memory_limit >= 20 * GIB);
  tsl_session_close(&s);
}

static void one_does_not_start(void **state) {
  tsl_session s;
  char why[64];
  (void)state;
  (void)snprintf(why, sizeof why, "card %d does not come up", size - 1);
  CHECK(open_session(picture, 80 * GIB, size - 1, &s) == TSL_OK);
  CHECK(tsl_session_problem(&s) == TSL_ERR_DEVICE);
  CHECK(strstr(tsl_err_message(), why) != NULL);
  CHECK(rank != 0 || cards.beside);
  tsl_session_close(&s);
}

/* A session that ends before anybody has asked for the card. */
static void nobody_asks(void **state) {
  tsl_session s;
  (void)state;
  CHECK(open_session(picture, 80 * GIB, 0, &s) == TSL_OK);
  set_open(true);
  tsl_session_close(&s);
}

/* A file of the folder, made on the root. */
static void put_file(const char *name, const char *text) {
  FILE *file = rank == 0 ? fopen(path_of(name), "w") : NULL;
  if (file != NULL) (void)fputs(text, file), (void)fclose(file);
}

/* A problem that fits a card all free is refused when most of it is taken. */
static void is_refused(const char *deck, int64_t n_free, const char *key, const char *why) {
  tsl_session s;
  CHECK(open_session(deck, n_free, -1, &s) == TSL_OK);
  CHECK(tsl_session_problem(&s) == TSL_ERR_INPUT);
  CHECK(strstr(tsl_err_message(), key) != NULL);
  CHECK(strstr(tsl_err_message(), why) != NULL);
  CHECK(rank != 0 || cards.beside);
  tsl_session_close(&s);
}

static void no_room_for_an_alignment(void **state) {
  enum { LETTERS = 4000 };
  char deck[512], text[2 * LETTERS + 16];
  int at = 0;
  (void)state;
  make_folder();
  for (int k = 0; k < 2; k++) {
    at += snprintf(text + at, sizeof text - (size_t)at, ">s%d\n", k);
    for (int i = 0; i < LETTERS; i++) text[at++] = "ACGT"[(i * i + k * i / 7) % 4];
    text[at++] = '\n';
  }
  text[at] = '\0';
  put_file("two.fasta", text);
  (void)snprintf(deck, sizeof deck,
                 RUN "family: tri\ntri:\n  function: local\n  output: topk\n  k: 1\n"
                     "  scores: {match: 2, mismatch: -3, open: 5, extend: 2}\n"
                     "  alignment: two.sam\n  input: {file: %s}\n",
                 path_of("two.fasta"));
  is_refused(deck, 1 << 20, "tri.alignment", "and a card has");
  if (rank == 0) (void)remove(path_of("two.fasta")), (void)remove(folder);
}

static void no_room_for_a_field(void **state) {
  char deck[512];
  int f = 0;
  (void)state;
  while (tsl_families[f] != NULL && strcmp(tsl_families[f]->name, "xc") != 0) f++;
  if (tsl_families[f] == NULL || tsl_families[f]->check_memory == NULL) skip(); /* without xc */
  make_folder();
  put_file("helium.xyz", "1\n\nHe 0 0 0\n");
  (void)snprintf(deck, sizeof deck,
                 RUN "family: xc\nxc:\n  molecule: {xyz: %s}\n  basis: STO-3G\n"
                     "  functional: svwn5\n  grid: {preset: coarse}\n",
                 path_of("helium.xyz"));
  is_refused(deck, 16, "run.device_memory", "of its card's memory, but needs more than");
  if (rank == 0) (void)remove(path_of("helium.xyz")), (void)remove(folder);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_comes_after_the_problem),
      cmocka_unit_test(memory_without_a_problem),
      cmocka_unit_test(one_does_not_start),
      cmocka_unit_test(nobody_asks),
      cmocka_unit_test(no_room_for_an_alignment),
      cmocka_unit_test(no_room_for_a_field),
  };
  begin_ranks(&argc, &argv);
  return end_ranks(cmocka_run_group_tests_name("mpi.cards", tests, NULL, NULL));
}
