/* The interpreter: values of subtrees and cells. Depth is limited by the parser. */
#include "dp_eval_own.h"

#include "dp_real.h"

#include <math.h>
#include <stdio.h>

/* ---------------------------------------------------------------- messages */

/** Print more; used: bytes so far, at most size. */
static void put_text(char *text, size_t size, size_t *used, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static void put_text(char *text, size_t size, size_t *used, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  const int n = vsnprintf(text + *used, size - *used, fmt, args);
  va_end(args);
  *used = n < 0 || (size_t)n >= size - *used ? size - 1 : *used + (size_t)n;
}

static void place_text(const dp_eval *e, char *text, size_t size) {
  const lang_names *names = &e->recurrence->equation.names;
  size_t used = 0;
  text[0] = '\0';
  if (e->i < 0) return;
  put_text(text, size, &used, " at i = %lld, j = %lld", (long long)(e->i + names->origin[0]),
           (long long)(e->j + names->origin[1]));
  for (int n = 0; n < names->tables[0].n_inner; n++)
    put_text(text, size, &used, ", %s = %lld", lang_inner_words[n],
             (long long)lang_inner_of(names, dp_eval_layer(e), n));
  for (int l = 0; l < e->n_k; l++)
    put_text(text, size, &used, "%s%lld", l == 0 ? ", range at " : ", ", (long long)e->k[l]);
}

tsl_err dp_eval_fail(const dp_eval *e, tsl_err code, const lang_expr *expr, int32_t node,
                     const char *file, int line, const char *fmt, ...) {
  char what[512], place[256];
  va_list args;
  va_start(args, fmt);
  (void)vsnprintf(what, sizeof what, fmt, args);
  va_end(args);
  place_text(e, place, sizeof place);
  return lang_node_fail(code, expr, node, file, line, "%s%s", what, place);
}

const char *dp_value_text(const lang_names *names, int64_t i, int64_t j, int32_t value, char *text,
                          size_t size) {
  size_t used = 0;
  put_text(text, size, &used, "%s[%lld][%lld]", names->tables[value % names->n_tables].name,
           (long long)(i + names->origin[0]), (long long)(j + names->origin[1]));
  for (int n = 0; n < names->tables[0].n_inner; n++)
    put_text(text, size, &used, "[%lld]",
             (long long)lang_inner_of(names, value / names->n_tables, n));
  return text;
}

/** The message every engine gives. @param[in] at  all indices */
static tsl_err fail_outside(const dp_eval *e, const lang_expr *expr, int32_t node,
                            const dp_value at[]) {
  static const char *const domains[] = {"", " with i <= j", " with i >= j"};
  const lang_table *t = &e->recurrence->equation.names.tables[expr->nodes[node].ref];
  const int64_t *const origin = e->recurrence->equation.names.origin;
  char inner[128] = "", depth[128] = "";
  size_t used = 0, used_by_depth = 0;
  for (int n = 0; n < t->n_inner; n++) {
    put_text(inner, sizeof inner, &used, "[%lld]", (long long)at[2 + n].whole);
    put_text(depth, sizeof depth, &used_by_depth, "%s %lld", n == 0 ? " and depth" : " x",
             (long long)t->inner[n]);
  }
  return dp_eval_fail(e, TSL_ERR_INPUT, expr, node, __FILE__, __LINE__,
                      "%s[%lld][%lld]%s is outside the table of %lld rows%s %lld columns%s%s",
                      t->name, (long long)(at[0].whole + origin[0]),
                      (long long)(at[1].whole + origin[1]), inner, (long long)(t->rows + origin[0]),
                      t->n_inner > 0 ? "," : " and", (long long)(t->cols + origin[1]), depth,
                      domains[t->cells]);
}

tsl_err dp_eval_place(dp_eval *e, const lang_expr *x, int32_t node, int64_t *i, int64_t *j,
                      int32_t *value) {
  tsl_err err = TSL_OK;
  const lang_names *names = &e->recurrence->equation.names;
  const int32_t ref = x->nodes[node].ref;
  const lang_table *t = &names->tables[ref];
  dp_value at[2 + LANG_INNER_MAX] = {{0}};
  int64_t layer = 0;
  for (int n = 0; n < 2 + t->n_inner; n++)
    TSL_TRY(dp_evaluate(e, x, lang_child(x, node, n), &at[n]));
  bool inside = lang_has_cell(t, at[0].whole, at[1].whole);
  for (int n = 0; n < t->n_inner; n++)
    inside = inside && at[2 + n].whole >= 0 && at[2 + n].whole < t->inner[n];
  if (!inside) TSL_TRY(fail_outside(e, x, node, at));
  for (int n = 0; n < t->n_inner; n++) layer = layer * t->inner[n] + at[2 + n].whole;
  *i = at[0].whole;
  *j = at[1].whole;
  *value = (int32_t)layer * names->n_tables + ref;
done:
  return err;
}

/* ------------------------------------------------------------------ leaves */

dp_value dp_array_value(const lang_array *array, const void *data, int64_t n) {
  dp_value v = {0};
  switch (array->type) {
  case TSL_U8:
    v.whole = ((const uint8_t *)data)[n];
    break;
  case TSL_I32:
    v.whole = ((const int32_t *)data)[n];
    break;
  case TSL_I64:
    v.whole = ((const int64_t *)data)[n];
    break;
  case TSL_F32:
    v.real = ((const float *)data)[n];
    break;
  default:
    v.real = ((const double *)data)[n];
    break;
  }
  return v;
}

/** Round to the table's type. */
static double rounded(const dp_eval *e, double real) {
  return lang_is_single(&e->recurrence->equation.names) ? (double)(float)real : real;
}

static tsl_err eval_leaf(dp_eval *e, const lang_expr *x, const lang_node *n, dp_value *out) {
  const lang_names *names = &e->recurrence->equation.names;
  (void)x;
  switch (n->op) {
  case LANG_OP_NUMBER:
    if (n->kind == LANG_WHOLE)
      out->whole = n->whole;
    else
      out->real = rounded(e, n->real);
    break;
  case LANG_OP_I:
    out->whole = e->i;
    break;
  case LANG_OP_J:
    out->whole = e->j;
    break;
  case LANG_OP_INNER:
    out->whole = lang_inner_of(names, dp_eval_layer(e), n->ref);
    break;
  case LANG_OP_LOOP:
    out->whole = e->k[n->ref];
    break;
  case LANG_OP_SCALAR:
    if (n->kind == LANG_WHOLE)
      out->whole = names->scalars[n->ref].whole;
    else
      out->real = rounded(e, names->scalars[n->ref].real);
    break;
  default: /* LANG_OP_EXTENT */
    if (n->ref >= 0)
      out->whole = names->arrays[n->ref].shape[n->dim];
    else
      out->whole = n->dim == 0 ? names->tables[-1 - n->ref].rows : names->tables[-1 - n->ref].cols;
    break;
  }
  return TSL_OK;
}

static tsl_err eval_data(dp_eval *e, const lang_expr *x, int32_t node, dp_value *out) {
  tsl_err err = TSL_OK;
  const lang_node *n = &x->nodes[node];
  const lang_array *array = &e->recurrence->equation.names.arrays[n->ref];
  dp_value index = {0};
  int64_t at = 0;
  for (int d = 0; d < array->rank; d++) {
    const int32_t child = lang_child(x, node, d);
    TSL_TRY(dp_evaluate(e, x, child, &index));
    if (index.whole < 0 || index.whole >= array->shape[d])
      DP_EVAL_FAIL(e, TSL_ERR_INPUT, x, child, "index %lld of '%s' is outside 0..%lld",
                   (long long)index.whole, array->name, (long long)array->shape[d] - 1);
    at = at * array->shape[d] + index.whole;
  }
  *out = dp_array_value(array, e->recurrence->data[n->ref], at);
  if (n->kind == LANG_REAL) out->real = rounded(e, out->real);
done:
  return err;
}

static tsl_err eval_table(dp_eval *e, const lang_expr *x, int32_t node, dp_value *out) {
  tsl_err err = TSL_OK;
  int64_t i = 0, j = 0;
  int32_t value = 0;
  TSL_TRY(dp_eval_place(e, x, node, &i, &j, &value));
  TSL_TRY(e->read(e->self, x, node, i, j, value, out));
done:
  return err;
}

/* --------------------------------------------------------------- operators */

static tsl_err eval_unary(dp_eval *e, const lang_expr *x, int32_t node, dp_value *out) {
  tsl_err err = TSL_OK;
  const lang_node *n = &x->nodes[node];
  TSL_TRY(dp_evaluate(e, x, n->first, out));
  if (n->op == LANG_OP_NOT) {
    out->whole = out->whole == 0;
  } else if (n->op == LANG_OP_TO_REAL) {
    out->real = lang_is_single(&e->recurrence->equation.names) ? (double)(float)out->whole
                                                               : (double)out->whole;
  } else if (n->kind == LANG_REAL) {
    out->real = n->op == LANG_OP_NEG ? -out->real : fabs(out->real);
  } else if (n->op == LANG_OP_NEG || out->whole < 0) {
    if (out->whole == INT64_MIN)
      DP_EVAL_FAIL(e, TSL_ERR_NUMERIC, x, node, "integer overflow: -(%lld)", (long long)out->whole);
    out->whole = -out->whole;
  }
done:
  return err;
}

static tsl_err eval_divide(const dp_eval *e, const lang_expr *x, int32_t node, dp_value a,
                           dp_value b, dp_value *out) {
  tsl_err err = TSL_OK;
  const bool divide = x->nodes[node].op == LANG_OP_DIV;
  if (b.whole == 0)
    DP_EVAL_FAIL(e, TSL_ERR_NUMERIC, x, node, divide ? "division by zero" : "remainder by zero");
  if (a.whole == INT64_MIN && b.whole == -1) {
    if (divide)
      DP_EVAL_FAIL(e, TSL_ERR_NUMERIC, x, node, "integer overflow: %lld / -1", (long long)a.whole);
    out->whole = 0;
  } else {
    out->whole = divide ? a.whole / b.whole : a.whole % b.whole;
  }
done:
  return err;
}

static tsl_err eval_shift(const dp_eval *e, const lang_expr *x, int32_t node, dp_value a,
                          dp_value b, dp_value *out) {
  tsl_err err = TSL_OK;
  if (b.whole < 0 || b.whole > LANG_SHIFT_MAX)
    DP_EVAL_FAIL(e, TSL_ERR_NUMERIC, x, node, "a shift by %lld bits; 0 to %d", (long long)b.whole,
                 LANG_SHIFT_MAX);
  if (x->nodes[node].op == LANG_OP_SHIFT_RIGHT) {
    out->whole = a.whole >> b.whole;
    goto done;
  }
  out->whole = (int64_t)((uint64_t)a.whole << b.whole);
  if (out->whole >> b.whole != a.whole)
    DP_EVAL_FAIL(e, TSL_ERR_NUMERIC, x, node, "integer overflow: %lld << %lld", (long long)a.whole,
                 (long long)b.whole);
done:
  return err;
}

static tsl_err eval_whole(const dp_eval *e, const lang_expr *x, int32_t node, dp_value a,
                          dp_value b, dp_value *out) {
  static const char signs[LANG_N_OPS] = {
      [LANG_OP_ADD] = '+', [LANG_OP_SUB] = '-', [LANG_OP_MUL] = '*'};
  tsl_err err = TSL_OK;
  const int32_t op = x->nodes[node].op;
  bool over;
  if (op == LANG_OP_DIV || op == LANG_OP_MOD) return eval_divide(e, x, node, a, b, out);
  if (lang_is_shift(op)) return eval_shift(e, x, node, a, b, out);
  if (op >= LANG_OP_BIT_AND && op <= LANG_OP_BIT_XOR) {
    out->whole = op == LANG_OP_BIT_AND  ? a.whole & b.whole
                 : op == LANG_OP_BIT_OR ? a.whole | b.whole
                                        : a.whole ^ b.whole;
    goto done;
  }
  if (op == LANG_OP_ADD)
    over = __builtin_add_overflow(a.whole, b.whole, &out->whole);
  else if (op == LANG_OP_SUB)
    over = __builtin_sub_overflow(a.whole, b.whole, &out->whole);
  else
    over = __builtin_mul_overflow(a.whole, b.whole, &out->whole);
  if (over)
    DP_EVAL_FAIL(e, TSL_ERR_NUMERIC, x, node, "integer overflow: %lld %c %lld", (long long)a.whole,
                 signs[op], (long long)b.whole);
done:
  return err;
}

tsl_err dp_eval_real(const dp_eval *e, const lang_expr *x, int32_t node, int32_t op, double a,
                     double b, dp_value *out) {
  static const char signs[LANG_N_OPS] = {
      [LANG_OP_ADD] = '+', [LANG_OP_SUB] = '-', [LANG_OP_MUL] = '*', [LANG_OP_DIV] = '/'};
  tsl_err err = TSL_OK;
  const bool single = lang_is_single(&e->recurrence->equation.names);
  out->real = dp_real_result(single, op, a, b);
  const char *fault = dp_real_fault(single, op, a, b, out->real);
  if (fault != NULL)
    DP_EVAL_FAIL(e, TSL_ERR_NUMERIC, x, node, "%s: %.9g %c %.9g", fault, a, signs[op], b);
done:
  return err;
}

#define COMPARE(op, a, b)            \
  ((op) == LANG_OP_LT   ? (a) < (b)  \
   : (op) == LANG_OP_LE ? (a) <= (b) \
   : (op) == LANG_OP_GT ? (a) > (b)  \
   : (op) == LANG_OP_GE ? (a) >= (b) \
   : (op) == LANG_OP_EQ ? (a) == (b) \
                        : (a) != (b))

static tsl_err eval_binary(dp_eval *e, const lang_expr *x, int32_t node, dp_value *out) {
  tsl_err err = TSL_OK;
  const lang_node *n = &x->nodes[node];
  const int32_t left = n->first, right = x->nodes[left].next;
  const bool real = x->nodes[left].kind == LANG_REAL;
  dp_value a = {0}, b = {0};
  TSL_TRY(dp_evaluate(e, x, left, &a));
  TSL_TRY(dp_evaluate(e, x, right, &b));
  if (n->op >= LANG_OP_LT && n->op <= LANG_OP_NE)
    out->whole = real ? COMPARE(n->op, a.real, b.real) : COMPARE(n->op, a.whole, b.whole);
  else if (real)
    TSL_TRY(dp_eval_real(e, x, node, n->op, a.real, b.real, out));
  else
    TSL_TRY(eval_whole(e, x, node, a, b, out));
done:
  return err;
}

static tsl_err eval_logic(dp_eval *e, const lang_expr *x, int32_t node, dp_value *out) {
  tsl_err err = TSL_OK;
  const lang_node *n = &x->nodes[node];
  TSL_TRY(dp_evaluate(e, x, n->first, out));
  const bool truth = out->whole != 0;
  out->whole = truth;
  if (truth != (n->op == LANG_OP_AND)) goto done;
  TSL_TRY(dp_evaluate(e, x, x->nodes[n->first].next, out));
  out->whole = out->whole != 0;
done:
  return err;
}

static tsl_err eval_cond(dp_eval *e, const lang_expr *x, int32_t node, dp_value *out) {
  tsl_err err = TSL_OK;
  const int32_t then = x->nodes[x->nodes[node].first].next;
  TSL_TRY(dp_evaluate(e, x, x->nodes[node].first, out));
  TSL_TRY(dp_evaluate(e, x, out->whole != 0 ? then : x->nodes[then].next, out));
done:
  return err;
}

bool dp_eval_better(bool maximum, int32_t kind, dp_value a, dp_value b) {
  if (kind == LANG_REAL) return maximum ? b.real > a.real : b.real < a.real;
  return maximum ? b.whole > a.whole : b.whole < a.whole;
}

static tsl_err eval_extreme(dp_eval *e, const lang_expr *x, int32_t node, dp_value *out) {
  tsl_err err = TSL_OK;
  const lang_node *n = &x->nodes[node];
  dp_value v = {0};
  TSL_TRY(dp_evaluate(e, x, n->first, out));
  for (int32_t child = x->nodes[n->first].next; child >= 0; child = x->nodes[child].next) {
    TSL_TRY(dp_evaluate(e, x, child, &v));
    if (dp_eval_better(n->op == LANG_OP_MAX, n->kind, *out, v)) *out = v;
  }
done:
  return err;
}

static tsl_err eval_logsum(dp_eval *e, const lang_expr *x, int32_t node, dp_value *out) {
  tsl_err err = TSL_OK;
  const int32_t first = x->nodes[node].first;
  dp_value v = {0};
  TSL_TRY(dp_evaluate(e, x, first, out));
  for (int32_t child = x->nodes[first].next; child >= 0; child = x->nodes[child].next) {
    TSL_TRY(dp_evaluate(e, x, child, &v));
    out->real = lang_logsum(lang_is_single(&e->recurrence->equation.names), out->real, v.real);
  }
done:
  return err;
}

static tsl_err eval_function(dp_eval *e, const lang_expr *x, int32_t node, dp_value *out) {
  tsl_err err = TSL_OK;
  const lang_node *n = &x->nodes[node];
  const int32_t second = x->nodes[n->first].next;
  const bool single = lang_is_single(&e->recurrence->equation.names);
  dp_value v = {0}, power = {0};
  TSL_TRY(dp_evaluate(e, x, n->first, &v));
  if (second >= 0) TSL_TRY(dp_evaluate(e, x, second, &power));
  if (power.whole < -LANG_POWER_MAX || power.whole > LANG_POWER_MAX)
    DP_EVAL_FAIL(e, TSL_ERR_INPUT, x, second, "a power is from -%d to %d, this is %lld",
                 LANG_POWER_MAX, LANG_POWER_MAX, (long long)power.whole);
  out->real = lang_function_value(single, (lang_function)n->ref, v.real, power.whole);
  const char *fault = dp_real_call_fault(single, n->ref, v.real, out->real);
  if (fault != NULL)
    DP_EVAL_FAIL(e, TSL_ERR_NUMERIC, x, node, "%s: %s of %.9g", fault, lang_function_words[n->ref],
                 v.real);
done:
  return err;
}

/* ------------------------------------------------------------------- trees */

tsl_err dp_evaluate(dp_eval *e, const lang_expr *x, int32_t node, dp_value *out) {
  if (--e->work < 0)
    return dp_eval_fail(e, TSL_ERR_INPUT, x, node, __FILE__, __LINE__,
                        "too much work for the interpreter");
  if (lang_is_range(x->nodes[node].op)) return dp_eval_range(e, x, node, out);
  switch (x->nodes[node].op) {
  case LANG_OP_TABLE:
    return eval_table(e, x, node, out);
  case LANG_OP_DATA:
    return eval_data(e, x, node, out);
  case LANG_OP_TO_REAL:
  case LANG_OP_NEG:
  case LANG_OP_NOT:
  case LANG_OP_ABS:
    return eval_unary(e, x, node, out);
  case LANG_OP_AND:
  case LANG_OP_OR:
    return eval_logic(e, x, node, out);
  case LANG_OP_COND:
    return eval_cond(e, x, node, out);
  case LANG_OP_MIN:
  case LANG_OP_MAX:
    return eval_extreme(e, x, node, out);
  case LANG_OP_LOGSUM:
    return eval_logsum(e, x, node, out);
  case LANG_OP_CALL:
    return eval_function(e, x, node, out);
  default:
    return x->nodes[node].first < 0 ? eval_leaf(e, x, &x->nodes[node], out)
                                    : eval_binary(e, x, node, out);
  }
}

/* ------------------------------------------------------------------- cells */

tsl_err dp_eval_rule(dp_eval *e, int32_t *rule, const lang_expr **expr) {
  tsl_err err = TSL_OK;
  const dp_recurrence *r = e->recurrence;
  const int32_t table = dp_eval_table(e);
  dp_value v = {0};
  for (*rule = 0; *rule < r->equation.n_rules; ++*rule) {
    const dp_rule *here = &r->rules[*rule];
    if (r->equation.rule_table[*rule] != table) continue;
    TSL_TRY(dp_evaluate(e, &here->where, here->where.root, &v));
    *expr = &here->value;
    if (v.whole != 0) goto done;
  }
  *rule = -1 - table;
  *expr = &r->cells[table];
done:
  return err;
}

tsl_err dp_eval_cell(dp_eval *e, dp_value *out) {
  static const int64_t least[] = {
      [TSL_I16] = INT16_MIN, [TSL_I32] = INT32_MIN, [TSL_I64] = INT64_MIN};
  static const int64_t most[] = {
      [TSL_I16] = INT16_MAX, [TSL_I32] = INT32_MAX, [TSL_I64] = INT64_MAX};
  tsl_err err = TSL_OK;
  const int32_t type = e->recurrence->equation.names.tables[0].type;
  const lang_expr *expr = NULL;
  int32_t rule = -1;
  e->n_k = 0;
  TSL_TRY(dp_eval_rule(e, &rule, &expr));
  TSL_TRY(dp_evaluate(e, expr, expr->root, out));
  if (lang_kind_of(type) == LANG_WHOLE && (out->whole < least[type] || out->whole > most[type]))
    DP_EVAL_FAIL(e, TSL_ERR_NUMERIC, expr, expr->root,
                 "integer overflow: %lld does not fit the table's type %s", (long long)out->whole,
                 tsl_type_name((tsl_type)type));
done:
  return err;
}
