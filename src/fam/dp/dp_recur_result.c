/* After the tiles of a recurrence: its goal, and the path that it rests on. */
#include "dp_family.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------- goal */

/** Value of an integer, or of the bits of a real. */
static dp_value value_of(const dp_recur *r, int64_t bits) {
  dp_value v = {.whole = bits};
  if (dp_kind_of(r->code.type) == DP_REAL) memcpy(&v.real, &bits, sizeof bits);
  return v;
}

/** Cells of the field wanted. */
static tsl_err read_wanted(void *self, const dp_expr *expr, int32_t node, int64_t i, int64_t j,
                           dp_value *out) {
  tsl_err err = TSL_OK;
  const tsl_problem *problem = self;
  const dp_recur *r = dp_own_of(problem)->recur;
  const int64_t *cells = problem->fields[dp_field(problem, "wanted")].data;
  int64_t p, q;
  (void)expr;
  (void)node;
  dp_code_fold(&r->code, i, j, &p, &q);
  const int64_t k = dp_recur_wanted_from(r, p, q);
  if (k == r->n_wanted || r->wanted[k][0] != i || r->wanted[k][1] != j)
    TSL_FAIL(TSL_ERR_INTERNAL, "dp: cell %lld, %lld was not kept", (long long)i, (long long)j);
  *out = value_of(r, cells[k]);
done:
  return err;
}

/** The best of all lanes. */
static tsl_err find_best(const tsl_problem *problem, dp_recur_best *best) {
  tsl_err err = TSL_OK;
  const dp_own *own = dp_own_of(problem);
  const int64_t(*rows)[3] = problem->fields[dp_field(problem, "best")].data;
  *best = (dp_recur_best){0, -1, -1};
  for (int64_t lane = 0; lane < own->n_lanes; lane++) {
    const dp_recur_best here = {rows[lane][0], rows[lane][1], rows[lane][2]};
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
  *best = (dp_recur_best){0, -1, -1};
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
    v = value_of(r, best->bits);
  }
  if (goal->type == TSL_I64)
    *(int64_t *)goal->data = v.whole;
  else
    *(double *)goal->data = v.real;
done:
  return err;
}

/* ------------------------------------------------------------------------- path */

static dp_value table_value(const tsl_problem *problem, int64_t i, int64_t j) {
  const tsl_field *t = &problem->fields[dp_field(problem, "table")];
  const size_t at = (size_t)(i * t->shape[1] + j) * tsl_type_bytes((tsl_type)t->type);
  return value_of(dp_own_of(problem)->recur, dp_recur_bits(t->type, (const char *)t->data + at));
}

static tsl_err read_table(void *self, const dp_expr *expr, int32_t node, int64_t i, int64_t j,
                          dp_value *out) {
  (void)expr;
  (void)node;
  *out = table_value(self, i, j);
  return TSL_OK;
}

/** Score a cell of the path again from those it reads; keeps what does not agree. */
static tsl_err rescore(tsl_problem *problem, dp_eval *e) {
  tsl_err err = TSL_OK;
  dp_own *own = dp_own_of(problem);
  const dp_value kept = table_value(problem, e->i, e->j);
  dp_value v = {0};
  TSL_TRY(dp_eval_cell(e, &v));
  if (memcmp(&v, &kept, sizeof v) != 0)
    (void)snprintf(own->mismatch, sizeof own->mismatch,
                   "cell (%lld, %lld) of the recovered path has another value when it is computed "
                   "again",
                   (long long)e->i, (long long)e->j);
done:
  return err;
}

/** The first cell that the cell of e, or the goal, rests on; -1: none. */
static tsl_err first_link(const tsl_problem *problem, dp_eval *e, int64_t *i, int64_t *j) {
  tsl_err err = TSL_OK;
  const int32_t pattern = dp_params_of(problem)->pattern;
  dp_links links = {0};
  TSL_TRY(dp_trace_cell(e, &links));
  *i = *j = -1;
  for (int64_t k = 0; k < links.n && *i < 0; k++) *i = links.list[k].to_i, *j = links.list[k].to_j;
  if (e->i >= 0 && *i >= 0 && !dp_pattern_allows((dp_pattern)pattern, *i - e->i, *j - e->j))
    TSL_FAIL(TSL_ERR_INTERNAL, "dp: the path goes from (%lld, %lld) to (%lld, %lld)",
             (long long)e->i, (long long)e->j, (long long)*i, (long long)*j);
done:
  tsl_free(links.list);
  return err;
}

static tsl_err recover(tsl_problem *problem, const dp_recur_best *best, const tsl_store *store) {
  tsl_err err = TSL_OK;
  dp_own *own = dp_own_of(problem);
  dp_eval e = {.recurrence = own->recur->recurrence,
               .i = -1,
               .j = -1,
               .read = read_table,
               .self = problem,
               .work = DP_WORK_MAX};
  int64_t cell[1][2] = {{best->i, best->j}};
  if (best->i < 0) TSL_TRY(first_link(problem, &e, &cell[0][0], &cell[0][1]));
  while (cell[0][0] >= 0) {
    TSL_TRY(dp_walk_steps(problem, (const int64_t(*)[2])cell, 1));
    e.i = cell[0][0], e.j = cell[0][1], e.work = DP_WORK_MAX;
    TSL_TRY(rescore(problem, &e));
    TSL_TRY(first_link(problem, &e, &cell[0][0], &cell[0][1]));
  }
  TSL_TRY(store->append(store->state, dp_field(problem, "path"), own->steps, own->n_steps));
done:
  return err;
}

tsl_err dp_recur_finish(tsl_problem *problem, const tsl_store *store) {
  tsl_err err = TSL_OK;
  dp_recur_best best;
  TSL_TRY(settle_goal(problem, &best));
  if (dp_params_of(problem)->mode == DP_RECOVER) TSL_TRY(recover(problem, &best, store));
done:
  return err;
}
