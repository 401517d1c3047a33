/* A field as a list of objects: head, bytes, padding to 16; head, bytes, ... */
#include "lang_objects.h"

#include <string.h>

enum { ALIGN = 16 };

typedef struct head {
  int32_t architecture, reserved;
  int64_t n;
} head;

_Static_assert(sizeof(head) == ALIGN, "objects are aligned");

static int64_t padded(int64_t n) {
  return (n + ALIGN - 1) / ALIGN * ALIGN;
}

static tsl_err find_field(const tsl_problem *problem, const char *name, int *index) {
  tsl_err err = TSL_OK;
  *index = tsl_problem_find(problem, name);
  if (*index < 0) TSL_FAIL(TSL_ERR_INTERNAL, "no field '%s'", name);
done:
  return err;
}

tsl_err lang_objects_put(tsl_problem *problem, const char *name, int32_t architecture,
                         const void *bytes, int64_t n) {
  tsl_err err = TSL_OK;
  const head h = {.architecture = architecture, .n = n};
  int index = 0;
  void *memory = NULL;
  TSL_TRY(find_field(problem, name, &index));
  tsl_field *field = &problem->fields[index];
  const int64_t before = field->shape[0], after = before + ALIGN + padded(n);
  TSL_TRY(tsl_alloc(after, 1, name, &memory));
  if (before > 0) memcpy(memory, field->data, (size_t)before);
  memcpy((char *)memory + before, &h, sizeof h);
  if (n > 0) memcpy((char *)memory + before + ALIGN, bytes, (size_t)n);
  tsl_free(field->data);
  field->data = memory;
  field->shape[0] = after;
done:
  return err;
}

tsl_err lang_objects_find(const tsl_problem *problem, const char *name, int32_t architecture,
                          const void **bytes, int64_t *n) {
  tsl_err err = TSL_OK;
  int index = 0;
  head h;
  *bytes = NULL;
  *n = 0;
  TSL_TRY(find_field(problem, name, &index));
  const tsl_field *field = &problem->fields[index];
  for (int64_t at = 0; at + ALIGN <= field->shape[0]; at += ALIGN + padded(h.n)) {
    memcpy(&h, (const char *)field->data + at, sizeof h);
    if (h.n < 0 || h.n > field->shape[0] - at - ALIGN)
      TSL_FAIL(TSL_ERR_INTERNAL, "dp: field '%s' is damaged", name);
    if (h.architecture != architecture) continue;
    *bytes = (const char *)field->data + at + ALIGN;
    *n = h.n;
    break;
  }
done:
  return err;
}
