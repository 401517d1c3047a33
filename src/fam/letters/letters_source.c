/* Text of files of records, and where pieces of it may begin. */
#include "letters_source.h"

#include "integers.h"
#include "letters_file.h"
#include "letters_scan.h"
#include "memory.h"
#include "table_read.h"

#include <string.h>

enum { WINDOW = 1 << 12 /* bytes that are looked at first */ };

/* ---- bytes */

/* Bytes [lo, hi) of what is packed. */
static tsl_err inflate(const letters_source *s, int64_t lo, int64_t hi, letters_buffer *buffer) {
  tsl_err err = TSL_OK;
  const letters_packed packed = letters_source_packed(s);
  int64_t got;
  if (buffer->inflater != NULL && !letters_inflater_is_of(buffer->inflater, s->file))
    letters_inflater_close(&buffer->inflater);
  if (buffer->inflater == NULL) TSL_TRY(letters_inflater_open(&packed, &buffer->inflater));
  TSL_TRY(letters_inflater_go(buffer->inflater, s->entries, lo));
  TSL_TRY(letters_inflater_read(buffer->inflater, buffer->bytes, hi - lo, &got));
  if (got < hi - lo) TSL_FAIL(TSL_ERR_IO, "'%s' has changed while it was read", s->path);
done:
  return err;
}

tsl_err letters_source_take(const letters_source *s, int64_t lo, int64_t hi, letters_buffer *buffer,
                            const char **bytes) {
  tsl_err err = TSL_OK;
  if (s->file == NULL) return *bytes = s->bytes + lo, TSL_OK;
  if (hi - lo > buffer->room) TSL_TRY(table_check_memory(hi - lo, s->path));
  TSL_TRY(tsl_grow((void **)&buffer->bytes, 0, hi - lo, &buffer->room, 1, s->path));
  if (s->entries != NULL)
    TSL_TRY(inflate(s, lo, hi, buffer));
  else
    TSL_TRY(letters_file_read(s->file, s->path, lo, hi, buffer->bytes));
  *bytes = buffer->bytes;
done:
  return err;
}

void letters_buffer_clear(letters_buffer *buffer) {
  letters_inflater_close(&buffer->inflater);
  tsl_free(buffer->bytes);
  *buffer = (letters_buffer){.bytes = NULL};
}

/* ---- files */

tsl_err letters_source_open(const char *path, letters_source *out) {
  tsl_err err = TSL_OK;
  char first[2] = "";
  *out = (letters_source){.path = path};
  TSL_TRY(table_file_open(path, &out->file, &out->n));
  TSL_TRY(letters_file_read(out->file, path, 0, tsl_min(out->n, 2), first));
  out->packed = letters_is_packed(first, tsl_min(out->n, 2));
  out->n_file = out->n;
done:
  if (err != TSL_OK) letters_source_clear(out);
  return err;
}

letters_source letters_source_of(const char *path, const char *bytes, int64_t n) {
  return (letters_source){
      .path = path, .bytes = bytes, .n = n, .packed = letters_is_packed(bytes, n)};
}

letters_packed letters_source_packed(const letters_source *s) {
  return (letters_packed){.path = s->path, .file = s->file, .n = s->n_file};
}

void letters_source_enter(letters_source *s, const letters_entries *entries) {
  s->entries = entries, s->n = entries->list[entries->n].text;
}

int64_t letters_source_place(const letters_source *s, int64_t text) {
  if (s->entries == NULL) return text;
  return s->entries->list[letters_entries_find(s->entries, text)].at;
}

tsl_err letters_source_unpack(letters_source *s) {
  tsl_err err = TSL_OK;
  letters_buffer packed = {.bytes = NULL};
  const char *bytes = NULL;
  if (!s->packed) return TSL_OK;
  TSL_TRY(letters_source_take(s, 0, s->n, &packed, &bytes));
  TSL_TRY(letters_unpack(s->path, bytes, s->n, &s->text, &s->n));
  if (s->file != NULL) (void)fclose(s->file);
  s->file = NULL, s->bytes = s->text;
done:
  letters_buffer_clear(&packed);
  return err;
}

void letters_source_clear(letters_source *s) {
  if (s->file != NULL) (void)fclose(s->file);
  tsl_free(s->text);
  *s = (letters_source){.path = s->path};
}

/* ---- formats */

tsl_err letters_source_judge(const char *path, const char *bytes, int64_t n, int32_t *format) {
  tsl_err err = TSL_OK;
  char shown[48];
  const char *const first = letters_first(bytes, n);
  if (first == bytes + n)
    TSL_FAIL(TSL_ERR_INPUT, "%s: no records: %s", path,
             n == 0 ? "the file is empty" : "the file has nothing but blanks");
  if (*first != '>' && *first != ';' && *first != '@')
    TSL_FAIL(TSL_ERR_INPUT,
             "%s: neither FASTA nor FASTQ: it begins with '%s', neither with '>' nor with '@'",
             path, table_shown(first, first + 1, shown));
  *format = *first == '@' ? LETTERS_FASTQ : LETTERS_FASTA;
done:
  return err;
}

tsl_err letters_source_look(letters_source *s, letters_buffer *buffer) {
  tsl_err err = TSL_OK;
  const char *bytes = NULL;
  int64_t n = 0;
  do {
    n = tsl_min(n > 0 ? 4 * n : WINDOW, s->n);
    TSL_TRY(letters_source_take(s, 0, n, buffer, &bytes));
  } while (letters_first(bytes, n) == bytes + n && n < s->n);
  TSL_TRY(letters_source_judge(s->path, bytes, n, &s->format));
done:
  return err;
}

/* ---- borders */

static bool is_end(char c) {
  return c == '\n' || c == '\r';
}

/* Behind the end of the line; the end where it has none. */
static const char *next_line(const char *at, const char *end) {
  while (at < end && !is_end(*at)) at++;
  if (at + 1 < end && at[0] == '\r' && at[1] == '\n') at++;
  return at < end ? at + 1 : end;
}

/* A header, as far as can be seen: FASTQ has its '+' two lines on, where quality that begins so has
 * the letters of the next record. */
static bool is_header(int32_t format, const char *at, const char *end) {
  if (!is_end(at[-1])) return false;
  if (format == LETTERS_FASTA) return true;
  at = next_line(next_line(at, end), end);
  return at < end && *at == '+';
}

/* The first one in [1, limit) of n bytes; -1 none. */
static int64_t find_header(int32_t format, const char *bytes, int64_t n, int64_t limit) {
  const char mark = format == LETTERS_FASTA ? '>' : '@';
  for (const char *at = bytes + 1; at < bytes + limit; at++) {
    at = memchr(at, mark, (size_t)(bytes + limit - at));
    if (at == NULL) return -1;
    if (is_header(format, at, bytes + n)) return at - bytes;
  }
  return -1;
}

tsl_err letters_source_border(const letters_source *s, int64_t from, int64_t to,
                              letters_buffer *buffer, int64_t *at) {
  tsl_err err = TSL_OK;
  const int64_t lo = from - 1, most = tsl_min(2 * (to - lo), s->n - lo);
  const char *bytes = NULL;
  int64_t n = 0, found = -1;
  do {
    n = tsl_min(n > 0 ? 4 * n : WINDOW, most);
    TSL_TRY(letters_source_take(s, lo, lo + n, buffer, &bytes));
    found = find_header(s->format, bytes, n, tsl_min(n, to - lo));
  } while (found < 0 && n < most);
  *at = found < 0 ? -1 : lo + found;
done:
  return err;
}
