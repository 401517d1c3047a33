/* Letters of files: FASTA as it comes (several records, any line ends, blanks and empty lines,
 * comments, lower case), and plain text. */
#include "dp_letters.h"

#include "table_read.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* ---- what a file is */

static const char *skip_mark(const char *bytes, int64_t n) {
  return n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? bytes + 3 : bytes;
}

static bool is_named_fasta(const char *path) {
  static const char *const endings[] = {".fa",  ".fasta", ".fna", ".ffn", ".faa",
                                        ".frn", ".fas",   ".fsa", ".mfa", NULL};
  const char *dot = strrchr(path, '.');
  for (const char *const *e = endings; dot != NULL && *e != NULL; e++)
    if (strcasecmp(dot, *e) == 0) return true;
  return false;
}

/* Does it begin, after empty lines, as FASTA does: with a header or, of old, a comment? */
static bool begins_as_fasta(const char *bytes, int64_t n) {
  const char *at = skip_mark(bytes, n), *end = bytes + n;
  while (at < end && isspace((unsigned char)*at)) at++;
  return at < end && (*at == '>' || *at == ';');
}

static tsl_err choose_format(const dp_text_ask *ask, const char *bytes, int64_t n, int32_t *out) {
  tsl_err err = TSL_OK;
  const bool named = is_named_fasta(ask->path), begins = begins_as_fasta(bytes, n);
  *out = ask->format;
  if (ask->format == DP_TEXT_AUTO) *out = named ? DP_TEXT_FASTA : DP_TEXT_PLAIN;
  if (*out == DP_TEXT_FASTA && !begins)
    TSL_FAIL(TSL_ERR_INPUT, "%s: no FASTA file, as it does not begin with '>'%s", ask->path,
             ask->format == DP_TEXT_AUTO ? "; format: text reads it as plain text" : "");
  if (*out == DP_TEXT_PLAIN && ask->record > 1)
    TSL_FAIL(TSL_ERR_INPUT, "%s: record %lld asked for, but it is read as plain text%s", ask->path,
             (long long)ask->record, begins ? "; format: fasta reads it as FASTA" : "");
done:
  return err;
}

/* ---- lines */

/* Bytes not yet read, and the line before them. */
typedef struct scan {
  const char *at, *end;
  const char *line;
  int64_t length, number; /* of the line, without its end; from 1 */
  int64_t seen;           /* FASTA: headers */
} scan;

/* Next line without its end: LF, CR LF or CR alone; false at the end. */
static bool next_line(scan *s) {
  const char *stop, *cr;
  if (s->at >= s->end) return false;
  stop = memchr(s->at, '\n', (size_t)(s->end - s->at));
  if (stop == NULL) stop = s->end;
  cr = memchr(s->at, '\r', (size_t)(stop - s->at));
  s->line = s->at;
  s->length = (cr != NULL ? cr : stop) - s->at;
  if (cr == NULL || (cr + 1 == stop && stop < s->end))
    s->at = stop < s->end ? stop + 1 : stop;
  else
    s->at = cr + 1;
  s->number++;
  return true;
}

/* First word after '>'. */
static void copy_name(const scan *s, char name[DP_NAME]) {
  int64_t from = 1, k = 0;
  while (from < s->length && isblank((unsigned char)s->line[from])) from++;
  for (; from < s->length && !isspace((unsigned char)s->line[from]) && k < DP_NAME - 1; from++)
    name[k++] = (char)(isgraph((unsigned char)s->line[from]) ? s->line[from] : '?');
  name[k] = '\0';
}

/* Next line with letters that are wanted; name may be NULL. */
static bool next_wanted(scan *s, int32_t format, int64_t record, char *name) {
  while (next_line(s)) {
    const char first = (char)(s->length > 0 ? s->line[0] : '\0');
    if (format == DP_TEXT_PLAIN) return true;
    if (first == '>') {
      if (++s->seen == record && name != NULL) copy_name(s, name);
      if (s->seen > record) return false;
    } else if (s->seen == record && first != ';') {
      return true;
    }
  }
  return false;
}

static scan dp_fasta_begin(const char *bytes, int64_t n) {
  return (scan){.at = skip_mark(bytes, n), .end = bytes + n};
}

/* ---- letters */

/* Letters of all lines wanted, into letters unless NULL; returns their number. */
static int64_t collect(scan *s, int32_t format, int64_t record, char *letters, char *name) {
  int64_t n = 0;
  while (next_wanted(s, format, record, name))
    for (int64_t k = 0; k < s->length; k++) {
      if (isspace((unsigned char)s->line[k])) continue;
      if (letters != NULL) letters[n] = s->line[k];
      n++;
    }
  return n;
}

static tsl_err take_all(const dp_text_ask *ask, const char *bytes, int64_t n, dp_text *out) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(n, 1, ask->path, (void **)&out->letters));
  if (n > 0) memcpy(out->letters, bytes, (size_t)n);
  out->n = n;
done:
  return err;
}

tsl_err dp_text_parse(const dp_text_ask *ask, const char *bytes, int64_t n_bytes, dp_text *out) {
  tsl_err err = TSL_OK;
  scan s = dp_fasta_begin(bytes, n_bytes);
  *out = (dp_text){.letters = NULL};
  TSL_TRY(choose_format(ask, bytes, n_bytes, &out->format));
  if (out->format == DP_TEXT_PLAIN && ask->bytes) return take_all(ask, bytes, n_bytes, out);
  out->n = collect(&s, out->format, ask->record, NULL, out->name);
  if (out->format == DP_TEXT_FASTA && s.seen < ask->record)
    TSL_FAIL(TSL_ERR_INPUT, "%s: record %lld asked for, but the file has %lld", ask->path,
             (long long)ask->record, (long long)s.seen);
  TSL_TRY(tsl_alloc(out->n, 1, ask->path, (void **)&out->letters));
  s = dp_fasta_begin(bytes, n_bytes);
  (void)collect(&s, out->format, ask->record, out->letters, NULL);
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

void dp_text_place(const dp_text_ask *ask, const dp_text *text, const char *bytes, int64_t n_bytes,
                   int64_t k, int64_t *line, int64_t *column) {
  scan s = dp_fasta_begin(bytes, n_bytes);
  int64_t left = k;
  *line = *column = 0;
  if (text->format == DP_TEXT_PLAIN && ask->bytes) return place_of_byte(bytes, k, line, column);
  while (next_wanted(&s, text->format, ask->record, NULL))
    for (int64_t c = 0; c < s.length; c++) {
      if (isspace((unsigned char)s.line[c])) continue;
      if (left-- > 0) continue;
      *line = s.number, *column = c + 1;
      return;
    }
}
