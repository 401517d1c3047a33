/** @file tri_cpu_letters.c  Pairs of sequences: columns of like lengths go together, as patterns. */
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
  const tri_params *p = tri_params_of(problem);
  int level = 0;
  *l = (tri_cpu_letters){.longest = p->longest, .codes = p->codes};
  if (!tri_of_letters(p)) goto done;
  TSL_TRY(tsl_cpu_level_use(&level));
  l->kernels = tri_edit_kernels_at(level);
  l->sequences = tri_sequences_of(problem);
done:
  return err;
}

tsl_err tri_letters_thread_create(const tri_cpu_letters *l, int64_t columns,
                                  tri_letters_thread **thread) {
  tsl_err err = TSL_OK;
  const int64_t words = words_of(l->longest) * TRI_EDIT_LANES;
  TSL_TRY(tsl_alloc(1, sizeof **thread, "thread", (void **)thread));
  tri_edit_patterns *const p = &(*thread)->patterns;
  TSL_TRY(tsl_alloc(l->codes * words, sizeof *p->equal, "bits of letters", (void **)&p->equal));
  TSL_TRY(tsl_alloc(2 * words, sizeof *p->state, "columns", (void **)&p->state));
  TSL_TRY(tsl_alloc(2 * words, sizeof *p->room, "columns", (void **)&p->room));
  TSL_TRY(tsl_alloc(columns, sizeof *(*thread)->by_length, "order of columns",
                    (void **)&(*thread)->by_length));
done:
  return err;
}

void tri_letters_thread_clear(tri_letters_thread **thread) {
  tri_letters_thread *const t = *thread;
  if (t == NULL) return;
  TSL_FREE_ALL(t->patterns.equal, t->patterns.state, t->patterns.room, t->by_length, t);
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

/** The next columns become patterns; the last of them is the longest. */
static void load_patterns(const tri_cpu_letters *l, const tri_letters_block *b,
                          const int64_t *by_length, int lanes, tri_edit_patterns *p) {
  const tri_sequences *s = &l->sequences;
  p->words = words_of(by_length[lanes - 1] >> 32);
  memset(p->equal, 0, (size_t)(l->codes * p->words * TRI_EDIT_LANES) * sizeof *p->equal);
  for (int lane = 0; lane < TRI_EDIT_LANES; lane++) {
    p->lengths[lane] = lane < lanes ? by_length[lane] >> 32 : 0;
    const uint8_t *const letters =
        lane < lanes ? s->codes + s->starts[b->j + (by_length[lane] & UINT32_MAX)] : NULL;
    for (int64_t k = 0; k < p->lengths[lane]; k++)
      p->equal[(letters[k] * p->words + k / WORD) * TRI_EDIT_LANES + lane] |= UINT64_C(1)
                                                                              << k % WORD;
  }
}

static void put(const tri_letters_block *b, int row, int64_t column, int64_t value) {
  const int64_t at = row * b->out_ld + column;
  if (b->wide)
    ((double *)b->out)[at] = (double)value;
  else
    ((float *)b->out)[at] = (float)value;
}

void tri_letters_fill(const tri_cpu_letters *l, tri_letters_thread *thread,
                      const tri_letters_block *b) {
  const tri_sequences *s = &l->sequences;
  int64_t distance[TRI_EDIT_LANES];
  sort_columns(s, b, thread->by_length);
  for (int64_t c = 0; c < b->n; c += TRI_EDIT_LANES) {
    const int64_t *const columns = thread->by_length + c;
    const int lanes = (int)tsl_min(TRI_EDIT_LANES, b->n - c);
    load_patterns(l, b, columns, lanes, &thread->patterns);
    for (int r = 0; r < b->rows; r++) {
      const int64_t row = b->i + r;
      l->kernels->distances(&thread->patterns, s->codes + s->starts[row],
                            tri_sequence_length(s, row), distance);
      for (int lane = 0; lane < lanes; lane++)
        put(b, r, columns[lane] & UINT32_MAX, distance[lane]);
    }
  }
}
