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

/** What the values of a range have given so far. */
typedef struct range_fold {
  dp_value value;   /**< total, or the first best one */
  int64_t at;       /**< of the best */
  double most, sum; /**< logsum */
} range_fold;

/** One more value, at k. */
static tsl_err eval_next(const dp_eval *e, const lang_expr *x, int32_t node, dp_value v, int64_t k,
                         bool first, range_fold *f) {
  const int32_t op = x->nodes[node].op, kind = x->nodes[lang_child(x, node, 2)].kind;
  const bool maximum = op == LANG_OP_RANGE_MAX || op == LANG_OP_RANGE_ARGMAX;
  if (is_total(op)) return eval_term(e, x, node, v, &f->value);
  if (op == LANG_OP_RANGE_LOGSUM)
    lang_logsum_add(lang_is_single(&e->recurrence->equation.names), v.real, &f->most, &f->sum);
  else if (first || dp_eval_better(maximum, kind, f->value, v))
    f->value = v, f->at = k;
  return TSL_OK;
}

static dp_value value_of(const dp_eval *e, int32_t op, const range_fold *f) {
  const bool single = lang_is_single(&e->recurrence->equation.names);
  if (lang_is_argument(op)) return (dp_value){.whole = f->at};
  if (op != LANG_OP_RANGE_LOGSUM) return f->value;
  const double logarithm = lang_function_value(single, LANG_LOG, f->sum, 0);
  return (dp_value){.real =
                        single ? (double)((float)f->most + (float)logarithm) : f->most + logarithm};
}

tsl_err dp_eval_range(dp_eval *e, const lang_expr *x, int32_t node, dp_value *out) {
  tsl_err err = TSL_OK;
  const lang_node *n = &x->nodes[node];
  const int32_t n_k = e->n_k;
  int64_t lo = 0, count = 0;
  dp_value v = {0};
  range_fold f = {.most = -INFINITY};
  TSL_TRY(eval_ends(e, x, node, &lo, &count));
  if (n->op != LANG_OP_RANGE_LOGSUM && (count == 0 || is_total(n->op))) {
    TSL_TRY(eval_empty(e, x, node, &f.value));
    *out = f.value;
    if (count == 0) goto done;
  }
  e->n_k = n->ref + 1;
  for (int64_t c = 0; c < count; c++) {
    e->k[n->ref] = lo + c;
    TSL_TRY(dp_evaluate(e, x, lang_child(x, node, 2), &v));
    TSL_TRY(eval_next(e, x, node, v, lo + c, c == 0, &f));
  }
  e->n_k = n_k;
  *out = value_of(e, n->op, &f);
done:
  return err;
}
