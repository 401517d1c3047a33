/* Functions of pairs in double precision: what their texts are checked against. */
#include "lang_pair_own.h"

#include <math.h>

bool lang_is_known(const lang_pair *p, int32_t node) {
  const lang_node *n = &p->expr->nodes[node];
  if (n->op == LANG_OP_DATA) return false;
  if (n->op == LANG_OP_SCALAR) return n->ref >= p->n_variables;
  for (int32_t c = n->first; c >= 0; c = p->expr->nodes[c].next)
    if (!lang_is_known(p, c)) return false;
  return true;
}

tsl_err lang_walk_whole(lang_walk *w, int32_t node, int64_t *out) {
  tsl_err err = TSL_OK;
  double value = 0;
  if (!lang_is_known(w->pair, node))
    LANG_PAIR_FAIL(w->pair, node,
                   "this must be known before the points are: it may consist of "
                   "numbers, parameters, d and range variables");
  TSL_TRY(lang_walk_value(w, node, &value));
  if (!(fabs(value) <= 0x1p53)) LANG_PAIR_FAIL(w->pair, node, "%g is too large", value);
  *out = (int64_t)value;
done:
  return err;
}

tsl_err lang_walk_index(lang_walk *w, int32_t node, int64_t *out) {
  tsl_err err = TSL_OK;
  const lang_node *n = &w->pair->expr->nodes[node];
  const lang_array *array = &w->pair->names->arrays[n->ref];
  TSL_TRY(lang_walk_whole(w, n->first, out));
  if (*out < 0 || *out >= array->shape[0])
    LANG_PAIR_FAIL(w->pair, n->first, "%s[%lld] is outside: there are %lld, counted from 0",
                   array->name, (long long)*out, (long long)array->shape[0]);
done:
  return err;
}

tsl_err lang_walk_power(lang_walk *w, int32_t node, int64_t *out) {
  tsl_err err = TSL_OK;
  const int32_t power = lang_child(w->pair->expr, node, 1);
  TSL_TRY(lang_walk_whole(w, power, out));
  if (*out < -LANG_POWER_MAX || *out > LANG_POWER_MAX)
    LANG_PAIR_FAIL(w->pair, power, "a power is from -%d to %d, this is %lld", LANG_POWER_MAX,
                   LANG_POWER_MAX, (long long)*out);
done:
  return err;
}

tsl_err lang_walk_range(lang_walk *w, int32_t node, int64_t *lo, int64_t *hi) {
  enum { LONGEST = 4096 };
  tsl_err err = TSL_OK;
  const lang_expr *x = w->pair->expr;
  TSL_TRY(lang_walk_whole(w, lang_child(x, node, 0), lo));
  TSL_TRY(lang_walk_whole(w, lang_child(x, node, 1), hi));
  if (*hi < *lo && x->nodes[node].op != LANG_OP_RANGE_SUM && lang_child(x, node, 3) < 0)
    LANG_PAIR_FAIL(w->pair, node, "the range from %lld to %lld is empty and has no 'else'",
                   (long long)*lo, (long long)*hi);
  if (*hi < *lo) *hi = *lo - 1;
  if (*hi - *lo >= LONGEST)
    LANG_PAIR_FAIL(w->pair, node, "a range of %lld values; at most %d", (long long)(*hi - *lo + 1),
                   LONGEST);
done:
  return err;
}

/* ------------------------------------------------------------------- values */

static tsl_err value_of_range(lang_walk *w, int32_t node, double *out) {
  tsl_err err = TSL_OK;
  const lang_expr *x = w->pair->expr;
  const int32_t op = x->nodes[node].op, level = x->nodes[node].ref;
  const int64_t outer = w->k[level];
  int64_t lo = 0, hi = 0;
  double value = 0;
  *out = 0;
  TSL_TRY(lang_walk_range(w, node, &lo, &hi));
  if (hi < lo && op != LANG_OP_RANGE_SUM) TSL_TRY(lang_walk_value(w, lang_child(x, node, 3), out));
  for (int64_t k = lo; k <= hi; k++) {
    w->k[level] = k;
    TSL_TRY(lang_walk_value(w, lang_child(x, node, 2), &value));
    if (op == LANG_OP_RANGE_SUM)
      *out = k == lo ? value : *out + value;
    else if (k == lo || (op == LANG_OP_RANGE_MIN ? value < *out : value > *out))
      *out = value;
  }
done:
  w->k[level] = outer;
  return err;
}

static double value_of_operator(int32_t op, double a, double b) {
  switch (op) {
  case LANG_OP_ADD:
    return a + b;
  case LANG_OP_SUB:
    return a - b;
  case LANG_OP_MUL:
    return a * b;
  case LANG_OP_DIV:
    return a / b;
  case LANG_OP_MOD:
    return fmod(a, b);
  case LANG_OP_LT:
    return a < b;
  case LANG_OP_LE:
    return a <= b;
  case LANG_OP_GT:
    return a > b;
  case LANG_OP_GE:
    return a >= b;
  case LANG_OP_EQ:
    return a == b;
  case LANG_OP_NE:
    return a != b;
  case LANG_OP_AND:
    return a != 0 && b != 0;
  case LANG_OP_OR:
    return a != 0 || b != 0;
  case LANG_OP_MIN:
    return b < a ? b : a;
  default: /* LANG_OP_MAX */
    return b > a ? b : a;
  }
}

static tsl_err value_of_call(lang_walk *w, int32_t node, double *out) {
  tsl_err err = TSL_OK;
  const lang_node *n = &w->pair->expr->nodes[node];
  int64_t power = 0;
  double x = 0;
  TSL_TRY(lang_walk_value(w, n->first, &x));
  if (n->ref == LANG_POW) TSL_TRY(lang_walk_power(w, node, &power));
  static double (*const functions[LANG_N_FUNCTIONS])(double) = {
      [LANG_SQRT] = sqrt, [LANG_EXP] = exp, [LANG_LOG] = log,     [LANG_SIN] = sin,
      [LANG_COS] = cos,   [LANG_ERF] = erf, [LANG_LOG1P] = log1p, [LANG_FLOOR] = floor};
  *out = n->ref == LANG_POW ? pow(x, (double)power) : functions[n->ref](x);
done:
  return err;
}

static tsl_err value_of_leaf(lang_walk *w, int32_t node, double *out) {
  tsl_err err = TSL_OK;
  const lang_node *n = &w->pair->expr->nodes[node];
  const lang_scalar *s = &w->pair->names->scalars[n->ref >= 0 ? n->ref : 0];
  int64_t index = 0;
  switch (n->op) {
  case LANG_OP_NUMBER:
    *out = n->kind == LANG_REAL ? n->real : (double)n->whole;
    break;
  case LANG_OP_LOOP:
    *out = (double)w->k[n->ref];
    break;
  case LANG_OP_EXTENT:
    *out = (double)w->pair->names->arrays[n->ref].shape[n->dim];
    break;
  case LANG_OP_SCALAR:
    if (n->ref < w->pair->n_variables)
      *out = w->values->scalars[n->ref];
    else
      *out = s->kind == LANG_REAL ? s->real : (double)s->whole;
    break;
  default: /* LANG_OP_DATA */
    TSL_TRY(lang_walk_index(w, node, &index));
    *out = w->values->arrays[n->ref][index];
    break;
  }
done:
  return err;
}

static tsl_err value_of_node(lang_walk *w, int32_t node, double *out) {
  tsl_err err = TSL_OK;
  const lang_expr *x = w->pair->expr;
  const lang_node *n = &x->nodes[node];
  double next = 0;
  TSL_TRY(lang_walk_value(w, n->first, out));
  switch (n->op) {
  case LANG_OP_TO_REAL:
    break;
  case LANG_OP_NEG:
    *out = -*out;
    break;
  case LANG_OP_NOT:
    *out = *out == 0;
    break;
  case LANG_OP_ABS:
    *out = fabs(*out);
    break;
  case LANG_OP_COND:
    TSL_TRY(lang_walk_value(w, lang_child(x, node, *out != 0 ? 1 : 2), out));
    break;
  default:
    for (int32_t c = x->nodes[n->first].next; c >= 0; c = x->nodes[c].next) {
      TSL_TRY(lang_walk_value(w, c, &next));
      *out = value_of_operator(n->op, *out, next);
    }
    break;
  }
done:
  return err;
}

tsl_err lang_walk_value(lang_walk *w, int32_t node, double *out) {
  tsl_err err = TSL_OK;
  const int32_t op = w->pair->expr->nodes[node].op;
  if (++w->work > LANG_PAIR_NODES_MAX)
    LANG_PAIR_FAIL(w->pair, node, "more than %d operations for one value", LANG_PAIR_NODES_MAX);
  if (lang_is_range(op)) return value_of_range(w, node, out);
  if (op == LANG_OP_CALL) return value_of_call(w, node, out);
  if (op == LANG_OP_DATA || w->pair->expr->nodes[node].first < 0)
    return value_of_leaf(w, node, out);
  return value_of_node(w, node, out);
done:
  return err;
}

tsl_err lang_pair_value(const lang_pair *pair, const lang_pair_values *values, double *out) {
  lang_walk w = {.pair = pair, .values = values};
  return lang_walk_value(&w, pair->expr->root, out);
}
