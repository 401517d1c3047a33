/* Files of records are counted in pieces, which are where readers may enter them; then every record
 * is read as readers do, and what is wrong with it is said. */
#include "letters_index.h"

#include "fn.h"
#include "integers.h"
#include "letters_fill.h"
#include "letters_walk.h"
#include "memory.h"
#include "parallel.h"

#include <string.h>

enum {
  LARGE = 4, /* pieces of so many times the size are divided where records begin */
  /* Bytes of a file that are checked together, but one piece: what so many have, between these.
   * Where the window of one file ends the piece of the other is read once more by the next. */
  WINDOW = 1 << 23,
  MOST_WINDOW = 1 << 25,
  PIECES = 4
};

/* ---- marks */

/* Parts of a large piece: each begins with a record. */
static tsl_err divide(const letters_reading *r, const letters_piece *p, letters_marks *list) {
  tsl_err err = TSL_OK;
  letters_part part = LETTERS_LINE;
  letters_scan s;
  letters_mark here = letters_marks_at(p->lo, &p->before);
  int64_t last = p->lo;
  TSL_TRY(letters_pieces_scan(r, p, 0, &s));
  const char *const begin = s.end - (p->hi - p->lo);
  while (part != LETTERS_END) {
    TSL_TRY(letters_scan_next(&s, &part));
    if (part == LETTERS_LINE) here.letters += s.letters;
    if (part != LETTERS_HEADER) continue;
    here.at = p->lo + (s.header - begin), here.lines = s.number - 1;
    if (here.at - last >= r->size) {
      TSL_TRY(letters_marks_push(list, &here));
      last = here.at;
    }
    here.records++, here.names += letters_scan_name(&s, NULL, 0) + 1;
  }
done:
  return err;
}

/* A plain file, by all threads. */
static tsl_err mark_file(letters_reading *r, letters_marks *list) {
  tsl_err err = TSL_OK;
  const letters_text_file *f = r->files;
  TSL_TRY(letters_pieces_open(r));
  TSL_TRY(letters_pieces_count(r));
  for (const letters_piece *p = r->pieces; p < r->pieces + f->n; p++) {
    const letters_mark begin = letters_marks_at(p->lo, &p->before);
    TSL_TRY(letters_marks_push(list, &begin));
    if (p->hi - p->lo > LARGE * r->size) TSL_TRY(divide(r, p, list));
  }
  const letters_mark end = letters_marks_at(f->source.n, &f->has);
  TSL_TRY(letters_marks_push(list, &end));
done:
  tsl_free(r->pieces);
  return err;
}

/* Files, and what is found of them. */
typedef struct marking {
  letters_text_file *files;
  int64_t size;
  letters_index *x;
  letters_marks lists[LETTERS_FILES];
} marking;

/* tsl_parallel_body: files that are gzip. */
static tsl_err walk_files(void *context, int slot, int64_t lo, int64_t hi) {
  marking *const m = context;
  (void)slot;
  for (int64_t i = lo; i < hi; i++)
    if (letters_pieces_good(&m->files[i]) && m->files[i].source.packed)
      letters_pieces_note(&m->files[i],
                          letters_walk(&m->files[i], m->size, &m->lists[i], &m->x->entries[i]));
  return TSL_OK;
}

static tsl_err mark_files(letters_text_file *files, int64_t size, letters_buffer *buffers,
                          letters_index *x) {
  tsl_err err = TSL_OK;
  letters_set none = {.n = 0};
  marking m = {.files = files, .size = size, .x = x};
  TSL_TRY(tsl_parallel(x->n, 1, walk_files, &m));
  for (int i = 0; i < x->n; i++) {
    letters_text_file *f = &files[i];
    letters_reading r = {.files = f, .n = 1, .size = size, .buffers = buffers, .set = &none};
    if (!f->source.packed) TSL_TRY(mark_file(&r, &m.lists[i]));
    x->of[i] = f->has.records;
    x->format[i] = f->source.format;
    x->longest = tsl_max(x->longest, f->has.longest);
  }
done:
  for (int i = 0; i < x->n; i++) {
    x->marks[i] = m.lists[i].marks;
    x->pieces[i] = m.lists[i].n - 1;
  }
  return err;
}

/* ---- checks */

typedef struct checking {
  letters_text_file *files; /* which get what is wrong with them */
  int n;
  letters_index *x;
  letters_marked marked[LETTERS_FILES];
  letters_reader *reader, *other;
  letters_names names[LETTERS_FILES];
  int64_t others[LETTERS_FILES], counted[LETTERS_FILES]; /* in so many records */
  int64_t checked[LETTERS_FILES];                        /* pieces, which have them */
  int64_t room;                                          /* for hashes of a window */
  const letters_looker *looker;
} checking;

/* letters_names_equal: of a file, whose records [lo, hi) are in the window. */
typedef struct names_of_file {
  const letters_reader *window;
  letters_reader *reader; /* of all others */
  int file;
  int64_t lo, hi;
} names_of_file;

tsl_err letters_index_name(letters_reader *reader, int file, int64_t k, const char **name) {
  tsl_err err = TSL_OK;
  int64_t lo[LETTERS_FILES] = {0}, hi[LETTERS_FILES] = {0}, at[LETTERS_FILES];
  lo[file] = k, hi[file] = k + 1;
  TSL_TRY(letters_reader_read(reader, lo, hi));
  const letters_set *const set = letters_reader_set(reader, at);
  *name = set->names + set->name_at[at[file]];
done:
  return err;
}

static tsl_err name_of(const names_of_file *of, int64_t k, const char **name) {
  int64_t at[LETTERS_FILES];
  const letters_set *const set = letters_reader_set(of->window, at);
  if (k < of->lo || k >= of->hi) return letters_index_name(of->reader, of->file, k, name);
  *name = set->names + set->name_at[at[of->file] + k - of->lo];
  return TSL_OK;
}

static tsl_err are_equal(void *context, int64_t a, int64_t b, bool *equal) {
  tsl_err err = TSL_OK;
  const names_of_file *of = context;
  const char *name = NULL;
  char *first = NULL;
  TSL_TRY(name_of(of, a, &name));
  TSL_TRY(tsl_alloc((int64_t)strlen(name) + 1, 1, "names", (void **)&first));
  memcpy(first, name, strlen(name) + 1);
  TSL_TRY(name_of(of, b, &name));
  *equal = strcmp(first, name) == 0;
done:
  tsl_free(first);
  return err;
}

enum { LANES = 8, LINE = LANES * sizeof(uint64_t) }; /* lanes do not wait for each other */

static inline void add_line(const uint8_t codes[LINE], uint64_t sums[LANES]) {
  uint64_t words[LANES];
  memcpy(words, codes, sizeof words);
  for (int l = 0; l < LANES; l++) {
    sums[l] = (sums[l] ^ words[l]) * UINT64_C(0xff51afd7ed558ccd);
    sums[l] ^= sums[l] >> 32;
  }
}

/* Of n codes. */
TSL_LEVELS static uint64_t sum_of(const uint8_t *codes, int64_t n) {
  uint64_t sums[LANES] = {0};
  uint8_t last[LINE] = {0};
  int64_t k = 0;
  for (; k + LINE <= n; k += LINE) add_line(codes + k, sums);
  memcpy(last, codes + k, (size_t)(n - k));
  if (k < n) add_line(last, sums);
  return letters_names_hash((const char *)sums, sizeof sums);
}

static tsl_err check_piece(const letters_reading *r, letters_piece *p, int slot) {
  tsl_err err = TSL_OK;
  TSL_TRY(letters_fill_look(r, p, slot));
  p->sum =
      sum_of(r->set->codes + r->files[p->file].before.letters + p->before.letters, p->has.letters);
done:
  return err;
}

/* tsl_parallel_body: pieces of a window. */
static tsl_err check_pieces(void *context, int slot, int64_t lo, int64_t hi) {
  return letters_pieces_each(context, slot, lo, hi, check_piece);
}

/* What is wrong with records [lo, hi) of a file, which are in the window. */
static tsl_err check_file(checking *c, int i, int64_t lo, int64_t hi) {
  const letters_reading *r = letters_reader_reading(c->reader);
  const letters_text_file *f = &r->files[i];
  names_of_file of = {c->reader, c->other, i, lo, hi};
  const letters_names_equal equal = {are_equal, &of};
  for (const letters_piece *p = r->pieces + f->first; p < r->pieces + f->first + f->n; p++) {
    if (p->before.records < c->counted[i]) continue;
    c->counted[i] = p->before.records + p->has.records;
    c->others[i] += p->others;
    c->x->marks[i][c->checked[i]++].sum = (int64_t)p->sum;
    c->x->highest = tsl_max(c->x->highest, (int32_t)p->highest);
  }
  return letters_fill_judge(r, f, &c->names[i], &equal, lo, hi, 0);
}

/* Where the window ends that begins with record lo. */
static int64_t end_of_window(const checking *c, int64_t lo) {
  int64_t hi = INT64_MAX;
  for (int i = 0; i < c->n; i++) {
    if (!letters_pieces_good(&c->files[i]) || c->x->of[i] <= lo) continue;
    const letters_mark *const marks = c->x->marks[i];
    const int64_t n = c->x->pieces[i], first = letters_marked_find(marks, n, lo);
    const int64_t most = tsl_max(WINDOW, tsl_min(MOST_WINDOW, PIECES * marks[n].at / n));
    int64_t end = first + 1;
    while (end < n && marks[end + 1].at - marks[first].at <= most) end++;
    hi = tsl_min(hi, marks[end].records);
  }
  return hi;
}

static tsl_err check_window(checking *c, int64_t first, int64_t end) {
  tsl_err err = TSL_OK;
  letters_window window = {.of = c->x->of, .lo = first, .hi = end, .other = c->other};
  int64_t lo[LETTERS_FILES] = {0}, hi[LETTERS_FILES] = {0};
  letters_reading *const r = letters_reader_reading(c->reader);
  bool good = true;
  for (int i = 0; i < c->n; i++) {
    window.hi = tsl_min(window.hi, c->x->of[i]);
    if (!letters_pieces_good(&c->files[i])) continue;
    lo[i] = tsl_min(first, c->x->of[i]), hi[i] = tsl_min(end, c->x->of[i]);
  }
  TSL_TRY(letters_reader_aim(c->reader, lo, hi));
  TSL_TRY(tsl_grow((void **)&r->hashes, 0, r->set->n, &c->room, sizeof *r->hashes, "names"));
  TSL_TRY(tsl_parallel(r->n_pieces, 1, check_pieces, r));
  for (int i = 0; i < c->n; i++) {
    if (letters_pieces_good(&c->files[i]))
      letters_pieces_note(&c->files[i], check_file(c, i, lo[i], hi[i]));
    good = good && letters_pieces_good(&c->files[i]);
  }
  r->set->highest = c->x->highest;
  window.set = letters_reader_set(c->reader, window.at);
  if (good && window.lo < window.hi) TSL_TRY(c->looker->look(c->looker->context, &window));
done:
  return err;
}

static void checking_clear(checking *c) {
  letters_reader_close(&c->reader);
  letters_reader_close(&c->other);
  for (int i = 0; i < c->n; i++) letters_names_clear(&c->names[i]);
}

/* All records, up to what is wrong with the last file. */
static tsl_err check_files(checking *c, const letters_ask *asks) {
  tsl_err err = TSL_OK;
  const int slots = tsl_parallel_slots();
  int64_t most = 0;
  for (int i = 0; i < c->n; i++) {
    most = tsl_max(most, c->x->of[i]);
    TSL_TRY(letters_names_create(c->x->of[i], &c->names[i]));
  }
  letters_index_files(c->x, asks, c->marked);
  TSL_TRY(letters_reader_open(c->marked, c->n, slots, &c->reader));
  TSL_TRY(letters_reader_open(c->marked, c->n, slots, &c->other));
  for (int64_t lo = 0, hi; lo < most && letters_pieces_good(&c->files[c->n - 1]); lo = hi) {
    hi = end_of_window(c, lo);
    if (hi == INT64_MAX) break; /* what is left is of a file that is not good */
    TSL_TRY(check_window(c, lo, hi));
  }
  for (int i = 0; i < c->n; i++)
    letters_pieces_describe(&c->files[i], c->others[i], c->x->about[i], sizeof c->x->about[i]);
done:
  return err;
}

/* ---- the index */

static tsl_err index_files(letters_text_file *files, const letters_ask *asks, int64_t size,
                           const letters_looker *looker, letters_index *x) {
  tsl_err err = TSL_OK;
  const int slots = tsl_parallel_slots();
  checking c = {.files = files, .n = x->n, .x = x, .looker = looker};
  letters_buffer *buffers = NULL;
  bool good = true;
  TSL_TRY(tsl_alloc(slots, sizeof *buffers, "pieces of text", (void **)&buffers));
  err = mark_files(files, size, buffers, x);
  for (int k = 0; k < slots; k++) letters_buffer_clear(&buffers[k]);
  TSL_TRY(err);
  for (int i = 0; i < x->n; i++) good = good && letters_pieces_good(&files[i]);
  if (good) TSL_TRY(check_files(&c, asks));
done:
  checking_clear(&c);
  tsl_free(buffers);
  return err;
}

tsl_err letters_index_make(const letters_ask *asks, int n, int64_t size,
                           const letters_looker *looker, int *failed, letters_index *x) {
  tsl_err err = TSL_OK;
  letters_text_file files[LETTERS_FILES] = {{.ask = NULL}};
  *x = (letters_index){.n = n};
  for (int i = n - 1; i >= 0; i--) {
    files[i].ask = &asks[i];
    letters_pieces_note(&files[i], letters_source_open(asks[i].path, &files[i].source));
  }
  *failed = n - 1;
  err = index_files(files, asks, size, looker, x);
  for (int i = n - 1; i >= 0 && err == TSL_OK; i--)
    if (!letters_pieces_good(&files[i])) err = tsl_err_restore(&files[i].error), *failed = i;
  for (int i = 0; i < n; i++) letters_source_clear(&files[i].source);
  if (err != TSL_OK) letters_index_clear(x);
  return err;
}

void letters_index_files(const letters_index *x, const letters_ask *asks, letters_marked *files) {
  for (int i = 0; i < x->n; i++)
    files[i] = (letters_marked){.ask = asks[i],
                                .format = x->format[i],
                                .marks = x->marks[i],
                                .n = x->pieces[i],
                                .entries = x->entries[i]};
}

void letters_index_clear(letters_index *x) {
  for (int i = 0; i < LETTERS_FILES; i++) {
    tsl_free(x->marks[i]);
    letters_entries_clear(&x->entries[i]);
  }
  *x = (letters_index){.n = 0};
}
