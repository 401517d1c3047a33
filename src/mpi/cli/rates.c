/* Devices with coefficients for all kinds of the deck's units are listed by predicted seconds. */
#include "rates.h"

#include "calibrate.h"
#include "calibration_file.h"
#include "run.h"
#include "stages.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double DAY = 86400; /* s */

/* ---- printing */

typedef struct ranked {
  const tsl_device_rate *rate;
  double seconds; /* of all units, by this device alone */
} ranked;

static int by_seconds(const void *a, const void *b) {
  const double x = ((const ranked *)a)->seconds, y = ((const ranked *)b)->seconds;
  return (x > y) - (x < y);
}

static bool knows_all(const tsl_device_rate *rate, const tsl_units *units) {
  for (int64_t u = 0; u < units->n; u++)
    if ((rate->found & 1u << units->list[u].kind) == 0) return false;
  return true;
}

/* Devices that know all kinds of units, the fastest first. */
static int rank_rates(const tsl_device_rate *rates, int n, const tsl_units *units, ranked *list) {
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
  bool older = false;
  printf("%s: %" PRId64 " units; a pass over them is a run, or one iteration\n\n", s->options->deck,
         s->units.n);
  printf("  %-34s %-12s %-11s %-8s %12s %14s %9s\n", "device", "host", "", "beside", "s a pass",
         "passes a day", "of best");
  for (int k = 0; k < n; k++) {
    const tsl_device_rate *r = list[k].rate;
    const bool old = tsl_calibration_older(&r->by);
    printf("  %-34s %-12s %-11s %-8s %12.4g %14.4g %8.1f%%%s\n", r->by.device,
           r->by.host[0] != '\0' ? r->by.host : "(card)",
           r->by.host[0] != '\0' ? threads_text(r->by.threads) : "", ranks_text(r->by.ranks),
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
  tsl_device_rate *rates = NULL;
  ranked *list = NULL;
  int n = 0;
  TSL_TRY(tsl_session_deck(s));
  TSL_TRY(tsl_session_machine(s));
  TSL_TRY(tsl_session_problem(s));
  if (s->rank != 0) goto done;
  TSL_TRY(tsl_calibration_path(&s->run, path, sizeof path));
  if (s->family->signature != NULL) s->family->signature(&s->problem, signature);
  TSL_TRY(tsl_alloc(TSL_DEVICE_RATES, sizeof *rates, "rates", (void **)&rates));
  TSL_TRY(tsl_alloc(TSL_DEVICE_RATES, sizeof *list, "rates", (void **)&list));
  n = tsl_device_rates_read(&s->run, s->family->name, signature, rates, TSL_DEVICE_RATES);
  n = rank_rates(rates, n, &s->units, list);
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
  return tsl_in_session(comm, argc, argv, "sqi", true, rates_of_session);
}
