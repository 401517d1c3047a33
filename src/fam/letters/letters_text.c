/* One sequence of a file as it was written. */
#include "letters_text.h"

#include "memory.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* ---- what a file is */

/* Does the name end so, ".gz" behind it or not? endings: each with its dot, NULL. */
static bool has_ending(const char *path, const char *const *endings) {
  const size_t length = strlen(path);
  const bool packed = length > 3 && strcasecmp(path + length - 3, ".gz") == 0;
  const size_t end = packed ? length - 3 : length;
  for (const char *const *e = endings; *e != NULL; e++) {
    const size_t n = strlen(*e);
    if (end >= n && strncasecmp(path + end - n, *e, n) == 0) return true;
  }
  return false;
}

static int32_t format_of_name(const char *path) {
  static const char *const fasta[] = {".fa",  ".fasta", ".fna", ".ffn", ".faa",
                                      ".frn", ".fas",   ".fsa", ".mfa", NULL};
  static const char *const fastq[] = {".fq", ".fastq", NULL};
  if (has_ending(path, fasta)) return LETTERS_FASTA;
  return has_ending(path, fastq) ? LETTERS_FASTQ : LETTERS_PLAIN;
}

/* Does it begin, after empty lines, as FASTA does: with a header or, of old, a comment? FASTQ: with
 * a header. */
static bool begins_as(int32_t format, const char *bytes, int64_t n) {
  const char *at = letters_first(bytes, n);
  if (at == bytes + n) return false;
  return format == LETTERS_FASTQ ? *at == '@' : *at == '>' || *at == ';';
}

static tsl_err choose_format(const letters_text_ask *ask, const char *bytes, int64_t n,
                             int32_t *out) {
  tsl_err err = TSL_OK;
  const bool fasta = begins_as(LETTERS_FASTA, bytes, n), fastq = begins_as(LETTERS_FASTQ, bytes, n);
  const char *plain = ask->format == LETTERS_AUTO ? "; format: text reads it as plain text" : "";
  *out = ask->format == LETTERS_AUTO ? format_of_name(ask->path) : ask->format;
  if (*out == LETTERS_FASTA && !fasta)
    TSL_FAIL(TSL_ERR_INPUT, "%s: no FASTA file, as it does not begin with '>'%s", ask->path, plain);
  if (*out == LETTERS_FASTQ && !fastq)
    TSL_FAIL(TSL_ERR_INPUT, "%s: no FASTQ file, as it does not begin with '@'%s", ask->path, plain);
  if (*out == LETTERS_PLAIN && ask->record > 1)
    TSL_FAIL(TSL_ERR_INPUT, "%s: record %lld asked for, but it is read as plain text%s", ask->path,
             (long long)ask->record,
             fasta   ? "; format: fasta reads it as FASTA"
             : fastq ? "; format: fastq reads it as FASTQ"
                     : "");
done:
  return err;
}

/* ---- letters */

/* Next line with letters of the record asked for; END behind them. */
static tsl_err next_wanted(letters_scan *s, int64_t record, letters_part *part) {
  tsl_err err = TSL_OK;
  do {
    TSL_TRY(letters_scan_next(s, part));
    if (*part == LETTERS_HEADER && s->record > record) *part = LETTERS_END;
  } while (*part == LETTERS_HEADER ||
           (*part == LETTERS_LINE && s->format != LETTERS_PLAIN && s->record != record));
done:
  return err;
}

/* Letters of all lines wanted, into letters unless NULL; n: their number. */
static tsl_err collect(letters_scan *s, int64_t record, char *letters, int64_t *n) {
  tsl_err err = TSL_OK;
  letters_part part = LETTERS_END;
  *n = 0;
  TSL_TRY(next_wanted(s, record, &part));
  while (part == LETTERS_LINE) {
    for (int64_t k = 0; k < s->length; k++) {
      if (isspace((unsigned char)s->line[k])) continue;
      if (letters != NULL) letters[*n] = s->line[k];
      ++*n;
    }
    TSL_TRY(next_wanted(s, record, &part));
  }
done:
  return err;
}

static tsl_err take_all(const letters_text_ask *ask, const char *bytes, int64_t n,
                        letters_text *out) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(n, 1, ask->path, (void **)&out->letters));
  if (n > 0) memcpy(out->letters, bytes, (size_t)n);
  out->n = n;
done:
  return err;
}

/* The record's letters, once more, and its name. */
static tsl_err take_record(const letters_text_ask *ask, const char *bytes, int64_t n_bytes,
                           letters_text *out) {
  tsl_err err = TSL_OK;
  letters_scan s = letters_scan_begin(ask->path, out->format, bytes, n_bytes);
  letters_part part = LETTERS_HEADER;
  while (out->format != LETTERS_PLAIN && s.record < ask->record)
    TSL_TRY(letters_scan_next(&s, &part));
  if (out->format != LETTERS_PLAIN) (void)letters_scan_name(&s, out->name, sizeof out->name);
  TSL_TRY(tsl_alloc(out->n, 1, ask->path, (void **)&out->letters));
  TSL_TRY(collect(&s, ask->record, out->letters, &out->n));
done:
  return err;
}

tsl_err letters_text_parse(const letters_text_ask *ask, const char *bytes, int64_t n_bytes,
                           letters_text *out) {
  tsl_err err = TSL_OK;
  letters_scan s;
  *out = (letters_text){.letters = NULL};
  TSL_TRY(choose_format(ask, bytes, n_bytes, &out->format));
  if (out->format == LETTERS_PLAIN && ask->bytes) return take_all(ask, bytes, n_bytes, out);
  s = letters_scan_begin(ask->path, out->format, bytes, n_bytes);
  TSL_TRY(collect(&s, ask->record, NULL, &out->n));
  if (out->format != LETTERS_PLAIN && s.record < ask->record)
    TSL_FAIL(TSL_ERR_INPUT, "%s: record %lld asked for, but the file has %lld", ask->path,
             (long long)ask->record, (long long)s.record);
  TSL_TRY(take_record(ask, bytes, n_bytes, out));
done:
  return err;
}

/* ---- places, for messages */

/* Every byte is a letter. */
static void place_of_byte(const char *bytes, int64_t k, int64_t *line, int64_t *column) {
  *line = *column = 1;
  for (int64_t b = 0; b < k; b++) {
    ++*column;
    if (bytes[b] == '\n') ++*line, *column = 1;
  }
}

void letters_text_place(const letters_text_ask *ask, const letters_text *text, const char *bytes,
                        int64_t n_bytes, int64_t k, int64_t *line, int64_t *column) {
  letters_scan s = letters_scan_begin(ask->path, text->format, bytes, n_bytes);
  letters_part part = LETTERS_END;
  int64_t left = k;
  *line = *column = 0;
  if (text->format == LETTERS_PLAIN && ask->bytes) return place_of_byte(bytes, k, line, column);
  while (next_wanted(&s, ask->record, &part) == TSL_OK && part == LETTERS_LINE)
    for (int64_t c = 0; c < s.length; c++) {
      if (isspace((unsigned char)s.line[c])) continue;
      if (left-- > 0) continue;
      *line = s.number, *column = c + 1;
      return;
    }
}
