/* Interval problems: a range's first part shared by neighbouring cells of a row.
 *
 * Where a range k = lo .. j + c has an lo that is the same along a row, cells q, q+1, ... share the
 * values up to that of the first. Those are computed for all of them together: k outside, cells
 * inside, so that a column of the table is read along its rows. The rest follows cell by cell. */
#include "dp_emit_own.h"

static bool has(const lang_expr *x, int32_t node, int32_t first, int32_t last) {
  if (x->nodes[node].op >= first && x->nodes[node].op <= last) return true;
  for (int32_t c = x->nodes[node].first; c >= 0; c = x->nodes[c].next)
    if (has(x, c, first, last)) return true;
  return false;
}

/** Do all reads below node of the own row keep to columns that do not follow the cell? */
static bool is_settled(dp_emitter *e, const lang_expr *x, int32_t node) {
  if (x->nodes[node].op == LANG_OP_TABLE) {
    const dp_span rows = dp_bounds_offset(&e->bounds, x, lang_child(x, node, 0), DP_ROW);
    const dp_wide nearest = e->code->fold.flip_i != 0 ? -rows.lo : rows.hi;
    return nearest <= -1 || !has(x, lang_child(x, node, 1), LANG_OP_J, LANG_OP_J);
  }
  for (int32_t c = x->nodes[node].first; c >= 0; c = x->nodes[c].next)
    if (!is_settled(e, x, c)) return false;
  return true;
}

static bool can_split(dp_emitter *e, const lang_expr *x, int32_t node) {
  const lang_node *n = &x->nodes[node];
  const int32_t lo = lang_child(x, node, 0), hi = lang_child(x, node, 1),
                body = lang_child(x, node, 2);
  if (n->op > LANG_OP_RANGE_SUM || n->kind != LANG_WHOLE ||
      has(x, body, LANG_OP_RANGE_MIN, LANG_OP_RANGE_LOGSUM))
    return false;
  if (n->op == LANG_OP_RANGE_SUM && !dp_bounds_fits(&e->bounds, x, node, dp_span_of_type(TSL_I64)))
    return false;
  if (has(x, lo, LANG_OP_J, LANG_OP_J) || has(x, lo, LANG_OP_RANGE_MIN, LANG_OP_RANGE_LOGSUM))
    return false;
  const dp_span offset = dp_bounds_offset(&e->bounds, x, hi, DP_COLUMN);
  if (offset.lo != offset.hi) return false;
  const dp_bounds saved = e->bounds;
  dp_bounds_range(&e->bounds, x, node);
  const bool settled = x->nodes[body].reads != 0 && is_settled(e, x, body);
  e->bounds = saved;
  return settled;
}

/** The first range below node that is always computed and can be split; -1: none. */
static int32_t find_split(dp_emitter *e, const lang_expr *x, int32_t node) {
  const int32_t op = x->nodes[node].op;
  if (lang_is_range(op)) return can_split(e, x, node) ? node : -1;
  if (op == LANG_OP_COND || op == LANG_OP_AND || op == LANG_OP_OR || op == LANG_OP_TABLE ||
      op == LANG_OP_DATA || dp_is_long(x, node))
    return -1;
  for (int32_t c = x->nodes[node].first; c >= 0; c = x->nodes[c].next) {
    const int32_t found = find_split(e, x, c);
    if (found >= 0) return found;
  }
  return -1;
}

/** dp_lo, dp_hi: ends of the range. */
static void put_end(dp_emitter *e, const lang_expr *x, int32_t node, const char *name) {
  lang_text body = {0};
  lang_put(&body, "DP_FN i64 %s(DP_TAKE, DP_CTAKE, const i64 p, const i64 q, int *bad) {\n", name);
  lang_put(&body, "  const i64 i = DP_I(p, q), j = DP_J(p, q);\n  return ");
  dp_emit_node(e, &body, x, node, DP_AS_INDEX);
  lang_put(&body, ";\n}\n\n");
  dp_emit_append(e, &body);
}

/** dp_term: the value for one k; dp_join: the best of two, or the sum. */
static void put_term(dp_emitter *e, const lang_expr *x, int32_t node) {
  const int32_t op = x->nodes[node].op;
  lang_text body = {0};
  const dp_bounds saved = e->bounds;
  dp_bounds_range(&e->bounds, x, node);
  lang_put(&body, "DP_FN V dp_term(DP_TAKE, DP_CTAKE, const i64 p, const i64 q, const i64 k0,\n"
                  "                int *bad) {\n"
                  "  const i64 i = DP_I(p, q), j = DP_J(p, q);\n  return ");
  e->n_open = 1;
  dp_emit_node(e, &body, x, lang_child(x, node, 2), DP_AS_VALUE);
  e->n_open = 0;
  lang_put(&body, ";\n}\n\n");
  e->bounds = saved;
  lang_put(&body, "#define DP_NONE %s\n",
           op == LANG_OP_RANGE_SUM   ? "0"
           : op == LANG_OP_RANGE_MIN ? "DP_MOST_V"
                                     : "(-1 - DP_MOST_V)");
  lang_put(&body, "DP_FN V dp_join(const V a, const V b) {\n  return %s;\n}\n\n",
           op == LANG_OP_RANGE_SUM   ? "a + b"
           : op == LANG_OP_RANGE_MIN ? "b < a ? b : a"
                                     : "b > a ? b : a");
  dp_emit_append(e, &body);
}

/** dp_rest: the range from `from` on, joined to what the shared part gave. */
static void put_rest(dp_emitter *e, const lang_expr *x, int32_t node) {
  const int32_t otherwise = lang_child(x, node, 3);
  lang_text body = {0};
  lang_put(&body, "DP_FN V dp_rest(DP_TAKE, DP_CTAKE, V sofar, const i64 from, const i64 p,\n"
                  "                const i64 q, const i64 i, const i64 j, int *bad) {\n"
                  "  const i64 lo = dp_lo(DP_PASS, DP_CPASS, p, q, bad);\n"
                  "  const i64 hi = dp_hi(DP_PASS, DP_CPASS, p, q, bad);\n"
                  "  if (hi < lo) {\n");
  if (otherwise >= 0) {
    lang_put(&body, "    return ");
    dp_emit_node(e, &body, x, otherwise, DP_AS_VALUE);
    lang_put(&body, ";\n");
  } else {
    lang_put(&body, "%s    return 0;\n",
             x->nodes[node].op == LANG_OP_RANGE_SUM ? "" : "    *bad |= DP_BAD_RANGE;\n");
  }
  lang_put(&body, "  }\n"
                  "  if ((u64)hi - (u64)lo >= 2147483647u) {\n"
                  "    *bad |= DP_BAD_RANGE;\n    return 0;\n  }\n"
                  "  for (i64 k0 = lo > from ? lo : from; k0 <= hi; k0++)\n"
                  "    sofar = dp_join(sofar, dp_term(DP_PASS, DP_CPASS, p, q, k0, bad));\n"
                  "  return sofar;\n}\n\n");
  dp_emit_append(e, &body);
}

/** dp_plain: no rule gives the cell. */
static void put_plain(dp_emitter *e) {
  const dp_recurrence *r = e->recurrence;
  const int32_t cells = r->equation.names.tables[0].cells;
  lang_text body = {0};
  dp_bounds_restart(&e->bounds);
  lang_put(&body, "DP_FN int dp_plain(DP_TAKE, DP_CTAKE, const i64 p, const i64 q, int *bad) {\n"
                  "  const i64 i = DP_I(p, q), j = DP_J(p, q);\n");
  if (cells != LANG_CELLS_ALL)
    lang_put(&body, "  if (i %c j) return 0;\n", cells == LANG_CELLS_UPPER ? '>' : '<');
  for (int32_t n = 0; n < r->equation.n_rules; n++) {
    lang_put(&body, "  if (");
    dp_emit_condition(e, &body, &r->rules[n].where, r->rules[n].where.root);
    lang_put(&body, ") return 0;\n");
    dp_bounds_assume(&e->bounds, &r->rules[n].where, r->rules[n].where.root, false);
  }
  lang_put(&body, "  return 1;\n}\n\n");
  dp_emit_append(e, &body);
}

void dp_emit_split(dp_emitter *e) {
  const lang_expr *x = &e->recurrence->cells[0];
  const bool turned = e->code->fold.transpose != 0 || e->code->fold.flip_j != 0;
  dp_bounds_restart(&e->bounds);
  dp_bounds_rule(&e->bounds, -1);
  const int32_t node =
      turned || e->code->values > 1 || e->code->layers > 0 ? -1 : find_split(e, x, x->root);
  lang_put(&e->functions, "#define DP_SPLIT %d\n\n", node >= 0);
  if (node < 0) return;
  put_end(e, x, lang_child(x, node, 0), "dp_lo");
  put_end(e, x, lang_child(x, node, 1), "dp_hi");
  put_term(e, x, node);
  put_rest(e, x, node);
  e->split = node;
  dp_emit_value(e, -1, "dp_cell_rest_0", "V sofar, const i64 from, ");
  dp_emit_full(e, "dp_full_rest", "dp_cell_rest", "V sofar, const i64 from, ", "sofar, from, ");
  e->split = -1;
  put_plain(e);
}
