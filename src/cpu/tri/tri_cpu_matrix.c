/** @file tri_cpu_matrix.c  Values of sequences, some rows with all their columns at once. Columns
 *  of like lengths go together wherever they stand, and the longest first, so that no thread is at
 *  work when all others have ended. */
#include "integers.h"
#include "tri_cpu.h"

#include <math.h>
#include <omp.h>

enum {
  ROOM = 1 << 24,      /* bytes of values */
  BLOCK_LETTERS = 2048 /* of a block's rows: longer ones are worth preparing columns for alone */
};

/** Some rows, and columns that any of them has, in the order of their lengths. */
typedef struct row_block {
  int64_t lo, hi;
  int64_t n, *columns; /**< [n] of tri_cpu_letters.by_length */
} row_block;

int64_t tri_matrix_end(const tsl_worker *w, int64_t lo, int64_t hi) {
  const int64_t rows = ROOM / w->value_bytes / tsl_max(1, tri_columns_of(w->p));
  return tsl_min(hi, lo + tsl_max(rows, TRI_LETTER_ROWS));
}

/** Blocks of rows [lo, hi). @return their number */
static int64_t cut_rows(const tsl_worker *w, int64_t lo, int64_t hi, row_block *blocks) {
  int64_t n = 0, letters = 0;
  for (int64_t i = lo; i < hi; i++) {
    if (n == 0 || i - blocks[n - 1].lo == TRI_LETTER_ROWS || letters >= BLOCK_LETTERS)
      blocks[n++].lo = i, letters = 0;
    blocks[n - 1].hi = i + 1;
    letters += tri_sequence_length(&w->letters.sequences, w->p->first + i);
  }
  return n;
}

static void pick_columns(const tsl_worker *w, row_block *b) {
  int64_t first, end, unused;
  tri_row_span(w->p, b->lo, &first, &unused);
  tri_row_span(w->p, b->hi - 1, &unused, &end);
  b->n = 0;
  for (int64_t k = 0; k < w->p->n_pad; k++) {
    const int64_t place = w->letters.by_length[k] & UINT32_MAX;
    if (place >= first && place < end) b->columns[b->n++] = w->letters.by_length[k];
  }
}

/** The group of a block's columns that has `before` longer ones. */
static tsl_err fill_group(tsl_worker *w, const row_block *b, int64_t before) {
  const tri_matrix *m = &w->matrix;
  const int64_t last = b->n - before * TRI_LETTER_LANES;
  const int64_t from = tsl_max(0, last - TRI_LETTER_LANES);
  const int64_t at = (b->lo - m->lo) * m->ld - m->first;
  if (last <= 0) return TSL_OK;
  return tri_letters_fill(&w->letters, w->thread[omp_get_thread_num()].letters,
                          &(tri_letters_block){.i = w->p->first + b->lo,
                                               .rows = (int)(b->hi - b->lo),
                                               .columns = b->columns + from,
                                               .n = last - from,
                                               .out = (char *)m->values + at * w->value_bytes,
                                               .out_ld = m->ld,
                                               .wide = w->t != 0});
}

tsl_err tri_matrix_fill(tsl_worker *w, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  tri_matrix *const m = &w->matrix;
  row_block *blocks = NULL;
  int64_t *columns = NULL, unused, end, first;
  tri_failure failure = {.code = TSL_OK};
  tri_row_span(w->p, lo, &m->first, &unused);
  tri_row_span(w->p, hi - 1, &first, &end);
  m->first = tsl_min(m->first, first);
  m->lo = lo, m->ld = tsl_max(0, end - m->first);
  TSL_TRY(tsl_grow(&m->values, 0, (hi - lo) * m->ld, &m->room, (size_t)w->value_bytes,
                   "values of sequences"));
  TSL_TRY(tsl_alloc(hi - lo, sizeof *blocks, "blocks of rows", (void **)&blocks));
  const int64_t n = cut_rows(w, lo, hi, blocks), groups = tsl_divide_up(m->ld, TRI_LETTER_LANES);
  TSL_TRY(tsl_alloc(n * m->ld, sizeof *columns, "order of columns", (void **)&columns));
#pragma omp parallel num_threads(w->threads)
  {
#pragma omp for schedule(static)
    for (int64_t b = 0; b < n; b++) {
      blocks[b].columns = columns + b * m->ld;
      pick_columns(w, &blocks[b]);
    }
#pragma omp for schedule(dynamic, 1)
    for (int64_t k = 0; k < groups * n; k++) {
      const tsl_err failed =
          tri_failure_is(&failure) ? TSL_OK : fill_group(w, &blocks[k % n], k / n);
      if (failed != TSL_OK) tri_failure_note(&failure, failed);
    }
  }
  TSL_TRY(tri_failure_take(&failure));
done:
  TSL_FREE_ALL(blocks, columns);
  return err;
}

int64_t tri_matrix_units(const tsl_worker *w, const tsl_unit *unit) {
  const double letters = (double)w->p->longest;
  const double longest =
      tri_letters_work(w->p, letters, letters * TRI_LETTER_LANES, TRI_LETTER_LANES, false);
  return 1 + (int64_t)((w->threads - 1) * longest / fmax(unit->count, 1));
}

void tri_matrix_clear(tri_matrix *m) {
  tsl_free(m->values);
  *m = (tri_matrix){.values = NULL};
}
