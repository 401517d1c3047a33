/** @file tri_cpu_equation.c  Equations of decks: to an object for each SIMD level of the job. */
#include "tri_cpu_equation.h"

#include <string.h>

extern const char tri_equation_loops_text[];

tsl_err tri_cpu_prepare(tsl_problem *problem, const tsl_device *devices, int n) {
  if (!tri_is_equation(tri_params_of(problem))) return TSL_OK;
  return lang_cpu_prepare_equation(problem, tri_equation_loops_text, &tri_purpose, devices, n);
}

tsl_err tri_cpu_equation_open(const tsl_problem *problem, const tsl_device *device,
                              tri_cpu_equation *e) {
  tsl_err err = TSL_OK;
  void *address = NULL;
  memset(e, 0, sizeof *e);
  if (!tri_is_equation(tri_params_of(problem))) return TSL_OK;
  TSL_TRY(lang_cpu_load(problem, device, &e->object));
  TSL_TRY(lang_object_find(e->object, "tsl_tri_fill", &address));
  e->fill = (tri_equation_fill *)address;
  TSL_TRY(lang_object_find(e->object, "tsl_tri_sum", &address));
  e->sum = (tri_equation_sum *)address;
  tri_equation_arguments(problem, problem->fields[TRI_POINTS].data,
                         problem->fields[TRI_EXTRAS].data, &e->args);
done:
  return err;
}

void tri_cpu_equation_close(tri_cpu_equation *e) {
  lang_object_close(&e->object);
}
