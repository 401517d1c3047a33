/** @file tri_cpu_letters.c  Pairs of sequences: columns of like lengths are patterns together. */
#include "tri_cpu_letters.h"

#include "cpu.h"
#include "integers.h"
#include "tri_cpu_single.h"

#include <stdlib.h>
#include <string.h>

enum {
  WORD = 64,
  MOST_STEP = 100, /* of 8 bits: open + 2 extend */
  FEW = 4          /* more than a FEW-th of a row again: the rows after it are not tried */
};

static int64_t words_of(int64_t letters) {
  return (letters + WORD - 1) / WORD;
}

/** Scores of two letters, and LOCAL the room below 0 that a step takes. */
static bool letters_fit_bytes(const tri_params *p) {
  const int64_t gap = (int64_t)p->open + p->extend;
  return gap + p->extend <= MOST_STEP && p->most + gap <= INT8_MAX && p->least + gap >= INT8_MIN;
}

/** TRI_MAX_N and the longest sequence fit 31 bits. */
static tsl_err sort_places(tri_cpu_letters *l) {
  tsl_err err = TSL_OK;
  const int64_t n = l->p->n_pad;
  TSL_TRY(tsl_alloc(n, sizeof *l->by_length, "order of sequences", (void **)&l->by_length));
  for (int64_t k = 0; k < n; k++) l->by_length[k] = tri_sequence_length(&l->sequences, k) << 32 | k;
  if (n > 0) qsort(l->by_length, (size_t)n, sizeof *l->by_length, tsl_ascending);
done:
  return err;
}

tsl_err tri_cpu_letters_open(const tsl_problem *problem, const tri_params *p, tri_cpu_letters *l) {
  tsl_err err = TSL_OK;
  int level = 0;
  *l = (tri_cpu_letters){.p = p};
  if (!tri_of_letters(l->p)) goto done;
  TSL_TRY(tsl_cpu_level_use(&level));
  l->kernels = tri_letter_kernels_at(level);
  l->sequences = tri_sequences_of(problem);
  l->scores = problem->fields[TRI_SCORES].data;
  l->bytes = tri_is_scored(l->p) && l->p->codes < TRI_LETTER_CODES && letters_fit_bytes(l->p);
  l->extends = tri_is_dropping(l->p);
  if (l->p->output != TRI_PAIRED) TSL_TRY(sort_places(l));
  TSL_TRY(tri_single_create(l, &l->single));
done:
  return err;
}

void tri_cpu_letters_close(tri_cpu_letters *l) {
  tsl_free(l->by_length);
  l->by_length = NULL;
  tri_single_destroy(&l->single);
}

tsl_err tri_edit_create(const tri_params *params, tri_edit_patterns *p) {
  tsl_err err = TSL_OK;
  const int64_t words = words_of(params->longest) * TRI_EDIT_LANES;
  TSL_TRY(
      tsl_alloc(params->codes * words, sizeof *p->equal, "bits of letters", (void **)&p->equal));
  TSL_TRY(tsl_alloc(2 * words, sizeof *p->state, "columns", (void **)&p->state));
  TSL_TRY(tsl_alloc(2 * words, sizeof *p->room, "columns", (void **)&p->room));
done:
  return err;
}

void tri_edit_clear(tri_edit_patterns *p) {
  TSL_FREE_ALL(p->equal, p->state, p->room);
}

/* Beyond an end no score is above 0: nothing better comes from there. */
int32_t tri_letters_score(const tri_cpu_letters *l, int64_t a, int64_t b) {
  const tri_params *p = l->p;
  const bool known = a < p->codes && b < p->codes;
  const int32_t score = known ? l->scores[a * p->codes + b] : tsl_min(p->least, 0);
  return score + p->open + p->extend;
}

static tsl_err create_align(const tri_cpu_letters *l, tri_align_patterns *p) {
  tsl_err err = TSL_OK;
  const tri_params *const params = l->p;
  p->open = params->open;
  p->extend = params->extend;
  TSL_TRY(tsl_alloc(params->codes * params->longest, TRI_LETTER_LINE, "scores", &p->profile));
  TSL_TRY(tsl_alloc(params->longest, TRI_LETTER_LANES, "letters", (void **)&p->letters));
  TSL_TRY(tsl_alloc(params->longest, TRI_LETTER_LINE, "columns", &p->g));
  TSL_TRY(tsl_alloc(params->longest, TRI_LETTER_LINE, "columns", &p->e));
  TSL_TRY(tsl_alloc(params->codes, TRI_LETTER_CODES, "scores", (void **)&p->table));
  for (int64_t a = 0; l->bytes && a < params->codes; a++)
    for (int64_t b = 0; b <= params->codes; b++)
      p->table[a * TRI_LETTER_CODES + b] = (int8_t)tri_letters_score(l, a, b);
done:
  return err;
}

tsl_err tri_letters_thread_create(const tri_cpu_letters *l, tri_letters_thread **thread) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(1, sizeof **thread, "thread", (void **)thread));
  tri_letters_thread *const t = *thread;
  if (l->extends) return tri_extender_create(l, &t->extender);
  TSL_TRY(tri_is_scored(l->p) ? create_align(l, &t->align) : tri_edit_create(l->p, &t->edit));
  if (l->bytes)
    TSL_TRY(tsl_alloc(TRI_LETTER_ROWS * TRI_LETTER_LANES, sizeof *t->again, "pairs of sequences",
                      (void **)&t->again));
done:
  return err;
}

void tri_letters_thread_clear(tri_letters_thread **thread) {
  tri_letters_thread *const t = *thread;
  if (t == NULL) return;
  tri_edit_clear(&t->edit);
  tri_extender_clear(&t->extender);
  TSL_FREE_ALL(t->align.profile, t->align.letters, t->align.table, t->align.g, t->align.e, t->again,
               t);
  *thread = NULL;
}

/** Columns that become patterns, the longest last. */
typedef struct group {
  const int64_t *by_length;
  int n;
} group;

static int64_t length_at(const group *g, int lane) {
  return lane < g->n ? g->by_length[lane] >> 32 : 0;
}
static int64_t column_at(const group *g, int lane) {
  return g->by_length[lane] & UINT32_MAX;
}

static const uint8_t *letters_at(const tri_cpu_letters *l, const group *g, int lane) {
  return l->sequences.codes + l->sequences.starts[column_at(g, lane)];
}

static void put(const tri_letters_block *b, int row, int64_t column, int64_t value) {
  const int64_t at = row * b->out_ld + column;
  if (b->wide)
    ((double *)b->out)[at] = (double)value;
  else
    ((float *)b->out)[at] = (float)value;
}

/* ---- edit distances */

void tri_edit_put(tri_edit_patterns *p, int lane, const uint8_t *letters, int64_t n) {
  for (int64_t k = 0; k < n; k++)
    p->equal[(letters[k] * p->words + k / WORD) * TRI_EDIT_LANES + lane] |= UINT64_C(1) << k % WORD;
}

static void load_edit(const tri_cpu_letters *l, const group *g, tri_edit_patterns *p) {
  p->words = words_of(length_at(g, g->n - 1));
  memset(p->equal, 0, (size_t)(l->p->codes * p->words * TRI_EDIT_LANES) * sizeof *p->equal);
  for (int lane = 0; lane < TRI_EDIT_LANES; lane++) {
    p->lengths[lane] = length_at(g, lane);
    if (lane < g->n) tri_edit_put(p, lane, letters_at(l, g, lane), p->lengths[lane]);
  }
}

static void fill_edit(const tri_cpu_letters *l, tri_letters_thread *thread,
                      const tri_letters_block *b, const group *g) {
  const tri_sequences *s = &l->sequences;
  int64_t out[TRI_EDIT_LANES];
  load_edit(l, g, &thread->edit);
  for (int r = 0; r < b->rows; r++) {
    l->kernels->edit(&thread->edit, s->codes + s->starts[b->i + r],
                     tri_sequence_length(s, b->i + r), out);
    for (int lane = 0; lane < g->n; lane++) put(b, r, column_at(g, lane), out[lane]);
  }
}

/* ---- alignments */

/** The patterns' letters side by side; beyond the end of one, a letter more than there are. */
static void transpose(const tri_cpu_letters *l, const group *g, int lanes, tri_align_patterns *p) {
  p->m = length_at(g, g->n - 1);
  memset(p->letters, l->p->codes, (size_t)(p->m * lanes));
  for (int lane = 0; lane < lanes; lane++) {
    p->lengths[lane] = length_at(g, lane);
    const uint8_t *const from = lane < g->n ? letters_at(l, g, lane) : NULL;
    for (int64_t k = 0; k < p->lengths[lane]; k++) p->letters[k * lanes + lane] = from[k];
  }
}

static void load_profile(const tri_cpu_letters *l, bool narrow, int64_t n, tri_align_patterns *p) {
  const int codes = l->p->codes;
  for (int c = 0; c < codes; c++) {
    int32_t score[TRI_LETTERS_SCORED + 1];
    for (int x = 0; x <= codes; x++) score[x] = tri_letters_score(l, c, x);
    if (narrow)
      for (int64_t k = 0; k < n; k++)
        ((int16_t *)p->profile)[c * n + k] = (int16_t)score[p->letters[k]];
    else
      for (int64_t k = 0; k < n; k++) ((int32_t *)p->profile)[c * n + k] = score[p->letters[k]];
  }
}

static int lanes_of(tri_width width) {
  return TRI_LETTER_LANES >> width;
}

void tri_letters_numbers(const tri_params *p, tri_width width, int32_t *zero, int32_t *minus) {
  static const int32_t least[] = {INT8_MIN, TRI_NARROW_MINUS, INT32_MIN / 2};
  const bool bytes = width == TRI_8_BITS;
  *minus = least[width] + (bytes ? p->extend : 0);
  *zero = bytes && p->function == TRI_LOCAL ? *minus + p->open + p->extend : 0;
}

static void load_align(const tri_cpu_letters *l, const group *g, tri_width width,
                       tri_align_patterns *p) {
  tri_letters_numbers(l->p, width, &p->zero, &p->minus);
  transpose(l, g, lanes_of(width), p);
  if (width != TRI_8_BITS) load_profile(l, width == TRI_16_BITS, p->m * lanes_of(width), p);
}

/** A row with the patterns. */
static void run_align(const tri_cpu_letters *l, const tri_letters_block *b, int row,
                      tri_width width, const tri_align_patterns *p, int64_t *out) {
  const tri_sequences *s = &l->sequences;
  l->kernels->align[width](p, s->codes + s->starts[b->i + row], tri_sequence_length(s, b->i + row),
                           (tri_function)l->p->function, out);
}

static int64_t longest_row(const tri_sequences *s, const tri_letters_block *b) {
  int64_t longest = 0;
  for (int r = 0; r < b->rows; r++) longest = tsl_max(longest, tri_sequence_length(s, b->i + r));
  return longest;
}

/** Rows [row, end) with n columns, in 16 or 32 bits. */
static void fill_wide(const tri_cpu_letters *l, tri_letters_thread *thread,
                      const tri_letters_block *b, int row, int end, const int64_t *by_length,
                      int64_t n) {
  const int64_t longest = longest_row(&l->sequences, b), sign = l->p->similar ? -1 : 1;
  group g = {.by_length = by_length};
  int64_t out[TRI_LETTER_LANES];
  for (int64_t c = 0; c < n; c += g.n, g.by_length += g.n) {
    tri_width width = TRI_16_BITS;
    g.n = (int)tsl_min(lanes_of(width), n - c);
    if (!tri_is_narrow(length_at(&g, g.n - 1), longest, l->p)) width = TRI_32_BITS;
    g.n = (int)tsl_min(lanes_of(width), g.n);
    load_align(l, &g, width, &thread->align);
    for (int r = row; r < end; r++) {
      run_align(l, b, r, width, &thread->align, out);
      for (int lane = 0; lane < g.n; lane++) put(b, r, column_at(&g, lane), sign * out[lane]);
    }
  }
}

/** A group in 8 bits. @param[in,out] again  [rows] pairs of each row to be done again */
static void fill_bytes(const tri_cpu_letters *l, tri_letters_thread *thread,
                       const tri_letters_block *b, const group *g, int64_t *again) {
  const bool local = l->p->function == TRI_LOCAL;
  const int64_t sign = l->p->similar ? -1 : 1;
  int64_t out[TRI_LETTER_LANES];
  load_align(l, g, TRI_8_BITS, &thread->align);
  for (int r = 0; r < b->rows; r++) {
    const int64_t before = again[r], most = INT8_MAX - thread->align.zero;
    run_align(l, b, r, TRI_8_BITS, &thread->align, out);
    thread->done[0] += g->n;
    for (int lane = 0; lane < g->n; lane++)
      if (local && out[lane] >= most)
        thread->again[r * TRI_LETTER_LANES + again[r]++] = g->by_length[lane];
      else
        put(b, r, column_at(g, lane), sign * out[lane]);
    if ((again[r] - before) * FEW <= g->n) continue;
    fill_wide(l, thread, b, r + 1, b->rows, g->by_length, g->n);
    break;
  }
}

static void fill_scored(const tri_cpu_letters *l, tri_letters_thread *thread,
                        const tri_letters_block *b) {
  const group g = {.by_length = b->columns, .n = (int)b->n};
  int64_t again[TRI_LETTER_ROWS] = {0};
  const bool bytes = l->bytes && (l->p->function == TRI_LOCAL ||
                                  tri_table_fits(length_at(&g, g.n - 1),
                                                 longest_row(&l->sequences, b), l->p, INT8_MAX));
  if (bytes)
    fill_bytes(l, thread, b, &g, again);
  else
    fill_wide(l, thread, b, 0, b->rows, g.by_length, g.n);
  for (int r = 0; r < b->rows; r++) {
    thread->done[1] += again[r];
    fill_wide(l, thread, b, r, r + 1, thread->again + r * TRI_LETTER_LANES, again[r]);
  }
}

/* ---- blocks */

static void fill_extensions(const tri_cpu_letters *l, tri_letters_thread *thread,
                            const tri_letters_block *b) {
  const group g = {.by_length = b->columns, .n = (int)b->n};
  const int64_t sign = l->p->similar ? -1 : 1;
  for (int r = 0; r < b->rows; r++)
    for (int c = 0; c < g.n; c++) {
      const int64_t column = column_at(&g, c);
      put(b, r, column, sign * tri_extend(thread->extender, b->i + r, column));
    }
}

/** A block of one row whose pairs go one at a time? */
static bool is_alone(const tri_cpu_letters *l, const tri_letters_block *b) {
  const group g = {.by_length = b->columns, .n = (int)b->n};
  const int64_t rows = tri_sequence_length(&l->sequences, b->i);
  double letters = 0;
  for (int k = 0; k < g.n; k++) letters += (double)length_at(&g, k);
  return b->rows == 1 &&
         tri_single_is_faster(l->single, rows, length_at(&g, g.n - 1), (double)rows * letters);
}

static tsl_err fill_alone(const tri_cpu_letters *l, const tri_letters_block *b) {
  tsl_err err = TSL_OK;
  const group g = {.by_length = b->columns, .n = (int)b->n};
  for (int k = 0; k < g.n; k++) {
    int64_t score = 0;
    TSL_TRY(tri_single_score(l->single, b->i, column_at(&g, k), 1, &score));
    put(b, 0, column_at(&g, k), l->p->similar ? -score : score);
  }
done:
  return err;
}

tsl_err tri_letters_fill(const tri_cpu_letters *l, tri_letters_thread *thread,
                         const tri_letters_block *b) {
  group g = {.by_length = b->columns};
  if (is_alone(l, b)) return fill_alone(l, b);
  if (l->extends)
    fill_extensions(l, thread, b);
  else if (tri_is_scored(l->p))
    fill_scored(l, thread, b);
  else
    for (int64_t c = 0; c < b->n; c += g.n, g.by_length += g.n) {
      g.n = (int)tsl_min(TRI_EDIT_LANES, b->n - c);
      fill_edit(l, thread, b, &g);
    }
  return TSL_OK;
}
