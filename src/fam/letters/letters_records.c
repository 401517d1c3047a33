/* All records of a file: counted, then taken. */
#include "letters_records.h"

#include "letters_file.h"
#include "letters_names.h"
#include "letters_scan.h"
#include "memory.h"
#include "table_read.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { BLANK = -2, NONE = -1 };

/* ---- what the file is */

static tsl_err choose_format(const letters_ask *ask, const char *bytes, int64_t n,
                             int32_t *format) {
  tsl_err err = TSL_OK;
  char shown[48];
  const char *first = letters_first(bytes, n);
  if (first == bytes + n)
    TSL_FAIL(TSL_ERR_INPUT, "%s: no records: %s", ask->path,
             n == 0 ? "the file is empty" : "the file has nothing but blanks");
  if (*first != '>' && *first != ';' && *first != '@')
    TSL_FAIL(TSL_ERR_INPUT,
             "%s: neither FASTA nor FASTQ: it begins with '%s', neither with '>' nor with '@'",
             ask->path, table_shown(first, first + 1, shown));
  *format = *first == '@' ? LETTERS_FASTQ : LETTERS_FASTA;
done:
  return err;
}

/* ---- how much it is */

typedef struct totals {
  int64_t records, letters, names; /* names: their characters, each with its 0 */
  int64_t shortest, longest;
} totals;

/* The record of `last` ends. */
static tsl_err end_record(const letters_scan *last, int64_t letters, totals *t) {
  tsl_err err = TSL_OK;
  char said[LETTERS_PLACE];
  if (last->record == 0) goto done;
  if (letters == 0) TSL_FAIL(TSL_ERR_INPUT, "%s has no letters", letters_scan_place(last, said));
  if (t->records == 0 || letters < t->shortest) t->shortest = letters;
  if (letters > t->longest) t->longest = letters;
  t->records++;
  t->letters += letters;
  t->names += letters_scan_name(last, NULL, 0) + 1;
done:
  return err;
}

static tsl_err count(letters_scan s, totals *t) {
  tsl_err err = TSL_OK;
  letters_part part = LETTERS_LINE;
  letters_scan last = s;
  int64_t letters = 0;
  while (part != LETTERS_END) {
    TSL_TRY(letters_scan_next(&s, &part));
    if (part == LETTERS_LINE) {
      letters += s.letters;
      if (letters > 0 && s.record == 0)
        TSL_FAIL(TSL_ERR_INPUT,
                 "%s:%lld: letters before the first header, a line that begins with '>'", s.path,
                 (long long)s.number);
      continue;
    }
    TSL_TRY(end_record(&last, letters, t));
    last = s, letters = 0;
  }
  if (t->records == 0) TSL_FAIL(TSL_ERR_INPUT, "%s: no records: no line begins with '>'", s.path);
done:
  return err;
}

/* ---- records */

/* A file on its way into a set. */
typedef struct filling {
  letters_set *set;
  letters_names names;
  int32_t alphabet;
  int16_t code_of[256];        /* or BLANK, NONE */
  int64_t letters, characters; /* taken: of sequences, of names */
} filling;

static void set_codes(filling *f) {
  for (int c = 0; c < 256; c++)
    f->code_of[c] = (int16_t)(isspace(c) ? BLANK : letters_code(f->alphabet, (char)c));
}

/* The first letter of the line that the alphabet lacks. */
static tsl_err refuse_letter(const filling *f, const letters_scan *s) {
  tsl_err err = TSL_OK;
  char said[LETTERS_PLACE];
  char shown[48];
  int64_t k = 0;
  while (f->code_of[(unsigned char)s->line[k]] != NONE) k++;
  TSL_FAIL(TSL_ERR_INPUT, "%s: column %lld: letter '%s' is not of the alphabet %s (%s)",
           letters_scan_place(s, said), (long long)k + 1,
           table_shown(s->line + k, s->line + k + 1, shown), letters_alphabet_words[f->alphabet],
           letters_all(f->alphabet));
done:
  return err;
}

/* Without a branch for each letter: what is none is written too, and overwritten by the next. */
static tsl_err take_line(filling *f, const letters_scan *s) {
  uint8_t *codes = f->set->codes + f->letters;
  bool none = false;
  for (int64_t k = 0; k < s->length; k++) {
    const int16_t code = f->code_of[(unsigned char)s->line[k]];
    *codes = (uint8_t)code;
    codes += code >= 0;
    none |= code == NONE;
  }
  f->letters = codes - f->set->codes;
  return none ? refuse_letter(f, s) : TSL_OK;
}

static tsl_err take_header(filling *f, const letters_scan *s, int64_t room) {
  tsl_err err = TSL_OK;
  char said[LETTERS_PLACE];
  const int64_t k = s->record - 1, at = f->characters;
  int64_t other = -1;
  f->set->starts[k] = f->letters;
  f->set->name_at[k] = at;
  f->characters += letters_scan_name(s, f->set->names + at, room - at) + 1;
  if (f->set->names[at] != '\0') other = letters_names_add(&f->names, f->set, k);
  if (other >= 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s: record %lld has the same name", letters_scan_place(s, said),
             (long long)other + 1);
done:
  return err;
}

static tsl_err fill(filling *f, letters_scan s, const totals *t) {
  tsl_err err = TSL_OK;
  letters_part part = LETTERS_LINE;
  set_codes(f);
  TSL_TRY(letters_names_create(t->records, &f->names));
  while (part != LETTERS_END) {
    TSL_TRY(letters_scan_next(&s, &part));
    if (part == LETTERS_HEADER) TSL_TRY(take_header(f, &s, t->names));
    if (part == LETTERS_LINE) TSL_TRY(take_line(f, &s));
  }
  f->set->starts[t->records] = f->letters;
  f->set->name_at[t->records] = f->characters;
  f->set->n = t->records;
done:
  letters_names_clear(&f->names);
  return err;
}

static tsl_err create_set(const char *path, const totals *t, letters_set *set) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(t->records + 1, sizeof *set->starts, path, (void **)&set->starts));
  TSL_TRY(tsl_alloc(t->records + 1, sizeof *set->name_at, path, (void **)&set->name_at));
  TSL_TRY(tsl_alloc(t->letters + 1, 1, path, (void **)&set->codes)); /* take_line: one more */
  TSL_TRY(tsl_alloc(t->names, 1, path, (void **)&set->names));
done:
  return err;
}

/* ---- what is said of it */

static void describe(const letters_ask *ask, int32_t format, bool packed, const totals *t,
                     letters_set *set) {
  char shown[104];
  const int64_t others = letters_others(ask->alphabet, set->codes, t->letters);
  const size_t size = sizeof set->about;
  int n =
      snprintf(set->about, size, "%s: %s%s, %s, %lld record%s of %lld",
               letters_shown_file(ask->path, shown), format == LETTERS_FASTQ ? "FASTQ" : "FASTA",
               packed ? ", gzip" : "", letters_alphabet_words[ask->alphabet], (long long)t->records,
               t->records == 1 ? "" : "s", (long long)t->shortest);
  if (t->longest > t->shortest)
    n += snprintf(set->about + n, size - (size_t)n, " to %lld", (long long)t->longest);
  n += snprintf(set->about + n, size - (size_t)n, " letter%s", t->longest == 1 ? "" : "s");
  if (others > 0)
    (void)snprintf(set->about + n, size - (size_t)n, ", %lld letter%s other than %s",
                   (long long)others, others == 1 ? "" : "s", letters_plainly(ask->alphabet));
}

/* ---- sets */

/* packed: it was gzip. */
static tsl_err parse(const letters_ask *ask, const char *text, int64_t n, bool packed,
                     letters_set *out) {
  tsl_err err = TSL_OK;
  totals t = {.records = 0};
  filling f = {.set = out, .alphabet = ask->alphabet};
  letters_scan s;
  int32_t format = LETTERS_AUTO;
  TSL_TRY(choose_format(ask, text, n, &format));
  s = letters_scan_begin(ask->path, format, text, n);
  TSL_TRY(count(s, &t));
  TSL_TRY(create_set(ask->path, &t, out));
  TSL_TRY(fill(&f, s, &t));
  describe(ask, format, packed, &t, out);
done:
  if (err != TSL_OK) letters_clear(out);
  return err;
}

tsl_err letters_parse(const letters_ask *ask, const char *bytes, int64_t n, letters_set *out) {
  tsl_err err = TSL_OK;
  char *text = NULL;
  int64_t n_text = 0;
  *out = (letters_set){.n = 0};
  if (!letters_is_packed(bytes, n)) return parse(ask, bytes, n, false, out);
  TSL_TRY(letters_unpack(ask->path, bytes, n, &text, &n_text));
  TSL_TRY(parse(ask, text, n_text, true, out));
done:
  tsl_free(text);
  return err;
}

tsl_err letters_read(const letters_ask *ask, letters_set *out) {
  tsl_err err = TSL_OK;
  letters_file file = {.bytes = NULL};
  *out = (letters_set){.n = 0};
  TSL_TRY(letters_file_load(ask->path, &file));
  TSL_TRY(parse(ask, file.bytes, file.n, file.packed, out));
done:
  letters_file_clear(&file);
  return err;
}

void letters_clear(letters_set *set) {
  TSL_FREE_ALL(set->starts, set->codes, set->name_at, set->names);
  *set = (letters_set){.n = 0};
}
