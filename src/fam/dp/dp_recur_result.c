/* After the tiles of a recurrence: its goal, and the path that it rests on. */
#include "dp_family.h"
#include "dp_recur_strips.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------- goal */

/** Cells of the field wanted. */
static tsl_err read_wanted(void *self, const lang_expr *expr, int32_t node, int64_t i, int64_t j,
                           int32_t value, dp_value *out) {
  tsl_err err = TSL_OK;
  const tsl_problem *problem = self;
  const dp_recur *r = dp_own_of(problem)->recur;
  const int64_t *cells = problem->fields[dp_field(problem, "wanted")].data;
  int64_t p, q;
  (void)expr, (void)node;
  dp_code_fold(&r->code, i, j, &p, &q);
  int64_t k = dp_recur_wanted_from(r, p, q);
  while (k < r->n_wanted && r->wanted[k][2] < value) k++; /* of the cell, or of none */
  if (k == r->n_wanted || r->wanted[k][0] != i || r->wanted[k][1] != j || r->wanted[k][2] != value)
    TSL_FAIL(TSL_ERR_INTERNAL, "dp: cell %lld, %lld was not kept", (long long)i, (long long)j);
  *out = dp_recur_value(r, cells[k]);
done:
  return err;
}

/** The best of all lanes. */
static tsl_err find_best(const tsl_problem *problem, dp_recur_best *best) {
  tsl_err err = TSL_OK;
  const dp_own *own = dp_own_of(problem);
  const int64_t(*rows)[DP_BEST_ROW] = problem->fields[dp_field(problem, "best")].data;
  *best = (dp_recur_best){0, -1, -1, 0};
  for (int64_t lane = 0; lane < own->n_lanes; lane++) {
    const dp_recur_best here = {rows[lane][0], rows[lane][1], rows[lane][2], rows[lane][3]};
    if (dp_recur_better(own->recur, &here, best)) *best = here;
  }
  if (best->i < 0) TSL_FAIL(TSL_ERR_INTERNAL, "dp: no cell was chosen");
done:
  return err;
}

static tsl_err settle_goal(tsl_problem *problem, dp_recur_best *best) {
  tsl_err err = TSL_OK;
  const dp_recur *r = dp_own_of(problem)->recur;
  tsl_field *goal = &problem->fields[DP_GOAL];
  dp_value v = {0};
  *best = (dp_recur_best){0, -1, -1, 0};
  if (r->recurrence->equation.goal == DP_GOAL_EXPR) {
    dp_eval e = {.recurrence = r->recurrence,
                 .i = -1,
                 .j = -1,
                 .read = read_wanted,
                 .self = problem,
                 .work = DP_WORK_MAX};
    TSL_TRY(dp_evaluate(&e, &r->recurrence->goal, r->recurrence->goal.root, &v));
  } else {
    TSL_TRY(find_best(problem, best));
    v = dp_recur_value(r, best->bits);
  }
  if (goal->type == TSL_I64)
    *(int64_t *)goal->data = v.whole;
  else
    *(double *)goal->data = v.real;
done:
  return err;
}

/* ------------------------------------------------------------------------- path */

static dp_value table_value(const tsl_problem *problem, int64_t i, int64_t j, int32_t value) {
  const tsl_field *t = &problem->fields[dp_field(problem, "table")];
  const int64_t in_cell = dp_own_of(problem)->recur->code.values;
  const size_t at =
      (size_t)((i * t->shape[1] + j) * in_cell + value) * tsl_type_bytes((tsl_type)t->type);
  return dp_recur_value(dp_own_of(problem)->recur,
                        dp_recur_bits(t->type, (const char *)t->data + at));
}

static tsl_err read_table(void *self, const lang_expr *expr, int32_t node, int64_t i, int64_t j,
                          int32_t value, dp_value *out) {
  (void)expr, (void)node;
  *out = table_value(self, i, j, value);
  return TSL_OK;
}

tsl_err dp_recur_rescore(dp_eval *e, dp_value kept, char mismatch[DP_REASON]) {
  tsl_err err = TSL_OK;
  const int64_t *const origin = e->recurrence->equation.names.origin;
  dp_value v = {0};
  TSL_TRY(dp_eval_cell(e, &v));
  if (memcmp(&v, &kept, sizeof v) != 0)
    (void)snprintf(mismatch, DP_REASON,
                   "cell (%lld, %lld) of the recovered path has another value when it is computed "
                   "again",
                   (long long)(e->i + origin[0]), (long long)(e->j + origin[1]));
done:
  return err;
}

/** A value of a cell still to be followed, and the record of the one that rests on it. */
typedef struct pending {
  int64_t i, j, from;
  int32_t value;
} pending;

enum { PIECE = 4096 /* records written at once */ };

/** The solution under way: cells in depth-first order, each once. */
typedef struct tree {
  tsl_problem *problem;
  const tsl_field_rows *store;
  dp_eval eval;
  int64_t *records; /**< [PIECE][width] i, j, from; of several tables the table; inner indices */
  int64_t width, n, written; /**< n in records, written in the file */
  pending *stack;
  int64_t n_stack, room;
  uint8_t *seen; /**< a bit for each value of the tables, with solution of its nodes */
  const dp_recur_solution *solution; /**< NULL: all values are in memory */
} tree;

static tsl_err flush_records(tree *t) {
  tsl_err err = TSL_OK;
  TSL_TRY(t->store->append(t->store->state, dp_field(t->problem, "path"), t->records, t->n));
  t->written += t->n;
  t->n = 0;
done:
  return err;
}

/** Number of a value among those that are told apart. */
static int64_t place_of(const tree *t, int64_t i, int64_t j, int32_t value) {
  const lang_names *names = &t->eval.recurrence->equation.names;
  const dp_code *code = &dp_own_of(t->problem)->recur->code;
  if (t->solution != NULL)
    return dp_recur_solution_find(t->solution, dp_recur_number(code, i, j, value));
  return (i * names->tables[0].cols + j) * lang_values(names) + value;
}

/** Put a cell on the stack, unless it has been there. */
static tsl_err push_cell(tree *t, int64_t i, int64_t j, int32_t value, int64_t from) {
  tsl_err err = TSL_OK;
  const int64_t at = place_of(t, i, j, value);
  const uint8_t bit = (uint8_t)(1u << (at & 7));
  if (at < 0)
    TSL_FAIL(TSL_ERR_INTERNAL, "dp: cell %lld, %lld was not kept", (long long)i, (long long)j);
  if ((t->seen[at >> 3] & bit) != 0) return TSL_OK;
  t->seen[at >> 3] |= bit;
  TSL_TRY(tsl_grow((void **)&t->stack, t->n_stack, 1, &t->room, sizeof *t->stack, "solution"));
  t->stack[t->n_stack++] = (pending){i, j, from, value};
done:
  return err;
}

/** The same of what the cell of eval was found to rest on. */
static tsl_err push_found(tree *t, int64_t from) {
  tsl_err err = TSL_OK;
  const dp_recur_solution *s = t->solution;
  const dp_code *code = &dp_own_of(t->problem)->recur->code;
  const int64_t node = place_of(t, t->eval.i, t->eval.j, t->eval.value);
  const int64_t end = node + 1 < s->n ? s->nodes[node + 1][1] : s->n_links;
  for (int64_t k = end - 1; k >= s->nodes[node][1]; k--) {
    const int64_t cell = s->links[k] / code->values;
    int64_t i, j;
    dp_code_unfold(code, cell / code->Q, cell % code->Q, &i, &j);
    TSL_TRY(push_cell(t, i, j, (int32_t)(s->links[k] % code->values), from));
  }
done:
  return err;
}

/** All cells that the cell of eval, or the goal, rests on: the first on top. */
static tsl_err push_links(tree *t, int64_t from) {
  tsl_err err = TSL_OK;
  const dp_pattern pattern = (dp_pattern)dp_params_of(t->problem)->pattern;
  const dp_eval *e = &t->eval;
  dp_links links = {0};
  TSL_TRY(dp_trace_cell(&t->eval, &links));
  for (int64_t k = links.n - 1; k >= 0; k--) {
    const dp_link *link = &links.list[k];
    if (link->to_i < 0) continue;
    if (e->i >= 0 &&
        !dp_pattern_admits(pattern, link->to_i - e->i, link->to_j - e->j, e->value, link->to_value))
      TSL_FAIL(TSL_ERR_INTERNAL, "dp: the path goes from (%lld, %lld) to (%lld, %lld)",
               (long long)e->i, (long long)e->j, (long long)link->to_i, (long long)link->to_j);
    TSL_TRY(push_cell(t, link->to_i, link->to_j, link->to_value, from));
  }
done:
  tsl_free(links.list);
  return err;
}

/** Record the cell on top, score it again, go on with those it rests on. */
static tsl_err follow_top(tree *t) {
  tsl_err err = TSL_OK;
  const pending top = t->stack[--t->n_stack];
  const int64_t number = t->written + t->n;
  const lang_names *names = &t->eval.recurrence->equation.names;
  int64_t *record = &t->records[t->width * t->n++];
  *record++ = top.i + names->origin[0], *record++ = top.j + names->origin[1];
  *record++ = top.from;
  if (names->n_tables > 1) *record++ = top.value % names->n_tables;
  for (int n = 0; n < names->tables[0].n_inner; n++)
    *record++ = lang_inner_of(names, top.value / names->n_tables, n);
  t->eval.i = top.i, t->eval.j = top.j, t->eval.value = top.value, t->eval.work = DP_WORK_MAX;
  if (t->solution != NULL) {
    TSL_TRY(push_found(t, number));
  } else {
    TSL_TRY(dp_recur_rescore(&t->eval, table_value(t->problem, top.i, top.j, top.value),
                             dp_own_of(t->problem)->mismatch));
    TSL_TRY(push_links(t, number));
  }
  if (t->n == PIECE) TSL_TRY(flush_records(t));
done:
  return err;
}

/** Numbers of the values that the goal rests on. @param[out] roots  from tsl_alloc */
static tsl_err find_roots(tree *t, const dp_recur_best *best, int64_t **roots, int64_t *n) {
  tsl_err err = TSL_OK;
  const dp_equation *equation = &t->eval.recurrence->equation;
  const dp_code *code = &dp_own_of(t->problem)->recur->code;
  dp_links links = {0};
  if (best->i < 0) TSL_TRY(dp_trace_cell(&t->eval, &links));
  TSL_TRY(tsl_alloc(links.n + 1, sizeof **roots, "solution", (void **)roots));
  *n = 0;
  if (best->i >= 0)
    (*roots)[(*n)++] =
        dp_recur_number(code, best->i, best->j, dp_goal_value(equation, best->layer));
  for (int64_t k = 0; k < links.n; k++)
    if (links.list[k].to_i >= 0)
      (*roots)[(*n)++] =
          dp_recur_number(code, links.list[k].to_i, links.list[k].to_j, links.list[k].to_value);
done:
  tsl_free(links.list);
  return err;
}

/** Where only some rows of the table are kept. */
static tsl_err solve(tree *t, const dp_recur_best *best, dp_recur_solution *solution) {
  tsl_err err = TSL_OK;
  const dp_params *p = dp_params_of(t->problem);
  dp_own *own = dp_own_of(t->problem);
  int64_t *roots = NULL, n = 0;
  const dp_code *code = &own->recur->code;
  const double strips = dp_recur_strip_bytes(code, p->strip) - dp_recur_path_bytes(code);
  *solution = (dp_recur_solution){.bytes = p->budget - (int64_t)strips};
  t->eval.read = read_wanted;
  TSL_TRY(find_roots(t, best, &roots, &n));
  TSL_TRY(dp_recur_strips_solve(t->problem, t->store, roots, n, solution));
  (void)snprintf(own->mismatch, sizeof own->mismatch, "%s", solution->mismatch);
  t->solution = solution;
done:
  tsl_free(roots);
  return err;
}

static tsl_err follow_all(tree *t, const dp_recur_best *best) {
  tsl_err err = TSL_OK;
  const dp_recurrence *recurrence = t->eval.recurrence;
  const lang_table *table = &recurrence->equation.names.tables[0];
  const int64_t values = t->solution != NULL
                             ? t->solution->n
                             : table->rows * table->cols * lang_values(&recurrence->equation.names);
  TSL_TRY(tsl_alloc(PIECE * t->width, sizeof *t->records, "solution", (void **)&t->records));
  TSL_TRY(tsl_alloc(values / 8 + 1, 1, "solution", (void **)&t->seen));
  if (best->i >= 0)
    TSL_TRY(push_cell(t, best->i, best->j, dp_goal_value(&recurrence->equation, best->layer), -1));
  else
    TSL_TRY(push_links(t, -1));
  while (t->n_stack > 0) TSL_TRY(follow_top(t));
  TSL_TRY(flush_records(t));
done:
  return err;
}

static tsl_err recover(tsl_problem *problem, const dp_recur_best *best,
                       const tsl_field_rows *store) {
  tsl_err err = TSL_OK;
  const dp_recurrence *recurrence = dp_own_of(problem)->recur->recurrence;
  const dp_code *code = &dp_own_of(problem)->recur->code;
  dp_recur_solution solution = {0};
  tree t = {.problem = problem, .store = store};
  t.width = 3 + (code->tables > 1) + recurrence->equation.names.tables[0].n_inner;
  t.eval = (dp_eval){.recurrence = recurrence,
                     .i = -1,
                     .j = -1,
                     .read = read_table,
                     .self = problem,
                     .work = DP_WORK_MAX};
  if (dp_params_of(problem)->strip > 0) TSL_TRY(solve(&t, best, &solution));
  TSL_TRY(follow_all(&t, best));
done:
  dp_recur_solution_clear(&solution);
  TSL_FREE_ALL(t.records, t.seen, t.stack);
  return err;
}

tsl_err dp_recur_finish(tsl_problem *problem, const tsl_field_rows *store) {
  tsl_err err = TSL_OK;
  dp_recur_best best;
  TSL_TRY(settle_goal(problem, &best));
  if (dp_params_of(problem)->mode == DP_RECOVER) TSL_TRY(recover(problem, &best, store));
done:
  return err;
}
