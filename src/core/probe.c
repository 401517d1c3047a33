/* Figures are appended to a list with the group that is open. A figure that reaches 90 % of its
 * best loses its advice. */
#include "probe.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void tsl_figures_group(tsl_figures *figures, const char *group) {
  (void)snprintf(figures->group, sizeof figures->group, "%s", group);
}

/** Is the figure near enough to its best that there is nothing to advise? */
static bool is_near(const tsl_figure *f) {
  static const double NEAR = 0.9;
  if (!(f->peak > 0) || !(f->value > 0)) return false;
  return (f->smaller ? f->peak / f->value : f->value / f->peak) >= NEAR;
}

static tsl_err probe_add(tsl_figures *figures, const tsl_figure *figure, const char *advice) {
  tsl_err err = TSL_OK;
  tsl_figure *f = &figures->list[figures->n];
  if (figures->n == TSL_MAX_FIGURES)
    TSL_FAIL(TSL_ERR_INTERNAL, "more than %d figures of one device", TSL_MAX_FIGURES);
  *f = *figure;
  (void)snprintf(f->group, sizeof f->group, "%s", figures->group);
  (void)snprintf(f->advice, sizeof f->advice, "%s",
                 advice != NULL && !is_near(figure) ? advice : "");
  figures->n++;
done:
  return err;
}

tsl_err tsl_figures_add(tsl_figures *figures, const char *name, double value, const char *unit,
                        double peak, const char *advice) {
  tsl_figure f = {.value = value, .peak = peak};
  (void)snprintf(f.name, sizeof f.name, "%s", name);
  (void)snprintf(f.unit, sizeof f.unit, "%s", unit);
  return probe_add(figures, &f, advice);
}

tsl_err tsl_figures_add_time(tsl_figures *figures, const char *name, double value, const char *unit,
                             double peak, const char *advice) {
  tsl_figure f = {.value = value, .peak = peak, .smaller = 1};
  (void)snprintf(f.name, sizeof f.name, "%s", name);
  (void)snprintf(f.unit, sizeof f.unit, "%s", unit);
  return probe_add(figures, &f, advice);
}

void tsl_figures_note(tsl_figures *figures, const char *note) {
  tsl_figure *last = figures->n > 0 ? &figures->list[figures->n - 1] : NULL;
  if (last != NULL) (void)snprintf(last->advice, sizeof last->advice, "%s", note);
}

void tsl_figures_mark(tsl_figures *figures, tsl_figure_term term) {
  if (figures->n > 0) figures->list[figures->n - 1].term = (int32_t)term;
}

double tsl_figure_si(const tsl_figure *f) {
  static const char letters[] = "TGMmun";
  static const double factors[] = {1e12, 1e9, 1e6, 1e-3, 1e-6, 1e-9};
  const char *at = f->unit[0] != '\0' ? strchr(letters, f->unit[0]) : NULL;
  return at != NULL ? f->value * factors[at - letters] : f->value;
}
