/* Keys and lines of the calibration file. The root looks up the keys of all ranks; when one is
 * missing, all ranks measure at once, and the root stores and pools what they send. */
#include "calibrate.h"

#include "bcast.h"
#include "collective_error.h"
#include "device_class.h"
#include "device_probe.h"
#include "measure.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE = 1024 };
enum { KNOWN, UNKNOWN, GUESSED }; /* a rank's speed by the file: measured, not there, a probe's */
static const double MOST = 1e9;   /* s for a term: 30 years for a point or an operation */

/* ---- keys */

static uint64_t fnv1a(const char *text) {
  uint64_t hash = 14695981039346656037u;
  for (; *text != '\0'; text++) hash = (hash ^ (unsigned char)*text) * 1099511628211u;
  return hash;
}

/* Units of about this size only: small ones say little about large ones. */
static void add_sizes(const tsl_executor *executor, const tsl_unit *units, int64_t n_units,
                      char key[TSL_COST_KEY]) {
  for (int kind = 0; kind < executor->problem->family->n_kinds; kind++) {
    const tsl_unit *unit = tsl_middle_unit(units, n_units, kind);
    const size_t used = strlen(key);
    (void)snprintf(key + used, TSL_COST_KEY - used, "|2^%d",
                   unit != NULL ? ilogb(unit->count + 1) : 0);
  }
}

/* Strips are measured in bands, and what a band costs is divided among its lanes. */
static void add_lanes(const tsl_unit *units, int64_t n_units, int n_ranks, char key[TSL_COST_KEY]) {
  const size_t used = strlen(key);
  const int64_t lanes = n_units > 0 ? units[n_units - 1].lane + 1 : 0;
  (void)snprintf(key + used, TSL_COST_KEY - used, "|%lld lanes", (long long)(lanes / n_ranks));
}

void tsl_calibration_device(const tsl_placement *placement, char key[TSL_COST_KEY]) {
  (void)snprintf(key, TSL_COST_KEY, "%s|%s|%s|%s|%d threads|%d ranks",
                 placement->device.kind == TSL_GPU ? "" : placement->host, placement->device.name,
                 placement->device.id, placement->device.driver, placement->threads,
                 placement->local_size);
}

void tsl_calibration_program(char *text, size_t size) {
  struct stat binary = {0};
  (void)stat("/proc/self/exe", &binary);
  (void)snprintf(text, size, "%lld.%lld", (long long)binary.st_mtime, (long long)binary.st_size);
}

/* A device and what it computes. */
static void device_key(const tsl_placement *placement, const tsl_family *family, const char *what,
                       char key[TSL_COST_KEY]) {
  const char *slow = getenv("TSL_TEST_SLOW"); /* test_delay.h */
  char program[40];
  tsl_calibration_program(program, sizeof program);
  tsl_calibration_device(placement, key);
  (void)snprintf(key + strlen(key), TSL_COST_KEY - strlen(key), "|%s|%s|%s", family->name, what,
                 program);
  if (slow != NULL)
    (void)snprintf(key + strlen(key), TSL_COST_KEY - strlen(key), "|slow,%s,%d", slow,
                   placement->rank);
}

/* One word of the file. */
static void join_words(char key[TSL_COST_KEY]) {
  for (char *p = key; *p != '\0'; p++)
    if (*p == ' ' || *p == '\n') *p = ',';
}

/* What a measurement holds for. */
static void make_key(const tsl_executor *executor, const tsl_unit *units, int64_t n_units,
                     int n_ranks, char key[TSL_COST_KEY]) {
  const tsl_family *family = executor->problem->family;
  char what[96] = "";
  if (family->signature != NULL) family->signature(executor->problem, what);
  device_key(executor->placement, family, what, key);
  add_sizes(executor, units, n_units, key);
  if (tsl_measure_has_strips(executor->problem, units, n_units))
    add_lanes(units, n_units, n_ranks, key);
  join_words(key);
}

/* ---- the file: lines "hash kind c0 c1 c2 c3 +setup key", and those of probes (device_probe.h);
 * others are of no use and no error */

tsl_err tsl_calibration_path(const tsl_run_settings *settings, char *path, size_t size) {
  tsl_err err = TSL_OK;
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int n = 0;
  if (settings->calibration != NULL)
    n = snprintf(path, size, "%s", settings->calibration);
  else if (cache != NULL && cache[0] == '/')
    n = snprintf(path, size, "%s/tesela/calibration", cache);
  else
    n = snprintf(path, size, "%s/.cache/tesela/calibration", home != NULL ? home : "/tmp");
  if (n >= (int)size)
    TSL_FAIL(TSL_ERR_INPUT, "the calibration file's name is longer than %zu bytes", size - 1);
done:
  return err;
}

FILE *tsl_calibration_open(const char *path) {
  struct stat at;
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not block */
  FILE *file = fd >= 0 && fstat(fd, &at) == 0 && S_ISREG(at.st_mode) ? fdopen(fd, "r") : NULL;
  if (file == NULL && fd >= 0) (void)close(fd);
  return file;
}

bool tsl_calibration_makes_sense(const double c[TSL_N_COEFFICIENTS], double setup) {
  bool sense = setup >= 0 && setup <= MOST; /* false for NaN */
  for (int k = 0; k < TSL_N_COEFFICIENTS; k++) sense = sense && c[k] >= 0 && c[k] <= MOST;
  return sense;
}

static bool parse_line(const char *line, uint64_t *hash, int *kind, double c[TSL_N_COEFFICIENTS],
                       double *setup) {
  return sscanf(line, "%" SCNx64 " %d %lf %lf %lf %lf +%lf", hash, kind, &c[0], &c[1], &c[2], &c[3],
                setup) == 7 &&
         *kind >= TSL_WAY && *kind < TSL_MAX_KINDS && tsl_calibration_makes_sense(c, *setup);
}

/* What lines of TSL_BETWEEN or TSL_WAY hold; -1: not known. */
static double look_up_one(const char *path, uint64_t hash, int wanted) {
  FILE *file = tsl_calibration_open(path);
  char line[LINE];
  double found = -1;
  if (file == NULL) return found;
  while (fgets(line, sizeof line, file) != NULL) {
    uint64_t of_line;
    int kind;
    double c[TSL_N_COEFFICIENTS], setup;
    if (parse_line(line, &of_line, &kind, c, &setup) && of_line == hash && kind == wanted)
      found = c[0];
  }
  fclose(file);
  return found;
}

/* Look a key up; later lines win. Found when every kind of the family has a line. */
static bool look_up(const char *path, uint64_t hash, int n_kinds, tsl_speed *speed) {
  FILE *file = tsl_calibration_open(path);
  char line[LINE];
  unsigned found = 0;
  if (file == NULL) return false;
  while (fgets(line, sizeof line, file) != NULL) {
    uint64_t of_line;
    int kind;
    double c[TSL_N_COEFFICIENTS], setup;
    if (!parse_line(line, &of_line, &kind, c, &setup) || of_line != hash || kind < 0 ||
        kind >= n_kinds)
      continue;
    memcpy(speed->c[kind], c, sizeof c);
    speed->setup[kind] = setup;
    found |= 1u << kind;
  }
  fclose(file);
  return found == (1u << n_kinds) - 1;
}

void tsl_calibration_folders(const char *path) {
  char folder[1024];
  (void)snprintf(folder, sizeof folder, "%s", path);
  for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    (void)mkdir(folder, 0777);
    *slash = '/';
  }
}

tsl_err tsl_calibration_check(const char *path) {
  tsl_err err = TSL_OK;
  char line[LINE];
  uint64_t hash;
  int kind;
  double c[TSL_N_COEFFICIENTS], setup;
  bool empty = true, good = false;
  FILE *file = tsl_calibration_open(path);
  if (file == NULL) return TSL_OK; /* it will be made, or a note says why not */
  for (; !good && fgets(line, sizeof line, file) != NULL; empty = false)
    good = tsl_device_probe_is(line) || parse_line(line, &hash, &kind, c, &setup);
  (void)fclose(file);
  if (!empty && !good)
    TSL_FAIL(TSL_ERR_INPUT, "'%s' is there and is no calibration file; no lines are added to it",
             path);
done:
  return err;
}

FILE *tsl_calibration_append(const char *path) {
  tsl_calibration_folders(path);
  const int fd =
      open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  FILE *file = fd >= 0 ? fdopen(fd, "a") : NULL;
  if (file == NULL)
    fprintf(stderr, "tesela: note: calibration not stored in %s: %s\n", path, strerror(errno));
  if (file == NULL && fd >= 0) (void)close(fd);
  return file;
}

static void put_line(FILE *file, const char *key, int kind, const double c[TSL_N_COEFFICIENTS],
                     double setup) {
  fprintf(file, "%016" PRIx64 " %d %.9e %.9e %.9e %.9e +%.9e %s\n", fnv1a(key), kind, c[0], c[1],
          c[2], c[3], setup, key);
  fflush(file); /* one write a line, so that those of concurrent jobs do not mix */
}

void tsl_calibration_put(FILE *file, const char *key, int kind, const tsl_speed *speed) {
  put_line(file, key, kind, speed->c[kind], speed->setup[kind]);
}

tsl_err tsl_calibration_between(const tsl_run_settings *settings, const tsl_cost *cost,
                                double seconds) {
  tsl_err err = TSL_OK;
  const double c[TSL_N_COEFFICIENTS] = {seconds};
  char path[1024];
  FILE *file = NULL;
  if (cost->keys == NULL || seconds <= 0) return TSL_OK;
  TSL_TRY(tsl_calibration_path(settings, path, sizeof path));
  if (fabs(look_up_one(path, fnv1a(cost->keys), TSL_BETWEEN) / seconds - 1) <= TSL_NOISE)
    return TSL_OK;
  file = tsl_calibration_append(path);
  if (file != NULL) put_line(file, cost->keys, TSL_BETWEEN, c, 0);
done:
  if (file != NULL) (void)fclose(file);
  return err;
}

int32_t tsl_calibration_way(const tsl_run_settings *settings, const tsl_placement *device,
                            const tsl_family *family, const char *what) {
  char path[1024], key[TSL_COST_KEY];
  if (settings->calibrate == TSL_CALIBRATE_ALWAYS ||
      tsl_calibration_path(settings, path, sizeof path) != TSL_OK)
    return -1;
  device_key(device, family, what, key);
  join_words(key);
  return (int32_t)fmin(INT16_MAX, look_up_one(path, fnv1a(key), TSL_WAY));
}

void tsl_calibration_keep_way(const tsl_run_settings *settings, const tsl_placement *device,
                              const tsl_family *family, const char *what, int32_t way) {
  const double c[TSL_N_COEFFICIENTS] = {way};
  char path[1024], key[TSL_COST_KEY];
  FILE *file = NULL;
  if (tsl_calibration_path(settings, path, sizeof path) == TSL_OK)
    file = tsl_calibration_append(path);
  if (file == NULL) return;
  device_key(device, family, what, key);
  join_words(key);
  put_line(file, key, TSL_WAY, c, 0);
  (void)fclose(file);
}

/* A home that cannot be written is no error. */
static void calibrate_store(const char *path, const int *missing, const tsl_cost *cost,
                            int n_kinds) {
  FILE *file = tsl_calibration_append(path);
  if (file == NULL) return;
  for (int r = 0; r < cost->n_ranks; r++)
    for (int kind = 0; missing[r] != KNOWN && kind < n_kinds; kind++)
      tsl_calibration_put(file, cost->keys + (size_t)r * TSL_COST_KEY, kind, &cost->speeds[r]);
  fclose(file);
}

static tsl_err make_tables(int size, tsl_cost *cost, char **keys, int **missing) {
  tsl_err err = TSL_OK;
  cost->n_ranks = size;
  tsl_free(cost->keys);
  cost->keys = NULL;
  TSL_TRY(tsl_alloc(size, sizeof *cost->speeds, "cost model", (void **)&cost->speeds));
  TSL_TRY(tsl_alloc(size, TSL_COST_KEY, "calibration keys", (void **)keys));
  TSL_TRY(tsl_alloc(size, sizeof **missing, "calibration keys", (void **)missing));
done:
  return err;
}

/* Root. Speeds of ranks that the file has no line but a probe of. */
static tsl_err guess_missing(const tsl_problem *problem, const tsl_unit *units, int64_t n_units,
                             const tsl_run_settings *settings, const char *path, const char *keys,
                             int *missing, tsl_cost *cost) {
  tsl_err err = TSL_OK;
  tsl_device_probe *probes = NULL;
  int n = 0, known = 0;
  cost->guessed = 0;
  while (known < cost->n_ranks && missing[known] == KNOWN) known++;
  if (known == cost->n_ranks) return TSL_OK;
  TSL_TRY(tsl_alloc(TSL_DEVICE_PROBES, sizeof *probes, "probes", (void **)&probes));
  TSL_TRY(tsl_device_probes_read(path, probes, &n));
  for (int r = 0; r < cost->n_ranks; r++) {
    const tsl_device_probe *probe = tsl_device_probe_of(probes, n, keys + (size_t)r * TSL_COST_KEY);
    if (missing[r] == KNOWN) continue;
    if (probe == NULL && settings->calibrate == TSL_CALIBRATE_PROBE)
      TSL_FAIL(TSL_ERR_INPUT,
               "run.calibrate: probe, but %s has no probe of rank %d's device; run `tesela probe "
               "--calibration %s` with as many ranks and threads",
               path, r, path);
    if (probe == NULL) continue;
    tsl_device_probe_speed(probe, problem, units, n_units, &cost->speeds[r]);
    missing[r] = GUESSED;
    cost->guessed += settings->calibrate == TSL_CALIBRATE_PROBE;
  }
done:
  tsl_free(probes);
  return err;
}

tsl_err tsl_calibrate(MPI_Comm comm, const tsl_executor *executor, const tsl_unit *units,
                      int64_t n_units, const tsl_run_settings *settings, tsl_cost *cost,
                      int *measured) {
  tsl_err err = TSL_OK;
  const int n_kinds = executor->problem->family->n_kinds;
  const bool cacheable = executor->problem->family->signature != NULL;
  char key[TSL_COST_KEY], path[1024], *keys = NULL;
  int rank = 0, size = 1, mine = UNKNOWN, measures = 1, *missing = NULL, total = 0;
  tsl_speed speed = {.setup = {0}};
  TSL_MPI(MPI_Comm_rank(comm, &rank));
  TSL_MPI(MPI_Comm_size(comm, &size));
  TSL_COLLECTIVE_TRY(comm, make_tables(size, cost, &keys, &missing));
  if (cacheable) cost->keys = keys;
  TSL_COLLECTIVE_TRY(comm, tsl_calibration_path(settings, path, sizeof path));
  make_key(executor, units, n_units, size, key);
  TSL_MPI(MPI_Gather(key, TSL_COST_KEY, MPI_CHAR, keys, TSL_COST_KEY, MPI_CHAR, 0, comm));
  for (int r = 0; rank == 0 && r < size; r++)
    missing[r] =
        settings->calibrate == TSL_CALIBRATE_ALWAYS || !cacheable ||
                !look_up(path, fnv1a(keys + (size_t)r * TSL_COST_KEY), n_kinds, &cost->speeds[r])
            ? UNKNOWN
            : KNOWN;
  TSL_COLLECTIVE_TRY(comm, rank == 0 ? guess_missing(executor->problem, units, n_units, settings,
                                                     path, keys, missing, cost)
                                     : TSL_OK);
  TSL_MPI(MPI_Scatter(missing, 1, MPI_INT, &mine, 1, MPI_INT, 0, comm));
  TSL_MPI(MPI_Scatter(cost->speeds, (int)sizeof speed, MPI_BYTE, &speed, (int)sizeof speed,
                      MPI_BYTE, 0, comm));
  measures = mine != KNOWN && settings->calibrate != TSL_CALIBRATE_PROBE;
  TSL_MPI(MPI_Allreduce(&measures, &total, 1, MPI_INT, MPI_SUM, comm));
  if (total > 0) { /* all measure at once, or shared sockets would look too fast */
    tsl_speed fresh = {.setup = {0}};
    TSL_MPI(MPI_Barrier(comm));
    TSL_COLLECTIVE_TRY(comm, tsl_measure(executor, units, n_units, size, settings->memory,
                                         mine == UNKNOWN ? NULL : &speed, &fresh));
    if (measures) speed = fresh;
  } else {
    const bool card = executor->placement->device.kind == TSL_GPU &&
                      !tsl_measure_has_strips(executor->problem, units, n_units);
    TSL_COLLECTIVE_TRY(comm, card ? tsl_measure_warm_up(executor, units, n_units, &speed) : TSL_OK);
  }
  TSL_MPI(MPI_Gather(&speed, (int)sizeof speed, MPI_BYTE, cost->speeds, (int)sizeof speed, MPI_BYTE,
                     0, comm));
  if (rank == 0 && total > 0 && cacheable && n_units > 0)
    calibrate_store(path, missing, cost, n_kinds);
  TSL_COLLECTIVE_TRY(
      comm, rank == 0 ? tsl_device_class_pool(keys, TSL_COST_KEY, units, n_units, cost) : TSL_OK);
  TSL_TRY(tsl_bcast_bytes(comm, cost->speeds, (int64_t)sizeof speed * size));
  if (measured != NULL) *measured = total;
done:
  if (cost->keys == NULL) tsl_free(keys);
  tsl_free(missing);
  return err;
}
