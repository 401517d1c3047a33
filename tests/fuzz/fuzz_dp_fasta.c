/* Any bytes as a file of letters: read or refused with a message; records have no letter that was
 * not in the file, plain bytes have all, the place of each letter holds it, and what is written as
 * FASTA again reads the same. Then as letters of each alphabet. */
#include "dp_letters.h"
#include "fuzz_driver.h"

#include <ctype.h>

/** Written with one letter a line and read again. */
static void check_again(const char *text, int64_t n) {
  const letters_text_ask ask = {.path = "again", .format = LETTERS_FASTA, .record = 1};
  char *copy = malloc((size_t)(2 * n) + 3);
  int64_t at = 0;
  letters_text again;
  must(copy != NULL, "malloc");
  memcpy(copy, ">x\n", 3);
  for (at = 0; at < n; at++) copy[3 + 2 * at] = text[at], copy[4 + 2 * at] = '\n';
  /* a letter at the beginning of a line may mean something else there */
  for (at = 0; at < n; at++)
    if (text[at] == '>' || text[at] == ';') break;
  if (at == n) {
    must(letters_text_parse(&ask, copy, 3 + 2 * n, &again) == TSL_OK, "again");
    must(again.n == n && (n == 0 || memcmp(again.letters, text, (size_t)n) == 0),
         "another text when read again");
    tsl_free(again.letters);
  }
  free(copy);
}

/** Line and column of a letter hold it. Lines end with LF, CR LF or CR; among bytes with LF. */
static void check_place(const letters_text_ask *ask, const letters_text *text, const char *bytes,
                        int64_t n, int64_t k) {
  const bool whole = text->format == LETTERS_PLAIN && ask->bytes;
  const bool mark = !whole && n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0;
  int64_t line = 0, column = 0, at = mark ? 3 : 0;
  letters_text_place(ask, text, bytes, n, k, &line, &column);
  must(line >= 1 && column >= 1, "a letter without a place");
  for (int64_t l = 1; l < line && at < n; at++) {
    const bool pair = !whole && bytes[at] == '\r' && at + 1 < n && bytes[at + 1] == '\n';
    l += bytes[at] == '\n' || (!whole && bytes[at] == '\r' && !pair);
  }
  must(at + column - 1 < n && bytes[at + column - 1] == text->letters[k], "not its place");
}

static void try_text(const letters_text_ask *ask, const char *bytes, int64_t n) {
  letters_text text;
  const tsl_err err = letters_text_parse(ask, bytes, n, &text);
  must(err == TSL_OK || (err == TSL_ERR_INPUT && tsl_err_message()[0] != '\0'), "refusal");
  must(err == TSL_OK || text.letters == NULL, "letters of a refused file");
  if (err != TSL_OK) return;
  const bool whole = text.format == LETTERS_PLAIN && ask->bytes;
  must(text.format != LETTERS_AUTO && text.n >= 0 && text.n <= n, "sizes");
  must(memchr(text.name, '\0', sizeof text.name) != NULL, "name");
  must(!whole || text.n == n, "a byte is lost");
  for (int64_t k = 0; k < text.n; k++)
    must(whole || !isspace((unsigned char)text.letters[k]), "a blank is left");
  for (int64_t k = 0; k < text.n; k += 1 + text.n / 7) check_place(ask, &text, bytes, n, k);
  if (!whole) check_again(text.letters, text.n);
  tsl_free(text.letters);
}

/** A letter's code is that of its letter again, whatever way it is written. */
static void try_letters(const char *bytes, int64_t n) {
  for (int32_t alphabet = LETTERS_BYTES; alphabet <= LETTERS_PROTEIN; alphabet++)
    for (int64_t k = 0; k < n; k++) {
      const int code = letters_code(alphabet, bytes[k]);
      if (code < 0) continue;
      const char letter = letters_char(alphabet, (uint8_t)code);
      const uint8_t one[] = {(uint8_t)code};
      must(letters_code(alphabet, letter) == code, "another code");
      must(alphabet == LETTERS_BYTES ? letter == bytes[k]
                                     : toupper((unsigned char)bytes[k]) == letter ||
                                           strchr("TU", toupper((unsigned char)bytes[k])) != NULL,
           "another letter");
      must(letters_codes(alphabet, one, 1) > code, "a code beyond the alphabet");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
  static const char *const paths[] = {"fuzz", "fuzz.fa", "fuzz.fastq.gz"};
  const char *bytes = (const char *)data;
  for (int64_t way = 0; way < 72; way++) {
    const letters_text_ask ask = {.path = paths[way % 3],
                                  .bytes = way / 3 % 2 == 1,
                                  .format = (int32_t)(way / 6 % 4),
                                  .record = 1 + way / 24};
    try_text(&ask, bytes, (int64_t)n_bytes);
  }
  try_letters(bytes, (int64_t)n_bytes);
  return 0;
}

#ifndef TSL_LIBFUZZER

static const char *const texts[] = {">a one\nACGT\nAC\n>b\nGG\n",
                                    ">a\r\nac gt\r\n\r\nN\r\n",
                                    ";c\n>a\nAC\n;x\nGT",
                                    "ACGT\nAC",
                                    ">a\rAC\rGT\r>b\r",
                                    "\xef\xbb\xbf>a\nUO",
                                    "@a\nAC\nGT\n+\n@I\n>+\n@b\nN\n+\nI\n",
                                    ""};

static const char tokens[] = ">\1@\1+\1;\1\r\1\n\1\r\n\1 \1\t\1A\1C\1G\1T\1N\1a\1c\1g\1t\1-\1*";

FUZZ_MAIN("fuzz_dp_fasta", "texts")

#endif
