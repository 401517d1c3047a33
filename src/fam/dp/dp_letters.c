/* Sequences as codes: alphabets, made-up sequences, score matrices. */
#include "dp_family.h"

#include "table_read.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Letters in the order of their codes; DNA and RNA: the last stands for any other base. */
static const char *const letters_of[] = {[DP_BYTES] = NULL,
                                         [DP_DNA] = "ACGTN",
                                         [DP_RNA] = "ACGUN",
                                         [DP_PROTEIN] = "ARNDCQEGHILKMFPSTWYVBZX*"};
/* Codes of ambiguous bases (IUPAC), all taken as N. */
static const char ambiguous[] = "RYSWKMBDHVNX";

int32_t dp_alphabet_size(int32_t alphabet) {
  return alphabet == DP_BYTES ? 256 : (int32_t)strlen(letters_of[alphabet]);
}

char dp_letter(int32_t alphabet, uint8_t code) {
  return alphabet == DP_BYTES ? (char)code : letters_of[alphabet][code];
}

/* Code of a character, or -1. */
static int code_of(int32_t alphabet, char character) {
  const char upper = (char)toupper((unsigned char)character);
  const char *place;
  if (alphabet == DP_BYTES) return (unsigned char)character;
  if (upper == '\0') return -1;
  place = strchr(letters_of[alphabet], upper);
  if (place != NULL) return (int)(place - letters_of[alphabet]);
  if (alphabet == DP_DNA && upper == 'U') return 3;
  if (alphabet == DP_RNA && upper == 'T') return 3;
  if (alphabet != DP_PROTEIN && strchr(ambiguous, upper) != NULL) return 4;
  if (alphabet == DP_PROTEIN && strchr("UOJ", upper) != NULL) return 22; /* as X */
  return -1;
}

uint64_t dp_random(uint64_t seed, uint64_t k) {
  uint64_t z = seed * UINT64_C(0xd1342543de82ef95) + (k + 1) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static double uniform(uint64_t bits) {
  return (double)(bits >> 11) * 0x1p-53;
}

/* Bases and amino acids without the letters for "any"; bytes: lower-case letters. */
static uint8_t random_code(int32_t alphabet, uint64_t bits) {
  static const int plain[] = {[DP_BYTES] = 26, [DP_DNA] = 4, [DP_RNA] = 4, [DP_PROTEIN] = 20};
  const int pick = (int)((bits >> 32) * (uint64_t)plain[alphabet] >> 32);
  return (uint8_t)(alphabet == DP_BYTES ? 'a' + pick : pick);
}

/* A copy of n_of letters in which each is, with probability rate, replaced, left out or doubled. */
static int64_t mutate(const dp_source *s, int32_t alphabet, const uint8_t *of, int64_t n_of,
                      uint8_t *codes) {
  int64_t n = 0;
  for (int64_t k = 0; k < n_of; k++) {
    const uint64_t dice = dp_random((uint64_t)s->seed, 2 * (uint64_t)k);
    const uint64_t pick = dp_random((uint64_t)s->seed, 2 * (uint64_t)k + 1);
    const int kind = uniform(dice) < s->mutate ? (int)(pick % 3) : -1;
    if (kind == 0) continue;
    codes[n++] = kind == 1 ? random_code(alphabet, pick) : of[k];
    if (kind == 2) codes[n++] = random_code(alphabet, pick);
  }
  return n;
}

static tsl_err make_letters(const dp_source *s, int32_t alphabet, const uint8_t *of, int64_t n_of,
                            uint8_t **codes, int64_t *n) {
  tsl_err err = TSL_OK;
  const bool copy = s->mutate >= 0 && of != NULL;
  TSL_TRY(tsl_alloc(copy ? 2 * n_of : s->random, 1, "random letters", (void **)codes));
  if (copy) {
    *n = mutate(s, alphabet, of, n_of, *codes);
    goto done;
  }
  for (*n = 0; *n < s->random; ++*n)
    (*codes)[*n] = random_code(alphabet, dp_random((uint64_t)s->seed, (uint64_t)*n));
done:
  return err;
}

/* Characters to codes in place. */
static tsl_err encode(const tsl_deck *deck, const char *key, int32_t alphabet, char *text,
                      int64_t n) {
  tsl_err err = TSL_OK;
  char shown[48];
  for (int64_t k = 0; k < n; k++) {
    const int code = code_of(alphabet, text[k]);
    if (code < 0)
      TSL_DECK_FAIL(deck, key, "letter '%s' at place %lld is not of the alphabet %s",
                    table_shown(text + k, text + k + 1, shown), (long long)k + 1,
                    letters_of[alphabet]);
    text[k] = (char)code;
  }
done:
  return err;
}

tsl_err dp_read_letters(const tsl_deck *deck, const char *key, const dp_source *s, int32_t alphabet,
                        const uint8_t *of, int64_t n_of, uint8_t **codes, int64_t *n) {
  tsl_err err = TSL_OK;
  char *path = NULL, *text = NULL, name[64];
  *codes = NULL, *n = 0;
  if (s->text == NULL && s->file == NULL) {
    TSL_TRY(make_letters(s, alphabet, of, n_of, codes, n));
    goto done;
  }
  if (s->text != NULL) {
    *n = (int64_t)strlen(s->text);
    TSL_TRY(tsl_alloc(*n, 1, key, (void **)&text));
    if (*n > 0) memcpy(text, s->text, (size_t)*n);
  } else {
    TSL_TRY(dp_find_path(deck, s->file, &path));
    TSL_TRY(tsl_deck_blame(deck, key, dp_read_fasta(path, s->record, &text, n, name)));
  }
  TSL_TRY(encode(deck, key, alphabet, text, *n));
  *codes = (uint8_t *)text;
  text = NULL;
done:
  tsl_free(path);
  tsl_free(text);
  return err;
}

/* ---- score matrices */

/* Codes of the heading line, -1 for letters of no use; returns their number. */
static int read_heading(const char *at, const char *end, int32_t alphabet, int codes[64]) {
  int n = 0;
  for (; at < end && n < 64; at++)
    if (!isspace((unsigned char)*at)) codes[n++] = code_of(alphabet, *at);
  return n;
}

static tsl_err read_row(const table_lines *lines, int32_t alphabet, const int *codes, int n,
                        dp_scores *scores, bool *seen) {
  tsl_err err = TSL_OK;
  const char *at = lines->line;
  const int row = code_of(alphabet, *at++);
  for (int k = 0; k < n; k++) {
    const char *from;
    double value = 0;
    while (at < lines->line_end && isspace((unsigned char)*at)) at++;
    from = at;
    while (at < lines->line_end && !isspace((unsigned char)*at)) at++;
    TSL_TRY(table_field_parse(lines, k + 1, from, at, &value));
    if (value < -10000 || value > 10000 || value != (double)(int32_t)value)
      TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: column %d: a whole number from -10000 to 10000 is needed",
               lines->path, (long long)lines->number, k + 1);
    if (row >= 0 && codes[k] >= 0) scores->s[row][codes[k]] = (int32_t)value, seen[row] = true;
  }
done:
  return err;
}

tsl_err dp_read_scores(const char *path, int32_t alphabet, dp_scores *scores) {
  tsl_err err = TSL_OK;
  char *text = NULL;
  int64_t bytes = 0;
  int codes[64], n = 0;
  bool seen[DP_MAX_ALPHABET] = {false};
  table_lines lines;
  TSL_TRY(table_file_load(path, &text, &bytes));
  table_lines_open(path, text, bytes, '#', &lines);
  if (table_lines_content(&lines)) n = read_heading(lines.line, lines.line_end, alphabet, codes);
  if (n == 0) TSL_FAIL(TSL_ERR_INPUT, "%s: no line with the letters of the columns", path);
  while (table_lines_content(&lines)) TSL_TRY(read_row(&lines, alphabet, codes, n, scores, seen));
  for (int k = 0; k < dp_alphabet_size(alphabet); k++)
    if (!seen[k])
      TSL_FAIL(TSL_ERR_INPUT, "%s: no row for letter %c", path, letters_of[alphabet][k]);
done:
  tsl_free(text);
  return err;
}
