/* Sequences of letters in place of points: from files to fields, and what their pairs take. */
#include "tri_letters.h"
#include "tri_streamed.h"
#include "tri_traceback.h"

#include "integers.h"
#include "tri_family.h"

#include <math.h>
#include <stdio.h>

_Static_assert((int)TRI_LETTERS_SCORED == (int)LETTERS_SCORED, "letters that have scores");

/** Keys of `input` and its like that tell of tables of points. */
static const char *const of_points[] = {
    "input.format",   "input.dataset",       "input.columns",       "input.delimiter",
    "input.header",   "input.comment",       "input.frames",        "input.kind_column",
    "input.symbols",  "input.region_column", "input.weight_column", "input.vector_columns",
    "generator.kind", "generator.n",         "generator.d",         NULL};

tsl_err tri_letters_settle(const tsl_deck *deck, const tri_deck *s) {
  tsl_err err = TSL_OK;
  const char *section = tri_section(s);
  char path[POINTS_PATH];
  for (const char *const *key = of_points; *key != NULL; key++)
    if (tsl_deck_given(deck, points_key(section, *key, path)))
      TSL_DECK_FAIL(deck, path, "not used by function %s, which is of sequences; remove it",
                    tri_choice_words[s->function.name]);
  if (s->input.points.file == NULL)
    TSL_DECK_FAIL(deck, section, "function %s needs input.file, sequences as FASTA or FASTQ",
                  tri_choice_words[s->function.name]);
  if (s->precision > TRI_FP64)
    TSL_DECK_FAIL(deck, "tri.precision",
                  "%s is a type of coordinates; sequences go with fp32 or fp64",
                  tri_precision_words[s->precision]);
  if (tsl_deck_given(deck, "tri.regions"))
    TSL_DECK_FAIL(deck, "tri.regions", "sequences are not in space; remove it");
done:
  return err;
}

/** Both sets at once, the other one first, or the only one. */
tsl_err tri_letters_load(const tsl_deck *deck, const tri_deck *s, tri_points *points) {
  tsl_err err = TSL_OK;
  char *paths[LETTERS_FILES] = {NULL}, key[POINTS_PATH];
  const int n = tri_other_given(deck) ? 2 : 1;
  const tri_deck other = tri_other_as(s), *const sections[] = {n == 2 ? &other : s, s};
  letters_ask asks[LETTERS_FILES];
  int failed = n - 1;
  for (int i = 0; i < n; i++) {
    TSL_TRY(tsl_deck_path(deck, sections[i]->input.points.file, &paths[i]));
    asks[i] = (letters_ask){.path = paths[i], .alphabet = sections[i]->input.alphabet};
  }
  if (s->output == TRI_PAIRED && n == 2)
    err = tri_streamed_load(deck, s, asks, &failed, points);
  else
    err = letters_read(asks, n, &failed, &points->letters);
  if (failed >= 0)
    err = tsl_deck_blame(deck, points_key(tri_section(sections[failed]), "input.file", key), err);
  TSL_TRY(err);
  points->table.n = points->letters.of[n - 1];
  (void)snprintf(points->unit, sizeof points->unit, "1");
  (void)snprintf(points->from, sizeof points->from, "%s", points->letters.about[n - 1]);
done:
  for (int i = 0; i < n; i++) tsl_free(paths[i]);
  return err;
}

void tri_letters_other(const tri_points *points, tri_points *other) {
  other->table.n = points->letters.of[0];
  (void)snprintf(other->unit, sizeof other->unit, "1");
  (void)snprintf(other->from, sizeof other->from, "%s", points->letters.about[0]);
}

/* ----------------------------------------------------------------- fields */

/** Where the sequence of each place begins. */
static void set_starts(const tri_params *p, const letters_set *set, int64_t *starts) {
  int64_t at = 0, row = 0;
  for (int64_t place = 0; place < p->n_pad; place++) {
    starts[place] = at;
    if (row < set->n && tri_place_of(p, row) == place) at = set->starts[++row];
  }
  starts[p->n_pad] = at;
}

/** Values are exact: at most so large. Alignments are those of dp's engine, with sums of them. */
static tsl_err check_longest(const tsl_deck *deck, const tri_params *p, bool aligned) {
  tsl_err err = TSL_OK;
  const bool single = p->type == TSL_F32;
  const int64_t most = INT64_C(1) << (single ? 24 : aligned ? 28 : 30);
  int64_t a_letter = 1, bound = 0;
  if (tri_is_scored(p))
    a_letter = tsl_max(tsl_max(p->most, -(int64_t)p->least),
                       tsl_max((int64_t)p->open + p->extend, a_letter));
  if (!tsl_mul_i64(2 * p->longest, a_letter, &bound) || bound > most)
    TSL_DECK_FAIL(deck, "tri.input.file",
                  "a sequence has %lld letters: values may exceed %lld, the largest that %s",
                  (long long)p->longest, (long long)most,
                  single ? "fp32 has exactly; use precision: fp64" : "is possible");
done:
  return err;
}

/** Letters of the sequences of rows [0, i). */
static double letters_before(const tri_params *p, const tri_sequences *s, int64_t i) {
  return (double)(s->starts[p->first + i] - s->starts[p->first]);
}

/** EXTENSION with x_drop: diagonals beside one without differences that are not dropped. */
static double diagonals(const tri_params *p) {
  const double each = p->extend + tsl_max(p->most, 1) / 2.0; /* to go on, and not to go along */
  return 1 + 2 * (double)p->x_drop / each;
}

/** Of a table that is aligned by a socket, what its traceback computes again: all strips before the
 *  last one (tri_traceback.h). */
static double cells_again(const tri_params *p, double n, double m) {
  if (p->function == TRI_EXTENSION || n <= 0) return 0;
  const int64_t rows = tri_traceback_rows((int64_t)n, (int64_t)m);
  return (ceil(n / (double)rows) - 1) * (double)rows * m;
}

double tri_letters_work(const tri_params *p, double own, double columns, double n, bool aligned) {
  const double a_pair = 4, word = 64;
  double cells = own * columns;
  if (tri_is_dropping(p) && n > 0) cells = fmin(cells, fmin(own * n, columns) * diagonals(p));
  if (aligned) cells += cells_again(p, own, columns);
  return cells / word + a_pair * n;
}

/** Work of row i with its columns. */
static double row_work(const tri_params *p, const tri_sequences *s, bool aligned, int64_t i) {
  const double own = (double)tri_sequence_length(s, p->first + i);
  int64_t lo, hi;
  tri_row_span(p, i, &lo, &hi);
  const double columns = p->two ? (double)(s->starts[hi] - s->starts[lo])
                                : letters_before(p, s, hi) - letters_before(p, s, lo);
  return tri_letters_work(p, own, columns, (double)(hi - lo), aligned);
}

double tri_letters_row(const tsl_problem *problem, int64_t i) {
  const tri_sequences s = tri_sequences_of(problem);
  return row_work(tri_params_of(problem), &s, false, i);
}

static tsl_err set_work(const tri_params *p, const tri_sequences *s, bool aligned, double **work) {
  tsl_err err = TSL_OK;
  const int64_t rows = tri_rows_of(p), chunk = tri_chunk_of(p), chunks = tsl_divide_up(rows, chunk);
  TSL_TRY(tsl_alloc(chunks + 1, sizeof **work, "work of rows", (void **)work));
  for (int64_t c = 0; c < chunks; c++) {
    double sum = 0;
    for (int64_t i = c * chunk; i < tsl_min((c + 1) * chunk, rows); i++)
      sum += row_work(p, s, aligned, i);
    (*work)[c + 1] = (*work)[c] + sum;
  }
done:
  return err;
}

tsl_err tri_letters_known(const tsl_deck *deck, int32_t alphabet, const letters_set *set,
                          const uint8_t *codes, int64_t first, int64_t end, const char *matrix,
                          uint32_t known) {
  tsl_err err = TSL_OK;
  const uint32_t occur = (UINT32_C(2) << set->highest) - 1; /* those up to the highest may */
  for (int64_t i = first; i < end && (occur & ~known) != 0; i++) {
    int64_t k = set->starts[i];
    uint32_t all = 1;
    for (int64_t c = k; c < set->starts[i + 1]; c++) all &= known >> codes[c];
    if (all != 0) continue;
    while ((known >> codes[k] & 1) != 0) k++;
    TSL_DECK_FAIL(deck, "tri.scores.matrix", "sequence '%s', letter %lld: %c has no scores in %s",
                  set->names + set->name_at[i], (long long)(k - set->starts[i] + 1),
                  letters_char(alphabet, codes[k]), matrix);
  }
done:
  return err;
}

/** TRI_SCORES and what params have of them. */
static tsl_err add_scores(const tsl_deck *deck, const tri_deck *s, const letters_set *set,
                          tsl_problem *problem) {
  tsl_err err = TSL_OK;
  tri_params *p = problem->params;
  const tri_own *own = problem->own;
  const bool is = tri_is_scored(p);
  const int64_t codes = is ? p->codes : 0;
  letters_scores scores = {0};
  char *matrix = NULL;
  uint32_t known = UINT32_MAX;
  tsl_field *field = NULL;
  if (is && codes > LETTERS_SCORED)
    TSL_DECK_FAIL(deck, "tri.input.alphabet", "alignments are of dna, rna or protein");
  if (is)
    TSL_TRY(letters_scores_settle(deck, "tri.scores", &s->scores, s->input.alphabet, &scores,
                                  &matrix, &known));
  if (matrix != NULL && own->streamed != NULL) TSL_TRY(tri_streamed_known(own->streamed));
  if (matrix != NULL && own->streamed == NULL)
    TSL_TRY(tri_letters_known(deck, s->input.alphabet, set, problem->fields[TRI_LETTERS].data, 0,
                              set->n, matrix, known));
  TSL_TRY(tsl_problem_add_hidden(problem, "scores", "Scores of a row's letter with a column's.",
                                 TSL_I32, codes * codes, 1, &field));
  p->open = scores.open, p->extend = scores.extend, p->x_drop = (int32_t)s->x_drop;
  for (int64_t a = 0; a < codes; a++)
    for (int64_t b = 0; b < codes; b++) {
      ((int32_t *)field->data)[a * codes + b] = scores.s[a][b];
      p->least = tsl_min(p->least, scores.s[a][b]);
      p->most = tsl_max(p->most, scores.s[a][b]);
    }
done:
  tsl_free(matrix);
  return err;
}

bool tri_on_sockets(const tsl_problem *problem) {
  for (int r = 0; r < problem->n_devices; r++)
    if (problem->devices[r].kind == TSL_GPU) return false;
  return true;
}

/** The codes move from the points to the problem. */
static tsl_err add_sequences(tri_points *points, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  tri_params *p = problem->params;
  letters_set *set = &points->letters;
  const bool is = tri_of_letters(p) && !p->streamed;
  tsl_field *codes = NULL, *starts = NULL;
  TSL_TRY(tsl_problem_add_hidden(problem, "letters", "Codes of the letters of all sequences.",
                                 TSL_U8, 0, 1, &codes));
  if (is) {
    tsl_free(codes->data);
    codes->data = set->codes, codes->shape[0] = set->starts[set->n];
    set->codes = NULL;
  }
  TSL_TRY(tsl_problem_add_hidden(problem, "starts", "Where each sequence begins.", TSL_I64,
                                 is ? p->n_pad + 1 : 0, 1, &starts));
  if (!is) goto done;
  set_starts(p, set, starts->data);
  for (int64_t k = 0; k < set->n; k++)
    p->longest = tsl_max(p->longest, set->starts[k + 1] - set->starts[k]);
done:
  return err;
}

/** The names move, too. */
static void keep_names(letters_set *from, letters_set *to) {
  *to = (letters_set){.n = from->n, .name_at = from->name_at, .names = from->names};
  from->name_at = NULL, from->names = NULL;
}

tsl_err tri_letters_add(const tsl_deck *deck, const tri_deck *s, tri_points *points,
                        tsl_problem *problem) {
  tsl_err err = TSL_OK;
  tri_params *p = problem->params;
  tri_own *own = problem->own;
  own->streamed = points->streamed, points->streamed = NULL;
  p->streamed = own->streamed != NULL;
  TSL_TRY(add_sequences(points, problem));
  p->codes = tri_of_letters(p) ? points->letters.highest + 1 : 0;
  if (p->streamed) p->longest = own->streamed->index.longest;
  TSL_TRY(add_scores(deck, s, &points->letters, problem));
  TSL_TRY(tri_streamed_add(problem));
  if (!tri_of_letters(p)) goto done;
  TSL_TRY(check_longest(deck, p, s->alignment != NULL));
  if (p->streamed) goto done;
  const tri_sequences sequences = tri_sequences_of(problem);
  const bool aligned = s->alignment != NULL && p->output == TRI_PAIRED && tri_on_sockets(problem);
  TSL_TRY(set_work(p, &sequences, aligned, &own->work));
  keep_names(&points->letters, &own->letters);
done:
  return err;
}
