/* unit.letters.records: all records of FASTA and FASTQ, odd ones and refused ones, and random files
 * in random layouts against what they were made of, in pieces by several threads as in one. */
#include "must.h"

#include "letters_records.h"
#include "parallel.h"
#include "random.h"

#include <ctype.h>
#include <stdbool.h>
#include <unistd.h>

static const char path[] = "f.txt";

static tsl_err parse(int32_t alphabet, const char *text, letters_set *set) {
  const letters_ask ask = {.path = path, .alphabet = alphabet};
  return letters_parse(&ask, text, (int64_t)strlen(text), set);
}

/** Record k is letters, as the alphabet writes them, with this name. */
static void is_record(const letters_set *set, int32_t alphabet, int64_t k, const char *letters,
                      const char *name) {
  const int64_t n = set->starts[k + 1] - set->starts[k];
  assert_true(k < set->n);
  assert_string_equal(set->names + set->name_at[k], name);
  assert_int_equal(set->name_at[k + 1] - set->name_at[k], strlen(name) + 1);
  assert_int_equal(n, strlen(letters));
  for (int64_t i = 0; i < n; i++)
    assert_int_equal(letters_char(alphabet, set->codes[set->starts[k] + i]), letters[i]);
}

/** Text is these records: name, letters, name, letters, ..., NULL. */
static void reads_as(int32_t alphabet, const char *text, const char *const *records) {
  letters_set set;
  int64_t n = 0;
  MUST(parse(alphabet, text, &set));
  for (; records[2 * n] != NULL; n++)
    is_record(&set, alphabet, n, records[2 * n + 1], records[2 * n]);
  assert_int_equal(set.n, n);
  assert_int_equal(set.starts[0], 0);
  assert_int_equal(set.name_at[0], 0);
  letters_clear(&set);
  assert_null(set.codes);
}

#define READS(text, ...) reads_as(LETTERS_DNA, text, (const char *const[]){__VA_ARGS__, NULL})

/** Refused with all these words, "|" between them. */
static void refused(const char *text, const char *words) {
  letters_set set;
  char copy[256];
  assert_int_equal(parse(LETTERS_DNA, text, &set), TSL_ERR_INPUT);
  (void)snprintf(copy, sizeof copy, "%s", words);
  for (char *w = strtok(copy, "|"); w != NULL; w = strtok(NULL, "|"))
    if (strstr(tsl_err_message(), w) == NULL) fail_msg("no '%s' in: %s", w, tsl_err_message());
  assert_null(set.codes);
  assert_null(set.starts);
  assert_int_equal(set.n, 0);
}

static void fasta(void **state) {
  (void)state;
  READS(">a first\nACGT\nAC\n>b\nGG\n", "a", "ACGTAC", "b", "GG");
  READS(">a\nA", "a", "A");
  READS(">a\r\nAC\r\n\r\nGT\r\n>b\r\nA\r\n", "a", "ACGT", "b", "A");
  READS(">a\rAC\rGT\r>b\rTT\r", "a", "ACGT", "b", "TT");
  READS("\xef\xbb\xbf\n\n>a\nAC GT\tA \n\n\nC\n\n", "a", "ACGTAC");
  READS(";old\n>a\nAC\n;in between\nGT\n;>b\n", "a", "ACGT");
  READS(">a\nacgtnRYu", "a", "ACGTNRYT");
  READS(">\nA\n>\nC\n> \nG\n", "", "A", "", "C", "", "G");
  READS("> \t a b\nA\n", "a", "A");
  READS(">a\x1b[2J\x7f\xc3\xa4 b\nAC", "a?[2J???", "AC");
  READS(">@a\nA\n>+\nC\n", "@a", "A", "+", "C");
}

static void fastq(void **state) {
  (void)state;
  READS("@a x\nACGT\n+\nIIII\n@b\nGG\n+b\n!~\n", "a", "ACGT", "b", "GG");
  READS("@a\nACGT\n+\n@@@@\n@b\nGG\n+\n>@", "a", "ACGT", "b", "GG");
  READS("@a\nAC\nGT\nA\n+a\n@I\n+I\n>\n@b\nG\n+\n+\n", "a", "ACGTA", "b", "G");
  READS("\n@a\r\nAC\r\n\r\n+\r\nII\r\n\r\n@b\r\nG\r\n+\r\nI\r\n\r\n", "a", "AC", "b", "G");
  READS("@a\rAC\r+\r@@\r@b\rG\r+\rI", "a", "AC", "b", "G");
  READS("@\nac\n+\n\n@\n@\n@\nG\n+\nI\n", "", "AC", "", "G");
  READS("@a\nA\n+\nI\n  \n\t\n", "a", "A");
}

static void alphabets(void **state) {
  (void)state;
  reads_as(LETTERS_RNA, ">a\nacgtu\n", (const char *const[]){"a", "ACGUU", NULL});
  reads_as(LETTERS_PROTEIN, ">a\nmkv*\nUOJ\n", (const char *const[]){"a", "MKV*UOJ", NULL});
  reads_as(LETTERS_BYTES, ">a\nx \xff\t-\n", (const char *const[]){"a", "x\xff-", NULL});
}

static void refused_fasta(void **state) {
  (void)state;
  refused("", "f.txt: no records: the file is empty");
  refused(" \n\r\n", "f.txt: no records|nothing but blanks");
  refused("ACGT\n", "f.txt: neither FASTA nor FASTQ: it begins with 'A'|'>'|'@'");
  refused("\x01", "it begins with '?'");
  refused(";only\n;comments\n", "f.txt: no records");
  refused(";c\nAC\n>a\nGT\n", "f.txt:2: letters before the first header");
  refused("\n  >a\nAC\n", "f.txt:2: letters before the first header");
  refused(">a\n>b\nA\n", "f.txt:1: record 1 'a' has no letters");
  refused(">a\nA\n\n> b\n\n \n", "f.txt:4: record 2 'b' has no letters");
  refused(">a\nAC\n>b x\nG\n A-C\n",
          "f.txt:5: record 2 'b': column 3: letter '-' is not of the alphabet dna (ACGTN");
  refused(">a\rAC\rA\x80", "f.txt:3: record 1 'a': column 2: letter '?'");
  refused(">a\nA\n>b\nC\n>a 2\nG\n", "f.txt:5: record 3 'a': record 1 has the same name");
  refused(">a\nA\n@b\nC\n+\nI\n", "f.txt:3: record 1 'a': column 1: letter '@'");
}

static void refused_fastq(void **state) {
  (void)state;
  refused("@a\n+\n\n", "f.txt:1: record 1 'a' has no letters");
  refused("@a\nA\n+\nI\n@b\n", "f.txt:5: record 2 'b': no line with '+'|file ends");
  refused("@a\nACGT\n@b\nAC\n",
          "f.txt:3: record 1 'a': no line with '+' behind its 4 letters|header");
  refused("@a\nAC\n>b\nAC\n", "f.txt:3: record 1 'a'");
  refused("@a\nACGT\n+\nIII", "f.txt:4: record 1 'a': its quality has 3 characters for 4 letters");
  refused("@a\nACGTA\n+\nIII\n@bc\nA\n+\nI\n",
          "f.txt:5: record 1 'a': its quality has 3 characters for 5 letters, or 6 with this line");
  refused("@a\nACGT\n+\nIIIII\n", "f.txt:4: record 1 'a': its quality has 5 characters for 4");
  refused("@a\nACGT\n+\nIIII\nI\n", "f.txt:5: record 1 'a'|goes on|4 letters");
  refused("@a\nAC\n+\nII\n>b\nAC\n", "f.txt:5: record 1 'a'|begin with '@'");
  refused("@a\nAC\n+\nI\x7f\n", "f.txt:4: record 1 'a': byte 127 at column 2 of its quality");
  refused("@a\nAC\n+\nII\n@b\nAC!\n+\nIII\n", "f.txt:6: record 2 'b': column 3: letter '!'");
  refused("@a\nAC\n+\nII\n@a/\nA\n+\nI\n@a\nA\n+\nI\n", "f.txt:9: record 3 'a': record 1 has");
}

static void is_about(int32_t alphabet, const char *text, const char *about) {
  letters_set set;
  MUST(parse(alphabet, text, &set));
  assert_string_equal(set.about[0], about);
  letters_clear(&set);
}

static void described(void **state) {
  (void)state;
  is_about(LETTERS_DNA, ">a\nA\n", "f.txt: FASTA, dna, 1 record of 1 letter");
  is_about(LETTERS_DNA, "@a\nACN\n+\nIII\n@b\nRYACG\n+\nIIIII\n",
           "f.txt: FASTQ, dna, 2 records of 3 to 5 letters, 3 letters other than A C G T");
  is_about(
      LETTERS_PROTEIN, ">a\nMK\n>b\nX*\n>c\nVV\n",
      "f.txt: FASTA, protein, 3 records of 2 letters, 2 letters other than the 20 amino acids");
  is_about(LETTERS_RNA, ">a\nANC\n",
           "f.txt: FASTA, rna, 1 record of 3 letters, 1 letter other than A C G U");
  is_about(LETTERS_BYTES, ">a\n@x\n", "f.txt: FASTA, bytes, 1 record of 2 letters");
}

/* ---- random files in random layouts */

enum { RECORDS = 300, LONGEST = 90, TEXT = 1 << 19 };

typedef struct made {
  char letters[RECORDS][LONGEST + 1];
  char names[RECORDS][24];
  char text[TEXT];
  int64_t n;
  const char *line_end;
} made;

static void put(made *m, const char *text, int64_t n) {
  assert_true(m->n + n < TEXT);
  memcpy(m->text + m->n, text, (size_t)n);
  m->n += n;
  m->text[m->n] = '\0';
}

static void end_line(made *m, uint64_t *state) {
  put(m, m->line_end, (int64_t)strlen(m->line_end));
  while (random_below(state, 20) == 0) put(m, m->line_end, (int64_t)strlen(m->line_end));
}

/** On lines of random lengths; one that begins with what a header or '+' does stays as it is. */
static void put_lines(made *m, const char *text, uint64_t *state) {
  const int64_t n = (int64_t)strlen(text);
  for (int64_t at = 0; at < n;) {
    int64_t length = random_below(state, 3) == 0 ? n - at : 1 + random_below(state, 30);
    if (length > n - at) length = n - at;
    put(m, text + at, length);
    end_line(m, state);
    at += length;
  }
}

static void put_record(made *m, int k, bool quality, uint64_t *state) {
  static const char bases[] = "ACGTNRYSWKMBDHVX";
  const int n = 1 + random_below(state, LONGEST);
  char written[LONGEST + 1] = "", scores[LONGEST + 1] = "", header[64];
  for (int i = 0; i < n; i++) {
    const char base = bases[random_below(state, 16)];
    m->letters[k][i] = base;
    written[i] = random_below(state, 2) == 0 ? base : (char)(base + 'a' - 'A');
    scores[i] = (char)('!' + random_below(state, '~' - '!' + 1));
  }
  (void)snprintf(m->names[k], sizeof m->names[k], "read.%d:%d", k, random_below(state, 9));
  (void)snprintf(header, sizeof header, "%c%s length=%d", quality ? '@' : '>', m->names[k], n);
  put(m, header, (int64_t)strlen(header));
  end_line(m, state);
  put_lines(m, written, state);
  if (!quality) return;
  put(m, "+", 1);
  end_line(m, state);
  put_lines(m, scores, state);
}

static void random_file(bool quality, uint64_t seed) {
  static const char *const ends[] = {"\n", "\r\n", "\r"};
  static made m;
  letters_set set;
  uint64_t state = seed;
  memset(&m, 0, sizeof m);
  m.line_end = ends[seed % 3];
  for (int k = 0; k < RECORDS; k++) put_record(&m, k, quality, &state);
  MUST(parse(LETTERS_DNA, m.text, &set));
  assert_int_equal(set.n, RECORDS);
  for (int k = 0; k < RECORDS; k++) is_record(&set, LETTERS_DNA, k, m.letters[k], m.names[k]);
  letters_clear(&set);
}

static void random_files(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 60; seed++) random_file(seed % 2 == 1, seed);
}

/* ---- pieces and threads */

static void is_same(const letters_set *a, const letters_set *b) {
  assert_int_equal(a->n, b->n);
  assert_int_equal(a->highest, b->highest);
  assert_memory_equal(a->starts, b->starts, (size_t)(b->n + 1) * sizeof *b->starts);
  assert_memory_equal(a->name_at, b->name_at, (size_t)(b->n + 1) * sizeof *b->name_at);
  assert_memory_equal(a->codes, b->codes, (size_t)b->starts[b->n]);
  assert_memory_equal(a->names, b->names, (size_t)b->name_at[b->n]);
  assert_string_equal(a->about[0], b->about[0]);
}

/** In pieces of so many bytes as in one: the set, or the message. */
static void in_pieces(const char *text, int64_t n, int64_t size) {
  const letters_ask ask = {.path = path, .alphabet = LETTERS_DNA};
  char message[TSL_ERR_MESSAGE_MAX] = "";
  letters_set whole, pieces;
  const tsl_err err = letters_parse_pieces(&ask, text, n, n + 1, &whole);
  if (err != TSL_OK) (void)snprintf(message, sizeof message, "%s", tsl_err_message());
  assert_int_equal(letters_parse_pieces(&ask, text, n, size, &pieces), err);
  if (err == TSL_OK)
    is_same(&pieces, &whole);
  else
    assert_string_equal(tsl_err_message(), message);
  letters_clear(&whole);
  letters_clear(&pieces);
}

/** Files with up to three bytes that are others, or with their end cut off; one name twice. */
static void pieces(void **state) {
  static const char *const ends[] = {"\n", "\r\n", "\r"};
  static const char bytes[] = ">@+;\r\n A-\x7f";
  static made m;
  (void)state;
  for (int threads = 1; threads <= 3; threads++) {
    MUST(tsl_parallel_open(threads));
    for (uint64_t seed = 0; seed < 120; seed++) {
      uint64_t random = seed + 1000;
      m.n = 0, m.line_end = ends[seed % 3];
      for (int k = 0; k < RECORDS; k++) put_record(&m, k, seed % 2 == 1, &random);
      for (uint64_t k = 0; k < seed % 4; k++)
        m.text[random_below(&random, (int)m.n)] = bytes[random_below(&random, sizeof bytes)];
      if (seed % 5 == 4) m.n -= random_below(&random, 200);
      if (seed % 6 == 5) put(&m, m.text, m.n / 8);
      in_pieces(m.text, m.n, 1 + random_below(&random, 3000));
    }
  }
  tsl_parallel_close();
}

/** All of two files in one set, and whose error is given. */
static void two_files(void **state) {
  static const char *const texts[] = {">a\nAC\n>b\nG\n", ">b\nTN\n"};
  char names[2][24];
  letters_ask asks[2];
  letters_set set;
  int failed = -1;
  (void)state;
  for (int k = 0; k < 2; k++) {
    (void)snprintf(names[k], sizeof names[k], "/tmp/tsl_two_XXXXXX");
    const int fd = mkstemp(names[k]);
    assert_int_equal(write(fd, texts[k], strlen(texts[k])), strlen(texts[k]));
    (void)close(fd);
    asks[k] = (letters_ask){.path = names[k], .alphabet = LETTERS_DNA};
  }
  MUST(letters_read(asks, 2, &failed, &set));
  assert_int_equal(set.n, 3);
  assert_int_equal(set.of[0], 2);
  assert_int_equal(set.of[1], 1);
  is_record(&set, LETTERS_DNA, 1, "G", "b");
  is_record(&set, LETTERS_DNA, 2, "TN", "b");
  assert_non_null(strstr(set.about[1], "1 record of 2 letters, 1 letter other"));
  letters_clear(&set);
  assert_int_equal(truncate(names[0], 3), 0);
  assert_int_equal(letters_read(asks, 2, &failed, &set), TSL_ERR_INPUT);
  assert_int_equal(failed, 0);
  assert_non_null(strstr(tsl_err_message(), "has no letters"));
  assert_int_equal(truncate(names[1], 0), 0);
  assert_int_equal(letters_read(asks, 2, &failed, &set), TSL_ERR_INPUT);
  assert_int_equal(failed, 1);
  assert_non_null(strstr(tsl_err_message(), "the file is empty"));
  for (int k = 0; k < 2; k++) (void)unlink(names[k]);
}

/** Names that differ little, and one that comes back at the end. */
static void many_names(void **state) {
  enum { NAMES = 40000, ROOM = NAMES * 16 };
  static char text[ROOM + 32];
  letters_set set;
  int n = 0;
  (void)state;
  for (int k = 0; k < NAMES; k++) n += snprintf(text + n, ROOM - (size_t)n, ">r%d\nA\n", k);
  MUST(parse(LETTERS_DNA, text, &set));
  assert_int_equal(set.n, NAMES);
  for (int64_t k = 0; k < NAMES; k++) assert_int_equal(atoi(set.names + set.name_at[k] + 1), k);
  letters_clear(&set);
  (void)snprintf(text + n, 32, ">r123\nA\n");
  refused(text, "f.txt:80001: record 40001 'r123': record 124 has the same name");
}

static void codes(void **state) {
  static const uint8_t some[] = {0, 3, 4, 9};
  (void)state;
  assert_int_equal(letters_codes(LETTERS_DNA, some, 2), 5);
  assert_int_equal(letters_codes(LETTERS_DNA, some, 4), 10);
  assert_int_equal(letters_others(LETTERS_DNA, some, 4), 2);
  assert_int_equal(letters_others(LETTERS_BYTES, some, 4), 0);
  assert_int_equal(letters_code(LETTERS_DNA, 'u'), 3);
  assert_int_equal(letters_code(LETTERS_DNA, '-'), -1);
  assert_int_equal(letters_code(LETTERS_DNA, '\0'), -1);
}

/** Characters as letters_code has them, anywhere among letters, in lines of any length. */
static void encoded(void **state) {
  enum { N = 100, BEHIND = 77 };
  char text[N];
  uint8_t codes[N + 1];
  (void)state;
  for (int32_t alphabet = LETTERS_BYTES; alphabet <= LETTERS_PROTEIN; alphabet++) {
    const letters_coder coder = letters_coder_of(alphabet);
    for (int c = 0; c < 256; c++)
      for (int n = 1; n <= N; n += n < 4 ? 1 : 7) {
        const bool good = !isspace(c) && letters_code(alphabet, (char)c) >= 0;
        memset(text, 'g', N);
        text[(7 * c + n) % n] = (char)c;
        codes[n] = BEHIND;
        assert_int_equal(letters_encode(&coder, text, n, codes), good);
        assert_int_equal(codes[n], BEHIND);
        for (int k = 0; good && k < n; k++)
          assert_int_equal(codes[k], letters_code(alphabet, text[k]));
      }
    assert_true(letters_encode(&coder, text, 0, codes));
  }
}

/** Lines longer than is encoded at once, with a letter of any kind anywhere. */
static void long_lines(void **state) {
  enum { N = 3000 };
  static char text[N + 8], letters[N + 1];
  uint64_t seed = 5;
  (void)state;
  for (int at = 0; at < N; at += at % 1024 < 1020 && at % 1024 > 3 ? 73 : 1) {
    for (int k = 0; k < N; k++) letters[k] = "ACGT"[random_below(&seed, 4)];
    letters[at] = "NRYX"[at % 4];
    (void)snprintf(text, sizeof text, ">a\n%s\n", letters);
    READS(text, "a", letters);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fasta),         cmocka_unit_test(fastq),         cmocka_unit_test(alphabets),
      cmocka_unit_test(refused_fasta), cmocka_unit_test(refused_fastq), cmocka_unit_test(described),
      cmocka_unit_test(random_files),  cmocka_unit_test(many_names),    cmocka_unit_test(codes),
      cmocka_unit_test(pieces),        cmocka_unit_test(two_files),     cmocka_unit_test(encoded),
      cmocka_unit_test(long_lines),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
