/* A recurrence deck by every road: the interpreter by need and in order, and compiled C; all must
 * agree. Prints "goal VALUE", then with --steps the solution's references.
 *
 * usage: dp_eval_deck DECK [--steps]; exit status 0, 2 bad deck, 3 disagreement or failure */
#include "dp_emit.h"
#include "dp_eval.h"
#include "dp_recur_deck.h"
#include "lang_compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct section {
  char *problem, *mode;
  dp_recur_deck recur;
} section;

static const tsl_key keys[] = {
    TSL_TEXT_KEY("problem", offsetof(section, problem), NULL, "recurrence"),
    TSL_TEXT_KEY("mode", offsetof(section, mode), "value", "not used here"),
    DP_RECUR_KEYS(offsetof(section, recur)),
    {0}};

static tsl_err load(const char *path, tsl_deck **deck, dp_recurrence **r, void *data[]) {
  static const char *const families[] = {"dp", NULL};
  tsl_err err = TSL_OK;
  section s;
  int family = 0;
  dp_equation *equation = NULL;
  TSL_TRY(tsl_deck_read(path, NULL, 0, deck));
  TSL_TRY(tsl_deck_top(*deck, families, &family));
  TSL_TRY(tsl_deck_bind(*deck, "dp", keys, sizeof s, &s));
  if (strcmp(s.problem, "recurrence") != 0)
    TSL_DECK_FAIL(*deck, "dp.problem", "recurrence is needed here");
  TSL_TRY(dp_recur_read(*deck, "dp", &s.recur, &equation, data));
  TSL_TRY(dp_recurrence_create(equation, (const void *const *)data, r));
done:
  tsl_free(equation);
  return err;
}

/** Bits of a value as the table's type has them. */
static void value_bytes(int32_t type, dp_value v, void *out) {
  const int16_t i16 = (int16_t)v.whole;
  const int32_t i32 = (int32_t)v.whole;
  const float f32 = (float)v.real;
  if (type == TSL_I16) memcpy(out, &i16, sizeof i16);
  if (type == TSL_I32) memcpy(out, &i32, sizeof i32);
  if (type == TSL_I64) memcpy(out, &v.whole, sizeof v.whole);
  if (type == TSL_F32) memcpy(out, &f32, sizeof f32);
  if (type == TSL_F64) memcpy(out, &v.real, sizeof v.real);
}

/** Run the engine on a whole table [P][Q]; *bad as the functions return it. */
static tsl_err run(const lang_object *object, const dp_code *c, const dp_args *args, char *table,
                   int *bad) {
  static const char *const names[] = {[DP_ROWS] = "tsl_dp_row", [DP_INTERVAL] = "tsl_dp_tile"};
  tsl_err err = TSL_OK;
  const size_t bytes = tsl_type_bytes((tsl_type)c->type);
  void *f = NULL, *rows[DP_DEPTH_ROWS + 1];
  TSL_TRY(lang_object_find(object, names[c->engine], &f));
  if (c->engine == DP_INTERVAL) *bad = ((dp_tile_fn *)f)(args, table, c->Q, 0, c->P, 0, c->Q);
  for (int64_t p = 0; c->engine == DP_ROWS && p < c->P; p++) {
    for (int64_t d = 0; d <= DP_DEPTH_ROWS; d++)
      rows[d] = d <= p ? table + (size_t)((p - d) * c->Q) * bytes : NULL;
    *bad |= ((dp_row_fn *)f)(args, rows, c->Q, p, 0, c->Q);
  }
done:
  return err;
}

/** The wavefront as one tile between its boundary row and column. */
static tsl_err run_wave(const lang_object *object, const dp_code *c, const dp_args *args,
                        char *table, int *bad) {
  tsl_err err = TSL_OK;
  const size_t b = tsl_type_bytes((tsl_type)c->type);
  const int64_t mp = c->margin_p < c->P ? c->margin_p : c->P;
  const int64_t mq = c->margin_q < c->Q ? c->margin_q : c->Q;
  void *wave = NULL, *edge = NULL;
  char best[8], *top = calloc((size_t)c->Q + 1, b), *left = calloc((size_t)c->P + 1, b);
  dp_wave w = {.p0 = mp, .p1 = c->P, .q0 = mq, .q1 = c->Q, .top = top, .left = left, .best = best};
  if (top == NULL || left == NULL) TSL_FAIL(TSL_ERR_MEMORY, "no memory");
  TSL_TRY(lang_object_find(object, "tsl_dp_wave", &wave));
  TSL_TRY(lang_object_find(object, "tsl_dp_edge", &edge));
  *bad |= ((dp_edge_fn *)edge)(args, 0, mp, 0, c->Q, table);
  *bad |= ((dp_edge_fn *)edge)(args, 0, c->P, 0, mq, left);
  for (int64_t p = 0; p < c->P && mq > 0; p++)
    memcpy(table + (size_t)(p * c->Q) * b, left + (size_t)p * b, b);
  if (mp > 0) memcpy(top, table + (size_t)mq * b, (size_t)(c->Q - mq) * b);
  w.table = table + (size_t)(mp * c->Q + mq) * b;
  w.stride = c->Q;
  w.best_p = w.best_q = -1;
  *bad |= ((dp_wave_fn *)wave)(args, &w);
done:
  free(top);
  free(left);
  return err;
}

/** Compiled code against the oracle. */
static tsl_err compare(const dp_recurrence *r, const dp_oracle *oracle, dp_pattern pattern) {
  tsl_err err = TSL_OK;
  dp_code code;
  dp_args args;
  lang_object *object = NULL;
  char *text = NULL, *table = NULL, want[8] = {0};
  int bad = 0;
  TSL_TRY(dp_code_plan(r, pattern, &code));
  TSL_TRY(dp_emit(r, DP_TARGET_C, &code, &text));
  TSL_TRY(lang_object_open(text, 0, &dp_purpose, &object));
  dp_code_args(r, &args);
  const size_t bytes = tsl_type_bytes((tsl_type)code.type);
  table = calloc((size_t)(code.P * code.Q) + 1, bytes);
  if (table == NULL) TSL_FAIL(TSL_ERR_MEMORY, "no memory");
  if (code.engine == DP_WAVEFRONT)
    TSL_TRY(run_wave(object, &code, &args, table, &bad));
  else
    TSL_TRY(run(object, &code, &args, table, &bad));
  if (bad != 0) TSL_FAIL(TSL_ERR_INTERNAL, "compiled code fails with %d", bad);
  for (int64_t c = 0; c < oracle->rows * oracle->cols; c++) {
    int64_t p, q;
    dp_code_fold(&code, c / oracle->cols, c % oracle->cols, &p, &q);
    value_bytes(code.type, oracle->values[c], want);
    if (lang_has_cell(&r->equation.names.tables[0], c / oracle->cols, c % oracle->cols) &&
        memcmp(table + (size_t)(p * code.Q + q) * bytes, want, bytes) != 0)
      TSL_FAIL(TSL_ERR_INTERNAL, "compiled code differs at cell %lld, %lld",
               (long long)(c / oracle->cols), (long long)(c % oracle->cols));
  }
done:
  lang_object_close(&object);
  tsl_free(text);
  free(table);
  return err;
}

static tsl_err print(const dp_oracle *oracle, bool all) {
  tsl_err err = TSL_OK;
  dp_links steps = {0};
  dp_value v = {0};
  int64_t i, j, k;
  const dp_equation *e = &oracle->recurrence->equation;
  TSL_TRY(dp_oracle_goal(oracle, &v, &i, &j, &k));
  if (lang_kind_of(e->names.tables[0].type) == LANG_REAL)
    (void)printf("goal %.17g\n", v.real);
  else
    (void)printf("goal %lld\n", (long long)v.whole);
  if (!all) goto done;
  TSL_TRY(dp_oracle_trace(oracle, &steps));
  for (int64_t s = 0; s < steps.n; s++)
    (void)printf("step %lld %lld -> %lld %lld rule %d reference %d k %lld\n",
                 (long long)steps.list[s].i, (long long)steps.list[s].j,
                 (long long)steps.list[s].to_i, (long long)steps.list[s].to_j,
                 (int)steps.list[s].rule, (int)steps.list[s].reference, (long long)steps.list[s].k);
done:
  tsl_free(steps.list);
  return err;
}

static tsl_err evaluate(const dp_recurrence *r, bool steps) {
  tsl_err err = TSL_OK;
  dp_oracle need = {0}, order = {0};
  dp_depend depend;
  char text[1024];
  TSL_TRY(dp_depend_check(r, (dp_pattern)r->equation.pattern, &depend));
  dp_depend_text(r, &depend, text, sizeof text);
  (void)printf("%s", text);
  TSL_TRY(dp_oracle_create(r, &need));
  TSL_TRY(dp_oracle_create(r, &order));
  TSL_TRY(dp_oracle_fill(&need));
  TSL_TRY(dp_oracle_fill_order(&order, depend.pattern));
  if (memcmp(need.values, order.values, (size_t)(need.rows * need.cols) * sizeof *need.values) != 0)
    TSL_FAIL(TSL_ERR_INTERNAL, "the order %s gives other values", dp_pattern_words[depend.pattern]);
  TSL_TRY(compare(r, &need, depend.pattern));
  TSL_TRY(print(&need, steps));
done:
  dp_oracle_clear(&need);
  dp_oracle_clear(&order);
  return err;
}

int main(int argc, char **argv) {
  tsl_deck *deck = NULL;
  dp_recurrence *r = NULL;
  void *data[LANG_ARRAYS_MAX] = {NULL};
  if (argc < 2) return 2;
  tsl_err err = load(argv[1], &deck, &r, data);
  if (err == TSL_OK) err = evaluate(r, argc > 2);
  if (err != TSL_OK) (void)fprintf(stderr, "%s\n%s", tsl_err_message(), tsl_err_places());
  dp_recurrence_destroy(&r);
  for (int a = 0; a < LANG_ARRAYS_MAX; a++) tsl_free(data[a]);
  tsl_deck_destroy(&deck);
  return tsl_err_status(err);
}
