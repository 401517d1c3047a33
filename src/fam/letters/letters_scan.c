/* FASTA, FASTQ and plain letters line by line. */
#include "letters_scan.h"

#include "fn.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { NAME_SHOWN = 80 };

const char *const letters_format_words[] = {"auto", "fasta", "fastq", "text", NULL};

/* ---- lines */

const char *letters_skip_mark(const char *bytes, int64_t n) {
  return n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? bytes + 3 : bytes;
}

const char *letters_first(const char *bytes, int64_t n) {
  const char *at = letters_skip_mark(bytes, n), *end = bytes + n;
  while (at < end && isspace((unsigned char)*at)) at++;
  return at;
}

letters_scan letters_scan_begin(const char *path, int32_t format, const char *bytes, int64_t n) {
  return (letters_scan){
      .path = path, .format = format, .at = letters_skip_mark(bytes, n), .end = bytes + n};
}

/* Where the next end of a line of this kind is, or the end; looked for once, also where lines end
 * with the other kind. */
static const char *next_of(const letters_scan *s, char kind, const char **known) {
  if (*known == NULL || *known < s->at) {
    *known = memchr(s->at, kind, (size_t)(s->end - s->at));
    if (*known == NULL) *known = s->end;
  }
  return *known;
}

/* Next line without its end: LF, CR LF or CR alone; false at the end. */
static bool next_line(letters_scan *s) {
  const char *feed, *stop;
  if (s->at >= s->end) return false;
  feed = next_of(s, '\n', &s->feed);
  stop = next_of(s, '\r', &s->carriage);
  s->line = s->at;
  if (feed < stop) stop = feed;
  s->length = stop - s->at;
  if (stop + 1 == feed && feed < s->end) stop = feed;
  s->at = stop < s->end ? stop + 1 : stop;
  s->number++;
  return true;
}

static char first_of(const letters_scan *s) {
  return (char)(s->length > 0 ? s->line[0] : '\0');
}

/* As isspace and isgraph of the C locale, in a form that loops over bytes are compiled to vectors
 * of. */
static int is_blank(unsigned char c) {
  return (c == ' ') | ((unsigned char)(c - '\t') <= '\r' - '\t');
}

static int is_graph(unsigned char c) {
  return (unsigned char)(c - '!') <= '~' - '!';
}

/* Is one of 8 bytes no visible character? Then the highest bit of one is set: its own, that of the
 * difference from '!', or of its successor, '~' being the last before it is; where none is odd,
 * nothing is carried from byte to byte. */
TSL_FN uint64_t odd_of(const char *bytes) {
  const uint64_t each = UINT64_C(0x0101010101010101);
  uint64_t w;
  memcpy(&w, bytes, sizeof w);
  return w | (w - '!' * each) | (w + each);
}

/* Are all bytes of a line visible characters, none of them blank? Most lines are. */
TSL_LEVELS static bool all_graph(const char *line, int64_t length) {
  const int64_t word = sizeof(uint64_t);
  uint64_t odd = 0;
  int64_t k = 0;
  if (length < word) {
    while (k < length && is_graph((unsigned char)line[k])) k++;
    return k == length;
  }
  for (; k < length - word; k += word) odd |= odd_of(line + k);
  odd |= odd_of(line + length - word); /* some bytes once more */
  return (odd & UINT64_C(0x8080808080808080)) == 0;
}

static int64_t count_letters(const letters_scan *s) {
  int64_t blanks = 0;
  if (all_graph(s->line, s->length)) return s->length;
  for (int64_t k = 0; k < s->length; k++) blanks += is_blank((unsigned char)s->line[k]);
  return s->length - blanks;
}

/* First byte of a line of quality that cannot be; -1 none. */
static int64_t find_odd(const letters_scan *s) {
  int64_t k = 0;
  while (k < s->length &&
         (is_graph((unsigned char)s->line[k]) || is_blank((unsigned char)s->line[k])))
    k++;
  return k < s->length ? k : -1;
}

/* ---- names */

int64_t letters_scan_name(const letters_scan *s, char *name, int64_t room) {
  int64_t from = 1, k = 0;
  while (from < s->header_length && isblank((unsigned char)s->header[from])) from++;
  for (; from < s->header_length && !is_blank((unsigned char)s->header[from]); from++, k++)
    if (k < room - 1)
      name[k] = (char)(is_graph((unsigned char)s->header[from]) ? s->header[from] : '?');
  if (room > 0) name[k < room ? k : room - 1] = '\0';
  return k;
}

const char *letters_scan_place(const letters_scan *s, char said[LETTERS_PLACE]) {
  char name[NAME_SHOWN];
  (void)letters_scan_name(s, name, sizeof name);
  (void)snprintf(said, LETTERS_PLACE, "%s:%lld: record %lld '%s'", s->path, (long long)s->number,
                 (long long)s->record, name);
  return said;
}

static letters_part take_header(letters_scan *s) {
  s->record++;
  s->header = s->line, s->header_length = s->length;
  s->wanted = s->had = 0;
  return LETTERS_HEADER;
}

/* ---- formats */

static letters_part take_line(letters_scan *s) {
  s->encoded = s->coder != NULL && s->length <= s->room &&
               letters_encode(s->coder, s->line, s->length, s->codes);
  s->letters = s->encoded ? s->length : count_letters(s);
  s->wanted += s->letters;
  return LETTERS_LINE;
}

static letters_part next_fasta(letters_scan *s) {
  while (next_line(s)) {
    const char first = first_of(s);
    if (first == '>') return take_header(s);
    if (first != ';') return take_line(s);
  }
  return LETTERS_END;
}

/* A line of quality, which may not go beyond the letters. */
static tsl_err take_quality(letters_scan *s) {
  tsl_err err = TSL_OK;
  char said[LETTERS_PLACE];
  const bool plain = all_graph(s->line, s->length);
  const int64_t before = s->had, odd = plain ? -1 : find_odd(s);
  if (odd >= 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s: byte %d at column %lld of its quality is none of '!' to '~'",
             letters_scan_place(s, said), (unsigned char)s->line[odd], (long long)odd + 1);
  s->had += plain ? s->length : count_letters(s);
  if (s->had <= s->wanted) goto done;
  if (before > 0 && before < s->wanted && first_of(s) == '@')
    TSL_FAIL(TSL_ERR_INPUT,
             "%s: its quality has %lld characters for %lld letters, or %lld with this line, which "
             "begins as a header does",
             letters_scan_place(s, said), (long long)before, (long long)s->wanted,
             (long long)s->had);
  TSL_FAIL(TSL_ERR_INPUT, "%s: its quality has %lld characters for %lld letters",
           letters_scan_place(s, said), (long long)s->had, (long long)s->wanted);
done:
  return err;
}

/* All of the quality; ends behind its last line. */
static tsl_err skip_quality(letters_scan *s) {
  tsl_err err = TSL_OK;
  char said[LETTERS_PLACE];
  while (s->had < s->wanted) {
    if (!next_line(s))
      TSL_FAIL(TSL_ERR_INPUT,
               "%s: its quality has %lld characters for %lld letters; the file ends there",
               letters_scan_place(s, said), (long long)s->had, (long long)s->wanted);
    TSL_TRY(take_quality(s));
  }
done:
  return err;
}

/* Between records: a header, or the end. */
static tsl_err find_at(letters_scan *s, letters_part *part) {
  tsl_err err = TSL_OK;
  char said[LETTERS_PLACE];
  *part = LETTERS_END;
  while (next_line(s)) {
    if (first_of(s) == '@') {
      *part = take_header(s);
      goto done;
    }
    if (count_letters(s) == 0) continue;
    if (s->record == 0)
      TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: a FASTQ record begins with '@'", s->path,
               (long long)s->number);
    TSL_FAIL(TSL_ERR_INPUT,
             "%s: its quality goes on behind %lld characters for %lld letters, or this should be "
             "the next record and begin with '@'",
             letters_scan_place(s, said), (long long)s->had, (long long)s->wanted);
  }
done:
  return err;
}

/* Behind a header: a line of letters, or all of '+' and quality and what follows. */
static tsl_err next_fastq(letters_scan *s, letters_part *part) {
  tsl_err err = TSL_OK;
  char said[LETTERS_PLACE];
  *part = LETTERS_LINE;
  if (s->header == NULL) return find_at(s, part);
  if (!next_line(s))
    TSL_FAIL(TSL_ERR_INPUT, "%s: no line with '+' behind its %lld letters: the file ends there",
             letters_scan_place(s, said), (long long)s->wanted);
  if (first_of(s) == '@' || first_of(s) == '>')
    TSL_FAIL(TSL_ERR_INPUT, "%s: no line with '+' behind its %lld letters: this line is a header",
             letters_scan_place(s, said), (long long)s->wanted);
  if (first_of(s) == '+') {
    TSL_TRY(skip_quality(s));
    TSL_TRY(find_at(s, part));
  } else {
    (void)take_line(s);
  }
done:
  return err;
}

tsl_err letters_scan_next(letters_scan *s, letters_part *part) {
  if (s->format == LETTERS_FASTQ) return next_fastq(s, part);
  if (s->format == LETTERS_FASTA)
    *part = next_fasta(s);
  else
    *part = next_line(s) ? take_line(s) : LETTERS_END;
  return TSL_OK;
}
