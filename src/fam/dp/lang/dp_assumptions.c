/* What conditions tell: facts from their truth, and their truth from facts. */
#include "dp_bounds_own.h"

/** factor * (right - left) - strict >= 0 becomes a fact, if it can be written. */
static void add_fact(dp_bounds *b, const lang_expr *x, int32_t left, int32_t right, int strict) {
  dp_form f = {.c = -strict};
  if (b->n_facts == DP_FACTS_MAX) return;
  if (dp_form_of(b, x, right, 1, &f) && dp_form_of(b, x, left, -1, &f)) b->facts[b->n_facts++] = f;
}

/** left <= right, or left < right; what is below a min is below each argument. */
static void add_order(dp_bounds *b, const lang_expr *x, int32_t left, int32_t right, int strict) {
  if (x->nodes[left].kind != LANG_WHOLE || x->nodes[right].kind != LANG_WHOLE) return;
  if (x->nodes[right].op == LANG_OP_MIN)
    for (int32_t c = x->nodes[right].first; c >= 0; c = x->nodes[c].next)
      add_fact(b, x, left, c, strict);
  else if (x->nodes[left].op == LANG_OP_MAX)
    for (int32_t c = x->nodes[left].first; c >= 0; c = x->nodes[c].next)
      add_fact(b, x, c, right, strict);
  else
    add_fact(b, x, left, right, strict);
}

/** left != right helps when the difference is known to have a sign. */
static void add_unequal(dp_bounds *b, const lang_expr *x, int32_t left, int32_t right) {
  dp_form f = {0};
  if (x->nodes[left].kind != LANG_WHOLE || x->nodes[right].kind != LANG_WHOLE) return;
  if (!dp_form_of(b, x, right, 1, &f) || !dp_form_of(b, x, left, -1, &f)) return;
  const dp_span s = dp_form_span(b, &f);
  if (s.lo >= 0) add_order(b, x, left, right, 1);
  if (s.hi <= 0) add_order(b, x, right, left, 1);
}

void dp_assume(dp_bounds *b, const lang_expr *x, int32_t node, bool truth) {
  static const int32_t opposite[LANG_N_OPS] = {
      [LANG_OP_LT] = LANG_OP_GE, [LANG_OP_LE] = LANG_OP_GT, [LANG_OP_GT] = LANG_OP_LE,
      [LANG_OP_GE] = LANG_OP_LT, [LANG_OP_EQ] = LANG_OP_NE, [LANG_OP_NE] = LANG_OP_EQ};
  const lang_node *n = &x->nodes[node];
  const int32_t left = n->first, right = left >= 0 ? x->nodes[left].next : -1;
  const int32_t op = n->op >= LANG_OP_LT && n->op <= LANG_OP_NE && !truth ? opposite[n->op] : n->op;
  if (--b->work < 0 || n->depth > DP_HEIGHT_MAX) return;
  switch (op) {
  case LANG_OP_NOT:
    dp_assume(b, x, left, !truth);
    break;
  case LANG_OP_AND:
  case LANG_OP_OR:
    if (truth != (op == LANG_OP_AND)) break;
    dp_assume(b, x, left, truth);
    dp_assume(b, x, right, truth);
    break;
  case LANG_OP_LT:
  case LANG_OP_LE:
    add_order(b, x, left, right, op == LANG_OP_LT);
    break;
  case LANG_OP_GT:
  case LANG_OP_GE:
    add_order(b, x, right, left, op == LANG_OP_GT);
    break;
  case LANG_OP_EQ:
    add_order(b, x, left, right, 0);
    add_order(b, x, right, left, 0);
    break;
  case LANG_OP_NE:
    add_unequal(b, x, left, right);
    break;
  default:
    break;
  }
}

void dp_bounds_assume(dp_bounds *b, const lang_expr *x, int32_t node, bool truth) {
  b->work = DP_BOUNDS_WORK;
  dp_assume(b, x, node, truth);
}

void dp_bounds_rule(dp_bounds *b, int32_t rule) {
  const dp_recurrence *r = b->recurrence;
  const int32_t n = rule < 0 ? r->equation.n_rules : rule;
  for (int32_t before = 0; before < n; before++) {
    if (r->equation.rule_table[before] != dp_recurrence_table(r, rule)) continue;
    b->work = DP_BOUNDS_WORK;
    dp_assume(b, &r->rules[before].where, r->rules[before].where.root, false);
  }
  b->work = DP_BOUNDS_WORK;
  if (rule >= 0) dp_assume(b, &r->rules[rule].where, r->rules[rule].where.root, true);
}

void dp_enter_range(dp_bounds *b, const lang_expr *x, int32_t node) {
  const int32_t lo = lang_child(x, node, 0), hi = lang_child(x, node, 1),
                level = x->nodes[node].ref;
  int32_t variable = -1;
  b->k[level] = (dp_span){dp_span_node(b, x, lo).lo, dp_span_node(b, x, hi).hi};
  if (b->plain) return;
  for (int32_t n = 0; n < x->n_nodes; n++) /* any use of the variable stands for it */
    if (x->nodes[n].op == LANG_OP_LOOP && x->nodes[n].ref == level) variable = n;
  if (variable < 0) return;
  add_order(b, x, lo, variable, 0);
  add_order(b, x, variable, hi, 0);
}

void dp_bounds_range(dp_bounds *b, const lang_expr *x, int32_t node) {
  b->work = DP_BOUNDS_WORK;
  dp_enter_range(b, x, node);
}

/* -------------------------------------------------------------------- truth */

/** Sign of right - left - strict: 1 never negative, 0 always, -1 not known. */
static int order(dp_bounds *b, const lang_expr *x, int32_t left, int32_t right, int strict) {
  dp_form f = {.c = -strict};
  if (x->nodes[left].kind != LANG_WHOLE || x->nodes[right].kind != LANG_WHOLE) return -1;
  if (!dp_form_of(b, x, right, 1, &f) || !dp_form_of(b, x, left, -1, &f)) return -1;
  const dp_span s = dp_form_span(b, &f);
  return s.lo >= 0 ? 1 : s.hi < 0 ? 0 : -1;
}

bool dp_bounds_ordered(dp_bounds *b, const lang_expr *x, int32_t left, int32_t right) {
  b->work = DP_BOUNDS_WORK;
  return order(b, x, left, right, 0) == 1;
}

static int opposite_of(int truth) {
  return truth < 0 ? -1 : !truth;
}

static int conjunction(int a, int b) {
  return a == 0 || b == 0 ? 0 : a < 0 || b < 0 ? -1 : 1;
}

static int truth_of(dp_bounds *b, const lang_expr *x, int32_t node) {
  const lang_node *n = &x->nodes[node];
  const int32_t left = n->first, right = left >= 0 ? x->nodes[left].next : -1;
  if (n->depth > DP_HEIGHT_MAX) return -1;
  switch (n->op) {
  case LANG_OP_NOT:
    return opposite_of(truth_of(b, x, left));
  case LANG_OP_AND:
    return conjunction(truth_of(b, x, left), truth_of(b, x, right));
  case LANG_OP_OR:
    return opposite_of(
        conjunction(opposite_of(truth_of(b, x, left)), opposite_of(truth_of(b, x, right))));
  case LANG_OP_LT:
  case LANG_OP_LE:
    return order(b, x, left, right, n->op == LANG_OP_LT);
  case LANG_OP_GT:
  case LANG_OP_GE:
    return order(b, x, right, left, n->op == LANG_OP_GT);
  case LANG_OP_EQ:
    return conjunction(order(b, x, left, right, 0), order(b, x, right, left, 0));
  case LANG_OP_NE:
    return opposite_of(conjunction(order(b, x, left, right, 0), order(b, x, right, left, 0)));
  default:
    return -1;
  }
}

int dp_bounds_truth(dp_bounds *b, const lang_expr *x, int32_t node) {
  b->work = DP_BOUNDS_WORK;
  return truth_of(b, x, node);
}
