/** @file tri_cpu_equation.c  Equations of decks: to an object for each SIMD level of the job. */
#include "tri_cpu_equation.h"

#include "lang_objects.h"

#include <string.h>

extern const char tri_equation_loops_text[];

static const char head[] = "/* emitted by tesela */\n"
                           "typedef long long i64;\n"
                           "#define LANG_FN static inline __attribute__((always_inline))\n";

tsl_err tri_cpu_equation_text(const tsl_problem *problem, char **text) {
  return tri_equation_program(problem, head, tri_equation_loops_text, text);
}

static tsl_err prepare_level(tsl_problem *problem, const char *text, int32_t level) {
  tsl_err err = TSL_OK;
  lang_object *object = NULL;
  const void *there = NULL;
  void *bytes = NULL;
  int64_t n = 0;
  TSL_TRY(lang_objects_find(problem, TRI_EQUATION_CPU, level, &there, &n));
  if (there != NULL) goto done;
  TSL_TRY(lang_object_open(text, level, &tri_purpose, &object));
  TSL_TRY(lang_object_bytes(object, &bytes, &n));
  TSL_TRY(lang_objects_put(problem, TRI_EQUATION_CPU, level, bytes, n));
done:
  lang_object_close(&object);
  tsl_free(bytes);
  return err;
}

tsl_err tri_cpu_prepare(tsl_problem *problem, const tsl_device *devices, int n) {
  tsl_err err = TSL_OK;
  char *text = NULL;
  if (!tri_is_equation(tri_params_of(problem))) return TSL_OK;
  TSL_TRY(tri_cpu_equation_text(problem, &text));
  for (int d = 0; d < n; d++) TSL_TRY(prepare_level(problem, text, devices[d].capability));
done:
  tsl_free(text);
  return err;
}

tsl_err tri_cpu_equation_open(const tsl_problem *problem, const tsl_device *device,
                              tri_cpu_equation *e) {
  tsl_err err = TSL_OK;
  const void *bytes = NULL;
  void *address = NULL;
  int64_t n = 0;
  memset(e, 0, sizeof *e);
  if (!tri_is_equation(tri_params_of(problem))) return TSL_OK;
  TSL_TRY(lang_objects_find(problem, TRI_EQUATION_CPU, device->capability, &bytes, &n));
  if (bytes == NULL)
    TSL_FAIL(TSL_ERR_INTERNAL, "tri: nothing was compiled for x86-64 level %d",
             (int)device->capability);
  TSL_TRY(lang_object_load(bytes, n, &e->object));
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
