/* Recovery: which references a value rests on, followed from the goal. */
#include "dp_eval.h"
#include "integers.h"

#include <string.h>

/** A trace under way. */
typedef struct tracer {
  const dp_oracle *grid;
  dp_eval eval;
  dp_links *steps;
  int32_t rule;
  int64_t *open; /**< [cells + 1] cells still to follow, last first */
  int64_t n_open;
  uint8_t *seen; /**< [cells] */
} tracer;

static tsl_err add_step(tracer *t, int32_t reference, int64_t to_i, int64_t to_j,
                        int32_t to_value) {
  tsl_err err = TSL_OK;
  dp_links *s = t->steps;
  TSL_TRY(tsl_grow((void **)&s->list, s->n, 1, &s->room, sizeof *s->list, "recovery"));
  s->list[s->n++] = (dp_link){.i = t->eval.i,
                              .j = t->eval.j,
                              .to_i = to_i,
                              .to_j = to_j,
                              .value = t->eval.value,
                              .to_value = to_value,
                              .rule = t->rule,
                              .reference = reference,
                              .k = t->eval.n_k > 0 ? t->eval.k[t->eval.n_k - 1] : -1};
done:
  return err;
}

static tsl_err trace(tracer *t, const lang_expr *x, int32_t node);

static tsl_err trace_table(tracer *t, const lang_expr *x, int32_t node) {
  tsl_err err = TSL_OK;
  int64_t i = 0, j = 0;
  int32_t value = 0;
  TSL_TRY(dp_eval_place(&t->eval, x, node, &i, &j, &value));
  TSL_TRY(add_step(t, x->nodes[node].dim, i, j, value));
done:
  return err;
}

/** Does b replace a, the best so far of a node's values of this kind? */
static bool is_better(const lang_node *n, int32_t kind, dp_value a, dp_value b) {
  const bool maximum =
      n->op == LANG_OP_MAX || n->op == LANG_OP_RANGE_MAX || n->op == LANG_OP_RANGE_ARGMAX;
  if (kind == LANG_REAL) return maximum ? b.real > a.real : b.real < a.real;
  return maximum ? b.whole > a.whole : b.whole < a.whole;
}

static tsl_err trace_extreme(tracer *t, const lang_expr *x, int32_t node) {
  tsl_err err = TSL_OK;
  int32_t best = x->nodes[node].first;
  dp_value v = {0}, least = {0};
  TSL_TRY(dp_evaluate(&t->eval, x, best, &least));
  for (int32_t c = x->nodes[best].next; c >= 0; c = x->nodes[c].next) {
    TSL_TRY(dp_evaluate(&t->eval, x, c, &v));
    if (!is_better(&x->nodes[node], x->nodes[node].kind, least, v)) continue;
    least = v;
    best = c;
  }
  TSL_TRY(trace(t, x, best));
done:
  return err;
}

/** Of min, max, argmin and argmax the first best value of the variable, of the others all. */
static tsl_err trace_range(tracer *t, const lang_expr *x, int32_t node) {
  tsl_err err = TSL_OK;
  const lang_node *n = &x->nodes[node];
  const int32_t body = lang_child(x, node, 2), n_k = t->eval.n_k;
  const bool all =
      n->op == LANG_OP_RANGE_SUM || n->op == LANG_OP_RANGE_PROD || n->op == LANG_OP_RANGE_LOGSUM;
  dp_value lo = {0}, hi = {0}, v = {0}, least = {0};
  int64_t best = 0;
  TSL_TRY(dp_evaluate(&t->eval, x, lang_child(x, node, 0), &lo));
  TSL_TRY(dp_evaluate(&t->eval, x, lang_child(x, node, 1), &hi));
  if (hi.whole < lo.whole) {
    if (!all) TSL_TRY(trace(t, x, lang_child(x, node, 3)));
    goto done;
  }
  t->eval.n_k = n->ref + 1;
  for (int64_t k = lo.whole; k <= hi.whole; k++) {
    t->eval.k[n->ref] = k;
    if (all) {
      TSL_TRY(trace(t, x, body));
      continue;
    }
    TSL_TRY(dp_evaluate(&t->eval, x, body, &v));
    if (k > lo.whole && !is_better(n, x->nodes[body].kind, least, v)) continue;
    least = v;
    best = k;
  }
  t->eval.k[n->ref] = best;
  if (!all) TSL_TRY(trace(t, x, body));
  t->eval.n_k = n_k;
done:
  return err;
}

static tsl_err trace(tracer *t, const lang_expr *x, int32_t node) {
  tsl_err err = TSL_OK;
  const lang_node *n = &x->nodes[node];
  dp_value v = {0};
  if (n->reads == 0) goto done;
  if (lang_is_range(n->op)) return trace_range(t, x, node);
  switch (n->op) {
  case LANG_OP_TABLE:
    return trace_table(t, x, node);
  case LANG_OP_MIN:
  case LANG_OP_MAX:
    return trace_extreme(t, x, node);
  case LANG_OP_COND:
    TSL_TRY(dp_evaluate(&t->eval, x, n->first, &v));
    return trace(t, x, lang_child(x, node, v.whole != 0 ? 1 : 2));
  default:
    for (int32_t c = n->first; c >= 0; c = x->nodes[c].next) TSL_TRY(trace(t, x, c));
    break;
  }
done:
  return err;
}

static int32_t most_links(const lang_expr *x, int32_t node) {
  const lang_node *n = &x->nodes[node];
  const bool chosen = n->op == LANG_OP_MIN || n->op == LANG_OP_MAX || n->op == LANG_OP_COND;
  const bool all =
      n->op == LANG_OP_RANGE_SUM || n->op == LANG_OP_RANGE_PROD || n->op == LANG_OP_RANGE_LOGSUM;
  int32_t most = 0;
  if (n->reads == 0) return 0;
  if (n->op == LANG_OP_TABLE) return 1;
  if (all) return 2;
  for (int32_t c = n->first; c >= 0 && most < 2; c = x->nodes[c].next) {
    const int32_t links = most_links(x, c);
    most = chosen || lang_is_range(n->op) ? tsl_max(most, links) : most + links;
  }
  return most;
}

int32_t dp_trace_most(const dp_recurrence *r) {
  int32_t most = 0;
  for (int32_t rule = -r->equation.names.n_tables; rule < r->equation.n_rules; rule++) {
    const lang_expr *x = dp_recurrence_value(r, rule);
    most = tsl_max(most, most_links(x, x->root));
  }
  return most;
}

/** Links of one expression, one of no cell when it reads none. */
static tsl_err trace_links(tracer *t, const lang_expr *x) {
  tsl_err err = TSL_OK;
  const int64_t first = t->steps->n;
  t->eval.n_k = 0;
  TSL_TRY(trace(t, x, x->root));
  if (t->steps->n == first) TSL_TRY(add_step(t, -1, -1, -1, 0));
done:
  return err;
}

static int64_t place_of(const dp_oracle *grid, int64_t i, int64_t j, int32_t value) {
  return (i * grid->cols + j) * grid->in_cell + value;
}

/** Links of one expression, then its cells to follow: the first link's on top. */
static tsl_err trace_expr(tracer *t, const lang_expr *x) {
  tsl_err err = TSL_OK;
  const int64_t first = t->steps->n;
  TSL_TRY(trace_links(t, x));
  for (int64_t s = t->steps->n - 1; s >= first; s--) {
    const dp_link *step = &t->steps->list[s];
    const int64_t at = place_of(t->grid, step->to_i, step->to_j, step->to_value);
    if (step->to_i < 0 || t->seen[at] != 0) continue;
    t->seen[at] = 1;
    t->open[t->n_open++] = at;
  }
done:
  return err;
}

tsl_err dp_trace_cell(dp_eval *eval, dp_links *links) {
  tsl_err err = TSL_OK;
  tracer t = {.eval = *eval, .steps = links, .rule = -1};
  const lang_expr *expr = &eval->recurrence->goal;
  t.eval.n_k = 0;
  if (eval->i >= 0) TSL_TRY(dp_eval_rule(&t.eval, &t.rule, &expr));
  TSL_TRY(trace_links(&t, expr));
done:
  eval->work = t.eval.work;
  return err;
}

static tsl_err trace_goal(tracer *t) {
  tsl_err err = TSL_OK;
  dp_value value = {0};
  int64_t i = -1, j = -1, layer = 0;
  t->rule = -1;
  if (t->grid->recurrence->equation.goal == DP_GOAL_EXPR)
    return trace_expr(t, &t->grid->recurrence->goal);
  TSL_TRY(dp_oracle_goal(t->grid, &value, &i, &j, &layer));
  const int32_t number = dp_goal_value(&t->grid->recurrence->equation, layer);
  TSL_TRY(add_step(t, 0, i, j, number));
  t->open[t->n_open++] = place_of(t->grid, i, j, number);
  t->seen[t->open[0]] = 1;
done:
  return err;
}

static tsl_err trace_all(tracer *t) {
  tsl_err err = TSL_OK;
  const lang_expr *expr = NULL;
  TSL_TRY(trace_goal(t));
  while (t->n_open > 0) {
    const int64_t at = t->open[--t->n_open];
    t->eval.i = at / t->grid->in_cell / t->grid->cols;
    t->eval.j = at / t->grid->in_cell % t->grid->cols;
    t->eval.value = (int32_t)(at % t->grid->in_cell);
    TSL_TRY(dp_eval_rule(&t->eval, &t->rule, &expr));
    TSL_TRY(trace_expr(t, expr));
  }
done:
  return err;
}

tsl_err dp_oracle_trace(const dp_oracle *grid, dp_links *steps) {
  tsl_err err = TSL_OK;
  tracer t = {.grid = grid, .steps = steps};
  void *memory = NULL;
  *steps = (dp_links){0};
  t.eval = (dp_eval){.recurrence = grid->recurrence,
                     .i = -1,
                     .j = -1,
                     .read = dp_oracle_read,
                     .self = (void *)grid,
                     .work = grid->work};
  const int64_t cells = grid->rows * grid->cols * grid->in_cell;
  TSL_TRY(tsl_alloc(cells + 1, sizeof *t.open, "recovery", &memory));
  t.open = memory;
  TSL_TRY(tsl_alloc(cells + 1, 1, "recovery", &memory));
  t.seen = memory;
  TSL_TRY(trace_all(&t));
done:
  TSL_FREE_ALL(t.open, t.seen);
  if (err != TSL_OK) {
    tsl_free(steps->list);
    *steps = (dp_links){0};
  }
  return err;
}
