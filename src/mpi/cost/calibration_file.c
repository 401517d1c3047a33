/* Keys, and lines as they are read and written. */
#include "calibration_file.h"

#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE = 1024 };
static const double MOST = 1e9; /* s for a term: 30 years for a point or an operation */
static const char PROBE[] = "probe ";

/* ---- keys */

static uint64_t fnv1a(const char *text) {
  uint64_t hash = 14695981039346656037u;
  for (; *text != '\0'; text++) hash = (hash ^ (unsigned char)*text) * 1099511628211u;
  return hash;
}

static void exchange(char *text, char from, char to) {
  for (; *text != '\0'; text++)
    if (*text == from) *text = to;
}

static void name_program(char *text, size_t size) {
  struct stat binary = {0};
  (void)stat("/proc/self/exe", &binary);
  (void)snprintf(text, size, "%lld.%lld", (long long)binary.st_mtime, (long long)binary.st_size);
}

void tsl_calibration_key(const tsl_placement *placement, const tsl_family *family, const char *what,
                         char key[TSL_COST_KEY]) {
  const char *slow = getenv("TSL_TEST_SLOW"); /* test_delay.h */
  const tsl_device *device = &placement->device;
  char program[40], problem[160] = "", test[80] = "";
  name_program(program, sizeof program);
  if (family != NULL) (void)snprintf(problem, sizeof problem, "%s|%s|", family->name, what);
  if (family != NULL && slow != NULL)
    (void)snprintf(test, sizeof test, "|slow,%s,%d", slow, placement->rank);
  (void)snprintf(key, TSL_COST_KEY, "%s|%s|%s|%s|%d threads|%d ranks|%s%s%s",
                 device->kind == TSL_GPU ? "" : placement->host, device->name, device->id,
                 device->driver, placement->threads, placement->local_size, problem, program, test);
  exchange(key, ' ', ',');
  exchange(key, '\n', ',');
}

static void take_word(char **rest, char *out, size_t size) {
  const char *word = strsep(rest, "|");
  (void)snprintf(out, size, "%s", word != NULL ? word : "");
  exchange(out, ',', ' ');
}

void tsl_calibration_words(const char *key, tsl_calibration_line *line) {
  char text[LINE], unused[LINE], *rest = text;
  long long lanes = 0;
  if (key != NULL) (void)snprintf(line->key, sizeof line->key, "%s", key);
  memcpy(text, line->key, sizeof text);
  const char *size = strstr(text, "|2^"), *last = strrchr(text, '|');
  line->size = size != NULL ? atoi(size + 3) : 0;
  line->lanes = last != NULL && sscanf(last, "|%lld,lanes", &lanes) == 1 ? lanes : 0;
  line->family[0] = line->signature[0] = '\0';
  take_word(&rest, line->host, sizeof line->host);
  take_word(&rest, line->device, sizeof line->device);
  take_word(&rest, unused, sizeof unused); /* id */
  take_word(&rest, unused, sizeof unused); /* driver */
  take_word(&rest, line->threads, sizeof line->threads);
  take_word(&rest, line->ranks, sizeof line->ranks);
  if (line->kind > TSL_PROBE) {
    take_word(&rest, line->family, sizeof line->family);
    take_word(&rest, line->signature, sizeof line->signature);
  }
  take_word(&rest, line->program, sizeof line->program);
}

bool tsl_calibration_older(const tsl_calibration_line *line) {
  char program[40];
  name_program(program, sizeof program);
  return strcmp(line->program, program) != 0;
}

/* ---- the file */

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

FILE *tsl_calibration_open(const tsl_run_settings *settings) {
  char path[1024];
  struct stat at;
  if (tsl_calibration_path(settings, path, sizeof path) != TSL_OK) return NULL;
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not block */
  FILE *file = fd >= 0 && fstat(fd, &at) == 0 && S_ISREG(at.st_mode) ? fdopen(fd, "r") : NULL;
  if (file == NULL && fd >= 0) (void)close(fd);
  return file;
}

FILE *tsl_calibration_append(const tsl_run_settings *settings) {
  char path[1024];
  if (tsl_calibration_path(settings, path, sizeof path) != TSL_OK) return NULL;
  tsl_files_make_folders(path);
  const int fd =
      open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  FILE *file = fd >= 0 ? fdopen(fd, "a") : NULL;
  if (file == NULL)
    fprintf(stderr, "tesela: note: calibration not stored in %s: %s\n", path, strerror(errno));
  if (file == NULL && fd >= 0) (void)close(fd);
  return file;
}

/* ---- lines */

bool tsl_calibration_is_rate(double x) {
  return x > 0 && isfinite(x) && isfinite(1 / x);
}

static void parse_probe(const char *text, tsl_calibration_line *line) {
  double *c = line->c;
  int at = 0;
  line->kind = TSL_BAD_PROBE;
  if (sscanf(text, "%lf %lf %lf %lf %n", &c[0], &c[1], &c[2], &c[3], &at) != 4 || at == 0) return;
  tsl_calibration_words(text + at, line);
  for (int k = 0; k < 4; k++)
    if (!tsl_calibration_is_rate(c[k])) return;
  if (line->device[0] != '\0' && line->program[0] != '\0') line->kind = TSL_PROBE;
}

/* Predictions by it must stay finite. */
static void parse_units(const char *text, tsl_calibration_line *line) {
  double *c = line->c;
  int at = 0;
  bool sense = sscanf(text, "%" SCNx64 " %d %lf %lf %lf %lf +%lf %n", &line->hash, &line->kind,
                      &c[0], &c[1], &c[2], &c[3], &c[TSL_SETUP], &at) == 7 &&
               line->kind > TSL_PROBE && line->kind < TSL_MAX_KINDS;
  for (int k = 0; k < TSL_N_TERMS; k++) sense = sense && c[k] >= 0 && c[k] <= MOST; /* no NaN */
  if (sense)
    (void)snprintf(line->key, sizeof line->key, "%s", text + at);
  else
    line->kind = TSL_NO_LINE;
}

bool tsl_calibration_next(FILE *file, tsl_calibration_line *line) {
  char text[LINE];
  while (file != NULL && fgets(text, sizeof text, file) != NULL) {
    *line = (tsl_calibration_line){.number = line->number + 1};
    text[strcspn(text, "\n")] = '\0';
    if (strncmp(text, PROBE, sizeof PROBE - 1) == 0)
      parse_probe(text + sizeof PROBE - 1, line);
    else
      parse_units(text, line);
    if (line->kind != TSL_NO_LINE) return true;
  }
  if (file != NULL) (void)fclose(file);
  return false;
}

tsl_err tsl_calibration_check(const tsl_run_settings *settings) {
  tsl_err err = TSL_OK;
  struct stat at;
  tsl_calibration_line line = {.number = 0};
  bool good = false;
  FILE *file = settings->calibration != NULL ? tsl_calibration_open(settings) : NULL;
  if (file == NULL) return TSL_OK; /* it will be made, or a note says why not */
  good = fstat(fileno(file), &at) == 0 && at.st_size == 0;
  while (tsl_calibration_next(file, &line)) good = true;
  if (!good)
    TSL_FAIL(TSL_ERR_INPUT, "'%s' is there and is no calibration file; no lines are added to it",
             settings->calibration);
done:
  return err;
}

void tsl_calibration_put(FILE *file, const char *key, int kind, const double *c) {
  if (kind == TSL_PROBE)
    fprintf(file, "%s%.9e %.9e %.9e %.9e %s\n", PROBE, c[0], c[1], c[2], c[3], key);
  else
    fprintf(file, "%016" PRIx64 " %d %.9e %.9e %.9e %.9e +%.9e %s\n", fnv1a(key), kind, c[0], c[1],
            c[2], c[3], c[TSL_SETUP], key);
  fflush(file); /* one write a line, so that those of concurrent jobs do not mix */
}

bool tsl_calibration_find(const tsl_run_settings *settings, const char *key, int first, int n,
                          double (*c)[TSL_N_TERMS]) {
  FILE *file = tsl_calibration_open(settings);
  const uint64_t hash = fnv1a(key);
  tsl_calibration_line line = {.number = 0};
  unsigned found = 0;
  while (tsl_calibration_next(file, &line)) {
    const int kind = line.kind - first;
    if (line.hash != hash || kind < 0 || kind >= n) continue;
    memcpy(c[kind], line.c, sizeof line.c);
    found |= 1u << kind;
  }
  return found == (1u << n) - 1;
}

void tsl_calibration_keep(const tsl_run_settings *settings, const char *key, int kind,
                          double value) {
  const double c[TSL_N_TERMS] = {value};
  FILE *file = tsl_calibration_append(settings);
  if (file == NULL) return;
  tsl_calibration_put(file, key, kind, c);
  (void)fclose(file);
}

/* ---- rates */

static bool same(const tsl_calibration_line *a, const tsl_calibration_line *b) {
  return strcmp(a->host, b->host) == 0 && strcmp(a->device, b->device) == 0 &&
         strcmp(a->threads, b->threads) == 0 && strcmp(a->ranks, b->ranks) == 0;
}

int tsl_device_rates_read(const tsl_run_settings *settings, const char *family,
                          const char *signature, tsl_device_rate *rates, int room) {
  tsl_calibration_line line = {.number = 0};
  char wanted[sizeof line.signature];
  int n = 0;
  FILE *file = tsl_calibration_open(settings);
  (void)snprintf(wanted, sizeof wanted, "%s", signature);
  exchange(wanted, ',', ' '); /* as keys are read */
  while (tsl_calibration_next(file, &line)) {
    int at = 0;
    if (line.kind == TSL_WAY || line.kind <= TSL_PROBE) continue;
    tsl_calibration_words(NULL, &line);
    if (line.program[0] == '\0' || strcmp(line.family, family) != 0 ||
        strcmp(line.signature, wanted) != 0)
      continue;
    while (at < n && !same(&rates[at].by, &line)) at++;
    if (at == room) continue;
    if (at == n) rates[n++] = (tsl_device_rate){.by = line};
    if (line.kind == TSL_BETWEEN) rates[at].between = line.c[0];
    if (line.kind == TSL_WAITING) rates[at].waiting = line.c[0];
    if (line.kind < 0) continue;
    rates[at].by = line;
    rates[at].found |= 1u << line.kind;
    memcpy(rates[at].speed.c[line.kind], line.c, sizeof line.c);
  }
  return n;
}
