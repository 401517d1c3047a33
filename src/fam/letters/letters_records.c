/* All records of files, piece by piece: counted, then taken to their places in the set. What is
 * wrong with a piece is found by any thread, and said in the order of the file: the first piece
 * that fails is read again for it, when the lines and records before it are known. */
#include "letters_records.h"

#include "integers.h"
#include "letters_file.h"
#include "letters_names.h"
#include "letters_scan.h"
#include "letters_source.h"
#include "memory.h"
#include "parallel.h"
#include "table_read.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
  PIECE = 1 << 20, /* bytes of text, about: the caches hold it and its codes */
  BLANK = -2,
  NONE = -1
};

/* How much it is. */
typedef struct totals {
  int64_t records, letters, names, lines; /* names: their characters, each with its 0 */
  int64_t shortest, longest;
} totals;

/* A part of a file that begins with a record; the first one of a file with the file. */
typedef struct piece {
  int file;
  int64_t lo, hi;     /* bytes; lo -1: no record begins there */
  totals has, before; /* of itself; of the file's pieces before it */
  bool failed;        /* its text is wrong */
  int64_t taken;      /* records whose names are in the set */
  int64_t others;     /* letters_others */
  int32_t highest;    /* of its codes */
} piece;

/* A file. */
typedef struct text_file {
  const letters_ask *ask;
  letters_source source;
  tsl_err_copy error;
  int64_t first, n;     /* pieces */
  totals has, before;   /* of itself; of the files before it */
  int16_t code_of[256]; /* or BLANK, NONE */
} text_file;

typedef struct reading {
  text_file *files; /* [n] files */
  int n;
  piece *pieces;
  int64_t n_pieces;
  letters_buffer *buffers; /* [slots] */
  uint64_t *hashes;        /* [set->n] of names */
  letters_set *set;
} reading;

/* Keep what is wrong with a file, which has no pieces then. */
static void note(text_file *f, tsl_err err) {
  if (err == TSL_OK) return;
  tsl_err_save(err, &f->error);
  f->n = 0;
}

static bool is_good(const text_file *f) {
  return f->error.code == TSL_OK;
}

/* ---- texts */

/* tsl_parallel_body: files. */
static tsl_err unpack_files(void *context, int slot, int64_t lo, int64_t hi) {
  const reading *r = context;
  (void)slot;
  for (text_file *f = r->files + lo; f < r->files + hi; f++)
    if (is_good(f)) note(f, letters_source_unpack(&f->source));
  return TSL_OK;
}

/* tsl_parallel_body: borders of pieces but each file's first. */
static tsl_err find_borders(void *context, int slot, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  const reading *r = context;
  for (int64_t k = lo; k < hi; k++) {
    piece *p = &r->pieces[k];
    if (p->lo > 0)
      TSL_TRY(letters_source_border(&r->files[p->file].source, p->lo, p->hi, &r->buffers[slot],
                                    &p->lo));
  }
done:
  return err;
}

/* Those in which records begin, each up to the next one. */
static void join_pieces(reading *r) {
  int64_t n = 0;
  for (text_file *f = r->files; f < r->files + r->n; f++) {
    const int64_t first = n;
    for (int64_t k = f->first; k < f->first + f->n; k++) {
      if (r->pieces[k].lo < 0) continue;
      if (n > first) r->pieces[n - 1].hi = r->pieces[k].lo;
      r->pieces[n] = r->pieces[k];
      r->pieces[n++].hi = f->source.n;
    }
    f->first = first, f->n = n - first;
  }
  r->n_pieces = n;
}

static tsl_err cut(reading *r) {
  tsl_err err = TSL_OK;
  int64_t n = 0;
  for (text_file *f = r->files; f < r->files + r->n; f++) {
    f->first = n;
    f->n = is_good(f) ? tsl_divide_up(f->source.n, PIECE) : 0;
    n += f->n;
  }
  TSL_TRY(tsl_alloc(n, sizeof *r->pieces, "pieces of text", (void **)&r->pieces));
  for (int i = 0; i < r->n; i++)
    for (int64_t k = 0; k < r->files[i].n; k++)
      r->pieces[r->files[i].first + k] =
          (piece){.file = i, .lo = k * PIECE, .hi = tsl_min((k + 1) * PIECE, r->files[i].source.n)};
  TSL_TRY(tsl_parallel(n, 8, find_borders, r));
  join_pieces(r);
done:
  return err;
}

/* Texts of all files, in pieces. */
static tsl_err open_texts(reading *r) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_parallel(r->n, 1, unpack_files, r));
  for (text_file *f = r->files; f < r->files + r->n; f++)
    if (is_good(f)) note(f, letters_source_look(&f->source, &r->buffers[0]));
  TSL_TRY(cut(r));
done:
  return err;
}

static tsl_err scan_piece(const reading *r, const piece *p, int slot, letters_scan *s) {
  tsl_err err = TSL_OK;
  const letters_source *source = &r->files[p->file].source;
  const char *bytes = NULL;
  TSL_TRY(letters_source_take(source, p->lo, p->hi, &r->buffers[slot], &bytes));
  *s = letters_scan_begin(source->path, source->format, bytes, p->hi - p->lo);
  s->number = p->before.lines, s->record = p->before.records;
done:
  return err;
}

/* ---- how much it is */

/* The record of `last` ends. */
static tsl_err end_record(const letters_scan *last, int64_t letters, totals *t) {
  tsl_err err = TSL_OK;
  char said[LETTERS_PLACE];
  if (last->header == NULL) goto done;
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
  const int64_t lines = s.number;
  while (part != LETTERS_END) {
    TSL_TRY(letters_scan_next(&s, &part));
    if (part == LETTERS_LINE) {
      letters += s.letters;
      if (letters > 0 && s.header == NULL)
        TSL_FAIL(TSL_ERR_INPUT,
                 "%s:%lld: letters before the first header, a line that begins with '>'", s.path,
                 (long long)s.number);
      continue;
    }
    TSL_TRY(end_record(&last, letters, t));
    last = s, letters = 0;
  }
  t->lines = s.number - lines;
done:
  return err;
}

static tsl_err count_piece(const reading *r, piece *p, int slot) {
  tsl_err err = TSL_OK;
  letters_scan s;
  p->has = (totals){.records = 0};
  TSL_TRY(scan_piece(r, p, slot, &s));
  TSL_TRY(count(s, &p->has));
done:
  return err;
}

/* tsl_parallel_body: pieces. */
static tsl_err count_pieces(void *context, int slot, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  const reading *r = context;
  for (piece *p = r->pieces + lo; p < r->pieces + hi; p++) {
    err = count_piece(r, p, slot);
    p->failed = err == TSL_ERR_INPUT;
    if (!p->failed) TSL_TRY(err);
    err = TSL_OK;
  }
done:
  return err;
}

static void add_totals(totals *sum, const totals *t) {
  if (sum->records == 0 || (t->records > 0 && t->shortest < sum->shortest))
    sum->shortest = t->shortest;
  sum->longest = tsl_max(sum->longest, t->longest);
  sum->records += t->records;
  sum->letters += t->letters;
  sum->names += t->names;
  sum->lines += t->lines;
}

/* What comes before each piece. Where one fails, it is wrong, or the header behind it is none: then
 * it is the last one, and has the rest of the file. A piece of FASTQ that does not fail ends with a
 * whole record, so that the next one begins with a header. */
static tsl_err sum_pieces(const reading *r, text_file *f) {
  tsl_err err = TSL_OK;
  for (int64_t k = 0; k < f->n; k++) {
    piece *p = &r->pieces[f->first + k];
    p->before = f->has;
    if (p->failed) {
      p->hi = f->source.n;
      p->failed = false;
      f->n = k + 1;
      TSL_TRY(count_piece(r, p, 0));
    }
    add_totals(&f->has, &p->has);
  }
  if (f->has.records == 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s: no records: no line begins with '>'", f->source.path);
done:
  return err;
}

static tsl_err count_all(reading *r) {
  tsl_err err = TSL_OK;
  totals all = {.records = 0};
  TSL_TRY(tsl_parallel(r->n_pieces, 1, count_pieces, r));
  for (text_file *f = r->files; f < r->files + r->n; f++) {
    if (is_good(f)) note(f, sum_pieces(r, f));
    if (!is_good(f)) f->has = (totals){.records = 0};
    f->before = all;
    add_totals(&all, &f->has);
    r->set->of[f - r->files] = f->has.records;
  }
  join_pieces(r);
  r->set->n = all.records;
done:
  return err;
}

/* ---- records */

/* A piece on its way into the set: the next places there, and where they end. */
typedef struct filling {
  const reading *r;
  const text_file *file;
  totals at, end; /* records, letters and names */
} filling;

static void set_codes(text_file *f) {
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

/* A line has s->letters letters, which is what is written. */
static tsl_err take_line(filling *f, const letters_scan *s) {
  const int16_t *code_of = f->file->code_of;
  const bool blanks = s->letters < s->length;
  uint8_t *codes = f->r->set->codes + f->at.letters;
  int none = 0;
  if (s->letters > f->end.letters - f->at.letters) return refuse_change(f);
  for (int64_t k = 0; k < s->length && !blanks; k++) {
    const int16_t code = code_of[(unsigned char)s->line[k]];
    codes[k] = (uint8_t)code;
    none |= code;
  }
  for (int64_t k = 0, n = 0; k < s->length && blanks; k++) {
    const int16_t code = code_of[(unsigned char)s->line[k]];
    if (code == BLANK) continue;
    codes[n++] = (uint8_t)code;
    none |= code;
  }
  f->at.letters += s->letters;
  return none < 0 ? refuse_letter(f, s) : TSL_OK;
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

static tsl_err fill_piece(const reading *r, piece *p, int slot) {
  tsl_err err = TSL_OK;
  letters_scan s;
  const text_file *of = &r->files[p->file];
  totals first = of->before, end;
  add_totals(&first, &p->before);
  end = first;
  add_totals(&end, &p->has);
  filling f = {.r = r, .file = of, .at = first, .end = end};
  const uint8_t *codes = r->set->codes + first.letters;
  TSL_TRY(scan_piece(r, p, slot, &s));
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
  tsl_err err = TSL_OK;
  const reading *r = context;
  for (piece *p = r->pieces + lo; p < r->pieces + hi; p++) {
    err = fill_piece(r, p, slot);
    p->failed = err == TSL_ERR_INPUT;
    if (!p->failed) TSL_TRY(err);
    err = TSL_OK;
  }
done:
  return err;
}

/* ---- names */

/* Record k of the file has the name of record `other`. */
static tsl_err refuse_name(const reading *r, const text_file *f, int64_t other, int64_t k,
                           int slot) {
  tsl_err err = TSL_OK;
  char said[LETTERS_PLACE];
  letters_part part = LETTERS_LINE;
  letters_scan s;
  const piece *p = &r->pieces[f->first];
  while (p->before.records + p->has.records <= k) p++;
  TSL_TRY(scan_piece(r, p, slot, &s));
  while (s.record <= k && part != LETTERS_END) TSL_TRY(letters_scan_next(&s, &part));
  TSL_FAIL(TSL_ERR_INPUT, "%s: record %lld has the same name", letters_scan_place(&s, said),
           (long long)other + 1);
done:
  return err;
}

/* The first thing that is wrong: a name given twice, or the piece that failed. */
static tsl_err judge(const reading *r, text_file *f, int slot) {
  tsl_err err = TSL_OK;
  const int64_t first = f->before.records;
  int64_t n = f->has.records, same[2];
  piece *failed = NULL;
  for (piece *p = &r->pieces[f->first]; p < &r->pieces[f->first + f->n] && failed == NULL; p++)
    if (p->failed) failed = p, n = p->before.records + p->taken;
  TSL_TRY(letters_names_same(r->set, r->hashes, first, n, same));
  if (same[0] >= 0) TSL_TRY(refuse_name(r, f, same[0] - first, same[1] - first, slot));
  if (failed != NULL) TSL_TRY(fill_piece(r, failed, slot));
done:
  return err;
}

/* tsl_parallel_body: files. */
static tsl_err judge_files(void *context, int slot, int64_t lo, int64_t hi) {
  const reading *r = context;
  for (text_file *f = r->files + lo; f < r->files + hi; f++)
    if (is_good(f)) note(f, judge(r, f, slot));
  return TSL_OK;
}

static tsl_err create_set(reading *r) {
  tsl_err err = TSL_OK;
  letters_set *set = r->set;
  totals t = {.records = 0};
  for (text_file *f = r->files; f < r->files + r->n; f++) {
    add_totals(&t, &f->has);
    if (is_good(f)) set_codes(f);
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

static void describe(const reading *r, const text_file *f, char *about, size_t size) {
  char shown[104];
  const letters_source *s = &f->source;
  const totals *t = &f->has;
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
static tsl_err read_all(reading *r) {
  tsl_err err = TSL_OK;
  letters_set *set = r->set;
  const int slots = tsl_parallel_slots();
  TSL_TRY(tsl_alloc(slots, sizeof *r->buffers, "pieces of text", (void **)&r->buffers));
  TSL_TRY(open_texts(r));
  TSL_TRY(count_all(r));
  TSL_TRY(create_set(r));
  TSL_TRY(tsl_parallel(r->n_pieces, 1, fill_pieces, r));
  TSL_TRY(tsl_parallel(r->n, 1, judge_files, r));
  for (const piece *p = r->pieces; p < r->pieces + r->n_pieces; p++)
    if (p->highest > set->highest) set->highest = p->highest;
  for (int i = 0; i < r->n; i++)
    if (is_good(&r->files[i])) describe(r, &r->files[i], set->about[i], sizeof set->about[i]);
done:
  for (int k = 0; r->buffers != NULL && k < slots; k++) letters_buffer_clear(&r->buffers[k]);
  TSL_FREE_ALL(r->buffers, r->pieces, r->hashes);
  return err;
}

/* Sources are open, or have errors. */
static tsl_err read_parts(text_file *files, int n, int *failed, letters_set *out) {
  reading r = {.files = files, .n = n, .set = out};
  tsl_err err = read_all(&r);
  *failed = n - 1;
  for (int i = n - 1; i >= 0 && err == TSL_OK; i--)
    if (!is_good(&files[i])) err = tsl_err_restore(&files[i].error), *failed = i;
  for (int i = 0; i < n; i++) letters_source_clear(&files[i].source);
  if (err != TSL_OK) letters_clear(out);
  return err;
}

tsl_err letters_parse(const letters_ask *ask, const char *bytes, int64_t n, letters_set *out) {
  text_file one = {.ask = ask, .source = letters_source_of(ask->path, bytes, n)};
  int failed = 0;
  *out = (letters_set){.n = 0};
  return read_parts(&one, 1, &failed, out);
}

tsl_err letters_read(const letters_ask *asks, int n, int *failed, letters_set *out) {
  text_file files[LETTERS_FILES] = {{.ask = NULL}};
  *out = (letters_set){.n = 0};
  for (int i = n - 1; i >= 0; i--) {
    files[i].ask = &asks[i];
    note(&files[i], letters_source_open(asks[i].path, &files[i].source));
  }
  return read_parts(files, n, failed, out);
}

void letters_clear(letters_set *set) {
  TSL_FREE_ALL(set->starts, set->codes, set->name_at, set->names);
  *set = (letters_set){.n = 0};
}
