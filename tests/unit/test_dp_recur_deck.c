/* unit.dp.recur_deck: recurrence decks as equations, and what bad ones are told. */
#include "dp_fixture.h"
#include "dp_recur_deck.h"

typedef struct section {
  char *problem;
  dp_recur_deck recur;
} section;

static const tsl_key keys[] = {
    TSL_TEXT_KEY("problem", offsetof(section, problem), NULL, "recurrence"),
    DP_RECUR_KEYS(offsetof(section, recur)),
    {0}};

/** Bind and read a deck; data are freed, the equation is the caller's. */
static tsl_err load(const char *text, dp_equation **equation, int64_t first[LANG_ARRAYS_MAX]) {
  tsl_deck *deck = NULL;
  section s;
  void *data[LANG_ARRAYS_MAX] = {NULL};
  *equation = NULL;
  tsl_err err = tsl_deck_parse(text, strlen(text), "d.yaml", NULL, 0, &deck);
  if (err == TSL_OK) err = tsl_deck_bind(deck, "dp", keys, sizeof s, &s);
  if (err == TSL_OK) err = dp_recur_read(deck, "dp", &s.recur, equation, data);
  for (int a = 0; a < LANG_ARRAYS_MAX; a++) {
    first[a] = 0;
    if (*equation != NULL && a < (*equation)->names.n_arrays &&
        dp_array_count(&(*equation)->names.arrays[a]) > 0)
      first[a] = dp_array_value(&(*equation)->names.arrays[a], data[a], 0).whole;
    tsl_free(data[a]);
  }
  tsl_deck_destroy(&deck);
  return err;
}

static void refused(const char *text, const char *message) {
  dp_equation *equation = NULL;
  int64_t first[LANG_ARRAYS_MAX];
  assert_int_equal(load(text, &equation, first), TSL_ERR_INPUT);
  if (strstr(tsl_err_message(), message) == NULL)
    fail_msg("'%s' is not in:\n%s", message, tsl_err_message());
  assert_null(equation);
}

static void every_key(void **state) {
  static const char text[] =
      "dp:\n"
      "  problem: recurrence\n"
      "  table: {name: F, type: f32, rows: len(a) + n, cols: rows(g) * 2, cells: upper}\n"
      "  data:\n"
      "    - {name: a, text: CAB}\n"
      "    - {name: g, values: [1, 2.5, 3, 4], width: 2}\n"
      "    - {name: w, values: [7, 3000000000], type: int}\n"
      "    - {name: e, values: []}\n"
      "    - {name: r, random: 10, seed: 3, type: int, lo: 5, hi: 5}\n"
      "    - {name: l, random: 4, type: letters}\n"
      "  constants:\n"
      "    - {name: n, value: 4}\n"
      "    - {name: h, value: \"n * 0.5 + g[0][1]\"}\n"
      "    - {name: m, value: \"max(k = 0 .. len(w) - 1 : w[k])\"}\n"
      "  boundary:\n"
      "    - {where: i == j, value: 1}\n"
      "  cell: F[i][j-1] + h\n"
      "  goal: max over last column\n"
      "  pattern: NOSE\n";
  dp_equation *q = NULL;
  int64_t first[LANG_ARRAYS_MAX];
  (void)state;
  MUST(load(text, &q, first));
  const lang_names *n = &q->names;
  assert_string_equal(n->tables[0].name, "F");
  assert_true(n->tables[0].type == TSL_F32 && n->tables[0].cells == LANG_CELLS_UPPER);
  assert_true(n->tables[0].rows == 7 && n->tables[0].cols == 4);
  assert_true(n->n_arrays == 6 && n->n_scalars == 3 && q->n_rules == 1);
  assert_true(n->arrays[0].type == TSL_U8 && n->arrays[0].lo == 'A' && n->arrays[0].hi == 'C');
  assert_true(n->arrays[1].type == TSL_F32 && n->arrays[1].rank == 2 && n->arrays[1].shape[1] == 2);
  assert_true(n->arrays[2].type == TSL_I64 && n->arrays[2].hi == 3000000000 && first[2] == 7);
  assert_true(n->arrays[3].shape[0] == 0);
  assert_true(n->arrays[4].type == TSL_I32 && n->arrays[4].shape[0] == 10 && first[4] == 5);
  assert_true(n->arrays[5].type == TSL_U8 && n->arrays[5].shape[0] == 4);
  assert_true(n->scalars[0].whole == 4 && n->scalars[1].kind == LANG_REAL);
  assert_true(n->scalars[1].real == 4.5 && n->scalars[2].whole == 3000000000);
  assert_true(q->goal == DP_GOAL_COLUMN && q->maximum == 1 && q->pattern == DP_NOSE);
  tsl_free(q);
}

#define HEAD "dp:\n  problem: recurrence\n  table: {rows: 3, cols: 3}\n"
#define TAIL "  cell: M[i-1][j] + 1\n  goal: M[2][2]\n"

static void messages(void **state) {
  (void)state;
  refused(HEAD "  data:\n    - {name: a, text: AC}\n    - {name: i, values: [1]}\n" TAIL,
          "d.yaml:6: dp.data[1].name: 'i' is a word of the language");
  refused(HEAD "  data:\n    - {name: a, text: AC, values: [1]}\n" TAIL,
          "d.yaml:5: dp.data[0]: give exactly one of values, text, file and random");
  refused(HEAD "  data:\n    - {name: a, values: [1, 2.5]}\n" TAIL,
          "d.yaml:5: dp.data[0]: number 2 is 2.5: whole numbers");
  refused(HEAD "  data:\n    - {name: a, values: [1, 2, 3], width: 2}\n" TAIL,
          "3 numbers are no whole number of rows of 2");
  refused(HEAD "  data:\n    - {name: a, text: AC, type: real}\n" TAIL, "text is letters");
  refused(HEAD "  data:\n    - {name: a, values: [1]}\n    - {name: a, values: [1]}\n" TAIL,
          "d.yaml:6: dp.data[1].name: the name 'a' is given twice");
  refused(HEAD "  constants:\n    - {name: n, value: 2}\n    - {name: m, value: n + q}\n" TAIL,
          "d.yaml:6: dp.constants[1].value: column 5: unknown name 'q'");
  refused(HEAD "  constants:\n    - {name: n, value: 1 / 0}\n" TAIL, "d.yaml:5");
  refused(
      HEAD
      "  boundary:\n    - {where: i == 0, value: 0}\n    - {where: \"M[0][0]\", value: 1}\n" TAIL,
      "d.yaml:6: dp.boundary[1].where: column 1: the table 'M' cannot be read in a condition");
  refused(HEAD "  cell: M[i-1][j] + w\n  goal: M[2][2]\n",
          "d.yaml:4: dp.cell: column 13: unknown name 'w'\n    M[i-1][j] + w\n                ^");
  refused(HEAD "  cell: 1\n  goal: max over last rows\n", "d.yaml:5: dp.goal: column ");
  refused(HEAD "  goal: M[2][2]\n", "needs the keys table, cell and goal");
  refused("dp:\n  problem: recurrence\n" TAIL, "rows and cols are needed");
  refused("dp:\n  problem: recurrence\n  table: {rows: 3, cols: 2 - 5}\n" TAIL,
          "d.yaml:3: dp.table.cols: -3; allowed 0 to 2^40");
  refused("dp:\n  problem: recurrence\n  table: {rows: 3, cols: 2.5}\n" TAIL,
          "a real in an integer table");
  refused("dp:\n  problem: recurrence\n  table: {rows: cols(M), cols: 3}\n" TAIL, "not yet known");
  refused(HEAD "  patern: RUD\n" TAIL, "did you mean 'pattern'?");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_key), cmocka_unit_test(messages)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
