/* Lines of the calibration file are matched with a family and a signature, and those of a device
 * joined. */
#include "device_rates.h"

#include "calibrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1024, N_WORDS = 9 };

/* The key is host|device|id|driver|threads|ranks|family|signature|program|... */

static void unword(char *text) {
  for (char *c = text; *c != '\0'; c++)
    if (*c == ',') *c = ' ';
}

static bool split(char *key, char *words[N_WORDS]) {
  int n = 0;
  for (char *rest = key; n < N_WORDS && rest != NULL; n++) words[n] = strsep(&rest, "|");
  return n == N_WORDS;
}

static bool same(const tsl_device_rate *a, const tsl_device_rate *b) {
  return strcmp(a->host, b->host) == 0 && strcmp(a->device, b->device) == 0 &&
         strcmp(a->threads, b->threads) == 0 && strcmp(a->ranks, b->ranks) == 0;
}

/* "|32,lanes" at the end of a key of strips, else 0. */
static int64_t lanes_of(const char *key) {
  const char *last = strrchr(key, '|');
  long long lanes = 0;
  return last != NULL && sscanf(last, "|%lld,lanes", &lanes) == 1 ? lanes : 0;
}

/* One line as a rate of one kind; false for lines of others and for what is not understood. */
static bool rates_parse(char *line, const char *family, const char *signature,
                        tsl_device_rate *rate, int *kind) {
  double c[TSL_N_COEFFICIENTS], setup = 0;
  char *words[N_WORDS];
  int at = 0;
  line[strcspn(line, "\n")] = '\0';
  if (sscanf(line, "%*x %d %lf %lf %lf %lf +%lf %n", kind, &c[0], &c[1], &c[2], &c[3], &setup,
             &at) != 6 ||
      at == 0 || *kind < TSL_BETWEEN || *kind >= TSL_MAX_KINDS)
    return false;
  const char *size = strstr(line + at, "|2^");
  const int exponent = size != NULL ? atoi(size + 3) : 0;
  const int64_t lanes = lanes_of(line + at);
  if (!split(line + at, words)) return false;
  if (!tsl_calibration_makes_sense(c, setup)) return false;
  unword(words[7]);
  if (strcmp(words[6], family) != 0 || strcmp(words[7], signature) != 0) return false;
  *rate = (tsl_device_rate){.size = exponent, .lanes = lanes};
  unword(words[1]), unword(words[4]), unword(words[5]);
  (void)snprintf(rate->host, sizeof rate->host, "%.63s", words[0]);
  (void)snprintf(rate->device, sizeof rate->device, "%.79s", words[1]);
  (void)snprintf(rate->threads, sizeof rate->threads, "%.31s", words[4]);
  (void)snprintf(rate->ranks, sizeof rate->ranks, "%.31s", words[5]);
  (void)snprintf(rate->program, sizeof rate->program, "%.39s", words[8]);
  if (*kind == TSL_BETWEEN) return rate->between = c[0], true;
  rate->found = 1u << *kind;
  memcpy(rate->speed.c[*kind], c, sizeof c);
  rate->speed.setup[*kind] = setup;
  return true;
}

int tsl_device_rates_read(const char *path, const char *family, const char *signature,
                          tsl_device_rate *rates, int room) {
  char line[LINE], wanted[128];
  int n = 0;
  FILE *file = tsl_calibration_open(path);
  if (file == NULL) return 0;
  (void)snprintf(wanted, sizeof wanted, "%s", signature);
  unword(wanted); /* a comma of the signature reads like a blank */
  while (fgets(line, sizeof line, file) != NULL) {
    tsl_device_rate rate;
    int kind = 0, at = 0;
    if (!rates_parse(line, family, wanted, &rate, &kind)) continue;
    while (at < n && !same(&rates[at], &rate)) at++;
    if (at == room) continue;
    if (at == n) rates[n++] = rate;
    if (kind == TSL_BETWEEN) rates[at].between = rate.between;
    if (kind == TSL_BETWEEN) continue;
    rates[at].found |= rate.found;
    rates[at].size = rate.size, rates[at].lanes = rate.lanes;
    memcpy(rates[at].speed.c[kind], rate.speed.c[kind], sizeof rate.speed.c[kind]);
    rates[at].speed.setup[kind] = rate.speed.setup[kind];
    (void)snprintf(rates[at].program, sizeof rates[at].program, "%s", rate.program);
  }
  (void)fclose(file);
  return n;
}

bool tsl_device_rate_older(const tsl_device_rate *rate) {
  char program[40];
  tsl_calibration_program(program, sizeof program);
  return strcmp(rate->program, program) != 0;
}
