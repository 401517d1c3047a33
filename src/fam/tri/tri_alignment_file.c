/* Alignments of the pairs that are kept, scored again from the letters and written: SAM, PAF or a
 * table with tabs. Pairs are read in blocks, whose pieces are spelled side by side. */
#include "letters_alignment.h"
#include "tri_letters.h"
#include "tri_traceback.h"

#include "files.h"
#include "integers.h"
#include "new_file.h"
#include "parallel.h"
#include "tri_family.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  BLOCK = 8192, /* pairs read at once */
  PIECE = 128,  /* pairs spelled by one thread */
  NUMBER = 24
};

/* ---- scores from the letters alone */

/** One pair of a block. */
typedef struct kept {
  int64_t row, column;
  double value;
  letters_alignment a;
} kept;

/** Are n letters what the operation says? */
static bool are(int64_t operation, const uint8_t *a, const uint8_t *b, int64_t n) {
  bool differ = true;
  if (operation == LETTERS_SAME) return memcmp(a, b, (size_t)n) == 0;
  for (int64_t k = 0; k < n; k++) differ &= a[k] != b[k];
  return differ;
}

/** Score of n letters side by side; *bad: they are not what the operation says. */
static int64_t score_letters(const tsl_problem *problem, int64_t operation, const uint8_t *a,
                             const uint8_t *b, int64_t n, bool *bad) {
  const tri_params *p = tri_params_of(problem);
  const int32_t *scores = problem->fields[TRI_SCORES].data, codes = p->codes;
  int64_t sum = 0;
  *bad = !are(operation, a, b, n);
  if (!tri_is_scored(p)) return operation == LETTERS_SAME ? 0 : n;
  for (int64_t k = 0; k < n; k++) sum += scores[a[k] * codes + b[k]];
  return sum;
}

/** Score of an alignment; *bad: it is none of the two sequences from its begin to its end. */
static int64_t score_again(const tsl_problem *problem, const kept *pair, bool *bad) {
  const tri_params *p = tri_params_of(problem);
  const letters_alignment *al = &pair->a;
  int64_t n, m;
  const uint8_t *a = tri_codes_at(problem, true, pair->row, &n);
  const uint8_t *b = tri_codes_at(problem, !p->two, pair->column, &m);
  int64_t i = al->begin[0], j = al->begin[1], sum = 0;
  for (int64_t k = al->n_steps - 1; k >= 0 && !*bad; k--) {
    const int64_t *run = al->steps[k];
    const int64_t of_a = run[0] != LETTERS_OF_REFERENCE ? run[1] : 0;
    const int64_t of_b = run[0] != LETTERS_OF_QUERY ? run[1] : 0;
    *bad = i + of_a > al->end[0] || j + of_b > al->end[1];
    if (*bad) break;
    if (of_a > 0 && of_b > 0)
      sum += score_letters(problem, run[0], a + i, b + j, run[1], bad);
    else
      sum += tri_is_scored(p) ? -(p->open + run[1] * (int64_t)p->extend) : run[1];
    i += of_a, j += of_b;
  }
  *bad = *bad || i != al->end[0] || j != al->end[1];
  if (p->function != TRI_LOCAL) *bad = *bad || al->begin[0] != 0 || al->begin[1] != 0;
  if (p->function != TRI_LOCAL && p->function != TRI_EXTENSION)
    *bad = *bad || al->end[0] != al->query.n || al->end[1] != al->reference.n;
  return sum;
}

/** What has come of PIECE pairs. */
typedef struct piece {
  char *text; /**< from malloc, `size` characters */
  size_t size;
  FILE *file; /**< while it is made */
  int64_t alignments;
  char mismatch[sizeof((tri_own *)0)->mismatch];
} piece;

static void check(const tsl_problem *problem, const kept *pair, piece *made) {
  bool bad = false;
  const int64_t sum = score_again(problem, pair, &bad);
  if (made->mismatch[0] != '\0' || (!bad && (double)sum == pair->value)) return;
  (void)snprintf(made->mismatch, sizeof made->mismatch,
                 bad ? "pair (%lld, %lld): what was recovered is no alignment of both"
                     : "pair (%lld, %lld): its alignment scores %lld, but its value is %.0f",
                 (long long)pair->row, (long long)pair->column, (long long)sum, pair->value);
}

/* ---- what is read */

/** Memory of a thread. */
typedef struct scribe {
  int64_t (*steps)[2]; /**< [room] of a pair */
  int64_t room;
  char *letters;           /**< [params.longest] of a query */
  char numbers[2][NUMBER]; /**< what sequences without a name are called */
} scribe;

/** Alignments on their way into the file. */
typedef struct writer {
  const tsl_problem *problem;
  const tsl_field_rows *store;
  FILE *file;
  int64_t each, rows, block;  /**< pairs of a row of the result; its rows; rows read at once */
  int64_t *best;              /**< THRESHOLD: [rows of the first set] the best pair; else NULL */
  int64_t read;               /**< operations read so far */
  int64_t *out;               /**< [block][each or 2] neighbours or pairs */
  void *values;               /**< [block][each] of params.type */
  int64_t (*spans)[TRI_SPAN]; /**< [block][each] */
  int64_t first;              /**< the block's first row */
  int64_t *begins;            /**< [block][each] a pair's first operation */
  uint32_t *packed;           /**< [room] operations of a block */
  int64_t room, n_pieces, n_scribes;
  piece *pieces;   /**< [n_pieces] */
  scribe *scribes; /**< [n_scribes] one of each slot */
} writer;

static void writer_clear(writer *w) {
  for (int64_t k = 0; k < w->n_pieces; k++) free(w->pieces[k].text);
  for (int64_t k = 0; k < w->n_scribes; k++)
    TSL_FREE_ALL(w->scribes[k].steps, w->scribes[k].letters);
  TSL_FREE_ALL(w->best, w->out, w->values, w->spans, w->begins, w->packed, w->pieces, w->scribes);
}

static tsl_err make_scribes(int64_t longest, writer *w) {
  tsl_err err = TSL_OK;
  const int64_t n = tsl_parallel_slots();
  TSL_TRY(tsl_alloc(n, sizeof *w->scribes, "letters", (void **)&w->scribes));
  w->n_scribes = n;
  for (int64_t k = 0; k < n; k++)
    TSL_TRY(tsl_alloc(longest, 1, "letters", (void **)&w->scribes[k].letters));
done:
  return err;
}

static tsl_err writer_create(const tsl_problem *problem, const tsl_field_rows *store, writer *w) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const bool listed = p->output == TRI_THRESHOLD;
  *w = (writer){.problem = problem, .store = store, .each = p->output == TRI_TOPK ? p->k : 1};
  w->rows = problem->fields[TRI_OUT].shape[0];
  w->block = tsl_max(1, BLOCK / w->each);
  const int64_t pairs = w->block * w->each;
  TSL_TRY(tsl_alloc(2 * pairs, sizeof *w->out, "pairs", (void **)&w->out));
  TSL_TRY(tsl_alloc(pairs, sizeof(double), "values", &w->values));
  TSL_TRY(tsl_alloc(pairs, sizeof *w->spans, "alignments", (void **)&w->spans));
  TSL_TRY(tsl_alloc(pairs, sizeof *w->begins, "alignments", (void **)&w->begins));
  TSL_TRY(tsl_alloc(tsl_divide_up(pairs, PIECE), sizeof *w->pieces, "text", (void **)&w->pieces));
  w->n_pieces = tsl_divide_up(pairs, PIECE);
  TSL_TRY(make_scribes(p->longest, w));
  if (listed) TSL_TRY(tsl_alloc(tri_rows_of(p), sizeof *w->best, "pairs", (void **)&w->best));
done:
  return err;
}

/** Rows and columns and values of rows [a, b) of the result. */
static tsl_err read_pairs(writer *w, int64_t a, int64_t b) {
  tsl_err err = TSL_OK;
  const tsl_field_rows *s = w->store;
  const bool paired = tri_params_of(w->problem)->output == TRI_PAIRED;
  if (!paired) TSL_TRY(s->read(s->state, TRI_OUT, a, b, w->out));
  TSL_TRY(s->read(s->state, paired ? TRI_OUT : TRI_OUT_2, a, b, w->values));
done:
  return err;
}

/** Their alignments. */
static tsl_err read_alignments(writer *w, int64_t a, int64_t b) {
  tsl_err err = TSL_OK;
  const tsl_field_rows *s = w->store;
  const int field = tri_spans_of(tri_params_of(w->problem));
  int64_t total = 0;
  TSL_TRY(s->read(s->state, field, a * w->each, b * w->each, w->spans));
  for (int64_t k = 0; k < (b - a) * w->each; k++) w->begins[k] = total, total += w->spans[k][4];
  TSL_TRY(tsl_grow((void **)&w->packed, 0, total, &w->room, sizeof *w->packed, "operations"));
  TSL_TRY(s->read(s->state, field + 1, w->read, w->read + total, w->packed));
  w->read += total;
done:
  return err;
}

/** Pair k of a block whose first row is a. */
static kept pair_of(const writer *w, int64_t a, int64_t k) {
  const tri_params *p = tri_params_of(w->problem);
  kept pair = {.row = a + k / w->each, .column = a + k};
  if (p->output == TRI_THRESHOLD) pair.row = w->out[2 * k], pair.column = w->out[2 * k + 1];
  if (p->output == TRI_TOPK) pair.column = w->out[k];
  pair.value = tsl_real_get(p->type, w->values, k);
  return pair;
}

/** THRESHOLD: the best pair of each row, the first of equal ones; others are secondary. */
static tsl_err find_best(writer *w) {
  tsl_err err = TSL_OK;
  const bool scores = tri_is_scored(tri_params_of(w->problem));
  double best = 0;
  int64_t row = -1;
  for (int64_t a = 0; a < w->rows && w->best != NULL; a += w->block) {
    const int64_t b = tsl_min(a + w->block, w->rows);
    TSL_TRY(read_pairs(w, a, b));
    for (int64_t k = 0; k < b - a; k++) {
      const kept pair = pair_of(w, a, k);
      const bool better = scores ? pair.value > best : pair.value < best;
      if (pair.row == row && !better) continue;
      row = pair.row, best = pair.value;
      w->best[row] = a + k;
    }
  }
done:
  return err;
}

/* ---- a pair */

/** numbers: where it is called by its number. */
static letters_named named(const writer *w, bool of_row, int64_t number, char (*numbers)[NUMBER]) {
  const tri_params *p = tri_params_of(w->problem);
  int64_t n;
  (void)tri_codes_at(w->problem, of_row || !p->two, number, &n);
  (void)snprintf(numbers[of_row], NUMBER, "%lld", (long long)number);
  return (letters_named){.name = tri_name_at(w->problem, of_row || !p->two, number),
                         .standard = numbers[of_row],
                         .n = n};
}

/** Steps from the end, of n operations from the beginning; neighbours of one kind are joined. */
static tsl_err unpack(scribe *by, const uint32_t *packed, int64_t n, letters_alignment *a) {
  static const uint8_t operation[16] = {[TRI_BAM_I] = LETTERS_OF_QUERY,
                                        [TRI_BAM_D] = LETTERS_OF_REFERENCE,
                                        [TRI_BAM_SAME] = LETTERS_SAME,
                                        [TRI_BAM_OTHER] = LETTERS_OTHER};
  tsl_err err = TSL_OK;
  a->n_steps = 0;
  TSL_TRY(tsl_grow((void **)&by->steps, 0, n, &by->room, sizeof *by->steps, "operations"));
  for (int64_t k = n - 1; k >= 0; k--) {
    int64_t *const last = a->n_steps > 0 ? by->steps[a->n_steps - 1] : NULL;
    const int64_t of = operation[packed[k] & 15], letters = packed[k] >> 4;
    if (last != NULL && last[0] == of)
      last[1] += letters;
    else
      by->steps[a->n_steps][0] = of, by->steps[a->n_steps++][1] = letters;
  }
  a->steps = (const int64_t(*)[2])by->steps;
done:
  return err;
}

static void spell(const writer *w, scribe *by, int64_t row, letters_named *query) {
  const tri_own *own = w->problem->own;
  const uint8_t *codes = tri_codes_at(w->problem, true, row, &query->n);
  letters_spell(own->alphabet, codes, query->n, by->letters);
  query->letters = by->letters;
}

/** SAM keeps queries of which nothing is aligned, once; the others leave such pairs out. */
static void write_pair(const writer *w, scribe *by, kept *pair, piece *to) {
  const tri_own *own = w->problem->own;
  const letters_alignment *a = &pair->a;
  if (a->n_steps == 0 && (own->format == LETTERS_AS_PAF || a->other)) return;
  to->alignments += a->n_steps > 0;
  if (own->format == LETTERS_AS_SAM) {
    if (!a->other) spell(w, by, pair->row, &pair->a.query);
    letters_sam_record(a, to->file);
  } else if (own->format == LETTERS_AS_PAF) {
    letters_paf_record(a, to->file);
  } else {
    letters_table_record(a, to->file);
  }
}

static tsl_err take_pair(const writer *w, scribe *by, int64_t k, piece *to) {
  tsl_err err = TSL_OK;
  const int64_t *span = w->spans[k];
  kept pair = pair_of(w, w->first, k);
  const bool best = w->best != NULL ? w->best[pair.row] == w->first + k : k % w->each == 0;
  pair.a = (letters_alignment){.query = named(w, true, pair.row, by->numbers),
                               .reference = named(w, false, pair.column, by->numbers),
                               .begin = {span[0], span[2]},
                               .end = {span[1], span[3]},
                               .value = (int64_t)pair.value,
                               .distance = !tri_is_scored(tri_params_of(w->problem)),
                               .other = !best};
  TSL_TRY(unpack(by, w->packed + w->begins[k], span[4], &pair.a));
  check(w->problem, &pair, to);
  write_pair(w, by, &pair, to);
done:
  return err;
}

/** tsl_parallel_body: pairs [lo, hi) of a block, a piece of it. */
static tsl_err take_piece(void *context, int slot, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  writer *w = context;
  piece *const to = &w->pieces[lo / PIECE];
  to->file = open_memstream(&to->text, &to->size);
  if (to->file == NULL) TSL_FAIL(TSL_ERR_MEMORY, "no memory for the text of alignments");
  for (int64_t k = lo; k < hi; k++) TSL_TRY(take_pair(w, &w->scribes[slot], k, to));
done:
  if (to->file != NULL && fclose(to->file) != 0 && err == TSL_OK)
    err = tsl_fail(TSL_ERR_MEMORY, __FILE__, __LINE__, "no memory for the text of alignments");
  return err;
}

/** Pieces in their order. */
static void put_pieces(writer *w, int64_t n) {
  tri_own *own = w->problem->own;
  for (piece *made = w->pieces; made < w->pieces + n; made++) {
    (void)fwrite(made->text, 1, made->size, w->file); /* ferror tells */
    own->alignments += made->alignments;
    if (own->mismatch[0] == '\0') memcpy(own->mismatch, made->mismatch, sizeof own->mismatch);
    free(made->text);
    *made = (piece){.text = NULL};
  }
}

/* ---- the file */

static tsl_err write_head(writer *w) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(w->problem);
  const tri_own *own = w->problem->own;
  char numbers[2][NUMBER];
  if (own->format == LETTERS_AS_TABLE) letters_table_head(!tri_is_scored(p), w->file);
  if (own->format != LETTERS_AS_SAM) return TSL_OK;
  letters_sam_begin(w->file);
  for (int64_t a = 0, b; a < tri_columns_of(p); a = b) {
    b = tsl_min(a + BLOCK, tri_columns_of(p));
    TSL_TRY(tri_letters_window(w->problem, a, b));
    for (int64_t j = a; j < b; j++) {
      const letters_named reference = named(w, false, j, numbers);
      letters_sam_reference(&reference, w->file);
    }
  }
  letters_sam_program(w->file);
done:
  return err;
}

static tsl_err write_all(writer *w) {
  tsl_err err = TSL_OK;
  TSL_TRY(find_best(w));
  TSL_TRY(write_head(w));
  for (int64_t a = 0; a < w->rows; a += w->block) {
    const int64_t b = tsl_min(a + w->block, w->rows);
    TSL_TRY(read_pairs(w, a, b));
    TSL_TRY(read_alignments(w, a, b));
    TSL_TRY(tri_letters_window(w->problem, a, b));
    w->first = a;
    TSL_TRY(tsl_parallel((b - a) * w->each, PIECE, take_piece, w));
    put_pieces(w, tsl_divide_up((b - a) * w->each, PIECE));
  }
done:
  return err;
}

static tsl_err write_file(const tsl_problem *problem, const tsl_field_rows *store) {
  tsl_err err = TSL_OK;
  const tri_own *own = problem->own;
  tsl_new_file file = {.stream = NULL};
  writer w;
  TSL_TRY(writer_create(problem, store, &w));
  TSL_TRY(tsl_new_file_open(own->alignment, &file));
  w.file = file.stream;
  TSL_TRY(write_all(&w));
done:
  writer_clear(&w);
  return tsl_new_file_close(&file, err);
}

tsl_err tri_alignment_write(const tsl_problem *problem, const tsl_field_rows *store) {
  const tri_own *own = problem->own;
  if (own->alignment != NULL) (void)tsl_files_lose("tri.alignment", write_file(problem, store));
  return TSL_OK;
}
