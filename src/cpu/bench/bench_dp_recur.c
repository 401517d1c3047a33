/** @file bench_dp_recur.c  A deck's own recurrence for `tesela bench dp-cpu`. */
#include "bench_dp_recur.h"

#include "cpu.h"
#include "dp_emit.h"
#include "dp_recur.h"
#include "lang_compile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void add_letters(dp_equation *e, const char *name, int64_t n, const void *data) {
  lang_array *a = &e->names.arrays[e->names.n_arrays++];
  *a = (lang_array){.type = TSL_U8, .rank = 1, .shape = {n, 1}};
  (void)snprintf(a->name, sizeof a->name, "%s", name);
  dp_array_limits(a, data);
}

/** Equations of the longest common subsequence of two sequences, and of three. */
static const char *const texts[2][3] = {
    {"i == 0 || j == 0", "a[i-1] == b[j-1] ? M[i-1][j-1] + 1 : max(M[i-1][j], M[i][j-1])",
     "M[len(a)][len(b)]"},
    {"i == 0 || j == 0 || k == 0",
     "a[i-1] == b[j-1] && b[j-1] == c[k-1] ? M[i-1][j-1][k-1] + 1 : "
     "max(M[i-1][j][k], M[i][j-1][k], M[i][j][k-1])",
     "M[len(a)][len(b)][len(c)]"}};

static tsl_err create(const dp_bench_letters *l, dp_recurrence **out) {
  tsl_err err = TSL_OK;
  dp_equation *e = NULL;
  const void *data[LANG_ARRAYS_MAX] = {l->a, l->b, l->c};
  const char *const *text = texts[l->c != NULL];
  TSL_TRY(tsl_alloc(1, sizeof *e, "recurrence", (void **)&e));
  e->names.tables[0] = (lang_table){.name = "M",
                                    .type = TSL_I32,
                                    .rows = l->n + 1,
                                    .cols = l->n + 1,
                                    .inner = {l->n_c + 1},
                                    .n_inner = l->c != NULL};
  e->names.n_tables = 1;
  e->pattern = DP_NOSE;
  add_letters(e, "a", l->n, l->a);
  add_letters(e, "b", l->n, l->b);
  if (l->c != NULL) add_letters(e, "c", l->n_c, l->c);
  TSL_TRY(dp_equation_rule(e, 0, text[0], "0"));
  TSL_TRY(dp_equation_add(e, text[1], &e->cell_at[0]));
  TSL_TRY(dp_equation_goal(e, text[2]));
  TSL_TRY(dp_recurrence_create(e, data, out));
done:
  tsl_free(e);
  return err;
}

/** The table from row and column 1 on, in one tile. */
static tsl_err bench_dp_recur_measure(const dp_recurrence *r, const dp_code *code, dp_wave_fn *fn,
                                      int repeats, double *seconds, int64_t *length) {
  tsl_err err = TSL_OK;
  const int64_t n = code->Q - 1, values = code->values;
  int32_t *top = NULL, *left = NULL;
  void *lines = NULL;
  dp_args args;
  dp_code_args(r, &args);
  TSL_TRY(tsl_alloc(n * values, sizeof *top, "row of the table", (void **)&top));
  TSL_TRY(tsl_alloc((n + 1) * values, sizeof *left, "column of the table", (void **)&left));
  TSL_TRY(tsl_alloc(code->layers > 0 ? dp_code_strip_bytes(code) : 0, 1, "strip", &lines));
  *seconds = INFINITY;
  for (int k = 0; k <= repeats; k++) {
    dp_wave wave = {.p0 = 1, .p1 = n + 1, .q0 = 1, .q1 = n + 1, .top = top, .left = left};
    wave.lines = lines;
    memset(top, 0, (size_t)(n * values) * sizeof *top);
    memset(left, 0, (size_t)((n + 1) * values) * sizeof *left);
    const double start = tsl_cpu_seconds();
    const int bad = fn(&args, &wave);
    const double took = tsl_cpu_seconds() - start;
    if (bad != 0) TSL_FAIL(TSL_ERR_INTERNAL, "the compiled recurrence failed (%d)", bad);
    if (k > 0 && took < *seconds) *seconds = took;
  }
  *length = top[n * values - 1];
done:
  TSL_FREE_ALL(top, left, lines);
  return err;
}

tsl_err dp_bench_recurrence(const dp_bench_letters *letters, int repeats, double *seconds,
                            int64_t *length) {
  tsl_err err = TSL_OK;
  dp_recurrence *r = NULL;
  lang_object *object = NULL;
  char *text = NULL;
  void *fn = NULL;
  dp_code code;
  TSL_TRY(create(letters, &r));
  TSL_TRY(dp_code_plan(r, DP_NOSE, &code));
  TSL_TRY(dp_emit(r, DP_TARGET_C, &code, &text));
  TSL_TRY(lang_object_open(text, 0, &dp_purpose, &object));
  TSL_TRY(lang_object_find(object, "tsl_dp_wave", &fn));
  TSL_TRY(bench_dp_recur_measure(r, &code, (dp_wave_fn *)fn, repeats, seconds, length));
done:
  lang_object_close(&object);
  dp_recurrence_destroy(&r);
  tsl_free(text);
  return err;
}
