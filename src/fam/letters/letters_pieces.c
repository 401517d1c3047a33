/* Texts cut into pieces, and how much each piece is. */
#include "letters_pieces.h"

#include "integers.h"
#include "letters_file.h"
#include "memory.h"
#include "parallel.h"

#include <stdio.h>

/* Keep what is wrong with a file, which has no pieces then. */
void letters_pieces_note(letters_text_file *f, tsl_err err) {
  if (err == TSL_OK) return;
  tsl_err_save(err, &f->error);
  f->n = 0;
}

bool letters_pieces_good(const letters_text_file *f) {
  return f->error.code == TSL_OK;
}

/* ---- texts */

/* tsl_parallel_body: files. */
static tsl_err unpack_files(void *context, int slot, int64_t lo, int64_t hi) {
  const letters_reading *r = context;
  (void)slot;
  for (letters_text_file *f = r->files + lo; f < r->files + hi; f++)
    if (letters_pieces_good(f)) letters_pieces_note(f, letters_source_unpack(&f->source));
  return TSL_OK;
}

/* tsl_parallel_body: borders of pieces but each file's first. */
static tsl_err find_borders(void *context, int slot, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  const letters_reading *r = context;
  for (int64_t k = lo; k < hi; k++) {
    letters_piece *p = &r->pieces[k];
    if (p->lo > 0)
      TSL_TRY(letters_source_border(&r->files[p->file].source, p->lo, p->hi, &r->buffers[slot],
                                    &p->lo));
  }
done:
  return err;
}

/* Those in which records begin, each up to the next one. */
static void join_pieces(letters_reading *r) {
  int64_t n = 0;
  for (letters_text_file *f = r->files; f < r->files + r->n; f++) {
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

static tsl_err cut(letters_reading *r) {
  tsl_err err = TSL_OK;
  int64_t n = 0;
  for (letters_text_file *f = r->files; f < r->files + r->n; f++) {
    f->first = n;
    f->n = letters_pieces_good(f) ? tsl_divide_up(f->source.n, r->size) : 0;
    n += f->n;
  }
  TSL_TRY(tsl_alloc(n, sizeof *r->pieces, "pieces of text", (void **)&r->pieces));
  for (int i = 0; i < r->n; i++)
    for (int64_t k = 0; k < r->files[i].n; k++)
      r->pieces[r->files[i].first + k] = (letters_piece){
          .file = i, .lo = k * r->size, .hi = tsl_min((k + 1) * r->size, r->files[i].source.n)};
  TSL_TRY(tsl_parallel(n, 8, find_borders, r));
  join_pieces(r);
done:
  return err;
}

/* Texts of all files, in pieces. */
tsl_err letters_pieces_open(letters_reading *r) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_parallel(r->n, 1, unpack_files, r));
  for (letters_text_file *f = r->files; f < r->files + r->n; f++)
    if (letters_pieces_good(f))
      letters_pieces_note(f, letters_source_look(&f->source, &r->buffers[0]));
  TSL_TRY(cut(r));
done:
  return err;
}

tsl_err letters_pieces_scan(const letters_reading *r, const letters_piece *p, int slot,
                            letters_scan *s) {
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
static tsl_err end_record(const letters_scan *last, int64_t letters, letters_totals *t) {
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

tsl_err letters_pieces_count_to(letters_scan *s, const char *stop, letters_totals *t,
                                const char **border) {
  tsl_err err = TSL_OK;
  letters_part part = LETTERS_LINE;
  letters_scan last = *s;
  int64_t letters = 0;
  const int64_t lines = s->number;
  *border = NULL;
  while (part != LETTERS_END && *border == NULL) {
    TSL_TRY(letters_scan_next(s, &part));
    if (part == LETTERS_LINE) {
      letters += s->letters;
      if (letters > 0 && s->header == NULL)
        TSL_FAIL(TSL_ERR_INPUT,
                 "%s:%lld: letters before the first header, a line that begins with '>'", s->path,
                 (long long)s->number);
      continue;
    }
    TSL_TRY(end_record(&last, letters, t));
    last = *s, letters = 0;
    if (part == LETTERS_HEADER && s->header >= stop) *border = s->header;
  }
  t->lines = s->number - lines - (*border != NULL);
done:
  return err;
}

static tsl_err count_piece(const letters_reading *r, letters_piece *p, int slot) {
  tsl_err err = TSL_OK;
  letters_scan s;
  const char *border = NULL;
  p->has = (letters_totals){.records = 0};
  TSL_TRY(letters_pieces_scan(r, p, slot, &s));
  TSL_TRY(letters_pieces_count_to(&s, s.end, &p->has, &border));
done:
  return err;
}

tsl_err letters_pieces_each(const letters_reading *r, int slot, int64_t lo, int64_t hi,
                            letters_piece_fn *take) {
  tsl_err err = TSL_OK;
  for (letters_piece *p = r->pieces + lo; p < r->pieces + hi; p++) {
    err = take(r, p, slot);
    p->failed = err == TSL_ERR_INPUT;
    if (!p->failed) TSL_TRY(err);
    err = TSL_OK;
  }
done:
  return err;
}

/* tsl_parallel_body: pieces. */
static tsl_err count_pieces(void *context, int slot, int64_t lo, int64_t hi) {
  return letters_pieces_each(context, slot, lo, hi, count_piece);
}

void letters_totals_add(letters_totals *sum, const letters_totals *t) {
  if (sum->records == 0 || (t->records > 0 && t->shortest < sum->shortest))
    sum->shortest = t->shortest;
  sum->longest = tsl_max(sum->longest, t->longest);
  sum->records += t->records;
  sum->letters += t->letters;
  sum->names += t->names;
  sum->lines += t->lines;
}

tsl_err letters_pieces_some(const letters_text_file *f) {
  tsl_err err = TSL_OK;
  if (f->has.records == 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s: no records: no line begins with '>'", f->source.path);
done:
  return err;
}

/* What comes before each piece. Where one fails, it is wrong, or the header behind it is none: then
 * it is the last one, and has the rest of the file. A piece of FASTQ that does not fail ends with a
 * whole record, so that the next one begins with a header. */
static tsl_err sum_pieces(const letters_reading *r, letters_text_file *f) {
  tsl_err err = TSL_OK;
  for (int64_t k = 0; k < f->n; k++) {
    letters_piece *p = &r->pieces[f->first + k];
    p->before = f->has;
    if (p->failed) {
      p->hi = f->source.n;
      p->failed = false;
      f->n = k + 1;
      TSL_TRY(count_piece(r, p, 0));
    }
    letters_totals_add(&f->has, &p->has);
  }
  TSL_TRY(letters_pieces_some(f));
done:
  return err;
}

tsl_err letters_pieces_count(letters_reading *r) {
  tsl_err err = TSL_OK;
  letters_totals all = {.records = 0};
  TSL_TRY(tsl_parallel(r->n_pieces, 1, count_pieces, r));
  for (letters_text_file *f = r->files; f < r->files + r->n; f++) {
    if (letters_pieces_good(f)) letters_pieces_note(f, sum_pieces(r, f));
    if (!letters_pieces_good(f)) f->has = (letters_totals){.records = 0};
    f->before = all;
    letters_totals_add(&all, &f->has);
    r->set->of[f - r->files] = f->has.records;
  }
  join_pieces(r);
  r->set->n = all.records;
done:
  return err;
}

/* ---- what is said of it */

void letters_pieces_describe(const letters_text_file *f, int64_t others, char *about, size_t size) {
  char shown[104];
  const letters_source *s = &f->source;
  const letters_totals *t = &f->has;
  const int32_t alphabet = f->ask->alphabet;
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
