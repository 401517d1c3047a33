/* unit.dp.problem: decks of family dp become parameters and fields; bad ones are refused. */
#include "dp_problem_fixture.h"

#include <unistd.h>

/* -------------------------------------------------------------- good decks */

static void sequences(void **state) {
  made m;
  const dp_params *p = make_good(" problem: global\n a: {text: acgtNrU}\n b: {text: TTGCA}\n", &m);
  static const uint8_t codes[] = {0, 1, 2, 3, 4, 5, 3};
  (void)state;
  assert_int_equal(p->problem, DP_GLOBAL);
  assert_int_equal(p->engine, DP_WAVEFRONT);
  assert_int_equal(p->n, 7);
  assert_int_equal(p->m, 5);
  assert_int_equal(p->type, TSL_I32);
  assert_int_equal(p->letters, 6);
  assert_memory_equal(m.problem.fields[DP_A].data, codes, sizeof codes);
  assert_int_equal(p->scores.s[0][0], 2);
  assert_int_equal(p->scores.s[0][1], -3);
  assert_int_equal(p->scores.s[4][4], 2); /* N equals itself */
  assert_int_equal(p->scores.s[4][5], -3);
  assert_int_equal(p->scores.alphabet, 6);
  assert_int_equal(p->scores.open, 5);
  assert_int_equal(dp_field(&m.problem, "best"), -1);
  release(&m);
}

/* A worker of the cores of the root's node is opened only for problems that have one. */
static void shortcuts(void **state) {
  static const struct {
    const char *section;
    bool has;
  } cases[] = {
      {" problem: edit\n a: {random: 30}\n b: {random: 40}\n", true},
      {" problem: global\n mode: recover\n a: {random: 30}\n b: {random: 40}\n", true},
      {" problem: lcs\n a: {random: 30}\n b: {random: 40}\n band: off\n", false},
      {" problem: lcs\n mode: table\n a: {random: 30}\n b: {random: 40}\n", false},
      {" problem: local\n a: {random: 30}\n b: {random: 40}\n", false},
      {" problem: matrix_chain\n dimensions: {values: [1, 2, 3, 4]}\n", false},
      {" problem: recurrence\n table: {type: i32, rows: 3, cols: 3}\n boundary: [{where: i == 0, "
       "value: 1}]\n cell: \"M[i-1][j] + 1\"\n goal: M[2][2]\n",
       false},
  };
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    for (int asked = 0; asked < 2; asked++) {
      made m;
      if (make_asked(cases[k].section, asked, &m) != TSL_OK)
        fail_msg("%s\n%s", tsl_err_message(), cases[k].section);
      assert_int_equal(m.problem.shortcut, asked && cases[k].has);
      release(&m);
    }
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

/** The matrix in memory; message NULL: good, else refused with it. */
static void matrix(int32_t alphabet, const char *text, letters_scores *scores, uint32_t *known,
                   const char *message) {
  const tsl_err err =
      letters_scores_parse("m.txt", text, (int64_t)strlen(text), alphabet, scores, known);
  if (message == NULL && err != TSL_OK) fail_msg("%s", tsl_err_message());
  if (message == NULL) return;
  assert_int_equal(err, TSL_ERR_INPUT);
  if (strstr(tsl_err_message(), message) == NULL)
    fail_msg("'%s' expected in: %s", message, tsl_err_message());
}

static void score_matrix(void **state) {
  static const char text[] = "# scores\n   A  C  G  T  N\nC -4  5 -4 -4 0\nA  5 -4 -4 -4 0\n\n"
                             "\t\nG -4 -3  6 -4 0 # no more\nT -4 -4 -4  5 0\nN 0 0 0 0 1\n";
  letters_scores s = {.open = 3};
  uint32_t known = 0;
  (void)state;
  matrix(LETTERS_DNA, text, &s, &known, NULL);
  assert_true(s.s[2][2] == 6 && s.s[0][3] == -4 && s.s[4][4] == 1 && s.s[2][1] == -3);
  assert_true(s.open == 3 && s.alphabet == 5 && known == 0x1f);
  matrix(LETTERS_DNA, "a r\na 1 2\nr 3 4\n", &s, &known, NULL);
  assert_true(s.s[0][0] == 1 && s.s[0][5] == 2 && s.s[5][0] == 3 && s.s[5][5] == 4);
  assert_true(s.s[1][1] == 0 && s.alphabet == 6 && known == 0x21);
}

/** A matrix that leaves a score open, or says it twice, is refused with letter and line. */
static void bad_matrices(void **state) {
  static const char *const bad[][2] = {
      {"A C G N\nA 1 2 3 4\nC 1 2 3 4\nG 1 2 3 4\nT 1 2 3 4\nN 1 2 3 4\n",
       "m.txt:5: row letter 'T' has no column"},
      {"A C\nA 1 2\nC 3 4\nA 5 6\n", "m.txt:4: row letter 'A' is there twice"},
      {"A C A\nA 1 2 3\nC 3 4 5\n", "m.txt:1: column letter 'A' is there twice"},
      {"A a\nA 1 2\na 3 4\n", "m.txt:1: column letters 'A' and 'a' are one letter"},
      {"T U\nT 1 2\nU 3 4\n",
       "m.txt:1: column letters 'T' and 'U' are one letter in the alphabet dna"},
      {"T\nT 1\nu 3\n", "m.txt:3: row letters 'T' and 'u' are one letter"},
      {"A C E\nA 1 2 3\n", "m.txt:1: column letter 'E' is not of the alphabet dna"},
      {"A C\nA 1 2\n", "m.txt: no row for letter C"},
      {"A C\nA 1\nC 1 2\n", "m.txt:2: row 'A' has 1 scores for 2 columns"},
      {"A C\nA 1 2 3\nC 1 2\n", "m.txt:2: row 'A' has 3 scores for 2 columns"},
      {"AC\nA 1 2\n", "m.txt:1: 'AC' where the letter of a column is needed"},
      {"A C\n1 2\n3 4\n", "m.txt:2: row letter '1' is not of the alphabet dna"},
      {"A\nA 1.5\n", "m.txt:2: column 1: a whole number"},
      {"A\nA x\n", "m.txt:2: column 1 (from 0): 'x' is not a number"},
      {"# nothing\n\t\n", "m.txt: no line with the letters"},
  };
  letters_scores s = {.open = 0};
  uint32_t known = 0;
  (void)state;
  for (size_t b = 0; b < sizeof bad / sizeof *bad; b++)
    matrix(LETTERS_DNA, bad[b][0], &s, &known, bad[b][1]);
}

/** A file of numbers or letters under a name of its own; the caller removes it. */
static void put_file(char path[], const char *text) {
  const int fd = mkstemps(path, 4);
  const ssize_t n = (ssize_t)strlen(text);
  assert_int_equal(write(fd, text, (size_t)n), n);
  (void)close(fd);
}

/** Letters of the matrix are letters; those that it lacks are refused where they stand. */
static void letters_with_scores(void **state) {
  char path[] = "/tmp/tsl_dp_XXXXXX.txt", section[256];
  made m;
  (void)state;
  put_file(path, "  A R Y\nA 5 1 -2\nR 1 4 -1\nY -2 -1 4\n");
  (void)snprintf(section, sizeof section,
                 " problem: global\n scores: {matrix: %s}\n a: {text: RrAy}\n b: {text: AAYR}\n",
                 path);
  const dp_params *p = make_good(section, &m);
  const uint8_t *a = m.problem.fields[DP_A].data, *b = m.problem.fields[DP_B].data;
  assert_int_equal(p->scores.s[a[0]][b[0]], 1);
  assert_int_equal(p->scores.s[a[1]][b[1]], 1);
  assert_int_equal(p->scores.s[a[2]][b[2]], -2);
  assert_int_equal(p->scores.s[a[3]][b[3]], -1);
  release(&m);
  (void)snprintf(section, sizeof section,
                 " problem: global\n scores: {matrix: %s}\n a: {text: AR}\n b: {text: ARN}\n",
                 path);
  assert_int_equal(make(section, &m), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "letter 'N' at place 3 has no scores in /tmp/tsl_dp"));
  assert_non_null(strstr(tsl_err_message(), "d.yaml:6: dp.b"));
  release(&m);
  (void)snprintf(section, sizeof section,
                 " problem: global\n scores: {matrix: %s}\n a: {text: A}\n b: {random: 9}\n", path);
  assert_int_equal(make(section, &m), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "which is made up, has no scores"));
  release(&m);
  (void)unlink(path);
}

/** Rows of a file stay rows: section has one %s for the file; message NULL: good. */
static void shaped(const char *text, const char *format, const char *message) {
  char path[] = "/tmp/tsl_dp_XXXXXX.csv", section[512];
  const char *file = strstr(format, "FILE");
  made m;
  put_file(path, text);
  (void)snprintf(section, sizeof section, "%.*s%s%s", (int)(file - format), format, path, file + 4);
  const tsl_err err = make(section, &m);
  if (message == NULL && err != TSL_OK) fail_msg("%s\n%s", tsl_err_message(), section);
  if (message != NULL && (err != TSL_ERR_INPUT || strstr(tsl_err_message(), message) == NULL))
    fail_msg("'%s' expected in: %s\n%s", message, err == TSL_OK ? "" : tsl_err_message(), section);
  release(&m);
  (void)unlink(path);
}

static void shapes(void **state) {
  static const char two[] = "0,10,100\n0,20,50\n", column[] = "3\n4\n5\n", row[] = "3,4,5\n";
  static const char *const lists[] = {
      " problem: dtw\n a: {file: FILE}\n b: {values: [1]}\n",
      " problem: dtw\n a: {values: [1]}\n b: {file: FILE}\n",
      " problem: knapsack\n capacity: 9\n weights: {file: FILE}\n values: {values: [1, 2, 3]}\n",
      " problem: knapsack\n capacity: 9\n values: {file: FILE}\n weights: {values: [1, 2, 3]}\n",
      " problem: matrix_chain\n dimensions: {file: FILE}\n",
      " problem: search_tree\n keys: {file: FILE}\n",
      " problem: search_tree\n keys: {values: [1, 2]}\n gaps: {file: FILE}\n",
      " problem: stagecoach\n start: {file: FILE}\n costs: {values: [1,2,3,4,5,6,7,8,9]}\n"};
  (void)state;
  shaped(two, " problem: allotment\n capacity: 1\n returns: {file: FILE}\n",
         "rows of 3 numbers where rows of 2 are");
  shaped(two, " problem: allotment\n capacity: 5\n returns: {file: FILE}\n",
         "rows of 3 numbers where rows of 6 are");
  shaped(two, " problem: allotment\n capacity: 2\n returns: {file: FILE}\n", NULL);
  shaped(two, " problem: allotment\n returns: {file: FILE}\n", NULL);
  shaped(two, " problem: allotment\n capacity: 1\n returns: {file: FILE, columns: [0, 2]}\n", NULL);
  shaped(two, " problem: stagecoach\n start: {values: [1, 2]}\n costs: {file: FILE}\n", "2 x 2");
  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
    shaped(two, lists[k], "3 columns where a series is one; name it with columns: [0]");
    shaped(column, lists[k], NULL);
    shaped(row, lists[k], "one row of 3 numbers where a series stands in one column");
  }
}

/** A run says of each array how it was read. */
static void described(void **state) {
  char path[] = "/tmp/tsl_dp_XXXXXX.csv", section[256], text[4096] = "", line[256];
  made m;
  (void)state;
  put_file(path, "w,v\n3,1\n4,2\n5,3\n");
  (void)snprintf(section, sizeof section,
                 " problem: knapsack\n capacity: 9\n weights: {file: %s, columns: [0]}\n"
                 " values: {random: 3, seed: 7}\n",
                 path);
  (void)make_good(section, &m);
  tsl_family_dp.describe(&m.problem, text, sizeof text);
  (void)snprintf(line, sizeof line,
                 "weights: %s: text with commas, 3 rows, column 0 of 2, line 1 skipped as a header "
                 "('w,v')\nvalues: 3 numbers made up, seed 7\n",
                 path);
  assert_string_equal(text, line);
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
      {" problem: lcs\n a: {text: A, record: 1}\n b: {text: A}\n", "are for a file", "dp.a"},
      {" problem: lcs\n a: {text: A, format: text}\n b: {text: A}\n", "are for a file", "dp.a"},
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

/** Cut for two ranks with so much memory, 0: not known. message NULL: good, else refused. */
static void recovers(const char *section, int64_t keep, int64_t host, const char *message) {
  made m;
  const tsl_limits limits = {.slab_bytes = 1 << 20,
                             .n_ranks = 2,
                             .target_units = 512,
                             .keep_bytes = keep,
                             .host_bytes = host};
  (void)make_good(section, &m);
  const tsl_err err = tsl_family_dp.units(&m.problem, &limits, &m.units);
  if (message == NULL && err != TSL_OK) fail_msg("%s", tsl_err_message());
  if (message != NULL && (err != TSL_ERR_INPUT || strstr(tsl_err_message(), message) == NULL))
    fail_msg("'%s' expected in: %s", message, err == TSL_OK ? "" : tsl_err_message());
  release(&m);
}

/** A recovery that does not fit the memory of the deck or of a rank is refused before any work. */
static void too_little_memory(void **state) {
  static const char small[] = " problem: global\n mode: recover\n memory: 64 KiB\n"
                              " a: {random: 9000}\n b: {random: 9000}\n";
  static const char large[] = " problem: global\n mode: recover\n memory: 1 TiB\n"
                              " a: {random: 9000}\n b: {random: 9000}\n";
  static const char host[] = " problem: global\n mode: recover\n recover: host\n"
                             " a: {random: 9000}\n b: {random: 9000}\n";
  static const char sack[] = " problem: knapsack\n mode: recover\n capacity: 80000\n"
                             " weights: {random: 1000}\n values: {random: 1000}\n";
  static const char chain[] =
      " problem: matrix_chain\n mode: recover\n dimensions: {random: 300, lo: 1, hi: 5}\n";
  (void)state;
  recovers(small, 0, 0, "is needed with 2 ranks");
  recovers(large, 0, 0, NULL);
  recovers(large, 8 << 20, 8 << 20, NULL);
  recovers(large, 1 << 20, 8 << 20, "each of 2 ranks needs about ");
  recovers(large, 8 << 20, 1 << 20, NULL); /* cards of a small host */
  recovers(host, 8 << 20, 1 << 20, "may use 1.0 MiB");
  recovers(sack, 8 << 20, 0, NULL);
  recovers(sack, 2 << 20, 0, "decisions of this table need 4.8 MiB");
  recovers(chain, 1 << 20, 1 << 20, NULL);
  recovers(chain, 1 << 20, 1 << 19, "rank 0 needs 703.1 KiB and may use 512.0 KiB");
}

/* ------------------------------------------------------ rows of dp_ready.def */

static void are_keys(const char *problem, const char *list) {
  char words[256];
  (void)snprintf(words, sizeof words, "%s", list);
  for (char *next = words, *word; (word = strsep(&next, " ")) != NULL;) {
    const tsl_key *key = dp_keys;
    while (key->name != NULL && strcmp(key->name, word) != 0) key++;
    if (key->name == NULL) fail_msg("%s: no key '%s'", problem, word);
  }
}

/** A row names keys that there are, and has what its problem is computed with. */
static void rows_are_whole(void **state) {
  (void)state;
  for (int k = 0; k < DP_N_PROBLEMS; k++) {
    const dp_ready *row = &dp_ready_rows[k], *computed = &dp_ready_rows[row->problem];
    are_keys(dp_problem_words[k], row->needs);
    are_keys(dp_problem_words[k], row->takes);
    assert_int_equal(computed->problem, row->problem);
    if (row->problem == DP_RECURRENCE) continue;
    assert_non_null(row->goal);
    assert_non_null(computed->load);
    assert_int_equal(computed->columns > 0, computed->path != NULL);
    assert_int_equal(computed->rescore != NULL,
                     computed->columns > 0 && computed->engine != DP_INTERVAL);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sequences),
      cmocka_unit_test(shortcuts),
      cmocka_unit_test(fields_by_mode),
      cmocka_unit_test(types),
      cmocka_unit_test(made_up),
      cmocka_unit_test(score_matrix),
      cmocka_unit_test(bad_matrices),
      cmocka_unit_test(letters_with_scores),
      cmocka_unit_test(shapes),
      cmocka_unit_test(described),
      cmocka_unit_test(binomial_is_symmetric),
      cmocka_unit_test(bad_input),
      cmocka_unit_test(overflow),
      cmocka_unit_test(too_little_memory),
      cmocka_unit_test(rows_are_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
