/* A finished run knows better than the samples before it. */
#include "calibrate.h"

#include <math.h>
#include <string.h>

/* Times of one device vary from run to run: mostly by less than the noise, nearly always by less
 * than three times that. */
static const double USUAL = 1 + TSL_NOISE, FAR = 1 + 3 * TSL_NOISE;
static const double FAR_OFF = 3, WORTH_A_LINE = 1; /* factor; s */

/* Seconds of one kind on the ranks of one key. */
typedef struct sums {
  double predicted, measured;
} sums;

static const char *key_of(const tsl_cost *cost, int rank) {
  return cost->keys + (size_t)rank * TSL_COST_KEY;
}

static void add_rows(const tsl_cost *cost, const tsl_out_unit *rows, int64_t n, int64_t phases,
                     sums (*all)[TSL_MAX_KINDS]) {
  for (int64_t k = 0; k < n; k++) {
    const tsl_out_unit *row = &rows[k];
    if (row->owner < 0) continue; /* computed before a restart */
    int first = 0;                /* with the owner's key */
    while (strcmp(key_of(cost, first), key_of(cost, row->owner)) != 0) first++;
    sums *to = &all[first][row->unit.kind];
    to->predicted += phases == 1 ? tsl_cost_begin(cost, row->owner, &row->unit)
                                 : tsl_cost_seconds(cost, row->owner, &row->unit);
    to->measured += row->measured;
  }
}

static double factor_of(const sums *s) {
  const bool known = s->predicted > 0 && s->measured > 0 && isfinite(s->measured / s->predicted) &&
                     fmax(s->predicted, s->measured) >= TSL_PRECISE;
  return known ? s->measured / s->predicted : 1;
}

static bool beyond(double factor, double limit) {
  return factor > limit || factor < 1 / limit;
}

/* What the coefficients are multiplied by: all of what is beyond noise, half of what is within. */
static double correction_of(const sums *s) {
  const double factor = factor_of(s);
  if (!beyond(factor, USUAL)) return 1;
  return beyond(factor, FAR) ? factor : sqrt(factor);
}

static void tell(const tsl_cost *cost, int rank, const sums *all, const char *path) {
  sums whole = {0, 0};
  tsl_calibration_line of = {.kind = 0};
  for (int k = 0; k < TSL_MAX_KINDS; k++)
    whole.predicted += all[k].predicted, whole.measured += all[k].measured;
  const double factor = factor_of(&whole);
  if (!beyond(factor, FAR_OFF) || fmax(whole.predicted, whole.measured) < WORTH_A_LINE) return;
  tsl_calibration_words(key_of(cost, rank), &of);
  fprintf(stderr,
          "tesela: note: %.3g s predicted, %.3g s measured on %s: its calibration was off by %.1f "
          "times and is corrected in %s\n",
          whole.predicted, whole.measured, of.device, fmax(factor, 1 / factor), path);
}

tsl_err tsl_calibration_correct(const tsl_run_settings *settings, const tsl_cost *cost,
                                const tsl_out_unit *rows, int64_t n, int64_t phases, bool quiet) {
  tsl_err err = TSL_OK;
  char path[1024];
  sums(*all)[TSL_MAX_KINDS] = NULL;
  FILE *file = NULL;
  if (cost->keys == NULL) return TSL_OK;
  TSL_TRY(tsl_calibration_path(settings, path, sizeof path));
  TSL_TRY(tsl_alloc(cost->n_ranks, sizeof *all, "measured times", (void **)&all));
  add_rows(cost, rows, n, phases, all);
  for (int r = 0; r < cost->n_ranks; r++)
    for (int k = 0; k < TSL_MAX_KINDS; k++) {
      const double factor = correction_of(&all[r][k]);
      if (factor == 1) continue;
      if (file == NULL && (file = tsl_calibration_append(settings)) == NULL) goto done;
      tsl_speed speed = cost->speeds[r];
      for (int c = 0; c < TSL_N_TERMS; c++) speed.c[k][c] *= factor;
      tsl_calibration_put(file, key_of(cost, r), k, speed.c[k]);
    }
  for (int r = 0; r < cost->n_ranks && file != NULL && !quiet; r++) tell(cost, r, all[r], path);
done:
  if (file != NULL) (void)fclose(file);
  tsl_free(all);
  return err;
}
