/* Sizes of slabs from family.region, and blocks of the backend's host memory in which slabs lie one
 * behind another. */
#include "slab_pool.h"

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

static tsl_err slab_pool_allocate(const tsl_backend *backend, int64_t bytes, void **out) {
  if (backend->host_alloc != NULL) return backend->host_alloc(bytes, out);
  return tsl_alloc(bytes, 1, "result buffer", out);
}

static void release(const tsl_backend *backend, void *memory) {
  if (memory == NULL) return;
  if (backend->host_free != NULL)
    backend->host_free(memory);
  else
    tsl_free(memory);
}

void tsl_slab_largest(const tsl_problem *problem, const tsl_unit *units, int64_t n,
                      int64_t bytes[TSL_MAX_FIELDS]) {
  for (int f = 0; f < TSL_MAX_FIELDS; f++) bytes[f] = 0;
  for (int f = 0; f < problem->n_fields; f++) {
    if (!gathered(&problem->fields[f])) continue;
    for (int64_t u = 0; u < n; u++) {
      const int64_t own = tsl_slab_bytes(problem, &units[u], f);
      if (own > bytes[f]) bytes[f] = own;
    }
  }
}

tsl_err tsl_part_init(const tsl_problem *problem, const tsl_backend *backend,
                      const int64_t bytes[TSL_MAX_FIELDS], tsl_part *part) {
  tsl_err err = TSL_OK;
  *part = (tsl_part){0};
  for (int f = 0; f < problem->n_fields; f++)
    if (bytes[f] > 0) TSL_TRY(slab_pool_allocate(backend, bytes[f], &part->slab[f]));
done:
  if (err != TSL_OK) tsl_part_clear(problem, backend, part);
  return err;
}

tsl_err tsl_slab_pool_open(const tsl_problem *problem, const tsl_backend *backend,
                           const tsl_unit *units, int64_t n, int64_t n_most, tsl_slab_pool *slots) {
  tsl_err err = TSL_OK;
  int64_t largest[TSL_MAX_FIELDS];
  *slots = (tsl_slab_pool){.problem = problem, .backend = backend};
  tsl_slab_largest(problem, units, n, largest);
  for (int f = 0; f < problem->n_fields; f++) {
    if (!tsl_mul_i64(largest[f], n_most, &slots->bytes[f]))
      TSL_FAIL(TSL_ERR_INPUT, "field '%s': slabs of %lld units overflow 64-bit counts",
               problem->fields[f].name, (long long)n_most);
    if (slots->bytes[f] > 0)
      TSL_TRY(slab_pool_allocate(backend, slots->bytes[f], &slots->block[f]));
  }
done:
  if (err != TSL_OK) tsl_slab_pool_close(slots);
  return err;
}

void tsl_slab_pool_reset(tsl_slab_pool *slots) {
  for (int f = 0; f < TSL_MAX_FIELDS; f++) slots->used[f] = 0;
}

tsl_err tsl_slab_pool_place(tsl_slab_pool *slots, const tsl_unit *unit, tsl_part *part) {
  tsl_err err = TSL_OK;
  for (int f = 0; f < slots->problem->n_fields; f++) {
    const int64_t bytes = tsl_slab_bytes(slots->problem, unit, f);
    part->slab[f] = NULL;
    if (bytes == 0) continue;
    if (slots->used[f] + bytes > slots->bytes[f])
      TSL_FAIL(TSL_ERR_INTERNAL, "field '%s': no room for the slab of unit %lld",
               slots->problem->fields[f].name, (long long)unit->id);
    part->slab[f] = (char *)slots->block[f] + slots->used[f];
    slots->used[f] += bytes;
  }
done:
  return err;
}

void tsl_slab_pool_close(tsl_slab_pool *slots) {
  for (int f = 0; f < TSL_MAX_FIELDS; f++)
    if (slots->block[f] != NULL) release(slots->backend, slots->block[f]);
  *slots = (tsl_slab_pool){0};
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
    release(backend, part->slab[f]);
    part->slab[f] = NULL;
  }
}
