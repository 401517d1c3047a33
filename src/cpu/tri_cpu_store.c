/** @file tri_cpu_store.c  condensed and square: values go to the unit's slab. */
#include "tri_cpu.h"

#include <string.h>

/** Where in the slab the value (i, j) goes. */
static char *place(const tsl_worker *w, const tri_job *job, int64_t i, int64_t j) {
  const int64_t first = job->unit->lo[0];
  const int64_t at =
      w->p->output == TRI_SQUARE
          ? (i - first) * job->unit->hi[0] + j
          : tri_condensed_row(w->p->n, i) - tri_condensed_row(w->p->n, first) + (j - i - 1);
  return (char *)job->part->slab[TRI_OUT] + at * w->value_bytes;
}

static void put(const tsl_worker *w, const tri_job *job, char *to, const void *from, int64_t n) {
  if (job->past_caches)
    w->kernels->stream(to, from, n * w->value_bytes);
  else
    memcpy(to, from, (size_t)(n * w->value_bytes));
}

static tsl_err store_take(tsl_worker *w, tri_thread *thread, tri_job *job, const tri_row *row) {
  (void)thread;
  char *const to = place(w, job, row->i, row->lo);
  put(w, job, to, row->values, row->hi - row->lo);
  if (w->p->output != TRI_SQUARE || row->i < row->lo || row->i >= row->hi) return TSL_OK;
  /* the diagonal is exactly 0; of overlap it is -2 r, as the formula gives */
  if (w->p->function != TRI_OVERLAP)
    memset(to + (row->i - row->lo) * w->value_bytes, 0, (size_t)w->value_bytes);
  return TSL_OK;
}

/** Square: zeros above the diagonal, by the thread that has the last columns of the row. */
static tsl_err square_take(tsl_worker *w, tri_thread *thread, tri_job *job, const tri_row *row) {
  const tsl_err err = store_take(w, thread, job, row);
  const int64_t zeros = job->unit->hi[0] - row->i - 1;
  if (row->hi == row->i + 1)
    memset(place(w, job, row->i, row->i + 1), 0, (size_t)(zeros * w->value_bytes));
  return err;
}

tsl_err tri_run_store(tsl_worker *w, const tsl_unit *unit, tsl_part *part) {
  const bool square = w->p->output == TRI_SQUARE;
  const int64_t rows = unit->hi[0] - unit->lo[0];
  const int64_t values =
      square ? rows * unit->hi[0]
             : tri_condensed_row(w->p->n, unit->hi[0]) - tri_condensed_row(w->p->n, unit->lo[0]);
  tri_job job = {.unit = unit,
                 .part = part,
                 .split = true,
                 .past_caches = values * w->value_bytes > w->cache_bytes,
                 .take = square ? square_take : store_take};
  return tri_walk(w, &job);
}
