/* unit.dp.expr: values of expressions, kinds, errors with their caret, printing, whole problems. */
#include "dp_fixture.h"
#include "dp_print.h"

#include <math.h>

static const int32_t w_data[] = {5, 7, -3, 0, 2};
static const int64_t g_data[] = {1, 2, 3, 4, 5, 6};
static const double x_data[] = {0.5, -1.25, 3};

/** A 1 x 1 table whose cell is the text; names: w, g (2 x 3), x (real tables), n = 4, h = 2.5. */
static void draft_one(draft *d, tsl_type type, const char *text) {
  draft_table(d, type, 1, 1);
  draft_array(d, "w", TSL_I32, 5, 0, w_data);
  draft_array(d, "g", TSL_I64, 2, 3, g_data);
  draft_whole(d, "n", 4);
  if (lang_kind_of(type) == LANG_REAL) {
    draft_array(d, "x", TSL_F64, 3, 0, x_data);
    draft_real(d, "h", 2.5);
  }
  draft_cell(d, text);
}

static int64_t whole(const char *text) {
  draft d;
  dp_value v = {0};
  draft_one(&d, TSL_I64, text);
  if (draft_solve(&d, &v) != TSL_OK) fail_msg("%s: %s", text, tsl_err_message());
  return v.whole;
}

static double real(tsl_type type, const char *text) {
  draft d;
  dp_value v = {0};
  draft_one(&d, type, text);
  if (draft_solve(&d, &v) != TSL_OK) fail_msg("%s: %s", text, tsl_err_message());
  return v.real;
}

/** Refused with a message that contains this. */
static void refused(tsl_type type, const char *text, tsl_err code, const char *part) {
  draft d;
  dp_value v = {0};
  draft_one(&d, type, text);
  assert_int_equal(draft_solve(&d, &v), code);
  if (strstr(tsl_err_message(), part) == NULL)
    fail_msg("'%s' is not in:\n%s", part, tsl_err_message());
}

/* ------------------------------------------------------------------ values */

static void integers(void **state) {
  (void)state;
  assert_int_equal(whole("1 + 2 * 3 - 4"), 3);
  assert_int_equal(whole("(1 + 2) * (3 - 4)"), -3);
  assert_int_equal(whole("7 / 2 + -7 / 2 + 7 % 3 * 10 + -7 % 3 * 100"), 3 - 3 + 10 - 100);
  assert_int_equal(whole("7 / -2 * 10 + 7 % -2"), -29);
  assert_int_equal(whole("2 - 3 - 4"), -5);
  assert_int_equal(whole("100 / 10 / 5"), 2);
  assert_int_equal(whole("- - 3 + +2 - -1"), 6);
  assert_int_equal(whole("1 | 6 ^ 3 & 2 << 1 + 1"), 1 | (6 ^ (3 & (2 << 2))));
  assert_int_equal(whole("~5 + (12 >> 2 & 2) - (-9 >> 1)"), -6 + 2 + 5);
  assert_int_equal(whole("1 << 3 == 8 && 3 & 1 == 1"), 1);
  assert_int_equal(whole("1e6 + 2e0"), 1000002);
  assert_int_equal(whole("9223372036854775807"), INT64_MAX);
  assert_int_equal(whole("-9223372036854775807 - 1"), INT64_MIN);
  assert_int_equal(whole("(-9223372036854775807 - 1) % -1"), 0);
  assert_int_equal(whole("abs(-5) + abs(5) + abs(0)"), 10);
  assert_int_equal(whole("min(3, 1, 2) * 100 + max(3, 1, 2) * 10 + min(4)"), 134);
  assert_int_equal(whole("i + j + w[1] + g[1][2] + n"), 17);
  assert_int_equal(whole("w[g[0][0]] + w[w[4]]"), 4);
  assert_int_equal(whole("len(w) * 100 + rows(g) * 10 + cols(g)"), 523);
  assert_int_equal(whole("len(g) + rows(M) + cols(M) + cols(w)"), 5);
}

static void logic(void **state) {
  (void)state;
  assert_int_equal(whole("(1 < 2) + (2 <= 2) + (3 > 2) + (3 >= 4) + (1 == 1) + (1 != 1)"), 4);
  assert_int_equal(whole("1 < 2 == 2 > 1"), 1);
  assert_int_equal(whole("!0 * 10 + !7 + !!5"), 11);
  assert_int_equal(whole("1 || 0 && 0"), 1);
  assert_int_equal(whole("5 && 3"), 1);
  assert_int_equal(whole("0 ? 1 : 0 ? 2 : 3"), 3);
  assert_int_equal(whole("1 ? 0 ? 4 : 5 : 6"), 5);
  assert_int_equal(whole("0 && 1 / 0"), 0);
  assert_int_equal(whole("1 || w[99]"), 1);
  assert_int_equal(whole("1 ? 2 : 1 / 0"), 2);
  assert_int_equal(whole("0 ? w[-1] : 3"), 3);
}

static void ranges(void **state) {
  (void)state;
  assert_int_equal(whole("sum(k = 1 .. 10 : k * k)"), 385);
  assert_int_equal(whole("sum(k=3..1: k)"), 0);
  assert_int_equal(whole("prod(k = 1 .. 5 : k) + prod(k = 3 .. 1 : k)"), 121);
  assert_int_equal(whole("argmin(k = -3 .. 3 : k * k) * 10 + argmax(k = -3 .. 3 : k * k)"), -3);
  assert_int_equal(whole("argmax(k = 2 .. 1 : k else 7)"), 7);
  assert_int_equal(whole("min(k = 0 .. len(w) - 1 : w[k]) * 100 + max(k=0..4: w[k])"), -293);
  assert_int_equal(whole("min(k = 1 .. 0 : k else 42)"), 42);
  assert_int_equal(whole("max(k = 1 .. 1 : k else 42)"), 1);
  assert_int_equal(whole("sum(a = 0 .. 1 : sum(b = 0 .. 2 : g[a][b] * (b + 1)))"), 14 + 32);
  assert_int_equal(whole("sum(k = 0 .. sum(q = 1 .. 2 : q) : k)"), 6);
  assert_int_equal(whole("sum(k = 1 .. 2 : k) + sum(q = 1 .. 2 : sum(k = q .. 2 : k))"), 8);
  assert_int_equal(whole("max(k = -9223372036854775807 .. -9223372036854775806 : k)"),
                   -INT64_MAX + 1);
  assert_int_equal(whole("max(k = 9223372036854775806 .. 9223372036854775807 : k)"), INT64_MAX);
}

static void reals(void **state) {
  (void)state;
  assert_true(real(TSL_F64, "1 / 2") == 0.5);
  assert_true(real(TSL_F64, "w[3 / 2] + x[len(w) / 2 - 1]") == 7 - 1.25);
  assert_true(real(TSL_F64, "sum(k = 0 .. 3 / 2 : 1) + 7 / 2 % 2") == 2 + 1);
  assert_true(real(TSL_F64, "1 / 2.0") == 0.5);
  assert_true(real(TSL_F64, "x[0] + x[1] * h") == 0.5 - 1.25 * 2.5);
  assert_true(real(TSL_F64, "min(n, h, 3)") == 2.5);
  assert_true(real(TSL_F64, "1 < h ? 2 : .5") == 2);
  assert_true(real(TSL_F64, "abs(x[1]) - -1.5e-1") == 1.4);
  assert_true(real(TSL_F64, "sum(k = 0 .. 2 : x[k])") == 2.25);
  assert_true(isinf(real(TSL_F64, "min(inf, inf + 1)")));
  assert_true(real(TSL_F64, "max(-inf, 3)") == 3);
  assert_true(real(TSL_F64, "0.1 + 0.2") == 0.1 + 0.2);
  assert_true(real(TSL_F32, "0.1 + 0.2") == (double)(0.1f + 0.2f));
  assert_true(real(TSL_F32, "16777217 * 1.0") == 16777216.0);
  assert_true(real(TSL_F32, "sum(k = 1 .. 100 : 0.1)") != real(TSL_F64, "sum(k = 1 .. 100 : 0.1)"));
}

static bool is_near(double value, double expected) {
  return fabs(value - expected) <= 4e-16 * fabs(expected);
}

static void functions(void **state) {
  (void)state;
  assert_true(real(TSL_F64, "sqrt(n * 8) + floor(-2.5) + pow(h, 2) + pow(2, -3)") ==
              sqrt(32) - 3 + 6.25 + 0.125);
  assert_true(is_near(real(TSL_F64, "exp(1)"), exp(1)) &&
              is_near(real(TSL_F64, "log(10)"), log(10)));
  assert_true(is_near(real(TSL_F64, "log1p(1e-20)"), 1e-20));
  assert_true(is_near(real(TSL_F64, "sin(1) * cos(1) * erf(1)"), sin(1) * cos(1) * erf(1)));
  assert_true(real(TSL_F32, "exp(1)") == (double)(float)real(TSL_F32, "exp(1)"));
  assert_true(isinf(real(TSL_F64, "log(0)")) && real(TSL_F64, "exp(-1e4)") == 0);
  assert_true(is_near(real(TSL_F64, "logsum(1000, 1000)"), 1000 + log(2)));
  assert_true(is_near(real(TSL_F64, "logsum(-3, 2, h)"), log(exp(-3) + exp(2) + exp(2.5))));
  assert_true(real(TSL_F64, "logsum(-inf, h)") == 2.5 && real(TSL_F64, "logsum(h)") == 2.5);
  assert_true(isinf(real(TSL_F64, "logsum(-inf, -inf)")) &&
              isinf(real(TSL_F64, "logsum(inf, inf)")));
  assert_true(is_near(real(TSL_F64, "logsum(k = 1 .. 1000 : log(k))"), log(500500)));
  assert_true(real(TSL_F64, "logsum(k = 1 .. 0 : log(k))") == -INFINITY);
  assert_true(is_near(real(TSL_F32, "logsum(k = 0 .. 9 : -200)"), (double)(float)(log(10) - 200)));
  assert_int_equal(whole("'A' + 'z' * 1000 + '\''"), 65 + 122000 + 39);
}

/* ------------------------------------------------------------------ errors */

static void exact(const char *text, const char *message) {
  draft d;
  dp_value v = {0};
  draft_one(&d, TSL_I32, text);
  assert_int_not_equal(draft_solve(&d, &v), TSL_OK);
  assert_string_equal(tsl_err_message(), message);
}

static void carets(void **state) {
  (void)state;
  exact("1 + nn[2]", "cell: column 5: unknown name 'nn'; did you mean 'n'?\n"
                     "    1 + nn[2]\n"
                     "        ^~");
  exact("w[1", "cell: column 4: the text ends; expected ']' after an index\n"
               "    w[1\n"
               "       ^");
  exact("1 +\n  w[0] * @", "cell: line 2, column 10: unexpected character '@'\n"
                           "      w[0] * @\n"
                           "             ^");
  exact("i + 2147483647 + 1",
        "column 1: integer overflow: 2147483648 does not fit the table's type "
        "i32 at i = 0, j = 0\n"
        "    i + 2147483647 + 1\n"
        "    ^~~~~~~~~~~~~~~~~~");
  exact("1 + w[n + 1]", "column 7: index 5 of 'w' is outside 0..4 at i = 0, j = 0\n"
                        "    1 + w[n + 1]\n"
                        "          ^~~~~");
  exact("max(3, M[i-1][j])",
        "column 8: M[-1][0] is outside the table of 1 rows and 1 columns at i = "
        "0, j = 0\n"
        "    max(3, M[i-1][j])\n"
        "           ^~~~~~~~~");
}

static void syntax(void **state) {
  static const char *const bad[][2] = {
      {"", "expected a value"},
      {"   \n ", "expected a value"},
      {"1 2", "operator is missing"},
      {"2i", "operator is missing"},
      {"(1", "expected ')'"},
      {"1)", "unexpected ')'"},
      {"1 < 2 < 3", "do not chain"},
      {"1 == 2 == 3", "do not chain"},
      {"1 & 2 &", "expected a value"},
      {"1 << ", "expected a value"},
      {"prod(2)", "takes a range"},
      {"argmin(k = 1 .. 2)", "expected ':'"},
      {"prod(k = 1 .. 2 : k else 3)", "an empty prod is 1"},
      {"a ? 1", "unknown name 'a'"},
      {"1 ? 2", "expected ':'"},
      {"M[1]", "expected '['"},
      {"w[1][2]", "1 index only"},
      {"g[1]", "expected '['"},
      {"g[1][1][1]", "2 indices only"},
      {"n[1]", "unexpected '['"},
      {"w + 1", "expected '['"},
      {"sum(1)", "takes a range"},
      {"sum(k = 1 .. 2)", "expected ':'"},
      {"sum(k = 1 : 2)", "expected '..'"},
      {"sum(k = 1 .. 2 : k else 3)", "takes no 'else'"},
      {"min(i = 1 .. 2 : i)", "word of the language"},
      {"min(w = 1 .. 2 : 1)", "given twice"},
      {"min(k = 1 .. 2 : min(k = 1 .. 2 : k))", "outer range's variable"},
      {"min(k = 1 .. k : 1)", "unknown name 'k'"},
      {"min(k = 1 .. 2 : k) + k", "unknown name 'k'"},
      {"min(k = 1 .. 2 : 1 else k)", "unknown name 'k'"},
      {"sum(a=0..1:sum(b=0..1:sum(c=0..1:sum(d=0..1:sum(e=0..1:1)))))", "more than 4 ranges"},
      {"min()", "expected a value"},
      {"abs(1, 2)", "expected ')'"},
      {"len(3)", "name of an array"},
      {"len(q)", "unknown name 'q'"},
      {"99999999999999999999", "larger than"},
      {"1..2", "unexpected '..'"},
      {"\xc3\xa9", "unexpected byte 0xc3"},
      {"1 = 2", "unexpected '='"},
      {"mim(1, 2)", "did you mean 'min'"},
      {"inf", "a real in an integer table"},
      {"1.5", "a real in an integer table"},
      {"1e30", "a real in an integer table"},
      {"w[M[0][0]]", "may not depend on values"},
      {"sum(k = 0 .. M[0][0] : 1)", "may not depend on values"},
      {"!", "expected a value"},
      {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "unknown name"},
  };
  (void)state;
  for (size_t t = 0; t < sizeof bad / sizeof *bad; t++)
    refused(TSL_I64, bad[t][0], TSL_ERR_INPUT, bad[t][1]);
  refused(TSL_F64, "w[x[0]]", TSL_ERR_INPUT, "an index is an integer");
  refused(TSL_F64, "h ? 1 : 2", TSL_ERR_INPUT, "a condition is an integer");
  refused(TSL_F64, "h % 2", TSL_ERR_INPUT, "operand of % is an integer");
  refused(TSL_F64, "1e999", TSL_ERR_INPUT, "too large");
}

/** A 1 x 1 table with two values of k and three of l. */
static void draft_inner(draft *d, const char *text) {
  draft_one(d, TSL_I64, text);
  lang_table *t = &d->equation.names.tables[0];
  t->n_inner = 2, t->inner[0] = 2, t->inner[1] = 3;
  draft_goal(d, "M[0][0][1][2]");
}

/** What a cell may say of it. */
static void inner_indices(void **state) {
  static const char *const bad[][2] = {
      {"M[0][0][k]", "column 1: 'M' has 4 indices, as `depth` is given; these are 3"},
      {"1 + M[0][0]", "column 5: 'M' has 4 indices, as `depth` is given; these are 2"},
      {"M[0][0][k][l][0]", "column 14: 'M' has 4 indices only"},
      {"m", "unknown name 'm'"},
      {"min(l = 0 .. 1 : l)", "'l' is an index of the table"},
      {"M[0][0][1.5][0]", "column 9: a real in an integer table"},
      {"M[0][0][0][M[0][0][0][0]]", "may not depend on values"},
      {"k > 0 ? M[0][0][k-1][l+1] : 0", "M[0][0][0][3] is outside the table of 1 rows, 1 columns "
                                        "and depth 2 x 3 at i = 0, j = 0, k = 1, l = 2"},
      {"M[0][0][k][l]", "need each other: M[0][0][0][0] -> M[0][0][0][0]"}};
  dp_value v = {0};
  draft d;
  (void)state;
  for (size_t t = 0; t < sizeof bad / sizeof *bad; t++) {
    draft_inner(&d, bad[t][0]);
    assert_int_equal(draft_solve(&d, &v), TSL_ERR_INPUT);
    if (strstr(tsl_err_message(), bad[t][1]) == NULL)
      fail_msg("'%s' is not in:\n%s", bad[t][1], tsl_err_message());
  }
  draft_inner(&d, "l > 0 ? M[i][j][k][l-1] * 10 + k : k > 0 ? M[0][0][k-1][2] : 1");
  assert_int_equal(draft_solve(&d, &v), TSL_OK);
  assert_int_equal(v.whole, 10011); /* 1 10 100 | 100 1001 10011 */
}

static void failures(void **state) {
  (void)state;
  refused(TSL_I64, "1 / (n - 4)", TSL_ERR_NUMERIC, "division by zero at i = 0, j = 0");
  refused(TSL_I64, "1 % i", TSL_ERR_NUMERIC, "remainder by zero");
  refused(TSL_I64, "9223372036854775807 + 1", TSL_ERR_NUMERIC, "9223372036854775807 + 1");
  refused(TSL_I64, "-9223372036854775807 - 2", TSL_ERR_NUMERIC, "integer overflow");
  refused(TSL_I64, "3037000500 * 3037000500", TSL_ERR_NUMERIC, "3037000500 * 3037000500");
  refused(TSL_I64, "-(-9223372036854775807 - 1)", TSL_ERR_NUMERIC, "integer overflow");
  refused(TSL_I64, "abs(-9223372036854775807 - 1)", TSL_ERR_NUMERIC, "integer overflow");
  refused(TSL_I64, "(-9223372036854775807 - 1) / -1", TSL_ERR_NUMERIC, "integer overflow");
  refused(TSL_I64, "sum(k = 0 .. 1 : 9223372036854775807)", TSL_ERR_NUMERIC, "integer overflow");
  refused(TSL_I16, "32768", TSL_ERR_NUMERIC, "does not fit the table's type i16");
  refused(TSL_I32, "-2147483649", TSL_ERR_NUMERIC, "does not fit the table's type i32");
  refused(TSL_I64, "min(k = 1 .. 0 : k)", TSL_ERR_INPUT, "the range is empty");
  refused(TSL_I64, "sum(k = 0 .. 9e18 : 1)", TSL_ERR_INPUT, "more than 2147483647 values");
  refused(TSL_I64, "sum(k = -9e18 .. 9e18 : 1)", TSL_ERR_INPUT, "more than 2147483647 values");
  refused(TSL_I64, "sum(k = 1 .. 3 : w[k + 2])", TSL_ERR_INPUT, "range at 3");
  refused(TSL_F64, "inf - inf", TSL_ERR_NUMERIC, "not a number");
  refused(TSL_F64, "0.0 * inf", TSL_ERR_NUMERIC, "not a number: 0 * inf");
  refused(TSL_I64, "M[i][j]", TSL_ERR_INPUT, "need each other");
}

/** Reals that would be wrong are none; what is exact, or infinite by the deck's own word, is. */
static void lost_reals(void **state) {
  (void)state;
  refused(TSL_F64, "0.0 / 0.0", TSL_ERR_NUMERIC, "division by zero: 0 / 0");
  refused(TSL_F64, "x[0] / (h - h)", TSL_ERR_NUMERIC, "division by zero: 0.5 / 0");
  refused(TSL_F64, "inf / 0", TSL_ERR_NUMERIC, "division by zero: inf / 0");
  refused(TSL_F64, "1e308 * 10", TSL_ERR_NUMERIC, "overflow: 1e+308 * 10");
  refused(TSL_F64, "-1e308 - 1e308", TSL_ERR_NUMERIC, "overflow: -1e+308 - 1e+308");
  refused(TSL_F64, "min(1, 1e308 * 10)", TSL_ERR_NUMERIC, "overflow");
  refused(TSL_F64, "max(1, inf - inf)", TSL_ERR_NUMERIC, "not a number: inf - inf");
  refused(TSL_F64, "sum(k = 0 .. 20 : 1e307)", TSL_ERR_NUMERIC, "overflow");
  refused(TSL_F64, "1e-200 * 1e-200", TSL_ERR_NUMERIC, "underflow: 1e-200 * 1e-200");
  refused(TSL_F64, "1e-300 / 1e10", TSL_ERR_NUMERIC, "underflow: 1e-300 / 1e+10");
  refused(TSL_F32, "1e30 * 1e30", TSL_ERR_NUMERIC, "overflow");
  refused(TSL_F32, "1e-30 * 1e-30", TSL_ERR_NUMERIC, "underflow");
  refused(TSL_F64, "1e-400", TSL_ERR_INPUT, "too small");
  refused(TSL_F32, "1e39", TSL_ERR_INPUT, "does not fit the table's type");
  refused(TSL_F32, "1e-39", TSL_ERR_INPUT, "does not fit the table's type");
  refused(TSL_F64, "log(-1)", TSL_ERR_NUMERIC, "not a number: log of -1");
  refused(TSL_F64, "sqrt(h - 3)", TSL_ERR_NUMERIC, "not a number: sqrt of -0.5");
  refused(TSL_F64, "exp(800)", TSL_ERR_NUMERIC, "overflow: exp of 800");
  refused(TSL_F32, "exp(89)", TSL_ERR_NUMERIC, "overflow: exp of 89");
  refused(TSL_F64, "pow(1e-10, 40)", TSL_ERR_NUMERIC, "underflow: pow of 1e-10");
  refused(TSL_F64, "pow(h, 65)", TSL_ERR_INPUT, "a power is from -64 to 64, this is 65");
  refused(TSL_F64, "pow(2, h)", TSL_ERR_INPUT, "a power is an integer");
  refused(TSL_F64, "exp", TSL_ERR_INPUT, "unknown name 'exp'");
  refused(TSL_F64, "logsum(k = 1 .. 0 : 1 else 2)", TSL_ERR_INPUT, "an empty logsum is -inf");
  refused(TSL_I32, "exp(1)", TSL_ERR_INPUT, "a function of reals in an integer table");
  refused(TSL_I32, "logsum(1, 2)", TSL_ERR_INPUT, "a function of reals in an integer table");
  refused(TSL_I32, "'ab'", TSL_ERR_INPUT, "a letter is one character between quotes");
  assert_true(real(TSL_F64, "1 / inf") == 0);
  assert_true(real(TSL_F64, "0 * 1e-300 + 0.0 / 7") == 0);
  assert_true(isinf(real(TSL_F64, "inf * 2 + 1e308")));
  assert_true(real(TSL_F64, "2.5e-308 - 2.4e-308") == 2.5e-308 - 2.4e-308);
  assert_true(real(TSL_F64, "h == h ? 1 : 1 / 0.0") == 1);
}

static char *repeat(const char *head, const char *piece, int n, const char *tail) {
  const size_t size = strlen(head) + strlen(piece) * (size_t)n + strlen(tail) + 1;
  char *text = malloc(size);
  assert_non_null(text);
  (void)snprintf(text, size, "%s", head);
  for (int k = 0; k < n; k++) strcat(text, piece);
  strcat(text, tail);
  return text;
}

static void hostile(void **state) {
  const struct {
    const char *head, *piece, *tail, *message;
    int n;
  } bombs[] = {
      {"", "(", "1", "nested deeper", 3000},    {"", "-", "1", "nested deeper", 3000},
      {"", "!", "1", "nested deeper", 3000},    {"", "(", "1", "nested deeper", 101},
      {"", "min(", "", "nested deeper", 1000},  {"", "w[", "", "nested deeper", 1500},
      {"", "1?", "", "nested deeper", 1500},    {"", "1?1:", "1", "nested deeper", 1000},
      {"1", "+1", "", "more than 4096", 30000},
  };
  (void)state;
  for (size_t b = 0; b < sizeof bombs / sizeof *bombs; b++) {
    draft d;
    lang_expr expr;
    draft_one(&d, TSL_I64, "1");
    char *text = repeat(bombs[b].head, bombs[b].piece, bombs[b].n, bombs[b].tail);
    assert_int_equal(lang_expr_parse(&d.equation.names, LANG_SCOPE_CELL, text, &expr),
                     TSL_ERR_INPUT);
    if (strstr(tsl_err_message(), bombs[b].message) == NULL)
      fail_msg("bomb %zu: %s", b, tsl_err_message());
    free(text);
  }
  char *wide = repeat("min(1", ", 1", 1000, ")"); /* many arguments are no depth */
  assert_int_equal(whole(wide), 1);
  free(wide);
  wide = repeat("1", "+1", 2000, ""); /* nor is a chain of operators */
  assert_int_equal(whole(wide), 2001);
  free(wide);
  wide = repeat("1", "||1", 1000, "");
  assert_int_equal(whole(wide), 1);
  free(wide);
  char brackets[256] = "";
  for (int k = 0; k < 201; k++) strcat(brackets, k < 100 ? "(" : k == 100 ? "7" : ")");
  assert_int_equal(whole(brackets), 7);
}

/* ------------------------------------------------------- printing, scopes, names */

static void printing(void **state) {
  static const char *const texts[] = {
      "1 + 2 * 3",
      "a[i-1] == a[j-1] ? M[i-1][j-1] + 1 : max(M[i-1][j], M[i][j-1])",
      "min(k = i .. j - 1 : M[i][k] + M[k+1][j] + n else -1)",
      "min(a1 = 0 .. 1 : a1) + min(b1 = 0 .. 2 : min(a1 = b1 .. 3 : a1 * b1))",
      "!(i < 3 && j >= 2 || i % 2 != 0) ? abs(-i) : sum(k = 1 .. i : k / 2)",
      "min(1) - (2 - 3) - -4 + len(a) + cols(M)",
  };
  char first[2048], second[2048];
  (void)state;
  for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
    draft d;
    lang_expr a, b;
    draft_table(&d, TSL_I64, 3, 3);
    draft_text(&d, "a", "abc");
    draft_whole(&d, "n", 4);
    MUST(lang_expr_parse(&d.equation.names, LANG_SCOPE_CELL, texts[t], &a));
    const size_t n = dp_expr_print(&d.equation.names, &a, first, sizeof first);
    assert_int_equal(n, strlen(first));
    MUST(lang_expr_parse(&d.equation.names, LANG_SCOPE_CELL, first, &b));
    (void)dp_expr_print(&d.equation.names, &b, second, sizeof second);
    assert_string_equal(first, second);
    assert_true(lang_same(&a, a.root, &b, b.root));
    (void)dp_expr_print(&d.equation.names, &a, second, 9);
    assert_int_equal(strlen(second), 8);
    lang_expr_clear(&a);
    lang_expr_clear(&b);
  }
}

static void print_reals(void **state) {
  draft d;
  lang_expr a, b;
  char text[256];
  (void)state;
  draft_table(&d, TSL_F64, 1, 1);
  MUST(lang_expr_parse(&d.equation.names, LANG_SCOPE_CELL, "1e300 * 0.1 + 2.0 - inf + 1e-5 + 3",
                       &a));
  (void)dp_expr_print(&d.equation.names, &a, text, sizeof text);
  MUST(lang_expr_parse(&d.equation.names, LANG_SCOPE_CELL, text, &b));
  assert_true(lang_same(&a, a.root, &b, b.root));
  lang_expr_clear(&a);
  lang_expr_clear(&b);
}

static void scopes(void **state) {
  static const struct {
    lang_scope scope;
    const char *text, *message;
  } bad[] = {{LANG_SCOPE_CONSTANT, "i", "place of a cell"},
             {LANG_SCOPE_CONSTANT, "M[0][0]", "cannot be read"},
             {LANG_SCOPE_SIZE, "1.5", "a real in an integer table"},
             {LANG_SCOPE_SIZE, "rows(M)", "not yet known"},
             {LANG_SCOPE_WHERE, "M[0][0] == 0", "cannot be read in a condition"},
             {LANG_SCOPE_GOAL, "M[i][0]", "place of a cell"}};
  lang_expr expr;
  draft d;
  (void)state;
  draft_table(&d, TSL_I32, 2, 2);
  for (size_t t = 0; t < sizeof bad / sizeof *bad; t++) {
    assert_int_equal(lang_expr_parse(&d.equation.names, bad[t].scope, bad[t].text, &expr),
                     TSL_ERR_INPUT);
    if (strstr(tsl_err_message(), bad[t].message) == NULL) fail_msg("%s", tsl_err_message());
  }
  MUST(lang_expr_parse(&d.equation.names, LANG_SCOPE_CONSTANT, "2.5 * 2", &expr));
  lang_expr_clear(&expr);
}

static void names(void **state) {
  static const char *const bad[] = {"",    "1a",  "a-b",  "i",
                                    "j",   "min", "sum",  "len",
                                    "inf", "M",   "else", "abcdefghijabcdefghijabcdefghij12"};
  draft d;
  (void)state;
  draft_table(&d, TSL_I32, 2, 2);
  for (size_t n = 0; n < sizeof bad / sizeof *bad; n++)
    assert_int_equal(lang_check_name(&d.equation.names, bad[n]), TSL_ERR_INPUT);
  assert_int_equal(lang_check_name(&d.equation.names, "_a1"), TSL_OK);
}

/* ---------------------------------------------------------- whole problems */

static void lcs(void **state) {
  draft d;
  dp_value v = {0};
  (void)state;
  draft_table(&d, TSL_I32, 8, 7);
  draft_text(&d, "a", "ABCBDAB");
  draft_text(&d, "b", "BDCABA");
  draft_rule(&d, "i == 0 || j == 0", "0");
  draft_cell(&d, "a[i-1] == b[j-1] ? M[i-1][j-1] + 1 : max(M[i-1][j], M[i][j-1])");
  MUST(draft_solve(&d, &v));
  assert_int_equal(v.whole, 4);
}

/** CLRS: 30 35 15 5 10 20 25 costs 15125; the trace gives the splits. */
static void matrix_chain(void **state) {
  static const int32_t sizes[] = {30, 35, 15, 5, 10, 20, 25};
  draft d;
  dp_recurrence *r = NULL;
  dp_oracle grid;
  dp_links steps;
  dp_value v = {0};
  int64_t i, j, k;
  (void)state;
  draft_table(&d, TSL_I64, 6, 6);
  d.equation.names.tables[0].cells = LANG_CELLS_UPPER;
  draft_array(&d, "p", TSL_I32, 7, 0, sizes);
  draft_rule(&d, "i == j", "0");
  draft_cell(&d, "min(k = i .. j-1 : M[i][k] + M[k+1][j] + p[i] * p[k+1] * p[j+1])");
  draft_goal(&d, "M[0][5]");
  MUST(draft_finish(&d, &r));
  MUST(dp_oracle_create(r, &grid));
  MUST(dp_oracle_fill_order(&grid, DP_SONE));
  MUST(dp_oracle_goal(&grid, &v, &i, &j, &k));
  assert_int_equal(v.whole, 15125);
  MUST(dp_oracle_trace(&grid, &steps));
  assert_true(steps.n > 3);
  assert_int_equal(steps.list[0].i, -1);
  assert_int_equal(steps.list[1].i, 0);
  assert_int_equal(steps.list[1].j, 5);
  assert_int_equal(steps.list[1].k, 2); /* (A1 A2 A3)(A4 A5 A6) */
  assert_int_equal(steps.list[1].reference, 0);
  assert_int_equal(steps.list[2].reference, 1);
  assert_int_equal(steps.list[2].to_i, 3);
  assert_int_equal(steps.list[3].i, 0);
  assert_int_equal(steps.list[3].j, 2);
  assert_int_equal(steps.list[3].k, 0); /* A1 (A2 A3) */
  tsl_free(steps.list);
  dp_oracle_clear(&grid);
  dp_recurrence_destroy(&r);
}

/** Ties: the first argument, the least k, the first cell. */
static void ties(void **state) {
  draft d;
  dp_recurrence *r = NULL;
  dp_oracle grid;
  dp_links steps;
  dp_value v = {0};
  int64_t i, j, k;
  (void)state;
  draft_table(&d, TSL_I32, 3, 3);
  draft_rule(&d, "i == 0", "7");
  draft_cell(&d, "max(min(M[i-1][j], M[0][j]), max(k = 0 .. 2 : M[i-1][k]))");
  draft_goal(&d, " max  over\nall ");
  MUST(draft_finish(&d, &r));
  MUST(dp_oracle_create(r, &grid));
  MUST(dp_oracle_fill(&grid));
  MUST(dp_oracle_goal(&grid, &v, &i, &j, &k));
  assert_true(v.whole == 7 && i == 0 && j == 0);
  r->equation.goal = DP_GOAL_ROW;
  MUST(dp_oracle_goal(&grid, &v, &i, &j, &k));
  assert_true(v.whole == 7 && i == 2 && j == 0);
  MUST(dp_oracle_trace(&grid, &steps));
  assert_int_equal(steps.n, 4);
  assert_int_equal(steps.list[1].reference, 0);
  assert_int_equal(steps.list[1].to_i, 1);
  assert_int_equal(steps.list[3].reference, -1);
  tsl_free(steps.list);
  dp_oracle_clear(&grid);
  dp_recurrence_destroy(&r);
}

static void empty_tables(void **state) {
  draft d;
  dp_recurrence *r = NULL;
  dp_oracle grid;
  dp_value v;
  int64_t i, j, k;
  (void)state;
  draft_table(&d, TSL_I32, 0, 5);
  draft_cell(&d, "1");
  draft_goal(&d, "max over all");
  MUST(draft_finish(&d, &r));
  MUST(dp_oracle_create(r, &grid));
  MUST(dp_oracle_fill(&grid));
  MUST(dp_oracle_fill_order(&grid, DP_NOSE));
  assert_int_equal(dp_oracle_goal(&grid, &v, &i, &j, &k), TSL_ERR_INPUT);
  dp_oracle_clear(&grid);
  dp_recurrence_destroy(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(integers),      cmocka_unit_test(logic),        cmocka_unit_test(ranges),
      cmocka_unit_test(reals),         cmocka_unit_test(carets),       cmocka_unit_test(syntax),
      cmocka_unit_test(inner_indices), cmocka_unit_test(failures),     cmocka_unit_test(functions),
      cmocka_unit_test(lost_reals),    cmocka_unit_test(hostile),      cmocka_unit_test(printing),
      cmocka_unit_test(print_reals),   cmocka_unit_test(scopes),       cmocka_unit_test(names),
      cmocka_unit_test(lcs),           cmocka_unit_test(matrix_chain), cmocka_unit_test(ties),
      cmocka_unit_test(empty_tables)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
