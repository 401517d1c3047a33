/* From a deck to rows. */
#include "sums.h"

#include <stddef.h>

static const tsl_key keys[] = {
    TSL_INT_KEY("rows", offsetof(sums_params, rows), NULL, 0, 1e6, "Rows."),
    TSL_INT_KEY("columns", offsetof(sums_params, columns), NULL, 0, 1e6, "Columns."),
    {0}};

static tsl_err sums_create(tsl_deck *deck, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  sums_params *p = NULL;
  tsl_field *added = NULL;
  tsl_field field = {.name = "sums",
                     .unit = "1",
                     .doc = "Sums over the columns.",
                     .role = TSL_OUT,
                     .type = TSL_F64,
                     .combine = TSL_GATHER,
                     .rank = 1,
                     .shape = {0, 1, 1}};
  TSL_TRY(tsl_alloc(1, sizeof *p, "parameters", &problem->params));
  problem->params_bytes = (int64_t)sizeof *p;
  p = problem->params;
  TSL_TRY(tsl_deck_bind(deck, "sums", keys, sizeof *p, p));
  field.shape[0] = p->rows;
  TSL_TRY(tsl_problem_add(problem, &field, &added));
done:
  return err;
}

static tsl_err sums_units(const tsl_problem *problem, const tsl_limits *limits, tsl_units *units) {
  tsl_err err = TSL_OK;
  const sums_params *p = problem->params;
  const int64_t n = limits->target_units < p->rows ? limits->target_units : p->rows;
  void *list = NULL;
  *units = (tsl_units){0};
  if (n == 0) goto done;
  TSL_TRY(tsl_alloc(n, sizeof(tsl_unit), "units", &list));
  units->list = list;
  units->n = n;
  for (int64_t u = 0; u < n; u++) {
    const int64_t lo = u * p->rows / n, hi = (u + 1) * p->rows / n;
    const double cells = (double)(hi - lo) * (double)p->columns;
    units->list[u] = (tsl_unit){.id = u, .lo = {lo, 0, 0}, .hi = {hi, 1, 1}};
    units->list[u].count = cells;
    units->list[u].flops = 2 * cells;
    units->list[u].bytes = 8 * (double)(hi - lo);
  }
done:
  return err;
}

static void sums_region(const tsl_problem *problem, const tsl_unit *unit, int field, int64_t lo[3],
                        int64_t hi[3]) {
  (void)problem, (void)field;
  for (int k = 0; k < 3; k++) lo[k] = unit->lo[k], hi[k] = unit->hi[k];
}

const tsl_family tsl_family_sums = {
    .name = "sums",
    .doc = "Sums over the rows of Hilbert's matrix.",
    .shape = TSL_BAG,
    .n_kinds = 1,
    .keys = keys,
    .create = sums_create,
    .units = sums_units,
    .region = sums_region,
};
