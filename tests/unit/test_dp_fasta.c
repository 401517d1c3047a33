/* unit.dp.fasta: FASTA as it comes in the wild. */
#include "dp_problem_fixture.h"

#include <unistd.h>

/** Record `record` of text, read as asked, is letters with this name; letters NULL: refused. */
static void reads_as(const char *path, int32_t format, bool bytes, const char *text, int64_t record,
                     const char *letters, const char *name) {
  const letters_text_ask ask = {.path = path, .format = format, .record = record, .bytes = bytes};
  letters_text got;
  const tsl_err err = letters_text_parse(&ask, text, (int64_t)strlen(text), &got);
  if (letters == NULL) {
    assert_int_equal(err, TSL_ERR_INPUT);
    assert_non_null(strstr(tsl_err_message(), path));
    assert_null(got.letters);
    return;
  }
  if (err != TSL_OK) fail_msg("%s", tsl_err_message());
  if (got.n != (int64_t)strlen(letters) || memcmp(got.letters, letters, (size_t)got.n) != 0)
    fail_msg("'%.*s' read, not '%s'", (int)got.n, got.letters, letters);
  assert_string_equal(got.name, name);
  tsl_free(got.letters);
}

static void reads(const char *text, int64_t record, const char *letters, const char *name) {
  reads_as("f.fa", LETTERS_AUTO, false, text, record, letters, name);
}

static void records(void **state) {
  static const char two[] = ">first some words\nACGT\nAC\n>second\nGG\n";
  (void)state;
  reads(two, 1, "ACGTAC", "first");
  reads(two, 2, "GG", "second");
  reads(two, 3, NULL, NULL);
  assert_non_null(strstr(tsl_err_message(), "record 3 asked for, but the file has 2"));
  reads(">only", 1, "", "only");
  reads(">", 1, "", "");
  reads(">a\n>b\nA", 1, "", "a");
  reads(">a\n>b\nA", 2, "A", "b");
}

static void line_ends(void **state) {
  (void)state;
  reads(">a b\r\nAC\r\n\r\nGT\r\n", 1, "ACGT", "a");
  reads(">a\nAC GT\tA \n\n\nC", 1, "ACGTAC", "a");
  reads(">a\rAC\rGT\r>b\rTT", 1, "ACGT", "a");
  reads(">a\rAC\rGT\r>b\rTT", 2, "TT", "b");
  reads("\xef\xbb\xbf>a\nAC\n", 1, "AC", "a");
  reads("\n\n  >a\nAC\n", 1, NULL, NULL); /* an indented header is none */
  reads("\n\n>a\nAC\n", 1, "AC", "a");
  reads(";comment\n>a\nAC\n;another\nGT\n", 1, "ACGT", "a");
}

/** Blanks and line ends are layout between bases, and letters among bytes. */
static void plain_text(void **state) {
  static const char prose[] = "> the quick brown\n\tfox\r\n\n", lines[] = "ACGT\nac gt\n";
  (void)state;
  reads_as("f.txt", LETTERS_AUTO, false, lines, 1, "ACGTacgt", "");
  reads_as("f.txt", LETTERS_AUTO, true, lines, 1, lines, "");
  reads_as("f.txt", LETTERS_AUTO, true, prose, 1, prose, "");
  reads_as("f", LETTERS_AUTO, true, "\xef\xbb\xbf>x\n", 1, "\xef\xbb\xbf>x\n", "");
  reads_as("f.fa", LETTERS_PLAIN, true, ">x\nAC\n", 1, ">x\nAC\n", "");
  reads_as("f.txt", LETTERS_AUTO, false, "", 1, "", "");
  reads_as("f.txt", LETTERS_AUTO, false, "\n", 1, "", "");
  reads_as("f.txt", LETTERS_AUTO, false, "ACGT", 2, NULL, NULL);
  assert_non_null(strstr(tsl_err_message(), "plain text"));
  assert_null(strstr(tsl_err_message(), "format: fasta"));
  reads_as("f.txt", LETTERS_AUTO, true, ">a\nA\n>b\nC\n", 2, NULL, NULL);
  assert_non_null(strstr(tsl_err_message(), "format: fasta"));
}

/** FASTA by the key, or by name and content together. */
static void which_format(void **state) {
  (void)state;
  reads_as("f.txt", LETTERS_FASTA, true, ">a\nA C\n", 1, "AC", "a");
  reads_as("F.FASTA", LETTERS_AUTO, true, ">a\nA C\n", 1, "AC", "a");
  reads_as("x.fa/f", LETTERS_AUTO, false, ">a\nAC\n", 1, ">aAC", "");
  reads_as("f.faa", LETTERS_AUTO, true, "ACGT\n", 1, NULL, NULL);
  assert_non_null(strstr(tsl_err_message(), "does not begin with '>'; format: text"));
  reads_as("f.txt", LETTERS_FASTA, true, "ACGT\n", 1, NULL, NULL);
  reads_as("f.fa", LETTERS_AUTO, true, "", 1, NULL, NULL);
}

/** FASTQ by the key or by name, ".gz" behind it or not. */
static void fastq(void **state) {
  static const char two[] = "@a x\nAC\nGT\n+\n@III\n@b\nA C\n+\n@I\n";
  (void)state;
  reads_as("f.fq", LETTERS_AUTO, false, two, 1, "ACGT", "a");
  reads_as("f.fastq", LETTERS_AUTO, true, two, 2, "AC", "b");
  reads_as("f.FASTQ.GZ", LETTERS_AUTO, false, two, 2, "AC", "b");
  reads_as("f.fa.gz", LETTERS_AUTO, false, ">a\nAC\n", 1, "AC", "a");
  reads_as("f.gz", LETTERS_FASTQ, false, two, 2, "AC", "b");
  reads_as("f.gz", LETTERS_AUTO, false, "AC\nGT\n", 1, "ACGT", "");
  reads_as("f.fq", LETTERS_PLAIN, true, two, 1, two, "");
  reads_as("f.fq", LETTERS_AUTO, false, two, 3, NULL, NULL);
  assert_non_null(strstr(tsl_err_message(), "record 3 asked for, but the file has 2"));
  reads_as("f.fq", LETTERS_AUTO, false, ">a\nAC\n", 1, NULL, NULL);
  assert_non_null(strstr(tsl_err_message(), "does not begin with '@'; format: text"));
  reads_as("f.txt", LETTERS_AUTO, false, two, 2, NULL, NULL);
  assert_non_null(strstr(tsl_err_message(), "format: fastq reads it as FASTQ"));
  reads_as("f.fq", LETTERS_AUTO, false, "@a\nAC\n+\nI\n", 1, NULL, NULL);
  assert_non_null(strstr(tsl_err_message(), "1 characters for 2 letters"));
}

/** Where a letter is: its line and column. */
static void places(void **state) {
  static const char text[] = ">a\nAC\n>b x\r\nA G\r\n;no\r\n\r\n TT\n";
  static const int64_t at[][2] = {{4, 1}, {4, 3}, {7, 2}, {7, 3}}, bytes_at[][2] = {{1, 1}, {2, 2}};
  letters_text_ask ask = {.path = "f.fa", .record = 2};
  letters_text got;
  int64_t line = 0, column = 0;
  (void)state;
  assert_int_equal(letters_text_parse(&ask, text, sizeof text - 1, &got), TSL_OK);
  assert_int_equal(got.n, 4);
  for (int64_t k = 0; k < 4; k++) {
    letters_text_place(&ask, &got, text, sizeof text - 1, k, &line, &column);
    assert_true(line == at[k][0] && column == at[k][1]);
  }
  tsl_free(got.letters);
  ask = (letters_text_ask){.path = "f", .bytes = true};
  assert_int_equal(letters_text_parse(&ask, text, sizeof text - 1, &got), TSL_OK);
  for (int64_t k = 0; k < 2; k++) {
    letters_text_place(&ask, &got, text, sizeof text - 1, 4 * k, &line, &column);
    assert_true(line == bytes_at[k][0] && column == bytes_at[k][1]);
  }
  tsl_free(got.letters);
}

/** Names are cut, and hold nothing that a terminal acts on. */
static void names(void **state) {
  char text[400] = ">", name[LETTERS_NAME];
  (void)state;
  memset(text + 1, 'x', 300);
  memcpy(text + 301, "\nAC", 4);
  memset(name, 'x', LETTERS_NAME - 1);
  name[LETTERS_NAME - 1] = '\0';
  reads(text, 1, "AC", name);
  reads(">a\x1b[2J\x7f\xc3\xa4 b\nAC", 1, "AC", "a?[2J???");
}

static void zero_bytes(void **state) {
  static const char text[] = ">a\0b\nAC\0GT\n";
  const letters_text_ask ask = {.path = "f.fa", .record = 1, .bytes = true};
  letters_text got;
  (void)state;
  assert_int_equal(letters_text_parse(&ask, text, sizeof text - 1, &got), TSL_OK);
  assert_int_equal(got.n, 5);
  assert_memory_equal(got.letters, "AC\0GT", 5);
  assert_string_equal(got.name, "a?b");
  tsl_free(got.letters);
}

/** Through a deck: lower case, ambiguous letters as themselves, U for T, and a letter that is none.
 */
static void through_decks(void **state) {
  char path[] = "/tmp/tsl_fasta_XXXXXX.fa", section[256];
  static const char text[] = ">x\r\nacgtNRYkmu\r\n>bad one\nAC\nGT-GT\n";
  static const uint8_t codes[] = {0, 1, 2, 3, 4, 5, 6, 9, 10, 3};
  const int fd = mkstemps(path, 3);
  made m;
  (void)state;
  assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
  (void)close(fd);
  (void)snprintf(section, sizeof section, " problem: local\n a: {file: %s}\n b: {text: A}\n", path);
  assert_int_equal(make_good(section, &m)->n, 10);
  assert_memory_equal(m.problem.fields[DP_A].data, codes, sizeof codes);
  assert_int_equal(dp_params_of(&m.problem)->scores.alphabet, 11);
  release(&m);
  (void)snprintf(section, sizeof section,
                 " problem: local\n a: {file: %s, record: 2}\n b: {text: A}\n", path);
  assert_int_equal(make(section, &m), TSL_ERR_INPUT);
  assert_non_null(
      strstr(tsl_err_message(), ":5: column 3: letter '-' at place 5 of record 2 'bad'"));
  release(&m);
  (void)unlink(path);
}

/** What a run says of its sequences. */
static void described(void **state) {
  char text[2048] = "";
  made m;
  (void)state;
  (void)make_good(" problem: lcs\n alphabet: rna\n a: {text: ACNR}\n b: {random: 7, seed: 3}\n",
                  &m);
  tsl_family_dp.describe(&m.problem, text, sizeof text);
  assert_string_equal(text, "a: text of the deck, rna, 4 letters, 2 of them other than A C G U\n"
                            "b: made up, seed 3, rna, 7 letters\n");
  release(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(records),      cmocka_unit_test(line_ends),  cmocka_unit_test(plain_text),
      cmocka_unit_test(which_format), cmocka_unit_test(fastq),      cmocka_unit_test(places),
      cmocka_unit_test(names),        cmocka_unit_test(zero_bytes), cmocka_unit_test(through_decks),
      cmocka_unit_test(described),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
