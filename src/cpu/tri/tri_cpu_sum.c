/** @file tri_cpu_sum.c  sum: values of a row times vectors, in the order of tri_equation.h. */
#include "tri_cpu.h"

#include <string.h>

/** Vector m: the last columns of the extras, or ones. */
static const void *vector_at(const tsl_worker *w, int64_t m) {
  return (const char *)w->vectors + m * w->p->n_pad * w->value_bytes;
}

/** Are values not kept, but added as they are computed? Of many vectors they are kept. */
static bool is_fused(const tsl_worker *w) {
  return w->equation.sum != NULL && w->p->n_vectors <= 1;
}

static void sum_start(tsl_worker *w, tri_thread *thread, int64_t rows) {
  memset(thread->sums, 0, (size_t)(rows * tri_sums(w->p)) * sizeof *thread->sums);
}

/** A point with itself counts only where the diagonal is kept. */
static void drop_own(const tsl_worker *w, const tri_row *row) {
  const int64_t at = row->self - row->lo;
  if (w->p->keeps_diagonal || row->self < row->lo || row->self >= row->hi) return;
  memset((char *)row->values + at * w->value_bytes, 0, (size_t)w->value_bytes);
}

static tsl_err sum_take(tsl_worker *w, tri_thread *thread, tri_job *job, const tri_row *row) {
  const int64_t m = tri_sums(w->p);
  double *const sums = thread->sums + row->slot * m;
  (void)job;
  if (is_fused(w)) {
    w->equation.sum(&w->equation.args, vector_at(w, 0), row->place, 1, row->lo, row->hi - row->lo,
                    sums);
    return TSL_OK;
  }
  drop_own(w, row);
  for (int64_t k = 0; k < m; k++)
    w->kernels->add[w->t](row->values, (const char *)vector_at(w, k) + row->lo * w->value_bytes,
                          row->hi - row->lo, &sums[k]);
  return TSL_OK;
}

static tsl_err sum_finish(tsl_worker *w, tri_thread *thread, tri_job *job, const tri_row *row) {
  const int64_t m = tri_sums(w->p), at = row->i - job->unit->lo[0], first = w->p->gradient ? 1 : 0;
  const double *const sums = thread->sums + row->slot * m;
  memcpy((double *)job->part->slab[TRI_OUT] + at * (m - first), sums + first,
         (size_t)(m - first) * sizeof(double));
  if (w->p->gradient) ((double *)job->part->slab[TRI_OUT_2])[at] = sums[0];
  return TSL_OK;
}

tsl_err tri_run_sum(tsl_worker *w, const tsl_unit *unit, tsl_part *part) {
  tri_job job = {.unit = unit, .part = part, .direct = is_fused(w)};
  job.take = sum_take, job.start = sum_start, job.finish = sum_finish;
  return tri_walk(w, &job);
}

tsl_err tri_sum_open(tsl_worker *w, const tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const tri_params *p = w->p;
  const tsl_field *extras = &problem->fields[TRI_EXTRAS];
  w->vectors =
      (const char *)extras->data + (extras->shape[0] - p->n_vectors * p->n_pad) * w->value_bytes;
  if (p->n_vectors > 0) goto done;
  TSL_TRY(tsl_alloc(p->n_pad, (size_t)w->value_bytes, "vector of ones", &w->ones));
  for (int64_t i = 0; i < p->n; i++)
    if (w->t)
      ((double *)w->ones)[i] = 1;
    else
      ((float *)w->ones)[i] = 1;
  w->vectors = w->ones;
done:
  return err;
}
