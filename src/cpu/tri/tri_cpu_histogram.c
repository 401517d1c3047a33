/**
 * @file tri_cpu_histogram.c
 * histogram: bins of a block are computed by vectors, then counted one by one in several copies
 * of 32-bit counts, so that equal neighbours do not wait for each other.
 */
#include "tri_cpu.h"

#include <string.h>

/** Add the 32-bit counts to the 64-bit ones and zero them. */
static void flush(const tsl_worker *w, tri_thread *t) {
  for (int c = 0; c < w->copies; c++)
    for (int64_t b = 0; b < w->bins_room; b++) t->counts[b] += t->bins[c * w->bins_room + b];
  memset(t->bins, 0, (size_t)(w->copies * w->bins_room) * sizeof *t->bins);
  t->counted = 0;
}

static void count_any(const int32_t *bin, int64_t n, uint32_t *counts, int64_t room, int copies) {
  for (int64_t k = 0; k < n; k++) counts[(k & (copies - 1)) * room + bin[k]]++;
}

static tsl_err histogram_take(tsl_worker *w, tri_thread *thread, tri_job *job, const tri_row *row) {
  (void)job;
  const tri_params *p = w->p;
  const int64_t n = row->hi - row->lo;
  if (thread->counted + n > UINT32_MAX) flush(w, thread);
  thread->counted += n;
  w->kernels->bin[w->t](row->values, n, p->range_lo, p->range_hi,
                        p->bins / (p->range_hi - p->range_lo), p->bins, thread->places);
  if (w->copies == 8)
    tri_count_8(thread->places, n, thread->bins, w->bins_room);
  else
    count_any(thread->places, n, thread->bins, w->bins_room, w->copies);
  return TSL_OK;
}

tsl_err tri_run_histogram(tsl_worker *w, const tsl_unit *unit, tsl_part *part) {
  tri_job job = {.unit = unit, .part = part, .split = true, .take = histogram_take};
  return tri_walk(w, &job);
}

void tri_histogram_zero(tsl_worker *w) {
  for (int k = 0; k < w->threads; k++) {
    tri_thread *t = &w->thread[k];
    flush(w, t);
    memset(t->counts, 0, (size_t)w->bins_room * sizeof *t->counts);
  }
}

void tri_histogram_total(tsl_worker *w, uint64_t *total) {
  memset(total, 0, (size_t)w->p->bins * sizeof *total);
  for (int k = 0; k < w->threads; k++) {
    flush(w, &w->thread[k]);
    for (int b = 0; b < w->p->bins; b++) total[b] += w->thread[k].counts[b + 1];
  }
}
