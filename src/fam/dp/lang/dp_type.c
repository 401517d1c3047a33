/* Kinds of a tree: integers become reals where both meet; what may not stand where. */
#include "dp_lex.h"
#include "dp_real.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct checker {
  const dp_names *names;
  dp_expr *expr;
  bool real; /**< reals are allowed */
} checker;

dp_kind dp_kind_of(int32_t type) {
  return type == TSL_F32 || type == TSL_F64 ? DP_REAL : DP_WHOLE;
}

bool dp_is_single(const dp_names *names) {
  return names->tables[0].type == TSL_F32;
}

bool dp_has_cell(const dp_table *table, int64_t i, int64_t j) {
  if (i < 0 || i >= table->rows || j < 0 || j >= table->cols) return false;
  return table->cells == DP_CELLS_ALL || (table->cells == DP_CELLS_UPPER ? i <= j : i >= j);
}

/** Put a conversion above child number n of node. */
static tsl_err convert(dp_expr *expr, int32_t node, int n) {
  tsl_err err = TSL_OK;
  int32_t child = dp_child(expr, node, n), above = -1;
  if (expr->nodes[child].kind == DP_REAL) goto done;
  TSL_TRY(
      dp_node_new(expr, DP_OP_TO_REAL, expr->nodes[child].at, expr->nodes[child].length, &above));
  dp_node *nodes = expr->nodes;
  int32_t *link = &nodes[node].first;
  while (*link != child) link = &nodes[*link].next;
  *link = above;
  nodes[above].next = nodes[child].next;
  nodes[above].first = child;
  nodes[above].kind = DP_REAL;
  nodes[above].reads = nodes[child].reads;
  nodes[above].depth = nodes[child].depth + 1;
  nodes[child].next = -1;
done:
  return err;
}

static tsl_err need_whole(const checker *c, int32_t node, const char *what) {
  tsl_err err = TSL_OK;
  const dp_node *n = &c->expr->nodes[node];
  if (n->kind != DP_WHOLE)
    DP_FAIL_AT(TSL_ERR_INPUT, c->expr->text, n->at, n->length, "%s is an integer; this is a real",
               what);
done:
  return err;
}

static tsl_err need_no_reads(const checker *c, int32_t node, const char *what) {
  tsl_err err = TSL_OK;
  const dp_node *n = &c->expr->nodes[node];
  if (n->reads != 0)
    DP_FAIL_AT(TSL_ERR_INPUT, c->expr->text, n->at, n->length,
               "%s may not depend on values of the table", what);
done:
  return err;
}

/** Children from number `from` on get one kind: real when one of them is. */
static tsl_err unite(const checker *c, int32_t node, int from) {
  tsl_err err = TSL_OK;
  bool real = false;
  int n = 0;
  for (int i = from; dp_child(c->expr, node, i) >= 0; i++, n = i)
    real |= c->expr->nodes[dp_child(c->expr, node, i)].kind == DP_REAL;
  for (int i = from; real && i < n; i++) TSL_TRY(convert(c->expr, node, i));
  c->expr->nodes[node].kind = real ? DP_REAL : DP_WHOLE;
done:
  return err;
}

static tsl_err check_leaf(const checker *c, int32_t node) {
  tsl_err err = TSL_OK;
  dp_node *n = &c->expr->nodes[node];
  switch (n->op) {
  case DP_OP_SCALAR:
    n->kind = c->names->scalars[n->ref].kind;
    break;
  case DP_OP_TABLE:
    n->kind = (int32_t)dp_kind_of(c->names->tables[n->ref].type);
    break;
  case DP_OP_DATA:
    n->kind = (int32_t)dp_kind_of(c->names->arrays[n->ref].type);
    break;
  default:
    break;
  }
  if (n->kind == DP_REAL && !c->real)
    DP_FAIL_AT(TSL_ERR_INPUT, c->expr->text, n->at, n->length,
               "a real in an integer table; give the table the type f64 or f32");
  if (n->op == DP_OP_NUMBER && n->kind == DP_REAL && !isinf(n->real) &&
      !dp_real_fits(dp_is_single(c->names), n->real))
    DP_FAIL_AT(TSL_ERR_INPUT, c->expr->text, n->at, n->length,
               "the number does not fit the table's type");
done:
  return err;
}

static tsl_err check_indices(const checker *c, int32_t node) {
  tsl_err err = TSL_OK;
  for (int i = 0; dp_child(c->expr, node, i) >= 0; i++) {
    TSL_TRY(need_whole(c, dp_child(c->expr, node, i), "an index"));
    TSL_TRY(need_no_reads(c, dp_child(c->expr, node, i), "an index"));
  }
done:
  return err;
}

static tsl_err dp_type_check_range(const checker *c, int32_t node) {
  tsl_err err = TSL_OK;
  for (int i = 0; i < 2; i++) {
    TSL_TRY(need_whole(c, dp_child(c->expr, node, i), "the end of a range"));
    TSL_TRY(need_no_reads(c, dp_child(c->expr, node, i), "the end of a range"));
  }
  TSL_TRY(unite(c, node, 2));
done:
  return err;
}

/** A node whose children are checked. */
static tsl_err check_node(const checker *c, int32_t node) {
  tsl_err err = TSL_OK;
  const int32_t op = c->expr->nodes[node].op;
  switch (op) {
  case DP_OP_TABLE:
  case DP_OP_DATA:
    TSL_TRY(check_indices(c, node));
    TSL_TRY(check_leaf(c, node));
    break;
  case DP_OP_NOT:
  case DP_OP_AND:
  case DP_OP_OR:
    for (int i = 0; dp_child(c->expr, node, i) >= 0; i++)
      TSL_TRY(need_whole(c, dp_child(c->expr, node, i), "a condition"));
    break;
  case DP_OP_MOD:
    for (int i = 0; i < 2; i++)
      TSL_TRY(need_whole(c, dp_child(c->expr, node, i), "an operand of %"));
    break;
  case DP_OP_COND:
    TSL_TRY(need_whole(c, dp_child(c->expr, node, 0), "a condition"));
    TSL_TRY(unite(c, node, 1));
    break;
  case DP_OP_RANGE_MIN:
  case DP_OP_RANGE_MAX:
  case DP_OP_RANGE_SUM:
    TSL_TRY(dp_type_check_range(c, node));
    break;
  default:
    if (c->expr->nodes[node].first >= 0)
      TSL_TRY(unite(c, node, 0));
    else
      TSL_TRY(check_leaf(c, node));
    if (op >= DP_OP_LT && op <= DP_OP_NE) c->expr->nodes[node].kind = DP_WHOLE;
    break;
  }
done:
  return err;
}

/** Children before parents; a chain of operators is as deep as its text is long. */
static tsl_err check_tree(const checker *c, int32_t node) {
  tsl_err err = TSL_OK;
  for (int32_t child = c->expr->nodes[node].first; child >= 0; child = c->expr->nodes[child].next)
    TSL_TRY(check_tree(c, child));
  TSL_TRY(check_node(c, node));
done:
  return err;
}

tsl_err dp_type_check(const dp_names *names, dp_scope scope, dp_expr *expr) {
  tsl_err err = TSL_OK;
  const bool table_real = names->n_tables > 0 && dp_kind_of(names->tables[0].type) == DP_REAL;
  const bool real = scope == DP_SCOPE_CONSTANT || table_real;
  const checker c = {names, expr, real};
  TSL_TRY(check_tree(&c, expr->root));
  if (scope == DP_SCOPE_SIZE) TSL_TRY(need_whole(&c, expr->root, "a size"));
  if (scope == DP_SCOPE_WHERE) TSL_TRY(need_whole(&c, expr->root, "a condition"));
  if ((scope == DP_SCOPE_CELL || scope == DP_SCOPE_GOAL) && table_real &&
      expr->nodes[expr->root].kind == DP_WHOLE) {
    int32_t above = -1;
    TSL_TRY(dp_node_new(expr, DP_OP_TO_REAL, 0, (int32_t)strlen(expr->text), &above));
    expr->nodes[above].kind = DP_REAL;
    dp_node_adopt(expr, above, expr->root);
    expr->root = above;
  }
done:
  return err;
}

/* ---------------------------------------------------------------- comparing */

static bool same_node(const dp_node *a, const dp_node *b) {
  if (a->op != b->op || a->kind != b->kind || a->ref != b->ref) return false;
  if (a->op == DP_OP_EXTENT && a->dim != b->dim) return false;
  return a->op != DP_OP_NUMBER ||
         (a->whole == b->whole && memcmp(&a->real, &b->real, sizeof a->real) == 0);
}

bool dp_same(const dp_expr *a, int32_t x, const dp_expr *b, int32_t y) {
  if (!same_node(&a->nodes[x], &b->nodes[y])) return false;
  int32_t s = a->nodes[x].first, t = b->nodes[y].first;
  for (; s >= 0 && t >= 0; s = a->nodes[s].next, t = b->nodes[t].next)
    if (!dp_same(a, s, b, t)) return false;
  return s < 0 && t < 0;
}
