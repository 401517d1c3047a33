/* Lines of probes in the calibration file, and the coefficients that they stand for. */
#include "device_probe.h"

#include "measure.h"
#include "slab_pool.h"

#include <stdlib.h>
#include <string.h>

enum { RATE, BANDWIDTH, LAUNCH, TRANSFER, FIGURES }; /* of a line, in this order */

static bool is_of(const tsl_calibration_line *line, const char *host, const char *device,
                  int threads) {
  if (line->kind != TSL_PROBE || strcmp(line->device, device) != 0) return false;
  if (host != NULL && strcmp(line->host, host) != 0) return false;
  return threads <= 0 || line->host[0] == '\0' || atoi(line->threads) == threads;
}

tsl_err tsl_device_probe_find(const tsl_run_settings *settings, const char *host,
                              const char *device, int threads, int ranks,
                              tsl_calibration_line *probe) {
  tsl_err err = TSL_OK;
  tsl_calibration_line line = {.number = 0};
  FILE *file = tsl_calibration_open(settings);
  char path[1024];
  int bad = 0, least = 0;
  probe->kind = TSL_NO_LINE;
  while (tsl_calibration_next(file, &line)) {
    const int off = abs(atoi(line.ranks) - ranks);
    if (line.kind == TSL_BAD_PROBE && bad == 0) bad = line.number;
    if (!is_of(&line, host, device, threads) || (probe->kind == TSL_PROBE && off > least)) continue;
    *probe = line, least = off;
  }
  if (bad == 0) return TSL_OK;
  TSL_TRY(tsl_calibration_path(settings, path, sizeof path));
  TSL_FAIL(TSL_ERR_INPUT,
           "%s:%d: a probe has flop/s, bytes/s, seconds of a launch and bytes/s to the host, "
           "each a number above 0, and whose they are; remove the line, and run `tesela probe` "
           "again",
           path, bad);
done:
  return err;
}

tsl_err tsl_device_probe_of(const tsl_run_settings *settings, const char *key,
                            tsl_calibration_line *probe) {
  tsl_calibration_line of = {.kind = TSL_PROBE};
  tsl_calibration_words(key, &of);
  return tsl_device_probe_find(settings, of.host, of.device, atoi(of.threads), atoi(of.ranks),
                               probe);
}

static double result_bytes(const tsl_problem *problem, const tsl_unit *unit) {
  double bytes = 0;
  for (int f = 0; f < problem->n_fields; f++) bytes += (double)tsl_slab_bytes(problem, unit, f);
  return bytes;
}

void tsl_device_probe_speed(const tsl_calibration_line *probe, const tsl_problem *problem,
                            const tsl_unit *units, int64_t n, tsl_speed *speed) {
  *speed = (tsl_speed){{{0}}};
  for (int kind = 0; kind < problem->family->n_kinds; kind++) {
    const tsl_unit *unit = tsl_middle_unit(units, n, kind);
    const double results = unit != NULL ? result_bytes(problem, unit) : 0;
    speed->c[kind][0] = probe->c[LAUNCH] + results / probe->c[TRANSFER];
    speed->c[kind][1] = speed->c[kind][TSL_SETUP] = 1 / probe->c[RATE];
    speed->c[kind][2] = 1 / probe->c[BANDWIDTH];
  }
}

tsl_err tsl_device_probe_put(FILE *file, const tsl_placement *placement,
                             const tsl_figures *figures) {
  static const tsl_figure_term terms[FIGURES] = {TSL_TERM_COMPUTE, TSL_TERM_MEMORY, TSL_TERM_LAUNCH,
                                                 TSL_TERM_TRANSFER};
  tsl_err err = TSL_OK;
  char key[TSL_COST_KEY];
  double c[FIGURES] = {0};
  for (int64_t k = figures->n - 1; k >= 0; k--)
    for (int t = 0; t < FIGURES; t++)
      if (figures->list[k].term == (int32_t)terms[t]) c[t] = tsl_figure_si(&figures->list[k]);
  if (placement->device.kind == TSL_CPU) c[TRANSFER] = c[BANDWIDTH];
  for (int t = 0; t < FIGURES; t++)
    if (!tsl_calibration_is_rate(c[t]))
      TSL_FAIL(TSL_ERR_INTERNAL, "%s: the probe gave %g flop/s, %g bytes/s, %g s, %g bytes/s",
               placement->device.name, c[RATE], c[BANDWIDTH], c[LAUNCH], c[TRANSFER]);
  tsl_calibration_key(placement, NULL, NULL, key);
  tsl_calibration_put(file, key, TSL_PROBE, c);
done:
  return err;
}
