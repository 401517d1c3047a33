/* Which cells a cell can read: by offsets, and one by one. */
#include "dp_depend.h"

/* --------------------------------------------------------------- one by one */

/** A visit of one cell's reads. */
typedef struct visitor {
  dp_eval *eval;
  dp_visit_fn *visit;
  void *self;
} visitor;

static tsl_err visit_node(const visitor *v, const lang_expr *x, int32_t node);

static tsl_err visit_table(const visitor *v, const lang_expr *x, int32_t node) {
  tsl_err err = TSL_OK;
  int64_t i = 0, j = 0;
  int32_t value = 0;
  TSL_TRY(dp_eval_place(v->eval, x, node, &i, &j, &value));
  TSL_TRY(v->visit(v->self, x, node, i, j, value));
done:
  return err;
}

static tsl_err visit_children(const visitor *v, const lang_expr *x, int32_t node) {
  tsl_err err = TSL_OK;
  for (int32_t c = x->nodes[node].first; c >= 0; c = x->nodes[c].next) TSL_TRY(visit_node(v, x, c));
done:
  return err;
}

/** What is computed of a choice, `and` or `or`; all of it where the condition depends on values. */
static tsl_err visit_choice(const visitor *v, const lang_expr *x, int32_t node) {
  tsl_err err = TSL_OK;
  const int32_t condition = x->nodes[node].first, op = x->nodes[node].op;
  dp_value truth = {0};
  if (x->nodes[condition].reads != 0) return visit_children(v, x, node);
  TSL_TRY(dp_evaluate(v->eval, x, condition, &truth));
  if (op == LANG_OP_COND)
    TSL_TRY(visit_node(v, x, lang_child(x, node, truth.whole != 0 ? 1 : 2)));
  else if ((truth.whole != 0) == (op == LANG_OP_AND))
    TSL_TRY(visit_node(v, x, x->nodes[condition].next));
done:
  return err;
}

static tsl_err visit_range(const visitor *v, const lang_expr *x, int32_t node) {
  tsl_err err = TSL_OK;
  const lang_node *n = &x->nodes[node];
  const int32_t body = lang_child(x, node, 2), otherwise = lang_child(x, node, 3);
  const int32_t n_k = v->eval->n_k;
  dp_value lo = {0}, hi = {0};
  TSL_TRY(dp_evaluate(v->eval, x, lang_child(x, node, 0), &lo));
  TSL_TRY(dp_evaluate(v->eval, x, lang_child(x, node, 1), &hi));
  if (hi.whole < lo.whole) {
    if (otherwise >= 0) TSL_TRY(visit_node(v, x, otherwise));
    goto done;
  }
  v->eval->n_k = n->ref + 1;
  for (int64_t k = lo.whole; k <= hi.whole && x->nodes[body].reads != 0; k++) {
    v->eval->k[n->ref] = k;
    TSL_TRY(visit_node(v, x, body));
    if (k == INT64_MAX) break;
  }
  v->eval->n_k = n_k;
done:
  return err;
}

static tsl_err visit_node(const visitor *v, const lang_expr *x, int32_t node) {
  if (x->nodes[node].reads == 0) return TSL_OK;
  if (lang_is_range(x->nodes[node].op)) return visit_range(v, x, node);
  switch (x->nodes[node].op) {
  case LANG_OP_TABLE:
    return visit_table(v, x, node);
  case LANG_OP_COND:
  case LANG_OP_AND:
  case LANG_OP_OR:
    return visit_choice(v, x, node);
  default:
    return visit_children(v, x, node);
  }
}

tsl_err dp_reads(dp_eval *eval, dp_visit_fn *visit, void *self) {
  tsl_err err = TSL_OK;
  const visitor v = {eval, visit, self};
  const lang_expr *expr = NULL;
  int32_t rule = -1;
  eval->n_k = 0;
  TSL_TRY(dp_eval_rule(eval, &rule, &expr));
  TSL_TRY(visit_node(&v, expr, expr->root));
done:
  return err;
}

tsl_err dp_reads_goal(dp_eval *eval, dp_visit_fn *visit, void *self) {
  const visitor v = {eval, visit, self};
  const lang_expr *goal = &eval->recurrence->goal;
  eval->n_k = 0;
  return visit_node(&v, goal, goal->root);
}

/* --------------------------------------------------------------- by offsets */

/** A walk over a recurrence that knows what holds at each reference. */
typedef struct lister {
  dp_references *out;
  dp_bounds bounds;
  int32_t rule;
} lister;

static tsl_err list_node(lister *l, const lang_expr *x, int32_t node);

dp_reference dp_reference_at(dp_bounds *b, const lang_expr *x, int32_t node) {
  const lang_names *names = &b->recurrence->equation.names;
  dp_reference r = {.expr = x, .node = node};
  r.di = dp_bounds_offset(b, x, lang_child(x, node, 0), DP_ROW);
  r.dj = dp_bounds_offset(b, x, lang_child(x, node, 1), DP_COLUMN);
  for (int n = 0; n < names->tables[0].n_inner; n++) {
    const dp_wide stride = lang_layer_stride(names, n);
    r.inner[n] = dp_bounds_offset(b, x, lang_child(x, node, 2 + n), DP_INNER + n);
    r.layer = dp_span_add(r.layer, (dp_span){stride * r.inner[n].lo, stride * r.inner[n].hi});
  }
  return r;
}

static tsl_err list_table(lister *l, const lang_expr *x, int32_t node) {
  if (l->out->n == DP_REFS_MAX)
    return lang_node_fail(TSL_ERR_INPUT, x, node, __FILE__, __LINE__,
                          "the recurrence reads the table in more than %d places", DP_REFS_MAX);
  dp_reference *r = &l->out->list[l->out->n++];
  *r = dp_reference_at(&l->bounds, x, node);
  r->rule = l->rule;
  r->from = dp_recurrence_table(l->bounds.recurrence, l->rule);
  return TSL_OK;
}

/** Children under what the first of them decides. */
static tsl_err list_decided(lister *l, const lang_expr *x, int32_t node) {
  tsl_err err = TSL_OK;
  const int32_t n_facts = l->bounds.n_facts, first = x->nodes[node].first;
  const int32_t second = x->nodes[first].next, third = x->nodes[second].next;
  TSL_TRY(list_node(l, x, first));
  dp_bounds_assume(&l->bounds, x, first, x->nodes[node].op != LANG_OP_OR);
  TSL_TRY(list_node(l, x, second));
  l->bounds.n_facts = n_facts;
  if (third < 0) goto done;
  dp_bounds_assume(&l->bounds, x, first, false);
  TSL_TRY(list_node(l, x, third));
  l->bounds.n_facts = n_facts;
done:
  return err;
}

static tsl_err list_range(lister *l, const lang_expr *x, int32_t node) {
  tsl_err err = TSL_OK;
  const int32_t n_facts = l->bounds.n_facts, otherwise = lang_child(x, node, 3);
  const int32_t level = x->nodes[node].ref;
  const dp_span saved = l->bounds.k[level];
  dp_bounds_range(&l->bounds, x, node);
  TSL_TRY(list_node(l, x, lang_child(x, node, 2)));
  l->bounds.n_facts = n_facts;
  l->bounds.k[level] = saved;
  if (otherwise >= 0) TSL_TRY(list_node(l, x, otherwise));
done:
  return err;
}

static tsl_err list_node(lister *l, const lang_expr *x, int32_t node) {
  tsl_err err = TSL_OK;
  if (x->nodes[node].reads == 0) return TSL_OK;
  if (lang_is_range(x->nodes[node].op)) return list_range(l, x, node);
  switch (x->nodes[node].op) {
  case LANG_OP_TABLE:
    return list_table(l, x, node);
  case LANG_OP_COND:
  case LANG_OP_AND:
  case LANG_OP_OR:
    return list_decided(l, x, node);
  default:
    for (int32_t c = x->nodes[node].first; c >= 0; c = x->nodes[c].next)
      TSL_TRY(list_node(l, x, c));
    break;
  }
done:
  return err;
}

tsl_err dp_depend_references(const dp_recurrence *r, dp_references *out) {
  tsl_err err = TSL_OK;
  lister *l = NULL;
  void *memory = NULL;
  out->n = 0;
  TSL_TRY(tsl_alloc(1, sizeof *l, "dependencies", &memory));
  l = memory;
  for (int32_t rule = -r->equation.names.n_tables; rule < r->equation.n_rules; rule++) {
    const lang_expr *x = dp_recurrence_value(r, rule);
    l->out = out;
    l->rule = rule;
    dp_bounds_init(r, &l->bounds);
    dp_bounds_rule(&l->bounds, rule);
    TSL_TRY(list_node(l, x, x->root));
  }
done:
  tsl_free(l);
  return err;
}

static bool is_zero(dp_span s) {
  return s.lo == 0 && s.hi == 0;
}

bool dp_reference_same(const dp_reference *r) {
  const bool before = r->expr->nodes[r->node].ref < r->from;
  return is_zero(r->di) && is_zero(r->dj) && r->layer.hi <= (before ? 0 : -1);
}

bool dp_reference_proved(const dp_reference *r, dp_pattern pattern) {
  const dp_fold fold = dp_pattern_fold(pattern);
  if (dp_reference_same(r)) return true;
  const dp_wide a = fold.flip_i != 0 ? -r->di.lo : r->di.hi;
  const dp_wide b = fold.flip_j != 0 ? -r->dj.lo : r->dj.hi;
  if (fold.rows_only != 0) return (fold.transpose != 0 ? b : a) <= -1;
  return a <= 0 && b <= 0 && (a <= -1 || b <= -1);
}
