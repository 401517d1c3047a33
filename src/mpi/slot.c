#include "slot.h"

#include <stdlib.h>

static bool gathered(const tsl_field *field) {
  return (field->role & TSL_OUT) && field->combine == TSL_GATHER;
}

int64_t tsl_slab_bytes(const tsl_problem *problem, const tsl_unit *unit, int f) {
  const tsl_field *field = &problem->fields[f];
  int64_t lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1}, count = 1;
  if (!gathered(field)) return 0;
  problem->family->region(problem, unit, f, lo, hi);
  for (int k = 0; k < 3; k++) count *= hi[k] - lo[k];
  return count * (int64_t)tsl_type_bytes((tsl_type)field->type);
}

static tsl_err allocate(const tsl_backend *backend, int64_t bytes, void **out) {
  if (backend->host_alloc != NULL) return backend->host_alloc(bytes, out);
  return tsl_alloc(bytes, 1, "result buffer", out);
}

tsl_err tsl_part_init(const tsl_problem *problem, const tsl_backend *backend, const tsl_unit *units,
                      int64_t n, tsl_part *part) {
  tsl_err err = TSL_OK;
  *part = (tsl_part){0};
  for (int f = 0; f < problem->n_fields; f++) {
    int64_t largest = 0;
    for (int64_t u = 0; u < n; u++) {
      const int64_t bytes = tsl_slab_bytes(problem, &units[u], f);
      if (bytes > largest) largest = bytes;
    }
    if (largest > 0) TSL_TRY(allocate(backend, largest, &part->slab[f]));
  }
done:
  if (err != TSL_OK) tsl_part_clear(problem, backend, part);
  return err;
}

bool tsl_part_has_slabs(const tsl_part *part) {
  for (int f = 0; f < TSL_MAX_FIELDS; f++)
    if (part->slab[f] != NULL) return true;
  return false;
}

void tsl_part_drop_lists(tsl_part *part) {
  for (int f = 0; f < TSL_MAX_FIELDS; f++) {
    free(part->list[f].data);
    part->list[f] = (tsl_list){0};
  }
}

void tsl_part_clear(const tsl_problem *problem, const tsl_backend *backend, tsl_part *part) {
  tsl_part_drop_lists(part);
  for (int f = 0; f < problem->n_fields; f++) {
    if (part->slab[f] == NULL) continue;
    if (backend->host_free != NULL)
      backend->host_free(part->slab[f]);
    else
      tsl_free(part->slab[f]);
    part->slab[f] = NULL;
  }
}
