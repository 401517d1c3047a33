/* Windows of files of records: sets of the pieces that have them. */
#include "letters_reader.h"

#include "letters_fill.h"
#include "memory.h"
#include "parallel.h"
#include "sorted.h"

#include <fcntl.h>

/* Memory of the set, which grows with the windows. */
typedef struct letters_rooms {
  int64_t starts, codes, name_at, names, pieces;
} letters_rooms;

struct letters_reader {
  letters_reading r; /* of the window */
  letters_text_file files[LETTERS_FILES];
  letters_marked marked[LETTERS_FILES];
  letters_set set;
  letters_rooms rooms;
  letters_memory memory; /* of codes and starts */
  int slots;
  int64_t at[LETTERS_FILES];
};

static tsl_err take(int64_t bytes, void **memory) {
  return tsl_alloc(bytes, 1, "records", memory);
}

static const letters_memory ORDINARY = {take, tsl_free};

/* ---- files */

tsl_err letters_reader_open(const letters_marked *files, int n, int slots, letters_reader **out) {
  tsl_err err = TSL_OK;
  letters_reader *w = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *w, "a reader of records", (void **)&w));
  w->r = (letters_reading){.files = w->files, .n = n, .set = &w->set};
  w->slots = slots;
  w->memory = ORDINARY;
  TSL_TRY(tsl_alloc(slots, sizeof *w->r.buffers, "pieces of text", (void **)&w->r.buffers));
  for (int i = 0; i < n; i++) {
    letters_text_file *f = &w->files[i];
    w->marked[i] = files[i];
    f->ask = &w->marked[i].ask;
    TSL_TRY(letters_source_open(f->ask->path, &f->source));
    if (f->source.packed != (files[i].entries.n > 0))
      TSL_FAIL(TSL_ERR_IO, "'%s' has changed since it was checked", f->ask->path);
    if (f->source.packed) letters_source_enter(&f->source, &w->marked[i].entries);
    f->source.format = files[i].format;
    f->coder = letters_coder_of(f->ask->alphabet);
  }
done:
  if (err != TSL_OK) letters_reader_close(&w);
  *out = w;
  return err;
}

void letters_reader_close(letters_reader **reader) {
  letters_reader *w = *reader;
  if (w == NULL) return;
  for (int i = 0; i < w->r.n; i++) letters_source_clear(&w->files[i].source);
  for (int k = 0; w->r.buffers != NULL && k < w->slots; k++) letters_buffer_clear(&w->r.buffers[k]);
  w->memory.free(w->set.codes);
  w->memory.free(w->set.starts);
  w->set.codes = NULL, w->set.starts = NULL;
  letters_clear(&w->set);
  TSL_FREE_ALL(w->r.buffers, w->r.pieces, w->r.hashes, w);
  *reader = NULL;
}

/* ---- windows */

int64_t letters_marked_find(const letters_mark *marks, int64_t n, int64_t k) {
  return tsl_last_at_most(&marks->records, n, sizeof *marks, k);
}

/* Pieces [*first, *end) of a file have its records [lo, hi). */
static void find(const letters_marked *m, int64_t lo, int64_t hi, int64_t *first, int64_t *end) {
  *first = *end = 0;
  if (lo >= hi) return;
  *first = letters_marked_find(m->marks, m->n, lo);
  *end = letters_marked_find(m->marks, m->n, hi - 1) + 1;
}

static letters_totals before(const letters_mark *m) {
  return (letters_totals){
      .records = m->records, .letters = m->letters, .names = m->names, .lines = m->lines};
}

static letters_totals less(const letters_totals *a, const letters_totals *b) {
  return (letters_totals){.records = a->records - b->records,
                          .letters = a->letters - b->letters,
                          .names = a->names - b->names,
                          .lines = a->lines - b->lines};
}

/* Windows are of about one size: a little more than was asked for does for the next ones. */
static tsl_err reserve(const letters_memory *of, void **memory, int64_t n, int64_t *room,
                       int64_t size) {
  tsl_err err = TSL_OK;
  if (n <= *room) return TSL_OK;
  of->free(*memory);
  *memory = NULL, *room = 0;
  TSL_TRY(of->alloc((n + n / 8) * size, memory));
  *room = n + n / 8;
done:
  return err;
}

static tsl_err make_room(letters_reader *w, const letters_totals *all) {
  tsl_err err = TSL_OK;
  letters_set *s = &w->set;
  letters_rooms *room = &w->rooms;
  const int64_t n = all->records;
  TSL_TRY(reserve(&w->memory, (void **)&s->starts, n + 1, &room->starts, sizeof *s->starts));
  TSL_TRY(reserve(&ORDINARY, (void **)&s->name_at, n + 1, &room->name_at, sizeof *s->name_at));
  TSL_TRY(reserve(&w->memory, (void **)&s->codes, all->letters, &room->codes, 1));
  TSL_TRY(reserve(&ORDINARY, (void **)&s->names, all->names, &room->names, 1));
  s->n = n;
  s->starts[n] = all->letters;
  s->name_at[n] = all->names;
done:
  return err;
}

tsl_err letters_reader_memory(letters_reader *w, const letters_memory *memory, int64_t records,
                              int64_t letters) {
  tsl_err err = TSL_OK;
  letters_set *s = &w->set;
  w->memory = *memory;
  TSL_TRY(reserve(memory, (void **)&s->starts, records + 1, &w->rooms.starts, sizeof *s->starts));
  TSL_TRY(reserve(memory, (void **)&s->codes, letters, &w->rooms.codes, 1));
done:
  return err;
}

tsl_err letters_reader_aim(letters_reader *w, const int64_t *lo, const int64_t *hi) {
  tsl_err err = TSL_OK;
  letters_totals all = {.records = 0};
  letters_reading *r = &w->r;
  r->n_pieces = 0;
  for (int i = 0; i < r->n; i++) {
    letters_text_file *f = &w->files[i];
    const letters_marked *m = &w->marked[i];
    int64_t first, end;
    find(m, lo[i], hi[i], &first, &end);
    const letters_totals base = before(&m->marks[first]), last = before(&m->marks[end]);
    f->first = r->n_pieces, f->n = end - first;
    f->before = less(&all, &base);
    f->has = less(&last, &base);
    w->at[i] = f->before.records + lo[i];
    TSL_TRY(tsl_grow((void **)&r->pieces, r->n_pieces, f->n, &w->rooms.pieces, sizeof *r->pieces,
                     "pieces of text"));
    for (int64_t k = first; k < end; k++) {
      const letters_totals here = before(&m->marks[k]), next = before(&m->marks[k + 1]);
      r->pieces[r->n_pieces++] = (letters_piece){.file = i,
                                                 .lo = m->marks[k].at,
                                                 .hi = m->marks[k + 1].at,
                                                 .has = less(&next, &here),
                                                 .before = here};
    }
    all.records += f->has.records, all.letters += f->has.letters, all.names += f->has.names;
    r->set->of[i] = f->has.records;
  }
  TSL_TRY(make_room(w, &all));
done:
  return err;
}

int64_t letters_reader_pieces(const letters_reader *w) {
  return w->r.n_pieces;
}

tsl_err letters_reader_fill(letters_reader *w, int64_t piece, int slot) {
  return letters_fill_piece(&w->r, &w->r.pieces[piece], slot);
}

/* tsl_parallel_body: pieces. */
static tsl_err fill_pieces(void *context, int slot, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  for (int64_t k = lo; k < hi; k++) TSL_TRY(letters_reader_fill(context, k, slot));
done:
  return err;
}

tsl_err letters_reader_read(letters_reader *w, const int64_t *lo, const int64_t *hi) {
  tsl_err err = TSL_OK;
  TSL_TRY(letters_reader_aim(w, lo, hi));
  TSL_TRY(tsl_parallel(w->r.n_pieces, 1, fill_pieces, w));
done:
  return err;
}

void letters_reader_ahead(const letters_reader *w, const int64_t *lo, const int64_t *hi) {
  for (int i = 0; i < w->r.n; i++) {
    const letters_marked *m = &w->marked[i];
    int64_t first, end;
    find(m, lo[i], hi[i], &first, &end);
    const int64_t from = letters_source_place(&w->files[i].source, m->marks[first].at);
    const int64_t to = letters_source_place(&w->files[i].source, m->marks[end].at);
    if (from == to) continue; /* which would be all */
    (void)posix_fadvise(fileno(w->files[i].source.file), (off_t)from, (off_t)(to - from),
                        POSIX_FADV_WILLNEED); /* advice alone */
  }
}

const letters_set *letters_reader_set(const letters_reader *w, int64_t *at) {
  for (int i = 0; i < w->r.n && at != NULL; i++) at[i] = w->at[i];
  return &w->set;
}

letters_reading *letters_reader_reading(letters_reader *w) {
  return &w->r;
}
