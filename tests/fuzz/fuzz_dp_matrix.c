/* Any bytes as a score matrix: read or refused with a message, and what is read is whole: each
 * letter of the columns has a row, and written again it reads the same. */
#include "dp_letters.h"
#include "fuzz_driver.h"

static bool has(uint32_t letters, int code) {
  return (letters >> code & 1) != 0;
}

/** With letters as the alphabet writes them, in the order of their codes. */
static int write_matrix(int32_t alphabet, const letters_scores *s, uint32_t known, char *text,
                        size_t size) {
  int n = 0;
  for (int x = -1; x < s->alphabet; x++) {
    if (x >= 0 && !has(known, x)) continue;
    n += snprintf(text + n, size - (size_t)n, "%c",
                  x < 0 ? ' ' : letters_char(alphabet, (uint8_t)x));
    for (int y = 0; y < s->alphabet; y++) {
      if (!has(known, y)) continue;
      if (x < 0)
        n += snprintf(text + n, size - (size_t)n, " %c", letters_char(alphabet, (uint8_t)y));
      else
        n += snprintf(text + n, size - (size_t)n, " %d", s->s[x][y]);
    }
    n += snprintf(text + n, size - (size_t)n, "\n");
  }
  return n;
}

static void check_whole(int32_t alphabet, const letters_scores *s, uint32_t known) {
  static char text[16384];
  static letters_scores again;
  uint32_t known_again = 0;
  must(known != 0 && s->alphabet >= 1 && s->alphabet <= LETTERS_SCORED, "size");
  must(has(known, s->alphabet - 1) && known >> (s->alphabet - 1) == 1,
       "letters beyond the alphabet");
  for (int x = 0; x < LETTERS_SCORED; x++)
    for (int y = 0; y < LETTERS_SCORED; y++) {
      must(s->s[x][y] >= -10000 && s->s[x][y] <= 10000, "a score out of range");
      must((has(known, x) && has(known, y)) || s->s[x][y] == 0, "a score of no letter");
    }
  const int n = write_matrix(alphabet, s, known, text, sizeof text);
  must(letters_scores_parse("again", text, n, alphabet, &again, &known_again) == TSL_OK, "again");
  must(known_again == known && memcmp(again.s, s->s, sizeof s->s) == 0, "another matrix");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
  static letters_scores scores;
  /* the readers of lines may look at the byte behind the text, as files are loaded */
  char *text = malloc(n_bytes + 1);
  must(text != NULL, "malloc");
  memcpy(text, data, n_bytes);
  text[n_bytes] = '\0';
  for (int32_t alphabet = LETTERS_DNA; alphabet <= LETTERS_PROTEIN; alphabet++) {
    uint32_t known = 0;
    const tsl_err err =
        letters_scores_parse("fuzz", text, (int64_t)n_bytes, alphabet, &scores, &known);
    must(err == TSL_OK || (err == TSL_ERR_INPUT && tsl_err_message()[0] != '\0'), "refusal");
    if (err == TSL_OK) check_whole(alphabet, &scores, known);
  }
  free(text);
  return 0;
}

#ifndef TSL_LIBFUZZER

static const char *const texts[] = {
    "# scores\n   A  C  G  T\nA  5 -4 -4 -4\nC -4  5 -4 -4\nG -4 -4  5 -4\nT -4 -4 -4 5\n",
    "A R N\nN 1 2 3\nA 1 2 3\nR 10000 -10000 0\n",
    "a u\r\nu 1 2\r\na 3 4",
    "* X\nX 1 1\n* 1 1\n",
    "A\n\nA\t7 # seven\n",
    ""};

static const char tokens[] = "\n\1 \1\t\1#\1A\1C\1G\1T\1U\1a\1t\1u\1N\1R\1*\1E\1-1\1"
                             "0\1"
                             "5\1"
                             "10001\1"
                             "1e3\1.5\1nan\1\r\1A 1 2\n\1\"";

FUZZ_MAIN("fuzz_dp_matrix", "texts")

#endif
