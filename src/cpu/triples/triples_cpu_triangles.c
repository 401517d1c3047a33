/* triangles: of each row the neighbours in the cells around it, then all pairs of them. */
#include "triples_cpu.h"

#include <omp.h>
#include <string.h>

enum { ROWS = 8 /* of a task */ };

static int64_t n_counts(const triples_params *p) {
  return (int64_t)p->bins * p->bins * p->bins;
}

tsl_err triples_triangles_create(tsl_worker *w) {
  tsl_err err = TSL_OK;
  const int64_t room = triples_most_around(w->p, w->cells);
  for (int t = 0; t < w->threads; t++) {
    triples_thread *thread = &w->thread[t];
    thread->list.room = room;
    TSL_TRY(
        tsl_alloc(3 * room, tsl_type_bytes((tsl_type)w->p->type), "neighbours", &thread->list.x));
    TSL_TRY(tsl_alloc(room, sizeof(int32_t), "neighbours", (void **)&thread->list.bin));
    TSL_TRY(tsl_alloc(n_counts(w->p) + 1, sizeof(uint64_t), "counts", (void **)&thread->counts));
  }
done:
  return err;
}

void triples_triangles_zero(tsl_worker *w) {
  for (int t = 0; t < w->threads; t++)
    memset(w->thread[t].counts, 0, (size_t)(n_counts(w->p) + 1) * sizeof(uint64_t));
}

void triples_triangles_total(const tsl_worker *w, uint64_t *total) {
  memset(total, 0, (size_t)n_counts(w->p) * sizeof *total);
  for (int t = 0; t < w->threads; t++)
    for (int64_t c = 0; c < n_counts(w->p); c++) total[c] += w->thread[t].counts[c];
}

/** Triangles whose corner that comes first is row i. */
static void count_row(tsl_worker *w, triples_thread *thread, int64_t i, const triples_around *a) {
  thread->list.n = 0;
  for (int m = 0; m < triples_around_count(a); m++) {
    const int64_t cell = triples_cell_around(w->p->cells, a, m);
    const int64_t begin = w->cells[cell] > i ? w->cells[cell] : i + 1;
    w->kernels->neighbours[w->t](&w->view, i, begin, w->cells[cell + 1], &thread->list);
  }
  w->kernels->triangles[w->t](&w->view, &thread->list, thread->counts);
}

void triples_triangles_run(tsl_worker *w, const tsl_unit *unit) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads)
  for (int64_t first = unit->lo[0]; first < unit->hi[0]; first += ROWS) {
    const int64_t end = first + ROWS < unit->hi[0] ? first + ROWS : unit->hi[0];
    int64_t cell = triples_cell_of_place(w->cells, triples_cells_of(w->p), first);
    triples_around a = triples_around_cell(w->p->cells, w->p->box, cell);
    for (int64_t i = first; i < end; i++) {
      if (w->cells[cell + 1] <= i) {
        cell = triples_cell_of_place(w->cells, triples_cells_of(w->p), i);
        a = triples_around_cell(w->p->cells, w->p->box, cell);
      }
      count_row(w, &w->thread[omp_get_thread_num()], i, &a);
    }
  }
}
