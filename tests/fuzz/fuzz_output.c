/* Outputs of the program, mutated, read by `tesela show` and as tables of numbers: read or refused
 * with a message, whatever is in them.
 *
 *     ./fuzz_output SECONDS [FILE...]      FILE: seeds in place of outputs made now
 *     TSL_FUZZ_FROM=N                      in the environment: begin with input N
 *
 * HDF5 itself dies in some of these files. So another process reads them, one after the other; when
 * it ends, the sanitizer's report says whose fault that was. Ours fails this program. The library's
 * is counted, and the guarded command must turn it into a message. Without sanitizers the two are
 * told apart only where a check of this program failed. */
#include "show.h"
#include "show_own.h"
#include "table_read.h"

#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SEEDS = 16, PATCHES = 8, BATCH = 400, SECONDS_EACH = 2, OURS = 99, SANITIZER = 98 };
enum { MOST_BYTES = 1 << 24, REPORT = 1 << 20, GUARDED = 10, GIB = 1 << 30 };

#ifdef __SANITIZE_ADDRESS__
static const bool sanitized = true;
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
  return "exitcode=98:detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=2048";
}
#else
static const bool sanitized = false;
#endif

static void must(bool holds, const char *what) {
  if (holds) return;
  (void)fprintf(stderr, "%s: %s\n", what, tsl_err_message());
  _exit(OURS);
}

/* ---- mutants: which seed, and what of it is overwritten; given by a number */

typedef struct seed {
  uint8_t *bytes;
  int64_t n;
  int64_t *places; /* [n_places] bytes at or near which something is */
  int64_t n_places;
} seed;

typedef struct mutant {
  const seed *of;
  int n_patches;
  struct {
    int64_t at;
    int n;
    uint8_t bytes[16];
  } patch[PATCHES];
  int64_t cut; /* bytes left of the file */
} mutant;

static seed seeds[SEEDS];
static int n_seeds;
static uint64_t state;

/** Xorshift (Marsaglia 2003). */
static int64_t draw(int64_t below) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return (int64_t)(state % (uint64_t)below);
}

static void patch_bytes(mutant *m, int p) {
  static const uint64_t odd[] = {0,
                                 1,
                                 2,
                                 8,
                                 127,
                                 255,
                                 65535,
                                 1u << 31,
                                 UINT32_MAX,
                                 UINT64_MAX,
                                 (uint64_t)1 << 63,
                                 (uint64_t)1 << 40,
                                 INT64_MAX};
  const seed *s = m->of;
  uint8_t *to = m->patch[p].bytes;
  const int64_t from = s->places[draw(s->n_places)];
  const uint64_t value = odd[draw(sizeof odd / sizeof *odd)];
  m->patch[p].n = 1 << draw(4);
  for (int k = 0; k < 16; k++) to[k] = (uint8_t)draw(256);
  switch (draw(4)) {
  case 0: /* a number that is often not thought of */
    memcpy(to, &value, sizeof value);
    break;
  case 1: /* what stands elsewhere */
    m->patch[p].n = s->n - from < 16 ? (int)(s->n - from) : 16;
    memcpy(to, s->bytes + from, (size_t)m->patch[p].n);
    break;
  case 2: /* a bit, or a neighbour */
    m->patch[p].n = 1;
    to[0] = (uint8_t)(s->bytes[m->patch[p].at] ^ (1 << draw(8)));
    break;
  default:
    break;
  }
}

static void make(int64_t number, mutant *m) {
  state = UINT64_C(88172645463325252) + (uint64_t)number * UINT64_C(0x9E3779B97F4A7C15);
  for (int k = 0; k < 4; k++) (void)draw(2);
  m->of = &seeds[number < n_seeds ? number : draw(n_seeds)];
  m->cut = m->of->n;
  m->n_patches = 0;
  if (number < n_seeds) return; /* as it is */
  m->n_patches = draw(2) == 0 ? 1 : 1 + (int)draw(PATCHES);
  for (int p = 0; p < m->n_patches; p++) {
    m->patch[p].at = m->of->places[draw(m->of->n_places)];
    patch_bytes(m, p);
    if (m->patch[p].n > m->of->n - m->patch[p].at) m->patch[p].n = (int)(m->of->n - m->patch[p].at);
  }
  if (draw(30) == 0) m->cut = m->of->places[draw(m->of->n_places)];
}

/* ---- the file: which seed it holds, and back to it after a mutant */

static int file = -1;
static char path[] = "/tmp/tsl_fuzz_output_XXXXXX"; /* HDF5 opens no files without a name */
static const seed *held;

static void put(const void *bytes, int64_t n, int64_t at) {
  if (pwrite(file, bytes, (size_t)n, at) != n) perror(path), _exit(2);
}

static void write_mutant(const mutant *m) {
  if (held != m->of && ftruncate(file, 0) != 0) _exit(2);
  if (held != m->of) put(m->of->bytes, m->of->n, 0);
  held = m->of;
  for (int p = 0; p < m->n_patches; p++) put(m->patch[p].bytes, m->patch[p].n, m->patch[p].at);
  if (m->cut < m->of->n && ftruncate(file, m->cut) != 0) _exit(2);
}

static void undo(const mutant *m) {
  for (int p = 0; p < m->n_patches; p++)
    put(m->of->bytes + m->patch[p].at, m->patch[p].n, m->patch[p].at);
  if (m->cut < m->of->n) put(m->of->bytes + m->cut, m->of->n - m->cut, m->cut);
}

/* ---- reading, with what may die */

static void check(tsl_err err) {
  must(err == TSL_OK || ((err == TSL_ERR_INPUT || err == TSL_ERR_MEMORY || err == TSL_ERR_IO) &&
                         tsl_err_message()[0] != '\0'),
       "refusal");
}

static bool read_one(int64_t number) {
  static const char *const datasets[] = {"/input/points",    "/results/distances",
                                         "/results/history", "/results/iterations",
                                         "/run/units",       NULL};
  table_source source = {.path = path, .format = TABLE_FORMAT_HDF5, .extra = -1};
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  const tsl_err shown = tsl_show_file(path, number % 7);
  check(shown);
  if (number < n_seeds) must(shown == TSL_OK, "a good output");
  source.dataset = datasets[number % (int64_t)(sizeof datasets / sizeof *datasets)];
  check(table_h5_send(&source, nowhere));
  (void)close(nowhere);
  return shown == TSL_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
  if (file < 0) file = mkstemp(path);
  if (ftruncate(file, 0) != 0) return 0;
  put(data, (int64_t)n_bytes, 0);
  (void)read_one((int64_t)n_bytes);
  return 0;
}

#ifndef TSL_LIBFUZZER

/** Of both processes. */
typedef struct tally {
  volatile int64_t at, shown;
} tally;

static void limit_worker(void) {
  struct rlimit limit;
  if (!sanitized && getrlimit(RLIMIT_AS, &limit) == 0) {
    limit.rlim_cur = (rlim_t)4 * GIB;
    (void)setrlimit(RLIMIT_AS, &limit);
  }
}

static _Noreturn void work(int64_t first, int report, tally *t) {
  const struct itimerval limit = {.it_value.tv_sec = SECONDS_EACH}; /* of processor time */
  const int nowhere = open("/dev/null", O_WRONLY);
  mutant m;
  limit_worker();
  if (dup2(nowhere, STDOUT_FILENO) < 0 || dup2(report, STDERR_FILENO) < 0) _exit(2);
  for (int64_t k = first; k < first + BATCH; k++) {
    t->at = k;
    (void)setitimer(ITIMER_PROF, &limit, NULL);
    make(k, &m);
    write_mutant(&m);
    if (read_one(k)) t->shown++;
    undo(&m);
  }
  _exit(0);
}

/* ---- whose fault it was */

/** Does a stack of the report begin, behind frames of the sanitizer and libc, outside of HDF5? */
static bool is_ours(char *report) {
  bool looking = false, stacks = false;
  if (strstr(report, "runtime error:") != NULL) return true;
  for (char *line = strtok(report, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    while (isspace((unsigned char)*line)) line++;
    if (line[0] != '#') continue;
    if (line[1] == '0' && line[2] == ' ') looking = true;
    if (!looking || strstr(line, " ../") != NULL || strstr(line, "libasan") != NULL ||
        strstr(line, "libc.so") != NULL || strstr(line, "<unknown module>") != NULL)
      continue;
    stacks = true, looking = false;
    if (strstr(line, "libhdf5") == NULL && strstr(line, "libz.so") == NULL) return true;
  }
  return !stacks;
}

static bool blame(int status, int report, char *text) {
  const ssize_t n = pread(report, text, REPORT - 1, 0);
  text[n > 0 ? n : 0] = '\0';
  if (WIFEXITED(status) && WEXITSTATUS(status) == OURS) return true;
  if (!sanitized || WIFSIGNALED(status)) return false; /* died, or too slow: the guard has limits */
  char *copy = strdup(text);
  const bool ours = copy == NULL || is_ours(copy);
  free(copy);
  return ours;
}

/** A line on how the library died. */
static void tell(int64_t number, int status, const char *report) {
  const char *line = strstr(report, "SUMMARY:");
  if (WIFSIGNALED(status))
    (void)printf("input %lld: %s\n", (long long)number, strsignal(WTERMSIG(status)));
  else
    (void)printf("input %lld: %.*s\n", (long long)number,
                 line != NULL ? (int)strcspn(line, "\n") : 9, line != NULL ? line : "no report");
}

/** The command as users start it, on a file in which the library died. */
static void read_guarded(int64_t number) {
  mutant m;
  char show[] = "show", *argv[] = {show, path, NULL};
  make(number, &m);
  held = NULL;
  write_mutant(&m);
  (void)fflush(stdout);
  const int screen = dup(STDOUT_FILENO), errors = dup(STDERR_FILENO);
  const int nowhere = open("/dev/null", O_WRONLY);
  (void)dup2(nowhere, STDOUT_FILENO), (void)dup2(nowhere, STDERR_FILENO);
  const tsl_err err = tsl_show(2, argv);
  (void)dup2(screen, STDOUT_FILENO), (void)dup2(errors, STDERR_FILENO);
  (void)close(screen), (void)close(errors), (void)close(nowhere);
  check(err); /* OK: it died in the table */
  held = NULL;
}

static void save(int64_t number, const char *name) {
  mutant m;
  make(number, &m);
  held = NULL;
  write_mutant(&m);
  FILE *to = fopen(name, "wb");
  char *bytes = malloc((size_t)m.cut);
  if (to != NULL && bytes != NULL && pread(file, bytes, (size_t)m.cut, 0) == m.cut)
    (void)fwrite(bytes, 1, (size_t)m.cut, to);
  if (to != NULL) (void)fclose(to);
  free(bytes);
  (void)fprintf(stderr, "input %lld kept as %s\n", (long long)number, name);
}

/* ---- seeds */

static void add_seed(const char *name) {
  FILE *from = fopen(name, "rb");
  seed *s = &seeds[n_seeds];
  int64_t until = -1;
  s->bytes = malloc(MOST_BYTES);
  s->places = malloc((size_t)MOST_BYTES * sizeof *s->places);
  if (from == NULL || s->bytes == NULL || s->places == NULL) perror(name), exit(2);
  s->n = (int64_t)fread(s->bytes, 1, MOST_BYTES, from);
  (void)fclose(from);
  for (int64_t k = 0; k < s->n; k++) {
    if (s->bytes[k] != 0) until = k + 16;
    if (k < until) s->places[s->n_places++] = k;
  }
  if (s->n_places == 0 || ++n_seeds == SEEDS) (void)fprintf(stderr, "%s: no seed\n", name), exit(2);
}

static const char *const decks[][2] = {
    {"tri", "tri: {function: euclidean, output: square, generator: {kind: clusters, n: 9}}"},
    {"tri", "tri: {function: euclidean, output: threshold, threshold: 0.5, generator: {kind: "
            "uniform, n: 9}}"},
    {"fractal", "fractal: {set: mandelbrot, xres: 8, yres: 6}"},
    {"dp", "dp: {problem: global, mode: recover, a: {text: ACGTACGT}, b: {text: ACGTTACG}}"},
    {"xc", "xc: {molecule: {atoms: \"H 0 0 0; H 0 0 0.74\"}, basis: STO-3G, functional: pbe, grid: "
           "{preset: coarse}}"},
};

/** Outputs of the program; of xc where the build has it. */
static void run_decks(void) {
  char folder[] = "/tmp/tsl_fuzz_output_XXXXXX", deck[128], output[128], command[512];
  if (mkdtemp(folder) == NULL) perror("folder"), exit(2);
  (void)setenv("XDG_CACHE_HOME", folder, 1);
  (void)snprintf(deck, sizeof deck, "%s/deck.yaml", folder);
  (void)snprintf(output, sizeof output, "%s/output.h5", folder);
  (void)snprintf(command, sizeof command,
                 "ASAN_OPTIONS=detect_leaks=0 %s run %s -o %s --overwrite --quiet >%s/log 2>&1 || "
                 "{ cat %s/log; exit 1; }",
                 TSL_PROGRAM, deck, output, folder, folder);
  for (size_t d = 0; d < sizeof decks / sizeof *decks; d++) {
    if (strcmp(decks[d][0], "xc") == 0 &&
        system(TSL_PROGRAM " help xc 2>&1 | grep -q 'lacks the libraries'") == 0)
      continue;
    FILE *to = fopen(deck, "w");
    if (to == NULL) perror(deck), exit(2);
    (void)fprintf(to, "family: %s\nrun: {device: cpu, threads: 1, units: 3}\n%s\n", decks[d][0],
                  decks[d][1]);
    (void)fclose(to);
    if (system(command) != 0) exit(2);
    add_seed(output);
  }
  (void)snprintf(command, sizeof command, "rm -rf %s", folder);
  if (system(command) != 0) exit(2);
}

/* ---- all together */

/** One worker after the other; the first deaths, of those by time one, are read again guarded.
 *  @return inputs tried */
static int64_t run(double seconds, tally *t, int64_t *died) {
  static char text[REPORT];
  const char *from = getenv("TSL_FUZZ_FROM");
  const time_t start = time(NULL);
  int64_t next = from != NULL ? strtoll(from, NULL, 10) : 0, slow = 0;
  const int64_t first = next;
  while (difftime(time(NULL), start) < seconds) {
    int status = 0;
    const int report = memfd_create("report", 0);
    const pid_t child = fork();
    held = NULL;
    if (child == 0) work(next, report, t);
    if (child < 0 || waitpid(child, &status, 0) != child) perror("worker"), exit(2);
    next += BATCH;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      next = t->at + 1;
      if (blame(status, report, text)) {
        (void)fprintf(stderr, "%s\n", text);
        save(t->at, "/tmp/fuzz_output_failed.h5");
        (void)unlink(path);
        exit(1);
      }
      tell(t->at, status, text);
      if ((*died)++ < GUARDED && (WIFEXITED(status) || slow++ == 0)) read_guarded(t->at);
    }
    (void)close(report);
  }
  return next - first;
}

int main(int argc, char **argv) {
  int64_t died = 0;
  tally *t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  for (int a = 2; a < argc; a++) add_seed(argv[a]);
  if (argc <= 2) run_decks();
  file = mkstemp(path);
  if (t == MAP_FAILED || file < 0) return 2;
  const int64_t runs = run(argc > 1 ? strtod(argv[1], NULL) : 10, t, &died);
  (void)unlink(path);
  (void)printf("fuzz_output: %lld files tried, %lld shown, in %lld HDF5 died, none failed\n",
               (long long)runs, (long long)t->shown, (long long)died);
  return 0;
}

#endif
