#include "probe.h"

#include <stdio.h>
#include <string.h>

void tsl_figures_group(tsl_figures *figures, const char *group) {
  (void)snprintf(figures->group, sizeof figures->group, "%s", group);
}

static tsl_err add(tsl_figures *figures, const tsl_figure *figure, const char *advice) {
  tsl_err err = TSL_OK;
  tsl_figure *f = &figures->list[figures->n];
  if (figures->n == TSL_MAX_FIGURES)
    TSL_FAIL(TSL_ERR_INTERNAL, "more than %d figures of one device", TSL_MAX_FIGURES);
  *f = *figure;
  (void)snprintf(f->group, sizeof f->group, "%s", figures->group);
  (void)snprintf(f->advice, sizeof f->advice, "%s", advice != NULL ? advice : "");
  figures->n++;
done:
  return err;
}

tsl_err tsl_figures_add(tsl_figures *figures, const char *name, double value, const char *unit,
                        double peak, const char *advice) {
  tsl_figure f = {.value = value, .peak = peak};
  (void)snprintf(f.name, sizeof f.name, "%s", name);
  (void)snprintf(f.unit, sizeof f.unit, "%s", unit);
  return add(figures, &f, advice);
}

tsl_err tsl_figures_add_time(tsl_figures *figures, const char *name, double value, const char *unit,
                             double peak, const char *advice) {
  tsl_figure f = {.value = value, .peak = peak, .smaller = 1};
  (void)snprintf(f.name, sizeof f.name, "%s", name);
  (void)snprintf(f.unit, sizeof f.unit, "%s", unit);
  return add(figures, &f, advice);
}
