/* unit.letters.gzip: files packed by gzip, of one member and of many, whole and spoilt. */
#include "must.h"

#include "letters_file.h"
#include "letters_records.h"
#include "memory.h"
#include "random.h"

#include <unistd.h>
#include <zlib.h>

enum { ROOM = 1 << 22 };

typedef struct packed {
  unsigned char bytes[ROOM];
  int64_t n;
} packed;

static packed p;

/** Add text as one member, with a name and an extra field in its header as bgzip has one. */
static void pack(const char *text, int64_t n) {
  Bytef name[] = "x", extra[] = {'B', 'C', 2, 0, 1, 2};
  gz_header header = {.name = name, .extra = extra, .extra_len = sizeof extra};
  z_stream z = {.next_in = (z_const Bytef *)text, .avail_in = (uInt)n};
  assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  assert_int_equal(deflateSetHeader(&z, &header), Z_OK);
  z.next_out = p.bytes + p.n, z.avail_out = (uInt)(ROOM - p.n);
  assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
  p.n = z.next_out - p.bytes;
  (void)deflateEnd(&z);
}

static void pack_text(const char *text) {
  pack(text, (int64_t)strlen(text));
}

static tsl_err parse(int64_t n, letters_set *set) {
  const letters_ask ask = {.path = "f.gz", .alphabet = LETTERS_DNA};
  return letters_parse(&ask, (const char *)p.bytes, n, set);
}

static void refused(int64_t n, const char *words) {
  letters_set set;
  assert_int_equal(parse(n, &set), TSL_ERR_INPUT);
  if (strstr(tsl_err_message(), words) == NULL)
    fail_msg("no '%s' in: %s", words, tsl_err_message());
  assert_null(set.codes);
}

/** Members that end anywhere, also empty ones; the last is the end mark of bgzip, an empty one. */
static void members(void **state) {
  letters_set set;
  (void)state;
  p.n = 0;
  pack_text(">a\nAC");
  pack_text("");
  pack_text("GT\n>b");
  pack_text(" x\nGG");
  pack_text("");
  MUST(parse(p.n, &set));
  assert_int_equal(set.n, 2);
  assert_int_equal(set.starts[1], 4);
  assert_int_equal(set.starts[2], 6);
  assert_string_equal(set.names, "a");
  assert_string_equal(set.names + set.name_at[1], "b");
  assert_string_equal(set.about[0], "f.gz: FASTA, gzip, dna, 2 records of 2 to 4 letters");
  letters_clear(&set);
  p.n = 0;
  pack_text("@a\nAC\n+\n@@\n");
  MUST(parse(p.n, &set));
  assert_string_equal(set.about[0], "f.gz: FASTQ, gzip, dna, 1 record of 2 letters");
  letters_clear(&set);
}

/** Every beginning of a file but those that end with a member. */
static void cut_off(void **state) {
  int64_t second;
  (void)state;
  p.n = 0;
  pack_text(">a\nACGTACGTTGCA\n");
  second = p.n;
  pack_text(">b\nAC\n");
  for (int64_t n = 2; n < p.n; n++) {
    if (n == second) continue;
    if (n == second + 1)
      refused(n, "1 bytes behind the end of the gzip file (member 1) are not gzip");
    else
      refused(n, n < second ? "cut off: its member 1 does not end" : "cut off: its member 2");
  }
}

/** A bit of the data: refused, or without a meaning (behind the last code, or within a run the
 *  distance to another of the same letters). */
static void flipped(int64_t k, int bit, const char *letters) {
  letters_set set;
  p.bytes[k] ^= (unsigned char)(1 << bit);
  if (parse(p.n, &set) != TSL_OK) {
    assert_non_null(strstr(tsl_err_message(), "f.gz: the gzip file is "));
  } else {
    assert_int_equal(set.starts[1], strlen(letters));
    for (int64_t i = 0; i < set.starts[1]; i++)
      assert_int_equal(letters_char(LETTERS_DNA, set.codes[i]), letters[i]);
  }
  letters_clear(&set);
  p.bytes[k] ^= (unsigned char)(1 << bit);
}

/** A flipped bit of the checksum, of the length, or anywhere in the data. */
static void damaged(void **state) {
  static const char text[] = ">a\nACGTACGTTGCATTTTTTTTTTTTACGTGGG\n";
  char letters[64] = "";
  letters_set set;
  (void)state;
  (void)sscanf(text + 3, "%63s", letters);
  p.n = 0;
  pack_text(text);
  for (int64_t k = 1; k <= 8; k++) {
    p.bytes[p.n - k] ^= 4;
    refused(p.n,
            k > 4 ? "damaged: incorrect data check, in member 1" : "damaged: incorrect length");
    p.bytes[p.n - k] ^= 4;
  }
  for (int64_t k = 20; k < p.n - 8; k++)
    for (int bit = 0; bit < 8; bit++) flipped(k, bit, letters);
  MUST(parse(p.n, &set));
  letters_clear(&set);
}

static void followed(void **state) {
  (void)state;
  p.n = 0;
  pack_text(">a\nAC\n");
  memcpy(p.bytes + p.n, "\0\0\0junk", 7);
  refused(p.n + 7, "7 bytes behind the end of the gzip file (member 1) are not gzip");
  refused(p.n + 3, "3 bytes behind the end");
  p.n = 0;
  pack_text("");
  refused(p.n, "f.gz: no records: the file is empty");
  p.n = 0;
  pack_text("ACGT");
  refused(p.n, "f.gz: neither FASTA nor FASTQ");
  p.n = 0;
  pack_text(">a\nAC\n>b\n\nG?\n");
  refused(p.n, "f.gz:5: record 2 'b': column 2: letter '?'");
}

/** Text that packs well at first and badly later: it has to grow several times. */
static void grows(void **state) {
  enum { BYTES = 1 << 23 };
  uint64_t dice = 5;
  char *text = malloc(BYTES), *back = NULL;
  int64_t n = 0;
  (void)state;
  assert_non_null(text);
  memset(text, 'A', BYTES);
  for (int64_t k = BYTES - (BYTES >> 2); k < BYTES; k++) text[k] = (char)random_below(&dice, 256);
  p.n = 0;
  for (int64_t at = 0; at < BYTES; at += BYTES / 8) pack(text + at, BYTES / 8);
  MUST(letters_unpack("f.gz", (const char *)p.bytes, p.n, &back, &n));
  assert_int_equal(n, BYTES);
  assert_memory_equal(back, text, BYTES);
  tsl_free(back);
  free(text);
}

/** By its first bytes, whatever it is called. */
static void files(void **state) {
  char path[] = "/tmp/tsl_letters_XXXXXX";
  const int fd = mkstemp(path);
  const letters_ask ask = {.path = path, .alphabet = LETTERS_DNA};
  letters_set set;
  int failed = 0;
  (void)state;
  p.n = 0;
  pack_text("@a\nACGT\n+\nIIII\n");
  assert_int_equal(write(fd, p.bytes, (size_t)p.n), p.n);
  MUST(letters_read(&ask, 1, &failed, &set));
  assert_int_equal(set.starts[1], 4);
  letters_clear(&set);
  assert_int_equal(ftruncate(fd, p.n - 3), 0);
  assert_int_equal(letters_read(&ask, 1, &failed, &set), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "cut off"));
  assert_int_equal(ftruncate(fd, 0), 0);
  assert_int_equal(pwrite(fd, ">a\nAC\n", 6, 0), 6);
  MUST(letters_read(&ask, 1, &failed, &set));
  assert_int_equal(set.starts[1], 2);
  letters_clear(&set);
  (void)close(fd);
  (void)unlink(path);
  assert_int_equal(letters_read(&ask, 1, &failed, &set), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), path));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(members),  cmocka_unit_test(cut_off), cmocka_unit_test(damaged),
      cmocka_unit_test(followed), cmocka_unit_test(grows),   cmocka_unit_test(files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
