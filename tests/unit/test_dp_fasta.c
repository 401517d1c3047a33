/* unit.dp.fasta: FASTA as it comes in the wild. */
#include "dp_problem_fixture.h"

#include <unistd.h>

/** Record `record` of text reads as letters and name; both NULL: refused. */
static void reads(const char *text, int64_t record, const char *letters, const char *name) {
  char *got = NULL, got_name[64] = "?";
  int64_t n = -1;
  const tsl_err err =
      dp_parse_fasta("f.fa", text, (int64_t)strlen(text), record, &got, &n, got_name);
  if (letters == NULL) {
    assert_int_equal(err, TSL_ERR_INPUT);
    assert_non_null(strstr(tsl_err_message(), "f.fa"));
    assert_null(got);
    return;
  }
  assert_int_equal(err, TSL_OK);
  if (n != (int64_t)strlen(letters) || memcmp(got, letters, (size_t)n) != 0)
    fail_msg("'%.*s' read, not '%s'", (int)n, got, letters);
  assert_string_equal(got_name, name);
  tsl_free(got);
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
  reads("\n\n  >a\nAC\n", 1, NULL, NULL); /* an indented header is none */
  reads("\n\n>a\nAC\n", 1, "AC", "a");
  reads(";comment\n>a\nAC\n;another\nGT\n", 1, "ACGT", "a");
}

static void plain_text(void **state) {
  (void)state;
  reads("ACGT\nacgt\n", 1, "ACGTacgt", "");
  reads("", 1, "", "");
  reads("\n", 1, "", "");
  reads("ACGT", 2, NULL, NULL);
  assert_non_null(strstr(tsl_err_message(), "plain text"));
}

static void long_name(void **state) {
  char text[200] = ">", name[64];
  (void)state;
  memset(text + 1, 'x', 150);
  memcpy(text + 151, "\nAC", 4);
  memset(name, 'x', 63);
  name[63] = '\0';
  reads(text, 1, "AC", name);
}

static void zero_bytes(void **state) {
  static const char text[] = ">a\0b\nAC\0GT\n";
  char *got = NULL, name[64];
  int64_t n = 0;
  (void)state;
  assert_int_equal(dp_parse_fasta("f.fa", text, sizeof text - 1, 1, &got, &n, name), TSL_OK);
  assert_int_equal(n, 5);
  assert_memory_equal(got, "AC\0GT", 5);
  tsl_free(got);
}

/** Through a deck: lower case, N and other ambiguous letters, U for T, and a letter that is none.
 */
static void through_decks(void **state) {
  char path[] = "/tmp/tsl_fasta_XXXXXX", section[256];
  static const char text[] = ">x\r\nacgtNRYkmu\r\n>bad\nAC-GT\n";
  static const uint8_t codes[] = {0, 1, 2, 3, 4, 4, 4, 4, 4, 3};
  const int fd = mkstemp(path);
  made m;
  (void)state;
  assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
  (void)close(fd);
  (void)snprintf(section, sizeof section, " problem: local\n a: {file: %s}\n b: {text: A}\n", path);
  assert_int_equal(make_good(section, &m)->n, 10);
  assert_memory_equal(m.problem.fields[DP_A].data, codes, sizeof codes);
  release(&m);
  (void)snprintf(section, sizeof section,
                 " problem: local\n a: {file: %s, record: 2}\n b: {text: A}\n", path);
  assert_int_equal(make(section, &m), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "letter '-' at place 3"));
  release(&m);
  (void)unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(records),   cmocka_unit_test(line_ends),  cmocka_unit_test(plain_text),
      cmocka_unit_test(long_name), cmocka_unit_test(zero_bytes), cmocka_unit_test(through_decks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
