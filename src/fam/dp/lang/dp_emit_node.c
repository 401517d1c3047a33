/* Trees as C expressions, with the checks that could not be proved away. */
#include "dp_emit_own.h"
#include "dp_real.h"

static const char *type_word(dp_as as) {
  return as == DP_AS_INDEX ? "i64" : "V";
}

static char type_letter(dp_as as) {
  return as == DP_AS_INDEX ? 'l' : 'v';
}

/** The code may fail here. */
static void note_check(dp_emitter *e) {
  e->code->checks = 1;
}

static bool fits(dp_emitter *e, const lang_expr *x, int32_t node, int32_t type) {
  return dp_bounds_fits(&e->bounds, x, node, dp_span_of_type(type));
}

/** A value that does not fit 32 bits makes all of them wide. */
static void note_width(dp_emitter *e, const lang_expr *x, int32_t node, dp_as as) {
  if (as == DP_AS_VALUE && x->nodes[node].kind == LANG_WHOLE && !e->wide &&
      !fits(e, x, node, TSL_I32))
    e->misfit = true;
}

const char *dp_emit_type(const lang_expr *x, int32_t node, dp_as as) {
  return x->nodes[node].kind == LANG_REAL ? "R" : type_word(as);
}

/* ------------------------------------------------------------------- leaves */

static void put_whole(lang_text *out, int64_t value, dp_as as) {
  if (value == INT64_MIN)
    lang_put(out, "(-9223372036854775807LL - 1)");
  else if (as == DP_AS_INDEX || value > INT32_MAX || value < INT32_MIN)
    lang_put(out, "%lldLL", (long long)value);
  else
    lang_put(out, "(V)%lld", (long long)value);
}

static void put_real(lang_text *out, double value) {
  if (value > 1.7976931348623157e308)
    lang_put(out, "DP_INF");
  else
    lang_put(out, "((R)%a)", value);
}

static void emit_leaf(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node, dp_as as) {
  const lang_node *n = &x->nodes[node];
  const char *type = type_word(as);
  (void)e;
  switch (n->op) {
  case LANG_OP_NUMBER:
    if (n->kind == LANG_REAL)
      put_real(out, n->real);
    else
      put_whole(out, n->whole, as);
    break;
  case LANG_OP_I:
  case LANG_OP_J:
    lang_put(out, "(%s)%c", type, n->op == LANG_OP_I ? 'i' : 'j');
    break;
  case LANG_OP_INNER:
    lang_put(out, "(%s)x%d", type, (int)n->ref);
    break;
  case LANG_OP_LOOP:
    lang_put(out, "(%s)k%d", type, (int)n->ref);
    break;
  case LANG_OP_SCALAR:
    lang_put(out, n->kind == LANG_REAL ? "%sS%d" : "(%s)S%d", n->kind == LANG_REAL ? "" : type,
             (int)n->ref);
    break;
  default: /* LANG_OP_EXTENT */
    if (n->ref < 0)
      lang_put(out, "(%s)%s", type, n->dim == 0 ? "NR" : "NC");
    else
      lang_put(out, "(%s)A%d_%c", type, (int)n->ref, n->dim == 0 ? 'r' : 'c');
    break;
  }
}

/* --------------------------------------------------------------------- data */

static void emit_data_index(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node,
                            int d) {
  const lang_array *array = &e->recurrence->equation.names.arrays[x->nodes[node].ref];
  const int32_t index = lang_child(x, node, d);
  const dp_span inside = {0, (dp_wide)array->shape[d] - 1};
  if (dp_span_within(dp_bounds_span(&e->bounds, x, index), inside)) {
    lang_put(out, "(");
    dp_emit_node(e, out, x, index, DP_AS_INDEX);
    lang_put(out, ")");
    return;
  }
  note_check(e);
  lang_put(out, "dp_inside(");
  dp_emit_node(e, out, x, index, DP_AS_INDEX);
  lang_put(out, ", A%d_%c, bad)", (int)x->nodes[node].ref, d == 0 ? 'r' : 'c');
}

static void emit_data(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node, dp_as as) {
  const lang_node *n = &x->nodes[node];
  const lang_array *array = &e->recurrence->equation.names.arrays[n->ref];
  const char *type = n->kind == LANG_REAL ? "R" : type_word(as);
  const int hoisted = e->hoist != NULL ? dp_hoist_number(e, x, node) : -1;
  if (hoisted >= 0) {
    lang_put(out, "(%s)H%d", type, hoisted);
    return;
  }
  if (dp_array_count(array) == 0) {
    note_check(e);
    lang_put(out, "(%s)dp_no_data(bad)", type);
    return;
  }
  lang_put(out, "(%s)A%d[", type, (int)n->ref);
  emit_data_index(e, out, x, node, 0);
  if (array->rank == 2) {
    lang_put(out, " * A%d_c + ", (int)n->ref);
    emit_data_index(e, out, x, node, 1);
  }
  lang_put(out, "]");
}

/* ---------------------------------------------------------------- operators */

static void emit_list(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node, dp_as as,
                      const char *between) {
  for (int32_t c = x->nodes[node].first; c >= 0; c = x->nodes[c].next) {
    dp_emit_node(e, out, x, c, as);
    if (x->nodes[c].next >= 0) lang_put(out, "%s", between);
  }
}

/** The checking function of an operation, NULL where it cannot fail. */
static const char *check_of(dp_emitter *e, const lang_expr *x, int32_t node) {
  static const char *const names[LANG_N_OPS] = {[LANG_OP_ADD] = "dp_add",
                                                [LANG_OP_SUB] = "dp_sub",
                                                [LANG_OP_MUL] = "dp_mul",
                                                [LANG_OP_DIV] = "dp_div",
                                                [LANG_OP_MOD] = "dp_mod",
                                                [LANG_OP_SHIFT_LEFT] = "dp_shift_left",
                                                [LANG_OP_SHIFT_RIGHT] = "dp_shift_right"};
  static const char *const reals[LANG_N_OPS] = {[LANG_OP_ADD] = "dp_real_add",
                                                [LANG_OP_SUB] = "dp_real_sub",
                                                [LANG_OP_MUL] = "dp_real_mul",
                                                [LANG_OP_DIV] = "dp_real_div"};
  const lang_node *n = &x->nodes[node];
  const bool divides = n->op == LANG_OP_DIV || n->op == LANG_OP_MOD;
  if (n->kind == LANG_REAL) return dp_real_safe(&e->bounds, x, node) ? NULL : reals[n->op];
  if (lang_is_shift(n->op)) return names[n->op];
  const dp_span divisor = dp_bounds_span(&e->bounds, x, x->nodes[n->first].next);
  const bool safe = fits(e, x, node, TSL_I64) && (!divides || divisor.lo > 0 || divisor.hi < -1);
  return safe ? NULL : names[n->op];
}

void dp_emit_arithmetic(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node, dp_as as,
                        const char *left) {
  static const char signs[LANG_N_OPS] = {
      [LANG_OP_ADD] = '+',    [LANG_OP_SUB] = '-',    [LANG_OP_MUL] = '*',
      [LANG_OP_DIV] = '/',    [LANG_OP_MOD] = '%',    [LANG_OP_BIT_AND] = '&',
      [LANG_OP_BIT_OR] = '|', [LANG_OP_BIT_XOR] = '^'};
  const lang_node *n = &x->nodes[node];
  const char *const check = check_of(e, x, node);
  note_width(e, x, node, as);
  if (check != NULL) note_check(e);
  lang_put(out, "%s(", check != NULL ? check : "");
  if (left != NULL)
    lang_put(out, "%s", left);
  else
    dp_emit_node(e, out, x, n->first, as);
  if (check == NULL)
    lang_put(out, " %c ", signs[n->op]);
  else
    lang_put(out, ", ");
  dp_emit_node(e, out, x, x->nodes[n->first].next, as);
  lang_put(out, check == NULL ? ")" : ", bad)");
}

static void emit_unary(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node, dp_as as) {
  const lang_node *n = &x->nodes[node];
  const bool plain = n->kind == LANG_REAL || fits(e, x, node, TSL_I64);
  const char letter = n->kind == LANG_REAL ? 'r' : type_letter(as);
  if (!plain) note_check(e);
  if (plain && n->op == LANG_OP_NEG)
    lang_put(out, "(-");
  else if (plain)
    lang_put(out, "dp_abs_%c(", letter);
  else
    lang_put(out, n->op == LANG_OP_NEG ? "dp_sub(0, " : "dp_abs_bad(");
  dp_emit_node(e, out, x, n->first, as);
  lang_put(out, plain ? ")" : ", bad)");
}

static void emit_compare(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node) {
  static const char *const signs[LANG_N_OPS] = {
      [LANG_OP_LT] = " < ",  [LANG_OP_LE] = " <= ", [LANG_OP_GT] = " > ",
      [LANG_OP_GE] = " >= ", [LANG_OP_EQ] = " == ", [LANG_OP_NE] = " != "};
  lang_put(out, "(");
  emit_list(e, out, x, node, DP_AS_VALUE, signs[x->nodes[node].op]);
  lang_put(out, ")");
}

void dp_emit_condition(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node) {
  const lang_node *n = &x->nodes[node];
  const int32_t n_facts = e->bounds.n_facts;
  if (n->op >= LANG_OP_LT && n->op <= LANG_OP_NE) {
    emit_compare(e, out, x, node);
  } else if (dp_is_long(x, node)) {
    dp_emit_long(e, out, x, node, DP_AS_VALUE);
  } else if (n->op == LANG_OP_AND || n->op == LANG_OP_OR) {
    lang_put(out, "(");
    dp_emit_logic(e, out, x, node);
    e->bounds.n_facts = n_facts;
    lang_put(out, ")");
  } else if (n->op == LANG_OP_NOT) {
    lang_put(out, "!");
    dp_emit_condition(e, out, x, n->first);
  } else {
    lang_put(out, "(");
    dp_emit_node(e, out, x, node, DP_AS_VALUE);
    lang_put(out, " != 0)");
  }
}

static void emit_cond(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node, dp_as as) {
  const int32_t condition = x->nodes[node].first, n_facts = e->bounds.n_facts;
  lang_put(out, "(");
  dp_emit_condition(e, out, x, condition);
  lang_put(out, " ? ");
  dp_bounds_assume(&e->bounds, x, condition, true);
  dp_emit_node(e, out, x, lang_child(x, node, 1), as);
  e->bounds.n_facts = n_facts;
  lang_put(out, " : ");
  dp_bounds_assume(&e->bounds, x, condition, false);
  dp_emit_node(e, out, x, lang_child(x, node, 2), as);
  e->bounds.n_facts = n_facts;
  lang_put(out, ")");
}

static void emit_function(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node) {
  const lang_node *n = &x->nodes[node];
  note_check(e);
  e->functions_of_reals = true;
  lang_put(out, "dp_%s(", lang_function_words[n->ref]);
  dp_emit_node(e, out, x, n->first, DP_AS_VALUE);
  if (n->ref == LANG_POW) {
    lang_put(out, ", ");
    dp_emit_node(e, out, x, x->nodes[n->first].next, DP_AS_INDEX);
  }
  lang_put(out, ", bad)");
}

static void emit_call(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node, dp_as as) {
  if (node == e->split && x == &e->recurrence->cells[0]) {
    lang_put(out, "dp_rest(DP_PASS, DP_CPASS, sofar, from, p, q, i, j, bad)");
    return;
  }
  const int32_t number = dp_emit_range(e, x, node, as);
  lang_put(out, "dp_range%d(DP_PASS, DP_CPASS, p, q, i, j", (int)number);
  for (int l = 0; l < x->nodes[node].ref; l++) lang_put(out, ", k%d", l);
  lang_put(out, ", bad)");
}

void dp_emit_node(dp_emitter *e, lang_text *out, const lang_expr *x, int32_t node, dp_as as) {
  const lang_node *n = &x->nodes[node];
  note_width(e, x, node, as);
  e->functions_of_reals |= n->op == LANG_OP_LOGSUM;
  if (dp_is_long(x, node)) {
    dp_emit_long(e, out, x, node, as);
    return;
  }
  if (lang_is_range(n->op)) {
    emit_call(e, out, x, node, as);
    return;
  }
  if (lang_is_arithmetic(n->op)) {
    dp_emit_arithmetic(e, out, x, node, as, NULL);
    return;
  }
  switch (n->op) {
  case LANG_OP_TABLE:
    dp_emit_table(e, out, x, node, as);
    break;
  case LANG_OP_DATA:
    emit_data(e, out, x, node, as);
    break;
  case LANG_OP_TO_REAL:
    lang_put(out, "((R)");
    dp_emit_node(e, out, x, n->first, as);
    lang_put(out, ")");
    break;
  case LANG_OP_NEG:
  case LANG_OP_ABS:
    emit_unary(e, out, x, node, as);
    break;
  case LANG_OP_COND:
    emit_cond(e, out, x, node, as);
    break;
  case LANG_OP_MIN:
  case LANG_OP_MAX:
  case LANG_OP_LOGSUM:
    dp_emit_extreme(e, out, x, node, as);
    break;
  case LANG_OP_CALL:
    emit_function(e, out, x, node);
    break;
  default:
    if (n->first >= 0) {
      lang_put(out, "(%s)", type_word(as));
      dp_emit_condition(e, out, x, node);
    } else {
      emit_leaf(e, out, x, node, as);
    }
    break;
  }
}
