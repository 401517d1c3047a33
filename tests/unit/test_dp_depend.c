/* unit.dp.depend: offsets, the eight patterns, cycles, stages, bounds against the interpreter. */
#include "dp_depend.h"
#include "dp_random.h"

static dp_depend found;

/** Check an equation; the error is left in the thread. */
static tsl_err check(const draft *d, dp_pattern asked) {
  dp_recurrence *r = NULL;
  tsl_err err = draft_finish(d, &r);
  if (err == TSL_OK) err = dp_depend_check(r, asked, &found);
  dp_recurrence_destroy(&r);
  return err;
}

static void refused(const draft *d, dp_pattern asked, const char *part) {
  assert_int_equal(check(d, asked), TSL_ERR_INPUT);
  if (strstr(tsl_err_message(), part) == NULL)
    fail_msg("'%s' is not in:\n%s", part, tsl_err_message());
}

static const int sizes[] = {0, 1, 2, 13};

/* ----------------------------------------------------------------- patterns */

/** Boundary where a folded neighbour would be outside. */
static void draft_frame(draft *d, dp_pattern pattern) {
  const dp_fold fold = dp_pattern_fold(pattern);
  const char *top = fold.flip_i != 0 ? "i == rows(M) - 1" : "i == 0";
  const char *left = fold.flip_j != 0 ? "j == cols(M) - 1" : "j == 0";
  char both[80];
  (void)snprintf(both, sizeof both, "%s || %s", top, left);
  draft_rule(d, both, "i + 2 * j + 1");
  if (fold.rows_only != 0)
    draft_rule(d, fold.transpose != 0 ? "i == rows(M) - 1 || i == 0" : "j == cols(M) - 1 || j == 0",
               "i - j");
}

/** Each pattern with its own neighbours: found by auto, allowed, and filled as by need. */
static void draft_pattern(draft *d, dp_pattern pattern, int64_t rows, int64_t cols) {
  writer w = {.seed = 1};
  draft_table(d, TSL_I64, rows, cols);
  draft_frame(d, pattern);
  put(&w, "max(");
  write_reference(&w, pattern, -1, dp_pattern_fold(pattern).rows_only != 0 ? 1 : 0);
  put(&w, " + 1, 2 * ");
  write_reference(&w, pattern, -1, -1);
  put(&w, " % 1000, ");
  write_reference(&w, pattern, dp_pattern_fold(pattern).rows_only != 0 ? -1 : 0, -1);
  put(&w, " - j)");
  draft_cell(d, w.text);
  draft_goal(d, "max over all");
}

static void same_grids(const draft *d, dp_pattern pattern) {
  dp_recurrence *r = NULL;
  dp_oracle need, order;
  MUST(draft_finish(d, &r));
  MUST(dp_oracle_create(r, &need));
  MUST(dp_oracle_create(r, &order));
  MUST(dp_oracle_fill(&need));
  MUST(dp_oracle_fill_order(&order, pattern));
  assert_memory_equal(need.values, order.values,
                      (size_t)(need.rows * need.cols) * sizeof *need.values);
  dp_oracle_clear(&need);
  dp_oracle_clear(&order);
  dp_recurrence_destroy(&r);
}

static void eight_patterns(void **state) {
  (void)state;
  for (int p = 0; p < DP_N_PATTERNS; p++)
    for (int a = 0; a < 4; a++)
      for (int b = 0; b < 4; b++) {
        draft d;
        draft_pattern(&d, (dp_pattern)p, sizes[a], sizes[b]);
        MUST(check(&d, (dp_pattern)p));
        assert_true(found.proved[p] && found.whole);
        assert_int_equal(found.cells, sizes[a] * sizes[b]);
        same_grids(&d, (dp_pattern)p);
        MUST(check(&d, DP_AUTO));
        same_grids(&d, found.pattern);
        if (sizes[a] == 13 && sizes[b] == 13) assert_int_equal(found.pattern, p);
      }
}

/** Every other pattern but those that contain it is refused, with the reference named. */
static void wrong_patterns(void **state) {
  (void)state;
  for (int p = 0; p < DP_N_PATTERNS; p++)
    for (int q = 0; q < DP_N_PATTERNS; q++) {
      draft d;
      draft_pattern(&d, (dp_pattern)p, 11, 7);
      const bool row_orders = p < 4 && q < 4;
      if (p == q) continue;
      if (row_orders || p >= 4)
        refused(&d, (dp_pattern)q, dp_pattern_rule((dp_pattern)q));
      else
        assert_int_equal(check(&d, (dp_pattern)q), TSL_ERR_INPUT);
    }
}

static void messages(void **state) {
  draft d;
  (void)state;
  draft_table(&d, TSL_I32, 5, 5);
  draft_rule(&d, "i == 4", "0");
  draft_cell(&d, "M[i+1][j] + 1");
  assert_int_equal(check(&d, DP_NOSE), TSL_ERR_INPUT);
  assert_string_equal(tsl_err_message(), "column 1: M[i+1][j] reads M[1][0] at i = 0, j = 0; NOSE "
                                         "reads up and left only\n"
                                         "    M[i+1][j] + 1\n"
                                         "    ^~~~~~~~~");
  draft_table(&d, TSL_I32, 5, 5);
  draft_rule(&d, "i == 0", "0");
  draft_cell(&d, "M[i-1][j] + M[i-1][j+1]");
  refused(&d, DP_AUTO, "M[0][5] is outside the table of 5 rows and 5 columns at i = 1, j = 4");
  draft_table(&d, TSL_I32, 3, 3);
  draft_cell(&d, "j == 2 ? M[i][0] : M[i][j+1]");
  refused(&d, DP_AUTO, "cells need each other: M[0][0] reads M[0][1] reads M[0][2] reads M[0][0]");
  draft_table(&d, TSL_I32, 4, 4);
  draft_rule(&d, "i == 0 && j == 0", "0");
  draft_cell(&d, "(i + j) % 2 == 1 ? M[(i + 3) % 4][j] : M[3 - i][3 - j]");
  assert_int_equal(check(&d, DP_AUTO), TSL_ERR_INPUT);
}

/** Acyclic but in no order of the eight: even columns downwards, odd columns upwards. */
static void no_pattern(void **state) {
  draft d;
  (void)state;
  draft_table(&d, TSL_I32, 5, 6);
  draft_rule(&d, "j % 2 == 0 && i == 0", "j");
  draft_rule(&d, "j % 2 == 1 && i == 4", "j");
  draft_cell(&d, "j % 2 == 0 ? M[i-1][j] : M[i+1][j]");
  refused(&d, DP_AUTO, "fits none of the eight patterns");
}

/* ------------------------------------------------------------------ offsets */

static const int32_t weights[] = {3, 1, 4, 2};
static const int32_t signs[] = {3, -1, 4, 0};

static void draft_knapsack(draft *d, const int32_t *w, const char *cell) {
  draft_table(d, TSL_I32, 5, 12);
  draft_array(d, "w", TSL_I32, 4, 0, w);
  draft_rule(d, "i == 0", "0");
  draft_cell(d, cell);
}

static void data_offsets(void **state) {
  draft d;
  (void)state;
  draft_knapsack(&d, weights, "j < w[i-1] ? M[i-1][j] : max(M[i-1][j], M[i-1][j-w[i-1]] + 1)");
  MUST(check(&d, DP_AUTO));
  assert_int_equal(found.pattern, DP_RUD);
  assert_true(found.proved[DP_RUD] && found.proved[DP_NOSE]);
  /* unbounded: the same row, proved from the data's sign */
  draft_knapsack(&d, weights, "j < w[i-1] ? M[i-1][j] : max(M[i-1][j], M[i][j-w[i-1]] + 1)");
  MUST(check(&d, DP_AUTO));
  assert_int_equal(found.pattern, DP_NOSE);
  assert_true(found.proved[DP_NOSE]);
  refused(&d, DP_RUD, "M[i][j-w[i-1]] reads");
  /* a weight of 0 needs the cell itself, a negative one the cells to the right */
  draft_knapsack(&d, signs,
                 "j < w[i-1] || w[i-1] < 0 ? M[i-1][j] : max(M[i-1][j], M[i][j-w[i-1]] + 1)");
  refused(&d, DP_AUTO, "cells need each other: M[4][0] reads M[4][0]");
  draft_knapsack(&d, signs, "j < w[i-1] || j - w[i-1] > 11 ? 0 : M[i-1][j-w[i-1]] + 1");
  MUST(check(&d, DP_RUD));
  refused(&d, DP_NOSE, "M[i-1][j-w[i-1]] reads M[1][1] at i = 2, j = 0");
  /* not proved, but true for these data */
  draft_knapsack(&d, weights, "j < 4 ? 0 : M[i - w[0] % 2][j] + M[i - w[3] / 2][j - w[2] + 1]");
  MUST(check(&d, DP_AUTO));
  assert_false(found.proved[DP_RUD]);
}

static void intervals(void **state) {
  draft d;
  (void)state;
  for (int n = 0; n <= 13; n++) {
    draft_table(&d, TSL_I64, n, n);
    d.equation.names.tables[0].cells = LANG_CELLS_UPPER;
    draft_rule(&d, "i == j", "0");
    draft_cell(&d, "min(k = i .. j - 1 : M[i][k] + M[k+1][j]) + i + j");
    MUST(check(&d, DP_AUTO));
    if (n < 2) continue;
    assert_int_equal(found.pattern, DP_SONE);
    assert_true(found.proved[DP_SONE]);
    assert_int_equal(found.stages, n);
  }
  refused(&d, DP_NESO, "NESO reads up and right only");
  refused(&d, DP_CLR, "CLR reads columns to the left only");
}

static void stages(void **state) {
  draft d;
  (void)state;
  draft_table(&d, TSL_I32, 7, 9);
  draft_rule(&d, "i == 0 || j == 0", "1");
  draft_cell(&d, "M[i-1][j] + M[i][j-1]");
  MUST(check(&d, DP_AUTO));
  assert_int_equal(found.pattern, DP_NOSE);
  assert_int_equal(found.stages, 7 + 9 - 2); /* the frame is stage 0 */
  draft_table(&d, TSL_I32, 200, 3);
  draft_rule(&d, "i == 0", "1");
  draft_cell(&d, "max(k = 0 .. cols(M) - 1 : M[i-1][k]) + j");
  MUST(check(&d, DP_AUTO));
  assert_int_equal(found.pattern, DP_RUD);
  assert_false(found.whole);
  assert_int_equal(found.stages, 24);
}

/** A wrong read in the far corner of a table too large to look at in full. */
static void windows(void **state) {
  draft d;
  (void)state;
  draft_table(&d, TSL_I32, 100000, 1000);
  draft_rule(&d, "i == 0", "1");
  draft_cell(&d, "i == rows(M) - 1 && j > 2 ? M[i][j-1] : M[i-1][j]");
  refused(&d, DP_RUD, "M[i][j-1] reads M[99999][2] at i = 99999, j = 3");
  MUST(check(&d, DP_AUTO));
  assert_int_equal(found.pattern, DP_NOSE);
  draft_table(&d, TSL_I32, 100000, 1000);
  draft_rule(&d, "i == 0", "1");
  draft_cell(&d, "M[i-1][j] + sum(k = 0 .. 2e9 : k % 2 == 3)");
  MUST(check(&d, DP_RUD)); /* no endless test */
  char text[600];
  dp_recurrence *r = NULL;
  MUST(draft_finish(&d, &r));
  dp_depend_text(r, &found, text, sizeof text);
  assert_non_null(strstr(text, "used: RUD, 100000 stages"));
  dp_recurrence_destroy(&r);
}

static void poison(void **state) {
  const dp_patch all = {0, 6, 0, 6};
  draft d;
  dp_recurrence *r = NULL;
  (void)state;
  draft_table(&d, TSL_I32, 6, 6);
  draft_rule(&d, "i == 5", "j");
  draft_cell(&d, "max(M[i+1][j], 3)");
  MUST(draft_finish(&d, &r));
  assert_int_equal(dp_depend_poison(r, &all, DP_RUD), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "depends on a cell that RUD computes later"));
  MUST(dp_depend_poison(r, &all, DP_RDU));
  dp_recurrence_destroy(&r);
}

/* ------------------------------------------------------------------- bounds */

static const int32_t steps[] = {3, -1, 4, 0, 9}, powers[] = {1, 2, 4, 8, 16};

/** Intervals of random expressions hold their values, with and without conditions. */
static void bounds_hold(void **state) {
  int64_t values = 0, narrow = 0;
  (void)state;
  for (uint64_t seed = 1; seed <= 4000; seed++) {
    writer w = {.seed = seed};
    dp_recurrence *r = NULL;
    dp_bounds b;
    draft d;
    write_expr(&w, 5);
    draft_table(&d, TSL_I64, 4, 6);
    draft_array(&d, "w", TSL_I32, seed % 2 == 0 ? 4 : 5, 0, seed % 3 == 0 ? steps : powers);
    draft_whole(&d, "n", (int64_t)(seed % 9) - 2);
    draft_rule(&d, "i == 0 || j + 1 == cols(M)", "0");
    draft_cell(&d, w.text);
    MUST(draft_finish(&d, &r));
    dp_bounds_init(r, &b);
    dp_bounds_rule(&b, -1);
    const dp_span s = dp_bounds_span(&b, &r->cells[0], r->cells[0].root);
    narrow += s.hi - s.lo < 1000;
    for (int c = 0; c < 24; c++) {
      dp_eval e = {.recurrence = r, .i = c / 6, .j = c % 6, .work = 1 << 22};
      dp_value v = {0};
      if (e.i == 0 || e.j == 5) continue;
      if (dp_evaluate(&e, &r->cells[0], r->cells[0].root, &v) != TSL_OK) continue;
      values++;
      if (v.whole < s.lo || v.whole > s.hi)
        fail_msg("%lld is outside its bounds at %d, %d: %s", (long long)v.whole, c / 6, c % 6,
                 w.text);
    }
    dp_recurrence_destroy(&r);
  }
  assert_true(values > 20000 && narrow > 2000);
}

static void proofs(void **state) {
  static const struct {
    const char *text;
    int lo, hi; /* of the whole expression, 4 x 6 cells, i >= 1, j <= 4 */
  } known[] = {{"j >= w[i-1] ? j - w[i-1] : 0", 0, 5},
               {"w[i-1] <= j && i > 0 ? j - w[i-1] : 7", 0, 7},
               {"w[i-1] > j ? 0 : j - w[i-1]", 0, 5},
               {"max(k = 0 .. j : j - k else 0)", 0, 5},
               {"min(k = 0 .. min(j, i) : (j - k) * 10 + (i - k) else 0)", 0, 45},
               {"max(k = i .. i - 1 + j : k - i else 0)", 0, 4},
               {"i - 1", 0, 2},
               {"j", 0, 4},
               {"(j + 7) / 2 % 3", 0, 2},
               {"abs(i - j)", 0, 3}};
  (void)state;
  for (size_t t = 0; t < sizeof known / sizeof *known; t++) {
    dp_recurrence *r = NULL;
    dp_bounds b;
    draft d;
    draft_table(&d, TSL_I64, 4, 6);
    draft_array(&d, "w", TSL_I32, 4, 0, weights);
    draft_rule(&d, "i == 0 || j + 1 == cols(M)", "0");
    draft_cell(&d, known[t].text);
    MUST(draft_finish(&d, &r));
    dp_bounds_init(r, &b);
    dp_bounds_rule(&b, -1);
    const dp_span s = dp_bounds_span(&b, &r->cells[0], r->cells[0].root);
    if (s.lo < known[t].lo || s.hi > known[t].hi)
      fail_msg("%s: %lld .. %lld", known[t].text, (long long)s.lo, (long long)s.hi);
    dp_recurrence_destroy(&r);
  }
}

static void growth(void **state) {
  static const struct {
    const char *text;
    bool known;
    int64_t lo, hi; /* after 100 steps */
  } cases[] = {{"max(M[i-1][j], M[i-1][j-1] + 3)", true, 0, 308},
               {"max(0, min(M[i-1][j] - w[i], M[i-1][j] + (i == j ? 5 : -2)))", true, -400, 508},
               {"M[i-1][j] + M[i-1][j-1]", false, 0, 0},
               {"M[i-1][j] * 2", false, 0, 0},
               {"1 - M[i-1][j]", false, 0, 0},
               {"max(k = 1 .. i : M[i-k][j] + k)", true, 0, 308},
               {"7", true, 0, 8}};
  (void)state;
  for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
    dp_recurrence *r = NULL;
    dp_span s = {0, 0};
    draft d;
    draft_table(&d, TSL_I64, 4, 6);
    draft_array(&d, "w", TSL_I32, 4, 0, weights);
    draft_rule(&d, "i == 0 || j == 0", "i + j");
    draft_cell(&d, cases[t].text);
    MUST(draft_finish(&d, &r));
    const bool known = dp_bounds_growth(r, 100, &s);
    if (known != cases[t].known || (known && (s.lo != cases[t].lo || s.hi != cases[t].hi)))
      fail_msg("%s: %d, %lld .. %lld", cases[t].text, known, (long long)s.lo, (long long)s.hi);
    dp_recurrence_destroy(&r);
  }
}

/** Of many layers the ends and the middle of each index are looked at, of all tables, upwards. */
static void sampled_layers(void **state) {
  static const struct {
    int32_t n_inner;
    int64_t inner[LANG_INNER_MAX], looked_at;
  } cases[] = {{0, {0}, 1},         {1, {24}, 24},         {1, {90}, 24},
               {2, {4, 6}, 24},     {2, {9, 7}, 36},       {2, {3, 50}, 18},
               {3, {40, 2, 9}, 18}, {4, {5, 5, 5, 5}, 81}, {4, {1, 2, 1, 99}, 6}};
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    lang_names names = {.n_tables = 2};
    names.tables[0].n_inner = cases[c].n_inner;
    memcpy(names.tables[0].inner, cases[c].inner, sizeof cases[c].inner);
    const int32_t n = lang_values(&names);
    int64_t seen = 0;
    int32_t last = -1;
    for (int32_t v = 0; v < n; last = v, v = dp_next_value(&names, v), seen++)
      if (v <= last || (v % 2 == 1 && v != last + 1)) fail_msg("case %zu: %d after %d", c, v, last);
    assert_int_equal(seen, 2 * cases[c].looked_at);
    assert_int_equal(last, n - 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(eight_patterns), cmocka_unit_test(wrong_patterns),
      cmocka_unit_test(messages),       cmocka_unit_test(no_pattern),
      cmocka_unit_test(data_offsets),   cmocka_unit_test(intervals),
      cmocka_unit_test(stages),         cmocka_unit_test(windows),
      cmocka_unit_test(poison),         cmocka_unit_test(bounds_hold),
      cmocka_unit_test(proofs),         cmocka_unit_test(growth),
      cmocka_unit_test(sampled_layers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
