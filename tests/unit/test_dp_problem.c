/* unit.dp.problem: decks of family dp become parameters and fields; bad ones are refused. */
#include "dp_problem_fixture.h"

#include <unistd.h>

/* -------------------------------------------------------------- good decks */

static void sequences(void **state) {
  made m;
  const dp_params *p = make_good(" problem: global\n a: {text: acgtNrU}\n b: {text: TTGCA}\n", &m);
  static const uint8_t codes[] = {0, 1, 2, 3, 4, 4, 3};
  (void)state;
  assert_int_equal(p->problem, DP_GLOBAL);
  assert_int_equal(p->engine, DP_WAVEFRONT);
  assert_int_equal(p->n, 7);
  assert_int_equal(p->m, 5);
  assert_int_equal(p->type, TSL_I32);
  assert_int_equal(p->letters, 5);
  assert_memory_equal(m.problem.fields[DP_A].data, codes, sizeof codes);
  assert_int_equal(p->scores.s[0][0], 2);
  assert_int_equal(p->scores.s[0][1], -3);
  assert_int_equal(p->scores.s[4][4], -3); /* N equals nothing */
  assert_int_equal(p->scores.open, 5);
  assert_int_equal(dp_field(&m.problem, "best"), -1);
  release(&m);
}

static void fields_by_mode(void **state) {
  static const struct {
    const char *section;
    int64_t table[2], path; /* extents, -1 none */
    bool best;
  } cases[] = {
      {" problem: local\n mode: table\n a: {text: ACG}\n b: {text: AC}\n", {4, 3}, -1, true},
      {" problem: lcs\n mode: recover\n a: {text: ACG}\n b: {text: AC}\n", {-1, -1}, 2, false},
      {" problem: dtw\n mode: table\n a: {values: [1, 2]}\n b: {values: [1, 2, 3]}\n",
       {2, 3},
       -1,
       false},
      {" problem: matrix_chain\n mode: recover\n dimensions: {values: [1, 2, 3, 4]}\n",
       {4, 4},
       3,
       false},
      {" problem: search_tree\n mode: table\n keys: {values: [1, 2]}\n", {4, 4}, -1, false},
      {" problem: stagecoach\n mode: table\n start: {values: [1, 2]}\n costs: {values: [1, 2, 3, "
       "4]}\n",
       {2, 2},
       -1,
       true},
      {" problem: knapsack\n mode: table\n capacity: 9\n weights: {values: [1]}\n values: {values: "
       "[1]}\n",
       {2, 10},
       -1,
       false},
  };
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    made m;
    (void)make_good(cases[k].section, &m);
    const int table = dp_field(&m.problem, "table"), path = dp_field(&m.problem, "path");
    assert_int_equal(table >= 0, cases[k].table[0] >= 0);
    assert_int_equal(path >= 0, cases[k].path >= 0);
    assert_int_equal(dp_field(&m.problem, "best") >= 0, cases[k].best);
    if (table >= 0) assert_int_equal(m.problem.fields[table].shape[0], cases[k].table[0]);
    if (table >= 0) assert_int_equal(m.problem.fields[table].shape[1], cases[k].table[1]);
    if (path >= 0) assert_int_equal(m.problem.fields[path].shape[1], cases[k].path);
    release(&m);
  }
}

static void types(void **state) {
  static const struct {
    const char *section;
    tsl_type values, goal;
  } cases[] = {
      {" problem: dtw\n type: f32\n a: {values: 1}\n b: {values: 2}\n", TSL_F32, TSL_F64},
      {" problem: search_tree\n keys: {values: 1.5}\n", TSL_F64, TSL_F64},
      {" problem: search_tree\n type: i64\n keys: {values: 1}\n", TSL_I64, TSL_I64},
      {" problem: allotment\n type: i32\n capacity: 1\n returns: {values: [0, 3]}\n", TSL_I32,
       TSL_I64},
      {" problem: binomial\n n: 5\n k: 2\n", TSL_I64, TSL_I64},
      {" problem: nussinov\n a: {text: ACGU}\n", TSL_I32, TSL_I64},
  };
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    made m;
    assert_int_equal(make_good(cases[k].section, &m)->type, cases[k].values);
    assert_int_equal(m.problem.fields[DP_GOAL].type, cases[k].goal);
    release(&m);
  }
}

static void made_up(void **state) {
  made m, again;
  static const char section[] = " problem: edit\n alphabet: rna\n a: {random: 5000, seed: 4}\n"
                                " b: {mutate: 0.3, seed: 5}\n";
  const dp_params *p = make_good(section, &m);
  int64_t counts[5] = {0};
  (void)state;
  (void)make_good(section, &again);
  assert_int_equal(p->n, 5000);
  assert_true(p->m > 4700 && p->m < 5300);
  for (int64_t k = 0; k < p->n; k++) counts[((const uint8_t *)m.problem.fields[DP_A].data)[k]]++;
  for (int c = 0; c < 4; c++) assert_true(counts[c] > 1100 && counts[c] < 1400);
  assert_int_equal(counts[4], 0);
  assert_memory_equal(m.problem.fields[DP_B].data, again.problem.fields[DP_B].data, (size_t)p->m);
  release(&m);
  release(&again);
}

static void binomial_is_symmetric(void **state) {
  made m;
  (void)state;
  assert_int_equal(make_good(" problem: binomial\n n: 100\n k: 98\n", &m)->m, 2);
  release(&m);
  assert_int_equal(
      make_good(" problem: binomial\n mode: table\n n: 100\n k: 98\n modulus: 7\n", &m)->m, 98);
  release(&m);
}

static void score_matrix(void **state) {
  char path[] = "/tmp/tsl_dp_XXXXXX", section[256];
  static const char text[] = "# scores\n   A  C  G  T  N\nA  5 -4 -4 -4 0\nC -4  5 -4 -4 0\n"
                             "G -4 -4  6 -4 0\nT -4 -4 -4  5 0\nN 0 0 0 0 1\n";
  const int fd = mkstemp(path);
  made m;
  (void)state;
  assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
  (void)close(fd);
  (void)snprintf(section, sizeof section,
                 " problem: global\n scores: {matrix: %s}\n a: {text: A}\n b: {text: C}\n", path);
  const dp_params *p = make_good(section, &m);
  assert_int_equal(p->scores.s[2][2], 6);
  assert_int_equal(p->scores.s[0][3], -4);
  assert_int_equal(p->scores.s[4][4], 1);
  release(&m);
  (void)unlink(path);
}

/* --------------------------------------------------------------- bad decks */

static void refused(const char *section, tsl_err code, const char *word, const char *other) {
  made m;
  const tsl_err err = make(section, &m);
  if (err != code)
    fail_msg("error %d, not %d:\n%s%s", (int)err, (int)code, section, tsl_err_message());
  if (strstr(tsl_err_message(), word) == NULL || strstr(tsl_err_message(), other) == NULL)
    fail_msg("'%s' and '%s' expected in: %s", word, other, tsl_err_message());
  release(&m);
}

#define SACK " problem: knapsack\n capacity: 10\n"
#define TREE " problem: search_tree\n"

static void bad_input(void **state) {
  static const char *const bad[][3] = {
      {" mode: value\n", "problem", "d.yaml"},
      {" problem: knapsak\n", "d.yaml:3", "knapsack"},
      {" problem: lcs\n a: {text: A}\n", "needs the key b", "lcs"},
      {" problem: lcs\n a: {text: A}\n b: {text: A}\n capacity: 3\n", "dp.capacity",
       "not used by problem lcs"},
      {" problem: lcs\n memory: 1 MiB\n a: {text: A}\n b: {text: A}\n", "dp.memory",
       "not used by mode value"},
      {" problem: lcs\n alphabet: dna\n a: {text: AXQ}\n b: {text: A}\n", "'Q' at place 3",
       "ACGTN"},
      {" problem: global\n a: {text: ACE}\n b: {text: A}\n", "'E' at place 3", "d.yaml:4"},
      {" problem: global\n alphabet: bytes\n a: {text: A}\n b: {text: A}\n", "dp.alphabet",
       "dna, rna or protein"},
      {" problem: nussinov\n alphabet: dna\n a: {text: A}\n", "dp.alphabet", "rna"},
      {" problem: lcs\n a: {text: A, file: x}\n b: {text: A}\n",
       "exactly one of text, file and random", "dp.a"},
      {" problem: lcs\n a: {values: [1]}\n b: {text: A}\n", "letters are needed", "dp.a.values"},
      {" problem: dtw\n a: {text: A}\n b: {values: 1}\n", "numbers are needed", "dp.a.text"},
      {" problem: dtw\n a: {values: []}\n b: {values: 1}\n", "empty series", "dp.a"},
      {" problem: dtw\n type: i64\n a: {values: 1}\n b: {values: 1}\n", "dp.type", "f32 or f64"},
      {SACK " weights: {values: [1, -2]}\n values: {values: [1, 2]}\n", "number 2 is -2",
       "dp.weights"},
      {SACK " weights: {values: [1, 2.5]}\n values: {values: [1, 2]}\n", "number 2 is 2.5",
       "whole number"},
      {SACK " weights: {values: [1, 2]}\n values: {values: [1]}\n", "1 values for 2 weights",
       "dp.values"},
      {" problem: knapsack_unbounded\n capacity: 9\n weights: {values: [0]}\n values: {values: "
       "[1]}\n",
       "number 1 is 0", "dp.weights"},
      {SACK " weights: {}\n values: {values: 1}\n", "exactly one of values, file and random",
       "dp.weights"},
      {" problem: knapsack\n capacity: -1\n weights: {values: 1}\n values: {values: 1}\n",
       "dp.capacity", "outside"},
      {TREE " keys: {values: [1, 2]}\n gaps: {values: [1, 2]}\n", "2 gaps for 2 keys", "one more"},
      {TREE " keys: {values: [1, -2]}\n", "weights are not negative", "dp.keys"},
      {TREE " type: i64\n keys: {values: [1.5]}\n", "type i64 does not hold", "dp.keys"},
      {TREE " type: f32\n keys: {values: [1.5]}\n", "i64 or f64", "dp.type"},
      {" problem: matrix_chain\n dimensions: {values: []}\n", "at least one", "dp.dimensions"},
      {" problem: matrix_chain\n dimensions: {values: [3, 0]}\n", "number 2 is 0", "dp.dimensions"},
      {" problem: allotment\n returns: {values: [1, 2]}\n", "capacity", "no file"},
      {" problem: allotment\n capacity: 2\n returns: {values: [1, 2]}\n", "rows of 3",
       "dp.returns"},
      {" problem: stagecoach\n start: {values: [1, 2]}\n costs: {values: [1, 2, 3, 4, 5, 6]}\n",
       "2 x 2", "dp.costs"},
      {" problem: binomial\n mode: recover\n n: 3\n k: 2\n", "no solution to recover", "dp.mode"},
      {" problem: binomial\n n: 3\n", "needs the key k", "binomial"},
      {" problem: lcs\n a: {file: /no/such/file}\n b: {text: A}\n", "/no/such/file", ""},
      {" problem: lcs\n alignment: x.txt\n mode: recover\n a: {text: A}\n b: {text: A}\n",
       "dp.alignment", "lcs"},
      {" problem: matrix_chain\n mode: recover\n memory: 64 KiB\n dimensions: {random: 200, lo: 1, "
       "hi: 5}\n",
       "312.5 KiB is needed", "dp.memory"},
      {" problem: dtw\n a: {random: 5, lo: 3, hi: 1}\n b: {values: 1}\n", "lo = 3 is above hi = 1",
       "dp.a"},
  };
  (void)state;
  for (size_t b = 0; b < sizeof bad / sizeof *bad; b++)
    refused(bad[b][0], TSL_ERR_INPUT, bad[b][1], bad[b][2]);
}

/** Values that might overflow are no bad input but a number that would be wrong. */
static void overflow(void **state) {
  static const char *const bad[][2] = {
      {" problem: matrix_chain\n dimensions: {values: [4e6, 4e6, 4e6, 4e6]}\n", "dp.dimensions"},
      {" problem: knapsack\n capacity: 9\n weights: {random: 2000, lo: 1, hi: 1}\n"
       " values: {random: 2000, lo: 9e15, hi: 9e15}\n",
       "dp.values"},
      {" problem: knapsack_unbounded\n capacity: 1e9\n weights: {values: 1}\n values: {values: "
       "9e15}\n",
       "dp.values"},
      {" problem: global\n scores: {match: 10000}\n a: {random: 100000}\n b: {random: 100000}\n",
       "dp.scores"},
      {" problem: edit\n edit: {insert: 10000}\n a: {random: 100000}\n b: {random: 100000}\n",
       "dp.edit"},
      {" problem: allotment\n type: i32\n capacity: 0\n returns: {values: [2e9, 2e9]}\n",
       "dp.returns"},
      {" problem: stagecoach\n type: i32\n start: {values: 2e9}\n costs: {values: 2e9}\n",
       "dp.costs"},
      {" problem: search_tree\n type: i64\n keys: {random: 2000, lo: 9e15, hi: 9e15}\n", "dp.keys"},
  };
  (void)state;
  for (size_t b = 0; b < sizeof bad / sizeof *bad; b++)
    refused(bad[b][0], TSL_ERR_NUMERIC, bad[b][1], "may");
}

static void too_little_memory(void **state) {
  made m;
  const tsl_limits limits = {.slab_bytes = 1 << 20, .n_ranks = 2, .target_units = 512};
  (void)state;
  (void)make_good(" problem: global\n mode: recover\n memory: 64 KiB\n a: {random: 9000}\n"
                  " b: {random: 9000}\n",
                  &m);
  assert_int_equal(tsl_family_dp.units(&m.problem, &limits, &m.units), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "is needed with 2 ranks"));
  release(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sequences),
      cmocka_unit_test(fields_by_mode),
      cmocka_unit_test(types),
      cmocka_unit_test(made_up),
      cmocka_unit_test(score_matrix),
      cmocka_unit_test(binomial_is_symmetric),
      cmocka_unit_test(bad_input),
      cmocka_unit_test(overflow),
      cmocka_unit_test(too_little_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
