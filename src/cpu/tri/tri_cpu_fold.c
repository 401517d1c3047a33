/** @file tri_cpu_fold.c  degree and maximum: a number or two of each row. */
#include "tri_cpu.h"

#include <math.h>

/* ----------------------------------------------------------------- degree */

static tsl_err degree_take(tsl_worker *w, tri_thread *thread, tri_job *job, const tri_row *row) {
  (void)job;
  const int64_t n =
      w->kernels->select[w->t](row->values, row->hi - row->lo, w->cut, thread->places);
  int64_t found = n;
  for (int64_t k = 0; k < n; k++)
    if (tri_column(w, row, thread->places[k]) == row->self) found--;
  thread->heap_n[row->slot] += found;
  return TSL_OK;
}

static tsl_err degree_finish(tsl_worker *w, tri_thread *thread, tri_job *job, const tri_row *row) {
  (void)w;
  int64_t *const degree = job->part->slab[TRI_OUT];
  degree[row->i - job->unit->lo[0]] = thread->heap_n[row->slot];
  return TSL_OK;
}

tsl_err tri_run_degree(tsl_worker *w, const tsl_unit *unit, tsl_part *part) {
  tri_job job = {.unit = unit, .part = part};
  job.take = degree_take, job.start = tri_topk_start, job.finish = degree_finish;
  return tri_walk(w, &job);
}

/* ---------------------------------------------------------------- maximum */

static void maximum_start(tsl_worker *w, tri_thread *thread, int64_t rows) {
  (void)w;
  for (int64_t r = 0; r < rows; r++) thread->heap[r] = (tri_near){-INFINITY, -1};
}

/** Columns come in ascending order, so that the first of equal values stays. */
#define LARGEST(R, name)                                                             \
  static void name(const R *v, int64_t n, const tri_row *row, tri_near *best) {      \
    R most = -(R)INFINITY;                                                           \
    _Pragma("omp simd reduction(max : most)") for (int64_t c = 0; c < n; c++) most = \
        v[c] > most && row->lo + c != row->self ? v[c] : most;                       \
    if (!((double)most > best->value)) return;                                       \
    for (int64_t c = 0; c < n; c++)                                                  \
      if (v[c] == most && row->lo + c != row->self) {                                \
        *best = (tri_near){(double)most, row->lo + c};                               \
        return;                                                                      \
      }                                                                              \
  }
LARGEST(float, largest_f32)
LARGEST(double, largest_f64)
#undef LARGEST

static tsl_err maximum_take(tsl_worker *w, tri_thread *thread, tri_job *job, const tri_row *row) {
  (void)job;
  if (w->t)
    largest_f64(row->values, row->hi - row->lo, row, &thread->heap[row->slot]);
  else
    largest_f32(row->values, row->hi - row->lo, row, &thread->heap[row->slot]);
  return TSL_OK;
}

static tsl_err maximum_finish(tsl_worker *w, tri_thread *thread, tri_job *job, const tri_row *row) {
  const int64_t at = row->i - job->unit->lo[0];
  const tri_near *best = &thread->heap[row->slot];
  ((int64_t *)job->part->slab[TRI_OUT])[at] = best->j;
  tsl_real_put(w->p->type, job->part->slab[TRI_OUT_2], at, best->value);
  return TSL_OK;
}

tsl_err tri_run_maximum(tsl_worker *w, const tsl_unit *unit, tsl_part *part) {
  tri_job job = {.unit = unit, .part = part};
  job.take = maximum_take, job.start = maximum_start, job.finish = maximum_finish;
  return tri_partners_of(w->p) > 0 ? tri_walk(w, &job) : TSL_OK;
}
