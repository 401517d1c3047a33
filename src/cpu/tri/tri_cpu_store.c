/** @file tri_cpu_store.c  condensed and square: values go to the unit's slab. */
#include "tri_cpu.h"

#include <string.h>

/** Where in the slab the value (i, j) goes. */
static char *tri_cpu_store_place(const tsl_worker *w, const tri_job *job, int64_t i, int64_t j) {
  const int64_t first = job->unit->lo[0];
  const int64_t at =
      w->p->two ? (i - first) * w->p->columns + j
      : w->p->output == TRI_SQUARE
          ? (i - first) * job->unit->hi[0] + j
          : tri_condensed_row(w->p->n, i) - tri_condensed_row(w->p->n, first) + (j - i - 1);
  return (char *)job->part->slab[TRI_OUT] + at * w->value_bytes;
}

static void tri_cpu_store_put(const tsl_worker *w, const tri_job *job, char *to, const void *from,
                              int64_t n) {
  if (job->past_caches)
    w->kernels->stream(to, from, n * w->value_bytes);
  else
    memcpy(to, from, (size_t)(n * w->value_bytes));
}

/** Columns from j to the next one of row i that starts a cache line of the slab. */
static int64_t to_line(const tsl_worker *w, const tri_job *job, int64_t i, int64_t j) {
  const uintptr_t at = (uintptr_t)tri_cpu_store_place(w, job, i, j);
  return (int64_t)(-at % 64) / w->value_bytes;
}

/**
 * Move the block boundaries of this row to cache lines: streaming stores are fast for whole
 * lines only. The same boundary is computed by the block before and the block after it.
 */
static void cut_at_lines(const tsl_worker *w, const tri_job *job, tri_row *row) {
  int64_t lo = row->lo;
  const int64_t hi = row->j1 + to_line(w, job, row->i, row->j1);
  if (row->j0 != INT64_MIN) lo = row->j0 + to_line(w, job, row->i, row->j0);
  if (hi < row->hi) row->hi = hi;
  if (lo <= row->lo) return;
  row->values = (const char *)row->values + (lo - row->lo) * w->value_bytes;
  row->lo = lo;
}

/**
 * Compute columns [lo, hi) of row i in short runs and stream each: the stores drain while the
 * next run is computed. Runs start at cache lines, but for the first.
 */
static void put_computed(const tsl_worker *w, tri_thread *thread, const tri_row *row, char *to) {
  char *const values = thread->values;
  enum { RUN_BYTES = 2048 };
  int64_t run = (int64_t)(-(uintptr_t)to % 64) / w->value_bytes;
  if (run == 0) run = RUN_BYTES / w->value_bytes;
  for (int64_t j = row->lo; j < row->hi; run = RUN_BYTES / w->value_bytes) {
    const int64_t n = run < row->hi - j ? run : row->hi - j;
    tri_values(w, w->p->first + row->i, 1, j, n, values, w->row_stride);
    w->kernels->stream(to, values, n * w->value_bytes);
    j += n;
    to += n * w->value_bytes;
  }
}

static tsl_err store_take(tsl_worker *w, tri_thread *thread, tri_job *job, const tri_row *whole) {
  tri_row row = *whole;
  if (job->overlap > 0) cut_at_lines(w, job, &row);
  if (row.lo >= row.hi) return TSL_OK;
  char *const to = tri_cpu_store_place(w, job, row.i, row.lo);
  if (job->direct)
    put_computed(w, thread, &row, to);
  else
    tri_cpu_store_put(w, job, to, row.values, row.hi - row.lo);
  if (w->p->output != TRI_SQUARE || row.hi != row.i + 1) return TSL_OK;
  /* the diagonal is exactly 0 (of spheres what the formula gives), above it are zeros */
  const int64_t zeros = job->unit->hi[0] - row.i - 1, own = !w->p->keeps_diagonal;
  memset(tri_cpu_store_place(w, job, row.i, row.i + 1 - own), 0,
         (size_t)((zeros + own) * w->value_bytes));
  return TSL_OK;
}

tsl_err tri_run_store(tsl_worker *w, const tsl_unit *unit, tsl_part *part) {
  const bool square = w->p->output == TRI_SQUARE;
  const int64_t rows = unit->hi[0] - unit->lo[0];
  const int64_t values =
      w->p->two ? rows * w->p->columns
      : square  ? rows * unit->hi[0]
                : tri_condensed_row(w->p->n, unit->hi[0]) - tri_condensed_row(w->p->n, unit->lo[0]);
  tri_job job = {.unit = unit,
                 .part = part,
                 .split = true,
                 .past_caches = values * w->value_bytes > w->cache_bytes,
                 .take = store_take};
  if (job.past_caches && !w->blas) job.overlap = TRI_LAP;
  job.direct = job.overlap > 0 && w->p->d <= 4 && !tri_of_letters(w->p);
  return tri_walk(w, &job);
}
