/** @file tri_cpu_threshold.c  threshold: records (i, j, value), ordered by (i, j). */
#include "tri_cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void tri_hits_clear(tri_hits *hits) {
  free(hits->j);
  free(hits->values);
  memset(hits, 0, sizeof *hits);
}

static tsl_err hits_reserve(tri_hits *hits, int64_t more, int64_t value_bytes) {
  tsl_err err = TSL_OK;
  if (hits->n + more <= hits->room) return TSL_OK;
  const int64_t room = 2 * (hits->n + more);
  void *j = realloc(hits->j, (size_t)room * sizeof *hits->j);
  if (j != NULL) hits->j = j;
  void *values = realloc(hits->values, (size_t)(room * value_bytes));
  if (values != NULL) hits->values = values;
  if (j == NULL || values == NULL)
    TSL_FAIL(TSL_ERR_MEMORY, "no memory for %lld pairs within the threshold; lower it",
             (long long)room);
  hits->room = room;
done:
  return err;
}

static tsl_err hits_append(tri_hits *to, const tri_hits *from, int64_t value_bytes) {
  tsl_err err = TSL_OK;
  if (from->n == 0) goto done;
  TSL_TRY(hits_reserve(to, from->n, value_bytes));
  memcpy(to->j + to->n, from->j, (size_t)from->n * sizeof *to->j);
  memcpy(to->values + to->n * value_bytes, from->values, (size_t)(from->n * value_bytes));
  to->n += from->n;
done:
  return err;
}

/** Where the hits of a row of the unit lie. */
typedef struct row_place {
  const tri_thread *thread;
  int64_t first, n;
  int64_t at; /**< in the list of the unit */
} row_place;

static void threshold_start(tsl_worker *w, tri_thread *thread, int64_t rows) {
  (void)w;
  for (int64_t r = 0; r < rows; r++) thread->rows[r].n = 0;
}

static tsl_err threshold_take(tsl_worker *w, tri_thread *thread, tri_job *job, const tri_row *row) {
  (void)job;
  tsl_err err = TSL_OK;
  const int64_t bytes = w->value_bytes;
  tri_hits *hits = &thread->rows[row->slot];
  const bool csr = w->p->output == TRI_CSR;
  const int64_t n =
      w->kernels->select[w->t](row->values, row->hi - row->lo, w->cut, thread->places);
  if (n == 0) goto done;
  TSL_TRY(hits_reserve(hits, n, bytes));
  for (int64_t k = 0; k < n; k++) {
    const int64_t j = tri_column(w, row, thread->places[k]);
    if (csr ? j == row->self : !w->p->two && j <= row->i) continue; /* columns on both sides */
    hits->j[hits->n] = (int32_t)j;
    memcpy(hits->values + hits->n++ * bytes, (const char *)row->values + thread->places[k] * bytes,
           (size_t)bytes);
  }
done:
  return err;
}

/** Put record r of the list where others are moved up for it. */
static void hits_insert(tri_hits *hits, int64_t r, int64_t at, int64_t bytes) {
  const int32_t j = hits->j[r];
  char value[sizeof(double)];
  memcpy(value, hits->values + r * bytes, (size_t)bytes);
  memmove(hits->j + at + 1, hits->j + at, (size_t)(r - at) * sizeof *hits->j);
  memmove(hits->values + (at + 1) * bytes, hits->values + at * bytes, (size_t)((r - at) * bytes));
  hits->j[at] = j;
  memcpy(hits->values + at * bytes, value, (size_t)bytes);
}

static int by_column(const void *a, const void *b) {
  const int64_t i = ((const tri_near *)a)->j, j = ((const tri_near *)b)->j;
  return (i > j) - (i < j);
}

/** near: columns came in the order of the tiles. */
static tsl_err hits_sort(const tsl_worker *w, tri_hits *hits) {
  enum { SHORT = 32 };
  tsl_err err = TSL_OK;
  tri_near *records = NULL;
  if (hits->n <= SHORT) {
    for (int64_t r = 1; r < hits->n; r++) {
      int64_t at = r;
      while (at > 0 && hits->j[at - 1] > hits->j[r]) at--;
      if (at < r) hits_insert(hits, r, at, w->value_bytes);
    }
    return TSL_OK;
  }
  TSL_TRY(tsl_alloc(hits->n, sizeof *records, "records of a row", (void **)&records));
  for (int64_t r = 0; r < hits->n; r++) {
    const double value = w->t ? ((double *)hits->values)[r] : (double)((float *)hits->values)[r];
    records[r] = (tri_near){value, hits->j[r]};
  }
  qsort(records, (size_t)hits->n, sizeof *records, by_column);
  for (int64_t r = 0; r < hits->n; r++) {
    hits->j[r] = (int32_t)records[r].j;
    if (w->t)
      ((double *)hits->values)[r] = records[r].value;
    else
      ((float *)hits->values)[r] = (float)records[r].value;
  }
done:
  tsl_free(records);
  return err;
}

/** Values of the deck's function, where those were squares. */
static void take_roots(const tsl_worker *w, tri_hits *hits) {
  for (int64_t r = 0; r < hits->n && w->function != w->p->function; r++)
    if (w->t)
      ((double *)hits->values)[r] = sqrt(((double *)hits->values)[r]);
    else
      ((float *)hits->values)[r] = sqrtf(((float *)hits->values)[r]);
}

static tsl_err threshold_finish(tsl_worker *w, tri_thread *thread, tri_job *job,
                                const tri_row *row) {
  tsl_err err = TSL_OK;
  row_place *const places = job->own;
  tri_hits *hits = &thread->rows[row->slot];
  if (w->p->near) TSL_TRY(hits_sort(w, hits));
  take_roots(w, hits);
  places[row->i - job->unit->lo[0]] = (row_place){thread, thread->hits.n, hits->n, 0};
  TSL_TRY(hits_append(&thread->hits, hits, w->value_bytes));
done:
  return err;
}

/** Write the hits of row i as records. @param[out] pairs  csr: i32 [n]; i64 [n][2] */
static void write_row(const tsl_worker *w, const row_place *place, int64_t i, void *pairs,
                      char *values) {
  const tri_hits *hits = &place->thread->hits;
  if (w->p->output == TRI_CSR)
    memcpy(pairs, hits->j + place->first, (size_t)place->n * sizeof *hits->j);
  else
    for (int64_t k = 0; k < place->n; k++) {
      ((int64_t(*)[2])pairs)[k][0] = i;
      ((int64_t(*)[2])pairs)[k][1] = hits->j[place->first + k];
    }
  memcpy(values, hits->values + place->first * w->value_bytes, (size_t)(place->n * w->value_bytes));
}

static tsl_err gather(tsl_worker *w, const tsl_unit *unit, row_place *places, tsl_part *part) {
  tsl_err err = TSL_OK;
  const bool csr = w->p->output == TRI_CSR;
  const size_t record = csr ? sizeof(int32_t) : 2 * sizeof(int64_t);
  int64_t total = 0;
  void *pairs = NULL, *values = NULL;
  const int64_t rows = unit->hi[0] - unit->lo[0];
  for (int64_t r = 0; r < rows; r++) {
    if (csr && places[r].n > INT32_MAX)
      TSL_FAIL(TSL_ERR_MEMORY, "row %lld has too many entries", (long long)(unit->lo[0] + r));
    if (csr) ((int32_t *)part->slab[TRI_OUT_3])[r] = (int32_t)places[r].n;
    places[r].at = total;
    total += places[r].n;
  }
  part->list[TRI_OUT] = part->list[TRI_OUT_2] = (tsl_list){NULL, 0};
  if (total == 0) goto done;
  TSL_TRY(tsl_alloc(total, record, "pairs within the threshold", &pairs));
  TSL_TRY(tsl_alloc(total, (size_t)w->value_bytes, "pairs within the threshold", &values));
#pragma omp parallel for schedule(static) num_threads(w->threads)
  for (int64_t r = 0; r < rows; r++)
    if (places[r].n > 0)
      write_row(w, &places[r], unit->lo[0] + r, (char *)pairs + (size_t)places[r].at * record,
                (char *)values + places[r].at * w->value_bytes);
  part->list[TRI_OUT] = (tsl_list){pairs, total};
  part->list[TRI_OUT_2] = (tsl_list){values, total};
  pairs = NULL, values = NULL;
done:
  TSL_FREE_ALL(pairs, values);
  return err;
}

tsl_err tri_run_threshold(tsl_worker *w, const tsl_unit *unit, tsl_part *part) {
  tsl_err err = TSL_OK;
  row_place *places = NULL;
  tri_job job = {.unit = unit, .part = part};
  TSL_TRY(tsl_alloc(unit->hi[0] - unit->lo[0], sizeof *places, "row places", (void **)&places));
  job.own = places;
  job.take = threshold_take, job.start = threshold_start, job.finish = threshold_finish;
  for (int k = 0; k < w->threads; k++) w->thread[k].hits.n = 0;
  TSL_TRY(tri_walk(w, &job));
  TSL_TRY(gather(w, unit, places, part));
done:
  tsl_free(places);
  return err;
}
