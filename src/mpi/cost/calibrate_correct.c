/* A finished run knows better than the samples before it. */
#include "calibrate.h"

#include <math.h>
#include <string.h>

/* Times of one device vary from run to run: mostly by less than the noise, nearly always by less
 * than three times that. */
static const double USUAL = 1 + TSL_NOISE, FAR = 1 + 3 * TSL_NOISE;
static const double FAR_OFF = 3, WORTH_A_LINE = 1; /* factor; s */

/* The first rank with this rank's key. */
static int first_of(const tsl_cost *cost, int rank) {
  int first = 0;
  while (strcmp(tsl_cost_key(cost, first), tsl_cost_key(cost, rank)) != 0) first++;
  return first;
}

static void add_rank(const tsl_kind_seconds *shown, tsl_kind_seconds *all) {
  for (int k = 0; k < TSL_MAX_KINDS; k++) {
    for (int t = 0; t < TSL_N_TERMS; t++) all[k].terms[t] += shown[k].terms[t];
    all[k].measured += shown[k].measured;
    if (shown[k].runs > all[k].runs) all[k].runs = shown[k].runs;
  }
}

static double predict(const double c[TSL_N_TERMS], const tsl_kind_seconds *s) {
  double sum = 0;
  for (int t = 0; t < TSL_N_TERMS; t++) sum += c[t] * s->terms[t];
  return sum;
}

/* Measured over predicted. */
static double factor_of(double predicted, const tsl_kind_seconds *s) {
  const bool known = predicted > 0 && s->measured > 0 && isfinite(s->measured / predicted) &&
                     fmax(predicted, s->measured) * (double)s->runs >= TSL_PRECISE;
  return known ? s->measured / predicted : 1;
}

static bool beyond(double factor, double limit) {
  return factor > limit || factor < 1 / limit;
}

/* What the file's prediction is multiplied by: all of it where that is of a few samples or the run
 * of several phases; of one phase all of what is beyond noise, half of what is within. */
static double correction_of(double factor, bool sampled, int64_t runs) {
  if (sampled || runs > 1) return beyond(factor, 1 + TSL_STEADY) ? factor : 1;
  if (!beyond(factor, USUAL)) return 1;
  return beyond(factor, FAR) ? factor : sqrt(factor);
}

static void tell(const tsl_run_settings *settings, const char *key, const tsl_speed *known,
                 const tsl_kind_seconds *all) {
  tsl_kind_seconds whole = {.runs = 1};
  tsl_calibration_line of = {.kind = 0};
  double predicted = 0;
  char path[1024];
  for (int k = 0; k < TSL_MAX_KINDS; k++)
    predicted += predict(known->c[k], &all[k]), whole.measured += all[k].measured;
  const double factor = factor_of(predicted, &whole);
  if (!beyond(factor, FAR_OFF) || fmax(predicted, whole.measured) < WORTH_A_LINE) return;
  tsl_calibration_words(key, &of);
  (void)tsl_calibration_path(settings, path, sizeof path); /* the file is open */
  fprintf(stderr,
          "tesela: note: %.3g s predicted, %.3g s measured on %s: its calibration was off by %.1f "
          "times and is corrected in %s\n",
          predicted, whole.measured, of.device, fmax(factor, 1 / factor), path);
}

/* One line for all ranks with the key of a first one. */
static void correct_key(const tsl_run_settings *settings, const tsl_cost *cost, int first,
                        int n_kinds, const tsl_kind_seconds *all, bool quiet) {
  const char *key = tsl_cost_key(cost, first);
  tsl_speed known = cost->speeds[first];
  FILE *file = NULL;
  (void)tsl_calibration_find(settings, key, 0, n_kinds, known.c);
  for (int k = 0; k < n_kinds; k++) {
    const double factor =
        correction_of(factor_of(predict(known.c[k], &all[k]), &all[k]), cost->sampled, all[k].runs);
    double corrected[TSL_N_TERMS];
    if (factor == 1) continue;
    if (file == NULL && (file = tsl_calibration_append(settings)) == NULL) return;
    for (int t = 0; t < TSL_N_TERMS; t++) corrected[t] = known.c[k][t] * factor;
    tsl_calibration_put(file, key, k, corrected);
  }
  if (file == NULL) return;
  if (!quiet) tell(settings, key, &known, all);
  (void)fclose(file);
}

tsl_err tsl_calibration_correct(const tsl_run_settings *settings, const tsl_cost *cost, int n_kinds,
                                const tsl_kind_seconds (*shown)[TSL_MAX_KINDS], bool quiet) {
  tsl_err err = TSL_OK;
  tsl_kind_seconds(*all)[TSL_MAX_KINDS] = NULL;
  if (cost->keys == NULL) return TSL_OK;
  TSL_TRY(tsl_alloc(cost->n_ranks, sizeof *all, "measured times", (void **)&all));
  for (int r = 0; r < cost->n_ranks; r++) add_rank(shown[r], all[first_of(cost, r)]);
  for (int r = 0; r < cost->n_ranks; r++)
    if (first_of(cost, r) == r) correct_key(settings, cost, r, n_kinds, all[r], quiet);
done:
  tsl_free(all);
  return err;
}
