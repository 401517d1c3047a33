/* Any bytes as a file of records: read or refused with a message; what is read is a set whose parts
 * fit, with letters of the alphabet and names that are printable and different; read in pieces it
 * is the same, or refused the same way, also by an index of its file; and written as FASTA and as
 * FASTQ it reads the same, packed by gzip or not. */
#include "fuzz_driver.h"
#include "letters_index.h"

#include <ctype.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

/** Room for what is written: each letter on a line of its own, and its quality. */
enum { WRITTEN = 6 * 4096 + 64, NAMES = 64 };

static void check_name(const letters_set *set, int64_t k) {
  const char *name = set->names + set->name_at[k];
  must(strlen(name) + 1 == (size_t)(set->name_at[k + 1] - set->name_at[k]), "length of a name");
  for (const char *c = name; *c != '\0'; c++) must(isgraph((unsigned char)*c), "a name's letter");
  for (int64_t other = 0; other < k && k < NAMES; other++)
    must(*name == '\0' || strcmp(name, set->names + set->name_at[other]) != 0, "a name twice");
}

static void check_set(int32_t alphabet, const letters_set *set) {
  must(set->n >= 1 && set->starts[0] == 0 && set->name_at[0] == 0, "beginnings");
  must(set->about[0][0] != '\0' && memchr(set->about[0], '\0', sizeof set->about[0]) != NULL,
       "about");
  for (int64_t k = 0; k < set->n; k++) {
    must(set->starts[k + 1] > set->starts[k], "a record without letters");
    check_name(set, k);
  }
  for (int64_t i = 0; i < set->starts[set->n]; i++) {
    const char letter = letters_char(alphabet, set->codes[i]);
    must(letters_code(alphabet, letter) == set->codes[i], "a code of no letter");
    must(!isspace((unsigned char)letter), "a blank is left");
  }
}

static int64_t write_record(int32_t alphabet, const letters_set *set, int64_t k, bool quality,
                            char *text) {
  int64_t n = sprintf(text, "%c%s\n", quality ? '@' : '>', set->names + set->name_at[k]);
  const int64_t length = set->starts[k + 1] - set->starts[k];
  for (int64_t i = set->starts[k]; i < set->starts[k + 1]; i++)
    n += sprintf(text + n, "%c\n", letters_char(alphabet, set->codes[i]));
  if (!quality) return n;
  n += sprintf(text + n, "+\n");
  memset(text + n, '@', (size_t)length);
  text[n + length] = '\n';
  return n + length + 1;
}

/** In blocks of some hundred bytes of text at most. */
static int64_t pack(const char *text, int64_t n, unsigned char *packed, int64_t room) {
  z_stream z = {.next_in = (z_const Bytef *)text, .avail_in = (uInt)n};
  must(deflateInit2(&z, 1, Z_DEFLATED, 16 + MAX_WBITS, 1, Z_DEFAULT_STRATEGY) == Z_OK, "zlib");
  z.next_out = packed, z.avail_out = (uInt)room;
  must(deflate(&z, Z_FINISH) == Z_STREAM_END, "zlib has no room");
  (void)deflateEnd(&z);
  return z.next_out - packed;
}

static void is_same(const letters_set *a, const letters_set *b) {
  must(a->n == b->n && a->name_at[a->n] == b->name_at[b->n], "another number");
  must(a->highest == b->highest, "another highest code");
  must(memcmp(a->starts, b->starts, (size_t)(b->n + 1) * sizeof *b->starts) == 0, "starts");
  must(memcmp(a->codes, b->codes, (size_t)b->starts[b->n]) == 0, "other letters");
  must(memcmp(a->names, b->names, (size_t)b->name_at[b->n]) == 0, "other names");
}

static void check_same(const letters_ask *ask, const char *bytes, int64_t n,
                       const letters_set *set) {
  letters_set again;
  must(letters_parse(ask, bytes, n, &again) == TSL_OK, "again");
  is_same(&again, set);
  letters_clear(&again);
}

/** In pieces of so many bytes: the same set, or the same message. */
static void check_pieces(const letters_ask *ask, const char *bytes, int64_t n, int64_t size,
                         tsl_err wanted, const letters_set *set) {
  char message[TSL_ERR_MESSAGE_MAX];
  letters_set again;
  (void)snprintf(message, sizeof message, "%s", tsl_err_message());
  must(letters_parse_pieces(ask, bytes, n, size, &again) == wanted, "pieces: another end");
  if (wanted != TSL_OK) {
    must(strcmp(tsl_err_message(), message) == 0, "pieces: another message");
    return;
  }
  is_same(&again, set);
  must(strcmp(again.about[0], set->about[0]) == 0, "pieces: about");
  letters_clear(&again);
}

static tsl_err look_at_none(void *context, const letters_window *window) {
  (void)context, (void)window;
  return TSL_OK;
}

/** All records by an index, one after another from the last one on. */
static void read_by_index(const letters_ask *ask, const letters_index *x, const letters_set *set) {
  letters_marked marked;
  letters_reader *reader = NULL;
  letters_index_files(x, ask, &marked);
  must(x->of[0] == set->n && x->highest == set->highest, "index: another number");
  must(letters_reader_open(&marked, 1, 1, &reader) == TSL_OK, "index: open");
  for (int64_t k = set->n - 1; k >= 0; k -= 1 + set->n / 50) {
    int64_t at = 0;
    must(letters_reader_read(reader, &k, &(int64_t){k + 1}) == TSL_OK, "index: read");
    const letters_set *own = letters_reader_set(reader, &at);
    const int64_t n = set->starts[k + 1] - set->starts[k];
    must(own->starts[at + 1] - own->starts[at] == n, "index: another length");
    must(memcmp(own->codes + own->starts[at], set->codes + set->starts[k], (size_t)n) == 0,
         "index: other letters");
    must(strcmp(own->names + own->name_at[at], set->names + set->name_at[k]) == 0,
         "index: another name");
  }
  letters_reader_close(&reader);
}

/** As a file, by an index whose pieces and entries are near each other: the same set, or the same
 *  message, to which gzip adds the record. */
static void check_index(int32_t alphabet, const char *bytes, int64_t n) {
  static int file = -1;
  char path[32], message[TSL_ERR_MESSAGE_MAX];
  const letters_ask ask = {.path = path, .alphabet = alphabet};
  const letters_looker looker = {look_at_none, NULL};
  letters_set set;
  letters_index x;
  int failed = 0;
  if (file < 0) file = memfd_create("fuzz", 0);
  must(file >= 0 && ftruncate(file, n) == 0 && pwrite(file, bytes, (size_t)n, 0) == n, "a file");
  (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  const tsl_err err = letters_read(&ask, 1, &failed, &set);
  (void)snprintf(message, sizeof message, "%s", tsl_err_message());
  must(letters_index_make(&ask, 1, 1 + n % 97, &looker, &failed, &x) == err, "index: another end");
  if (err != TSL_OK) {
    must(strncmp(tsl_err_message(), message, strlen(message)) == 0, "index: another message");
    return;
  }
  read_by_index(&ask, &x, &set);
  letters_index_clear(&x);
  letters_clear(&set);
}

/** Of bytes there are some that mean something else at the beginning of a line. */
static void check_again(int32_t alphabet, const letters_set *set, bool quality) {
  static char text[WRITTEN];
  static unsigned char packed[WRITTEN];
  const letters_ask ask = {.path = "again", .alphabet = alphabet};
  int64_t n = 0;
  if (alphabet == LETTERS_BYTES) return;
  for (int64_t k = 0; k < set->n; k++) n += write_record(alphabet, set, k, quality, text + n);
  check_same(&ask, text, n, set);
  check_same(&ask, (char *)packed, pack(text, n, packed, sizeof packed), set);
}

static void try_bytes(int32_t alphabet, const char *bytes, int64_t n) {
  const letters_ask ask = {.path = "fuzz", .alphabet = alphabet};
  letters_set set;
  const tsl_err err = letters_parse(&ask, bytes, n, &set);
  must(err == TSL_OK || (err == TSL_ERR_INPUT && strncmp(tsl_err_message(), "fuzz:", 5) == 0),
       "refusal");
  must(err == TSL_OK || (set.codes == NULL && set.names == NULL), "a set of a refused file");
  check_pieces(&ask, bytes, n, 1 + n % 7, err, &set);
  check_pieces(&ask, bytes, n, 8 + n % 57, err, &set);
  if (alphabet == LETTERS_DNA) check_index(alphabet, bytes, n);
  if (err != TSL_OK) return;
  check_set(alphabet, &set);
  if (set.starts[set.n] <= 4096) {
    check_again(alphabet, &set, false);
    check_again(alphabet, &set, true);
  }
  letters_clear(&set);
}

/** As they are, and packed, with bytes spoilt by what they begin with. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
  static unsigned char packed[WRITTEN];
  const char *bytes = (const char *)data;
  if (n_bytes > 4096) return 0;
  for (int32_t alphabet = LETTERS_BYTES; alphabet <= LETTERS_PROTEIN; alphabet++)
    try_bytes(alphabet, bytes, (int64_t)n_bytes);
  const int64_t n = pack(bytes, (int64_t)n_bytes, packed, sizeof packed);
  try_bytes(LETTERS_DNA, (char *)packed, n);
  for (size_t k = 0; k + 1 < n_bytes && k < 4; k++)
    packed[(data[k] * 16 + k) % (uint64_t)n] ^= (unsigned char)(1 << data[k + 1] % 8);
  try_bytes(LETTERS_DNA, (char *)packed, n);
  try_bytes(LETTERS_DNA, (char *)packed, n / 2);
  return 0;
}

#ifndef TSL_LIBFUZZER

static const char *const texts[] = {">a one\nACGT\nAC\n>b\nGG\n",
                                    "@a one\nACGT\n+\nIIII\n@b\nGG\n+b\n@+\n",
                                    "@a\nAC\nGT\n+\n@@\n>+\n@b\nN\n+\n@\n",
                                    ">a\r\nac gt\r\n\r\nN\r\n",
                                    ";c\n>a\nAC\n;x\nGT",
                                    ">\nA\n>\nC\n",
                                    "@a\rAC\r+\rII\r@b\rG\r+\r!\r",
                                    "\xef\xbb\xbf>a\nUO",
                                    ""};

static const char tokens[] =
    ">\1@\1+\1;\1\r\1\n\1\r\n\1 \1\t\1A\1C\1G\1T\1N\1a\1u\1I\1-\1*\1>a\n\1@a\n\1\n+\n\1\n@";

FUZZ_MAIN("fuzz_letters", "texts")

#endif
