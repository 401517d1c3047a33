/* One thread unpacks a file and counts what it has unpacked, entry by entry. */
#include "letters_walk.h"

#include "integers.h"
#include "memory.h"
#include "table_read.h"

#include <string.h>

enum { STEP = 1 << 16 /* bytes of text that are unpacked at once */ };

/* ---- marks */

tsl_err letters_marks_push(letters_marks *list, const letters_mark *mark) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_grow((void **)&list->marks, list->n, 1, &list->room, sizeof *mark, "pieces of text"));
  list->marks[list->n++] = *mark;
done:
  return err;
}

letters_mark letters_marks_at(int64_t at, const letters_totals *before) {
  return (letters_mark){.at = at,
                        .records = before->records,
                        .letters = before->letters,
                        .names = before->names,
                        .lines = before->lines};
}

/* ---- text */

/* Text that is at hand: from the beginning of a record on. */
typedef struct walk {
  letters_text_file *f;
  letters_inflater *inflater;
  const letters_entries *entries;
  int64_t entry; /* whose text is behind `at`, or how many there are */
  char *text;    /* [n] from byte `at` of all */
  int64_t at, n, room;
  int64_t wrong; /* record whose text is; 0: none so far */
  bool ended;
} walk;

/* The record that the text ends in, whose end is cut off. */
static int64_t last_record(const walk *w) {
  letters_totals t = {.records = 0};
  const char *border = NULL;
  letters_scan s = letters_scan_begin(w->f->source.path, w->f->source.format, w->text, w->n);
  s.number = w->f->has.lines, s.record = w->f->has.records;
  (void)letters_pieces_count_to(&s, s.end, &t, &border);
  return tsl_max(s.record, 1);
}

/* What is wrong with the gzip, and from which record on. */
static tsl_err blame(walk *w, tsl_err code) {
  tsl_err err = code;
  tsl_err_copy said;
  letters_source *const source = &w->f->source;
  if (code != TSL_ERR_INPUT) goto done;
  tsl_err_save(code, &said);
  if (source->format == LETTERS_AUTO &&
      letters_source_judge(source->path, w->text, w->n, &source->format) != TSL_OK)
    return tsl_err_restore(&said);
  TSL_FAIL(code, "%s, in record %lld or behind it", said.message,
           (long long)(w->wrong > 0 ? w->wrong : last_record(w)));
done:
  return err;
}

/* n more bytes, or all that are left. */
static tsl_err unpack(walk *w, int64_t n) {
  tsl_err err = TSL_OK;
  int64_t got;
  if (w->n + n > w->room) TSL_TRY(table_check_memory(w->n + n, w->f->source.path));
  TSL_TRY(tsl_grow((void **)&w->text, w->n, n, &w->room, 1, w->f->source.path));
  err = letters_inflater_read(w->inflater, w->text + w->n, n, &got);
  w->n += got, w->ended = got < n;
  if (err != TSL_OK) err = blame(w, err);
done:
  return err;
}

/* Up to the next entry; then to the first record behind it, if it is not far. */
static tsl_err unpack_piece(walk *w) {
  tsl_err err = TSL_OK;
  while (w->entry < w->entries->n && w->entries->list[w->entry].text <= w->at) w->entry++;
  while (!w->ended && w->entry == w->entries->n) TSL_TRY(unpack(w, STEP));
  if (!w->ended && w->entries->list[w->entry].text - w->at + STEP > w->n) TSL_TRY(unpack(w, STEP));
done:
  return err;
}

/* Its first record is somewhere in what is at hand. */
static tsl_err find_format(walk *w) {
  tsl_err err = TSL_OK;
  do {
    TSL_TRY(unpack(w, STEP));
  } while (!w->ended && letters_first(w->text, w->n) == w->text + w->n);
  TSL_TRY(letters_source_judge(w->f->source.path, w->text, w->n, &w->f->source.format));
done:
  return err;
}

/* Count the piece that is at hand, up to a record behind the next entry. What is wrong with the end
 * of the text is so only where nothing follows. @param[out] bytes  of the piece; -1: no end yet */
static tsl_err count_piece(walk *w, letters_totals *t, int64_t *bytes) {
  tsl_err err = TSL_OK;
  const letters_source *source = &w->f->source;
  letters_scan s = letters_scan_begin(source->path, source->format, w->text, w->n);
  const char *border = NULL, *stop = s.end;
  if (w->entry < w->entries->n) stop = w->text + (w->entries->list[w->entry].text - w->at);
  *t = (letters_totals){.records = 0};
  s.number = w->f->has.lines, s.record = w->f->has.records;
  err = letters_pieces_count_to(&s, stop, t, &border);
  if (err == TSL_ERR_INPUT && s.at == s.end && !w->ended) err = TSL_OK, border = NULL;
  if (err == TSL_ERR_INPUT) w->wrong = tsl_max(s.record, 1);
  TSL_TRY(err);
  *bytes = border != NULL ? border - w->text : w->ended ? w->n : -1;
done:
  return err;
}

static tsl_err take_piece(walk *w, letters_marks *marks) {
  tsl_err err = TSL_OK;
  letters_totals t;
  int64_t bytes = -1;
  const letters_mark begin = letters_marks_at(w->at, &w->f->has);
  TSL_TRY(unpack_piece(w));
  TSL_TRY(count_piece(w, &t, &bytes));
  while (bytes < 0) {
    TSL_TRY(unpack(w, w->n));
    TSL_TRY(count_piece(w, &t, &bytes));
  }
  TSL_TRY(letters_marks_push(marks, &begin));
  letters_totals_add(&w->f->has, &t);
  w->at += bytes, w->n -= bytes;
  memmove(w->text, w->text + bytes, (size_t)w->n);
done:
  return err;
}

/* Text is wrong, which may be so as the gzip is: that is known at its end. */
static tsl_err unpack_rest(walk *w, tsl_err code) {
  tsl_err err = TSL_OK;
  tsl_err_copy said;
  tsl_err_save(code, &said);
  while (!w->ended) {
    w->n = 0;
    TSL_TRY(unpack(w, STEP));
  }
  err = tsl_err_restore(&said);
done:
  return err;
}

tsl_err letters_walk(letters_text_file *f, int64_t size, letters_marks *marks,
                     letters_entries *entries) {
  tsl_err err = TSL_OK;
  walk w = {.f = f, .entries = entries};
  const letters_packed packed = letters_source_packed(&f->source);
  TSL_TRY(letters_inflater_open(&packed, &w.inflater));
  letters_inflater_note(w.inflater, size, entries);
  TSL_TRY(find_format(&w));
  do {
    err = take_piece(&w, marks);
    if (w.wrong > 0) err = unpack_rest(&w, err);
    TSL_TRY(err);
  } while (!w.ended || w.n > 0);
  TSL_TRY(letters_pieces_some(f));
  const letters_mark end = letters_marks_at(w.at, &f->has);
  TSL_TRY(letters_marks_push(marks, &end));
  letters_source_enter(&f->source, entries);
done:
  letters_inflater_close(&w.inflater);
  tsl_free(w.text);
  return err;
}
