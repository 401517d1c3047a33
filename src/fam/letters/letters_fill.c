/* Records on their way into a set, piece by piece, each to its place. */
#include "letters_fill.h"

#include "fn.h"
#include "integers.h"
#include "table_read.h"

#include <string.h>

/* A piece on its way into the set: the next places there, and where they end. */
typedef struct filling {
  const letters_reading *r;
  const letters_text_file *file;
  letters_totals at, end; /* records, letters and names */
} filling;

/* The first letter of the line that the alphabet lacks. */
static tsl_err refuse_letter(const filling *f, const letters_scan *s) {
  tsl_err err = TSL_OK;
  char said[LETTERS_PLACE];
  char shown[48];
  const int32_t alphabet = f->file->ask->alphabet;
  int64_t k = 0;
  while (f->file->coder.code_of[(unsigned char)s->line[k]] != -1) k++;
  TSL_FAIL(TSL_ERR_INPUT, "%s: column %lld: letter '%s' is not of the alphabet %s (%s)",
           letters_scan_place(s, said), (long long)k + 1,
           table_shown(s->line + k, s->line + k + 1, shown), letters_alphabet_words[alphabet],
           letters_all(alphabet));
done:
  return err;
}

static tsl_err refuse_change(const filling *f) {
  tsl_err err = TSL_OK;
  TSL_FAIL(TSL_ERR_IO, "'%s' has changed while it was read", f->file->source.path);
done:
  return err;
}

/* Codes of a line with blanks, which have no place. @return false: some are no letters */
static bool encode_some(const int16_t code_of[256], const char *line, int64_t n, uint8_t *codes) {
  bool good = true;
  for (int64_t k = 0; k < n; k++) {
    const int16_t code = code_of[(unsigned char)line[k]];
    if (code == LETTERS_BLANK) continue;
    *codes++ = (uint8_t)code;
    good = good && code >= 0;
  }
  return good;
}

/* A line has s->letters letters, which is what is written. */
static tsl_err take_line(filling *f, const letters_scan *s) {
  const bool fits = s->letters <= s->room;
  f->at.letters += s->letters;
  if (s->encoded) return TSL_OK;
  if (!fits) return refuse_change(f);
  return encode_some(s->coder->code_of, s->line, s->length, s->codes) ? TSL_OK
                                                                      : refuse_letter(f, s);
}

static tsl_err take_header(filling *f, const letters_scan *s) {
  letters_set *set = f->r->set;
  const int64_t k = f->at.records, at = f->at.names, room = f->end.names - at;
  if (k == f->end.records || room == 0) return refuse_change(f);
  const int64_t length = letters_scan_name(s, set->names + at, room);
  if (length >= room) return refuse_change(f);
  set->starts[k] = f->at.letters;
  set->name_at[k] = at;
  f->at.names += length + 1;
  f->at.records++;
  return TSL_OK;
}

/* Largest of n codes; in a form that is compiled to vectors. */
TSL_LEVELS static uint8_t highest_of(const uint8_t *codes, int64_t n) {
  uint8_t most = 0;
  for (int64_t k = 0; k < n; k++) most = codes[k] > most ? codes[k] : most;
  return most;
}

static tsl_err fill_lines(filling *f, letters_scan s) {
  tsl_err err = TSL_OK;
  letters_part part = LETTERS_LINE;
  s.coder = &f->file->coder;
  while (part != LETTERS_END) {
    s.codes = f->r->set->codes + f->at.letters, s.room = f->end.letters - f->at.letters;
    TSL_TRY(letters_scan_next(&s, &part));
    if (part == LETTERS_HEADER) TSL_TRY(take_header(f, &s));
    if (part == LETTERS_LINE) TSL_TRY(take_line(f, &s));
  }
  if (f->at.records != f->end.records || f->at.letters != f->end.letters ||
      f->at.names != f->end.names)
    TSL_TRY(refuse_change(f));
done:
  return err;
}

tsl_err letters_fill_piece(const letters_reading *r, letters_piece *p, int slot) {
  tsl_err err = TSL_OK;
  letters_scan s;
  const letters_text_file *of = &r->files[p->file];
  letters_totals first = of->before, end;
  letters_totals_add(&first, &p->before);
  end = first;
  letters_totals_add(&end, &p->has);
  filling f = {.r = r, .file = of, .at = first, .end = end};
  TSL_TRY(letters_pieces_scan(r, p, slot, &s));
  err = fill_lines(&f, s);
  p->taken = f.at.records - first.records;
done:
  return err;
}

tsl_err letters_fill_look(const letters_reading *r, letters_piece *p, int slot) {
  tsl_err err = TSL_OK;
  const letters_text_file *of = &r->files[p->file];
  const letters_set *set = r->set;
  const uint8_t *codes = set->codes + of->before.letters + p->before.letters;
  const int64_t first = of->before.records + p->before.records;
  err = letters_fill_piece(r, p, slot);
  for (int64_t k = first; k < first + p->taken; k++) {
    const char *name = set->names + set->name_at[k];
    r->hashes[k] = letters_names_hash(name, (int64_t)strlen(name));
  }
  TSL_TRY(err);
  p->others = letters_others(of->ask->alphabet, codes, p->has.letters);
  p->highest = highest_of(codes, p->has.letters);
done:
  return err;
}

/* ---- names */

/* Record k of the file has the name of record `other`. */
static tsl_err refuse_name(const letters_reading *r, const letters_text_file *f, int64_t other,
                           int64_t k, int slot) {
  tsl_err err = TSL_OK;
  char said[LETTERS_PLACE];
  letters_part part = LETTERS_LINE;
  letters_scan s;
  const letters_piece *p = &r->pieces[f->first];
  while (p->before.records + p->has.records <= k) p++;
  TSL_TRY(letters_pieces_scan(r, p, slot, &s));
  while (s.record <= k && part != LETTERS_END) TSL_TRY(letters_scan_next(&s, &part));
  TSL_FAIL(TSL_ERR_INPUT, "%s: record %lld has the same name", letters_scan_place(&s, said),
           (long long)other + 1);
done:
  return err;
}

tsl_err letters_fill_judge(const letters_reading *r, const letters_text_file *f,
                           letters_names *names, const letters_names_equal *equal, int64_t from,
                           int64_t to, int slot) {
  tsl_err err = TSL_OK;
  int64_t same[2];
  letters_piece *failed = NULL;
  for (letters_piece *p = &r->pieces[f->first]; p < &r->pieces[f->first + f->n] && failed == NULL;
       p++)
    if (p->failed) failed = p, to = p->before.records + p->taken;
  TSL_TRY(letters_names_put(names, r->hashes + f->before.records + from, from, to, equal, same));
  if (same[0] >= 0) TSL_TRY(refuse_name(r, f, same[0], same[1], slot));
  if (failed != NULL) TSL_TRY(letters_fill_piece(r, failed, slot));
done:
  return err;
}
