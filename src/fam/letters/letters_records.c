/* Records on their way into a set, piece by piece, each to its place. */
#include "integers.h"
#include "letters_file.h"
#include "letters_names.h"
#include "letters_pieces.h"
#include "memory.h"
#include "parallel.h"
#include "table_read.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
  PIECE = 1 << 20, /* bytes of text: the caches hold it and its codes */
  BLANK = -2,
  NONE = -1
};

/* ---- records */

/* A piece on its way into the set: the next places there, and where they end. */
typedef struct filling {
  const letters_reading *r;
  const letters_text_file *file;
  letters_totals at, end; /* records, letters and names */
} filling;

static void set_codes(letters_text_file *f) {
  for (int c = 0; c < 256; c++)
    f->code_of[c] = (int16_t)(isspace(c) ? BLANK : letters_code(f->ask->alphabet, (char)c));
}

/* The first letter of the line that the alphabet lacks. */
static tsl_err refuse_letter(const filling *f, const letters_scan *s) {
  tsl_err err = TSL_OK;
  char said[LETTERS_PLACE];
  char shown[48];
  const int32_t alphabet = f->file->ask->alphabet;
  int64_t k = 0;
  while (f->file->code_of[(unsigned char)s->line[k]] != NONE) k++;
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

/* Codes of n letters; below 0: one is none. Most blocks of dna have plain letters alone. */
static int encode(const letters_text_file *file, const char *line, int64_t n, uint8_t *codes) {
  enum { BLOCK = 1024 };
  int all = 0;
  for (int64_t first = 0; first < n; first += BLOCK) {
    const int64_t end = tsl_min(first + BLOCK, n);
    if (letters_encode_plain(file->ask->alphabet, line + first, end - first, codes + first))
      continue;
    for (int64_t k = first; k < end; k++) {
      const int16_t code = file->code_of[(unsigned char)line[k]];
      codes[k] = (uint8_t)code;
      all |= code;
    }
  }
  return all;
}

/* The same of a line with blanks, which have no place. */
static int encode_some(const int16_t code_of[256], const char *line, int64_t n, uint8_t *codes) {
  int all = 0;
  for (int64_t k = 0; k < n; k++) {
    const int16_t code = code_of[(unsigned char)line[k]];
    if (code == BLANK) continue;
    *codes++ = (uint8_t)code;
    all |= code;
  }
  return all;
}

/* A line has s->letters letters, which is what is written. */
static tsl_err take_line(filling *f, const letters_scan *s) {
  uint8_t *codes = f->r->set->codes + f->at.letters;
  if (s->letters > f->end.letters - f->at.letters) return refuse_change(f);
  const int all = s->letters == s->length
                      ? encode(f->file, s->line, s->length, codes)
                      : encode_some(f->file->code_of, s->line, s->length, codes);
  f->at.letters += s->letters;
  return all < 0 ? refuse_letter(f, s) : TSL_OK;
}

static tsl_err take_header(filling *f, const letters_scan *s) {
  letters_set *set = f->r->set;
  const int64_t k = f->at.records, at = f->at.names, room = f->end.names - at;
  if (k == f->end.records || room == 0) return refuse_change(f);
  const int64_t length = letters_scan_name(s, set->names + at, room);
  if (length >= room) return refuse_change(f);
  set->starts[k] = f->at.letters;
  set->name_at[k] = at;
  f->r->hashes[k] = letters_names_hash(set->names + at, length);
  f->at.names += length + 1;
  f->at.records++;
  return TSL_OK;
}

/* Largest of n codes; in a form that is compiled to vectors. */
static uint8_t highest_of(const uint8_t *codes, int64_t n) {
  uint8_t most = 0;
  for (int64_t k = 0; k < n; k++) most = codes[k] > most ? codes[k] : most;
  return most;
}

static tsl_err fill_lines(filling *f, letters_scan s) {
  tsl_err err = TSL_OK;
  letters_part part = LETTERS_LINE;
  while (part != LETTERS_END) {
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

static tsl_err fill_piece(const letters_reading *r, letters_piece *p, int slot) {
  tsl_err err = TSL_OK;
  letters_scan s;
  const letters_text_file *of = &r->files[p->file];
  letters_totals first = of->before, end;
  letters_totals_add(&first, &p->before);
  end = first;
  letters_totals_add(&end, &p->has);
  filling f = {.r = r, .file = of, .at = first, .end = end};
  const uint8_t *codes = r->set->codes + first.letters;
  TSL_TRY(letters_pieces_scan(r, p, slot, &s));
  err = fill_lines(&f, s);
  p->taken = f.at.records - first.records;
  TSL_TRY(err);
  p->others = letters_others(of->ask->alphabet, codes, p->has.letters);
  p->highest = highest_of(codes, p->has.letters);
done:
  return err;
}

/* tsl_parallel_body: pieces. */
static tsl_err fill_pieces(void *context, int slot, int64_t lo, int64_t hi) {
  return letters_pieces_each(context, slot, lo, hi, fill_piece);
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

/* The first thing that is wrong: a name given twice, or the piece that failed. */
static tsl_err judge(const letters_reading *r, letters_text_file *f, int slot) {
  tsl_err err = TSL_OK;
  const int64_t first = f->before.records;
  int64_t n = f->has.records, same[2];
  letters_piece *failed = NULL;
  for (letters_piece *p = &r->pieces[f->first]; p < &r->pieces[f->first + f->n] && failed == NULL;
       p++)
    if (p->failed) failed = p, n = p->before.records + p->taken;
  TSL_TRY(letters_names_same(r->set, r->hashes, first, n, same));
  if (same[0] >= 0) TSL_TRY(refuse_name(r, f, same[0] - first, same[1] - first, slot));
  if (failed != NULL) TSL_TRY(fill_piece(r, failed, slot));
done:
  return err;
}

/* tsl_parallel_body: files. */
static tsl_err judge_files(void *context, int slot, int64_t lo, int64_t hi) {
  const letters_reading *r = context;
  for (letters_text_file *f = r->files + lo; f < r->files + hi; f++)
    if (letters_pieces_good(f)) letters_pieces_note(f, judge(r, f, slot));
  return TSL_OK;
}

static tsl_err create_set(letters_reading *r) {
  tsl_err err = TSL_OK;
  letters_set *set = r->set;
  letters_totals t = {.records = 0};
  for (letters_text_file *f = r->files; f < r->files + r->n; f++) {
    letters_totals_add(&t, &f->has);
    if (letters_pieces_good(f)) set_codes(f);
  }
  TSL_TRY(tsl_alloc(t.records + 1, sizeof *set->starts, "records", (void **)&set->starts));
  TSL_TRY(tsl_alloc(t.records + 1, sizeof *set->name_at, "records", (void **)&set->name_at));
  TSL_TRY(tsl_alloc(t.letters, 1, "letters", (void **)&set->codes));
  TSL_TRY(tsl_alloc(t.names, 1, "names", (void **)&set->names));
  TSL_TRY(tsl_alloc(t.records, sizeof *r->hashes, "names", (void **)&r->hashes));
  set->starts[t.records] = t.letters;
  set->name_at[t.records] = t.names;
done:
  return err;
}

/* ---- what is said of it */

static void describe(const letters_reading *r, const letters_text_file *f, char *about,
                     size_t size) {
  char shown[104];
  const letters_source *s = &f->source;
  const letters_totals *t = &f->has;
  const int32_t alphabet = f->ask->alphabet;
  int64_t others = 0;
  for (int64_t k = f->first; k < f->first + f->n; k++) others += r->pieces[k].others;
  int n =
      snprintf(about, size, "%s: %s%s, %s, %lld record%s of %lld",
               letters_shown_file(s->path, shown), s->format == LETTERS_FASTQ ? "FASTQ" : "FASTA",
               s->packed ? ", gzip" : "", letters_alphabet_words[alphabet], (long long)t->records,
               t->records == 1 ? "" : "s", (long long)t->shortest);
  if (t->longest > t->shortest)
    n += snprintf(about + n, size - (size_t)n, " to %lld", (long long)t->longest);
  n += snprintf(about + n, size - (size_t)n, " letter%s", t->longest == 1 ? "" : "s");
  if (others > 0)
    (void)snprintf(about + n, size - (size_t)n, ", %lld letter%s other than %s", (long long)others,
                   others == 1 ? "" : "s", letters_plainly(alphabet));
}

/* ---- sets */

/* All files into the set; errors of single files are theirs. */
static tsl_err read_all(letters_reading *r) {
  tsl_err err = TSL_OK;
  letters_set *set = r->set;
  const int slots = tsl_parallel_slots();
  TSL_TRY(tsl_alloc(slots, sizeof *r->buffers, "pieces of text", (void **)&r->buffers));
  TSL_TRY(letters_pieces_open(r));
  TSL_TRY(letters_pieces_count(r));
  TSL_TRY(create_set(r));
  TSL_TRY(tsl_parallel(r->n_pieces, 1, fill_pieces, r));
  TSL_TRY(tsl_parallel(r->n, 1, judge_files, r));
  for (const letters_piece *p = r->pieces; p < r->pieces + r->n_pieces; p++)
    if (p->highest > set->highest) set->highest = p->highest;
  for (int i = 0; i < r->n; i++)
    if (letters_pieces_good(&r->files[i]))
      describe(r, &r->files[i], set->about[i], sizeof set->about[i]);
done:
  for (int k = 0; r->buffers != NULL && k < slots; k++) letters_buffer_clear(&r->buffers[k]);
  TSL_FREE_ALL(r->buffers, r->pieces, r->hashes);
  return err;
}

/* Sources are open, or have errors. */
static tsl_err read_files(letters_text_file *files, int n, int64_t size, int *failed,
                          letters_set *out) {
  letters_reading r = {.files = files, .n = n, .size = size, .set = out};
  tsl_err err = read_all(&r);
  *failed = n - 1;
  for (int i = n - 1; i >= 0 && err == TSL_OK; i--)
    if (!letters_pieces_good(&files[i])) err = tsl_err_restore(&files[i].error), *failed = i;
  for (int i = 0; i < n; i++) letters_source_clear(&files[i].source);
  if (err != TSL_OK) letters_clear(out);
  return err;
}

tsl_err letters_parse_pieces(const letters_ask *ask, const char *bytes, int64_t n, int64_t size,
                             letters_set *out) {
  letters_text_file one = {.ask = ask, .source = letters_source_of(ask->path, bytes, n)};
  int failed = 0;
  *out = (letters_set){.n = 0};
  return read_files(&one, 1, size, &failed, out);
}

tsl_err letters_parse(const letters_ask *ask, const char *bytes, int64_t n, letters_set *out) {
  return letters_parse_pieces(ask, bytes, n, PIECE, out);
}

tsl_err letters_read(const letters_ask *asks, int n, int *failed, letters_set *out) {
  letters_text_file files[LETTERS_FILES] = {{.ask = NULL}};
  *out = (letters_set){.n = 0};
  for (int i = n - 1; i >= 0; i--) {
    files[i].ask = &asks[i];
    letters_pieces_note(&files[i], letters_source_open(asks[i].path, &files[i].source));
  }
  return read_files(files, n, PIECE, failed, out);
}

void letters_clear(letters_set *set) {
  TSL_FREE_ALL(set->starts, set->codes, set->name_at, set->names);
  *set = (letters_set){.n = 0};
}
