/**
 * @file fuzz_driver.h
 * The programs of this folder without libFuzzer: texts, and files given by name, mutated at random
 * for some seconds.
 *
 *     ./fuzz_NAME SECONDS FILE...
 *
 * With libFuzzer:  clang -fsanitize=fuzzer,address -DTSL_LIBFUZZER ...; ./fuzz_NAME CORPUS
 */
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/** What does not hold ends the program, with the error of the last call. */
static inline void must(bool holds, const char *what) {
  if (holds) return;
  (void)fprintf(stderr, "%s: %s\n", what, tsl_err_message());
  abort();
}

#ifndef TSL_LIBFUZZER

enum { FUZZ_BYTES = 4096, FUZZ_SEEDS = 256, FUZZ_TOKENS = 64 };

/** What is mutated, and with what. */
typedef struct fuzz_language {
  const char *const *texts; /**< [n_texts] */
  int n_texts;
  const char *tokens; /**< pieces that mean something, each ended by \1 */
} fuzz_language;

typedef struct fuzz_seed {
  char bytes[FUZZ_BYTES];
  size_t n;
} fuzz_seed;

static struct {
  fuzz_seed seeds[FUZZ_SEEDS];
  int n_seeds;
  char tokens[2048];
  const char *token[FUZZ_TOKENS];
  int n_tokens;
  uint64_t state;
} fuzz = {.state = UINT64_C(88172645463325252)};

/** Xorshift (Marsaglia 2003). */
static uint64_t fuzz_draw(uint64_t below) {
  fuzz.state ^= fuzz.state << 13, fuzz.state ^= fuzz.state >> 7, fuzz.state ^= fuzz.state << 17;
  return fuzz.state % below;
}

static void fuzz_add(const char *bytes, size_t n) {
  if (fuzz.n_seeds == FUZZ_SEEDS || n > FUZZ_BYTES) return;
  memcpy(fuzz.seeds[fuzz.n_seeds].bytes, bytes, n);
  fuzz.seeds[fuzz.n_seeds++].n = n;
}

static void fuzz_add_file(const char *path) {
  static char bytes[FUZZ_BYTES];
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    perror(path);
    exit(2);
  }
  fuzz_add(bytes, fread(bytes, 1, sizeof bytes, file));
  (void)fclose(file);
}

static void fuzz_learn(const fuzz_language *language) {
  (void)snprintf(fuzz.tokens, sizeof fuzz.tokens, "%s", language->tokens);
  for (char *t = strtok(fuzz.tokens, "\1"); t != NULL && fuzz.n_tokens < FUZZ_TOKENS;
       t = strtok(NULL, "\1"))
    fuzz.token[fuzz.n_tokens++] = t;
  for (int t = 0; t < language->n_texts; t++)
    fuzz_add(language->texts[t], strlen(language->texts[t]));
}

/** Remove or change a few bytes, or put in a token or a piece of another seed. */
static size_t fuzz_mutate(char *bytes, size_t n) {
  enum { LONGEST = 40 };
  const fuzz_seed *other = &fuzz.seeds[fuzz_draw((uint64_t)fuzz.n_seeds)];
  const char *piece = fuzz.token[fuzz_draw((uint64_t)fuzz.n_tokens)];
  size_t length = strlen(piece);
  const size_t at = fuzz_draw(n + 1), kind = fuzz_draw(5);
  if (kind == 0) {
    length = fuzz_draw((n - at < 16 ? n - at : 16) + 1);
    memmove(bytes + at, bytes + at + length, n - at - length);
    return n - length;
  }
  if (kind == 1) {
    if (at < n) bytes[at] = (char)fuzz_draw(fuzz_draw(2) == 0 ? 256 : 128);
    return n;
  }
  if (kind == 2 && other->n > 0) {
    const size_t from = fuzz_draw(other->n), most = other->n - from;
    piece = other->bytes + from;
    length = fuzz_draw((most < LONGEST ? most : LONGEST) + 1);
  }
  if (n + length > FUZZ_BYTES) return n;
  memmove(bytes + at + length, bytes + at, n - at);
  memcpy(bytes + at, piece, length);
  return n + length;
}

/** The seeds as they are, then mutants until the time is over. @return inputs tried */
static long long fuzz_run(int argc, char **argv, const fuzz_language *language) {
  static char bytes[FUZZ_BYTES];
  const double seconds = argc > 1 ? strtod(argv[1], NULL) : 10;
  const time_t start = time(NULL);
  long long runs = 0;
  fuzz_learn(language);
  for (int i = 2; i < argc; i++) fuzz_add_file(argv[i]);
  for (int i = 0; i < fuzz.n_seeds; i++, runs++)
    (void)LLVMFuzzerTestOneInput((const uint8_t *)fuzz.seeds[i].bytes, fuzz.seeds[i].n);
  for (; difftime(time(NULL), start) < seconds; runs++) {
    const fuzz_seed *from = &fuzz.seeds[fuzz_draw((uint64_t)fuzz.n_seeds)];
    size_t n = from->n;
    memcpy(bytes, from->bytes, n);
    for (uint64_t i = fuzz_draw(2) == 0 ? 1 : fuzz_draw(8) + 1; i > 0; i--)
      n = fuzz_mutate(bytes, n);
    (void)LLVMFuzzerTestOneInput((const uint8_t *)bytes, n);
  }
  return runs;
}

/** The program of `texts` and `tokens`; what: what its inputs are called. */
#define FUZZ_MAIN(name, what)                                                                   \
  int main(int argc, char **argv) {                                                             \
    const fuzz_language language = {texts, sizeof texts / sizeof *texts, tokens};               \
    (void)printf(name ": %lld " what " tried, none failed\n", fuzz_run(argc, argv, &language)); \
    return 0;                                                                                   \
  }

/** Likewise where n inputs came to something, done: where none did, nothing was tested. */
#define FUZZ_MAIN_COUNTED(name, what, done, n)                                         \
  int main(int argc, char **argv) {                                                    \
    const fuzz_language language = {texts, sizeof texts / sizeof *texts, tokens};      \
    const long long runs = fuzz_run(argc, argv, &language);                            \
    (void)printf(name ": %lld " what " tried, %lld " done ", none failed\n", runs, n); \
    return n > 0 ? 0 : 1;                                                              \
  }

#endif
