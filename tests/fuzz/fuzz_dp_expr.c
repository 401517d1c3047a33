/* Any bytes as a recurrence: refused with a message, or computed by need and in every order that
 * the checker allows, with the same values; its printed form parses to the same tree, and its C and
 * CUDA texts are written.
 *
 * Lines: the cell's expression, then "where" and "value" of rules in turn. The first byte chooses
 * type, extents, depth and cells. */
#include "../unit/dp_print.h"
#include "dp_emit.h"
#include "fuzz_driver.h"

enum { LINES_MAX = 9, WORK = 200000, EXTENT = 3 };

static long long n_computed; /* recurrences with values */

static const int32_t w_data[] = {3, 1, 4, 2, 5};
static const double x_data[] = {0.5, -2, 3};

/** A message belongs to every refusal, and no refusal is our own fault. */
static void check_refusal(tsl_err err) {
  if (err == TSL_ERR_INPUT || err == TSL_ERR_NUMERIC || err == TSL_ERR_STOPPED)
    if (tsl_err_message()[0] != '\0') return;
  (void)fprintf(stderr, "error %d: %s\n", (int)err, tsl_err_message());
  abort();
}

static void set_names(dp_equation *e, uint8_t choice) {
  static const tsl_type types[] = {TSL_I32, TSL_F64, TSL_I64, TSL_I16, TSL_F32, TSL_I32};
  lang_names *n = &e->names;
  n->tables[0] = (lang_table){.name = "M", .type = types[choice % 6], .rows = choice / 6 % 7};
  n->tables[0].cols = choice / 42 % 2 == 0 ? n->tables[0].rows : 5;
  n->tables[0].cells = choice / 84 % 3;
  n->tables[0].n_inner = choice % 6 == 5 ? 1 + choice / 6 % 2 : 0;
  for (int d = 0; d < n->tables[0].n_inner; d++) n->tables[0].inner[d] = EXTENT - d;
  n->n_tables = 1;
  n->arrays[0] = (lang_array){.name = "w", .type = TSL_I32, .rank = 1, .shape = {5, 1}};
  dp_array_limits(&n->arrays[0], w_data);
  n->arrays[1] = (lang_array){.name = "g", .type = TSL_I32, .rank = 2, .shape = {2, 2}};
  dp_array_limits(&n->arrays[1], w_data);
  n->n_arrays = 2;
  if (lang_kind_of(n->tables[0].type) == LANG_REAL)
    n->arrays[n->n_arrays++] =
        (lang_array){.name = "x", .type = TSL_F64, .rank = 1, .shape = {3, 1}};
  n->scalars[0] = (lang_scalar){.name = "n", .kind = LANG_WHOLE, .whole = 4};
  n->n_scalars = 1;
}

/** Lines of text (changed) as the equation's expressions. */
static tsl_err set_lines(dp_equation *e, char *text) {
  const char *lines[LINES_MAX] = {NULL};
  int n = 0;
  tsl_err err = TSL_OK;
  for (char *line = text; line != NULL && n < LINES_MAX;) {
    char *end = strchr(line, '\n');
    if (end != NULL) *end = '\0';
    lines[n++] = line;
    line = end != NULL ? end + 1 : NULL;
  }
  for (int l = 1; l + 1 < n && err == TSL_OK; l += 2)
    err = dp_equation_rule(e, 0, lines[l], lines[l + 1]);
  if (err == TSL_OK) err = dp_equation_add(e, lines[0], &e->cell_at[0]);
  static const char *const goals[] = {"max over all", "M[rows(M)-1][2][1]",
                                      "M[rows(M)-1][2][1][0]"};
  if (err == TSL_OK) err = dp_equation_goal(e, goals[e->names.tables[0].n_inner]);
  return err;
}

static void check_print(const lang_names *names, lang_scope scope, const lang_expr *expr) {
  static char text[1 << 17];
  lang_expr again;
  if (dp_expr_print(names, expr, text, sizeof text) >= LANG_TEXT_MAX) return;
  const tsl_err err = lang_expr_parse(names, scope, text, &again);
  if (err == TSL_ERR_INPUT && strstr(tsl_err_message(), "nested deeper") != NULL) return;
  must(err == TSL_OK, text); /* brackets count as depth; anything else parses again */
  if (!lang_same(expr, expr->root, &again, again.root)) {
    (void)fprintf(stderr, "printed: %s\n", text);
    abort();
  }
  lang_expr_clear(&again);
}

/** Every order that the checker allows gives the values found by need. */
static void check_orders(const dp_recurrence *r, const dp_oracle *need, const dp_depend *d) {
  dp_oracle grid;
  const size_t bytes = (size_t)(need->rows * need->cols * need->in_cell) * sizeof *need->values;
  if (!d->whole) return;
  for (int p = 0; p < DP_N_PATTERNS; p++) {
    if (d->clash[p].expr != NULL) continue;
    must(dp_oracle_create(r, &grid) == TSL_OK, "grid");
    must(dp_oracle_fill_order(&grid, (dp_pattern)p) == TSL_OK, dp_pattern_words[p]);
    if (bytes > 0 && memcmp(grid.values, need->values, bytes) != 0) abort();
    dp_oracle_clear(&grid);
  }
}

static void check_emit(const dp_recurrence *r, dp_pattern pattern) {
  for (int t = 0; t < 2; t++) {
    dp_code code;
    char *text = NULL;
    must(dp_code_plan(r, pattern, &code) == TSL_OK, "plan");
    must(dp_emit(r, t == 0 ? DP_TARGET_C : DP_TARGET_CUDA, &code, &text) == TSL_OK, "emit");
    tsl_free(text);
  }
}

static void compute(const dp_recurrence *r) {
  dp_oracle grid;
  dp_links steps = {0};
  dp_depend depend;
  must(dp_oracle_create(r, &grid) == TSL_OK, "grid");
  grid.work = WORK;
  const tsl_err checked = dp_depend_check(r, DP_AUTO, &depend);
  if (checked != TSL_OK) check_refusal(checked);
  if (checked == TSL_OK) check_emit(r, depend.pattern);
  const tsl_err err = dp_oracle_fill(&grid);
  if (err != TSL_OK) check_refusal(err);
  if (err == TSL_OK && checked == TSL_OK) {
    n_computed++;
    check_orders(r, &grid, &depend);
    const tsl_err traced = dp_oracle_trace(&grid, &steps);
    if (traced != TSL_OK) check_refusal(traced);
    tsl_free(steps.list);
  }
  dp_oracle_clear(&grid);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
  static dp_equation equation;
  dp_recurrence *r = NULL;
  const void *const arrays[] = {w_data, w_data, x_data};
  char *text = malloc(n_bytes + 1);
  if (text == NULL) abort();
  memset(&equation, 0, sizeof equation);
  set_names(&equation, n_bytes > 0 ? data[0] : 0);
  if (n_bytes > 1) memcpy(text, data + 1, n_bytes - 1);
  text[n_bytes > 0 ? n_bytes - 1 : 0] = '\0';
  tsl_err err = set_lines(&equation, text);
  if (err == TSL_OK) err = dp_recurrence_create(&equation, arrays, &r);
  if (err != TSL_OK) check_refusal(err);
  if (err == TSL_OK) {
    check_print(&equation.names, LANG_SCOPE_CELL, &r->cells[0]);
    for (int n = 0; n < equation.n_rules; n++)
      check_print(&equation.names, LANG_SCOPE_WHERE, &r->rules[n].where);
    compute(r);
  }
  dp_recurrence_destroy(&r);
  free(text);
  return 0;
}

#ifndef TSL_LIBFUZZER

static const char *const texts[] = {
    "\x24w[i-1] == w[j-1] ? M[i-1][j-1] + 1 : max(M[i-1][j], M[i][j-1])\ni == 0 || j == 0\n0",
    "\x1ej < w[i-1] ? M[i-1][j] : max(M[i-1][j], M[i-1][j-w[i-1]] + n)\ni == 0\n0",
    "\x74min(k = i .. j-1 : M[i][k] + M[k+1][j] + w[i] * g[k % 2][j % 2])\ni == j\n0",
    "\x25x[i % 3] * M[i-1][j] + min(inf, sum(k = 0 .. j : M[i-1][k] else 2.5))\n!i\n1",
    "\x1dw[i-1] == w[j-1] && w[j-1] == w[k] ? M[i-1][j-1][k-1] + 1 : max(M[i-1][j][k], "
    "M[i][j-1][k], "
    "M[i][j][k-1])\ni == 0 || j == 0 || k == 0\n0",
    "\x29max(s = 0 .. k : M[i-1][w[s % 5] % n][k - s] + s) - M[i-1][j][2 - k] / 2\ni == 0\nj * k",
    "\x17w[i-1] == w[l] ? M[i-1][j-1][k][l] + k : max(M[i-1][j][k][l], k > 0 ? M[i][j][k-1][1 - l] "
    ": l, l > 0 ? M[i][j][k][l-1] : j)\ni == 0 || j == 0\nk * l",
    "\x1fmin(k = 0 .. i - 1 : M[k][0] else 3) + abs(-j) / 2 - 7 % (i + 1)\nj > 1 && i\n-1e2"};

static const char tokens[] = "(\1)\1[\1]\1 ? \1 : \1min(\1max(\1sum(k = \1 .. \1 else "
                             "\1i\1j\1k\1n\1w[\1x[\1M[i-1][j]\1M[i][j-1]\1M[i-1][j-1][k]\1M[i][j]["
                             "k-1]\1M[i-1][j][k][l]\1M[i][j][k-1][1]\1l\1"
                             "+\1-\1*\1/\1%\1<\1>=\1==\1&&\1||\1!\1"
                             "0\1"
                             "1\1"
                             "2\1"
                             "1.5\1"
                             "1e9\1inf\1"
                             "9223372036854775807\1len(w)\1\n\1,";

FUZZ_MAIN_COUNTED("fuzz_dp_expr", "recurrences", "computed", n_computed)

#endif
