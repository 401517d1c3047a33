/* Sequences: from files, texts of the deck and dice to codes. */
#include "dp_letters.h"

#include "dp_family.h"
#include "letters_file.h"
#include "table_read.h"

#include <stdio.h>
#include <string.h>

/* ---- made up */

uint64_t dp_random(uint64_t seed, uint64_t k) {
  uint64_t z = seed * UINT64_C(0xd1342543de82ef95) + (k + 1) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static double uniform(uint64_t bits) {
  return (double)(bits >> 11) * 0x1p-53;
}

/* Bases and amino acids that stand for one alone; bytes: lower-case letters. */
static uint8_t random_code(int32_t alphabet, uint64_t bits) {
  const int pick = (int)((bits >> 32) * (uint64_t)letters_plain(alphabet) >> 32);
  return (uint8_t)(alphabet == LETTERS_BYTES ? 'a' + pick : pick);
}

/* A copy in which each letter is, with probability mutate, replaced, left out or doubled. */
static int64_t mutate(const dp_source *s, int32_t alphabet, const dp_sequence *of, uint8_t *codes) {
  int64_t n = 0;
  for (int64_t k = 0; k < of->n; k++) {
    const uint64_t dice = dp_random((uint64_t)s->seed, 2 * (uint64_t)k);
    const uint64_t pick = dp_random((uint64_t)s->seed, 2 * (uint64_t)k + 1);
    const int kind = uniform(dice) < s->mutate ? (int)(pick % 3) : -1;
    if (kind == 0) continue;
    codes[n++] = kind == 1 ? random_code(alphabet, pick) : of->codes[k];
    if (kind == 2) codes[n++] = random_code(alphabet, pick);
  }
  return n;
}

static tsl_err check_made(const tsl_deck *deck, const dp_sequence_ask *ask,
                          const dp_sequence *made) {
  tsl_err err = TSL_OK;
  for (int64_t k = 0; k < made->n && ask->matrix != NULL; k++)
    if ((ask->known >> made->codes[k] & 1) == 0)
      TSL_DECK_FAIL(deck, ask->key, "letter '%c', which is made up, has no scores in %s",
                    letters_char(ask->alphabet, made->codes[k]), ask->matrix);
done:
  return err;
}

static tsl_err make_letters(const tsl_deck *deck, const dp_sequence_ask *ask, dp_sequence *out) {
  tsl_err err = TSL_OK;
  const dp_source *s = ask->source;
  const bool copy = s->mutate >= 0 && ask->of != NULL;
  TSL_TRY(tsl_alloc(copy ? 2 * ask->of->n : s->random, 1, "random letters", (void **)&out->codes));
  if (copy) out->n = mutate(s, ask->alphabet, ask->of, out->codes);
  for (; !copy && out->n < s->random; out->n++)
    out->codes[out->n] = random_code(ask->alphabet, dp_random((uint64_t)s->seed, (uint64_t)out->n));
  TSL_TRY(check_made(deck, ask, out));
  if (!ask->keep) goto done;
  TSL_TRY(tsl_alloc(out->n, 1, "letters", (void **)&out->letters));
  letters_spell(ask->alphabet, out->codes, out->n, out->letters);
done:
  return err;
}

/* ---- as written */

/* Where a text of letters comes from; without a path from the deck. */
typedef struct origin {
  letters_text_ask ask;
  letters_file file;
} origin;

/* How a file was read. */
typedef struct reading {
  int32_t format; /* letters_format, not AUTO */
  bool packed;    /* by gzip */
} reading;

static bool is_known(const dp_sequence_ask *ask, int code) {
  return code >= 0 && (ask->matrix == NULL || (ask->known >> code & 1) != 0);
}

/* "FILE:LINE: column C: letter 'x' at place P of record R 'NAME'", as far as it has them. */
static void say_letter(const origin *from, const letters_text *text, int64_t k, char *said,
                       size_t size) {
  char shown[48];
  int64_t line = 0, column = 0;
  int n = 0;
  (void)table_shown(text->letters + k, text->letters + k + 1, shown);
  if (from->ask.path != NULL) {
    letters_text_place(&from->ask, text, from->file.bytes, from->file.n, k, &line, &column);
    n = snprintf(said, size, "%s:%lld: column %lld: ", from->ask.path, (long long)line,
                 (long long)column);
  }
  if (n < 0 || (size_t)n >= size) return;
  n += snprintf(said + n, size - (size_t)n, "letter '%s' at place %lld", shown, (long long)k + 1);
  if ((size_t)n < size && from->ask.path != NULL && text->format != LETTERS_PLAIN)
    (void)snprintf(said + n, size - (size_t)n, " of record %lld '%s'", (long long)from->ask.record,
                   text->name);
}

/* May a plain text be another format? */
static const char *find_hint(const origin *from, const letters_text *text, char wrong) {
  if (from->ask.path == NULL || text->format != LETTERS_PLAIN) return "";
  if (wrong == '>') return "; format: fasta reads it as FASTA";
  return wrong == '@' ? "; format: fastq reads it as FASTQ" : "";
}

static tsl_err refuse_letter(const tsl_deck *deck, const dp_sequence_ask *ask, const origin *from,
                             const letters_text *text, int64_t k) {
  tsl_err err = TSL_OK;
  char said[4096] = "";
  const char wrong = text->letters[k];
  say_letter(from, text, k, said, sizeof said);
  if (letters_code(ask->alphabet, wrong) >= 0)
    TSL_DECK_FAIL(deck, ask->key, "%s has no scores in %s", said, ask->matrix);
  TSL_DECK_FAIL(deck, ask->key, "%s is not of the alphabet %s (%s)%s", said,
                letters_alphabet_words[ask->alphabet], letters_all(ask->alphabet),
                find_hint(from, text, wrong));
done:
  return err;
}

/* Takes the letters over. */
static tsl_err encode(const tsl_deck *deck, const dp_sequence_ask *ask, const origin *from,
                      letters_text *text, dp_sequence *out) {
  tsl_err err = TSL_OK;
  if (ask->keep) {
    TSL_TRY(tsl_alloc(text->n, 1, "letters", (void **)&out->letters));
    if (text->n > 0) memcpy(out->letters, text->letters, (size_t)text->n);
  }
  for (int64_t k = 0; k < text->n; k++) {
    const int code = letters_code(ask->alphabet, text->letters[k]);
    if (!is_known(ask, code)) {
      err = refuse_letter(deck, ask, from, text, k);
      goto done;
    }
    text->letters[k] = (char)code;
  }
  out->codes = (uint8_t *)text->letters;
  out->n = text->n;
  (void)memcpy(out->name, text->name, sizeof out->name);
  text->letters = NULL;
done:
  return err;
}

static tsl_err read_deck_text(const tsl_deck *deck, const dp_sequence_ask *ask, dp_sequence *out) {
  tsl_err err = TSL_OK;
  const origin from = {.ask = {.path = NULL}};
  letters_text text = {.n = (int64_t)strlen(ask->source->text), .format = LETTERS_PLAIN};
  TSL_TRY(tsl_alloc(text.n, 1, ask->key, (void **)&text.letters));
  if (text.n > 0) memcpy(text.letters, ask->source->text, (size_t)text.n);
  TSL_TRY(encode(deck, ask, &from, &text, out));
done:
  tsl_free(text.letters);
  return err;
}

static tsl_err read_file(const tsl_deck *deck, const dp_sequence_ask *ask, dp_sequence *out,
                         reading *how) {
  tsl_err err = TSL_OK;
  const dp_source *s = ask->source;
  char *path = NULL;
  origin from = {
      .ask = {.format = s->format, .record = s->record, .bytes = ask->alphabet == LETTERS_BYTES}};
  letters_text text = {.letters = NULL};
  TSL_TRY(tsl_deck_path(deck, s->file, &path));
  from.ask.path = path;
  TSL_TRY(tsl_deck_blame(deck, ask->key, letters_file_load(path, &from.file)));
  TSL_TRY(tsl_deck_blame(deck, ask->key,
                         letters_text_parse(&from.ask, from.file.bytes, from.file.n, &text)));
  *how = (reading){.format = text.format, .packed = from.file.packed};
  TSL_TRY(encode(deck, ask, &from, &text, out));
done:
  letters_file_clear(&from.file);
  TSL_FREE_ALL(text.letters, path);
  return err;
}

/* ---- what is said of it */

static void describe_file(const dp_source *s, const char *name, reading how, char *text,
                          size_t size) {
  char shown[104];
  const char *file = letters_shown_file(s->file, shown), *packed = how.packed ? ", gzip" : "";
  if (how.format == LETTERS_PLAIN)
    (void)snprintf(text, size, "%s%s, plain text", file, packed);
  else
    (void)snprintf(text, size, "%s%s, %s record %lld '%.80s'", file, packed,
                   how.format == LETTERS_FASTQ ? "FASTQ" : "FASTA", (long long)s->record, name);
}

static void describe_source(const dp_sequence_ask *ask, const dp_sequence *made, reading how,
                            char *text, size_t size) {
  const dp_source *s = ask->source;
  if (s->text != NULL)
    (void)snprintf(text, size, "text of the deck");
  else if (s->file != NULL)
    describe_file(s, made->name, how, text, size);
  else if (s->mutate >= 0 && ask->of != NULL)
    (void)snprintf(text, size, "copy of a, %g of it changed, seed %lld", s->mutate,
                   (long long)s->seed);
  else
    (void)snprintf(text, size, "made up, seed %lld", (long long)s->seed);
}

static void describe(const dp_sequence_ask *ask, reading how, dp_sequence *out) {
  const int64_t others = letters_others(ask->alphabet, out->codes, out->n);
  char source[256];
  int n = 0;
  describe_source(ask, out, how, source, sizeof source);
  n = snprintf(out->about, sizeof out->about, "%s, %s, %lld letters", source,
               letters_alphabet_words[ask->alphabet], (long long)out->n);
  if (others > 0)
    (void)snprintf(out->about + n, sizeof out->about - (size_t)n, ", %lld of them other than %s",
                   (long long)others, letters_plainly(ask->alphabet));
}

/* ---- sequences */

tsl_err dp_sequence_read(const tsl_deck *deck, const dp_sequence_ask *ask, dp_sequence *out) {
  tsl_err err = TSL_OK;
  reading how = {.format = LETTERS_PLAIN};
  *out = (dp_sequence){.codes = NULL};
  if (ask->source->text != NULL)
    TSL_TRY(read_deck_text(deck, ask, out));
  else if (ask->source->file != NULL)
    TSL_TRY(read_file(deck, ask, out, &how));
  else
    TSL_TRY(make_letters(deck, ask, out));
  describe(ask, how, out);
done:
  if (err != TSL_OK) dp_sequence_clear(out);
  return err;
}

void dp_sequence_clear(dp_sequence *sequence) {
  TSL_FREE_ALL(sequence->codes, sequence->letters);
  *sequence = (dp_sequence){.codes = NULL};
}

tsl_err dp_read_letters(const tsl_deck *deck, const char *key, const dp_source *source,
                        int32_t alphabet, uint8_t **codes, int64_t *n) {
  tsl_err err = TSL_OK;
  const dp_sequence_ask ask = {.key = key, .source = source, .alphabet = alphabet};
  dp_sequence made = {.codes = NULL};
  *codes = NULL, *n = 0;
  TSL_TRY(dp_sequence_read(deck, &ask, &made));
  *codes = made.codes, *n = made.n;
done:
  return err;
}
