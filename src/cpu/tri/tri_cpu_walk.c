/** @file tri_cpu_walk.c  Row groups x column blocks of a unit, dealt to the threads. */
#include "integers.h"
#include "tri_cpu.h"

#include <cblas.h>
#include <omp.h>
#include <string.h>

void tri_failure_note(tri_failure *f, tsl_err err) {
#pragma omp critical(tri_failure)
  if (f->code == TSL_OK) {
    tsl_err_save(err, &f->copy);
    __atomic_store_n(&f->code, (int)err, __ATOMIC_RELEASE);
  }
}

tsl_err tri_failure_take(const tri_failure *f) {
  return f->code == TSL_OK ? TSL_OK : tsl_err_restore(&f->copy);
}

/** A task: rows [lo, hi) of the unit, columns [j0, j1), values computed from row first on. */
typedef struct task {
  int64_t first, lo, hi, j0, j1;
} task;

/** Groups of rows of a unit. Matrix products start at multiples of TRI_BLAS_ROWS, see fill_product.
 */
static int64_t group_first(const tsl_worker *w, const tsl_unit *unit) {
  return w->blas ? unit->lo[0] / TRI_BLAS_ROWS * TRI_BLAS_ROWS : unit->lo[0];
}

static task group_task(const tsl_worker *w, const tsl_unit *unit, int64_t g) {
  task t = {.first = group_first(w, unit) + g * w->group_rows};
  const int64_t end = t.first + w->group_rows;
  int64_t lo, hi;
  t.lo = tsl_max(t.first, unit->lo[0]);
  t.hi = tsl_min(end, unit->hi[0]);
  tri_row_span(w->p, w->blas ? t.first : t.lo, &t.j0, &hi);
  tri_row_span(w->p, t.hi - 1, &lo, &t.j1);
  if (w->blas) t.j1 = w->p->output == TRI_SQUARE ? end : w->p->two ? w->p->first : w->p->n_pad;
  if (w->blas) t.j0 = t.j0 / TRI_BLAS_ROWS * TRI_BLAS_ROWS;
  return t;
}

/**
 * Tile of 1 - X^T X, rows from place i on. Its place and shape follow from n (rows and columns
 * start at multiples of TRI_BLAS_ROWS and end in the padding), so a value does not depend on how
 * units are cut.
 */
static void fill_product(const tsl_worker *w, int64_t i, int64_t j, int64_t n, void *out) {
  const tri_view *v = &w->view;
  const int rows = TRI_BLAS_ROWS, columns = (int)n, d = (int)v->d, ld = (int)v->ld;
  if (w->t == 0) {
    const float *x = v->x;
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rows, columns, d, 1, x + i, ld, x + j, ld,
                0, out, (int)w->row_stride);
  } else {
    const double *x = v->x;
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rows, columns, d, 1, x + i, ld, x + j, ld,
                0, out, (int)w->row_stride);
  }
  for (int r = 0; r < rows; r++)
    w->kernels->from_products[w->t](v, i + r, j, n,
                                    (char *)out + r * w->row_stride * w->value_bytes);
}

/** A block of a task: rows [i, i + rows), columns [j0, j1), first of its rows or not. */
typedef struct block {
  int64_t i, j0, j1;
  int rows;
  bool first;
} block;

/** Where the values of a block from column lo on are, and how far apart its rows. */
static const char *values_of(const tsl_worker *w, const tri_thread *thread, const block *b,
                             int64_t lo, int64_t *stride) {
  const tri_matrix *m = &w->matrix;
  *stride = thread->letters != NULL ? m->ld : w->row_stride;
  if (thread->letters == NULL) return thread->values;
  return (const char *)m->values + ((b->i - m->lo) * m->ld + lo - m->first) * w->value_bytes;
}

/** Hand over the rows of a block, values of columns [lo, hi), each row cut to its span. */
static tsl_err take_rows(tsl_worker *w, tri_thread *thread, tri_job *job, const task *t,
                         const block *b, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  int64_t stride;
  const char *const values = values_of(w, thread, b, lo, &stride);
  for (int r = 0; r < b->rows; r++) {
    tri_row row = {.i = b->i + r, .slot = b->i + r - t->lo, .j1 = b->j1};
    row.self = w->p->two ? -1 : row.i;
    row.place = w->p->first + row.i;
    if (row.i < t->lo || row.i >= t->hi) continue;
    row.j0 = b->first ? INT64_MIN : b->j0;
    tri_row_span(w->p, row.i, &row.lo, &row.hi);
    row.lo = tsl_max(row.lo, lo);
    row.hi = tsl_min(row.hi, hi);
    if (row.lo >= row.hi) continue;
    row.values = values + (r * stride + row.lo - lo) * w->value_bytes;
    TSL_TRY(job->take(w, thread, job, &row));
  }
done:
  return err;
}

/** Compute a block and hand it over. */
static tsl_err walk_block(tsl_worker *w, tri_thread *thread, tri_job *job, const task *t,
                          const block *b) {
  int64_t lo, hi, unused;
  if (w->blas) {
    fill_product(w, w->p->first + b->i, b->j0, b->j1 - b->j0, thread->values);
    return take_rows(w, thread, job, t, b, b->j0, b->j1);
  }
  tri_row_span(w->p, b->i, &lo, &unused);
  tri_row_span(w->p, b->i + b->rows - 1, &unused, &hi);
  lo = tsl_max(b->j0, lo);
  hi = tsl_min(b->j1 + job->overlap, hi);
  if (lo >= hi) return TSL_OK;
  if (!job->direct && thread->letters == NULL)
    tri_values(w, w->p->first + b->i, b->rows, lo, hi - lo, thread->values, w->row_stride);
  return take_rows(w, thread, job, t, b, lo, hi);
}

/** Column blocks [b0, b1) of a task. */
static tsl_err walk_task(tsl_worker *w, tri_thread *thread, tri_job *job, const task *t, int64_t b0,
                         int64_t b1) {
  tsl_err err = TSL_OK;
  const int64_t end = w->blas ? t->first + TRI_BLAS_ROWS : t->hi;
  for (int64_t i = t->lo; w->nearest && i < t->hi; i++)
    thread->cuts[i - t->lo] = tri_first_cut(w, i);
  if (job->start != NULL) job->start(w, thread, t->hi - t->lo);
  for (int64_t c = b0; c < b1; c++) {
    block b = {.j0 = t->j0 + c * w->columns, .first = c == 0};
    b.j1 = tsl_min(b.j0 + w->columns, t->j1);
    for (b.i = t->first; b.i < end; b.i += b.rows) {
      b.rows = (int)tsl_min(w->fill_rows, end - b.i);
      TSL_TRY(walk_block(w, thread, job, t, &b));
    }
  }
  for (int64_t i = t->lo; job->finish != NULL && i < t->hi; i++)
    TSL_TRY(job->finish(w, thread, job, &(tri_row){.i = i, .self = i, .slot = i - t->lo}));
  if (job->past_caches) w->kernels->fence();
done:
  return err;
}

/** Rows of a unit, from unit->lo to unit->hi. */
static tsl_err walk_rows(tsl_worker *w, tri_job *job, const tsl_unit *unit) {
  tri_failure first = {.code = TSL_OK};
  const int64_t rows = unit->hi[0] - group_first(w, unit);
  const int64_t groups = (rows + w->group_rows - 1) / w->group_rows;
  const int64_t wanted = 4 * w->threads;
  const int64_t most = (w->p->n_pad + w->columns - 1) / w->columns;
  int64_t cuts = job->split && groups < wanted ? (wanted + groups - 1) / groups : 1;
  cuts = tsl_min(cuts, most);
#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads)
  for (int64_t k = 0; k < groups * cuts; k++) {
    if (tri_failure_is(&first)) continue;
    const task t = group_task(w, unit, k / cuts);
    const int64_t blocks = tsl_max(0, (t.j1 - t.j0 + w->columns - 1) / w->columns);
    const int64_t c = k % cuts;
    const tsl_err err = walk_task(w, &w->thread[omp_get_thread_num()], job, &t, blocks * c / cuts,
                                  blocks * (c + 1) / cuts);
    if (err != TSL_OK) tri_failure_note(&first, err);
  }
  return tri_failure_take(&first);
}

tsl_err tri_walk(tsl_worker *w, tri_job *job) {
  tsl_err err = TSL_OK;
  tsl_unit rows = *job->unit;
  if (rows.hi[0] <= rows.lo[0]) return TSL_OK;
  if (w->p->near) return tri_search(w, job);
  if (!tri_of_letters(w->p)) return walk_rows(w, job, &rows);
  for (; rows.lo[0] < job->unit->hi[0]; rows.lo[0] = rows.hi[0]) {
    rows.hi[0] = tri_matrix_end(w, rows.lo[0], job->unit->hi[0]);
    TSL_TRY(tri_matrix_fill(w, rows.lo[0], rows.hi[0]));
    TSL_TRY(walk_rows(w, job, &rows));
  }
done:
  return err;
}

tsl_err tri_thread_create(const tsl_worker *w, tri_thread *t) {
  tsl_err err = TSL_OK;
  const tri_params *p = w->p;
  if (p->output == TRI_FORCES) goto done;
  TSL_TRY(tsl_alloc(w->fill_rows * w->row_stride, (size_t)w->value_bytes, "block of values",
                    &t->values));
  TSL_TRY(tsl_alloc(TRI_MAX_COLUMNS, sizeof *t->places, "places", (void **)&t->places));
  if (p->output == TRI_HISTOGRAM && !tri_has_cells(p)) {
    TSL_TRY(tsl_alloc(w->copies * w->bins_room, sizeof *t->bins, "bins", (void **)&t->bins));
    TSL_TRY(tsl_alloc(w->bins_room, sizeof *t->counts, "counts", (void **)&t->counts));
  }
  if (tri_wants_nearest(p) || tri_output_in(p, TRI_BIT(DEGREE) | TRI_BIT(MAXIMUM))) {
    const int64_t k = tsl_max(p->k, 1);
    TSL_TRY(tsl_alloc(w->group_rows, sizeof *t->cuts, "cut-offs", (void **)&t->cuts));
    TSL_TRY(tsl_alloc(w->group_rows * k, sizeof *t->heap, "heaps", (void **)&t->heap));
    TSL_TRY(tsl_alloc(w->group_rows, sizeof *t->heap_n, "heaps", (void **)&t->heap_n));
  }
  if (p->output == TRI_SUM)
    TSL_TRY(tsl_alloc(w->group_rows * tri_sums(p), sizeof *t->sums, "sums", (void **)&t->sums));
  if (p->output == TRI_DBSCAN) {
    const int64_t room = w->group_rows * w->within_room;
    TSL_TRY(tsl_alloc(w->group_rows, sizeof *t->cuts, "cut-offs", (void **)&t->cuts));
    TSL_TRY(tsl_alloc(room, sizeof *t->within, "values of rows", (void **)&t->within));
    TSL_TRY(tsl_alloc(w->group_rows, sizeof *t->within_n, "counts", (void **)&t->within_n));
  }
  if (p->output == TRI_THRESHOLD || p->output == TRI_CSR)
    TSL_TRY(tsl_alloc(w->group_rows, sizeof *t->rows, "row lists", (void **)&t->rows));
  if (p->near) TSL_TRY(tri_finds_create(w, &t->finds));
  if (tri_of_letters(p) && p->output == TRI_PAIRED)
    TSL_TRY(tri_pairs_thread_create(&w->letters, &t->pairs));
  else if (tri_of_letters(p))
    TSL_TRY(tri_letters_thread_create(&w->letters, &t->letters));
done:
  return err;
}

void tri_thread_clear(const tsl_worker *w, tri_thread *t) {
  for (int64_t r = 0; t->rows != NULL && r < w->group_rows; r++) tri_hits_clear(&t->rows[r]);
  tri_hits_clear(&t->hits);
  tri_finds_clear(&t->finds);
  tri_letters_thread_clear(&t->letters);
  tri_pairs_thread_clear(&t->pairs);
  TSL_FREE_ALL(t->values, t->places, t->bins, t->counts, t->heap, t->heap_n, t->cuts, t->within,
               t->within_n, t->rows, t->sums);
  memset(t, 0, sizeof *t);
}
