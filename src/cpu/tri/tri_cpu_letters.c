/** @file tri_cpu_letters.c  Pairs of sequences: columns of like lengths are patterns together. */
#include "tri_cpu_letters.h"

#include "cpu.h"
#include "integers.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 64 };

static int64_t words_of(int64_t letters) {
  return (letters + WORD - 1) / WORD;
}

tsl_err tri_cpu_letters_open(const tsl_problem *problem, tri_cpu_letters *l) {
  tsl_err err = TSL_OK;
  int level = 0;
  *l = (tri_cpu_letters){.p = tri_params_of(problem)};
  if (!tri_of_letters(l->p)) goto done;
  TSL_TRY(tsl_cpu_level_use(&level));
  l->kernels = tri_letter_kernels_at(level);
  l->sequences = tri_sequences_of(problem);
  l->scores = problem->fields[TRI_SCORES].data;
done:
  return err;
}

static tsl_err create_edit(const tri_params *params, tri_edit_patterns *p) {
  tsl_err err = TSL_OK;
  const int64_t words = words_of(params->longest) * TRI_EDIT_LANES;
  TSL_TRY(
      tsl_alloc(params->codes * words, sizeof *p->equal, "bits of letters", (void **)&p->equal));
  TSL_TRY(tsl_alloc(2 * words, sizeof *p->state, "columns", (void **)&p->state));
  TSL_TRY(tsl_alloc(2 * words, sizeof *p->room, "columns", (void **)&p->room));
done:
  return err;
}

static tsl_err create_align(const tri_params *params, tri_align_patterns *p) {
  tsl_err err = TSL_OK;
  p->open = params->open;
  p->extend = params->extend;
  TSL_TRY(tsl_alloc(params->codes * params->longest, TRI_LETTER_LINE, "scores", &p->profile));
  TSL_TRY(tsl_alloc(params->longest, TRI_LETTER_LANES, "letters", (void **)&p->letters));
  TSL_TRY(tsl_alloc(params->longest, TRI_LETTER_LINE, "columns", &p->g));
  TSL_TRY(tsl_alloc(params->longest, TRI_LETTER_LINE, "columns", &p->e));
done:
  return err;
}

tsl_err tri_letters_thread_create(const tri_cpu_letters *l, int64_t columns,
                                  tri_letters_thread **thread) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(1, sizeof **thread, "thread", (void **)thread));
  tri_letters_thread *const t = *thread;
  TSL_TRY(tri_is_scored(l->p) ? create_align(l->p, &t->align) : create_edit(l->p, &t->edit));
  TSL_TRY(tsl_alloc(columns, sizeof *t->by_length, "order of columns", (void **)&t->by_length));
done:
  return err;
}

void tri_letters_thread_clear(tri_letters_thread **thread) {
  tri_letters_thread *const t = *thread;
  if (t == NULL) return;
  TSL_FREE_ALL(t->edit.equal, t->edit.state, t->edit.room, t->align.profile, t->align.letters,
               t->align.g, t->align.e, t->by_length, t);
  *thread = NULL;
}

static int ascending(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/** Columns in the order of their lengths; TRI_MAX_N and the longest sequence fit 31 bits. */
static void sort_columns(const tri_sequences *s, const tri_letters_block *b, int64_t *by_length) {
  bool sorted = true;
  for (int64_t c = 0; c < b->n; c++) {
    by_length[c] = tri_sequence_length(s, b->j + c) << 32 | c;
    sorted = sorted && (c == 0 || by_length[c - 1] < by_length[c]);
  }
  if (!sorted) qsort(by_length, (size_t)b->n, sizeof *by_length, ascending);
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

static const uint8_t *letters_at(const tri_cpu_letters *l, const tri_letters_block *b,
                                 const group *g, int lane) {
  return l->sequences.codes + l->sequences.starts[b->j + column_at(g, lane)];
}

static void put(const tri_letters_block *b, int row, int64_t column, int64_t value) {
  const int64_t at = row * b->out_ld + column;
  if (b->wide)
    ((double *)b->out)[at] = (double)value;
  else
    ((float *)b->out)[at] = (float)value;
}

/* ---- edit distances */

static void load_edit(const tri_cpu_letters *l, const tri_letters_block *b, const group *g,
                      tri_edit_patterns *p) {
  p->words = words_of(length_at(g, g->n - 1));
  memset(p->equal, 0, (size_t)(l->p->codes * p->words * TRI_EDIT_LANES) * sizeof *p->equal);
  for (int lane = 0; lane < TRI_EDIT_LANES; lane++) {
    p->lengths[lane] = length_at(g, lane);
    for (int64_t k = 0; k < p->lengths[lane]; k++) {
      const int64_t letter = letters_at(l, b, g, lane)[k];
      p->equal[(letter * p->words + k / WORD) * TRI_EDIT_LANES + lane] |= UINT64_C(1) << k % WORD;
    }
  }
}

static void fill_edit(const tri_cpu_letters *l, tri_letters_thread *thread,
                      const tri_letters_block *b, const group *g) {
  const tri_sequences *s = &l->sequences;
  int64_t out[TRI_EDIT_LANES];
  load_edit(l, b, g, &thread->edit);
  for (int r = 0; r < b->rows; r++) {
    l->kernels->edit(&thread->edit, s->codes + s->starts[b->i + r],
                     tri_sequence_length(s, b->i + r), out);
    for (int lane = 0; lane < g->n; lane++) put(b, r, column_at(g, lane), out[lane]);
  }
}

/* ---- alignments */

/** The patterns' letters side by side; beyond the end of one, a letter more than there are. */
static void transpose(const tri_cpu_letters *l, const tri_letters_block *b, const group *g,
                      int lanes, tri_align_patterns *p) {
  p->m = length_at(g, g->n - 1);
  memset(p->letters, l->p->codes, (size_t)(p->m * lanes));
  for (int lane = 0; lane < lanes; lane++) {
    p->lengths[lane] = length_at(g, lane);
    const uint8_t *const from = lane < g->n ? letters_at(l, b, g, lane) : NULL;
    for (int64_t k = 0; k < p->lengths[lane]; k++) p->letters[k * lanes + lane] = from[k];
  }
}

/** Beyond a pattern's end no score is above 0: nothing better comes from there. */
static void load_align(const tri_cpu_letters *l, const tri_letters_block *b, const group *g,
                       bool narrow, tri_align_patterns *p) {
  const int lanes = narrow ? TRI_LETTER_LANES : TRI_LETTER_LANES / 2;
  const int codes = l->p->codes;
  transpose(l, b, g, lanes, p);
  const int64_t n = p->m * lanes;
  for (int c = 0; c < codes; c++) {
    int32_t score[TRI_LETTERS_SCORED + 1];
    for (int x = 0; x <= codes; x++)
      score[x] =
          (x < codes ? l->scores[c * codes + x] : tsl_min(l->p->least, 0)) + p->open + p->extend;
    if (narrow)
      for (int64_t k = 0; k < n; k++)
        ((int16_t *)p->profile)[c * n + k] = (int16_t)score[p->letters[k]];
    else
      for (int64_t k = 0; k < n; k++) ((int32_t *)p->profile)[c * n + k] = score[p->letters[k]];
  }
}

static void fill_align(const tri_cpu_letters *l, tri_letters_thread *thread,
                       const tri_letters_block *b, const group *g, bool narrow) {
  const tri_sequences *s = &l->sequences;
  const bool local = l->p->function == TRI_LOCAL;
  const int64_t sign = l->p->similar ? -1 : 1;
  int64_t out[TRI_LETTER_LANES];
  load_align(l, b, g, narrow, &thread->align);
  for (int r = 0; r < b->rows; r++) {
    l->kernels->align[!narrow](&thread->align, s->codes + s->starts[b->i + r],
                               tri_sequence_length(s, b->i + r), local, out);
    for (int lane = 0; lane < g->n; lane++) put(b, r, column_at(g, lane), sign * out[lane]);
  }
}

/* ---- blocks */

static int64_t longest_row(const tri_sequences *s, const tri_letters_block *b) {
  int64_t longest = 0;
  for (int r = 0; r < b->rows; r++) longest = tsl_max(longest, tri_sequence_length(s, b->i + r));
  return longest;
}

void tri_letters_fill(const tri_cpu_letters *l, tri_letters_thread *thread,
                      const tri_letters_block *b) {
  const bool scored = tri_is_scored(l->p);
  const int64_t longest = longest_row(&l->sequences, b);
  group g = {.by_length = thread->by_length};
  sort_columns(&l->sequences, b, thread->by_length);
  for (int64_t c = 0; c < b->n; c += g.n, g.by_length += g.n) {
    const int most = scored ? TRI_LETTER_LANES : TRI_EDIT_LANES;
    g.n = (int)tsl_min(most, b->n - c);
    const bool narrow = tri_is_narrow(length_at(&g, g.n - 1), longest, l->p);
    if (scored && !narrow) g.n = (int)tsl_min(g.n, TRI_LETTER_LANES / 2);
    if (scored)
      fill_align(l, thread, b, &g, narrow);
    else
      fill_edit(l, thread, b, &g);
  }
}
