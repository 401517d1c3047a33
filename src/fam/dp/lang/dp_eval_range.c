/* Values of ranges. */
#include "dp_eval_own.h"

#include <math.h>

/** Ends of a range; *n values. */
static tsl_err eval_ends(dp_eval *e, const lang_expr *x, int32_t node, int64_t *lo, int64_t *n) {
  tsl_err err = TSL_OK;
  dp_value a = {0}, b = {0};
  TSL_TRY(dp_evaluate(e, x, lang_child(x, node, 0), &a));
  TSL_TRY(dp_evaluate(e, x, lang_child(x, node, 1), &b));
  *lo = a.whole;
  *n = 0;
  if (b.whole < a.whole) goto done;
  if (__builtin_sub_overflow(b.whole, a.whole, n) || *n >= LANG_RANGE_MAX)
    DP_EVAL_FAIL(e, TSL_ERR_INPUT, x, node, "the range %lld .. %lld has more than %lld values",
                 (long long)a.whole, (long long)b.whole, (long long)LANG_RANGE_MAX);
  *n += 1;
done:
  return err;
}

/** Does a range put all its values together? */
static bool is_total(int32_t op) {
  return op == LANG_OP_RANGE_SUM || op == LANG_OP_RANGE_PROD;
}

static tsl_err eval_empty(dp_eval *e, const lang_expr *x, int32_t node, dp_value *out) {
  tsl_err err = TSL_OK;
  const int32_t otherwise = lang_child(x, node, 3);
  const bool real = x->nodes[node].kind == LANG_REAL;
  const dp_value one = real ? (dp_value){.real = 1} : (dp_value){.whole = 1};
  *out = (dp_value){0};
  if (x->nodes[node].op == LANG_OP_RANGE_PROD) *out = one;
  if (is_total(x->nodes[node].op)) goto done;
  if (otherwise < 0)
    DP_EVAL_FAIL(e, TSL_ERR_INPUT, x, node,
                 "the range is empty; give the value it then has: '... else value)'");
  TSL_TRY(dp_evaluate(e, x, otherwise, out));
done:
  return err;
}

/** One more term of a sum or product. */
static tsl_err eval_term(const dp_eval *e, const lang_expr *x, int32_t node, dp_value v,
                         dp_value *out) {
  tsl_err err = TSL_OK;
  const bool sum = x->nodes[node].op == LANG_OP_RANGE_SUM;
  if (x->nodes[node].kind == LANG_REAL) {
    TSL_TRY(dp_eval_real(e, x, node, sum ? LANG_OP_ADD : LANG_OP_MUL, out->real, v.real, out));
  } else {
    const int64_t before = out->whole;
    if (sum ? __builtin_add_overflow(before, v.whole, &out->whole)
            : __builtin_mul_overflow(before, v.whole, &out->whole))
      DP_EVAL_FAIL(e, TSL_ERR_NUMERIC, x, node, "integer overflow: %lld %c %lld", (long long)before,
                   sum ? '+' : '*', (long long)v.whole);
  }
done:
  return err;
}

static tsl_err eval_range_logsum(dp_eval *e, const lang_expr *x, int32_t node, dp_value *out) {
  tsl_err err = TSL_OK;
  const lang_node *n = &x->nodes[node];
  const int32_t n_k = e->n_k;
  const bool single = lang_is_single(&e->recurrence->equation.names);
  int64_t lo = 0, count = 0;
  double most = -INFINITY, sum = 0;
  dp_value v = {0};
  TSL_TRY(eval_ends(e, x, node, &lo, &count));
  e->n_k = n->ref + 1;
  for (int64_t c = 0; c < count; c++) {
    e->k[n->ref] = lo + c;
    TSL_TRY(dp_evaluate(e, x, lang_child(x, node, 2), &v));
    lang_logsum_add(single, v.real, &most, &sum);
  }
  e->n_k = n_k;
  const double logarithm = lang_function_value(single, LANG_LOG, sum, 0);
  out->real = single ? (double)((float)most + (float)logarithm) : most + logarithm;
done:
  return err;
}

/** Sum and product of all values. */
static tsl_err eval_total(dp_eval *e, const lang_expr *x, int32_t node, dp_value *out) {
  tsl_err err = TSL_OK;
  const lang_node *n = &x->nodes[node];
  const int32_t n_k = e->n_k;
  int64_t lo = 0, count = 0;
  dp_value v = {0};
  TSL_TRY(eval_ends(e, x, node, &lo, &count));
  TSL_TRY(eval_empty(e, x, node, out));
  e->n_k = n->ref + 1;
  for (int64_t c = 0; c < count; c++) {
    e->k[n->ref] = lo + c;
    TSL_TRY(dp_evaluate(e, x, lang_child(x, node, 2), &v));
    TSL_TRY(eval_term(e, x, node, v, out));
  }
  e->n_k = n_k;
done:
  return err;
}

/** The first best of all values, or its place. */
static tsl_err eval_best(dp_eval *e, const lang_expr *x, int32_t node, dp_value *out) {
  tsl_err err = TSL_OK;
  const lang_node *n = &x->nodes[node];
  const int32_t body = lang_child(x, node, 2), n_k = e->n_k;
  const bool maximum = n->op == LANG_OP_RANGE_MAX || n->op == LANG_OP_RANGE_ARGMAX;
  int64_t lo = 0, count = 0, at = 0;
  dp_value v = {0}, best = {0};
  TSL_TRY(eval_ends(e, x, node, &lo, &count));
  if (count == 0) return eval_empty(e, x, node, out);
  e->n_k = n->ref + 1;
  for (int64_t c = 0; c < count; c++) {
    e->k[n->ref] = lo + c;
    TSL_TRY(dp_evaluate(e, x, body, &v));
    if (c > 0 && !dp_eval_better(maximum, x->nodes[body].kind, best, v)) continue;
    best = v;
    at = lo + c;
  }
  e->n_k = n_k;
  *out = lang_is_argument(n->op) ? (dp_value){.whole = at} : best;
done:
  return err;
}

tsl_err dp_eval_range(dp_eval *e, const lang_expr *x, int32_t node, dp_value *out) {
  const int32_t op = x->nodes[node].op;
  if (op == LANG_OP_RANGE_LOGSUM) return eval_range_logsum(e, x, node, out);
  return is_total(op) ? eval_total(e, x, node, out) : eval_best(e, x, node, out);
}
