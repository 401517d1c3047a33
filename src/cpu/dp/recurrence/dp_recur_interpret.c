/** @file dp_recur_interpret.c  Cells by the interpreter, in folded order. */
#include "dp_recur_cpu.h"

#include <string.h>

/** An evaluation and its view. */
typedef struct reader {
  const dp_recur_cpu *r;
  const dp_view *view;
  dp_eval eval;
} reader;

/** Address of a cell, NULL where the view does not have it. */
static char *cell_at(const dp_recur_cpu *r, const dp_view *v, int64_t p, int64_t q) {
  const dp_area *c = &v->cells;
  if (v->rows != NULL) {
    const int64_t back = v->p - p;
    return back < 0 || back > v->depth ? NULL : (char *)v->rows[back] + q * r->bytes;
  }
  if (p < c->p0 || p >= c->p1 || q < c->q0 || q >= c->q1) return NULL;
  return c->values + ((p - c->p0) * c->stride + q - c->q0) * r->bytes;
}

static dp_value dp_recur_interpret_load(int32_t type, const char *at) {
  const int64_t bits = dp_recur_bits(type, at);
  dp_value v = {.whole = bits};
  if (lang_kind_of(type) == LANG_REAL) memcpy(&v.real, &bits, sizeof v.real);
  return v;
}

static void dp_recur_interpret_store(int32_t type, dp_value v, char *at) {
  switch (type) {
  case TSL_I16:
    *(int16_t *)at = (int16_t)v.whole;
    break;
  case TSL_I32:
    *(int32_t *)at = (int32_t)v.whole;
    break;
  case TSL_I64:
    *(int64_t *)at = v.whole;
    break;
  case TSL_F32:
    *(float *)at = (float)v.real;
    break;
  default:
    *(double *)at = v.real;
    break;
  }
}

/** Read a cell that comes earlier in the order. */
static tsl_err read_cell(void *self, const lang_expr *expr, int32_t node, int64_t i, int64_t j,
                         int32_t value, dp_value *out) {
  tsl_err err = TSL_OK;
  char name[64];
  const reader *d = self;
  const dp_recurrence *recurrence = d->r->recur->recurrence;
  const dp_pattern pattern = d->r->pattern;
  int64_t p, q;
  if (!dp_pattern_admits(pattern, i - d->eval.i, j - d->eval.j, d->eval.value, value))
    DP_EVAL_FAIL(&d->eval, TSL_ERR_INPUT, expr, node, "%s comes later; %s",
                 dp_value_text(&recurrence->equation.names, i, j, value, name, sizeof name),
                 dp_pattern_rule(pattern));
  dp_code_fold(&d->r->recur->code, i, j, &p, &q);
  const char *at = cell_at(d->r, d->view, p, q);
  if (at == NULL)
    DP_EVAL_FAIL(&d->eval, TSL_ERR_INTERNAL, expr, node, "cell %lld, %lld is not kept",
                 (long long)i, (long long)j);
  *out = dp_recur_interpret_load(d->r->recur->code.type, at + value * d->r->step);
done:
  return err;
}

/** All values of the cell of eval, to where the view has it. */
static tsl_err interpret_cell(reader *d, char *at) {
  tsl_err err = TSL_OK;
  const dp_recur_cpu *r = d->r;
  const bool has =
      lang_has_cell(&r->recur->recurrence->equation.names.tables[0], d->eval.i, d->eval.j);
  for (d->eval.value = 0; d->eval.value < r->recur->code.values; d->eval.value++) {
    dp_value v = {0};
    d->eval.work = DP_WORK_MAX;
    err = has ? dp_eval_cell(&d->eval, &v) : TSL_OK;
    if (err != TSL_OK && !r->trial) return tsl_trace(err, __FILE__, __LINE__);
    if (err != TSL_OK) v = (dp_value){0};
    dp_recur_interpret_store(r->recur->code.type, v, at + d->eval.value * r->step);
  }
  return TSL_OK;
}

tsl_err dp_recur_interpret(const dp_recur_cpu *r, const dp_view *view, int64_t p0, int64_t p1,
                           int64_t q0, int64_t q1) {
  tsl_err err = TSL_OK;
  reader d = {.r = r, .view = view};
  d.eval = (dp_eval){.recurrence = r->recur->recurrence, .read = read_cell, .self = &d};
  for (int64_t p = p0; p < p1; p++)
    for (int64_t q = q0; q < q1; q++) {
      dp_code_unfold(&r->recur->code, p, q, &d.eval.i, &d.eval.j);
      TSL_TRY(interpret_cell(&d, cell_at(r, view, p, q)));
    }
done:
  return err;
}

tsl_err dp_recur_explain(const dp_recur_cpu *r, const dp_view *view, int64_t p0, int64_t p1,
                         int64_t q0, int64_t q1) {
  tsl_err err = TSL_OK;
  if (r->trial) return TSL_OK;
  TSL_TRY(dp_recur_interpret(r, view, p0, p1, q0, q1));
  TSL_FAIL(TSL_ERR_INTERNAL,
           "dp: compiled code fails in folded rows %lld to %lld, columns %lld to %lld, the "
           "interpreter does not",
           (long long)p0, (long long)p1, (long long)q0, (long long)q1);
done:
  return err;
}
