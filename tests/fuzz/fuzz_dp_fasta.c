/* Any bytes as a FASTA file: read or refused with a message; no letter appears that was not in the
 * file, and what is written as FASTA again reads the same. */
#include "dp_family.h"
#include "fuzz_driver.h"

#include <ctype.h>

static void must(bool holds, const char *what) {
  if (holds) return;
  (void)fprintf(stderr, "%s: %s\n", what, tsl_err_message());
  abort();
}

/** Written with one letter a line and read again. */
static void check_again(const char *text, int64_t n) {
  char *copy = malloc((size_t)(2 * n) + 3), *again = NULL, name[64];
  int64_t at = 0, n_again = 0;
  must(copy != NULL, "malloc");
  memcpy(copy, ">x\n", 3);
  for (at = 0; at < n; at++) copy[3 + 2 * at] = text[at], copy[4 + 2 * at] = '\n';
  /* a letter at the beginning of a line may mean something else there */
  for (at = 0; at < n; at++)
    if (text[at] == '>' || text[at] == ';') break;
  if (at == n) {
    must(dp_parse_fasta("again", copy, 3 + 2 * n, 1, &again, &n_again, name) == TSL_OK, "again");
    must(n_again == n && memcmp(again, text, (size_t)n) == 0, "another text when read again");
    tsl_free(again);
  }
  free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes) {
  for (int64_t record = 1; record <= 3; record++) {
    char *text = NULL, name[64];
    int64_t n = 0;
    const tsl_err err =
        dp_parse_fasta("fuzz", (const char *)data, (int64_t)n_bytes, record, &text, &n, name);
    must(err == TSL_OK || (err == TSL_ERR_INPUT && tsl_err_message()[0] != '\0'), "refusal");
    if (err != TSL_OK) continue;
    must(n >= 0 && (size_t)n <= n_bytes && memchr(name, '\0', sizeof name) != NULL, "sizes");
    for (int64_t k = 0; k < n; k++) must(!isspace((unsigned char)text[k]), "a blank is left");
    check_again(text, n);
    tsl_free(text);
  }
  return 0;
}

#ifndef TSL_LIBFUZZER

static const char *const texts[] = {">a one\nACGT\nAC\n>b\nGG\n", ">a\r\nac gt\r\n\r\nN\r\n",
                                    ";c\n>a\nAC\n;x\nGT", "ACGT\nAC", ""};

static const char tokens[] = ">\1;\1\r\1\n\1\r\n\1 \1\t\1A\1C\1G\1T\1N\1a\1c\1g\1t\1-\1*";

int main(int argc, char **argv) {
  const fuzz_language language = {texts, sizeof texts / sizeof *texts, tokens};
  const long long runs = fuzz_run(argc, argv, &language);
  (void)printf("fuzz_dp_fasta: %lld texts tried, none failed\n", runs);
  return 0;
}

#endif
