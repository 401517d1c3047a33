/* Compiled texts of a problem on sockets: one object for each SIMD level of the job. */
#include "lang_compile.h"

#include "lang_equation.h"
#include "lang_objects.h"

static tsl_err prepare_level(tsl_problem *problem, const char *text, const lang_purpose *purpose,
                             int32_t level) {
  tsl_err err = TSL_OK;
  lang_object *object = NULL;
  const void *there = NULL;
  void *bytes = NULL;
  int64_t n = 0;
  TSL_TRY(lang_objects_find(problem, LANG_FIELD_CPU, level, &there, &n));
  if (there != NULL) goto done;
  TSL_TRY(lang_object_open(text, level, purpose, &object));
  TSL_TRY(lang_object_bytes(object, &bytes, &n));
  TSL_TRY(lang_objects_put(problem, LANG_FIELD_CPU, level, bytes, n));
done:
  lang_object_close(&object);
  tsl_free(bytes);
  return err;
}

tsl_err lang_cpu_prepare(tsl_problem *problem, const char *text, const lang_purpose *purpose,
                         const tsl_device *devices, int n) {
  tsl_err err = TSL_OK;
  for (int d = 0; d < n; d++) TSL_TRY(prepare_level(problem, text, purpose, devices[d].capability));
done:
  return err;
}

tsl_err lang_cpu_prepare_equation(tsl_problem *problem, const char *loops,
                                  const lang_purpose *purpose, const tsl_device *devices, int n) {
  tsl_err err = TSL_OK;
  char *text = NULL;
  TSL_TRY(
      lang_fields_program(problem, "static inline __attribute__((always_inline))", loops, &text));
  TSL_TRY(lang_cpu_prepare(problem, text, purpose, devices, n));
done:
  tsl_free(text);
  return err;
}

tsl_err lang_cpu_load(const tsl_problem *problem, const tsl_device *device, lang_object **out) {
  tsl_err err = TSL_OK;
  const void *bytes = NULL;
  int64_t n = 0;
  TSL_TRY(lang_objects_find(problem, LANG_FIELD_CPU, device->capability, &bytes, &n));
  if (bytes == NULL)
    TSL_FAIL(TSL_ERR_INTERNAL, "nothing was compiled for x86-64 level %d", (int)device->capability);
  TSL_TRY(lang_object_load(bytes, n, out));
done:
  return err;
}
