/* unit.dp.emit: emitted C against the interpreter, for all patterns, types and kinds of failure. A
 * case (../cpu/cases.h) is a text to compile. */
#include "../cpu/cases.h"
#include "dp_run.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static const int32_t w_data[] = {3, 1, 4, 2, 5};

/** Is the next text this run's? */
static bool next_is_mine(void) {
  static int64_t n_cases = 0;
  return case_is_mine(n_cases++);
}

/** Compile, run and compare every cell. @return sum of dp_bad */
static int same_as_interpreter(const draft *d, dp_pattern pattern, uint64_t seed) {
  compiled c;
  dp_oracle grid = {0};
  if (compiled_open(d, pattern, &c) != TSL_OK) fail_msg("%s", tsl_err_message());
  if (dp_oracle_create(c.r, &grid) != TSL_OK) fail_msg("%s", tsl_err_message());
  const tsl_err err = dp_oracle_fill_order(&grid, pattern);
  compiled_run(&c, &seed);
  if ((err == TSL_OK) != (c.bad == 0))
    fail_msg("%s, but %d: %s\n%s", err == TSL_OK ? "no error" : tsl_err_message(), c.bad,
             c.r->cells[0].text, c.text);
  for (int64_t i = 0; i < grid.rows && err == TSL_OK; i++)
    for (int64_t j = 0; j < grid.cols; j++) {
      const dp_value v = compiled_value(&c, i, j), u = grid.values[i * grid.cols + j];
      if (memcmp(&v, &u, sizeof v) != 0 && lang_has_cell(&c.r->equation.names.tables[0], i, j))
        fail_msg("%s: cell %lld, %lld is %lld (%g), not %lld (%g)", c.r->cells[0].text,
                 (long long)i, (long long)j, (long long)v.whole, v.real, (long long)u.whole,
                 u.real);
    }
  const int bad = c.bad;
  dp_oracle_clear(&grid);
  compiled_close(&c);
  return bad;
}

/* ----------------------------------------------------------------- patterns */

static void draft_frame(draft *d, dp_pattern pattern) {
  const dp_fold fold = dp_pattern_fold(pattern);
  char text[96];
  (void)snprintf(text, sizeof text, "%s || %s", fold.flip_i != 0 ? "i == rows(M) - 1" : "i == 0",
                 fold.flip_j != 0 ? "j == cols(M) - 1" : "j == 0");
  draft_rule(d, text, "i + 2 * j + 1");
  if (fold.rows_only != 0)
    draft_rule(d, fold.transpose != 0 ? "i == rows(M) - 1 || i == 0" : "j == cols(M) - 1 || j == 0",
               "i - j");
}

static void draft_pattern(draft *d, dp_pattern pattern, tsl_type type, int64_t rows, int64_t cols) {
  const bool row_order = dp_pattern_fold(pattern).rows_only != 0;
  writer w = {.seed = 1};
  draft_table(d, type, rows, cols);
  draft_array(d, "w", TSL_I32, 5, 0, w_data);
  draft_frame(d, pattern);
  put(&w, "max(");
  write_reference(&w, pattern, -1, row_order ? 1 : 0);
  put(&w, " + w[(i + j) % 5], min(");
  write_reference(&w, pattern, -1, -1);
  put(&w, " - w[i % 5], 50 + w[j % 5]), ");
  write_reference(&w, pattern, row_order ? -1 : 0, -1);
  put(&w, " - 3)");
  draft_cell(d, w.text);
  draft_goal(d, "max over all");
}

static void eight_patterns(void **state) {
  static const int sizes[][2] = {{0, 3}, {1, 1}, {2, 2}, {1, 7}, {9, 1}, {13, 17}, {291, 523}};
  (void)state;
  for (int p = 0; p < DP_N_PATTERNS; p++)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
      if (!next_is_mine()) continue;
      draft d;
      const tsl_type type = s % 2 == 0 ? TSL_I32 : TSL_I64;
      draft_pattern(&d, (dp_pattern)p, type, sizes[s][0], sizes[s][1]);
      assert_int_equal(same_as_interpreter(&d, (dp_pattern)p, s + 1), 0);
    }
}

static void types(void **state) {
  static const tsl_type all[] = {TSL_I16, TSL_I32, TSL_I64, TSL_F32, TSL_F64};
  (void)state;
  for (int t = 0; t < 5; t++)
    for (int p = t % 2; p < DP_N_PATTERNS; p += 3) {
      if (!next_is_mine()) continue;
      draft d;
      draft_pattern(&d, (dp_pattern)p, all[t], 37, 41);
      assert_int_equal(same_as_interpreter(&d, (dp_pattern)p, 7), 0);
    }
}

/** Engines as they should be chosen, arithmetic as narrow as can be, checks only where needed. */
static void plans(void **state) {
  static const struct {
    dp_pattern pattern;
    tsl_type type;
    const char *cell;
    dp_engine engine;
    int narrow, checks, depth, same_row;
  } cases[] = {
      {DP_NOSE, TSL_I32, "max(M[i-1][j], M[i][j-1], M[i-1][j-1] + 1)", DP_WAVEFRONT, 1, 0, 1, 1},
      {DP_NOSE, TSL_I32, "M[i-1][j] + M[i][j-1]", DP_WAVEFRONT, 0, 1, 1, 1},
      {DP_NOSE, TSL_I64, "M[i-1][j] + M[i][j-1]", DP_WAVEFRONT, 0, 1, 1, 1},
      {DP_RUD, TSL_I32, "max(M[i-1][j], M[i-1][j-1] + 1)", DP_ROWS, 1, 0, 1, 0},
      {DP_RUD, TSL_I32, "M[i-1][j] + (i >= 3 ? M[i-3][j] : 0)", DP_ROWS, 0, 1, 3, 0},
      {DP_RUD, TSL_I32, "max(k = 0 .. i - 1 : M[k][j] + 1)", DP_ROWS, 1, 0, 0, 0},
      {DP_NOSE, TSL_I32, "max(M[i-1][j], j >= w[i] ? M[i][j-w[i]] + 1 : 0)", DP_ROWS, 1, 0, 1, 1},
      {DP_NOSE, TSL_I32, "max(k = 0 .. j - 1 : M[i][k] + 1)", DP_ROWS, 1, 0, 1, 1},
      {DP_NOSE, TSL_I32, "max(k = 0 .. i - 1 : max(M[k][j], M[i][j-1]) + 1)", DP_INTERVAL, 1, 0, 0,
       1},
      {DP_RUD, TSL_F64, "M[i-1][j] + 0.5", DP_ROWS, 1, 0, 1, 0},
      {DP_NOSE, TSL_F32, "2.5 * w[i] + min(M[i-1][j], M[i][j-1] + j)", DP_WAVEFRONT, 1, 0, 1, 1},
      {DP_NOSE, TSL_F32, "1e38 + min(M[i-1][j], M[i][j-1])", DP_WAVEFRONT, 1, 1, 1, 1},
      {DP_RUD, TSL_F64, "M[i-1][j] * 0.5", DP_ROWS, 1, 1, 1, 0},
      {DP_RUD, TSL_F64, "max(k = 0 .. j : M[i-1][k] - k else inf) + 1", DP_ROWS, 1, 0, 1, 0},
      {DP_RUD, TSL_F64, "M[i-1][j] - M[i-1][j-1]", DP_ROWS, 1, 1, 1, 0},
      {DP_RUD, TSL_I32, "(M[i-1][j] * 7 + 1) % 10", DP_ROWS, 1, 0, 1, 0},
  };
  (void)state;
  for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
    dp_recurrence *r = NULL;
    dp_code code;
    char *text = NULL;
    draft d;
    draft_table(&d, cases[t].type, 5, 5);
    draft_array(&d, "w", TSL_I32, 5, 0, w_data);
    draft_rule(&d, "i == 0 || j == 0", "1");
    draft_cell(&d, cases[t].cell);
    MUST(draft_finish(&d, &r));
    MUST(dp_code_plan(r, cases[t].pattern, &code));
    MUST(dp_emit(r, DP_TARGET_C, &code, &text));
    if (code.engine != (int)cases[t].engine || code.narrow != cases[t].narrow ||
        code.checks != cases[t].checks || code.same_row != cases[t].same_row ||
        (code.engine == DP_ROWS && code.depth != cases[t].depth))
      fail_msg("%s (%s): engine %d narrow %d checks %d depth %d same row %d", cases[t].cell,
               tsl_type_name(cases[t].type), code.engine, code.narrow, code.checks, code.depth,
               code.same_row);
    assert_true(code.margin_p == 1 && code.margin_q == 1);
    tsl_free(text);
    dp_recurrence_destroy(&r);
  }
}

/* ---------------------------------------------------------------------- reach */

/** What the cells of a recurrence read. */
typedef struct seen {
  const dp_code *code;
  int64_t q, reach[2];
} seen;

static tsl_err note_read(void *self, const lang_expr *expr, int32_t node, int64_t i, int64_t j,
                         int32_t value) {
  seen *r = self;
  int64_t p, q;
  (void)expr, (void)node, (void)value;
  dp_code_fold(r->code, i, j, &p, &q);
  if (r->q - q > r->reach[0]) r->reach[0] = r->q - q;
  if (q - r->q > r->reach[1]) r->reach[1] = q - r->q;
  return TSL_OK;
}

/** Columns to the left and right that a row's cells read: never less than found from cell to cell,
 *  and no more than offsets tell. */
static void reaches(void **state) {
  enum { ROWS = 23, COLUMNS = 31 };
  static const struct {
    dp_pattern pattern;
    const char *cell;
    int64_t left, right; /* of the plan */
  } cases[] = {
      {DP_RUD, "M[i-1][j]", 0, 0},
      {DP_RUD, "j >= w[i % 5] ? M[i-1][j - w[i % 5]] : 0", 5, 0},
      {DP_RUD, "max(j >= 3 ? M[i-1][j-3] : 0, j + 2 < 31 ? M[i-2][j+2] : 1)", 3, 2},
      {DP_RDU, "max(j >= 3 ? M[i+1][j-3] : 0, j + 2 < 31 ? M[i+1][j+2] : 1)", 3, 2},
      {DP_RUD, "M[i-1][(j * 7) % 31]", 29, 29},
      {DP_CLR, "max(i >= 5 ? M[i-5][j-1] : 0, M[i][j-1])", 5, 0},
      {DP_CRL, "max(i >= 5 ? M[i-5][j+1] : 0, i + 1 < 23 ? M[i+1][j+1] : 2)", 5, 1},
      {DP_RUD, "max(k = 0 .. min(j, 6) : M[i-1][j-k])", 6, 0},
  };
  (void)state;
  for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
    dp_recurrence *r = NULL;
    dp_code code;
    draft d;
    draft_table(&d, TSL_I32, ROWS, COLUMNS);
    draft_array(&d, "w", TSL_I32, 5, 0, w_data);
    draft_rule(&d, "i < 2 || i > 20 || j == 0 || j == 30", "1");
    draft_cell(&d, cases[t].cell);
    MUST(draft_finish(&d, &r));
    MUST(dp_code_plan(r, cases[t].pattern, &code));
    seen found = {.code = &code};
    dp_eval eval = {.recurrence = r, .work = INT64_MAX};
    for (eval.i = 2; eval.i <= 20; eval.i++)
      for (eval.j = 1; eval.j < 30; eval.j++) {
        int64_t p;
        dp_code_fold(&code, eval.i, eval.j, &p, &found.q);
        MUST(dp_reads(&eval, note_read, &found));
      }
    assert_int_equal(code.engine, DP_ROWS);
    if (code.reach[0] < found.reach[0] || code.reach[1] < found.reach[1] ||
        code.reach[0] != cases[t].left || code.reach[1] != cases[t].right)
      fail_msg("%s: plan %lld, %lld; cells %lld, %lld", cases[t].cell, (long long)code.reach[0],
               (long long)code.reach[1], (long long)found.reach[0], (long long)found.reach[1]);
    dp_recurrence_destroy(&r);
  }
}

/* ---------------------------------------------------------------- recurrences */

static void knapsacks(void **state) {
  (void)state;
  for (int unbounded = 0; unbounded < 2; unbounded++) {
    draft d;
    draft_table(&d, TSL_I32, 6, 97);
    draft_array(&d, "w", TSL_I32, 5, 0, w_data);
    draft_rule(&d, "i == 0", "0");
    draft_cell(&d, unbounded == 0
                       ? "j < w[i-1] ? M[i-1][j] : max(M[i-1][j], M[i-1][j-w[i-1]] + 7 * i)"
                       : "j < w[i-1] ? M[i-1][j] : max(M[i-1][j], M[i][j-w[i-1]] + 7 * i)");
    assert_int_equal(same_as_interpreter(&d, unbounded == 0 ? DP_RUD : DP_NOSE, 3), 0);
  }
}

static void intervals(void **state) {
  static const char *const cells[] = {
      "min(k = i .. j-1 : M[i][k] + M[k+1][j] + w[i % 5] * w[k % 5] * w[j % 5])",
      "max(M[i+1][j], M[i][j-1], w[i % 5] == w[j % 5] ? (i + 1 < j ? M[i+1][j-1] : 0) + 2 : 0)",
      "min(k = i+1 .. j : (k > i ? M[i][k-1] : 0) + M[k][j]) + j - i",
      "max(k = i .. j-2 : (M[i][k] + M[k+2][j]) / 2 + w[k % 5] - w[(j - k) % 5] else i - j) % 1000",
      "sum(k = i .. j-1 : M[i][k] % 7 - M[k+1][j] % 5) + min(k = i+1 .. j : M[k][j])"};
  (void)state;
  for (int c = 0; c < 5; c++)
    for (int n = 0; n < 200; n = n * 3 + 13) {
      if (!next_is_mine()) continue;
      draft d;
      draft_table(&d, TSL_I64, n, n);
      d.equation.names.tables[0].cells = LANG_CELLS_UPPER;
      draft_array(&d, "w", TSL_I32, 5, 0, w_data);
      draft_rule(&d, "i == j", "w[i % 5]");
      draft_cell(&d, cells[c]);
      draft_goal(&d, "max over all");
      assert_int_equal(same_as_interpreter(&d, DP_SONE, (uint64_t)n + 1), 0);
    }
}

/** The compiler is a script from now on; the compiler proper is ${TSL_TEST_CC:-cc} in it. */
static int compile_by(const char *script) {
  char path[64], command[96];
  (void)snprintf(path, sizeof path, "%s/cc", getenv("XDG_CACHE_HOME"));
  FILE *file = fopen(path, "w");
  if (file == NULL) return 1;
  (void)fputs(script, file);
  if (fclose(file) != 0) return 1;
  (void)snprintf(command, sizeof command, "sh %s", path);
  if (getenv("CC") != NULL) (void)setenv("TSL_TEST_CC", getenv("CC"), 1);
  return setenv("CC", command, 1);
}

/** Random texts are compiled with few optimisations: the same C in less time. The other tests have
 * all of them. */
static int compile_lightly(void **state) {
  (void)state;
  return compile_by("exec ${TSL_TEST_CC:-cc} \"$@\" -O1\n");
}

/** Each run of the compiler leaves a byte: compiler_runs. */
static int compile_counted(void **state) {
  (void)state;
  return compile_by("printf x >> \"$XDG_CACHE_HOME/runs\"; exec ${TSL_TEST_CC:-cc} \"$@\"\n");
}

static int64_t compiler_runs(void) {
  char path[64];
  struct stat status;
  (void)snprintf(path, sizeof path, "%s/runs", getenv("XDG_CACHE_HOME"));
  return stat(path, &status) == 0 ? status.st_size : 0;
}

static int compile_fully(void **state) {
  const char *cc = getenv("TSL_TEST_CC");
  (void)state;
  return cc != NULL ? setenv("CC", cc, 1) : unsetenv("CC");
}

/** Rounds of a random test; TSL_TEST_FACTOR in the environment multiplies them. */
static uint64_t rounds(uint64_t n) {
  const char *factor = getenv("TSL_TEST_FACTOR");
  return factor != NULL && atoi(factor) > 0 ? n * (uint64_t)atoi(factor) : n;
}

/** Random expressions inside a fixed frame of references. Some of all fail, but not most. */
static void random_cells(void **state) {
  uint64_t failed = 0, left_out = 0;
  (void)state;
  for (uint64_t seed = 1; seed <= rounds(40); seed++) {
    if (!next_is_mine()) {
      left_out++;
      continue;
    }
    writer w = {.seed = seed * 77};
    draft d;
    const dp_pattern pattern = (dp_pattern)(seed % DP_N_PATTERNS);
    const bool row_order = dp_pattern_fold(pattern).rows_only != 0;
    static const tsl_type all[] = {TSL_I16, TSL_I32, TSL_I64, TSL_F32, TSL_F64};
    draft_table(&d, all[seed % 5], 14, 11);
    draft_array(&d, "w", TSL_I32, 5, 0, w_data);
    draft_whole(&d, "n", (int64_t)(seed % 7) - 2);
    draft_frame(&d, pattern);
    put(&w, "max(");
    write_reference(&w, pattern, -1, row_order ? 1 : 0);
    put(&w, ", ");
    write_expr(&w, 4);
    put(&w, ") + min(");
    write_expr(&w, 3);
    put(&w, " % 3, ");
    write_reference(&w, pattern, -1, -1);
    put(&w, ")");
    draft_cell(&d, w.text);
    failed += same_as_interpreter(&d, pattern, seed) != 0;
  }
  assert_true((failed > 0 || left_out > 0) && failed < rounds(30));
}

/** Reads at computed places, some of them where the order forbids, with and without a condition. */
static void random_reads(void **state) {
  uint64_t failed = 0;
  (void)state;
  for (uint64_t seed = 1; seed <= rounds(30); seed++) {
    if (!next_is_mine()) continue;
    writer w = {.seed = seed * 99};
    draft d;
    const dp_pattern pattern = seed % 2 == 0 ? DP_RUD : DP_NOSE;
    draft_table(&d, TSL_I64, 12, 15);
    draft_array(&d, "w", TSL_I32, 5, 0, w_data);
    draft_whole(&d, "n", 3);
    draft_rule(&d, "i == 0 || j == 0", "i - j");
    put(&w, random_below(&w.seed, 2) == 0 ? "max(k0 = 0 .. min(i, 3) : " : "sum(k0 = 1 .. i : ");
    w.loops = 1;
    for (int reads = 0; reads < 2; reads++) {
      writer row = {.seed = w.seed + 1, .loops = 1}, column = {.seed = w.seed + 2, .loops = 1};
      write_expr(&row, 2);
      write_expr(&column, 2);
      put(&w, reads == 0 ? "(abs(" : " + (abs(");
      put(&w, row.text);
      put(&w, ") % rows(M) < i ? M[abs(");
      put(&w, row.text);
      put(&w, ") % rows(M)][abs(");
      put(&w, column.text);
      put(&w, seed % 3 == 0 ? ") % (j + 2)] : k0)" : ") % (j + 1)] % 9 : k0)");
      w.seed += 17;
      if (reads == 0) put(&w, " % 5");
    }
    put(&w, ")");
    draft_cell(&d, w.text);
    failed += same_as_interpreter(&d, pattern, seed) != 0;
  }
  assert_true(failed < rounds(30));
}

/* ----------------------------------------------------------------- failures */

static void failures(void **state) {
  static const struct {
    tsl_type type;
    const char *cell;
    int bad;
  } cases[] = {
      {TSL_I32, "M[i-1][j] * 4", DP_BAD_OVERFLOW},
      {TSL_I16, "M[i-1][j] * 3", DP_BAD_OVERFLOW},
      {TSL_I64, "M[i-1][j] * 30 + 1", DP_BAD_OVERFLOW},
      {TSL_I64, "-M[i-1][j] * 30 - M[i-1][j-1]", DP_BAD_OVERFLOW},
      {TSL_I64, "10 / (i - 7)", DP_BAD_DIVISION},
      {TSL_I64, "10 % (i - 7)", DP_BAD_DIVISION},
      {TSL_I64, "w[i / 3]", DP_BAD_DATA},
      {TSL_I64, "M[i - 1][j + w[i % 5] - 2] % 10", DP_BAD_TABLE},
      {TSL_I64, "min(k = i .. 10 : k)", DP_BAD_RANGE},
      {TSL_I64, "sum(k = -i * 2000000000 .. j * 2000000000 : 1)", DP_BAD_RANGE},
      {TSL_F64, "(M[i-1][j] - M[i-1][j]) / (M[i-1][j] - M[i-1][j])", DP_BAD_REAL},
      {TSL_F64, "1 / (M[i-1][j] - 2)", DP_BAD_REAL},
      {TSL_F64, "M[i-1][j] * 1e30", DP_BAD_REAL},
      {TSL_F64, "M[i-1][j] * 1e-30", DP_BAD_REAL},
      {TSL_F64, "M[i-1][j] / 1e30", DP_BAD_REAL},
      {TSL_F64, "M[i-1][j] + 1.5e307 * i", DP_BAD_REAL},
      {TSL_F64, "min(5, inf - M[i-1][j] * inf)", DP_BAD_REAL},
      {TSL_F64, "sum(k = 0 .. 20 : 1e307)", DP_BAD_REAL},
      {TSL_F64, "max(k = 0 .. j : i < 7 ? k : k / 0.0)", DP_BAD_REAL},
      {TSL_F64, "i > 3 ? 1e-200 * 1e-200 : 1", DP_BAD_REAL},
      {TSL_F32, "M[i-1][j] * 1000", DP_BAD_REAL},
      {TSL_F32, "M[i-1][j] * 0.001", DP_BAD_REAL},
      {TSL_F32, "M[i-1][j] - 1e38 * i", DP_BAD_REAL},
      {TSL_F64, "i < 9 ? inf : min(M[i-1][j] + 1, M[i-1][j-1] * 2, 1 / (M[i-1][j] + 1))", 0},
      {TSL_F32, "j > 4 ? -inf : max(M[i-1][j] - 1, 0.25 * M[i-1][j-1])", 0},
      {TSL_F64, "0.5 * M[i-1][j] + 0 * 1e-300", 0},
      {TSL_F64, "max(M[i-1][j], M[i-1][j-1]) + 1e308 / 6 * (i > 2)", DP_BAD_REAL},
      {TSL_F64, "M[i-1][j] + (i > 8 ? inf : 1) - M[i-1][j-1]", DP_BAD_REAL}};
  (void)state;
  for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
    if (!next_is_mine()) continue;
    draft d;
    draft_table(&d, cases[t].type, 17, 9);
    draft_array(&d, "w", TSL_I32, 5, 0, w_data);
    draft_rule(&d, "i == 0 || j == 0", "2");
    draft_cell(&d, cases[t].cell);
    const int bad = same_as_interpreter(&d, DP_RUD, 5);
    if (bad != cases[t].bad) fail_msg("%s: %d", cases[t].cell, bad);
  }
}

/** Chains and calls as long as a text can be: the same values, and no compiler minds. */
static void long_chains(void **state) {
  static const struct {
    tsl_type type;
    const char *head, *piece, *tail;
  } cases[] = {{TSL_I64, "M[i-1][j]", "+w[1]-j", ""},
               {TSL_I32, "(M[i-1][j]", "*3%97", ")"},
               {TSL_F64, "M[i-1][j]", "/2*h+1", ""},
               {TSL_I64, "max(M[i-1][j]", ",w[2]*j", ")"},
               {TSL_F64, "min(M[i-1][j]", ",h*i", ")"},
               {TSL_I32, "i > 99", "||j==3", " ? M[i-1][j] + 1 : 2"},
               {TSL_I64, "sum(k = 0 .. j : k", "+i+k", ")"}};
  (void)state;
  for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
    if (!next_is_mine()) continue;
    draft d;
    writer w = {.seed = 1};
    draft_table(&d, cases[t].type, 5, 9);
    draft_array(&d, "w", TSL_I32, 5, 0, w_data);
    if (lang_kind_of(cases[t].type) == LANG_REAL) draft_real(&d, "h", 2.5);
    draft_rule(&d, "i == 0 || j == 0", "2");
    put(&w, cases[t].head);
    while (strlen(w.text) + strlen(cases[t].piece) + strlen(cases[t].tail) < LANG_TEXT_MAX &&
           strlen(w.text) + 64 < sizeof w.text)
      put(&w, cases[t].piece);
    put(&w, cases[t].tail);
    draft_cell(&d, w.text);
    assert_int_equal(same_as_interpreter(&d, DP_RUD, 5), 0);
  }
}

/** A read that comes later and that no window saw is caught where it happens. */
static void late_reads(void **state) {
  compiled c;
  draft d;
  uint64_t seed = 1;
  (void)state;
  draft_table(&d, TSL_I32, 70, 70);
  draft_rule(&d, "i == 0", "j");
  draft_cell(&d, "M[i == 33 && j == 44 ? i + 1 : i - 1][j]");
  MUST(compiled_open(&d, DP_RUD, &c));
  compiled_run(&c, &seed);
  assert_int_equal(c.bad, DP_BAD_TABLE);
  compiled_close(&c);
}

/** The best cell, the first in the user's order, whatever the folding. */
static void best_cells(void **state) {
  (void)state;
  for (int p = DP_NOSE; p < DP_N_PATTERNS; p++)
    for (int maximum = 0; maximum < 2; maximum++) {
      if (!next_is_mine()) continue;
      compiled c;
      dp_oracle grid;
      dp_value v;
      draft d;
      uint64_t seed = 11;
      int64_t i, j, k, best_i, best_j;
      writer w = {.seed = 1};
      draft_table(&d, TSL_I32, 211, 307);
      draft_frame(&d, (dp_pattern)p);
      d.equation.n_rules = 0;
      draft_rule(&d, dp_pattern_fold((dp_pattern)p).flip_i != 0 ? "i == rows(M) - 1" : "i == 0",
                 "0");
      draft_rule(&d, dp_pattern_fold((dp_pattern)p).flip_j != 0 ? "j == cols(M) - 1" : "j == 0",
                 "0");
      put(&w, "(");
      write_reference(&w, (dp_pattern)p, -1, 0);
      put(&w, " * 3 + ");
      write_reference(&w, (dp_pattern)p, 0, -1);
      put(&w, " + i * j) % 23 - 11");
      draft_cell(&d, w.text);
      draft_goal(&d, maximum != 0 ? "max over all" : "min over all");
      MUST(compiled_open(&d, (dp_pattern)p, &c));
      assert_true(c.code.engine == DP_WAVEFRONT && c.code.best == 1);
      MUST(dp_oracle_create(c.r, &grid));
      MUST(dp_oracle_fill(&grid));
      MUST(dp_oracle_goal(&grid, &v, &i, &j, &k));
      compiled_run(&c, &seed);
      dp_code_unfold(&c.code, c.best_p, c.best_q, &best_i, &best_j);
      assert_int_equal(*(int32_t *)c.best, v.whole);
      assert_true(i == best_i && j == best_j);
      dp_oracle_clear(&grid);
      compiled_close(&c);
    }
}

/* ----------------------------------------------------------------- compiling */

static void cache(void **state) {
  lang_object *a = NULL, *b = NULL;
  void *f = NULL, *g = NULL, *bytes = NULL;
  int64_t n = 0;
  (void)state;
  const char *text = "int tsl_f(void) { return 7; }\n", *other = "int tsl_f(void) { return 8; }\n";
  assert_int_equal(compiler_runs(), 0);
  MUST(lang_object_open(text, 0, &dp_purpose, &a));
  assert_int_equal(compiler_runs(), 1);
  MUST(lang_object_bytes(a, &bytes, &n));
  lang_object_close(&a);
  MUST(lang_object_open(text, 0, &dp_purpose, &a));
  assert_int_equal(compiler_runs(), 1); /* it was in the cache */
  MUST(lang_object_open(other, 0, &dp_purpose, &b));
  assert_int_equal(compiler_runs(), 2);
  MUST(lang_object_find(a, "tsl_f", &f));
  MUST(lang_object_find(b, "tsl_f", &g));
  assert_int_equal(((int (*)(void))f)(), 7);
  assert_int_equal(((int (*)(void))g)(), 8);
  assert_int_equal(lang_object_find(b, "tsl_g", &g), TSL_ERR_INTERNAL);
  lang_object_close(&b);
  MUST(lang_object_load(bytes, n, &b));
  MUST(lang_object_find(b, "tsl_f", &g));
  assert_int_equal(((int (*)(void))g)(), 7);
  lang_object_close(&b);
  lang_object_close(&a);
  tsl_free(bytes);
  assert_int_equal(lang_object_open("no C at all", 0, &dp_purpose, &a), TSL_ERR_INTERNAL);
  assert_non_null(strstr(tsl_err_message(), "does not compile"));
}

/** Damage is noticed, a missing compiler is said, a folder open to others is refused. */
static void hostile_cache(void **state) {
  lang_object *a = NULL;
  char command[4200];
  const char *folder = getenv("XDG_CACHE_HOME");
  const int64_t before = compiler_runs();
  (void)state;
  (void)snprintf(
      command, sizeof command,
      "for f in %s/tesela/recurrences/dp-*.so; do printf x | dd of=$f bs=1 seek=900 conv=notrunc "
      "2>/dev/null; done; ls %s/tesela/recurrences/work-* 2>/dev/null && exit 1; exit 0",
      folder, folder);
  assert_int_equal(system(command), 0); /* and nothing is left lying about */
  MUST(lang_object_open("int tsl_f(void) { return 7; }\n", 0, &dp_purpose, &a));
  assert_int_equal(compiler_runs(), before + 1);
  lang_object_close(&a);
  setenv("CC", "/no/such/compiler", 1);
  assert_int_equal(lang_object_open("int tsl_f(void) { return 9; }\n", 0, &dp_purpose, &a),
                   TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "there is no compiler '/no/such/compiler'"));
  unsetenv("CC");
  (void)snprintf(command, sizeof command, "%s/tesela/recurrences", folder);
  assert_int_equal(chmod(command, 0755), 0);
  assert_int_equal(lang_object_open("int tsl_f(void) { return 7; }\n", 0, &dp_purpose, &a),
                   TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "not a private folder"));
  assert_int_equal(chmod(command, 0700), 0);
}

/** Whoever can rename a folder on the way to the cache can put another in its place. */
static void open_parents(void **state) {
  lang_object *a = NULL;
  char parent[4096], below[4200];
  const char *folder = getenv("XDG_CACHE_HOME"), *text = "int tsl_f(void) { return 7; }\n";
  const struct {
    mode_t mode;
    uid_t owner;
    tsl_err err;
  } cases[] = {{0700, 0, TSL_OK},
               {0755, 0, TSL_OK},
               {0777, 0, TSL_ERR_INPUT},
               {0770, 0, TSL_ERR_INPUT},
               {01777, 0, TSL_OK},
               {0755, 12345, TSL_ERR_INPUT},
               {01777, 12345, TSL_ERR_INPUT}};
  char *kept = strdup(folder);
  (void)state;
  (void)snprintf(parent, sizeof parent, "%s/parent", kept);
  (void)snprintf(below, sizeof below, "%s/own/cache", parent);
  assert_int_equal(mkdir(parent, 0700), 0);
  setenv("XDG_CACHE_HOME", below, 1);
  for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
    if (cases[t].owner != 0 && geteuid() != 0) continue; /* only root gives folders away */
    assert_int_equal(chmod(parent, cases[t].mode), 0);
    if (geteuid() == 0) assert_int_equal(chown(parent, cases[t].owner, 0), 0);
    const tsl_err err = lang_object_open(text, 0, &dp_purpose, &a);
    if (err != cases[t].err) fail_msg("mode %04o: %s", cases[t].mode, tsl_err_message());
    if (err != TSL_OK)
      assert_non_null(strstr(tsl_err_message(), "parent can be changed by others"));
    lang_object_close(&a);
  }
  setenv("XDG_CACHE_HOME", kept, 1);
  free(kept);
}

/** A sound file of another recurrence under this one's name is not this one's. */
static void swapped_files(void **state) {
  lang_object *a = NULL;
  void *f = NULL;
  char command[4200];
  const char *folder = getenv("XDG_CACHE_HOME");
  const char *text = "int tsl_f(void) { return 17; }\n",
             *other = "int tsl_f(void) { return 18; }\n";
  (void)state;
  (void)snprintf(command, sizeof command, "rm -f %s/tesela/recurrences/dp-*.so", folder);
  assert_int_equal(system(command), 0);
  MUST(lang_object_open(text, 0, &dp_purpose, &a));
  lang_object_close(&a);
  (void)snprintf(command, sizeof command, "cd %s/tesela/recurrences && ls dp-*.so > ../first",
                 folder);
  assert_int_equal(system(command), 0);
  MUST(lang_object_open(other, 0, &dp_purpose, &a));
  lang_object_close(&a);
  (void)snprintf(command, sizeof command,
                 "cd %s/tesela/recurrences && a=$(cat ../first) && b=$(ls dp-*.so | grep -v $a) && "
                 "cp $b $a",
                 folder);
  assert_int_equal(system(command), 0);
  MUST(lang_object_open(text, 0, &dp_purpose, &a));
  MUST(lang_object_find(a, "tsl_f", &f));
  assert_int_equal(((int (*)(void))f)(), 17);
  lang_object_close(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plans),
      cmocka_unit_test(reaches),
      cmocka_unit_test(eight_patterns),
      cmocka_unit_test(types),
      cmocka_unit_test(knapsacks),
      cmocka_unit_test(intervals),
      cmocka_unit_test_setup_teardown(random_cells, compile_lightly, compile_fully),
      cmocka_unit_test_setup_teardown(random_reads, compile_lightly, compile_fully),
      cmocka_unit_test(failures),
      cmocka_unit_test(long_chains),
      cmocka_unit_test(late_reads),
      cmocka_unit_test(best_cells),
      cmocka_unit_test_setup_teardown(cache, compile_counted, compile_fully),
      cmocka_unit_test_setup_teardown(hostile_cache, compile_counted, compile_fully),
      cmocka_unit_test(open_parents),
      cmocka_unit_test(swapped_files)};
  char folder[] = "/tmp/tesela-test-XXXXXX", command[64];
  if (mkdtemp(folder) == NULL) return 1;
  setenv("XDG_CACHE_HOME", folder, 1);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  (void)snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command) != 0 ? 1 : failed;
}
