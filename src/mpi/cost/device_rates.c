/* Lines of the calibration file are matched with a family and a signature, and those of a device
 * joined. */
#include "device_rates.h"

#include <string.h>

static bool same(const tsl_calibration_line *a, const tsl_calibration_line *b) {
  return strcmp(a->host, b->host) == 0 && strcmp(a->device, b->device) == 0 &&
         strcmp(a->threads, b->threads) == 0 && strcmp(a->ranks, b->ranks) == 0;
}

int tsl_device_rates_read(const char *path, const char *family, const char *signature,
                          tsl_device_rate *rates, int room) {
  tsl_calibration_line line = {.number = 0};
  char wanted[sizeof line.signature];
  int n = 0;
  FILE *file = tsl_calibration_open(path);
  (void)snprintf(wanted, sizeof wanted, "%s", signature);
  for (char *c = wanted; *c != '\0'; c++)
    if (*c == ',') *c = ' '; /* a comma of the signature reads like a blank */
  while (tsl_calibration_next(file, &line)) {
    int at = 0;
    if (line.kind == TSL_WAY || line.kind <= TSL_PROBE || line.program[0] == '\0' ||
        strcmp(line.family, family) != 0 || strcmp(line.signature, wanted) != 0)
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
