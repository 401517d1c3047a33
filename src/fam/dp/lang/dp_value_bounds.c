/* How far the values of a table can have grown after so many steps. */
#include "dp_bounds_own.h"

/** A value is a cell plus something in cell, or something in free. */
typedef struct growth {
  bool known, has_cell, has_free;
  dp_span cell, free;
} growth;

static growth grow_hull(growth a, growth b) {
  const dp_span none = {1, 0};
  return (growth){.known = a.known && b.known,
                  .has_cell = a.has_cell || b.has_cell,
                  .has_free = a.has_free || b.has_free,
                  .cell = dp_span_hull(a.has_cell ? a.cell : none, b.has_cell ? b.cell : none),
                  .free = dp_span_hull(a.has_free ? a.free : none, b.has_free ? b.free : none)};
}

/** a + b, where at most one of them rests on cells. */
static growth grow_sum(growth a, growth b) {
  if (b.has_cell && !a.has_cell) return grow_sum(b, a);
  growth sum = {.known = a.known && b.known && !b.has_cell && b.has_free,
                .has_cell = a.has_cell,
                .has_free = a.has_free};
  if (a.has_cell) sum.cell = dp_span_add(a.cell, b.free);
  if (a.has_free) sum.free = dp_span_add(a.free, b.free);
  return sum;
}

static growth dp_value_bounds_grow(dp_bounds *b, const lang_expr *x, int32_t node);

static growth grow_range(dp_bounds *b, const lang_expr *x, int32_t node) {
  const lang_node *n = &x->nodes[node];
  const int32_t n_facts = b->n_facts, otherwise = lang_child(x, node, 3);
  growth g = {.known = n->op == LANG_OP_RANGE_MIN || n->op == LANG_OP_RANGE_MAX};
  if (lang_is_argument(n->op))
    return (growth){.known = true, .has_free = true, .free = dp_bounds_span(b, x, node)};
  if (!g.known) return g;
  if (otherwise >= 0) g = dp_value_bounds_grow(b, x, otherwise);
  dp_bounds_range(b, x, node);
  g = grow_hull(g, dp_value_bounds_grow(b, x, lang_child(x, node, 2)));
  b->n_facts = n_facts;
  return g;
}

static growth dp_value_bounds_grow(dp_bounds *b, const lang_expr *x, int32_t node) {
  const lang_node *n = &x->nodes[node];
  growth g = {.known = true}, h;
  if (n->reads == 0) {
    g.has_free = true;
    g.free = dp_bounds_span(b, x, node);
    return g;
  }
  if (n->depth > DP_HEIGHT_MAX) return (growth){.known = false};
  if (lang_is_range(n->op)) return grow_range(b, x, node);
  switch (n->op) {
  case LANG_OP_TABLE:
    g.has_cell = true;
    return g;
  case LANG_OP_ADD:
    return grow_sum(dp_value_bounds_grow(b, x, n->first),
                    dp_value_bounds_grow(b, x, x->nodes[n->first].next));
  case LANG_OP_SUB:
    h = dp_value_bounds_grow(b, x, x->nodes[n->first].next);
    h.known &= !h.has_cell;
    h.free = (dp_span){-h.free.hi, -h.free.lo};
    return grow_sum(dp_value_bounds_grow(b, x, n->first), h);
  case LANG_OP_MIN:
  case LANG_OP_MAX:
  case LANG_OP_COND:
    for (int32_t c = n->op == LANG_OP_COND ? x->nodes[n->first].next : n->first; c >= 0;
         c = x->nodes[c].next)
      g = grow_hull(g, dp_value_bounds_grow(b, x, c));
    return g;
  default:
    return (growth){.known = false};
  }
}

bool dp_bounds_growth(const dp_recurrence *r, dp_wide steps, dp_span *values) {
  growth all = {.known = true};
  if (lang_kind_of(r->equation.names.tables[0].type) != LANG_WHOLE) return false;
  for (int32_t rule = -r->equation.names.n_tables; rule < r->equation.n_rules; rule++) {
    dp_bounds b;
    dp_bounds_init(r, &b);
    dp_bounds_rule(&b, rule);
    const lang_expr *x = dp_recurrence_value(r, rule);
    all = grow_hull(all, dp_value_bounds_grow(&b, x, x->root));
  }
  if (!all.known || !all.has_free || steps < 0 || steps >= (dp_wide)1 << 62) return false;
  *values = all.free;
  if (all.has_cell && all.cell.hi > 0) values->hi += steps * all.cell.hi;
  if (all.has_cell && all.cell.lo < 0) values->lo += steps * all.cell.lo;
  *values = dp_span_hull(*values, (dp_span){0, 0}); /* a failed read gives 0 */
  return dp_span_within(*values, dp_span_of_type(TSL_I64));
}
