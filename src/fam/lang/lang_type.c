/* Kinds of a tree: integers become reals where both meet; what may not stand where. */
#include "lang_lex.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct checker {
  const lang_names *names;
  lang_expr *expr;
  bool real;      /**< reals are allowed */
  bool pair;      /**< a function of pairs */
  bool quotients; /**< a quotient is a real, but for indices and ends of ranges */
} checker;

bool lang_is_range(int32_t op) {
  return op >= LANG_OP_RANGE_MIN && op <= LANG_OP_RANGE_LOGSUM;
}

bool lang_is_arithmetic(int32_t op) {
  return op >= LANG_OP_ADD && op <= LANG_OP_SHIFT_RIGHT;
}

bool lang_is_shift(int32_t op) {
  return op == LANG_OP_SHIFT_LEFT || op == LANG_OP_SHIFT_RIGHT;
}

bool lang_is_argument(int32_t op) {
  return op == LANG_OP_RANGE_ARGMIN || op == LANG_OP_RANGE_ARGMAX;
}

/** Are both operands integers, whatever the table's type? */
static bool is_of_wholes(int32_t op) {
  return op >= LANG_OP_MOD && op <= LANG_OP_SHIFT_RIGHT;
}

lang_kind lang_kind_of(int32_t type) {
  return type == TSL_F32 || type == TSL_F64 ? LANG_REAL : LANG_WHOLE;
}

bool lang_is_single(const lang_names *names) {
  return names->tables[0].type == TSL_F32;
}

const char *const lang_inner_words[LANG_INNER_MAX] = {"k", "l", "m", "n"};

int64_t lang_layer_stride(const lang_names *names, int n) {
  const lang_table *t = &names->tables[0];
  int64_t stride = 1;
  while (++n < t->n_inner) stride *= t->inner[n];
  return stride;
}

int64_t lang_layers(const lang_names *names) {
  return lang_layer_stride(names, -1);
}

int64_t lang_inner_of(const lang_names *names, int64_t layer, int n) {
  return layer / lang_layer_stride(names, n) % names->tables[0].inner[n];
}

int32_t lang_values(const lang_names *names) {
  return (int32_t)(lang_layers(names) * names->n_tables);
}

bool lang_has_cell(const lang_table *table, int64_t i, int64_t j) {
  if (i < 0 || i >= table->rows || j < 0 || j >= table->cols) return false;
  return table->cells == LANG_CELLS_ALL || (table->cells == LANG_CELLS_UPPER ? i <= j : i >= j);
}

bool lang_real_fits(bool single, double value) {
  const double stored = single ? (double)(float)value : value;
  return !isinf(stored) && (value == 0 || fabs(stored) >= (single ? (double)FLT_MIN : DBL_MIN));
}

/** Put a conversion above child number n of node. */
static tsl_err convert(lang_expr *expr, int32_t node, int n) {
  tsl_err err = TSL_OK;
  int32_t child = lang_child(expr, node, n), above = -1;
  if (expr->nodes[child].kind == LANG_REAL) goto done;
  TSL_TRY(lang_node_new(expr, LANG_OP_TO_REAL, expr->nodes[child].at, expr->nodes[child].length,
                        &above));
  lang_node *nodes = expr->nodes;
  int32_t *link = &nodes[node].first;
  while (*link != child) link = &nodes[*link].next;
  *link = above;
  nodes[above].next = nodes[child].next;
  nodes[above].first = child;
  nodes[above].kind = LANG_REAL;
  nodes[above].reads = nodes[child].reads;
  nodes[above].depth = nodes[child].depth + 1;
  nodes[child].next = -1;
done:
  return err;
}

static tsl_err need_whole(const checker *c, int32_t node, const char *what) {
  tsl_err err = TSL_OK;
  const lang_node *n = &c->expr->nodes[node];
  if (n->kind != LANG_WHOLE)
    LANG_FAIL_AT(TSL_ERR_INPUT, c->expr->text, n->at, n->length, "%s is an integer; this is a real",
                 what);
done:
  return err;
}

static tsl_err need_no_reads(const checker *c, int32_t node, const char *what) {
  tsl_err err = TSL_OK;
  const lang_node *n = &c->expr->nodes[node];
  if (n->reads != 0)
    LANG_FAIL_AT(TSL_ERR_INPUT, c->expr->text, n->at, n->length,
                 "%s may not depend on values of the table", what);
done:
  return err;
}

/** Children from number `from` on get one kind: real when one of them is. */
static tsl_err unite(const checker *c, int32_t node, int from) {
  tsl_err err = TSL_OK;
  bool real = false;
  int n = 0;
  for (int i = from; lang_child(c->expr, node, i) >= 0; i++, n = i)
    real |= c->expr->nodes[lang_child(c->expr, node, i)].kind == LANG_REAL;
  for (int i = from; real && i < n; i++) TSL_TRY(convert(c->expr, node, i));
  c->expr->nodes[node].kind = real ? LANG_REAL : LANG_WHOLE;
done:
  return err;
}

static tsl_err check_leaf(const checker *c, int32_t node) {
  tsl_err err = TSL_OK;
  lang_node *n = &c->expr->nodes[node];
  switch (n->op) {
  case LANG_OP_SCALAR:
    n->kind = c->names->scalars[n->ref].kind;
    break;
  case LANG_OP_TABLE:
    n->kind = (int32_t)lang_kind_of(c->names->tables[n->ref].type);
    break;
  case LANG_OP_DATA:
    n->kind = (int32_t)lang_kind_of(c->names->arrays[n->ref].type);
    break;
  default:
    break;
  }
  if (n->kind == LANG_REAL && !c->real)
    LANG_FAIL_AT(TSL_ERR_INPUT, c->expr->text, n->at, n->length,
                 "a real in an integer table; give the table the type f64 or f32");
  if (n->op == LANG_OP_NUMBER && n->kind == LANG_REAL && !isinf(n->real) &&
      !lang_real_fits(lang_is_single(c->names), n->real))
    LANG_FAIL_AT(TSL_ERR_INPUT, c->expr->text, n->at, n->length,
                 c->pair ? "the number does not fit the precision"
                         : "the number does not fit the table's type");
done:
  return err;
}

static tsl_err check_indices(const checker *c, int32_t node) {
  tsl_err err = TSL_OK;
  for (int i = 0; lang_child(c->expr, node, i) >= 0; i++) {
    TSL_TRY(need_whole(c, lang_child(c->expr, node, i), "an index"));
    TSL_TRY(need_no_reads(c, lang_child(c->expr, node, i), "an index"));
  }
done:
  return err;
}

/** An integer; what is compared may be real. */
static tsl_err check_argument(const checker *c, int32_t node) {
  tsl_err err = TSL_OK;
  const int32_t otherwise = lang_child(c->expr, node, 3);
  if (otherwise >= 0) TSL_TRY(need_whole(c, otherwise, "a value of the range's variable"));
  c->expr->nodes[node].kind = LANG_WHOLE;
done:
  return err;
}

static tsl_err need_reals(const checker *c, int32_t node) {
  tsl_err err = TSL_OK;
  const lang_node *n = &c->expr->nodes[node];
  if (!c->real)
    LANG_FAIL_AT(TSL_ERR_INPUT, c->expr->text, n->at, n->length,
                 "a function of reals in an integer table; give the table the type f64 or f32");
done:
  return err;
}

/** Functions of reals; a power is an integer. */
static tsl_err check_call(const checker *c, int32_t node) {
  tsl_err err = TSL_OK;
  TSL_TRY(need_reals(c, node));
  TSL_TRY(convert(c->expr, node, 0));
  if (c->expr->nodes[node].ref == LANG_POW) {
    const lang_node *n = &c->expr->nodes[lang_child(c->expr, node, 1)];
    if (n->kind != LANG_WHOLE)
      LANG_FAIL_AT(TSL_ERR_INPUT, c->expr->text, n->at, n->length,
                   "a power is an integer; this is a real: write exp(y * log(x)) for x to the y");
  }
  c->expr->nodes[node].kind = LANG_REAL;
done:
  return err;
}

static tsl_err check_quotient(const checker *c, int32_t node, bool whole) {
  tsl_err err = TSL_OK;
  for (int i = 0; i < 2 && c->quotients && !whole; i++) TSL_TRY(convert(c->expr, node, i));
  TSL_TRY(unite(c, node, 0));
done:
  return err;
}

/** All values are reals: arguments from 0, or a range's from 2 on. */
static tsl_err check_logsum(const checker *c, int32_t node, int from) {
  tsl_err err = TSL_OK;
  TSL_TRY(need_reals(c, node));
  for (int i = from; lang_child(c->expr, node, i) >= 0; i++) TSL_TRY(convert(c->expr, node, i));
  c->expr->nodes[node].kind = LANG_REAL;
done:
  return err;
}

static tsl_err lang_type_check_range(const checker *c, int32_t node) {
  tsl_err err = TSL_OK;
  const int32_t op = c->expr->nodes[node].op;
  for (int i = 0; i < 2; i++) {
    TSL_TRY(need_whole(c, lang_child(c->expr, node, i), "the end of a range"));
    TSL_TRY(need_no_reads(c, lang_child(c->expr, node, i), "the end of a range"));
  }
  if (lang_is_argument(op))
    TSL_TRY(check_argument(c, node));
  else if (op == LANG_OP_RANGE_LOGSUM)
    TSL_TRY(check_logsum(c, node, 2));
  else
    TSL_TRY(unite(c, node, 2));
done:
  return err;
}

/** A node whose children are checked; whole: integers are asked for. */
static tsl_err check_node(const checker *c, int32_t node, bool whole) {
  tsl_err err = TSL_OK;
  const int32_t op = c->expr->nodes[node].op;
  switch (op) {
  case LANG_OP_TABLE:
  case LANG_OP_DATA:
    TSL_TRY(check_indices(c, node));
    TSL_TRY(check_leaf(c, node));
    break;
  case LANG_OP_NOT:
  case LANG_OP_AND:
  case LANG_OP_OR:
    for (int i = 0; lang_child(c->expr, node, i) >= 0; i++)
      TSL_TRY(need_whole(c, lang_child(c->expr, node, i), "a condition"));
    break;
  case LANG_OP_MOD:
    for (int i = 0; i < 2; i++)
      TSL_TRY(need_whole(c, lang_child(c->expr, node, i), "an operand of %"));
    break;
  case LANG_OP_BIT_AND:
  case LANG_OP_BIT_OR:
  case LANG_OP_BIT_XOR:
  case LANG_OP_SHIFT_LEFT:
  case LANG_OP_SHIFT_RIGHT:
    for (int i = 0; i < 2; i++)
      TSL_TRY(need_whole(c, lang_child(c->expr, node, i), "an operand of bits"));
    break;
  case LANG_OP_CALL:
    TSL_TRY(check_call(c, node));
    break;
  case LANG_OP_DIV:
    TSL_TRY(check_quotient(c, node, whole));
    break;
  case LANG_OP_COND:
    TSL_TRY(need_whole(c, lang_child(c->expr, node, 0), "a condition"));
    TSL_TRY(unite(c, node, 1));
    break;
  case LANG_OP_LOGSUM:
    TSL_TRY(check_logsum(c, node, 0));
    break;
  default:
    if (lang_is_range(op))
      TSL_TRY(lang_type_check_range(c, node));
    else if (c->expr->nodes[node].first >= 0)
      TSL_TRY(unite(c, node, 0));
    else
      TSL_TRY(check_leaf(c, node));
    if (op >= LANG_OP_LT && op <= LANG_OP_NE) c->expr->nodes[node].kind = LANG_WHOLE;
    break;
  }
done:
  return err;
}

/** Does the node ask its child number n for an integer, whatever the table's type? */
static bool asks_whole(const lang_node *node, int n) {
  if (node->op == LANG_OP_TABLE || node->op == LANG_OP_DATA || is_of_wholes(node->op)) return true;
  if (node->op == LANG_OP_CALL) return n == 1;
  return lang_is_range(node->op) && n < 2;
}

/** Children before parents; a chain of operators is as deep as its text is long. */
static tsl_err check_tree(const checker *c, int32_t node, bool whole) {
  tsl_err err = TSL_OK;
  int n = 0;
  for (int32_t child = c->expr->nodes[node].first; child >= 0; child = c->expr->nodes[child].next)
    TSL_TRY(check_tree(c, child, whole || asks_whole(&c->expr->nodes[node], n++)));
  TSL_TRY(check_node(c, node, whole));
done:
  return err;
}

tsl_err lang_type_check(const lang_names *names, lang_scope scope, lang_expr *expr) {
  tsl_err err = TSL_OK;
  const bool table_real = names->n_tables > 0 && lang_kind_of(names->tables[0].type) == LANG_REAL;
  const bool pair = scope == LANG_SCOPE_PAIR;
  const bool real = pair || scope == LANG_SCOPE_CONSTANT || table_real;
  const bool value = scope == LANG_SCOPE_CELL || scope == LANG_SCOPE_GOAL;
  const checker c = {names, expr, real, pair, pair || (value && table_real)};
  TSL_TRY(check_tree(&c, expr->root, false));
  if (scope == LANG_SCOPE_SIZE) TSL_TRY(need_whole(&c, expr->root, "a size"));
  if (scope == LANG_SCOPE_WHERE) TSL_TRY(need_whole(&c, expr->root, "a condition"));
  if ((scope == LANG_SCOPE_CELL || scope == LANG_SCOPE_GOAL) && table_real &&
      expr->nodes[expr->root].kind == LANG_WHOLE) {
    int32_t above = -1;
    TSL_TRY(lang_node_new(expr, LANG_OP_TO_REAL, 0, (int32_t)strlen(expr->text), &above));
    expr->nodes[above].kind = LANG_REAL;
    lang_node_adopt(expr, above, expr->root);
    expr->root = above;
  }
done:
  return err;
}

/* ---------------------------------------------------------------- comparing */

static bool same_node(const lang_node *a, const lang_node *b) {
  if (a->op != b->op || a->kind != b->kind || a->ref != b->ref) return false;
  if (a->op == LANG_OP_EXTENT && a->dim != b->dim) return false;
  return a->op != LANG_OP_NUMBER ||
         (a->whole == b->whole && memcmp(&a->real, &b->real, sizeof a->real) == 0);
}

bool lang_same(const lang_expr *a, int32_t x, const lang_expr *b, int32_t y) {
  if (!same_node(&a->nodes[x], &b->nodes[y])) return false;
  int32_t s = a->nodes[x].first, t = b->nodes[y].first;
  for (; s >= 0 && t >= 0; s = a->nodes[s].next, t = b->nodes[t].next)
    if (!lang_same(a, s, b, t)) return false;
  return s < 0 && t < 0;
}
