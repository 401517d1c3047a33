/* Lines of probes in the calibration file, and the coefficients that they stand for. */
#include "device_probe.h"

#include "calibrate.h"
#include "measure.h"
#include "slab_pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1024 };
static const char WORD[] = "probe ";

bool tsl_device_probe_is(const char *line) {
  return strncmp(line, WORD, sizeof WORD - 1) == 0;
}

/* ---- reading */

/* One word of the key into a member; commas are blanks. */
static void take_word(char **rest, char *out, size_t size) {
  const char *word = strsep(rest, "|");
  (void)snprintf(out, size, "%s", word != NULL ? word : "");
  for (char *c = out; *c != '\0'; c++)
    if (*c == ',') *c = ' ';
}

static void split_key(const char *key, tsl_device_probe *p) {
  char text[LINE], unused[128], *rest = text;
  (void)snprintf(text, sizeof text, "%s", key);
  take_word(&rest, p->host, sizeof p->host);
  take_word(&rest, p->device, sizeof p->device);
  take_word(&rest, unused, sizeof unused); /* id */
  take_word(&rest, unused, sizeof unused); /* driver */
  take_word(&rest, p->threads, sizeof p->threads);
  take_word(&rest, p->ranks, sizeof p->ranks);
  take_word(&rest, p->program, sizeof p->program);
}

static bool is_rate(double x) {
  return x > 0 && isfinite(x) && isfinite(1 / x);
}

static bool parse_probe(char *line, tsl_device_probe *p) {
  int at = 0;
  *p = (tsl_device_probe){.rate = 0};
  line[strcspn(line, "\n")] = '\0';
  if (sscanf(line + sizeof WORD - 1, "%lf %lf %lf %lf %n", &p->rate, &p->bandwidth, &p->launch,
             &p->transfer, &at) != 4 ||
      at == 0)
    return false;
  split_key(line + sizeof WORD - 1 + at, p);
  return is_rate(p->rate) && is_rate(p->bandwidth) && is_rate(p->launch) && is_rate(p->transfer) &&
         p->device[0] != '\0' && p->program[0] != '\0';
}

tsl_err tsl_device_probes_read(const char *path, tsl_device_probe *probes, int *n) {
  tsl_err err = TSL_OK;
  char line[LINE];
  int number = 1;
  FILE *file = tsl_calibration_open(path);
  *n = 0;
  if (file == NULL) return TSL_OK;
  for (; fgets(line, sizeof line, file) != NULL; number++) {
    tsl_device_probe probe;
    if (!tsl_device_probe_is(line)) continue;
    if (!parse_probe(line, &probe))
      TSL_FAIL(TSL_ERR_INPUT,
               "%s:%d: a probe has flop/s, bytes/s, seconds of a launch and bytes/s to the host, "
               "each a number above 0, and whose they are: '%.60s'; remove the line, and run "
               "`tesela probe` again",
               path, number, line);
    if (*n == TSL_DEVICE_PROBES) (*n)--;
    memmove(probes + 1, probes, (size_t)*n * sizeof *probes);
    probes[0] = probe;
    (*n)++;
  }
done:
  (void)fclose(file);
  return err;
}

const tsl_device_probe *tsl_device_probe_find(const tsl_device_probe *probes, int n,
                                              const char *host, const char *device, int threads,
                                              int ranks) {
  const tsl_device_probe *best = NULL;
  for (const tsl_device_probe *p = probes; p < probes + n; p++) {
    const bool elsewhere = host != NULL && strcmp(p->host, host) != 0;
    if (elsewhere || strcmp(p->device, device) != 0) continue;
    if (threads > 0 && p->host[0] != '\0' && atoi(p->threads) != threads) continue;
    if (best == NULL || abs(atoi(p->ranks) - ranks) < abs(atoi(best->ranks) - ranks)) best = p;
  }
  return best;
}

const tsl_device_probe *tsl_device_probe_of(const tsl_device_probe *probes, int n,
                                            const char *key) {
  tsl_device_probe p;
  split_key(key, &p);
  return tsl_device_probe_find(probes, n, p.host, p.device, atoi(p.threads), atoi(p.ranks));
}

/* ---- the guess */

static double result_bytes(const tsl_problem *problem, const tsl_unit *unit) {
  double bytes = 0;
  for (int f = 0; f < problem->n_fields; f++) bytes += (double)tsl_slab_bytes(problem, unit, f);
  return bytes;
}

void tsl_device_probe_speed(const tsl_device_probe *probe, const tsl_problem *problem,
                            const tsl_unit *units, int64_t n, tsl_speed *speed) {
  *speed = (tsl_speed){.setup = {0}};
  for (int kind = 0; kind < problem->family->n_kinds; kind++) {
    const tsl_unit *unit = tsl_middle_unit(units, n, kind);
    const double results = unit != NULL ? result_bytes(problem, unit) : 0;
    speed->c[kind][0] = probe->launch + results / probe->transfer;
    speed->c[kind][1] = 1 / probe->rate;
    speed->c[kind][2] = 1 / probe->bandwidth;
    speed->setup[kind] = 1 / probe->rate;
  }
}

/* ---- writing */

static double figure_of(const tsl_figures *figures, tsl_figure_term term) {
  for (int64_t k = 0; k < figures->n; k++)
    if (figures->list[k].term == (int32_t)term) return tsl_figure_si(&figures->list[k]);
  return 0;
}

tsl_err tsl_device_probe_put(FILE *file, const tsl_placement *placement,
                             const tsl_figures *figures) {
  tsl_err err = TSL_OK;
  char key[TSL_COST_KEY], program[40];
  const double rate = figure_of(figures, TSL_TERM_COMPUTE);
  const double bandwidth = figure_of(figures, TSL_TERM_MEMORY);
  const double launch = figure_of(figures, TSL_TERM_LAUNCH);
  const double to_host = figure_of(figures, TSL_TERM_TRANSFER);
  const double transfer = placement->device.kind == TSL_CPU ? bandwidth : to_host;
  if (!is_rate(rate) || !is_rate(bandwidth) || !is_rate(launch) || !is_rate(transfer))
    TSL_FAIL(TSL_ERR_INTERNAL, "%s: the probe gave %g flop/s, %g bytes/s, %g s, %g bytes/s",
             placement->device.name, rate, bandwidth, launch, transfer);
  tsl_calibration_program(program, sizeof program);
  tsl_calibration_device(placement, key);
  (void)snprintf(key + strlen(key), sizeof key - strlen(key), "|%s", program);
  for (char *p = key; *p != '\0'; p++)
    if (*p == ' ' || *p == '\n') *p = ',';
  fprintf(file, "%s%.9e %.9e %.9e %.9e %s\n", WORD, rate, bandwidth, launch, transfer, key);
  fflush(file); /* one write a line */
done:
  return err;
}
