/* Element types by size and name, fields added to a problem with checked sizes, lines of a summary,
 * and the backend of a family on a platform. */
#include "contract.h"

#include <stdio.h>
#include <string.h>

static const struct {
  size_t bytes;
  const char *name;
} types[TSL_N_TYPES] = {
    [TSL_U8] = {1, "u8"},   [TSL_I16] = {2, "i16"}, [TSL_U16] = {2, "u16"},
    [TSL_I32] = {4, "i32"}, [TSL_U32] = {4, "u32"}, [TSL_I64] = {8, "i64"},
    [TSL_U64] = {8, "u64"}, [TSL_F32] = {4, "f32"}, [TSL_F64] = {8, "f64"},
};

size_t tsl_type_bytes(tsl_type type) {
  return types[type].bytes;
}

const char *tsl_type_name(tsl_type type) {
  return types[type].name;
}

int64_t tsl_field_count(const tsl_field *field) {
  return field->shape[0] * field->shape[1] * field->shape[2];
}

void tsl_problem_clear(tsl_problem *problem) {
  for (int f = 0; f < problem->n_fields; f++) tsl_free(problem->fields[f].data);
  tsl_free(problem->params);
  memset(problem, 0, sizeof *problem);
}

tsl_err tsl_problem_add(tsl_problem *problem, const tsl_field *field, tsl_field **out) {
  tsl_err err = TSL_OK;
  int64_t count = 1;
  tsl_field *added = NULL;
  if (problem->n_fields == TSL_MAX_FIELDS)
    TSL_FAIL(TSL_ERR_INTERNAL, "more than %d fields in a problem", TSL_MAX_FIELDS);
  added = &problem->fields[problem->n_fields];
  *added = *field;
  for (int k = 0; k < 3; k++) {
    if (k >= field->rank) added->shape[k] = 1;
    if (!tsl_mul_i64(count, added->shape[k], &count))
      TSL_FAIL(TSL_ERR_INPUT, "field '%s': %lld x %lld x %lld elements overflow 64-bit counts",
               field->name, (long long)field->shape[0], (long long)field->shape[1],
               (long long)field->shape[2]);
  }
  if (!tsl_mul_i64(count, (int64_t)tsl_type_bytes((tsl_type)field->type), &count))
    TSL_FAIL(TSL_ERR_INPUT, "field '%s': its bytes overflow 64-bit counts", field->name);
  problem->n_fields++;
  *out = added;
done:
  return err;
}

int tsl_problem_find(const tsl_problem *problem, const char *name) {
  for (int f = 0; f < problem->n_fields; f++)
    if (strcmp(problem->fields[f].name, name) == 0) return f;
  return -1;
}

void tsl_summary_add(tsl_summary *summary, const char *name, double value, const char *unit) {
  if (summary->n_results == TSL_MAX_RESULTS) return;
  tsl_result *line = &summary->results[summary->n_results++];
  (void)snprintf(line->name, sizeof line->name, "%s", name);
  (void)snprintf(line->unit, sizeof line->unit, "%s", unit);
  line->value = value;
}

const tsl_backend *tsl_backend_find(const tsl_platform *platform, const char *family) {
  for (const tsl_backend *const *b = platform->backends; b != NULL && *b != NULL; b++)
    if (strcmp((*b)->family, family) == 0) return *b;
  return NULL;
}
