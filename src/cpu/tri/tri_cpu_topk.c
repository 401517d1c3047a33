/** @file tri_cpu_topk.c  topk: the k nearest of each row by (value, j), kept in a heap. */
#include "tri_cpu.h"

#include <math.h>

static bool before(tri_near a, tri_near b) {
  return a.value < b.value || (a.value == b.value && a.j < b.j);
}

/** Restore the heap (the last by (value, j) on top) below place at. */
static void sift_down(tri_near *heap, int64_t n, int64_t at) {
  const tri_near item = heap[at];
  for (int64_t child; (child = 2 * at + 1) < n; at = child) {
    if (child + 1 < n && before(heap[child], heap[child + 1])) child++;
    if (!before(item, heap[child])) break;
    heap[at] = heap[child];
  }
  heap[at] = item;
}

static void sift_up(tri_near *heap, int64_t at) {
  const tri_near item = heap[at];
  for (int64_t parent; at > 0 && before(heap[parent = (at - 1) / 2], item); at = parent)
    heap[at] = heap[parent];
  heap[at] = item;
}

/** Keep item if it is among the k first. */
static void heap_offer(tri_near *heap, int64_t *n, int64_t k, tri_near item) {
  if (*n < k) {
    heap[*n] = item;
    sift_up(heap, (*n)++);
  } else if (before(item, heap[0])) {
    heap[0] = item;
    sift_down(heap, k, 0);
  }
}

/** Turn the heap into ascending order. */
static void heap_sort(tri_near *heap, int64_t n) {
  for (int64_t end = n - 1; end > 0; end--) {
    const tri_near last = heap[0];
    heap[0] = heap[end];
    heap[end] = last;
    sift_down(heap, end, 0);
  }
}

void tri_topk_start(tsl_worker *w, tri_thread *thread, int64_t rows) {
  (void)w;
  for (int64_t r = 0; r < rows; r++) thread->heap_n[r] = 0;
}

double tri_first_cut(const tsl_worker *w, int64_t row) {
  const void *bound = w->graph.bound;
  if (w->p->output == TRI_DBSCAN) return w->cut;
  if (w->p->output != TRI_LINKAGE) return INFINITY;
  return tsl_real_get(w->p->type, bound, row);
}

/** May the point at place c be among the nearest? linkage: it is of another component. */
static bool wanted(const tsl_worker *w, const tri_row *row, int64_t c, int64_t j) {
  const int32_t *component = w->graph.component;
  if (j == row->self) return false;
  return w->p->output != TRI_LINKAGE || component[tri_column_place(row, c)] != component[row->i];
}

tsl_err tri_topk_take(tsl_worker *w, tri_thread *thread, tri_job *job, const tri_row *row) {
  (void)job;
  const int64_t k = w->p->k, n = row->hi - row->lo;
  tri_near *const heap = thread->heap + row->slot * k;
  int64_t *const heap_n = &thread->heap_n[row->slot];
  int64_t c = 0;
  const double first_cut = thread->cuts[row->slot];
  if (k == 0) return TSL_OK;
  for (; c < n && *heap_n < k && first_cut == INFINITY; c++) {
    const int64_t j = tri_column(w, row, c);
    if (wanted(w, row, c, j))
      heap_offer(heap, heap_n, k, (tri_near){tsl_real_get(w->p->type, row->values, c), j});
  }
  if (c == n) return TSL_OK;
  const double cut = *heap_n < k ? first_cut : heap[0].value;
  const char *const rest = (const char *)row->values + c * w->value_bytes;
  const int64_t found = w->kernels->select[w->t](rest, n - c, cut, thread->places);
  for (int64_t f = 0; f < found; f++) {
    const int64_t at = c + thread->places[f], j = tri_column(w, row, at);
    if (wanted(w, row, at, j))
      heap_offer(heap, heap_n, k, (tri_near){tsl_real_get(w->p->type, rest, thread->places[f]), j});
  }
  return TSL_OK;
}

static tsl_err topk_finish(tsl_worker *w, tri_thread *thread, tri_job *job, const tri_row *row) {
  const int64_t k = w->p->k, at = (row->i - job->unit->lo[0]) * k;
  tri_near *const heap = thread->heap + row->slot * k;
  heap_sort(heap, k);
  for (int64_t c = 0; c < k; c++) {
    ((int64_t *)job->part->slab[TRI_OUT])[at + c] = heap[c].j;
    tsl_real_put(w->p->type, job->part->slab[TRI_OUT_2], at + c, heap[c].value);
  }
  return TSL_OK;
}

tsl_err tri_run_topk(tsl_worker *w, const tsl_unit *unit, tsl_part *part) {
  tri_job job = {.unit = unit, .part = part};
  job.take = tri_topk_take, job.start = tri_topk_start, job.finish = topk_finish;
  return tri_walk(w, &job);
}
