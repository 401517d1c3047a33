/* Lines of the calibration file are matched with the deck's family and signature. Devices with
 * coefficients for all kinds are listed by predicted seconds. */
#include "rates.h"

#include "calibrate.h"
#include "help.h"
#include "stages.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST = 256, LINE = 1024, N_WORDS = 9 };
static const double DAY = 86400; /* s */

/* A device as one line of the calibration file names it; text with blanks back in place. */
typedef struct device_rate {
  char host[64]; /* "" for a card: cards of a kind are alike wherever they sit */
  char device[80];
  char threads[32]; /* "16 threads" */
  char ranks[32];   /* ranks that measured side by side */
  char program[40]; /* time and size of the program that measured */
  tsl_speed speed;
  unsigned found; /* bits of the kinds that have a line */
} device_rate;

/* ---- reading; the key is host|device|id|driver|threads|ranks|family|signature|program|... */

static void unword(char *text) {
  for (char *c = text; *c != '\0'; c++)
    if (*c == ',') *c = ' ';
}

static bool split(char *key, char *words[N_WORDS]) {
  int n = 0;
  for (char *rest = key; n < N_WORDS && rest != NULL; n++) words[n] = strsep(&rest, "|");
  return n == N_WORDS;
}

static bool same(const device_rate *a, const device_rate *b) {
  return strcmp(a->host, b->host) == 0 && strcmp(a->device, b->device) == 0 &&
         strcmp(a->threads, b->threads) == 0 && strcmp(a->ranks, b->ranks) == 0;
}

/* One line as a rate of one kind; false for lines of others and for what is not understood. */
static bool rates_parse(char *line, const char *family, const char *signature, device_rate *rate,
                        int *kind) {
  double c[TSL_N_COEFFICIENTS], setup = 0;
  char *words[N_WORDS];
  int at = 0;
  line[strcspn(line, "\n")] = '\0';
  if (sscanf(line, "%*x %d %lf %lf %lf %lf +%lf %n", kind, &c[0], &c[1], &c[2], &c[3], &setup,
             &at) != 6 ||
      at == 0 || *kind < 0 || *kind >= TSL_MAX_KINDS || !split(line + at, words))
    return false;
  if (!tsl_calibration_makes_sense(c, setup)) return false;
  unword(words[7]);
  if (strcmp(words[6], family) != 0 || strcmp(words[7], signature) != 0) return false;
  *rate = (device_rate){.found = 1u << *kind};
  unword(words[1]), unword(words[4]), unword(words[5]);
  (void)snprintf(rate->host, sizeof rate->host, "%.63s", words[0]);
  (void)snprintf(rate->device, sizeof rate->device, "%.79s", words[1]);
  (void)snprintf(rate->threads, sizeof rate->threads, "%.31s", words[4]);
  (void)snprintf(rate->ranks, sizeof rate->ranks, "%.31s", words[5]);
  (void)snprintf(rate->program, sizeof rate->program, "%.39s", words[8]);
  memcpy(rate->speed.c[*kind], c, sizeof c);
  rate->speed.setup[*kind] = setup;
  return true;
}

/* The rates that a file holds for a family and signature; later lines win. rates has room for so
 * many. Their number; 0 when there is no file. */
static int read_rates(const char *path, const char *family, const char *signature,
                      device_rate *rates, int room) {
  char line[LINE], wanted[128];
  int n = 0;
  FILE *file = tsl_calibration_open(path);
  if (file == NULL) return 0;
  (void)snprintf(wanted, sizeof wanted, "%s", signature);
  unword(wanted); /* a comma of the signature reads like a blank */
  while (fgets(line, sizeof line, file) != NULL) {
    device_rate rate;
    int kind = 0, at = 0;
    if (!rates_parse(line, family, wanted, &rate, &kind)) continue;
    while (at < n && !same(&rates[at], &rate)) at++;
    if (at == room) continue;
    if (at == n) rates[n++] = rate;
    rates[at].found |= rate.found;
    memcpy(rates[at].speed.c[kind], rate.speed.c[kind], sizeof rate.speed.c[kind]);
    rates[at].speed.setup[kind] = rate.speed.setup[kind];
    (void)snprintf(rates[at].program, sizeof rates[at].program, "%s", rate.program);
  }
  (void)fclose(file);
  return n;
}

/* ---- printing */

typedef struct ranked {
  const device_rate *rate;
  double seconds; /* of all units, by this device alone */
} ranked;

static int by_seconds(const void *a, const void *b) {
  const double x = ((const ranked *)a)->seconds, y = ((const ranked *)b)->seconds;
  return (x > y) - (x < y);
}

static bool knows_all(const device_rate *rate, const tsl_units *units) {
  for (int64_t u = 0; u < units->n; u++)
    if ((rate->found & 1u << units->list[u].kind) == 0) return false;
  return true;
}

/* Devices that know all kinds of units, the fastest first. */
static int rank_rates(const device_rate *rates, int n, const tsl_units *units, ranked *list) {
  int n_list = 0;
  for (int k = 0; k < n; k++) {
    double seconds = 0;
    if (!knows_all(&rates[k], units)) continue;
    for (int64_t u = 0; u < units->n; u++)
      seconds += tsl_speed_seconds(&rates[k].speed, &units->list[u]);
    if (seconds > 0) list[n_list++] = (ranked){&rates[k], seconds};
  }
  qsort(list, (size_t)n_list, sizeof *list, by_seconds);
  return n_list;
}

/* "1 threads" is the key of a file, for people it is one. */
static const char *threads_text(const char *threads) {
  return strcmp(threads, "1 threads") == 0 ? "1 thread" : threads;
}

/* "2 ranks" measured side by side on the host; alone needs no word. */
static const char *ranks_text(const char *ranks) {
  return strcmp(ranks, "1 ranks") == 0 ? "" : ranks;
}

static void print_rates(const tsl_session *s, const ranked *list, int n) {
  struct stat binary = {0};
  char program[40];
  bool older = false;
  (void)stat("/proc/self/exe", &binary);
  (void)snprintf(program, sizeof program, "%lld.%lld", (long long)binary.st_mtime,
                 (long long)binary.st_size);
  printf("%s: %" PRId64 " units; a pass over them is a run, or one iteration\n\n", s->options->deck,
         s->units.n);
  printf("  %-34s %-12s %-11s %-8s %12s %14s %9s\n", "device", "host", "", "beside", "s a pass",
         "passes a day", "of best");
  for (int k = 0; k < n; k++) {
    const device_rate *r = list[k].rate;
    const bool old = strcmp(r->program, program) != 0;
    printf("  %-34s %-12s %-11s %-8s %12.4g %14.4g %8.1f%%%s\n", r->device,
           r->host[0] != '\0' ? r->host : "(card)",
           r->host[0] != '\0' ? threads_text(r->threads) : "", ranks_text(r->ranks),
           list[k].seconds, DAY / list[k].seconds, 100 * list[0].seconds / list[k].seconds,
           old ? " *" : "");
    older = older || old;
  }
  if (older) printf("\n  * measured by another build of tesela\n");
}

/* ---- the subcommand */

static tsl_err rates_of_session(tsl_session *s) {
  tsl_err err = TSL_OK;
  char path[1024], signature[96] = "";
  device_rate *rates = NULL;
  ranked *list = NULL;
  int n = 0;
  TSL_TRY(tsl_session_deck(s));
  TSL_TRY(tsl_session_machine(s));
  TSL_TRY(tsl_session_problem(s));
  if (s->rank != 0) goto done;
  TSL_TRY(tsl_calibration_path(&s->run, path, sizeof path));
  if (s->family->signature != NULL) s->family->signature(&s->problem, signature);
  TSL_TRY(tsl_alloc(MOST, sizeof *rates, "rates", (void **)&rates));
  TSL_TRY(tsl_alloc(MOST, sizeof *list, "rates", (void **)&list));
  n = rank_rates(rates, read_rates(path, s->family->name, signature, rates, MOST), &s->units, list);
  if (n == 0)
    TSL_FAIL(TSL_ERR_INPUT,
             "no calibration for '%s' (%s) in %s; run `tesela calibrate %s` on each kind of host, "
             "with the same calibration file (run.calibration)",
             s->family->name, signature, path, s->options->deck);
  print_rates(s, list, n);
done:
  TSL_FREE_ALL(rates, list);
  return err;
}

tsl_err tsl_rates(MPI_Comm comm, int argc, char **argv) {
  tsl_err err = TSL_OK;
  tsl_options options;
  tsl_session session = {.comm = MPI_COMM_NULL};
  TSL_TRY(tsl_options_parse(argc, argv, "sqi", true, &options));
  if (options.help) return tsl_help(comm, "rates");
  TSL_TRY(tsl_session_open(comm, &options, &session));
  TSL_TRY(rates_of_session(&session));
done:
  tsl_session_close(&session);
  return err;
}
