/* All records of files at once. */
#include "letters_fill.h"
#include "memory.h"
#include "parallel.h"
#include "table_read.h"

#include <stdio.h>
#include <string.h>

enum { PIECE = 1 << 20 /* bytes of text: the caches hold it and its codes */ };

/* tsl_parallel_body: pieces. */
static tsl_err fill_pieces(void *context, int slot, int64_t lo, int64_t hi) {
  return letters_pieces_each(context, slot, lo, hi, letters_fill_look);
}

/* letters_names_equal: of a file whose records are in the set. */
typedef struct letters_of_file {
  const letters_set *set;
  int64_t first;
} letters_of_file;

static tsl_err are_equal(void *context, int64_t a, int64_t b, bool *equal) {
  const letters_of_file *of = context;
  const int64_t *at = of->set->name_at + of->first;
  *equal = strcmp(of->set->names + at[a], of->set->names + at[b]) == 0;
  return TSL_OK;
}

static tsl_err judge(const letters_reading *r, const letters_text_file *f, int slot) {
  tsl_err err = TSL_OK;
  letters_of_file of = {r->set, f->before.records};
  const letters_names_equal equal = {are_equal, &of};
  letters_names names = {.slots = NULL};
  TSL_TRY(letters_names_create(f->has.records, &names));
  TSL_TRY(letters_fill_judge(r, f, &names, &equal, 0, f->has.records, slot));
done:
  letters_names_clear(&names);
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
    if (letters_pieces_good(f)) f->coder = letters_coder_of(f->ask->alphabet);
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

/* ---- sets */

static int64_t others_of(const letters_reading *r, const letters_text_file *f) {
  int64_t others = 0;
  for (int64_t k = f->first; k < f->first + f->n; k++) others += r->pieces[k].others;
  return others;
}

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
      letters_pieces_describe(&r->files[i], others_of(r, &r->files[i]), set->about[i],
                              sizeof set->about[i]);
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

static tsl_err open_whole(const char *path, letters_source *source) {
  tsl_err err = TSL_OK;
  TSL_TRY(letters_source_open(path, source));
  TSL_TRY(table_check_memory(source->n, path));
done:
  return err;
}

tsl_err letters_read(const letters_ask *asks, int n, int *failed, letters_set *out) {
  letters_text_file files[LETTERS_FILES] = {{.ask = NULL}};
  *out = (letters_set){.n = 0};
  for (int i = n - 1; i >= 0; i--) {
    files[i].ask = &asks[i];
    letters_pieces_note(&files[i], open_whole(asks[i].path, &files[i].source));
  }
  return read_files(files, n, PIECE, failed, out);
}

void letters_clear(letters_set *set) {
  TSL_FREE_ALL(set->starts, set->codes, set->name_at, set->names);
  *set = (letters_set){.n = 0};
}
