/** @file tri_cpu_pairs.c  Record by record of two sets: output PAIRED. */
#include "tri_cpu_pairs.h"

#include "integers.h"
#include "tri_cpu.h"
#include "tri_cpu_single.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
  BLOCK = 16, /* letters of a pattern that lie together */
  FEW = 4,    /* more than a FEW-th of a group again: the next groups are not tried in 8 bits */
  SKIP = 15   /* so many groups */
};

/* ---- memory */

static tsl_err create_align(const tri_cpu_letters *l, tri_pairs_thread *t) {
  tsl_err err = TSL_OK;
  const tri_params *p = l->p;
  const int codes = p->codes;
  const int64_t m = tsl_divide_up(p->longest, BLOCK) * BLOCK;
  TSL_TRY(tsl_alloc(m, TRI_LETTER_LANES, "letters", (void **)&t->letters));
  TSL_TRY(tsl_alloc(m, TRI_LETTER_LANES * sizeof(int32_t), "columns", &t->align.g));
  TSL_TRY(tsl_alloc(m, TRI_LETTER_LANES * sizeof(int32_t), "columns", &t->align.e));
  TSL_TRY(tsl_alloc((codes + 1) * (codes + 1), sizeof *t->scores, "scores", (void **)&t->scores));
  if (l->bytes) TSL_TRY(tsl_alloc(codes + 1, TRI_LETTER_CODES, "scores", (void **)&t->table));
  for (int a = 0; a <= codes; a++)
    for (int b = 0; b <= codes; b++) {
      const int32_t score = tri_letters_score(l, a, b);
      t->scores[a * (codes + 1) + b] = score;
      if (l->bytes) t->table[a * TRI_LETTER_CODES + b] = (int8_t)score;
      t->best = tsl_max(t->best, score - p->open - p->extend);
      t->most[0][a] = tsl_max(t->most[0][a], score - p->open - p->extend);
      t->most[1][b] = tsl_max(t->most[1][b], score - p->open - p->extend);
    }
done:
  return err;
}

tsl_err tri_pairs_thread_create(const tri_cpu_letters *l, tri_pairs_thread **thread) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(1, sizeof **thread, "thread", (void **)thread));
  if (l->extends)
    TSL_TRY(tri_extender_create(l, &(*thread)->extender));
  else if (tri_is_scored(l->p))
    TSL_TRY(create_align(l, *thread));
  else
    TSL_TRY(tri_edit_create(l->p, &(*thread)->edit));
done:
  return err;
}

void tri_pairs_thread_clear(tri_pairs_thread **thread) {
  tri_pairs_thread *const t = *thread;
  if (t == NULL) return;
  tri_edit_clear(&t->edit);
  tri_extender_clear(&t->extender);
  TSL_FREE_ALL(t->letters, t->table, t->scores, t->align.g, t->align.e, t->planes, t);
  *thread = NULL;
}

/* ---- order */

static int64_t text_length(const tri_cpu_letters *l, const tri_pair *pair) {
  return tri_sequence_length(&l->sequences, pair->text);
}
static int64_t pattern_length(const tri_cpu_letters *l, const tri_pair *pair) {
  return tri_sequence_length(&l->sequences, pair->pattern);
}

/** A pair on its way into the order. */
typedef struct sorted {
  int64_t first, second;
  tri_pair pair;
} sorted;

static int compare(const void *a, const void *b) {
  const sorted *x = a, *y = b;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  if (x->second != y->second) return x->second < y->second ? -1 : 1;
  return (x->pair.number > y->pair.number) - (x->pair.number < y->pair.number);
}

tsl_err tri_pairs_sort(const tri_cpu_letters *l, tri_pair *pairs, int64_t n) {
  tsl_err err = TSL_OK;
  sorted *list = NULL;
  const int64_t lanes = tri_pairs_lanes(l), groups = tsl_divide_up(n, lanes);
  const int64_t strip = lanes * tsl_max(1, (int64_t)sqrt((double)groups));
  TSL_TRY(tsl_alloc(n, sizeof *list, "order of pairs", (void **)&list));
  for (int64_t k = 0; k < n; k++)
    list[k] = (sorted){pattern_length(l, &pairs[k]), text_length(l, &pairs[k]), pairs[k]};
  if (n > 0) qsort(list, (size_t)n, sizeof *list, compare);
  for (int64_t k = 0; k < n; k++) list[k].first = k / strip;
  if (n > 0) qsort(list, (size_t)n, sizeof *list, compare);
  for (int64_t k = 0; k < n; k++) pairs[k] = list[k].pair;
done:
  tsl_free(list);
  return err;
}

/* ---- groups */

int tri_pairs_lanes(const tri_cpu_letters *l) {
  if (l->extends) return 1;
  return tri_is_scored(l->p) ? TRI_LETTER_LANES : TRI_EDIT_LANES;
}

static const uint8_t *text_of(const tri_cpu_letters *l, const tri_pair *pair) {
  return l->sequences.codes + l->sequences.starts[pair->text];
}
static const uint8_t *pattern_of(const tri_cpu_letters *l, const tri_pair *pair) {
  return l->sequences.codes + l->sequences.starts[pair->pattern];
}

static void fill_edit(const tri_cpu_letters *l, tri_edit_patterns *p, const tri_pair *pairs, int n,
                      int64_t *values) {
  const uint8_t *texts[TRI_EDIT_LANES] = {0};
  int64_t ends[TRI_EDIT_LANES] = {0}, longest = 0;
  for (int k = 0; k < n; k++) longest = tsl_max(longest, pattern_length(l, &pairs[k]));
  p->words = tsl_divide_up(longest, 64);
  memset(p->equal, 0, (size_t)(l->p->codes * p->words * TRI_EDIT_LANES) * sizeof *p->equal);
  for (int k = 0; k < TRI_EDIT_LANES; k++) {
    p->lengths[k] = k < n ? pattern_length(l, &pairs[k]) : 0;
    if (k >= n) continue;
    tri_edit_put(p, k, pattern_of(l, &pairs[k]), p->lengths[k]);
    texts[k] = text_of(l, &pairs[k]), ends[k] = text_length(l, &pairs[k]);
  }
  l->kernels->edit_pairs(p, texts, ends, values);
}

/** A lane's pattern, 16 letters at a time; n: none. */
static void put_letters(tri_letter_pairs *p, int lane, const uint8_t *from, int64_t n) {
  enum { QUARTERS = TRI_LETTER_LANES / BLOCK };
  const int64_t slot = (lane % BLOCK * QUARTERS + lane / BLOCK) * BLOCK;
  for (int64_t k = 0; k < p->m; k += BLOCK) {
    uint8_t *const to = p->letters + k * TRI_LETTER_LANES + slot;
    const int64_t here = tsl_max(0, tsl_min(BLOCK, n - k));
    memset(to + here, p->codes, (size_t)(BLOCK - here));
    if (here > 0) memcpy(to, from + k, (size_t)here);
  }
}

void tri_pairs_load(const tri_cpu_letters *l, tri_pairs_thread *t, const tri_pair *pairs, int n) {
  tri_letter_pairs *const p = &t->align;
  *p = (tri_letter_pairs){.g = p->g,
                          .e = p->e,
                          .letters = t->letters,
                          .table = t->table,
                          .scores = t->scores,
                          .lanes = n,
                          .codes = l->p->codes,
                          .open = l->p->open,
                          .extend = l->p->extend};
  for (int k = 0; k < n; k++) {
    p->texts[k] = text_of(l, &pairs[k]);
    t->patterns[k] = pattern_of(l, &pairs[k]);
    p->ends[k] = text_length(l, &pairs[k]);
    p->lengths[k] = pattern_length(l, &pairs[k]);
    p->n = tsl_max(p->n, p->ends[k]);
    p->m = tsl_max(p->m, p->lengths[k]);
  }
  for (int k = 0; k < TRI_LETTER_LANES; k++)
    put_letters(p, k, k < n ? pattern_of(l, &pairs[k]) : NULL, p->lengths[k]);
}

/** What letters give at most, whatever they are aligned with. */
static int64_t gain(const int32_t *most, const uint8_t *letters, int64_t n) {
  int64_t sum = 0;
  for (int64_t k = 0; k < n; k++) sum += most[letters[k]];
  return sum;
}

/** Do the tables of all lanes have values of at most this size? Cells beyond the end of a lane's
 *  sequences may have others, on which none of its own depends; the best of all cells does. */
static bool all_fit(const tri_cpu_letters *l, const tri_pairs_thread *t, int64_t largest) {
  const tri_letter_pairs *const p = &t->align;
  const bool all = l->p->function == TRI_EXTENSION;
  bool fits = true;
  for (int k = 0; k < p->lanes && fits; k++) {
    const int64_t high = tsl_min(gain(t->most[0], p->texts[k], p->ends[k]),
                                 gain(t->most[1], t->patterns[k], p->lengths[k]));
    fits = tri_values_fit(all ? p->m : p->lengths[k], all ? p->n : p->ends[k], high, l->p, largest);
  }
  return fits;
}

/** The fewest bits that are sure to hold what is loaded. */
static tri_width sure_width(const tri_cpu_letters *l, const tri_pairs_thread *t) {
  if (t->table == NULL) return TRI_32_BITS;
  if (all_fit(l, t, INT8_MAX)) return TRI_8_BITS;
  return all_fit(l, t, TRI_NARROW_MOST) ? TRI_16_BITS : TRI_32_BITS;
}

/** 8 bits of LOCAL are tried. */
static tri_width width_of(const tri_cpu_letters *l, const tri_pairs_thread *t, bool bytes) {
  const bool tried = bytes && t->table != NULL && l->p->function == TRI_LOCAL;
  return tried ? TRI_8_BITS : sure_width(l, t);
}

static void fill_align(const tri_cpu_letters *l, tri_pairs_thread *t, const tri_pair *pairs, int n,
                       bool bytes, int64_t *values, uint8_t *again) {
  const bool local = l->p->function == TRI_LOCAL;
  tri_letter_pairs *const p = &t->align;
  int found = 0;
  tri_pairs_load(l, t, pairs, n);
  const tri_width width = width_of(l, t, bytes && t->skip == 0);
  tri_letters_numbers(l->p, width, &p->zero, &p->minus);
  l->kernels->align_pairs[width](p, (tri_function)l->p->function, values);
  t->skip = tsl_max(0, t->skip - 1);
  if (width != TRI_8_BITS) return;
  for (int k = 0; k < n && local; k++) found += again[k] = values[k] >= INT8_MAX - p->zero;
  t->done[0] += n, t->done[1] += found;
  if (found * FEW > n) t->skip = SKIP;
}

void tri_pairs_fill(const tri_cpu_letters *l, tri_pairs_thread *thread, const tri_pair *pairs,
                    int n, bool bytes, int64_t *values, uint8_t *again) {
  memset(again, 0, (size_t)n);
  if (l->extends)
    values[0] = tri_extend(thread->extender, pairs->text, pairs->pattern);
  else if (tri_is_scored(l->p))
    fill_align(l, thread, pairs, n, bytes, values, again);
  else
    fill_edit(l, &thread->edit, pairs, n, values);
}

/* ---- directions */

/** Cells of n letters in the next width, counted from another zero. */
static void widen(void *cells, int64_t n, tri_width from, int32_t more) {
  int32_t line[TRI_LETTER_LANES];
  while (n-- > 0) {
    const int64_t at = n * TRI_LETTER_LANES;
    for (int k = 0; k < TRI_LETTER_LANES; k++)
      line[k] =
          (from == TRI_8_BITS ? ((int8_t *)cells)[at + k] : ((int16_t *)cells)[at + k]) + more;
    for (int k = 0; k < TRI_LETTER_LANES && from == TRI_8_BITS; k++)
      ((int16_t *)cells)[at + k] = (int16_t)line[k];
    if (from != TRI_8_BITS) memcpy((int32_t *)cells + at, line, sizeof line);
  }
}

/** Zero, minus infinity and the limit of a width. @return may it be begun with? */
static bool set_width(const tri_cpu_letters *l, tri_pairs_thread *t, tri_width width) {
  static const int32_t most[] = {INT8_MAX, INT16_MAX, INT32_MAX};
  tri_letter_pairs *const p = &t->align;
  tri_letters_numbers(l->p, width, &p->zero, &p->minus);
  p->limit = most[width] - (width == TRI_32_BITS ? 0 : TRI_PAIR_ROWS * t->best);
  return p->limit >= p->zero;
}

/** Local tables begin in as few bits as hold some rows, and go on in more as values grow. */
static void run_local(const tri_cpu_letters *l, tri_pairs_thread *t, int64_t *values) {
  tri_letter_pairs *const p = &t->align;
  tri_width width = p->table == NULL ? TRI_32_BITS : TRI_8_BITS;
  while (!set_width(l, t, width)) width++;
  for (int64_t row = 0;;) {
    const int32_t zero = p->zero;
    row = l->kernels->trace_pairs[width](p, true, row, values);
    if (row >= p->n) return;
    (void)set_width(l, t, width + 1);
    widen(p->g, p->m, width, p->zero - zero);
    widen(p->e, p->m, width, p->zero - zero);
    width++;
  }
}

tsl_err tri_pairs_trace(const tri_cpu_letters *l, tri_pairs_thread *t, int64_t *values) {
  tsl_err err = TSL_OK;
  tri_letter_pairs *const p = &t->align;
  const bool local = l->p->function == TRI_LOCAL;
  const int64_t n = p->n * p->m * tri_planes(local);
  if (n > t->planes_n) {
    TSL_FREE_ALL(t->planes);
    t->planes = NULL, t->planes_n = 0;
    TSL_TRY(tsl_alloc(n, sizeof *t->planes, "tables of alignments", (void **)&t->planes));
    t->planes_n = n;
  }
  p->directions = t->planes, p->rows = t->best_row;
  if (local) {
    run_local(l, t, values);
  } else {
    const tri_width width = sure_width(l, t);
    (void)set_width(l, t, width);
    (void)l->kernels->trace_pairs[width](p, false, 0, values);
  }
done:
  return err;
}

/* ---- units */

void tri_pairs_put(const tsl_worker *w, void *slab, int64_t at, double value) {
  if (w->t)
    ((double *)slab)[at] = value;
  else
    ((float *)slab)[at] = (float)value;
}

/** Pairs of a unit side by side; those to be done again are kept. @return their number */
static int64_t run_pairs(tsl_worker *w, const tsl_unit *unit, tsl_part *part, tri_pair *pairs,
                         int64_t n, bool bytes) {
  const int64_t lanes = tri_pairs_lanes(&w->letters), groups = tsl_divide_up(n, lanes);
  int64_t left = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads)
  for (int64_t g = groups - 1; g >= 0; g--) { /* the long ones first */
    tri_pair *const here = pairs + g * lanes;
    const int m = (int)tsl_min(lanes, n - g * lanes);
    int64_t values[TRI_LETTER_LANES];
    uint8_t again[TRI_LETTER_LANES];
    tri_pairs_fill(&w->letters, w->thread[omp_get_thread_num()].pairs, here, m, bytes, values,
                   again);
    for (int k = 0; k < m; k++) {
      tri_pairs_put(w, part->slab[TRI_OUT], here[k].number - unit->lo[0], (double)values[k]);
      if (!again[k]) here[k].number = -1;
    }
  }
  for (int64_t k = 0; k < n; k++)
    if (pairs[k].number >= 0) pairs[left++] = pairs[k];
  return left;
}

/** Move pairs of groups that go one at a time to `alone`. @param[in,out] pairs  [n], in order
 *  @return the others' number */
static int64_t take_alone(const tri_cpu_letters *l, tri_pair *pairs, int64_t n, tri_pair *alone) {
  const int64_t lanes = tri_pairs_lanes(l);
  int64_t left = 0, taken = 0;
  for (int64_t from = 0, to; from < n; from = to) {
    int64_t rows = 0, columns = 0;
    double cells = 0;
    to = tsl_min(from + lanes, n);
    for (int64_t k = from; k < to; k++) {
      const int64_t text = text_length(l, &pairs[k]), pattern = pattern_length(l, &pairs[k]);
      rows = tsl_max(rows, text), columns = tsl_max(columns, pattern);
      cells += (double)text * (double)pattern;
    }
    const bool is_alone = tri_single_is_faster(l->single, rows, columns, cells);
    for (int64_t k = from; k < to; k++)
      if (is_alone)
        alone[taken++] = pairs[k];
      else
        pairs[left++] = pairs[k];
  }
  return left;
}

/** One pair a thread, or all threads for each while there are fewer pairs. */
static tsl_err run_alone(tsl_worker *w, const tsl_unit *unit, tsl_part *part, const tri_pair *pairs,
                         int64_t n) {
  tri_failure first = {.code = TSL_OK};
  const int each = n < w->threads ? w->threads : 1;
#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads / each)
  for (int64_t k = n - 1; k >= 0; k--) { /* the long ones first */
    int64_t score = 0;
    if (tri_failure_is(&first)) continue;
    const tsl_err failed =
        tri_single_score(w->letters.single, pairs[k].text, pairs[k].pattern, each, &score);
    if (failed != TSL_OK) tri_failure_note(&first, failed);
    tri_pairs_put(w, part->slab[TRI_OUT], pairs[k].number - unit->lo[0], (double)score);
  }
  return tri_failure_take(&first);
}

static tsl_err run_letters(tsl_worker *w, const tsl_unit *unit, tsl_part *part) {
  tsl_err err = TSL_OK;
  const int64_t n = unit->hi[0] - unit->lo[0];
  tri_pair *pairs = NULL, *alone = NULL;
  TSL_TRY(tsl_alloc(n, sizeof *pairs, "pairs", (void **)&pairs));
  TSL_TRY(tsl_alloc(n, sizeof *alone, "pairs", (void **)&alone));
  for (int64_t k = 0; k < n; k++)
    pairs[k] = (tri_pair){w->p->first + unit->lo[0] + k, unit->lo[0] + k, unit->lo[0] + k};
  TSL_TRY(tri_pairs_sort(&w->letters, pairs, n));
  int64_t left = take_alone(&w->letters, pairs, n, alone);
  TSL_TRY(run_alone(w, unit, part, alone, n - left));
  left = run_pairs(w, unit, part, pairs, left, true);
  TSL_TRY(tri_pairs_sort(&w->letters, pairs, left));
  (void)run_pairs(w, unit, part, pairs, left, false);
done:
  TSL_FREE_ALL(pairs, alone);
  return err;
}

static tsl_err run_points(tsl_worker *w, const tsl_unit *unit, tsl_part *part) {
#pragma omp parallel for schedule(static) num_threads(w->threads)
  for (int64_t i = unit->lo[0]; i < unit->hi[0]; i++) {
    void *const values = w->thread[omp_get_thread_num()].values;
    tri_values(w, w->p->first + i, 1, i, 1, values, w->row_stride);
    memcpy((char *)part->slab[TRI_OUT] + (i - unit->lo[0]) * w->value_bytes, values,
           (size_t)w->value_bytes);
  }
  return TSL_OK;
}

tsl_err tri_run_paired(tsl_worker *w, const tsl_unit *unit, tsl_part *part) {
  if (w->p->aligned) return TSL_OK; /* tri_traceback_run gives values as well */
  return tri_of_letters(w->p) ? run_letters(w, unit, part) : run_points(w, unit, part);
}
