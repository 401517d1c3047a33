/* How much of a table the goal rests on. */
#include "dp_depend.h"

#include "dp_eval.h"
#include "integers.h"

/** Beyond the last row and column that the goal itself reads. */
typedef struct corner {
  int64_t rows, cols;
} corner;

static tsl_err note_read(void *self, const lang_expr *expr, int32_t node, int64_t i, int64_t j,
                         int32_t value) {
  corner *c = self;
  (void)expr, (void)node, (void)value;
  c->rows = tsl_max(c->rows, i + 1);
  c->cols = tsl_max(c->cols, j + 1);
  return TSL_OK;
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

tsl_err dp_needed_extent(const dp_recurrence *r, int64_t *rows, int64_t *cols) {
  tsl_err err = TSL_OK;
  const lang_table *t = &r->equation.names.tables[0];
  dp_eval e = {.recurrence = r, .i = -1, .j = -1, .work = DP_WORK_MAX};
  corner c = {0, 0};
  bool down = false, right = false;
  dp_references *refs = NULL;
  *rows = t->rows, *cols = t->cols;
  if (r->equation.goal != DP_GOAL_EXPR || any_asks_extent(r)) return TSL_OK;
  TSL_TRY(dp_reads_goal(&e, note_read, &c));
  if (c.rows == 0) goto done;
  TSL_TRY(tsl_alloc(1, sizeof *refs, "dependencies", (void **)&refs));
  TSL_TRY(dp_depend_references(r, refs));
  for (int n = 0; n < refs->n; n++) {
    down = down || refs->list[n].di.hi > 0;
    right = right || refs->list[n].dj.hi > 0;
  }
  if (!down) *rows = c.rows;
  if (!right) *cols = c.cols;
  if (t->cells == LANG_CELLS_UPPER) *rows = tsl_min(*rows, *cols);
  if (t->cells == LANG_CELLS_LOWER) *cols = tsl_min(*cols, *rows);
done:
  tsl_free(refs);
  return err;
}
