#include "calibrate.h"

#include "agree.h"
#include "batch.h"
#include "slot.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_SAMPLES = 24, KEY_TEXT = 512, LINE = 1024 };

static const double FIRST_FRACTION = 1.0 / 256, GROWTH = 4;
static const double LONG_ENOUGH = 0.05; /* s: a sample of this length is precise */
static const double BUDGET = 0.35;      /* s for one kind on one rank */

/* Batches as a phase sends them: a part of its time (supply.c), which lets a card that takes some
 * time to drain show its real speed; no longer than a calibration can afford. */
enum { BATCHES = 64 };
static const double LONGEST_BATCH = 0.03; /* s */

/* ---- measuring */

/* Units to run on the hand. */
typedef struct trial {
  tsl_task task;
  const tsl_station *station;
  const tsl_unit *units;
  int64_t n;
  tsl_part parts[TSL_MAX_BATCH];
} trial;

static tsl_err run_trial(tsl_task *task) {
  trial *t = (trial *)task;
  return t->station->backend->run(t->station->worker, t->units, t->n, t->parts);
}

/* Device seconds of n units that travel together. */
static tsl_err time_units(const tsl_station *station, const tsl_unit *units, int64_t n,
                          double *seconds) {
  tsl_err err = TSL_OK;
  trial t = {.task.run = run_trial, .station = station, .units = units, .n = n};
  tsl_slots slots = {.problem = NULL};
  TSL_TRY(tsl_slots_open(station->problem, station->backend, units, n, n, &slots));
  for (int64_t u = 0; u < n; u++) TSL_TRY(tsl_slots_place(&slots, &units[u], &t.parts[u]));
  TSL_TRY(tsl_hand_call(station->hand, &t.task));
  *seconds = 0;
  for (int64_t u = 0; u < n; u++) *seconds += t.parts[u].seconds;
done:
  for (int64_t u = 0; u < n; u++) tsl_part_drop_lists(&t.parts[u]);
  tsl_slots_close(&slots);
  return err;
}

/* Units of a kind in order of items per byte: they differ in what a device is good at. */
typedef struct places {
  const tsl_unit **list; /* [n] */
  int64_t n;
} places;

static int by_intensity(const void *a, const void *b) {
  const tsl_unit *x = *(const tsl_unit *const *)a, *y = *(const tsl_unit *const *)b;
  const double p = x->count / (x->bytes + 1), q = y->count / (y->bytes + 1);
  if (p != q) return p < q ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

static tsl_err open_places(const tsl_unit *units, int64_t n, int kind, places *p) {
  tsl_err err = TSL_OK;
  *p = (places){NULL, 0};
  TSL_TRY(tsl_alloc(n, sizeof *p->list, "calibration", (void **)&p->list));
  for (int64_t u = 0; u < n; u++)
    if (units[u].kind == kind) p->list[p->n++] = &units[u];
  qsort(p->list, (size_t)p->n, sizeof *p->list, by_intensity);
done:
  return err;
}

/* The unit in the middle of the list stands for its kind. NULL when the kind has none. */
static const tsl_unit *middle_unit(const tsl_unit *units, int64_t n, int kind) {
  int64_t of_kind = 0, seen = 0;
  for (int64_t u = 0; u < n; u++) of_kind += units[u].kind == kind;
  for (int64_t u = 0; u < n; u++)
    if (units[u].kind == kind && seen++ == of_kind / 2) return &units[u];
  return NULL;
}

static void sample_unit(const tsl_problem *problem, const tsl_unit *whole, double fraction,
                        tsl_unit *out) {
  *out = *whole;
  if (problem->family->sample != NULL && fraction < 1)
    problem->family->sample(problem, whole, fraction, out);
}

/* Growing samples until one is long enough or whole; the first run of all only warms up. */
static tsl_err measure_kind(const tsl_station *station, const tsl_unit *whole, double *c) {
  tsl_err err = TSL_OK;
  tsl_sample samples[MAX_SAMPLES];
  double fraction = FIRST_FRACTION, spent = 0;
  int n = 0;
  sample_unit(station->problem, whole, fraction, &samples[0].unit);
  TSL_TRY(time_units(station, &samples[0].unit, 1, &samples[0].seconds));
  while (n < MAX_SAMPLES && spent < BUDGET) {
    tsl_sample *s = &samples[n++];
    sample_unit(station->problem, whole, fraction, &s->unit);
    TSL_TRY(time_units(station, &s->unit, 1, &s->seconds));
    spent += s->seconds;
    if (fraction >= 1 && (n >= 4 || s->seconds > LONG_ENOUGH)) break;
    fraction = s->seconds > LONG_ENOUGH || fraction * GROWTH > 1 ? 1 : fraction * GROWTH;
  }
  tsl_cost_fit(samples, n, c);
done:
  return err;
}

/* Neighbours of the unit's kind from it on, at most room. */
static int64_t run_length(const tsl_unit *unit, const tsl_unit *end, int64_t room) {
  int64_t n = 1;
  while (n < room && unit + n < end && unit[n].kind == unit->kind) n++;
  return n;
}

/* The mean unit of n that travelled together, with its share of their time. */
static tsl_sample mean_sample(const tsl_unit *units, int64_t n, double seconds) {
  tsl_sample mean = {.unit = units[0], .seconds = seconds / (double)n};
  mean.unit.flops = mean.unit.bytes = mean.unit.count = 0;
  for (int64_t u = 0; u < n; u++) {
    mean.unit.flops += units[u].flops / (double)n;
    mean.unit.bytes += units[u].bytes / (double)n;
    mean.unit.count += units[u].count / (double)n;
  }
  return mean;
}

/* Seconds of a batch when this device did everything. */
static double longest_batch(const tsl_unit *units, int64_t n_units, const tsl_speed *speed) {
  double total = 0;
  for (int64_t u = 0; u < n_units; u++) total += tsl_speed_seconds(speed, &units[u]);
  return fmin(LONGEST_BATCH, fmax(TSL_BATCH_LONGEST, total / BATCHES));
}

/* What fits a batch. */
typedef struct limit {
  double longest; /* s */
  int64_t room;   /* units */
} limit;

/* Time what a phase would send at this place: a batch of short units, or a part of a long one. */
static tsl_err measure_place(const tsl_station *station, const tsl_unit *unit, const tsl_unit *end,
                             const limit *most, const tsl_speed *speed, tsl_sample *sample) {
  tsl_err err = TSL_OK;
  tsl_unit part;
  const double expected = tsl_speed_seconds(speed, unit);
  const int64_t n = run_length(unit, end, tsl_batch_size(expected, most->longest, most->room));
  double seconds = 0;
  if (n == 1) {
    sample_unit(station->problem, unit, LONG_ENOUGH / expected, &part);
    TSL_TRY(time_units(station, &part, 1, &seconds));
    *sample = mean_sample(&part, 1, seconds);
  } else {
    TSL_TRY(time_units(station, unit, n, &seconds));
    *sample = mean_sample(unit, n, seconds);
  }
done:
  return err;
}

/* Short units travel together in a phase and a device may do many as fast as one: then such a
 * batch, not the single unit, tells the cost. A longer batch may be faster still, so look again. */
static tsl_err measure_batches(const tsl_station *station, const tsl_unit *unit,
                               const tsl_unit *end, const limit *most, tsl_speed *speed) {
  enum { LOOKS = 4 };
  tsl_err err = TSL_OK;
  double *c = speed->c[unit->kind];
  int64_t before = 1;
  for (int look = 0; look < LOOKS; look++) {
    const int64_t n = run_length(
        unit, end, tsl_batch_size(tsl_speed_seconds(speed, unit), most->longest, most->room));
    double seconds = 0, predicted = 0;
    if (n <= before) break;
    before = n;
    TSL_TRY(time_units(station, unit, n, &seconds));
    for (int64_t u = 0; u < n; u++) predicted += tsl_speed_seconds(speed, &unit[u]);
    for (int k = 0; k < TSL_N_COEFFICIENTS && predicted > 0; k++) c[k] *= seconds / predicted;
  }
done:
  return err;
}

/* Samples of one size tell how fast the device is, and nothing of what its time depends on. */
static bool all_alike(const tsl_sample *samples, int n) {
  double least = samples[0].unit.count, most = least;
  for (int k = 1; k < n; k++) {
    least = fmin(least, samples[k].unit.count);
    most = fmax(most, samples[k].unit.count);
  }
  return most <= 1.1 * least;
}

static void scale_speed(const tsl_sample *samples, int n, const tsl_speed *expected, double *c) {
  double measured = 0, predicted = 0;
  for (int k = 0; k < n; k++) {
    measured += samples[k].seconds;
    predicted += tsl_speed_seconds(expected, &samples[k].unit);
  }
  for (int k = 0; k < TSL_N_COEFFICIENTS && predicted > 0; k++) c[k] *= measured / predicted;
}

/* One unit cannot tell time for each byte from time for each item; units of the kind from few items
 * a byte to many can. Each place twice, the better run counts. */
static tsl_err measure_places(const tsl_station *station, const places *p, const tsl_unit *end,
                              const limit *most, tsl_speed *speed) {
  enum { PLACES = 5, RUNS = 2 };
  tsl_err err = TSL_OK;
  tsl_sample samples[PLACES];
  tsl_speed expected = *speed;
  int n = 0;
  for (int k = 0; k < PLACES; k++) {
    const tsl_unit *unit = p->list[(p->n - 1) * (2 * k + 1) / (2 * PLACES)];
    for (int run = 0; run < RUNS; run++) {
      tsl_sample sample;
      TSL_TRY(measure_place(station, unit, end, most, &expected, &sample));
      if (run == 0 || sample.seconds < samples[n].seconds) samples[n] = sample;
    }
    n += samples[n].seconds > 0;
  }
  if (n > 0 && all_alike(samples, n))
    scale_speed(samples, n, &expected, speed->c[p->list[0]->kind]);
  else if (n > 0)
    tsl_cost_fit(samples, n, speed->c[p->list[0]->kind]);
done:
  return err;
}

static tsl_err measure(const tsl_station *station, const tsl_unit *units, int64_t n_units,
                       int64_t memory, tsl_speed *speed) {
  tsl_err err = TSL_OK;
  places p = {NULL, 0};
  limit most = {TSL_BATCH_LONGEST, tsl_batch_room(station->problem, units, n_units, memory)};
  for (int kind = 0; kind < station->problem->family->n_kinds; kind++) {
    const tsl_unit *whole = middle_unit(units, n_units, kind);
    if (whole == NULL) continue;
    TSL_TRY(measure_kind(station, whole, speed->c[kind]));
    TSL_TRY(measure_batches(station, whole, units + n_units, &most, speed));
    most.longest = longest_batch(units, n_units, speed);
    tsl_free(p.list);
    TSL_TRY(open_places(units, n_units, kind, &p));
    TSL_TRY(measure_places(station, &p, units + n_units, &most, speed));
  }
done:
  tsl_free(p.list);
  return err;
}

/* ---- keys */

static uint64_t fnv1a(const char *text) {
  uint64_t hash = 14695981039346656037u;
  for (; *text != '\0'; text++) hash = (hash ^ (unsigned char)*text) * 1099511628211u;
  return hash;
}

/* Units of about this size only: small ones say little about large ones. */
static void add_sizes(const tsl_station *station, const tsl_unit *units, int64_t n_units,
                      char key[KEY_TEXT]) {
  for (int kind = 0; kind < station->problem->family->n_kinds; kind++) {
    const tsl_unit *unit = middle_unit(units, n_units, kind);
    const size_t used = strlen(key);
    (void)snprintf(key + used, KEY_TEXT - used, "|2^%d", unit != NULL ? ilogb(unit->count + 1) : 0);
  }
}

/* What a measurement holds for; commas for blanks so that it is one word of the file. */
static void make_key(const tsl_station *station, const tsl_unit *units, int64_t n_units,
                     char key[KEY_TEXT]) {
  const tsl_seat *seat = station->seat;
  const char *slow = getenv("TSL_TEST_SLOW"); /* cpu.h */
  char what[96] = "";
  struct stat binary = {0};
  (void)stat("/proc/self/exe", &binary);
  if (station->problem->family->signature != NULL)
    station->problem->family->signature(station->problem, what);
  (void)snprintf(key, KEY_TEXT, "%s|%s|%s|%s|%d threads|%d ranks|%s|%s|%lld.%lld",
                 seat->device.kind == TSL_GPU ? "" : seat->host, seat->device.name, seat->device.id,
                 seat->device.driver, seat->threads, seat->local_size,
                 station->problem->family->name, what, (long long)binary.st_mtime,
                 (long long)binary.st_size);
  if (slow != NULL)
    (void)snprintf(key + strlen(key), KEY_TEXT - strlen(key), "|slow,%s,%d", slow, seat->rank);
  add_sizes(station, units, n_units, key);
  for (char *p = key; *p != '\0'; p++)
    if (*p == ' ' || *p == '\n') *p = ',';
}

/* ---- the file: lines "hash kind c0 c1 c2 c3 key" */

tsl_err tsl_calibration_path(const tsl_run_settings *settings, char *path, size_t size) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  if (settings->calibration != NULL)
    (void)snprintf(path, size, "%s", settings->calibration);
  else if (cache != NULL && cache[0] == '/')
    (void)snprintf(path, size, "%s/tesela/calibration", cache);
  else
    (void)snprintf(path, size, "%s/.cache/tesela/calibration", home != NULL ? home : "/tmp");
  return TSL_OK;
}

static bool parse_line(const char *line, uint64_t *hash, int *kind, double c[TSL_N_COEFFICIENTS]) {
  return sscanf(line, "%" SCNx64 " %d %lf %lf %lf %lf", hash, kind, &c[0], &c[1], &c[2], &c[3]) ==
             6 &&
         *kind >= 0 && *kind < TSL_MAX_KINDS && c[0] >= 0 && c[1] >= 0 && c[2] >= 0 && c[3] >= 0;
}

/* Look a key up; later lines win. Found when every kind of the family has a line. */
static bool look_up(const char *path, uint64_t hash, int n_kinds, tsl_speed *speed) {
  FILE *file = fopen(path, "r");
  char line[LINE];
  unsigned found = 0;
  if (file == NULL) return false;
  while (fgets(line, sizeof line, file) != NULL) {
    uint64_t of_line;
    int kind;
    double c[TSL_N_COEFFICIENTS];
    if (!parse_line(line, &of_line, &kind, c) || of_line != hash || kind >= n_kinds) continue;
    memcpy(speed->c[kind], c, sizeof c);
    found |= 1u << kind;
  }
  fclose(file);
  return found == (1u << n_kinds) - 1;
}

static void make_folders(const char *path) {
  char folder[1024];
  (void)snprintf(folder, sizeof folder, "%s", path);
  for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    (void)mkdir(folder, 0777);
    *slash = '/';
  }
}

/* Append; one write per line, so concurrent jobs do not mix lines. A read-only home is no error. */
static void store(const char *path, const char *keys, const int *missing, const tsl_cost *cost,
                  int n_kinds) {
  FILE *file;
  make_folders(path);
  file = fopen(path, "a");
  if (file == NULL) {
    fprintf(stderr, "tesela: note: calibration not stored in %s (not writable)\n", path);
    return;
  }
  for (int r = 0; r < cost->n_ranks; r++)
    for (int kind = 0; missing[r] && kind < n_kinds; kind++) {
      const char *key = keys + (size_t)r * KEY_TEXT;
      const double *c = cost->speeds[r].c[kind];
      fprintf(file, "%016" PRIx64 " %d %.9e %.9e %.9e %.9e %s\n", fnv1a(key), kind, c[0], c[1],
              c[2], c[3], key);
      fflush(file);
    }
  fclose(file);
}

tsl_err tsl_calibrate(MPI_Comm comm, const tsl_station *station, const tsl_unit *units,
                      int64_t n_units, const tsl_run_settings *settings, tsl_cost *cost,
                      int *measured) {
  tsl_err err = TSL_OK;
  const int n_kinds = station->problem->family->n_kinds;
  const bool cacheable = station->problem->family->signature != NULL;
  char key[KEY_TEXT], path[1024], *keys = NULL;
  int rank = 0, size = 1, mine = 1, *missing = NULL, total = 0;
  tsl_speed speed = {{{0}}};
  TSL_MPI(MPI_Comm_rank(comm, &rank));
  TSL_MPI(MPI_Comm_size(comm, &size));
  cost->n_ranks = size;
  TSL_TRY(tsl_alloc(size, sizeof *cost->speeds, "cost model", (void **)&cost->speeds));
  TSL_TRY(tsl_alloc(size, KEY_TEXT, "calibration keys", (void **)&keys));
  TSL_TRY(tsl_alloc(size, sizeof *missing, "calibration keys", (void **)&missing));
  TSL_TRY(tsl_calibration_path(settings, path, sizeof path));
  make_key(station, units, n_units, key);
  TSL_MPI(MPI_Gather(key, KEY_TEXT, MPI_CHAR, keys, KEY_TEXT, MPI_CHAR, 0, comm));
  for (int r = 0; rank == 0 && r < size; r++)
    missing[r] = settings->calibrate == TSL_CALIBRATE_ALWAYS || !cacheable ||
                 !look_up(path, fnv1a(keys + (size_t)r * KEY_TEXT), n_kinds, &cost->speeds[r]);
  TSL_MPI(MPI_Scatter(missing, 1, MPI_INT, &mine, 1, MPI_INT, 0, comm));
  TSL_MPI(MPI_Scatter(cost->speeds, (int)sizeof speed, MPI_BYTE, &speed, (int)sizeof speed,
                      MPI_BYTE, 0, comm));
  TSL_MPI(MPI_Allreduce(&mine, &total, 1, MPI_INT, MPI_SUM, comm));
  if (total > 0) { /* all measure at once, or shared sockets would look too fast */
    tsl_speed fresh = {{{0}}};
    TSL_MPI(MPI_Barrier(comm));
    TSL_AGREE(comm, measure(station, units, n_units, settings->memory, &fresh));
    if (mine) speed = fresh;
  }
  TSL_MPI(MPI_Allgather(&speed, (int)sizeof speed, MPI_BYTE, cost->speeds, (int)sizeof speed,
                        MPI_BYTE, comm));
  if (rank == 0 && total > 0 && cacheable && n_units > 0) store(path, keys, missing, cost, n_kinds);
  if (measured != NULL) *measured = total;
done:
  tsl_free(keys);
  tsl_free(missing);
  return err;
}
