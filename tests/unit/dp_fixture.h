/* What the tests of recurrences share: equations written in C. */
#pragma once

#include "dp_eval.h"
#include "must.h"

/** An equation being written, and its data (borrowed). */
typedef struct draft {
  dp_equation equation;
  const void *data[LANG_ARRAYS_MAX];
} draft;

/** A table M; no cell, goal M[rows-1][cols-1]. */
static inline void draft_table(draft *d, tsl_type type, int64_t rows, int64_t cols) {
  lang_table *t = &d->equation.names.tables[0];
  memset(d, 0, sizeof *d);
  *t = (lang_table){.name = "M", .type = type, .rows = rows, .cols = cols};
  d->equation.names.n_tables = 1;
  d->equation.pattern = DP_AUTO;
  assert_int_equal(dp_equation_goal(&d->equation, "M[rows(M)-1][cols(M)-1]"), TSL_OK);
}

static inline void draft_array(draft *d, const char *name, tsl_type type, int64_t rows,
                               int64_t cols, const void *data) {
  const int32_t n = d->equation.names.n_arrays++;
  lang_array *a = &d->equation.names.arrays[n];
  *a = (lang_array){.type = type, .rank = cols > 0 ? 2 : 1, .shape = {rows, cols > 0 ? cols : 1}};
  (void)snprintf(a->name, sizeof a->name, "%s", name);
  dp_array_limits(a, data);
  d->data[n] = data;
}

static inline void draft_text(draft *d, const char *name, const char *text) {
  draft_array(d, name, TSL_U8, (int64_t)strlen(text), 0, text);
}

static inline void draft_whole(draft *d, const char *name, int64_t value) {
  lang_scalar *s = &d->equation.names.scalars[d->equation.names.n_scalars++];
  *s = (lang_scalar){.kind = LANG_WHOLE, .whole = value};
  (void)snprintf(s->name, sizeof s->name, "%s", name);
}

static inline void draft_real(draft *d, const char *name, double value) {
  lang_scalar *s = &d->equation.names.scalars[d->equation.names.n_scalars++];
  *s = (lang_scalar){.kind = LANG_REAL, .real = value};
  (void)snprintf(s->name, sizeof s->name, "%s", name);
}

static inline void draft_rule(draft *d, const char *where, const char *value) {
  assert_int_equal(dp_equation_rule(&d->equation, 0, where, value), TSL_OK);
}

static inline void draft_cell(draft *d, const char *text) {
  assert_int_equal(dp_equation_add(&d->equation, text, &d->equation.cell_at[0]), TSL_OK);
}

static inline void draft_goal(draft *d, const char *text) {
  assert_int_equal(dp_equation_goal(&d->equation, text), TSL_OK);
}

static inline tsl_err draft_finish(const draft *d, dp_recurrence **out) {
  return dp_recurrence_create(&d->equation, d->data, out);
}

/** The goal of an equation, filled by need; the error is left in the thread. */
static inline tsl_err draft_solve(const draft *d, dp_value *value) {
  dp_recurrence *r = NULL;
  dp_oracle grid = {0};
  int64_t i, j, k;
  tsl_err err = draft_finish(d, &r);
  if (err == TSL_OK) err = dp_oracle_create(r, &grid);
  if (err == TSL_OK) err = dp_oracle_fill(&grid);
  if (err == TSL_OK) err = dp_oracle_goal(&grid, value, &i, &j, &k);
  dp_oracle_clear(&grid);
  dp_recurrence_destroy(&r);
  return err;
}
