/* Reals: which results are none, and which operations cannot give one. */
#include "dp_real.h"

#include "dp_bounds_own.h"

#include <float.h>
#include <math.h>

/* Twice and half the type's limits: what rounding adds does not matter. */
#define MOST(single) ((single) ? (double)FLT_MAX / 2 : DBL_MAX / 2)
#define LEAST(single) ((single) ? (double)FLT_MIN * 2 : DBL_MIN * 2)

static const dp_reach unknown = {0, INFINITY, true};

/* ------------------------------------------------------------------ one result */

double dp_real_result(bool single, int32_t op, double a, double b) {
  if (single) {
    const float s = (float)a, t = (float)b;
    return op == LANG_OP_ADD   ? s + t
           : op == LANG_OP_SUB ? s - t
           : op == LANG_OP_MUL ? s * t
                               : s / t;
  }
  return op == LANG_OP_ADD ? a + b : op == LANG_OP_SUB ? a - b : op == LANG_OP_MUL ? a * b : a / b;
}

static bool is_underflow(bool single, int32_t op, double a, double b, double v) {
  if (op != LANG_OP_MUL && op != LANG_OP_DIV) return false;
  if (fabs(v) >= (single ? (double)FLT_MIN : DBL_MIN) || a == 0) return false;
  return op == LANG_OP_MUL ? b != 0 : !isinf(b);
}

const char *dp_real_fault(bool single, int32_t op, double a, double b, double v) {
  if (op == LANG_OP_DIV && b == 0) return "division by zero";
  if (isnan(v)) return "not a number";
  if (isinf(v) && !isinf(a) && !isinf(b)) return "overflow";
  return is_underflow(single, op, a, b, v) ? "underflow" : NULL;
}

const char *dp_real_call_fault(bool single, int32_t function, double x, double v) {
  const bool logarithm = function == LANG_LOG || function == LANG_LOG1P;
  if (isnan(v)) return "not a number";
  if (isinf(v) && !isinf(x) && !(logarithm && v < 0)) return "overflow";
  if (function != LANG_POW || x == 0 || isinf(x)) return NULL;
  return fabs(v) < (single ? (double)FLT_MIN : DBL_MIN) ? "underflow" : NULL;
}

/* ------------------------------------------------------------------ magnitudes */

static void widen(dp_reach *r, double value) {
  const double size = fabs(value);
  if (isinf(value)) r->infinite = true;
  if (size == 0 || isinf(value)) return;
  if (r->most == 0 || size < r->least) r->least = size;
  if (size > r->most) r->most = size;
}

dp_reach dp_real_limits(int32_t type, const void *data, int64_t n) {
  dp_reach r = {0};
  for (int64_t k = 0; k < n; k++)
    widen(&r, type == TSL_F32 ? (double)((const float *)data)[k] : ((const double *)data)[k]);
  return r;
}

static dp_reach reach_of_number(double value) {
  dp_reach r = {0};
  widen(&r, value);
  return r;
}

static dp_reach dp_real_join(dp_reach a, dp_reach b) {
  dp_reach r = a.most == 0 ? b : a;
  if (a.most > 0 && b.most > 0) r.least = fmin(a.least, b.least), r.most = fmax(a.most, b.most);
  r.infinite = a.infinite || b.infinite;
  return r;
}

static dp_reach reach_of_whole(dp_bounds *b, const lang_expr *x, int32_t node) {
  const dp_span s = dp_bounds_span(b, x, node);
  return (dp_reach){1, fmax(fabs((double)s.lo), fabs((double)s.hi)), false};
}

/** A number, a named one, an element of an array, a cell. */
static dp_reach reach_of_leaf(const dp_bounds *b, const lang_node *n) {
  const lang_names *names = &b->recurrence->equation.names;
  if (n->op == LANG_OP_NUMBER) return reach_of_number(n->real);
  if (n->op == LANG_OP_SCALAR) return reach_of_number(names->scalars[n->ref].real);
  if (n->op == LANG_OP_TABLE) return (dp_reach){0, b->reals, true};
  if (n->op != LANG_OP_DATA) return unknown;
  return (dp_reach){names->arrays[n->ref].least, names->arrays[n->ref].most, false};
}

/** most is 0 for 0 alone, not for what is too small to be told from it. */
static dp_reach reach_of_arithmetic(const lang_node *n, dp_reach a, dp_reach b) {
  const bool infinite = a.infinite || b.infinite;
  if (n->op == LANG_OP_ADD || n->op == LANG_OP_SUB) return (dp_reach){0, a.most + b.most, infinite};
  if (a.most == 0 || (n->op == LANG_OP_MUL && b.most == 0)) return (dp_reach){0, 0, infinite};
  if (n->op == LANG_OP_MUL)
    return (dp_reach){a.least * b.least, fmax(a.most * b.most, DBL_MIN), infinite};
  if (b.least == 0) return unknown;
  return (dp_reach){a.least / b.most, fmax(a.most / b.least, DBL_MIN), infinite};
}

/** One of a range's values, or its default. */
static dp_reach reach_of_range(dp_bounds *b, const lang_expr *x, int32_t node) {
  const int32_t n_facts = b->n_facts, level = x->nodes[node].ref;
  const int32_t otherwise = lang_child(x, node, 3);
  const dp_span saved = b->k[level];
  const dp_reach empty = otherwise >= 0 ? dp_real_reach(b, x, otherwise) : (dp_reach){0};
  dp_bounds_range(b, x, node);
  const dp_reach r = dp_real_join(empty, dp_real_reach(b, x, lang_child(x, node, 2)));
  b->n_facts = n_facts;
  b->k[level] = saved;
  return r;
}

dp_reach dp_real_reach(dp_bounds *b, const lang_expr *x, int32_t node) {
  const lang_node *n = &x->nodes[node];
  dp_reach r = {0};
  if (n->depth > DP_HEIGHT_MAX) return unknown;
  switch (n->op) {
  case LANG_OP_TO_REAL:
    return reach_of_whole(b, x, n->first);
  case LANG_OP_NEG:
  case LANG_OP_ABS:
    return dp_real_reach(b, x, n->first);
  case LANG_OP_ADD:
  case LANG_OP_SUB:
  case LANG_OP_MUL:
  case LANG_OP_DIV:
    return reach_of_arithmetic(n, dp_real_reach(b, x, n->first),
                               dp_real_reach(b, x, x->nodes[n->first].next));
  case LANG_OP_MIN:
  case LANG_OP_MAX:
  case LANG_OP_COND:
    for (int32_t c = n->op == LANG_OP_COND ? x->nodes[n->first].next : n->first; c >= 0;
         c = x->nodes[c].next)
      r = dp_real_join(r, dp_real_reach(b, x, c));
    return r;
  case LANG_OP_RANGE_MIN:
  case LANG_OP_RANGE_MAX:
    return reach_of_range(b, x, node);
  default:
    return reach_of_leaf(b, n);
  }
}

/* ------------------------------------------------------------------------ safe */

/** Is the divisor a finite number that is not 0? Of anything else the reach does not tell. */
static bool is_divisor(const dp_bounds *b, const lang_node *n) {
  if (n->op != LANG_OP_NUMBER && n->op != LANG_OP_SCALAR) return false;
  const dp_reach r = reach_of_leaf(b, n);
  return r.least > 0 && !r.infinite;
}

bool dp_real_safe(dp_bounds *b, const lang_expr *x, int32_t node) {
  const lang_node *n = &x->nodes[node];
  const int32_t second = x->nodes[n->first].next;
  const bool single = lang_is_single(&b->recurrence->equation.names);
  const dp_reach left = dp_real_reach(b, x, n->first), right = dp_real_reach(b, x, second);
  const dp_reach r = reach_of_arithmetic(n, left, right);
  if (!(r.most <= MOST(single))) return false;
  if (n->op == LANG_OP_ADD || n->op == LANG_OP_SUB) return !left.infinite || !right.infinite;
  if (n->op == LANG_OP_DIV && !is_divisor(b, &x->nodes[second])) return false;
  if (n->op == LANG_OP_MUL && r.infinite) return false; /* 0 * inf */
  return r.most == 0 || r.least >= LEAST(single);
}

bool dp_real_sum_safe(dp_bounds *b, const lang_expr *x, int32_t body) {
  const dp_reach r = dp_real_reach(b, x, body);
  return !r.infinite &&
         r.most * (double)LANG_RANGE_MAX <= MOST(lang_is_single(&b->recurrence->equation.names));
}

/* ---------------------------------------------------------------------- growth */

/** A value is a cell, its magnitude raised by at most `term`, or at most `free`. */
typedef struct rise {
  bool known, has_cell;
  double term, free;
} rise;

static rise rise_of(dp_bounds *b, const lang_expr *x, int32_t node);

static rise rise_of_sum(rise a, rise b) {
  if (b.has_cell && !a.has_cell) return rise_of_sum(b, a);
  return (rise){a.known && b.known && !b.has_cell, a.has_cell, a.term + b.free, a.free + b.free};
}

static rise either(rise a, rise b) {
  return (rise){a.known && b.known, a.has_cell || b.has_cell, fmax(a.term, b.term),
                fmax(a.free, b.free)};
}

/** One of a child and those after it. */
static rise rise_of_choice(dp_bounds *b, const lang_expr *x, int32_t child) {
  rise r = {.known = true};
  for (; child >= 0; child = x->nodes[child].next) r = either(r, rise_of(b, x, child));
  return r;
}

static rise rise_of_range(dp_bounds *b, const lang_expr *x, int32_t node) {
  const int32_t n_facts = b->n_facts, level = x->nodes[node].ref;
  const dp_span saved = b->k[level];
  rise r = rise_of_choice(b, x, lang_child(x, node, 3)); /* the default, if there is one */
  dp_bounds_range(b, x, node);
  r = either(r, rise_of(b, x, lang_child(x, node, 2)));
  b->n_facts = n_facts;
  b->k[level] = saved;
  return r;
}

static rise rise_of(dp_bounds *b, const lang_expr *x, int32_t node) {
  const lang_node *n = &x->nodes[node];
  if (n->depth > DP_HEIGHT_MAX) return (rise){.known = false};
  switch (n->op) {
  case LANG_OP_TABLE:
    return (rise){.known = true, .has_cell = true};
  case LANG_OP_NEG:
  case LANG_OP_ABS:
    return rise_of(b, x, n->first);
  case LANG_OP_MIN:
  case LANG_OP_MAX:
    return rise_of_choice(b, x, n->first);
  case LANG_OP_COND:
    return rise_of_choice(b, x, x->nodes[n->first].next);
  case LANG_OP_RANGE_MIN:
  case LANG_OP_RANGE_MAX:
    return rise_of_range(b, x, node);
  case LANG_OP_ADD:
  case LANG_OP_SUB:
    return rise_of_sum(rise_of(b, x, n->first), rise_of(b, x, x->nodes[n->first].next));
  default:
    break;
  }
  const dp_reach r =
      n->reads != 0 && n->op != LANG_OP_TO_REAL ? unknown : dp_real_reach(b, x, node);
  return (rise){.known = !isinf(r.most), .free = r.most};
}

double dp_real_growth(const dp_recurrence *r, double steps) {
  double free = 0, term = 0;
  for (int32_t rule = -r->equation.names.n_tables; rule < r->equation.n_rules; rule++) {
    dp_bounds b;
    dp_bounds_init(r, &b);
    dp_bounds_rule(&b, rule);
    const lang_expr *x = dp_recurrence_value(r, rule);
    const rise here = rise_of(&b, x, x->root);
    if (!here.known) return INFINITY;
    free = fmax(free, here.free);
    term = fmax(term, here.term);
  }
  return free + steps * term;
}
