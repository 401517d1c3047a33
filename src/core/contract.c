/* Fields added to a problem with checked sizes, lines of a summary, seconds of units, backends. */
#include "contract.h"

#include <stdio.h>
#include <string.h>

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

tsl_err tsl_problem_add_hidden(tsl_problem *problem, const char *name, const char *doc,
                               tsl_type type, int64_t rows, int64_t columns, tsl_field **out) {
  tsl_err err = TSL_OK;
  tsl_field field = {.role = TSL_IN,
                     .type = (int32_t)type,
                     .rank = columns != 1 ? 2 : 1,
                     .shape = {rows, columns, 1},
                     .hidden = 1};
  tsl_field_label(&field, name, "1", doc);
  TSL_TRY(tsl_problem_add(problem, &field, out));
  TSL_TRY(tsl_field_allocate(*out));
done:
  return err;
}

int tsl_problem_find(const tsl_problem *problem, const char *name) {
  for (int f = 0; f < problem->n_fields; f++)
    if (strcmp(problem->fields[f].name, name) == 0) return f;
  return -1;
}

void *tsl_problem_data(const tsl_problem *problem, const char *name) {
  const int f = tsl_problem_find(problem, name);
  return f < 0 ? NULL : problem->fields[f].data;
}

void tsl_summary_add(tsl_summary *summary, const char *name, double value, const char *unit) {
  if (summary->n_results == TSL_MAX_RESULTS) return;
  tsl_result *line = &summary->results[summary->n_results++];
  (void)snprintf(line->name, sizeof line->name, "%s", name);
  (void)snprintf(line->unit, sizeof line->unit, "%s", unit);
  line->value = value;
}

int64_t tsl_neighbours(const tsl_unit *units, int64_t n) {
  int64_t m = 1;
  while (m < n && units[m].lo[0] == units[m - 1].hi[0]) m++;
  return m;
}

void tsl_seconds_spread(double seconds, const tsl_unit *units, int64_t n, tsl_part *parts) {
  double items = 0;
  for (int64_t k = 0; k < n; k++) items += units[k].count;
  for (int64_t k = 0; k < n; k++)
    parts[k].seconds = items > 0 ? seconds * units[k].count / items : seconds / (double)n;
}

const tsl_backend *tsl_backend_find(const tsl_platform *platform, const char *family) {
  for (const tsl_backend *const *b = platform->backends; b != NULL && *b != NULL; b++)
    if (strcmp((*b)->family, family) == 0) return *b;
  return NULL;
}
