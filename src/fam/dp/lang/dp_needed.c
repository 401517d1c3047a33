/* How much of a table the goal rests on. */
#include "dp_depend.h"

#include "dp_eval.h"
#include "integers.h"

static tsl_err note_read(void *self, const lang_expr *expr, int32_t node, int64_t i, int64_t j,
                         int32_t value) {
  dp_patch *read = self;
  (void)expr, (void)node, (void)value;
  *read = (dp_patch){tsl_min(read->i0, i), tsl_max(read->i1, i + 1), tsl_min(read->j0, j),
                     tsl_max(read->j1, j + 1)};
  return TSL_OK;
}

/** The rows and columns that the goal itself reads; none: i1 = 0. */
static tsl_err read_by_goal(const dp_recurrence *r, dp_patch *read) {
  tsl_err err = TSL_OK;
  const lang_table *t = &r->equation.names.tables[0];
  dp_eval e = {.recurrence = r, .i = -1, .j = -1, .work = DP_WORK_MAX};
  *read = (dp_patch){0, t->rows, 0, t->cols};
  switch ((dp_goal)r->equation.goal) {
  case DP_GOAL_ROW:
    read->i0 = t->rows - 1;
    break;
  case DP_GOAL_COLUMN:
    read->j0 = t->cols - 1;
    break;
  case DP_GOAL_ALL:
    break;
  case DP_GOAL_EXPR:
    *read = (dp_patch){INT64_MAX, 0, INT64_MAX, 0};
    TSL_TRY(dp_reads_goal(&e, note_read, read));
    break;
  }
done:
  return err;
}

/** Does it ask for rows or columns of a table, which a cut would change? */
static bool asks_extent(const lang_expr *x) {
  for (int32_t n = 0; n < x->n_nodes; n++)
    if (x->nodes[n].op == LANG_OP_EXTENT && x->nodes[n].ref < 0) return true;
  return false;
}

static bool any_asks_extent(const dp_recurrence *r) {
  bool any = asks_extent(&r->goal);
  for (int32_t k = -r->equation.names.n_tables; k < r->equation.n_rules; k++) {
    any = any || asks_extent(dp_recurrence_value(r, k));
    any = any || (k >= 0 && asks_extent(&r->rules[k].where));
  }
  return any;
}

/** Of a triangle nothing lies on its other side; what is cut off before it is cut off both ways, so
 *  that it stays a triangle. */
static void keep_triangle(const lang_table *t, dp_patch *part) {
  if (t->cells == LANG_CELLS_UPPER) part->i1 = tsl_min(part->i1, part->j1), part->j0 = part->i0;
  if (t->cells == LANG_CELLS_LOWER) part->j1 = tsl_min(part->j1, part->i1), part->i0 = part->j0;
}

tsl_err dp_needed_patch(const dp_recurrence *r, dp_patch *part) {
  tsl_err err = TSL_OK;
  const lang_table *t = &r->equation.names.tables[0];
  dp_patch read;
  dp_references *refs = NULL;
  *part = (dp_patch){0, t->rows, 0, t->cols};
  if (any_asks_extent(r)) return TSL_OK;
  TSL_TRY(read_by_goal(r, &read));
  if (read.i1 == 0) goto done;
  TSL_TRY(tsl_alloc(1, sizeof *refs, "dependencies", (void **)&refs));
  TSL_TRY(dp_depend_references(r, refs));
  *part = read;
  for (int n = 0; n < refs->n; n++) {
    const dp_reference *ref = &refs->list[n];
    if (ref->di.lo < 0) part->i0 = 0;
    if (ref->di.hi > 0) part->i1 = t->rows;
    if (ref->dj.lo < 0) part->j0 = 0;
    if (ref->dj.hi > 0) part->j1 = t->cols;
  }
  keep_triangle(t, part);
done:
  tsl_free(refs);
  return err;
}
