/* Any bytes as a FASTA file: read or refused with a message; no letter appears that was not in the
 * file, and what is written as FASTA again reads the same.
 *
 * With libFuzzer:  clang -fsanitize=fuzzer,address -DTSL_LIBFUZZER ...; ./fuzz_dp_fasta CORPUS
 * Without:         ./fuzz_dp_fasta SECONDS FILE...   mutates the files (and built-in texts) at
 * random */
#include "dp_family.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

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

enum { MOST = 4096 };

static uint64_t state = 88172645463325252u;

static uint64_t next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static size_t mutate(uint8_t *bytes, size_t n) {
  static const char pool[] = ">;\r\n \t\0ACGTNacgt-*";
  for (uint64_t k = next() % 8; k > 0; k--) {
    const size_t at = (size_t)(next() % (n + 1));
    const uint8_t byte = next() % 2 != 0 ? (uint8_t)pool[next() % sizeof pool] : (uint8_t)next();
    if (next() % 2 != 0 && at < n) {
      bytes[at] = byte;
    } else if (next() % 2 != 0 && n < MOST) {
      memmove(bytes + at + 1, bytes + at, n - at);
      bytes[at] = byte, n++;
    } else if (at < n) {
      memmove(bytes + at, bytes + at + 1, n - at - 1);
      n--;
    }
  }
  return n;
}

static size_t load(const char *path, uint8_t *bytes) {
  FILE *file = fopen(path, "rb");
  must(file != NULL, path);
  const size_t n = fread(bytes, 1, MOST, file);
  (void)fclose(file);
  return n;
}

int main(int argc, char **argv) {
  static const char *const texts[] = {">a one\nACGT\nAC\n>b\nGG\n", ">a\r\nac gt\r\n\r\nN\r\n",
                                      ";c\n>a\nAC\n;x\nGT", "ACGT\nAC", ""};
  enum { N_TEXTS = sizeof texts / sizeof *texts };
  const double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
  const time_t end = time(NULL) + (time_t)seconds;
  static uint8_t bytes[MOST + 1];
  long long runs = 0;
  while (time(NULL) <= end)
    for (int k = 0; k < 1000; k++, runs++) {
      const size_t pick = (size_t)(next() % (N_TEXTS + (size_t)(argc > 2 ? argc - 2 : 0)));
      size_t n = 0;
      if (pick < N_TEXTS)
        memcpy(bytes, texts[pick], n = strlen(texts[pick]));
      else
        n = load(argv[pick - N_TEXTS + 2], bytes);
      n = mutate(bytes, n);
      (void)LLVMFuzzerTestOneInput(bytes, n);
    }
  printf("%lld texts\n", runs);
  return 0;
}
#endif
