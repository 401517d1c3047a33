/* Sequences that are read when they are wanted: the root looks at all of them once, and at some
 * again when it names or writes them. */
#include "tri_streamed.h"

#include "letters_alignment.h"
#include "parallel.h"
#include "tri_traceback.h"

#include "integers.h"

#include <stdio.h>
#include <string.h>

/* ---- all records, in their order */

/** Looking at windows of records. */
typedef struct looking {
  const tsl_deck *deck;
  const tri_deck *s;
  tri_streamed *out;
  tri_params rules; /**< of a record's work: function and scores */
  bool again;       /**< with what tracebacks compute again */
  uint32_t known;   /**< letters that have scores */
  char *matrix;
  letters_names names; /**< SAM: of the references so far */
  letters_reader *other;
} looking;

static tsl_err begin(looking *l, const int64_t *of) {
  const int64_t rows = tsl_min(of[0], of[1]);
  return tsl_alloc(rows / tri_letters_chunk(rows) + 2, sizeof *l->out->work, "work of rows",
                   (void **)&l->out->work);
}

/** The row that may need the most memory for its alignment. */
static void keep_largest(const looking *l, int64_t row, int64_t n, int64_t m) {
  const bool extension = l->rules.function == TRI_EXTENSION;
  const int64_t bytes[2] = {extension ? tri_extension_bytes(n, m) : tri_traceback_bytes(n, m),
                            extension ? tri_extension_card_bytes(n, m)
                                      : tri_traceback_card_bytes(n, m)};
  for (int k = 0; k < 2; k++)
    if (bytes[k] > l->out->most[k]) l->out->most[k] = bytes[k], l->out->pair[k] = row;
}

/** Letters that the matrix lacks are said when all else is known to be right. */
static void keep_unknown(const looking *l, const letters_window *w, int file) {
  tsl_err_copy *const kept = &l->out->unknown[file];
  if (l->matrix == NULL || kept->code != TSL_OK) return;
  const tsl_err err =
      tri_letters_known(l->deck, l->s->input.alphabet, w->set, w->set->codes, w->at[file],
                        w->at[file] + w->hi - w->lo, l->matrix, l->known);
  if (err != TSL_OK) tsl_err_save(err, kept);
}

/** letters_names_equal of references as SAM has them. */
static tsl_err are_equal(void *context, int64_t a, int64_t b, bool *equal) {
  tsl_err err = TSL_OK;
  const looking *l = context;
  const char *name = NULL;
  char *first = NULL;
  TSL_TRY(letters_index_name(l->other, 0, a, &name));
  TSL_TRY(tsl_alloc((int64_t)strlen(name) + 1, 1, "names", (void **)&first));
  memcpy(first, name, strlen(name) + 1);
  TSL_TRY(letters_index_name(l->other, 0, b, &name));
  TSL_TRY(letters_sam_equal((const char *const[]){first, name}, (const int64_t[]){a, b}, equal));
done:
  tsl_free(first);
  return err;
}

static tsl_err look_at_names(looking *l, const letters_window *w) {
  tsl_err err = TSL_OK;
  const letters_names_equal equal = {are_equal, l};
  if (l->s->alignment == NULL || letters_alignments_as(l->s->alignment) != LETTERS_AS_SAM ||
      l->out->same[0] >= 0)
    return TSL_OK;
  if (l->names.slots == NULL) TSL_TRY(letters_names_create(w->of[0], &l->names));
  l->other = w->other;
  TSL_TRY(letters_sam_put(&l->names, w->set, w->at[0], w->lo, w->hi, &equal, l->out->same));
done:
  return err;
}

static tsl_err look(void *context, const letters_window *w) {
  tsl_err err = TSL_OK;
  looking *const l = context;
  const int64_t *const columns = w->set->starts + w->at[0], *const rows = w->set->starts + w->at[1];
  const int64_t chunk = tri_letters_chunk(tsl_min(w->of[0], w->of[1]));
  if (l->out->work == NULL) TSL_TRY(begin(l, w->of));
  for (int64_t k = 0; k < w->hi - w->lo; k++) {
    const int64_t row = w->lo + k, n = rows[k + 1] - rows[k], m = columns[k + 1] - columns[k];
    l->out->work[row / chunk + 1] += tri_letters_work(&l->rules, (double)n, (double)m, 1, l->again);
    if (l->s->alignment != NULL) keep_largest(l, row, n, m);
  }
  for (int i = 0; i < LETTERS_FILES; i++) keep_unknown(l, w, i);
  TSL_TRY(look_at_names(l, w));
done:
  return err;
}

/** What a record's work depends on. */
static tsl_err set_rules(looking *l) {
  tsl_err err = TSL_OK;
  const int32_t alphabet = l->s->input.alphabet;
  letters_scores scores = {0};
  l->rules = (tri_params){
      .function = tri_deck_function(l->s), .output = TRI_PAIRED, .x_drop = (int32_t)l->s->x_drop};
  if (!tri_is_scored(&l->rules) || alphabet == LETTERS_BYTES) goto done; /* which are refused */
  TSL_TRY(letters_scores_settle(l->deck, "tri.scores", &l->s->scores, alphabet, &scores, &l->matrix,
                                &l->known));
  l->rules.open = scores.open, l->rules.extend = scores.extend;
  for (int a = 0; a < LETTERS_SCORED; a++)
    for (int b = 0; b < LETTERS_SCORED; b++) l->rules.most = tsl_max(l->rules.most, scores.s[a][b]);
done:
  return err;
}

/** Codes and names stay where they are. */
static void describe(const letters_index *index, letters_set *set) {
  *set = (letters_set){.highest = index->highest};
  for (int i = 0; i < LETTERS_FILES; i++) {
    set->of[i] = index->of[i], set->n += index->of[i];
    memcpy(set->about[i], index->about[i], sizeof set->about[i]);
  }
}

static tsl_err keep_paths(const letters_ask *asks, tri_streamed *t) {
  tsl_err err = TSL_OK;
  for (int i = 0; i < LETTERS_FILES; i++) {
    const int64_t n = (int64_t)strlen(asks[i].path) + 1;
    TSL_TRY(tsl_alloc(n, 1, "a path", (void **)&t->paths[i]));
    memcpy(t->paths[i], asks[i].path, (size_t)n);
    t->asks[i] = (letters_ask){.path = t->paths[i], .alphabet = asks[i].alphabet};
  }
done:
  return err;
}

tsl_err tri_streamed_load(const tsl_deck *deck, const tri_deck *s, const letters_ask *asks,
                          int *failed, tri_points *points) {
  tsl_err err = TSL_OK;
  looking l = {.deck = deck, .s = s, .known = UINT32_MAX};
  const letters_looker looker = {look, &l};
  tri_streamed *t = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *t, "where records are", (void **)&t));
  l.out = t;
  t->same[0] = -1;
  l.again = s->alignment != NULL && points->on_sockets;
  TSL_TRY(keep_paths(asks, t));
  *failed = -1;
  TSL_TRY(set_rules(&l));
  TSL_TRY(
      letters_index_make(t->asks, LETTERS_FILES, LETTERS_INDEX_PIECE, &looker, failed, &t->index));
  const int64_t rows = tsl_min(t->index.of[0], t->index.of[1]);
  for (int64_t c = 0; c < tsl_divide_up(rows, tri_letters_chunk(rows)); c++)
    t->work[c + 1] += t->work[c];
  describe(&t->index, &points->letters);
  points->streamed = t;
  t = NULL;
done:
  tri_streamed_clear(&t);
  letters_names_clear(&l.names);
  tsl_free(l.matrix);
  return err;
}

void tri_streamed_describe(const tri_streamed *t, char *text, size_t size) {
  int64_t n = 0, bytes = 0;
  char said[24];
  for (int i = 0; i < LETTERS_FILES; i++) {
    const letters_entries *e = &t->index.entries[i];
    if (e->n == 0) continue;
    n += e->n;
    bytes += e->list[e->n].history + e->n * (int64_t)sizeof *e->list;
  }
  int at = snprintf(text, size, "records: read by the ranks that compute them");
  if (n > 0)
    at += snprintf(text + at, size - (size_t)at, "; entries to gzip: %lld, %s", (long long)n,
                   tsl_bytes_text((double)bytes, said));
  (void)snprintf(text + at, size - (size_t)at, "\n");
}

tsl_err tri_streamed_known(const tri_streamed *t) {
  tsl_err err = TSL_OK;
  for (int i = 0; i < LETTERS_FILES && err == TSL_OK; i++)
    if (t->unknown[i].code != TSL_OK) err = tsl_err_restore(&t->unknown[i]);
  return err;
}

void tri_streamed_clear(tri_streamed **streamed) {
  tri_streamed *t = *streamed;
  if (t == NULL) return;
  letters_reader_close(&t->reader);
  letters_index_clear(&t->index);
  TSL_FREE_ALL(t->paths[0], t->paths[1], t->work, t);
  *streamed = NULL;
}

/* ---- fields */

/** TRI_ENTRIES and TRI_HISTORIES: those of one file behind those of the other, histories of each
 *  from its own beginning on. */
static tsl_err add_entries(const letters_index *x, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  tsl_field *entries = NULL, *histories = NULL;
  int64_t n = 0, bytes = 0;
  for (int i = 0; i < LETTERS_FILES && x != NULL; i++)
    if (x->entries[i].n > 0)
      n += x->entries[i].n + 1, bytes += x->entries[i].list[x->entries[i].n].history;
  TSL_TRY(tsl_problem_add_hidden(problem, "entries", "Where gzip may be entered.", TSL_I64, n,
                                 sizeof(letters_entry) / sizeof(int64_t), &entries));
  TSL_TRY(tsl_problem_add_hidden(problem, "histories", "Text before it, packed.", TSL_U8, bytes, 1,
                                 &histories));
  problem->fields[TRI_ENTRIES].device = histories->device = 1; /* letters count */
  n = bytes = 0;
  for (int i = 0; i < LETTERS_FILES && x != NULL; i++) {
    const letters_entries *e = &x->entries[i];
    if (e->n == 0) continue;
    const int64_t own = e->list[e->n].history;
    memcpy((letters_entry *)entries->data + n, e->list, (size_t)(e->n + 1) * sizeof *e->list);
    if (own > 0) memcpy((uint8_t *)histories->data + bytes, e->histories, (size_t)own);
    n += e->n + 1, bytes += own;
  }
done:
  return err;
}

tsl_err tri_streamed_add(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  tri_own *own = problem->own;
  tri_params *p = problem->params;
  tri_streamed *const t = own->streamed;
  int64_t paths = 0, marks = 0, at = 0;
  tsl_field *files = NULL, *pieces = NULL;
  for (int i = 0; i < LETTERS_FILES && t != NULL; i++) {
    paths += (int64_t)strlen(t->paths[i]) + 1, marks += t->index.pieces[i] + 1;
    p->records_format[i] = t->index.format[i];
    p->records_alphabet[i] = t->asks[i].alphabet;
    p->records_pieces[i] = t->index.pieces[i];
    p->records_entries[i] = t->index.entries[i].n;
  }
  TSL_TRY(tsl_problem_add_hidden(problem, "files", "Where records are.", TSL_U8, paths, 1, &files));
  files->device = 1; /* letters count, not where they are */
  TSL_TRY(tsl_problem_add_hidden(problem, "pieces", "Where records are.", TSL_I64, marks,
                                 sizeof(letters_mark) / sizeof(int64_t), &pieces));
  TSL_TRY(add_entries(t != NULL ? &t->index : NULL, problem));
  if (t == NULL) goto done;
  memcpy(files->data, t->paths[0], strlen(t->paths[0]) + 1);
  memcpy((char *)files->data + strlen(t->paths[0]) + 1, t->paths[1], strlen(t->paths[1]) + 1);
  for (int i = 0; i < LETTERS_FILES; i++) {
    const int64_t n = t->index.pieces[i] + 1;
    memcpy((letters_mark *)pieces->data + at, t->index.marks[i],
           (size_t)n * sizeof *t->index.marks[i]);
    at += n;
  }
  letters_index_clear(&t->index);
  own->work = t->work, t->work = NULL;
  TSL_TRY(tri_records_open(problem, tsl_parallel_slots(), &t->reader));
done:
  return err;
}

/* ---- some of them again */

tsl_err tri_letters_window(const tsl_problem *problem, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  tri_streamed *const t = ((tri_own *)problem->own)->streamed;
  const int64_t from[LETTERS_FILES] = {lo, lo}, to[LETTERS_FILES] = {hi, hi};
  if (t == NULL) goto done;
  TSL_TRY(letters_reader_read(t->reader, from, to));
  (void)letters_reader_set(t->reader, t->at);
  t->window[0] = lo, t->window[1] = hi;
done:
  return err;
}

/** Which of the set at hand a sequence is. */
static int64_t place_of(const tsl_problem *problem, bool of_row, int64_t number,
                        const letters_set **set) {
  const tri_own *own = problem->own;
  const tri_streamed *t = own->streamed;
  *set = t != NULL ? letters_reader_set(t->reader, NULL) : &own->letters;
  if (t != NULL) return t->at[of_row] + number - t->window[0];
  return of_row ? number + tri_params_of(problem)->columns : number;
}

const char *tri_name_at(const tsl_problem *problem, bool of_row, int64_t number) {
  const letters_set *set = NULL;
  const int64_t at = place_of(problem, of_row, number, &set);
  return set->names + set->name_at[at];
}

const uint8_t *tri_codes_at(const tsl_problem *problem, bool of_row, int64_t number, int64_t *n) {
  const tri_params *p = tri_params_of(problem);
  const tri_sequences s = tri_sequences_of(problem);
  const letters_set *set = NULL;
  const int64_t at = place_of(problem, of_row, number, &set);
  const int64_t place = of_row ? p->first + number : number;
  const int64_t *const starts = p->streamed ? set->starts + at : s.starts + place;
  *n = starts[1] - starts[0];
  return (p->streamed ? set->codes : s.codes) + starts[0];
}
