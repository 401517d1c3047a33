/* Functions of pairs as text. */
#include "lang_pair_own.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct emitter {
  lang_walk walk;
  const lang_pair_words *words;
  lang_pair_uses *uses;
  lang_text *out;
  bool single;
} emitter;

static tsl_err emit(emitter *e, int32_t node);
static tsl_err emit_condition(emitter *e, int32_t node);

/* ---------------------------------------------------------------- constants */

/** Is no parameter in it? */
static bool is_numeric(const lang_expr *x, int32_t node) {
  if (x->nodes[node].op == LANG_OP_SCALAR) return false;
  for (int32_t c = x->nodes[node].first; c >= 0; c = x->nodes[c].next)
    if (!is_numeric(x, c)) return false;
  return true;
}

static tsl_err check_constant(const emitter *e, int32_t node, double value) {
  tsl_err err = TSL_OK;
  const lang_node *n = &e->walk.pair->expr->nodes[node];
  if (n->op == LANG_OP_NUMBER || n->op == LANG_OP_TO_REAL) goto done; /* inf is a number */
  if (!isfinite(e->single ? (double)(float)value : value))
    LANG_PAIR_FAIL(e->walk.pair, node, "this is %g, no finite number%s", value,
                   e->single && isfinite(value) ? " in fp32" : "");
  if (value != 0 && fabs(value) < (e->single ? (double)FLT_MIN : DBL_MIN))
    LANG_PAIR_FAIL(e->walk.pair, node, "this is %g, too small for %s", value,
                   e->single ? "fp32" : "fp64");
done:
  return err;
}

/** c.v0, c.v1, ...: one for each value. */
static tsl_err put_constant(emitter *e, int32_t node, double value) {
  tsl_err err = TSL_OK;
  lang_pair_uses *u = e->uses;
  int32_t c = 0;
  while (c < u->n_constants && memcmp(&u->constants[c], &value, sizeof value) != 0) c++;
  if (c == LANG_CONSTANTS_MAX)
    LANG_PAIR_FAIL(e->walk.pair, node, "more than %d constants", LANG_CONSTANTS_MAX);
  u->constants[c] = value;
  if (c == u->n_constants) u->n_constants++;
  lang_put(e->out, "c.v%d", (int)c);
done:
  return err;
}

/** What depends on no variable, or one over it. */
static tsl_err emit_known(emitter *e, int32_t node, bool reciprocal) {
  tsl_err err = TSL_OK;
  double value = 0;
  TSL_TRY(lang_walk_value(&e->walk, node, &value));
  TSL_TRY(check_constant(e, node, value));
  if (reciprocal) {
    if (value == 0) LANG_PAIR_FAIL(e->walk.pair, node, "this is 0: division by zero");
    value = 1 / value;
    TSL_TRY(check_constant(e, node, value));
  }
  if (!is_numeric(e->walk.pair->expr, node))
    TSL_TRY(put_constant(e, node, value));
  else if (isinf(value))
    lang_put(e->out, value > 0 ? "LANG_INF" : "(-LANG_INF)");
  else
    lang_put(e->out, "((R)%a)", value);
done:
  return err;
}

/* ---------------------------------------------------------------- operators */

static int32_t child(const emitter *e, int32_t node, int n) {
  return lang_child(e->walk.pair->expr, node, n);
}

static tsl_err emit_between(emitter *e, const char *before, int32_t node, const char *after) {
  tsl_err err = TSL_OK;
  lang_put(e->out, "%s", before);
  TSL_TRY(emit(e, node));
  lang_put(e->out, "%s", after);
done:
  return err;
}

static tsl_err emit_two(emitter *e, int32_t node, const char *between) {
  tsl_err err = TSL_OK;
  TSL_TRY(emit_between(e, "(", child(e, node, 0), between));
  TSL_TRY(emit_between(e, "", child(e, node, 1), ")"));
done:
  return err;
}

static tsl_err emit_quotient(emitter *e, int32_t node) {
  tsl_err err = TSL_OK;
  const int32_t divisor = child(e, node, 1);
  if (!lang_is_known(e->walk.pair, divisor)) return emit_two(e, node, " / ");
  TSL_TRY(emit_between(e, "(", child(e, node, 0), " * "));
  TSL_TRY(emit_known(e, divisor, true));
  lang_put(e->out, ")");
done:
  return err;
}

static tsl_err emit_choice(emitter *e, int32_t node) {
  tsl_err err = TSL_OK;
  lang_put(e->out, "(");
  TSL_TRY(emit_condition(e, child(e, node, 0)));
  TSL_TRY(emit_between(e, " ? ", child(e, node, 1), " : "));
  TSL_TRY(emit_between(e, "", child(e, node, 2), ")"));
done:
  return err;
}

/** min and max of many, from the left. */
static tsl_err emit_extreme(emitter *e, int32_t node) {
  tsl_err err = TSL_OK;
  const lang_expr *x = e->walk.pair->expr;
  const char *name = x->nodes[node].op == LANG_OP_MIN ? "lang_min" : "lang_max";
  const int32_t first = x->nodes[node].first;
  for (int32_t c = x->nodes[first].next; c >= 0; c = x->nodes[c].next)
    lang_put(e->out, "%s(", name);
  TSL_TRY(emit(e, first));
  for (int32_t c = x->nodes[first].next; c >= 0; c = x->nodes[c].next)
    TSL_TRY(emit_between(e, ", ", c, ")"));
done:
  return err;
}

static tsl_err emit_range(emitter *e, int32_t node) {
  tsl_err err = TSL_OK;
  const lang_node *n = &e->walk.pair->expr->nodes[node];
  const int32_t op = n->op, level = n->ref;
  const bool sum = op == LANG_OP_RANGE_SUM;
  const int64_t outer = e->walk.k[level];
  int64_t lo = 0, hi = 0;
  TSL_TRY(lang_walk_range(&e->walk, node, &lo, &hi));
  if (hi < lo && sum) lang_put(e->out, "((R)0)");
  if (hi < lo && !sum) TSL_TRY(emit(e, child(e, node, 3)));
  for (int64_t k = lo; k < hi; k++)
    lang_put(e->out, sum ? "(" : op == LANG_OP_RANGE_MIN ? "lang_min(" : "lang_max(");
  for (int64_t k = lo; k <= hi; k++) {
    e->walk.k[level] = k;
    if (k > lo) lang_put(e->out, sum ? " + " : ", ");
    TSL_TRY(emit(e, child(e, node, 2)));
    if (k > lo) lang_put(e->out, ")");
    if (e->out->used > LANG_PAIR_BYTES_MAX)
      LANG_PAIR_FAIL(e->walk.pair, node, "written out, this range is too long");
  }
done:
  e->walk.k[level] = outer;
  return err;
}

static tsl_err emit_call(emitter *e, int32_t node) {
  tsl_err err = TSL_OK;
  const lang_node *n = &e->walk.pair->expr->nodes[node];
  int64_t power = 0;
  if (n->ref == LANG_POW) TSL_TRY(lang_walk_power(&e->walk, node, &power));
  if (n->ref != LANG_POW)
    lang_put(e->out, "lang_%s(", lang_function_words[n->ref]);
  else
    lang_put(e->out, power < 0 ? "((R)1 / lang_power(%lld, " : "(lang_power(%lld, ",
             (long long)llabs(power));
  TSL_TRY(emit(e, n->first));
  lang_put(e->out, n->ref == LANG_POW ? "))" : ")");
done:
  return err;
}

/* --------------------------------------------------------------------- nodes */

/** A truth, without jumps: nothing here has an effect. */
static tsl_err emit_condition(emitter *e, int32_t node) {
  static const char *const words[LANG_N_OPS] = {
      [LANG_OP_LT] = " < ",  [LANG_OP_LE] = " <= ", [LANG_OP_GT] = " > ",
      [LANG_OP_GE] = " >= ", [LANG_OP_EQ] = " == ", [LANG_OP_NE] = " != "};
  tsl_err err = TSL_OK;
  const int32_t op = e->walk.pair->expr->nodes[node].op;
  if (op >= LANG_OP_LT && op <= LANG_OP_NE) return emit_two(e, node, words[op]);
  lang_put(e->out, op == LANG_OP_NOT ? "(!" : "(");
  if (op == LANG_OP_NOT || op == LANG_OP_AND || op == LANG_OP_OR)
    TSL_TRY(emit_condition(e, child(e, node, 0)));
  else
    TSL_TRY(emit(e, node));
  if (op == LANG_OP_AND || op == LANG_OP_OR) {
    lang_put(e->out, op == LANG_OP_AND ? " & " : " | ");
    TSL_TRY(emit_condition(e, child(e, node, 1)));
  } else if (op != LANG_OP_NOT) {
    lang_put(e->out, " != (R)0");
  }
  lang_put(e->out, ")");
done:
  return err;
}

static tsl_err emit_variable(emitter *e, int32_t node) {
  tsl_err err = TSL_OK;
  const lang_node *n = &e->walk.pair->expr->nodes[node];
  int64_t index = 0;
  if (n->op == LANG_OP_SCALAR) {
    e->uses->scalars |= 1u << n->ref;
    lang_put(e->out, "%s", e->words->scalars[n->ref]);
  } else {
    TSL_TRY(lang_walk_index(&e->walk, node, &index));
    e->uses->arrays |= 1u << n->ref;
    lang_put(e->out, "%s%lld", e->words->arrays[n->ref], (long long)index);
  }
done:
  return err;
}

static tsl_err emit_truth(emitter *e, int32_t node) {
  tsl_err err = TSL_OK;
  lang_put(e->out, "(");
  TSL_TRY(emit_condition(e, node));
  lang_put(e->out, " ? (R)1 : (R)0)");
done:
  return err;
}

static tsl_err emit(emitter *e, int32_t node) {
  const lang_node *n = &e->walk.pair->expr->nodes[node];
  tsl_err err = TSL_OK;
  if (lang_is_known(e->walk.pair, node)) return emit_known(e, node, false);
  switch (n->op) {
  case LANG_OP_SCALAR:
  case LANG_OP_DATA:
    return emit_variable(e, node);
  case LANG_OP_TO_REAL:
    return emit(e, n->first);
  case LANG_OP_NEG:
    return emit_between(e, "(-", n->first, ")");
  case LANG_OP_ABS:
    return emit_between(e, "LANG_ABS(", n->first, ")");
  case LANG_OP_ADD:
    return emit_two(e, node, " + ");
  case LANG_OP_SUB:
    return emit_two(e, node, " - ");
  case LANG_OP_MUL:
    return emit_two(e, node, " * ");
  case LANG_OP_DIV:
    return emit_quotient(e, node);
  case LANG_OP_MOD:
    LANG_PAIR_FAIL(e->walk.pair, node, "%% takes what is known before the points are");
  case LANG_OP_COND:
    return emit_choice(e, node);
  case LANG_OP_MIN:
  case LANG_OP_MAX:
    return emit_extreme(e, node);
  case LANG_OP_RANGE_MIN:
  case LANG_OP_RANGE_MAX:
  case LANG_OP_RANGE_SUM:
    return emit_range(e, node);
  case LANG_OP_CALL:
    return emit_call(e, node);
  default:
    return emit_truth(e, node);
  }
done:
  return err;
}

tsl_err lang_pair_emit(const lang_pair *pair, const lang_pair_words *words, lang_pair_uses *uses,
                       lang_text *text) {
  tsl_err err = TSL_OK;
  emitter e = {.walk = {.pair = pair},
               .words = words,
               .uses = uses,
               .out = text,
               .single = lang_is_single(pair->names)};
  TSL_TRY(emit(&e, pair->expr->root));
  TSL_TRY(text->err);
done:
  return err;
}
