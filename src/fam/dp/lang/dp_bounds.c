/* Interval arithmetic, linear forms of a node, and the search for the best bound by subtracting up
 * to three facts. */
#include "dp_bounds_own.h"

#include <math.h>
#include <string.h>

enum { FACT_DEPTH = 3, NEST_MAX = 2 };
#define COEFFICIENT_MAX (INT64_C(1) << 31)

/* The first atoms are the cell's indices, of no expression. */

/** The node's index of the cell, -1: another operation. */
static int place_atom(const lang_node *n) {
  if (n->op == LANG_OP_INNER) return DP_INNER + n->ref;
  return n->op == LANG_OP_I ? DP_ROW : n->op == LANG_OP_J ? DP_COLUMN : -1;
}

static const dp_span everything = {-DP_WIDE_LIMIT, DP_WIDE_LIMIT};
static const dp_span word = {INT64_MIN, INT64_MAX};
static const dp_span zero = {0, 0};

/* --------------------------------------------------------------- intervals */

static dp_wide cut(dp_wide x) {
  return x > DP_WIDE_LIMIT ? DP_WIDE_LIMIT : x < -DP_WIDE_LIMIT ? -DP_WIDE_LIMIT : x;
}

static dp_wide wide_min(dp_wide a, dp_wide b) {
  return a < b ? a : b;
}

static dp_wide wide_max(dp_wide a, dp_wide b) {
  return a > b ? a : b;
}

static dp_span span(dp_wide lo, dp_wide hi) {
  return (dp_span){cut(lo), cut(hi)};
}

dp_span dp_span_hull(dp_span a, dp_span b) {
  if (a.lo > a.hi) return b;
  if (b.lo > b.hi) return a;
  return span(wide_min(a.lo, b.lo), wide_max(a.hi, b.hi));
}

static dp_span both(dp_span a, dp_span b) {
  return span(wide_max(a.lo, b.lo), wide_min(a.hi, b.hi));
}

dp_span dp_span_add(dp_span a, dp_span b) {
  return span(a.lo + b.lo, a.hi + b.hi);
}

static dp_span negative(dp_span a) {
  return span(-a.hi, -a.lo);
}

static dp_span multiply(dp_span a, dp_span b) {
  const dp_wide p = cut(a.lo * b.lo), q = cut(a.lo * b.hi), r = cut(a.hi * b.lo),
                s = cut(a.hi * b.hi);
  return span(wide_min(wide_min(p, q), wide_min(r, s)), wide_max(wide_max(p, q), wide_max(r, s)));
}

static dp_span magnitude(dp_span a) {
  const dp_wide most = wide_max(-a.lo, a.hi);
  return span(a.lo > 0 ? a.lo : a.hi < 0 ? -a.hi : 0, most);
}

static dp_span divide(dp_span a, dp_span b) {
  const dp_wide most = magnitude(a).hi;
  if (b.lo <= 0 && b.hi >= 0) return span(-most, most);
  const dp_wide p = a.lo / b.lo, q = a.lo / b.hi, r = a.hi / b.lo, s = a.hi / b.hi;
  return span(wide_min(wide_min(p, q), wide_min(r, s)), wide_max(wide_max(p, q), wide_max(r, s)));
}

static dp_span remainder_of(dp_span a, dp_span b) {
  const dp_wide most = wide_min(magnitude(a).hi, wide_max(magnitude(b).hi - 1, 0));
  return span(a.lo < 0 ? -most : 0, a.hi > 0 ? most : 0);
}

/** Least 2^n - 1 that is not less than x >= 0. */
static dp_wide ones(dp_wide x) {
  dp_wide most = 0;
  while (most < x) most = 2 * most + 1;
  return most;
}

/** a & b, a | b, a ^ b; where operands may be negative, any number of 64 bits. */
static dp_span of_bits(int32_t op, dp_span a, dp_span b) {
  const bool a_positive = a.lo >= 0, b_positive = b.lo >= 0;
  if (op == LANG_OP_BIT_AND && (a_positive || b_positive))
    return span(0, !b_positive ? a.hi : !a_positive ? b.hi : wide_min(a.hi, b.hi));
  if (!a_positive || !b_positive) return word;
  return span(op == LANG_OP_BIT_OR ? wide_max(a.lo, b.lo) : 0, ones(wide_max(a.hi, b.hi)));
}

/** a << b, a >> b, b from 0 to 62: everything where it may be another. */
static dp_span shifted(int32_t op, dp_span a, dp_span b) {
  if (b.lo < 0 || b.hi >= LANG_SHIFT_MAX) return everything;
  const dp_wide least = (dp_wide)1 << b.lo, most = (dp_wide)1 << b.hi;
  if (op == LANG_OP_SHIFT_LEFT) return multiply(a, span(least, most));
  return span(a.lo < 0 ? a.lo >> b.lo : a.lo >> b.hi, a.hi < 0 ? a.hi >> b.hi : a.hi >> b.lo);
}

dp_span dp_span_of_type(int32_t type) {
  if (type == TSL_I16) return span(INT16_MIN, INT16_MAX);
  if (type == TSL_I32) return span(INT32_MIN, INT32_MAX);
  return span(INT64_MIN, INT64_MAX);
}

bool dp_span_within(dp_span inner, dp_span outer) {
  return inner.lo >= outer.lo && inner.hi <= outer.hi;
}

void dp_bounds_init(const dp_recurrence *recurrence, dp_bounds *b) {
  const lang_table *t = &recurrence->equation.names.tables[0];
  memset(b, 0, sizeof *b);
  b->recurrence = recurrence;
  b->i = span(0, (dp_wide)t->rows - 1);
  b->j = span(0, (dp_wide)t->cols - 1);
  for (int n = 0; n < t->n_inner; n++) b->inner[n] = span(0, (dp_wide)t->inner[n] - 1);
  b->table = dp_span_of_type(t->type);
  b->reals = INFINITY;
  b->n_atoms = DP_INDICES_MAX;
  if (t->cells == LANG_CELLS_ALL) return;
  dp_form *f = &b->facts[b->n_facts++];
  f->coef[0] = t->cells == LANG_CELLS_UPPER ? -1 : 1;
  f->coef[1] = -f->coef[0];
}

void dp_bounds_restart(dp_bounds *b) {
  const dp_span table = b->table;
  const double reals = b->reals;
  dp_bounds_init(b->recurrence, b);
  b->table = table;
  b->reals = reals;
}

/* ------------------------------------------------------------ linear forms */

static dp_span span_by_op(dp_bounds *b, const lang_expr *x, int32_t node);
static dp_span span_raw(dp_bounds *b, const lang_expr *x, int32_t node);

/** Trees of long chains are not looked into: the stack has an end. */
static bool is_out_of_work(dp_bounds *b, const lang_node *n) {
  return --b->work < 0 || n->depth > DP_HEIGHT_MAX;
}

/** Can the node's arithmetic not overflow? Asked without facts, so that facts may rest on it. */
static bool is_safe(dp_bounds *b, const lang_expr *x, int32_t node) {
  const bool plain = b->plain;
  b->plain = true;
  const bool safe = dp_span_within(span_raw(b, x, node), word);
  b->plain = plain;
  return safe;
}

/** Number of the atom that a subtree is, -1 when there is no room. */
static int atom_of(dp_bounds *b, const lang_expr *x, int32_t node) {
  const int place = place_atom(&x->nodes[node]);
  if (place >= 0) return place;
  for (int a = DP_INDICES_MAX; a < b->n_atoms; a++)
    if (lang_same(b->atom_expr[a], b->atom_node[a], x, node)) return a;
  if (b->n_atoms == DP_ATOMS_MAX) return -1;
  b->atom_expr[b->n_atoms] = x;
  b->atom_node[b->n_atoms] = node;
  return b->n_atoms++;
}

static dp_span atom_span(dp_bounds *b, int atom) {
  if (atom == DP_ROW) return b->i;
  if (atom == DP_COLUMN) return b->j;
  if (atom < DP_INDICES_MAX) return b->inner[atom - DP_INNER];
  return span_by_op(b, b->atom_expr[atom], b->atom_node[atom]);
}

/** Is the node one number everywhere? */
static bool constant_of(const dp_bounds *b, const lang_expr *x, int32_t node, dp_wide *value) {
  const lang_names *names = &b->recurrence->equation.names;
  const lang_node *n = &x->nodes[node];
  if (n->op == LANG_OP_NUMBER) {
    *value = n->whole;
  } else if (n->op == LANG_OP_SCALAR) {
    *value = names->scalars[n->ref].whole;
  } else if (n->op == LANG_OP_EXTENT && n->ref >= 0) {
    *value = names->arrays[n->ref].shape[n->dim];
  } else if (n->op == LANG_OP_EXTENT) {
    *value = n->dim == 0 ? names->tables[-1 - n->ref].rows : names->tables[-1 - n->ref].cols;
  } else {
    return false;
  }
  return true;
}

static bool form_add(dp_form *f, int atom, dp_wide factor) {
  const dp_wide sum = atom >= 0 ? f->coef[atom] + factor : 0;
  if (atom < 0 || sum > COEFFICIENT_MAX || sum < -COEFFICIENT_MAX) return false;
  f->coef[atom] = (int64_t)sum;
  return true;
}

bool dp_form_of(dp_bounds *b, const lang_expr *x, int32_t node, dp_wide factor, dp_form *f) {
  const lang_node *n = &x->nodes[node];
  dp_wide value = 0;
  if (is_out_of_work(b, n) || factor > COEFFICIENT_MAX || factor < -COEFFICIENT_MAX) return false;
  if (constant_of(b, x, node, &value)) {
    f->c = cut(f->c + cut(factor * value));
    return f->c < DP_WIDE_LIMIT && f->c > -DP_WIDE_LIMIT;
  }
  const int32_t right = n->first >= 0 ? x->nodes[n->first].next : -1;
  switch (is_safe(b, x, node) ? n->op : LANG_OP_NUMBER) {
  case LANG_OP_ADD:
    return dp_form_of(b, x, n->first, factor, f) && dp_form_of(b, x, right, factor, f);
  case LANG_OP_SUB:
    return dp_form_of(b, x, n->first, factor, f) && dp_form_of(b, x, right, -factor, f);
  case LANG_OP_NEG:
    return dp_form_of(b, x, n->first, -factor, f);
  case LANG_OP_MUL:
    if (constant_of(b, x, n->first, &value)) return dp_form_of(b, x, right, factor * value, f);
    if (constant_of(b, x, right, &value)) return dp_form_of(b, x, n->first, factor * value, f);
    break;
  default:
    break;
  }
  return form_add(f, atom_of(b, x, node), factor);
}

static dp_span form_interval(dp_bounds *b, const dp_form *f) {
  dp_span s = span(f->c, f->c);
  for (int a = 0; a < b->n_atoms; a++)
    if (f->coef[a] != 0)
      s = dp_span_add(s, multiply(span(f->coef[a], f->coef[a]), atom_span(b, a)));
  return s;
}

/** f - fact, when that removes or lessens a term. */
static bool reduce(const dp_bounds *b, const dp_form *f, const dp_form *fact, dp_form *out) {
  bool shared = false;
  *out = *f;
  out->c = cut(f->c - fact->c);
  for (int a = 0; a < b->n_atoms; a++) {
    shared |= (f->coef[a] > 0 && fact->coef[a] > 0) || (f->coef[a] < 0 && fact->coef[a] < 0);
    out->coef[a] = f->coef[a] - fact->coef[a];
    if (out->coef[a] > COEFFICIENT_MAX || out->coef[a] < -COEFFICIENT_MAX) return false;
  }
  return shared;
}

/** Greatest known lower bound of a form. */
static dp_wide form_lower(dp_bounds *b, const dp_form *f, int depth) {
  dp_wide best = form_interval(b, f).lo;
  dp_form less;
  for (int n = 0; n < b->n_facts && depth > 0; n++) {
    if (--b->work < 0) break;
    if (reduce(b, f, &b->facts[n], &less)) best = wide_max(best, form_lower(b, &less, depth - 1));
  }
  return best;
}

dp_span dp_form_span(dp_bounds *b, const dp_form *f) {
  dp_form minus = *f;
  minus.c = -f->c;
  for (int a = 0; a < DP_ATOMS_MAX; a++) minus.coef[a] = -f->coef[a];
  const dp_wide lo = form_lower(b, f, FACT_DEPTH);
  return span(lo, -form_lower(b, &minus, FACT_DEPTH));
}

/* ------------------------------------------------------------------- nodes */

/** What forms know of a node besides its operator's interval. */
static dp_span span_refined(dp_bounds *b, const lang_expr *x, int32_t node, dp_span s) {
  const int32_t op = x->nodes[node].op;
  dp_form f = {0};
  if (b->plain || b->nest == NEST_MAX ||
      (op != LANG_OP_ADD && op != LANG_OP_SUB && op != LANG_OP_MUL && op != LANG_OP_NEG &&
       place_atom(&x->nodes[node]) < 0 && op != LANG_OP_LOOP))
    return s;
  if (!is_safe(b, x, node)) return s; /* a form knows nothing of overflow */
  b->nest++;                          /* atoms of facts have facts of their own */
  const dp_span t = dp_form_of(b, x, node, 1, &f) ? both(s, dp_form_span(b, &f)) : s;
  b->nest--;
  return t;
}

dp_span dp_span_node(dp_bounds *b, const lang_expr *x, int32_t node) {
  return span_refined(b, x, node, span_by_op(b, x, node));
}

static dp_span span_cond(dp_bounds *b, const lang_expr *x, int32_t node) {
  const int32_t n_facts = b->n_facts, condition = lang_child(x, node, 0);
  if (b->plain)
    return dp_span_hull(dp_span_node(b, x, lang_child(x, node, 1)),
                        dp_span_node(b, x, lang_child(x, node, 2)));
  dp_assume(b, x, condition, true);
  const dp_span yes = dp_span_node(b, x, lang_child(x, node, 1));
  b->n_facts = n_facts;
  dp_assume(b, x, condition, false);
  const dp_span no = dp_span_node(b, x, lang_child(x, node, 2));
  b->n_facts = n_facts;
  return dp_span_hull(yes, no);
}

static dp_span span_range(dp_bounds *b, const lang_expr *x, int32_t node) {
  const lang_node *n = &x->nodes[node];
  const int32_t n_facts = b->n_facts, otherwise = lang_child(x, node, 3);
  const dp_span saved = b->k[n->ref];
  const dp_span none = {1, 0};
  dp_span empty =
      otherwise >= 0 ? dp_span_node(b, x, otherwise) : zero; /* a failed range gives 0 */
  dp_enter_range(b, x, node);
  const dp_span k = b->k[n->ref];
  dp_span body = k.lo > k.hi ? none : dp_span_node(b, x, lang_child(x, node, 2));
  b->k[n->ref] = saved;
  b->n_facts = n_facts;
  if (k.hi - k.lo >= LANG_RANGE_MAX) empty = dp_span_hull(empty, zero);
  if (lang_is_argument(n->op)) return dp_span_hull(k, empty);
  if (n->op == LANG_OP_RANGE_PROD)
    return dp_span_within(body, span(-1, 1)) ? span(-1, 1) : everything;
  if (n->op != LANG_OP_RANGE_SUM) return dp_span_hull(body, empty);
  if (body.lo > body.hi) return zero;
  body = multiply(body, span(0, cut(k.hi - k.lo + 1)));
  return dp_span_hull(body, zero);
}

static dp_span span_extreme(dp_bounds *b, const lang_expr *x, int32_t node) {
  const lang_node *n = &x->nodes[node];
  dp_span s = dp_span_node(b, x, n->first);
  for (int32_t c = x->nodes[n->first].next; c >= 0; c = x->nodes[c].next) {
    const dp_span t = dp_span_node(b, x, c);
    if (n->op == LANG_OP_MIN)
      s = span(wide_min(s.lo, t.lo), wide_min(s.hi, t.hi));
    else
      s = span(wide_max(s.lo, t.lo), wide_max(s.hi, t.hi));
  }
  return s;
}

static dp_span span_binary(dp_bounds *b, const lang_expr *x, int32_t node) {
  const lang_node *n = &x->nodes[node];
  const dp_span s = dp_span_node(b, x, n->first), t = dp_span_node(b, x, x->nodes[n->first].next);
  if (s.lo > s.hi || t.lo > t.hi) return (dp_span){1, 0};
  if (n->op == LANG_OP_ADD) return dp_span_add(s, t);
  if (n->op == LANG_OP_SUB) return dp_span_add(s, negative(t));
  if (n->op == LANG_OP_MUL) return multiply(s, t);
  if (lang_is_shift(n->op)) return shifted(n->op, s, t);
  if (n->op >= LANG_OP_BIT_AND && n->op <= LANG_OP_BIT_XOR) return of_bits(n->op, s, t);
  return n->op == LANG_OP_DIV ? divide(s, t) : remainder_of(s, t);
}

static dp_span span_leaf(const dp_bounds *b, const lang_expr *x, int32_t node) {
  const lang_node *n = &x->nodes[node];
  const lang_array *array = &b->recurrence->equation.names.arrays[n->ref < 0 ? 0 : n->ref];
  dp_wide value = 0;
  if (constant_of(b, x, node, &value)) return span(value, value);
  switch (n->op) {
  case LANG_OP_I:
    return b->i;
  case LANG_OP_J:
    return b->j;
  case LANG_OP_INNER:
    return b->inner[n->ref];
  case LANG_OP_LOOP:
    return b->k[n->ref];
  case LANG_OP_TABLE:
    return b->table;
  default: /* LANG_OP_DATA */
    return array->lo <= array->hi ? span(array->lo, array->hi) : zero;
  }
}

/** By the operator alone, overflow disregarded. */
static dp_span span_raw(dp_bounds *b, const lang_expr *x, int32_t node) {
  const lang_node *n = &x->nodes[node];
  if (is_out_of_work(b, n)) return everything;
  if (lang_is_arithmetic(n->op)) return span_binary(b, x, node);
  switch (n->op) {
  case LANG_OP_NEG:
    return negative(dp_span_node(b, x, n->first));
  case LANG_OP_ABS:
    return magnitude(dp_span_node(b, x, n->first));
  case LANG_OP_NOT:
  case LANG_OP_AND:
  case LANG_OP_OR:
  case LANG_OP_LT:
  case LANG_OP_LE:
  case LANG_OP_GT:
  case LANG_OP_GE:
  case LANG_OP_EQ:
  case LANG_OP_NE:
    return span(0, 1);
  case LANG_OP_COND:
    return span_cond(b, x, node);
  case LANG_OP_MIN:
  case LANG_OP_MAX:
    return span_extreme(b, x, node);
  case LANG_OP_RANGE_MIN:
  case LANG_OP_RANGE_MAX:
  case LANG_OP_RANGE_SUM:
  case LANG_OP_RANGE_PROD:
  case LANG_OP_RANGE_ARGMIN:
  case LANG_OP_RANGE_ARGMAX:
    return span_range(b, x, node);
  case LANG_OP_CALL:
  case LANG_OP_LOGSUM:
  case LANG_OP_RANGE_LOGSUM: /* reals */
    return everything;
  default:
    return span_leaf(b, x, node);
  }
}

/** As it comes out: where the arithmetic overflows the result is 0 and the cell has failed. */
static dp_span span_by_op(dp_bounds *b, const lang_expr *x, int32_t node) {
  const dp_span s = span_raw(b, x, node);
  return dp_span_within(s, word) ? s : dp_span_hull(both(s, word), zero);
}

dp_span dp_bounds_span(dp_bounds *b, const lang_expr *x, int32_t node) {
  b->work = DP_BOUNDS_WORK;
  return dp_span_node(b, x, node);
}

bool dp_bounds_fits(dp_bounds *b, const lang_expr *x, int32_t node, dp_span range) {
  b->work = DP_BOUNDS_WORK;
  return dp_span_within(span_refined(b, x, node, span_raw(b, x, node)), range);
}

dp_span dp_bounds_offset(dp_bounds *b, const lang_expr *x, int32_t node, int index) {
  dp_form f = {0};
  b->work = DP_BOUNDS_WORK;
  if (!dp_form_of(b, x, node, 1, &f) || !form_add(&f, index, -1)) return everything;
  return dp_form_span(b, &f);
}

dp_span dp_bounds_slant(dp_bounds *b, const lang_expr *x, int32_t node) {
  dp_form f = {0};
  b->work = DP_BOUNDS_WORK;
  if (!dp_form_of(b, x, lang_child(x, node, 1), 1, &f) ||
      !dp_form_of(b, x, lang_child(x, node, 0), -1, &f))
    return everything;
  return dp_form_span(b, &f);
}
